"""Ledgers for tests: what a session said, and what was observed of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core.dates import stamp
from memory_palace.core.ledger import content as one_line
from memory_palace.core.ledger import record_id, shared
from memory_palace.core.text import sha256
from memory_palace.files import jsonl
from support.palaces import NOW

AGENT = "claude-code"


class Session:
    """A ledger that is written line by line; times go up by a minute."""

    def __init__(
        self,
        root: Path,
        session: str = "s1",
        at: datetime = NOW,
        wing: str = "demo",
        agent: str = AGENT,
        where: str = "palace/chambers",
    ) -> None:
        self.root, self.session, self.at, self.agent = root, session, at, agent
        self.path = f"{where}/{agent}/ledger/{session}.jsonl"
        self.place = root / self.path
        self.tip = ""
        self._made = 0
        if not self.place.exists():
            self.add("session", session, client=agent, wing=wing)

    def add(self, event: str, about: str = "", **more: Any) -> None:
        """Any line."""
        self._made += 1
        uid = sha256(f"{self.session}{self.agent}{stamp(self.at)}{event}{self._made}")[:16]
        row = shared(event, uid, about or self.session, self.at, f"{self.agent}@box") | more
        jsonl.append(self.place, [row])
        self.at += timedelta(minutes=1)

    def said(self, text: str, role: str = "user") -> str:
        """A session entry; its id."""
        made = sha256(f"{self.session}{self._made}{text}")[:12]
        self.add("entry", made, parent=self.tip, role=role, text=text)
        self.tip = made
        return made

    def observed(self, content: str, kind: str = "", **more: Any) -> str:
        """A line with one observation; its id."""
        return self.observed_all([one_of(content, kind, self.at, **more)])[0]

    def observed_all(self, found: Sequence[dict[str, Any]]) -> list[str]:
        """A line with several observations."""
        source = self.tip or self.said("…")
        rows = [{"sources": [source]} | one for one in found]
        self.add("observed", covers_up_to=source, observations=rows)
        return [one["id"] for one in found]

    def reflected(self, content: str, *supports: str) -> str:
        """A reflection; its id."""
        made = {"id": record_id(content), "content": content, "supports": list(supports)}
        self.add("reflected", covers_up_to=self.tip, reflections=[made])
        return made["id"]

    def dropped(self, *ids: str) -> None:
        """A drop."""
        self.add("dropped", covers_up_to=self.tip, ids=list(ids))

    def summarized(self, **parts: str) -> None:
        """A summary."""
        self.add("summarized", covers_up_to=self.tip, **parts)


def one_of(content: str, kind: str = "", at: datetime = NOW, **more: Any) -> dict[str, Any]:
    """An observation as a line has it."""
    said = one_line(content)
    made = {"id": record_id(said), "content": said, "at": stamp(at), "relevance": "medium"}
    return made | ({"type": kind} if kind else {}) | more
