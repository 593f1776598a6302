"""Starts a server in the background, for the next question, where that is wanted and safe."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from memory_palace.core.errors import Missing, PalaceError
from memory_palace.files import roots
from memory_palace.serve import client, place, process, wire

IDLE_MINUTES = 30.0
AGAIN_SECONDS = 60.0
"""Not started again within these: a server that cannot run must not be tried at each question.
One that was started by hand does not count: somebody saw it run."""

_BY_A_COMMAND = b"started by a command\n"
"""How the log of such a server begins."""

SLOW = frozenset({"bge-m3"})
"""Embedders that take seconds to load; ``auto`` starts a server for these only."""

_BOOT = """\
import sys
sys.path[0:0] = [p for p in sys.argv[1:2] if p not in sys.path]
from memory_palace.serve import process
sys.exit(process.background(*sys.argv[2:]))
"""
_started: list["subprocess.Popen[bytes]"] = []


def wanted(embedder: str, environment: Mapping[str, str] | None = None) -> bool:
    """What ``$PALACE_SERVE`` says: ``on`` always, ``off`` never; ``auto``, the default, for an
    embedder that is slow to load, and never in a continuous integration (``$CI``)."""
    environment = os.environ if environment is None else environment
    said = client.policy(environment)
    if said == "auto":
        return embedder in SLOW and environment.get("CI", "") in ("", "0", "false")
    return said == "on"


def afterwards(root: Path, embedder: str) -> bool:
    """Start a server for later questions if that is wanted and there is none; True if one was
    started. Waits for nothing, and what stands in its way is no fault of the question's.

    Not by itself for a palace in the system's folder for temporary files: it is soon gone.
    """
    if not wanted(embedder):
        return False
    if client.policy() == "auto" and root.is_relative_to(Path(tempfile.gettempdir()).resolve()):
        return False
    from memory_palace.files import config as configs  # loaded already by who asked here

    with contextlib.suppress(PalaceError, OSError):
        if not (roots.index_folder(root) / "catalog.sqlite").is_file() or _recently(root):
            return False
        if process.is_running(root):
            return False  # loading, hung, or not like this process: it has the place
        if configs.load(root).store != "faiss":
            return False  # a server would have nothing to keep
        in_background(root)
        return True
    return False


def in_background(root: Path, idle_minutes: float = IDLE_MINUTES, by_hand: bool = False) -> None:
    """Start a server and come back at once; it ends by itself if another one is there.

    Raises :class:`Missing` where its folder cannot be made, :class:`BadInput` where a symbolic
    link leads it or its log elsewhere.
    """
    folder = place.make(root)
    place_of_log = roots.inside(root, f"{place.FOLDER}/{place.LOG}")
    if not sys.executable:
        raise Missing("this Python does not know its own program: use `palace serve --foreground`")
    _started[:] = [one for one in _started if one.poll() is None]
    package = str(Path(__file__).resolve().parents[2])
    # -P: nothing is imported from the current folder, which may be a stranger's.
    words = [sys.executable, "-P", "-c", _BOOT, package, str(root), str(idle_minutes)]
    try:
        handle = os.open(place_of_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as log:
            log.write(b"" if by_hand else _BY_A_COMMAND)
            log.flush()  # the server writes on from there
            os.utime(log.fileno())
            _started.append(
                subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    cwd=folder,
                    env=os.environ | wire.settings(),
                    start_new_session=True,
                )
            )
    except OSError as error:
        raise Missing(f"a server cannot be started ({error.strerror}): see {folder}") from None


def _recently(root: Path) -> bool:
    """True if a command started a server just now, or one that it started has just ended."""
    try:
        with (place.folder(root) / place.LOG).open("rb") as log:
            seconds = abs(time.time() - os.fstat(log.fileno()).st_mtime)
            return seconds < AGAIN_SECONDS and log.readline() == _BY_A_COMMAND
    except OSError:
        return False
