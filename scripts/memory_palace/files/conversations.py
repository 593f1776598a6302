"""Conversations that clients keep on this machine: found in folders, read record by record."""

import itertools
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.core import transcript_opencode, transcript_text, transcripts
from memory_palace.core.errors import BadInput
from memory_palace.core.text import digest
from memory_palace.core.transcripts import Reader, Record
from memory_palace.files import foreign, opencode, roots
from memory_palace.files import transcripts as files
from memory_palace.files.walk import walk

AUTO = "auto"
CLIENTS = (*transcripts.CLIENTS, transcript_opencode.CLIENT, transcript_text.CLIENT)

LONGEST_LINE = files.LONGEST_LINE
FIRST_RECORDS = 200
_EDGE = 4_096
_HEAD = 40
_PRUNED = frozenset({".git", "node_modules", "__pycache__"})
_TEXTS = (".txt", ".md", ".markdown", ".text", ".log")
Advance = Callable[[int], None]

EXPECTED = (
    f"{transcripts.EXPECTED}, an OpenCode database (~/.local/share/opencode/opencode.db) or "
    "export, or a text in which `User:` and `Assistant:` speak"
)


@dataclass(slots=True)
class Conversation:
    """One session's transcript. ``mark`` changes when there is more to read; ``size`` counts bytes
    (0 where nobody knows); ``day`` is when it was written, where no record tells.

    After :meth:`records` has ended, ``passed`` says what was no record.
    """

    path: Path
    client: str
    size: int
    mark: str
    day: datetime
    of: Callable[["Conversation", Advance], Iterable[Record]]
    session: str = ""
    passed: Counter[str] = field(default_factory=Counter)

    def records(self, advance: Advance = lambda _: None) -> Iterator[Record]:
        """Each record from the first on; ``advance`` is told the bytes that were read.

        Raises :class:`BadInput` if the file cannot be read any more.
        """
        self.passed.clear()
        return iter(self.of(self, advance))


@dataclass(slots=True)
class Found:
    """What paths stand for: ``conversations`` in their order, how many other files were passed
    over by reason, and ``faults``, lines on what could not be read."""

    conversations: list[Conversation] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def reader(client: str) -> Reader:
    """A reader of one conversation of ``client``, which is one of :data:`CLIENTS`."""
    if client == transcript_opencode.CLIENT:
        return transcript_opencode.OpenCode()
    if client == transcript_text.CLIENT:
        return transcript_text.Text()
    return transcripts.reader(client)


def find(paths: Iterable[Path], client: str = AUTO) -> Found:
    """The conversations that ``paths`` are or have below them, each file once; ``client`` is one
    of :data:`CLIENTS` or ``auto``. Links are not followed.

    Raises :class:`BadInput` for a path that is no folder and no conversation, if it is the only
    one; of several it is a fault.
    """
    given = list(paths)
    found = Found()
    seen: set[tuple[int, int]] = set()
    for path in given:
        try:
            if path.is_dir():
                _folder(path, client, found, seen)
            else:
                info = path.stat()
                if not stat.S_ISREG(info.st_mode):
                    raise BadInput(f"{path} is no regular file: name a transcript or a folder")
                if (info.st_dev, info.st_ino) not in seen or os.name == "nt":
                    seen.add((info.st_dev, info.st_ino))
                    found.conversations += _file(path, client)
        except OSError as error:
            fault = f"{path} cannot be read ({error.strerror}): name a transcript or a folder"
            if len(given) == 1:
                raise BadInput(fault) from None
            found.faults.append(fault)
        except BadInput as error:
            if len(given) == 1:
                raise
            found.faults.append(str(error))
    return found


def _folder(top: Path, client: str, found: Found, seen: set[tuple[int, int]]) -> None:
    def unread(error: OSError) -> None:
        found.faults.append(f"{error.filename} cannot be read ({error.strerror}): its files wait")

    for folder, folders, names in walk(top, unread):
        place = Path(folder)
        found.others["in a folder that is passed over"] += len(_PRUNED.intersection(folders))
        folders[:] = sorted(one for one in folders if one not in _PRUNED)
        if "palace" in folders and roots.MARKER in names:
            folders.remove("palace")
            found.others["notes of a palace"] += 1
        found.others["symbolic link"] += sum(os.path.islink(place / one) for one in folders)
        if opencode.is_storage(place):
            if client in (AUTO, transcript_opencode.CLIENT):
                found.conversations += _of_opencode(place, opencode.in_storage(place, found.faults))
            folders.clear()
            continue
        for name in sorted(names):
            path = place / name
            try:
                info = path.lstat()
                if stat.S_ISLNK(info.st_mode):
                    found.others["symbolic link"] += 1
                elif not stat.S_ISREG(info.st_mode):
                    found.others["no regular file"] += 1
                elif (info.st_dev, info.st_ino) not in seen or os.name == "nt":
                    seen.add((info.st_dev, info.st_ino))
                    found.conversations += _file(path, client, found.others)
            except OSError as error:  # gone since the folder was listed, or closed
                fault = f"{path} cannot be read ({error.strerror}): check it and run this again"
                found.faults.append(fault)
            except BadInput as error:
                found.faults.append(str(error))


def _file(path: Path, client: str, others: Counter[str] | None = None) -> list[Conversation]:
    """The conversations in a file. One that is none raises :class:`BadInput`, or is counted in
    ``others``."""
    ending = path.suffix.lower()
    try:
        if ending == ".db":
            # Of a folder's files only OpenCode's own name promises a database that can be read.
            if others is not None and path.name != "opencode.db" and not foreign.address(path):
                raise _Other("no SQLite database", path)
            return _of_opencode(path, opencode.in_database(path)) if _wants(client, path) else []
        if ending == ".json":
            return _of_opencode(path, opencode.in_export(path)) if _wants(client, path) else []
        if ending == ".jsonl" or (client in transcripts.CLIENTS and others is None):
            return [_lines(path, client)]
        if (client == transcript_text.CLIENT and others is None) or ending in _TEXTS:
            return [_text(path, client)]
        raise _Other(f"other kind of file ({ending[:12] or 'no ending'})", path)
    except _Other as other:
        if others is not None:
            others[other.why] += 1
            return []
        raise


class _Other(BadInput):
    """A file that is no conversation, and ``why``."""

    def __init__(self, why: str, path: Path) -> None:
        super().__init__(f"{path}: {why}: name {EXPECTED}")
        self.why = why


def _wants(client: str, path: Path) -> bool:
    if client not in (AUTO, transcript_opencode.CLIENT):
        raise _Other(f"not of {client}", path)
    return True


def _of_opencode(path: Path, sessions: "list[opencode.Session]") -> list[Conversation]:
    if not sessions and not path.is_dir():
        raise _Other("no session of OpenCode", path)
    return [
        Conversation(
            one.path,
            transcript_opencode.CLIENT,
            0,
            one.mark,
            transcript_opencode.moment(one.updated) or datetime(1970, 1, 1, tzinfo=UTC),
            lambda _, __, one=one: one.records(),  # type: ignore[misc]
            one.id,
        )
        for one in sessions
    ]


def _lines(path: Path, client: str) -> Conversation:
    """A transcript of one JSON object a line."""
    with files.opened(path) as source:
        told, records = "", 0
        for record in itertools.islice(source.records(), FIRST_RECORDS):
            records += 1
            told = told or transcripts.client_of(record)
        size = source.size
    if not told or client not in (AUTO, told):
        if told:
            raise _Other(f"not of {client}, but of {told}", path)
        raise _Other("no known transcript" if records else "without a whole record", path)

    def read(one: Conversation, advance: Advance) -> Iterator[Record]:
        with files.opened(one.path) as source:
            yield from source.records(0, advance)
            one.passed.update(source.passed)

    return _made(path, told, size, read)


def _text(path: Path, client: str) -> Conversation:
    """A conversation in plain text."""
    first = list(itertools.islice(_text_lines(path), transcript_text.HEAD_LINES))
    shape = transcript_text.form(first)
    strict = client == AUTO and shape == "quoted"
    if first[:1] == ["---"] and any(line.startswith("source_id:") for line in first[:_HEAD]):
        raise _Other("a note of a session", path)
    opening = next((line for line in first if line.strip()), "")
    if not shape or (strict and not (opening.startswith(">") and _groups(first) > 1)):
        raise _Other("a text in which nobody speaks", path)
    if client not in (AUTO, transcript_text.CLIENT):
        raise _Other(f"not of {client}", path)

    def read(one: Conversation, advance: Advance) -> Iterator[Record]:
        lines = _text_lines(one.path, advance, one.passed, one.size)
        return transcript_text.records(lines, shape)

    made = _made(path, transcript_text.CLIENT, path.stat().st_size, read)
    named = transcript_text.day_in(path.name)
    made.day = datetime.fromisoformat(f"{named}T00:00:00+00:00") if named else made.day
    return made


def _groups(lines: Iterable[str]) -> int:
    """How many times a quote begins."""
    marks = [line.startswith(">") for line in lines if line.strip()]
    return sum(now and not before for before, now in itertools.pairwise([False, *marks]))


def _text_lines(
    path: Path,
    advance: Advance = lambda _: None,
    passed: Counter[str] | None = None,
    size: int = sys.maxsize,
) -> Iterator[str]:
    """The lines of the first ``size`` bytes of a text, without their ends. Lines over 10 MB are
    counted and left out."""
    with open(path, "rb", opener=roots.unhindered) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadInput(f"{path} is no regular file: name a transcript's file")
        first = True
        while line := file.readline(min(LONGEST_LINE, size - file.tell())):
            advance(len(line))
            if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
                while rest := file.readline(min(LONGEST_LINE, size - file.tell())):
                    advance(len(rest))
                    if rest.endswith(b"\n"):
                        break
                if passed is not None:
                    passed[f"over {LONGEST_LINE >> 20} MB"] += 1
                continue
            if first and (b"\0" in line or line.startswith((b"\xff\xfe", b"\xfe\xff"))):
                raise _Other("no UTF-8 text", path)
            if first:
                line, first = line.removeprefix(b"\xef\xbb\xbf"), False
            yield line.decode("utf-8", "replace").rstrip("\r\n").replace("\r", " ")


def _made(
    path: Path,
    client: str,
    size: int,
    of: Callable[[Conversation, Advance], Iterable[Record]],
) -> Conversation:
    info = path.stat()
    day = datetime.fromtimestamp(max(info.st_mtime, 0), UTC)
    return Conversation(path, client, size, _mark(path, size), day, of)


def has_grown(one: Conversation, mark: str) -> bool:
    """True for a file that begins with what had ``mark``, and goes on."""
    size = mark.partition(" ")[0]
    if not size.isdecimal() or not 0 < int(size) < one.size:
        return False
    return _mark(one.path, int(size)) == mark


def before(one: Conversation, mark: str) -> Conversation | None:
    """A text as it was when it had ``mark``; None if it did not only go on since."""
    if one.client != transcript_text.CLIENT or not has_grown(one, mark):
        return None
    return replace(one, size=int(mark.partition(" ")[0]), mark=mark, passed=Counter())


def earlier_sessions(one: Conversation) -> Iterator[str]:
    """What the session of a text may have been called while its beginning was written."""
    if one.client == transcript_text.CLIENT:
        text = transcript_text.Text()
        for record in one.records():
            for _ in text.read(record):
                pass
            if text.about.session:
                yield from text.earlier_sessions()
                return


def _mark(path: Path, size: int) -> str:
    """How far a file goes, and a digest of its beginning and of what stands before its end."""
    with open(path, "rb", opener=roots.unhindered) as file:
        edges: list[Any] = [file.read(min(_EDGE, size))]
        file.seek(max(size - _EDGE, 0))
        edges.append(file.read(min(_EDGE, size)))
    return f"{size} {digest(b''.join(edges))[:12]}"
