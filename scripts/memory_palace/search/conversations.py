"""Conversations shaped like LoCoMo as notes: one a session, a list item a turn."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core.links import TREE
from memory_palace.core.weights import Weights
from memory_palace.search.questions import (
    SHAPE,
    Dataset,
    Group,
    Place,
    Question,
    Wrong,
    checked,
    field,
    text_of,
)

_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)\Z")


def read(name: str, sha256: str, talks: list[Any], into: Path, pooled: bool) -> Dataset:
    """One palace a conversation, written below ``into``; ``pooled``: one for all.

    Raises :class:`Wrong` with the place in the file.
    """
    groups: list[Group] = []
    count = 0
    for n, talk in enumerate(talks):
        group = _conversation(checked(dict, talk, f"[{n}]"), f"[{n}]", into, pooled, count)
        if group.name in (other.name for other in groups):
            raise Wrong(f"[{n}].sample_id", f"{group.name!r} again: give each its own")
        groups.append(group)
        count += len(group.questions)
    if not count:
        raise Wrong("", f"no questions: {SHAPE}")
    if pooled:
        questions = tuple(question for group in groups for question in group.questions)
        groups = [Group("pooled", into / "pooled", questions)]
    # Neither the age of a session nor its importance says anything of the question.
    weights = replace(Weights(), recency=0.0, importance=0.0)
    return Dataset(name, sha256, tuple(groups), "sessions", "turns", weights)


def _conversation(talk: dict[str, Any], at: str, into: Path, pooled: bool, before: int) -> Group:
    """One note a session, one list item a turn, the session's date in the metadata."""
    name = re.sub(r"\W+", "-", field(str, talk, "sample_id", at)).strip("-").lower()
    if not name:
        raise Wrong(f"{at}.sample_id", "no letter and no digit: give it a name")
    root = into / ("pooled" if pooled else name)
    conversation = field(dict, talk, "conversation", at)
    lines: dict[tuple[int, int], Place] = {}
    for key in conversation:
        found = _SESSION.match(key)
        if not found:
            continue
        session = int(found.group(1))
        path = f"{TREE}project_rooms/{name}/sessions/session-{session:02}.md"
        said = " ".join(str(conversation.get(f"{key}_date_time", "")).split())
        text = ["---", "type: session", *_created(said), "---", f"# {said or key}", ""]
        turns = field(list, conversation, key, f"{at}.conversation")
        for n, turn in enumerate(turns):
            place = f"{at}.conversation.{key}[{n}]"
            turn = checked(dict, turn, place)
            number = _EVIDENCE.fullmatch(field(str, turn, "dia_id", place))
            if number is None:
                raise Wrong(f"{place}.dia_id", f"{turn['dia_id']!r} is not like D7:3")
            lines[session, int(number[2])] = Place(path, len(text) + 1, len(text) + 1)
            text.append(_turn(turn, place))
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("\n".join(text) + "\n", "utf-8")
    if not lines:
        raise Wrong(f"{at}.conversation", "no `session_1` with turns: write them as LoCoMo does")
    (root / "palace.yaml").touch()
    questions = [
        _question(before + n, checked(dict, entry, f"{at}.qa[{n - 1}]"), f"{at}.qa[{n - 1}]", lines)
        for n, entry in enumerate(field(list, talk, "qa", at), start=1)
    ]
    return Group(name, root, tuple(questions))


def _turn(turn: dict[str, Any], at: str) -> str:
    said = f"- {field(str, turn, 'speaker', at)}: {field(str, turn, 'text', at)}"
    caption = turn.get("blip_caption")
    return " ".join(f"{said} [image: {caption}]".split() if caption else said.split())


def _created(said: str) -> list[str]:
    """``created: …`` from a time such as ``1:56 pm on 8 May, 2023``; nothing for another form."""
    try:
        moment = datetime.strptime(said, "%I:%M %p on %d %B, %Y")
    except ValueError:
        return []
    return [f"created: {moment:%Y-%m-%dT%H:%M:00Z}"]


def _question(
    number: int, entry: dict[str, Any], at: str, lines: dict[tuple[int, int], Place]
) -> Question:
    """Evidence that names no turn of the conversation is kept: it is never found."""
    text = text_of(entry, "question", at)
    named = field(list, entry, "evidence", at) if "evidence" in entry else []
    turns = {(int(s), int(t)) for item in named for s, t in _EVIDENCE.findall(str(item))}
    notes = {place.path for place in lines.values()}
    places = frozenset(lines.get(turn) or _nowhere(turn, notes) for turn in turns)
    category = f"category {entry['category']}" if "category" in entry else ""
    return Question(number, text, frozenset(place.path for place in places), places, category)


def _nowhere(turn: tuple[int, int], notes: set[str]) -> Place:
    """A place for a turn that does not exist: in its session, if that does."""
    name = f"session-{turn[0]:02}.md"
    path = next((path for path in notes if path.endswith(f"/{name}")), name)
    return Place(path, -turn[1], -turn[1])
