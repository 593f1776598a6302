"""What is wrong with facts: contradictions, ends before starts, the same thing twice at a time."""

from collections import defaultdict
from collections.abc import Iterable

from memory_palace.core import facts_text
from memory_palace.core.fact import PATH, Fact
from memory_palace.core.facts import Facts, overlapping
from memory_palace.core.problems import Problem, in_order


def check(facts: Facts, one_valued: Iterable[str]) -> list[Problem]:
    """All problems of the facts, and of their lines, by line; each says what to do."""
    found = [*facts.problems]
    same: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in facts.all:
        same[fact.names].append(fact)
        if fact.ends < fact.begins:
            start, end = facts_text.moment(fact.begins), facts_text.moment(fact.ends)
            what = f"{fact.sentence} ended on {end}, before it began on {start}: mend its dates"
            found.append(Problem(PATH, fact.line, what))
    for listed in same.values():
        for one, other in overlapping(listed):
            found.append(_twice(one, other, "the same fact twice at one time"))
    for one, other in facts.clashes(one_valued):
        why = f"{one.subject} has one {one.predicate} at a time"
        found.append(_twice(one, other, why))
    return in_order(found)


def _twice(one: Fact, other: Fact, why: str) -> Problem:
    """``one`` begins first."""
    period = facts_text.period
    what = (
        f"{why}: {one.sentence} {period(one)} (line {one.line}) and {other.object} "
        f"{period(other)}: end one, `palace kg invalidate {one.id} --ended "
        f"{facts_text.moment(other.begins)}`"
    )
    return Problem(PATH, other.line, what)
