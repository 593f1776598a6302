"""All memories of a palace as they stand: topic files and events, read and folded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from memory_palace.core import dates, events, memories, note, tally, topics
from memory_palace.core.errors import Refused
from memory_palace.core.events import Event
from memory_palace.core.memories import Memory
from memory_palace.core.problems import Problem, in_order
from memory_palace.core.tally import Tally
from memory_palace.core.text import nearest
from memory_palace.core.topics import Entry
from memory_palace.files import git, read, roots
from memory_palace.files.walk import walk
from memory_palace.memory import tallies

GIT_SECONDS = 60.0
"""How long git may take to tell the ages of one topic file's lines."""


@dataclass(frozen=True)
class State:
    """The memories at ``at``, live and archived, in the order of files and lines.

    ``texts`` holds every topic file as read; ``entries`` its lines by id, as ``memories`` has
    them; ``tallies`` the counted events of each; ``problems`` what is wrong in files and log.
    """

    at: datetime
    memories: tuple[Memory, ...]
    entries: dict[str, Entry]
    texts: dict[str, str]
    tallies: Mapping[str, Tally]
    problems: tuple[Problem, ...]
    _events: Callable[[], tuple[Event, ...]] = field(repr=False)
    _written: "Written" = field(repr=False)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events in order, each once: read when they are asked for."""
        return self._events()

    @cached_property
    def live(self) -> tuple[Memory, ...]:
        """Those that are not archived."""
        return tuple(memory for memory in self.memories if not memory.archived)

    @cached_property
    def _by_id(self) -> dict[str, Memory]:
        return {memory.id: memory for memory in self.memories}

    def find(self, name: str) -> Memory:
        """The memory with this id, with or without its ``^``. Nothing is guessed.

        Raises :class:`Refused` for an unknown id, and one that two lines have with other texts.
        """
        key = name.strip().removeprefix("^")
        found = self._by_id.get(key)
        if found is None:
            near = nearest(key, self._by_id)
            hint = f": did you mean {near}?" if near else ": `palace topics` lists them"
            raise Refused(f"no memory has the id {key}{hint}")
        for problem in self.problems:
            if problem.message.startswith(f"^{key} has another text"):
                raise Refused(
                    f"{found.path}:{found.line} and {problem.path}:{problem.line} both have the id "
                    f"{key}: take it off one of the lines"
                )
        return found

    def written(self, entry: Entry) -> datetime:
        """When a line was written that no event tells of."""
        return self._written(entry)

    def is_committed(self, entry: Entry) -> bool:
        """True if git has the line as it stands, and so knows its age."""
        return self._written.is_committed(entry)


def load(
    root: Path, now: datetime, at: datetime | None = None, git_seconds: float = GIT_SECONDS
) -> State:
    """The memories of ``root``, at ``at`` where that is not now.

    What git cannot tell of a topic file within ``git_seconds`` is taken from the file instead.

    Raises :class:`BadInput` or :class:`Missing` if the log cannot be read.
    """
    counted = tallies.load(root, now)
    texts: dict[str, str] = {}
    problems: list[Problem] = list(counted.problems)
    for path in topic_files(root):
        got = read.read(root, path)
        if isinstance(got, read.Unreadable):
            problems.append(got.problem)
        else:
            texts[path] = got.text
    written = Written(root, texts, now, git_seconds)
    read_in = _read_in(texts)
    if at is None:
        until = now + events.SKEW
        found = memories.add_up(read_in.pairs, counted.tallies, now, written, until)
    else:
        found = memories.fold(read_in.pairs, counted.events, at, written)
    return State(
        at or now,
        found,
        dict(read_in.pairs),
        texts,
        counted.tallies,
        tuple(in_order([*problems, *read_in.problems])),
        lambda: counted.events,
        written,
    )


def renewed(
    root: Path, before: State, texts: Mapping[str, str], logged: Iterable[Event], now: datetime
) -> State:
    """The state after a write at ``now``: some topic files have other ``texts``, and more events
    were ``logged``. Reads nothing again."""
    more = tuple(logged)
    whole = dict(sorted({**before.texts, **texts}.items(), key=lambda pair: _order(pair[0])))
    written = Written(root, whole, now)
    pairs = _read_in(whole).pairs if texts else tuple(before.entries.items())
    added = tally.count(more, before.tallies)
    return State(
        now,
        memories.add_up(pairs, added, now, written, now + events.SKEW),
        dict(pairs),
        whole,
        added,
        before.problems,
        lambda: tuple(sorted([*before.events, *more], key=lambda e: (e.at, e.uid))),
        written,
    )


def _order(path: str) -> tuple[bool, str]:
    return path.startswith(topics.ARCHIVED), path


@dataclass(frozen=True, slots=True)
class Folded:
    """What topic files and events come to."""

    memories: tuple[Memory, ...]
    entries: dict[str, Entry]
    problems: tuple[Problem, ...]


def fold(
    texts: Mapping[str, str],
    happened: tuple[Event, ...],
    at: datetime,
    written: Callable[[Entry], datetime],
    until: datetime | None = None,
) -> Folded:
    """The memories in ``texts`` ({path: text}) at a moment; see :func:`core.memories.fold`."""
    read_in = _read_in(texts)
    found = memories.fold(read_in.pairs, happened, at, written, until)
    return Folded(found, dict(read_in.pairs), read_in.problems)


@dataclass(frozen=True, slots=True)
class _ReadIn:
    """The lines of topic files with their ids, in the order of files and lines."""

    pairs: tuple[tuple[str, Entry], ...]
    problems: tuple[Problem, ...]


def _read_in(texts: Mapping[str, str]) -> _ReadIn:
    entries: list[Entry] = []
    problems: list[Problem] = []
    for path, text in texts.items():
        parsed = topics.parse(path, text)
        entries += parsed.entries
        problems += parsed.problems
    keyed, between = topics.keyed(entries)
    order = sorted(keyed, key=lambda pair: (pair[1].archived, pair[1].path, pair[1].line))
    return _ReadIn(tuple(order), (*problems, *between))


def topic_files(root: Path) -> list[str]:
    """The topic files that are there, live and archived, in order."""
    found: list[str] = []
    for folder in (topics.FOLDER, topics.ARCHIVED):
        top = root / folder
        if any(part.is_symlink() for part in (top, *top.parents) if part.is_relative_to(root)):
            continue
        for place, folders, names in walk(top):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            inside = Path(place).relative_to(root).as_posix()
            found += [f"{inside}/{name}" for name in sorted(names) if _is_note(name)]
    return found


def _is_note(name: str) -> bool:
    return name.lower().endswith(".md") and not name.startswith(".")


class Written:
    """When lines were written that no event tells of: the commit of the line, else the file's
    ``updated`` or ``created``, else its modification time; never after ``now``."""

    def __init__(
        self, root: Path, texts: dict[str, str], now: datetime, git_seconds: float = GIT_SECONDS
    ) -> None:
        """``git_seconds`` is how long git may take for one file."""
        self._root = root
        self._texts = texts
        self._now = now
        self._git_seconds = git_seconds
        self._lines: dict[str, dict[int, int]] = {}
        self._files: dict[str, datetime] = {}

    def is_committed(self, entry: Entry) -> bool:
        """True if git has the line as it stands."""
        return entry.line in self._times(entry.path)

    def _times(self, path: str) -> dict[int, int]:
        if path not in self._lines:
            self._lines[path] = git.line_times(self._root, path, self._git_seconds)
        return self._lines[path]

    def __call__(self, entry: Entry) -> datetime:
        seconds = self._times(entry.path).get(entry.line)
        if seconds:
            return min(dates.from_seconds(seconds), self._now)
        if entry.path not in self._files:
            self._files[entry.path] = self._of_file(entry.path)
        return min(self._files[entry.path], self._now)

    def _of_file(self, path: str) -> datetime:
        found = note.parse(path, self._texts.get(path, ""))
        moment = found.updated or found.created
        if moment is None:
            try:
                place = roots.inside(self._root, path)
                moment = datetime.fromtimestamp(int(place.stat().st_mtime), UTC)
            except (OSError, OverflowError, ValueError):
                moment = self._now
        return moment


def reported(problems: Iterable[Problem], paths: Iterable[str]) -> list[Problem]:
    """The problems of some files only."""
    wanted = set(paths)
    return [problem for problem in problems if problem.path in wanted]
