"""The palace as an MCP server: tools, resources, prompts, instructions; over stdio.

The SDK is imported with this module, the model never: it loads in a thread, after the handshake.
"""

import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource
from pydantic import Field

from memory_palace import __version__
from memory_palace.agents import (
    mcp_desk,
    mcp_halves,
    mcp_instructions,
    mcp_prompts,
    mcp_resources,
    mcp_texts,
    mcp_tools,
)
from memory_palace.agents.mcp_desk import Desk, Words, utc_now
from memory_palace.agents.mcp_finding import Finding
from memory_palace.core.errors import PalaceError
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean
from memory_palace.files import config as configs
from memory_palace.files import identity
from memory_palace.serve.source import Source

IDLE_SECONDS = 0.3
"""So long after the start the model begins to load: the handshake comes first."""


class PalaceServer(MCPServer[Any]):
    """The server of one palace. :func:`build` makes one."""

    def __init__(self, desk: Desk, tools: str) -> None:
        made = mcp_tools.basic(desk) + (mcp_tools.further(desk) if tools == "all" else [])
        super().__init__(
            "memory-palace",
            title="Memory palace",
            instructions=mcp_instructions.compose(desk.root),
            version=__version__,
            tools=list(made),
            log_level="ERROR",
            lifespan=_lifespan,
        )
        self.desk = desk
        self._names = [tool.name for tool in made]
        self.resource(
            mcp_resources.TEMPLATE,
            name="note",
            title="A note",
            description="A note by its path, relative to the palace's root.",
            mime_type="text/markdown",
        )(self._note)
        self.prompt("recall", description="What the palace knows about a topic.")(self._recall)
        self.prompt("end-of-session", description="Keep what a later session should know.")(
            self._end_of_session
        )

    async def run_stdio_async(self) -> None:
        """As the SDK does it, but no request goes without an answer for half a character."""
        async with stdio_server() as (received, sent):
            low = self._lowlevel_server
            options = low.create_initialization_options()
            await low.run(mcp_halves.Mended(received), sent, options)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        """Raises :class:`ToolError` in one line, also for an unknown tool."""
        if name not in self._names:
            raise ToolError(f"no tool `{printable(name)[:80]}`{did_you_mean(name, self._names)}")
        with _client_of(context):
            return await super().call_tool(name, arguments, context)

    async def list_resources(self) -> list[Resource]:
        """The newest notes, as they are now."""
        return await anyio.to_thread.run_sync(mcp_resources.listed, self.desk.root)

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> Any:
        """Raises MCPError (invalid parameters) in one line."""
        known = {one.name: one for one in await self.list_prompts()}
        if name not in known:
            raise _invalid(f"no prompt `{printable(name)[:80]}`{did_you_mean(name, known)}")
        takes = {one.name: bool(one.required) for one in known[name].arguments or []}
        for given in arguments or {}:
            if given not in takes:
                raise _invalid(
                    f"{name} has no argument `{printable(given)[:80]}`{did_you_mean(given, takes)}"
                )
        for needed in (one for one, required in takes.items() if required):
            if not str((arguments or {}).get(needed, "")).strip():
                raise _invalid(f"{name} needs the argument `{needed}`")
        return await super().get_prompt(name, arguments, context)

    def _note(self, path: str) -> str:
        try:
            return mcp_resources.text(self.desk.root, path)
        except mcp_resources.NoNote as error:
            raise ResourceNotFoundError(mcp_texts.told(str(error))) from None
        except PalaceError as error:
            raise ResourceError(mcp_texts.told(str(error))) from None

    def _recall(self, topic: Words) -> str:
        try:
            found = Finding(self.desk).search(topic)
        except PalaceError as error:
            raise _invalid(str(error)) from None
        return mcp_prompts.recall(topic, found.text if found.hits or found.facts else "")

    def _end_of_session(
        self, focus: Annotated[str, Field(description="What to look at above all.")] = ""
    ) -> str:
        return mcp_prompts.end_of_session(focus)


def build(
    root: Path,
    tools: str = "basic",
    now: Callable[[], datetime] = utc_now,
    say: Callable[[str], None] = lambda _: None,
) -> PalaceServer:
    """The server of the palace at ``root``; ``tools`` is ``basic`` or ``all``, ``say`` is
    told what stands in the way of a model. ``server.desk.source.close()`` when it is over."""
    return PalaceServer(Desk(root, Source(root, say), now), tools)


def serve(root: Path, tools: str, now: Callable[[], datetime], say: Callable[[str], None]) -> None:
    """Serve on stdin and stdout until the client closes stdin; main thread only.

    While it serves, nothing but the protocol reaches stdout: the SDK keeps that descriptor for
    itself, and whatever else is printed goes to stderr.
    """
    logging.basicConfig(format="%(message)s", level="ERROR")  # plain lines, before the SDK's own
    server = build(root, tools, now, say)
    with (
        _process_of_its_own(root),
        contextlib.closing(server.desk.source),
        contextlib.suppress(BrokenPipeError, anyio.BrokenResourceError),
    ):
        try:
            server.run("stdio")
        except BaseExceptionGroup as group:
            left = group.split((BrokenPipeError, anyio.BrokenResourceError))[1]
            if left is not None:
                raise left from None
    if server.desk.source.is_busy:
        os._exit(0)  # libraries that are being loaded do not survive a clean end


@contextlib.contextmanager
def _process_of_its_own(root: Path) -> Iterator[None]:
    """While it serves: an interrupt ends the process, and notes are signed by MCP."""
    # A thread that waits for stdin would hold an interrupted process back; writes are whole or
    # not done at all, so it may end at any moment.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    anonymous = not (configs.load(root).identity or os.environ.get(identity.VARIABLE))
    if anonymous:
        os.environ[identity.VARIABLE] = mcp_desk.ANONYMOUS
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if anonymous:
            os.environ.pop(identity.VARIABLE, None)


@contextlib.contextmanager
def _client_of(context: Context[Any, Any] | None) -> Iterator[None]:
    """While a call is answered, tools know the name of the client that makes it."""
    params = context.request_context.session.client_params if context else None
    token = mcp_desk.client.set(params.client_info.name if params else "")
    try:
        yield
    finally:
        mcp_desk.client.reset(token)


@contextlib.asynccontextmanager
async def _lifespan(server: MCPServer[Any]) -> AsyncIterator[None]:
    assert isinstance(server, PalaceServer)
    server.desk.source.prepare_soon(IDLE_SECONDS)
    yield


def _invalid(message: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=mcp_texts.told(message))
