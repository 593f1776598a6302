"""Summaries in ledgers, and the list of sessions."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Refused
from memory_palace.files import ledgers as files
from memory_palace.session import sessions, summary
from support import ledgers
from support.ledgers import entry, header, observed
from support.palaces import NOW, Palace

BY = "claude-code@laptop"


@pytest.fixture
def path(keyword_palace: Palace) -> str:
    """A ledger with a request and an answer."""
    lines = [header("s-1", "shop", "pi"), entry(0, "Read tabs."), entry(1, "Ok", role="assistant")]
    return ledgers.write(keyword_palace.root, "pi", "s-1", lines)


def add(root: Path, path: str, *lines: ledgers.Line) -> None:
    """More lines in a ledger."""
    with files.locked(root, "test"):
        files.append(root, path, lines)


def test_an_agents_own_summary_is_kept_as_it_said_it(keyword_palace: Palace, path: str) -> None:
    """On one line, cut at 500, empty parts left out; it covers the newest entry."""
    root = keyword_palace.root
    given = {"learned": "a\nb", "completed": "word " * 200, "next_steps": " "}
    summary.write(root, path, given, NOW, BY)
    loaded = files.load(root, path)
    assert loaded.problems == ()
    (kept,) = loaded.ledger.summaries
    assert kept.parts["learned"] == "a b"
    assert len(kept.parts["completed"]) <= 500
    assert set(kept.parts) == {"learned", "completed"}
    assert (kept.covers_up_to, kept.by, kept.at) == (ledgers.eid(1), BY, NOW)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"next_step": "x"}, "no part `next_step` of a summary: did you mean `next_steps`"),
        ({"learned": 1}, "`learned` is 1: write text"),
        ({"learned": " "}, "the summary is empty: write at least one of request"),
        ({"learned": "<private>x</private>"}, "the summary is empty"),
        ({}, "the summary is empty"),
        ({"learned": "a\0"}, "not UTF-8"),
        ({"learned": "\ud800"}, "not UTF-8"),
    ],
)
def test_what_is_no_summary_is_refused(
    keyword_palace: Palace, path: str, parts: dict[str, str], said: str
) -> None:
    """Nothing is written."""
    before = (keyword_palace.root / path).read_bytes()
    with pytest.raises(BadInput, match=said):
        summary.write(keyword_palace.root, path, parts, NOW, BY)
    assert (keyword_palace.root / path).read_bytes() == before


def test_secrets_are_taken_out(keyword_palace: Palace, path: str) -> None:
    """Before anything is written."""
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    summary.write(keyword_palace.root, path, {"learned": f"it is {token}"}, NOW, BY)
    text = (keyword_palace.root / path).read_text()
    assert token not in text and "[SECRET: GitHub token]" in text


def test_an_empty_ledger_has_nothing_to_sum_up(keyword_palace: Palace) -> None:
    """Refused for an agent, nothing for the rules."""
    path = "palace/chambers/pi/ledger/none.jsonl"
    with pytest.raises(Refused, match="no entries yet"):
        summary.write(keyword_palace.root, path, {"learned": "x"}, NOW, BY)
    assert summary.by_rules(keyword_palace.root, path, NOW) is None
    assert not (keyword_palace.root / path).exists()


def test_by_rules_once_for_a_tip(keyword_palace: Palace, path: str) -> None:
    """Again only when something was added."""
    root = keyword_palace.root
    first = summary.by_rules(root, path, NOW)
    assert first is not None and first.parts == {"request": "Read tabs."}
    assert first.by.startswith("rules@")
    assert summary.by_rules(root, path, NOW) is None
    add(root, path, entry(2, "$ ls", role="tool", tool="Bash"))
    again = summary.by_rules(root, path, NOW + timedelta(hours=1))
    assert again is not None and again.covers_up_to == ledgers.eid(2)
    newest = summary.newest(files.load(root, path).ledger)
    assert newest is not None and newest.parts["investigated"] == "ran ls"


def test_the_rules_do_not_speak_over_an_agent(keyword_palace: Palace, path: str) -> None:
    """What follows an agent's summary is the call that wrote it; a new request is another thing."""
    root = keyword_palace.root
    summary.write(root, path, {"completed": "It reads tabs"}, NOW, BY)
    add(root, path, entry(2, "$ palace session summarize", role="tool", tool="Bash"))
    add(root, path, entry(3, "Summed up.", role="assistant"))
    assert summary.by_rules(root, path, NOW) is None
    add(root, path, entry(4, "Now read CRLF."))
    assert summary.by_rules(root, path, NOW) is not None


def test_what_was_dropped_is_not_summed_up(keyword_palace: Palace, path: str) -> None:
    """A tombstone holds here too, and so does the branch."""
    add(
        keyword_palace.root,
        path,
        observed(1, "Kept", type="discovery"),
        observed(1, "Gone", type="discovery"),
        ledgers.dropped(1, "Gone"),
    )
    found = summary.by_rules(keyword_palace.root, path, NOW)
    assert found is not None and found.parts["learned"] == "Kept"


def test_sessions_newest_first(keyword_palace: Palace, path: str) -> None:
    """With wing, entries, summary or first request; a wing that none has names the nearest."""
    root = keyword_palace.root
    ledgers.write(
        root, "claude-code", "s-2", [header("s-2", "Café", "claude-code"), entry(9, "Read CRLF.")]
    )
    summary.write(root, path, {"request": "Tabs"}, NOW, BY)
    found = sessions.listed(root)
    told = [(one.session, one.agent, one.wing, one.entries, one.request) for one in found.sessions]
    assert told == [
        ("s-2", "claude-code", "Café", 1, "Read CRLF."),
        ("s-1", "pi", "shop", 2, "Tabs"),
    ]
    assert sessions.listed(root, limit=1).more == 1
    assert [one.session for one in sessions.listed(root, "SHOP").sessions] == ["s-1"]
    assert [one.session for one in sessions.listed(root, "cafe\u0301").sessions] == ["s-2"]
    with pytest.raises(Refused, match="no session of wing `shp`: did you mean `shop`"):
        sessions.listed(root, "shp")
    assert sessions.listed(root, agent="Claude Code").sessions[0].session == "s-2"
