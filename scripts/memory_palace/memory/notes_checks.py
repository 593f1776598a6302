"""What a note that is written whole may be called, may hold, and may not lose."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from memory_palace.core import archiving, frontmatter, note, privacy, topics
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.links import TREE
from memory_palace.core.problems import printable
from memory_palace.core.promotion import WING
from memory_palace.core.rules import FOLDER
from memory_palace.core.text import is_cold, nfc, slug, stem
from memory_palace.core.topics import Entry
from memory_palace.files import read, roots, tree
from memory_palace.memory import state as states
from memory_palace.memory import topic_file
from memory_palace.memory.pen import Pen

RULES = f"{FOLDER}/"
CONSTITUTION = f"{WING}constitution.md"

_DIGEST = re.compile(r"[0-9a-f]{64}\Z", re.IGNORECASE)
_NOT_PORTABLE = re.compile(r'[<>:"|?*\\]')
_NOT_LINKED = re.compile(r"[\[\]#^|]")
_MOST_NAME_BYTES = 240
_MOST_PATH_BYTES = 1000


def check_digest(base: str | None) -> None:
    """Raises :class:`BadInput` for a base that can be no digest."""
    if base is not None and not _DIGEST.match(base):
        raise BadInput(
            f"base {printable(base[:80])!r} is no SHA-256 (64 hex digits): give the digest that "
            "reading the note gave, or none to make a new note"
        )


def check_live(path: str) -> None:
    """Raises :class:`BadInput` for a path that no live note can have."""
    shown = printable(path[:200])
    if not path.startswith(TREE):
        hint = "" if path.startswith(("/", ".", "~")) else f", as in {TREE}{shown or 'a.md'}"
        raise BadInput(f"{shown!r} is not below {TREE}: write the whole path{hint}")
    if is_cold(path):
        raise BadInput(f"{shown} is in the archive: `palace restore {shown}` puts it back first")
    if not path.lower().endswith(".md"):
        raise BadInput(f"{shown} is no note: only notes (.md) are written; logs grow by commands")
    if not tree.is_text(path) or not archiving.is_live(path):
        raise BadInput(
            f"{shown} is no path of a note: no `..`, dot-files, empty parts, backslashes or "
            "control characters"
        )
    if max(len(part.encode()) for part in path.split("/")) > _MOST_NAME_BYTES:
        raise BadInput(f"{shown[:80]}…: a name is over {_MOST_NAME_BYTES} bytes: shorten it")
    if len(path.encode()) > _MOST_PATH_BYTES:
        raise BadInput(f"{shown[:80]}…: over {_MOST_PATH_BYTES} bytes: shorten it")


def check_new(root: Path, path: str, excluded: tuple[str, ...]) -> None:
    """Raises :class:`BadInput` for a name that another system, a link or the index could not
    take, :class:`Refused` for one that only differs in case from what is there."""
    check_live(path)
    for part in path.split("/"):
        odd = _NOT_PORTABLE.search(part) or _NOT_LINKED.search(part)
        if odd:
            raise BadInput(f"{path}: a name with {odd.group()!r} cannot be linked to: leave it out")
        if part != part.strip() or part.endswith(".") or stem(part) != stem(part).strip(" ."):
            raise BadInput(f"{path}: a name begins or ends with a space or a dot: leave it out")
        if slug(stem(part)) == f"{stem(part).lower()}-note":
            raise BadInput(f"{path}: {stem(part)} is a device on Windows: take another name")
    spec = tree.exclusion(excluded)
    if spec and spec.match_file(path):
        raise BadInput(f"{path} is left out by index.exclude: it would never be found")
    _check_case(root, path)


def _check_case(root: Path, path: str) -> None:
    """On some disks `Notes/a.md` and `notes/A.md` are one file, on others two."""
    folder = root
    roots.inside(root, path)
    parts = path.split("/")
    for number, part in enumerate(parts):
        try:
            there = os.listdir(folder)
        except FileNotFoundError:
            return
        except NotADirectoryError:
            raise BadInput(
                f"{'/'.join(parts[:number])} is a file: no note can be below it"
            ) from None
        last = number == len(parts) - 1
        for name in there:
            if name != part and nfc(name).casefold() == nfc(part).casefold():
                spelled = "/".join([*parts[:number], name])
                raise Refused(
                    f"{spelled} is there already, spelled otherwise: "
                    + ("take another name" if last else "write the folder like that")
                )
        folder = folder / part


def check_place(path: str, text: str = "") -> None:
    """Raises :class:`Refused` for a note that only its own commands and people change."""
    if path == CONSTITUTION:
        raise Refused(f"{path} changes by a person's approval: `palace promote` has the queue")
    if path.startswith(RULES) or note.parse(path, text).type == "rule":
        raise Refused(f"{path} is a rule: a person changes it, or `palace rules add` makes one")


def check_may_move(source: str, target: str, text: str) -> None:
    """Raises :class:`Refused` for a note that keeps its place."""
    check_place(source, text)
    check_place(target)
    for path in (source, target):
        if path.startswith(topics.FOLDER):
            raise Refused(
                f"{path} is a topic file, which keeps its place: `palace archive ID` takes single "
                "memories out of it"
            )


def check_text(path: str, text: str) -> None:
    """Raises :class:`BadInput` for a text that no note can have."""
    if not text.strip("\ufeff \t\r\n"):
        raise BadInput(f"{path} would be empty: archive the note, if it is to go")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"{path}:{line}: there is a NUL in the text: take it out")
    if not tree.is_text(text):
        raise BadInput(f"{path}: the text has halves of characters: write it as UTF-8")
    if len(text.encode()) > read.MOST_BYTES:
        raise Refused(f"{path} would be over {read.MOST_BYTES >> 20} MB: split it first")
    block = frontmatter.split(text)
    if block.entries is None:
        raise BadInput(
            f"{path}:{block.fault_line}: broken frontmatter ({block.fault}): mend the YAML; "
            "nothing was written"
        )
    if any(entry.key == "type" and entry.value == "rule" for entry in block.entries):
        raise Refused(f"{path}: a note of `type: rule` is made by `palace rules add`")


def clean(path: str, text: str) -> tuple[str, list[str]]:
    """``text`` as it may be stored, and what was taken out of it."""
    found = privacy.redact(text)
    said = taken_out(found)
    if said and not found.text.replace(privacy.PRIVATE_MARK, "").strip():
        raise BadInput(f"{path}: all of the text is private: nothing was written")
    return found.text, said


def taken_out(found: privacy.Redacted) -> list[str]:
    """A line for each kind of text that is not stored."""
    kinds = [*(["a private span"] * found.private), *found.secrets]
    counts = {kind: kinds.count(kind) for kind in kinds}
    return [f"taken out: {kind}" + (f" ({n} times)" if n > 1 else "") for kind, n in counts.items()]


def redacted(path: str, text: str, before: str) -> tuple[str, list[str]]:
    """Like :func:`clean`, for the new text of a note whose text was ``before``.

    Raises :class:`Refused` if that has private spans or secrets of its own, which a person wrote:
    they would be gone.
    """
    kept, said = clean(path, text)
    if said:
        own = privacy.redact(before)
        if own.private or own.secrets:
            raise Refused(
                f"{path} holds private spans or secrets of before, which would be taken out: "
                "change it in parts (replace, insert), which leaves them as they are"
            )
    return kept, said


def check_kept(held: Pen, path: str, before: str, text: str) -> None:
    """Raises :class:`Refused` if the metadata would be lost, and if a topic file would lose or
    bend memories, or be too long."""
    was = frontmatter.split(before)
    if was.present and not frontmatter.split(text).present:
        raise Refused(
            f"{path} would lose its metadata: the text has to begin with the block of lines 1 to "
            f"{was.body_line - 1}; what goes on top goes below it"
        )
    if not path.startswith(topics.FOLDER):
        return
    old, new = topics.parse(path, before), topics.parse(path, text)
    known = {problem.message for problem in old.problems}
    fault = next((p for p in new.problems if p.message not in known), None)
    if fault is not None:
        raise Refused(f"{fault.path}:{fault.line}: {fault.message}; nothing was written")
    _check_entries(path, old.entries, new.entries)
    others = _elsewhere(held, path)
    for entry in new.entries:
        twin = others.get(entry.block)
        if twin and not any(entry.block == one.block for one in old.entries):
            raise Refused(
                f"{path}:{entry.line}: ^{entry.block} is in {twin.path}:{twin.line} already: "
                "leave the id out, and the line gets one of its own"
            )
    if len(text) > max(topics.MOST_CHARACTERS, len(before)):
        topic_file.check_room(states.load(held.root, held.now), path, text)


def _check_entries(path: str, old: Iterable[Entry], new: Iterable[Entry]) -> None:
    old, new = list(old), list(new)
    now: dict[str, Entry] = {}
    for entry in (entry for entry in new if entry.block):
        if now.setdefault(entry.block, entry) is not entry:
            raise Refused(
                f"{path}:{entry.line}: ^{entry.block} would be there twice: leave one out"
            )
    for entry in (entry for entry in old if entry.block):
        after = now.get(entry.block)
        if after is None:
            raise Refused(
                f"{path}:{entry.line}: the memory ^{entry.block} would be lost: `palace forget` or "
                "`palace archive` lets it go, with a way back"
            )
        if entry.enforced and (after.text, after.category) != (entry.text, entry.category):
            raise Refused(f"{path}:{entry.line}: ^{entry.block} is enforced: a person changes it")
        if after.category != entry.category:
            raise Refused(f"{path}:{entry.line}: ^{entry.block} would change its category")
        if (after.pinned, after.enforced) != (entry.pinned, entry.enforced):
            raise Refused(
                f"{path}:{entry.line}: the marks of ^{entry.block} would change: `palace pin` and "
                "`palace unpin` do that, and a person decides what is enforced"
            )
    ids = {entry.block for entry in old}
    if any(entry.enforced for entry in new if not entry.block or entry.block not in ids):
        raise Refused(f"{path}: what is enforced comes by `palace promote`: leave the mark out")
    if sum(not e.block for e in old) > sum(not e.block or e.block not in ids for e in new):
        raise Refused(f"{path}: a memory would be lost: `palace archive` lets it go")


def _elsewhere(held: Pen, path: str) -> dict[str, Entry]:
    """The entries with an id in the other topic files, live and archived."""
    found: dict[str, Entry] = {}
    for other in states.topic_files(held.root):
        got = read.read(held.root, other) if other != path else None
        if isinstance(got, read.Text):
            for entry in topics.parse(other, got.text).entries:
                if entry.block:
                    found.setdefault(entry.block, entry)
    return found


def left_out(root: Path, path: str, excluded: tuple[str, ...]) -> list[str]:
    """Why the index will not see a note that was just made; mostly nothing."""
    seen = tree.scan(root, excluded)
    if any(file.path == path for file in seen.notes):
        return []
    why = [problem.message for problem in seen.problems if problem.path == path]
    return [f"left out of the index: {'; '.join(why) or 'no reason is known'}"]


def remarks(path: str, before: str, text: str) -> list[str]:
    """What is worth a word in a note that was written all the same, a line each."""
    was, now = note.parse(path, before), note.parse(path, text)
    gone = [key for key in was.metadata if key not in now.metadata]
    said = [f"no longer in its metadata: {', '.join(gone)}"] if gone else []
    return said + [f"line {problem.line}: {problem.message}" for problem in now.problems]
