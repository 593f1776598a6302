"""What was said, as drafts: facts, decisions, wishes, causes, finished work, what blocks it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memory_palace.core import (
    condense,
    observing_cues,
    private_spans,
    prompts,
    salience,
    secret_forms,
)
from memory_palace.core.condense import SEPARATOR
from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import RELEVANCES, Entry
from memory_palace.core.observing_cues import FACT, REQUEST, Cue
from memory_palace.core.observing_work import Draft
from memory_palace.core.prompts import SHORT_FENCE
from memory_palace.core.salience import Rarity

MOST_SAID = 280
"""Characters of what one turn said that stand in a line; of a long one more, an eighth of it."""

LONGEST_SAID = 700
MOST_LINE = 900
"""Characters of a line that neighbouring turns share."""

MOST_REFUSED = 160
"""Characters of what a person says no to."""

MOST_TYPED = 600
"""Of a longer prompt, what was pasted is left out."""

MOST_TURNS = 3
"""Neighbouring turns that one line tells of."""

MOST_SILENT = 2
"""Turns between them that say nothing."""

PAUSE = timedelta(hours=1)
"""What is said later has a line of its own."""

LEAST = 2.4
"""What a sentence has to be worth (:func:`salience.worth`), so that it stands in a line."""

LEAST_ANSWER = 1.6
"""The same for a turn after a question."""

LEAST_CUED = 0.0
"""The same for a turn that decides or wishes something: ``no, use tabs`` has no rare word, least
of all where it is said again and again."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn said that is worth a line: the words, with who said them, and what they are."""

    entry: Entry
    text: str
    cue: Cue
    person: bool


def drafts(turns: Mapping[str, Said], entries: Sequence[Entry]) -> Iterator[Draft]:
    """Lines of what was said; neighbouring turns share one."""
    run: list[Said] = []
    silent = 0
    before: Entry | None = None  # the turn before
    for entry in entries:
        said = turns.get(entry.id)
        if said is None and run and not silent:
            said = _answer(run[-1], entry)
        refused = _refused(before, entry)
        said = said or (refused and _word_for_word(entry))
        ends = entry.role == "tool" or _apart(run, entry, silent)
        if run and (ends or _full(run, said) or _goes_on(run[-1], said)):
            yield _line(run)
            run = []
        if said is not None:
            if refused and not (run and run[-1].entry is before):
                run.append(refused)
            run.append(said)
        silent = 0 if said is not None else silent + 1
        if entry.role != "tool":
            before = entry
    if run:
        yield _line(run)


def _refused(before: Entry | None, entry: Entry) -> Said | None:
    """What a person says no to, however short the agent said it."""
    if before is None or before.role != "assistant" or entry.role != "user":
        return None
    first = next(iter(salience.sentences(entry.text[:MOST_TYPED])), "")
    if not observing_cues.refuses(first):
        return None
    said = salience.sentences(_plain(salience.bounded(before.text)))
    offered = [o for o in said if observing_cues.proposes(o) or observing_cues.is_plan(o)] or said
    text = cut(offered[-1], MOST_REFUSED) if offered else ""
    return Said(before, f"Assistant: {text}", FACT, False) if text else None


def _word_for_word(entry: Entry) -> Said | None:
    """A bare no, which says nothing by itself."""
    if not observing_cues.is_no(entry.text):
        return None
    return Said(entry, f"User: {' '.join(entry.text.split())}", observing_cues.DECISION, True)


def _apart(run: Sequence[Said], entry: Entry, silent: int) -> bool:
    if not run:
        return False
    return silent > MOST_SILENT or entry.at - run[-1].entry.at > PAUSE


def _goes_on(before: Said, said: Said | None) -> bool:
    """True for what a person decides after an answer that proposed nothing: another matter, which
    the answer's line would hide."""
    if said is None or before.person or not said.person:
        return False
    if said.cue.type != observing_cues.DECISION.type:
        return False
    if any(map(observing_cues.corrects, salience.sentences(salience.bounded(said.entry.text)))):
        return False
    return not observing_cues.proposes(before.entry.text)


def _full(run: Sequence[Said], more: Said | None) -> bool:
    size = sum(len(one.text) for one in run) + (len(more.text) if more else 0)
    return len(run) == MOST_TURNS or size > MOST_LINE


def turns(entries: Sequence[Entry], rare: Rarity) -> dict[str, Said]:
    """What each entry says that is worth a line, by its id."""
    talk = [one for one in entries if one.role != "tool"]
    names = _names(talk)
    found: dict[str, Said] = {}
    asked = False
    for entry in talk:
        name, text = "", salience.bounded(entry.text)
        if names:
            name, text = condense.speaker(_plain(text))
        elif entry.role == "user" and len(text) > MOST_TYPED:
            text = _plain(prompts.question(text))
        else:
            text = _plain(text)
        said = _of_turn(entry, name, text, rare, asked)
        if said is not None:
            found[entry.id] = said
        asked = text.rstrip().endswith(("?", "？"))
    return found


def _names(talk: Sequence[Entry]) -> bool:
    """True if entries begin with who speaks, as in ``Ana: …``: nearly all do, of few people."""
    names = [condense.speaker(one.text[:60])[0] for one in talk]
    named = [one for one in names if one]
    return len(named) >= max(0.8 * len(talk), 3) and len(set(named)) <= len(named) / 2 + 1


def _of_turn(entry: Entry, name: str, text: str, rare: Rarity, asked: bool) -> Said | None:
    """None for a turn that only is kind, asks, or says what it does next."""
    if prompts.is_social(text):
        return None
    person = bool(name) or entry.role == "user"
    skip = None if person else observing_cues.is_plan
    cue = None if name else _cue(text, person)
    if cue is None and not entry.parent and entry.role == "user" and not name:
        cue = REQUEST
    least = LEAST_CUED if cue else LEAST_ANSWER if asked else LEAST
    most = min(MOST_SAID + len(text) // 8, LONGEST_SAID)
    told = condense.telling(text, rare, most, least, skip)
    if not told:
        return None
    return Said(entry, f"{name or entry.role.capitalize()}: {told}", cue or FACT, person)


def _cue(text: str, person: bool) -> Cue | None:
    of = observing_cues.of_person if person else observing_cues.of_agent
    for sentence in salience.sentences(text):
        if sentence.endswith(("?", "？")) or (not person and observing_cues.is_plan(sentence)):
            continue
        found = of(sentence)
        if found:
            return found
    return None


def _answer(before: Said, entry: Entry) -> Said | None:
    """A short yes or no to what the agent proposed."""
    if before.person or entry.role != "user" or not observing_cues.proposes(before.entry.text):
        return None
    if not observing_cues.answers(entry.text):
        return None
    return Said(entry, f"User: {' '.join(entry.text.split())}", observing_cues.DECISION, True)


def _line(run: Sequence[Said]) -> Draft:
    best = max((one.cue for one in run), key=_weight)
    told = SEPARATOR.join(one.text for one in run)
    return Draft(told, best.type, best.relevance, [one.entry for one in run])


def _weight(cue: Cue) -> tuple[int, bool, bool]:
    """What a line is of: its weightiest turn; of two, a decision rather than what was asked."""
    decides = cue.type == observing_cues.DECISION.type
    return RELEVANCES.index(cue.relevance), decides, cue.type != REQUEST.type


_PRIVATE = re.compile(rf" ?{re.escape(private_spans.MARK)}")
_FEWEST = 4  # terms of a sentence that says something beside a secret


def _without_marks(text: str) -> str:
    """``text`` without what stands in the place of private spans, and without sentences that only
    say that there is a secret."""
    text = _PRIVATE.sub("", text)
    if "[SECRET: " not in text:
        return text
    kept = (
        one
        for one in salience.sentences(text)
        if "[SECRET: " not in one or len(salience.terms(secret_forms.MARK.sub("", one))) >= _FEWEST
    )
    return "\n".join(kept)


_MARKS = re.compile(r"^[ \t]{0,12}(?:[-*+>#|]{1,6}|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_JOINERS = "\u200c\u200d"  # between letters, they spell another word


def _plain(text: str) -> str:
    """``text`` without long blocks of code, marks of lists and headings, control characters."""
    if "```" in text:
        parts = text.split("```")
        text = "\n".join(p for n, p in enumerate(parts) if not n % 2 or len(p) <= SHORT_FENCE)
    text = _MARKS.sub("", text).replace("**", "")
    text = _without_marks(text) if "[" in text else text
    return "".join(c if c.isprintable() or c in _JOINERS or c == "\n" else " " for c in text)
