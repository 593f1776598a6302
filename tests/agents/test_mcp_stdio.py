"""`palace mcp` as a process: the protocol, its end, what is on its pipes, several at once."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from agents import clients
from agents.mcp_calls import SECONDS, begin, talk_to_process, words
from memory_palace.embed import minilm
from serve.running import questions, serving, until
from session.sessions import Session
from support.palaces import Palace

LINE = "Run the migrations before the tests"


@pytest.fixture
def filled(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """Two notes, no model, an index."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(topics__amber="The amber ledge. [[birch]]", topics__birch="A birch.")
    assert keyword_palace.command("index").code == 0
    return keyword_palace


class Spoken:
    """A process, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.pid = process.pid
        self._id = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The reply to a request."""
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": parameters}
        self.send(json.dumps(request).encode())
        assert self.process.stdout
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self._id
        return dict(reply)

    def shake_hands(self) -> dict[str, Any]:
        found = self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return dict(found["result"])

    def end(self) -> tuple[int, bytes, bytes]:
        """Close its stdin; exit code, and what else it wrote."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextlib.contextmanager
def spoken(root: Path, *flags: str, **environment: str) -> Iterator[Spoken]:
    """The real server, ended at the end."""
    process = begin(root, *flags, **environment)
    try:
        yield Spoken(process)
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError, ValueError):
                assert pipe
                pipe.close()
        process.wait(SECONDS)


ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"query": "amber"},
    "read": {"path": "amber"},
    "links": {"path": "amber"},
    "recent": {},
    "status": {},
    "wake": {},
    "remember": {"text": LINE, "category": "lesson"},
    "write": {"path": "palace/topics/new.md", "text": "# New\n\nx\n", "reason": "r"},
    "recall": {"wing": "topics/lessons"},
    "report": {},
    "findings": {},
    "add_finding": {"repository": "demo", "path": "a.py", "line": 1, "body": "No test"},
    "mem_search": {"query": "amber"},
    "mem_timeline": {"anchor": "2026-11-29"},
    "mem_get": {"ids": ["0123456789ab"]},
    "context": {},
    "observe": {},
    "summarize": {"request": "Mend the amber build"},
    "diary_write": {"text": LINE},
    "diary_read": {},
    "kg_add": {"subject": "gateway", "predicate": "uses", "object": "Envoy"},
    "kg_query": {"entity": "gateway"},
    "kg_timeline": {"entity": "gateway"},
    "kg_invalidate": {"subject": "gateway", "predicate": "uses", "object": "Envoy"},
    "kg_stats": {},
    "kg_extract": {"text": "The gateway uses Envoy."},
    "traverse": {"room": "topics"},
    "tunnels": {},
}


def test_the_sdks_client_calls_every_tool(filled: Palace) -> None:
    """Connect, list, call each, read a resource; a bad call is an error, and it goes on."""

    async def say(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == set(ARGUMENTS)
        Session(filled.root).said("Mend the amber build")
        for name, arguments in ARGUMENTS.items():
            found = await client.call_tool(name, arguments)
            assert not found.is_error, (name, found.content)
        bad = await client.call_tool("read", {"path": "../../etc/passwd"})
        assert bad.is_error
        resource = await client.read_resource("palace://palace/topics/lessons.md")
        assert LINE in resource.contents[0].text  # type: ignore[union-attr]

    talk_to_process(filled.root, say, "--tools", "all")
    event = (filled.root / "manifests/memory_events.jsonl").read_text().splitlines()[0]
    assert json.loads(event)["by"].startswith("mcp@")


def test_it_ends_at_the_end_of_input(filled: Palace) -> None:
    """Exit 0, nothing but replies on stdout, nothing on stderr; also before any message."""
    with spoken(filled.root) as server:
        assert server.shake_hands()["serverInfo"]["name"] == "memory-palace"
        assert len(server.ask("tools/list")["result"]["tools"]) == 8
        assert server.end() == (0, b"", b"")
    with spoken(filled.root) as server:
        assert server.end() == (0, b"", b"")


def test_a_call_that_was_begun_is_ended(filled: Palace) -> None:
    """What was asked for before the end of input is written whole, or not at all."""
    with spoken(filled.root) as server:
        server.shake_hands()
        call = {"name": "remember", "arguments": {"text": LINE, "category": "lesson"}}
        request = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}
        server.send(json.dumps(request).encode())
        found = filled.root / "palace/topics/lessons.md"
        code, _, err = server.end()
    assert (code, err) == (0, b"")
    assert not found.exists() or LINE in found.read_text()


def test_lines_that_are_no_messages_do_no_harm(filled: Palace) -> None:
    """Rubbish, an empty line, a line of 2 MB: the next request is answered."""
    with spoken(filled.root) as server:
        server.shake_hands()
        for line in (b"rubbish {", b"", b"\xff\xfe", b'"' + b"x" * 2_000_000 + b'"'):
            server.send(line)
        assert server.ask("ping")["result"] == {}
        assert server.end()[:2] == (0, b"")


def test_half_a_character_does_not_keep_a_client_waiting(filled: Palace) -> None:
    """As JavaScript writes an emoji that was cut: in a text, in a name. Whole ones stay."""
    with spoken(filled.root) as server:
        server.shake_hands()
        found = server.ask("tools/call", name="search", arguments={"query": "amber \ud83d"})
        (hit,) = found["result"]["structuredContent"]["hits"]
        assert hit["path"] == "palace/topics/amber.md"
        line = {"text": "Sure \U0001f600 \ud83d", "category": "lesson"}
        server.ask("tools/call", name="remember", arguments=line)
        wrong = server.ask("tools/call", name="search", arguments={"\ud83d": 1})
        assert "no parameter" in wrong["result"]["content"][0]["text"]
        assert server.end() == (0, b"", b"")
    kept = (filled.root / "palace/topics/lessons.md").read_text()
    assert "Sure \U0001f600 \N{REPLACEMENT CHARACTER}" in kept


def test_what_a_tool_prints_does_not_reach_the_protocol(filled: Palace, tmp_path: Path) -> None:
    """A library that prints, to the file or to the descriptor, prints to stderr."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "from importlib import abc, machinery\n"
        "class Loud(abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'memory_palace.session.wake':\n"
        "            print('printed')\n"
        "            sys.stdout.flush()\n"
        "            os.write(1, b'written')\n"
        "        return None\n"
        "sys.meta_path.insert(0, Loud())\n"
    )
    with spoken(filled.root, PYTHONPATH=str(tmp_path)) as server:
        server.shake_hands()
        reply = server.ask("tools/call", name="wake", arguments={})
        assert "error" not in reply
        code, out, err = server.end()
    assert (code, out) == (0, b"")
    assert b"printed" in err
    assert b"written" in err


@pytest.mark.skipif(
    not (minilm.runnable() and minilm.find(None)), reason="needs the embedded model"
)
def test_neither_the_handshake_nor_the_end_waits_for_a_model(
    filled: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its library loads, tools are listed and notes are read; then it ends, exit 0."""
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    begun, done = tmp_path / "begun", tmp_path / "done"
    (tmp_path / "onnxruntime").mkdir()
    (tmp_path / "onnxruntime/__init__.py").write_text(
        "import pathlib, time\n"
        f"pathlib.Path({str(begun)!r}).touch()\n"
        "time.sleep(40)\n"
        f"pathlib.Path({str(done)!r}).touch()\n"
    )
    with spoken(filled.root, PYTHONPATH=str(tmp_path)) as server:
        server.shake_hands()
        until(begun.exists)
        assert server.ask("tools/list")["result"]["tools"]
        read = server.ask("tools/call", name="read", arguments={"path": "amber"})
        assert read["result"]["structuredContent"]["path"] == "palace/topics/amber.md"
        assert server.end() == (0, b"", b"")
    assert not done.exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_though_a_client_is_there(filled: Palace, number: int) -> None:
    """At once, without a traceback, and without waiting for input."""
    with spoken(filled.root) as server:
        server.shake_hands()
        os.kill(server.pid, number)
        assert server.process.wait(SECONDS) in (130, -number)
        assert server.process.stderr
        assert server.process.stderr.read() == b""


def test_a_client_that_is_gone_ends_it(filled: Palace) -> None:
    """Nobody reads its replies: exit 0 at the end of input, without a traceback."""
    with spoken(filled.root) as server:
        server.shake_hands()
        assert server.process.stdout
        server.process.stdout.close()
        with contextlib.suppress(OSError):
            server.send(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}')
        with contextlib.suppress(OSError):
            assert server.process.stdin
            server.process.stdin.close()
        assert server.process.wait(SECONDS) == 0
        assert server.process.stderr
        assert server.process.stderr.read() == b""


def test_two_clients_write_at_once(filled: Palace) -> None:
    """Each its own process on one root: nothing is lost, one of them may have to wait."""
    lines = [[f"memory {letter} {n}" for n in range(3)] for letter in "ab"]

    def run(mine: list[str]) -> None:
        async def say(client: Client) -> None:
            for line in mine:
                arguments = {"text": line, "category": "pattern"}
                found = await client.call_tool("remember", arguments)
                assert not found.is_error, found.content

        talk_to_process(filled.root, say)

    async def both() -> None:
        await asyncio.gather(*(asyncio.to_thread(run, mine) for mine in lines))

    asyncio.run(both())
    kept = (filled.root / "palace/topics/patterns.md").read_text()
    assert all(line in kept for mine in lines for line in mine)


def test_clients_share_the_warm_server(filled: Palace) -> None:
    """Where one runs, each client's questions are answered by it."""

    async def say(client: Client) -> None:
        found = await client.call_tool("search", {"query": "amber"})
        assert not found.is_error
        assert found.structured_content
        assert found.structured_content["hits"]
        status = await client.call_tool("status", {})
        assert status.structured_content
        assert status.structured_content["server"] is True

    with serving(filled.root):
        for number in (1, 2):
            talk_to_process(filled.root, say)
            assert questions(filled.root) == number


def test_in_another_process_it_leaves_nothing_behind(filled: Palace) -> None:
    """Served inside a program: its signals and its variables are as they were."""
    before = signal.getsignal(signal.SIGINT), dict(os.environ)
    ran = filled.command("mcp")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (signal.getsignal(signal.SIGINT), dict(os.environ)) == before


def test_without_the_packages_it_says_what_to_run(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3 and the command; nothing on stdout."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = filled.command("mcp")
    assert (ran.code, ran.out) == (3, "")
    assert "the MCP packages are not installed: run `make setup-mcp`" in ran.err


def inspect(root: Path, *arguments: str) -> dict[str, Any]:
    """What the inspector's command line prints of the real server."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    ran = clients.run(
        clients.need("mcp-inspector"),
        *("--cli", *words(root), *arguments),
        cwd=root,
        home=home,
        **{name: value for name, value in os.environ.items() if name.startswith("PALACE_")},
    )
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert ran.returncode == 0 or found.get("isError"), ran.stderr
    return found


def test_the_inspector_can_use_it(filled: Palace) -> None:
    """An independent client lists and calls tools, reads a resource, gets a prompt."""
    listed = inspect(filled.root, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed][:3] == ["search", "read", "links"]
    call = ("--method", "tools/call", "--tool-name", "search")
    found = inspect(filled.root, *call, "--tool-arg", "query=amber")
    assert found["structuredContent"]["hits"][0]["path"] == "palace/topics/amber.md"
    bad = inspect(filled.root, *call, "--tool-arg", "querry=amber")
    assert bad["isError"] is True
    uri = "palace://palace/topics/birch.md"
    read = inspect(filled.root, "--method", "resources/read", "--uri", uri)
    assert "A birch." in read["contents"][0]["text"]
    prompt = ("--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=amber")
    (message,) = inspect(filled.root, *prompt)["messages"]
    assert "The amber ledge." in message["content"]["text"]
