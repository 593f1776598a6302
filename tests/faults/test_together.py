"""Two builds at once; readers while a writer is at it."""

import functools
import time
from pathlib import Path

import pytest

from faults.children import Child, answers, commands, fill, fresh_answers, said, text, until
from memory_palace.cli import index as index_command
from memory_palace.files import locks, roots
from memory_palace.index.build import Options
from support.fake import FakeEmbedder
from support.palaces import Palace


@pytest.fixture
def slow(embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch of texts takes a while."""
    plain = embedder.embed_passages

    def embed(texts):  # type: ignore[no-untyped-def]
        time.sleep(0.03)
        return plain(texts)

    monkeypatch.setattr(embedder, "embed_passages", embed)


def test_two_builds_at_once(keyword_palace: Palace, tmp_path: Path, slow: None) -> None:
    """One waits, and says for whom; both end well, and nothing is embedded twice."""
    fill(keyword_palace, 30)
    told = [tmp_path / "one", tmp_path / "two", tmp_path / "three"]
    children = [Child(commands(keyword_palace, "index", told=place)) for place in told]
    assert [child.wait() for child in children] == [0, 0, 0]
    ran = [said(place) for place in told]
    assert sum("waiting for palace index (process " in one.err for one in ran) >= 1
    assert sum(" vectors in " in one.out for one in ran) == 1
    assert sum("30 added" in one.out for one in ran) == 1
    assert keyword_palace.command("index", "--check").out.startswith("up to date")
    assert answers(keyword_palace) == fresh_answers(keyword_palace)


def test_two_first_questions_at_once(keyword_palace: Palace, tmp_path: Path, slow: None) -> None:
    """Both find the index missing; both get an answer, with vectors or still without."""
    fill(keyword_palace, 12)
    told = [tmp_path / "one", tmp_path / "two"]
    asked = ("query", "--format", "files", "amber")
    children = [Child(commands(keyword_palace, *asked, told=place)) for place in told]
    assert [child.wait() for child in children] == [0, 0]
    assert [len(said(place).out.splitlines()) for place in told] == [5, 5]


def test_a_writer_that_takes_too_long_is_named(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the wait: exit 1, who is at it, nothing written."""
    fill(keyword_palace, 3)
    patient = functools.partial(Options, wait_seconds=0.1)
    monkeypatch.setattr(index_command, "Options", patient)
    with locks.writer(roots.index_folder(keyword_palace.root), "palace index"):
        ran = keyword_palace.command("index")
    assert ran.code == 1
    assert "waiting for palace index (process " in ran.err
    assert "is still at it: run this again when it is done" in ran.err
    assert not (keyword_palace.root / ".palace/index/catalog.sqlite").exists()


def test_readers_while_a_writer_writes(keyword_palace: Palace, tmp_path: Path) -> None:
    """Questions are answered at every moment of builds, rebuilds and edits."""
    fill(keyword_palace, 12)
    assert keyword_palace.command("index").code == 0
    stop = tmp_path / "stop"

    def write() -> int:
        for turn in range(1000):
            if stop.exists():
                return 0
            for number in (turn % 12, (turn * 5) % 12):
                keyword_palace.write(f"palace/topics/n{number}.md", text(number + turn), old=False)
            words = ("index", "--force") if turn % 3 == 2 else ("index",)
            if keyword_palace.command(*words).code:
                return 1
        return 0

    def read() -> int:
        while not stop.exists():
            ran = keyword_palace.command("query", "--format", "jsonl", "-k", "20", "amber ember")
            if ran.code or not ran.out or "cannot be read" in ran.err:
                (tmp_path / "seen").write_text(repr(ran))
                return 1
        return 0

    writer, reader = Child(write), Child(read)
    asked = 0
    end = time.monotonic() + 4
    try:
        while time.monotonic() < end:
            for words in (["query", "--format", "files", "amber"], ["query", "--room", "topics"]):
                ran = keyword_palace.command(*words)
                assert ran.code == 0, ran
                assert ran.out, ran
                asked += 1
    finally:
        stop.touch()
        codes = (writer.wait(), reader.wait())
    assert codes == (0, 0), (tmp_path / "seen").read_text()
    assert asked > 20
    assert keyword_palace.command("index").code == 0
    assert answers(keyword_palace) == fresh_answers(keyword_palace)


def test_a_reader_of_the_first_build(keyword_palace: Palace, slow: None) -> None:
    """As soon as the keywords are there, questions are answered; vectors follow."""
    fill(keyword_palace, 40)
    writer = Child(commands(keyword_palace, "index"))
    catalog = keyword_palace.root / ".palace/index/catalog.sqlite"
    until(catalog.exists)
    ran = keyword_palace.command("query", "--format", "files", "amber")
    assert (ran.code, writer.wait()) == (0, 0)
    assert len(ran.out.splitlines()) == 5


def test_the_doctor_knows_a_writer_from_a_dead_one(keyword_palace: Palace) -> None:
    """`palace doctor` says who is building, and that a killed build did not end by itself."""
    fill(keyword_palace, 3)
    assert keyword_palace.command("index").code == 0
    folder = roots.index_folder(keyword_palace.root)

    def build() -> int:
        with locks.writer(folder, "palace index"):
            time.sleep(60)
        return 0

    child = Child(build)
    until((folder / "writer.json").exists)
    ran = keyword_palace.command("doctor")
    assert f"note  index: being written by palace index (process {child.pid}, since " in ran.out
    child.kill()
    child.wait()
    ran = keyword_palace.command("doctor")
    assert ran.code == 0
    assert "the last run did not end by itself (palace index (process " in ran.out
    assert keyword_palace.command("index").code == 0
    assert "did not end by itself" not in keyword_palace.command("doctor").out
