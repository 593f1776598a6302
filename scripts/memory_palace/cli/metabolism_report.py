"""The report of ``palace metabolism``: one list of sections, as text, Markdown or JSON lines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from memory_palace.cli.common import count, runnable
from memory_palace.core import dates
from memory_palace.core.archiving import Planned
from memory_palace.core.elimination import STRIKES
from memory_palace.core.problems import printable
from memory_palace.memory.metabolism import Cycle

_MOST_EVIDENCE = 6
_MOST_TEXT = 160


@dataclass(frozen=True, slots=True)
class Item:
    """One thing: as an object, as a line, and what belongs below it."""

    record: dict[str, Any]
    line: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is that of its objects; ``head`` says how many, ``next`` what to do, if anything."""

    name: str
    title: str
    head: str
    next: str
    items: list[Item] = field(default_factory=list)


def show(cycle: Cycle, limit: int, shape: str, only: tuple[str, ...] = ()) -> None:
    """Print the report, or only the sections of these names: at most ``limit`` items of each,
    which counts them all."""
    sections = [one for one in _sections(cycle) if not only or one.name in only]
    if shape == "jsonl":
        if not only:
            click.echo(_json(_summary(cycle, sections)))
        for section in sections:
            for item in section.items[:limit]:
                click.echo(_json({"section": section.name, **item.record}))
        return
    markdown = shape == "md"
    if not only:
        said = "" if cycle.written else " (dry run: nothing is written)"
        title = f"Metabolism, {dates.stamp(cycle.at)[:10]}{said}"
        click.echo(f"## {title}" if markdown else title)
    for section in sections:
        click.echo()
        for line in _lines(section, limit, markdown):
            # What goes into a pull request names no place on this machine.
            click.echo(printable(line) if markdown else runnable(printable(line)))


def _lines(section: Section, limit: int, markdown: bool) -> Iterator[str]:
    yield f"### {section.title}" if markdown else f"{section.title}: {section.head}"
    if markdown:
        yield ""
        yield f"{section.head}."
        yield ""
    for item in section.items[:limit]:
        yield f"- {item.line}" if markdown else f"  {item.line}"
        for line in item.below:
            yield f"  - {line}" if markdown else f"      {line}"
    more = len(section.items) - limit
    if more > 0:
        what = f"{more} more: `palace metabolism --limit {len(section.items)}`"
        yield f"- {what}" if markdown else f"  {what}"
    if not section.next:
        return
    if not markdown:
        yield f"  next: {section.next}"
        return
    if section.items:
        yield ""
    yield f"Next: {section.next}."


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _summary(cycle: Cycle, sections: list[Section]) -> dict[str, Any]:
    return {
        "section": "summary",
        "at": dates.stamp(cycle.at),
        "written": cycle.written,
        "moved": cycle.moved is not None,
        "counts": {section.name: len(section.items) for section in sections},
        "more_proposals": cycle.found.more,
        "more_moves": cycle.eliminated.more,
        "more_pairs": cycle.pairs.more,
        "days_folded": cycle.folded,
        "counted_since": _day(cycle.eliminated.counted),
    }


def _sections(cycle: Cycle) -> Iterator[Section]:
    yield _proposals(cycle)
    yield _strikes(cycle)
    yield _demotions(cycle)
    yield _archive(cycle)
    yield _retrievals(cycle)
    yield _conflicts(cycle)
    yield _tasks(cycle)


def _proposals(cycle: Cycle) -> Section:
    new, waiting = cycle.found.new, cycle.waiting
    head = f"{len(new)} new, {len(waiting)} waiting"
    head += f", {cycle.found.more} more ready when these are judged" if cycle.found.more else ""
    follow = "`palace promote list --status proposed`"
    if not cycle.written:
        follow = "`palace metabolism` writes them" if new else follow
    section = Section("proposal", "Proposals", head, follow if new or waiting else _SCAN)
    for one in (*new, *waiting):
        record = {
            "id": one.id,
            "destination": one.destination,
            "category": one.category,
            "text": one.text,
            "reason": one.reason,
            "evidence": list(one.links),
            "path": one.path,
            "new": one in new,
        }
        mark = "new " if one in new else ""
        line = f"{mark}{one.id}  {one.destination}  {_short(one.text)}"
        # Where it is to be judged, the evidence stands there.
        links = () if cycle.written or one not in new else one.links[:_MOST_EVIDENCE]
        section.items.append(Item(record, line, (one.reason, *links)))
    return section


_SCAN = "`palace remember` brings more evidence"


def _strikes(cycle: Cycle) -> Section:
    cases = cycle.eliminated.cases
    new = len(cycle.eliminated.strikes)
    verb = "recorded" if cycle.written else "to record"
    head = f"{new} {verb}, {count(len(cases), 'note')} with a case"
    waits = [case.wait for case in cases if case.wait]
    if new and not cycle.written:
        follow = "`palace metabolism` records them"
    elif waits and not new:
        follow = f"`palace metabolism` again from {_day(min(waits))}"
    elif cases:
        follow = "a note that is used, mended or pinned until then stays"
    else:
        follow = ""
    section = Section("strike", "Strikes", head, follow)
    for case in cases:
        found = case.finding
        record = {
            "path": found.path,
            "tier": found.tier,
            "rule": found.rule,
            "detail": found.detail,
            "strikes": case.count,
            "new": case.strikes_now,
            "wait": _day(case.wait),
        }
        wait = f", the next not before {_day(case.wait)}" if case.wait else ""
        line = f"{found.path}  {found.rule}, strike {case.count} of {STRIKES}{wait}"
        section.items.append(Item(record, line, (found.detail,)))
    return section


def _demotions(cycle: Cycle) -> Section:
    planned = cycle.eliminated.demotions
    done = cycle.moved.demotions if cycle.moved else planned
    moved = cycle.moved is not None
    head = f"{count(len(done), 'note')} {'moved' if moved else 'would move'} one tier down"
    head += f", {cycle.eliminated.more} more on another day" if cycle.eliminated.more else ""
    follow = f"`palace metabolism --yes`{_then(cycle)}" if done and not moved else ""
    if done and moved:
        follow = "`palace restore PATH` puts one back"
    section = Section("demotion", "Demotions", head, follow)
    for one in done:
        back = f"palace restore {one.target}"
        record = {
            "from": one.path,
            "to": one.target,
            "rule": one.rule,
            "detail": one.detail,
            "moved": moved,
            "restore": back,
        }
        below = (f"{one.rule}: {one.detail}", f"`{back}` puts it back")
        section.items.append(Item(record, f"{one.path} -> {one.target}", below))
    return section


def _archive(cycle: Cycle) -> Section:
    moved = cycle.moved is not None
    items = cycle.moved.archived if cycle.moved else cycle.archive.items
    head = f"{_kinds(items)} {'moved' if moved else 'would move'}"
    follow = f"`palace metabolism --yes`{_then(cycle)}, or `palace archive` alone" if items else ""
    if items and moved:
        follow = "`palace restore PATH|ID` puts one back"
    section = Section("archive", "Archive", head, follow)
    for item in items:
        record = {
            "kind": item.kind,
            "id": item.id,
            "from": item.source,
            "to": item.target,
            "reason": item.reason,
            "moved": moved,
        }
        what = f"^{item.id} {_short(item.entries[0].text)}" if item.kind == "entry" else item.source
        section.items.append(Item(record, f"{item.kind}  {what} -> {item.target}", (item.reason,)))
    return section


def _retrievals(cycle: Cycle) -> Section:
    since = cycle.eliminated.counted
    verb = "shared" if cycle.written else "to share"
    head = f"{count(cycle.folded, 'day')} {verb}, "
    head += f"counted since {_day(since)}" if since else "none counted yet: no note is unused"
    if not since:
        follow = "`palace query` counts what it shows"
    else:
        follow = "`palace metabolism` shares them" if cycle.folded and not cycle.written else ""
    return Section("retrieval", "Retrievals", head, follow)


def _conflicts(cycle: Cycle) -> Section:
    pairs = [pair for pair in cycle.pairs.proposals if not pair.record]
    found = len(pairs) + cycle.pairs.more
    head = f"{len(cycle.records)} open, {count(found, 'pair')} to look at"
    follow = "`palace conflict scan`" if found else ""
    follow = "`palace conflict list --open`" if cycle.records else follow
    section = Section("conflict", "Conflicts", head, follow)
    for record in cycle.records:
        fields = {"path": record.path, "kind": record.kind, "title": record.title}
        section.items.append(Item(fields, f"{record.path}  {record.kind}  {record.title}"))
    return section


def _tasks(cycle: Cycle) -> Section:
    head = f"{count(len(cycle.tasks), 'question')} for a person or an agent"
    follow = "decide each with one of its commands" if cycle.tasks else ""
    section = Section("task", "To judge", head, follow)
    for task in cycle.tasks:
        record = {
            "kind": task.kind,
            "about": task.about,
            "evidence": list(task.evidence),
            "commands": list(task.commands),
        }
        shown = [_short(one) for one in task.evidence[:_MOST_EVIDENCE]]
        left = len(task.evidence) - len(shown)
        shown += [f"{left} more"] if left else []
        below = (*shown, *(f"`{command}`" for command in task.commands))
        section.items.append(Item(record, f"{task.kind}  {_short(task.about)}", below))
    return section


def _kinds(items: Iterable[Planned]) -> str:
    names = {"topic": "topic file", "entry": "single memory", "note": "note"}
    counts = Counter(item.kind for item in items)
    said = [count(counts[kind], name) for kind, name in names.items() if counts[kind]]  # type: ignore[index]
    return ", ".join(said).replace("memorys", "memories") or "nothing"


def _then(cycle: Cycle) -> str:
    return " on that day" if cycle.archive.hypothetical else ""


def _day(moment: Any) -> str | None:
    return dates.stamp(moment)[:10] if moment else None


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
