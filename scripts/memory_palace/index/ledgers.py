"""A session's ledger made into what the catalog stores of it: a chunk for each record.

A chunk's lines are the JSONL line that holds the record, its id is the record's own: what is found
can be recalled by it.
"""

from memory_palace.core import chunk, datewords, keywords, ledger_chunks, links
from memory_palace.core.ledger import Header
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.note import Note
from memory_palace.core.problems import Problem
from memory_palace.files import observed
from memory_palace.files.manifest import Said
from memory_palace.files.read import Text
from memory_palace.index.catalog import ChunkRow
from memory_palace.index.reading import Parsed

TYPE = "observation"


def parse(path: str, text: Text) -> Parsed:
    """Parse ``text``, read from the ledger at ``path``."""
    found = observed.parse(path, text.text)
    header = found.ledger.header
    records = ledger_chunks.records(found.ledger)
    wing = whole(header.wing) if header else ""
    agent, session = _names(path)
    times = [one.at for one in records]
    times += [one.at for one in found.ledger.headers if one.at]
    day = ledger_chunks.session_day(records, header)
    said = f"session of {day}" if day else "session"
    note = Note(
        path,
        "",
        1,
        True,
        type=TYPE,
        tags=(wing,) if wing else (),
        updated=max(times, default=None),
    )
    return Parsed(
        note=note,
        title=f"{agent}, {said}" if day else f"{agent}, session {session}",
        said=Said(True, TYPE),
        anchors=links.Anchors((), ()),
        chunks=tuple(_row(one, n, header, said) for n, one in enumerate(records)),
        links=(),
        problems=_problems(path, found.refused),
    )


def _names(path: str) -> tuple[str, str]:
    parts = path.split("/")
    return parts[-3], parts[-1].removesuffix(".jsonl")


def _row(record: Record, ordinal: int, header: Header | None, said: str) -> ChunkRow:
    wing = whole(header.wing) if header else ""
    text = whole(ledger_chunks.line(record))
    embedded = embedded_text(record, wing)
    at = record.at
    tags = [record.type, wing, whole(record.room), datewords.in_words(at.year, at.month, at.day)]
    columns = ("", "", " ".join(filter(None, tags)), text)
    return ChunkRow(
        chunk_id=record.id,
        ordinal=ordinal,
        heading=tuple(filter(None, (wing, said))),
        start=record.line,
        end=record.line,
        text=text,
        embedded=embedded,
        key=chunk.vector_key(embedded),
        words=tuple(keywords.indexable(column) for column in columns),  # type: ignore[arg-type]
    )


def embedded_text(record: Record, wing: str) -> str:
    """What the model gets of a record: its project and folder, then its line.

    On 30 observations of three projects with a question each (MiniLM) the mean reciprocal rank was
    0.90 for the line alone, 0.95 with the project, 0.96 with both.
    """
    place = " ".join(filter(None, (wing, whole(record.room))))
    return "\n".join(filter(None, (place, whole(ledger_chunks.line(record)))))


def whole(text: str) -> str:
    """``text`` without halves of characters, which no catalog holds."""
    return text.encode("utf-8", "replace").decode()


def _problems(path: str, refused: tuple[tuple[int, str], ...]) -> tuple[Problem, ...]:
    if not refused:
        return ()
    line, why = refused[0]
    more = len(refused) - 1
    others = f" with {more} more line{'s' * (more != 1)}" if more else ""
    what = f"{whole(why)}: left out{others}: `palace ledger check` tells"
    return (Problem(path, line, what, "warning"),)
