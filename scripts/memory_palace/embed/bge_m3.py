"""BGE-M3 through FlagEmbedding: dense vectors, 1,024 dimensions, many languages."""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.core.errors import Missing
from memory_palace.embed import flag, weights
from memory_palace.embed.flag import runnable as runnable
from memory_palace.embed.port import Fingerprint, Vectors, unit
from memory_palace.embed.weights import Files, weights_file

NAME = "bge-m3"
LABEL = "BGE-M3"
REPOSITORY = "BAAI/bge-m3"
SETUP = "make setup-bge"
MAX_LENGTH = 2048
"""Tokens of a passage that are read. The longest chunk has 2,000 characters and a heading path:
no more tokens than that in any script, so nothing is cut (FlagEmbedding would cut at 512)."""

FLOOR = 0.40
"""Cosines below this are no evidence. Not measured here, where the weights cannot be had."""

LOW, HIGH = 0.25, 0.90
"""Cosines that count 0 and 1 as a match. Not measured here either: a guess by what is published
of the model, whose unrelated texts stay higher than MiniLM's."""

_BATCH = 8


def find(folder: Path | None, environment: Mapping[str, str] | None = None) -> Files | None:
    """The weights: in ``folder`` if one is named, else in the hub's cache on this machine."""
    return weights.find(REPOSITORY, folder, environment)


def fingerprint(files: Files) -> Fingerprint:
    """By the hub's revision, or by configuration, size and both ends of the weights file."""
    try:
        config = (files.folder / "config.json").read_bytes()
        dimension = int(json.loads(config)["hidden_size"])
        known = files.revision or weights.sampled(weights_file(files), config)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Missing(
            f"{files.folder}: config.json or weights are not usable ({error}): run `{SETUP}`"
        ) from None
    return Fingerprint(NAME, known[:24], dimension, MAX_LENGTH, "cls")


class BgeM3:
    """The loaded model, on ``device`` (None: a GPU if there is one); half precision on CUDA.

    Threads that use it at once wait for each other.
    """

    def __init__(self, files: Files, device: str | None = None) -> None:
        """Raises :class:`Missing` if the model cannot be loaded, or not on that device."""
        self._one_at_a_time = threading.Lock()  # its tokenizer fails in two threads at once
        with flag.LOADING:
            self._load(files, device)

    def _load(self, files: Files, device: str | None) -> None:
        chosen = device
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import torch
            from FlagEmbedding import BGEM3FlagModel
            from FlagEmbedding.inference.embedder.encoder_only import m3

            flag.quiet(m3)
            chosen = device or flag.best_device(torch)
            self._model: Any = BGEM3FlagModel(
                str(files.folder),
                use_fp16=chosen.startswith("cuda"),
                devices=chosen,
                batch_size=_BATCH,
                passage_max_length=MAX_LENGTH,
                query_max_length=MAX_LENGTH,
                return_sparse=False,
                return_colbert_vecs=False,
            )
            self._model.model.to(chosen)  # else a wrong device fails at the first text
            self.dimension = int(self._model.model.model.config.hidden_size)
        except Exception as error:  # import faults of three large libraries, broken weights, CUDA
            raise flag.not_loaded(LABEL, SETUP, files, chosen, device, error) from None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        return self._encode(self._model.encode_corpus, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        return self._encode(self._model.encode_queries, [text[:20_000] for text in texts])

    def _encode(self, encode: Any, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        clean = [flag.encodable(text) for text in texts]
        with self._one_at_a_time:
            return unit(encode(clean, return_dense=True)["dense_vecs"])

    def lexical_weights(self, texts: Sequence[str]) -> list[dict[int, float]]:
        """The model's own keyword weights: for each text its tokens' ids and how much they count.

        Nothing in scoring uses them yet: whether they improve on BM25 has to be measured first,
        with the real weights.
        """
        if not texts:
            return []
        clean = [flag.encodable(text) for text in texts]
        with self._one_at_a_time:
            found = self._model.encode_corpus(clean, return_dense=False, return_sparse=True)
        return [
            {int(token): float(weight) for token, weight in one.items()}
            for one in found["lexical_weights"]
        ]
