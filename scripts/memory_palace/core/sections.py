"""The sections of a note: each heading with the lines under it, found by name or by path."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.core.outline import Outline
from memory_palace.core.text import nfc

SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all that stands under it, sections of lower levels too.

    ``path`` are the headings above it and its own; lines count from 1, inclusive.
    """

    path: tuple[str, ...]
    start: int
    end: int

    @property
    def name(self) -> str:
        """``A > B``."""
        return SEPARATOR.join(self.path)


def sections(outline: Outline, last: int) -> list[Section]:
    """The sections of a note whose last line is ``last``, in order."""
    heads = [block for block in outline.blocks if block.kind == "heading"]
    found = []
    above: list[tuple[int, str]] = []
    for number, head in enumerate(heads):
        above = [*((level, name) for level, name in above if level < head.level)]
        above.append((head.level, head.heading))
        after = (later.start for later in heads[number + 1 :] if later.level <= head.level)
        end = next(after, last + 1) - 1
        found.append(Section(tuple(name for _, name in above), head.start, end))
    return found


def named(there: Sequence[Section], wanted: str) -> list[Section]:
    """The sections that ``wanted`` names: by the whole path, else by the end of it.

    Case and spaces do not count, nor `#` before it; a heading that holds ` > ` itself is found
    by its own text.
    """
    text = wanted.strip().lstrip("#")
    whole = _loose(text)
    parts = tuple(_loose(part) for part in text.split(SEPARATOR.strip()))
    exact = [section for section in there if tuple(map(_loose, section.path)) == parts]
    if exact:
        return exact
    return [
        section
        for section in there
        if _loose(section.path[-1]) == whole
        or tuple(map(_loose, section.path[-len(parts) :])) == parts
    ]


def around(there: Sequence[Section], line: int) -> Section | None:
    """The innermost section that holds ``line``."""
    holding = [section for section in there if section.start <= line <= section.end]
    return holding[-1] if holding else None


def _loose(heading: str) -> str:
    return " ".join(nfc(heading).casefold().split())
