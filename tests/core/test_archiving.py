"""Places in the archive, its metadata, and what is cold."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST, Frontmatter, bodies, frontmatters, notes
from memory_palace.core import archiving, frontmatter, note
from memory_palace.core.archiving import Planned
from memory_palace.core.errors import BadInput
from memory_palace.core.memories import Memory

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
KEYS = ("2026-11-29", "palace/r/x.md", "not used: since # May")


def memory(days: float, category: str = "lesson", **changes: object) -> Memory:
    """A memory that was reinforced so many days ago."""
    then = NOW - timedelta(days=days)
    found = Memory(
        id="a" * 12,
        category=category,
        text="x",
        path="palace/topics/lessons.md",
        line=1,
        cue="explicit",
        evidence=1,
        strength=0.5,
        lifecycle="active",
        pinned=False,
        enforced=False,
        created=then,
        reinforced=then,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def test_the_archive_mirrors_the_palace() -> None:
    """Every place has one of its own, and back."""
    assert archiving.place("palace/r/x.md") == "palace/archive_basement/r/x.md"
    assert archiving.mirrored("palace/archive_basement/r/x.md") == "palace/r/x.md"


@pytest.mark.parametrize(
    "said",
    [
        "palace/../etc/x.md",
        "/palace/x.md",
        "x.md",
        "palace/archive_basement/x.md",
        "palace/r/archive_basement/x.md",
        "palace//x.md",
        "palace/./x.md",
        "palace/.git/x.md",
        "palace/x",
        "palace/",
        "palace\\x.md",
        "palace/a\\..\\x.md",
        "palace/a\nb.md",
        "",
        3,
        None,
        ["palace/x.md"],
    ],
)
def test_a_place_that_no_note_can_have_is_not_believed(said: object) -> None:
    """Whoever wrote `archived_from`, nothing is restored outside the palace."""
    path = "palace/archive_basement/r/y.md"
    assert archiving.origin(path, {"archived_from": said}) == "palace/r/y.md"


def test_where_a_note_says_it_came_from_counts() -> None:
    """A second name, or a note that was moved in the archive."""
    path = "palace/archive_basement/r/y-2.md"
    assert archiving.origin(path, {"archived_from": "palace/r/y.md"}) == "palace/r/y.md"


def test_a_taken_name_gets_a_number() -> None:
    """The first that is free."""
    taken = {"palace/a.md", "palace/a-2.md"}
    assert archiving.free_name("palace/a.md", taken.__contains__) == "palace/a-3.md"
    assert archiving.free_name("palace/b.md", taken.__contains__) == "palace/b.md"


@MODEST
@given(
    st.one_of(notes(), bodies(), st.sampled_from(["", "\ufeff", "---\n---\n", "---\r\n---\r\nx"]))
)
def test_archive_then_restore_is_the_identity(text: str) -> None:
    """No metadata, none that is read, a byte order mark, no last line feed."""
    _and_back(text)


@MODEST
@given(frontmatters())
def test_archive_then_restore_is_the_identity_on_odd_metadata(made: Frontmatter) -> None:
    """Comments, quoting, flow, literals, line ends."""
    _and_back(made.text)


def _and_back(text: str) -> None:
    try:
        cold = archiving.stamped(text, *KEYS)
    except BadInput:
        return  # broken, or too intricate: it is left where it is
    metadata = note.parse("palace/x.md", cold).metadata
    assert [metadata[key] for key in archiving.KEYS] == list(KEYS)
    assert archiving.is_stamped(cold)
    assert cold.endswith(text[frontmatter.split(text).body_at :])
    assert archiving.unstamped(cold) == text


@pytest.mark.parametrize(
    "text", ["---\n---\nx", "---\r\n...\r\n", "\ufeff---  \n---", "---\n\n---\n"]
)
def test_an_empty_block_of_the_notes_own_stays(text: str) -> None:
    """Only a block that archiving made goes away again."""
    assert archiving.unstamped(archiving.stamped(text, *KEYS)) == text


def test_a_block_that_got_other_keys_in_the_archive_stays() -> None:
    """Somebody gave the archived note a title."""
    cold = archiving.stamped("x", *KEYS).replace("---\nx", "title: T\n---\nx")
    assert archiving.unstamped(cold) == "---\ntitle: T\n---\nx"


def test_what_has_no_key_is_not_stamped() -> None:
    """A note with other metadata, none, or an empty key; broken metadata is left alone."""
    assert not any(
        map(archiving.is_stamped, ["", "x", "---\na: 1\n---\n", "---\narchived:\n---\n"])
    )
    assert archiving.is_stamped("---\na: [\n---\n")


def kinds(*memories: Memory) -> list[tuple[str, str]]:
    """(kind, id) of what is planned."""
    numbered = [replace(m, id=f"{n:012x}", line=n + 1) for n, m in enumerate(memories)]
    return [(item.kind, item.id[-4:]) for item in archiving.cold(numbered, NOW)]


def test_a_topic_is_cold_after_two_half_lives() -> None:
    """Not on the very day, and not if anything in it is younger."""
    assert kinds(memory(120.5), memory(300)) == [("topic", "s.md")]
    assert kinds(memory(120)) == []
    assert kinds(memory(119), memory(300)) == [("entry", "0001")]


def test_nothing_cold_leaves_a_topic_as_a_whole_while_one_entry_is_safe() -> None:
    """Pinned or enforced: that one stays, the others go one by one."""
    assert kinds(memory(300, pinned=True), memory(300)) == [("entry", "0001")]
    assert kinds(memory(300, enforced=True), memory(300)) == [("entry", "0001")]
    assert kinds(memory(300, pinned=True)) == []


def test_the_longest_half_life_of_a_mixed_topic_counts() -> None:
    """A mistake is cold after 28 days, but the lesson beside it is not."""
    assert kinds(memory(100, "mistake"), memory(110)) == [("entry", "0000")]
    assert kinds(memory(130, "mistake"), memory(130)) == [("topic", "s.md")]


def test_forgotten_entries_go_and_keep_no_topic_warm() -> None:
    """A topic of forgotten entries alone keeps its file."""
    assert kinds(memory(1, forgotten=True)) == [("entry", "0000")]
    assert kinds(memory(1, forgotten=True), memory(1)) == [("entry", "0000")]
    assert kinds(memory(1, forgotten=True), memory(130)) == [("topic", "s.md")]


def test_a_plan_says_why() -> None:
    """Days, or that it was forgotten."""
    (item,) = archiving.cold([memory(130.2)], NOW)
    assert item.reason == "nothing in it reinforced for 130 days"
    assert (item.days, item.strength) == (pytest.approx(130.2), 0.5)
    (item,) = archiving.cold([memory(1, forgotten=True)], NOW)
    assert (item.reason, item.target) == ("forgotten", "palace/archive_basement/topics/lessons.md")


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("palace/topics/lessons.md", "topics"),
        ("palace/project_rooms/demo/sessions/x.md", "project_rooms/demo"),
        ("palace/project_rooms/x.md", "project_rooms"),
        ("palace/chambers/pi/diary/2026-11-29.md", "chambers/pi"),
        ("palace/reflection_wing/rules/x.md", "reflection_wing"),
        ("palace/x.md", ""),
    ],
)
def test_rooms(path: str, room: str) -> None:
    """Each project and each agent has a room of its own."""
    assert archiving.room(path) == room


def test_more_than_a_quarter_of_a_room_is_a_sweep() -> None:
    """Not a quarter, and not in a room of three."""

    def planned(path: str, **fields: object) -> Planned:
        return Planned("note", path, path, archiving.place(path), "", **fields)  # type: ignore[arg-type]

    items = [planned("palace/a/1.md"), planned("palace/a/2.md"), planned("palace/b/1.md")]
    items.append(planned("palace/a/3.md", half=True))
    entries = [archiving.single(memory(200), NOW)]
    found = archiving.sweeps([*items, *entries], 4, {"a": 8, "b": 3})
    assert found == ()
    found = archiving.sweeps([*items, *entries, *entries], 5, {"a": 7, "b": 3})
    assert [str(sweep) for sweep in found] == [
        "2 of 5 entries in palace/topics",
        "2 of 7 notes in palace/a",
    ]
