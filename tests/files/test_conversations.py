"""Conversations in files and folders: found, told apart, read."""

import os
from pathlib import Path

import pytest

from files.test_opencode import sample, storage
from memory_palace.core.errors import BadInput
from memory_palace.files import conversations
from support.palaces import REPOSITORY

SAMPLES = REPOSITORY / "tests" / "fixtures" / "transcripts"


def clients(*paths: Path, client: str = "auto") -> dict[str, str]:
    """The client of each conversation, by its file."""
    found = conversations.find(paths, client)
    assert not found.faults
    return {one.path.name: one.client for one in found.conversations}


def test_each_sample_tells_its_client() -> None:
    """Of all clients that have one, in a folder with all of them."""
    assert clients(SAMPLES) == {
        "claude-code.jsonl": "claude-code",
        "claude-code-agent.jsonl": "claude-code",
        "claude-code-fork.jsonl": "claude-code",
        "codex.jsonl": "codex",
        "codex-fork.jsonl": "codex",
        "opencode-export.json": "opencode",
        "pi.jsonl": "pi",
        "pi-fork.jsonl": "pi",
    }
    assert set(clients(SAMPLES, client="pi").values()) == {"pi"}
    assert set(clients(SAMPLES, client="opencode").values()) == {"opencode"}


def test_other_files_are_counted_by_reason(tmp_path: Path) -> None:
    """None is passed over in silence."""
    files = {
        "a.png": b"x",
        "none": b"x",
        "b.jsonl": b'{"x": 1}\n',
        "c.jsonl": b"",
        "d.json": b"{broken",
        "e.md": b"# Notes\n\nNobody speaks.\n",
        "f.txt": b"\xff\xfeU\0s\0e\0r\0",
        "g.db": b"SQLite format 3\0" + bytes(200),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "link.jsonl").symlink_to(SAMPLES / "pi.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "node_modules").mkdir()
    found = conversations.find([tmp_path])
    assert not found.conversations
    assert {why: number for why, number in found.others.items() if number} == {
        "other kind of file (.png)": 1,
        "other kind of file (no ending)": 1,
        "no known transcript": 1,
        "without a whole record": 1,
        "no session of OpenCode": 1,
        "a text in which nobody speaks": 1,
        "no UTF-8 text": 1,
        "symbolic link": 2,
        "no regular file": 1,
        "in a folder that is passed over": 1,
    }
    assert len(found.faults) == 1
    assert "g.db cannot be read" in found.faults[0]


@pytest.mark.parametrize(
    ("name", "client", "why"),
    [
        ("pi.jsonl", "codex", "not of codex, but of pi"),
        ("opencode-export.json", "pi", "not of pi"),
        ("pi.jsonl", "opencode", "not of opencode"),
    ],
)
def test_another_client_than_told(name: str, client: str, why: str) -> None:
    """Says whose it is."""
    with pytest.raises(BadInput, match=why):
        conversations.find([SAMPLES / name], client)


def test_a_text_is_told_by_its_beginning(tmp_path: Path) -> None:
    """Named speakers anywhere; quotes alone only where they begin the text and come again, or
    where it is said to be one."""
    (tmp_path / "a.txt").write_text("# Chat\nUser: a\nAssistant: b\n")
    (tmp_path / "b.md").write_text("> a\n\nb\n\n> c\n\nd\n")
    (tmp_path / "c.md").write_text("> a motto\n\nAn essay.\n")
    assert clients(tmp_path) == {"a.txt": "text", "b.md": "text"}
    assert clients(tmp_path / "c.md", client="text") == {"c.md": "text"}


def test_texts_of_any_encoding_of_lines(tmp_path: Path) -> None:
    """A byte order mark, CRLF, bytes that are no UTF-8, a line of more than 10 MB."""
    place = tmp_path / "a.txt"
    long = b"x" * (conversations.LONGEST_LINE + 5)
    place.write_bytes(b"\xef\xbb\xbfUser: a\r\n" + long + b"\nAssistant: b\xff\r\n")
    (one,) = conversations.find([place]).conversations
    assert [(r["role"], r["text"]) for r in one.records()] == [
        ("user", "a"),
        ("assistant", "b\ufffd"),
    ]
    assert one.passed == {"over 10 MB": 1}


def test_the_mark_changes_where_a_file_grows(tmp_path: Path) -> None:
    """Or is another one of the same length; a copy has the same."""

    def mark(text: str, name: str = "a.txt") -> str:
        (tmp_path / name).write_text(text)
        (one,) = conversations.find([tmp_path / name]).conversations
        return one.mark

    first = mark("User: a\nAssistant: b\n")
    assert first == mark("User: a\nAssistant: b\n", "copy.txt")
    assert len({first, mark("User: a\nAssistant: c\n"), mark("User: a\nAssistant: b\n\n")}) == 3


def test_the_mark_is_of_both_ends(tmp_path: Path) -> None:
    """A file of many kilobytes whose last words are others has another one."""
    marks = set()
    for first, last in (("a", "b"), ("a", "c"), ("d", "b")):
        (tmp_path / "a.txt").write_text(f"User: {first}\nAssistant: {'word ' * 4_000}{last}\n")
        (one,) = conversations.find([tmp_path / "a.txt"]).conversations
        marks.add(one.mark)
    assert len(marks) == 3


def test_the_day_of_a_text_is_in_its_name(tmp_path: Path) -> None:
    """Else it is that of its file."""
    days = []
    for name in ("chat 2026-03-28.txt", "chat.txt"):
        (tmp_path / name).write_text("User: a\nAssistant: b\n")
        os.utime(tmp_path / name, (1_790_000_000, 1_790_000_000))
        (one,) = conversations.find([tmp_path / name]).conversations
        days.append(one.day.date().isoformat())
    assert days == ["2026-03-28", "2026-09-21"]


def test_a_database_of_another_kind_is_no_fault_in_a_folder(tmp_path: Path) -> None:
    """Many programs call theirs `.db`; one that is called as OpenCode's is, or is named, is."""
    (tmp_path / "index.db").write_bytes(b"GDBM" * 8)
    found = conversations.find([tmp_path])
    assert (found.faults, found.others["no SQLite database"]) == ([], 1)
    with pytest.raises(BadInput, match=r"index\.db is no SQLite database"):
        conversations.find([tmp_path / "index.db"])
    (tmp_path / "opencode.db").write_bytes(b"GDBM" * 8)
    assert "opencode.db is no SQLite database" in conversations.find([tmp_path]).faults[0]


def test_opencodes_old_folder_is_found_below_others(tmp_path: Path) -> None:
    """Its JSON files are its session's, none is counted as another file."""
    storage(tmp_path / "opencode" / "storage", sample())
    found = conversations.find([tmp_path])
    assert [one.client for one in found.conversations] == ["opencode"]
    assert not any(found.others.values())
    found = conversations.find([tmp_path], "codex")
    assert not found.conversations


def test_a_file_counts_once(tmp_path: Path) -> None:
    """However often it is named, also as a hard link."""
    place = tmp_path / "a.txt"
    place.write_text("User: a\nAssistant: b\n")
    os.link(place, tmp_path / "b.txt")
    assert len(conversations.find([tmp_path, place]).conversations) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_told(tmp_path: Path) -> None:
    """And the rest goes on."""
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "a.txt").write_text("User: a\nAssistant: b\n")
    found = conversations.find([tmp_path])
    assert len(found.conversations) == 1
    assert "closed cannot be read" in found.faults[0]
