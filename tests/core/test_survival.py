"""What must survive drops."""

import pytest

from core.talked import observation
from memory_palace.core.survival import survives


@pytest.mark.parametrize(
    "text",
    [
        "User: I prefer pnpm over npm.",
        "User: from now on branch as fix/<ticket>",
        "Assistant: Done: both callers read cents.",
        "The report is finished.",
        "All 38 tests pass.",
        "It is about BILL-482.",
        "Since 2f90aa1 there are more stations.",
        "The run 123e4567-e89b-12d3-a456-426614174000 was slow.",
        "See https://example.org/a",
        "Tagged v0.10.0-rc1",
        "It said `TypeError: x is not a function`.",
        "Failed: `pnpm build`",
        "We decided on amber.",
        "Petra is back on 2026-10-19.",
        "The release is on 6 November 2026.",
        "Blocked by the expired token.",
        "Waiting for the answer of ops.",
        "User prefers pnpm over npm",
        "The user does not want emojis",
        "Login page finished and deployed",
        "Tests pass after the change",
        "Merged the branch of the cache",
        "The build ends with ENOENT, no such file",
        "HTTP 500 from the upload",
        "Decided to use SQLite",
        "Ana chose amber",
        "Rejected Redis because of the cost",
        "Meeting on Friday",
        "Due tomorrow",
        "It is order 48213377",
    ],
)
def test_survives(text: str) -> None:
    """Preferences, finished work, identifiers, exact errors, decisions, dates, blockers."""
    assert survives(observation(text))


@pytest.mark.parametrize("type", ["decision", "bugfix", "feature"])
def test_some_types_survive(type: str) -> None:
    """Whatever their words are."""
    assert survives(observation("Amber.", type=type))


def test_what_is_critical_survives() -> None:
    """Whatever its words are."""
    assert survives(observation("Amber.", relevance="critical"))


@pytest.mark.parametrize(
    "text",
    [
        "Changed src/theme.ts: `paper`",
        "Ana: I painted boats last week.",
        "Assistant: 71 % of the time goes into Stations::nearest.",
        "The defaced cafe was added",
        "The cache is not deployed",
        "The team meets in a room",
        "ETL jobs are slow",
        "",
    ],
)
def test_the_rest_may_go(text: str) -> None:
    """Edits and small talk."""
    assert not survives(observation(text or "x", type="change"))
