"""Facts of another tool, into the facts of the palace: each once, with the time it held."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates, layers
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.facts import Fact, Facts, normal
from memory_palace.files import facts as logs
from memory_palace.memory import facts, pen
from memory_palace.memory.imports.sources import Triple

_INSTANT = timedelta(microseconds=1)
_MOST_SHOWN = 80  # characters of a name


class Written(NamedTuple):
    """How many facts were ``new`` (and would be, of a plan), how many ``there`` already, and lines
    on those that could not be taken."""

    new: int
    there: int
    odd: tuple[str, ...]


class _Timed(NamedTuple):
    triple: Triple
    start: datetime
    end: datetime | None


class _Known:
    """The facts by subject, with what was added meanwhile: the log is read once, not for each."""

    def __init__(self, known: Facts) -> None:
        self._spelled, self._predicates = known.spelled, known.predicates
        self._by_subject: dict[str, dict[str, Fact]] = defaultdict(dict)
        self.take(known.found)

    def take(self, found: Iterable[Fact]) -> None:
        """Facts that are new, or not as they were."""
        for fact in found:
            subject, predicate, object_ = fact.names
            self._by_subject[subject][fact.id] = fact
            self._spelled.setdefault(subject, fact.subject)
            self._predicates.setdefault(predicate, fact.predicate)
            self._spelled.setdefault(object_, fact.object)

    def about(self, names: Sequence[str]) -> Facts:
        """The facts with the first of ``names`` as their subject."""
        found = self._by_subject.get(normal(names[0]), {})
        return Facts(found.values(), self._spelled, self._predicates, ())


def plan(root: Path, triples: Iterable[Triple]) -> Written:
    """What :func:`write` would do."""
    good, odd = _timed(triples)
    known = logs.load(root)
    there = sum(_is_there(known, one) for one in good)
    return Written(len(good) - there, there, tuple(odd))


def write(
    root: Path,
    now: datetime,
    triples: Iterable[Triple],
    command: str,
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Written:
    """Add the facts that are not there yet, the earliest first; what ended there has ended here."""
    good, odd = _timed(triples)
    if not good:
        return Written(0, 0, tuple(odd))
    new = there = 0
    with pen.begin(root, now, command, reason, say) as held:
        known = _Known(logs.load(root))
        for one in good:
            if _is_there(known.about([one.triple.subject]), one):
                there += 1
                continue
            triple = one.triple
            sure = triple.confidence if 0 <= triple.confidence < 1 else None
            try:
                names = (triple.subject, triple.predicate, triple.object)
                added = facts.add(
                    held,
                    *names,
                    start=one.start,
                    end=one.end,
                    confidence=sure,
                    source=triple.source,
                    look=known.about,
                )
                known.take([added.fact, *added.closed])
                if one.end is not None and added.fact.ends > one.end:
                    known.take(facts.invalidate_id(held, added.fact.id, ended=one.end))
                new += added.new
                there += not added.new
            except (BadInput, Refused) as error:
                odd.append(f"{_shown(triple)}: {error}")
    return Written(new, there, tuple(odd))


def _timed(triples: Iterable[Triple]) -> tuple[list[_Timed], list[str]]:
    """The facts with their times, by those, and lines on facts whose times make no sense."""
    good, odd = [], []
    for triple in triples:
        start = dates.parse(triple.start)
        end = dates.end_of(triple.end) if triple.end else None
        said = _shown(triple)
        if start is None:
            odd.append(f"{said}: it begins {triple.start!r}, which is no date: left out")
        elif triple.end and end is None:
            odd.append(f"{said}: it ends {triple.end!r}, which is no date: left out")
        elif end is not None and end <= start:
            odd.append(f"{said}: it ends before it begins: left out")
        else:
            if end is not None and len(triple.end.strip()) == 10:
                end += _INSTANT  # the last day as a whole: from the next one on it does not hold
            good.append(_Timed(triple, start.replace(microsecond=0), end))
    return sorted(good, key=lambda one: one.start), odd


def _shown(triple: Triple) -> str:
    """A fact that is left out, as a line says it: what is wrong may be its length."""
    names = (triple.subject, triple.predicate, triple.object)
    return f"fact {' '.join(layers.clipped(name, _MOST_SHOWN) for name in names)}"


def _is_there(known: Facts, one: _Timed) -> bool:
    triple = one.triple
    same = known.same(triple.subject, triple.predicate, triple.object)
    return any(
        fact.begins == one.start and (one.end is None or fact.ends <= one.end) for fact in same
    )
