"""What a client's hook tells and is told, in one form for all clients."""

from collections.abc import Mapping
from typing import Any, NamedTuple

GUARD = "PALACE_HOOK"
"""The variable that is set for whatever a hook starts: a hook of a client in there does nothing."""

NAMES = (
    "start",
    "prompt",
    "before_tool",
    "after_tool",
    "tool_failed",
    "stop",
    "subagent_stop",
    "compact",
    "end",
)
"""The moments of a session at which something is done; each client's names for them are in
``agents/dialects.py``."""


MOST_FILES = 10
"""Files of one tool call about which memory is asked."""


class Event(NamedTuple):
    """One moment of a session. Fields that the moment does not have are empty.

    ``name`` is one of :data:`NAMES`, ``session`` the client's own id, ``cwd`` an absolute folder.
    ``source`` says how a session starts (``startup``, ``resume``, ``clear``, ``compact``,
    ``fork``), what a prompt comes from, what made the client compact or end. ``tool`` is the tool's
    name and ``input`` its arguments as the client has them; ``command`` is the shell command in
    them, ``files`` are the files that the tool changes, as given. ``output`` is what the tool
    gave, as text; ``message`` the agent's last one. ``again`` is true where the turn goes on
    because a hook asked for it. ``agent`` names a subagent; ``transcript`` is the client's own
    file of the session. ``call`` is the client's id of a tool call, ``turn`` of a prompt and what
    follows it.
    """

    client: str
    name: str
    session: str = ""
    cwd: str = ""
    source: str = ""
    prompt: str = ""
    tool: str = ""
    input: Mapping[str, Any] = {}
    command: str = ""
    files: tuple[str, ...] = ()
    output: str = ""
    message: str = ""
    again: bool = False
    agent: str = ""
    transcript: str = ""
    call: str = ""
    turn: str = ""


class Reply(NamedTuple):
    """What the client is told. At most one of ``deny``, ``ask`` and ``retry`` is set.

    ``context`` is for the model, fenced already. ``deny`` and ``ask`` are reasons for a tool not
    to run, or to be asked about; ``retry`` is why the turn is not over. ``faults`` are lines for
    the health file.
    """

    context: str = ""
    deny: str = ""
    ask: str = ""
    retry: str = ""
    faults: tuple[str, ...] = ()
