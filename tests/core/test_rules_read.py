"""Rules as they are written, and what is wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.rules import Read, Rule
from memory_palace.core.rules_read import of_note, of_topic

PATH = "palace/reflection_wing/rules/no-push.md"


def note(*lines: str, kind: str = "type: rule") -> Read:
    """A note with these lines of frontmatter."""
    return of_note(PATH, "\n".join(["---", kind, *lines, "---", "# X", ""]))


def test_a_note_is_a_rule() -> None:
    """Every key, the trigger's line, and the entry that it is made of."""
    found = note(
        "title: No push",
        'trigger: "bash_contains  git push #x"',
        "action: block",
        "verifier: tool_called  Read before git commit",
        "reason: >\n  Two\n  lines",
        'evidence: ["[[topics/lessons#^3f9ac2d41b7e]]"]',
    )
    rule = Rule(
        PATH,
        4,
        "[[reflection_wing/rules/no-push]]",
        "No push",
        "bash_contains git push #x",
        "block",
        "tool_called Read before git commit",
        "Two lines",
    )
    assert found == Read((rule,), covers=("3f9ac2d41b7e",))


@pytest.mark.parametrize(
    "lines",
    [
        ("trigger: tool_name Web", "action: warn"),
        ("verifier: tool_called Read before git commit",),
        ("trigger: file_modified src/**", "action: run_after make fmt"),
        ("trigger: 'bash_regex a#b'", "action: block"),
        ("trigger: bash_contains a#b", "action: block"),
        ("trigger: bash_contains x", "action: block", "reason: 3"),
        ("trigger: bash_contains x", "action: block", "unknown: [1, 2]"),
    ],
)
def test_forms_that_count(lines: tuple[str, ...]) -> None:
    """A verifier alone, actions of all kinds, a `#` that begins no comment, unknown keys."""
    found = note(*lines)
    assert (len(found.rules), found.faults) == (1, ())


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (("trigger: bash_contains git push #x", "action: block"), 3, "cut at ` #`"),
        (("trigger: # x", "action: block"), 3, "begins with `#`"),
        (("trigger: bash_contains x", "action: run_after make # all"), 4, "cut at ` #`"),
        (("verifier: tool_called A before b # c",), 3, "cut at ` #`"),
        (("trigger:", "action: block"), 3, "`trigger` is missing"),
        (("trigger: bash_contains", "action: block"), 3, "nothing after it"),
        (("trigger: [bash_contains x]", "action: block"), 3, "`trigger` is ["),
        (("trigger: bash x", "action: block"), 3, "write bash_contains"),
        (("trigger: bash_regex (", "action: block"), 3, "cannot be read"),
        ((f"trigger: bash_regex {'x' * 201}", "action: block"), 3, "more than 200"),
        ((f"trigger: bash_contains {'x' * 1001}", "action: block"), 3, "more than 1,000"),
        (("trigger: file_modified ../x", "action: block"), 3, "below the project"),
        (("trigger: bash_contains x", "action: stop"), 4, "`action` is 'stop'"),
        (("trigger: bash_contains x",), 2, "`action` is missing"),
        (("trigger: bash_contains x", "action: run_after"), 4, "`action` is 'run_after'"),
        (("action: block",), 2, "`trigger` is missing"),
        (("verifier: tool_called A",), 3, "write tool_called TOOL before COMMAND"),
        (("verifier:",), 3, "`verifier` is None"),
        (("verifier: tool_called A before b", "trigger:"), 4, "`trigger` is missing"),
        (("verifier: tool_called A before b", "action: block"), 2, "`trigger` is missing"),
        ((), 2, "`trigger` is missing"),
        (("trigger: 'x",), 4, "broken frontmatter"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(lines: tuple[str, ...], line: int, what: str) -> None:
    """And the note's name, so that it is found."""
    found = note(*lines)
    [fault] = found.faults
    assert found.rules == ()
    assert (fault.path, what in fault.message) == (PATH, True), fault
    assert "`no-push` does not count" in fault.message
    assert fault.line == line


def test_a_note_that_is_being_written_is_a_fault() -> None:
    """Half a frontmatter, or none that ends; other notes are no rules."""
    assert "no end" in of_note(PATH, "---\ntype: rule\ntrigger: ba").faults[0].message
    assert "no `type: rule`" in note("trigger: tool_name X", kind="title: x").faults[0].message
    assert note("trigger: tool_name X", kind="type: palace") == Read()
    assert of_note(PATH, "# About these rules\n") == Read()
    assert of_note(PATH, "") == Read()


@pytest.mark.parametrize("kind", ["type: Rule", "type: [rule]", "type: RULE "])
def test_a_type_that_is_meant_is_a_fault(kind: str) -> None:
    """A rule that does not count is not passed over in silence."""
    found = note("trigger: tool_name A", "action: block", kind=kind)
    assert not found.rules and "write rule" in found.faults[0].message
    assert note("trigger: tool_name A", kind="type: skill") == Read()


def test_a_key_that_stands_twice_is_reported() -> None:
    """And the first counts."""
    found = note("trigger: tool_name A", "action: block", "trigger: tool_name B")
    assert [rule.trigger for rule in found.rules] == ["tool_name A"]
    assert (found.faults[0].line, "stands twice" in found.faults[0].message) == (5, True)


def test_enforced_entries_are_rules() -> None:
    """Where their text has a form; with a link to the line."""
    path = "palace/topics/lessons.md"
    found = of_topic(
        path,
        "- [lesson] Never run `npm install`: use pnpm *(enforced)* ^3f9ac2d41b7e\n"
        "- [lesson] Never run `make all`\n"
        "- [lesson] Be kind *(enforced)*\n"
        "- [lesson] Never use the tool WebFetch *(enforced)*\n",
    )
    first, second = found.rules
    assert (first.trigger, first.action, first.line) == ("bash_contains npm install", "block", 1)
    assert (first.link, first.reason) == (
        "[[topics/lessons#^3f9ac2d41b7e]]",
        "Never run `npm install`: use pnpm",
    )
    assert (second.trigger, second.link, second.line) == (
        "tool_name WebFetch",
        "[[topics/lessons]]",
        4,
    )
    assert (found.entries[0], len(found.entries)) == ("3f9ac2d41b7e", 2)


VALUE = st.text(alphabet="abc#: []{}'\"\\|>&*!%@`-\n", max_size=20)


@given(VALUE, VALUE, st.text(max_size=60))
@MODEST
def test_any_text_is_read(trigger: str, action: str, text: str) -> None:
    """A rule, a fault or neither; nothing raises."""
    for one in (text, f"---\ntype: rule\ntrigger: {trigger}\naction: {action}\n---\n{text}"):
        found = of_note(PATH, one)
        assert len(found.rules) + len(found.faults) <= 1
        of_topic(PATH, one)
