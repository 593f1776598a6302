"""A session's ledger in a palace, and workers that do as they are told."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_due
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection
from memory_palace.files import identity, jsonl, ledgers
from memory_palace.session import marks, observing
from memory_palace.session.observing import Ran
from support.palaces import NOW, Palace

CLIENT = "claude-code"


class Ledgered:
    """What is said goes into the ledger at once."""

    def __init__(self, root: Path, session: str = "s1", at: datetime = NOW) -> None:
        self.palace = Palace(root)
        self.root = root
        self.session = session
        self.at = at
        self.tip = ""
        self.path = ledgers.path_of(root, CLIENT, session)
        self.by = f"{CLIENT}@{identity.device()}"
        self.add("session", session, client=CLIENT, wing="demo")

    @property
    def ledger(self) -> Ledger:
        return ledgers.load(self.root, self.path).ledger

    @property
    def entries(self) -> tuple[Entry, ...]:
        return forms.branch(self.ledger)

    @property
    def pending(self) -> tuple[Entry, ...]:
        ledger = self.ledger
        return ledger_due.pending(ledger, forms.branch(ledger))

    @property
    def backoff(self) -> dict[str, str]:
        return marks.read(self.root, marks.BACKOFF).get(self.path, {})

    def add(self, event: str, about: str = "", at: datetime | None = None, **keys: Any) -> None:
        """Append a line."""
        uid = forms.record_id(f"{self.session} {event} {self.at} {keys}") + "0000"
        row = forms.shared(event, uid, about or self.session, at or self.at, self.by)
        place = self.root / self.path
        place.parent.mkdir(parents=True, exist_ok=True)
        with ledgers.locked(self.root, "a test"), place.open("a", encoding="utf-8") as file:
            file.write(jsonl.dump(row | keys) + "\n")

    def say(self, text: str, role: str = "user", tokens: int = 0, **keys: Any) -> str:
        """An entry, of so many tokens; its id."""
        self.at += timedelta(seconds=1)
        text += "." * (tokens * 4 - len(text)) if tokens else ""
        made = forms.record_id(f"{self.session} {self.at} {text}")
        keys = ({"parent": self.tip} if self.tip else {}) | keys
        self.add("entry", made, role=role, text=text, **keys)
        self.tip = made
        return made

    def run(self, **options: Any) -> Ran:
        return observing.run(self.root, self.path, self.at, **options)

    def contents(self) -> Any:
        """What the ledger holds, without what is random (also the order within a second)."""
        ledger = self.ledger
        return (
            list(ledger.entries),
            sorted((one.content, one.sources, one.covers_up_to) for one in ledger.observations),
            sorted((one.content, one.supports, one.covers_up_to) for one in ledger.reflections),
            sorted((one.ids, one.covers_up_to) for one in ledger.drops),
            ledger.refused,
        )


class Told:
    """A worker of functions. It keeps the texts that it was given."""

    name = "told"

    def __init__(
        self,
        observe: Callable[[Sequence[Entry]], Sequence[Observation]] | None = None,
        reflect: Callable[[Sequence[Observation]], Sequence[Reflection]] | None = None,
        slow: bool = False,
    ) -> None:
        self._observe = observe or (lambda part: [of(part[0].text, part[0])])
        self._reflect = reflect or (lambda _: [])
        self.slow = slow
        self.parts: list[list[str]] = []
        self.reflected: list[Mapping[str, str]] = []

    def observe(self, entries: Sequence[Entry]) -> tuple[Observation, ...]:
        self.parts.append([one.text.rstrip(".") for one in entries])
        return tuple(self._observe(entries))

    def reflect(
        self, observations: Sequence[Observation], citations: Mapping[str, str], at: datetime
    ) -> tuple[Reflection, ...]:
        self.reflected.append(dict(citations))
        return tuple(self._reflect(observations))


def of(text: str, *sources: Entry, relevance: str = "medium", at: datetime = NOW) -> Observation:
    """An observation of entries."""
    line = forms.content(text.rstrip("."))
    ids = tuple(one.id for one in sources)
    return Observation(forms.record_id(line), line, at, relevance, ids)


def concluded(text: str, *supports: Observation, at: datetime = NOW) -> Reflection:
    """A reflection on observations."""
    return Reflection(forms.record_id(text), text, tuple(one.id for one in supports), at)


class Killed(BaseException):
    """The process ends here."""


@contextlib.contextmanager
def killed_at(step: int) -> Iterator[list[int]]:
    """Kill at the ``step``-th write, before it, or after it where ``step`` is odd; the count."""
    count = [0]
    real = ledgers.append, marks.change

    def counted(work: Any) -> Any:
        def call(*given: Any) -> None:
            for after in (False, True):
                if count[0] == step:
                    count[0] += 1
                    raise Killed
                count[0] += 1
                if not after:
                    work(*given)

        return call

    ledgers.append, marks.change = map(counted, real)
    try:
        yield count
    finally:
        ledgers.append, marks.change = real
