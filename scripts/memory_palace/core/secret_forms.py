"""The forms that secrets have: where they stand in a text. Each search is linear in its length."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

MARK = re.compile(r"\[PRIVATE\]|\[SECRET: [\w .-]{1,60}\]", re.ASCII)
"""What stands where something was taken out."""


class Span(NamedTuple):
    """A secret of ``kind`` from character ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    kind: str


# A secret begins where a word begins; after an escape of JSON (\n) or of a URL (%3D) as well.
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"

# kind, a text that every match holds (asked first, since it is quick), pattern (group 1, where
# there is one, is the secret). No pattern demands anything after its last repeat: none backtracks.
_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("sk- key", "sk-", _EDGE + r"sk-[A-Za-z0-9_-]{20,}"),
    ("GitHub token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    # The dot is demanded: so it may begin only where a run of its characters begins.
    (
        "JWT",
        "eyJ",
        r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    ("AWS key id", "IA", _EDGE + r"A[KS]IA[0-9A-Z]{16,}"),
    ("Slack token", "xox", _EDGE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", "xapp-", _EDGE + r"xapp-[A-Za-z0-9-]{10,}"),
    ("Google key", "AIza", _EDGE + r"AIza[A-Za-z0-9_-]{30,}"),
    ("Stripe key", "k_live_", _EDGE + r"[rs]k_live_[A-Za-z0-9]{16,}"),
    ("npm token", "npm_", _EDGE + r"npm_[A-Za-z0-9]{36,}"),
    ("Hugging Face token", "hf_", _EDGE + r"hf_[A-Za-z0-9]{30,}"),
    ("bearer token", "earer", r"(?i:\bbearer)[ \t]{1,8}([A-Za-z0-9._~+/=-]{16,})"),
    ("bearer token", "EARER", r"BEARER[ \t]{1,8}([A-Za-z0-9._~+/=-]{16,})"),
    (
        "basic credentials",
        "asic",
        r"(?i:authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic)[ \t]{1,8}"
        r"([A-Za-z0-9+/=_-]{8,})",
    ),
)
# To the end of the word: what stands right behind a mark would be looked at in another light.
_TAIL = r"[A-Za-z0-9_-]*"

_URL = r"://[^\s/:@\"'<>]{0,100}:([^\s/\"'<>`]{1,200})@"
_URL_EXAMPLES = (
    r"(?i)[<$%{*]|\.{3}|…|x+\Z|\[(?:PRIVATE|SECRET)|(?:password|passwd|pass|pw|secret|token)\Z"
)

_ARMOUR = r"-----(BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----"
_BASE64_RUN = r"[A-Za-z0-9+/=]{20,}"
_BASE64_LINES = r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{20,})+(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]+)?"

_NAMED = ("pass", "pwd", "secret", "credential", "key", "token")
"""Every name of a secret holds one of these; a text without them gives none a value."""


def spans(text: str) -> list[Span]:
    """The secrets in ``text`` in their order; none overlaps another."""
    found: list[Span] = []
    for search in _SEARCHES:
        found += search(text)
    return _apart(found)


def _apart(found: Iterable[Span]) -> list[Span]:
    """Overlapping spans as one, named after the search that comes first in the list."""
    ranked = sorted(enumerate(found), key=lambda each: each[1].start)
    result: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if result and span.start < result[-1][1].end:
            other_rank, other = result[-1]
            kind = span.kind if rank < other_rank else other.kind
            joined = Span(other.start, max(other.end, span.end), kind)
            result[-1] = (min(rank, other_rank), joined)
        else:
            result.append((rank, span))
    return [span for _, span in result]


def _key_blocks(text: str) -> Iterator[Span]:
    """Private keys from BEGIN to END; one without an end as far as its lines go."""
    if "PRIVATE KEY" not in text:
        return
    marks = list(_compiled(_ARMOUR).finditer(text))
    for mark, after in zip_longest(marks, marks[1:]):
        if mark.group(1) == "END":
            continue
        if after is not None and after.group(1) == "END":
            # The words alone, in a sentence about keys, are no key.
            if _compiled(_BASE64_RUN).search(text, mark.end(), after.start()):
                yield Span(mark.start(), _word_end(text, after.end()), "private key")
        elif lines := _compiled(_BASE64_LINES).match(text, mark.end()):
            yield Span(mark.start(), _word_end(text, lines.end()), "private key")


def _word_end(text: str, at: int) -> int:
    tail = _compiled(_TAIL).match(text, at)
    return tail.end() if tail else at


def _tokens(text: str) -> Iterator[Span]:
    for kind, hint, written in _TOKENS:
        if hint not in text:
            continue
        pattern = _compiled(written)
        group = pattern.groups
        for match in pattern.finditer(text):
            value = match.group(group)
            if _is_random(value):
                yield Span(match.start(group), _word_end(text, match.end(group)), kind)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Only once its hint was seen: all of them take milliseconds, which a hook has not."""
    return re.compile(pattern)


def _is_random(value: str) -> bool:
    """False for words joined by hyphens and for rows of one sign, as in examples."""
    return any(c.isdigit() for c in value) and len(set(value[-12:])) > 2


def _url_passwords(text: str) -> Iterator[Span]:
    if "://" not in text:
        return
    for match in _compiled(_URL).finditer(text):
        if not _compiled(_URL_EXAMPLES).match(match.group(1)):
            yield Span(match.start(1), match.end(1), "URL password")


def _assignments(text: str) -> Iterator[Span]:
    low = text.lower()
    if not any(word in low for word in _NAMED):
        return
    from memory_palace.core.secret_names import assigned  # its patterns take milliseconds

    for start, end, kind in assigned(text):
        yield Span(start, end, kind)


_SEARCHES: tuple[Callable[[str], Iterator[Span]], ...] = (
    _key_blocks,
    _tokens,
    _url_passwords,
    _assignments,
)
