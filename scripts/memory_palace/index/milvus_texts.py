"""What Milvus takes as texts: JSON, keyword columns and bytes, within the limits of its fields."""

import base64
import contextlib
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from memory_palace.core.errors import Missing

LONGEST = 65_535
"""Bytes that Milvus takes in one text."""

MOST_PIECES = 256
"""Texts that one field holds."""

_PACKED_ABOVE = 60_000
_PIECE_BYTES = 48_000  # as text, a fourth more


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Raises :class:`Missing` where a row is not as it was written."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, zlib.error) as error:
        reason = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
        raise Missing(
            f"a row in Milvus cannot be read ({reason}): run `palace index --force`"
        ) from None


def packed(value: Any) -> str:
    """``value`` as JSON, compressed where Milvus would not take it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode("utf-8", "surrogatepass")) <= _PACKED_ABOVE:
        return text
    return "z" + base64.b85encode(zlib.compress(text.encode("utf-8", "surrogatepass"))).decode()


def unpacked(text: str) -> Any:
    """What was packed."""
    with readable():
        if text.startswith("z"):
            return json.loads(zlib.decompress(base64.b85decode(text[1:])).decode())
        return json.loads(text)


def in_pieces(data: bytes) -> list[str]:
    """``data`` as texts that Milvus takes."""
    parts = (data[n : n + _PIECE_BYTES] for n in range(0, len(data), _PIECE_BYTES))
    return [base64.b85encode(part).decode() for part in parts][:MOST_PIECES]


def joined(pieces: Sequence[str]) -> bytes:
    """What was cut in pieces."""
    with readable():
        return b"".join(base64.b85decode(piece) for piece in pieces)


def columns_in_pieces(columns: Sequence[str]) -> list[str]:
    """Keyword columns, compressed, in pieces."""
    return in_pieces(zlib.compress(json.dumps(columns, ensure_ascii=False).encode()))


def columns_joined(pieces: Sequence[str]) -> list[str]:
    """The keyword columns that were cut in pieces."""
    with readable():
        found: list[str] = json.loads(zlib.decompress(joined(pieces)))
        return found


def cut(text: str, most: int = LONGEST) -> str:
    """``text``, at most so many bytes of it."""
    data = text.encode("utf-8", "replace")
    return data.decode("utf-8") if len(data) <= most else data[:most].decode("utf-8", "ignore")


def tokens_joined(pieces: Sequence[str]) -> tuple[bytes, bytes] | None:
    """``starts`` and ``bits`` as in the catalog's table ``tokens``; None if there are none."""
    data = joined(pieces)
    end = 4 + int.from_bytes(data[:4], "little")
    return (data[4:end], data[end:]) if data else None
