"""A session's record is appended to by hooks that do not know of one another."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.errors import BadInput
from memory_palace.files import roots
from memory_palace.session import record
from support.palaces import NOW, SCRIPTS

ROWS = [{"k": "turn"}, {"k": "tool", "tool": "Bash", "command": "é \ud800\n"}]


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    """In order, whatever the text; another session's is another record."""
    record.append(tmp_path, "c/one", ROWS)
    record.append(tmp_path, "c/two", [{"k": "turn"}])
    record.append(tmp_path, "c/one", [{"k": "retried"}])
    assert record.read(tmp_path, "c/one") == [*ROWS, {"k": "retried"}]
    assert record.read(tmp_path, "c/two") == [{"k": "turn"}]
    assert record.read(tmp_path, "c/three") == []


def test_nothing_appended_makes_no_file(tmp_path: Path) -> None:
    """No folder either."""
    record.append(tmp_path, "s", [])
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_the_users_alone(tmp_path: Path) -> None:
    """It holds commands that were run."""
    record.append(tmp_path, "s", ROWS)
    assert record.place(tmp_path, "s").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "x" * 10_000, "", "\ud800", "a\0b"])
def test_any_name_of_a_session_is_one_file(tmp_path: Path, name: str) -> None:
    """What a client says becomes no path."""
    record.append(tmp_path, name, ROWS)
    assert record.read(tmp_path, name) == ROWS
    assert len(list((tmp_path / record.FOLDER).iterdir())) == 1


def test_a_subagent_has_a_record_of_its_own() -> None:
    """Its turn is not the session's."""
    assert record.key("c", "s") == "c/s"
    assert record.key("c", "s", "a") == "c/s/a"


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    """What a killed writer left is passed over, and the next line is whole."""
    record.append(tmp_path, "s", [{"k": "turn"}])
    with record.place(tmp_path, "s").open("ab") as file:
        file.write(b'{"k": "tool", "comm')
    record.append(tmp_path, "s", [{"k": "retried"}])
    assert record.read(tmp_path, "s") == [{"k": "turn"}, {"k": "retried"}]


def test_it_needs_nothing_that_windows_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No ``pread`` there: each event of a session would be a fault."""
    monkeypatch.delattr(os, "pread")
    test_a_torn_line_costs_only_itself(tmp_path)


def test_what_is_no_object_is_passed_over(tmp_path: Path) -> None:
    """Numbers, lists, deep nesting, bytes that are no text."""
    place = record.place(tmp_path, "s")
    place.parent.mkdir(parents=True)
    place.write_bytes(b"7\n[1]\nnull\n\n\xff\xfe\n" + b"[" * 50_000 + b'\n{"k": "turn"}\n')
    assert record.read(tmp_path, "s") == [{"k": "turn"}]


def test_only_the_end_of_a_long_record_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning of a session of days does not slow down its end."""
    monkeypatch.setattr(record, "MOST_BYTES", 100)
    record.append(tmp_path, "s", [{"k": "reminded", "path": f"{n:03}"} for n in range(50)])
    found = record.read(tmp_path, "s")
    assert 0 < len(found) < 5
    assert found[-1] == {"k": "reminded", "path": "049"}


def test_a_turn_begins_with_its_prompt() -> None:
    """Before the first prompt everything is of this turn."""
    rows = [{"k": "tool"}, {"k": "turn"}, {"k": "reminded"}, {"k": "turn"}, {"k": "shown"}]
    assert record.this_turn(rows) == [{"k": "shown"}]
    assert record.this_turn(rows[:3]) == [{"k": "reminded"}]
    assert record.this_turn(rows[:1]) == [{"k": "tool"}]
    assert record.this_turn(rows[:2]) == []


def test_what_was_shown_is_known_until_a_compaction() -> None:
    """The newest digest of each; rows without a key are passed over."""
    first = [
        {"k": "shown", "key": "a", "digest": "1"},
        {"k": "shown", "key": "b", "digest": "1"},
        {"k": "shown", "key": "a", "digest": "2"},
        {"k": "shown"},
    ]
    assert record.shown(first) == {"a": "2", "b": "1"}
    assert record.shown([*first, {"k": "compacted"}, first[1]]) == {"b": "1"}


_WRITER = """
import sys
from pathlib import Path
from memory_palace.files import roots
from memory_palace.session import record
for n in range(40):
    record.append(Path(sys.argv[1]), "s", [{"k": "tool", "tool": sys.argv[2], "n": n}] * 2)
"""


def test_two_hooks_at_once_lose_no_line(tmp_path: Path) -> None:
    """Every line of every writer is there, whole and in its own order."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), name],
            env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
        )
        for name in "abc"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    rows = record.read(tmp_path, "s")
    for name in "abc":
        assert [r["n"] for r in rows if r["tool"] == name] == [n for n in range(40) for _ in "12"]


def test_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    """A stranger's repository could lead the write anywhere; reading finds nothing."""
    (tmp_path / "other").mkdir()
    (tmp_path / ".palace").symlink_to(tmp_path / "other")
    with pytest.raises(BadInput):
        record.append(tmp_path, "s", ROWS)
    assert record.read(tmp_path, "s") == []
    assert record.prune(tmp_path, NOW) == 0


def test_old_records_are_removed(tmp_path: Path) -> None:
    """Those that nothing was added to for two weeks, and nothing else in the folder."""
    for name, days in (("old", 15), ("new", 13)):
        record.append(tmp_path, name, ROWS)
        moment = (NOW - timedelta(days=days)).timestamp()
        os.utime(record.place(tmp_path, name), (moment, moment))
    other = tmp_path / record.FOLDER / "notes.txt"
    other.write_text("")
    os.utime(other, (0, 0))
    assert record.prune(tmp_path, NOW) == 1
    assert record.read(tmp_path, "old") == []
    assert record.read(tmp_path, "new") == ROWS
    assert other.exists()
    assert record.prune(tmp_path / "nowhere", NOW) == 0


def test_what_killed_hooks_left_half_written_is_removed(tmp_path: Path) -> None:
    """What another one may be writing right now stays, and so does all else."""
    for name, hours in ((".health.1.tmp", 2), (".rules.2.tmp", 0.5), ("rules.json", 2)):
        file = tmp_path / roots.DERIVED / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
        moment = (NOW - timedelta(hours=hours)).timestamp()
        os.utime(file, (moment, moment))
    assert record.prune(tmp_path, NOW) == 1
    left = {file.name for file in (tmp_path / roots.DERIVED).iterdir()}
    assert left == {".rules.2.tmp", "rules.json"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    """Nobody writes to it."""
    place = record.place(tmp_path, "s")
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    assert record.read(tmp_path, "s") == []


_ROW = st.dictionaries(
    st.text(max_size=6), st.none() | st.booleans() | st.integers() | st.text(max_size=20)
)


@given(st.lists(st.lists(_ROW, max_size=4), max_size=4))
def test_any_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, object]]]
) -> None:
    """Appended in any portions."""
    root = tmp_path_factory.mktemp("record")
    for rows in batches:
        record.append(root, "s", rows)
    assert record.read(root, "s") == [row for rows in batches for row in rows]
