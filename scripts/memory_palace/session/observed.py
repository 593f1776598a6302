"""What an agent has observed itself, as JSON: checked, then recorded whole or not at all."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_branch, ledger_due, ledger_read
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection
from memory_palace.core.text import did_you_mean
from memory_palace.files import ledgers
from memory_palace.session import marks, workers

KEYS = ("observations", "reflections", "drops", "covers_up_to")
TIP = "tip"
"""As ``covers_up_to``: all that the session has said so far was read."""

_ITEM = {
    "observations": ("content", "relevance", "sources", "type", "at"),
    "reflections": ("content", "supports"),
}


class Recorded(NamedTuple):
    """The records that were ``made`` (``observed``, ``reflected`` or ``dropped``, id, content),
    the ids of those that were there already, and what else there is to say."""

    made: tuple[tuple[str, str, str], ...]
    skipped: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the records that were made."""
        return tuple(key for _, key, _ in self.made)


def record(
    root: Path, path: str, data: Any, now: datetime, by: str, *, dry_run: bool = False
) -> Recorded:
    """Record observations, reflections and drops in the ledger ``path``.

    ``data`` is a mapping with :data:`KEYS`: lists of ``{content, relevance, sources, type?, at?}``
    and ``{content, supports}``, a list of ids, and how far the agent has read (an entry's id or
    ``tip``; by default no further than before, so that nothing pending counts as read). Private
    spans and secrets are taken out. Raises :class:`BadInput` with the place in ``data``,
    :class:`Refused` where the session has no entries, :class:`Busy` and :class:`Missing`.
    """
    whole = _mapping(data)
    with ledgers.locked(root, "palace observe"):
        ledger = ledgers.load(root, path).ledger
        branch = forms.branch(ledger)
        if not branch:
            raise Refused(f"{path} has no entries yet: `palace ledger status` lists the sessions")
        reading = _Reading(ledger, branch, whole, now, by)
        rows = reading.rows(path)
        if not dry_run:
            if rows:
                ledgers.append(root, path, rows)
            if reading.reads_on:
                words = "" if reading.observations else reading.covers
                marks.change(root, marks.BACKOFF, path, {"observe": words})
    return reading.recorded()


class _Reading:
    """The data of one call, checked against the ledger."""

    def __init__(
        self,
        ledger: Ledger,
        branch: Sequence[Entry],
        data: Mapping[str, Any],
        now: datetime,
        by: str,
    ) -> None:
        self.ledger = ledger
        self.entries = {one.id: one for one in branch}
        self.now = now
        self.by = by
        here = ledger_branch.of(ledger, branch)
        pending = ledger_due.pending(ledger, branch)
        self.covers = ledger_due.cursor(ledger, branch)
        named = self._covers(data.get("covers_up_to"), branch)
        self.reads_on = any(one.id == named for one in pending)
        if self.reads_on:
            self.covers = named
        known = {one.id for _, one in here.observations}
        self.skipped: list[str] = []
        self.observations = self._new(self._observations(data), known)
        known |= {one.id for one in self.observations}
        concluded = {one.id for _, one in here.reflections}
        self.reflections = self._new(self._reflections(data, known), concluded)
        self.drops = self._drops(data, here.dropped())
        self.unseen = [one for one in self.drops if one not in known]

    def rows(self, path: str) -> list[dict[str, Any]]:
        """The lines to append; none where all is there already."""
        made: list[tuple[str, dict[str, Any]]] = []
        if self.observations:
            made.append(
                ("observed", {"observations": list(map(forms.observation_data, self.observations))})
            )
        if self.reflections:
            made.append(
                ("reflected", {"reflections": list(map(forms.reflection_data, self.reflections))})
            )
        if self.drops:
            made.append(("dropped", {"ids": self.drops}))
        covers = {"covers_up_to": self.covers} if self.covers else {}
        return [
            ledgers.row(path, self.ledger, event, self.now, self.by) | covers | keys
            for event, keys in made
        ]

    def recorded(self) -> Recorded:
        said = []
        if self.unseen:
            said.append(f"dropped before it was seen: {', '.join(self.unseen)}")
        if self.reads_on and not self.observations:
            said.append(f"read up to {self.covers}, and nothing new observed in it")
        made = [("observed", one.id, one.content) for one in self.observations]
        made += [("reflected", one.id, one.content) for one in self.reflections]
        made += [("dropped", one, "") for one in self.drops]
        return Recorded(tuple(made), tuple(self.skipped), tuple(said))

    def _covers(self, given: Any, branch: Sequence[Entry]) -> str:
        if given is None:
            return ""
        if given == TIP:
            return branch[-1].id
        if not isinstance(given, str) or given not in self.entries:
            raise BadInput(f"covers_up_to: {_no_entry(given)}; `tip` is the last one")
        return given

    def _observations(self, data: Mapping[str, Any]) -> list[Observation]:
        found = []
        for at, item in _items(data, "observations"):
            made = _void(at, lambda i=item: ledger_read.observation(i, self.now, self.covers))
            for number, source in enumerate(made.sources):
                if source not in self.entries:
                    raise BadInput(f"{at}.sources[{number}]: {_no_entry(source)}")
            dated = item.get("at") is not None
            found.append(workers.with_sources(made, self.entries, dated=dated))
        return found

    def _reflections(self, data: Mapping[str, Any], known: set[str]) -> list[Reflection]:
        found = []
        for at, item in _items(data, "reflections"):
            made = _void(at, lambda i=item: ledger_read.reflection(i, self.now, self.covers))
            for number, one in enumerate(made.supports):
                if one not in known:
                    what = "no observation of this session: `palace ledger show` lists them"
                    raise BadInput(f"{at}.supports[{number}]: {one} is {what}")
            found.append(made)
        return found

    def _drops(self, data: Mapping[str, Any], gone: frozenset[str]) -> list[str]:
        given = data.get("drops")
        if given is None:
            return []
        if not isinstance(given, list):
            raise BadInput("drops: write a list of ids of observations")
        for number, one in enumerate(given):
            if not forms.is_id(one):
                raise BadInput(f"drops[{number}]: {_shown(one)} is no id of 12 hex digits")
        self.skipped += [one for one in dict.fromkeys(given) if one in gone]
        return [one for one in dict.fromkeys(given) if one not in gone]

    def _new(self, made: Sequence[Any], known: set[str]) -> list[Any]:
        """Those that are not there yet, each once."""
        by_id = {one.id: one for one in made}
        self.skipped += [one for one in by_id if one in known]
        return [one for key, one in by_id.items() if key not in known]


def _mapping(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise BadInput(f"the JSON is no object: write {{{', '.join(KEYS)}}}")
    for key in data:
        if key not in KEYS:
            raise BadInput(f"{_shown(key)}: unknown key{did_you_mean(str(key)[:40], KEYS)}")
    if not any(data.get(key) for key in KEYS):
        raise BadInput(f"the JSON records nothing: write one of {', '.join(KEYS)}")
    return data


def _items(data: Mapping[str, Any], key: str) -> list[tuple[str, Mapping[str, Any]]]:
    given = data.get(key)
    if given is None:
        return []
    if not isinstance(given, list):
        raise BadInput(f"{key}: write a list of objects")
    found = []
    for number, item in enumerate(given):
        at = f"{key}[{number}]"
        if not isinstance(item, Mapping):
            raise BadInput(f"{at}: write an object with {', '.join(_ITEM[key])}")
        for name in item:
            if name not in _ITEM[key] and name != "id":
                hint = did_you_mean(str(name)[:40], _ITEM[key])
                raise BadInput(f"{at}.{str(name)[:40]}: unknown key{hint}")
        for name in ("sources", "supports"):
            ids = item.get(name)
            for place, one in enumerate(ids if isinstance(ids, list) else ()):
                if not forms.is_id(one):
                    raise BadInput(f"{at}.{name}[{place}]: {_shown(one)} is no id of 12 hex digits")
        kept = workers.cleaned(item)
        said = item.get("content")
        if isinstance(said, str) and said.strip() and not kept.get("content"):
            raise BadInput(f"{at}.content: all of it is private, or was injected: write other text")
        found.append((at, kept))
    return found


def _void(at: str, read: Any) -> Any:
    try:
        return read()
    except ledger_read.Void as why:
        raise BadInput(f"{at}: {why}") from None


def _no_entry(given: Any) -> str:
    return f"{_shown(given)} is no entry of this session: `palace observe --pending` shows them"


def _shown(given: Any) -> str:
    return repr(given)[:60] if not forms.is_id(given) else str(given)
