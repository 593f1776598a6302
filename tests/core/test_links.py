"""What is inside a link, and where it leads."""

import unicodedata
from typing import Any

import pytest

from memory_palace.core import links
from memory_palace.core.links import (
    Anchors,
    Archived,
    Link,
    Resolved,
    Resolver,
    in_metadata,
    parse,
)
from memory_palace.core.markdown import RawLink, read


@pytest.mark.parametrize(
    ("inner", "target", "heading", "block", "alias"),
    [
        ("note", "note", "", "", ""),
        ("folder/note", "folder/note", "", "", ""),
        ("note#A heading", "note", "A heading", "", ""),
        ("note#A#B", "note", "A#B", "", ""),
        ("note#^3f9a", "note", "", "3f9a", ""),
        ("note|alias", "note", "", "", "alias"),
        ("note#H|alias", "note", "H", "", "alias"),
        ("note|a # b | c ^d", "note", "", "", "a # b | c ^d"),
        ("note#^id|x", "note", "", "id", "x"),
        (" note # H | x ", "note", "H", "", "x"),
        ("#H", "", "H", "", ""),
        ("#^id", "", "", "id", ""),
        ("note\\|alias", "note", "", "", "alias"),
    ],
)
def test_the_parts_of_a_link(inner: str, target: str, heading: str, block: str, alias: str) -> None:
    """Target, heading or block, alias; only the first bar and hash have a meaning."""
    assert parse(RawLink(inner, 7)) == Link(target, heading, block, alias, False, 7)


@pytest.mark.parametrize("inner", ["note", "f/note", "note#H", "note#^id", "#H"])
def test_a_link_prints_as_it_is_written(inner: str) -> None:
    """Without its alias, a link is shown as in the text."""
    assert str(parse(RawLink(inner + "|alias", 1))) == f"[[{inner}]]"


def test_links_in_metadata() -> None:
    """Quoted wikilinks in any value count, at the line of their key; embeds are told."""
    metadata = {
        "supersedes": "[[old]]",
        "evidence": ["see [[a#H|x]] and ![[b]]", {"deep": ["[[c|see [1]]]"]}],
        "title": "no [link] here [[ ]] [[\n]]",
        "source": "[[[d]]]",
        "number": 3,
        "nested": [["note"]],
    }
    found = in_metadata(metadata, {"supersedes": 3, "evidence": 4, "title": 5, "source": 6})
    assert [(str(link), link.alias, link.embed, link.line) for link in found] == [
        ("[[old]]", "", False, 3),
        ("[[a#H]]", "x", False, 4),
        ("[[b]]", "", True, 4),
        ("[[c]]", "see [1", False, 4),
        ("[[d]]", "", False, 6),
    ]


NFD = unicodedata.normalize("NFD", "palace/topics/Über.md")
NOTES = {
    "palace/topics/lessons.md": ["what we learned", "Lessons!"],
    "palace/topics/Patterns.md": ["shapes"],
    "palace/rooms/a/plan.md": [],
    "palace/rooms/b/plan.md": ["shapes", "the plan"],
    "palace/index.md": [],
    "palace/rooms/index.md": ["plan"],
    "palace/rooms/v1.2.md": [],
    "palace/rooms/Same.md": [],
    "palace/rooms/same.md": [],
    NFD: ["Ünï"],
    "SKILL.md": [],
}
RESOLVER = Resolver(
    NOTES,
    archived=[
        Archived("palace/archive_basement/topics/old.md", ("the old way",)),
        Archived("palace/archive_basement/lessons.md"),
        Archived("palace/archive_basement/topics/lessons.md"),
        Archived("palace/archive_basement/rooms/idea.md"),
        Archived("palace/archive_basement/rooms/idea-2.md", (), "palace/rooms/idea.md"),
        Archived("palace/archive_basement/odd/x1.md", (), "palace/rooms/Über/thought.md"),
    ],
    files=["palace/rooms/data.csv", "palace/img/é.png", "LICENSE"],
)
ANCHORS = {
    "palace/topics/lessons.md": Anchors(("Top", "What `to` **do**: now"), ("3f9a",)),
    "palace/source.md": Anchors(("Here",), ("own",)),
    "palace/archive_basement/topics/lessons.md": Anchors((), ("c01d",)),
    "palace/archive_basement/lessons.md": Anchors((), ("e15e",)),
}


def lead(inner: str) -> Resolved:
    """Where ``[[inner]]`` in a source note leads."""
    return RESOLVER.resolve("palace/source.md", parse(RawLink(inner, 1)), ANCHORS)


@pytest.mark.parametrize(
    ("inner", "path"),
    [
        ("palace/topics/lessons.md", "palace/topics/lessons.md"),
        ("palace/topics/lessons", "palace/topics/lessons.md"),
        ("topics/lessons", "palace/topics/lessons.md"),
        ("lessons", "palace/topics/lessons.md"),
        ("lessons.md", "palace/topics/lessons.md"),
        ("LESSONS", "palace/topics/lessons.md"),
        ("Topics/Lessons", "palace/topics/lessons.md"),
        ("what we learned", "palace/topics/lessons.md"),
        ("a/plan", "palace/rooms/a/plan.md"),
        ("rooms/b/plan", "palace/rooms/b/plan.md"),
        ("the plan", "palace/rooms/b/plan.md"),
        ("index", "palace/index.md"),
        ("rooms/index", "palace/rooms/index.md"),
        ("v1.2", "palace/rooms/v1.2.md"),
        ("Same", "palace/rooms/Same.md"),
        ("same", "palace/rooms/same.md"),
        ("Über", NFD),
        ("topics/Über", NFD),
        (unicodedata.normalize("NFD", "über"), NFD),
        (unicodedata.normalize("NFD", "Ünï"), NFD),
        ("SKILL", "SKILL.md"),
        ("lessons|any # alias", "palace/topics/lessons.md"),
    ],
)
def test_a_link_leads_to_its_note(inner: str, path: str) -> None:
    """Exact path, then unique name, then alias, then name in any case, all in NFC."""
    found = lead(inner)
    assert (found.path, found.status, found.why) == (path, "ok", "")


@pytest.mark.parametrize(
    ("inner", "named"),
    [
        ("plan", ["palace/rooms/a/plan.md", "palace/rooms/b/plan.md"]),
        ("shapes", ["palace/rooms/b/plan.md", "palace/topics/Patterns.md"]),
        ("SAME", ["palace/rooms/Same.md", "palace/rooms/same.md"]),
        ("PLAN", ["palace/rooms/a/plan.md", "palace/rooms/b/plan.md"]),
    ],
)
def test_an_ambiguous_link_leads_nowhere(inner: str, named: list[str]) -> None:
    """Two notes of the name, or of the alias: both are named, neither is taken."""
    found = lead(inner)
    assert (found.path, found.status) == (None, "ambiguous")
    assert all(path in found.why for path in named)


@pytest.mark.parametrize(
    "inner",
    [
        "lesson",
        "learned",
        "other/lessons",
        "topics/plan",
        "ics/lessons",
        "Shapes",
        "c/plan",
        "../topics/lessons",
        "/palace/topics/lessons",
        "topics\\lessons",
        "lessons/",
        "WHAT we learned",
    ],
)
def test_what_is_not_there_is_broken(inner: str) -> None:
    """A part of a name, a wrong folder, an alias in another case, a path upwards: no guess."""
    found = lead(inner)
    assert (found.path, found.status) == (None, "broken")
    assert found.why


@pytest.mark.parametrize("inner", ["../lessons", "a/../lessons", "/lessons", "topics\\lessons"])
def test_a_path_that_is_none_of_the_palace_is_told_so(inner: str) -> None:
    """Paths upwards, from the disk's root, or with backslashes are answered with the right form."""
    assert "below the root" in lead(inner).why


def test_many_choices_are_not_all_listed() -> None:
    """Four are named, the rest are counted."""
    resolver = Resolver({f"palace/{n}/x.md": [] for n in range(7)})
    why = resolver.resolve("palace/s.md", parse(RawLink("x", 1)), {}).why
    assert why.count("x.md") == 4
    assert "and 3 more" in why


def test_paths_that_differ_in_normal_form_only_are_ambiguous() -> None:
    """Two files that look the same are never told apart by chance."""
    twins = [unicodedata.normalize(form, "palace/é.md") for form in ("NFC", "NFD")]
    found = Resolver({twin: [] for twin in twins}).resolve("s.md", parse(RawLink("é", 1)), {})
    assert (found.path, found.status) == (None, "ambiguous")


@pytest.mark.parametrize(
    "inner", ["lessons#Top", "lessons#top", "lessons#What to do now", "lessons#No#Top"]
)
def test_headings_are_found_loosely(inner: str) -> None:
    """Case and markup of a heading do not matter; of a chain the last counts."""
    assert lead(inner).status == "ok"


@pytest.mark.parametrize(
    "inner", ["lessons#To", "lessons#What", "lessons#^3f9", "lessons#^Top", "lessons#Top#No"]
)
def test_a_missing_heading_or_block_is_broken_but_leads_to_its_note(inner: str) -> None:
    """The note is there, the place in it is not."""
    found = lead(inner)
    assert (found.path, found.status) == ("palace/topics/lessons.md", "broken")
    assert "lessons.md" in found.why


@pytest.mark.parametrize(
    ("inner", "status"),
    [("#Here", "ok"), ("#^own", "ok"), ("#Top", "broken"), ("#^3f9a", "broken")],
)
def test_a_link_without_a_target_leads_into_its_own_note(inner: str, status: str) -> None:
    """``[[#heading]]`` is looked for where it is written."""
    found = lead(inner)
    assert (found.path, found.status) == ("palace/source.md", status)


@pytest.mark.parametrize("inner", ["data.csv", "rooms/data.csv", "palace/img/é.png", "LICENSE"])
def test_a_file_that_is_no_note_is_neither_broken_nor_a_neighbour(inner: str) -> None:
    """It is there, and there is no note to lead to."""
    found = lead(inner)
    assert (found.path, found.status) == (None, "file")


@pytest.mark.parametrize(
    "inner", ["old", "OLD", "topics/old", "archive_basement/topics/old", "old#X"]
)
def test_an_archived_note_is_marked(inner: str) -> None:
    """Neither broken nor a live neighbour; the path in the archive is told."""
    found = lead(inner)
    assert (found.path, found.status) == (None, "archived")
    assert found.why == "palace/archive_basement/topics/old.md"


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("palace/topics/old.md", "palace/archive_basement/topics/old.md"),
        ("palace/topics/old", "palace/archive_basement/topics/old.md"),
        ("palace/topics/old#^x", "palace/archive_basement/topics/old.md"),
        ("the old way", "palace/archive_basement/topics/old.md"),
        ("idea-2", "palace/archive_basement/rooms/idea-2.md"),
        ("palace/rooms/Über/thought", "palace/archive_basement/odd/x1.md"),
        (unicodedata.normalize("NFD", "Über/thought"), "palace/archive_basement/odd/x1.md"),
        ("thought", "palace/archive_basement/odd/x1.md"),
        ("x1", "palace/archive_basement/odd/x1.md"),
    ],
)
def test_a_link_written_before_the_move_leads_to_the_archive(inner: str, why: str) -> None:
    """By the path that the note had, by its alias, by its old or its new name."""
    found = lead(inner)
    assert (found.path, found.status, found.why) == (None, "archived", why)


def test_all_that_came_from_one_place_are_named() -> None:
    """Two notes were archived from the same path, one after the other."""
    for inner in ("rooms/idea", "palace/rooms/idea.md"):
        found = lead(inner)
        assert found.status == "archived"
        assert found.why == (
            "palace/archive_basement/rooms/idea-2.md, palace/archive_basement/rooms/idea.md"
        )


def test_an_archived_entry_of_a_live_topic_is_found() -> None:
    """The topic is live, the block stands in the file that came from the same path."""
    found = lead("lessons#^c01d")
    assert (found.path, found.status) == (None, "archived")
    assert found.why == "palace/archive_basement/topics/lessons.md"
    assert lead("lessons#^3f9a").status == "ok"


def test_an_entry_of_a_namesake_in_the_archive_is_not_taken() -> None:
    """Another archived `lessons` did not come from there."""
    assert lead("lessons#^e15e").status == "broken"


def test_a_live_note_goes_before_an_archived_one() -> None:
    """The archive does not make a live name ambiguous."""
    assert lead("lessons").path == "palace/topics/lessons.md"


def test_from_text_to_note() -> None:
    """A link with an awkward alias in a table, read and resolved."""
    body = "| a |\n|---|\n| [[lessons#Top\\|C# or [x] \\| y]] |\n"
    (raw,) = read(body).links
    assert parse(raw).alias == "C# or [x] | y"
    found = RESOLVER.resolve("palace/source.md", parse(raw), ANCHORS)
    assert (found.path, found.status) == ("palace/topics/lessons.md", "ok")


def test_a_notes_headings_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of the links into it; another note's, or changed ones, are read anew."""
    seen: list[str] = []
    loose = links._loose

    def counted(heading: str) -> str:
        seen.append(heading)
        return loose(heading)

    monkeypatch.setattr(links, "_loose", counted)
    there = {"n.md": Anchors(tuple(f"H {n}" for n in range(2000)), ("b",))}
    resolver = Resolver({"n.md": []})
    for n in range(2000):
        found = resolver.resolve("n.md", parse(RawLink(f"#h {n}", 1)), there)
        assert (found.path, found.status) == ("n.md", "ok")
    assert len(seen) == 4000
    link = parse(RawLink("n#h 1", 1))
    assert resolver.resolve("n.md", link, {"n.md": Anchors()}).status == "broken"
    assert resolver.resolve("n.md", link, {}).status == "broken"
    assert resolver.resolve("n.md", link, there).status == "ok"


def test_a_target_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note may name one of thousands of namesakes thousands of times."""
    seen: list[str] = []
    ending = links._Names.ending

    def counted(names: Any, target: str) -> set[str]:
        seen.append(target)
        return ending(names, target)

    monkeypatch.setattr(links._Names, "ending", counted)
    resolver = Resolver({f"palace/{n}/x.md": [] for n in range(50)})
    found = {
        resolver.resolve("palace/s.md", parse(RawLink(f"x#h {n}", n)), {}).why for n in range(50)
    }
    assert len(found) == 1
    assert seen == ["x"]


def test_namesakes_are_sorted_by_folder_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link with a folder would compare each of them."""
    seen: list[str] = []
    bare = links._bare

    def counted(path: str) -> str:
        seen.append(path)
        return bare(path)

    monkeypatch.setattr(links, "_bare", counted)
    resolver = Resolver({f"palace/t/{n}/a/x.md": [] for n in range(100)})
    for n in range(100):
        found = resolver.resolve("palace/s.md", parse(RawLink(f"{n}/a/x", 1)), {})
        assert found.path == f"palace/t/{n}/a/x.md"
        assert resolver.resolve("s.md", parse(RawLink(f"{n}/b/x", 1)), {}).status == "broken"
    assert resolver.resolve("s.md", parse(RawLink("palace/T/7/a/X", 1)), {}).status == "ok"
    assert resolver.resolve("s.md", parse(RawLink("A/x", 1)), {}).status == "ambiguous"
    assert len(seen) < 1000
