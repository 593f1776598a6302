"""Globs of files, as in a ``.gitignore``, matched in time that grows with both lengths only."""

import functools
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_P = TypeVar("_P")
_PIECE = re.compile(r"\\(.)|\[([!^]?)(\]?[^\]]*)\]|([*?])|(.)", re.DOTALL)


def fault(glob: str) -> str:
    """What is wrong with a glob; empty if nothing is."""
    if glob.startswith(("~", "!")) or ".." in glob.split("/"):
        return f"has the glob {glob!r}: write one below the project, without `..`, `~` and `!`"
    if not glob.strip("/"):
        return f"has the glob {glob!r}: name files"
    if glob.startswith("./") or "//" in glob:
        return f"has the glob {glob!r}, which no path fits: write it without `./` and `//`"
    if re.search(r"\{[^{}]*,[^{}]*\}", glob):
        return f"has the glob {glob!r}, and braces are no choice here: write a rule for each"
    return ""


def matches(glob: str, path: str) -> bool:
    """Whether ``glob`` names ``path`` (relative, with ``/``) or a folder above it.

    Without a slash but at its end it is a name anywhere; else it counts from the top. ``*``, ``?``
    and ``[…]`` stay within a name, ``**`` stands for any folders.
    """
    folder = glob.endswith("/")
    wanted = glob.strip("/").split("/")
    if not (len(wanted) > 1 or glob.startswith("/")):
        wanted = ["**", *wanted]
    if wanted[-1] == "**":
        wanted[-1:] = ["*", "**"]
    parts = path.split("/")
    # A longest match first would not tell more: any folder above counts.
    ends = range(1, len(parts) + (0 if folder else 1))
    return any(_fits(wanted, parts[:end], _is_folders, _name) for end in ends)


def _is_folders(part: str) -> bool:
    return part == "**"


def _name(pattern: str, name: str) -> bool:
    return pattern == name or _fits(_pieces(pattern), name, _is_star, _character)


_Piece = tuple[str | None, ...]


@functools.cache
def _pieces(pattern: str) -> list[_Piece]:
    return [found.groups() for found in _PIECE.finditer(pattern)]


def _is_star(piece: _Piece) -> bool:
    return piece[3] == "*"


def _character(piece: _Piece, one: str) -> bool:
    escaped, negated, among, wild, plain = piece
    if among is None:
        return wild == "?" or one == (escaped or plain)
    ranges = re.findall(r"(.)-(.)|(.)", among, re.DOTALL)
    inside = any(low <= one <= high if low else one == single for low, high, single in ranges)
    return inside != bool(negated)


def _fits(
    pattern: Sequence[_P],
    items: Sequence[_T],
    star: Callable[[_P], bool],
    same: Callable[..., bool],
) -> bool:
    """Whether the whole of ``items`` fits: a star takes as few as it can, and more when needed."""
    at = item = 0
    last, resume = -1, 0
    while item < len(items):
        if at < len(pattern) and star(pattern[at]):
            last, resume = at, item
            at += 1
        elif at < len(pattern) and same(pattern[at], items[item]):
            at += 1
            item += 1
        elif last >= 0:
            resume += 1
            at, item = last + 1, resume
        else:
            return False
    return all(star(rest) for rest in pattern[at:])
