"""The reranker through the real FlagEmbedding, on a tiny model of its shape."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed import registry, rerank
from memory_palace.embed.rerank import Reranker
from memory_palace.embed.weights import Files
from memory_palace.files.config import Config
from support import tiny_reranker as tiny

QUESTION = "what does an agent keep"
PASSAGES = [
    "deploy a database migration",
    "a memory palace is memory",
    "",
    "the index is derived from the notes and can be deleted at any time " * 5,
    "rollback",
    "memory memory memory",
]


@pytest.fixture(scope="module")
def model(tiny_reranker: Path) -> Reranker:
    """The loaded model."""
    return Reranker(Files(tiny_reranker, ""))


def test_scores_are_from_0_to_1_one_a_passage(model: Reranker) -> None:
    """In the order of the passages, with more of them than a batch, none alike."""
    scores = model.scores(QUESTION, PASSAGES)
    assert scores.shape == (len(PASSAGES),) and len(PASSAGES) > rerank._BATCH
    assert scores.dtype == np.float64
    assert ((scores > 0) & (scores < 1)).all()
    assert len(set(scores.tolist())) == len(PASSAGES)


def test_what_the_model_likes_scores_higher(model: Reranker) -> None:
    """The tiny model likes one word, and what is full of it comes first."""
    scores = model.scores(QUESTION, PASSAGES)
    assert scores.argmax() == 5
    assert scores[1] > scores[0]


def test_question_and_passage_are_read_together(model: Reranker) -> None:
    """The same passage scores otherwise for another question."""
    one = model.scores(QUESTION, ["rollback"])
    assert model.scores(f"{tiny.LIKED} {tiny.LIKED}", ["rollback"])[0] > one[0]


def test_a_passage_has_the_same_score_in_any_company(model: Reranker) -> None:
    """A score depends on question and passage alone, not on the batch."""
    together = model.scores(QUESTION, PASSAGES)
    for passage, score in zip(PASSAGES, together, strict=True):
        np.testing.assert_allclose(model.scores(QUESTION, [passage]), [score], atol=1e-5)


def test_several_threads_may_ask_at_once(model: Reranker) -> None:
    """Each gets its own scores, as a server needs it."""
    asked = [f"{QUESTION} {n}" for n in range(8)]
    alone = [model.scores(question, PASSAGES) for question in asked]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda question: model.scores(question, PASSAGES), asked))
    np.testing.assert_allclose(found, alone, atol=1e-5)


def test_no_passages_give_no_scores(model: Reranker) -> None:
    """Nothing is asked of the model."""
    assert model.scores(QUESTION, []).shape == (0,)


def test_a_long_chunk_is_read_beyond_512_tokens(model: Reranker) -> None:
    """What comes after the usual limit still counts, what comes after ours does not."""
    words = [rerank.MAX_LENGTH * 2 // 3, rerank.MAX_LENGTH * 2]
    for count, counts in zip(words, (True, False), strict=True):
        start = "the " * count
        plain, more = model.scores(QUESTION, [start, start + f"{tiny.LIKED} " * 100])
        assert (abs(plain - more) > 1e-4) == counts


def test_a_very_long_question_leaves_room_for_the_passage(model: Reranker) -> None:
    """A pasted log counts by its beginning."""
    log = "why did it fail " * 20_000
    one, two = model.scores(log, ["rollback", f"{tiny.LIKED} " * 50])
    assert two > one
    np.testing.assert_allclose(model.scores(log + "bread", ["rollback"]), [one], atol=1e-5)


@pytest.mark.parametrize(
    "text", ["", "\n", "\ud800", "\0", "記憶の宮殿", "<s></s><mask>"], ids=ascii
)
def test_odd_texts_have_a_score_too(model: Reranker, text: str) -> None:
    """Nothing that a file or a question can hold breaks the model."""
    assert np.isfinite(model.scores(text, [text, "a note"])).all()


def test_loading_and_scoring_say_nothing(
    tiny_reranker: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With more pairs than a batch there is no bar and no warning on either stream."""
    Reranker(Files(tiny_reranker, "")).scores(QUESTION, PASSAGES * 5)
    assert capfd.readouterr() == ("", "")


def test_weights_are_found_as_those_of_bge_m3_are(tiny_reranker: Path, tmp_path: Path) -> None:
    """In a folder that is named, else in the hub's cache below its own name."""
    assert rerank.find(tiny_reranker) == Files(tiny_reranker, "")
    assert rerank.find(None, {"HF_HOME": str(tmp_path)}) is None
    repository = tmp_path / "hub/models--BAAI--bge-reranker-v2-m3"
    shutil.copytree(tiny_reranker, repository / "snapshots/abc")
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text("abc")
    found = rerank.find(None, {"HF_HOME": str(tmp_path)})
    assert found == Files(repository / "snapshots/abc", "abc")


@pytest.mark.parametrize(
    ("name", "data"),
    [("model.safetensors", b"not weights"), ("tokenizer.json", b"{}"), ("config.json", b"{")],
)
def test_broken_weights_are_missing(
    tiny_reranker: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    """A file that cannot be loaded is a fault of one line, whichever library stumbles over it."""
    folder = shutil.copytree(tiny_reranker, tmp_path / "model")
    (folder / name).write_bytes(data)
    with pytest.raises(Missing) as caught:
        Reranker(Files(folder, ""))
    said = str(caught.value)
    assert said.startswith(f"bge-reranker-v2-m3 cannot be loaded from {folder} on cpu (")
    assert said.endswith("): run `palace model download reranker`")
    assert "\n" not in said and "()" not in said


def test_a_model_of_another_shape_is_missing(tmp_path: Path) -> None:
    """A classifier with two answers is no reranker: its numbers would be taken for two passages."""
    with pytest.raises(Missing, match="2 numbers a pair, not 1"):
        Reranker(Files(tiny.make(tmp_path / "model", labels=2), ""))


def test_a_device_that_is_not_there_is_missing(tiny_reranker: Path) -> None:
    """It is said when the model is loaded, in one line that names the device."""
    with pytest.raises(Missing, match=r" on no-such-device \(.*, or name another device$"):
        Reranker(Files(tiny_reranker, ""), "no-such-device")


def test_the_registry_loads_it(tiny_reranker: Path) -> None:
    """From the folder that the configuration names, and not before it is asked to."""
    load = registry.reranker(Config(models={"reranker": tiny_reranker}))
    assert load().scores(QUESTION, ["a note"]).shape == (1,)


def test_without_weights_it_is_missing(tmp_path: Path) -> None:
    """It is said before anything is loaded, with what to do."""
    with pytest.raises(Missing) as caught:
        registry.reranker(Config())
    assert str(caught.value) == (
        "reranking needs bge-reranker-v2-m3 and its weights are not on this machine: "
        "run `palace model download reranker`"
    )
    with pytest.raises(Missing) as caught:
        registry.reranker(Config(models={"reranker": tmp_path}))
    assert str(caught.value) == (
        f"reranking needs bge-reranker-v2-m3 and {tmp_path} lacks config.json: put the whole model "
        "there, or name another folder in `models` of your configuration or $PALACE_RERANKER_DIR"
    )


def test_without_its_libraries_it_is_missing(
    tiny_reranker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights alone do not help."""
    monkeypatch.setattr("memory_palace.embed.flag.runnable", lambda: False)
    with pytest.raises(Missing, match=r"FlagEmbedding is not installed: run `make setup-bge`$"):
        registry.reranker(Config(models={"reranker": tiny_reranker}))
