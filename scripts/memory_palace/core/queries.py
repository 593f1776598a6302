"""What kind of work a prompt is about. It orders the situation report; nothing is refused by it."""

import re
from typing import NamedTuple

LOOKED_AT = 4_000
"""Characters of a prompt that are looked at: what it asks stands at its start."""

GENERAL_ORDER = ("preference", "lesson", "mistake", "pattern", "decision", "done")


class QueryClass(NamedTuple):
    """A kind of work: the order of the report's sections (names of categories), and how many
    entries that are near to the prompt may join."""

    name: str
    order: tuple[str, ...]
    vector_hits: int

    @property
    def boosted(self) -> tuple[str, ...]:
        """The sections that stand earlier than in general: they get more room."""
        return tuple(
            name for place, name in enumerate(self.order) if place < GENERAL_ORDER.index(name)
        )


CLASSES = (
    QueryClass("pr_review", ("lesson", "mistake", "pattern", "preference", "decision", "done"), 7),
    QueryClass(
        "git_release", ("preference", "lesson", "decision", "mistake", "pattern", "done"), 6
    ),
    QueryClass("debug", ("lesson", "mistake", "preference", "pattern", "decision", "done"), 7),
    QueryClass("general", GENERAL_ORDER, 5),
)
"""In the order in which they are tried; the last one is for everything else."""

GENERAL = CLASSES[-1]

_PATTERNS = {
    # A review of somebody's change, before what releases and bugs have in common with it.
    "pr_review": r"""
        \b(?:code[ -]?)?review(?:ed|er|ers|ing|s)?\b
        | \bpull[ -]?requests? | \bmerge[ -]?requests?
        | \b(?:pr|mr)s?\s*[\#!]?\d+ | \b(?:this|the|my|your|open|a)\s+(?:pr|mr)s?\b
        | /pull/\d+ | /merge_requests/\d+
        | \blgtm\b | \bapprove\s+(?:the\s+)?(?:change|diff|patch)
        | \bfeedback\s+on\s+(?:the|this|my)\s+(?:diff|patch|change|branch)""",
    "git_release": r"""
        \breleas(?:e|es|ed|ing)\b | \bchange-?log\b | \bhot-?fix\b | \brollback\b
        | \b(?:bump|cut|tag)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:version|tag|release|v?\d+\.\d+)
        | \bsemver\b | \bversion\s+(?:bump|number)
        | \bgit\s+(?:push|tag|merge|rebase|cherry-pick|revert|reset|bisect|commit|checkout
            |switch|branch|stash|pull|fetch)\b
        | \b(?:rebase|cherry-pick|squash|force[ -]push)\b
        | \b(?:commit|push)\s+(?:it|this|that|these|them|all|everything|the|my|your)\b
        | \bmerge\s+(?:conflicts?|it|this|the|my|into|to|branch)\b
        | \b(?:deploy|publish|ship)(?:s|ed|ing|ment)?\b""",
    "debug": r"""
        \bdebug(?:s|ged|ging|ger)?\b | \bbugs?\b | \btraceback\b | \bstack\s?trace
        | \b\w*(?:Error|Exception)\b | \berrors?\b | \bexceptions?\b | \bpanic(?:s|ked)?\b
        | \bfail(?:s|ed|ing|ure|ures)?\b | \bcrash(?:es|ed|ing)?\b | \bsegfaults?\b
        | \bbroken?\b | \bflaky\b | \bhangs?\b | \btimes?\s+out\b | \bdead-?locks?\b
        | \b(?:does|do|is|are|did)(?:n['’]?t|\s+not)\s+(?:work|run|start|pass|compile|build)
        | \bnot\s+working\b | \bwhy\s+(?:is|does|do|did|are)\b.*\b(?:wrong|slow|empty|missing)\b
        | \bregress(?:ed|ion|ions)\b | \broot\s+cause\b | \bexit\s+code\s+[1-9]""",
}
_COMPILED = {
    name: re.compile(pattern, re.VERBOSE | re.IGNORECASE) for name, pattern in _PATTERNS.items()
}


def query_class(text: str) -> QueryClass:
    """The class of a prompt: the first of :data:`CLASSES` that has a word in it."""
    return classified(text)[0]


def classified(text: str) -> tuple[QueryClass, str]:
    """The class of a prompt and the words in it that decided; none for the general class."""
    looked_at = text[:LOOKED_AT]
    for kind in CLASSES:
        pattern = _COMPILED.get(kind.name)
        found = pattern.search(looked_at) if pattern else None
        if found:
            return kind, " ".join(found[0].split())[:60]
    return GENERAL, ""
