"""Questions with known answers, as values; and foreign JSON, checked with the place in it."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from memory_palace.core.text import did_you_mean
from memory_palace.core.weights import Weights

SHAPE = 'write {"notes": FOLDER, "questions": [{"q": TEXT, "relevant": [PATH]}]}, or a LoCoMo file'
"""What a file should have been."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a note that hold an answer, from 1, inclusive; ``heading`` if it is a section."""

    path: str
    start: int
    end: int
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and where its answer is.

    ``number`` is its place in the data set, from 1. ``notes`` are paths from the root and may be
    empty, which counts as found. ``places`` are the lines, None where only the notes are known.
    """

    number: int
    text: str
    notes: frozenset[str]
    places: frozenset[Place] | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that are asked of one palace, which lies at ``root``."""

    name: str
    root: Path
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Palaces and their questions. ``note`` and ``line`` are what a note and a line stand for.

    ``weights`` are None for the product's own. ``now`` is the moment at which the questions are
    asked, None for the clock. ``sha256`` is that of the file.
    """

    name: str
    sha256: str
    groups: tuple[Group, ...]
    note: str = "notes"
    line: str = "lines"
    weights: Weights | None = None
    now: datetime | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for group in self.groups for question in group.questions)

    def first(self, limit: int) -> "Dataset":
        """The same with its first ``limit`` questions; palaces without one are left out."""
        kept = {question.number for question in self.questions[:limit]}
        groups = [
            replace(group, questions=tuple(q for q in group.questions if q.number in kept))
            for group in self.groups
        ]
        return replace(self, groups=tuple(group for group in groups if group.questions))


class Wrong(ValueError):
    """What is wrong at a place such as ``questions[3].relevant``, and what to do."""

    def __init__(self, at: str, what: str) -> None:
        super().__init__(f"{at}: {what}" if at else what)


_KINDS: dict[type[Any], str] = {str: "text", list: "a list", dict: "an object"}


def checked(kind: type[_T], value: Any, at: str) -> _T:
    """``value``, which has to be of ``kind`` (text, list or object); ``at`` is where it stands."""
    if not isinstance(value, kind):
        shown = json.dumps(value, ensure_ascii=False)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
        raise Wrong(at, f"{shown} is not {_KINDS[kind]}: {SHAPE}")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise Wrong(at, "half of a surrogate pair, which is no text: mend it")
    return value


def field(kind: type[_T], entry: dict[str, Any], key: str, at: str) -> _T:
    """``entry[key]``, which has to be there and of ``kind``."""
    at = f"{at}.{key}" if at else key
    if key not in entry:
        raise Wrong(at, f"missing: {SHAPE}")
    return checked(kind, entry[key], at)


def only(keys: tuple[str, ...], entry: dict[str, Any], at: str) -> None:
    """Raises :class:`Wrong` for a key that is none of ``keys``, with the nearest."""
    for key in entry:
        if key not in keys:
            raise Wrong(f"{at}.{key}" if at else key, f"unknown key{did_you_mean(key, keys)}")


def text_of(entry: dict[str, Any], key: str, at: str) -> str:
    """``entry[key]``: a question, so it has to say something."""
    text = field(str, entry, key, at)
    if not text.strip():
        raise Wrong(f"{at}.{key}", "empty: write the question")
    return text
