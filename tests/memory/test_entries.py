"""Memories of one line: remembered, reinforced, pinned, forgotten, edited."""

import math
from pathlib import Path

import pytest

from memory.writing import DAY, LESSONS, NOW, SECRET, A, B, Writer, same
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.events import PATH
from memory_palace.core.topics import entry_id
from memory_palace.embed import registry
from memory_palace.files import config as configs
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """A palace without an embedder."""
    return Writer(tmp_path / "root")


def test_a_new_memory(writer: Writer) -> None:
    """A line with its id at the end of its file, one event, and how it stands."""
    done = writer.remember("Run the tests", source="[[note]]")
    key = entry_id("lesson", "Run the tests")
    assert (done.what, done.why) == ("remembered", "the first of its category")
    assert (done.memory.id, done.memory.path, done.memory.evidence) == (key, LESSONS, 1)
    assert done.memory.strength == pytest.approx(math.log(2))
    assert writer.text().endswith(f"\n- [lesson] Run the tests ^{key}\n")
    [event] = writer.events()
    assert (event.event, event.id, event.at) == ("remembered", key, NOW)
    assert dict(event.data) == {
        "category": "lesson",
        "text": "Run the tests",
        "cue": "explicit",
        "path": LESSONS,
        "source": "[[note]]",
    }
    same(writer, done)


@pytest.mark.parametrize(
    "again", ["Run the tests", "run  the TESTS.", "\nRun the\ttests\n", "Run the tests   "]
)
def test_an_equal_text_is_reinforced(writer: Writer, again: str) -> None:
    """Whatever its case, spaces or full stop; the line stays as it is."""
    writer.remember("Run the tests", cue="behavioral")
    before = writer.text()
    done = writer.remember(again, cue="structural")
    assert (done.what, done.why, done.memory.evidence) == ("reinforced", "the same text", 2)
    assert done.memory.cue == "structural"
    assert writer.text() == before
    assert writer.kinds() == ["remembered", "reinforced"]
    same(writer, done)


def test_the_same_text_in_another_category_is_another_memory(writer: Writer) -> None:
    """A lesson is no decision."""
    assert writer.remember("x y").memory.id != writer.remember("x y", "decision").memory.id
    assert [m.evidence for m in writer.memories()] == [1, 1]


def test_what_is_near_is_reinforced(tmp_path: Path) -> None:
    """From a cosine of 0.90 on, in its category only; a new line names the nearest."""
    writer = Writer(tmp_path / "root", fake_choice(FakeEmbedder(4096)))
    first = writer.remember("amber birch cedar delta ember fjord grove heath islet")
    near = writer.remember("amber birch cedar delta ember fjord grove heath islet jetty")
    assert (near.what, near.memory.id) == ("reinforced", first.memory.id)
    assert near.why.startswith("cosine 0.9")
    assert (
        writer.remember("amber birch cedar delta ember fjord grove heath islet jetty", "done").what
        == "remembered"
    )
    far = writer.remember("amber birch cedar knoll ledge")
    assert (far.what, f"the nearest is ^{first.memory.id} at 0." in far.why) == ("remembered", True)
    same(writer, far)


def test_what_says_the_same_in_other_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real embedded model; not what denies it, nor another number."""
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    root = Palace(tmp_path / "root").root
    writer = Writer(root, registry.choose(configs.load(root)))
    first = writer.remember("Always run the database migrations before the tests")
    again = writer.remember("Always run database migrations before tests")
    assert (again.what, again.memory.id) == ("reinforced", first.memory.id)
    assert (
        writer.remember("Never run the database migrations before the tests").what == "remembered"
    )
    writer.remember("The session token lives for 15 minutes", "decision")
    assert (
        writer.remember("The session token lives for 60 minutes", "decision").what == "remembered"
    )


@pytest.mark.parametrize(
    "text",
    ["", "  \n\t", "<private>x</private>", "< PRIVATE >x", " <private>a</private> <private>b"],
)
def test_nothing_is_no_memory(writer: Writer, text: str) -> None:
    """Nor what is private as a whole."""
    writer.refused(BadInput, "nothing was remembered", "remember", text)


@pytest.mark.parametrize(
    "text", ["x ^abc", "x *(pinned)*", "x *(enforced)*", "x *(pinned)* ^a1", "x\n^abc"]
)
def test_a_text_that_ends_like_a_mark_is_refused(writer: Writer, text: str) -> None:
    """It would be read as an id, or a pin; also in an edit."""
    writer.refused(BadInput, "like a mark of an entry", "remember", text)
    key = writer.remember("y").memory.id
    writer.refused(BadInput, "like a mark of an entry", "edit", key, text)


@pytest.mark.parametrize("text", ["caf\udce9", "\ud800", "a\0b"])
def test_a_text_that_no_file_can_hold_is_refused(writer: Writer, text: str) -> None:
    """It would make the whole file unreadable."""
    writer.refused(BadInput, "write it as UTF-8", "remember", text)


@pytest.mark.parametrize(
    "text",
    [
        "^abc",
        "*(pinned)*",
        "[x] y",
        "- x",
        "``` x",
        "---",
        "#",
        "x <!-- y",
        "\u202ex",
        "a\x1bb",
        "宮殿 \N{CASTLE}",
        "a | b \\ $c",
    ],
)
def test_any_other_text_comes_back(writer: Writer, text: str) -> None:
    """As it was said."""
    done = writer.remember(text)
    assert [memory.text for memory in writer.memories()] == [done.memory.text] == [text]
    same(writer, done)


def test_private_spans_and_secrets_are_taken_out(writer: Writer) -> None:
    """Of text, source and edit: they are in no file."""
    done = writer.remember(
        f"the token <private>of Ann</private> is {SECRET}",
        source=f"a <private>b</private> {SECRET}",
    )
    assert "[PRIVATE]" in done.memory.text and "[SECRET" in done.memory.text
    writer.do("edit", done.memory.id, f"new <private>of Bob</private> {SECRET}")
    writer.do("reinforce", done.memory.id, "explicit", f"<private>at home</private> {SECRET}")
    for place in writer.root.rglob("*"):
        if place.is_file():
            data = place.read_bytes()
            for word in (b"Ann", b"Bob", b"at home", SECRET.encode(), b"<private>"):
                assert word not in data, place


def test_line_feeds_become_spaces(writer: Writer) -> None:
    """A memory is one line."""
    assert writer.remember("a\n- [lesson] b\r\n\u2028c").memory.text == "a - [lesson] b c"
    assert len(writer.memories()) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_what_changes_in_a_file_changes(writer: Writer, newline: str) -> None:
    """Comments, blank lines, order and line ends of others stay."""
    head = newline.join(
        ["\ufeff---", "title: x # comment", "---", "# T", "", f"* [lesson] a ^{A}", "", "text"]
    )
    writer.palace.write(LESSONS, head)
    key = writer.remember("b").memory.id
    assert writer.text() == f"{head}{newline}- [lesson] b ^{key}{newline}"
    writer.do("pin", A)
    expected = head.replace("* [lesson] a", "- [lesson] a *(pinned)*")
    assert writer.text() == f"{expected}{newline}- [lesson] b ^{key}{newline}"
    writer.do("unpin", A)
    writer.do("edit", A, "new")
    assert (
        writer.text()
        == f"{head.replace('* [lesson] a', '- [lesson] new')}{newline}- [lesson] b ^{key}{newline}"
    )


def test_pin_and_unpin(writer: Writer) -> None:
    """Twice is once; the marks are in the line; `--pin` at once."""
    key = writer.remember("x", pin=True).memory.id
    assert writer.kinds() == ["remembered", "pinned"]
    assert f"x *(pinned)* ^{key}" in writer.text()
    assert writer.do("pin", key).what == "pinned already"
    done = writer.do("unpin", f"^{key}")
    assert (done.what, done.memory.pinned) == ("unpinned", False)
    same(writer, done)
    assert writer.do("unpin", key).what == "unpinned already"
    assert writer.kinds() == ["remembered", "pinned", "unpinned"]
    assert writer.remember("x", pin=True).memory.pinned
    assert writer.kinds() == ["remembered", "pinned", "unpinned", "pinned", "reinforced"]


def test_forget(writer: Writer) -> None:
    """Strength 0, the line stays; what comes up again is back; what is pinned stays."""
    key = writer.remember("x").memory.id
    before = writer.text()
    done = writer.do("forget", key)
    assert (done.memory.strength, done.memory.lifecycle) == (0.0, "dropped")
    assert writer.text() == before
    same(writer, done)
    assert writer.do("forget", key).what == "forgotten already"
    again = writer.remember("x")
    assert (again.memory.forgotten, again.memory.evidence) == (False, 2)
    writer.do("pin", key)
    writer.refused(Refused, f"run `palace unpin {key}` first", "forget", key)
    writer.palace.write(LESSONS, f"- [lesson] x *(enforced)* ^{key}\n")
    writer.refused(Refused, "enforced by a rule", "forget", key)


def test_edit(writer: Writer) -> None:
    """The id and the evidence stay; both texts are in the event; twice is once."""
    key = writer.remember("x").memory.id
    writer.do("reinforce", key)
    done = writer.do("edit", key, "  quite\nnew ")
    assert (done.memory.id, done.memory.text, done.memory.evidence) == (key, "quite new", 2)
    same(writer, done)
    assert dict(writer.events()[-1].data) == {"text": "quite new", "before": "x"}
    assert writer.do("edit", key, "quite new").what == "edited already"
    other = writer.remember("other").memory.id
    writer.refused(
        Refused, rf"^\^{key} \({LESSONS}:\d+\) says that already", "edit", other, "QUITE new"
    )
    anew = writer.remember("x")
    assert anew.what == "remembered" and anew.memory.id == entry_id("lesson", "x", 1)


@pytest.mark.parametrize("what", ["reinforce", "pin", "unpin", "forget"])
def test_ids_are_not_guessed(writer: Writer, what: str) -> None:
    """Unknown, of two lines, archived: refused, with what to do."""
    writer.palace.write(LESSONS, f"- [lesson] x ^{A}\n- [lesson] y ^{B}\n")
    writer.palace.write("palace/topics/more.md", f"- [lesson] z ^{A}\n")
    writer.palace.write(
        "palace/archive_basement/topics/lessons.md", "- [lesson] old ^cccccccccccc\n"
    )
    writer.refused(Refused, f"did you mean {B}", what, B[:-1])
    writer.refused(Refused, f"{LESSONS}:1 and palace/topics/more.md:1", what, A)
    writer.refused(Refused, "run `palace restore cccccccccccc` first", what, "cccccccccccc")


def test_pinned_by_hand_after_it_was_let_go(tmp_path: Path) -> None:
    """The mark of a person is the later word: active again, and never cold."""
    writer = Writer(tmp_path / "p")
    key = writer.remember("one").memory.id
    writer.do("forget", key)
    place = writer.root / LESSONS
    place.write_text(place.read_text().replace(f" ^{key}", f" *(pinned)* ^{key}"))
    [memory] = writer.memories()
    assert (memory.lifecycle, memory.is_cold(NOW + 900 * DAY)) == ("active", False)
    assert memory.strength > 0.6


def test_a_line_by_hand_takes_no_secret_into_the_log(tmp_path: Path) -> None:
    """Nothing can be taken out of it again: also what an edit replaced is redacted."""
    writer = Writer(tmp_path / "p")
    writer.palace.write(LESSONS, f"- [lesson] the key is {SECRET} <private>mine</private> ^{A}\n")
    writer.do("edit", A, "the key is in the vault")
    log = (writer.root / PATH).read_text()
    assert "the key is [SECRET: GitHub token] [PRIVATE]" in log
    assert SECRET not in log and "mine" not in log
