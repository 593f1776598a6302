"""A session's summary by rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import ledger as forms
from memory_palace.core import summaries
from memory_palace.core.ledger import SUMMARY
from support import ledgers
from support.ledgers import Line, entry, observed


def tool(number: int, name: str, text: str, **keys: Any) -> Line:
    """A tool's entry."""
    return entry(number, text, role="tool", tool=name, **keys)


def summed(*lines: Line) -> dict[str, str]:
    """The summary of a ledger's lines."""
    found = ledgers.ledger(*lines)
    return summaries.summarize(forms.branch(found), found.observations)


SESSION = (
    entry(0, "hi"),
    entry(1, "Make the parser read tabs. It fails on Ann's file.\n```\n" + "log\n" * 90 + "```"),
    tool(2, "Read", "Read src/parser.py limit=100\ndef parse"),
    tool(3, "Grep", "Grep src pattern=def parse output_mode=content\nsrc/parser.py:3"),
    tool(4, "Bash", "$ pytest -q\nE   ValueError: bad indent at line 3\n1 failed", failed=True),
    tool(5, "Edit", "Edit src/parser.py\n- a\n+ b", files=["src/parser.py"]),
    tool(6, "Bash", "$ pytest -q\n5 passed in 0.2s"),
    tool(7, "Bash", "$ git commit -qam 'Read tabs'\n[main 3f2a1bc] Read tabs\n 1 file changed"),
    observed(7, "A tab counted as one column", sources=(4,), type="discovery", relevance="high"),
    observed(7, "We keep spaces as the default", sources=(1,), type="decision"),
    observed(7, "Noted in passing", sources=(1,), type="discovery", relevance="low"),
    observed(7, "The parser reads tabs", sources=(5,), type="bugfix"),
    entry(
        8,
        "It reads tabs now.\n\n## Next steps\n- Measure the speed\n- [x] Written\n"
        "- [ ] Document the option\n\nWould you like me to do that next?",
        role="assistant",
    ),
)


def test_each_part_says_what_the_ledger_says() -> None:
    """Nothing in it that is not there."""
    assert summed(*SESSION) == {
        "request": "Make the parser read tabs. It fails on Ann's file.",
        "investigated": "read src/parser.py; searched def parse; ran pytest (2 times)",
        "learned": "A tab counted as one column; We keep spaces as the default; pytest failed: "
        "ValueError: bad indent at line 3 (passed later)",
        "completed": "committed Read tabs (3f2a1bc); The parser reads tabs; pytest: 5 passed in "
        "0.2s; edited src/parser.py",
        "next_steps": "Measure the speed; Document the option",
    }


def test_what_a_person_says_is_not_what_was_found_out() -> None:
    """Unless it decides something; the agent's own name is left out."""
    found = summed(
        observed(0, "User: Light the lamp, please", type="discovery"),
        observed(0, "User: It is done", type="change"),
        observed(0, "Assistant: The switch is broken", type="discovery"),
        observed(0, "User: We take the other lamp", type="decision", relevance="high"),
    )
    assert found == {"learned": "User: We take the other lamp; The switch is broken"}


def test_what_was_asked_and_wished_was_not_learned() -> None:
    """What an agent found out, what was settled and a yes to a proposal were."""
    found = summed(
        entry(0, "The upload fails. It must not retry. Find out why."),
        observed(
            0,
            "User: The upload fails. It must not retry. From now on never push. / Assistant: It "
            "has no token. Next: deploy. / User: No, that's wrong. Thanks for looking.",
            "User: From now on ask me first.",
            type="decision",
            relevance="critical",
        ),
        observed(
            0,
            "Assistant: I'd take Redis, because it is there. / User: yes, do it",
            type="decision",
            relevance="high",
        ),
        observed(0, "User: We ruled out Mongo. / User: ok, thanks", type="decision"),
    )
    assert sorted(found["learned"].split("; ")) == [
        "I'd take Redis, because it is there (User: yes, do it)",
        "It has no token. Next: deploy (User: No, that's wrong)",
        "User: We ruled out Mongo",
    ]


def test_a_fix_is_done_and_its_cause_learned() -> None:
    """Each is told once; so is a commit; what comes next is not done."""
    found = summed(
        tool(0, "Bash", "$ git commit -qam 'Read tabs'\n[main 3f2a1bc] Read tabs\n 1 file changed"),
        observed(
            0,
            "Error `KeyError: x`, gone after a.py. Assistant: The key is new. Then passed: `make`",
            "Committed `3f2a1bc` on main: Read tabs",
            type="bugfix",
            relevance="high",
        ),
        observed(
            0,
            "User: Mend it. / Assistant: It is fixed. Next: deploy.",
            type="change",
            relevance="high",
        ),
        observed(0, "Assistant: It turned out to be slow. I've added a test.", type="discovery"),
        entry(1, "It is fixed. Next: deploy.", role="assistant"),
    )
    assert found == {
        "learned": "The key is new; It turned out to be slow",
        "completed": "committed Read tabs (3f2a1bc); Error `KeyError: x`, gone after a.py. Then "
        "passed: `make`; It is fixed; I've added a test",
        "next_steps": "Next: deploy",
    }


def test_what_is_not_known_is_left_out() -> None:
    """No empty parts, and nothing at all of nothing."""
    assert summed() == {}
    assert summed(entry(0, "thanks!")) == {}
    assert summed(entry(0, "Read the file."), entry(1, "Done.", role="assistant")) == {
        "request": "Read the file."
    }


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("All done.", ""),
        ("Fixed. The docs are still missing an example. Bye.", "The docs are still missing an "
         "example"),
        ("**Remaining:**\n1. Write tests\n2. Ship it\n\nThat is all.", "Write tests; Ship it"),
        ("Let me know if you want the next step.", ""),
        ("Next, I will measure it.", "Next, I will measure it"),
        ("Als nächstes fehlt noch die Doku.", "Als nächstes fehlt noch die Doku"),
        ("- [ ] open\n- [x] done", "open"),
        ("What should I do next?", ""),
        ("Left: the docs.", "Left: the docs"),
        ("I left: it was late.", ""),
        ("Committed as 3f2a1bc.", "Next steps: none"),
        ("Committed it, and the whole suite is green on both machines.", ""),
    ],
)  # fmt: skip
def test_what_is_left_is_what_the_last_answer_says(answer: str, left: str) -> None:
    """Not what it offers, asks, or has done; one that only says that it is saved is passed over."""
    found = summed(
        entry(0, "Next steps: none.", role="assistant"), entry(1, answer, role="assistant")
    )
    assert found.get("next_steps", "") == left


def test_open_tasks_of_the_last_list_are_left() -> None:
    """Those that are pending or in progress."""
    todos = (
        'TodoWrite todos=[{"content": "Old", "status": "pending"}]',
        'TodoWrite todos=[{"content": "Parse \\"tabs\\"", "status": "completed"}, '
        '{"content": "Write docs", "status": "in_progress"}, '
        '{"content": "Ship", "status": "pending"}]',
    )
    found = summed(*(tool(n, "TodoWrite", text) for n, text in enumerate(todos)))
    assert found == {"next_steps": "Write docs; Ship"}


def test_a_test_run_that_fails_last_is_not_completed() -> None:
    """An older success does not stand for it; an edit that failed changed nothing."""
    found = summed(
        tool(0, "Bash", "$ pytest\n5 passed in 0.2s"),
        tool(1, "Bash", "$ pytest\n2 failed, 3 passed in 0.2s", failed=True),
        tool(2, "Edit", "Edit a.py\nno such text", files=["a.py"], failed=True),
    )
    assert "completed" not in found
    assert "passed later" not in found["learned"]


def test_each_part_has_room_for_whole_pieces() -> None:
    """What does not fit is left out, not cut in the middle."""
    many = [f"Finding number {n} " + "is long " * 12 for n in range(9)]
    found = summed(entry(0, "word " * 400), observed(0, *many, type="discovery", relevance="high"))
    assert len(found["request"]) <= 300 and found["request"].endswith("…")
    assert found["learned"].count("Finding number") == 4
    assert found["learned"].endswith("is long")


TEXTS = st.text(alphabet='ab #-*[]x.?!\n$`>:"', max_size=60) | st.sampled_from(
    ["$ pytest\n1 failed", "Read a.py", "## Next steps\n- a", "hi", "$ git commit\n[m abcdef1] s"]
)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), TEXTS), max_size=8))
def test_whatever_a_ledger_holds(said: list[tuple[str, str]]) -> None:
    """Known parts only, none empty, on one line, short enough."""
    lines = [entry(n, text or "x", role=role) for n, (role, text) in enumerate(said)]
    for key, value in summed(*lines).items():
        assert key in SUMMARY
        assert 0 < len(value) <= summaries.MOST_CHARACTERS and "\n" not in value


def test_a_commit_that_printed_nothing_is_told_once() -> None:
    """By its message, without a hash, and not again by its observation."""
    call = tool(0, "Bash", '$ git commit -qm "Read tabs"')
    line = observed(0, "Committed: Read tabs", sources=(0,), type="change", relevance="medium")
    assert summed(call, line) == {"completed": "committed Read tabs"}


def test_what_was_refused_was_not_learned_and_what_is_left_is_told_once() -> None:
    """A correction stands with what it refuses; of a chain, the last part gave the tests."""
    line = "Assistant: I'll use moment.js. / User: No, use date-fns instead."
    found = summed(
        entry(0, "Format the dates."),
        entry(1, "I'll use moment.js.", role="assistant"),
        entry(2, "No, use date-fns instead."),
        tool(3, "Bash", "$ ruff check . && pytest -q\n4 passed"),
        observed(3, line, sources=(1, 2), type="decision", relevance="critical"),
        observed(3, "Assistant: Left: the docs.", sources=(1,), type="discovery"),
        entry(4, "Left: the docs.", role="assistant"),
    )
    assert found["learned"] == "I'll use moment.js (User: No, use date-fns instead)"
    assert found["completed"] == "pytest: 4 passed"
    assert found["next_steps"] == "Left: the docs"
