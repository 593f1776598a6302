"""The catalog that is made of what Milvus brought."""

import pytest

from memory_palace.search.gathered import _sum


@pytest.mark.parametrize(
    ("sizes", "total"),
    [
        (b"", 0),
        (b"\x00\x01\x7f", 128),
        (b"\x81\x00", 128),
        (b"\x82\x2c\x05", 305),
        (b"\xff\xff\x7f", 2**21 - 1),
    ],
)
def test_lengths_are_read_as_fts5_writes_them(sizes: bytes, total: int) -> None:
    """One byte up to 127 words, more above."""
    assert _sum(sizes) == total
