"""What was said, shorter: sentences that state something, and words without which they still do."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memory_palace.core import observing_cues, salience
from memory_palace.core.excerpts import cut
from memory_palace.core.salience import Rarity

SEPARATOR = " / "
"""What stands between two parts of a line that rest on different turns."""

_SPEAKER = re.compile(r"([^\W\d_][^:\n`]{0,39}): (?=\S)")
_TICKED = re.compile(r"(`[^`]*`)")
_CUED = 2.0
_SHORTEST = 24  # below that a sentence is no longer one


def speaker(text: str) -> tuple[str, str]:
    """Who says it, and what, of ``Ana: …``; nobody unless a name of three words begins it."""
    found = _SPEAKER.match(text)
    if found and len(found[1].split()) <= 3:
        return found[1], text[found.end() :]
    return "", text


def telling(
    text: str, rare: Rarity, most: int, least: float, skip: Callable[[str], bool] | None = None
) -> str:
    """The sentences of ``text`` that say most, in their order, in ``most`` characters.

    Only those that are worth ``least`` and that are not to ``skip``. Empty where none is.
    """
    parts = [one for one in salience.sentences(text) if not (skip and skip(one))]
    worth = _worths(parts, rare)
    kept: list[int] = []
    room = most
    for n in sorted(range(len(parts)), key=lambda n: (-worth[n], n)):
        if worth[n] < least or not worth[n]:
            break
        if not kept or len(parts[n]) < room:
            kept.append(n)
            room -= len(parts[n]) + 1
    return cut(" ".join(parts[n] for n in sorted(kept)), most)


def telegram(text: str) -> str:
    """``text`` without the words that say nothing by themselves; what is in backticks stays."""
    kept: list[str] = []
    for n, part in enumerate(_TICKED.split(text)):
        kept += [part] if n % 2 else [one for one in part.split() if not salience.says_nothing(one)]
    return " ".join(kept)


class Shortener:
    """Makes lines shorter; what it knows of a part serves for every length."""

    def __init__(self, rare: Rarity) -> None:
        self._rare = rare
        self._known: dict[str, _Part] = {}
        self._weights: dict[str, float] = {}

    def line(self, text: str, each: int) -> str:
        """``text`` with about ``each`` characters for each of its parts, every one of which stays.

        What was said becomes a telegram of its best sentences; other parts (errors, commands) are
        cut at twice the length.
        """
        return SEPARATOR.join(self._shorter(part, each) for part in text.split(SEPARATOR))

    def _shorter(self, part: str, each: int) -> str:
        if len(part) <= each or "`" in part:
            return cut(part, 2 * each)
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = _part(part, self._rare)
        kept: dict[int, str] = {}
        room = each
        for n, sentence in known.best:
            if not kept or len(sentence) <= room:
                kept[n] = self._best_words(sentence, max(room, _SHORTEST))
                room -= len(kept[n]) + 1
        told = " ".join(kept[n] for n in sorted(kept)) or cut(known.said, each)
        return f"{known.name}: {told}" if known.name else told

    def _best_words(self, text: str, most: int) -> str:
        """The words of ``text`` in their order, without the most common ones until it fits."""
        gone = len(text) - most
        if gone <= 0:
            return text
        words = text.split()
        left = dict(enumerate(words))
        for n in sorted(left, key=lambda n: (self._weight(words[n]), -n)):
            if gone <= 0 or len(left) == 1:
                break
            gone -= len(left.pop(n)) + 1
        return cut(" ".join(left.values()), most)

    def _weight(self, word: str) -> float:
        """What a word of a telegram counts: numbers, paths, names of code more than any other."""
        known = self._weights.get(word)
        if known is None:
            exact = any(c.isdigit() or c in "/_#" for c in word)
            rarest = max((self._rare(one) for one in salience.terms(word)), default=0.0)
            known = self._weights[word] = rarest + exact
        return known


class _Part(NamedTuple):
    """Who says what; ``best`` has its sentences as telegrams with their places, best first."""

    name: str
    said: str
    best: tuple[tuple[int, str], ...]


def _part(text: str, rare: Rarity) -> _Part:
    name, said = speaker(text)
    sentences = salience.sentences(said)
    worth = _worths(sentences, rare)
    order = sorted(range(len(sentences)), key=lambda n: (-worth[n], n))
    short = ((n, telegram(sentences[n])) for n in order)
    return _Part(name, said, tuple((n, one) for n, one in short if one))


def _worths(sentences: Sequence[str], rare: Rarity) -> list[float]:
    """What each sentence is worth; one that decides or wishes something counts double."""
    worth = [salience.worth(one, rare) for one in sentences]
    cued = [observing_cues.of_person(one) is not None for one in sentences]
    return [one * (_CUED if cue else 1) for one, cue in zip(worth, cued, strict=True)]
