"""Weights of models that the hub publishes: found in a folder or in the hub's cache, or fetched."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.errors import Missing

_EDGE = 1 << 20
_WANTED = (
    ("config.json",),
    ("model.safetensors", "pytorch_model.bin"),
    ("tokenizer.json", "sentencepiece.bpe.model"),
)


@dataclass(frozen=True, slots=True)
class Files:
    """A folder with the weights, and the revision it is known by (empty for a plain folder)."""

    folder: Path
    revision: str


def find(
    repository: str, folder: Path | None, environment: Mapping[str, str] | None = None
) -> Files | None:
    """The weights: in ``folder`` if one is named, else in the hub's cache on this machine."""
    if folder is not None:
        return Files(folder, "") if not lacking(folder) else None
    cache = hub_cache(os.environ if environment is None else environment)
    place = cache / f"models--{repository.replace('/', '--')}"
    try:
        revision = (place / "refs" / "main").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    snapshot = place / "snapshots" / revision
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
    """The first of the files that a model needs and ``folder`` does not have; empty if none."""
    if not folder.is_dir():
        return "everything (no such folder)"
    has = {path.name for path in folder.iterdir() if path.is_file()}
    for wanted in _WANTED:
        if not has.intersection(wanted):
            return " or ".join(wanted)
    return ""


def weights_file(files: Files) -> Path:
    """The weights file that transformers would load."""
    safe = files.folder / "model.safetensors"
    return safe if safe.is_file() else files.folder / "pytorch_model.bin"


def sampled(path: Path, also: bytes = b"") -> str:
    """A hash of ``also``, of the file's size and of both its ends. Hashing two gigabytes at
    every query would take seconds."""
    found = hashlib.sha256(also)
    size = path.stat().st_size
    found.update(str(size).encode())
    with path.open("rb") as file:
        found.update(file.read(_EDGE))
        file.seek(max(size - _EDGE, 0))
        found.update(file.read(_EDGE))
    return found.hexdigest()


def download(repository: str, label: str, name: str) -> Path:
    """Fetch a model into the hub's cache and give its weights file. ``label`` is what a person
    calls it, ``name`` what the configuration does.

    Raises :class:`Missing` if the hub cannot be reached or what came is not complete.
    """
    try:
        from huggingface_hub import snapshot_download

        snapshot_download(
            repository, ignore_patterns=["*.onnx*", "onnx/*", "imgs/*", "*.h5", "*.msgpack"]
        )
    except Exception as error:  # the client's own faults, and the network's
        raise Missing(
            f"{label} could not be fetched ({reason(error)}): check the connection and run it "
            f"again, or name a folder that holds it as `models: {{{name}: DIR}}` in your own "
            "configuration"
        ) from None
    files = find(repository, None)
    if files is None:
        raise Missing(f"the download is not complete: run `palace model download {name}` again")
    return weights_file(files)


def reason(error: Exception) -> str:
    """A library's fault, short and on one line."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]
