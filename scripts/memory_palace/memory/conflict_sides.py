"""What a contradiction is between: entries of topics, notes, facts, the two sides of a merge."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from memory_palace.core import conflicts, markdown, mergemarks, note, privacy, topics
from memory_palace.core.conflicts import Side
from memory_palace.core.errors import Refused
from memory_palace.core.fact import PATH as FACTS
from memory_palace.core.fact import Fact
from memory_palace.core.links import TREE
from memory_palace.core.mergemarks import Merge
from memory_palace.core.text import COLD_COMPONENT, nearest, nfc, split_lines, stem
from memory_palace.core.topics import Entry
from memory_palace.files import facts, read, tree
from memory_palace.files.config import Config
from memory_palace.memory import topic_file
from memory_palace.memory.pen import Pen
from memory_palace.memory.state import State

LONGEST_CLAIM = 600
"""Characters of a note that are quoted as its claim."""

_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d{1,9})")
_BLOCK = re.compile(r"(?:.*#)?\^(?P<id>[0-9A-Za-z-]+)")
_ID = re.compile("[0-9a-f]{12,}")

Kind = Literal["entry", "note", "fact"]


@dataclass(frozen=True, slots=True)
class Found:
    """One side: where it stands (``line`` from 1), what it says, how a record names it.

    ``block`` is the id of an entry; ``entry`` its line as it was read, ``shared`` is True where
    another line, which counts, has the same id.
    """

    kind: Kind
    path: str
    line: int
    text: str
    block: str = ""
    entry: Entry | None = None
    shared: bool = False

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def source(self) -> str:
        """The inside of the link to it."""
        if self.kind == "fact":
            return f"fact {self.block}"
        return conflicts.link_to(self.path, self.block)

    @property
    def key(self) -> str:
        return conflicts.key_of(self.source)

    @property
    def id(self) -> str:
        """As events name it: an entry's id, a note's path, a fact's id."""
        return self.block or self.path

    def side(self) -> Side:
        """As a record holds it: without secrets, which a copy would spread."""
        detail = self.place if self.kind == "fact" else ""
        text = conflicts.quotable(self.path, privacy.redact(self.text).text)
        return Side(text, self.source, detail)


class Names:
    """The notes of a palace, found by what a person calls them. Nothing is guessed."""

    def __init__(self, root: Path, config: Config, state: State) -> None:
        self._root = root
        self._state = state
        seen = tree.scan(root, config.exclude)
        self._live = [stat.path for stat in seen.notes]
        self._all = [*self._live, *(stat.path for stat in seen.cold)]

    def find(self, name: str) -> Found:
        """The entry, note or fact that ``name`` means.

        An id with or without ``^``, a link, a note's path or exact name, or PATH:LINE of a topic
        line or a fact. Raises :class:`Refused` for what is unknown, naming the nearest, and for
        what could be several, naming them.
        """
        bare = name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].strip()
        placed = _PLACE.fullmatch(bare)
        if placed:
            return self._at(placed["path"], int(placed["line"]))
        block = _BLOCK.fullmatch(bare)
        if block or _ID.fullmatch(bare):
            return self._entry(block["id"] if block else bare)
        path = self.note(bare)
        return of_note(path, text_of(self._root, path))

    def _entry(self, block: str) -> Found:
        return of_entry(self._state.entries[self._state.find(block).id], self._state)

    def _at(self, path: str, line: int) -> Found:
        if path == FACTS:
            for fact in facts.load(self._root).found:
                if fact.line == line:
                    return of_fact(fact)
            raise Refused(f"{path}:{line} is no fact: `palace conflict scan` names the lines")
        path = self.note(path)
        text = self._state.texts.get(path, "")
        for entry in topics.parse(path, text).entries:
            if entry.line == line:
                return of_entry(entry, self._state)
        raise Refused(f"{path}:{line} is no entry of a topic: name its line, or the whole note")

    def note(self, name: str) -> str:
        """The path of the note with this path or exact name; one that was archived is found by
        the path that it had."""
        wanted = nfc(name)
        bare = wanted.removeprefix(TREE)
        bare = bare if bare.lower().endswith(".md") else f"{bare}.md"
        for candidate in (wanted, TREE + bare, f"{TREE}{COLD_COMPONENT}/{bare}"):
            same = [path for path in self._all if nfc(path) == candidate]
            if same:
                return _one(name, same)
        tail = f"/{stem(wanted)}.md" if "/" not in wanted else f"/{wanted.removesuffix('.md')}.md"
        named = [path for path in self._live if nfc(path).endswith(tail)]
        if named:
            return _one(name, named)
        known = {stem(path): path for path in reversed(self._all)}
        near = nearest(stem(wanted), known)
        hint = f"did you mean {known[near]}?" if near else "name a note, or the id of an entry"
        raise Refused(f"no note or entry is called {name}: {hint}")


def _one(name: str, paths: list[str]) -> str:
    if len(paths) > 1:
        raise Refused(f"{name} could be {' or '.join(sorted(paths)[:4])}: write the path")
    return paths[0]


def text_of(root: Path, path: str) -> str:
    """A note's text. Raises :class:`Refused` if it cannot be read."""
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        raise Refused(f"{path}: {got.problem.message}")
    return got.text


def of_entry(entry: Entry, state: State) -> Found:
    """One line of a topic file."""
    key = next((key for key, known in state.entries.items() if known == entry), "")
    shared = not key and entry.block in state.entries
    block = key or entry.key
    return Found("entry", entry.path, entry.line, entry.text, block, entry, shared)


def of_note(path: str, text: str) -> Found:
    """A note: it claims what its first paragraph says."""
    line, claim = first_paragraph(path, text)
    return Found("note", path, line, claim)


def of_fact(fact: Fact) -> Found:
    """One line of the facts."""
    return Found("fact", FACTS, fact.line, fact.sentence, fact.id)


def first_paragraph(path: str, text: str) -> tuple[int, str]:
    """(line, text) of the first paragraph of a note, else of its title; a long one is cut."""
    read_ = note.parse(path, text)
    outline = markdown.read(read_.body, read_.body_line)
    lines = split_lines(text)
    blocks = [*outline.blocks]
    for n, block in enumerate(blocks):
        if block.kind == "heading":
            continue
        end = blocks[n + 1].start - 1 if n + 1 < len(blocks) else len(lines)
        kept = "\n".join(lines[block.start - 1 : end]).strip()
        if len(kept) > LONGEST_CLAIM:
            kept = f"{kept[:LONGEST_CLAIM].rsplit(maxsplit=1)[0]} …"
        return block.start, kept
    return read_.body_line, note.note_title(read_, outline.first_heading)


def merges(root: Path, path: str) -> mergemarks.Marks:
    """The merge marks in a note. Raises :class:`Refused` if it cannot be read."""
    return mergemarks.find(text_of(root, path))


def merge_sides(path: str, merge: Merge) -> tuple[Side, Side]:
    """Both sides of a merge, as a record holds them: word for word, but for secrets."""
    source = conflicts.link_to(path)
    lines = f"lines {merge.line}-{merge.end}"
    ours, theirs = merge.our_name or "ours", merge.their_name or "theirs"
    return (
        Side(privacy.redact(merge.ours).text, source, f"{lines}, {ours}", True),
        Side(privacy.redact(merge.theirs).text, source, f"{lines}, {theirs}", True),
    )


def identify(pen: Pen, state: State, sides: Iterable[Found]) -> list[Found]:
    """``sides`` with an id in the line of each entry that has none, or shares one; the other
    lines of its file that have none get theirs too.

    A line that gets an id keeps the age that it has: the event says when it was written. Raises
    :class:`Changed` if a topic file is no longer what ``state`` was made from.
    """
    done = []
    changes: dict[str, dict[Entry, Entry]] = {}
    for side in sides:
        entry = side.entry
        if entry is not None and (side.shared or not entry.block):
            block = _free(state, entry) if side.shared else side.block
            new = replace(entry, block=block)
            changes.setdefault(entry.path, {})[entry] = new
            side = replace(side, block=block, entry=new, shared=False)
        done.append(side)
    for path, changed in changes.items():
        topic_file.rewrite(pen, state, path, changed)
    return done


def _free(state: State, entry: Entry) -> str:
    salt = 0
    while (block := topics.entry_id(entry.category, entry.text, salt)) in state.entries:
        salt += 1
    return block
