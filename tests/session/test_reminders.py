"""What memory holds about edited files."""

import os

import pytest

from memory_palace.core import fence
from memory_palace.session import reminders
from memory_palace.session.events import Reply
from session.prompted import Prompted
from support.palaces import Palace


@pytest.fixture
def filled(keyword_palace: Palace) -> Prompted:
    """A palace with entries about a file, its folder, and others."""
    made = Prompted(keyword_palace)
    made.entry("core/ reads no file", "cccccccccccc")
    made.entry("core/ledger.py is written by one process", "aaaaaaaaaaaa")
    made.entry("ledger.py keeps comments", "bbbbbbbbbbbb", file="mistakes")
    made.entry("fjord.py is cold", "dddddddddddd")
    return made


def test_the_entries_about_a_file_come_after_its_edit(filled: Prompted) -> None:
    """The closest first."""
    reply = filled.edit(str(filled.root / "src/core/ledger.py"))
    assert reply.context == fence.fenced(
        "Entries about src/core/ledger.py:\n"
        "- [lesson] core/ledger.py is written by one process ^aaaaaaaaaaaa"
        " (palace/topics/lessons.md:4)\n"
        "- [mistake] ledger.py keeps comments ^bbbbbbbbbbbb (palace/topics/mistakes.md:3)\n"
        "- [lesson] core/ reads no file ^cccccccccccc (palace/topics/lessons.md:3)",
        "files",
    )


def test_once_a_file_and_session(filled: Prompted) -> None:
    """However it is named; another session has its own."""
    assert filled.edit("src/core/ledger.py").context
    assert not filled.edit("src/core/ledger.py").context
    assert not filled.edit(str(filled.root / "src/core/../core/ledger.py")).context
    filled.entry("core/ledger.py ends with a line feed", "eeeeeeeeeeee")
    assert not filled.edit("src/core/ledger.py").context
    assert filled.edit("src/core/ledger.py", session="s2").context
    assert [row["path"] for row in filled.rows("reminded")] == ["src/core/ledger.py"]


def test_an_entry_that_was_shown_is_not_shown_again(filled: Prompted) -> None:
    """Of another file in the same folder only what is new is told."""
    filled.edit("src/core/ledger.py")
    assert not filled.edit("src/core/amber.py").context
    filled.entry("amber.py glows", "eeeeeeeeeeee")
    reply = filled.edit("src/core/amber.py")
    assert "^eeeeeeeeeeee" in reply.context
    assert "^cccccccccccc" not in reply.context


def test_a_file_that_nothing_is_known_of_gets_nothing(filled: Prompted) -> None:
    """And may get something later."""
    assert filled.edit("docs/zebra.md") == Reply()
    filled.entry("zebra.md has stripes", "eeeeeeeeeeee")
    assert filled.edit("docs/zebra.md").context


def test_three_entries_at_most(filled: Prompted) -> None:
    """Of several files together."""
    for number in range(5):
        filled.entry(f"fjord.py is cold for the {number}. time", f"{number:012x}")
    reply = filled.edit("src/core/ledger.py", "src/core/fjord.py")
    assert reply.context.count("\n- [") == reminders.MOST_ENTRIES


def test_entries_that_do_not_stand_are_left_out(filled: Prompted) -> None:
    """Faded ones and those let go."""
    filled.log("forgotten", "aaaaaaaaaaaa")
    assert "^aaaaaaaaaaaa" not in filled.edit("core/ledger.py").context


@pytest.mark.parametrize("file", ["", "a\0b", "\ud800", "x" * 5_000, "/", "..", "../" * 50])
def test_odd_paths_are_passed_over(filled: Prompted, file: str) -> None:
    """Nothing raises."""
    assert not filled.edit(file).context


def test_only_the_first_ten_files_count(filled: Prompted) -> None:
    """A tool may change a thousand."""
    many = [f"docs/n{n}.md" for n in range(reminders.MOST_FILES)]
    assert not filled.edit(*many, "core/ledger.py").context
    assert len(reminders.named([f"a{n}" for n in range(99)], "/w")) == reminders.MOST_FILES


def test_paths_are_relative_where_they_lie_inside(filled: Prompted) -> None:
    """Each once, with a slash."""
    inside = os.path.join("/w", "src", "a.py")
    assert reminders.named([inside, "src/a.py", "/else/b.py"], "/w") == ["src/a.py", "/else/b.py"]
    assert reminders.named(["src/./a.py"], "") == ["src/a.py"]


def test_a_file_whose_entries_have_no_room_is_not_done(keyword_palace: Palace) -> None:
    """It was not told of."""
    made = Prompted(keyword_palace)
    long = "palace/topics/" + "/".join(["x" * 200] * 7)
    made.entry("fjord.py is cold", "aaaaaaaaaaaa")
    made.entry("quagga.py is fed at noon", "bbbbbbbbbbbb", file="mistakes")
    (made.root / long).mkdir(parents=True)
    (made.root / "palace/topics/mistakes.md").rename(made.root / long / "m.md")
    assert "^aaaaaaaaaaaa" in made.edit("fjord.py", "quagga.py").context
    assert [row["path"] for row in made.rows("reminded")] == ["fjord.py"]
