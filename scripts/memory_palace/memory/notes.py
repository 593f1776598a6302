"""Whole notes, written by agents that have no files of their own: through MCP or the memory tool.

Everything goes through the pen: lock, compare, write, event, commit. Nothing is deleted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import datetime
from pathlib import Path

from memory_palace.core.errors import Changed, Missing, Refused
from memory_palace.core.text import sha256
from memory_palace.memory import archive as archives
from memory_palace.memory import notes_checks as checks
from memory_palace.memory import notes_links, notes_text, pen
from memory_palace.memory import state as states
from memory_palace.memory.pen import Pen

_MOST_LISTED = 8
_Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    ``what`` is ``created``, ``edited``, ``unchanged``, ``renamed`` or ``archived``. ``path`` is
    where the note is now, ``source`` where it was before a rename or an archiving. ``digest`` is
    the hex SHA-256 of its bytes now, the ``base`` of the next write; ``base`` that of before,
    empty for a new note. ``said`` are lines worth telling: what was taken out, added or linked.
    """

    what: str
    path: str
    digest: str
    base: str = ""
    source: str = ""
    said: tuple[str, ...] = ()


def write(
    root: Path,
    now: datetime,
    path: str,
    text: str,
    base: str | None = None,
    reason: str = "",
    say: _Say = lambda _: None,
) -> Written:
    """Create the note ``path`` (no ``base``: nothing may be there), or replace its text if its
    bytes still have the SHA-256 ``base``.

    A new note gets `title`, `created` and `agent` where it names none. Line feeds and byte order
    mark of a file that is there are kept. Raises :class:`BadInput` for a path or a text that no
    note can have, :class:`Refused` for a note that is there already (its digest is named) and for
    what only its own commands may change, :class:`Changed` if the note moved on.
    """
    checks.check_digest(base)
    with pen.begin(root, now, "palace write", reason, say) as held:
        if base is None:
            return _create(held, path, text)
        before = _existing(held, path)
        if before is None:
            raise Changed(f"{path} is gone: nothing was written; write it without a base")
        _check_base(path, before, base)
        whole = notes_text.like(before, text)
        kept, said = checks.redacted(path, whole, before)
        return _put(held, path, before, kept, said)


def replace(
    root: Path,
    now: datetime,
    path: str,
    old: str,
    new: str,
    reason: str = "",
    say: _Say = lambda _: None,
    base: str | None = None,
) -> Written:
    """Put ``new`` where ``old`` stands in the note ``path``, which has to be exactly once; with
    ``base`` only if the note is still that.

    Raises :class:`Refused` if it stands nowhere, or more than once (the lines are named); else as
    :func:`write` does.
    """
    checks.check_digest(base)

    def with_new(before: str, kept: str) -> str:
        return notes_text.replaced(path, before, old, kept)

    with pen.begin(root, now, "palace write", reason, say) as held:
        return _change(held, path, base, new, with_new)


def insert(
    root: Path,
    now: datetime,
    path: str,
    line: int,
    text: str,
    reason: str = "",
    say: _Say = lambda _: None,
    base: str | None = None,
) -> Written:
    """Put ``text`` as lines of their own after line ``line`` of the note ``path`` (0: on top);
    with ``base`` only if the note is still that.

    Raises :class:`BadInput` if it has no such line; else as :func:`write` does.
    """
    checks.check_digest(base)

    def with_lines(before: str, kept: str) -> str:
        return notes_text.inserted(path, before, line, kept)

    with pen.begin(root, now, "palace write", reason, say) as held:
        return _change(held, path, base, text, with_lines)


def _change(
    held: Pen, path: str, base: str | None, text: str, place: Callable[[str, str], str]
) -> Written:
    """Write the note that ``place`` makes of the one that is there and the cleaned ``text``."""
    before = _there(held, path)
    _check_base(path, before, base)
    kept, said = checks.clean(path, text)
    return _put(held, path, before, place(before, kept), said)


def rename(
    root: Path,
    now: datetime,
    source: str,
    target: str,
    reason: str = "",
    say: _Say = lambda _: None,
) -> Written:
    """Move a note to another path in the palace, by git where it is tracked there.

    Links lead to it as before: what they call it and would not find any more becomes an alias of
    the note; no other note is touched. Raises :class:`Refused` if ``target`` is there.
    """
    with pen.begin(root, now, "palace write", reason, say) as held:
        before = _there(held, source)
        checks.check_new(root, target, held.config.exclude)
        checks.check_may_move(source, target, before)
        if held.read(target) is not None:
            raise Refused(f"{target} is there already: {source} stays where it is")
        calling = notes_links.calling(root, held.config, source, target)
        text = notes_text.with_aliases(source, before, calling.lost)
        held.move(source, target)
        held.put(target, text)
        held.log("moved", source, path=source, to=target)
        said = [f"linked from {_listed(calling.sources)}: these links still lead here"]
        said = said if calling.sources else []
        if calling.lost:
            said.append(f"added to its aliases: {', '.join(calling.lost)}")
        return Written("renamed", target, sha256(text), sha256(before), source, tuple(said))


def archive(
    root: Path, now: datetime, path: str, reason: str = "", say: _Say = lambda _: None
) -> Written:
    """Move a note to the archive; ``palace restore`` puts it back.

    Raises :class:`Refused` for one that is pinned, archived already or has changes that are not
    committed, and for topic files: their memories are archived one by one.
    """
    with pen.begin(root, now, "palace write", reason, say) as held:
        before = _there(held, path)
        checks.check_may_move(path, path, before)
        todo = archives.plan(root, states.load(root, now), now, asked=[path], reason=reason)
        done = archives.run(held, todo, yes=True)
        if not done.items:
            raise Refused("; ".join(str(problem) for problem in done.problems))
        target = done.items[0].target
        after = held.read(target) or ""
        back = f"`palace restore {path}` puts it back"
        return Written("archived", target, sha256(after), sha256(before), path, (back,))


def _create(held: Pen, path: str, text: str) -> Written:
    checks.check_live(path)
    there = held.read(path)
    if there is not None:
        raise Refused(
            f"{path} is there already, with the digest {sha256(there)}: read it, and write with "
            "that as the base"
        )
    checks.check_new(held.root, path, held.config.exclude)
    checks.check_place(path)
    kept, said = checks.clean(path, text)
    checks.check_text(path, kept)
    whole, added = notes_text.introduced(path, kept, held.now, held.by)
    done = _put(held, path, None, whole, [*said, *added])
    unseen = checks.left_out(held.root, path, held.config.exclude)
    return replaced(done, said=(*done.said, *unseen))


def _existing(held: Pen, path: str) -> str | None:
    """The text of a live note, None if there is none."""
    checks.check_live(path)
    return held.read(path)


def _there(held: Pen, path: str) -> str:
    """The text of a note that has to be there. Raises :class:`Refused` naming the nearest."""
    found = _existing(held, path)
    if found is None:
        raise Refused(f"no note {path}{notes_links.near(held.root, held.config, path)}")
    return found


def _check_base(path: str, before: str, base: str | None) -> None:
    """Raises :class:`Changed` if the note is no longer what the writer read."""
    if base is not None and sha256(before) != base.lower():
        raise Changed(
            f"{path} changed underneath: nothing was written; it has the digest {sha256(before)} "
            "now: read it again, and write with that as the base"
        )


def _put(held: Pen, path: str, before: str | None, text: str, said: list[str]) -> Written:
    """Write a note whose text ``before`` is the pen's, None for a new one."""
    base = "" if before is None else sha256(before)
    if text == before:
        return Written("unchanged", path, base, base)
    checks.check_place(path, before or "")
    checks.check_text(path, text)
    checks.check_kept(held, path, before or "", text)
    if before is not None:
        text, more = notes_text.updated(path, before, text, held.now)
        said = [*said, *more]
    held.put(path, text)
    if held.read(path) != text:
        raise Missing(f"{path} did not read back as it was written: check the disk")
    digest = sha256(text)
    held.log("noted", path, path=path, digest=digest, base=base or None)
    said = [*said, *checks.remarks(path, before or "", text)]
    what = "created" if before is None else "edited"
    return Written(what, path, digest, base, said=tuple(said))


def _listed(paths: tuple[str, ...]) -> str:
    more = len(paths) - _MOST_LISTED
    shown = ", ".join(paths[:_MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown
