"""The marks that ``git merge`` leaves in a text where both sides changed the same lines."""

import re
from dataclasses import dataclass

_MARK = re.compile(r"(?P<mark><{7}|\|{7}|={7}|>{7})(?: (?P<label>[^\r\n]*))?\r?\Z")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)\r?\Z")


@dataclass(frozen=True, slots=True)
class Merge:
    """One place with both sides. ``line`` is that of ``<<<<<<<``, ``end`` that of ``>>>>>>>``,
    from 1; the texts are as they stand, without their last line feed."""

    line: int
    end: int
    ours: str
    theirs: str
    our_name: str = ""
    their_name: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """The merges that are whole, and the lines of marks that have lost the others."""

    merges: tuple[Merge, ...]
    strays: tuple[int, ...]


def find(text: str) -> Marks:
    """The merges in ``text``: all three marks at the start of a line, in order.

    A mark in a code fence that is not one of three is text; elsewhere it is a stray. A line of
    seven ``=`` alone underlines a heading.
    """
    merges: list[Merge] = []
    strays: list[int] = []
    lines = text.split("\n")
    fence = ""
    at = 0
    while at < len(lines):
        found = _MARK.match(lines[at])
        if found and found["mark"][0] in "<>":
            merge = _whole(lines, at) if found["mark"][0] == "<" else None
            if merge is not None:
                merges.append(merge)
                at = merge.end
                continue
            if not fence:
                strays.append(at + 1)
        fence = _fence_after(lines[at], fence)
        at += 1
    return Marks(tuple(merges), tuple(strays))


def _whole(lines: list[str], start: int) -> Merge | None:
    """The merge that begins at line ``start`` (from 0), if it has all its marks in order."""
    base = middle = None
    for at in range(start + 1, len(lines)):
        found = _MARK.match(lines[at])
        mark = found["mark"][0] if found else ""
        if mark == "|" and base is None and middle is None:
            base = at
        elif mark == "=" and middle is None:
            middle = at
        elif mark == "<":
            return None
        elif mark == ">":
            if middle is None:
                return None
            return Merge(
                start + 1,
                at + 1,
                "\n".join(lines[start + 1 : middle if base is None else base]),
                "\n".join(lines[middle + 1 : at]),
                _label(lines[start]),
                _label(lines[at]),
            )
    return None


def _label(line: str) -> str:
    found = _MARK.match(line)
    return (found["label"] or "").strip() if found else ""


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after ``line``, empty for none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found["fence"]
    return "" if found["fence"].startswith(fence) and not found["info"].strip() else fence
