"""The log on the disk: appended whole or not at all, read whatever state it is in."""

import json
import os
import resource
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.repository import Repository
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.events import PATH, SKEW, Event
from memory_palace.files import journal

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def event(
    number: int = 0, about: str = "3f9ac2d41b7e", at: datetime = NOW, kind: str = "reinforced"
) -> Event:
    """An event with a uid of its own."""
    return Event(at, "pi@laptop", kind, f"{number:016x}", about, "why — 宮殿", {"cue": "explicit"})


def log(root: Path, *events: Event) -> bytes:
    """Append the events; the log's bytes."""
    for one in events:
        journal.append(root, one)
    return (root / PATH).read_bytes()


def read(root: Path) -> tuple[list[str], list[str]]:
    """The uids in the log, and each problem as a text."""
    found = journal.load(root)
    return [e.uid[-1] for e in found.events], [str(problem) for problem in found.problems]


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    """The folder is made; one line each, readable, with a line feed."""
    assert journal.load(tmp_path) == journal.Journal((), ())
    data = log(tmp_path, event(1), event(2))
    found = journal.load(tmp_path)
    assert [e.as_line() for e in found.events] == [event(1).as_line(), event(2).as_line()]
    assert [e.line for e in found.events] == [1, 2]
    assert data.endswith(b"\n") and data.count(b"\n") == 2
    assert "宮殿".encode() in data
    assert found.problems == ()


def test_a_last_line_cut_off_anywhere(tmp_path: Path) -> None:
    """At every byte: ignored and reported, and the next write makes the log whole again."""
    first = log(tmp_path, event(1))
    whole = log(tmp_path, event(2))
    for cut in range(len(first), len(whole) + 1):
        (tmp_path / PATH).write_bytes(whole[:cut])
        uids, problems = read(tmp_path)
        complete = cut >= len(whole) - 1
        assert uids == (["1", "2"] if complete else ["1"])
        if complete or cut == len(first):
            assert problems == []
        else:
            [problem] = problems
            assert problem.startswith(f"{PATH}:2: warning: cut off in the middle: left out")
        after = log(tmp_path, event(3))
        assert after.startswith(whole[:cut])
        uids, problems = read(tmp_path)
        assert uids == (["1", "2", "3"] if complete else ["1", "3"])
        assert all("warning: cut off in the middle" in problem for problem in problems)
        assert len(problems) == (0 if complete or cut == len(first) else 1)


def test_the_first_line_cut_off(tmp_path: Path) -> None:
    """A log of half a line is empty."""
    whole = log(tmp_path, event(1))
    (tmp_path / PATH).write_bytes(whole[:20])
    assert read(tmp_path)[0] == []
    log(tmp_path, event(2))
    assert read(tmp_path)[0] == ["2"]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"<<<<<<< HEAD",
        b"[1]",
        b"{}",
        b'{"at": "2026-11-29", "id": 3}',
        b"\xff\xfe",
        b"\0",
    ],
)
def test_a_line_that_is_no_event_is_an_error(tmp_path: Path, line: bytes) -> None:
    """Named with its number; those around it count."""
    before = log(tmp_path, event(1))
    (tmp_path / PATH).write_bytes(before + line + b"\n")
    log(tmp_path, event(2))
    uids, [problem] = read(tmp_path)
    assert uids == ["1", "2"]
    assert problem.startswith(f"{PATH}:2: error: ")


def test_stray_bytes_in_a_text_are_kept(tmp_path: Path) -> None:
    """A byte that is not UTF-8 spoils neither its line nor the others."""
    data = log(tmp_path, event(1)).replace("宮殿".encode(), b"caf\xe9")
    (tmp_path / PATH).write_bytes(data)
    uids, problems = read(tmp_path)
    assert (uids, problems) == (["1"], [])
    assert "caf\udce9" in journal.load(tmp_path).events[0].reason
    [again] = journal.load(tmp_path).events
    assert log(tmp_path, again) == data + data


def test_crlf_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    """As editors leave a file."""
    data = log(tmp_path, event(1), event(2))
    (tmp_path / PATH).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n\r\n"))
    log(tmp_path, event(3))
    assert read(tmp_path) == (["1", "2", "3"], [])


def test_a_log_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not read half."""
    log(tmp_path, event(1))
    monkeypatch.setattr(journal, "MOST_BYTES", 10)
    with pytest.raises(BadInput, match=rf"^{PATH}: .*the log may have"):
        journal.load(tmp_path)


@pytest.mark.parametrize("place", ["manifests", PATH])
def test_no_link_is_followed(tmp_path: Path, place: str) -> None:
    """Neither read nor written through."""
    (tmp_path / "elsewhere").mkdir()
    other = tmp_path / "elsewhere" / "memory_events.jsonl"
    other.write_text("")
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(other if place == PATH else other.parent)
    for act in (lambda: journal.load(tmp_path), lambda: journal.append(tmp_path, event())):
        with pytest.raises(BadInput, match="is a symbolic link"):
            act()
    assert other.read_text() == ""


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_does_not_block(tmp_path: Path, kind: str) -> None:
    """It is named."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / PATH).mkdir() if kind == "folder" else os.mkfifo(tmp_path / PATH)
    with pytest.raises(BadInput, match="not a regular file"):
        journal.load(tmp_path)


def test_a_log_that_cannot_be_reached_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is not the same as empty."""
    log(tmp_path, event(1))

    def denied(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(Missing, match=r"cannot be read \(Permission denied\)"):
        journal.load(tmp_path)


@pytest.mark.parametrize("room", [0, 1, 7, 100])
@pytest.mark.parametrize("cut", [False, True])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, room: int, cut: bool) -> None:
    """However many bytes still found room, also behind a cut-off line."""
    before = log(tmp_path, event(1)) + (b'{"at": "20' if cut else b"")
    (tmp_path / PATH).write_bytes(before)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = len(before) + room
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            journal.append(tmp_path, event(2))
        except OSError as error:
            os.write(write_end, (error.strerror or "").encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    told = os.read(read_end, 1000)
    os.close(read_end)
    assert told
    assert (tmp_path / PATH).read_bytes() == before
    log(tmp_path, event(3))
    assert read(tmp_path)[0] == ["1", "3"]


def test_a_new_event_follows_the_last_one(tmp_path: Path) -> None:
    """Within a second, and when the clock went back; others are not waited for."""
    assert journal.follow(tmp_path, "a", NOW) == NOW
    log(tmp_path, event(1, "a", NOW), event(2, "b", NOW + timedelta(hours=5)))
    assert journal.follow(tmp_path, "a", NOW) == NOW + timedelta(seconds=1)
    assert journal.follow(tmp_path, "a", NOW - timedelta(hours=9)) == NOW + timedelta(seconds=1)
    assert journal.follow(tmp_path, "a", NOW + timedelta(days=9)) == NOW + timedelta(days=9)
    assert journal.follow(tmp_path, "b", NOW) == NOW + timedelta(hours=5, seconds=1)
    assert journal.follow(tmp_path, "c", NOW) == NOW


def test_a_date_in_a_far_future_is_not_followed(tmp_path: Path) -> None:
    """A clock that was wrong once is not wrong for good; what is nearer is followed still."""
    log(tmp_path, event(1, "a", NOW + 2 * SKEW))
    assert journal.follow(tmp_path, "a", NOW) == NOW
    log(tmp_path, event(2, "a", NOW + SKEW / 2))
    assert journal.follow(tmp_path, "a", NOW) == NOW + SKEW / 2 + timedelta(seconds=1)


def test_an_event_that_names_it_among_others_is_followed(tmp_path: Path) -> None:
    """A topic that was restored, a conflict that it lost: what comes after stays after."""
    line = event(1, "palace/topics/lessons.md").as_line()
    (tmp_path / "manifests").mkdir()
    (tmp_path / PATH).write_text(json.dumps(line | {"entries": ["a", "b"]}) + "\n")
    assert journal.follow(tmp_path, "b", NOW) == NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    "about", ['palace/"a"\\.md', "palace/宮.md", "palace/\udcff.md", "palace/\ud800.md"]
)
def test_any_name_is_followed(tmp_path: Path, about: str) -> None:
    """As it stands in JSON."""
    assert journal.follow(tmp_path, about, NOW) == NOW
    log(tmp_path, event(1, about))
    assert journal.follow(tmp_path, about, NOW) == NOW + timedelta(seconds=1)


def test_the_newest_part_of_a_long_log_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it begins in the middle of a line, or of a character."""
    whole = log(tmp_path, event(1, "a"), event(2, "b"), event(3, "b"))
    for tail in range(1, len(whole)):
        monkeypatch.setattr(journal, "_TAIL", tail)
        assert journal.follow(tmp_path, "b", NOW) in (NOW, NOW + timedelta(seconds=1))
    assert journal.follow(tmp_path, "b", NOW) == NOW + timedelta(seconds=1)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.booleans(), st.booleans()),
        max_size=12,
        unique_by=lambda x: x[0],
    ),
    st.randoms(),
)
def test_two_logs_in_any_order_are_one(lines: list[tuple[int, bool, bool]], random: object) -> None:
    """The union of what two branches have is the same, whichever lines come first."""
    both = [[event(n) for n, one, two in lines if (one, two)[side]] for side in (0, 1)]
    texts = [json.dumps(e.as_line(), ensure_ascii=False) for side in both for e in side]
    shuffled = list(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    plain = [
        [e.as_line() for e in journal.parse("".join(f"{t}\n" for t in some).encode()).events]
        for some in (texts, shuffled)
    ]
    assert plain[0] == plain[1]
    assert len(plain[0]) == len({n for n, one, two in lines if one or two})


@pytest.mark.parametrize("into", ["main", "other"])
def test_git_merges_two_branches_to_their_union(tmp_path: Path, into: str) -> None:
    """With `merge=union`, whichever branch is merged into which."""
    repository = Repository(tmp_path)
    repository.write(".gitattributes", "*.jsonl merge=union text eol=lf\n")
    log(tmp_path, event(0))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "first")
    repository.git("branch", "other")
    log(tmp_path, event(1, at=NOW + timedelta(1)), event(2), event(5))
    repository.git("commit", "--quiet", "-a", "-m", "ours")
    repository.git("checkout", "--quiet", "other")
    log(tmp_path, event(3, at=NOW - timedelta(1)), event(5), event(4))
    repository.git("commit", "--quiet", "-a", "-m", "theirs")
    repository.git("checkout", "--quiet", into)
    repository.git("merge", "--quiet", "-m", "both", "other" if into == "main" else "main")
    assert read(tmp_path) == (["3", "0", "2", "4", "5", "1"], [])
