"""What was done with tools, as drafts: errors and their fixes, commits, edits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_palace.core import observing_calls as calls
from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import Entry
from memory_palace.core.observing_calls import Call

MOST_COMMAND = 120
MOST_ADDED = 200
MOST_EXPLAINED = 280
MOST_STEPS = 3
"""Steps of a fix, and edits of a file, that one line cites."""

_CONVENTIONAL = re.compile(r"(\w{2,12})(?:\([^)]{1,60}\))?!?: ")
_BY_PREFIX = {
    "fix": "bugfix",
    "hotfix": "bugfix",
    "bugfix": "bugfix",
    "revert": "bugfix",
    "feat": "feature",
    "feature": "feature",
    "refactor": "refactor",
    "perf": "refactor",
}
_BY_VERB = {
    "bugfix": frozenset("fix fixes fixed mend repair correct prevent handle revert".split()),
    "feature": frozenset("add adds added support allow introduce implement new".split()),
    "refactor": frozenset("refactor split rename extract move simplify clean inline merge".split()),
}
_FEWEST = 4  # letters and digits of an edited line that says something
_INSTALL = re.compile(r"(?:add|install|i|get|remove|uninstall)$")


@dataclass(slots=True)
class Draft:
    """A line to be: which entries it rests on, the first of them in the order of the session."""

    content: str
    type: str
    relevance: str
    sources: list[Entry]
    files: tuple[str, ...] = ()
    minor: bool = False


@dataclass(slots=True)
class _Open:
    """A command that went wrong, and what was done since."""

    call: Call
    steps: list[Call] = field(default_factory=list)
    said: Entry | None = None


def drafts(entries: Sequence[Entry], explained: Mapping[str, str]) -> Iterator[Draft]:
    """Lines of the tool entries among ``entries``. ``explained`` has, by entry, what the agent said
    of a cause: it is told with the fix."""
    made = list(_drafts(entries, explained))
    told = {one.id for draft in made if draft.type == "bugfix" for one in draft.sources[1:]}
    for draft in made:
        # What a fix tells of is not told again.
        if draft.minor and all(one.id in told for one in draft.sources):
            continue
        yield draft


def _drafts(entries: Sequence[Entry], explained: Mapping[str, str]) -> Iterator[Draft]:
    broken: list[_Open] = []
    edits: list[Call] = []
    changed: list[str] = []
    for entry in entries:
        if entry.role != "tool":
            for one in broken if entry.id in explained else ():
                one.said = one.said or entry
            continue
        call = calls.read(entry)
        if entry.files and not call.command:
            changed += entry.files
            edits.append(call)
            for one in broken:
                one.steps.append(call)
        elif call.failed:
            again = next((one for one in broken if _same(one.call, call)), None)
            if again is not None and again.call.error == call.error:
                continue
            if again is not None and not again.steps:
                broken.remove(again)
                yield _failure(again)
            broken.append(_Open(call))
        elif call.key:
            for one in broken:
                if _same(one.call, call):
                    yield _fix(one, call, explained)
            broken = [one for one in broken if not _same(one.call, call)]
            for one in broken:
                one.steps.append(call)
            made = calls.commit(call)
            if made:
                yield _commit(call, *made, files=tuple(dict.fromkeys(changed)))
                changed = []
            else:
                yield from _ran(call)
    for one in broken:
        yield _failure(one)
    yield from _edited(edits)


def _same(failed: Call, call: Call) -> bool:
    """True if ``call`` tries again what ``failed`` did."""
    # Of a chain that passed, every part did.
    chain = [call.command] if call.failed else [call.command, *call.command.split("&&")]
    if not call.key or failed.key not in map(calls.kind, chain):
        return False
    before, now = (set(calls.paths(one.command)) for one in (failed, call))
    return not before or not now or bool(before & now)


def _shown(command: str) -> str:
    return f"`{cut(command.replace('`', chr(39)), MOST_COMMAND)}`"


def _failure(one: _Open) -> Draft:
    call = one.call
    return Draft(
        f"Failed: `{call.error}` in {_shown(call.command)}"
        if call.error
        else f"Failed: {_shown(call.command)}",
        "discovery",
        "high",
        [call.entry],
        call.entry.files,
    )


def _fix(one: _Open, passed: Call, explained: Mapping[str, str]) -> Draft:
    """An error, what was done about it, and that it is gone."""
    steps = one.steps[-MOST_STEPS:]
    done = []
    for step in steps:
        if step.command:
            done.append(_shown(step.command))
        else:
            added = _added([step], MOST_ADDED // len(steps))
            done.append(f"{', '.join(step.entry.files)}" + (f" (`{added}`)" if added else ""))
    said = cut(explained.get(one.said.id, ""), MOST_EXPLAINED) if one.said else ""
    by = f", gone after {'; '.join(dict.fromkeys(done))}" if done else ", gone"
    sources = [one.call.entry, *([one.said] if one.said and said else [])]
    sources += [step.entry for step in steps] + [passed.entry]
    files = tuple(dict.fromkeys(file for step in steps for file in step.entry.files))
    content = f"Error `{one.call.error or cut(one.call.command, MOST_COMMAND)}`{by}"
    content += f". {said}" if said else ""
    content += ("" if said else ".") + f" Then passed: {_shown(passed.command)}"
    return Draft(content, "bugfix", "high", sources, files)


def _commit(call: Call, branch: str, sha: str, subject: str, files: tuple[str, ...]) -> Draft:
    made = kind_of(subject)
    relevance = "high" if made in ("bugfix", "feature") else "medium"
    where = f" `{sha}` on {branch}" if sha else ""
    return Draft(f"Committed{where}: {subject}", made, relevance, [call.entry], files)


def kind_of(subject: str) -> str:
    """The type of a commit by its subject: the conventional prefix, else the first verb."""
    found = _CONVENTIONAL.match(subject)
    if found:
        return _BY_PREFIX.get(found[1].lower(), "change")
    verb = subject.split()[0].lower().strip(":") if subject.split() else ""
    return next((kind for kind, verbs in _BY_VERB.items() if verb in verbs), "change")


def _ran(call: Call) -> Iterator[Draft]:
    """Commands that change something for good."""
    sub = call.key.partition(" ")[2]
    words = f" {call.command} "
    if _INSTALL.match(sub) and len(call.command.split()) > 2:
        yield Draft(f"Ran {_shown(call.command)}", "change", "medium", [call.entry], minor=True)
    elif " git tag " in words or "gh pr create" in words or "gh release" in words:
        yield Draft(f"Ran {_shown(call.command)}", "change", "high", [call.entry])


def _edited(edits: Sequence[Call]) -> Iterator[Draft]:
    """What was changed in each file, its edits together."""
    by_file: dict[str, list[Call]] = {}
    for call in edits:
        by_file.setdefault(call.entry.files[0], []).append(call)
    for file, there in by_file.items():
        for n in range(0, len(there), MOST_STEPS):
            some = there[n : n + MOST_STEPS]
            added = _added(some, MOST_ADDED)
            files = tuple(dict.fromkeys(one for call in some for one in call.entry.files))
            yield Draft(
                f"Changed {file}" + (f": `{added}`" if added else ""),
                "change",
                "low",
                [call.entry for call in some],
                files,
                minor=True,
            )


def _added(edits: Sequence[Call], most: int) -> str:
    """What edits brought: of each the lines with most letters and digits, in their order."""
    shown = []
    for call in edits:
        room = max(most // len(edits), 40)
        lines = [one for one in call.added if sum(map(str.isalnum, one)) >= _FEWEST]
        best = sorted(range(len(lines)), key=lambda n: (-sum(map(str.isalnum, lines[n])), n))
        kept: list[int] = []
        for n in best:
            if not kept or len(lines[n]) + 2 <= room:
                kept.append(n)
                room -= len(lines[n]) + 2
        shown.append(cut("; ".join(lines[n] for n in sorted(kept)), max(most // len(edits), 40)))
    return cut("; ".join(one for one in shown if one), most).replace("`", "'")
