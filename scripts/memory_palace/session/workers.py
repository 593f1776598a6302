"""Who observes and reflects: rules, or a command that the user configured. One port for both."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from memory_palace.core import dates, ledger_read
from memory_palace.core.fence import stripped
from memory_palace.core.ledger import Entry, Observation, Reflection, content, record_id
from memory_palace.core.privacy import redact
from memory_palace.core.private_spans import is_blank
from memory_palace.core.tool_calls import clean
from memory_palace.session import worker_command
from memory_palace.session.worker_command import MEND, WorkerFault

__all__ = ["Command", "Rules", "Worker", "WorkerFault", "chosen", "with_sources"]


PROPOSED = ("content", "relevance", "sources", "supports", "type", "at")
"""The keys of a proposed record; all others follow from its sources."""


class Worker(Protocol):
    """Reads a part of a session and proposes records; an empty proposal is deliberate.

    ``name`` is who they are ``by``; ``slow`` is true where a call takes seconds. Both raise
    :class:`WorkerFault`; a proposal that cites what it was not given is refused whole.
    """

    name: str
    slow: bool

    def observe(self, entries: Sequence[Entry]) -> tuple[Observation, ...]:
        """Observations of ``entries``, each with sources among them."""
        ...

    def reflect(
        self, observations: Sequence[Observation], citations: Mapping[str, str], at: datetime
    ) -> tuple[Reflection, ...]:
        """Conclusions, each supported by ids of ``observations``. ``citations`` says how many
        reflections cite each already: ``none``, ``partial`` or ``strong``."""
        ...


class Rules:
    """The default: deterministic, and without a model."""

    name = "rules"
    slow = False

    def observe(self, entries: Sequence[Entry]) -> tuple[Observation, ...]:
        from memory_palace.core import observer

        return observer.observe(entries)

    def reflect(
        self, observations: Sequence[Observation], citations: Mapping[str, str], at: datetime
    ) -> tuple[Reflection, ...]:
        from memory_palace.core import reflector

        return reflector.reflect(observations, citations, at)


class Command:
    """The user's command. It is told whose ``session`` it is and of which ``wing``."""

    name = "command"
    slow = True

    def __init__(
        self, words: Sequence[str], seconds: float, root: Path, session: str = "", wing: str = ""
    ) -> None:
        self._words = tuple(words)
        self._seconds = seconds
        self._root = root
        self._whose = {"session": session, "wing": wing}

    def observe(self, entries: Sequence[Entry]) -> tuple[Observation, ...]:
        answer = self._asked("observe", "entries", [entry_data(one) for one in entries])
        by_id = {one.id: one for one in entries}
        found = []
        for at, item in self._items(answer, "observations"):
            try:
                made = ledger_read.observation(cleaned(item), entries[-1].at, entries[-1].id)
                found.append(with_sources(made, by_id, dated=bool(item.get("at"))))
            except (ledger_read.Void, KeyError) as why:
                raise WorkerFault(f"{at}: {_said(why, 'entry')}: {MEND}") from None
        return tuple(found)

    def reflect(
        self, observations: Sequence[Observation], citations: Mapping[str, str], at: datetime
    ) -> tuple[Reflection, ...]:
        told = [
            {
                "id": one.id,
                "content": one.content,
                "at": dates.stamp(one.at),
                "relevance": one.relevance,
                "support": citations.get(one.id, "none"),
            }
            for one in observations
        ]
        answer = self._asked("reflect", "observations", told)
        known = {one.id for one in observations}
        found = []
        for place, item in self._items(answer, "reflections"):
            try:
                made = ledger_read.reflection(cleaned(item), at, "")
                for one in made.supports:
                    if one not in known:
                        raise KeyError(one)
                found.append(made)
            except (ledger_read.Void, KeyError) as why:
                raise WorkerFault(f"{place}: {_said(why, 'observation')}: {MEND}") from None
        return tuple(found)

    def _asked(self, stage: str, key: str, items: list[dict[str, Any]]) -> Any:
        given = {"stage": stage, **self._whose, key: items}
        return worker_command.ask(self._words, given, self._root, self._seconds)

    def _items(self, answer: Any, key: str) -> list[tuple[str, Mapping[str, Any]]]:
        items = answer.get(key)
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            raise WorkerFault(f"it printed no list of objects `{key}`: {MEND}")
        return [(f"{key}[{number}]", one) for number, one in enumerate(items)]


def chosen(root: Path, session: str = "", wing: str = "") -> Worker:
    """The worker of the user's own configuration; the rules by default. Raises
    :class:`BadInput` for a configuration that cannot be read."""
    from memory_palace.files import config

    found = config.load(root)
    if not found.observe_command:
        return Rules()
    return Command(found.observe_command, found.observe_seconds, root, session, wing)


def entry_data(one: Entry) -> dict[str, Any]:
    """An entry as whoever observes is shown it; empty keys are left out."""
    data: dict[str, Any] = {"id": one.id, "at": dates.stamp(one.at), "role": one.role}
    more = {"tool": one.tool, "failed": one.failed, "files": list(one.files)}
    return data | {key: value for key, value in more.items() if value} | {"text": one.text}


def with_sources(
    made: Observation, entries: Mapping[str, Entry], *, dated: bool = False
) -> Observation:
    """``made`` with what its sources tell: their files, the folder of the first one, what they
    took, and (unless it is ``dated``) the time of the last. KeyError names an unknown source."""
    sources = [entries[one] for one in made.sources]
    files = made.files or tuple(dict.fromkeys(file for one in sources for file in one.files))
    room = made.room or (files[0].rpartition("/")[0] if files else "")
    work = made.work or sum(one.tokens for one in sources)
    at = made.at if dated else max(one.at for one in sources)
    return replace(made, files=files, room=room, work=work, at=at)


def kept_text(text: str) -> str:
    """``text`` as a record may hold it: nothing that memory injected, nothing private; empty where
    nothing is left."""
    said = content(redact(stripped(clean(text))).text)
    return "" if is_blank(said) else said


def cleaned(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A proposed record with the keys that its maker decides on, and its content as it is kept.

    An id that it has is not read: it would be that of the text before secrets were taken out.
    """
    found = {key: item[key] for key in PROPOSED if key in item}
    said = item.get("content")
    if isinstance(said, str):
        found["content"] = kept_text(said)
        found["id"] = record_id(found["content"])
    return found


def _said(why: Exception, thing: str) -> str:
    return f"no {thing} {why.args[0]!r} was given" if isinstance(why, KeyError) else str(why)
