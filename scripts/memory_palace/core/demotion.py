"""A note that goes one tier down: where to, what its text says of it, and how that is undone."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from memory_palace.core import elimination, frontmatter
from memory_palace.core.promotion import FOLDERS, GENERAL, ROOMS, WING

KEYS = ("demoted", "demoted_from", "demoted_reason", "demoted_type")
"""What a demoted note says; the last is the ``type`` that it had, where that changed."""


def target(path: str, projects: Iterable[str]) -> str:
    """Where a demoted note goes: a candidate among the principles, any other to the project room
    that most of its evidence (``projects``, one an evidence) comes from, by name where two are
    even; else the general one."""
    name = path.rsplit("/", 1)[-1]
    if elimination.natural(path) == "constitution_candidate":
        return f"{WING}{FOLDERS['principle']}/{name}"
    counts = Counter(project for project in projects if _is_name(project))
    room = min(counts, key=lambda one: (-counts[one], one), default=GENERAL)
    return f"{ROOMS}{room}/{name}"


def _is_name(project: str) -> bool:
    """True if a room can be called that: notes name projects, and may name anything."""
    plain = project.isprintable() and not set(project) & set("/\\")
    return plain and not project.startswith(".") and project == project.strip() != ""


def demoted(text: str, came_from: str, day: str, reason: str, aliases: Iterable[str]) -> str:
    """``text`` of a note with the record of its demotion, one tier's type lower, and with
    ``aliases`` so that links with its old folder still lead to it.

    Raises :class:`BadInput` if the metadata is broken.
    """
    record = {"demoted": day, "demoted_from": came_from, "demoted_reason": reason}
    block = frontmatter.split(text)
    if block.present and not block.source:
        # An empty block of the note's own: the keys in this order say that it is to stay.
        record = {key: record[key] for key in (KEYS[1], KEYS[0], KEYS[2])}
    values: dict[str, Any] = dict(record)
    said = _metadata(text)
    kind = elimination.natural(came_from)
    values["demoted_type"] = None
    if kind and said.get("type") == kind:
        values["type"] = "principle" if kind == "constitution_candidate" else "palace"
        values["demoted_type"] = kind
    old = _as_list(said.get("aliases"))
    new = [alias for alias in aliases if alias not in old]
    if new:
        values["aliases"] = [*old, *new]
    return frontmatter.change(text, values)


def undone(text: str) -> str:
    """What :func:`demoted` was given, as far as the note was not changed since."""
    said = _metadata(text)
    values: dict[str, Any] = dict.fromkeys(KEYS)
    kind = said.get("demoted_type")
    if isinstance(kind, str):
        values["type"] = kind
    came_from = said.get("demoted_from")
    old = _as_list(said.get("aliases"))
    spelled = spellings(came_from) if isinstance(came_from, str) else set()
    kept = [alias for alias in old if alias not in spelled]
    if len(kept) < len(old):
        values["aliases"] = kept or None
    first = next(iter(key for key in said if key in KEYS), "")
    bare = frontmatter.change(text, values)
    block = frontmatter.split(bare)
    if first != KEYS[0] or not block.present or block.source:
        return bare
    return bare[: len(bare) - len(bare.removeprefix("\ufeff"))] + bare[block.body_at :]


def spellings(path: str) -> set[str]:
    """What a link with a folder in it can call a note: ``principles/a``, ``palace/…/a.md``."""
    parts = path.split("/")
    tails = {"/".join(parts[n:]) for n in range(len(parts) - 1)}
    return tails | {tail[:-3] for tail in tails if tail.lower().endswith(".md")}


def _metadata(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in frontmatter.split(text).entries or ():
        found.setdefault(entry.key, entry.value)  # of a key that is there twice the first counts
    return found


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return list(value) if isinstance(value, list) else []
