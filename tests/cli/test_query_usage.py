"""Hits that were shown count as retrieved, and nothing else does."""

from pathlib import Path

import pytest

from memory_palace.cli import query
from memory_palace.memory import usage
from serve.running import serving
from support.palaces import Palace

A, B, COLD = "palace/topics/amber.md", "palace/topics/beryl.md", "palace/archive_basement/old.md"


@pytest.fixture
def filled(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """Two notes about stones, one that links to the other, and one in the archive."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(
        topics__amber="# Amber\n\nThe amber ledge. [[beryl]]",
        topics__beryl="# Beryl\n\nGreen.",
        archive_basement__old="# Old amber\n\nThe first amber ledge.",
    )
    keyword_palace.command("index")
    return keyword_palace


def counted(palace: Palace) -> list[dict[str, int]]:
    """What was counted, a line each."""
    return [dict(one.counts) for one in usage.local(palace.root)]


def test_hits_count_and_neighbours_do_not(filled: Palace) -> None:
    """One line an answer, in every format; nothing for a question without hits."""
    done = filled.command("query", "ledge")
    assert B in done.out
    filled.command("query", "ledge", "--format", "jsonl")
    assert filled.command("query", "nothing like it").code == 1
    assert counted(filled) == [{A: 1}, {A: 1}]


def test_reading_the_archive_counts(filled: Palace) -> None:
    """An archived note that is looked at was retrieved."""
    filled.command("query", "ledge", "--archived")
    assert counted(filled) == [{A: 1, COLD: 1}]


def test_answers_of_the_warm_server_count(filled: Palace) -> None:
    """Once, whoever answers."""
    with serving(filled.root):
        assert filled.command("query", "ledge").code == 0
    assert counted(filled) == [{A: 1}]


def test_a_batch_counts_once(filled: Palace) -> None:
    """One line for all its questions."""
    assert filled.command("query", "--batch", "-", stdin="ledge\ngreen\nnothing\n").code == 0
    assert counted(filled) == [{A: 1, B: 1}]


def test_a_long_batch_is_a_measurement(filled: Palace) -> None:
    """None of its hits counts."""
    questions = "ledge\n" * (query.MOST_COUNTED + 1)
    assert filled.command("query", "--batch", "-", stdin=questions).code == 0
    assert counted(filled) == []


def test_a_long_answer_is_a_listing(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its first hits count."""
    monkeypatch.setattr(query, "MOST_COUNTED", 1)
    done = filled.command("query", "--room", "topics", "--format", "files")
    assert len(done.out.splitlines()) == 2
    assert [len(line) for line in counted(filled)] == [1]


def test_a_palace_that_cannot_be_written_answers(filled: Palace, tmp_path: Path) -> None:
    """Nothing is counted, nothing is said."""
    memory = filled.root / ".palace" / "memory"
    memory.symlink_to(tmp_path)
    done = filled.command("query", "ledge")
    assert done.code == 0
    assert "memory" not in done.err
    assert counted(filled) == []
