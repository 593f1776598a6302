"""``palace read``: what is printed, and the exit codes."""

import json

import pytest

from memory_palace.core.text import digest
from support.palaces import Palace

NOTE = "palace/demo/plan.md"


@pytest.fixture
def noted(keyword_palace: Palace) -> Palace:
    """A palace with one note of twelve lines."""
    lines = ["# Plan", "", "## Why", "", "so  ", "\tx\x1b[31m", *"123456"]
    keyword_palace.write(NOTE, "\n".join(lines) + "\n")
    return keyword_palace


def test_lines_with_their_numbers(noted: Palace) -> None:
    """A head line, then each line as it is but for what a terminal would obey."""
    done = noted.command("read", "demo/plan:4-6")
    head = f"{NOTE}:4-6  Plan > Why  (12 lines)"
    assert done.out.split("\n") == [head, "4", "5  so  ", "6  \tx\\x1b[31m", ""]
    assert (done.code, done.err) == (0, "")
    wide = noted.command("read", "plan:9-10").out
    assert wide.split("\n")[1:3] == [" 9  3", "10  4"]


def test_as_json(noted: Palace) -> None:
    """One object, with the digest that a write wants and the text as it is."""
    done = noted.command("read", "plan:5-6", "--format", "json")
    assert json.loads(done.out) == {
        "path": NOTE,
        "title": "Plan",
        "heading": "Plan > Why",
        "start": 5,
        "end": 6,
        "total": 12,
        "left": 0,
        "cut": 0,
        "archived": False,
        "digest": digest((noted.root / NOTE).read_bytes()),
        "text": "so  \n\tx\x1b[31m",
    }


def test_what_is_too_much_at_once(noted: Palace) -> None:
    """The rest is named, in lines or in characters; --all gives it."""
    noted.write("palace/long.md", "x\n" * 2_003)
    done = noted.command("read", "long")
    lines = done.out.splitlines()
    assert lines[0] == "palace/long.md:1-2000  long  (2003 lines)"
    assert (len(lines), lines[-1]) == (2_002, "… 3 more lines: palace/long.md:2001-2003")
    assert len(noted.command("read", "long", "--all").out.splitlines()) == 2_004
    noted.write("palace/wide.md", "x" * 100_001)
    last = noted.command("read", "wide").out.splitlines()[-1]
    assert last == "… 1 more characters in line 1: --all"


def test_misses(noted: Palace) -> None:
    """Nothing on stdout, one line of what to do, and 1; 2 for what no name can be."""
    for arguments, code, what in [
        (["plam"], 1, f"error: no note plam: did you mean {NOTE}?"),
        (["plan", "--section", "Wy"], 1, "did you mean `Why`?"),
        (["plan:13"], 1, f"error: {NOTE} has 12 lines: there is no line 13"),
        (["^0123456789ab"], 1, "no memory has the id ^0123456789ab"),
        ([""], 2, "nothing is named"),
        (["plan:3-2"], 2, "write a first and a last line"),
        (["plan", "--sektion", "x"], 2, "no option `--sektion`: did you mean `--section`?"),
    ]:
        done = noted.command("read", *arguments)
        assert (done.code, done.out) == (code, ""), arguments
        assert what in done.err and done.err.count("\n") == 1


def test_an_archived_and_an_empty_note(noted: Palace) -> None:
    """The head line says so."""
    noted.write("palace/archive_basement/old.md", "x\n")
    noted.write("palace/empty.md", "")
    old = noted.command("read", "old").out
    assert old.startswith("palace/archive_basement/old.md:1-1  old  (1 line, archived)\n")
    assert noted.command("read", "empty").out == "palace/empty.md:0  empty  (0 lines)\n"


def test_control_characters_in_a_name(noted: Palace) -> None:
    """A name cannot move the cursor either."""
    noted.write("palace/a\x1b[2J.md", "x\n")
    assert "\x1b" not in noted.command("read", "palace/a\x1b[2J.md").out


@pytest.mark.parametrize("lines", ["3-", "-3", "a-b", ""])
def test_lines_that_are_no_range_are_named(keyword_palace: Palace, lines: str) -> None:
    """The note is there: what stands behind it is what is wrong. Exit 2."""
    keyword_palace.notes(amber="One.")
    ran = keyword_palace.command("read", f"amber:{lines}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: {lines!r} names no lines: write :12 or :12-20 there\n"
