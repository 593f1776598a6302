"""Findings of reviews: foreign JSON checked, lines folded, candidates decided."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import findings, raising
from memory_palace.core.findings import Fault, Finding
from memory_palace.core.raising import Decision, decide

GOOD: dict[str, Any] = {"repository": "demo", "path": "src/a.py", "line": 3, "body": "No test here"}
AT = "2026-11-29T12:00:00Z"


def made(**other: Any) -> Finding:
    """A finding like GOOD."""
    return findings.finding({**GOOD, "id": "0" * 12, "at": AT, **other})


def fault(data: Any) -> str:
    """What is wrong with foreign data."""
    with pytest.raises(Fault) as caught:
        findings.finding(findings.fields(data))
    return str(caught.value)


def test_a_good_item() -> None:
    """Every key is taken; nulls are as good as nothing; lines become a context."""
    lines = ["a", "b  ", "c"]
    item = {**GOOD, "pull_request": 7, "head": "1a2b", "severity": None, "lines": lines}
    one = findings.finding(findings.fields(item))
    assert (one.pull_request, one.head, one.severity, one.status) == (7, "1a2b", "", "posted")
    assert one.context == findings.context(["a", "b", "c"])
    assert one.is_open
    assert one.place == "src/a.py:3"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"line": "3"}, "`line` is '3': write a whole number from 1"),
        ({"line": True}, "`line` is True: write a whole number from 1"),
        ({"line": 0}, "`line` is 0: write a whole number from 1"),
        ({"line": None}, "`line` is missing: write it"),
        ({"body": " \n"}, "`body` is blank: write what it says"),
        ({"body": ["a"]}, "`body` is a list: write text"),
        ({"body": "\ud800"}, "`body` has half a character"),
        ({"path": "/etc/passwd"}, "`path` is '/etc/passwd': write a path relative"),
        ({"path": "a/../b"}, "`path` is 'a/../b': write a path relative"),
        ({"path": "a\\b"}, "write a path relative"),
        ({"path": 3}, "`path` is 3: write a path relative"),
        ({"repository": "owner/demo"}, "`repository` is 'owner/demo': write its name alone"),
        ({"repository": ".."}, "`repository` is '..'"),
        ({"repository": ".git"}, "`repository` is '.git'"),
        ({"status": "skiped"}, "`status` is 'skiped': did you mean `skipped`?"),
        ({"status": "skipped"}, "`skip_reason` is missing or blank"),
        ({"status": "skipped", "skip_reason": " "}, "`skip_reason` is missing or blank"),
        ({"resolution": "fixed"}, "`resolution` is 'fixed': did you mean `resolved_fixed`?"),
        ({"severity": "a\nb"}, "`severity` has several lines: write one"),
        ({"sevrity": "high"}, "unknown key `sevrity`: did you mean `severity`?"),
        ({"lines": ["a"] * 8}, "`lines` has 8 lines"),
        ({"lines": [1]}, "`lines` is no list of lines"),
        ({"at": "yesterday"}, "`at` is 'yesterday': write"),
        ({"id": "x"}, "`id` is 'x': write 12 hex digits"),
        (
            {"status": "skipped", "skip_reason": "a", "resolution": "resolved_fixed"},
            "`resolution` is of a finding that was skipped",
        ),
    ],
)
def test_bad_items(change: dict[str, Any], said: str) -> None:
    """One line that names the key and says what to write."""
    assert said in fault({**GOOD, **change})


def test_no_object() -> None:
    """Anything but an object is a fault."""
    assert fault([1]) == "is a list: write a JSON object"
    assert fault("a") == "is 'a': write a JSON object"


def test_secrets_are_taken_out() -> None:
    """Of all text that is kept."""
    one = findings.finding(
        findings.fields({**GOOD, "body": "password: 'hunter22'", "answer": "<private>no</private>"})
    )
    assert (one.body, one.answer) == ("password: '[SECRET: password]'", "[PRIVATE]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@MODEST
@given(st.dictionaries(st.sampled_from([*findings.KEYS, "other"]), JSON))
def test_foreign_data_never_breaks(data: dict[str, Any]) -> None:
    """Whatever JSON holds, it is a finding or a fault of one printable line."""
    try:
        findings.finding(findings.fields({**GOOD, **data}))
    except Fault as wrong:
        assert str(wrong).isprintable()


def test_around() -> None:
    """Three lines on either side, fewer at the ends, none beyond."""
    lines = [str(n) for n in range(1, 11)]
    assert findings.around(lines, 5) == ["2", "3", "4", "5", "6", "7", "8"]
    assert findings.around(lines, 1) == ["1", "2", "3", "4"]
    assert findings.around(lines, 10) == ["7", "8", "9", "10"]
    assert findings.around(lines, 11) == []


def rows() -> list[tuple[int, dict[str, Any]]]:
    """A finding that was posted, answered, and resolved."""
    key = {"id": "a" * 12}
    return [
        (1, {**GOOD, **key, "at": "2026-11-29T12:00:00Z"}),
        (2, {**key, "at": "2026-11-29T12:00:01Z", "answer": "will do"}),
        (3, {**key, "at": "2026-11-29T12:00:02Z", "resolution": "resolved_fixed"}),
        (4, {**key, "at": "2026-11-29T12:00:03Z", "resolution": "resolved_bad_fix"}),
    ]


@given(st.permutations(rows()))
def test_later_lines_change_earlier_ones(shuffled: list[tuple[int, dict[str, Any]]]) -> None:
    """By their time, in whatever order a merge left them."""
    folded = findings.fold("r", shuffled)
    (one,) = folded.findings
    assert folded.problems == ()
    assert (one.answer, one.resolution, one.body) == ("will do", "resolved_bad_fix", GOOD["body"])


def test_bad_lines_are_problems() -> None:
    """Each with its line; the rest counts."""
    folded = findings.fold(
        "r",
        [
            *rows(),
            (5, {"id": "a" * 12, "at": AT, "resolution": "done"}),
            (6, {"id": "b" * 12, "at": AT, "answer": "of nothing"}),
            (7, {**GOOD, "at": AT}),
        ],
    )
    assert [(p.line, p.message[:24]) for p in folded.problems] == [
        (5, "`resolution` is 'done': "),
        (7, "`id` is missing: write i"),
        (6, "`repository` is missing:"),
    ]
    assert len(folded.findings) == 1


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("No test here", "no TEST here!", 1.0),
        ("a b c d", "a b c e", 0.6),
        ("a b", "c d", 0.0),
        ("!!!", "!!!", 1.0),
        ("!!!", "???", 0.0),
        ("没有测试", "没有测试。", 1.0),
        ("没有测试", "名字太长", 0.0),
    ],
)
def test_overlap(a: str, b: str, share: float) -> None:
    """The share of common words; pairs of neighbours in scripts without spaces."""
    assert raising.overlap(a, b) == pytest.approx(share)


@MODEST
@given(st.text(max_size=30), st.text(max_size=30))
def test_overlap_is_a_share(a: str, b: str) -> None:
    """Between 0 and 1, the same both ways, 1 for a text with itself."""
    assert 0.0 <= raising.overlap(a, b) == raising.overlap(b, a) <= 1.0
    assert raising.overlap(a, a) == 1.0


ONE = "0" * 12


@pytest.mark.parametrize(
    ("stored", "decision"),
    [
        ({}, Decision(False, "already raised", ONE)),
        ({"context": "old"}, Decision(False, "already raised", ONE)),
        (
            {"status": "skipped", "skip_reason": "a\ntest helper"},
            Decision(False, "skipped before: a test helper (the code was not compared)", ONE),
        ),
        (
            {"status": "skipped", "skip_reason": "no", "context": "now"},
            Decision(False, "skipped before: no (the code is unchanged)", ONE),
        ),
        (
            {"status": "skipped", "skip_reason": "no", "context": "old"},
            Decision(True, "the code changed since it was skipped", ONE),
        ),
        (
            {"resolution": "resolved_accepted", "context": "now", "answer": "on purpose"},
            Decision(False, "accepted before: on purpose (the code is unchanged)", ONE),
        ),
        (
            {"resolution": "resolved_accepted", "context": "old"},
            Decision(True, "the code changed since it was accepted", ONE),
        ),
        (
            {"resolution": "resolved_fixed", "context": "now"},
            Decision(False, "fixed before (the code is unchanged)", ONE),
        ),
        (
            {"resolution": "resolved_fixed", "context": "old"},
            Decision(True, "the code changed since it was fixed", ONE),
        ),
        ({"resolution": "resolved_bad_fix"}, Decision(True, "the fix was bad", ONE)),
        (
            {"resolution": "resolved_no_fix", "context": "now"},
            Decision(True, "it was not fixed", ONE),
        ),
        ({"path": "src/b.py"}, Decision(True, "new")),
        ({"body": "Something else altogether"}, Decision(True, "new")),
    ],
)
def test_decide(stored: dict[str, Any], decision: Decision) -> None:
    """What was said before about the same code decides."""
    assert decide(made(context="now", line=40), [made(**stored)], []) == decision


def test_one_that_speaks_against_is_enough() -> None:
    """Though another, nearer one does not."""
    bad = made(id="a" * 12, resolution="resolved_bad_fix")
    near = made(id="b" * 12, body="No test here at", status="skipped", skip_reason="no")
    assert decide(made(), [bad, near], []).finding == "b" * 12


def test_cosines_are_asked_only_where_words_do_not_tell() -> None:
    """Not without findings on the path, not if one of them already speaks against."""
    asked: list[Sequence[str]] = []

    def cosines(text: str, others: Sequence[str]) -> list[float]:
        asked.append(others)
        return [0.95 if "untested" in other else 0.2 for other in others]

    other = made(id="c" * 12, body="This is untested")
    assert decide(made(), [], [], cosines).raised
    assert decide(made(), [made(path="b")], [], cosines).raised
    assert not decide(made(), [made(), other], [], cosines).raised
    assert asked == []
    assert decide(made(), [other], [], cosines) == Decision(False, "already raised", "c" * 12)
    assert asked == [["This is untested"]]
    assert decide(made(), [made(body="Bad name")], [], cosines) == Decision(True, "new")


def test_guidelines() -> None:
    """Read as people write them; a candidate of such a kind is skipped."""
    text = (
        "# Review\n\n- Do not flag unused-import — generated code\n"
        "* do not flag long lines - old files\n- Do not flag names\r\nDo not flag me\n"
    )
    lines = raising.guidelines(text)
    assert [(g.kind, g.reason, g.line) for g in lines] == [
        ("unused-import", "generated code", 3),
        ("long lines", "old files", 4),
        ("names", "", 5),
    ]
    assert decide(made(kind="Unused import"), [], lines) == Decision(
        False, "guideline: Do not flag unused-import — generated code"
    )
    assert decide(made(kind="import"), [], lines).raised
    assert decide(made(), [], lines).raised
