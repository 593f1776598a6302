"""Long texts cut to a length, so that half of what must not be stored never gets through.

A private span or an injection may have one end in the part that goes; a secret may lie across the
edge.
"""

import re

from memory_palace.core import fence, private_spans

LONGEST_WORD = 4_096
"""Characters of the longest word that is not cut through: no secret on one line has more."""

_MARK = re.compile(r"\[… (\d{1,12}) characters …\]")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_EDGE = re.compile(r"\s")
_MARK_ROOM = 40


def cuttable(text: str) -> str:
    """``text`` with a mark for each private span and without injections: what has to be done before
    anything is cut out of it."""
    if "<" not in text:
        return text
    low = text.lower()
    if "private" in low:
        text = private_spans.hidden(text)
    return fence.stripped(text) if fence.OPEN in low else text


def ends(text: str, most: int) -> str:
    """Beginning and end of ``text``, ``most`` characters in all, cut where words end; between them
    a mark that says how many are gone. What may be the rest of a key is left out too."""
    if len(text) <= most:
        return text
    room = max(most - _MARK_ROOM, 0)
    first = room * 3 // 5
    head = text[:first]
    at = max(head.rfind("\n"), head.rfind(" "))
    head = head[:at] if at >= max(first - LONGEST_WORD, 0) else head
    tail = text[len(text) - (room - first) :]
    edge = _EDGE.search(tail, 0, LONGEST_WORD)
    tail = tail[edge.end() :] if edge else tail
    for key in _KEY_END.finditer(tail):
        if "BEGIN" not in tail[: key.start()]:
            tail = tail[key.end() :]
        break
    gone = text[len(head) : len(text) - len(tail)]
    # Where it was cut before, that part counts as long as it was.
    lost = len(gone) + sum(int(mark[1]) - len(mark[0]) for mark in _MARK.finditer(gone))
    mark = f"[… {lost} characters …]"
    return "\n".join(part for part in (head.rstrip(), mark, tail.strip()) if part)
