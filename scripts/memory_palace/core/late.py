"""Late interaction: a question's words against the words of a text, each in its context.

A text's token vectors are kept as their signs, one bit a dimension: a cosine with the question's
full vectors loses little by that (measured in bench/README.md). The score of a text is the mean,
over the question's tokens, of the best match among the text's tokens (MaxSim, from ColBERT,
Khattab and Zaharia 2020).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import stopwords

Bits = NDArray[np.uint8]
Matches = NDArray[np.float32]


_BLOCK = 16_384  # tokens whose signs are unpacked at once: 32 times their bits


def pack(vectors: NDArray[np.float32]) -> Bits:
    """The signs of ``vectors``, shape (n, d): shape (n, d / 8). ``d`` is a multiple of 8."""
    return np.packbits(vectors > 0, axis=1)


def matches(question: NDArray[np.float32], bits: Bits) -> Matches:
    """The cosine of each question token, shape (q, d), with each packed token: shape (q, n)."""
    dots = np.empty((len(question), len(bits)), dtype=np.float32)
    for start in range(0, len(bits), _BLOCK):
        signs = np.unpackbits(bits[start : start + _BLOCK], axis=1).astype(np.float32)
        dots[:, start : start + _BLOCK] = question @ signs.T
    # With x in {0, 1} for a sign: 2x - 1 is the sign, and its length the root of d.
    dots = 2.0 * dots - question.sum(axis=1, keepdims=True)
    return np.asarray(dots / np.sqrt(question.shape[1]), dtype=np.float32)


def best(found: Matches, starts: NDArray[np.int64]) -> Matches:
    """The best match of each question token in each group of tokens, shape (q, groups).

    ``starts`` are the groups' first columns in ``found``, ascending; no group is empty.
    """
    return np.asarray(np.maximum.reduceat(found, starts, axis=1))


def telling(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Which of a text's tokens say something: (start, end) in characters, empty for a mark of
    the model's own. No stop words, no punctuation; all that there is if nothing else is left."""
    said = [n for n, span in enumerate(spans) if any(map(str.isalnum, text[slice(*span)]))]
    kept = [n for n in said if _says(text, *spans[n])]
    return kept or said or list(range(len(spans)))


def _says(text: str, start: int, end: int) -> bool:
    inside_word = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    return inside_word or text[start:end].strip().lower() not in stopwords.ENGLISH
