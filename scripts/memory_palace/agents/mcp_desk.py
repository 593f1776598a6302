"""What the tools of an MCP server share."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from memory_palace.core.errors import BadInput
from memory_palace.search import recent
from memory_palace.serve.source import Source

Words = Annotated[str, Field(description="What to look for: a question or words.")]
Reason = Annotated[str, Field(description="Why: kept in the event and the commit.")]
Day = Annotated[str, Field(description="A date, 7d, 24h, yesterday; empty: no bound.")]
Listed = Annotated[int, Field(ge=1, le=200, description="At most so many.")]


def utc_now() -> datetime:
    """The clock, where none is passed in."""
    return datetime.now(UTC)


ANONYMOUS = "mcp"
"""Who writes where neither the user nor the environment says it."""

client: ContextVar[str] = ContextVar("client", default="")
"""The name that the client of this call gave when it connected."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the tools work with: the palace, its answers, the clock."""

    root: Path
    source: Source
    now: Callable[[], datetime] = utc_now


def moments(
    since: str, until: str, now: datetime, last_name: str = "until"
) -> tuple[datetime | None, datetime | None]:
    """The moments that both name, None for an empty one. ``last_name`` is what the client calls
    the end. Raises :class:`BadInput`."""
    first, last = _moment("since", since, now), _moment(last_name, until, now, end=True)
    if first and last and first > last:
        raise BadInput(f"since {since} is after until {until}: swap them")
    return first, last


def _moment(name: str, text: str, now: datetime, end: bool = False) -> datetime | None:
    found = recent.moment(text, now, end) if text else None
    if text and found is None:
        raise BadInput(f"{name} {text!r} is no date: write {recent.FORMS}")
    return found
