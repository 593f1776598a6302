"""Pairs that may contradict, best first: a bounded list for a person or an agent to judge."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memory_palace.core import conflicts, contradiction, note, topics
from memory_palace.core.conflicts import Record
from memory_palace.core.contradiction import Contradiction
from memory_palace.core.errors import Refused
from memory_palace.core.problems import Problem, in_order
from memory_palace.core.text import nfc, stem
from memory_palace.embed.port import Vectors
from memory_palace.files import facts, read, tree
from memory_palace.files.config import Config
from memory_palace.memory import conflict_pairs as pairs
from memory_palace.memory import conflict_sides as sides
from memory_palace.memory import conflicts as records_
from memory_palace.memory.conflict_sides import Found
from memory_palace.memory.state import State

PRIOR = {"merge": 3.0, "one_valued": 2.0, "polarity": 1.0, "value": 0.95, "choice": 0.8}
"""What a kind weighs in the order: how sure it is that somebody has to decide."""
SAME_ID = 2.5
"""Two lines with one id and other texts: both branches of a merge kept theirs."""
MOST_NAMESAKES = 20
"""Notes of one title that are compared with each other."""

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One pair: why, where each side stands (path:line), and the command that records it.

    ``record`` is the path of the record where there is one: then the command decides it.
    """

    kind: str
    why: str
    weight: float
    a: str
    b: str
    a_text: str
    b_text: str
    command: str
    record: str = ""


@dataclass(slots=True)
class Scan:
    """What a scan found. ``more`` are the pairs beyond the limit."""

    proposals: list[Proposal] = field(default_factory=list)
    more: int = 0
    problems: list[Problem] = field(default_factory=list)


def scan(
    root: Path,
    config: Config,
    state: State,
    limit: int = contradiction.MOST_PROPOSED,
    embed: Embed | None = None,
) -> Scan:
    """The pairs of ``root`` that may contradict and have no record yet, at most ``limit``.

    ``embed`` gives one vector a text, float32 of shape (n, d), rows of length 1; without it only
    shared words count. Merge marks that have a record are listed with it, as long as they stand.
    """
    records, problems = records_.load(root)
    known = [record for record in records if record.kind != "merge"]
    done = {tuple(sorted((record.a.key, record.b.key))) for record in known}
    found = [
        *_same_id(state),
        *(_pair(*three) for three in _entries(state, embed)),
        *(_pair(*three) for three in _facts(root, config, state.at)),
    ]
    result = Scan(problems=problems)
    found += _notes(root, config, records, result)
    kept = [one for one in found if one.keys is None or one.keys not in done]
    kept.sort(key=lambda one: (-one.proposal.weight, one.proposal.a, one.proposal.b))
    result.proposals = [one.proposal for one in kept[:limit]]
    result.more = max(len(kept) - limit, 0)
    result.problems = in_order(result.problems)
    return result


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A proposal, and the keys of its two sides; None for what is no such pair."""

    proposal: Proposal
    keys: tuple[str, ...] | None


def _pair(one: Found, other: Found, found: Contradiction) -> _Candidate:
    one, other = sorted((one, other), key=lambda side: (side.path, side.line))
    weight = round(PRIOR[found.kind] * found.weight, 3)
    command = f"palace conflict open {_named(one)} {_named(other)}"
    keys = tuple(sorted((one.key, other.key)))
    texts = one.text, other.text
    proposal = Proposal(found.kind, found.why, weight, one.place, other.place, *texts, command)
    return _Candidate(proposal, keys)


def _named(side: Found) -> str:
    by_id = side.kind == "entry" and not side.shared
    return side.block if by_id else shlex.quote(side.path if side.kind == "note" else side.place)


def _same_id(state: State) -> Iterator[_Candidate]:
    """Lines that share a block id and say different things."""
    for path, text in state.texts.items():
        for entry in topics.parse(path, text).entries:
            first = state.entries.get(entry.block) if entry.block else None
            if first is None or first == entry:
                continue
            if topics.normal(first.text) == topics.normal(entry.text):
                continue
            one, other = sides.of_entry(first, state), sides.of_entry(entry, state)
            why = f"two lines have the id ^{entry.block} and different texts"
            found = contradiction.compare(first.text, entry.text)
            kind = found.kind if found else "choice"
            made = Proposal(
                kind,
                why,
                SAME_ID,
                one.place,
                other.place,
                one.text,
                other.text,
                f"palace conflict open {shlex.quote(one.place)} {shlex.quote(other.place)}",
            )
            yield _Candidate(made, None)


def _entries(state: State, embed: Embed | None) -> Iterator[tuple[Found, Found, Contradiction]]:
    """Live entries of one category whose texts may contradict."""
    by_category: dict[str, list[Found]] = defaultdict(list)
    for memory in state.live:
        if not memory.forgotten:
            entry = state.entries[memory.id]
            found = Found("entry", entry.path, entry.line, entry.text, memory.id, entry)
            by_category[memory.category].append(found)
    for category, listed in by_category.items():
        texts = [side.text for side in listed]
        vectors = embed(texts) if embed and len(texts) > 1 else None
        for one, other, why in pairs.contradicting(texts, vectors):
            # What was done differs from time to time: only a denial is worth a look.
            if category != "done" or why.kind == "polarity":
                yield listed[one], listed[other], why


def _facts(
    root: Path, config: Config, at: datetime
) -> Iterator[tuple[Found, Found, Contradiction]]:
    if not config.one_valued:
        return
    for one, other in facts.load(root).clashes(config.one_valued, at):
        why = f"{one.subject} has one {one.predicate}: {one.object} and {other.object}"
        yield sides.of_fact(one), sides.of_fact(other), Contradiction("one_valued", why, 1.0)


def _notes(
    root: Path, config: Config, records: Iterable[Record], result: Scan
) -> Iterator[_Candidate]:
    """Merge marks in any note, and notes of one title whose first paragraphs contradict."""
    by_name: dict[str, list[str]] = defaultdict(list)
    listed = list(records)
    for stat in tree.scan(root, config.exclude).notes:
        if stat.path.startswith(conflicts.FOLDER):
            continue
        got = read.read(root, stat.path)
        if isinstance(got, read.Unreadable):
            result.problems.append(got.problem)
            continue
        if "<<<<<<<" in got.text or ">>>>>>>" in got.text:
            yield from _merges(root, stat.path, listed, result)
        elif not stat.path.startswith(topics.FOLDER):
            for name in _names(stat.path, got.text):
                by_name[name].append(stat.path)
    for named in by_name.values():
        yield from _namesakes(root, named)


def _names(path: str, text: str) -> set[str]:
    """Title and aliases as they are compared."""
    if not text.startswith(("---", "\ufeff---")):
        return set()
    read_ = note.parse(path, text)
    return {
        " ".join(nfc(name).casefold().split()) for name in (read_.title or "", *read_.aliases)
    } - {""}


def _namesakes(root: Path, paths: list[str]) -> Iterator[_Candidate]:
    if len(paths) < 2:
        return
    some = sorted(paths)[:MOST_NAMESAKES]
    found = [sides.of_note(path, sides.text_of(root, path)) for path in some]
    for one, other, why in pairs.contradicting([side.text for side in found], None):
        yield _pair(found[one], found[other], why)


def _merges(root: Path, path: str, records: list[Record], result: Scan) -> Iterator[_Candidate]:
    try:
        marks = sides.merges(root, path)
    except Refused:
        return
    for line in marks.strays:
        what = "a mark of a merge without the others: mend the lines around it by hand"
        result.problems.append(Problem(path, line, what, "warning"))
    for merge in marks.merges:
        a, b = sides.merge_sides(path, merge)
        kept = records_.of_merge(records, a, b)
        place = f"{path}:{merge.line}"
        command = f"palace conflict open --merge {shlex.quote(place)}"
        names = f"{merge.our_name or 'ours'}, {merge.their_name or 'theirs'}"
        why, record = f"a merge was left unfinished ({names})", ""
        if kept:
            why += ": recorded" if kept.is_open else ": decided, its marks still stand"
            record, name = kept.path, stem(kept.path)
            resolve = f"palace conflict resolve {shlex.quote(name)} --winner SIDE --reason WHY"
            command = resolve if kept.is_open else ""
        made = Proposal(
            kind="merge",
            why=why,
            weight=PRIOR["merge"],
            a=place,
            b=f"{path}:{merge.end}",
            a_text=a.text,
            b_text=b.text,
            command=command,
            record=record,
        )
        yield _Candidate(made, None)
