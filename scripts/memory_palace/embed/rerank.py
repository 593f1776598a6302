"""bge-reranker-v2-m3 through FlagEmbedding: reads a question and a passage together."""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.embed import flag, weights
from memory_palace.embed.weights import Files

NAME = "reranker"
LABEL = "bge-reranker-v2-m3"
REPOSITORY = "BAAI/bge-reranker-v2-m3"
SETUP = "palace model download reranker"
MAX_LENGTH = 1024
"""Tokens of question and passage together that are read. A chunk of usual length has 250; the
longest one in a script with a token a character is cut."""

MOST_QUESTION = 256
"""Tokens of the question that are read, so that there is always room for the passage."""

_BATCH = 4
"""Pairs a run. FlagEmbedding sorts by length and runs the first batch twice: keep it small."""


def find(folder: Path | None, environment: Mapping[str, str] | None = None) -> Files | None:
    """The weights: in ``folder`` if one is named, else in the hub's cache on this machine."""
    return weights.find(REPOSITORY, folder, environment)


class Reranker:
    """The loaded model, on ``device`` (None: a GPU if there is one); half precision on CUDA.

    On a CPU it uses all cores, or as many as ``$OMP_NUM_THREADS`` says. Threads that use it at once
    wait for each other.
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
            from FlagEmbedding import FlagReranker
            from FlagEmbedding.inference.reranker.encoder_only import base

            flag.quiet(base)
            chosen = device or flag.best_device(torch)
            self._model: Any = FlagReranker(
                str(files.folder),
                use_fp16=chosen.startswith("cuda"),
                devices=chosen,
                batch_size=_BATCH,
                query_max_length=MOST_QUESTION,
                max_length=MAX_LENGTH,
                normalize=True,
            )
            labels = int(self._model.model.config.num_labels)
            if labels != 1:
                raise ValueError(f"it gives {labels} numbers a pair, not 1")
            self._model.model.to(chosen)  # else a wrong device fails at the first pair
        except Exception as error:  # import faults of three large libraries, broken weights, CUDA
            raise flag.not_loaded(LABEL, SETUP, files, chosen, device, error) from None

    def scores(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """How well each passage answers, 0 to 1; shape (len(passages),)."""
        if not passages:
            return np.zeros(0)
        asked = flag.encodable(question[:20_000])
        pairs = [(asked, flag.encodable(passage)) for passage in passages]
        with self._one_at_a_time:
            return np.asarray(self._model.compute_score(pairs), dtype=np.float64)
