"""Faults are counted by what they say, and never a fault themselves."""

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.session import health
from support.palaces import NOW

LATER = NOW + timedelta(hours=1)


def test_a_fault_is_counted_by_what_it_says(tmp_path: Path) -> None:
    """The newest first, with the last time."""
    assert health.add(tmp_path, ("a: run `x`", "b: run `y`"), NOW)
    assert health.add(tmp_path, ("a: run `x`",), LATER)
    assert health.read(tmp_path) == (
        health.Fault("a: run `x`", 2, "2026-11-29T13:00:00Z"),
        health.Fault("b: run `y`", 1, "2026-11-29T12:00:00Z"),
    )


def test_what_is_ignored_is_kept_apart(tmp_path: Path) -> None:
    """It is no fault, and adding to one leaves the other."""
    health.ignore(tmp_path, ["field x"], NOW)
    health.add(tmp_path, ("a",), NOW)
    health.ignore(tmp_path, ["field x"], LATER)
    assert [fault.message for fault in health.read(tmp_path)] == ["a"]
    assert health.ignored(tmp_path) == (health.Fault("field x", 2, "2026-11-29T13:00:00Z"),)


def test_cleared_is_forgotten(tmp_path: Path) -> None:
    """Both, and once more does no harm."""
    health.add(tmp_path, ("a",), NOW)
    health.ignore(tmp_path, ["b"], NOW)
    assert health.clear(tmp_path)
    assert health.clear(tmp_path)
    assert health.read(tmp_path) == health.ignored(tmp_path) == ()


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    """The file is bounded in lines and in their length; a long line keeps what to do."""
    for n in range(30):
        health.add(tmp_path, (f"fault {n} {'x' * 500}: run `palace doctor`",), NOW)
    found = health.read(tmp_path)
    assert len(found) == health.MOST
    assert found[0].message.startswith("fault 29 ")
    assert all(len(fault.message) == health.LONGEST for fault in found)
    assert all(fault.message.endswith("x: run `palace doctor`") for fault in found)


def test_a_fault_is_one_line(tmp_path: Path) -> None:
    """Whatever the exception said, in any characters."""
    health.add(tmp_path, ("a\nb\t c \ud800 é",), NOW)
    assert health.read(tmp_path)[0].message == "a b c \ud800 é"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "null",
        '{"faults": 7}',
        '{"faults": [7, {}, {"message": "a", "times": "x", "last": ""}]}',
        "[" * 100_000,
        '{"faults": [{"message": "a", "times": 1, "last": "b"}',
    ],
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, text: str) -> None:
    """It holds nothing that is not said again."""
    (tmp_path / ".palace").mkdir()
    (tmp_path / health.PATH).write_text(text)
    assert health.read(tmp_path) == ()
    assert health.add(tmp_path, ("a",), NOW)
    assert [fault.message for fault in health.read(tmp_path)] == ["a"]


def test_a_good_row_beside_a_bad_one_is_read(tmp_path: Path) -> None:
    """A file that another version wrote."""
    (tmp_path / ".palace").mkdir()
    rows = '{"faults": [7, {"message": "a", "times": 2, "last": "x", "more": 1}], "other": []}'
    (tmp_path / health.PATH).write_text(rows)
    assert health.read(tmp_path) == (health.Fault("a", 2, "x"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    """Nobody writes to it; the next fault begins a file."""
    place = tmp_path / health.PATH
    place.parent.mkdir()
    os.mkfifo(place)
    assert health.read(tmp_path) == ()
    assert health.add(tmp_path, ["a"], NOW)
    assert [fault.message for fault in health.read(tmp_path)] == ["a"]


def test_what_cannot_be_written_is_no_exception(tmp_path: Path) -> None:
    """A link that leads elsewhere, a file in the way, a folder for a file."""
    (tmp_path / "a").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a/.palace").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.palace").write_text("")
    (tmp_path / "c/.palace/health.json").mkdir(parents=True)
    for name in "abc":
        assert not health.add(tmp_path / name, ("x",), NOW)
        assert health.read(tmp_path / name) == ()
    assert not health.clear(tmp_path / "a")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [p.name for p in (tmp_path / "c/.palace").iterdir() if p.suffix == ".tmp"] == []


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    """In one process and in several the counts add up."""

    def count(_: int = 0) -> None:
        for _n in range(5):
            health.add(tmp_path, ("a",), datetime.now(UTC))

    child = os.fork()
    if not child:
        count()
        os._exit(0)
    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.waitpid(child, 0)
    assert health.read(tmp_path)[0].times == 15
