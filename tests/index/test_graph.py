"""The graph of links, and what the archive's links do to it."""

from memory_palace.index import catalog as catalogs
from memory_palace.index import graph
from support.palaces import Palace


def read(palace: Palace) -> graph.Graph:
    """The graph after an index run."""
    palace.index()
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as catalog:
        return graph.read(catalog)


def test_neighbours_come_in_link_order_each_once(palace: Palace) -> None:
    """Repeats and links to oneself are left out."""
    palace.notes(a="[[c]] [[b]] [[c|again]] [[a]] ![[b#Part]]", b="## Part\n[[a]]", c="x")
    found = read(palace)
    assert found.out["palace/a.md"] == ["palace/c.md", "palace/b.md"]
    assert found.back["palace/b.md"] == ["palace/a.md"]
    assert found.out["palace/c.md"] == []


def test_links_in_metadata_come_first(palace: Palace) -> None:
    """A quoted wikilink is a link like any other."""
    palace.notes(a='---\nsupersedes: "[[b]]"\n---\n[[c]]', b="x", c="x")
    assert read(palace).out["palace/a.md"] == ["palace/b.md", "palace/c.md"]


def test_broken_and_ambiguous_links_are_named_with_path_and_line(palace: Palace) -> None:
    """Nothing is guessed."""
    palace.notes(a="one\n[[nowhere]]\n[[twin]]\n[[b#None]]", b="x", r__twin="x", s__twin="x")
    problems = read(palace).problems
    assert [(p.path, p.line, p.message.split(":")[0]) for p in problems] == [
        ("palace/a.md", 2, "[[nowhere]] broken"),
        ("palace/a.md", 3, "[[twin]] ambiguous"),
        ("palace/a.md", 4, "[[b#None]] broken"),
    ]
    assert read(palace).out["palace/a.md"] == ["palace/b.md"]


def test_a_new_note_mends_old_links(palace: Palace) -> None:
    """Links are resolved again when what they lead to changes, not only when they do."""
    palace.notes(a="[[later]]")
    assert len(read(palace).problems) == 1
    palace.notes(later="x")
    found = read(palace)
    assert found.problems == []
    assert found.out["palace/a.md"] == ["palace/later.md"]


def test_archived_notes_are_no_neighbours_and_no_fault(palace: Palace) -> None:
    """A link into the basement leads there for a reader, not for the graph."""
    palace.notes(a="[[old]] [[picture.png]]", archive_basement__old="[[a]]")
    palace.write("palace/picture.png", b"\x89PNG")
    found = read(palace)
    assert found.problems == []
    assert found.out == {"palace/a.md": []}
