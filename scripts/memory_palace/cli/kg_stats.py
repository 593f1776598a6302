"""The figures of ``palace kg stats``."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from memory_palace.cli.common import count
from memory_palace.core import facts_text
from memory_palace.core.facts import Facts, normal

MOST_PREDICATES = 20
"""Predicates that are listed, most facts first."""


def counted(known: Facts, one_valued: Iterable[str], now: datetime) -> dict[str, Any]:
    """Counts as ``--format json`` shows them."""
    single = {normal(name) for name in one_valued}
    by_predicate = Counter(fact.names[1] for fact in known.found)
    listed = sorted(by_predicate.items(), key=lambda pair: (-pair[1], pair[0]))
    starts = [fact.valid_from for fact in known.found if fact.valid_from]
    return {
        "facts": len(known.found),
        "holding": len(known.active(now)),
        "ended": sum(fact.ends <= now and not fact.taken_back for fact in known.found),
        "to_come": sum(fact.begins > now and fact.ends > fact.begins for fact in known.found),
        "taken_back": sum(fact.taken_back for fact in known.found),
        "entities": len(known.spelled),
        "first": facts_text.moment(min(starts)) if starts else None,
        "last": facts_text.moment(max(starts)) if starts else None,
        "predicates": len(by_predicate),
        "by_predicate": [
            {"name": known.predicates[name], "facts": many, "one_valued": name in single}
            for name, many in listed[:MOST_PREDICATES]
        ],
    }


def lines(counts: dict[str, Any]) -> list[str]:
    """The counts for people."""
    hold = "holds" if counts["holding"] == 1 else "hold"
    held = f"{counts['holding']} {hold}, {counts['ended']} ended, {counts['to_come']} to come"
    if counts["taken_back"]:
        held += f", {counts['taken_back']} taken back"
    shown = [f"{count(counts['facts'], 'fact')}: {held}"]
    shown.append(f"{counts['entities']} entities, {count(counts['predicates'], 'predicate')}")
    if counts["first"]:
        shown.append(f"starts from {counts['first']} to {counts['last']}")
    for one in counts["by_predicate"]:
        mark = ", one value at a time" if one["one_valued"] else ""
        shown.append(f"  {one['name']}  {count(one['facts'], 'fact')}{mark}")
    more = counts["predicates"] - len(counts["by_predicate"])
    return [*shown, f"  {more} more predicates"] if more else shown
