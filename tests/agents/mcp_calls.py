"""Calls of MCP tools by the SDK's own client: in memory, or to the real process."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation

from memory_palace.agents import mcp_server
from memory_palace.agents.mcp_server import PalaceServer
from support.palaces import NOW, SCRIPTS

_T = TypeVar("_T")
SECONDS = 60


def server(root: Path, tools: str = "all") -> PalaceServer:
    """The palace's server in this process, at :data:`NOW`."""
    return mcp_server.build(root, tools, lambda: NOW)


def talk(
    to: PalaceServer,
    say: Callable[[Client], Awaitable[_T]],
    mode: str = "auto",
    info: Implementation | None = None,
) -> _T:
    """What ``say`` gives, told a client (``info``) that is connected to the server."""

    async def run() -> _T:
        async with Client(to, mode=mode, client_info=info) as client:
            return await say(client)

    return asyncio.run(asyncio.wait_for(run(), SECONDS))


def fault(to: PalaceServer, say: Callable[[Client], Awaitable[object]]) -> str:
    """The one line of the protocol error that ``say`` meets."""

    async def caught(client: Client) -> str:
        try:
            found = await say(client)
        except MCPError as error:
            return str(error)
        raise AssertionError(f"no error: {found}")

    line = talk(to, caught)
    assert "\n" not in line
    return line


def call(to: PalaceServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool; its text is what the client shows."""
    found = talk(to, lambda client: client.call_tool(tool, arguments))
    assert not found.is_error, found.content
    assert found.structured_content is not None
    assert [block.text for block in found.content] == [found.structured_content["text"]]
    return dict(found.structured_content)


def refused(to: PalaceServer, tool: str, **arguments: Any) -> str:
    """The one line of a call that fails."""
    found = talk(to, lambda client: client.call_tool(tool, arguments))
    assert found.is_error
    (block,) = found.content
    assert "\n" not in block.text
    return str(block.text)


def words(root: Path, *flags: str) -> list[str]:
    """The command line of the real server."""
    return [sys.executable, str(SCRIPTS / "palace.py"), "mcp", f"--root={root}", *flags]


def talk_to_process(root: Path, say: Callable[[Client], Awaitable[_T]], *flags: str) -> _T:
    """As :func:`talk`, with the real process over stdio."""
    command, *arguments = words(root, *flags)
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))

    async def run() -> _T:
        async with Client(stdio_client(parameters)) as client:
            return await say(client)

    return asyncio.run(asyncio.wait_for(run(), SECONDS))


def begin(root: Path, *flags: str, **environment: str) -> subprocess.Popen[bytes]:
    """The real process, spoken to by hand."""
    return subprocess.Popen(
        words(root, *flags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
    )
