"""A note, or a part of it, by its path, its name or an id: lines as they stand in the file."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import markdown, mining, note, sections
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.core.sections import Section
from memory_palace.core.text import MINED, is_cold, nearest, split_lines
from memory_palace.files import config as configs
from memory_palace.files import read as files
from memory_palace.search import located

if TYPE_CHECKING:
    from memory_palace.index.progress import Progress

MOST_LINES = 2_000
"""Lines that are given at once, unless all are asked for."""
MOST_CHARACTERS = 100_000

_RANGE = re.compile(r"(?P<name>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?\Z", re.DOTALL)
_SHOWN_SECTIONS = 12


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines ``start`` to ``end`` (from 1, inclusive) of the file ``path``, which has ``total``.

    ``lines`` are without their line feeds; none of an empty file (then ``end`` is 0). ``last`` is
    the last line that was asked for: beyond ``end`` where that was too much at once; ``cut``
    counts characters left out of the last line. ``heading`` names the section that ``start`` lies
    in (``A > B``), ``digest`` is the hex SHA-256 of the file's bytes.
    """

    path: str
    title: str
    heading: str
    start: int
    end: int
    total: int
    lines: tuple[str, ...]
    digest: str
    archived: bool
    last: int
    cut: int = 0

    @property
    def left(self) -> int:
        """How many lines that were asked for are not here."""
        return self.last - self.end


def read(
    root: Path,
    name: str,
    section: str = "",
    most_lines: int | None = MOST_LINES,
    most_characters: int | None = MOST_CHARACTERS,
    progress: "Progress | None" = None,
    withhold: bool = False,
) -> Passage:
    """What ``name`` names: a path (``palace/`` and ``.md`` may be left out), the name of a note as
    a link has it, ``[[a link]]``, the ``#id`` of a hit, the ``^id`` of a memory; with ``:12`` or
    ``:12-20`` only these lines, with ``section`` only that heading's. None lifts a bound.
    With ``withhold`` private spans are marks; the digest is that of the file all the same.

    Raises :class:`Refused` for what is not there, with what is nearest, :class:`BadInput` for
    what cannot be read as text or a range that ends before it begins.
    """
    config = configs.load(root)
    start = end = None
    place = located.exact(root, name)
    if place is None:
        ranged = _RANGE.match(name)
        if ranged:
            name, start = ranged["name"], int(ranged["start"])
            end = int(ranged["end"] or start)
        try:
            place = located.find(root, config, name, progress)
        except Refused:
            before, _, behind = name.rpartition(":")
            if not before or f"{before}:" == MINED:
                raise
            located.find(root, config, before, progress)  # raises again where that is no note
            raise BadInput(f"{behind!r} names no lines: write :12 or :12-20 there") from None
    got = files.read(root, place.path)
    if isinstance(got, files.Unreadable):
        kind = BadInput if got.content else Missing
        raise kind(str(got.problem).replace(": error: ", ": ", 1))
    text = hidden(got.text) if withhold else got.text
    lines = split_lines(text.removeprefix("\ufeff"))
    title, there = _parsed(place.path, text, len(lines))
    wanted = section or place.section
    if start is None:
        start, end = place.start or 1, place.end or len(lines)
    if wanted:
        if start != 1 or end != len(lines):
            raise BadInput("lines and a section are asked for: leave one of them out")
        found = _section(place.path, there, wanted)
        start, end = found.start, found.end
    assert end is not None
    _check(place.path, start, end, len(lines))
    last = min(end, len(lines))
    shown, cut = _bounded(lines[start - 1 : last], most_lines, most_characters)
    inner = sections.around(there, start)
    return Passage(
        path=place.path,
        title=title,
        heading=inner.name if inner else "",
        start=start,
        end=start + len(shown) - 1,
        total=len(lines),
        lines=tuple(shown),
        digest=got.sha256,
        archived=is_cold(place.path),
        last=last,
        cut=cut,
    )


def _parsed(path: str, text: str, total: int) -> tuple[str, list[Section]]:
    """Title and sections of a file; of mined code the path in its project, and none."""
    parts = mining.split(path)
    if parts and mining.kind(parts[1]) == "code":
        return parts[1], []
    parsed = note.parse(path, text)
    outline = markdown.read(parsed.body, parsed.body_line, links=False)
    return note.note_title(parsed, outline.first_heading), sections.sections(outline, total)


def _check(path: str, start: int, end: int, total: int) -> None:
    if start < 1 or (end < start and total):
        raise BadInput(f"lines {start}-{end}: write a first and a last line, from 1, as in :12-20")
    if start > max(total, 1):
        lines = "1 line" if total == 1 else f"{total} lines"
        raise Refused(f"{printable(path)} has {lines}: there is no line {start}")


def _section(path: str, there: list[Section], wanted: str) -> Section:
    found = sections.named(there, wanted)
    if len(found) == 1:
        return found[0]
    shown = printable(path)
    if found:
        listed = ", ".join(f"{printable(one.name)} (line {one.start})" for one in found[:4])
        raise Refused(f"{shown} has {len(found)} sections of this name: {listed}: name one's lines")
    if not there:
        raise Refused(f"{shown} has no headings: read it without --section")
    by_name = {printable(name): one for one in there for name in (one.path[-1], one.name)}
    near = nearest(wanted, by_name)
    if near is None:
        folded = {name.casefold(): name for name in by_name}
        near = folded.get(nearest(wanted.casefold(), folded) or "")
    if near:
        raise Refused(f"{shown} has no section {wanted!r}: did you mean `{near}`?")
    listed = ", ".join(printable(one.path[-1]) for one in there[:_SHOWN_SECTIONS])
    more = len(there) - _SHOWN_SECTIONS
    raise Refused(
        f"{shown} has no section {wanted!r}: it has {listed}"
        + (f", {more} more" if more > 0 else "")
    )


def _bounded(
    lines: list[str], most_lines: int | None, most_characters: int | None
) -> tuple[list[str], int]:
    """The lines that fit, at least a part of the first; how many characters of it do not."""
    shown: list[str] = []
    left = most_characters if most_characters is not None else sum(map(len, lines)) + len(lines)
    for line in lines[:most_lines]:
        if len(line) > left and shown:
            break
        shown.append(line.removesuffix("\r")[:left])
        left -= len(line) + 1
        if left < 0:
            break
    whole = lines[0].removesuffix("\r") if shown else ""
    return shown, len(whole) - len(shown[0]) if shown else 0
