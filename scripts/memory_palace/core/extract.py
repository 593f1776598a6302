"""Facts that a text may state, by rules: proposals for a person or an agent, nothing more.

Read are metadata, sentences of English, tables with a header, and ``Key: value`` lines. Code,
quotes, comments, questions, negations and private spans are passed over; see also
:mod:`core.extract_said`.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from memory_palace.core import dates, extract_said, note, privacy
from memory_palace.core.extract_said import LONGEST_NAME, plain_name
from memory_palace.core.private_spans import MARK, hidden
from memory_palace.core.text import nfc, split_lines, stem

METADATA = 0.9
KNOWN_KEY = 0.8
"""Confidence in a table's column or a line's key that often names a relation."""
OTHER_KEY = 0.4
OTHER_TABLE = 0.2
"""In a column of a table that names no relation anywhere: most tables of documents are such."""
LEAST = 0.3
"""What is less sure is shown if it is asked for."""

MOST = 1_000
"""Proposals of one text."""
MOST_LINE = 4_000
"""Characters of a line, and of a paragraph, that are read."""

PREDICATES = {
    "owner": "owner",
    "owned by": "owned_by",
    "maintainer": "maintained_by",
    "maintained by": "maintained_by",
    "lead": "lead",
    "team": "team",
    "status": "status",
    "uses": "uses",
    "depends on": "depends_on",
    "dependencies": "depends_on",
    "requires": "depends_on",
    "replaces": "replaced",
    "lives in": "lives_in",
    "location": "lives_in",
    "host": "hosted_on",
    "hosted on": "hosted_on",
    "runs on": "runs_on",
    "language": "written_in",
    "written in": "written_in",
    "built with": "built_with",
    "database": "database",
    "version": "version",
    "license": "license",
    "licence": "license",
    "port": "port",
    "deadline": "deadline",
    "part of": "part_of",
    "works for": "works_for",
    "reports to": "reports_to",
    "role": "role",
}
"""Keys of metadata, tables and ``Key: value`` lines, and the predicate each stands for."""

_NO_KEYS = frozenset(
    """note notes todo warning example examples tip hint important see http https ftp file fixme
    update edit question answer q a fix why how what when result output input usage step description
    summary password passphrase secret token key api_key credentials""".split()
)
_GENERIC = frozenset(
    "overview details facts setup summary about info information general metadata notes".split()
)
_FENCE = re.compile(r"^\s*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s)")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_PAIR = re.compile(r"^\**_*([^\W\d_][^:|`\[\]*]{0,38}?)(?::\*\*|\*\*\s*:|:)_*\s+(\S.*)$")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_END = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!Dr\.)(?<!St\.)[\"'”)]*\s+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)", re.DOTALL)


class Proposed(NamedTuple):
    """A fact that ``line`` (from 1) may state. ``confidence`` is from 0 to 1; ``rule`` says what
    it was read from: ``metadata``, ``table``, ``pair``, ``sentence``. ``since`` is a day or empty.
    """

    line: int
    subject: str
    predicate: str
    object: str
    confidence: float
    rule: str
    since: str = ""


def extract(path: str, text: str, subject: str = "") -> tuple[Proposed, ...]:
    """What ``text`` may state, by line, each fact once. ``path`` (may be empty) gives the subject
    of what has none of its own: the project of a project room, else the note's title.
    ``subject`` takes its place. At most :data:`MOST`."""
    shown = _COMMENT.sub(_blank, hidden(text))
    parsed = note.parse(path or "-", shown)
    lines = split_lines(parsed.body)
    first = next((head[1] for line in lines if (head := _heading(line))), "")
    title = subject or plain_name(parsed.title or first) or (stem(path) if path else "")
    about = subject or _project(path) or title
    found = [
        *_of_metadata(parsed, split_lines(shown), title),
        *_of_body(lines, parsed.body_line, title, about),
    ]
    kept: dict[tuple[str, ...], Proposed] = {}
    for one in sorted(found, key=lambda one: (-one.confidence, one.line)):
        if all(map(_is_name, (one.subject, one.predicate, one.object))) and not _is_secret(one):
            kept.setdefault(tuple(nfc(name).lower() for name in one[1:4]), one)
    return tuple(sorted(kept.values(), key=lambda one: one.line))[:MOST]


def _project(path: str) -> str:
    parts = path.split("/")
    return parts[2] if parts[:2] == ["palace", "project_rooms"] and len(parts) > 3 else ""


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and MARK not in text and any(map(str.isalnum, text))


def _is_secret(one: Proposed) -> bool:
    said = f"{one.predicate}: {one.object}"
    return privacy.redact(said).text != said


def _of_metadata(parsed: note.Note, lines: list[str], title: str) -> Iterator[Proposed]:
    for key, value in parsed.metadata.items():
        predicate = PREDICATES.get(_bare(str(key)))
        if not predicate or not title:
            continue
        line = parsed.lines.get(key, 1)
        if isinstance(value, float):  # 2.10 is no 2.1
            value = lines[line - 1].partition(":")[2].partition(" #")[0].strip()
        for one in value if isinstance(value, list | tuple) else [value]:
            said = _scalar(one)
            if said:
                yield Proposed(line, title, predicate, said, METADATA, "metadata")


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool | dict | list | tuple):
        return ""
    return plain_name(" ".join(str(value).split()))


def _bare(key: str) -> str:
    return " ".join(key.strip().strip("*_`").replace("_", " ").replace("-", " ").lower().split())


class _Paragraph(NamedTuple):
    """Lines that belong together, with their numbers."""

    lines: tuple[tuple[int, str], ...]


def _heading(line: str) -> tuple[int, str] | None:
    """Level and text."""
    found = _HEADING.match(line)
    return (len(found[1]), line[found.end() :].strip().rstrip("#").rstrip()) if found else None


def _of_body(lines: list[str], first: int, title: str, about: str) -> Iterator[Proposed]:
    heading = title
    for part in _parts(lines, first):
        head = _heading(part.lines[0][1])
        if head:
            name = plain_name(head[1])
            generic = head[0] == 1 or name.lower() in _GENERIC
            heading = title if generic or not name else name
        elif len(part.lines) > 1 and "|" in part.lines[0][1] and _RULE.match(part.lines[1][1]):
            yield from _of_table(part)
        else:
            pairs = list(_pairs(part))
            yield from _of_pairs(pairs, heading)
            if not pairs:
                yield from _of_sentences(part, about)


def _parts(lines: Iterable[str], first: int) -> Iterator[_Paragraph]:
    """Headings, tables, lists and paragraphs; no code, no quotes."""
    held: list[tuple[int, str]] = []
    fence = ""
    in_list = in_quote = False
    for number, line in enumerate([*lines, ""], start=first):
        line = line[:MOST_LINE].rstrip("\r")
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(mark[1][0])
            fence = "" if closes else fence
            continue
        blank = not line.strip()
        quote = line.lstrip().startswith(">") or (in_quote and not blank)
        indented = line.startswith(("    ", "\t")) and not in_list and not held
        if mark or blank or quote or indented or _heading(line):
            if held:
                yield _Paragraph(tuple(held))
                held = []
            fence = mark[1] if mark else ""
            in_quote = quote
            if _heading(line) and not quote:
                in_list = False
                yield _Paragraph(((number, line),))
            continue
        in_list = bool(_ITEM.match(line)) or (in_list and line.startswith((" ", "\t")))
        held.append((number, line))


def _of_table(part: _Paragraph) -> Iterator[Proposed]:
    names = [_bare(cell) for cell in _cells(part.lines[0][1])]
    other = OTHER_KEY if any(name in PREDICATES for name in names[1:]) else OTHER_TABLE
    for number, line in part.lines[2:]:
        cells = [plain_name(cell) for cell in _cells(line)]
        for name, cell in zip(names[1:], cells[1:], strict=False):
            if not 0 < len(name.split()) <= 3 or not 0 < len(cell.split()) <= 6:
                continue
            sure = KNOWN_KEY if name in PREDICATES else other
            said = PREDICATES.get(name, name.replace(" ", "_"))
            yield Proposed(number, cells[0], said, cell, sure, "table")


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def _pairs(part: _Paragraph) -> Iterator[tuple[int, str, str]]:
    """(line, key, value) if every line of the paragraph is ``Key: value``; else nothing."""
    found = []
    for number, line in part.lines:
        pair = _PAIR.match(line[_start(line) :].strip())
        key = _bare(pair[1]) if pair else ""
        if not pair or len(key.split()) > 3:
            return
        found.append((number, key, pair[2].strip()))
    yield from found


def _start(line: str) -> int:
    item = _ITEM.match(line)
    return item.end() if item else 0


def _of_pairs(pairs: list[tuple[int, str, str]], subject: str) -> Iterator[Proposed]:
    for number, key, value in pairs:
        said = plain_name(value.rstrip("."))
        known = key in PREDICATES
        if (
            not subject
            or key.replace(" ", "_") in _NO_KEYS
            or len(said.split()) > (6 if known else 4)
        ):
            continue
        if said.endswith(("?", ":")) or (not known and len(pairs) < 2):
            continue
        sure = KNOWN_KEY if known else OTHER_KEY
        predicate = PREDICATES.get(key, key.replace(" ", "_"))
        yield Proposed(number, subject, predicate, said, sure, "pair")


def _of_sentences(part: _Paragraph, about: str) -> Iterator[Proposed]:
    """Sentences of a paragraph, or of each item of a list; they may go over several lines."""
    texts: list[list[tuple[int, str]]] = []
    for number, line in part.lines:
        start = _start(line)
        if start or not texts:
            texts.append([])
        texts[-1].append((number, line[start:].strip()))
    for text in texts:
        joined = " ".join(line for _, line in text)[:MOST_LINE]
        at = 0
        for sentence in _END.split(joined):
            at = max(joined.find(sentence, at), at)
            for said in extract_said.facts_of(sentence):
                subject = said.subject or about
                if subject and dates.parse(said.object) is None:
                    yield Proposed(_line_at(text, at), subject, *said[1:4], "sentence", said.since)
            at += len(sentence)


def _line_at(text: list[tuple[int, str]], at: int) -> int:
    """The line in which character ``at`` of the joined lines stands."""
    for number, line in text:
        if at <= len(line):
            return number
        at -= len(line) + 1
    return text[-1][0]


def sentence(one: Proposed) -> str:
    """Subject, predicate, object, and since when."""
    since = f" from {one.since}" if one.since else ""
    return f"{one.subject} {one.predicate} {one.object}{since}"


def command(one: Proposed, path: str) -> str:
    """The command that adds the fact, with ``path`` (may be empty) and line as its source."""
    flags = ["--from", one.since] if one.since else []
    flags += ["--confidence", f"{one.confidence:g}"]
    flags += ["--source", f"{path}:{one.line}"] if path else []
    names = [one.subject, one.predicate, one.object]
    dashed = ["--"] if any(name.startswith("-") for name in names) else []
    return shlex.join(["palace", "kg", "add", *flags, *dashed, *names])


def as_dict(one: Proposed, path: str) -> dict[str, Any]:
    """A proposal with the keys that ``--format jsonl`` promises."""
    return {
        "path": path or None,
        "line": one.line,
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "valid_from": one.since or None,
        "confidence": one.confidence,
        "rule": one.rule,
        "command": command(one, path),
    }
