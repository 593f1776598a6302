"""What a client's tool call says, whatever the client calls its tools: command, files, output."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from memory_palace.core import cuts

MOST_OUTPUT = 20_000
"""Characters of a tool's output, or of one of its arguments, that are kept."""

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.M)
_PATCH = "*** Begin Patch"


class Tools(NamedTuple):
    """A client's tools, in lower case. ``shells`` run a command; ``editors`` change the files that
    they name under one of :data:`_PATHS`; ``patchers`` take a patch that names its files."""

    shells: frozenset[str]
    editors: frozenset[str]
    patchers: frozenset[str] = frozenset()


CLAUDE_CODE = Tools(
    frozenset({"bash", "powershell", "monitor"}),
    frozenset({"edit", "write", "multiedit", "notebookedit"}),
)
CODEX = Tools(
    frozenset({"bash", "shell", "local_shell", "shell_command", "exec_command"}),
    frozenset(),
    frozenset({"apply_patch"}),
)
NEUTRAL = Tools(
    frozenset({"bash", "shell", "powershell"}),
    frozenset({"edit", "write", "multiedit"}),
    frozenset({"patch", "apply_patch"}),
)
_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "notebook_path", "filePath", "path")
_PATCHES = ("command", "patch", "patchText", "input")


def command(tools: Tools, tool: str, given: Mapping[str, Any]) -> str:
    """The shell command of a tool call; empty if the tool is no shell. A list of words is quoted
    as a shell would read it."""
    if tool.lower() not in tools.shells:
        return ""
    return next(_texts(given, _COMMANDS), "")


def files(tools: Tools, tool: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that a tool call changes, each once, as the client names them."""
    name = tool.lower()
    found: list[str] = []
    if name in tools.editors:
        found += [path for path in _texts(given, _PATHS) if path]
    if name in tools.patchers or (tools.patchers and name in tools.shells):
        for text in _texts(given, (*_PATCHES, *_COMMANDS)):
            if name in tools.patchers or _PATCH in text:
                found += [(a or b).strip() for a, b in _PATCHED.findall(text)]
    return tuple(dict.fromkeys(found))


def _texts(given: Mapping[str, Any], keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str):
            yield clean(value)
        elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            import shlex

            yield clean(shlex.join(value))


def output(value: Any) -> str:
    """What a tool gave, as text of at most :data:`MOST_OUTPUT` characters: its beginning and end.

    Clients give a text, an object with ``stdout`` and ``stderr``, a file, or blocks of content;
    of anything else the JSON.
    """
    return shortened(clean(_output(value)))


def _output(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        parts = [value.get(key) for key in ("stdout", "stderr")]
        if any(isinstance(part, str) for part in parts):
            return "\n".join(part for part in parts if isinstance(part, str) and part)
        if isinstance(value.get("content"), str | list):
            return _output(value["content"])
        if isinstance(value.get("file"), Mapping):
            return _output(value["file"])
    if isinstance(value, list):
        blocks = [item.get("text") for item in value if isinstance(item, Mapping)]
        texts = [text for text in blocks if isinstance(text, str)]
        if texts:
            return "\n".join(texts)
    return json.dumps(value, ensure_ascii=False)


def bounded(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with their long texts shortened: a whole file is of no use to a hook."""
    return {
        clean(key): shortened(clean(value)) if isinstance(value, str) else value
        for key, value in given.items()
    }


def shortened(text: str) -> str:
    """The beginning and the end of a long text, without what must not be cut through."""
    return text if len(text) <= MOST_OUTPUT else cuts.ends(cuts.cuttable(text), MOST_OUTPUT)


def clean(text: str) -> str:
    """``text`` without what no file, database or other client takes: NUL is left out, as a shell
    does, and a lone surrogate replaced."""
    text = text.replace("\0", "")
    if text.isascii():
        return text
    # Two halves that were escaped apart make one character again.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
