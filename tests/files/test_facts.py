"""The log of facts on disk."""

import gc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.core.events import Event
from memory_palace.files import facts

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
ADDED = Event(
    AT,
    "pi@laptop",
    "added",
    "0123456789abcdef",
    "aaaaaaaaaaaa",
    "",
    {"subject": "Ann", "predicate": "is", "object": "here"},
)


def write(root: Path, text: str) -> None:
    """The log, with this text."""
    path = root / facts.PATH
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    """A missing log is empty; the shared keys come first."""
    assert facts.load(tmp_path).all == ()
    facts.append(tmp_path, [ADDED])
    assert (tmp_path / facts.PATH).read_text() == (
        '{"at": "2026-11-29T12:00:00Z", "by": "pi@laptop", "event": "added", '
        '"uid": "0123456789abcdef", "id": "aaaaaaaaaaaa", '
        '"subject": "Ann", "predicate": "is", "object": "here"}\n'
    )
    (one,) = facts.load(tmp_path).all
    assert (one.id, one.at, one.by, one.valid_from, one.line) == (ADDED.id, AT, ADDED.by, AT, 1)


def test_torn_and_broken_lines_are_problems_and_the_rest_counts(tmp_path: Path) -> None:
    """With path and line; the next write ends a line that was cut off."""
    good = '{"event": "added", "subject": "a", "predicate": "b", "object": "\udcff"}\n'
    write(tmp_path, good + 'not json\n[]\n{"at": "2026-11-2')
    found = facts.load(tmp_path)
    assert len(found.all) == 1
    assert [(p.line, p.grade) for p in found.problems] == [
        (2, "error"),
        (3, "error"),
        (4, "warning"),
    ]
    facts.append(tmp_path, [ADDED])
    found = facts.load(tmp_path, ["ann"])
    assert [fact.line for fact in found.all] == [5]
    assert [p.line for p in found.problems] == [2, 3, 4]


def test_only_the_facts_of_some_entities(tmp_path: Path) -> None:
    """With their ends; what ends the others is no problem."""
    write(
        tmp_path,
        '{"event": "added", "id": "1", "subject": "a", "predicate": "b", "object": "c"}\n'
        '{"event": "added", "id": "2", "subject": "x", "predicate": "b", "object": "y"}\n'
        '{"event": "invalidated", "id": "1", "valid_to": "2026-01-01"}\n'
        '{"event": "invalidated", "id": "2", "valid_to": "2026-01-01"}\n',
    )
    found = facts.load(tmp_path, ["Y"])
    assert [fact.id for fact in found.all] == ["2"]
    assert found.all[0].valid_to is not None
    assert found.problems == ()


def test_a_log_that_is_none(tmp_path: Path) -> None:
    """A folder in its place is told in one line."""
    (tmp_path / facts.PATH).mkdir(parents=True)
    with pytest.raises(BadInput, match=r"manifests/facts\.jsonl"):
        facts.load(tmp_path)


def test_reading_leaves_the_garbage_collection_as_it_was(tmp_path: Path) -> None:
    """On, or off."""
    facts.append(tmp_path, [ADDED])
    assert gc.isenabled()
    facts.load(tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        facts.load(tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()
