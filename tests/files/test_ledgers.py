"""Ledgers on the disk: where they stand, and what is read whatever state they are in."""

import json
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.ledger import Ledger
from memory_palace.files import jsonl, ledgers
from support.ledgers import entry, header, hexes, observed, write

PATH = "palace/chambers/pi/ledger/s.jsonl"


def told(root: Path, path: str = PATH) -> list[str]:
    """The problems of a ledger."""
    return [str(problem) for problem in ledgers.load(root, path).problems]


def test_where_it_stands(tmp_path: Path) -> None:
    """One folder an agent, one file a session; ids that differ have files that differ."""
    assert ledgers.path_of(tmp_path, "pi", "0b3e-1") == "palace/chambers/pi/ledger/0b3e-1.jsonl"
    odd = ["A", "a", "a/b", "a.b", "../x", "宮", " a", "x" * 81, "con", ""]
    paths = [ledgers.path_of(tmp_path, "Claude Code@laptop", one) for one in odd]
    assert len({one.lower() for one in paths}) == len(odd)
    for path in paths:
        assert ledgers.is_ledger(path)
        agent, name = ledgers.names(path)
        assert agent == "claude-code" and "/" not in name and "." not in name
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert ledgers.every(tmp_path) == sorted(paths)


def test_what_is_no_ledger(tmp_path: Path) -> None:
    """Notes, folders, what lies deeper or in the archive; links are not followed."""
    for path in ("palace/chambers/pi/a.jsonl", "palace/chambers/pi/ledger/x/s.jsonl",
                 "palace/chambers/pi/ledger/a.md", "palace/archive_basement/ledger/s.jsonl",
                 "palace/chambers/archive_basement/ledger/s.jsonl"):  # fmt: skip
        assert not ledgers.is_ledger(path)
    with pytest.raises(ValueError, match=r"a\.md"):
        ledgers.names("palace/a.md")
    path = write(tmp_path, "pi", "s", [entry(0)])
    (tmp_path / "palace/chambers/pi/ledger/folder.jsonl").mkdir()
    (tmp_path / "palace/chambers/pi/ledger/link.jsonl").symlink_to(tmp_path / path)
    (tmp_path / "palace/chambers/other").mkdir()
    (tmp_path / "palace/chambers/other/ledger").symlink_to((tmp_path / path).parent)
    assert ledgers.every(tmp_path) == [path]
    with pytest.raises(BadInput, match="is a symbolic link"):
        ledgers.load(tmp_path, "palace/chambers/other/ledger/s.jsonl")
    with pytest.raises(BadInput, match="not a regular file"):
        ledgers.load(tmp_path, "palace/chambers/pi/ledger/folder.jsonl")


def test_chambers_elsewhere(tmp_path: Path) -> None:
    """A link in the place of all chambers leads nowhere."""
    write(tmp_path / "other", "pi", "s", [entry(0)])
    (tmp_path / "palace").mkdir()
    (tmp_path / "palace/chambers").symlink_to(tmp_path / "other/palace/chambers")
    assert ledgers.every(tmp_path) == []


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    """A missing file is an empty ledger; lines are added, never changed."""
    assert ledgers.load(tmp_path, PATH) == ledgers.Loaded(PATH, Ledger(), ())
    with ledgers.locked(tmp_path, "test"):
        ledgers.append(tmp_path, PATH, [header(), entry(0)])
        before = (tmp_path / PATH).read_bytes()
        ledgers.append(tmp_path, PATH, [entry(1, "宮殿 \ud800"), observed(0, "a")])
    assert (tmp_path / PATH).read_bytes().startswith(before)
    loaded = ledgers.load(tmp_path, PATH)
    assert len(loaded.ledger.entries) == 2 and loaded.problems == ()
    assert [one.line for one in loaded.ledger.entries.values()] == [2, 3]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """Is named, with what to do."""
    (tmp_path / "palace").write_text("a file")
    with pytest.raises(Missing, match=r"s\.jsonl cannot be written .*: free disk space or mend"):
        ledgers.append(tmp_path, PATH, [entry(0)])


def test_cut_off_anywhere(tmp_path: Path) -> None:
    """The whole lines count, the rest is a warning, and the next write ends the line: nothing
    that was whole is lost, nothing counts twice."""
    rows = [entry(0), entry(1, "宮殿"), observed(1, "殿")]
    whole = "".join(jsonl.dump(row) + "\n" for row in rows).encode()
    ends = [n for n, byte in enumerate(whole, start=1) if byte == 10]
    for cut in range(0, len(whole), 7):
        place = tmp_path / PATH
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(whole[:cut])
        loaded = ledgers.load(tmp_path, PATH)
        number = sum(end <= cut + 1 for end in ends)
        assert len(loaded.ledger.entries) + len(loaded.ledger.observations) == number
        torn = cut not in (0, *ends) and cut + 1 not in ends
        assert [problem.grade for problem in loaded.problems] == ["warning"] * torn
        ledgers.append(tmp_path, PATH, rows)
        again = ledgers.load(tmp_path, PATH)
        assert len(again.ledger.entries) == 2 and len(again.ledger.observations) == 1
        assert [problem.grade for problem in again.problems] == ["warning"] * torn
        if torn:
            assert "cut off in the middle: left out; remove the line" in str(again.problems[0])


def test_lines_that_are_not_ours(tmp_path: Path) -> None:
    """Junk, an array, a bad record: errors with their lines; a torn last line a warning."""
    path = write(tmp_path, "pi", "s", [entry(0)])
    bad = observed(0, "a") | {"covers_up_to": "x"}
    text = f"\ufeff\r\n<<<<<<< ours\n[1]\n{json.dumps(bad)}\n{json.dumps(entry(1))}\n"
    with (tmp_path / path).open("ab") as file:
        file.write(text.encode() + b'{"at": "2026-\xff')
    problems = told(tmp_path)
    places = sorted(problem.split(": ")[0].rpartition(":")[2] for problem in problems)
    assert places == ["2", "3", "4", "5", "7"]
    assert sum(": warning: " in problem for problem in problems) == 1
    assert any("`covers_up_to` is 'x': an id has 12 hex digits; left out" in p for p in problems)
    assert len(ledgers.load(tmp_path, path).ledger.entries) == 2


def test_a_glance(tmp_path: Path) -> None:
    """Session, project and newest time, from either end of a file that is not read whole."""
    rows = [header("S 1", "demo"), *(entry(n, "x" * 3000) for n in range(200))]
    path = write(tmp_path, "pi", "s", rows)
    assert ledgers.glance(tmp_path, path) == ledgers.Glance(
        path, "pi", "s", "S 1", "demo", ledgers.dates.parse(rows[-1]["at"])
    )
    bare = write(tmp_path, "pi", "bare", [])
    assert ledgers.glance(tmp_path, bare)[3:] == ("", "", None)
    assert ledgers.glance(tmp_path, PATH.replace("s.jsonl", "none.jsonl"))[3:] == ("", "", None)
    (tmp_path / bare).write_bytes(b'\xff\n{"at": "not a time"}\n{"at": 3, "event": "session"}\n')
    assert ledgers.glance(tmp_path, bare)[3:] == ("", "", None)


def test_what_mentions_an_id(tmp_path: Path) -> None:
    """As a text of its own, wherever in the file, also across the blocks that are read."""
    path = write(tmp_path, "pi", "s", [])
    id = hexes("x", 12)
    for before in (0, (1 << 20) - 20, (1 << 20) - 7, (1 << 20) - 1, 1 << 20, (2 << 20) - 5):
        (tmp_path / path).write_bytes(b" " * before + f'"{id}"'.encode())
        assert ledgers.mentions(tmp_path, path, id)
        assert not ledgers.mentions(tmp_path, path, id[1:])
    assert not ledgers.mentions(tmp_path, "palace/chambers/pi/ledger/none.jsonl", id)
