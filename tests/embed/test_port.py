"""What every embedder offers."""

from dataclasses import fields, replace

import numpy as np
import pytest

from memory_palace.core import chunk
from memory_palace.embed.port import Fingerprint, unit

FINGERPRINT = Fingerprint("name", "weights", 3, 512, "mean", "query: ")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rows_are_scaled_to_length_one(dtype: type[np.floating]) -> None:
    """Whatever the type and the length, rows come out as float32 of length 1, direction kept."""
    rows = unit(np.array([[3, 4], [-300, 400], [1e-3, 0]], dtype=dtype))
    assert rows.dtype == np.float32
    assert rows.flags["C_CONTIGUOUS"]
    np.testing.assert_allclose(rows, [[0.6, 0.8], [-0.6, 0.8], [1, 0]], atol=1e-6)


def test_a_zero_row_stays_zero() -> None:
    """A vector without a direction gets none, and no division by zero."""
    np.testing.assert_array_equal(unit(np.zeros((2, 3), dtype=np.float32)), np.zeros((2, 3)))


def test_no_rows_stay_no_rows() -> None:
    """An empty batch keeps its width."""
    assert unit(np.zeros((0, 7), dtype=np.float32)).shape == (0, 7)


def test_what_is_given_is_not_changed() -> None:
    """Scaling makes a new array."""
    given = np.array([[3.0, 4.0]], dtype=np.float32)
    unit(given)
    np.testing.assert_array_equal(given, [[3.0, 4.0]])


@pytest.mark.parametrize("name", [field.name for field in fields(Fingerprint)])
def test_each_part_makes_another_fingerprint(name: str) -> None:
    """Vectors are comparable only if all of it is equal."""
    value = getattr(FINGERPRINT, name)
    other = replace(FINGERPRINT, **{name: value + 1 if isinstance(value, int) else value + "x"})
    assert str(other) != str(FINGERPRINT)


def test_how_chunks_are_cut_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new way to cut chunks makes new fingerprints."""
    before = str(FINGERPRINT)
    assert before == f"name/weights/3/512/mean/query: /chunks-{chunk.VERSION}"
    monkeypatch.setattr(chunk, "VERSION", f"{chunk.VERSION}x")
    assert str(FINGERPRINT) != before
