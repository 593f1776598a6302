"""Small things that every room needs of text: lines, hashes, names, nearest words."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MINED = "project:"
"""What the path of a mined project's file begins with, in place of the root."""
MINED_ROOM = "room:"
"""What the room of a mined file begins with where it stands among folders."""

COLD_COMPONENT = "archive_basement"
"""The path component that marks cold storage."""

LONGEST_SLUG = 60
"""Characters of the longest file name that :func:`slug` makes."""

_MOST_BYTES = 200  # file systems take 255, and some callers add an id and an ending
_RESERVED = re.compile("con|prn|aux|nul|(com|lpt)[0-9]")  # what Windows keeps for devices


def sha256(text: str) -> str:
    """Hex SHA-256 of ``text`` in UTF-8 (lone surrogates kept)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(data: bytes) -> str:
    """Hex SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def short_id(*parts: str) -> str:
    """12 hex digits that name the parts, in this order."""
    return sha256("\x1f".join(parts))[:12]


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` without their line feeds; only a line feed ends a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def nfc(text: str) -> str:
    """``text`` in Unicode NFC, the form in which names are compared."""
    return unicodedata.normalize("NFC", text)


def is_mined(path: str) -> bool:
    """True for a file of a mined project, ``project:<name>/<path>``."""
    return path.startswith(MINED)


def is_cold(path: str) -> bool:
    """True if ``path`` lies in cold storage."""
    return COLD_COMPONENT in path.split("/") and not is_mined(path)


def stem(path: str) -> str:
    """The note's name: the last component without ``.md``."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


def slug(text: str) -> str:
    """A file's name for ``text``: letters and digits of any script, lower case, joined by hyphens.

    In NFC, at most :data:`LONGEST_SLUG` characters, cut between words where there are several. A
    text without letters and digits gets a :func:`short_id`.
    """
    plain = "".join(c if _in_a_word(c) else " " for c in nfc(nfc(text).lower()))
    name = ""
    for word in plain.split():
        longer = f"{name}-{word}" if name else word
        if not _fits(longer):
            break
        name = longer
    if not name:
        name = next(iter(plain.split()), short_id(text))[:LONGEST_SLUG]
        while not _fits(name):
            name = name[:-1]
    return f"{name}-note" if is_device(name) else name


def is_device(name: str) -> bool:
    """True for a file's name that Windows keeps for a device, whatever its ending."""
    return bool(_RESERVED.fullmatch(name.partition(".")[0].lower()))


def _in_a_word(character: str) -> bool:
    # Marks too: without its vowel signs a word in Devanagari is another word.
    return unicodedata.category(character)[0] in "LMN"


def _fits(name: str) -> bool:
    return len(name) <= LONGEST_SLUG and len(name.encode("utf-8", "surrogatepass")) <= _MOST_BYTES


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, or None if none is close."""
    import difflib  # for faults only

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``": did you mean `x`?"``, or the known words where none is close."""
    words = sorted(known)
    best = nearest(word, words)
    if best:
        return f": did you mean `{best}`?"
    return f": known are {', '.join(words)}" if words else ""
