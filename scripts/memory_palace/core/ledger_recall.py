"""From an id back to what it rests on: exactly one id, on one branch, every gap named."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.core import ledger_branch
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection, is_id

RESULTS = ("ok", "partial", "invalid_id", "not_found", "no_source", "source_unavailable")
"""How a recall can end.

``partial``: some of what it rests on is not there. ``no_source``: nothing leads on to an entry.
``source_unavailable``: the entries are named, and none is there.
"""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What an id leads to.

    ``result`` is one of :data:`RESULTS`; ``record`` what has the id, ``dropped`` whether it was
    dropped. ``observations`` are those that a reflection was drawn from, ``sources`` the entries
    under it all, both in the order of the branch; ``hidden`` the ids of those observations that
    were dropped. ``gaps`` says what is not there, each in a line.
    """

    id: str
    result: str
    record: Entry | Observation | Reflection | None = None
    dropped: bool = False
    observations: tuple[Observation, ...] = ()
    sources: tuple[Entry, ...] = ()
    gaps: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()


def recall(ledger: Ledger, branch: Sequence[Entry], id: str) -> Recalled:
    """What ``id`` leads to, on this branch only."""
    if not is_id(id):
        return Recalled(id, "invalid_id", gaps=("an id has 12 hex digits, in lower case",))
    here = ledger_branch.of(ledger, branch)
    seen = {one.id: one for _, one in here.observations}
    dropped = here.dropped()
    gone = id in dropped
    gaps: list[str] = []
    if id in seen:
        sources = _sources(ledger, here, [seen[id]], gaps)
        result = _result(bool(seen[id].sources), bool(sources), bool(gaps))
        return Recalled(id, result, seen[id], gone, (), sources, tuple(gaps))
    for _, reflection in here.reflections:
        if reflection.id == id:
            return _reflection(ledger, here, reflection, dropped)
    if id in here.places:
        entry = here.entries[here.places[id]]
        return Recalled(id, "ok", entry, sources=(entry,))
    return Recalled(id, "not_found", gaps=_elsewhere(ledger, id))


def _reflection(
    ledger: Ledger, here: ledger_branch.Branch, one: Reflection, dropped: frozenset[str]
) -> Recalled:
    known = {o.id for o in ledger.observations}
    drawn = [o for _, o in here.observations if o.id in one.supports]
    missing = set(one.supports) - {o.id for o in drawn}
    gaps = [
        _gap("observation", support, support in known)
        for support in one.supports
        if support in missing
    ]
    sources = _sources(ledger, here, drawn, gaps)
    result = _result(bool(drawn), bool(sources), bool(gaps))
    hidden = dropped & {o.id for o in drawn}
    gone = one.id in dropped
    return Recalled(one.id, result, one, gone, tuple(drawn), sources, tuple(gaps), hidden)


def _sources(
    ledger: Ledger,
    here: ledger_branch.Branch,
    observations: Sequence[Observation],
    gaps: list[str],
) -> tuple[Entry, ...]:
    named = dict.fromkeys(source for one in observations for source in one.sources)
    gaps += [_gap("entry", one, one in ledger.entries) for one in named if one not in here.places]
    return tuple(
        here.entries[place] for place in sorted(here.places[s] for s in named if s in here.places)
    )


def _result(named: bool, found: bool, gaps: bool) -> str:
    if not named:
        return "no_source"
    if not found:
        return "source_unavailable"
    return "partial" if gaps else "ok"


def _gap(kind: str, id: str, known: bool) -> str:
    return f"{kind} {id} {'stands on another branch' if known else 'is not in this ledger'}"


def _elsewhere(ledger: Ledger, id: str) -> tuple[str, ...]:
    kinds = (
        ("observation", {one.id for one in ledger.observations}),
        ("reflection", {one.id for one in ledger.reflections}),
        ("entry", ledger.entries),
    )
    return tuple(_gap(kind, id, True) for kind, there in kinds if id in there)
