"""Large files of lines that others write: read in pieces, every skip counted."""

import io
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.errors import BadInput
from memory_palace.files import transcripts
from memory_palace.files.transcripts import LONGEST_LINE, Source
from support.deep import deep_folders


def read(data: bytes, tmp_path: Path) -> tuple[list[object], dict[str, int]]:
    """The objects of a file, and what was passed over."""
    place = tmp_path / "t.jsonl"
    place.write_bytes(data)
    with transcripts.opened(place) as source:
        return list(source.records()), dict(source.passed)


def test_every_line_is_an_object_or_counted(tmp_path: Path) -> None:
    """Blank lines are nothing; broken ones, other values and half a last line are counted."""
    lines = [
        b'{"a": 1}',
        b"",
        b"{broken",
        b"[1]",
        b"\0\0\0",
        b'{"b": "\xff"}\r',
        b"[" * 100_000,
        b'{"half": ',
    ]
    found, passed = read(b"\n".join(lines), tmp_path)
    assert found == [{"a": 1}, {"b": "�"}]
    assert passed == {"broken": 4, "half written": 1}


def test_a_last_line_that_is_whole_is_read(tmp_path: Path) -> None:
    """Only its end is missing."""
    assert read(b'{"a": 1}\n{"b": 2}', tmp_path) == ([{"a": 1}, {"b": 2}], {})


def test_what_is_written_meanwhile_is_for_the_next_time(tmp_path: Path) -> None:
    """Not one byte of it: nothing is half read."""
    place = tmp_path / "t.jsonl"
    place.write_bytes(b'{"a": 1}\n')
    with transcripts.opened(place) as source:
        with place.open("ab") as grows:
            grows.write(b'{"b": 2}\n')
        assert list(source.records()) == [{"a": 1}]
        assert not source.passed


def test_a_line_of_50_mb_is_counted_and_the_next_one_read(tmp_path: Path) -> None:
    """Wherever it stands: first, in the middle, last."""
    long = b'{"x": "' + b"x" * (50 << 20) + b'"}'
    found, passed = read(long + b'\n{"a": 1}\n' + long + b'\n{"b": 2}\n' + long, tmp_path)
    assert found == [{"a": 1}, {"b": 2}]
    assert passed == {"over 10 MB": 3}


@given(st.data())
def test_lines_are_the_same_however_they_are_cut_into_pieces(data: st.DataObject) -> None:
    """A line may end anywhere in a piece, and one of just the longest length is read."""
    sizes = data.draw(st.lists(st.integers(0, 12), max_size=12))
    lines = [b'{"a":"' + b"x" * size + b'"}' for size in sizes]
    text = b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n"]))
    piece = data.draw(st.integers(1, 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcripts, "_PIECE", piece)
        patch.setattr(transcripts, "LONGEST_LINE", 14)
        with Path(os.devnull).open("rb") as file:
            source = Source(file, "x")
        source._file = io.BytesIO(text)
        source.size = len(text)
        told: list[int] = []
        found = list(source.records(0, told.append))
    assert [len(one["a"]) for one in found] == [size for size in sizes if size <= 6]
    assert source.passed.total() == sum(size > 6 for size in sizes)
    assert sum(told) == len(text)


def test_what_is_written_while_it_is_read_is_left(tmp_path: Path) -> None:
    """A source ends where the file ended when it was opened, each time."""
    place = tmp_path / "t.jsonl"
    place.write_bytes(b'{"a": 1}\n')
    with transcripts.opened(place) as source:
        with place.open("ab") as more:
            more.write(b'{"b": 2}\n')
        assert list(source.records()) == list(source.records()) == [{"a": 1}]


def test_a_pipe_a_folder_and_nothing_are_refused_at_once(tmp_path: Path) -> None:
    """Nobody writes into the pipe, and it is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("pipe", "regular"), (".", "regular"), ("none", "cannot be read")):
        with pytest.raises(BadInput, match=why), transcripts.opened(tmp_path / name):
            pass


def test_a_folder_stands_for_its_transcripts(tmp_path: Path) -> None:
    """All in and below it, sorted; links and other files are left out."""
    names = ["b.jsonl", "a/c.jsonl", "a.txt"]
    random.Random(1).shuffle(names)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    found = transcripts.found(tmp_path)
    assert [str(one.relative_to(tmp_path)) for one in found] == ["a/c.jsonl", "b.jsonl"]
    assert transcripts.found(tmp_path / "link.jsonl") == [tmp_path / "link.jsonl"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"no \*\.jsonl file"):
        transcripts.found(tmp_path / "empty")


def test_the_longest_line_is_what_the_messages_say() -> None:
    """They name it in megabytes."""
    assert LONGEST_LINE == 10 << 20


def test_transcripts_are_found_however_deep(tmp_path: Path) -> None:
    """Folders within each other have no end."""
    with deep_folders(tmp_path, "x.jsonl") as path:
        assert transcripts.found(tmp_path) == [tmp_path / path]
