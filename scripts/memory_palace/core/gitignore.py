"""A line of a ``.gitignore``, matched as git matches it: against a path itself, not what is above.

pathspec answers for a whole path at once, and reads a negation as one of all that is below it.
"""

import re
from typing import NamedTuple

_MOST_FOLDERS = 4
"""``**`` in one pattern: each multiplies the time that a path which does not match can take."""

_CLASS = re.compile(r"\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]", re.DOTALL)


class Pattern(NamedTuple):
    """A pattern: its expression for whole paths relative to its folder, whether it takes back what
    others ignore, and whether it is about folders only."""

    regex: re.Pattern[str]
    negated: bool
    folders: bool


def pattern(line: str) -> Pattern | None:
    """The pattern in ``line``, None for a comment or an empty line. Raises :class:`ValueError` for
    one that cannot be used."""
    text = re.sub(r"(?<!\\)[ \t\r]+$", "", line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    folders = text.endswith("/")
    body = text.rstrip("/") if folders else text
    if not body:
        raise ValueError("no name")
    anchored = "/" in body
    parts = body.lstrip("/").split("/")
    if parts.count("**") > _MOST_FOLDERS or "[:" in body:
        raise ValueError("too many `**`, or a class of characters by name")
    try:
        return Pattern(re.compile(_path(parts, anchored), re.DOTALL), negated, folders)
    except re.error as error:
        raise ValueError(str(error)) from None


def _path(parts: list[str], anchored: bool) -> str:
    found = "" if anchored else "(?:.+/)?"
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            found += (".+" if last else "(?:.+/)?") if len(parts) > 1 else "[^/]+"
        else:
            found += _name(part) + ("" if last else "/")
    return found


def _name(part: str) -> str:
    """The expression of one name in a pattern."""
    pieces, at = [""], 0
    while at < len(part):
        one = part[at]
        among = _CLASS.match(part, at) if one == "[" else None
        if among:
            pieces[-1] += _among(*among.groups())
            at = among.end()
            continue
        if one == "*":
            pieces.append("")
        elif one == "?":
            pieces[-1] += "[^/]"
        elif one == "\\" and at + 1 < len(part):
            at += 1
            pieces[-1] += re.escape(part[at])
        else:
            pieces[-1] += re.escape(one)
        at += 1
    if len(pieces) == 1:
        return pieces[0]
    # What stands between two stars may be taken where it comes first, so nothing is tried twice.
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _among(negated: str, characters: str) -> str:
    escaped = re.sub(r"\\(.)|([\[\]&~|^])", lambda m: "\\" + (m[1] or m[2]), characters)
    return f"(?!/)[{'^' if negated else ''}{escaped}]"
