"""A note of what another tool remembers: its text as it is, its metadata where ours can hold it,
and where it is from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_palace.core import frontmatter, note, privacy
from memory_palace.core.errors import BadInput
from memory_palace.core.text import sha256

KINDS = ("claude-memory", "codex-memories", "openclaw", "basic-memory", "mempalace")

OWN_KEYS = (
    *("source", "original", "original_place", "original_id"),
    *("imported", "source_digest", "import_digest"),
)
"""What an imported note says of where it is from; keys of the source of that name are kept as
``original_…``."""

_RESERVED_TYPES = frozenset({"rule", "constitution_candidate", "card", "conflict", "session"})
_DIGEST = 12


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that another tool remembers, to become a note.

    ``original`` names it in its source (a path with ``/``, or an id), ``place`` is the wanted path
    below the kind's folder, without ``.md``. ``text`` is Markdown and may have metadata.
    ``origin`` is the folder that ``original`` is below, as a note may say it. The other fields are
    what the source says besides; dates as ISO text, empty where it says none.
    """

    original: str
    place: str
    text: str
    origin: str = ""
    id: str = ""
    title: str = ""
    created: str = ""
    updated: str = ""
    modified: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """12 hex digits that name what the source says."""
        said = (self.text, self.id, self.title, self.created, self.updated)
        return sha256("\x1f".join((*said, *self.aliases, *self.tags)))[:_DIGEST]


def made(piece: Piece, kind: str, path: str, day: str, by: str) -> tuple[str, list[str]]:
    """The note ``path`` that ``piece`` becomes, imported on ``day`` by ``by``, and lines on what
    could not be kept as it was."""
    text, said = _readable(piece.text)
    text, more = _renamed(path, text)
    said += more
    found = note.parse(path, text)
    title = found.title or piece.title
    names = [name for name in (*found.aliases, *piece.aliases) if name.strip()]
    values: dict[str, Any] = {
        "title": title or None,
        "created": found.metadata.get("created") or piece.created or None,
        "updated": found.metadata.get("updated") or piece.updated or None,
        "aliases": list(dict.fromkeys(names)) or None,
        "tags": list(dict.fromkeys((*found.tags, *piece.tags))) or None,
        "agent": found.metadata.get("agent") or by,
        "source": kind,
        "original": piece.original,
        "original_place": piece.origin or None,
        "original_id": piece.id or None,
        "imported": day,
        "source_digest": piece.digest,
    }
    if not values["created"] and not values["updated"] and piece.modified:
        values["updated"] = piece.modified
    same = {key: found.metadata.get(key) for key in values}
    for key in ("aliases", "tags"):  # as the source wrote them, where nothing is added
        if values[key] == list(getattr(found, key)):
            values[key] = same[key]
    text = _with(text, {k: v for k, v in values.items() if v is not None and v != same[k]})
    kept = privacy.redact(text)
    marks = (["a private span"] * kept.private) + list(kept.secrets)
    said += [f"taken out: {mark}" for mark in dict.fromkeys(marks)]
    return signed(kept.text), said


def signed(text: str) -> str:
    """``text`` with the digest by which a later edit is told."""
    return frontmatter.change(text, {"import_digest": _sign(text)})


def is_edited(text: str, metadata: Mapping[str, Any]) -> bool:
    """True for an imported note that is no longer as it was imported."""
    try:
        return str(metadata.get("import_digest")) != _sign(text)
    except BadInput:
        return True


def _sign(text: str) -> str:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    # A note's place may be told later, or where its source was moved: that is no edit.
    unsigned = {"import_digest": None, "original_place": None}
    return sha256(frontmatter.change(plain, unsigned))[:_DIGEST]


def _readable(text: str) -> tuple[str, list[str]]:
    """``text`` with metadata that can be read; what cannot becomes part of the body."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    block = frontmatter.split(text)
    if block.entries is not None:
        return text, []
    body = text[block.body_at :].lstrip("\n")
    said = f"its metadata is broken ({block.fault}): kept as text"
    return f"```yaml\n{block.source.rstrip()}\n```\n\n{body}", [said]


def _renamed(path: str, text: str) -> tuple[str, list[str]]:
    """``text`` whose metadata this palace can hold: other values are kept under other keys."""
    found = note.parse(path, text)
    if not found.has_metadata:
        return text, []
    wrong = {problem.line for problem in found.problems if problem.grade == "error"}
    odd = [key for key in found.metadata if key in OWN_KEYS or found.lines[key] in wrong]
    if str(found.metadata.get("type")) in _RESERVED_TYPES:
        odd.append("type")
    if found.metadata.get("pinned") is not None:
        odd.append("pinned")
    values: dict[str, Any] = {}
    for key in dict.fromkeys(odd):
        values[key] = None
        name = key if key.startswith("original_") else f"original_{key}"
        values[name] = _plain(found.metadata[key])
    try:
        changed = frontmatter.change(text, values) if values else text
    except BadInput:
        changed = ""
    if not changed or any(one.grade == "error" for one in note.parse(path, changed).problems):
        return _as_text(text), ["its metadata cannot be taken over: kept as text"]
    kept = [key for key in values if not key.startswith("original_")]
    return changed, [f"`{key}` is kept as `original_{key}`" for key in kept]


def _with(text: str, values: Mapping[str, Any]) -> str:
    try:
        return frontmatter.change(text, values)
    except BadInput:
        return frontmatter.change(_as_text(text), values)


def _as_text(text: str) -> str:
    """The metadata as a part of the body."""
    block = frontmatter.split(text)
    return f"```yaml\n{block.source.rstrip()}\n```\n\n{text[block.body_at :].lstrip(chr(10))}"


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else str(value)
