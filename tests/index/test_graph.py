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


def test_links_into_the_archive_are_told(palace: Palace) -> None:
    """By the path before the move, by alias, into an entry that left its topic; none is a fault."""
    palace.notes(
        a="[[palace/r/old.md]] [[other name]] [[lessons#^c01d]] [[r/gone]] [[lessons#^3f9a]]",
        topics__lessons="- [lesson] warm ^3f9a",
        archive_basement__topics__lessons="- [lesson] cold ^c01d",
        archive_basement__r__old="---\naliases: [other name]\n---\nx",
        **{"archive_basement__r__gone-2": "---\narchived_from: palace/r/gone.md\n---\nx"},
    )
    found = read(palace)
    assert found.problems == []
    assert found.out["palace/a.md"] == ["palace/topics/lessons.md"]
    assert found.archived == {
        "palace/a.md": [
            "palace/archive_basement/r/old.md",
            "palace/archive_basement/topics/lessons.md",
            "palace/archive_basement/r/gone-2.md",
        ]
    }


def test_a_change_in_the_archive_resolves_links_again(palace: Palace) -> None:
    """The note that links did not change, and neither did a live one."""
    palace.notes(a="[[lessons#^c01d]]", topics__lessons="x", archive_basement__topics__lessons="y")
    assert len(read(palace).problems) == 1
    palace.notes(archive_basement__topics__lessons="- [lesson] cold ^c01d")
    assert read(palace).problems == []
    palace.notes(archive_basement__topics__lessons="nothing any more, and no id")
    assert len(read(palace).problems) == 1


def test_archived_notes_are_no_neighbours_of_a_hit(palace: Palace) -> None:
    """A search never follows a link into the archive."""
    palace.notes(a="zebra [[old]] [[b]]", b="x", archive_basement__old="zebra crossing")
    palace.index()
    (hit,) = palace.hits("zebra")
    assert [neighbor.path for neighbor in hit.neighbors] == ["palace/b.md"]
