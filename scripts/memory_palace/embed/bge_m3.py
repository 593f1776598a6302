"""BGE-M3 through FlagEmbedding: dense vectors, 1,024 dimensions, many languages."""

import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.core.errors import Missing
from memory_palace.embed.port import Fingerprint, Vectors, unit

NAME = "bge-m3"
LABEL = "BGE-M3"
REPOSITORY = "BAAI/bge-m3"
MAX_LENGTH = 2048
"""Tokens of a passage that are read. The longest chunk has 2,000 characters and a heading path:
no more tokens than that in any script, so nothing is cut (FlagEmbedding would cut at 512)."""

FLOOR = 0.40
"""Cosines below this are no evidence. Not measured here, where the weights cannot be had."""

_BATCH = 8
_LOADING = threading.Lock()  # transformers loads one model at a time, per process
_EDGE = 1 << 20


@dataclass(frozen=True, slots=True)
class Files:
    """A folder with the weights, and the revision it is known by (empty for a plain folder)."""

    folder: Path
    revision: str


def find(folder: Path | None, environment: Mapping[str, str] | None = None) -> Files | None:
    """The weights: in ``folder`` if one is named, else in the hub's cache on this machine."""
    if folder is not None:
        return Files(folder, "") if not lacking(folder) else None
    cache = hub_cache(os.environ if environment is None else environment)
    repository = cache / f"models--{REPOSITORY.replace('/', '--')}"
    try:
        revision = (repository / "refs" / "main").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    snapshot = repository / "snapshots" / revision
    return Files(snapshot, revision) if not lacking(snapshot) else None


def hub_cache(environment: Mapping[str, str]) -> Path:
    """Where the model hub's client keeps downloads, by its documented variables."""
    if environment.get("HF_HUB_CACHE"):
        return Path(environment["HF_HUB_CACHE"])
    home = environment.get("HF_HOME")
    if home:
        return Path(home) / "hub"
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "huggingface" / "hub"


def lacking(folder: Path) -> str:
    """The first of the files that BGE-M3 needs and ``folder`` does not have; empty if none."""
    if not folder.is_dir():
        return "everything (no such folder)"
    has = {path.name for path in folder.iterdir() if path.is_file()}
    for wanted in (
        ("config.json",),
        ("model.safetensors", "pytorch_model.bin"),
        ("tokenizer.json", "sentencepiece.bpe.model"),
    ):
        if not has.intersection(wanted):
            return " or ".join(wanted)
    return ""


def weights_file(files: Files) -> Path:
    """The weights file that transformers would load."""
    safe = files.folder / "model.safetensors"
    return safe if safe.is_file() else files.folder / "pytorch_model.bin"


def runnable() -> bool:
    """True if the libraries that run the model are installed; imports none of them."""
    return all(importlib.util.find_spec(name) for name in ("FlagEmbedding", "torch"))


def fingerprint(files: Files) -> Fingerprint:
    """By the hub's revision, or by configuration, size and both ends of the weights file."""
    try:
        config = (files.folder / "config.json").read_bytes()
        dimension = int(json.loads(config)["hidden_size"])
        weights = files.revision or _sampled(weights_file(files), config)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Missing(
            f"{files.folder}: config.json or weights are not usable ({error}): run `make setup-bge`"
        ) from None
    return Fingerprint(NAME, weights[:24], dimension, MAX_LENGTH, "cls")


def _sampled(path: Path, config: bytes) -> str:
    """Hashing two gigabytes at every query would take seconds; the ends and the size do."""
    found = hashlib.sha256(config)
    size = path.stat().st_size
    found.update(str(size).encode())
    with path.open("rb") as file:
        found.update(file.read(_EDGE))
        file.seek(max(size - _EDGE, 0))
        found.update(file.read(_EDGE))
    return found.hexdigest()


class BgeM3:
    """The loaded model, on ``device`` (None: a GPU if there is one); half precision on CUDA."""

    def __init__(self, files: Files, device: str | None = None) -> None:
        """Raises :class:`Missing` if the model cannot be loaded, or not on that device."""
        with _LOADING:
            self._load(files, device)

    def _load(self, files: Files, device: str | None) -> None:
        chosen = device
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import torch
            from FlagEmbedding import BGEM3FlagModel
            from FlagEmbedding.inference.embedder.encoder_only import m3
            from transformers.utils import logging

            logging.set_verbosity_error()
            # Its progress bars cannot be turned off, and would end up in an agent's context.
            m3.tqdm = lambda steps, **_: steps
            m3.trange = lambda *bounds, **_: range(*bounds)
            chosen = device or _device(torch)
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
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            place = f"{files.folder} on {chosen}" if chosen else f"{files.folder}"
            mend = "run `make setup-bge`" + (", or name another device" if device else "")
            raise Missing(f"BGE-M3 cannot be loaded from {place} ({reason}): {mend}") from None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        return self._encode(self._model.encode_corpus, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        return self._encode(self._model.encode_queries, [text[:20_000] for text in texts])

    def _encode(self, encode: Any, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return unit(encode(clean, return_dense=True)["dense_vecs"])


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def download() -> Path:
    """Fetch the weights into the hub's cache and give the weights file.

    Raises :class:`Missing` if the hub cannot be reached or what came is not complete.
    """
    try:
        from huggingface_hub import snapshot_download

        snapshot_download(
            REPOSITORY, ignore_patterns=["*.onnx*", "onnx/*", "imgs/*", "*.h5", "*.msgpack"]
        )
    except Exception as error:  # the client's own faults, and the network's
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise Missing(
            f"BGE-M3 could not be fetched ({reason}): check the connection and run it again, "
            "or name a folder that holds it as `models: {bge-m3: DIR}` in your own configuration"
        ) from None
    files = find(None)
    if files is None:
        raise Missing("the download is not complete: run `palace model download bge-m3` again")
    return weights_file(files)
