"""A review as the text of a pull request. Nothing that a note says can be markup there."""

import html
from collections.abc import Iterator

from memory_palace.cli.common import count
from memory_palace.cli.review_output import MOST_TEXT, lines, since, standing, summary, verdict
from memory_palace.core.entrychange import EntryChange
from memory_palace.core.notechange import NoteChange
from memory_palace.core.worddiff import as_markdown, escaped, one_line, shortened
from memory_palace.memory.review import Review

MOST_OPEN = 6
"""Changes of one note that stand open: more are folded away."""


def markdown(review: Review) -> Iterator[str]:
    """The whole review, line by line."""
    yield "## Changes in the memory"
    yield ""
    yield f"{escaped(since(review))}: {escaped(summary(review))}"
    yield from _findings(review)
    if review.notes:
        yield from ("", "### Notes", "", "| change | note | |", "| --- | --- | --- |")
        for note in review.notes:
            yield f"| {note.kind} | {escaped(note.path)} | {_about(note)} |"
        for note in review.notes:
            yield from _details(note.path, _changes(note))
    if review.entries:
        yield from ("", "### Entries", "", "| change | entry | standing |", "| --- | --- | --- |")
        for entry in review.entries:
            yield f"| {entry.kind} | {_said(entry)} | {escaped(standing(entry))} |"
    if review.facts:
        yield from ("", "### Facts", "")
        for fact in review.facts:
            yield f"- {escaped(fact.event)}: {escaped(shortened(fact.text, MOST_TEXT))}"
    if review.logs or review.files or review.happened:
        yield from ("", "### Logs and files", "")
        for kind, number in review.happened.items():
            yield f"- {number} {escaped(kind)}"
        for log in review.logs:
            yield f"- {escaped(log.path)}: {escaped(lines(log))}"
        for kind, path in review.files:
            yield f"- {kind}: {escaped(path)}"
    yield from ("", f"**{escaped(verdict(review))}**")


def _findings(review: Review) -> Iterator[str]:
    if not review.findings:
        return
    yield from ("", "### Problems", "", "| | where | what |", "| --- | --- | --- |")
    for one in sorted(review.findings, key=lambda finding: finding.grade):
        place = f"{one.path}:{one.line}" if one.line else one.path
        yield f"| {one.grade} | {escaped(place)} | {escaped(f'{one.kind}: {one.message}')} |"


def _about(note: NoteChange) -> str:
    parts = [f"from {escaped(note.was)}"] if note.was else []
    return "; ".join([*parts, escaped(note.why)] if note.why else parts)


def _said(entry: EntryChange) -> str:
    place = escaped(f"{entry.path}:{entry.line}")
    was = f" from {escaped(entry.was)}" if entry.was else ""
    if entry.before and entry.after and entry.words:
        said = " ".join(as_markdown(hunk) for hunk in entry.words)
    else:
        said = escaped(shortened(entry.text, MOST_TEXT))
    return f"{place}{was} {escaped(f'[{entry.category}]')} {said}"


def _changes(note: NoteChange) -> list[str]:
    keys = [
        f"- {key.line}: {escaped(key.key)}: {_value(key.before)} → {_value(key.after)}"
        for key in note.keys
    ]
    return keys + [f"- {hunk.line}: {as_markdown(hunk)}" for hunk in note.words]


def _value(said: str | None) -> str:
    return "(none)" if said is None else escaped(shortened(said, MOST_TEXT)) or "(empty)"


def _details(path: str, changes: list[str]) -> Iterator[str]:
    if not changes:
        return
    if len(changes) <= MOST_OPEN:
        yield from ("", f"**{escaped(path)}**", "", *changes)
        return
    # In a block of HTML Markdown is not read, so its own escapes hold there.
    shown = html.escape(one_line(path)).replace("@", "@<!-- -->").replace("#", "#<!-- -->")
    yield from ("", "<details>", f"<summary>{shown}: {count(len(changes), 'change')}</summary>", "")
    yield from (*changes, "", "</details>")
