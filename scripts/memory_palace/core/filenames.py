"""Whether a memory of one line speaks of a file: by its name, its stem or its folder."""

import re
from typing import NamedTuple

MOST_CHARACTERS = 2_000
"""Characters of a text that are looked at."""

LONG_STEM = 8
"""A stem of letters alone has to be so long, or to stand in backticks: `note` is also a word."""

_WORD = re.compile(r"`?[\w./\\:+-]+`?")
_GENERIC = frozenset(
    """__init__ __main__ main index test tests init util utils helper helpers common base core app
    config settings types models views readme setup package makefile license changelog mod lib
    style styles data constants errors""".split()
)


class Speaks(NamedTuple):
    """How a text speaks of a file, the closest first: ``path``, ``name``, ``stem``, ``folder``."""

    how: str
    rank: int


PATH, NAME, STEM, FOLDER = (
    Speaks(how, rank) for rank, how in enumerate(("path", "name", "stem", "folder"))
)


def speaks_of(text: str, path: str) -> Speaks | None:
    """How ``text`` speaks of the file ``path`` (with ``/``), or None.

    A path counts if it is the end of the file's, a folder if it is written with a slash, a dotted
    name (``core.frontmatter``) as a path without ending. Names of a thousand files, such as
    ``main`` and ``index``, count with their folder only.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts:
        return None
    name = parts[-1]
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    found: list[Speaks] = []
    for match in _WORD.finditer(text[:MOST_CHARACTERS]):
        word = match.group()
        quoted = word.startswith("`") and word.endswith("`")
        how = _how(word.strip("`").rstrip(".:"), quoted, parts, name, stem)
        if how is not None:
            found.append(how)
    return min(found, key=lambda one: one.rank, default=None)


def _how(word: str, quoted: bool, parts: list[str], name: str, stem: str) -> Speaks | None:
    word = word.replace("\\", "/").removeprefix("./")
    generic = stem.casefold() in _GENERIC
    if "/" in word:
        names = [one for one in word.split("/") if one]
        if not names:
            return None
        if not word.endswith("/") and names in (parts[-len(names) :], _bare(parts, stem, names)):
            return PATH if len(names) > 1 else None
        folder = parts[:-1]
        spots = range(len(folder) - len(names) + 1)
        return FOLDER if any(folder[at : at + len(names)] == names for at in spots) else None
    if not word or generic:
        dotted = word.split(".")
        return PATH if len(dotted) > 1 and dotted == _bare(parts, stem, dotted) else None
    if word == name and "." in name[1:]:
        return NAME
    dotted = word.split(".")
    if len(dotted) > 1 and dotted == _bare(parts, stem, dotted):
        return PATH
    return STEM if word == stem and (quoted or _is_a_name(stem)) else None


def _bare(parts: list[str], stem: str, like: list[str]) -> list[str]:
    """The end of the path without the file's ending, as long as ``like``."""
    return [*parts[:-1], stem][-len(like) :]


def _is_a_name(stem: str) -> bool:
    """True for `snake_case`, `camelCase`, `v2` and for long words."""
    plain = stem.isalpha() and stem[1:] == stem[1:].lower()
    return len(stem) > 2 and (not plain or len(stem) >= LONG_STEM)
