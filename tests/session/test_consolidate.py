"""What to merge or archive so that the report fits."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory.writing import NOW, Writer
from memory_palace.memory.alike import Entries
from memory_palace.session.consolidate import consolidate
from support.fake import fake_choice


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """A palace without memories."""
    return Writer(tmp_path / "root")


def test_nothing_to_do(writer: Writer) -> None:
    """Where the report has room."""
    writer.remember("amber ledge")
    assert consolidate(writer.root, NOW).advice == ()
    assert consolidate(writer.root, NOW, always=True).advice == ()


def test_twins(writer: Writer) -> None:
    """By words in common, or by cosine; of one category only. Nothing is written."""
    first = writer.remember("amber birch cedar fjord")
    second = writer.remember("amber birch cedar fjord knoll")
    writer.remember("amber birch cedar fjord ledge", "mistake")
    before = {p: p.read_bytes() for p in writer.root.rglob("*.md")}
    for entries in (None, Entries(writer.root, fake_choice())):
        [found, *_] = consolidate(writer.root, NOW, entries, always=True).advice
        assert found.why.startswith("say nearly the same (0.")
        assert {m.id for m in found.memories} == {first.memory.id, second.memory.id}
    assert {p: p.read_bytes() for p in writer.root.rglob("*.md")} == before


def test_where_something_does_not_fit(writer: Writer) -> None:
    """Also below 80 % of the whole: a section of its own is full."""
    for n in range(12):
        text = " ".join(f"word{n}x{m}" for m in range(25))
        writer.remember(text)
        writer.remember(text)
    found = consolidate(writer.root, NOW)
    assert found.report.percent < 80 and found.report.more > 0
    assert found.advice[0].why == "lessons that do not fit into the report"
    assert len(found.advice[0].commands) == found.report.more


def test_cold_ones(writer: Writer) -> None:
    """Those that `palace archive` would move."""
    writer.remember("amber ledge")
    later = NOW + timedelta(days=200)
    [found] = consolidate(writer.root, later, always=True).advice
    assert found.commands == ("palace archive --dry-run", "palace archive")
