"""Conversations as plain text: who speaks, and what is no speaker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import transcript_text
from memory_palace.core.transcript_text import Text, form, records


def read(text: str) -> list[tuple[str, str]]:
    """Role and text of each turn."""
    lines = text.split("\n")
    reader = Text()
    turns = [turn for one in records(lines, form(lines)) for turn in reader.read(one)]
    return [(turn.role, turn.text) for turn in [*turns, *reader.rest()]]


LAMP = [("user", "How?"), ("assistant", "With a match.\nCarefully.")]


@pytest.mark.parametrize(
    "text",
    [
        "User: How?\nAssistant: With a match.\nCarefully.",
        "Human: How?\n\nAI: With a match.\nCarefully.\n",
        "**User:** How?\n\n**Assistant:** With a match.\nCarefully.",
        "**You**: How?\n**ChatGPT**: With a match.\nCarefully.",
        "## User\n\nHow?\n\n## Assistant\n\nWith a match.\nCarefully.",
        "### user: How?\n### claude: With a match.\nCarefully.",
        "> How?\n\nWith a match.\nCarefully.",
        ">How?\nWith a match.\nCarefully.\n",
        "[2026-11-29 14:03] User: How?\n[2026-11-29 14:04] Assistant: With a match.\nCarefully.",
    ],
)
def test_forms(text: str) -> None:
    """Marked in one of the usual ways, or quoted."""
    assert read(text) == LAMP


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Notes on the user: he is tall.",
        "User: one side only\nUser: again",
        "A heading\n\nand text",
        "> only a quote",
        "text\n> a quote below",
        "Name: Max\nAgent Smith: no\n",
        "---\nuser: max\nbot: on\n---\n# Me\n\nand text",
        "```\nUser: a\nAssistant: b\n```\n",
    ],
)
def test_what_is_no_conversation(text: str) -> None:
    """Both sides have to speak."""
    assert form(text.split("\n")) == ""


def test_metadata_on_top_is_no_turn() -> None:
    """Whatever its keys are called; without an end it is none."""
    assert read("---\nuser: max\n---\nUser: How?\nAI: So.") == [
        ("user", "How?"),
        ("assistant", "So."),
    ]
    assert read("---\nUser: How?\nAI: So.") == [("user", "How?"), ("assistant", "So.")]


def test_times_are_read() -> None:
    """Before the name or after it."""
    lines = ["User (2026-11-29T14:03:00Z): a", "[2026-11-29 14:04] Assistant: b"]
    reader = Text()
    turns = [turn for one in records(lines, "spoken") for turn in reader.read(one)]
    assert [turn.at.isoformat()[11:16] for turn in turns if turn.at] == ["14:03", "14:04"]


def test_a_speaker_in_a_fence_is_none() -> None:
    """Code that shows a conversation; but a fence that nothing closes hides nobody."""
    closed = "User: a\nAssistant: see\n```\nUser: in code\n```\nend"
    assert read(closed) == [("user", "a"), ("assistant", "see\n```\nUser: in code\n```\nend")]
    opened = "User: a\n```\nAssistant: b\nUser: c"
    assert read(opened) == [("user", "a\n```"), ("assistant", "b"), ("user", "c")]


def test_what_stands_before_is_counted() -> None:
    """A title or an export's head is no turn, and is told."""
    reader = Text()
    for one in records(["# Chat", "of today", "User: a", "AI: b"], "spoken"):
        list(reader.read(one))
    assert reader.passed == {"lines before anybody speaks": 2}


def test_a_session_is_named_by_its_first_turns() -> None:
    """So that a copy, and a longer one, is the same; another answer makes another."""

    def session(text: str) -> str:
        reader = Text()
        for one in records(text.split("\n"), "spoken"):
            list(reader.read(one))
        return reader.about.session

    first = session("User: a\nAssistant: b")
    assert first == session("User: a\nAssistant: b\nmore\nUser: c")
    assert first != session("User: a\nAssistant: c")
    assert session("User: a") == ""


def test_the_same_words_twice_are_two_turns() -> None:
    """Each with a ref of its own, the same in the next reading."""
    lines = ["User: go", "AI: ok", "User: go", "AI: ok"]
    both = []
    for _ in range(2):
        reader = Text()
        both.append([t.ref for one in records(lines, "spoken") for t in reader.read(one)])
    assert both[0] == both[1]
    assert len(set(both[0])) == 4


@given(lines=st.lists(st.text(max_size=30), max_size=30))
def test_no_line_is_lost(lines: list[str]) -> None:
    """Every line with a word is in a turn, or before the first one."""
    text = [*(line.replace("\n", " ") for line in lines), "User: a", "Assistant: b"]
    said = "\n".join(str(one["text"]) for one in records(text, "spoken"))
    for line in text:
        found = transcript_text.speaker(line)
        rest = (found[2] if found else line).strip()
        assert rest in said


@pytest.mark.parametrize(
    ("name", "day"),
    [("chat-2026-11-29.txt", "2026-11-29"), ("2026-13-40.txt", ""), ("chat.txt", "")],
)
def test_days_in_names(name: str, day: str) -> None:
    """A real day only."""
    assert transcript_text.day_in(name) == day
