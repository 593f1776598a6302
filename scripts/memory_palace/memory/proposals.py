"""The queue of proposals: what a scan finds ready, what waits, what is refused."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory_palace.core import drafts, privacy, promotion, proposals
from memory_palace.core.drafts import Material
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.events import Event
from memory_palace.core.problems import Problem
from memory_palace.core.promotion import WING, Source
from memory_palace.core.proposals import FOLDER, Evidence, Proposal
from memory_palace.core.text import nearest, stem
from memory_palace.files import read
from memory_palace.memory.evidence import Shelf
from memory_palace.memory.pen import Pen
from memory_palace.memory.state import State

PRINCIPLES = f"{WING}principles/"
LIMIT = 20
"""Proposals that one scan makes: what a person or an agent can judge in one sitting."""

_IN_NAME = re.compile(r"-([0-9a-f]{12})\.md\Z")
COUNTS = ("remembered", "reinforced")
"""Events that are evidence."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The proposals by path, and what is wrong with files among them, which do not count.

    ``ids`` are those of all files, also of the ones that cannot be read.
    """

    proposals: tuple[Proposal, ...]
    problems: tuple[Problem, ...]
    ids: frozenset[str]

    @property
    def open(self) -> tuple[Proposal, ...]:
        """Those that nobody has decided yet."""
        return tuple(one for one in self.proposals if one.status == "proposed")


@dataclass(frozen=True, slots=True)
class Found:
    """What a scan found: new proposals, strongest evidence first, and how many more there are."""

    new: tuple[Proposal, ...]
    more: int


def load(root: Path) -> Queue:
    """The proposals of ``root``. A file that is broken is a problem and the rest goes on."""
    found: dict[str, Proposal] = {}
    problems: list[Problem] = []
    ids: set[str] = set()
    for path in notes_in(root, FOLDER):
        named = _IN_NAME.search(path)
        ids |= {named[1]} if named else set()
        got = read.read(root, path)
        if isinstance(got, read.Unreadable):
            problems.append(got.problem)
            continue
        parsed = proposals.parse(path, got.text)
        problems += parsed.problems
        one = parsed.proposal
        if one is None:
            continue
        first = found.setdefault(one.id, one)
        if first is not one:
            what = f"has the id {one.id} of {first.path}, which counts: move one of them away"
            problems.append(Problem(path, None, what))
    return Queue(tuple(found.values()), tuple(problems), frozenset(ids | set(found)))


def notes_in(root: Path, folder: str) -> list[str]:
    """The notes right in a folder, by path; none if a symbolic link leads there."""
    top = root / folder
    if any(part.is_symlink() for part in (top, *top.parents) if part.is_relative_to(root)):
        return []
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return []
    return [folder + name for name in names if name.lower().endswith(".md") and name[0] != "."]


def plan(shelf: Shelf, state: State, queue: Queue, now: datetime, by: str, limit: int) -> Found:
    """What a scan would propose; writes nothing. At most ``limit`` new ones.

    What was applied or rejected never comes back, even if its file is gone.
    """
    decided = {e.id for e in state.events if e.event in ("applied", "rejected")}
    rejected = {e.id for e in state.events if e.event == "rejected"}
    rejected |= {one.id for one in queue.proposals if one.status == "rejected"}
    known = decided | queue.ids
    new: list[tuple[int, Proposal]] = []
    for weight, one in (
        *_of_memories(shelf, state, rejected, now, by),
        *_of_principles(shelf, state, now, by),
    ):
        if one.id not in known:
            known.add(one.id)
            new.append((weight, one))
    new.sort(key=lambda pair: (-pair[0], pair[1].id))
    return Found(tuple(one for _, one in new[:limit]), max(len(new) - limit, 0))


def scan(pen: Pen, found: Found) -> None:
    """Write the proposals that :func:`plan` found, each with its event."""
    for one in found.new:
        pen.put(one.path, proposals.render(one))
        pen.log("proposed", one.id, destination=one.destination, path=one.path)


def find(queue: Queue, name: str, others: Iterable[str] = ()) -> Proposal:
    """The proposal with exactly this id. Raises :class:`Refused`, naming the nearest of all ids
    and ``others``."""
    key = name.strip()
    for one in queue.proposals:
        if one.id == key:
            return one
    if key in queue.ids:
        where = next((p.path for p in queue.problems if key in p.path), f"the file of {key}")
        raise Refused(f"{where} is broken: mend it; `palace promote list` says what is wrong")
    near = nearest(key, [*(one.id for one in queue.proposals), *others])
    hint = f"did you mean {near}?" if near else "`palace promote list` lists them"
    raise Refused(f"no proposal has the id {key}: {hint}")


def still_open(proposal: Proposal) -> None:
    """Raises :class:`Refused` if the proposal is decided, naming the page and by whom."""
    if proposal.status == "proposed":
        return
    page = f" as {proposal.page}" if proposal.page else ""
    who = f" by {proposal.decided_by}" if proposal.decided_by else ""
    raise Refused(
        f"proposal {proposal.id} is {proposal.status} already{page}{who}: "
        "change that page by hand, or archive it"
        if proposal.status == "applied"
        else f"proposal {proposal.id} is rejected already{who}: write the page by hand if it is "
        "wanted after all"
    )


def reject(pen: Pen, name: str, who: str, reason: str) -> Proposal:
    """Decide against a proposal; its file stays, so that it never comes back.

    Raises :class:`Refused` for an unknown id and one that is decided.
    """
    one = find(load(pen.root), name)
    still_open(one)
    who, reason = spoken(who, "--by") if who else pen.by, spoken(reason, "--reason")
    before = pen.read(one.path) or ""
    pen.put(one.path, proposals.decided(before, "rejected", who, pen.now, reason))
    pen.log("rejected", one.id, destination=one.destination, who=who)
    return replace(one, status="rejected", decided_by=who, decision_reason=reason)


def spoken(text: str, flag: str) -> str:
    """``text`` on one line, without secrets. Raises :class:`BadInput` if nothing is left."""
    kept = " ".join(privacy.redact(text).text.split())
    if not kept.replace(privacy.PRIVATE_MARK, "").strip():
        raise BadInput(f"{flag} is empty: write who or why in a few words")
    return kept


def _of_memories(
    shelf: Shelf, state: State, rejected: set[str], now: datetime, by: str
) -> Iterator[tuple[int, Proposal]]:
    about = by_id(state.events)
    day = now.date().isoformat()
    for memory in state.live:
        if memory.forgotten or not promotion.looked_at(memory.evidence):
            continue
        sources = shelf.sources(memory, about.get(memory.id, ()))
        block = f"#^{memory.id}" if memory.written else ""
        entry = proposals.link_to(memory.path)[:-2] + f"{block}]]"
        evidence = (Evidence(entry, memory.reinforced.date().isoformat()), *_cited(sources))
        for one in promotion.suggestions(
            memory.category, memory.text, memory.evidence, sources, memory.enforced
        ):
            material = Material(
                one.destination, memory.text, one.reason, evidence, "", day, by, one.form
            )
            made = build(material, memory.category, memory.text, now)
            yield memory.evidence, made
            if one.destination == "enforcement" and made.id not in rejected:
                break  # what a rule holds needs no page; what nobody wants as a rule may get one


def _of_principles(
    shelf: Shelf, state: State, now: datetime, by: str
) -> Iterator[tuple[int, Proposal]]:
    about = by_id(state.events)
    memories = {memory.id: memory for memory in state.memories}
    for path, note in shelf.notes.items():
        if not path.startswith(PRINCIPLES) or note.metadata.get("superseded_by"):
            continue
        if note.metadata.get("demoted_from"):  # a candidate before, and let go
            continue
        sources: dict[str, Source] = {}
        projects = set()
        for place, block in shelf.evidence(note):
            projects.add(shelf.project(place))
            source = shelf.source(place)
            found = [source] if source else []
            if block in memories:
                found += shelf.sources(memories[block], about.get(block, ()))
            sources |= {one.path: one for one in found}
        listed = sorted(sources.values(), key=lambda s: (s.day, s.path))
        projects |= {one.project for one in listed}
        weighty = note.pinned or note.priority == "high"
        reason = promotion.is_constitutional(listed, weighty, projects)
        if reason:
            title = " ".join((note.title or stem(path).replace("-", " ")).split())
            day = note.updated or note.created
            first = Evidence(proposals.link_to(path), day.date().isoformat() if day else "")
            material = Material(
                "constitution_candidate",
                drafts.first_paragraph(note.body) or title,
                reason,
                (first, *_cited(listed)),
                "",
                now.date().isoformat(),
                by,
                title=title,
            )
            yield len(listed), build(material, "principle", title, now)


def _cited(sources: Iterable[Source]) -> tuple[Evidence, ...]:
    return tuple(Evidence(proposals.link_to(s.path), s.day.isoformat()) for s in sources)


def build(material: Material, category: str, text: str, now: datetime) -> Proposal:
    """The proposal about ``text``; the ``material`` has everything but its source."""
    destination = material.destination
    title = f"{destination.replace('_', ' ').capitalize()}: {drafts.title_of(text)}"
    identity = proposals.proposal_id(destination, category, text)
    path = proposals.path_of(title, identity)
    return Proposal(
        id=identity,
        destination=destination,
        category=category,
        title=title,
        text=text,
        reason=material.reason,
        created=now.replace(microsecond=0),
        draft=drafts.draft(replace(material, source=proposals.link_to(path))),
        evidence=material.evidence,
        agent=material.agent,
        confidence=material.form.confidence if material.form else "",
        path=path,
    )


def by_id(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events that count as evidence, by what they are about."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.event in COUNTS:
            found[event.id].append(event)
    return found
