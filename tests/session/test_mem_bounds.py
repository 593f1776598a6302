"""Bounds of what is searched and shown of sessions: both ends of them."""

from datetime import timedelta

import pytest

from memory_palace.session import context, mem
from memory_palace.session.mem import Asked
from session.sessions import Session
from support.palaces import NOW, Palace


def found(palace: Palace, **fields: object) -> list[mem.Hit]:
    """What is found, in the ledgers alone."""
    return mem.search(palace.root, Asked("cache", **fields), NOW, None).hits  # type: ignore[arg-type]


def test_both_ends_of_a_time_are_of_it(keyword_palace: Palace) -> None:
    """What was observed at that very moment is found."""
    session = Session(keyword_palace.root)
    session.at = NOW
    made = session.observed("The cache was cold")
    (at,) = (one.found.record.at for one in found(keyword_palace))
    for since, until, expected in (
        (at, at, [made]),
        (at + timedelta(seconds=1), None, []),
        (None, at - timedelta(seconds=1), []),
    ):
        hits = found(keyword_palace, since=since, until=until)
        assert [hit.found.record.id for hit in hits] == expected


def test_one_ledger_is_read_however_large_it_is(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More are not, and that is said."""
    monkeypatch.setattr(mem, "MOST_BYTES", 1)
    for name in ("s1", "s2", "s3"):
        Session(keyword_palace.root, name).observed(f"The cache was cold in {name}")
    result = mem.search(keyword_palace.root, Asked("cache"), NOW, None)
    assert len(result.hits) == 1
    assert any(said.startswith("2 older ledgers") for said in result.said)


def test_the_last_summary_heads_a_session(keyword_palace: Palace) -> None:
    """Of several that were made while it went on."""
    session = Session(keyword_palace.root, "s1", at=NOW - timedelta(hours=2))
    session.observed("The cache was cold")
    session.summarized(request="do it")
    session.at += timedelta(hours=1)
    session.summarized(request="do it again")
    (one,) = context.recent(keyword_palace.root, NOW).sessions
    assert dict(one.summary) == {"request": "do it again"}
