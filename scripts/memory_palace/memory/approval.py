"""Approval of proposals: the page is written, evidence and page link to each other, and who
decided when and why is kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_palace.core import (
    drafts,
    frontmatter,
    links,
    mechanical,
    note,
    privacy,
    promotion,
    proposals,
    topics,
)
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.core.memories import Memory
from memory_palace.core.note import Note
from memory_palace.core.problems import Problem
from memory_palace.core.promotion import GENERAL, ROOMS, Source
from memory_palace.core.proposals import Proposal
from memory_palace.core.text import did_you_mean, nfc, stem
from memory_palace.core.topics import Entry
from memory_palace.memory import topic_file
from memory_palace.memory.evidence import Shelf
from memory_palace.memory.pen import Pen
from memory_palace.memory.proposals import COUNTS, Queue, by_id, find, spoken, still_open
from memory_palace.memory.state import State

if TYPE_CHECKING:
    from memory_palace.memory.alike import Entries

PROMOTED = "promoted_to"
"""The key of an evidence note that lists the pages that came out of it."""
RULES_FILE = "rules.md"
BY_ITSELF = ("block", "warn")
"""Actions of rules that may be applied without a person."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What approval wrote: the proposal as it stands now, the page, the evidence notes that link
    to it now, the enforced entry's id, what could not be written, and the id of the memory that a
    topic's line is now."""

    proposal: Proposal
    page: str
    linked: tuple[str, ...] = ()
    enforced: str = ""
    problems: tuple[Problem, ...] = ()
    said: tuple[str, ...] = ()
    remembered: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person gives with an approval. ``who`` is the writer where it is empty."""

    reason: str
    who: str = ""
    project: str = ""
    yes: bool = False


def approve(
    pen: Pen,
    state: State,
    queue: Queue,
    shelf: Shelf,
    name: str,
    choice: Choice,
    vectors: "Entries | None" = None,
) -> Decided:
    """Write the page of a proposal. Everything is checked before anything is written.

    ``vectors`` find the memory that says nearly what a topic's line says; without them only one of
    the same text counts.

    Raises :class:`Refused` for an unknown id, one that is decided, a page that is there already,
    and evidence that no longer resolves (unless ``yes``); :class:`BadInput` for a draft that was
    edited into no such page.
    """
    one = find(queue, name)
    still_open(one)
    who = spoken(choice.who, "--by") if choice.who else pen.by
    reason = spoken(choice.reason, "--reason")
    kept = privacy.redact(one.draft)
    said = [f"taken out of the draft: {kind}" for kind in kept.secrets]
    broken = _broken(shelf, one)
    if broken and not choice.yes:
        raise Refused(
            f"evidence of {one.id} no longer resolves: {', '.join(broken)}: mend the links in "
            f"{one.path}, or approve it with --yes"
        )
    said += [f"evidence that no longer resolves: {link}" for link in broken]
    if choice.project and one.destination != "project_rule":
        raise BadInput(f"--project is for project rules, and {one.id} is a {one.destination}")
    if one.destination == "topic":
        memory = _remembered(pen, state, one, kept.text, vectors)
        link = f"{proposals.link_to(memory.path)[:-2]}#^{memory.id}]]"
        done = _decided(pen, one, memory.path, link, who, reason)
        return Decided(done, memory.path, said=tuple(said), remembered=memory.id)
    if one.destination == "project_rule":
        page, text = _rules(pen, shelf, one, kept.text, choice.project)
    else:
        page, text = _page(pen, shelf, one, kept.text)
    enforced = _enforced(pen, state, shelf, one) if one.destination == "enforcement" else None
    linked, problems = _linked(pen, shelf, one, page)

    pen.put(page, text)
    for path, changed in linked:
        pen.put(path, changed)
    if enforced:
        entry, marked = enforced
        topic_file.rewrite(pen, state, entry.path, {entry: marked})
    return Decided(
        _decided(pen, one, page, proposals.link_to(page), who, reason),
        page,
        tuple(path for path, _ in linked),
        enforced[1].block if enforced else "",
        tuple(problems),
        tuple(said),
    )


def _decided(pen: Pen, one: Proposal, page: str, link: str, who: str, reason: str) -> Proposal:
    """Record that the proposal was applied as ``page``; the proposal as it stands then."""
    before = pen.read(one.path) or ""
    pen.put(one.path, proposals.decided(before, "applied", who, pen.now, reason, link))
    pen.log("applied", one.id, destination=one.destination, path=one.path, page=page, who=who)
    return replace(one, status="applied", decided_by=who, decision_reason=reason, page=link)


def _remembered(
    pen: Pen, state: State, one: Proposal, draft: str, vectors: "Entries | None"
) -> Memory:
    """The memory that the line of a topic's draft is now: a person said it, and a person agreed.

    Raises :class:`BadInput` if the draft is not one line of a topic file.
    """
    from memory_palace.embed.registry import Choice as Embedder
    from memory_palace.memory.alike import Entries
    from memory_palace.memory.entries import Book, Said

    found = topics.parse(one.path, draft)
    lines = [line for line in draft.splitlines() if line.strip()]
    if len(found.entries) != 1 or len(lines) != 1 or found.problems:
        known = ", ".join(topics.CATEGORIES)
        raise BadInput(
            f"the draft in {one.path} has to be one line, `- [category] text`, of a category "
            f"among {known}"
        )
    entry = found.entries[0]
    source = proposals.link_to(one.path)
    for event in reversed(state.events):
        # Of an approval that was killed before it was recorded.
        if event.event in COUNTS and event.data.get("source") == source:
            return state.find(event.id)
    said = Said(entry.text, entry.category, "explicit", entry.pinned, source)
    near = vectors or Entries(pen.root, Embedder("none", "none", ""))
    return Book(pen).remember(said, near).memory


def may_apply(state: State, shelf: Shelf, queue: Queue) -> tuple[Proposal, ...]:
    """The open proposals that may be applied without a person, if the user turned that on.

    Only rules that block or warn, that the memory still speaks for, and whose draft says what the
    memory says: a proposal that came with a cloned palace, or was edited, waits for a person.
    """
    about = by_id(state.events)
    sure = {}
    for memory in state.live:
        if memory.forgotten:
            continue
        sources = shelf.sources(memory, about.get(memory.id, ()))
        for one in promotion.suggestions(
            memory.category, memory.text, memory.evidence, sources, memory.enforced
        ):
            if one.form and one.form.confidence == "high" and one.form.action in BY_ITSELF:
                key = proposals.proposal_id(one.destination, memory.category, memory.text)
                sure[key] = one.form
    found = []
    for proposal in queue.open:
        form = sure.get(proposal.id)
        draft = note.parse(proposal.path, proposal.draft).metadata
        if form and (draft.get("trigger"), draft.get("action")) == (form.trigger, form.action):
            found.append(proposal)
    return tuple(found)


def _broken(shelf: Shelf, one: Proposal) -> list[str]:
    drafted = links.in_metadata(note.parse(one.path, one.draft).metadata, {})
    wanted = [*one.links, *(str(link) for link in drafted if link.key == "evidence")]
    found = ((link, shelf.resolve(link, one.path)) for link in dict.fromkeys(wanted))
    return [link for link, resolved in found if resolved.status in ("broken", "ambiguous")]


def _page(pen: Pen, shelf: Shelf, one: Proposal, draft: str) -> tuple[str, str]:
    """Where the page goes, and its text."""
    found = note.parse(one.path, draft)
    _check(one, found)
    skill = one.destination == "skill"
    title = str(found.metadata["name"]) if skill else found.title or drafts.title_of(one.text)
    page = drafts.page_path(one.destination, title)
    source = proposals.link_to(one.path)
    if not skill:
        if any(nfc(stem(p)) == nfc(stem(page)) and p != page for p in shelf.notes):
            page = drafts.other_name(one.destination, page)
        changes = {"created": pen.now.date().isoformat()}
        if not found.metadata.get("source"):
            changes["source"] = source
        draft = frontmatter.change(draft, changes)
    there = pen.read(page)
    if there is not None:
        if source not in there:
            raise Refused(
                f"{page} is there already: give the draft in {one.path} another "
                f"{'name' if skill else 'title'}, or reject {one.id} and add its evidence there"
            )
        return page, there  # of an approval that was killed before it was recorded
    return page, draft


def _check(one: Proposal, found: Note) -> None:
    """Raises :class:`BadInput` if the draft is not a page of its kind."""
    where = f"the draft in {one.path}"
    for problem in found.problems:
        if problem.grade == "error":
            raise BadInput(f"{where}: {problem.message}")
    if not found.has_metadata:
        raise BadInput(f"{where} has no frontmatter: restore it")
    if one.destination == "skill":
        name, about = found.metadata.get("name"), found.metadata.get("description")
        if not isinstance(name, str) or drafts.skill_name(name) != name:
            raise BadInput(f"{where}: `name` is {name!r}: write a-z, 0-9 and single hyphens")
        if not isinstance(about, str) or not 0 < len(about) <= drafts.LONGEST_DESCRIPTION:
            most = drafts.LONGEST_DESCRIPTION
            raise BadInput(f"{where}: `description` has to be text of at most {most:,} characters")
        return
    kind = "rule" if one.destination == "enforcement" else one.destination
    if found.type != kind:
        raise BadInput(f"{where}: `type` is {found.type!r}: write {kind}")
    if kind == "rule":
        wrong = mechanical.fault(found.metadata.get("trigger"), found.metadata.get("action"))
        if wrong:
            raise BadInput(f"{where}: {wrong}")


def _rules(pen: Pen, shelf: Shelf, one: Proposal, draft: str, project: str) -> tuple[str, str]:
    """The rules of the room that the evidence speaks for, or ``project``, with the new lines."""
    lines = [line.rstrip() for line in draft.splitlines() if line.strip()]
    if not lines or not all(line.startswith("- ") for line in lines):
        raise BadInput(f"the draft in {one.path} has to be list items: begin each line with `- `")
    room = project or promotion.room_of(_rooms(shelf, one))
    known = {
        path.removeprefix(ROOMS).split("/")[0] for path in shelf.notes if path.startswith(ROOMS)
    }
    if room != GENERAL and room not in known:
        raise Refused(f"no project room `{room}`{did_you_mean(room, known | {GENERAL})}")
    page = f"{ROOMS}{room}/{RULES_FILE}"
    before = pen.read(page)
    if before is None:
        head = {
            "title": f"Rules of {room}",
            "type": "project_rule",
            "created": pen.now.date().isoformat(),
            "agent": pen.by,
        }
        keys = "".join(f"{key}: {frontmatter.scalar(value)}\n" for key, value in head.items())
        before = f"---\n{keys}---\n# Rules of {room}\n\n"
    there = {line.rstrip() for line in before.split("\n")}
    for line in lines:
        if line not in there:
            before = topics.with_line(before, line)
    return page, before


def _rooms(shelf: Shelf, one: Proposal) -> Iterable[Source]:
    for link in one.links:
        path = shelf.resolve(link, one.path).path
        if path:
            yield Source(path, one.created.date(), shelf.project(path))


def _enforced(pen: Pen, state: State, shelf: Shelf, one: Proposal) -> tuple[Entry, Entry] | None:
    """The entry as it stands and as it is to be marked; None if it is gone, archived or marked.

    What speaks against writing it is said here, before anything is written.
    """
    blocks = [resolved.link.block for resolved in map(shelf.resolve, one.links) if resolved.path]
    for key, entry in state.entries.items():
        same = entry.category == one.category and entry.text == one.text
        if entry.archived or entry.enforced or not (key in blocks or same):
            continue
        before = pen.read(entry.path)
        if before != state.texts.get(entry.path):
            raise Changed(f"{entry.path} changed underneath: nothing was written; run this again")
        marked = replace(entry, block=key, enforced=True)
        text = topics.with_changed(before or "", [(entry, marked)])
        topic_file.check_room(state, entry.path, text)
        return entry, marked
    return None


def _linked(
    pen: Pen, shelf: Shelf, one: Proposal, page: str
) -> tuple[list[tuple[str, str]], list[Problem]]:
    """The evidence notes with the page among their :data:`PROMOTED` links. Raw records, and
    notes whose metadata cannot be changed safely, stay as they are."""
    found: dict[str, str] = {}
    problems = []
    mine = proposals.link_to(page)
    for link in one.links:
        path = shelf.resolve(link, one.path).path
        if path is None or path in (page, one.path) or path in found or shelf.is_raw(path):
            continue
        text = pen.read(path)
        if text is None:
            continue
        there = note.parse(path, text)
        if not there.has_metadata:
            # A block of its own would make it deaf to what the manifest says of it.
            what = f"has no frontmatter, so it does not link to {page}: add `{PROMOTED}` by hand"
            problems.append(Problem(path, None, what, "warning"))
            continue
        value = there.metadata.get(PROMOTED)
        before = [value] if isinstance(value, str) else value or []
        if not isinstance(before, list) or mine in before:
            continue
        try:
            found[path] = frontmatter.change(text, {PROMOTED: [*before, mine]})
        except BadInput as error:
            problems.append(Problem(path, None, f"not linked to {page}: {error}"))
    return list(found.items()), problems
