"""Small things that every room needs of text: lines, hashes, names, nearest words."""

import difflib
import hashlib
import unicodedata
from collections.abc import Iterable

COLD_COMPONENT = "archive_basement"
"""The path component that marks cold storage."""


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


def is_cold(path: str) -> bool:
    """True if ``path`` lies in cold storage."""
    return COLD_COMPONENT in path.split("/")


def stem(path: str) -> str:
    """The note's name: the last component without ``.md``."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, or None if none is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``": did you mean `x`?"``, or the known words where none is close."""
    words = sorted(known)
    best = nearest(word, words)
    if best:
        return f": did you mean `{best}`?"
    return f": known are {', '.join(words)}" if words else ""
