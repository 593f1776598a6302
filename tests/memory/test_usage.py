"""Retrievals counted locally, shared as daily totals: nothing lost, nothing twice."""

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.core.events import Event
from memory_palace.core.usage import Retrieval
from memory_palace.files import journal
from memory_palace.memory import pen, usage

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
A, B = "palace/topics/a.md", "palace/b.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    (tmp_path / "palace").mkdir()
    (tmp_path / "palace.yaml").touch()
    return tmp_path


def folder(root: Path) -> Path:
    """Where the lines are."""
    return root / ".palace" / "memory"


def lines(root: Path) -> list[str]:
    """The lines of today's log."""
    return (folder(root) / usage.NAME).read_text().splitlines()


def fold(root: Path, now: datetime) -> list[Event]:
    """Fold at ``now``; all events that the palace has then."""
    with pen.begin(root, now, "palace archive") as p:
        usage.fold(p)
    return list(journal.load(root).events)


def counted(root: Path) -> Counter[str]:
    """Every retrieval that is known, from events and from lines."""
    found: Counter[str] = Counter()
    for event in journal.load(root).events:
        found.update(event.data["counts"])
    for one in usage.local(root):
        found.update(one.counts)
    return found


def test_one_line_an_answer(root: Path) -> None:
    """A line has the time and each path once; no hits, no line."""
    usage.note_retrieved(root, [A, B, A], NOW)
    usage.note_retrieved(root, [], NOW)
    assert [json.loads(line) for line in lines(root)] == [
        {"at": "2026-11-29T12:00:00Z", "paths": [A, B]}
    ]
    assert usage.local(root) == [Retrieval(NOW, {A: 1, B: 1})]
    assert usage.local(root.parent) == []


def test_a_day_that_is_over_becomes_one_event(root: Path) -> None:
    """Its counts are added up; the lines are gone, today's stay."""
    for hour in range(3):
        usage.note_retrieved(root, [A], NOW - DAY + timedelta(hours=hour))
    usage.note_retrieved(root, [B], NOW - DAY + timedelta(hours=4))
    usage.note_retrieved(root, [B], NOW)
    [event] = fold(root, NOW)
    assert (event.event, event.id, event.data) == (
        "retrieved",
        "2026-11-28",
        {"counts": {B: 1, A: 3}},
    )
    assert event.at == datetime(2026, 11, 28, 23, 59, 59, tzinfo=UTC)
    assert usage.local(root) == [Retrieval(NOW, {B: 1})]
    assert fold(root, NOW) == [event]
    assert len(fold(root, NOW + DAY)) == 2
    assert usage.local(root) == []
    assert {p.name for p in folder(root).iterdir()} <= {"writer.lock"}


def test_nothing_to_fold(root: Path) -> None:
    """No folder, or a log of today: nothing is written."""
    assert fold(root, NOW) == []
    usage.note_retrieved(root, [A], NOW)
    assert fold(root, NOW) == []
    assert len(lines(root)) == 1


def test_lines_of_a_day_to_come_wait(root: Path) -> None:
    """A clock that was ahead: the lines stay until their day is over."""
    usage.note_retrieved(root, [A], NOW + 3 * DAY)
    usage.note_retrieved(root, [B], NOW)
    assert fold(root, NOW + DAY)[0].data == {"counts": {B: 1}}
    assert usage.local(root) == [Retrieval(NOW + 3 * DAY, {A: 1})]
    assert counted(root) == {A: 1, B: 1}
    assert len(fold(root, NOW + 4 * DAY)) == 2


def test_a_piece_of_two_days_keeps_its_later_one(root: Path) -> None:
    """Another process may have put today's lines aside with yesterday's."""
    usage.note_retrieved(root, [A], NOW)
    (folder(root) / usage.NAME).rename(folder(root) / "retrieved.2026-11-28.0.jsonl")
    piece = folder(root) / "retrieved.2026-11-28.0.jsonl"
    piece.write_text(
        '{"at": "2026-11-28T01:00:00Z", "paths": ["palace/b.md"]}\n' + piece.read_text()
    )
    assert [event.data["counts"] for event in fold(root, NOW)] == [{B: 1}]
    assert piece.read_text().count("\n") == 1
    assert counted(root) == {A: 1, B: 1}


def test_killed_between_event_and_clearing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next fold finds the same total, and logs no second event."""

    def killed(_: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    usage.note_retrieved(root, [A], NOW - DAY)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            fold(root, NOW)
    assert len(usage.local(root)) == 1
    assert len(fold(root, NOW + DAY)) == 1
    assert usage.local(root) == []
    assert counted(root) == {A: 1}


def test_equal_days_in_two_pieces_both_count(root: Path) -> None:
    """The same counts twice are twice as many, not the same event."""
    for name in ("0", "1"):
        usage.note_retrieved(root, [A], NOW - DAY)
        (folder(root) / usage.NAME).rename(folder(root) / f"retrieved.2026-11-28.{name}.jsonl")
    assert len(fold(root, NOW)) == 2
    assert counted(root) == {A: 2}


def test_a_large_log_is_put_aside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is dropped: the pieces are folded when their day is over."""
    monkeypatch.setattr(usage, "MOST_BYTES", 500)
    for _ in range(50):
        usage.note_retrieved(root, [A, B], NOW)
    assert len(list(folder(root).glob("retrieved.*.jsonl"))) > 3
    assert (folder(root) / usage.NAME).stat().st_size < 700
    assert counted(root) == {A: 50, B: 50}
    fold(root, NOW + DAY)
    assert counted(root) == {A: 50, B: 50}
    assert usage.local(root) == []


def test_a_line_that_was_cut_short_spoils_no_other(root: Path) -> None:
    """The next one starts on a line of its own."""
    usage.note_retrieved(root, [A], NOW)
    with (folder(root) / usage.NAME).open("a") as file:
        file.write('{"at": "2026-11-2')
    usage.note_retrieved(root, [B], NOW)
    assert counted(root) == {A: 1, B: 1}


def test_a_query_that_writes_while_its_piece_is_folded(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came to the piece after it was read stays there."""
    usage.note_retrieved(root, [A], NOW - DAY)
    real = pen.Pen.log

    def slow(p: pen.Pen, *arguments: str, **fields: object) -> Event:
        if not p.logged:
            [piece] = folder(root).glob("retrieved.*.jsonl")
            with piece.open("a") as file:
                file.write('{"at": "2026-11-28T23:59:59Z", "paths": ["palace/b.md"]}\n')
        return real(p, *arguments, **fields)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(pen.Pen, "log", slow)
        fold(root, NOW)
    assert counted(root) == {A: 1, B: 1}
    assert len(fold(root, NOW)) == 2
    assert counted(root) == {A: 1, B: 1}


def test_many_queries_while_days_are_folded(root: Path) -> None:
    """No retrieval is lost, however they interleave."""
    done = threading.Event()

    def ask() -> None:
        for number in range(200):
            usage.note_retrieved(root, [A], NOW + number % 3 * DAY)

    def write() -> None:
        while not done.is_set():
            fold(root, NOW + 2 * DAY)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    writer = threading.Thread(target=write)
    for thread in (*askers, writer):
        thread.start()
    for thread in askers:
        thread.join()
    done.set()
    writer.join()
    assert counted(root)[A] >= 600


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the palace."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.mark.parametrize("name", [".palace", ".palace/memory"])
def test_no_link_is_followed(root: Path, elsewhere: Path, name: str) -> None:
    """A folder that leads elsewhere is not written to, and not read."""
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(elsewhere)
    usage.note_retrieved(root, [A], NOW)
    assert list(elsewhere.rglob("*")) == []
    assert usage.local(root) == []


def test_a_log_that_leads_elsewhere(root: Path, elsewhere: Path) -> None:
    """Neither written nor read nor folded."""
    folder(root).mkdir(parents=True)
    there = elsewhere / "log"
    there.write_text('{"at": "2026-11-01T00:00:00Z", "paths": ["palace/b.md"]}\n')
    for name in (usage.NAME, "retrieved.2026-11-01.0.jsonl"):
        (folder(root) / name).symlink_to(there)
    usage.note_retrieved(root, [A], NOW)
    assert there.read_text().count("\n") == 1
    assert usage.local(root) == []
    assert fold(root, NOW) == []


def test_a_pipe_does_not_block(root: Path) -> None:
    """In the place of the log, or of a piece."""
    folder(root).mkdir(parents=True)
    for name in (usage.NAME, "retrieved.2026-11-01.0.jsonl"):
        os.mkfifo(folder(root) / name)
    usage.note_retrieved(root, [A], NOW)
    assert usage.local(root) == []
    assert fold(root, NOW) == []


@pytest.fixture
def unwritable(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A palace whose disk can only be read."""

    def no(*_: object, **__: object) -> int:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", no)
    monkeypatch.setattr(Path, "mkdir", no)
    yield root


def test_a_disk_that_can_only_be_read(unwritable: Path) -> None:
    """The answer was given, that is what counts."""
    usage.note_retrieved(unwritable, [A], NOW)
    assert not folder(unwritable).exists()


def test_a_full_disk_keeps_its_lines(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised, and what was there is not harmed."""
    usage.note_retrieved(root, [A], NOW)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        usage.note_retrieved(root, [B], NOW)
    assert counted(root) == {A: 1}


def test_names_that_are_not_text(root: Path) -> None:
    """Half a character is no reason to fail; it is left out."""
    usage.note_retrieved(root, ["palace/\ud800.md"], NOW)
    assert usage.local(root) == []


def test_what_a_person_wrote_into_the_log(root: Path) -> None:
    """Nonsense is left out, and does not stop the rest."""
    usage.note_retrieved(root, [A], NOW - DAY)
    with (folder(root) / usage.NAME).open("ab") as file:
        file.write(b'nonsense\n[1]\n{"at": 3}\n\xff\n')
    assert [event.data["counts"] for event in fold(root, NOW)] == [{A: 1}]
    (folder(root) / usage.NAME).write_text("nonsense\n")
    usage.note_retrieved(root, [B], NOW)
    assert counted(root) == {A: 1, B: 1}
