"""Records of ledgers as text and as JSON."""

import json
from typing import Any

from memory_palace.core import dates, ledger_chunks
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.problems import printable
from memory_palace.session.mem import Hit
from memory_palace.session.mem_around import Whole
from memory_palace.session.mem_ledgers import Found


def line(one: Found) -> str:
    """``id  time  type  title  (read 12, work 340)`` of a record."""
    record = one.record
    facts = ["dropped"] if record.dropped else []
    facts += [f"read {record.read:,}"]
    facts += [f"work {record.work:,}"] if record.work else []
    said = printable(ledger_chunks.title(record))
    when = dates.minute(record.at)
    return f"{record.id}  {when}  {record.type}  {said}  ({', '.join(facts)})"


def as_text(hit: Hit) -> str:
    """A hit on two lines: what it is, and where it stands."""
    also = f"  and {len(hit.also)} more" if hit.also else ""
    source, record = hit.found.source, hit.found.record
    wing = f"{printable(source.wing)}  " if source.wing else ""
    return f"{line(hit.found)}\n  {wing}{printable(source.path)}:{record.line}{also}"


def as_json(hit: Hit) -> str:
    """A hit as one line of JSON."""
    return json.dumps(
        as_dict(hit.found)
        | {
            "score": round(hit.score, 6),
            "relevance": round(hit.relevance, 6),
            "also": [one.path for one in hit.also],
        },
        ensure_ascii=False,
    )


def as_dict(one: Found) -> dict[str, Any]:
    """A record as an index of many shows it."""
    record, source = one.record, one.source
    return {
        "id": record.id,
        "time": dates.stamp(record.at),
        "type": record.type,
        "title": ledger_chunks.title(record),
        "read": record.read,
        "work": record.work,
        "dropped": record.dropped,
        "wing": source.wing,
        "path": source.path,
        "line": record.line,
    }


def whole(one: Whole) -> str:
    """A record or an entry in full, for reading."""
    lines = []
    if one.record is not None:
        record = one.record.record
        lines += [printable(part) for part in ledger_chunks.full(record).split("\n")]
        cited = ", ".join(f"{cite.id} ({printable(cite.role)})" for cite in one.cited)
        lines += [f"sources: {cited}"] if cited else []
        lines += [f"work: {record.work:,} tokens"] if record.work else []
        number, by = record.line, record.by
    else:
        entry = one.entry
        assert entry is not None
        role = printable(f"{entry.role} {entry.tool}".strip())
        lines += [f"[{entry.id}] {dates.stamp(entry.at)} session entry: {role}"]
        lines += [printable(part.expandtabs(4)) for part in entry.text.split("\n")]
        lines += [f"files: {printable(', '.join(entry.files))}"] if entry.files else []
        number, by = entry.line, entry.by
    source = one.source
    wing = f", project {printable(source.wing)}" if source.wing else ""
    lines += [f"session: {printable(source.session)}{wing}"]
    lines += [f"written by: {printable(by)}"] if by else []
    lines += [f"source: {printable(source.path)}:{number}"]
    lines += [f"also in: {printable(path)}" for path in one.also]
    return "\n".join(lines)


def whole_as_dict(one: Whole) -> dict[str, Any]:
    """The same with the keys that ``--format jsonl`` promises."""
    source = one.source
    shared = {
        "session": source.session,
        "agent": source.agent,
        "wing": source.wing,
        "path": source.path,
        "also": list(one.also),
    }
    if one.record is None:
        entry = one.entry
        assert entry is not None
        return {
            "id": entry.id,
            "kind": "entry",
            "time": dates.stamp(entry.at),
            "role": entry.role,
            "tool": entry.tool,
            "content": entry.text,
            "files": list(entry.files),
            "by": entry.by,
            "line": entry.line,
        } | shared
    record: Record = one.record.record
    return {
        "id": record.id,
        "kind": record.kind,
        "type": record.type,
        "time": dates.stamp(record.at),
        "relevance": record.relevance,
        "content": record.content,
        "files": list(record.files),
        "room": record.room,
        "sources": [{"id": cite.id, "role": cite.role} for cite in one.cited],
        "read": record.read,
        "work": record.work,
        "dropped": record.dropped,
        "by": record.by,
        "line": record.line,
    } | shared
