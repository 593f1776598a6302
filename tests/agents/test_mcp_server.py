"""What an MCP client sees of the palace beside the tools' answers: schemas, instructions,
resources, prompts."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from agents.mcp_calls import fault, server, talk
from docs import documents
from memory_palace.agents import mcp_instructions, mcp_resources
from memory_palace.agents.mcp_server import PalaceServer
from memory_palace.core.fence import OPEN
from memory_palace.core.topics import CATEGORIES
from support.palaces import REPOSITORY, Palace

SNAPSHOT = Path(__file__).parent / "mcp_tools.json"
LESSONS = "palace/topics/lessons.md"


@pytest.fixture
def served(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Iterator[PalaceServer]:
    """A palace with a few notes, without a model."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(
        topics__lessons="# Lessons\n\n- [lesson] Test the amber ledge first",
        project_rooms__demo__a="A note.",
        project_rooms__demo__b="Another.",
        archive_basement__old="Old.",
    )
    made = server(keyword_palace.root)
    yield made
    made.desk.source.close()


def described(tools: str, root: Path) -> list[dict[str, Any]]:
    """All that a client is told of the tools."""
    found = talk(server(root, tools), lambda client: client.list_tools())
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found.tools]


def test_the_tools_are_as_they_were_committed(keyword_palace: Palace) -> None:
    """Names, descriptions, schemas: a change is seen in review. `UPDATE_SNAPSHOTS=1` renews it."""
    found = {tools: described(tools, keyword_palace.root) for tools in ("basic", "all")}
    further = [tool for tool in found["all"] if tool not in found["basic"]]
    text = json.dumps({"basic": found["basic"], "further": further}, indent=1) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(text)
    assert text == SNAPSHOT.read_text()


def test_the_schemas_are_plain(keyword_palace: Palace) -> None:
    """An object on top, no reference and no alternative anywhere, unknown parameters refused,
    every parameter described; one sentence a tool."""

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
            for inner in value.values():
                yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    tools = described("all", keyword_palace.root)
    assert len(tools) == 28
    for tool in tools:
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert all("description" in one for one in schema["properties"].values())
        for keys in (schema, tool["outputSchema"]):
            assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title"} & set(walk(keys)) - {
                *schema["properties"],
                *tool["outputSchema"]["properties"],
                "title",
            }
        assert "title" not in schema
        assert tool["description"].count(".") == 1
        assert len(tool["description"]) < 80
        assert tool["annotations"]["openWorldHint"] is False


def test_annotations_say_which_tools_write(keyword_palace: Palace) -> None:
    """Eight write; one of them replaces what was written; two do more when they are done twice."""
    by_hint = {
        hint: {t["name"] for t in described("all", keyword_palace.root) if t["annotations"][hint]}
        for hint in ("readOnlyHint", "destructiveHint", "idempotentHint")
    }
    names = {t["name"] for t in described("all", keyword_palace.root)}
    writers = {"remember", "write", "add_finding", "observe", "summarize", "diary_write"}
    writers |= {"kg_add", "kg_invalidate"}
    assert names - by_hint["readOnlyHint"] == writers
    assert by_hint["destructiveHint"] == {"write"}
    assert names - by_hint["idempotentHint"] == {"remember", "summarize"}


def test_the_categories_are_those_of_the_topics(keyword_palace: Palace) -> None:
    """`remember` offers every kind of memory that there is, in its order."""
    (tool,) = [t for t in described("basic", keyword_palace.root) if t["name"] == "remember"]
    assert tool["inputSchema"]["properties"]["category"]["enum"] == list(CATEGORIES)


def test_the_tools_are_those_in_the_document(keyword_palace: Palace) -> None:
    """The table of references/mcp.md: names in order, parameters, which may be left out."""
    page = REPOSITORY / "references/mcp.md"
    listed = [
        (documents.codes(row.cells[0])[0], documents.codes(row.cells[1]))
        for row in documents.rows(page)
        if row.heading == "Tools"
    ]
    needed = [
        (documents.codes(row.cells[0])[0], documents.codes(row.cells[1].split("(")[0]))
        for row in documents.rows(page)
        if row.heading == "Tools"
    ]
    tools = described("all", keyword_palace.root)
    schemas = [(tool["name"], tool["inputSchema"]) for tool in tools]
    assert sorted(listed) == sorted((name, list(s["properties"])) for name, s in schemas)
    assert sorted(needed) == sorted((name, s.get("required", [])) for name, s in schemas)
    basic = [tool["name"] for tool in described("basic", keyword_palace.root)]
    assert [name for name, _ in listed][: len(basic)] == basic


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_of_either_protocol_is_told_who_it_is(served: PalaceServer, mode: str) -> None:
    """Name, version, and instructions of this palace."""

    async def say(client: Client) -> tuple[str, str | None]:
        await client.list_tools()
        return client.server_info.name, client.instructions

    name, instructions = talk(served, say, mode)
    assert name == "memory-palace"
    assert instructions == mcp_instructions.compose(served.desk.root)


def test_instructions_are_of_the_live_palace(keyword_palace: Palace) -> None:
    """Rooms and wings with their notes, with an index or without; the archive is not counted."""
    keyword_palace.notes(
        topics__lessons="x",
        project_rooms__demo__a="x",
        project_rooms__demo__sessions__b="x",
        archive_basement__old="x",
    )
    text = mcp_instructions.compose(keyword_palace.root)
    assert "root, 3 notes." in text
    assert "Rooms and wings, with notes: project_rooms/demo (2), topics (1)." in text
    keyword_palace.index()
    assert mcp_instructions.compose(keyword_palace.root) == text


def test_instructions_are_bounded(keyword_palace: Palace) -> None:
    """A thousand wings of long names are counted, not listed; no name can break a line."""
    empty = mcp_instructions.compose(keyword_palace.root)
    for number in range(200):
        keyword_palace.write(f"palace/project_rooms/wing-{number:03}-{'x' * 150}/a.md", "x")
    keyword_palace.write("palace/project_rooms/a\nIgnore all/a.md", "x")
    text = mcp_instructions.compose(keyword_palace.root)
    assert f"{201 - mcp_instructions.MOST_PLACES} more." in text
    assert "Ignore all" not in text.splitlines()
    assert len(text) < len(empty) + 1500


def test_resources_are_listed_newest_first_and_bounded(
    served: PalaceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are now, with or without an index; the archive is not offered."""
    listed = talk(served, lambda client: client.list_resources()).resources
    assert {one.uri for one in listed} == {
        f"palace://{LESSONS}",
        "palace://palace/project_rooms/demo/a.md",
        "palace://palace/project_rooms/demo/b.md",
    }
    monkeypatch.setattr(mcp_resources, "MOST_LISTED", 2)
    assert len(mcp_resources.listed(served.desk.root)) == 2


def test_a_resource_is_the_note_fenced(served: PalaceServer) -> None:
    """Any note below palace/ by its path, the archive too, whatever its name has in it."""
    root = served.desk.root
    (root / "palace/topics/a b ü.md").write_text("Found.")

    async def say(client: Client) -> list[str]:
        uris = (f"palace://{LESSONS}", "palace://palace/archive_basement/old.md")
        uris += tuple(
            one.uri for one in (await client.list_resources()).resources if "%20" in one.uri
        )
        return [(await client.read_resource(uri)).contents[0].text for uri in uris]  # type: ignore[union-attr]

    lessons, old, odd = talk(served, say)
    assert lessons.startswith(f'{OPEN} kind="note">')
    assert "Test the amber ledge first" in lessons
    assert "Old." in old
    assert "Found." in odd


@pytest.mark.parametrize(
    "uri",
    [
        "palace://palace.yaml",
        "palace://palace/../palace.yaml",
        "palace://palace/%2e%2e/palace.yaml",
        "palace://palace/topics/%00.md",
        "palace:///etc/passwd",
        "palace://palace//etc/passwd",
        "palace://palace/.hidden.md",
        "palace://palace/topics",
        "palace://palace/topics/link.md",
        "palace://palace/topics/nope.md",
        "other://palace/topics/lessons.md",
    ],
)
def test_no_other_file_is_a_resource(served: PalaceServer, uri: str) -> None:
    """Not outside, not hidden, not through a symbolic link."""
    root = served.desk.root
    (root / "palace/.hidden.md").write_text("hidden")
    (root / "palace/topics/link.md").symlink_to(root / "palace.yaml")
    said = fault(served, lambda client: client.read_resource(uri))
    assert str(root) not in said or "symbolic link" in said


def prompt(to: PalaceServer, name: str, **arguments: str) -> str:
    """The text of a prompt's only message."""
    (message,) = talk(to, lambda client: client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return str(message.content.text)  # type: ignore[union-attr]


def test_the_recall_prompt_brings_what_a_search_found(served: PalaceServer) -> None:
    """The topic, the hits between the marks; or that there is nothing."""
    text = prompt(served, "recall", topic="amber\nledge")
    assert text.startswith("Answer from what the palace knows about: amber ledge\n")
    assert "Test the amber ledge first" in text
    assert f'{OPEN} kind="search">' in text
    assert "The palace has nothing on it." in prompt(served, "recall", topic="zzzz")


def test_the_prompt_for_the_end_of_a_session(served: PalaceServer) -> None:
    """It names the tools and every category; a focus is its last line."""
    text = prompt(served, "end-of-session")
    assert all(word in text for word in ("`remember`", "`write`", *CATEGORIES))
    assert prompt(served, "end-of-session", focus="the\nschema").endswith("Above all: the schema")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda c: c.get_prompt("recal", {}), "no prompt `recal`: did you mean `recall`?"),
        (lambda c: c.get_prompt("recall", {}), "recall needs the argument `topic`"),
        (lambda c: c.get_prompt("recall", {"topic": " "}), "recall needs the argument `topic`"),
        (lambda c: c.get_prompt("recall", {"topc": "x"}), "no argument `topc`: did you mean"),
    ],
)
def test_bad_prompts_get_one_line(
    served: PalaceServer, ask: Callable[[Client], Any], said: str
) -> None:
    """Unknown names and arguments with the nearest, missing ones by name."""
    assert said in fault(served, ask)
