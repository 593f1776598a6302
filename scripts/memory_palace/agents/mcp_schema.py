"""Tools as clients can take them: plain schemas, arguments checked, one line for each fault."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ValidationError

from memory_palace.agents import mcp_texts
from memory_palace.core import fence
from memory_palace.core.errors import PalaceError
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean


class Said(BaseModel):
    """What a tool answers: ``text`` for an agent, and the facts in it as fields."""

    text: str


class PlainTool(Tool):
    """A tool whose function returns a :class:`Said`: text for the agent, fields for a program."""

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,
    ) -> Any:
        """Raises :class:`ToolError`, whose message is one line that ends with what to do."""
        self._check(arguments)
        try:
            said = await super().run(arguments, context, convert_result=False)
        except ToolError as error:
            line = _told(error)
            if line is None:
                raise
            raise ToolError(line) from error.__cause__
        if not convert_result:
            return said
        return CallToolResult(
            content=[TextContent(type="text", text=said.text)],
            structured_content=_harmless(said.model_dump(mode="json")) | {"text": said.text},
        )

    def _check(self, arguments: Mapping[str, Any]) -> None:
        known = self.parameters["properties"]
        for name in arguments:
            if name not in known:
                nearest = did_you_mean(name, known)
                raise ToolError(f"{self.name} has no parameter `{printable(name)[:80]}`{nearest}")
        for name in self.parameters.get("required", ()):
            if name not in arguments:
                raise ToolError(f"{self.name} needs `{name}`: {known[name]['description']}")


def plain(function: Any, description: str, reads: bool, replaces: bool, again: bool) -> PlainTool:
    """The tool that ``function`` is: whether it only ``reads``, ``replaces`` what was written, and
    may be called ``again`` with nothing more happening. None reaches beyond this machine."""
    tool = PlainTool.from_function(
        function,
        description=description,
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=replaces,
            idempotent_hint=again,
            open_world_hint=False,
        ),
        structured_output=True,
    )
    tool.parameters = flat(tool.parameters) | {"additionalProperties": False}
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = flat(tool.fn_metadata.output_schema)
    assert isinstance(tool, PlainTool)
    return tool


def flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` without references, generated titles and the docstrings of models: some clients
    drop a tool for less."""
    definitions = schema.get("$defs", {})

    def walk(value: Any, names: bool = False) -> Any:
        if isinstance(value, list):
            return [walk(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            model = walk(definitions[value["$ref"].rsplit("/", 1)[-1]])
            model.pop("description", None)
            return model | {k: walk(v) for k, v in value.items() if k != "$ref"}
        left_out = () if names else ("title", "$defs")
        return {k: walk(v, k == "properties") for k, v in value.items() if k not in left_out}

    made: dict[str, Any] = walk(schema)
    made.pop("description", None)
    return made


def _harmless(value: Any) -> Any:
    """Names and titles of notes stand in fields without a fence: none of them may close one."""
    if isinstance(value, dict):
        return {key: _harmless(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    return fence.harmless(value) if isinstance(value, str) else value


def _told(error: ToolError) -> str | None:
    """The line for what a tool raised; None for a fault of the code, which the SDK logs."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        first = cause.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"`{where}`: {printable(first['msg'])}: see the tool's schema"
    if isinstance(cause, PalaceError | ToolError):
        return mcp_texts.told(str(cause))
    if isinstance(cause, sqlite3.Error):
        return f"the index is damaged ({cause}): run `palace index --force`"
    if isinstance(cause, OSError):
        what = f"{cause.filename or 'the palace'} ({cause.strerror or cause})"
        return mcp_texts.told(f"cannot read or write {what}: mend it and do this again")
    return None if isinstance(error, UnexpectedToolError) else str(error)
