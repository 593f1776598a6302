"""A review as lines of text, and as JSON lines."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from memory_palace.cli.common import count
from memory_palace.core.entrychange import EntryChange
from memory_palace.core.notechange import NoteChange, is_note
from memory_palace.core.problems import printable
from memory_palace.core.worddiff import Hunk, as_text, shortened
from memory_palace.memory.review import Review
from memory_palace.memory.review_checks import Finding
from memory_palace.memory.review_logs import LogChange

MOST_HUNKS = 12
"""Changes of one note that are shown; JSON lines have them all."""
MOST_TEXT = 160
"""Characters of an entry that are shown."""

_WIDTH = 11


def since(review: Review) -> str:
    """What is compared, in words."""
    base, head = review.between.base[:12], review.between.head
    if not base:
        return "no commit yet, so everything is new"
    return f"since {base}" if head is None else f"from {base} to {head[:12]}"


def summary(review: Review) -> str:
    """How much changed, on one line."""
    changes = [("note" if is_note(note.path) else "file", note.kind) for note in review.notes]
    notes = Counter(sorted(changes, key=lambda change: change[0] == "file"))
    parts = [f"{count(number, what)} {kind}" for (what, kind), number in notes.items()]
    for kind, number in Counter(entry.kind for entry in review.entries).items():
        parts.append(f"{number} {'entry' if number == 1 else 'entries'} {kind}")
    events, lost = sum(review.happened.values()), sum(len(log.lost) for log in _logs(review))
    for number, what in ((len(review.facts), "fact"), (events, "event")):
        parts += [count(number, what)] if number else []
    parts += [f"{count(lost, 'line')} lost"] if lost else []
    parts += [count(len(review.files), "other file")] if review.files else []
    return ", ".join(parts) or "nothing changed"


def _logs(review: Review) -> list[LogChange]:
    return [log for log in review.logs if log.append_only]


def verdict(review: Review) -> str:
    """What the check comes to, on one line."""
    errors = Counter(finding.kind for finding in review.errors)
    warnings = len(review.findings) - len(review.errors)
    told = f"; {count(warnings, 'warning')}" if warnings else ""
    if not errors:
        return f"ok: {summary(review)}{told}"
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(errors.items()))
    return f"failed: {count(len(review.errors), 'error')} ({listed}){told}"


def finding_line(finding: Finding) -> str:
    """A finding as ``path:line: grade: what``."""
    place = printable(finding.path) + (f":{finding.line}" if finding.line else "")
    return f"{place}: {finding.grade}: {finding.kind}: {printable(finding.message)}"


def text(review: Review) -> Iterator[str]:
    """The whole review, line by line."""
    yield f"{since(review)}: {summary(review)}"
    for note in review.notes:
        yield from _note(note)
    for entry in review.entries:
        yield from _entry(entry)
    for fact in review.facts:
        yield _row("fact", f"{fact.event}: {shortened(fact.text, MOST_TEXT)}")
    if review.happened:
        listed = ", ".join(f"{number} {kind}" for kind, number in review.happened.items())
        yield _row("events", listed)
    for log in review.logs:
        yield _row("log" if log.append_only else "list", f"{printable(log.path)}: {lines(log)}")
    for kind, path in review.files:
        yield _row(kind, printable(path))
    for finding in review.findings:
        yield finding_line(finding)


def _row(word: str, rest: str) -> str:
    return f"{word:<{_WIDTH}}{rest}"


def lines(log: LogChange) -> str:
    """What became of a log's lines."""
    parts = [f"{count(len(log.added), 'line')} added"] if log.added else []
    gone = "lost" if log.append_only else "taken out"
    return ", ".join([*parts, f"{count(len(log.lost), 'line')} {gone}"] if log.lost else parts)


def _note(note: NoteChange) -> Iterator[str]:
    place = printable(note.path) + (f":{note.line}" if note.words or note.keys else "")
    was = f"  from {printable(note.was)}" if note.was else ""
    why = f"  ({note.why})" if note.why else ""
    yield _row(note.kind, f"{place}{was}{why}")
    for key in note.keys:
        yield f"  {key.line}: {printable(key.key)}: {_value(key.before)} -> {_value(key.after)}"
    yield from _hunks(note.words)


def _value(said: str | None) -> str:
    return "(none)" if said is None else shortened(said, MOST_TEXT) or '""'


def _hunks(hunks: Sequence[Hunk]) -> Iterator[str]:
    for hunk in hunks[:MOST_HUNKS]:
        yield f"  {hunk.line}: {as_text(hunk)}"
    if hunks[MOST_HUNKS:]:
        yield f"  and {count(len(hunks) - MOST_HUNKS, 'more change')}: see `--format jsonl`"


def _entry(entry: EntryChange) -> Iterator[str]:
    was = f"  from {printable(entry.was)}" if entry.was else ""
    said = shortened(entry.text, MOST_TEXT)
    place = f"{printable(entry.path)}:{entry.line}"
    yield _row(entry.kind, f"{place}  ^{entry.id} [{entry.category}] {said}{was}")
    yield f"  {standing(entry)}"
    if entry.before and entry.after:
        yield from _hunks(entry.words)


def standing(entry: EntryChange) -> str:
    """Strength, lifecycle and evidence, before and after where they differ."""
    before, after = entry.before, entry.after
    one = before or after
    other = after or before
    assert one and other
    parts = (
        ("strength", f"{one.strength:.2f}", f"{other.strength:.2f}"),
        ("", one.lifecycle, other.lifecycle),
        ("evidence", str(one.evidence), str(other.evidence)),
    )
    told = (f"{name} {a}" if a == b else f"{name} {a} -> {b}" for name, a, b in parts)
    return ", ".join(part.strip() for part in told)


def jsonl(review: Review) -> Iterator[str]:
    """One object a line: what is compared, then each change, each problem and the verdict."""
    between = review.between
    yield _line("review", base=between.base, head=between.head, summary=summary(review))
    for note in review.notes:
        yield _line("note", **_renamed(asdict(note)))
    for entry in review.entries:
        yield _line("entry", **_renamed(asdict(entry)))
    for fact in review.facts:
        yield _line("fact", **asdict(fact))
    if review.happened:
        yield _line("events", counts=dict(review.happened))
    for log in review.logs:
        yield _line("log", path=log.path, added=len(log.added), lost=len(log.lost))
    for kind, path in review.files:
        yield _line("file", change=kind, path=path)
    for finding in review.findings:
        told = asdict(finding)
        yield _line("problem", problem=told.pop("kind"), **told)
    errors, all_of_them = len(review.errors), len(review.findings)
    yield _line("verdict", ok=not errors, errors=errors, warnings=all_of_them - errors)


def _renamed(change: dict[str, Any]) -> dict[str, Any]:
    return {"change": change.pop("kind"), **change}


def _line(kind: str, **data: Any) -> str:
    told = json.dumps({"kind": kind, **data}, ensure_ascii=False)
    return told.encode("utf-8", "backslashreplace").decode()
