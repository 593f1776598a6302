"""JSONL files as people leave them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.files import jsonl

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.text(), values, max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(objects, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_objects_come_back_as_they_were(written: list[dict[str, Any]], end: str) -> None:
    """Any objects, dumped a line each, are read back equal, in order, with their keys in order."""
    text = "".join(jsonl.dump(data) + end for data in written)
    lines, problems = jsonl.parse("log.jsonl", text)
    assert not problems
    assert [line.data for line in lines] == written
    assert [list(line.data or ()) for line in lines] == [list(data) for data in written]
    assert [line.number for line in lines] == list(range(1, len(written) + 1))


@settings(max_examples=50, deadline=None)
@given(objects)
def test_an_object_is_one_line_that_can_be_stored(data: dict[str, Any]) -> None:
    """The dumped line has no line feed in it and can be encoded."""
    line = jsonl.dump(data)
    assert "\n" not in line
    assert json.loads(line.encode("utf-8", "surrogateescape").decode("utf-8")) == data


@pytest.mark.parametrize("lone", ["\ud800", "a\udbffb", "\udfff", "\udd00\ud83d"])
def test_half_a_character_is_stored_as_an_escape(lone: str) -> None:
    r"""A lone surrogate, which ``"\ud800"`` in JSON makes, can be written and read back."""
    line = jsonl.dump({"text": lone})
    assert json.loads(line.encode("utf-8")) == {"text": lone}


@pytest.mark.parametrize("byte", [0x80, 0xC3, 0xFF])
def test_a_stray_byte_is_stored_as_it_was(byte: int) -> None:
    """A byte that is not UTF-8 goes through parse and dump unchanged."""
    raw = b'{"text": "caf' + bytes([byte]) + b'"}'
    (line,), problems = jsonl.parse("log.jsonl", raw.decode("utf-8", "surrogateescape"))
    assert not problems
    assert jsonl.dump(line.data or {}).encode("utf-8", "surrogateescape") == raw


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n\ufeff"))))
def test_every_line_is_kept(written: list[str]) -> None:
    """Whatever the lines hold, each that is not blank is there with its number and its text."""
    lines, problems = jsonl.parse("log.jsonl", "\n".join(written))
    assert [(line.number, line.raw) for line in lines] == [
        (number, raw.rstrip("\r")) for number, raw in enumerate(written, 1) if raw.strip()
    ]
    assert [p.line for p in problems] == [line.number for line in lines if line.data is None]


@pytest.mark.parametrize(
    "raw",
    [
        "{",
        "{'path': 'a'}",
        '{"path": "a"} trailing',
        "[1, 2]",
        '"text"',
        "17",
        "null",
        "true",
        "<<<<<<< HEAD",
        "\ufffd",
        '{"path": "a\tb"}',
        "[" * 100_000,
        '{"n": ' + "9" * 5_000 + "}",
        "\0",
    ],
    ids=lambda raw: raw[:12],
)
def test_a_line_that_is_no_object_is_a_problem_with_its_number(raw: str) -> None:
    """One error names file and line and says what to do; the lines around it count."""
    text = f'{{"a": 1}}\n\n{raw}\n{{"b": 2}}\n'
    lines, problems = jsonl.parse("log.jsonl", text)
    assert [(line.number, line.data) for line in lines] == [(1, {"a": 1}), (3, None), (4, {"b": 2})]
    assert lines[1].raw == raw
    (problem,) = problems
    assert (problem.path, problem.line, problem.grade) == ("log.jsonl", 3, "error")
    assert problem.message.startswith("not a JSON object (")
    assert problem.message.endswith("mend or remove it")
    assert "\n" not in problem.message


@pytest.mark.parametrize("text", ["", "\n", "\r\n \t\n", "\ufeff", "\ufeff\n\n"])
def test_blank_lines_are_no_lines(text: str) -> None:
    """Nothing is read from nothing, nor from a byte order mark."""
    assert jsonl.parse("log.jsonl", text) == ([], [])


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    """A file that an editor gave a byte order mark reads as any other."""
    lines, problems = jsonl.parse("log.jsonl", '\ufeff{"a": 1}\r\n')
    assert (lines[0].raw, lines[0].data, problems) == ('{"a": 1}', {"a": 1}, [])


def test_only_a_line_feed_ends_a_line() -> None:
    """Other characters that some call line ends stay inside their text."""
    text = '{"a": "x\u2028y\u0085z"}\n'
    lines, problems = jsonl.parse("log.jsonl", text)
    assert ([line.data for line in lines], problems) == ([{"a": "x\u2028y\u0085z"}], [])


def test_text_is_written_readably() -> None:
    """Letters of all scripts are stored as themselves, so that a diff can be read."""
    assert jsonl.dump({"text": "Grüße 宮殿 \N{CASTLE}"}) == '{"text": "Grüße 宮殿 \N{CASTLE}"}'


@pytest.mark.parametrize(
    "raw", ['{"a": 1}', " {} ", '{"a": NaN}', '{"a": "\\ud800"}', "[1]", "{", "9" * 5_000]
)
def test_the_quick_way_reads_as_the_careful_one(raw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It only saves time: the same objects, the same problems."""
    quick = repr(jsonl.parse("log.jsonl", raw))
    monkeypatch.setattr(jsonl, "_quick", lambda raw: None)
    assert repr(jsonl.parse("log.jsonl", raw)) == quick


@pytest.mark.parametrize("raw", ["{}", " {} ", "{}\r"])
def test_an_empty_object_is_one(raw: str) -> None:
    """And no problem."""
    [line], problems = jsonl.parse("log.jsonl", raw)
    assert (line.data, problems) == ({}, [])


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ('{"at": "x"}\n{"at": "y', [(2, "warning")]),
        ('{"at": "x"}\njunk', [(2, "warning")]),
        ('{"at": "x"}\njunk\n', [(2, "error")]),
        ('{"a\n{"at": "x"}\n', [(1, "warning")]),
        ('{"at": "y", "z\n{"at": "x"}\n', [(1, "warning")]),
        ('{"at": "y" "z"}\n{"at": "x"}\n', [(1, "error")]),
        ('{"no": "y\n{"at": "x"}\n', [(1, "error")]),
    ],
)
def test_a_line_of_a_log_that_was_cut_off(text: str, grades: list[tuple[int, str]]) -> None:
    """Is a warning; what a hand broke is an error."""
    lines, problems = jsonl.parse_log("log.jsonl", text)
    assert [(one.line, one.grade) for one in problems] == grades
    assert {"at": "x"} in [line.data for line in lines]


def test_what_went_into_a_file_that_was_replaced_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git puts another one there between the opening and the write; or takes it away."""
    log = tmp_path / "log.jsonl"
    jsonl.append(log, [{"n": 1}])
    real = os.fsync

    def replaced(handle: int) -> None:
        real(handle)
        (tmp_path / "new").write_text('{"n": 2}\n')
        os.replace(tmp_path / "new", log)

    monkeypatch.setattr(os, "fsync", replaced)
    with pytest.raises(OSError, match="replaced meanwhile"):
        jsonl.append(log, [{"n": 3}])
    assert log.read_text() == '{"n": 2}\n'
    monkeypatch.setattr(os, "fsync", lambda _: log.unlink())
    with pytest.raises(FileNotFoundError):
        jsonl.append(log, [{"n": 3}])
