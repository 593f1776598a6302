"""A note is read whatever is wrong with it, and what is wrong is said with its line."""

from datetime import UTC, datetime

import pytest
from hypothesis import given

from core.generated import MODEST, bodies
from memory_palace.core.kinds import HALLS
from memory_palace.core.note import Note, note_title, parse
from memory_palace.core.problems import Problem


def note(*lines: str, body: str = "body\n") -> Note:
    """A note with these lines of metadata."""
    return parse("a.md", "---\n" + "".join(line + "\n" for line in lines) + "---\n" + body)


def test_every_key_is_read() -> None:
    """All the keys of the note format, and nothing to complain of."""
    read = note(
        "title: A title",
        "tags: [one, '#two']",
        "aliases: [First, Second]",
        "type: principle",
        "priority: high",
        "hall: hall_bugs",
        "created: 2026-11-28",
        "updated: 2026-11-29T20:15:03+01:00",
        "status: open",
        "pinned: true",
    )
    assert read.problems == ()
    assert (read.title, read.type, read.priority) == ("A title", "principle", "high")
    assert (read.tags, read.aliases) == (("one", "two"), ("First", "Second"))
    assert read.created == datetime(2026, 11, 28, tzinfo=UTC)
    assert read.updated == datetime(2026, 11, 29, 19, 15, 3, tzinfo=UTC)
    assert (read.status, read.pinned) == ("open", True)
    assert (read.body, read.body_line, read.has_metadata) == ("body\n", 13, True)


def test_without_metadata_all_is_body() -> None:
    """Nothing is known of a plain text, and nothing is wrong with it."""
    read = parse("a.md", "# H\n\ntext\n")
    assert (read.body, read.body_line, read.has_metadata) == ("# H\n\ntext\n", 1, False)
    assert (read.title, read.type, read.priority, read.tags) == (None, None, None, ())
    assert (read.created, read.pinned, read.problems) == (None, False, ())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_bom_and_crlf(bom: str, newline: str) -> None:
    """Neither hides the metadata nor gets into a value or the body's start."""
    read = parse("a.md", bom + newline.join(["---", "title: T", "tags: x", "---", "body", ""]))
    assert (read.title, read.tags, read.body, read.body_line) == ("T", ("x",), "body" + newline, 5)
    assert read.problems == ()


def test_a_bom_without_metadata_is_not_body() -> None:
    """The mark is no character of the text."""
    assert parse("a.md", "\ufeff# H\n").body == "# H\n"


@pytest.mark.parametrize("body", ["---\ntext\n---\nmore\n", "---\n", "---\n---\n"])
def test_a_body_may_start_with_a_rule(body: str) -> None:
    """After the metadata, ``---`` is a rule of the body and no second block."""
    read = note("title: T", body=body)
    assert (read.body, read.body_line) == (body, 4)


def test_broken_yaml_is_a_problem_with_its_line_and_the_body_counts() -> None:
    """The note is not lost for a fault in its metadata."""
    read = note("title: T", "tags: [a", "other: x: y")
    assert read.broken
    assert read.has_metadata
    assert (read.body, read.body_line) == ("body\n", 6)
    assert read.title is None
    (problem,) = read.problems
    assert (problem.path, problem.grade) == ("a.md", "error")
    assert problem.line in (3, 4)
    assert "mend" in problem.message


def test_a_repeated_key_is_a_problem_and_the_first_counts() -> None:
    """Both lines are named."""
    read = note("title: First", "tags: x", "title: Second")
    assert read.title == "First"
    assert not read.broken
    (problem,) = read.problems
    assert problem.line == 4
    assert "line 2" in problem.message


@pytest.mark.parametrize(
    "line",
    [
        "title: [a]",
        "title: true",
        "type: {a: b}",
        "status: [x]",
        "priority: highest",
        "priority: 1",
        "priority: [high]",
        "tags: {a: b}",
        "tags: [[a]]",
        "tags: true",
        "aliases: [{a: b}]",
        "aliases: [true]",
        "created: tomorrow",
        "created: 2026",
        "created: 2026-02-30",
        "updated: [2026-11-29]",
        "pinned: yes",
        "pinned: 1",
        "pinned: 'true'",
        "hall: kitchen",
    ],
)
def test_a_wrong_type_is_a_problem_and_the_other_keys_count(line: str) -> None:
    """The value is left out, its line and what to write are named, the rest is read."""
    key = line.split(":")[0]
    fine = "status: open" if key == "title" else "title: T"
    read = note("# comment", fine, line)
    (problem,) = read.problems
    assert (problem.line, problem.grade) == (4, "error")
    assert f"`{key}`" in problem.message
    assert "write" in problem.message
    assert (read.status if key == "title" else read.title) == fine.split(": ")[1]
    if key != "hall":
        assert getattr(read, key) in (None, (), False)


@pytest.mark.parametrize("key", ["title", "type", "priority", "status", "tags", "created", "hall"])
def test_a_key_without_a_value_is_no_problem(key: str) -> None:
    """An empty property, as Obsidian leaves them, is as good as none."""
    read = note(f"{key}:")
    assert read.problems == ()
    assert key in read.metadata
    assert not getattr(read, key, None)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("one", ("one",)),
        ("one, two,,three ,", ("one", "two", "three")),
        ("[a, a, b]", ("a", "b")),
        ("[a, ~, '', ' ']", ("a",)),
        ("2024", ("2024",)),
        ("3.10", ("3.10",)),
        ("[1.10, 007, no]", ("1.10", "007", "no")),
        ("'a: b'", ("a: b",)),
        ("[]", ()),
    ],
)
@pytest.mark.parametrize("key", ["tags", "aliases"])
def test_words(key: str, value: str, words: tuple[str, ...]) -> None:
    """A scalar is a list of one, split at commas; numbers are text as written."""
    read = note(f"{key}: {value}")
    assert getattr(read, key) == words
    assert read.problems == ()


@pytest.mark.parametrize("written", ["10:00", "no", "on", "3.10", "2026-11-29", "1e3", "0x10"])
def test_a_title_is_text_as_written(written: str) -> None:
    """Nothing turns a title into a time, a boolean or a number."""
    assert note(f"title: {written}").title == written


def test_unknown_keys_are_kept() -> None:
    """Whatever a person or another tool keeps there can be read, with its line."""
    read = note("title: T", "cssclasses: [wide]", "rating: 5", "ünï: {a: [b]}")
    assert read.metadata["cssclasses"] == ["wide"]
    assert read.metadata["rating"] == 5
    assert read.metadata["ünï"] == {"a": ["b"]}
    assert dict(read.lines) == {"title": 2, "cssclasses": 3, "rating": 4, "ünï": 5}
    assert read.problems == ()


def test_lines_end_at_line_feeds_only() -> None:
    """Other separators in the metadata do not shift the lines of what stands below them."""
    read = note("a: 'x\u2028y'", "# \x85", "priority: huge")
    assert [problem.line for problem in read.problems] == [4]


def test_the_halls_are_those_of_the_format() -> None:
    """Each of the seven is allowed."""
    assert len(HALLS) == 7
    assert all(note(f"hall: {hall}").problems == () for hall in HALLS)


def test_a_hash_in_the_text_is_no_tag() -> None:
    """``PR #123`` and its like in the body, or quoted in a title, tag nothing."""
    read = note("title: 'PR #123'", body="See PR #123 and #topic.\n")
    assert read.tags == ()
    assert read.title == "PR #123"


def test_what_to_call_a_note() -> None:
    """The written title, else the first top heading, else the file's name."""
    assert note_title(note("title: T"), "H") == "T"
    assert note_title(note("tags: x"), "H") == "H"
    assert note_title(parse("palace/topics/lessons.md", "text"), None) == "lessons"


@given(bodies(), bodies())
@MODEST
def test_any_text_is_a_note(top: str, body: str) -> None:
    """Reading never raises, and the body is always the end of the text at the line it says."""
    text = f"---\n{top}---\n{body}"
    read = parse("a.md", text)
    assert text.endswith(read.body)
    before = text[: len(text) - len(read.body)]
    assert read.body_line == before.count("\n") + 1
    assert read.broken == any("broken" in problem.message for problem in read.problems)


@pytest.mark.parametrize("written", ["superseded_by: [[b]]", 'evidence:\n  - [[b]]\n  - "[[c]]"'])
def test_a_link_without_quotes_is_pointed_at(written: str) -> None:
    """YAML reads it as lists in a list, so nothing would follow it."""
    (problem,) = note(written).problems
    assert (problem.line, problem.grade) == (2, "warning")
    assert "without quotes" in problem.message


@pytest.mark.parametrize("written", ["matrix: [[1, 2], [3, 4]]", "list: [a]", 'good: ["[[b]]"]'])
def test_lists_that_are_no_links_are_no_problem(written: str) -> None:
    """Only lists of text in a list look like a link."""
    assert note(written).problems == ()


def test_broken_is_said_by_the_parser_alone() -> None:
    """Not by what a problem's message happens to begin with."""
    fault = Problem("a.md", 1, "broken frontmatter of another kind")
    assert not Note("a.md", "", 1, True, problems=(fault,)).broken
    assert not parse("a.md", "text\n").broken
