"""Which observations must survive drops: what nobody could find out again."""

import re

from memory_palace.core import datewords, observing_cues
from memory_palace.core.ledger import Observation
from memory_palace.core.salience import bounded

_TYPES = frozenset(("decision", "bugfix", "feature"))
# A ticket, a commit, a UUID, an address, a version.
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:[A-Z]{2,10}-\d{1,7}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{13,22}"
    r"|(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,40}|v\d{1,4}\.\d{1,5}(?:\.\d{1,5})?[\w.-]{0,20})"
    r"(?![\w-])|https?://\S|\barn:\S|(?<!\w)\#\d{1,7}\b"
    r"|(?i:\b(?:order|account|ticket|issue|pr|case|invoice|build|id|port) (?:no\.? |number )?\d{2})"
)
_ERROR = re.compile(
    r"(?i)\b(?:[a-z]{0,40}(?:error|exception)\b.{0,80}?[:`]|traceback|panicked|fatal:|failed:"
    r"|exit code [1-9]|(?:http|status) [45]\d\d\b)"
)
_ERRNO = re.compile(
    r"\bE(?:NO[A-Z]{3,8}|CONN[A-Z]{3,8}|ACCES|PERM|EXIST|TIMEDOUT|PIPE|ADDRINUSE|IO|MFILE|BUSY|INVAL"
    r"|ISDIR|AI_AGAIN|RESOLVE)\b"
)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.\d{1,2}\.\d{4}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b")
_SOON = re.compile(
    r"(?i)\b(?:on|by|until|before|due|next) "
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)\b"
)
# As models write it, of somebody else or of nobody.
_NOTED = re.compile(
    r"(?i)\b(?:prefers|preference|dislikes|insists on)\b"
    r"|\b(?:user|person|customer|client|team) "
    r"(?:wants|likes|hates|does(?: not|n't) (?:want|like))\b"
    r"|^(?:\w{1,40}: )?(?:(?:the )?\w{1,40} )?(?:decided|chose|rejected|agreed|picked|settled on"
    r"|ruled out|opted|switched to|went with)\b"
    r"|^(?:\w{1,40}: )?(?:merged|deployed|resolved|closed|published|migrated)\b"
    r"|\btests pass(?:ed)?\b"
    r"|(?<!not )(?<!n't )\b(?:finished|completed|deployed|merged|released)\b"
)
_WORST = "critical"

_EXACT = (_IDENTIFIER, _ERROR, _ERRNO, _DAY, _SOON, _NOTED)


def survives(observation: Observation) -> bool:
    """True for preferences, finished work, identifiers, exact errors, decisions, dates, blockers.

    Decided by type and relevance, and by the words of the line: others than the rules write too.
    """
    if observation.type in _TYPES or observation.relevance == _WORST:
        return True
    text = bounded(observation.content)
    if any(pattern.search(text) for pattern in _EXACT):
        return True
    if any(date.day and date.month for date in datewords.dates_in(text)):
        return True
    return any(find(text) for find in (observing_cues.is_settled, observing_cues.of_wish))
