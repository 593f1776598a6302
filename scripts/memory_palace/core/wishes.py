"""Preferences in a person's own words: the sentences that say how things are to be done.

A rule finds them by their words; whether one is kept as a memory a person decides.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_palace.core import excerpts, observing_cues, prompts, wish_forms
from memory_palace.core.wish_english import ENGLISH
from memory_palace.core.wish_others import OTHERS

MOST = 3
"""Wishes of one message."""

MOST_CHARACTERS = 300
"""Characters of a wish."""

MOST_SENTENCE = 600
"""Characters of a sentence that is looked at: longer ones are no wishes."""

FEWEST_WORDS = 3

_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_END = re.compile(r"(?<=[.!?。！？])[\"”')\]]*\s+")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|z\. ?b|etc|vs|bzw|d\.h|ca|mr|mrs|dr|no|p\.ej)|\d)\.$")
_CLOSED = (".", "!", "?", ":", ";", "。", "！", "？")
_QUOTES = re.compile(
    r"\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|`[^`]*(?:`|\Z)"
    r"|(?<!\w)'[^']+'(?!\w)|‘[^’]+’(?!\w)"
)
_PRIVATE_BEFORE = re.compile(r"(?:\[PRIVATE\]\s*)+")
_PRIVATE_AFTER = re.compile(r"(?<=[.!])(?:\s*\[PRIVATE\])+\Z")
_JOINER = re.compile(r"(?i)(?:(?:and|also|oh|und|auch|ach)\b,?\s+)+(?=\w)")
# Where these forms correct an agent, they are about what it did.
_OF_THE_MOMENT = frozenset(("use", "don't", "stop"))
_MARK = re.compile(r"\[(?:PRIVATE|SECRET: )")
_INFLECTED = re.compile(r"(?:ed|ing|[^su]s)\Z")
_BARE = frozenset("bring ping string embed need feed seed speed proceed exceed".split())


class Wish(NamedTuple):
    """A sentence in the person's own words, on one line. ``category`` is that of the memory it
    would make, ``cue`` the words that gave it away."""

    category: str
    text: str
    cue: str


def wishes(text: str) -> tuple[Wish, ...]:
    """The wishes in a message of a person, at most :data:`MOST`, each once.

    Left out: questions, what was pasted or is quoted or code, what others say, what holds only
    once, is about the program at hand or only corrects the work at hand, and sentences over
    :data:`MOST_SENTENCE` characters.
    English and German, and the most common forms of French and Spanish.
    """
    found: dict[str, Wish] = {}
    refused = False
    for sentence in _sentences(prompts.own_lines(text)):
        wish = _wish(_without_marks(sentence), refused)
        refused = observing_cues.is_no(sentence)
        if wish:
            found.setdefault(wish.text.casefold(), wish)
        if len(found) == MOST:
            break
    return tuple(found.values())


def _without_marks(sentence: str) -> str:
    """A sentence without the marks of private spans that stand before and after it, not in it."""
    before = _PRIVATE_BEFORE.match(sentence)
    if before and sentence[before.end() : before.end() + 1].isupper():
        sentence = sentence[before.end() :]
    return _PRIVATE_AFTER.sub("", sentence)


def _wish(sentence: str, refused: bool) -> Wish | None:
    """The wish that a sentence is, if it is one; ``refused`` if a bare "no" stands before it."""
    if len(sentence) > MOST_SENTENCE or len(sentence.split()) < FEWEST_WORDS:
        return None
    shown = sentence.replace("’", "'")
    if shown.rstrip("\"'”)] ").endswith(("?", "？", "?!")) or _MARK.search(shown):
        return None
    hidden = _QUOTES.sub(lambda quote: "x" * len(quote[0]), shown)
    said = hidden.lower()
    if len(said) != len(hidden) or wish_forms.ASKS.match(said):
        return None
    if wish_forms.SAID_AFTER.search(said):
        return None
    said = said.rstrip(".! ")
    for form in (*ENGLISH, *OTHERS):
        match = form.pattern.search(said)
        if not match or wish_forms.REPORTED.search(hidden[: match.end()]):
            continue
        verb = match.groupdict().get("verb")
        if verb and not _is_imperative(verb):
            continue
        if _is_told_of(said, match.start()):
            continue
        if form.lasting and wish_forms.ONCE.search(said):
            continue
        if form.cue in _OF_THE_MOMENT and (refused or observing_cues.refuses(said)):
            continue  # it says what was wrong with the work at hand
        if form.cue in wish_forms.OF_PROGRAMS and wish_forms.THE_PROGRAM.search(said):
            continue
        own = _JOINER.sub("", sentence, count=1) if _JOINER.match(sentence) else sentence
        own = own[:1].upper() + own[1:] if own != sentence else own
        return Wish(form.category, excerpts.cut(own, MOST_CHARACTERS), form.cue)
    return None


def _is_told_of(said: str, start: int) -> bool:
    """True for a form after an "and" that only goes on with what is told of somebody: `they are
    kind and always help`."""
    joined = wish_forms.JOINED.match(said, start)
    return bool(joined and start and wish_forms.SUBJECT.search(said, 0, start))


def _is_imperative(verb: str) -> bool:
    """False for what tells of something: `fails`, `worked`, `running`, `mind`."""
    if verb in wish_forms.NOT_IMPERATIVE:
        return False
    return verb in _BARE or not _INFLECTED.search(verb)


def _sentences(lines: list[str]) -> Iterator[str]:
    """The sentences of lines; one that was broken over several is put together again."""
    paragraph = ""
    for line in [*lines, ""]:
        bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        goes_on = bare == line and line[:1].islower() and not paragraph.endswith(_CLOSED)
        if paragraph and goes_on:
            paragraph += " " + line
            continue
        yield from _of_paragraph(paragraph)
        paragraph = bare
    yield from _of_paragraph(paragraph)


def _of_paragraph(paragraph: str) -> Iterator[str]:
    held = ""
    for part in _END.split(paragraph):
        held = f"{held} {part}".strip()
        if _ABBREVIATED.search(held.lower()):
            continue
        if held:
            yield held
        held = ""
    if held:
        yield held
