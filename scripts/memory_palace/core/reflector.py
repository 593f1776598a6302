"""Lasting conclusions from several observations, by rules: what comes up again and again."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memory_palace.core import dates, salience
from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import Observation, Reflection, content, record_id

MOST_SUPPORTS = 20
"""Observations that one conclusion names: the newest."""

MOST_AT_ONCE = 12
"""Conclusions of one run."""

FILE_TIMES = 3
"""Observations about a file from which on it says something."""

SUBJECT_TIMES = 4
SUBJECT_DAYS = 3
"""Observations that name a subject, and the days they are spread over."""

ALIKE = 0.6
"""The share of the words of the shorter of two wishes that the other has, if they are the same."""

_QUOTED = re.compile(r"(?:Error|Failed:) `([^`]{8,300})`")
_NAME = re.compile(r"[A-Z]{2,10}-\d{1,7}(?![\w-])|[A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20}){1,2}")
_NUMBER = re.compile(r"\d+")

_Group = tuple[str, list[Observation]]


def reflect(
    observations: Sequence[Observation], citations: Mapping[str, str], at: datetime
) -> tuple[Reflection, ...]:
    """Conclusions that at least two of ``observations`` support; none rather than noise.

    ``citations`` says how many reflections cite each already: ``none``, ``partial``, ``strong``.
    A conclusion needs two that none cites, so that the same is not drawn from the same again.
    """
    ordered = sorted(observations, key=lambda one: (one.at, one.id))
    found: dict[str, Reflection] = {}
    for said, support in (*_errors(ordered), *_wishes(ordered), *_files(ordered), *_names(ordered)):
        new = [one for one in support if citations.get(one.id, "none") == "none"]
        if len(new) < 2 or len(found) == MOST_AT_ONCE:
            continue
        line = content(said)
        ids = tuple(one.id for one in support[-MOST_SUPPORTS:])
        found.setdefault(record_id(line), Reflection(record_id(line), line, ids, at))
    return tuple(found.values())


def _errors(observations: Sequence[Observation]) -> Iterator[_Group]:
    """The same error twice or more, whatever numbers are in it."""
    groups: dict[str, list[Observation]] = {}
    for one in observations:
        for error in dict.fromkeys(_QUOTED.findall(one.content)):
            groups.setdefault(_NUMBER.sub("0", error.lower()), []).append(one)
    for there in groups.values():
        if len(there) > 1:
            said = _QUOTED.findall(there[-1].content)[0]
            fixed = next((one for one in reversed(there) if one.type == "bugfix"), None)
            after = fixed.content.partition("`, gone after ")[2] if fixed else ""
            last = f" Last gone after {cut(after, 160)}" if after else ""
            yield f"`{said}` came up {len(there)} times, {_span(there)}.{last}", there


def _wishes(observations: Sequence[Observation]) -> Iterator[_Group]:
    """The same wish or correction twice or more."""
    left = [one for one in observations if one.type == "decision"]
    words = {one.id: frozenset(salience.terms(one.content)) - _SPEAKERS for one in left}
    while left:
        first = left.pop()
        same = [one for one in left if _alike(words[first.id], words[one.id])]
        if same:
            left = [one for one in left if one not in same]
            said = f"Said {len(same) + 1} times, {_span([*same, first])}: {cut(first.content, 240)}"
            yield said, [*same, first]


_SPEAKERS = frozenset(salience.terms("User: Assistant:"))


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    shorter = min(len(a), len(b))
    return shorter >= 2 and len(a & b) >= ALIKE * shorter and len(a & b) * 3 >= max(len(a), len(b))


def _files(observations: Sequence[Observation]) -> Iterator[_Group]:
    """A file that errors, decisions and changes are about again and again."""
    groups: dict[str, list[Observation]] = {}
    for one in observations:
        for file in dict.fromkeys(one.files):
            groups.setdefault(file, []).append(one)
    for file, there in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        types = Counter(one.type for one in there if one.type and not _is_commit(one))
        mended = [one for one in there if one.type == "bugfix" and not _is_commit(one)]
        # Edits alone say only that it was worked on.
        if len(there) >= FILE_TIMES and len(mended) >= 2:
            told = ", ".join(f"{count} {kind}" for kind, count in sorted(types.items()))
            last = cut(mended[-1].content, 200)
            yield f"{file} needed mending again: {told}, {_span(there)}. Last: {last}", there


def _is_commit(one: Observation) -> bool:
    """True for a commit: the fix that it holds has a line of its own."""
    return one.content.startswith("Committed ")


def _names(observations: Sequence[Observation]) -> Iterator[_Group]:
    """A ticket, a person, a work that is named on several days."""
    groups: dict[str, list[Observation]] = {}
    for one in observations:
        for name in dict.fromkeys(_NAME.findall(salience.bounded(one.content))):
            if any(map(salience.says_nothing, name.split())):
                continue
            groups.setdefault(name, []).append(one)
    for name, there in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if len(there) >= SUBJECT_TIMES and len({one.at.date() for one in there}) >= SUBJECT_DAYS:
            yield f"{name} comes up again and again: {len(there)} times, {_span(there)}.", there


def _span(there: Sequence[Observation]) -> str:
    """``2026-11-02 to 2026-11-29``, or one day."""
    days = sorted({dates.stamp(one.at)[:10] for one in there})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
