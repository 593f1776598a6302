"""Memories of one line and their files: what people write, change and link there."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from files.repository import Repository
from memory.writing import DAY, LESSONS, NOW, SECRET, A, B, Writer, same
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.core.events import PATH
from memory_palace.core.topics import MOST_CHARACTERS, entry_id
from memory_palace.memory import entries, pen
from memory_palace.memory import state as states


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """A palace without an embedder."""
    return Writer(tmp_path / "root")


def test_lines_by_hand_get_ids_when_their_file_is_written(writer: Writer) -> None:
    """Each with one event that counts as it counted so far."""
    writer.palace.write(
        LESSONS, "---\nupdated: 2026-11-09\n---\n- [lesson] a\n- [lesson] b *(pinned)*\n"
    )
    before = {m.text: (m.id, m.evidence, m.strength, m.created) for m in writer.memories()}
    writer.remember("c")
    after = {m.text: (m.id, m.evidence, m.strength, m.created) for m in writer.memories()}
    assert {text: after[text] for text in before} == before
    assert all(memory.written for memory in writer.memories())
    assert sorted((e.event, e.data["cue"]) for e in writer.events()) == [
        ("remembered", "behavioral"), ("remembered", "explicit"), ("remembered", "explicit"),
    ]  # fmt: skip
    writer.do("reinforce", before["a"][0])
    assert [e.event for e in writer.events()].count("remembered") == 3


@pytest.mark.parametrize("what", ["reinforce", "pin", "forget", "edit"])
def test_a_line_by_hand_is_named_by_what_its_id_will_be(writer: Writer, what: str) -> None:
    """It gets it with the first command on it; other files are left alone."""
    writer.palace.write(LESSONS, "- [lesson] a\n")
    writer.palace.write("palace/topics/more.md", "- [lesson] b\n")
    key = entry_id("lesson", "a")
    done = writer.do(what, key, *(["new"] if what == "edit" else []))
    assert done.memory.id == key and done.memory.written
    assert f"^{key}" in writer.text()
    assert writer.text("palace/topics/more.md") == "- [lesson] b\n"
    assert done.memory.evidence == (2 if what == "reinforce" else 1)
    same(writer, done)


def test_a_line_that_lost_its_id_is_not_told_of_twice(writer: Writer) -> None:
    """It gets its id again, and no second event."""
    key = writer.remember("a").memory.id
    writer.palace.write(LESSONS, "- [lesson] a\n")
    done = writer.do("reinforce", key)
    assert done.memory.evidence == 2
    assert writer.kinds() == ["remembered", "reinforced"]
    assert f"a ^{key}" in writer.text()


def test_two_branches_that_adopt_one_line_agree(writer: Writer) -> None:
    """The same id and the same event: merged they are one."""
    repository = Repository(writer.root)
    writer.palace.write(".gitattributes", "*.jsonl merge=union text eol=lf\n")
    writer.palace.write(".gitignore", ".palace/\n")
    writer.palace.write(LESSONS, "- [lesson] a\n\n\n\n- [lesson] b\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "first")
    for name, about in (("left", "a"), ("right", "b")):
        repository.git("checkout", "--quiet", "-B", name, "main")
        writer.now += DAY
        writer.do("reinforce", entry_id("lesson", about))
        repository.git("add", "--all")
        repository.git("commit", "--quiet", "-m", name)
    repository.git("merge", "--quiet", "-m", "both", "left")
    state = states.load(writer.root, writer.now)
    assert state.problems == ()
    assert [(m.text, m.evidence) for m in state.memories] == [("a", 2), ("b", 2)]
    assert writer.kinds() == ["remembered", "remembered", "reinforced", "reinforced"]


def test_a_full_topic_is_refused(writer: Writer) -> None:
    """With the weakest named, and nothing written; one character less goes in."""
    key = entry_id("lesson", "one more")
    line = f"- [lesson] one more ^{key}\n"
    lines = f"- [lesson] weak ^{A}\n- [lesson] strong *(pinned)* ^{B}\n"
    filler = "x" * (MOST_CHARACTERS - len(lines) - len(line) - 1) + "\n"
    writer.palace.write(LESSONS, lines + filler + "y")
    writer.refused(
        Refused,
        rf"12,00\d characters of 12,000: run `palace archive`.*\^{A} \(",
        "remember",
        "one more",
    )
    writer.refused(Refused, "12,000", "edit", A, "weak" + "x" * 60)
    writer.palace.write(LESSONS, lines + filler)
    assert writer.remember("one more").what == "remembered"
    assert len(writer.text()) == MOST_CHARACTERS
    writer.refused(Refused, "characters of 12,000", "pin", A)
    assert writer.do("reinforce", A).memory.evidence == 2
    writer.do("unpin", B)


@pytest.mark.parametrize("tail", ["```\ncode\n", "~~~~\n~~~\n", "text\n```python"])
def test_a_file_that_ends_in_a_fence_is_refused(writer: Writer, tail: str) -> None:
    """The line would be code: said before anything is written."""
    writer.palace.write(LESSONS, f"- [lesson] a ^{A}\n{tail}")
    writer.refused(Refused, "ends inside a code fence: close it", "remember", "b")
    writer.do("pin", A)


def test_an_edit_underneath_is_not_overwritten(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between state and read, and between read and write: exit 4, nothing written, no event."""
    writer.palace.write(LESSONS, f"- [lesson] a ^{A}\n")
    others = f"- [lesson] a changed by hand ^{A}\n"
    for place in ("read", "put"):
        real = getattr(pen.Pen, place)

        def edited(p: pen.Pen, *arguments: str, real: object = real) -> object:
            writer.palace.write(LESSONS, others)
            return real(p, *arguments)  # type: ignore[operator]

        for what, arguments in (("pin", (A,)), ("edit", (A, "x")), ("remember", ("b",))):
            writer.palace.write(LESSONS, f"- [lesson] a ^{A}\n")
            with monkeypatch.context() as patch:
                patch.setattr(pen.Pen, place, edited)
                with pytest.raises(Changed) as told:
                    writer.remember(*arguments) if what == "remember" else writer.do(
                        what, *arguments
                    )
            assert told.value.exit_code == 4
            assert writer.text() == others
            assert writer.events() == []


def test_a_clock_that_goes_back_changes_no_order(writer: Writer) -> None:
    """The last command on a memory is the last that counts, at each later moment."""
    key = writer.remember("x").memory.id
    writer.now = NOW - timedelta(hours=5)
    assert writer.do("forget", key).memory.forgotten
    writer.now = NOW - timedelta(hours=9)
    assert not writer.do("reinforce", key).memory.forgotten
    writer.do("pin", key)
    writer.do("unpin", key)
    writer.now = NOW - timedelta(hours=10)
    writer.do("pin", key)
    assert writer.kinds() == [
        "remembered",
        "forgotten",
        "reinforced",
        "pinned",
        "unpinned",
        "pinned",
    ]
    [memory] = states.load(writer.root, NOW + DAY).memories
    assert (memory.pinned, memory.forgotten, memory.evidence) == (True, False, 2)


def test_what_is_said_is_what_stands(writer: Writer) -> None:
    """After any series of commands, and after `.palace/` was deleted."""
    keys = [
        writer.remember(f"text number {n} {'abc'[n % 3] * n}", ("lesson", "done")[n % 2]).memory.id
        for n in range(6)
    ]
    for n, what in enumerate(
        ["reinforce", "pin", "forget", "unpin", "reinforce", "edit", "forget", "pin"] * 2
    ):
        writer.now += DAY
        try:
            same(
                writer, writer.do(what, keys[n * 5 % 6], *([f"new {n}"] if what == "edit" else []))
            )
        except Refused:
            continue
        before = writer.memories()
        shutil.rmtree(writer.root / ".palace")
        assert writer.memories() == before


@pytest.mark.parametrize("place", ["palace/topics", LESSONS])
def test_no_link_is_written_through(writer: Writer, tmp_path: Path, place: str) -> None:
    """A topic folder or file that leads elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lessons.md").write_text("- [lesson] theirs\n")
    (writer.root / place).parent.mkdir(parents=True, exist_ok=True)
    (writer.root / place).symlink_to(elsewhere / "lessons.md" if place == LESSONS else elsewhere)
    with pytest.raises(BadInput, match="is a symbolic link"):
        writer.remember("x")
    assert os.listdir(elsewhere) == ["lessons.md"]
    assert (elsewhere / "lessons.md").read_text() == "- [lesson] theirs\n"
    assert not (writer.root / PATH).exists()


def test_an_archived_text_that_is_said_again_comes_back(writer: Writer) -> None:
    """With its id and evidence, not as a second line."""
    writer.palace.write(
        "palace/archive_basement/topics/lessons.md", f"# T\n\n- [lesson] Old one ^{A}\n"
    )
    done = writer.remember("old one")
    assert (done.memory.id, done.memory.archived) == (A, False)
    assert "it was in the archive" in done.why
    assert f"- [lesson] Old one ^{A}" in writer.text()
    assert A not in writer.text("palace/archive_basement/topics/lessons.md")
    assert [m.id for m in writer.memories()] == [A]


def test_a_clean_text_is_one_line() -> None:
    """Cleaning again changes nothing."""
    text = entries.clean(f" a\n <private>b</private>\tc {SECRET} ")
    assert entries.clean(text) == text
    assert "\n" not in text
