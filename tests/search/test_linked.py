"""The links of a note: out, back, broken."""

import pytest

from memory_palace.core.errors import Refused
from memory_palace.files import locks, roots
from memory_palace.search import linked
from support.palaces import Palace


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """Notes that link to each other, to the archive, to a file, and nowhere."""
    keyword_palace.notes(
        a='---\nsupersedes: "[[b]]"\n---\n# A\n\n[[b#B]] and [[b|again]], [[old]]\n'
        "[[pic.png]] [[c]] [[#A]] [[bb]] [[twin]]\n",
        b="# B\n\n[[a]]\n",
        c="---\naliases: [see]\n---\n[[a#A]] `[[b]]`\n\n![[a]]\n",
        one__twin="x\n",
        two__twin="x\n",
        archive_basement__old="[[a]] [[nothing]]\n",
    )
    keyword_palace.write("palace/pic.png", b"png")
    return keyword_palace


def test_out_back_and_broken(palace: Palace) -> None:
    """Each link with its line, those of the metadata too."""
    found = linked.links(palace.root, "a")
    assert (found.path, found.title, found.archived) == ("palace/a.md", "A", False)
    assert [(one.path, one.line, one.text, one.status) for one in found.out] == [
        ("palace/b.md", 2, "[[b]]", "ok"),
        ("palace/b.md", 6, "[[b#B]]", "ok"),
        ("palace/b.md", 6, "[[b]]", "ok"),
        ("palace/archive_basement/old.md", 6, "[[old]]", "archived"),
        ("pic.png", 7, "[[pic.png]]", "file"),
        ("palace/c.md", 7, "[[c]]", "ok"),
        ("palace/a.md", 7, "[[#A]]", "ok"),
    ]
    assert [(one.path, one.line, one.title) for one in found.back] == [
        ("palace/b.md", 3, "B"),
        ("palace/c.md", 4, "c"),
        ("palace/c.md", 6, "c"),
    ]
    broken, twin = found.broken
    assert (broken.line, broken.text, broken.status, broken.near) == (
        7,
        "[[bb]]",
        "broken",
        ("palace/b.md",),
    )
    assert (twin.status, twin.near) == ("ambiguous", ())
    assert "could be palace/one/twin.md, palace/two/twin.md" in twin.why
    assert found.late == ""


def test_an_archived_note(palace: Palace) -> None:
    """What leads to it, and where its own links lead now."""
    found = linked.links(palace.root, "old")
    assert found.archived
    assert [(one.path, one.line) for one in found.out] == [("palace/a.md", 1)]
    assert [(one.path, one.line) for one in found.back] == [("palace/a.md", 6)]
    assert [one.text for one in found.broken] == ["[[nothing]]"]


def test_as_the_files_are_now(palace: Palace) -> None:
    """A note that was written since counts, and one that is gone does not."""
    palace.index()
    palace.write("palace/d.md", "\n\n[[b]]\n", old=False)
    (palace.root / "palace/a.md").unlink()
    found = linked.links(palace.root, "b")
    assert [(one.path, one.line) for one in found.back] == [("palace/d.md", 3)]
    assert [(bad.text, bad.line) for bad in found.broken] == [("[[a]]", 3)]


def test_while_another_one_writes(palace: Palace) -> None:
    """The links of the last run, and that they are that."""
    palace.index()
    palace.write("palace/c.md", "nothing\n", old=False)
    with locks.writer(roots.index_folder(palace.root), "palace index", 0.0):
        found = linked.links(palace.root, "a")
    assert found.late.startswith("as of the last run of the index")
    assert "palace/c.md" in [one.path for one in found.back]


def test_a_broken_anchor_leads_to_no_other_note(palace: Palace) -> None:
    """The note is there, its heading is not: no other name is offered."""
    palace.write("palace/c.md", "[[b#Nope]]\n")
    (broken,) = linked.links(palace.root, "c").broken
    assert (broken.why, broken.near) == ("no heading `Nope` in palace/b.md", ())


def test_what_has_no_links(palace: Palace) -> None:
    """A name that nothing has, and a file that is no note."""
    with pytest.raises(Refused, match="no note zzzz"):
        linked.links(palace.root, "zzzz")
    with pytest.raises(Refused, match="no links that are known: it is no note"):
        linked.links(palace.root, "palace/pic.png")
