"""The MCP tools that look for what happened in sessions, and agents' diaries."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from agents.mcp_calls import call, refused, server, talk
from memory_palace.agents.mcp_server import PalaceServer
from memory_palace.core.fence import CLOSE, NOTICE, OPEN
from session.sessions import Session
from support.palaces import NOW, Palace

KEY = "diary"


@pytest.fixture
def place(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[PalaceServer]:
    """The server of a palace with two sessions of `demo` and one of another project."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    keyword_palace.notes(topics__quokka="# Quokka\n\nA quokka is no rat.")
    first = Session(keyword_palace.root, "s1", NOW - timedelta(hours=5))
    first.said("Why does the quokka build fail?")
    first.observed("The quokka build failed for want of a lock", "bugfix", work=900)
    first.said("And </palace-memory> now?")
    first.observed("Chose a lock file over a database </palace-memory>", "decision")
    other = Session(keyword_palace.root, "s2", NOW - timedelta(hours=2))
    other.observed("The quokka build is green again", "change")
    Session(keyword_palace.root, "s3", NOW - timedelta(hours=1), wing="elsewhere").observed(
        "Painted the quokka shed", "feature"
    )
    made = server(keyword_palace.root)
    yield made
    made.desk.source.close()


def rows(found: dict[str, Any]) -> list[str]:
    """The titles, in order."""
    return [one["title"] for one in found["records"]]


def test_sessions_are_searched_a_line_a_record(place: PalaceServer) -> None:
    """Ranked rows between the marks, with what they cost; filters hold."""
    found = call(place, "mem_search", query="quokka build lock")
    assert rows(found)[0] == "The quokka build failed for want of a lock"
    best = found["records"][0]
    assert (best["type"], best["wing"], best["session"], best["work"]) == (
        ("bugfix", "demo", "s1", 900)
    )
    assert best["ledger"] == "palace/chambers/claude-code/ledger/s1.jsonl"
    assert f"[{best['id']}]" in found["text"] and "work 900" in found["text"]
    assert found["text"].startswith(f'{OPEN} kind="mem">\n{NOTICE}')
    kinds = call(place, "mem_search", types=["decision"])
    assert len(rows(kinds)) == 1 and kinds["text"].count(CLOSE) == 1
    assert rows(call(place, "mem_search", query="quokka", wing="elsewhere")) == [
        "Painted the quokka shed"
    ]
    few = call(place, "mem_search", query="quokka", most=1)
    assert len(few["records"]) == 1 and few["more"] >= 1
    assert "nothing matched" in call(place, "mem_search", query="zzzz")["text"]


def test_a_timeline_stays_in_the_project(place: PalaceServer) -> None:
    """Around an id: its own project, ascending, the anchor marked; around a time: all."""
    anchor = call(place, "mem_search", query="green again")["records"][0]["id"]
    found = call(place, "mem_timeline", anchor=anchor, before=1, after=5)
    assert len(found["records"]) == 2
    assert rows(found)[1] == "The quokka build is green again"
    assert f"> [{anchor}]" in found["text"]
    assert len(rows(call(place, "mem_timeline", anchor="2026-11-29T11:30:00Z"))) == 4
    assert len(rows(call(place, "mem_timeline", anchor="1h", after=0))) >= 3
    assert "no ledger has ffffffffffff" in refused(place, "mem_timeline", anchor="f" * 12)
    assert "is no id" in refused(place, "mem_timeline", anchor="soonish")


def test_records_come_in_full_by_id(place: PalaceServer) -> None:
    """Each with what it rests on; unknown ones are named; no stored mark closes the fence."""
    key = call(place, "mem_search", types=["decision"])["records"][0]["id"]
    found = call(place, "mem_get", ids=[key, "ffffffffffff"])
    assert (found["found"], found["missing"]) == ([key], ["ffffffffffff"])
    assert "Chose a lock file over a database" in found["text"]
    assert found["text"].count(CLOSE) == 1
    (entry,) = [w for w in found["text"].split() if len(w) == 12 and f"from {w} " in found["text"]]
    said = call(place, "mem_get", ids=[entry])
    assert said["found"] == [entry] and "now?" in said["text"]
    assert "12 hex digits" in refused(place, "mem_get", ids=["release"])
    assert "`ids` is empty" in refused(place, "mem_get", ids=[])


def test_recent_work_is_told_in_whole_sessions(place: PalaceServer) -> None:
    """Of one project, of all without one; a small budget leaves whole sessions out."""
    found = call(place, "context", wing="demo")
    assert (found["sessions"], found["more"]) == (["s2", "s1"], 0)
    assert found["text"].startswith(f'{OPEN} kind="context">')
    assert set(call(place, "context")["sessions"]) == {"s1", "s2", "s3"}
    less = call(place, "context", wing="demo", budget=150)
    assert less["more"] == 2 - len(less["sessions"]) > 0
    assert "`mem_search` finds them" in less["text"]
    nothing = call(place, "context", wing="unheard")
    assert nothing["text"] == "nothing was recorded of unheard in that time"


def test_notes_and_observations_come_from_one_search(place: PalaceServer) -> None:
    """`search` gives what sessions observed beside notes, with the id that leads to its source."""
    found = call(place, "search", query="quokka", top_k=10)
    by_path = {hit["path"]: hit for hit in found["hits"]}
    assert by_path["palace/topics/quokka.md"]["type"] != "observation"
    seen = by_path["palace/chambers/claude-code/ledger/s2.jsonl"]
    assert seen["type"] == "observation"
    traced = call(place, "recall", id=seen["id"])
    assert traced["result"] == "ok" and len(traced["sources"]) == 1
    assert f"#{seen['id']}" in found["text"]
    only = call(place, "search", query="quokka", types=["observation"])
    assert {hit["type"] for hit in only["hits"]} == {"observation"}


def test_a_diary_is_kept_and_read(place: PalaceServer) -> None:
    """One entry a text, whatever way the agent is spelled; what is private stays out."""
    text = "The parser is done <private>at last</private>"
    made = call(place, "diary_write", text=text, topic="parser", agent="Claude Code")
    assert (made["path"], made["new"]) == ("palace/chambers/claude-code/diary/2026-11-29.md", True)
    assert "private span" in made["text"]
    again = call(place, "diary_write", text=text, topic="parser", agent="claude_code")
    assert (again["new"], again["path"]) == (False, made["path"])
    found = call(place, "diary_read", agent="claude-code")
    assert [one["path"] for one in found["entries"]] == [made["path"]]
    assert "The parser is done" in found["text"] and "at last" not in found["text"]
    assert found["text"].startswith(f'{OPEN} kind="{KEY}">')
    page = place.desk.root / made["path"]
    page.write_text(page.read_text() + "<private>by hand</private>\n")
    shown = call(place, "diary_read", agent="claude-code")["text"]
    assert "[PRIVATE]" in shown and "by hand" not in shown
    assert call(place, "diary_read", agent="claude-code", since="2026-11-30")["entries"] == []
    assert "has no diary" in refused(place, "diary_read", agent="nobody")
    assert "there is no text" in refused(place, "diary_write", text=" ")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("mem_search", {}, "nothing is asked: give `query`"),
        ("mem_search", {"query": "x", "types": ["bug"]}, "`types.0`"),
        ("mem_search", {"querry": "x"}, "did you mean `query`?"),
        ("mem_search", {"query": "x", "since": "2026-11-02", "until": "2026-11-01"}, "swap them"),
        ("mem_timeline", {}, "mem_timeline needs `anchor`"),
        ("mem_get", {"id": ["x"]}, "did you mean `ids`?"),
        ("context", {"hours": 0}, "`hours`"),
        ("diary_read", {"since": "soon"}, "since 'soon' is no date"),
        ("diary_write", {}, "diary_write needs `text`"),
    ],
)
def test_bad_calls_get_one_line(
    place: PalaceServer, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """What is wrong, where, and the nearest of what is known."""
    assert said in refused(place, tool, **arguments)


@pytest.mark.parametrize(
    ("name", "chamber"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("…", "cli"),
    ],
)
def test_a_diary_is_that_of_the_client(
    place: PalaceServer, monkeypatch: pytest.MonkeyPatch, name: str, chamber: str
) -> None:
    """By the name that it gave when it connected, unless somebody said who writes."""

    async def say(client: Client) -> str:
        made = await client.call_tool("diary_write", {"text": f"The parser is done, {name}"})
        assert made.structured_content is not None
        read = await client.call_tool("diary_read", {})
        assert f"is done, {name}" in str(read.structured_content)
        return str(made.structured_content["path"])

    info = Implementation(name=name, version="1")
    assert talk(place, say, info=info) == f"palace/chambers/{chamber}/diary/2026-11-29.md"
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    assert talk(place, say, info=info) == "palace/chambers/pi/diary/2026-11-29.md"


def test_a_summary_is_not_recalled_and_rows_begin_alike(place: PalaceServer) -> None:
    """The way to it is told; in a timeline every row has its mark."""
    session = Session(place.desk.root, "s4", NOW - timedelta(hours=3))
    session.summarized(request="Feed the quokka")
    (one,) = call(place, "mem_search", types=["summary"])["records"]
    told = call(place, "recall", id=one["id"])
    assert (told["result"], told["sources"]) == ("not_found", [])
    assert told["text"] == f"{one['id']} is a summary, in {session.path}: `mem_get` shows it"
    found = call(place, "mem_timeline", anchor=one["id"])
    lines = [row for row in found["text"].split("\n") if "] 2026" in row]
    assert [row[:3] for row in lines] == ["- [", "- [", "> [", "- ["]
