"""What the models that FlagEmbedding runs have in common."""

import importlib.util
import threading
from typing import Any

from memory_palace.core.errors import Missing
from memory_palace.embed.weights import Files, reason

LOADING = threading.Lock()
"""Transformers loads one model at a time, per process."""


def runnable() -> bool:
    """True if the libraries that run the models are installed; imports none of them."""
    return all(importlib.util.find_spec(name) for name in ("FlagEmbedding", "torch"))


def best_device(torch: Any) -> str:
    """A GPU if there is one."""
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def quiet(module: Any) -> None:
    """Take the progress bars out of one of FlagEmbedding's modules: they cannot be turned off,
    and would end up in an agent's context."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    module.tqdm = lambda steps, **_: steps
    module.trange = lambda *bounds, **_: range(*bounds)


def not_loaded(
    label: str, mend: str, files: Files, used: str | None, asked: str | None, error: Exception
) -> Missing:
    """The one line about a model that the libraries could not load on the device ``used``;
    ``asked`` is the device that was asked for, ``mend`` the command that gets the model."""
    place = f"{files.folder} on {used}" if used else f"{files.folder}"
    other = ", or name another device" if asked else ""
    return Missing(f"{label} cannot be loaded from {place} ({reason(error)}): run `{mend}`{other}")


def encodable(text: str) -> str:
    """``text`` without lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
