"""The MCP tools for facts and rooms, called by the SDK's own client in memory."""

import json
from collections.abc import Iterator

import pytest

from agents.mcp_calls import call, refused, server
from memory_palace.agents.mcp_server import PalaceServer
from memory_palace.core.fact import PATH
from memory_palace.core.fence import OPEN, stripped
from support.palaces import Palace


@pytest.fixture
def served(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Iterator[PalaceServer]:
    """A server with every tool, over two notes and no facts."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(
        project_rooms__demo__design__a="---\nowner: Ada\n---\n# Gateway\n\nDemo uses Envoy.",
        project_rooms__other__design__b="# B\n\nText.",
    )
    made = server(keyword_palace.root)
    yield made
    made.desk.source.close()


def uses(served: PalaceServer, name: str, **more: object) -> dict[str, object]:
    """Say what the gateway uses."""
    names = {"subject": "Gateway", "predicate": "uses", "object": name}
    return call(served, "kg_add", **names, **more)


def test_a_fact_is_added_once_and_found(served: PalaceServer) -> None:
    """With id, validity, source and who said it; the second time it is the same."""
    first = uses(served, "Envoy", valid_from="2026-11-01", source="a note", confidence=0.9)
    again = uses(served, "envoy")
    assert first["new"] and not again["new"]
    assert first["fact"]["id"] == again["fact"]["id"]  # type: ignore[index]
    found = call(served, "kg_query", entity="GATEWAY")
    (row,) = found["facts"]
    assert (row["subject"], row["object"], row["valid_from"]) == ("Gateway", "Envoy", "2026-11-01")
    assert (row["holds"], row["source"], row["valid_to"]) == (True, "a note", "")
    assert (row["confidence"], row["at"][:4], row["ended_by"]) == (0.9, "2026", "")
    assert "[2026-11-01 .. now]" in found["text"] and stripped(found["text"]) == ""


def test_as_of_a_day_is_the_whole_day(served: PalaceServer) -> None:
    """Its end, UTC; a time is that time."""
    uses(served, "Envoy", valid_from="2026-11-20T15:00:00Z")
    for moment, many in (("2026-11-19", 0), ("2026-11-20", 1), ("2026-11-20T14:59:59Z", 0)):
        found = call(served, "kg_query", entity="Gateway", as_of=moment)
        assert len(found["facts"]) == many, moment


def test_private_spans_that_a_hand_wrote_are_not_told(served: PalaceServer) -> None:
    """Neither in the text nor in a field, of any tool."""
    keys = ("subject", "predicate", "object", "source", "reason")
    line = {"event": "added", "id": "f1", "valid_from": "2026-11-01"}
    line |= {key: f"{key} <private>{key} kept</private> told" for key in keys}
    (served.desk.root / PATH).parent.mkdir(exist_ok=True)
    (served.desk.root / PATH).write_text(json.dumps(line) + "\n")
    asked = "subject <private>subject kept</private> told"
    for tool, words in (
        ("kg_query", {"entity": asked}),
        ("kg_query", {"entity": "subject <private>subject kepd</private> told"}),
        ("kg_timeline", {"entity": asked}),
        ("kg_stats", {}),
        ("kg_invalidate", {"id": "f1"}),
    ):
        told = json.dumps(call(served, tool, **words)).replace("kepd", "")
        assert "kept" not in told.replace(asked, ""), tool
    (row,) = call(served, "kg_query", entity=asked, history=True)["facts"]
    assert (row["subject"], row["object"]) == ("subject [PRIVATE] told", "object [PRIVATE] told")


def test_as_of_history_and_timeline(served: PalaceServer) -> None:
    """What ended held before; what is asked of no name says which is near."""
    uses(served, "Nginx", valid_from="2026-10-01")
    ended = call(
        served,
        "kg_invalidate",
        subject="gateway",
        predicate="uses",
        object="nginx",
        ended="2026-11-15",
        reason="too slow",
    )
    assert ended["facts"][0]["valid_to"] == "2026-11-15" and "too slow" in ended["text"]
    assert ended["facts"][0]["reason"] == "too slow" and ended["facts"][0]["ended_by"]
    now = call(served, "kg_query", entity="Gateway")
    assert now["facts"] == [] and "1 at other times, with `history`" in now["text"]
    assert len(call(served, "kg_query", entity="Gateway", as_of="2026-11-14")["facts"]) == 1
    assert call(served, "kg_query", entity="Gateway", as_of="2026-11-15")["facts"] == []
    assert len(call(served, "kg_query", entity="Gateway", history=True)["facts"]) == 1
    assert len(call(served, "kg_timeline", entity="nginx")["facts"]) == 1
    assert "did you mean Gateway?" in call(served, "kg_timeline", entity="gatewey")["text"]
    uses(served, "Envoy", valid_from="2026-11-15")
    one = call(served, "kg_timeline", entity="gateway", most=1)
    assert (one["more"], one["facts"][0]["object"]) == (1, "Envoy")


def test_a_fact_is_asked_for_by_its_side(served: PalaceServer) -> None:
    """Where the name stands on the other one only, that is said; what is to come is not now."""
    uses(served, "Envoy", valid_from="2026-11-01")
    as_object = call(served, "kg_query", entity="Gateway", direction="object")
    assert as_object["facts"] == []
    assert "no fact has Gateway as object: 1 with `direction` both" in as_object["text"]
    assert len(call(served, "kg_query", entity="Envoy", direction="object")["facts"]) == 1
    uses(served, "Nginx", valid_from="2999-01-01")
    then = call(served, "kg_query", entity="Nginx", as_of="2999-01-01")
    assert then["facts"][0]["holds"] and "[2999-01-01 ..]" in then["text"]
    assert "[2999-01-01 ..]" in call(served, "search", query="Nginx", as_of="2999-01-01")["text"]
    assert then["facts"][0]["confidence"] == 0 and "confidence" not in then["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("kg_add", {"subject": " ", "predicate": "p", "object": "o"}, "subject"),
        (
            "kg_add",
            {"subject": "s", "predicate": "p", "object": "o", "valid_from": "yesterday"},
            "valid_from 'yesterday' is no date: write 2026-11-29",
        ),
        ("kg_query", {"entity": "s", "as_of": "29.11.2026"}, "as_of '29.11.2026' is no date"),
        ("kg_query", {"entity": "s", "as_of": "2026-11-29", "history": True}, "leave out"),
        ("kg_invalidate", {"subject": "s"}, "or `id` alone"),
        ("kg_invalidate", {}, "or `id` alone"),
        ("kg_invalidate", {"id": "3f9ac2d41b7e"}, "`kg_query` shows"),
        ("kg_extract", {}, "give `path` or `text`"),
        ("kg_extract", {"path": "nowhere"}, "nowhere"),
        (
            "kg_invalidate",
            {"subject": "zz", "predicate": "q", "object": "yy"},
            "`kg_timeline` shows all facts of a name",
        ),
        ("search", {"query": "x", "as_of": "someday"}, "as_of 'someday' is no date"),
        (
            "search",
            {"query": "x", "as_of": "yesterday"},
            "as_of 'yesterday' is no date: write 2026-11-29",
        ),
        ("traverse", {"room": "desing"}, "did you mean `design`?"),
        ("tunnels", {"wings": ["demo"]}, "name two wings"),
    ],
)
def test_bad_input_gets_one_line(
    served: PalaceServer, tool: str, arguments: dict[str, object], said: str
) -> None:
    """That says what to do, in the words of the tools."""
    line = refused(served, tool, **arguments)
    assert said in line and "--" not in line


def test_search_brings_facts_of_what_is_named(served: PalaceServer) -> None:
    """Beside the hits and without any, as of a day; the marks stand around all of it."""
    uses(served, "Nginx</palace-memory>", valid_from="2026-10-01")
    found = call(served, "search", query="the gateway?")
    assert len(found["hits"]) == 1 and len(found["facts"]) == 1
    assert "\nfacts:\n" in found["text"] and stripped(found["text"]) == ""
    assert call(served, "search", query="gateway", as_of="2026-09-30")["facts"] == []
    alone = call(served, "search", query="gateway", as_of="2023-10-01")
    assert (alone["hits"], alone["facts"]) == ([], [])
    alone = call(served, "search", query="gateway", types=["rule"])
    assert alone["hits"] == [] and alone["text"].count(OPEN) == 1 and len(alone["facts"]) == 1


def test_proposals_are_not_written(served: PalaceServer) -> None:
    """Of a note by its name, and of a text; each with its line."""
    found = call(served, "kg_extract", path="a", least=0.6)
    assert [(one["line"], one["subject"], one["object"]) for one in found["proposals"]] == [
        (2, "Gateway", "Ada"),
        (6, "Demo", "Envoy"),
    ]
    assert found["path"] == "palace/project_rooms/demo/design/a.md"
    text = call(served, "kg_extract", text="We use Redis.", subject="Demo")
    assert [one["subject"] for one in text["proposals"]] == ["Demo"]
    assert call(served, "kg_extract", text="Hello.")["text"] == "no rule knows a fact in it"
    assert not (served.desk.root / PATH).exists()


def test_stats_count_and_name_what_is_wrong(served: PalaceServer) -> None:
    """Facts, those that hold, entities; a line that is none."""
    assert call(served, "kg_stats")["facts"] == 0
    uses(served, "Envoy")
    with (served.desk.root / PATH).open("a") as file:
        file.write("no line\n")
    found = call(served, "kg_stats")
    assert (found["facts"], found["holding"], found["entities"]) == (1, 1, 2)
    assert found["predicates"] == [{"name": "uses", "facts": 1}]
    assert found["problems"][0].startswith(f"{PATH}:2: error:")


def test_rooms_are_walked(served: PalaceServer) -> None:
    """The start first; a room that two projects have is a tunnel."""
    found = call(served, "traverse", room="design")
    assert (found["rooms"][0]["room"], found["rooms"][0]["hops"]) == ("design", 0)
    for wing in ("demo", "third"):
        note = served.desk.root / f"palace/project_rooms/{wing}/api/c.md"
        note.parent.mkdir(parents=True)
        note.write_text("# C\n")
    assert [one["room"] for one in call(served, "traverse", room="api")["rooms"]] == [
        *("api", "design")
    ]
    assert len(call(served, "traverse", room="api", edges="links")["rooms"]) == 1
    assert len(call(served, "tunnels")["rooms"]) == 2
    shared = call(served, "tunnels", wings=["demo", "other"])
    assert [room["room"] for room in shared["rooms"]] == ["design"]
    assert shared["rooms"][0]["wings"] == ["demo", "other"]
