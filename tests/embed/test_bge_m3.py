"""BGE-M3 through the real FlagEmbedding, on a tiny model of its shape."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from embed import hub
from memory_palace.core import chunk
from memory_palace.core.errors import Missing
from memory_palace.embed import bge_m3, weights
from memory_palace.embed.bge_m3 import BgeM3
from memory_palace.embed.weights import Files
from support import tiny_bge as tiny
from support.palaces import SCRIPTS

WIDTH = tiny.WIDTH
DOWNLOAD = f"weights.download({bge_m3.REPOSITORY!r}, {bge_m3.LABEL!r}, {bge_m3.NAME!r})"


@pytest.fixture(scope="module")
def model(tiny_bge: Path) -> BgeM3:
    """The loaded model."""
    return BgeM3(Files(tiny_bge, ""))


@pytest.fixture
def folder(tiny_bge: Path, tmp_path: Path) -> Path:
    """A copy of the model that a test may change."""
    return Path(shutil.copytree(tiny_bge, tmp_path / "model"))


def cached(home: Path, model: Path, revision: str = "abc123") -> Path:
    """Lay a model out as the hub's client does below ``$HF_HOME``; the snapshot."""
    repository = home / "hub" / "models--BAAI--bge-m3"
    snapshot = repository / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir(exist_ok=True)
    for number, file in enumerate(sorted(model.iterdir())):
        shutil.copy(file, repository / "blobs" / f"{revision}-{number}")
        (snapshot / file.name).symlink_to(f"../../blobs/{revision}-{number}")
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(revision)
    return snapshot


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, where no library is loaded yet."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS)} | environment,
    )


def test_vectors_are_as_the_port_says(model: BgeM3) -> None:
    """Passages and questions give float32 rows of length 1, one a text, in order."""
    texts = [f"note {n} " + "word " * n for n in range(20)]
    assert model.dimension == WIDTH
    for vectors in (model.embed_passages(texts), model.embed_queries(texts)):
        assert vectors.shape == (20, WIDTH)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, row in zip(texts, model.embed_passages(texts), strict=True):
        np.testing.assert_allclose(model.embed_passages([text])[0], row, atol=1e-5)


def test_several_threads_may_embed_at_once(model: BgeM3) -> None:
    """Each gets its own vectors, as a server needs it."""
    texts = [f"why did we choose number {n}" for n in range(16)]
    alone = model.embed_queries(texts)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: model.embed_queries([text])[0], texts))
    np.testing.assert_allclose(found, alone, atol=1e-5)


def test_no_texts_give_no_rows(model: BgeM3) -> None:
    """An empty batch has the model's width."""
    for vectors in (model.embed_passages([]), model.embed_queries([])):
        assert vectors.shape == (0, WIDTH)
        assert vectors.dtype == np.float32


def test_texts_with_words_in_common_are_closer(model: BgeM3) -> None:
    """The tiny model does in small what the real one does, through the same code."""
    one, two, other = model.embed_passages(
        ["why did we choose FAISS", "FAISS is what we did choose", "deploy a database migration"]
    )
    assert one @ two > bge_m3.FLOOR > one @ other


def test_lexical_weights_are_of_the_words_of_a_text(model: BgeM3) -> None:
    """Each text has a positive weight for each token that counts, whatever else is in the batch."""
    texts = ["why did we choose FAISS", "", "\ud800", *["the notes " * n for n in range(1, 20)]]
    found = model.lexical_weights(texts)
    assert len(found) == len(texts)
    for text, one in zip(texts, found, strict=True):
        known = set(model._model.tokenizer(text.encode("utf-8", "replace").decode())["input_ids"])
        assert set(one) <= known - {0, 1, 2, 3}, "no start, end, padding or unknown token"
        assert all(weight > 0 for weight in one.values())
        (alone,) = model.lexical_weights([text])
        assert alone == pytest.approx(one, abs=1e-5)
    assert found[0], "some of the words count"
    assert model.lexical_weights([]) == []


@pytest.mark.parametrize("words", [600, 1_500])
def test_a_passage_is_not_cut_at_512_tokens(model: BgeM3, words: int) -> None:
    """What comes after FlagEmbedding's own limit still counts."""
    start = "the " * words
    assert 512 < len(model._model.tokenizer(start)["input_ids"]) < 1_800
    vectors = model.embed_passages([start, start + "memory palace " * 100])
    assert vectors[0] @ vectors[1] < 0.999


def test_the_longest_chunk_is_read_whole(model: BgeM3) -> None:
    """At one token a character, the longest that a chunk can be still has its end read."""
    start = "1+" * (chunk.MOST // 2 - 20)
    vectors = model.embed_passages([start + "2" * 40, start + "%" * 40])
    assert len(model._model.tokenizer(start)["input_ids"]) > 1_800
    assert vectors[0] @ vectors[1] < 0.9999


def test_a_very_long_question_is_bounded(model: BgeM3) -> None:
    """A pasted log counts by its beginning."""
    start = "why did it fail? " * 2_000
    one, two = model.embed_queries([start, start + "bread " * 100_000])
    np.testing.assert_allclose(one, two, atol=1e-5)


@pytest.mark.parametrize(
    "text", ["", "\n", "\ud800", "\0", "\N{CASTLE}" * 300, "記憶の宮殿", "\ufffe", "<s></s><mask>"],
    ids=ascii,
)  # fmt: skip
def test_odd_texts_have_a_vector_too(model: BgeM3, text: str) -> None:
    """Nothing that a file can hold breaks the model."""
    for vectors in (model.embed_passages([text]), model.embed_queries([text])):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_loading_and_embedding_say_nothing(
    tiny_bge: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With more texts than a batch there is no bar and no warning on either stream."""
    model = BgeM3(Files(tiny_bge, ""))
    texts = [f"note {n}" for n in range(5 * bge_m3._BATCH)]
    model.embed_passages(texts)
    model.embed_queries(texts)
    assert capfd.readouterr() == ("", "")


def test_a_process_that_embeds_ends_without_a_word(tiny_bge: Path) -> None:
    """From the first import to the exit nothing is printed but what the process itself prints."""
    done = run(
        "from pathlib import Path; from memory_palace.embed import bge_m3\n"
        f"model = bge_m3.BgeM3(bge_m3.find(Path({str(tiny_bge)!r})))\n"
        "print(model.embed_passages(['note'] * 40).shape)\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"(40, {WIDTH})\n", "")


def test_weights_in_the_older_format_are_loaded(model: BgeM3, folder: Path) -> None:
    """The published model comes as ``pytorch_model.bin``: it gives the same vectors."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    found = bge_m3.find(folder)
    assert found is not None
    assert weights.weights_file(found) == folder / "pytorch_model.bin"
    np.testing.assert_allclose(
        BgeM3(found).embed_passages(["a note"]), model.embed_passages(["a note"]), atol=1e-6
    )


def test_the_device_can_be_named(tiny_bge: Path) -> None:
    """A device of the user's choice is used."""
    assert BgeM3(Files(tiny_bge, ""), "cpu").embed_queries(["x"]).shape == (1, WIDTH)


@pytest.mark.parametrize("device", ["cuda:7", "no-such-device"])
def test_a_device_that_is_not_there_is_missing(tiny_bge: Path, device: str) -> None:
    """It is said when the model is loaded, in one line that names the device."""
    with pytest.raises(Missing) as caught:
        BgeM3(Files(tiny_bge, ""), device)
    said = str(caught.value)
    assert f" on {device} (" in said and said.endswith(
        ": run `make setup-bge`, or name another device"
    )
    assert "\n" not in said


def test_a_folder_with_a_model_is_found(folder: Path) -> None:
    """A named folder is used, with no revision; the hub's cache is not asked."""
    assert bge_m3.find(folder) == Files(folder, "")
    assert bge_m3.find(folder.parent, {"HF_HOME": str(folder.parent)}) is None


@pytest.mark.parametrize("where", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"])
def test_the_hubs_cache_is_found_by_its_variables(
    tiny_bge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The snapshot of ``main`` is used, wherever the hub's client keeps its downloads."""
    below = {"HF_HUB_CACHE": "", "HF_HOME": "", "XDG_CACHE_HOME": "huggingface",
             "HOME": ".cache/huggingface"}  # fmt: skip
    snapshot = cached(tmp_path / below[where], tiny_bge)
    value = str(tmp_path / "hub") if where == "HF_HUB_CACHE" else str(tmp_path)
    if where == "HOME":
        monkeypatch.setenv("HOME", value)
        assert bge_m3.find(None, {}) == Files(snapshot, "abc123")
        return
    assert bge_m3.find(None, {where: value}) == Files(snapshot, "abc123")
    monkeypatch.setenv(where, value)
    if where == "XDG_CACHE_HOME":
        monkeypatch.delenv("HF_HOME")
    assert bge_m3.find(None) == Files(snapshot, "abc123")


def test_the_model_is_loaded_from_the_hubs_cache(
    model: BgeM3, tiny_bge: Path, tmp_path: Path
) -> None:
    """A snapshot made of symbolic links loads, offline, and gives the same vectors."""
    cached(tmp_path, tiny_bge)
    found = bge_m3.find(None, {"HF_HOME": str(tmp_path)})
    assert found is not None
    np.testing.assert_allclose(
        BgeM3(found).embed_passages(["x"]), model.embed_passages(["x"]), atol=1e-6
    )


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: shutil.rmtree(folder),
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "model.safetensors").unlink(),
    ],
    ids=["gone", "config", "tokenizer", "weights"],
)
def test_an_incomplete_folder_holds_no_model(
    folder: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    """Without weights, tokenizer or configuration there is no model, here or in the cache."""
    snapshot = cached(tmp_path, folder)
    harm(folder)
    assert bge_m3.find(folder) is None
    harm(snapshot)
    assert bge_m3.find(None, {"HF_HOME": str(tmp_path)}) is None


def test_a_download_that_was_broken_off_is_no_model(tiny_bge: Path, tmp_path: Path) -> None:
    """A link in the cache whose blob is not there counts as a missing file."""
    snapshot = cached(tmp_path, tiny_bge)
    (snapshot / "model.safetensors").resolve().unlink()
    assert bge_m3.find(None, {"HF_HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("ref", [None, b"", b"other", b"\xff"])
def test_a_cache_without_the_revision_holds_no_model(
    tiny_bge: Path, tmp_path: Path, ref: bytes | None
) -> None:
    """Without a reference that leads to a snapshot there is nothing to load."""
    cached(tmp_path, tiny_bge)
    main = tmp_path / "hub/models--BAAI--bge-m3/refs/main"
    main.unlink()
    if ref is not None:
        main.write_bytes(ref)
    assert bge_m3.find(None, {"HF_HOME": str(tmp_path)}) is None


def test_the_fingerprint_changes_with_the_weights(folder: Path, tmp_path: Path) -> None:
    """Another seed, another configuration or a longer file make another fingerprint."""
    files = Files(folder, "")
    first = bge_m3.fingerprint(files)
    assert first == bge_m3.fingerprint(Files(folder, ""))
    assert (first.name, first.dimension, first.max_length) == ("bge-m3", WIDTH, 2048)
    other = tiny.make(tmp_path / "other", seed=1)
    assert (other / "config.json").read_bytes() == (folder / "config.json").read_bytes()
    assert bge_m3.fingerprint(Files(other, "")) != first
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    second = bge_m3.fingerprint(files)
    assert second != first
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 128}))
    third = bge_m3.fingerprint(files)
    assert third.dimension == 128
    assert third.weights not in (first.weights, second.weights)


def test_a_model_of_the_hub_is_known_by_its_revision(tiny_bge: Path) -> None:
    """Two revisions are two fingerprints; a folder that was copied keeps its own."""
    one = bge_m3.fingerprint(Files(tiny_bge, "abc123"))
    assert one.weights == "abc123"
    assert one != bge_m3.fingerprint(Files(tiny_bge, "abc124"))
    assert one != bge_m3.fingerprint(Files(tiny_bge, ""))


@pytest.mark.parametrize("config", [b"", b"{", b"[]", b"{}", b'{"hidden_size": "wide"}', b"\xff"])
def test_a_broken_configuration_is_missing(folder: Path, config: bytes) -> None:
    """A ``config.json`` that cannot be used is a fault of one line with what to do."""
    (folder / "config.json").write_bytes(config)
    with pytest.raises(Missing) as caught:
        bge_m3.fingerprint(Files(folder, ""))
    said = str(caught.value)
    assert said.startswith(f"{folder}: config.json or weights are not usable (")
    assert said.endswith(": run `make setup-bge`")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("model.safetensors", b""),
        ("model.safetensors", b"not weights"),
        (
            "model.safetensors",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        ),
        ("tokenizer.json", b"{}"),
        ("config.json", b"{}"),
        ("config.json", b"{"),
        ("colbert_linear.pt", b"not weights"),
    ],
)
def test_broken_weights_are_missing(
    folder: Path, name: str, data: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that cannot be loaded is a fault of one line, whichever library stumbles over it."""
    (folder / name).write_bytes(data)
    with pytest.raises(Missing) as caught:
        BgeM3(Files(folder, ""))
    said = str(caught.value)
    assert said.startswith(f"BGE-M3 cannot be loaded from {folder} on cpu (")
    assert said.endswith("): run `make setup-bge`")
    assert "\n" not in said and "()" not in said and len(said) < 600
    assert capfd.readouterr().out == ""


def test_a_download_can_be_used(model: BgeM3, tiny_bge: Path, tmp_path: Path) -> None:
    """What is fetched from the hub is complete, found by its revision, and loads."""
    published = Path(shutil.copytree(tiny_bge, tmp_path / "published"))
    for extra in ("onnx/model.onnx", "onnx/model.onnx_data", "imgs/bm25.jpg", "tf_model.h5"):
        (published / extra).parent.mkdir(exist_ok=True)
        (published / extra).write_bytes(b"large")
    home = {"HF_HOME": str(tmp_path / "home")}
    with hub.serving(published) as served:
        done = run(
            f"from memory_palace.embed import weights; print({DOWNLOAD})",
            HF_ENDPOINT=served.url, HF_HUB_OFFLINE="0", NO_PROXY="127.0.0.1", **home,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = bge_m3.find(None, home)
    assert found is not None and found.revision == hub.REVISION
    assert done.stdout == f"{weights.weights_file(found)}\n"
    assert served.fetched == {path.name for path in tiny_bge.iterdir()}
    np.testing.assert_allclose(
        BgeM3(found).embed_passages(["x"]), model.embed_passages(["x"]), atol=1e-6
    )


def test_an_incomplete_download_is_missing(tiny_bge: Path, tmp_path: Path) -> None:
    """If the hub has no weights, success is not claimed."""
    published = Path(shutil.copytree(tiny_bge, tmp_path / "published"))
    (published / "model.safetensors").unlink()
    with hub.serving(published) as served:
        done = run(
            "from memory_palace.embed import weights\n"
            f"try: {DOWNLOAD}\n"
            "except Exception as error: print(type(error).__name__, error)",
            HF_ENDPOINT=served.url, HF_HUB_OFFLINE="0", NO_PROXY="127.0.0.1",
            HF_HOME=str(tmp_path / "home"),
        )  # fmt: skip
    assert done.stdout == (
        "Missing the download is not complete: run `palace model download bge-m3` again\n"
    )


@pytest.mark.parametrize(
    "environment",
    [{"HF_HUB_OFFLINE": "1"}, {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}],
    ids=["offline", "no answer"],
)
def test_a_download_without_a_connection_is_missing(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """It fails within seconds, in one line that names the other way."""
    done = run(
        "import time; from memory_palace.embed import weights\n"
        "before = time.monotonic()\n"
        f"try: {DOWNLOAD}\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "print(time.monotonic() - before < 20)",
        HF_HOME=str(tmp_path), NO_PROXY="127.0.0.1", **environment,
    )  # fmt: skip
    said, quick = done.stdout.splitlines()
    assert said.startswith("Missing BGE-M3 could not be fetched (")
    assert said.endswith(
        "): check the connection and run it again, or name a folder that holds it as "
        "`models: {bge-m3: DIR}` in your own configuration"
    )
    assert quick == "True"
