"""How long each event of a client may take."""

import os
from collections.abc import Mapping

SECONDS = {
    "SessionStart": 5.0,
    "UserPromptSubmit": 2.0,
    "PreToolUse": 3.0,
    "PostToolUse": 5.0,
    "Stop": 10.0,
    "SubagentStop": 10.0,
    "PreCompact": 4.0,
    "SessionEnd": 1.0,  # all hooks of all tools share 1.5
}
"""Each event's own deadline; :data:`OTHERS_SECONDS` for the rest."""

OTHERS_SECONDS = 3.0

FOLLOWED_SECONDS = 65.0
"""After a tool, where the user allows rules to run commands: these may take 60."""

_MOST_SETTINGS = 1 << 20


def deadline(host: str, environment: Mapping[str, str]) -> float:
    """Seconds for all of the event ``host``."""
    if host == "PostToolUse" and _may_follow(environment):
        return FOLLOWED_SECONDS
    return SECONDS.get(host, OTHERS_SECONDS)


def _may_follow(environment: Mapping[str, str]) -> bool:
    """True if the user's own configuration may allow rules to run commands. It is not parsed: that
    would take longer than most events do."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    try:
        path = os.path.join(base, "memory-palace", "config.yaml")
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return b"run_after" in os.read(handle, _MOST_SETTINGS)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return False
