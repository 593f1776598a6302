"""Late interaction: words against words, kept as signs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import late

SEEDS = st.integers(0, 10_000)


def rows(seed: int, count: int, dimension: int = 64) -> np.ndarray:
    """Vectors of length 1."""
    made = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_a_packed_token_has_a_bit_a_dimension() -> None:
    """The sign of each component, the first in the highest bit; zero counts as negative."""
    vectors = np.array([[1, -1, 0.5, -0.5, 1e-9, 0, -2, 3]], dtype=np.float32)
    packed = late.pack(vectors)
    assert packed.dtype == np.uint8
    assert packed.tolist() == [[0b10101001]]
    assert late.pack(np.zeros((0, 64), dtype=np.float32)).shape == (0, 8)


@given(SEEDS, st.integers(1, 5), st.integers(1, 9), st.sampled_from([8, 64, 384]))
@MODEST
def test_matches_are_cosines_with_the_signs(seed: int, asked: int, said: int, d: int) -> None:
    """Each question token against each packed token, as by the definition of a cosine."""
    question, tokens = rows(seed, asked, d), rows(seed + 1, said, d)
    found = late.matches(question, late.pack(tokens))
    assert found.shape == (asked, said) and found.dtype == np.float32
    for q in range(asked):
        for t in range(said):
            signs = [1.0 if x > 0 else -1.0 for x in tokens[t].tolist()]
            dot = sum(a * b for a, b in zip(question[q].tolist(), signs, strict=True))
            assert found[q, t] == pytest.approx(dot / d**0.5, abs=1e-5)


@given(SEEDS)
@MODEST
def test_the_signs_keep_who_is_nearest(seed: int) -> None:
    """A token is nearest to itself among others, though only its signs were kept."""
    tokens = rows(seed, 20, 384)
    found = late.matches(tokens, late.pack(tokens))
    assert found.argmax(axis=1).tolist() == list(range(20))
    assert found.max() <= 1.0 + 1e-5


def test_no_tokens_match_nothing() -> None:
    """An empty text has no column."""
    none = np.zeros((0, 8), dtype=np.uint8)
    assert late.matches(rows(1, 3), none).shape == (3, 0)


@given(SEEDS, st.lists(st.integers(1, 4), min_size=1, max_size=6))
@MODEST
def test_best_is_the_largest_of_each_group(seed: int, sizes: list[int]) -> None:
    """Each question token's best in every group of columns, and no other group's."""
    found = np.random.default_rng(seed).normal(size=(3, sum(sizes))).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    wanted = [
        [max(row[start : start + size]) for start, size in zip(starts, sizes, strict=True)]
        for row in found.tolist()
    ]
    np.testing.assert_array_equal(late.best(found, starts), np.array(wanted, dtype=np.float32))


def spans_of(text: str, words: str) -> list[tuple[int, int]]:
    """The spans of the pieces named in ``words``, in order; `_` is a mark of the model's."""
    spans, at = [], 0
    for word in words.split():
        if word == "_":
            spans.append((0, 0))
            continue
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    return spans


@pytest.mark.parametrize(
    ("text", "pieces", "kept"),
    [
        ("the cat is here", "_ the cat is here _", ["cat"]),
        ("The CAT, sat.", "The CAT , sat .", ["CAT", "sat"]),
        ("embedding", "_ em bed ding _", ["em", "bed", "ding"]),
        ("as catalog", "as c at alog", ["c", "at", "alog"]),
        ("to be or not", "_ to be or not _", ["to", "be", "or", "not"]),
        ("?!", "_ ? ! _", ["", "?", "!", ""]),
        ("", "_ _", ["", ""]),
        ("2026 の", "2026 の", ["2026", "の"]),
    ],
)
def test_telling_tokens(text: str, pieces: str, kept: list[str]) -> None:
    """No stop words, punctuation or marks, unless nothing else is left; a part of a word counts
    whatever it looks like."""
    spans = spans_of(text, pieces)
    assert [text[slice(*spans[n])] for n in late.telling(text, spans)] == kept


@given(st.text(max_size=30), st.data())
@MODEST
def test_some_token_is_always_kept(text: str, data: st.DataObject) -> None:
    """In order, each once; a text never loses its last token."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})
    spans = list(pairwise(cuts)) or [(0, 0)]
    kept = late.telling(text, spans)
    assert kept and kept == sorted(set(kept)) and kept[-1] < len(spans)


@given(SEEDS, st.integers(1, 20), st.integers(1, 9))
@MODEST
def test_matches_in_blocks_are_those_in_one_go(seed: int, said: int, block: int) -> None:
    """However few tokens are unpacked at once, also where the last block is not full."""
    question, bits = rows(seed, 3), late.pack(rows(seed + 1, said))
    whole = late.matches(question, bits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_BLOCK", block)
        parted = late.matches(question, bits)
    assert parted.shape == whole.shape and parted.dtype == whole.dtype
    np.testing.assert_allclose(parted, whole, atol=1e-6)
