"""``palace hook``: one event of a client in, what the client is told out. It never fails.

Imports only what it must, and that late: a client starts this process at every tool call.
"""

import contextlib
import gc
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from memory_palace.agents import hook_capture, hook_faults, waiting
from memory_palace.agents.hook_time import OTHERS_SECONDS, SECONDS, deadline
from memory_palace.session import clock
from memory_palace.session.events import GUARD

if TYPE_CHECKING:
    from pathlib import Path

    from memory_palace.session.events import Event, Reply

_ROOT, _SAID = b"r", b"s"
"""What the child writes begins with one of these and ends with a NUL."""

_MOST_TOLD = 8
_FAULT_SECONDS = 0.3
_FAULT_GRACE = 5.0
_SILENT = "The memory palace says nothing in this session"
_MEND = "correct the hook's command, or run `palace install`"


class Options(NamedTuple):
    """The arguments. ``wrong`` is what is not usable in them: it is reported, nothing is refused,
    since some clients take a usage error for a refusal of what the agent does."""

    event: str = ""
    client: str = ""
    root: str = ""
    wrong: str = ""


def main(arguments: Sequence[str], stdin: int, stdout: int, environment: Mapping[str, str]) -> int:
    """Answer the event that is read from the handle ``stdin``, on the handle ``stdout``; 0."""
    if environment.get(GUARD):
        return 0
    options = parsed(arguments)
    if os.isatty(stdin):
        return _told("palace hook reads an event, as JSON, on stdin")
    started = time.monotonic()
    patience = SECONDS.get(options.event, OTHERS_SECONDS) / 2
    came = waiting.received(stdin, patience, min(patience, waiting.SILENCE_SECONDS))
    host = options.event or _named(came.data)
    seconds = deadline(host, environment) - (time.monotonic() - started)

    def work(write: Callable[[bytes], None]) -> None:
        os.environ[GUARD] = "1"
        answer(
            options,
            came,
            told=lambda root: write(_ROOT + os.fsencode(root) + b"\0"),
            said=lambda said: write(_SAID + said + b"\0"),
        )

    done = waiting.in_child(work, seconds)
    parts = {part[:1]: part[1:] for part in done.data.split(b"\0")[:-1]}
    root, said = parts.get(_ROOT, b""), parts.get(_SAID)
    if done.fault:
        # With an answer it is what follows it, capture, that hangs or broke.
        what = done.fault if said is None else f"capture: {done.fault}"
        what = hook_faults.line(host, f"{what}: {hook_faults.DOCTOR}")
        before = _noted_aside(root, options, host, what)
        said = before if said is None else said
    said = said or b""
    try:
        while said:
            said = said[os.write(stdout, said) :]
    except OSError:
        return 0  # the client has left
    return 0


def run(arguments: Sequence[str]) -> NoReturn:
    """The hook as a process: stdin and stdout are handles 0 and 1."""
    gc.disable()  # what a process of milliseconds leaves goes with it
    try:
        main(arguments, 0, 1, os.environ)
    except BaseException as error:  # no process can be started, Control-C
        _told(f"palace hook: {type(error).__name__}: {error}")
    os._exit(0)  # nothing is left to do, and taking the modules down takes its time


def _named(data: bytes) -> str:
    """The event's own name, before anything is parsed: it decides how long that may take."""
    import re

    found = re.search(rb'"hook_event_name"\s*:\s*"(\w{1,40})"', data)
    return found[1].decode("ascii", "replace") if found else ""


def parsed(arguments: Sequence[str]) -> Options:
    """The options; what is not known is named in ``wrong``."""
    found = {"event": "", "client": "", "root": ""}
    wrong: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        if flag in ("--client", "--root"):
            found[flag[2:]] = value if equals else rest.pop(0) if rest else ""
        elif word.startswith("-") or found["event"]:
            wrong.append(word)
        else:
            found["event"] = word
    said = f"`{' '.join(wrong)}` is no argument of `palace hook`: {_MEND}" if wrong else ""
    return Options(**found, wrong=said)


def answer(
    options: Options,
    came: waiting.Received,
    told: Callable[["Path"], None] = lambda _: None,
    said: Callable[[bytes], None] = lambda _: None,
) -> bytes:
    """What goes to stdout for what came on stdin. ``told`` is given the palace once it is known,
    ``said`` the answer: after that the event is captured.

    Raises nothing: a fault is a line in the palace's health file, and the answer is empty, or at a
    start the faults of before.
    """
    seen: list[tuple[Path, Event]] = []
    found = _answer(options, came, told, seen)
    said(found)
    for root, event in seen:
        hook_capture.capture(root, event, named=bool(options.root))
    return found


def _answer(
    options: Options,
    came: waiting.Received,
    told: Callable[["Path"], None],
    seen: list[tuple["Path", "Event"]],
) -> bytes:
    host, root = options.event, None
    try:
        data, why = _object(came)
        named = data.get("hook_event_name")
        host = host or (named if isinstance(named, str) else "")
        root, nowhere = _palace(options.root, data.get("cwd"))
        if root is None:
            return _said(options, host, nowhere) if nowhere else b""
        told(root)
        if options.wrong:
            hook_faults.fault(root, host, options.wrong, "")
        if why:
            hook_faults.fault(root, host, why)
        return b"" if why else _answered(root, options, host, data, seen)
    except Exception as error:  # also a fault of ours must not be the agent's
        before = _told_before(root, options, host)
        why = f"{type(error).__name__}: {error}"
        kept = hook_faults.fault(root, host, why)
        silent = f"{_SILENT}: {why}: {hook_faults.DOCTOR}."
        return before if before or kept else _said(options, host, silent)


def _told_before(root: "Path | None", options: Options, host: str) -> bytes:
    """What a start that fails says: the faults of before. The next start may fail as this one, so
    that no other tells them."""
    if root is None or host != "SessionStart":
        return b""
    try:
        from memory_palace.core import fence
        from memory_palace.session import health

        lines = [f"- {fault.message}" for fault in health.read(root)[:_MOST_TOLD]]
        text = "\n".join(["# Health", "", "The memory palace could not be read.", *lines])
        return _said(options, host, fence.fenced(text, "wake")) if lines else b""
    except Exception:  # the fault itself is still counted
        return b""


def _said(options: Options, host: str, text: str) -> bytes:
    """``text`` beside the start of a session; nothing at another event."""
    if host != "SessionStart":
        return b""
    from memory_palace.agents import dialects
    from memory_palace.session.events import Reply

    dialect = dialects.DIALECTS.get(options.client, dialects.DIALECTS["codex"])
    return dialects.encode(dialect, host, Reply(context=text))


def _object(came: waiting.Received) -> tuple[dict[str, object], str]:
    """The event as it was sent, and what is wrong with it."""
    import json

    if not came.data:
        return {}, came.fault or "nothing came on stdin"
    try:
        data = json.loads(came.data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}, came.fault or "what came on stdin is no JSON"
    return (data, "") if isinstance(data, dict) else ({}, "what came on stdin is no JSON object")


def _palace(given: str, cwd: object) -> "tuple[Path | None, str]":
    """The palace of a session in ``cwd``; None if there is none, and then a line where somebody
    named one."""
    from pathlib import Path

    from memory_palace.core.errors import BadInput
    from memory_palace.files import roots

    try:
        start = Path(cwd) if isinstance(cwd, str) and cwd else Path.cwd()
        return (roots.find(given or None, start) if start.is_dir() else None), ""
    except (BadInput, OSError, ValueError) as error:
        named = given or os.environ.get("PALACE_ROOT")
        return None, f"{_SILENT}: {error}." if named else ""


def _answered(
    root: "Path",
    options: Options,
    host: str,
    data: dict[str, object],
    seen: list[tuple["Path", "Event"]],
) -> bytes:
    from memory_palace.agents import dialects

    client = options.client or dialects.client_of(data)
    dialect = dialects.DIALECTS.get(client)
    if dialect is None:
        known = ", ".join(dialects.CLIENTS)
        hook_faults.fault(
            root, host, f"the client `{client}` is not supported (use {known}): {_MEND}", ""
        )
        return b""
    if host not in dialects.EVENTS:
        if host not in dialects.PASSED_OVER:
            hook_faults.ignored(root, [f"{client} event {host[:80] or 'without a name'}"])
        return b""
    event, ignored = dialects.decode(dialect, host, data)
    seen.append((root, event))
    if ignored:
        hook_faults.ignored(root, [f"{client} {host} field {name}" for name in ignored])
    reply = _reply(root, event)
    faults = reply.faults
    if event.name == "start" and not reply.context and not faults:
        faults = _missing(root)
    if (
        faults
        and not hook_faults.noted(root, faults)
        and event.name == "start"
        and not reply.context
    ):
        reply = reply._replace(context=f"{_SILENT}: {faults[0]}.")
    return dialects.encode(dialect, host, reply)


def _missing(root: "Path") -> tuple[str, ...]:
    """Why a start has nothing to tell, if the notes are not there: no rule holds then."""
    from memory_palace.core.errors import Missing, PalaceError
    from memory_palace.files import config, tree

    try:
        tree.look(root)
    except Missing as error:
        with contextlib.suppress(PalaceError):
            if config.load(root).store == "milvus":
                return ()  # a machine without notes, which only asks
        return (str(error),)
    return ()


def _reply(root: "Path", event: "Event") -> "Reply":
    from memory_palace.session.events import Reply

    try:
        served = event.name == "prompt" or (event.name == "after_tool" and event.files)
        found = _of_server(root, event) if served else None
        if found is not None:
            return found
        from memory_palace.session import turn

        return turn.handle(root, event, clock.now())
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("memory_palace"):
            raise
        toolkit = os.path.dirname(os.path.abspath(__file__)).rsplit(os.sep, 3)[0]
        cloned = os.path.exists(os.path.join(toolkit, "Makefile"))
        mend = f"run `make setup` in {toolkit}" if cloned else "run `pip install memory-palace`"
        why = f"the package `{error.name}` is not installed: {mend}"
        said = f"{_SILENT}: {why}."
        return Reply(context=said if event.name == "start" else "", faults=(f"hook: {why}",))


def _of_server(root: "Path", event: "Event") -> "Reply | None":
    """The warm server's reply, where there is one: it has the vectors."""
    from memory_palace.serve import hooking

    try:
        return hooking.ask(root, event, clock.now())
    except Exception as error:  # then it is done here
        hook_faults.fault(root, "", f"the server: {type(error).__name__}: {error}")
        return None


def _noted_aside(root: bytes, options: Options, host: str, message: str) -> bytes:
    """Count a fault in a child, since the disk may be what hangs; what a start says then."""
    if not root:
        return b""

    def work(write: Callable[[bytes], None]) -> None:
        from pathlib import Path

        from memory_palace.session import health

        place = Path(os.fsdecode(root))
        write(_told_before(place, options, host))
        health.add(place, (message,), clock.now())

    done = waiting.in_child(work, _FAULT_SECONDS, _FAULT_GRACE)
    return b"" if done.fault else done.data


def _told(line: str) -> int:
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode("utf-8", "replace"))
    return 0
