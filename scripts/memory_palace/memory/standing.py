"""How every note of a palace stands: its tier, its time, who links to it, what beats it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from memory_palace.core import archiving, conflicts, dates, demotion, elimination, links, markdown
from memory_palace.core.elimination import Finding, Standing
from memory_palace.core.events import Event
from memory_palace.core.links import Link
from memory_palace.core.note import Note
from memory_palace.core.problems import Problem
from memory_palace.core.promotion import WING
from memory_palace.core.text import is_cold, nfc, stem
from memory_palace.core.usage import Used, as_path
from memory_palace.files import git
from memory_palace.files.tree import Tree
from memory_palace.memory import conflicts as records
from memory_palace.memory.evidence import Shelf

CONSTITUTION = f"{WING}constitution.md"


class Survey:
    """Tiers, times and links of all notes.

    ``tiers`` has the live notes that may be eliminated, ``cited`` (source, its time, target) of
    each link, ``articles`` what the constitution rests on.
    """

    def __init__(self, root: Path, shelf: Shelf, seen: Tree, now: datetime) -> None:
        self.shelf = shelf
        self.problems: list[Problem] = []
        self.tiers: dict[str, elimination.Tier] = {}
        for path, note in shelf.notes.items():
            tier = None if is_cold(path) or note.broken else elimination.tier(path, note.type)
            if tier:
                self.tiers[path] = tier
        self.times = _times(root, shelf.notes, seen, now)
        # Of what cannot be seen nobody can say that it is gone.
        unread = [problem.path for problem in shelf.problems]
        hidden = (*seen.away, *seen.excluded, *unread)
        self._hidden = {nfc(stem(path)).casefold() for path in hidden}
        self._blind = bool(seen.unseen)
        if self._blind:
            what = "cannot be listed, so no note counts as unsupported: mend it"
            self.problems += [Problem(folder, None, what, "warning") for folder in seen.unseen]
        self.cited: list[tuple[str, datetime, str]] = []
        self.linking: dict[str, set[str]] = defaultdict(set)
        self.superseding: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.articles: set[str] = set()
        self._called: dict[str, set[str]] = defaultdict(set)
        for path, note in shelf.notes.items():
            for link in _links(note):
                self._follow(path, link)

    def _follow(self, source: str, link: Link) -> None:
        target = self.shelf.resolve(str(link), source).path
        if target is None or target == source:
            return
        if "/" in link.target:
            self._called[target].add(link.target)
        if link.key == "supersedes":  # says that nobody is to use it any more
            if not is_cold(source):
                self.superseding[target].append((source, f"superseded by [[{stem(source)}]]"))
            return
        if link.key == "superseded_by":
            self.superseding[source].append((target, f"superseded by {link}"))
        self.linking[target].add(source)
        self.cited.append((source, self.times[source], target))
        if source == CONSTITUTION:
            self.articles.add(target)

    def _evidence(self, note: Note) -> tuple[int, int]:
        """(how many links a note rests on, how many of them are broken)."""
        value = note.metadata.get("evidence")
        listed = value if isinstance(value, list) else [] if value is None else [value]
        found = [link for link in _evidence_links(note) if link.target]
        if self._blind:
            return len(found), 0
        broken = [link for link in found if self._is_broken(link, note.path)]
        # What is no link (an address, a word of where it was heard) cannot break.
        return max(len(found), len(listed)), len(broken)

    def _is_broken(self, link: Link, source: str) -> bool:
        hidden = nfc(stem(link.target)).casefold() in self._hidden
        return not hidden and self.shelf.resolve(str(link), source).status == "broken"

    def named(self, source: str) -> str | None:
        """The path of the note that an event's ``source`` names."""
        for link in links.in_metadata({"source": source}, {}):
            found = self.shelf.resolve(str(link)).path
            if found:
                return found
        return as_path(source)

    def standing(
        self, path: str, used: Used, returned: datetime | None, said: tuple[str, ...]
    ) -> Standing:
        """All that is asked of the note at ``path``; ``said`` are the records against it."""
        note = self.shelf.notes[path]
        rests, broken = self._evidence(note)
        return Standing(
            path=path,
            tier=self.tiers[path],
            time=self.times[path],
            used=used,
            returned=returned,
            pinned=note.pinned,
            priority=note.priority,
            beaten=said,
            evidence=rests,
            broken=broken,
            links_in=len(self.linking.get(path, ())),
        )

    def way_down(self, finding: Finding, taken: set[str]) -> tuple[str, tuple[str, ...]]:
        """Where a note goes that is demoted, and what links with its old folder call it.
        ``taken`` are paths in NFC."""
        path, note = finding.path, self.shelf.notes[finding.path]
        projects = []
        for link in _evidence_links(note):
            found = self.shelf.resolve(str(link), path)
            place = found.path or (found.why if found.status == "archived" else "")
            projects.append(self.shelf.project(place) if place in self.shelf.notes else "")
        wanted = demotion.target(path, projects)
        target = archiving.free_name(wanted, lambda name: nfc(name) in taken)
        names = demotion.spellings(path) - demotion.spellings(target)
        return target, tuple(sorted(self._called[path] & names))


def _evidence_links(note: Note) -> list[Link]:
    return links.in_metadata({"evidence": note.metadata.get("evidence")}, {})


def _links(note: Note) -> Iterator[Link]:
    yield from links.in_metadata(note.metadata, note.lines)
    if "[[" in note.body:
        for raw in markdown.read(note.body, note.body_line).links:
            yield links.parse(raw)


def _times(root: Path, found: Mapping[str, Note], seen: Tree, now: datetime) -> dict[str, datetime]:
    """The time of each note: as it says, else its last commit, else its file's."""
    times = {path: note.updated or note.created for path, note in found.items()}
    missing = {path for path, moment in times.items() if moment is None}
    committed = git.commit_times(root, missing) if missing else {}
    files = {file.path: file.mtime_ns for file in (*seen.notes, *seen.cold)}
    done = {}
    for path, moment in times.items():
        if moment is None:
            seconds = committed.get(path, files.get(path, 0) // 1_000_000_000)
            moment = min(dates.from_seconds(seconds), now)
        done[path] = moment
    return done


def beaten(root: Path, survey: Survey, events: tuple[Event, ...]) -> dict[str, tuple[str, ...]]:
    """{path: what newer records say against the note}."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, successors in survey.superseding.items():
        found[path] += [said for successor, said in successors if successor != path]
    now = elimination.names_now(events)
    lost: list[tuple[str, datetime, str]] = []
    for event in events:
        loser = event.data.get("loser")
        if event.event == "conflict_resolved" and isinstance(loser, str) and "/" in loser:
            lost.append((loser, event.at, event.id))
    for record in records.load(root)[0]:
        moment = dates.parse(record.decided) or record.created
        if record.loser and moment:
            key = survey.shelf.resolve(record.loser).path or conflicts.key_of(record.loser)
            lost.append((key, moment, record.path))
    for loser, moment, record_path in lost:
        path = loser if loser in survey.tiers else now.get(loser, loser)
        if path in survey.times and moment > survey.times[path]:
            found[path].append(f"lost in [[{stem(record_path)}]]")
    return {path: tuple(dict.fromkeys(said)) for path, said in found.items()}
