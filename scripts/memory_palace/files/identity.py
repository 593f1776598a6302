"""Who writes: ``<harness>@<device>``."""

import os
import re
import socket
from collections.abc import Mapping

from memory_palace.core.errors import BadInput

VARIABLE = "PALACE_IDENTITY"
CLIENTS = {
    "CLAUDECODE": "claude-code",
    "CODEX_THREAD_ID": "codex",
    "OPENCODE": "opencode",
    "PI_CODING_AGENT": "pi",
}
"""What each client sets in the environment of the commands that it runs."""

_NAME = re.compile(r"[\w.-]{1,60}(?:@[\w.-]{1,60})?")


def who(configured: str | None, environment: Mapping[str, str] | None = None) -> str:
    """``$PALACE_IDENTITY``, else the user's own ``identity``, else ``cli``; at this device.

    Raises :class:`BadInput` for a name that is not letters, digits, ``.``, ``_`` and ``-``.
    """
    environment = os.environ if environment is None else environment
    name = environment.get(VARIABLE) or configured or "cli"
    if not _NAME.fullmatch(name):
        raise BadInput(f"identity {name!r}: write <harness>@<device>, as in pi@laptop")
    return name if "@" in name else f"{name}@{device()}"


def harness(configured: str | None, environment: Mapping[str, str] | None = None) -> str:
    """The first part of :func:`who`; where nobody said who writes, the client that runs this
    command. Raises as that does."""
    environment = os.environ if environment is None else environment
    return who(configured or client(environment), environment).split("@")[0]


def client(environment: Mapping[str, str]) -> str:
    """The client in whose shell this runs; empty where none says so, or several do, as where one
    was started by another."""
    found = [name for variable, name in CLIENTS.items() if environment.get(variable)]
    return found[0] if len(found) == 1 else ""


def device() -> str:
    """This machine's name, without its domain."""
    name = re.sub(r"[^\w.-]+", "-", socket.gethostname().split(".")[0])[:60].strip("-")
    return name or "device"
