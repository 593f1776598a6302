"""A palace to measure on: notes made from a seed, the same ones for everybody."""

import random
import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TOPICS = "index query note link vector manifest archive hook session agent git merge".split()
ROOMS = [f"project_rooms/p{n}" for n in range(20)] + ["topics", "reflection_wing/principles"]


def make(root: Path, notes: int, seed: int = 7) -> None:
    """Write ``notes`` notes of one to three sections (about 350 characters) below ``root``."""
    dice = random.Random(seed)
    words = vocabulary()
    weights = [1 / (rank + 10) for rank in range(len(words))]

    def sentence() -> str:
        picked = dice.choices(words, weights, k=dice.randint(6, 16))
        return " ".join(picked).capitalize() + "."

    (root / "palace").mkdir(parents=True, exist_ok=True)
    (root / "palace.yaml").touch()
    for number in range(notes):
        day = f"2026-{dice.randint(1, 11):02}-{dice.randint(1, 28):02}"
        head = f"title: {sentence()[:40]}\ncreated: {day}\n"
        head += (
            f"priority: {dice.choice(['high', 'medium', 'low'])}\n" if dice.random() < 0.5 else ""
        )
        body = f"# Note {number}\n\n{sentence()} See [[n{dice.randrange(notes)}]].\n"
        for part in range(dice.randint(0, 2)):
            text = " ".join(sentence() for _ in range(dice.randint(1, 3)))
            body += f"\n## Part {part}\n\n{text}\n"
        place = root / "palace" / dice.choice(ROOMS) / f"n{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"---\n{head}---\n{body}", "utf-8")


def questions(count: int, seed: int = 11) -> list[str]:
    """Questions of three to six words, common and rare ones."""
    dice = random.Random(seed)
    words = vocabulary()
    return [
        f"why {' '.join(dice.choices(TOPICS, k=dice.randint(1, 3)))} "
        f"{' '.join(dice.choices(words, k=dice.randint(1, 2)))}?"
        for _ in range(count)
    ]


def vocabulary() -> list[str]:
    """English words, the topics first: those of the palace that this repository ships."""
    texts = [p.read_text("utf-8") for p in sorted((REPOSITORY / "palace").rglob("*.md"))]
    found = set(re.findall(r"\b[a-z]{4,12}\b", "\n".join(texts)))
    return TOPICS + sorted(found.difference(TOPICS))
