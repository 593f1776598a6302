"""What does not hold together in a ledger: broken parents, sources that are not there."""

from collections.abc import Iterator

from memory_palace.core.ledger import Ledger
from memory_palace.core.problems import Problem


def check(path: str, ledger: Ledger) -> list[Problem]:
    """The problems of a ledger that stands in ``path``, all of them warnings: nothing is lost by
    one, but something that a line names cannot be shown."""
    found = [*_parents(ledger), *_records(ledger)]
    return [Problem(path, line or None, what, "warning") for line, what in sorted(found)]


def _parents(ledger: Ledger) -> Iterator[tuple[int, str]]:
    entries = ledger.entries
    ends: dict[str, bool] = {}
    for one in entries.values():
        if one.parent and one.parent not in entries:
            yield (
                one.line,
                f"entry {one.id} follows {one.parent}, which is not there: the branch begins here "
                "until that line is back",
            )
        walked = []
        at = one.id
        while at in entries and at not in ends:
            ends[at] = False  # until the first entry is reached
            walked.append(at)
            at = entries[at].parent
        if at not in entries or ends[at]:
            ends |= dict.fromkeys(walked, True)
        elif at in walked:
            yield (
                entries[at].line,
                f"entry {at} comes before and after itself: mend its `parent`",
            )


def _records(ledger: Ledger) -> Iterator[tuple[int, str]]:
    observed = {one.id for one in ledger.observations}
    for one in (*ledger.observations, *ledger.observed_again):
        yield from _covers(one.line, f"observation {one.id}", one.covers_up_to, ledger)
        for source in one.sources:
            if source not in ledger.entries:
                yield (
                    one.line,
                    f"observation {one.id} rests on entry {source}, which is not there: "
                    "bring that line back from another copy",
                )
    for reflection in (*ledger.reflections, *ledger.reflected_again):
        about = f"reflection {reflection.id}"
        yield from _covers(reflection.line, about, reflection.covers_up_to, ledger)
        for support in reflection.supports:
            if support not in observed:
                yield (
                    reflection.line,
                    f"{about} rests on observation {support}, which is not there: "
                    "bring that line back from another copy",
                )


def _covers(line: int, about: str, covers: str, ledger: Ledger) -> Iterator[tuple[int, str]]:
    if covers and covers not in ledger.entries:
        yield (
            line,
            f"{about} covers up to entry {covers}, which is not there: what it read counts as "
            "unread until that line is back",
        )
