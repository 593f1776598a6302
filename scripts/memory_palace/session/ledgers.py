"""Which ledger is meant: of a session, of an agent, of the project at hand, or that has an id."""

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import ledger as ledgers
from memory_palace.core import ledger_chunks, ledger_recall
from memory_palace.core.errors import PalaceError, Refused
from memory_palace.core.ledger import Ledger
from memory_palace.core.ledger_recall import Recalled
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean, nfc
from memory_palace.files import chambers, identity
from memory_palace.files import ledgers as files
from memory_palace.files.ledgers import Glance, Loaded
from memory_palace.session import wings


def listed(root: Path, session: str = "", agent: str = "") -> list[Glance]:
    """The ledgers of a session or an agent, of all without, newest first.

    ``session`` is a client's id of it, a file's name, or the beginning of either. Raises
    :class:`Refused` where there is none, with the nearest.
    """
    folder = chambers.name(root, agent) if agent else ""
    found = [files.glance(root, path) for path in files.every(root)]
    chosen = [one for one in found if not folder or one.agent == folder]
    if folder and not chosen:
        known = {one.agent for one in found}
        raise Refused(f"no ledger of agent `{printable(agent)}`{did_you_mean(folder, known)}")
    if session:
        chosen = _of(session, chosen)
    return _newest_first(chosen)


def _newest_first(found: Iterable[Glance]) -> list[Glance]:
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(found, key=lambda one: (one.at or never, one.path), reverse=True)


def _of(session: str, among: list[Glance]) -> list[Glance]:
    exact = [one for one in among if session in (one.session, one.name)]
    begun = [
        one for one in among if one.session.startswith(session) or one.name.startswith(session)
    ]
    if not (exact or begun):
        hint = did_you_mean(session, [one.session or one.name for one in among][:20])
        raise Refused(f"no ledger of session `{printable(session)}`{hint}")
    # A session's subagents begin as it does: the session is meant.
    own = [one for one in begun if not any(_is_subagent(one, of) for of in begun)]
    return exact or own


def _is_subagent(one: Glance, of: Glance) -> bool:
    return bool(of.session) and one.session.startswith(f"{of.session}.")


def find(root: Path, session: str = "", agent: str = "", cwd: Path | None = None) -> Loaded:
    """The ledger of a session; without one, the newest of the project that ``cwd`` is in, or the
    newest of all where the project has none.

    Raises :class:`Refused` where there is none, or where ``session`` begins the names of several.
    """
    chosen = listed(root, session, agent)
    if not chosen:
        raise Refused("no ledger yet: sessions make one, or `palace ledger import` does")
    if session and len(chosen) > 1:
        names = ", ".join(printable(one.name) for one in chosen[:5])
        raise Refused(f"`{printable(session)}` is {len(chosen)} sessions ({names}): write more")
    wing = wings.repository(cwd) if cwd and not session else ""
    own = [one for one in chosen if wing and is_same(one.wing, wing)]
    return files.load(root, (own or chosen)[0].path)


def is_same(a: str, b: str) -> bool:
    """True for two spellings of a wing's name."""
    return nfc(a).casefold() == nfc(b).casefold()


def holding(root: Path, id: str) -> list[Loaded]:
    """The ledgers that have an entry, an observation or a reflection of this id, newest first.

    Bytes are searched first: only those that mention it are read."""
    mentioned = [path for path in files.every(root) if files.mentions(root, path, id)]
    newest = _newest_first(files.glance(root, path) for path in mentioned)
    loaded = (files.load(root, one.path) for one in newest)
    return [one for one in loaded if has(one.ledger, id)]


def is_ours(ledger: Ledger) -> bool:
    """True if this machine wrote the newest entry: of two that share a ledger, one observes it."""
    tip = ledgers.newest_tip(ledger.entries.values())
    return bool(tip) and ledger.entries[tip].by.rpartition("@")[2] == identity.device()


def has(ledger: Ledger, id: str) -> bool:
    """True if something in the ledger has this id."""
    return (
        id in ledger.entries
        or any(one.id == id for one in ledger.observations)
        or any(one.id == id for one in ledger.reflections)
    )


class Found(NamedTuple):
    """What an id led to, in which ledger (None: in none), and which others have it too.
    ``summary`` is the path of a ledger with a summary of this id, where nothing else has it."""

    recalled: Recalled
    loaded: Loaded | None = None
    others: tuple[str, ...] = ()
    summary: str = ""


def recall(
    root: Path, id: str, session: str = "", agent: str = "", cwd: Path | None = None
) -> Found:
    """What ``id`` leads to, in the ledger of a session (or the newest of an agent), else in the
    newest that has it, those of the project at hand first. Raises as :func:`find` does."""
    if session or agent:
        loaded = find(root, session, agent)
        return Found(_recall(loaded, id), loaded)
    if not ledgers.is_id(id):
        return Found(ledger_recall.recall(Ledger(), (), id))
    wing = wings.repository(cwd) if cwd else ""
    found = [(_recall(one, id), one) for one in holding(root, id)]
    found.sort(
        key=lambda pair: (
            pair[0].result == "not_found",
            not wing or not is_same(pair[1].ledger.wing, wing),
        )
    )
    if not found:
        return Found(Recalled(id, "not_found"), summary=_summary(root, id))
    (first, loaded), *more = found
    others = tuple(one.path for recalled, one in more if recalled.result != "not_found")
    return Found(first, loaded, others)


def _summary(root: Path, id: str) -> str:
    """The newest ledger with a summary of this id, which stands in no file: it is made of what the
    summary says."""
    there = (path for path in files.every(root) if files.mentions(root, path, "summarized"))
    for one in _newest_first(files.glance(root, path) for path in there):
        with contextlib.suppress(PalaceError):
            records = ledger_chunks.records(files.load(root, one.path).ledger)
            if any(record.id == id and record.kind == "summary" for record in records):
                return one.path
    return ""


def _recall(loaded: Loaded, id: str) -> Recalled:
    return ledger_recall.recall(loaded.ledger, ledgers.branch(loaded.ledger), id)
