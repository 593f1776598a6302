"""Notes and parts of them, by path, name and id."""

import os
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Missing, PalaceError, Refused
from memory_palace.core.text import digest
from memory_palace.search import reading
from memory_palace.search.reading import Passage
from support.palaces import Palace

PLAN = "palace/project_rooms/demo/plan.md"
OLD = "palace/archive_basement/demo/old.md"
A = "3f9ac2d41b7e"
TEXT = """---
title: The plan
aliases: [roadmap]
---
# Plan

## Why

giraffes ^why1

## How

so
"""


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """A note, a topic file and an archived note."""
    keyword_palace.write(PLAN, TEXT)
    keyword_palace.write("palace/topics/lessons.md", f"# L\n\n- [lesson] One ^{A}\nx\ny\nz\n")
    keyword_palace.write(OLD, "---\narchived_from: palace/demo/old.md\n---\nold\n")
    return keyword_palace


def read(palace: Palace, name: str, section: str = "", **bounds: int | None) -> Passage:
    """What is read."""
    return reading.read(palace.root, name, section, **bounds)


def where(palace: Palace, name: str, section: str = "") -> tuple[str, int, int]:
    """Path and lines of what is read."""
    found = read(palace, name, section)
    return found.path, found.start, found.end


def refused(
    palace: Palace, kind: type[PalaceError], match: str, name: str, section: str = ""
) -> None:
    """It is refused in these words."""
    with pytest.raises(kind, match=match):
        read(palace, name, section)


def test_a_whole_note(palace: Palace) -> None:
    """Its lines as they stand, and what they were read from."""
    found = read(palace, PLAN)
    assert found.lines == tuple(TEXT.split("\n")[:-1])
    assert (found.start, found.end, found.total, found.left, found.cut) == (1, 13, 13, 0, 0)
    assert (found.title, found.heading, found.archived) == ("The plan", "", False)
    assert found.digest == digest((palace.root / PLAN).read_bytes())


@pytest.mark.parametrize(
    "name",
    [
        PLAN,
        "./" + PLAN,
        "project_rooms/demo/plan.md",
        "project_rooms/demo/plan",
        "palace/project_rooms/demo/plan",
        "plan",
        "plan.md",
        "demo/plan",
        "Plan",
        "roadmap",
        "[[plan]]",
        "[[demo/plan|that]]",
        "  plan ",
    ],
)
def test_all_that_a_note_is_called(palace: Palace, name: str) -> None:
    """A path, with or without what goes without saying, and whatever a link calls it."""
    assert read(palace, name).path == PLAN


def test_an_absolute_path_below_the_root(palace: Palace) -> None:
    """As an agent may have it from elsewhere."""
    assert read(palace, (palace.root / PLAN).as_posix()).path == PLAN


def test_lines(palace: Palace) -> None:
    """One, or from one to another; the end may lie beyond the note's."""
    assert where(palace, f"{PLAN}:9") == (PLAN, 9, 9)
    assert where(palace, "plan:5-7") == (PLAN, 5, 7)
    assert where(palace, "plan:12-99") == (PLAN, 12, 13)
    assert read(palace, "plan:9").heading == "Plan > Why"
    refused(palace, Refused, "has 13 lines: there is no line 14", "plan:14")
    refused(palace, BadInput, "lines 7-5: write a first and a last", "plan:7-5")
    refused(palace, BadInput, "lines 0-0", "plan:0")


def test_a_name_that_looks_like_lines(palace: Palace) -> None:
    """A file of exactly this name comes first."""
    palace.write("palace/a:3.md", "one\n")
    palace.write("palace/a.md", "1\n2\n3\n")
    assert where(palace, "palace/a:3.md") == ("palace/a:3.md", 1, 1)
    assert where(palace, "palace/a.md:3") == ("palace/a.md", 3, 3)


def test_a_section(palace: Palace) -> None:
    """By its heading, by a path of headings, and by a link; a wrong one names the nearest."""
    assert where(palace, "plan", "why") == (PLAN, 7, 10)
    assert where(palace, "plan", "Plan > How") == (PLAN, 11, 13)
    assert where(palace, "[[plan#How]]") == (PLAN, 11, 13)
    refused(palace, Refused, "no section 'Whi': did you mean `Why`?", "plan", "Whi")
    refused(palace, Refused, "no section 'zzz': it has Plan, Why, How", "plan", "zzz")
    refused(palace, BadInput, "lines and a section", "plan:3-5", "Why")
    palace.write("palace/b.md", "# A\n## B\n# C\n## B\n")
    refused(palace, Refused, r"2 sections of this name: A > B \(line 2\), C > B", "b", "B")
    palace.write("palace/c.md", "text\n")
    refused(palace, Refused, "has no headings", "c", "B")


def test_a_memory(palace: Palace) -> None:
    """Its line with two lines on either side, with or without the mark."""
    path = "palace/topics/lessons.md"
    assert where(palace, f"^{A}") == where(palace, A) == (path, 1, 5)
    assert where(palace, f"^{A}:3") == (path, 3, 3)
    refused(palace, Refused, f"did you mean \\^{A}?", "^3f9ac2d41b7f")
    assert where(palace, "[[plan#^why1]]") == (PLAN, 7, 11)
    refused(palace, Refused, "no block", "[[plan#^why2]]")


def test_a_hit(palace: Palace) -> None:
    """The lines that an answer named, also after the note has changed, and from no index."""
    palace.index()
    (hit,) = palace.hits("giraffes")
    assert where(palace, f"#{hit.id}") == (hit.path, hit.start, hit.end)
    assert where(palace, hit.id) == (hit.path, hit.start, hit.end)
    palace.write(PLAN, TEXT.replace("aliases", "tags: [x]\naliases"), old=False)
    later = (hit.path, hit.start + 1, hit.end + 1)
    assert where(palace, f"#{hit.id}") == later
    for name in (palace.root / ".palace/index").iterdir():
        name.unlink()
    assert where(palace, f"#{hit.id}") == later
    refused(palace, Refused, "no hit has the id #000000000000 any more", "#000000000000")


def test_a_hit_of_one_line(palace: Palace) -> None:
    """Single lines have ids of their own."""
    palace.write(
        "palace/list.md", "# List\n\n- the first apple\n- the second pear\n- a third plum\n"
    )
    palace.index()
    hit = next(hit for hit in palace.hits("pear", lines=True) if hit.start == hit.end == 4)
    assert where(palace, f"#{hit.id}") == ("palace/list.md", 4, 4)


def test_an_archived_note(palace: Palace) -> None:
    """By its path, or by its name where no live note has that."""
    assert read(palace, OLD).archived
    assert read(palace, "old").path == OLD
    assert read(palace, "demo/old").path == OLD
    palace.write("palace/old.md", "new\n")
    assert read(palace, "old").path == "palace/old.md"


def test_what_is_not_there(palace: Palace) -> None:
    """The nearest are named, several notes of one name are, and a folder says what it has."""
    refused(palace, Refused, f"no note plam: did you mean {PLAN}?", "plam")
    refused(palace, Refused, "no note zzzzzzzz: `palace query` finds", "zzzzzzzz")
    palace.write("palace/chambers/pi/plan.md", "x\n")
    refused(
        palace, Refused, "plan could be palace/chambers/pi/plan.md, .* write the folder", "plan"
    )
    refused(palace, Refused, f"is a folder: name one of {PLAN}", "project_rooms/demo")
    refused(palace, Refused, "no note aaaa", "a" * 5_000)
    refused(palace, BadInput, "nothing is named", " ")
    refused(palace, BadInput, "names no note", "[[#a]]")


@pytest.mark.parametrize(
    "name", ["palace.yaml", ".palace/x.md", "../secret.md", "palace/../../secret.md", "palace/.env"]
)
def test_only_the_palace_is_read(palace: Palace, name: str) -> None:
    """No settings, hidden files, nor what lies outside the root."""
    (palace.root.parent / "secret.md").write_text("secret\n")
    palace.write(".palace/x.md", "x\n")
    palace.write("palace/.env", "x\n")
    with pytest.raises(Refused, match="no note"):
        read(palace, name)


def test_a_file_that_the_manifest_names(palace: Palace) -> None:
    """A hit may lie outside palace/, so it can be read."""
    palace.write("docs/a.md", "text\n")
    refused(palace, Refused, "no note", "docs/a.md")
    palace.write("manifests/watchdog_manifest_v1.jsonl", '{"path": "docs/a.md"}\n')
    assert where(palace, "docs/a.md") == ("docs/a.md", 1, 1)


def test_what_cannot_be_read(palace: Palace) -> None:
    """Bytes that are no text, links that lead out, a file without rights: a line each."""
    palace.write("palace/bin.md", b"a\n\0b")
    palace.write("palace/latin.md", b"a\n\nGr\xfc\xdfe\n")
    refused(palace, BadInput, r"palace/bin.md:2: binary \(a NUL byte\)", "palace/bin.md")
    refused(palace, BadInput, r"palace/latin.md:3: not UTF-8 \(byte 0xfc\)", "palace/latin.md")
    outside = palace.root.parent / "secret.md"
    outside.write_text("secret\n")
    (palace.root / "palace/out.md").symlink_to(outside)
    refused(palace, BadInput, "symbolic link", "palace/out.md")
    os.mkfifo(palace.root / "palace/pipe.md")
    refused(palace, Refused, "no note", "palace/pipe.md")


def test_without_notes(tmp_path: Path) -> None:
    """A tree that is away is said to be that."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "palace.yaml").touch()
    with pytest.raises(Missing, match="cannot read palace/"):
        reading.read(root, "plan")


def test_the_odd_forms_of_files(palace: Palace) -> None:
    """A mark at the start and returns at the ends are no part of lines; an empty file has none."""
    palace.write("palace/crlf.md", b"\xef\xbb\xbf# A\r\n\r\nb  \r\n")
    assert read(palace, "crlf").lines == ("# A", "", "b  ")
    palace.write("palace/empty.md", b"")
    found = read(palace, "empty")
    assert (found.lines, found.start, found.end, found.total, found.left) == ((), 1, 0, 0, 0)
    refused(palace, Refused, "has 0 lines", "empty:2")


def test_the_answer_is_bounded(palace: Palace) -> None:
    """By lines and by characters, with what is left; a line too long for it is cut."""
    palace.write("palace/long.md", "".join(f"{n:04}\n" for n in range(1, 51)))
    found = read(palace, "long", most_lines=10)
    assert (found.end, found.left, found.last) == (10, 40, 50)
    found = read(palace, "long:5-20", most_lines=10)
    assert (found.start, found.end, found.left) == (5, 14, 6)
    found = read(palace, "long", most_characters=24)
    assert (found.lines, found.left) == (("0001", "0002", "0003", "0004", "0005"), 45)
    assert read(palace, "long", most_lines=None, most_characters=None).left == 0
    palace.write("palace/wide.md", "x" * 5_000 + "\nnext\n")
    found = read(palace, "wide", most_characters=100)
    assert (found.lines, found.cut, found.left) == (("x" * 100,), 4_900, 1)
