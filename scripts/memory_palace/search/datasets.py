"""Questions with known answers: a fixture of ours, or a conversation set shaped like LoCoMo.

Either becomes notes in a folder and a list of questions, so that what is measured is the
product's own index and search.
"""

import json
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core.errors import BadInput

_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)\Z")
_SHAPE = 'write {"notes": DIR, "questions": [{"q": …, "relevant": [paths]}]}, or a LoCoMo file'


@dataclass(frozen=True, slots=True)
class Question:
    """A question and where its answer is: note paths, and the lines within them.

    ``lines`` holds (path, line) pairs; both are empty for a question without an answer.
    """

    text: str
    notes: frozenset[str]
    lines: frozenset[tuple[str, int]] = frozenset()
    headings: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that are asked of one palace: ``folder`` holds its notes."""

    name: str
    folder: Path
    questions: tuple[Question, ...]


def load(path: Path, into: Path, pooled: bool = False) -> list[Group]:
    """Write the notes of the data set at ``path`` below ``into``; a palace root a group.

    ``pooled`` puts all conversations into one palace. Raises :class:`BadInput` for another shape.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not a data set ({error}): {_SHAPE}") from None
    try:
        if isinstance(data, dict):
            return [_fixture(path, data, into)]
        talks = [_conversation(talk, into, pooled) for talk in data]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path}: another shape ({error!r}): {_SHAPE}") from None
    if not talks:
        raise BadInput(f"{path}: no questions: {_SHAPE}")
    if not pooled:
        return talks
    questions = tuple(question for talk in talks for question in talk.questions)
    return [Group("pooled", into / "pooled", questions)]


def _fixture(path: Path, data: dict[str, Any], into: Path) -> Group:
    source = (path.parent / data["notes"]).resolve()
    if not source.is_dir():
        raise BadInput(f"{path}: notes {data['notes']!r} is no folder beside it: {_SHAPE}")
    root = into / "fixture"
    shutil.copytree(source, root / "palace")
    questions = []
    for entry in data["questions"]:
        places = [str(place).partition("#") for place in entry["relevant"]]
        paths = [_below_palace(note) for note, _, _ in places]
        for note in paths:
            if not (root / note).is_file():
                raise BadInput(f"{path}: no note {note} for {entry['q']!r}: mend `relevant`")
        headings = frozenset((n, h) for n, (_, mark, h) in zip(paths, places, strict=True) if mark)
        questions.append(Question(str(entry["q"]), frozenset(paths), headings=headings))
    return Group(path.stem, root, tuple(questions))


def _below_palace(path: str) -> str:
    return path if path.startswith("palace/") else f"palace/{path}"


def _conversation(talk: dict[str, Any], into: Path, pooled: bool) -> Group:
    """One note a session, one list item a turn, the session's date in the metadata."""
    name = re.sub(r"\W+", "-", str(talk["sample_id"]))
    root = into / ("pooled" if pooled else name)
    conversation = talk["conversation"]
    lines: dict[tuple[int, int], tuple[str, int]] = {}
    for key, turns in conversation.items():
        found = _SESSION.match(key)
        if not found:
            continue
        session = int(found.group(1))
        path = f"palace/project_rooms/{name}/sessions/session-{session:02}.md"
        said = str(conversation.get(f"{key}_date_time", ""))
        head = ["---", "type: session", *_created(said), "---", f"# {said}", ""]
        for turn in turns:
            number = int(str(turn["dia_id"]).partition(":")[2])
            lines[session, number] = (path, len(head) + 1)
            head.append(f"- {turn['speaker']}: {_turn_text(turn)}")
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(head) + "\n", "utf-8")
    (root / "palace.yaml").touch()
    return Group(name, root, tuple(_question(entry, lines) for entry in talk["qa"]))


def _turn_text(turn: dict[str, Any]) -> str:
    text = " ".join(str(turn["text"]).split())
    caption = turn.get("blip_caption")
    return f"{text} [image: {caption}]" if caption else text


def _created(said: str) -> list[str]:
    """``created: …`` from a time such as ``1:56 pm on 8 May, 2023``; nothing for another form."""
    try:
        moment = datetime.strptime(said, "%I:%M %p on %d %B, %Y")
    except ValueError:
        return []
    return [f"created: {moment:%Y-%m-%dT%H:%M:00Z}"]


def _question(entry: dict[str, Any], lines: dict[tuple[int, int], tuple[str, int]]) -> Question:
    named = [_EVIDENCE.findall(str(item)) for item in entry.get("evidence", [])]
    turns = [(int(session), int(turn)) for found in named for session, turn in found]
    places = frozenset(lines.get(turn, (f"no session {turn[0]}", turn[1])) for turn in turns)
    return Question(str(entry["question"]), frozenset(path for path, _ in places), places)
