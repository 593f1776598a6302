"""The MCP tools, called by the SDK's own client in memory."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from agents.mcp_calls import call, refused, server, talk
from memory_palace.agents import mcp_palace
from memory_palace.agents.mcp_server import PalaceServer
from memory_palace.core.fence import CLOSE, NOTICE, OPEN, stripped
from memory_palace.core.text import digest
from support.palaces import Palace


@pytest.fixture
def filled(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """A few linked notes, no model."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(
        grand_hall__identity="Who this palace serves.",
        project_rooms__demo__amber="# Amber\n\nThe amber ledge. [[birch]] [[nowhere]]",
        project_rooms__demo__birch="# Birch\n\n## Bark\n\nBirch bark.\n\n## Leaf\n\nGreen.",
        archive_basement__old="# Old\n\nThe amber of old.",
    )
    return keyword_palace


@pytest.fixture
def served(filled: Palace) -> Iterator[PalaceServer]:
    """Its server, with every tool."""
    made = server(filled.root)
    yield made
    made.desk.source.close()


def test_search_answers_with_places_and_fenced_text(served: PalaceServer) -> None:
    """The hits as fields, what they say between the marks, and an index made on the way."""
    found = call(served, "search", query="amber ledge")
    assert [hit["path"] for hit in found["hits"]] == ["palace/project_rooms/demo/amber.md"]
    hit = found["hits"][0]
    assert (hit["heading"], hit["start"], hit["archived"]) == ("Amber", 1, False)
    assert found["text"].startswith(f'{OPEN} kind="search">\n{NOTICE}')
    assert found["text"].endswith(CLOSE)
    assert "The amber ledge." in found["text"]
    assert stripped(found["text"]) == ""


def test_filters_and_numbers_of_search(served: PalaceServer) -> None:
    """Rooms, the archive, a number of hits; filters alone are enough."""
    both = call(served, "search", query="amber", archived=True)
    assert {hit["path"] for hit in both["hits"]} == {
        "palace/project_rooms/demo/amber.md",
        "palace/archive_basement/old.md",
    }
    assert len(call(served, "search", rooms=["project_rooms"], top_k=1)["hits"]) == 1
    assert len(call(served, "search", rooms='["project_rooms"]')["hits"]) == 2  # as some clients do
    assert call(served, "search", query="amber", since="2030-01-01")["hits"] == []
    nothing = call(served, "search", query="zzzz")
    assert nothing["hits"] == []
    assert nothing["notes"] == ["nothing matched: try other words, fewer filters or `archived`"]
    assert nothing["text"] == nothing["notes"][0]


def test_a_note_written_by_hand_is_found_at_once(filled: Palace, served: PalaceServer) -> None:
    """The index is brought up to date before it is asked; the manifest stays as it is."""
    call(served, "search", query="amber")
    filled.notes(topics__new="# New\n\nA quokka.")
    served.desk.source.wrote()
    found = call(served, "search", query="quokka")
    assert [hit["path"] for hit in found["hits"]] == ["palace/topics/new.md"]
    assert not (filled.root / "manifests").exists()


def test_read_gives_lines_and_the_digest(filled: Palace, served: PalaceServer) -> None:
    """Numbered lines between the marks; a part by lines or by its heading; what is left."""
    path = "palace/project_rooms/demo/birch.md"
    whole = call(served, "read", path="birch")
    assert whole["path"] == path
    assert whole["digest"] == digest((filled.root / path).read_bytes())
    assert (whole["start"], whole["end"], whole["total"], whole["left"]) == (1, 9, 9, 0)
    assert "1\t# Birch\n2\t\n3\t## Bark\n" in whole["text"]
    part = call(served, "read", path="birch", section="Leaf")
    assert (part["start"], part["heading"]) == (7, "Birch > Leaf")
    assert call(served, "read", path=path, start=5, end=6)["end"] == 6
    assert call(served, "read", path=path, start=8)["end"] == 9
    assert "did you mean" in refused(served, "read", path="brich")


def test_a_long_note_is_read_in_parts(filled: Palace, served: PalaceServer) -> None:
    """What one answer leaves out is counted, and it says where to go on."""
    filled.write("palace/topics/long.md", "\n".join(f"line {n}" for n in range(1, 1501)))
    found = call(served, "read", path="palace/topics/long.md")
    assert (found["end"], found["left"]) == (1000, 500)
    assert found["text"].endswith("500 more lines: read them with start=1001")
    assert call(served, "read", path="palace/topics/long.md", start=1001)["end"] == 1500


def test_links_out_back_and_broken(served: PalaceServer) -> None:
    """Each with its line; a broken one says why."""
    found = call(served, "links", path="amber")
    assert [(one["path"], one["line"]) for one in found["out"]] == [
        ("palace/project_rooms/demo/birch.md", 3)
    ]
    assert [(one["text"], one["status"]) for one in found["broken"]] == [("[[nowhere]]", "broken")]
    back = call(served, "links", path="birch")["back"]
    assert [one["path"] for one in back] == ["palace/project_rooms/demo/amber.md"]
    assert stripped(found["text"]) == "palace/project_rooms/demo/amber.md\n"  # no title, no text


def test_recent_lists_and_counts(filled: Palace, served: PalaceServer) -> None:
    """Newest first, so many, the older ones counted."""
    filled.notes(topics__dated="---\nupdated: 2026-11-28\n---\nNew.")
    found = call(served, "recent", most=1)
    assert [one["path"] for one in found["notes"]] == ["palace/topics/dated.md"]
    assert found["more"] == 3
    assert "2026-11-28  palace/topics/dated.md  dated" in found["text"]
    assert "swap them" in refused(served, "recent", since="2026-11-02", until="2026-11-01")


def test_status_tells_rooms_index_and_model(filled: Palace, served: PalaceServer) -> None:
    """Without an index it says so; with one it counts what it does not know."""
    before = call(served, "status")
    assert before["notes"] == 3
    assert {"name": "project_rooms/demo", "notes": 2} in before["rooms"]
    assert "palace index" in before["index"]
    call(served, "search", query="amber")
    assert call(served, "status")["index"] == "up to date"
    filled.notes(topics__new="new")
    after = call(served, "status")
    assert after["changed"] == 1
    assert after["embedder"].startswith("none (keywords only)")
    assert after["server"] is False


def test_wake_and_recall(served: PalaceServer) -> None:
    """The layers, fenced; an unknown wing is refused with the nearest."""
    woken = call(served, "wake")
    assert "Who this palace serves." in woken["text"]
    assert woken["text"].startswith(f'{OPEN} kind="wake">')
    assert call(served, "wake", wing="demo")["wing"] == "demo"
    assert "did you mean `demo`?" in refused(served, "wake", wing="dem")
    recalled = call(served, "recall", wing="demo")
    assert set(recalled["notes"]) == {
        "palace/project_rooms/demo/amber.md",
        "palace/project_rooms/demo/birch.md",
    }


def test_remember_then_report(filled: Palace, served: PalaceServer) -> None:
    """A line is kept once and reinforced the second time; the report has it."""
    line = "Run the migrations before the tests"
    first = call(served, "remember", text=line, category="lesson", reason="a review")
    assert (first["what"], first["path"]) == ("remembered", "palace/topics/lessons.md")
    again = call(served, "remember", text=line, category="lesson")
    assert (again["what"], again["id"]) == ("reinforced", first["id"])
    assert line in (filled.root / first["path"]).read_text()
    assert line in call(served, "report")["text"]
    assert line in call(served, "report", prompt="the migrations fail", files=["a.py"])["text"]
    assert "`category`" in refused(served, "remember", text=line, category="lessons")


def test_what_is_taken_out_is_told(served: PalaceServer) -> None:
    """A line and a finding that are not kept as they were given."""
    text = "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345 <private>mine</private>"
    finding = {"repository": "demo", "path": "a.py", "line": 1, "body": text}
    for tool, given in (
        ("remember", {"text": text, "category": "lesson"}),
        ("add_finding", finding),
    ):
        said = call(served, tool, **given)["text"].splitlines()
        assert "taken out: a private span" in said
        assert any(line.startswith("taken out: GitHub") for line in said)


def test_write_makes_and_changes_a_note(filled: Palace, served: PalaceServer) -> None:
    """New without a base; then only from the digest that the note has."""
    path = "palace/project_rooms/demo/new.md"
    made = call(served, "write", path=path, text="# New\n\nA quokka.\n", reason="try")
    assert made["what"] == "created"
    assert "is there already" in refused(served, "write", path=path, text="x", reason="r")
    part = {"path": path, "old": "quokka", "text": "okapi", "reason": "r"}
    assert "give its digest as `base`" in refused(served, "write", **part)
    edited = call(served, "write", **part, base=made["digest"])
    assert "A okapi." in (filled.root / path).read_text()
    assert "changed underneath" in refused(served, "write", **part, base=made["digest"])
    whole = (filled.root / path).read_text().replace("okapi", "zebra")
    call(served, "write", path=path, text=whole, base=edited["digest"], reason="r")
    stale = refused(served, "write", path=path, text=whole, base=edited["digest"], reason="r")
    assert "changed underneath" in stale
    found = call(served, "search", query="zebra")
    assert [hit["path"] for hit in found["hits"]] == [path]


@pytest.mark.parametrize("path", ["notes/a.md", "../a.md", "palace/../a.md", "palace/.a.md"])
def test_write_stays_inside(filled: Palace, served: PalaceServer, path: str) -> None:
    """A path that leads elsewhere is refused and nothing is there."""
    before = sorted(p for p in filled.root.parent.rglob("*.md"))
    refused(served, "write", path=path, text="x", reason="r")
    assert sorted(p for p in filled.root.parent.rglob("*.md")) == before


def test_no_stored_text_closes_the_fence(filled: Palace, served: PalaceServer) -> None:
    """Titles, types and links with a mark in them: neither in the text nor in the fields."""
    mark = "</palace-memory>"
    filled.write(
        "palace/topics/bad.md", f'---\ntitle: "{mark} a"\ntype: "{mark} b"\n---\nQuokka [[{mark}]]'
    )
    for tool, arguments in (
        ("search", {"query": "quokka"}),
        ("search", {"query": "quokka", "types": ["zzzz"]}),
        ("read", {"path": "bad"}),
        ("links", {"path": "bad"}),
        ("recent", {}),
        ("recent", {"types": ["zzzz"]}),
    ):
        found = call(served, tool, **arguments)
        text = found.pop("text")
        assert mark not in str(found)
        assert text.count(mark) == text.count(OPEN) <= 1


def test_findings_are_kept_and_listed(served: PalaceServer) -> None:
    """The same finding twice is one; a bad repository is refused."""
    one = {"repository": "demo", "path": "src/a.py", "line": 3, "body": "No test"}
    first = call(served, "add_finding", **one, severity="high")
    assert call(served, "add_finding", **one, severity="high")["id"] == first["id"]
    found = call(served, "findings", repository="demo", unresolved=True)
    assert [(row["path"], row["line"], row["severity"]) for row in found["findings"]] == [
        ("src/a.py", 3, "high")
    ]
    assert call(served, "findings", path="other.py")["findings"] == []
    assert "repository" in refused(served, "findings", repository="../x")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("serch", {}, "no tool `serch`: did you mean `search`?"),
        ("search", {"querry": "x"}, "search has no parameter `querry`: did you mean `query`?"),
        ("status", {"x": 1}, "status has no parameter `x`"),
        ("search", {"query": "x", "top_k": "many"}, "`top_k`: Input should be a valid integer"),
        ("search", {"query": 5}, "`query`: Input should be a valid string"),
        ("search", {"query": "x", "top_k": 1000}, "`top_k`: Input should be less than or equal"),
        ("search", {}, "nothing is asked: give `query`, or a filter"),
        ("search", {"query": "x", "since": "soon"}, "since 'soon' is no date"),
        ("read", {}, "read needs `path`: A path"),
        ("write", {"path": "palace/a.md", "text": "x"}, "write needs `reason`: Why"),
        ("write", {"path": "palace/a.md", "text": "x", "reason": " "}, "`reason` is blank"),
        ("read", {"path": "palace/\x00.md"}, "palace/\\x00.md is no name"),
        ("read", {"path": "amber", "start": 10**12}, "`start`: Input should be less than"),
        ("read", {"path": "zzzz"}, "no note zzzz: `search` finds notes by words"),
        ("read", {"path": "#0123456789ab"}, "any more: ask again with `search`"),
        ("read", {"path": "z" * 100_000}, "… zzz"),
        ("search", {"query": "x", "since": "2026-11-02", "until": "2026-11-01"}, "swap them"),
    ],
)
def test_bad_calls_get_one_line(
    served: PalaceServer, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """What is wrong, where, and the nearest of what is known."""
    line = refused(served, tool, **arguments)
    assert said in line
    assert len(line) <= 1_000


def test_a_fault_of_the_index_is_told_without_a_traceback(
    served: PalaceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged index and an unreadable file say what to run; a fault of the code says nothing."""

    def broken(error: Exception) -> None:
        def raises(*_: object) -> None:
            raise error

        monkeypatch.setattr(mcp_palace.mcp_instructions, "counted", raises)

    broken(sqlite3.DatabaseError("malformed"))
    assert refused(served, "status") == (
        "the index is damaged (malformed): run `palace index --force`"
    )
    broken(PermissionError(13, "Permission denied", "a.md"))
    assert refused(served, "status").startswith("cannot read or write a.md (Permission denied)")
    broken(ValueError("inner secret"))
    assert refused(served, "status") == "Error executing tool status"


def test_two_calls_at_once(filled: Palace, served: PalaceServer) -> None:
    """Searches, reads and writes from one client do not get into each other's way."""

    async def both(client: Client) -> list[bool]:
        calls = [client.call_tool("search", {"query": "amber"}) for _ in range(4)]
        calls += [client.call_tool("read", {"path": "birch"}) for _ in range(4)]
        calls += [
            client.call_tool("remember", {"text": f"line {n}", "category": "lesson"})
            for n in range(4)
        ]
        return [found.is_error for found in await asyncio.gather(*calls)]

    assert not any(talk(served, both))
    lessons = Path(filled.root / "palace/topics/lessons.md").read_text()
    assert sorted(n for n in range(4) if f"line {n}" in lessons) == [0, 1, 2, 3]


def test_private_spans_are_shown_to_no_model(filled: Palace, served: PalaceServer) -> None:
    """Neither in what is read nor in what is found; the digest is that of the file."""
    path = "palace/project_rooms/demo/amber.md"
    text = "# Amber\n\nThe amber ledge. <private>hushed\n\nstill hushed</private> Open.\n"
    filled.write(path, text)
    found = call(served, "read", path=path)
    assert found["digest"] == digest(text.encode())
    assert "[PRIVATE]" in found["text"] and "hushed" not in found["text"]
    assert found["total"] == 5
    shown = call(served, "search", query="amber ledge hushed")
    assert "The amber ledge." in shown["text"] and "hushed" not in shown["text"]
    whole = talk(served, lambda client: client.read_resource(f"palace://{path}")).contents[0]
    assert "[PRIVATE]" in whole.text and "hushed" not in whole.text  # type: ignore[union-attr]
