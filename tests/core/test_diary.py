"""A day of a diary, as text."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import diary, note
from memory_palace.core.diary import Entry

DAY = datetime(2026, 11, 29, tzinfo=UTC)


def at(clock: str) -> datetime:
    """A time of the day."""
    hour, minute = clock.split(":")
    return DAY.replace(hour=int(hour), minute=int(minute))


def told(text: str) -> list[tuple[str, str]]:
    """Time and text of each entry of a day."""
    return [(one.at.strftime("%H:%M"), one.text) for one in diary.entries(text, DAY)]


def test_a_new_day_has_its_metadata_and_nothing_of_the_machine() -> None:
    """Two machines make the same file, which git can then join."""
    text = diary.new_day(at("14:03"), "claude-code")
    found = note.parse("a.md", text)
    assert (found.type, found.hall, found.created) == ("diary", "hall_diary", DAY)
    assert found.metadata["agent"] == "claude-code"
    assert found.problems == ()
    assert diary.new_day(at("23:59"), "claude-code") == text


def test_entries_stand_by_time_whatever_the_order_of_writing() -> None:
    """An entry of a clock that is behind goes where it belongs."""
    text = diary.new_day(DAY, "pi")
    for clock, said in (("14:03", "second"), ("09:00", "first"), ("14:03", "third")):
        text = diary.with_entry(text, Entry(at(clock), said, by="pi@laptop"))
    assert told(text) == [("09:00", "first"), ("14:03", "second"), ("14:03", "third")]
    assert text.endswith("## 14:03 (pi@laptop)\n\nthird\n")
    assert text.index("first") < text.index("second") < text.index("third")


def test_a_heading_says_topic_and_writer() -> None:
    """Both are read back; neither needs to be there."""
    one = Entry(at("07:05"), "said", "The cache (a part)", "pi@laptop")
    text = diary.with_entry(diary.new_day(DAY, "pi"), one)
    assert "\n## 07:05 The cache (a part) (pi@laptop)\n" in text
    (read,) = diary.entries(text, DAY)
    assert (read.topic, read.by, read.start, read.end) == (one.topic, one.by, 9, 11)
    assert diary.entries("## 7:05\n\nby hand\n", DAY)[0].at == at("07:05")


def test_what_a_person_wrote_stays() -> None:
    """Lines above the first entry, other headings, blank lines, CRLF, no last line feed."""
    mine = "Before.\r\n\r\n## Plans\r\n\r\n## 10:00\r\n\r\nten\r\n\r\n\r\n### More\r\n* x"
    text = diary.with_entry(mine, Entry(at("11:00"), "a\nb"))
    assert text == mine + "\r\n\r\n## 11:00\r\n\r\na\r\nb\r\n"
    assert told(text) == [("10:00", "ten\n\n\n### More\n* x"), ("11:00", "a\nb")]
    text = diary.with_entry(mine, Entry(at("09:00"), "nine"))
    assert told(text) == [("09:00", "nine"), ("10:00", "ten\n\n\n### More\n* x")]
    for line in mine.split("\r\n"):
        assert line in text.split("\r\n")


def test_what_git_joined_is_in_order_again() -> None:
    """A union puts one side's entries after the other's; the next entry sorts them."""
    joined = "## 11:00\n\nb1\n\n## 13:00\n\nb2\n## 10:00\n\na1\n"
    assert told(joined) == [("10:00", "a1"), ("11:00", "b1"), ("13:00", "b2")]
    text = diary.with_entry(joined, Entry(at("14:00"), "c"))
    assert text == "## 10:00\n\na1\n\n## 11:00\n\nb1\n\n## 13:00\n\nb2\n\n## 14:00\n\nc\n"


def test_headings_in_a_text_go_down() -> None:
    """The highest becomes level 3; those in code are none."""
    said = "# Done\n\n## 10:00\n\nTitle\n---\n\n```\n# a comment\n```"
    assert diary.safe(said) == "### Done\n\n#### 10:00\n\n#### Title\n\n```\n# a comment\n```"
    assert diary.safe("### Fine\n\n#### too") == "### Fine\n\n#### too"
    assert diary.safe("Of two\nlines\n===\nx") == "### Of two lines\nx"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("# a\n```\n# b", "### a\n```\n# b\n```"),
        ("~~~ x\n## 10:00", "~~~ x\n## 10:00\n~~~"),
        ("<!-- open\nx", "<!-- open\nx\n-->"),
        ("````\nfour\n```", "> ````\n> four\n> ```"),
        ("<pre>\n\nx", "> <pre>\n>\n> x"),
        ("$$\ny", "> $$\n> y"),
    ],
)
def test_what_would_swallow_the_next_entry_is_closed_or_quoted(said: str, kept: str) -> None:
    """No line of it is lost."""
    assert diary.safe(said) == kept


PIECES = st.lists(
    st.sampled_from(
        ["# a", "## 10:00", "##", "x", "", "```", "~~~", "<!--", "-->", "---", "===", "    code",
         "- item", "> q", "$$", "%%", "<pre>", "</pre>", "|a|b|", "|-|-|", "\ttab", "<div>", "1. x"]
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 1439), PIECES), min_size=1, max_size=5))
def test_no_text_breaks_the_structure(written: list[tuple[int, list[str]]]) -> None:
    """Whatever is written: as many entries as were written, by time, each with its text."""
    text = diary.new_day(DAY, "pi")
    wanted = []
    for minute, lines in written:
        kept = diary.safe("\n".join(lines))
        moment = DAY + timedelta(minutes=minute)
        text = diary.with_entry(text, Entry(moment, kept))
        wanted.append((moment.strftime("%H:%M"), kept.strip("\n")))
    assert told(text) == sorted(wanted, key=lambda one: one[0])
    assert note.parse("a.md", text).problems == ()


@pytest.mark.parametrize(
    ("clock", "said", "by", "again"),
    [
        ("14:03", "The  same\ntext", "pi@a", True),
        ("14:04", "The same text", "pi@a", True),
        ("14:05", "The same text", "pi@a", False),
        ("14:03", "Another text", "pi@a", False),
        ("14:03", "The same text", "pi@b", False),
    ],
)
def test_the_same_within_a_minute_is_one(clock: str, said: str, by: str, again: bool) -> None:
    """By the same writer; a minute later it is another entry."""
    there = [Entry(at("14:03"), "The same text", by="pi@a")]
    assert diary.is_again(Entry(at(clock), said, by=by), there) is again


def test_a_topic_fits_a_heading() -> None:
    """One line, no marks at its ends, nothing that reads as a writer."""
    assert diary.topic("  ## The\ncache ##") == "The cache"
    assert diary.topic("Cache (pi@laptop) (pi@laptop)") == "Cache"
    assert len(diary.topic("word " * 50)) <= diary.LONGEST_TOPIC


def test_only_a_days_name_is_a_day() -> None:
    """Other notes may lie in the folder."""
    assert diary.day_of("palace/chambers/pi/diary/2026-11-29.md") == DAY
    assert diary.name_of(at("23:59")) == "2026-11-29.md"
    for name in ("2026-02-30.md", "2026-11-29.txt", "notes.md", "2026-11-29-more.md"):
        assert diary.day_of(name) is None


@pytest.mark.parametrize("left_open", ["```\ncode", "~~~\ncode", "<!-- a remark", "- ```\n  code"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_a_hand_left_open_swallows_no_entry(left_open: str, ending: str) -> None:
    """It is closed above the new entry; the same again is still known, and no line is lost."""
    text = f"{diary.new_day(DAY, 'pi')}\n## 09:00\n\n{left_open}\n\n## 10:00\n"
    text = text.replace("\n", ending)
    one = Entry(at("14:03"), "said", by="pi@laptop")
    made = diary.with_entry(text, one)
    entries = diary.entries(made, DAY)
    assert [entry.at for entry in entries][-1] == one.at and entries[-1].text == "said"
    assert diary.is_again(one, entries)
    assert [line for line in text.split(ending) if line not in made.split(ending)] == []
    assert ("\r\n" in made) == (ending == "\r\n") and "\n\n\n" not in made


def test_what_cannot_be_closed_is_an_error() -> None:
    """A fence of five ticks takes whatever follows."""
    text = f"{diary.new_day(DAY, 'pi')}\n`````\n"
    with pytest.raises(ValueError, match="would swallow the entry"):
        diary.with_entry(text, Entry(at("14:03"), "said"))
