"""Summaries of sessions: written by rules when a session ends, or by the agent itself."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_due, privacy, summaries
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import SUMMARY, Entry, Ledger, Summary
from memory_palace.core.text import did_you_mean
from memory_palace.core.tool_calls import clean
from memory_palace.files import identity, ledgers

RULES = "rules"
"""Who wrote a summary that no agent did: ``rules@<device>``."""


def checked(parts: Mapping[str, object]) -> dict[str, str]:
    """The parts as a ledger holds them: on one line, without private spans and secrets, at most
    500 characters; empty ones are left out.

    Raises :class:`BadInput` for an unknown key (the nearest is named), a value that is no text,
    and where nothing is left.
    """
    for key in parts:
        if key not in SUMMARY:
            raise BadInput(f"no part `{key}` of a summary{did_you_mean(str(key), SUMMARY)}")
    found: dict[str, str] = {}
    for key in SUMMARY:
        value = parts.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            raise BadInput(f"`{key}` is {value!r}: write text, in quotes")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise BadInput(f"`{key}` is not UTF-8, or has a NUL in it: write it as UTF-8")
        said = " ".join(privacy.redact(value).text.split())
        if said.replace(privacy.PRIVATE_MARK, "").strip():
            found[key] = cut(said, summaries.MOST_CHARACTERS)
    if not found:
        raise BadInput(f"the summary is empty: write at least one of {', '.join(SUMMARY)}")
    return found


def write(root: Path, path: str, parts: Mapping[str, str], now: datetime, by: str) -> Summary:
    """Append a summary to the ledger ``path``; it covers up to the newest entry.

    Raises :class:`BadInput` as :func:`checked` does, :class:`Refused` for a ledger without
    entries, :class:`Busy` and :class:`Missing` where it cannot be written.
    """
    kept = checked(parts)
    with ledgers.locked(root, "summarizing"):
        found = ledgers.load(root, path).ledger
        return _append(root, path, found, kept, now, by)


def by_rules(root: Path, path: str, now: datetime) -> Summary | None:
    """Sum up by rules what the ledger ``path`` says. None if nothing is known, and if that is done:
    a summary covers the newest entry, or an agent's own covers all that a person said.

    Raises :class:`Busy` and :class:`Missing` where the ledger cannot be written.
    """
    with ledgers.locked(root, "summarizing"):
        found = ledgers.load(root, path).ledger
        branch = forms.branch(found)
        if not branch or is_done(found, branch):
            return None
        parts = summaries.summarize(branch, ledger_due.active(found, branch))
        if not parts:
            return None
        by = f"{RULES}@{identity.device()}"
        return _append(
            root, path, found, checked({key: clean(said) for key, said in parts.items()}), now, by
        )


def is_done(ledger: Ledger, branch: Sequence[Entry]) -> bool:
    """True if nothing is left to sum up. What follows an agent's own summary is at least the call
    that wrote it, so only what a person says after it makes another."""
    places = {one.id: n for n, one in enumerate(branch)}
    for summary in ledger.summaries:
        place = places.get(summary.covers_up_to)
        if place is None:
            continue
        after = branch[place + 1 :]
        if not after or (not _is_by_rules(summary) and all(one.role != "user" for one in after)):
            return True
    return False


def newest(ledger: Ledger) -> Summary | None:
    """The newest summary; of two of one second an agent's own."""
    return max(ledger.summaries, key=lambda one: (one.at, not _is_by_rules(one)), default=None)


def _is_by_rules(summary: Summary) -> bool:
    return summary.by.startswith(f"{RULES}@")


def _append(
    root: Path, path: str, found: Ledger, parts: Mapping[str, str], now: datetime, by: str
) -> Summary:
    tip = forms.newest_tip(found.entries.values())
    if not tip:
        raise Refused(f"{path} has no entries yet: there is nothing to sum up")
    row = ledgers.row(path, found, "summarized", now, by)
    ledgers.append(root, path, [row | {"covers_up_to": tip} | dict(parts)])
    return Summary(dict(parts), tip, now.replace(microsecond=0), by)
