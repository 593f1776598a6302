"""A palace in which memories grow up, for the tests of proposals and what becomes of them."""

import json
from datetime import datetime, timedelta

from memory_palace.core import dates, topics
from memory_palace.core.proposals import Proposal
from memory_palace.memory import approval, pen, state
from memory_palace.memory import proposals as queues
from memory_palace.memory.approval import Choice, Decided
from memory_palace.memory.evidence import Shelf
from support.palaces import NOW, Palace

FORCED = "Never run `git push --force`: it drops what others pushed"
FILTERS = "Apply filters before the list is cut, or small rooms return nothing"
CHOICE = Choice("it came up often enough", "Ann")


class Work(Palace):
    """A palace with memories that were seen several times, and the tasks where."""

    def entry(self, category: str, text: str, times: int, source: str = "") -> str:
        """A written entry with ``times`` pieces of evidence, one a day; its id."""
        key = topics.entry_id(category, text)
        path = topics.CATEGORIES[category].path
        place = self.root / path
        before = (
            place.read_text() if place.exists() else topics.new_file(topics.CATEGORIES[category])
        )
        self.write(path, f"{before}- [{category}] {text} ^{key}\n")
        lines = []
        for number in range(times):
            kind = {"event": "reinforced", "cue": "recurrence"}
            if number == 0:
                kind = {"event": "remembered", "category": category, "text": text, "path": path}
                kind["cue"] = "explicit"
            lines.append(
                {
                    "at": dates.stamp(NOW - timedelta(days=9 - number % 9)),
                    "by": "pi@laptop",
                    "uid": f"{key}{number:04x}",
                    "id": key,
                    **kind,
                    **({"source": source} if source else {}),
                }
            )
        log = self.root / "manifests/memory_events.jsonl"
        log.parent.mkdir(exist_ok=True)
        with log.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return key

    def card(
        self, name: str, day: str, about: str, status: str = "completed", more: str = ""
    ) -> None:
        """A card that links to a lesson."""
        head = f"---\ntitle: {name}\ntype: card\nstatus: {status}\nupdated: {day}\n{more}---\n"
        self.write(
            f"palace/dispatch_corridor/cards/{name}.md",
            f"{head}# {name}\n\nSee [[topics/lessons#^{about}]].\n\n"
            "## Acceptance checks\n\n- [x] It is done.\n",
        )

    def tasks(self, key: str) -> None:
        """Three completed cards on two days that link to a lesson."""
        for name, day in (("one", "2026-11-20"), ("two", "2026-11-20"), ("three", "2026-11-25")):
            self.card(name, day, key)

    def plan(self, limit: int = 20) -> queues.Found:
        known = state.load(self.root, NOW)
        return queues.plan(Shelf(self.root), known, queues.load(self.root), NOW, "pi@laptop", limit)

    def scan(self, now: datetime = NOW) -> tuple[Proposal, ...]:
        """Scan and write; the new proposals."""
        found = self.plan()
        with pen.begin(self.root, now, "palace promote scan") as p:
            queues.scan(p, found)
        return found.new

    def approve(self, one: Proposal | str, choice: Choice = CHOICE) -> Decided:
        name = one if isinstance(one, str) else one.id
        with pen.begin(self.root, NOW, "palace promote approve", choice.reason) as p:
            known = state.load(self.root, NOW)
            return approval.approve(
                p, known, queues.load(self.root), Shelf(self.root), name, choice
            )

    def reject(self, one: Proposal, reason: str = "holds once only", who: str = "Ann") -> Proposal:
        with pen.begin(self.root, NOW, "palace promote reject", reason) as p:
            return queues.reject(p, one.id, who, reason)

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def events(self, kind: str) -> list[dict[str, object]]:
        log = self.text("manifests/memory_events.jsonl").splitlines()
        return [e for e in map(json.loads, log) if e["event"] == kind]


def only(found: tuple[Proposal, ...]) -> Proposal:
    """The one proposal."""
    assert len(found) == 1, found
    return found[0]
