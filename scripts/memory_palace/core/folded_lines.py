"""What of a fold fits a budget: the best lines, in the fold's own format and order."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memory_palace.core import fold as forms
from memory_palace.core import salience
from memory_palace.core.condense import SEPARATOR, Shortener
from memory_palace.core.fold import Fold
from memory_palace.core.ledger import TOKEN
from memory_palace.core.salience import Rarity

RELEVANCE = {"low": 0.5, "medium": 1.0, "high": 2.0, "critical": 3.0}
"""What a line counts, by its relevance."""

REFLECTION = 3.0
"""What a lasting conclusion counts."""

LEVELS = (60, 70, 90, 120, 160, 240, 0)
"""Characters to which each part of a line may be shortened; 0: as it is. The first level is taken
after which less is told."""

_AGAIN = 0.5  # what a term counts each further time
_MORE_OF_ONE = 0.7  # below 1: to tell of more turns is worth more than to tell more of each
_HEADINGS = ("## Reflections", "## Observations")


class _Line(NamedTuple):
    """A line as it would stand there. ``section`` is 0 or 1, ``terms`` what it tells of
    its ``parts``, those between separators."""

    section: int
    parts: int
    text: str
    terms: Mapping[str, float]


def fitted(fold: Fold, tokens: int) -> str:
    """The lines of ``fold`` that fit ``tokens``, best first, in its format and order.

    Lines are shortened where more is told so, and each section says how many more lines it has.
    Never longer than ``tokens`` allow; empty where not one line fits.
    """
    room = tokens * TOKEN
    if len(fold.text) <= room:
        return fold.text
    said = [one.content for one in fold.reflections] + [one.content for one in fold.observations]
    rare = Rarity(said)
    shortener = Shortener(rare)
    most, best = 0.0, ""
    for each in LEVELS:
        lines = _lines(fold, rare, shortener, each)
        chosen = _chosen(lines, room - _around(lines))
        told = sum(_worth(lines[n]) for n in chosen)
        if told < most:
            break
        most, best = told, _text(lines, chosen)
    return best


def _lines(fold: Fold, rare: Rarity, shortener: Shortener, each: int) -> list[_Line]:
    """All lines, each part of them in ``each`` characters."""

    def short(content: str) -> str:
        return shortener.line(content, each) if each else content

    found = []
    for one in fold.reflections:
        said = short(one.content)
        line = forms.reflection_line(replace(one, content=said))
        found.append(_Line(0, _parts(said), line, _weighed(said, rare, REFLECTION)))
    for seen in fold.observations:
        said = short(seen.content)
        line = forms.observation_line(replace(seen, content=said))
        found.append(_Line(1, _parts(said), line, _weighed(said, rare, RELEVANCE[seen.relevance])))
    return found


def _parts(said: str) -> int:
    return said.count(SEPARATOR) + 1


def _weighed(said: str, rare: Rarity, factor: float) -> dict[str, float]:
    return {term: weight * factor for term, weight in salience.weights(said, rare).items()}


def _around(lines: Sequence[_Line]) -> int:
    """Characters of headings, of the blank line, and of what says that there is more."""
    each = Counter(line.section for line in lines)
    return sum(len(_HEADINGS[n]) + 2 + len(_more(count)) for n, count in each.items())


def _worth(line: _Line) -> float:
    """How much a line tells, for the choice of a level."""
    each: float = (sum(line.terms.values()) / line.parts) ** _MORE_OF_ONE
    return line.parts * each


def _chosen(lines: Sequence[_Line], room: int) -> list[int]:
    """The places of the lines that tell most in ``room`` characters, in their order.

    The line that tells most for its length comes first; what was told before counts less.
    """
    told: Counter[str] = Counter()

    def gain(line: _Line) -> float:
        return sum(weight * _AGAIN ** told[term] for term, weight in line.terms.items())

    # The gain of a line only falls, so that an old one is an upper bound.
    waiting = [(-gain(line) / len(line.text), n) for n, line in enumerate(lines)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    while waiting:
        _, n = heapq.heappop(waiting)
        line = lines[n]
        if len(line.text) + 1 > room:
            continue
        now = gain(line)
        if waiting and (-now / len(line.text), n) > waiting[0]:
            heapq.heappush(waiting, (-now / len(line.text), n))
            continue
        chosen.append(n)
        room -= len(line.text) + 1
        told.update(line.terms.keys())
    return sorted(chosen)


def _text(lines: Sequence[_Line], chosen: Sequence[int]) -> str:
    """The chosen lines by section, in their order."""
    kept = set(chosen)
    sections = []
    for section, heading in enumerate(_HEADINGS):
        there = [n for n, line in enumerate(lines) if line.section == section]
        shown = [lines[n].text for n in there if n in kept]
        gone = len(there) - len(shown)
        if shown:
            sections.append("\n".join((heading, *shown, *([_more(gone)] if gone else []))))
    return "\n\n".join(sections)


def _more(count: int) -> str:
    return f"[{count} more: palace ledger show]"
