"""Contradictions: a record of both claims, and the decision between them. Nothing is deleted."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import conflicts, contradiction, privacy, topics
from memory_palace.core.conflicts import Record, Side
from memory_palace.core.contradiction import Contradiction
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.events import Event
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem
from memory_palace.core.text import COLD_COMPONENT, nearest, nfc, slug, stem
from memory_palace.files import git, read, tree
from memory_palace.memory import conflict_sides as sides
from memory_palace.memory import state as states
from memory_palace.memory.conflict_sides import Found, Names
from memory_palace.memory.pen import Pen

_COLD = f"{TREE}{COLD_COMPONENT}/{conflicts.FOLDER.removeprefix(TREE)}"


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision came to: the record as it is now, which side won (A or B), the notes that
    were marked, and what is left for a person to do."""

    record: Record
    letter: str
    marked: tuple[str, ...]
    left: tuple[str, ...] = ()


def load(root: Path) -> tuple[list[Record], list[Problem]]:
    """All records, live and archived, by path; and what is wrong with any."""
    seen = tree.scan(root)
    records: list[Record] = []
    problems: list[Problem] = []
    for stat in (*seen.notes, *seen.cold):
        if not stat.path.startswith((conflicts.FOLDER, _COLD)):
            continue
        got = read.read(root, stat.path)
        if isinstance(got, read.Unreadable):
            problems.append(got.problem)
            continue
        record = conflicts.parse(stat.path, got.text)
        problems += record.problems
        records.append(record)
    return records, problems


def find(records: Iterable[Record], name: str) -> Record:
    """The record with this name, path or link. Raises :class:`Refused`, naming the nearest."""
    listed = list(records)
    wanted = nfc(name.strip().removeprefix("[[").removesuffix("]]"))
    found = [
        record
        for record in listed
        if wanted in (record.path, stem(record.path)) or conflicts.key_of(wanted) == record.path
    ]
    if not found:
        near = nearest(stem(wanted), [stem(record.path) for record in listed])
        hint = f"did you mean {near}?" if near else "`palace conflict list` names them"
        raise Refused(f"no conflict is called {name}: {hint}")
    live = [record for record in found if record.path.startswith(conflicts.FOLDER)] or found
    if len(live) > 1:
        raise Refused(f"{name} could be {' or '.join(r.path for r in live)}: write the path")
    return live[0]


def open_pair(
    pen: Pen,
    a: str,
    b: str,
    kind: str | None = None,
    evidence: Iterable[str] = (),
    title: str | None = None,
) -> Record:
    """Write a record of what ``a`` and ``b`` say; each an entry's id, or a note's path or name.

    Without ``kind`` it is what :func:`contradiction.compare` finds, else `choice`. Raises
    :class:`Refused` for an unknown side, one that could be several, and a pair that has a record.
    """
    state = states.load(pen.root, pen.now)
    names = Names(pen.root, pen.config, state)
    one, other = names.find(a), names.find(b)
    if one.place == other.place or (one.key == other.key and not (one.shared or other.shared)):
        raise Refused(f"{a} and {b} are the same, {one.place}: name two that contradict")
    links = [_evidence(names, link) for link in evidence]
    records, _ = load(pen.root)
    if not (one.shared or other.shared):
        _check_new(records, one.key, other.key)
    found = _how(one, other)
    one, other = sides.identify(pen, state, (one, other))
    why = found.why if found and kind in (None, found.kind) else ""
    mine, theirs = one.side(), other.side()
    said = _title(title, mine.text, theirs.text)
    record = Record(
        path=_free_path(pen.root, said),
        title=said,
        status="open",
        kind=kind or (found.kind if found else "choice"),
        a=mine,
        b=theirs,
        created=pen.now,
        agent=pen.by,
        evidence=tuple(links),
    )
    return _write(pen, record, why)


def _how(one: Found, other: Found) -> Contradiction | None:
    if one.kind == other.kind == "fact":
        return Contradiction("one_valued", f"{one.text}; {other.text}", 1.0)
    return contradiction.compare(one.text, other.text)


def open_merge(pen: Pen, place: str, title: str | None = None) -> list[Record]:
    """A record for each merge left in the note, or for the one at ``PATH:LINE``.

    Both sides are held word for word; the note stays as it is. Raises :class:`Refused` if there
    is no merge, or each has its record.
    """
    path, _, line = (
        place.rpartition(":") if place.rpartition(":")[2].isdecimal() else (place, "", "")
    )
    state = states.load(pen.root, pen.now)
    path = Names(pen.root, pen.config, state).note(path)
    merges = sides.merges(pen.root, path).merges
    if line:
        merges = tuple(m for m in merges if m.line <= int(line) <= m.end)
    if not merges:
        raise Refused(f"{place} has no merge conflict: all of <<<<<<<, ======= and >>>>>>> count")
    records, _ = load(pen.root)
    made: list[Record] = []
    known = ""
    for merge in merges:
        a, b = sides.merge_sides(path, merge)
        kept = of_merge(records, a, b)
        if kept:
            known = kept.path
            continue
        said = _title(title, f"Merge of {stem(path)}, line {merge.line}", "")
        record = Record(
            path=_free_path(pen.root, said),
            title=said,
            status="open",
            kind="merge",
            a=a,
            b=b,
            created=pen.now,
            agent=pen.by,
        )
        made.append(_write(pen, record, f"both sides changed {path}:{merge.line}"))
    if not made:
        raise Refused(f"{known} has that merge already: decide it with `palace conflict resolve`")
    return made


def of_merge(records: Iterable[Record], a: Side, b: Side) -> Record | None:
    """The record of a merge with these two sides, wherever its lines are now."""
    for record in records:
        same = record.kind == "merge" and record.is_about(a.key, b.key)
        if same and (record.a.text, record.b.text) == (a.text, b.text):
            return record
    return None


def _check_new(records: Iterable[Record], a: str, b: str) -> None:
    for record in records:
        if record.kind != "merge" and record.is_about(a, b):
            if record.is_open:
                raise Refused(f"{record.path} is about these two and is open: go on there")
            raise Refused(f"{record.path} is about these two and {_decided(record)}")


def _decided(record: Record) -> str:
    by = f" by {record.decided_by}" if record.decided_by else ""
    return f"was decided{by}: write down what holds now, and open a conflict with that"


def _evidence(names: Names, link: str) -> str:
    """``link`` as a record lists it: an address as it is, all else as a link that resolves."""
    cleaned = topics.one_line(privacy.redact(link).text)
    return cleaned if "://" in cleaned else f"[[{names.find(cleaned).source}]]"


def _title(given: str | None, a: str, b: str) -> str:
    if given is None:
        return conflicts.title_of(a, b or a)
    title = topics.one_line(privacy.redact(given).text)[: conflicts.LONGEST_TITLE]
    if not title:
        raise BadInput("--title is empty: write what the conflict is about, or leave it out")
    return title


def _free_path(root: Path, title: str) -> str:
    name, count = slug(title), 1
    while True:
        file = f"{name}.md" if count == 1 else f"{name}-{count}.md"
        if not (root / conflicts.FOLDER / file).exists() and not (root / _COLD / file).exists():
            return conflicts.FOLDER + file
        count += 1


def _write(pen: Pen, record: Record, why: str) -> Record:
    text = conflicts.render(record, why)
    pen.put(record.path, text)
    pen.log("conflict_opened", record.path, path=record.path, kind=record.kind)
    return conflicts.parse(record.path, text)


def decider(root: Path, by: str | None, otherwise: str) -> str:
    """Who decides: ``by``, else git's ``user.name``, else ``otherwise``."""
    if by is not None:
        named = topics.one_line(privacy.redact(by).text)
        if not named:
            raise BadInput("--by is empty: name who decided")
        return named
    said = git.run(root, "config", "user.name")
    return topics.one_line((said or b"").decode("utf-8", "replace")) or otherwise


def resolve(pen: Pen, name: str, winner: str, by: str | None, reason: str) -> Decided:
    """Decide an open conflict for `a`, `b`, or the side with this id or path.

    The record gets the decision; notes get ``superseded_by`` and ``supersedes``; of an entry the
    event says that it lost: it counts as forgotten, its line stays. Raises :class:`BadInput`
    without a reason, :class:`Refused` for a conflict that was decided.
    """
    said = topics.one_line(privacy.redact(reason).text)
    if not said:
        raise BadInput("a decision needs its reason: add --reason TEXT")
    path = find(load(pen.root)[0], name).path
    before = pen.read(path) or ""
    record = conflicts.parse(path, before)
    state = states.load(pen.root, pen.now)
    names = Names(pen.root, pen.config, state)
    letter = _letter(record, names, winner)
    won, lost = (record.a, record.b) if letter == "A" else (record.b, record.a)
    if not record.is_open:
        _finish_or_refuse(pen, record, state.events, won)
        return Decided(record, letter, ())
    who = decider(pen.root, by, pen.by)
    _refuse_safe(state, lost)
    texts = {} if record.kind == "merge" else _marked(pen, names, won, lost)
    try:
        after = conflicts.decide(before, won, lost, letter, who, pen.now, said)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    for marked, text in texts.items():
        pen.put(marked, text)
    pen.put(path, after)
    _log(pen, path, won, lost, letter, who)
    left = tuple(_left(record, won, lost))
    return Decided(conflicts.parse(path, after), letter, tuple(texts), left)


def _refuse_safe(state: states.State, lost: Side) -> None:
    """Pinned and enforced memories are never let go without a word."""
    for memory in state.memories:
        if f"^{memory.id}" == lost.key and memory.safe:
            how = f"run `palace unpin {memory.id}`" if memory.pinned else "archive the rule"
            what = "pinned" if memory.pinned else "enforced by a rule"
            raise Refused(f"^{memory.id} would lose and is {what}: {how} first")


def _letter(record: Record, names: Names, winner: str) -> str:
    """A or B: as it is said, or the side that the id, path or name means."""
    if winner.strip().lower() in ("a", "b"):
        return winner.strip().upper()
    key = _means(names, winner)
    keys = [key == side.key or f"fact {winner}" == side.key for side in (record.a, record.b)]
    if keys.count(True) != 1:
        raise Refused(f"{winner} is no side of {record.path}: write --winner a or --winner b")
    return "A" if keys[0] else "B"


def _means(names: Names, source: str) -> str:
    """The key of what ``source`` leads to; of what leads nowhere, what it would be."""
    try:
        return names.find(source).key
    except Refused:
        return conflicts.key_of(source)


def _finish_or_refuse(pen: Pen, record: Record, happened: Iterable[Event], won: Side) -> None:
    """A record that says it is decided: refused, unless a kill kept its event from the log."""
    told = any(e.event == "conflict_resolved" and e.id == record.path for e in happened)
    meant = record.winner and conflicts.key_of(record.winner) == won.key
    if told or not meant or record.kind == "merge":
        raise Refused(f"{record.path} {_decided(record)}")
    lost = record.b if won is record.a else record.a
    _log(pen, record.path, won, lost, "A" if won is record.a else "B", record.decided_by)


def _log(pen: Pen, path: str, won: Side, lost: Side, letter: str, who: str) -> None:
    ids = _id(won, letter), _id(lost, "B" if letter == "A" else "A")
    pen.log("conflict_resolved", path, path=path, winner=ids[0], loser=ids[1], who=who)


def _id(side: Side, letter: str) -> str:
    """As events name it; the sides of a merge, which are of one note, by their letters."""
    if side.verbatim:
        return letter
    return side.key.removeprefix("^").removeprefix("fact ")


def _marked(pen: Pen, names: Names, won: Side, lost: Side) -> dict[str, str]:
    """The texts of the notes among both sides, with the links that the decision gives them."""
    changed: dict[str, str] = {}
    for side, other, key in ((lost, won, "superseded_by"), (won, lost, "supersedes")):
        if not _is_note(side) or not other.is_link:
            continue
        path = names.note(side.source)
        before = changed.get(path) or pen.read(path)
        if before is None:
            raise Refused(f"{path} is gone: restore it, or decide for what is there")
        back = conflicts.linked(before, path, "superseded_by") if key == "supersedes" else ()
        if other.key in (_means(names, source) for source in back):
            raise Refused(
                f"{path} says that it is superseded by {other.source}: take that line out first"
            )
        changed[path] = conflicts.with_link(before, path, key, other.source)
    return changed


def _is_note(side: Side) -> bool:
    return side.is_link and not side.key.startswith("^")


def _left(record: Record, won: Side, lost: Side) -> Iterable[str]:
    """What a person has to do by hand, a line each."""
    if record.kind == "merge":
        yield f"{won.key}: keep the winner's lines and remove the marks by hand"
    elif lost.source.startswith("fact "):
        yield (
            f"{lost.source} still holds: end it, "
            f"`palace kg invalidate {lost.source.removeprefix('fact ')} --ended D`"
        )
