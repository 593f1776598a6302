"""What a note's body is made of, once it has been read (by ``markdown``)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block. Lines count from 1; ``cuts`` are lines where it may be cut in two."""

    kind: str
    start: int
    level: int = 0
    heading: str = ""
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RawLink:
    """The inside of ``[[…]]`` as written, with its line (from 1)."""

    inner: str
    line: int
    embed: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """What the body is made of, in order.

    ``links_end`` is the line from which links were not read any more, None if all were, and
    ``read_to`` the line from which nothing was: there all is plain text.
    """

    blocks: tuple[Block, ...]
    links: tuple[RawLink, ...]
    block_ids: tuple[str, ...]
    links_end: int | None = None
    read_to: int | None = None

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(b.heading for b in self.blocks if b.kind == "heading")

    @property
    def first_heading(self) -> str | None:
        """The text of the first top-level heading (``# …``), if there is one."""
        return next((b.heading for b in self.blocks if b.kind == "heading" and b.level == 1), None)
