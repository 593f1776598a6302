"""Facts that a sentence of English states: "X uses Y", "we switched from Y to X on DATE".

Only plain statements: no question, no negation, nothing that is wished, doubted or quoted.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_palace.core import datewords
from memory_palace.core.stopwords import ENGLISH

PLAIN = 0.5
"""Confidence in a sentence about names that nothing marks as names."""

NAMED = 0.7
"""If both sides are marked: a capital, a digit, code, a link."""

LONGEST_NAME = 80
MOST_WORDS = 4
"""Words of a name that nothing marks."""

_VERBS = (
    (r"(?:uses|use|is using|are using)", "uses"),
    (r"(?:is|are) (?:now )?owned by", "owned_by"),
    (r"owns", "owns"),
    (r"(?:is|are) (?:now )?maintained by", "maintained_by"),
    (r"(?:lives|live) (?:in|at|on)", "lives_in"),
    (r"(?:is|are) (?:located|based) (?:in|at)", "lives_in"),
    (r"(?:is|are) hosted (?:on|at|by|in)", "hosted_on"),
    (r"(?:runs|run) on", "runs_on"),
    (r"(?:depends|depend) (?:up)?on", "depends_on"),
    (r"requires", "depends_on"),
    (r"(?:is|are) written in", "written_in"),
    (r"(?:is|are) built (?:with|on)", "built_with"),
    (r"works (?:for|at)", "works_for"),
    (r"reports to", "reports_to"),
    (r"(?:was|were|has been|is) replaced (?:by|with)", "replaced_by"),
    (r"(?:replaced|replaces|has replaced)", "replaced"),
    (r"(?:moved|has moved) to", "moved_to"),
)
"""How a relation is said, and the predicate; `replaced_by` is turned round."""

_STATED = re.compile("|".join(rf"(?P<v{n}>\b{verb}\b)" for n, (verb, _) in enumerate(_VERBS)))
_CHANGED = re.compile(
    r"^(?P<who>.{1,120}?)\b(?:have |has )?(?:switched|moved|migrated|changed) from (?P<old>.+?) to "
    r"(?P<new>.+)$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without|hardly|rarely|no longer|nobody|none|nothing"
    r"|if|unless|whether|would|should|could|might|may|must|can|will|shall|plan|plans|planned"
    r"|want|wants|wanted|consider|considered|considering|maybe|perhaps|probably|possibly|propose"
    r"|proposed|proposes|suppose|supposedly|think|thinks|guess|hope|let us|let's|imagine|example"
    r"|used to|instead of|rather than|try|tries|tried|claims?|claimed|says?|said|asks?|asked"
    r"|wrong|false|untrue|todo|e\.g)\b|n['’]t\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]*’(?!\w)|(?<!\w)'[^']*'(?!\w)")
_HOLE = "\ufffc"
_LEAD = re.compile(
    r"^(?:(?:since|from|as of|on|in)\b[^,]{0,40},\s*"
    r"|(?:so|now|today|currently|and|but|then|also|here|meanwhile),?\s+)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|our|its|their|my|your|this|that)\s+", re.IGNORECASE)
_MARKED = re.compile(
    r"`(?P<code>[^`\n]{1,80})`|\[\[(?P<link>[^\]\n]{1,200})\]\]"
    r"|\*\*(?P<bold>[^*\n]{1,80})\*\*|\[(?P<text>[^\]\n]{1,80})\]\([^)\n]*\)"
)
_BREAK = re.compile(
    r"[,;:()…–—]|\s-\s|\s(?:and|or|for|to|because|since|which|that|with|in|on|at|as|from|when|while"
    r"|but|by|if|so|than|via|until|before|after|instead|now|again|where|who|into|under|over|through"
    r"|during|of|is|are|was|were|has|have|only|too|already|today|currently)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(r"^\s*(?:,\s*and|,|and|&)\s+", re.IGNORECASE)
_WEAK = frozenset(
    """it this that these those they them he she we you i one ones each both some all many most
    everything something anything nothing someone somebody everyone everybody there here which who
    what way thing things case time lot same other others more less people person
    user users""".split()
)
_SELF = re.compile(r"^(?:we|the (?:team|project))\b", re.IGNORECASE)


class Said(NamedTuple):
    """A stated fact; an empty ``subject`` is whoever the text is of. ``since`` is a day."""

    subject: str
    predicate: str
    object: str
    confidence: float
    since: str = ""


class _Name(NamedTuple):
    text: str
    marked: bool
    length: int
    """Characters of the text that it was read from."""


def facts_of(sentence: str) -> Iterator[Said]:
    """What one sentence, on one line and with its mark at the end, states."""
    text = _QUOTED.sub(_HOLE, sentence.strip())
    if text.endswith("?") or _UNSURE.search(_MARKED.sub(_HOLE, text)):
        return
    text = text.rstrip(".!; ")
    since = _day(text)
    changed = _CHANGED.match(text)
    if changed:
        yield from _switched(changed, since)
        return
    verb = next((v for v in _STATED.finditer(text) if _is_bare(text, v.start())), None)
    if verb is None:
        return
    predicate = _VERBS[int(str(verb.lastgroup)[1:])][1]
    subject = _subject(text[: verb.start()])
    if subject is None:
        return
    for name in _objects(text[verb.end() :]):
        sides = (subject.text, name.text)
        if predicate == "replaced_by":
            sides = sides[::-1]
        sure = NAMED if (subject.marked or not subject.text) and name.marked else PLAIN
        yield Said(sides[0], predicate.replace("replaced_by", "replaced"), sides[1], sure, since)


def plain_name(text: str) -> str:
    """``text`` without the marks of Markdown; a link's is what it leads to, or its alias."""
    found = _MARKED.fullmatch(text.strip())
    if not found:
        return text.strip().strip("*_").strip()
    return _of_mark(found)


def _of_mark(found: re.Match[str]) -> str:
    link = found["link"]
    if link is not None:
        target, _, alias = link.partition("|")
        return (alias or target.split("#")[0].rsplit("/", 1)[-1]).strip().removesuffix(".md")
    return (found["code"] or found["bold"] or found["text"] or "").strip()


def _switched(changed: re.Match[str], since: str) -> Iterator[Said]:
    who = changed["who"].strip()
    subject = _Name("", True, 0) if _SELF.match(_LEAD.sub("", who)) else _subject(who)
    old, new = _one(changed["old"], whole=True), next(_objects(changed["new"]), None)
    if subject is None or old is None or new is None:
        return
    sure = NAMED if old.marked and new.marked else PLAIN
    yield Said(subject.text, "uses", new.text, sure, since)
    yield Said(new.text, "replaced", old.text, sure, since)


def _is_bare(text: str, at: int) -> bool:
    """True outside of code and links."""
    return not any(m.start() < at < m.end() for m in _MARKED.finditer(text))


def _subject(before: str) -> _Name | None:
    """The name that a sentence opens with; the empty one for `we`; None for anything else."""
    text = _LEAD.sub("", before.strip()).strip()
    if _SELF.fullmatch(text):
        return _Name("", True, len(before))
    return _one(text, whole=True)


def _objects(after: str) -> Iterator[_Name]:
    """The names that follow a verb: one, or several joined by commas and `and`."""
    rest = after
    for number in range(5):
        name = _one(rest)
        if name is None or (number and not name.marked):
            return
        yield name
        rest = rest[name.length :]
        joined = _ALSO.match(rest)
        if not joined:
            return
        rest = rest[joined.end() :]


def _one(text: str, whole: bool = False) -> _Name | None:
    """The name at the start of ``text``; with ``whole`` nothing may follow it."""
    lead = len(text) - len(text.lstrip())
    article = _ARTICLE.match(text[lead:])
    begin = lead + (article.end() if article else 0)
    found = _MARKED.match(text, begin)
    if found:
        name, end, marked = _of_mark(found), found.end(), True
        if whole and text[end:].strip():
            return None
    else:
        stop = _BREAK.search(text, begin)
        end = stop.start() if stop else len(text)
        if whole and stop:
            return None
        name = text[begin:end].strip().strip("*_").strip()
        words = name.split()
        if not 0 < len(words) <= MOST_WORDS or any(word.lower() in _WEAK for word in words):
            return None
        if all(word.lower() in ENGLISH for word in words):
            return None
        marked = any(c.isupper() or c.isdigit() for c in (name if begin or not whole else name[1:]))
        marked = marked or (whole and not begin and name[:1].isupper() and len(words) == 1)
    if found and found["code"] and " " in name:
        return None  # a command
    if not name or len(name) > LONGEST_NAME or _HOLE in name or not any(map(str.isalnum, name)):
        return None
    return _Name(name, marked, end)


def _day(text: str) -> str:
    """The day that a sentence names, if it is the only one and whole."""
    found = list(datewords.dates_in(text))
    if len(found) != 1 or not (found[0].year and found[0].month and found[0].day):
        return ""
    return f"{found[0].year:04}-{found[0].month:02}-{found[0].day:02}"
