"""Cards read, made and completed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST, PIECES
from memory_palace.core import cards, note
from memory_palace.core.cards import Check, Draft
from memory_palace.core.errors import BadInput
from support.palaces import REPOSITORY

PATH = "palace/dispatch_corridor/cards/a.md"
HEAD = "---\ntitle: A\ntype: card\nstatus: active\n---\n# A\n\n"


def card(body: str, head: str = HEAD) -> cards.Card:
    """The card with that text."""
    return cards.parse(PATH, head + body)


def said(found: cards.Card) -> list[str]:
    """Its problems as lines."""
    return [str(problem) for problem in found.problems]


def test_the_cards_of_this_palace() -> None:
    """An active one with four open checks, and a completed one."""
    folder = REPOSITORY / cards.FOLDER
    found = {p.stem: cards.parse(p.name, p.read_text()) for p in folder.glob("*.md")}
    first, second = found["measure-the-bge-m3-floor"], found["stable-chunk-keys"]
    assert (first.title, first.status, first.priority) == (
        "Measure the BGE-M3 floor",
        "active",
        "medium",
    )
    assert len(first.open_checks) == len(first.checks) == 4
    assert len(first.inputs) == 3
    assert first.next_action.startswith("Write down the questions")
    assert second.is_completed
    assert first.problems == second.problems == ()


def test_sections() -> None:
    """By their names in any case, each with what stands below it."""
    found = card(
        "## goal\n\nOne.\n\nTwo.\n\n## Inputs\n\n- [[a]]\n- b\n  - of b\n\ntext\n\n* c\n\n"
        "## OUTPUTS:\n\n1. d\n2. e\n\n## Other\n\n- f\n\nNext action\n-----------\nGo on.\n"
    )
    assert found.goal == "One.\n\nTwo."
    assert found.inputs == ("[[a]]", "b", "c")
    assert found.outputs == ("d", "e")
    assert found.next_action == "Go on."
    assert found.checks == ()


def test_a_card_called_as_a_section() -> None:
    """Its title is no section."""
    found = cards.parse(PATH, HEAD.replace("# A", "# Goal") + "text\n\n## Goal\n\nThe goal.\n")
    assert found.goal == "The goal."


def test_checks_are_task_items() -> None:
    """In lists of every kind and depth, below subheadings too; only an x holds."""
    found = card(
        "## Acceptance checks\n\n- [ ] a\n- [x] b\n  more of b\n  - [X] c\n    1. [ ] d\n  - of b\n"
        "* [-] e\n+ [x]f\n\n### Later\n\n1) [x] g\n- [ ]\n- h\n\n## Next action\n\n- [ ] no check\n"
    )
    assert [(c.text, c.done) for c in found.checks] == [
        ("a", False),
        ("b", True),
        ("c", True),
        ("d", False),
        ("e", False),
        ("[x]f", False),
        ("g", True),
        ("", False),
        ("h", False),
    ]
    assert found.checks[0] == Check(10, False, "a")
    assert said(found) == [
        f"{PATH}:{line}: warning: a check without a box, counts as open: write `- [ ] …`"
        for line in (17, 23)
    ]


def test_what_only_looks_like_a_check() -> None:
    """In a fence, in code, in a comment of HTML, in a list's fence, outside the section."""
    found = card(
        "- [x] before\n\n## Acceptance checks\n\n```\n- [x] fence\n```\n\n    - [x] code\n\n"
        "<!--\n- [x] comment\n-->\n\n- [ ] real\n  ```\n  - [x] fence in a list\n  ```\n"
    )
    assert [c.text for c in found.checks] == ["real"]
    assert not found.holds


@pytest.mark.parametrize(
    ("status", "expected", "problem"),
    [
        ("status: blocked", "blocked", []),
        (
            "",
            "active",
            ["warning: no `status`, counts as active: write active, blocked or complet"],
        ),
        ("status: complete", None, ["error: `status` is 'complete': did you mean `completed`?"]),
        ("status: zzz", None, ["error: `status` is 'zzz': known are active, blocked, completed"]),
        ("status: [a]", None, ["error: `status` is ['a']: write text on one line; left out"]),
    ],
)
def test_status(status: str, expected: str | None, problem: list[str]) -> None:
    """One of three; another is a problem at its line, and no guess."""
    found = card("", f"---\ntype: card\n{status}\n---\n# A\n")
    assert found.status == expected
    assert len(found.problems) == len(problem)
    for problem_said, wanted in zip(said(found), problem, strict=True):
        assert problem_said.startswith(f"{PATH}:{3 if status else 1}: {wanted}")


def test_broken_metadata_is_one_problem() -> None:
    """What is below it is read all the same."""
    found = card("", "---\ntitle: [\n---\n# A\n\n## Acceptance checks\n\n- [x] a\n")
    assert (found.title, found.status, len(found.checks), len(found.problems)) == ("A", None, 1, 1)


def test_what_is_a_card() -> None:
    """Its type says so; without one, every note but a README."""
    texts = {"a.md": "", "README.md": "", "b.md": "---\ntype: session\n---\n", "c.md": HEAD}
    assert [p for p, t in texts.items() if cards.is_card(note.parse(p, t))] == ["a.md", "c.md"]


def test_why_a_card_is_not_done() -> None:
    """Each open check with its line; a card without checks has to have some."""
    open_ones = cards.faults(card("## Acceptance checks\n\n- [ ] a\n- [x] b\n- [ ]\n"))
    assert [(p.line, p.message) for p in open_ones] == [
        (10, "open check: a"),
        (12, "open check: (empty)"),
    ]
    [none] = cards.faults(card("## Goal\n"))
    assert none.line is None
    assert none.message.startswith("no acceptance check")
    assert cards.faults(card("## Acceptance checks\n\n- [x] a\n")) == []


def test_a_card_too_long_to_be_read_does_not_hold() -> None:
    """Where checks cannot be seen, none may be missed."""
    found = card("## Acceptance checks\n\n- [x] a\n\n" + "word " * 250_000 + "\n\n- [ ] b\n")
    assert found.unread is not None
    assert not found.holds
    assert found.problems[-1].line == found.unread
    assert [p.line for p in cards.faults(found)] == [found.unread]


FULL = Draft(
    "The floor: measured",
    "It rests on a measurement.",
    ("[[compound-score]]", "questions"),
    ("the floor",),
    ("Asked", "Shown"),
    "Write.",
    "high",
)


def test_a_new_card() -> None:
    """In the form of the others, and read back as it was meant."""
    text = cards.render(FULL, "2026-11-29", "pi@laptop")
    assert text == (
        '---\ntitle: "The floor: measured"\ntype: card\npriority: high\ncreated: 2026-11-29\n'
        "agent: pi@laptop\nstatus: active\n---\n# The floor: measured\n\n## Goal\n\n"
        "It rests on a measurement.\n\n## Inputs\n\n- [[compound-score]]\n- questions\n\n"
        "## Outputs\n\n- the floor\n\n## Acceptance checks\n\n- [ ] Asked\n- [ ] Shown\n\n"
        "## Next action\n\nWrite.\n"
    )
    found = cards.parse(PATH, text)
    assert found.problems == ()
    assert (found.title, found.goal, found.inputs, found.outputs) == (
        FULL.title,
        FULL.goal,
        FULL.inputs,
        FULL.outputs,
    )
    assert [check.text for check in found.open_checks] == list(FULL.checks)
    assert (found.priority, found.next_action) == ("high", "Write.")


def test_a_new_card_of_a_title_alone() -> None:
    """Its sections are there to be filled."""
    found = cards.parse(PATH, cards.render(Draft("A"), "2026-11-29", "pi@laptop"))
    assert (found.goal, found.inputs, found.checks) == ("", (), ())
    assert found.next_action == cards.NOT_DECIDED
    assert found.problems == ()


STARTS = [
    *(
        "# ",
        "## Next action",
        "> ",
        "- ",
        "* ",
        "+ [x] ",
        "1. ",
        "12) ",
        "```",
        "~~~",
        "---",
        "***",
    ),
    *("<!-- ", "<div>", "$$", "%%", "===", "| a |", "[x] ", "[[a]] ", "**b** ", "    ", "_a_", ""),
]


@given(st.lists(st.builds(str.__add__, st.sampled_from(STARTS), st.sampled_from(["", "a b"]))))
@MODEST
def test_no_text_of_a_new_card_makes_another_section_or_check(texts: list[str]) -> None:
    """Whatever it begins with: the sections are five, the checks those that were given."""
    given_texts = tuple(kept for text in texts if (kept := " ".join(text.split())))
    goal = given_texts[0] if given_texts else ""
    draft = Draft("A", goal, given_texts, given_texts, given_texts, goal)
    found = cards.parse(PATH, cards.render(draft, "2026-11-29", "pi@laptop"))
    assert [check.text for check in found.checks] == list(given_texts)
    assert not any(check.done for check in found.checks)
    assert len(found.inputs) == len(found.outputs) == len(given_texts)
    assert found.goal.replace("\\", "") == goal
    assert found.next_action.replace("\\", "") == goal or not goal


DONE = HEAD + "## Acceptance checks\n\n- [x] a\n\n## Next action\n\nGo.\nOn.\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_completed_changes_three_places(newline: str) -> None:
    """Status, date and next action; the rest stays byte for byte."""
    text = DONE.replace("\n", newline)
    expected = DONE.replace("status: active\n", "status: completed\nupdated: 2026-11-29\n")
    expected = expected.replace("Go.\nOn.\n", "None.\n").replace("\n", newline)
    assert cards.completed(text, "2026-11-29") == expected
    assert cards.completed(expected, "2026-11-29") == expected


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (
            "## Next action\n\nGo.\n\n## Notes\n\nKept.\n",
            "## Next action\n\nNone.\n\n## Notes\n\nKept.\n",
        ),
        (
            "## Next action\n\nGo.\n\n### Ideas\n\nKept.\n",
            "## Next action\n\nNone.\n\n### Ideas\n\nKept.\n",
        ),
        ("## Next action\n## Notes\n", "## Next action\n\nNone.\n\n## Notes\n"),
        ("## Next action", "## Next action\n\nNone.\n"),
        ("## Next action\n\nGo.", "## Next action\n\nNone.\n"),
        ("Next\naction\n===\n", "Next\naction\n===\n\n## Next action\n\nNone.\n"),
        ("Next action\n---\nGo.\n", "Next action\n---\n\nNone.\n"),
        ("## Notes", "## Notes\n\n## Next action\n\nNone.\n"),
        ("## Next action\n\nNone; see [[a]].\n", "## Next action\n\nNone; see [[a]].\n"),
        ("## Next action\n\nNonexistent.\n", "## Next action\n\nNone.\n"),
    ],
)
def test_where_the_next_action_goes(after: str, wanted: str) -> None:
    """In place of its section's text, else in a section of its own; other sections stay."""
    changed = cards.completed(HEAD + after, "2026-11-29")
    assert changed == HEAD.replace("active\n", "completed\nupdated: 2026-11-29\n") + wanted


def test_a_next_action_that_is_given() -> None:
    """It stands there as text, whatever it begins with."""
    changed = cards.completed(DONE, "2026-11-29", "# Tell Bo")
    assert changed.endswith("## Next action\n\n\\# Tell Bo\n")
    assert cards.completed(changed, "2026-11-30", "Rest").endswith("## Next action\n\nRest\n")


def test_broken_metadata_is_not_touched() -> None:
    """A person has to mend it first."""
    with pytest.raises(BadInput, match="broken frontmatter"):
        cards.completed("---\ntitle: [\n---\n# A\n", "2026-11-29")


OF_CARDS = [
    *("## Acceptance checks\n", "### Next action\n", "## Next action\n", "Next action\n---\n"),
    *("- [ ] a\n", "- [x] b\n", "  1. [X] c\n", "- d\n", "Go.\n", "None so far.\n", "<!--\n"),
]


@given(st.lists(st.sampled_from(OF_CARDS) | st.sampled_from(PIECES), max_size=20).map("".join))
@MODEST
def test_any_text_is_read_and_completed(body: str) -> None:
    """Nothing raises, every line number is one of the file's, and the rest of the text stays."""
    text = HEAD + body
    found = cards.parse(PATH, text)
    lines = text.count("\n") + 1
    assert all(1 <= check.line <= lines for check in found.checks)
    changed = cards.completed(text, "2026-11-29")
    after = cards.parse(PATH, changed)
    assert after.status == "completed"
    assert [(c.done, c.text) for c in after.checks] == [(c.done, c.text) for c in found.checks]
    assert cards.completed(changed, "2026-11-29") == changed
