"""``palace links``: what is printed, and the exit codes."""

import json

import pytest

from support.palaces import Palace


@pytest.fixture
def linked(keyword_palace: Palace) -> Palace:
    """Notes with links of all kinds."""
    keyword_palace.notes(
        a="# The a\n\n[[b]] [[old]] [[pic.png]] [[bb]] [[b#Nope]]\n",
        b="# The b\n\n[[a|this]]\n",
        lonely="nothing\n",
        archive_basement__old="old\n",
    )
    keyword_palace.write("palace/pic.png", b"png")
    return keyword_palace


def test_as_text(linked: Palace) -> None:
    """A head line, then out, back and broken ones, a line each."""
    done = linked.command("links", "a")
    assert done.out.splitlines() == [
        "palace/a.md  The a",
        "-> palace/b.md  The b  line 3: [[b]]",
        "-> palace/archive_basement/old.md  old  line 3: [[old]]  (archived)",
        "-> pic.png  line 3: [[pic.png]]  (a file, no note)",
        "<- palace/b.md:3  The b",
        "!! line 3: [[bb]] broken: no such note: mend the name or write the note; "
        "did you mean palace/b.md?",
        "!! line 3: [[b#Nope]] broken: no heading `Nope` in palace/b.md",
    ]
    assert (done.code, done.err) == (0, "")


def test_as_json(linked: Palace) -> None:
    """All keys, always."""
    done = linked.command("links", "palace/b.md", "--format", "json")
    assert json.loads(done.out) == {
        "path": "palace/b.md",
        "title": "The b",
        "archived": False,
        "out": [
            {"path": "palace/a.md", "title": "The a", "line": 3, "text": "[[a]]", "status": "ok"}
        ],
        "back": [
            {"path": "palace/a.md", "title": "The a", "line": 3, "text": "[[b]]", "status": "ok"},
            {
                "path": "palace/a.md",
                "title": "The a",
                "line": 3,
                "text": "[[b#Nope]]",
                "status": "broken",
            },
        ],
        "broken": [],
    }


def test_a_link_to_a_heading_that_is_not_there(linked: Palace) -> None:
    """It leads to the note all the same, and is said to be broken."""
    done = linked.command("links", "b")
    assert done.out.splitlines()[2:] == [
        "<- palace/a.md:3  The a",
        "<- palace/a.md:3  The a  ([[b#Nope]] broken)",
    ]


def test_none_at_all(linked: Palace) -> None:
    """A note without links is no fault."""
    done = linked.command("links", "lonely")
    assert (done.code, done.out) == (0, "palace/lonely.md  lonely\n")
    assert done.err == "no links: nothing leads from here or to here\n"


def test_a_miss(linked: Palace) -> None:
    """One line, and 1."""
    done = linked.command("links", "lonly")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: no note lonly: did you mean palace/lonely.md?\n"


def test_notes_are_not_touched(linked: Palace) -> None:
    """Nothing but .palace/ is written, no manifest either."""
    linked.command("links", "a")
    found = {p.name for p in linked.root.iterdir()}
    assert found == {"palace", "palace.yaml", ".palace"}
