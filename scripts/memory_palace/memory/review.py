"""``palace review``: what changed in the memory between two points, by meaning."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from memory_palace.core import dates, entrychange, events, facts, notechange, secret_forms, topics
from memory_palace.core.entrychange import EntryChange
from memory_palace.core.events import Event
from memory_palace.core.memories import Memory
from memory_palace.core.notechange import NoteChange
from memory_palace.core.topics import Entry
from memory_palace.files import git, gitdiff, journal
from memory_palace.files.gitdiff import Compared, Difference
from memory_palace.memory import review_checks as checks
from memory_palace.memory import review_links, review_logs, state
from memory_palace.memory.review_checks import Finding
from memory_palace.memory.review_logs import FactChange, LogChange


@dataclass(frozen=True, slots=True)
class Review:
    """What changed from ``between.base`` on. ``files`` are changed files that hold no text.

    ``happened`` counts the added events by kind. ``findings`` are in order of path and line;
    those that are errors fail a check.
    """

    between: Compared
    notes: tuple[NoteChange, ...] = ()
    entries: tuple[EntryChange, ...] = ()
    facts: tuple[FactChange, ...] = ()
    logs: tuple[LogChange, ...] = ()
    happened: Mapping[str, int] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing changed."""
        return not (self.notes or self.entries or self.logs or self.files or self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that fail a check."""
        return tuple(finding for finding in self.findings if finding.grade == "error")


def look(root: Path, base: str | None, now: datetime) -> Review:
    """What changed since the commit ``base`` (default HEAD), or between the two of a range.

    Needs no index. Raises :class:`Missing` without git, :class:`BadInput` for an unknown commit.
    """
    between = gitdiff.compared(root, base)
    found = [d for d in gitdiff.differences(root, between) if not review_links.is_hidden(d.path)]
    if not found:
        return Review(between)
    sides = _Sides(found)
    logs = tuple(
        review_logs.compare(path, sides.before.get(path, ""), sides.after.get(path, ""))
        for path in sides.paths
        if review_logs.is_jsonl(path)
    )
    logs = tuple(log for log in logs if log.added or log.lost)
    entries = _Entries(root, between, sides, now)
    happened = next((log.kinds for log in logs if log.path == events.PATH), {})
    notes = notechange.compare(*sides.without_entries(), _pages(logs))
    notes = tuple(note for note in notes if not _is_only_entries(note, sides))
    told = [log for log in logs if log.path == facts.PATH]
    return Review(
        between=between,
        notes=notes,
        entries=entries.changes,
        facts=tuple(
            replace(fact, text=masked(fact.text)) for log in told for fact in review_logs.facts(log)
        ),
        logs=logs,
        happened=happened,
        files=sides.others,
        findings=tuple(_findings(root, between, sides, notes, entries, logs)),
    )


class _Sides:
    """The texts of what differs, before and after; what is no text is in ``faults``."""

    def __init__(self, found: Sequence[Difference]) -> None:
        self.before: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.faults: list[Finding] = []
        others = []
        for one in found:
            texts = [_decoded(one.before), _decoded(one.after)]
            is_text = notechange.is_note(one.path) or one.path.endswith((".jsonl", ".yaml"))
            if one.fault or (is_text and one.after is not None and texts[1] is None):
                why = one.fault or "not UTF-8 text: save it as UTF-8"
                self.faults.append(Finding("unreadable", one.path, None, why))
            elif not is_text:
                kind = "added" if one.before is None else "removed"
                others.append((kind if None in (one.before, one.after) else "changed", one.path))
                continue
            if texts[0] is not None:
                self.before[one.path] = texts[0]
            if texts[1] is not None:
                self.after[one.path] = texts[1]
        self.others = tuple(others)
        self.unreadable = {one.path for one in self.faults}
        self.paths = sorted({*self.before, *self.after} - self.unreadable)

    def without_entries(self) -> tuple[dict[str, str], dict[str, str]]:
        """Both sides without logs, and without the lines of entries: these are told by their
        own."""
        return tuple(  # type: ignore[return-value]
            {
                path: masked(_blanked(path, text) if checks.is_topic_file(path) else text)
                for path, text in side.items()
                if path in self.paths and not review_logs.is_jsonl(path)
            }
            for side in (self.before, self.after)
        )


def _decoded(data: bytes | None) -> str | None:
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def masked(text: str) -> str:
    """``text`` with its lines where they are, and no secret: a review is shown around."""
    pieces, kept = [], 0
    for span in secret_forms.spans(text):
        feeds = "\n" * text.count("\n", span.start, span.end)
        pieces += [text[kept : span.start], f"(secret {span.kind})", feeds]
        kept = span.end
    return "".join([*pieces, text[kept:]])


def _blanked(path: str, text: str) -> str:
    lines = text.split("\n")
    for entry in topics.parse(path, text).entries:
        lines[entry.line - 1] = ""
    return "\n".join(lines)


def _is_only_entries(note: NoteChange, sides: _Sides) -> bool:
    """True for a topic file in which nothing but entries changed."""
    if note.kind != "edited" or note.words or note.keys:
        return False
    return checks.is_topic_file(note.path) and note.path in sides.before


class _Entries:
    """The topic entries before and after, folded at the same moment."""

    def __init__(self, root: Path, between: Compared, sides: _Sides, now: datetime) -> None:
        self.changes: tuple[EntryChange, ...] = ()
        self.before: tuple[Memory, ...] = ()
        self.findings: list[Finding] = []
        touched = [path for path in sides.paths if checks.is_topic_file(path)]
        if not touched and events.PATH not in sides.paths:
            return
        texts = self._texts(root, between, sides)
        logs = self._logs(root, between, sides)
        written = _written(root, *texts, now)
        folded = [
            state.fold(side, log, now, written, now + events.SKEW)
            for side, log in zip(texts, logs, strict=True)
        ]
        self.before = folded[0].memories
        self.changes = entrychange.compare(self.before, folded[1].memories)
        known = {(problem.path, problem.message) for problem in folded[0].problems}
        new = [p for p in folded[1].problems if (p.path, p.message) not in known]
        self.findings = checks.found("entry", new)

    def _texts(
        self, root: Path, between: Compared, sides: _Sides
    ) -> tuple[dict[str, str], dict[str, str]]:
        there = gitdiff.files(root, between.base, topics.FOLDER, topics.ARCHIVED)
        there = {path: blob for path, blob in there.items() if checks.is_topic_file(path)}
        data = gitdiff.blobs(root, (blob.id for blob in there.values()))
        before = {path: _decoded(data.get(blob.id)) or "" for path, blob in there.items()}
        after = {path: text for path, text in before.items() if path not in sides.before}
        after |= {path: text for path, text in sides.after.items() if checks.is_topic_file(path)}
        both = ({path: masked(text) for path, text in side.items()} for side in (before, after))
        return tuple(dict(sorted(side.items())) for side in both)  # type: ignore[return-value]

    def _logs(
        self, root: Path, between: Compared, sides: _Sides
    ) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        if events.PATH in sides.paths:
            both = (side.get(events.PATH, "") for side in (sides.before, sides.after))
            first, second = (journal.parse(text.encode()).events for text in both)
            return first, second
        there = gitdiff.files(root, between.base, events.PATH)
        data = gitdiff.blobs(root, (blob.id for blob in there.values()))
        same = journal.parse(b"".join(data.values())).events
        return same, same


def _written(
    root: Path, before: dict[str, str], after: dict[str, str], now: datetime
) -> Callable[[Entry], datetime]:
    """When a line was written that no event tells of: the last commit of its file, else now. The
    same on both sides, so that an edit alone makes nothing stronger."""
    times = git.commit_times(root, {*before, *after})
    return lambda entry: (
        min(dates.from_seconds(times[entry.path]), now) if entry.path in times else now
    )


def _pages(logs: Sequence[LogChange]) -> dict[str, str]:
    """{page: proposal} of the proposals that were applied; a topic file is no page of its own, and
    its entries are told by themselves."""
    found = {}
    for log in logs:
        for line in log.added if log.path == events.PATH else ():
            data = line.data or {}
            page, proposal = data.get("page"), data.get("path")
            if not isinstance(page, str) or checks.is_topic_file(page):
                continue
            if data.get("event") == "applied":
                found[page] = proposal if isinstance(proposal, str) else str(data.get("id"))
    return found


def _findings(
    root: Path,
    between: Compared,
    sides: _Sides,
    notes: Sequence[NoteChange],
    entries: _Entries,
    logs: Sequence[LogChange],
) -> list[Finding]:
    after = {path: text for path, text in sides.after.items() if path in sides.paths}
    found = [*sides.faults, *entries.findings]
    found += checks.frontmatter(after)
    found += checks.merges(after)
    found += checks.secrets(sides.before, after)
    changed = [path for path in after if notechange.is_note(path)]
    if changed or any(notechange.is_note(path) for path in sides.before):
        there = review_links.notes(root, between)
        found += checks.found("link", review_links.problems(there, changed, sides.before), "error")
    for log in logs:
        found += checks.found("lost-line", review_logs.lost(log))
        found += checks.found("log", log.problems)
        if log.path == events.PATH:
            added = ((line.number, line.data) for line in log.added if line.data is not None)
            found += checks.found("log", events.read_all(added)[1])
    before = gitdiff.files(root, between.base, "palace")
    held = [memory.path for memory in entries.before]
    found += checks.lost(before, held, notes, entries.changes)
    found += checks.removed(notes, entries.changes)
    found = [replace(one, message=masked(one.message)) for one in found]
    return sorted(set(found), key=lambda one: (one.path, one.line or 0, one.kind, one.message))
