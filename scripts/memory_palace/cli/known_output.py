"""Facts beside hits, as lines and as JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_palace.core import excerpts, facts_text
from memory_palace.core.fact import Fact
from memory_palace.core.problems import printable

LONGEST = 300
"""Characters of a fact's line."""


def as_lines(facts: Sequence[Fact], now: datetime) -> list[str]:
    """A line that says what follows, and one a fact."""
    shown = (excerpts.cut(printable(facts_text.line(fact, now)), LONGEST) for fact in facts)
    return ["facts:", *(f"   {line}" for line in shown)]


def as_dicts(facts: Sequence[Fact], now: datetime) -> list[dict[str, Any]]:
    """With the keys of `palace kg query --format jsonl`."""
    return [facts_text.as_dict(fact, now) for fact in facts]
