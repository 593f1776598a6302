"""What waits in the queue, as JSON lines, and the ledger entries that are made of it."""

import json
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import dates, privacy
from memory_palace.core.captured import MOST_SAID, answer_ref
from memory_palace.core.ledger import ROLES, Entry, entry_uid

LONGEST = MOST_SAID + 100
"""Characters of a text that is kept; capture has cut it, with a marker."""

MOST_FILES = 100
_UID = re.compile(r"[0-9a-f]{16}\Z")


class Item(NamedTuple):
    """One line: whose session it is of, its ``kind`` (``entry`` or ``end``), and for an entry what
    the client calls it, ``ref`` (empty where it does not), its ``uid``, and its data."""

    client: str
    session: str
    agent: str
    cwd: str
    kind: str
    at: datetime
    uid: str
    ref: str
    data: dict[str, Any]

    @property
    def ledger(self) -> str:
        """The name of its session's ledger: a subagent has one of its own."""
        return f"{self.session}.{self.agent}" if self.agent else self.session


def read(line: bytes, now: datetime) -> Item | None:
    """The item of a line; None for one that is torn or none of ours."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("kind") not in ("entry", "end"):
        return None
    texts = [data.get(key, "") for key in ("client", "session", "agent", "cwd", "kind", "uid")]
    if not all(isinstance(text, str) for text in texts):
        return None
    client, session, agent, cwd, kind, uid = texts
    if not any(map(str.isalnum, client)) or not session:
        return None
    if kind == "entry" and not (
        _UID.match(uid) and data.get("role") in ROLES and isinstance(data.get("text"), str)
    ):
        return None
    at = data.get("at")
    moment = (dates.parse(at) if isinstance(at, str) else None) or now
    ref = _text(data, "ref")
    if kind == "entry" and ref:
        if data["role"] == "assistant":
            ref = answer_ref(ref, data["text"])
        uid = entry_uid(client, session, agent, data["role"], ref)
    return Item(client, session, agent, cwd, kind, moment, uid, ref, data)


def entry(item: Item, parent: str, by: str) -> Entry:
    """The entry of an item; paths of this machine are taken out of what tools and agents said."""
    data = item.data
    project = project_of(item.cwd)
    text, role = data["text"][:LONGEST], data["role"]
    files = [file for file in data.get("files", ()) if isinstance(file, str)][:MOST_FILES]
    return Entry(
        id=item.uid[:12],
        parent=parent,
        role=role,
        text=text if role == "user" else without_places(text, project),
        at=item.at,
        tool=_text(data, "tool"),
        files=tuple(dict.fromkeys(relative(file, item.cwd, project) for file in files)),
        failed=data.get("failed") is True,
        ref=item.ref,
        by=by,
    )


def plain(item: Item, parent: str, by: str) -> Entry:
    """The entry of an item as it came, where :func:`entry` fails: nothing is lost for that."""
    text = item.data["text"][:LONGEST]
    return Entry(item.uid[:12], parent, item.data["role"], text, item.at, by=by)


def project_of(cwd: str) -> str:
    """The folder that a session's files are relative to: its worktree's top, else ``cwd``."""
    if not cwd or not os.path.isabs(cwd):
        return ""
    here = os.path.normpath(cwd)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return os.path.normpath(cwd)
        here = above
    return here


def relative(file: str, cwd: str, project: str) -> str:
    """``file`` as a ledger names it: relative to the project, else its last two parts."""
    place = os.path.normpath(os.path.join(cwd, file)) if cwd else os.path.normpath(file)
    base = project.rstrip(os.sep) + os.sep
    if project and place.startswith(base):
        return place[len(base) :].replace(os.sep, "/")
    if project and place == project:
        return "."
    if not os.path.isabs(place) and not place.startswith(".."):
        return place.replace(os.sep, "/")
    return "/".join(place.replace(os.sep, "/").strip("/").split("/")[-2:])


def without_places(text: str, project: str, home: str | None = None) -> str:
    """``text`` with paths below the project's folder made relative to it, and the home folder
    as ``~``."""
    home = os.path.expanduser("~") if home is None else home
    for place, inner, whole in ((project, "", "."), (home, "~/", "~")):
        place = place.rstrip(os.sep)
        if len(place) > 1 and place in text:
            end = r"(?![\w.-])"
            text = text.replace(place + os.sep, inner)
            text = re.sub(re.escape(place) + end, whole, text)
    return text


def wing(cwd: str) -> str:
    """The name of the repository that a session ran in, without secrets; empty where there is
    none."""
    from memory_palace.session import wings

    try:
        found = wings.repository(Path(cwd)) if cwd and os.path.isabs(cwd) else ""
        return privacy.redact(found).text
    except (OSError, ValueError):
        return ""


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key, "")
    return value if isinstance(value, str) else ""
