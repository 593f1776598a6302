"""The record of a contradiction."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import conflicts, note
from memory_palace.core.conflicts import Record, Side
from memory_palace.core.errors import BadInput
from support.palaces import REPOSITORY

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
PATH = "palace/conflict_room/tokens.md"
A = Side("Cuts at 512 tokens", "topics/lessons#^34652cf6ff64")
B = Side("Takes 2,048\nand no more", "project_rooms/demo/limits")


def record(a: Side = A, b: Side = B, **more: object) -> Record:
    """A new record of two sides."""
    return Record(PATH, "Tokens: 512", "open", "value", a, b, NOW, "pi@laptop", **more)  # type: ignore[arg-type]


def test_a_record_is_read_back_as_it_was_written() -> None:
    """Title, status, kind, claims, sources, evidence."""
    made = record(evidence=("[[compound-score]]",))
    read = conflicts.parse(PATH, conflicts.render(made, "different values"))
    assert (read.title, read.status, read.kind, read.agent) == (
        made.title,
        "open",
        "value",
        "pi@laptop",
    )
    assert (read.a, read.b, read.evidence, read.created) == (A, B, made.evidence, NOW)
    assert (read.is_open, read.problems, read.decision) == (True, (), "Open.")


def test_the_metadata_is_that_of_a_conflict() -> None:
    """Type and hall as the house has them; the reason stands under Evidence."""
    text = conflicts.render(record(), "different values: 512 and 2,048")
    read = note.parse(PATH, text)
    assert (read.type, read.hall, read.problems) == ("conflict", "hall_decisions", ())
    assert "\n## Evidence\n\n- different values: 512 and 2,048\n" in text


def test_the_shipped_record_parses() -> None:
    """A person wrote it: no kind, no sources, no winner."""
    path = "palace/conflict_room/mtime-or-written-date.md"
    read = conflicts.parse(path, (REPOSITORY / path).read_text())
    assert (read.status, read.winner, read.a.key, read.problems) == ("decided", "", "", ())
    assert read.a.text.startswith("The age of a note is the modification time")
    assert read.decision.startswith("B where there is a date")
    assert not read.is_about("", "")


def test_what_is_wrong_in_a_record_is_a_problem() -> None:
    """An unknown status or kind, and a claim that is not there; the status counts as open."""
    text = "---\ntype: conflict\nstatus: opne\nkind: valeu\n---\n# X\n\n## Claim A\n\na\n"
    read = conflicts.parse(PATH, text)
    assert read.is_open
    assert [problem.message.split(":")[0] for problem in read.problems] == [
        "`status` is 'opne'",
        "`kind` is 'valeu'",
        "has no section `## Claim B`",
    ]


def test_a_decision_stands_in_metadata_and_text() -> None:
    """Who, when, winner and loser; all else stays as it was."""
    text = conflicts.render(record(), "why").replace("status:", "mine: kept\nstatus:")
    after = conflicts.decide(text, B, A, "B", "Ann", NOW, "it was measured")
    read = conflicts.parse(PATH, after)
    assert (read.status, read.decided_by, read.decided) == (
        "decided",
        "Ann",
        "2026-11-29T12:00:00Z",
    )
    assert (read.winner, read.loser) == (B.source, A.source)
    assert read.decision == "B. it was measured\n\nDecided by Ann on 2026-11-29."
    assert (read.a, read.b, "\nmine: kept\n" in after) == (A, B, True)


def test_what_a_person_wrote_under_decision_stays() -> None:
    """The decision goes below it, above the next section; without a section one is made."""
    text = "# X\n\n## Decision\n\nThoughts.\n\n## After\n\nMore.\n"
    after = conflicts.decide(text, A, B, "A", "Ann", NOW, "so")
    body = note.parse(PATH, after).body
    assert "Thoughts.\n\nA. so\n\nDecided by Ann on 2026-11-29.\n\n## After\n\nMore.\n" in body
    assert conflicts.decide("# X", Side("a"), Side("b"), "A", "Ann", NOW, "so").count("claim ") == 2


def test_line_endings_stay() -> None:
    """A file with CRLF keeps it in every line."""
    text = conflicts.render(record(), "why").replace("\n", "\r\n")
    after = conflicts.decide(text, A, B, "A", "Ann", NOW, "so")
    assert after.count("\n") == after.count("\r\n")
    assert conflicts.parse(PATH, after).decision.replace("\r", "").startswith("A. so")


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("topics/lessons#^34652cf6ff64", "^34652cf6ff64"),
        ("project_rooms/demo/limits", "palace/project_rooms/demo/limits.md"),
        ("palace/topics/a.md", "palace/topics/a.md"),
        ("palace/topics/a|shown", "palace/topics/a.md"),
        ("fact f1", "fact f1"),
        ("", ""),
    ],
)
def test_a_source_means_an_entry_a_note_or_a_fact(source: str, key: str) -> None:
    """However the link is written."""
    assert conflicts.key_of(source) == key


def test_a_pair_is_known_in_any_order() -> None:
    """By its two sources."""
    assert record().is_about(B.key, A.key)
    assert not record().is_about(A.key, A.key)


def test_a_link_joins_those_that_are_there() -> None:
    """One is text, several are a list; the same link again changes nothing."""
    bare = conflicts.with_link("# X\n", "palace/a.md", "supersedes", "old")
    assert note.parse("palace/a.md", bare).metadata["supersedes"] == "[[old]]"
    two = conflicts.with_link(bare, "palace/a.md", "supersedes", "topics/x#^1")
    assert note.parse("palace/a.md", two).metadata["supersedes"] == ["[[old]]", "[[topics/x#^1]]"]
    three = conflicts.with_link(two, "palace/a.md", "supersedes", "b")
    assert len(note.parse("palace/a.md", three).metadata["supersedes"]) == 3
    assert conflicts.with_link(three, "palace/a.md", "supersedes", "old") == three
    assert conflicts.linked(three, "palace/a.md", "supersedes") == ("old", "topics/x#^1", "b")
    with pytest.raises(BadInput, match=r"palace/a\.md: broken frontmatter"):
        conflicts.with_link("---\na: [\n---\n", "palace/a.md", "supersedes", "old")


def test_a_quotation_has_no_block_ids_and_whole_links() -> None:
    """An id would be there twice, and a link into the same note would lead into the record."""
    text = "- one ^abc\n- see [[#Top]] ^def"
    quoted = conflicts.quotable("palace/a/b.md", text)
    assert quoted == "- one\n- see [[a/b#Top]]"


def test_a_title_is_made_of_the_first_words() -> None:
    """Without marks; cut where it is long."""
    assert conflicts.title_of("Use **tabs**.", "Use [[spaces]]") == "Use tabs or Use spaces"
    assert conflicts.title_of("one two three four five six seven eight", "") == (
        "one two three four five six seven… or nothing"
    )
    assert conflicts.title_of("a", "a") == "a"


VERBATIM = st.text(st.sampled_from("ab`~#>-= \n\t\r[]^|&<"), max_size=60)


@given(VERBATIM, VERBATIM)
def test_the_sides_of_a_merge_are_kept_word_for_word(one: str, other: str) -> None:
    """Fences, headings and links in them do nothing to the record."""
    a, b = (Side(text, "project_rooms/x", "lines 2-6, HEAD", True) for text in (one, other))
    read = conflicts.parse(PATH, conflicts.render(record(a, b), ""))
    assert (read.a, read.b) == (a, b)


@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_record(text: str) -> None:
    """It never raises."""
    assert conflicts.parse(PATH, text).status in conflicts.STATUSES
