"""The real clients, for tests: pinned versions from npm, installed once beside the environment.

    claude = clients.need("claude")         # the command; skips the test where it cannot be had
    clients.run(claude, "-p", "hello", cwd=project, home=home, ANTHROPIC_BASE_URL=endpoint.url)

With ``$PALACE_TEST_CLIENTS``, a ``node_modules`` folder, commands come from there as they are.
"""

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, Timeout

GIVEN = os.environ.get("PALACE_TEST_CLIENTS")
"""Read when the tests are collected: no test sees the settings of the machine."""

PLACE = Path(sys.prefix) / "clients"
INSTALL_SECONDS = 180
RUN_SECONDS = 120
NODE = 22
"""What pi and the inspector ask for; npm's own ``node`` package has it where it is missing."""


@dataclass(frozen=True, slots=True)
class Client:
    """An npm package, its version, its command, and whether that is a Node program."""

    package: str
    version: str
    command: str
    script: bool = False

    @property
    def folder(self) -> str:
        """Where it is installed, below ``PLACE``."""
        return f"{self.command}-{self.version}"


CLIENTS = {
    client.command: client
    for client in (
        Client("@anthropic-ai/claude-code", "2.1.332", "claude"),
        Client("@openai/codex", "0.171.0", "codex"),
        Client("opencode-ai", "1.18.33", "opencode"),
        Client("@earendil-works/pi-coding-agent", "1.6.0", "pi", script=True),
        Client("@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector", script=True),
        Client("node", "22.23.3", "node"),
    )
}


class Missing(Exception):
    """A client that cannot be had here; the message says why."""


def need(name: str) -> Path:
    """The command of client ``name``; skips the test, with the reason, where there is none."""
    try:
        command = installed(name)
        if CLIENTS[name].script and not _has_node():
            installed("node")
    except Missing as missing:
        pytest.skip(str(missing))
    return command


@functools.cache
def installed(name: str) -> Path:
    """The command of client ``name``, installed now where it is not yet.

    Raises :class:`Missing` without npm, and where the installation fails or takes too long.
    """
    client = CLIENTS[name]
    for folder in (Path(GIVEN) if GIVEN else None, PLACE / client.folder / "node_modules"):
        if folder and (folder / ".bin" / client.command).exists():
            return folder / ".bin" / client.command
    npm = shutil.which("npm")
    if npm is None:
        raise Missing(f"no npm, which would install {client.package}")
    try:
        PLACE.mkdir(exist_ok=True)
        with FileLock(PLACE / f".{client.folder}.lock", timeout=INSTALL_SECONDS):
            return _install(npm, client)
    except Timeout:
        raise Missing(f"another run has been installing {client.package} for too long") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{client.package} cannot be installed: {error}") from None


def _install(npm: str, client: Client) -> Path:
    """Install beside, then rename: a folder with its name is complete."""
    place = PLACE / client.folder
    command = place / "node_modules" / ".bin" / client.command
    if command.exists():
        return command
    beside = PLACE / f".{client.folder}.new"
    for leftover in (place, beside):
        shutil.rmtree(leftover, ignore_errors=True)
    beside.mkdir()
    ran = subprocess.run(
        [
            *(npm, "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"),
            *("--prefix", str(beside), f"{client.package}@{client.version}"),
        ],
        cwd=beside,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
    )
    if ran.returncode or not (beside / "node_modules" / ".bin" / client.command).exists():
        shutil.rmtree(beside, ignore_errors=True)
        last = (ran.stderr.strip() or "no command in it").splitlines()[0]
        raise Missing(f"{client.package}@{client.version} cannot be installed: {last}")
    beside.rename(place)
    return command


@functools.cache
def _has_node() -> bool:
    node = shutil.which("node")
    if node is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20).stdout
    number = told.strip().removeprefix("v").partition(".")[0]
    return number.isdigit() and int(number) >= NODE


def environment(home: Path, **more: str) -> dict[str, str]:
    """The variables of a client: nothing of the machine but ``PATH``, a home of its own and a
    folder for temporary files in it, no updates and no telemetry. A newer Node stands first in
    ``PATH`` where one was installed."""
    path = os.environ.get("PATH", os.defpath)
    node = PLACE / CLIENTS["node"].folder / "node_modules" / ".bin"
    if not _has_node() and node.exists():
        path = f"{node}{os.pathsep}{path}"
    scratch = home / ".tmp"
    scratch.mkdir(exist_ok=True)
    return {
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "CLAUDE_CODE_TMPDIR": str(scratch),
        "CI": "true",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "HF_HUB_OFFLINE": "1",
        **more,
    }


def run(
    command: Path, *arguments: str, cwd: Path, home: Path, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a client in ``cwd``, with ``more`` variables; it is ended after ``RUN_SECONDS``."""
    return subprocess.run(
        [str(command), *arguments],
        cwd=cwd,
        env=environment(home, **more),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )


@contextlib.contextmanager
def started(
    command: Path, *arguments: str, cwd: Path, home: Path, **more: str
) -> Iterator[subprocess.Popen[str]]:
    """A client to talk with over its stdin and stdout; it is ended after ``RUN_SECONDS``."""
    with subprocess.Popen(
        [str(command), *arguments],
        cwd=cwd,
        env=environment(home, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        limit = threading.Timer(RUN_SECONDS, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


def tell(process: subprocess.Popen[str], message: object) -> None:
    """Write ``message`` as one line of JSON."""
    assert process.stdin
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def told(process: subprocess.Popen[str], name: str, value: object) -> dict[str, Any]:
    """The next object of the client in which ``name`` is ``value``."""
    assert process.stdout
    for line in process.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer.get(name) == value:
            return answer
    raise AssertionError(f"the client ended before {name} was {value}")
