"""The notes of a part of the palace, best first."""

import os
import random
from pathlib import Path

import pytest

from memory_palace.session import notes
from support.deep import deep_folders
from support.palaces import OLD_NS, Palace

ROOM = "palace/project_rooms/demo"


@pytest.fixture(params=["indexed", "not indexed"])
def filled(keyword_palace: Palace, request: pytest.FixtureRequest) -> Palace:
    """Notes of all kinds, with an index and without."""
    palace = keyword_palace
    told = {
        "high": "priority: high\ncreated: 2026-01-01",
        "decided": "hall: hall_decisions\ncreated: 2026-03-01",
        "bug": 'hall: "hall_bugs"\ncreated: 2026-05-01',
        "plain": "created: 2026-06-01",
        "low": "priority: low\ncreated: 2026-07-01",
        "old": "priority: high\nsuperseded_by: '[[new]]'",
        "older": "priority: high",
        "new": "created: 2026-02-01\nsupersedes: '[[older]]'",
    }
    for name, head in told.items():
        palace.write(f"{ROOM}/{name}.md", f"---\n{head}\n---\n# About {name}\n\nText of {name}.\n")
    palace.write("palace/archive_basement/project_rooms/demo/cold.md", "cold")
    palace.write("palace/topics/lessons.md", "- [lesson] x\n")
    palace.write("palace/grand_hall/identity.md", "who")
    palace.write("palace/reflection_wing/proposals/p.md", "proposed")
    palace.write("palace.yaml", "index: {exclude: ['**/drafts/**']}\n")
    palace.write(f"{ROOM}/drafts/d.md", "draft")
    palace.write(f"{ROOM}/x (Ann's conflicted copy).md", "copy")
    if request.param == "indexed":
        palace.command("index")
    return palace


def best(root: Path, folders: tuple[str, ...] = ("palace",), most: int = 15) -> list[str]:
    """Names, best first."""
    found = notes.listed(root, folders)
    return [Path(one.path).stem for one in notes.best(root, found, most)]


def test_importance_then_recency(filled: Palace) -> None:
    """What is superseded, archived, excluded, a topic, the identity or a proposal is not there."""
    assert best(filled.root) == ["decided", "high", "bug", "plain", "new", "low"]
    assert best(filled.root, most=2) == ["decided", "high"]
    assert best(filled.root, ("palace/project_rooms/demon",)) == []
    assert len(notes.listed(filled.root, (ROOM,))) == 6


def test_what_a_note_says(filled: Palace) -> None:
    """Title, day and text as they are on disk."""
    [first] = notes.best(filled.root, notes.listed(filled.root, (ROOM,)), 1)
    assert (first.title, first.day, first.text) == (
        "About decided", "2026-03-01", "Text of decided."
    )  # fmt: skip
    assert first.importance == 8 and len(first.sha256) == 64


def test_what_the_index_does_not_know_yet(filled: Palace) -> None:
    """A changed note is read again, a new one is there, one that is gone is not."""
    filled.write(f"{ROOM}/low.md", "---\npriority: high\nupdated: 2026-09-09\n---\n# Up\n\nNow.\n")
    filled.write(f"{ROOM}/fresh.md", "---\nhall: hall_decisions\ncreated: 2026-10-01\n---\nNew.\n")
    (filled.root / f"{ROOM}/bug.md").unlink()
    found = best(filled.root)
    assert "bug" not in found and found[0] == "fresh"
    # A priority that the index has is believed until the note is read.
    assert set(found) == {"fresh", "low", "decided", "high", "plain", "new"}
    [low] = [
        one
        for one in notes.best(filled.root, notes.listed(filled.root, (ROOM,)), 15)
        if one.path.endswith("low.md")
    ]
    assert (low.importance, low.title, low.text) == (8, "Up", "Now.")


def test_superseded_since(filled: Palace) -> None:
    """By its own word, or by a note that is not indexed yet."""
    filled.write(f"{ROOM}/high.md", "---\npriority: high\nsuperseded_by: '[[x]]'\n---\nOld.\n")
    filled.write(f"{ROOM}/newer.md", "---\nsupersedes: ['[[project_rooms/demo/bug|b]]']\n---\nN.\n")
    found = best(filled.root)
    assert "high" not in found and "bug" not in found and "newer" in found


def test_without_an_index_it_is_said(keyword_palace: Palace) -> None:
    """And of a damaged one; the files are read."""
    keyword_palace.notes(a="x")
    found = notes.listed(keyword_palace.root, ("palace",))
    assert found.said == (
        "there is no index yet: `palace index` makes one; the files were read instead",
    )
    keyword_palace.command("index")
    assert notes.listed(keyword_palace.root, ("palace",)).said == ()
    keyword_palace.write(".palace/index/catalog.sqlite", b"no database " * 100)
    [said] = notes.listed(keyword_palace.root, ("palace",)).said
    assert said.startswith("the index is damaged (")
    assert best(keyword_palace.root) == ["a"]


def test_a_bound_on_what_is_read(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many notes that are not indexed the newest are read, and the rest is counted."""
    monkeypatch.setattr(notes, "MOST_NEW", 2)
    for n in range(5):
        place = keyword_palace.write(f"palace/n{n}.md", "x")
        os.utime(place, ns=(OLD_NS + n, OLD_NS + n * 10**9))
    found = notes.listed(keyword_palace.root, ("palace",))
    assert sorted(one.path for one in found.told) == ["palace/n3.md", "palace/n4.md"]
    assert "3 notes are not in the index yet: `palace index` adds them" in found.said


def test_only_some_halls_are_looked_up(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound a note counts by its type."""
    for n in range(3):
        head = f"hall: hall_decisions\ncreated: 2026-01-0{n + 1}"
        keyword_palace.write(f"palace/n{n}.md", f"---\n{head}\n---\nx\n")
    keyword_palace.command("index")
    assert best(keyword_palace.root) == ["n2", "n1", "n0"]
    monkeypatch.setattr(notes, "MOST_HEADS", 1)
    assert best(keyword_palace.root, most=1) == ["n2"]


def test_the_order_is_that_of_all_notes_read(keyword_palace: Palace) -> None:
    """Looking up as few halls as can be gives the same notes as reading every one."""
    dice = random.Random(3)
    for n in range(60):
        head = [f"created: 2026-{dice.randint(1, 9):02}-11"]
        if dice.random() < 0.5:
            head.append(f"priority: {dice.choice(['high', 'medium', 'low'])}")
        if dice.random() < 0.5:
            head.append(f"hall: hall_{dice.choice(['decisions', 'bugs', 'changes', 'diary'])}")
        keyword_palace.write(f"palace/r{n % 3}/n{n}.md", "---\n" + "\n".join(head) + "\n---\nx\n")
    unindexed = best(keyword_palace.root, most=60)
    keyword_palace.command("index")
    assert best(keyword_palace.root, most=60) == unindexed
    assert best(keyword_palace.root, most=15) == unindexed[:15]


def test_odd_files(keyword_palace: Palace) -> None:
    """Pipes, links, folders named like notes, bytes that are no text: passed over."""
    keyword_palace.notes(good="x")
    os.mkfifo(keyword_palace.root / "palace/pipe.md")
    (keyword_palace.root / "palace/link.md").symlink_to("/etc/hosts")
    (keyword_palace.root / "palace/folder.md").mkdir()
    keyword_palace.write("palace/bytes.md", b"\xff\xfe\x00")
    assert best(keyword_palace.root) == ["good"]
    (keyword_palace.root / "palace/out").symlink_to("/etc")
    assert best(keyword_palace.root, ("palace/out",)) == []


def test_notes_are_named_however_deep(palace: Palace) -> None:
    """Folders within each other have no end."""
    top = palace.root / ROOM
    top.mkdir(parents=True)
    with deep_folders(top, "x.md") as path:
        assert list(notes.names(palace.root, [ROOM])) == [f"{ROOM}/{path}"]
