"""Whether a candidate finding is raised: what was said before, and the guidelines of a review."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory_palace.core import tokens
from memory_palace.core.findings import Finding
from memory_palace.core.text import nfc

OVERLAP = 0.6
"""The share of common words from which on two bodies say the same."""
COSINE = 0.90
"""The cosine from which on they do."""

_GUIDELINE = re.compile(r"[ \t]*[-*+][ \t]+do not flag[ \t]+(\S.*)", re.IGNORECASE)
_DASH = re.compile(r"[ \t]+(?:—|–|--|-)[ \t]+")
_RUNS = re.compile(f"{tokens.RUN}+")
_BETWEEN = re.compile(r"[\s_-]+")

Cosines = Callable[[str, Sequence[str]], Sequence[float]]
"""The cosine of a text with each of some others; empty where there is no embedder."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """A line ``- Do not flag <kind> — <reason>`` of a guidelines file; ``line`` counts from 1."""

    kind: str
    reason: str
    line: int

    @property
    def key(self) -> str:
        return _kind_key(self.kind)

    def __str__(self) -> str:
        return f"Do not flag {self.kind}" + (f" — {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Decision:
    """``raised``, or not; why; and the id of the finding that decided it, if one did."""

    raised: bool
    why: str
    finding: str | None = None


def guidelines(text: str) -> tuple[Guideline, ...]:
    """The guidelines that a file holds, in their order."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _GUIDELINE.match(line.rstrip()):
            kind, *rest = _DASH.split(match.group(1), maxsplit=1)
            found.append(Guideline(kind.strip(), rest[0].strip() if rest else "", number))
    return tuple(found)


def covering(kind: str, lines: Iterable[Guideline]) -> Guideline | None:
    """The guideline of this kind; case, spaces, hyphens and underscores are all one."""
    key = _kind_key(kind)
    return next((line for line in lines if key and line.key == key), None)


def _kind_key(kind: str) -> str:
    return _BETWEEN.sub(" ", nfc(kind).casefold()).strip()


def overlap(a: str, b: str) -> float:
    """The share of words that two texts have in common, from 0 to 1; 1 for equal texts."""
    if a == b:
        return 1.0
    ours, theirs = _words(a), _words(b)
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0


def _words(text: str) -> set[str]:
    folded = tokens.folded(text.casefold())
    # Scripts without spaces by pairs of neighbours.
    runs = _RUNS.findall(folded)
    pairs = {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))}
    return {*tokens.words(folded), *pairs}


def decide(
    candidate: Finding,
    stored: Iterable[Finding],
    lines: Iterable[Guideline],
    cosines: Cosines = lambda _, others: [],
) -> Decision:
    """Raise ``candidate``, or skip it and why.

    ``cosines`` is asked only if findings on the same path share too few words to be told by them,
    and none that shares enough speaks against raising.
    """
    guideline = covering(candidate.kind, lines)
    if guideline:
        return Decision(False, f"guideline: {guideline}")
    here = [one for one in stored if nfc(one.path) == nfc(candidate.path)]
    scores = [overlap(candidate.body, one.body) for one in here]
    pairs = list(zip(scores, here, strict=True))
    alike = [pair for pair in pairs if pair[0] >= OVERLAP]
    blocking = _blocking(candidate, alike)
    others = [one for score, one in pairs if score < OVERLAP]
    if not blocking and others:
        near = cosines(candidate.body, [one.body for one in others])
        alike += [
            (cosine, one) for cosine, one in zip(near, others, strict=False) if cosine >= COSINE
        ]
        blocking = _blocking(candidate, alike)
    if blocking:
        _, one = max(blocking, key=lambda pair: (pair[0], pair[1].at))
        return Decision(False, _against(candidate, one), one.id)
    if alike:
        _, one = max(alike, key=lambda pair: (pair[0], pair[1].at))
        return Decision(True, _again(one), one.id)
    return Decision(True, "new")


def _blocking(
    candidate: Finding, alike: Iterable[tuple[float, Finding]]
) -> list[tuple[float, Finding]]:
    return [pair for pair in alike if _against(candidate, pair[1])]


def _against(candidate: Finding, one: Finding) -> str:
    """Why ``one`` speaks against raising ``candidate``; empty if it does not."""
    if one.is_open:
        return "already raised"
    if one.resolution in ("resolved_bad_fix", "resolved_no_fix"):
        return ""
    known = candidate.context and one.context
    if known and candidate.context != one.context:
        return ""
    if one.status == "skipped":
        why = f"skipped before: {' '.join(one.skip_reason.split())}"
    elif one.resolution == "resolved_fixed":
        why = "fixed before"
    else:
        answer = " ".join(one.answer.split())
        why = f"accepted before: {answer}" if answer else "accepted before"
    return f"{why} (the code is unchanged)" if known else f"{why} (the code was not compared)"


def _again(one: Finding) -> str:
    if one.resolution == "resolved_bad_fix":
        return "the fix was bad"
    if one.resolution == "resolved_no_fix":
        return "it was not fixed"
    word = "skipped" if one.status == "skipped" else one.resolution.removeprefix("resolved_")
    return f"the code changed since it was {word}"
