"""A session as a note: names, headings, and turns that cannot break it."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import frontmatter, markdown, note, session_notes, session_turns
from memory_palace.core.transcripts import About, Turn
from memory_palace.session import words

AT = datetime(2026, 11, 29, 14, 3, tzinfo=UTC)
KEY = "5feceb66ffc8"
DAY = "2026-11-29"
PIECES = st.sampled_from(
    [
        *"# a,## 09:00 User,```,~~~,<!--,-->,<div>,$$,%%,---,===,> q,- x,    code,text,".split(","),
        *("\t", "^0123456789ab", "[[x]]", "</div>", "`", "| a |", "|-|"),
    ]
)


def turn(role: str, at: datetime | None = AT, failed: bool = False) -> Turn:
    """A turn without a text, which is given apart."""
    return Turn(1, 0, "r", role, "", at, failed=failed)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.lists(PIECES, min_size=1, max_size=8), min_size=1, max_size=4))
def test_whatever_is_said_turns_stay_turns(texts: list[list[str]]) -> None:
    """Headings of the two top levels are those of turns, in order, and each id counts once."""
    made = head = "---\ntitle: x\n---\n\n"
    for number, pieces in enumerate(texts):
        role = ("user", "assistant", "tool")[number % 3]
        key = f"{number:012x}"
        text = "\n".join(pieces)
        made += session_notes.turn(turn(role), text, key, DAY, "user") + "\n"
    blocks = markdown.read(made.removeprefix(head)).blocks
    tops = [block.heading for block in blocks if block.kind == "heading" and block.level <= 2]
    assert tops == [
        ("14:03 User", "14:03 Assistant", "14:03 Assistant")[n % 3] for n in range(len(texts))
    ]
    ids = markdown.read(made.removeprefix(head)).block_ids
    assert [one for one in ids if one.startswith("00000000")] == [
        f"{n:012x}" for n in range(len(texts))
    ]


@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(PIECES, max_size=6))
def test_what_is_added_stands_below_any_note(pieces: list[str]) -> None:
    """Whatever a hand left open at its end; the note before it is there byte for byte."""
    before = "---\ntitle: x\n---\n" + "\n".join(pieces)
    added = session_notes.turn(turn("user"), "Light it.", KEY, DAY, "")
    after = session_notes.appended(before, added)
    assert after.startswith(before)
    found = markdown.read(after[frontmatter.split(after).body_at :]).blocks
    assert "14:03 User" in [one.heading for one in found if one.kind == "heading"]


def test_headings_say_when() -> None:
    """The time of the day; the date too on another day than the note's; neither without one."""
    assert session_notes.turn(turn("user"), "x", KEY, DAY, "").startswith("## 14:03 User\n")
    other = session_notes.turn(turn("user"), "x", KEY, "2026-11-28", "")
    assert other.startswith("## 2026-11-29 14:03 User\n")
    assert session_notes.turn(turn("user", None), "x", KEY, DAY, "").startswith("## User\n")


def test_a_tool_stands_below_the_agent() -> None:
    """Under a heading of its own only where a person spoke last; a failed one says so."""
    alone = session_notes.turn(turn("tool"), "$ ls", KEY, DAY, "user")
    assert alone == f"## 14:03 Assistant\n\n*Tool:*\n\n```text\n$ ls\n```\n\n^{KEY}\n"
    failed = session_notes.turn(turn("tool", failed=True), "a\n````\nb", KEY, DAY, "tool")
    assert failed == f"*Tool, failed:*\n\n`````text\na\n````\nb\n`````\n\n^{KEY}\n"


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("\n\n# Light the lamp\nplease", "Light the lamp"),
        ('"Light the lamp"', "Light the lamp"),
        ("> see [[the lamp]]", "see the lamp"),
        ("- ## Light it\n- Go", "Light it"),
        ("> 1. Light 2. the lamp - now", "Light 2. the lamp - now"),
        ("--force is no option", "--force is no option"),
        ("3.5 litres of oil", "3.5 litres of oil"),
        ("---\n1.\n- \nx", "x"),
        ("???", ""),
        ("", ""),
    ],
)
def test_titles(prompt: str, title: str) -> None:
    """The first line with a word in it, without marks."""
    assert session_notes.title(prompt) == title


def test_a_title_is_cut() -> None:
    """A long prompt gives a short title."""
    title = session_notes.title("lamp " * 200)
    assert len(title) <= session_notes.LONGEST_TITLE
    assert title.endswith("…")


def test_names() -> None:
    """Day, first prompt, session, part; and what a name says is read again."""
    key = session_notes.session_id("pi", "5e1f", "")
    name = session_notes.name(DAY, "Light the lamp!", key)
    assert name == f"2026-11-29-light-the-lamp-{key}.md"
    assert session_notes.named(name) == (key, 1)
    part = session_notes.name(DAY, "", key, 12)
    assert part == f"2026-11-29-session-{key}-part-12.md"
    assert session_notes.named(part) == (key, 12)
    assert session_notes.named("2026-11-29-notes.md") is None
    assert key != session_notes.session_id("pi", "5e1f", "agent")


def test_how_many_turns_stand_there() -> None:
    """What a tool shows is none of them; what stands between two tools is."""
    call = turn("tool")
    shown = f"x\n^{KEY}\n```\n^{1:012x}"
    made = [
        session_notes.turn(call, shown, f"{2:012x}", DAY, "user"),
        session_notes.turn(turn("user"), "Why?", f"{3:012x}", DAY, "tool"),
        session_notes.turn(call, shown, f"{4:012x}", DAY, "user"),
    ]
    for text in ("\n".join(made), "\n".join(made).replace("\n", "\r\n")):
        assert session_notes.standing(text) == 3
        assert len(session_notes.ids(text)) == 5


def test_the_title_of_a_part() -> None:
    """Is that of the session, also where it is made of another part's."""
    assert session_notes.title_of_part("Light it", 1) == "Light it"
    assert session_notes.title_of_part("Light it (part 2)", 3) == "Light it (part 3)"


def test_a_clients_id_has_a_bound() -> None:
    """On one line, and still its own."""
    first, second = (session_turns.named("x" * 500 + end) for end in ("\na", "\nb"))
    assert first != second
    assert len(first) <= session_turns.LONGEST_NAME
    assert session_turns.named(" a\n b ") == "a b"


def test_the_head_is_read_again() -> None:
    """Text that looks like YAML stays text; empty keys are left out."""
    values = {"title": "no: --- [x]", "source_id": "123456789012", "agent": "", "tags": []}
    told = note.parse("a.md", session_notes.head(values)).metadata
    assert told == {"title": "no: --- [x]", "source_id": "123456789012"}


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("\n## 14:03 User\n\nx", "user"),
        ("\n## 2026-11-29 14:03 Assistant\n\n*Tool:*", "assistant"),
        ("\n## Assistant\n", "assistant"),
        ("\n## 14:03 User (back to 13:00)\n", "user"),
        ("\n## 14:03 User\n\n## My notes\n", ""),
        ("", ""),
    ],
)
def test_the_last_role(text: str, role: str) -> None:
    """Of the last heading, if it is a turn's."""
    assert session_notes.last_role(text) == role


def test_ids_are_those_of_this_client_and_session() -> None:
    """The same turn has the same id; a ref that comes twice has two."""
    about = About("pi", "5e1f")
    said = Turn(1, 0, "ref", "user", "Light it.", AT)
    keeper = session_turns.Keeper(about, "5e1f", "")
    ids = [keeper.id(said), keeper.id(said)]
    assert len(set(ids)) == 2
    again = session_turns.Keeper(about, "5e1f", "").id(said)
    assert again == ids[0]
    assert re.fullmatch("[0-9a-f]{12}", again)


def test_a_blocked_call_is_left_out() -> None:
    """What our own rules said of it is no part of the session."""
    assert session_turns.BLOCKED == words.BLOCKED
    call = Turn(1, 0, "r", "tool", f"{words.BLOCKED} x", AT, tool="Bash", command="rm -r /")
    keeper = session_turns.Keeper(About("pi", "5e1f"), "5e1f", "")
    assert keeper.kept(call) is None
    shown = Turn(2, 1, "s", "tool", "line\n" * 50 + words.BLOCKED, AT, tool="Bash", command="make")
    assert keeper.kept(shown) is not None


def test_a_long_output_is_bounded() -> None:
    """With a mark for what is gone; a long text of a person keeps far more."""
    keeper = session_turns.Keeper(About("pi", "5e1f"), "5e1f", "")
    tool = keeper.kept(Turn(1, 0, "r", "tool", "word " * 9_000, AT, tool="Bash", command="make"))
    assert tool is not None
    assert len(tool.text) <= session_turns.MOST_SHOWN
    assert tool.shortened
    said = keeper.kept(Turn(2, 1, "s", "user", "word " * 9_000, AT))
    assert said is not None
    assert not said.shortened
