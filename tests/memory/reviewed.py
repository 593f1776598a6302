"""A memory to be reviewed, and what a review says of it in few words."""

import json
from pathlib import Path

from files.repository import Repository
from memory_palace.memory import review as reviews
from memory_palace.memory.review import Review
from support.palaces import NOW

T = 1_700_000_000
ROOM = "palace/project_rooms/demo"
LESSONS = "palace/topics/lessons.md"
LOG = "manifests/memory_events.jsonl"
TEXT = "It has so many words of its own that it is known again wherever it comes to lie.\n"
TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


class Memory(Repository):
    """A palace in a repository, with some notes, entries and events at one commit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.write("palace.yaml", "")
        self.write(".gitignore", ".palace/\n")
        self.write(f"{ROOM}/one.md", f"---\ntitle: One\nstatus: open\n---\n# One\n\nfirst {TEXT}")
        for name in ("two", "three", "four", "five"):
            self.write(f"{ROOM}/{name}.md", f"# {name}\n\n{name} {name} {name} {TEXT}")
        self.write(LESSONS, "# Lessons\n\n- [lesson] Never push on Friday ^aaaaaaaaaaaa\n")
        self.log("remembered", "aaaaaaaaaaaa", category="lesson", cue="explicit")
        self.save(at=T)

    def log(self, event: str, about: str, **data: str) -> None:
        """One more event, on a day of November."""
        place = self.folder / LOG
        place.parent.mkdir(exist_ok=True)
        number = len(place.read_text().splitlines()) if place.exists() else 0
        line = {
            "at": f"2026-11-{number + 10}T00:00:00Z",
            "by": "a@b",
            "event": event,
            "uid": f"{number:016x}",
            "id": about,
        }
        with place.open("a") as file:
            file.write(json.dumps(line | data) + "\n")

    def save(self, at: int = T + 1) -> str:
        """Commit everything."""
        return self.commit(at=at)

    def text(self, path: str) -> str:
        """The text of a file."""
        return (self.folder / path).read_text()

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file."""
        assert old in self.text(path)
        self.write(path, self.text(path).replace(old, new))

    def move(self, path: str, to: str) -> None:
        """Rename a file; git is not told."""
        self.write(to, self.text(path))
        (self.folder / path).unlink()

    def look(self, base: str | None = None) -> Review:
        return reviews.look(self.folder, base, NOW)


def notes(review: Review) -> list[tuple[str, str, str, str]]:
    """(kind, path, path before, why) of each note."""
    return [(n.kind, n.path, n.was, n.why) for n in review.notes]


def entries(review: Review) -> list[tuple[str, str]]:
    """(kind, text) of each entry."""
    return [(entry.kind, entry.text) for entry in review.entries]


def errors(review: Review) -> list[tuple[str, str, int | None]]:
    """(kind, path, line) of what fails a check."""
    return [(f.kind, f.path, f.line) for f in review.errors]
