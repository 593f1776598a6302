"""A note: its metadata as typed values, its body, and what is wrong with either."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_palace.core import dates, frontmatter
from memory_palace.core.kinds import HALLS, PRIORITIES
from memory_palace.core.problems import Grade, Problem
from memory_palace.core.text import stem


@dataclass(frozen=True, slots=True)
class Note:
    """One parsed note.

    ``type`` and ``priority`` are None where the metadata names none. ``title`` is the one written
    in the metadata (see :func:`note_title`). ``body_line`` is the body's first line, from 1.
    ``metadata`` holds every key as read, ``lines`` the line of each. ``broken`` is true if there
    is a metadata block that could not be read.
    """

    path: str
    body: str
    body_line: int
    has_metadata: bool
    metadata: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    title: str | None = None
    type: str | None = None
    priority: str | None = None
    hall: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    status: str | None = None
    pinned: bool = False
    problems: tuple[Problem, ...] = ()
    broken: bool = False


def parse(path: str, text: str) -> Note:
    """The note in ``text``. Never raises: what is wrong is in ``problems``."""
    block = frontmatter.split(text)
    body = text[block.body_at :]
    if block.entries is None:
        fault = Problem(
            path,
            block.fault_line,
            f"broken frontmatter ({block.fault}): mend the YAML; the body is indexed without it",
        )
        return Note(path, body, block.body_line, True, problems=(fault,), broken=True)
    reader = _Reader(path)
    for entry in block.entries:
        reader.add(entry.key, entry.value, entry.written, entry.key_start.line + 2)
    return Note(
        path=path,
        body=body,
        body_line=block.body_line,
        has_metadata=block.present,
        metadata=reader.values,
        lines=reader.lines,
        title=reader.text("title"),
        type=reader.text("type"),
        priority=reader.one_of("priority", PRIORITIES),
        tags=tuple(tag.lstrip("#") for tag in reader.words("tags") if tag.lstrip("#")),
        aliases=reader.words("aliases"),
        created=reader.moment("created"),
        updated=reader.moment("updated"),
        status=reader.text("status"),
        pinned=reader.flag("pinned"),
        hall=reader.one_of("hall", HALLS),
        problems=tuple(reader.problems),
    )


def note_title(note: Note, first_heading: str | None) -> str:
    """What to call the note: its written title, its first top heading, or its file's name."""
    return note.title or first_heading or stem(note.path)


_TYPED = frozenset("title type priority hall tags aliases created updated status pinned".split())
"""Keys whose values are checked one by one."""


class _Reader:
    """Reads single keys; a value of a wrong type becomes a problem, the other keys still count."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.values: dict[str, Any] = {}
        self.written: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []

    def add(self, key: str, value: Any, written: Any, line: int) -> None:
        if key in self.values:
            first = self.lines[key]
            self.problems.append(
                Problem(
                    self.path,
                    line,
                    f"key `{key}` again (first on line {first}, which counts): remove one",
                )
            )
            return
        self.values[key] = value
        self.written[key] = written
        self.lines[key] = line
        if key not in _TYPED and _is_bare_link(value):
            what = f'`{key}` has a link without quotes, which is no link: write "[[…]]"'
            self.problems.append(Problem(self.path, line, what, "warning"))

    def wrong(self, key: str, expected: str, grade: Grade = "error") -> None:
        shown = repr(self.values[key])
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        self.problems.append(
            Problem(
                self.path, self.lines[key], f"`{key}` is {shown}: write {expected}; left out", grade
            )
        )

    def text(self, key: str) -> str | None:
        value = self.written.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.wrong(key, "text on one line")
            return None
        return value.strip() or None

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str | None:
        value = self.values.get(key)
        if value is None or value in allowed:
            return value
        self.wrong(key, ", ".join(allowed[:-1]) + " or " + allowed[-1])
        return None

    def words(self, key: str) -> tuple[str, ...]:
        value = self.written.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list) or any(isinstance(v, list | dict | bool) for v in value):
            self.wrong(key, "a list of words, as in [one, two]")
            return ()
        return tuple(
            dict.fromkeys(word.strip() for word in value if word is not None and word.strip())
        )

    def moment(self, key: str) -> datetime | None:
        value = self.values.get(key)
        if value is None:
            return None
        found = dates.parse(value) if isinstance(value, str) else None
        if found is None:
            self.wrong(key, f"a date such as {dates.FORMS}")
        return found

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.wrong(key, "true or false")
        return False


def _is_bare_link(value: Any) -> bool:
    """True for what YAML makes of ``[[note]]`` without quotes: lists in a list."""
    return isinstance(value, list) and any(
        isinstance(item, list)
        and (all(isinstance(word, str) for word in item) or _is_bare_link(item))
        for item in value
    )
