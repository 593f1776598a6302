"""Start and end of a long prompt: nobody looks at the middle of a pasted megabyte."""

from memory_palace.core import fence

LOOKED_AT = 16_384
"""Of a longer prompt so many characters at its start and at its end are looked at."""


def bounded(text: str) -> str:
    """As much of ``text`` as is looked at; a text that is short enough stays as it is."""
    if len(text) <= 2 * LOOKED_AT + 1:
        return text
    head, tail = text[:LOOKED_AT], text[-LOOKED_AT:]
    # What memory injected may begin or end in the part that is cut out.
    opened, closed = head.rfind(fence.OPEN), tail.find(fence.CLOSE)
    if opened > head.rfind(fence.CLOSE):
        head = head[:opened]
    if closed >= 0 and fence.OPEN not in tail[:closed]:
        tail = tail[closed + len(fence.CLOSE) :]
    return f"{head}\n{tail}"
