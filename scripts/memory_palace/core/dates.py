"""Dates as people write them, in UTC. Naive times are UTC."""

import re
from datetime import UTC, datetime, timedelta

FORMS = "2026-11-29 or 2026-11-29T20:15:03Z"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z", re.ASCII)
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*([Zz]|[+-]\d\d:?\d\d)?\Z"
)


def parse(text: str) -> datetime | None:
    """The moment that an ISO date or date-time names, in UTC; a date is its first moment.

    None if ``text`` has another form or names no real day.
    """
    if _STAMP.match(text):  # as it is stored: a log has a hundred thousand
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return None
    text = text.strip()
    found = _TIME.match(text)
    if not (found or _DAY.match(text)):
        return None
    try:
        if not found:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        day, clock, zone = found.groups()
        moment = datetime.fromisoformat(f"{day}T{clock}{(zone or 'Z').upper()}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def end_of(text: str) -> datetime | None:
    """Like :func:`parse`, but a day means its last moment."""
    moment = parse(text)
    if moment is not None and _DAY.match(text.strip()):
        return moment + (timedelta(days=1) - timedelta(microseconds=1))
    return moment


def stamp(moment: datetime) -> str:
    """``moment`` as it is stored: ``2026-11-29T20:15:03Z``."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def minute(moment: datetime) -> str:
    """``2026-11-29 20:15``, UTC."""
    return stamp(moment)[:16].replace("T", " ")


def from_seconds(seconds: float) -> datetime:
    """The moment ``seconds`` after the epoch, clipped to what a datetime can hold."""
    low, high = -62135596800, 253402300799
    # No fromtimestamp: Windows has none for times before the epoch.
    return _EPOCH + timedelta(seconds=min(max(seconds, low), high))


def local_day(moment: datetime) -> str:
    """The day of ``moment`` as people here call it; a bare date stays that date."""
    if moment.timetz() == datetime.min.replace(tzinfo=UTC).timetz():
        return moment.date().isoformat()
    try:
        return moment.astimezone().date().isoformat()
    except (OSError, OverflowError, ValueError):  # too early or late for a datetime, or Windows
        return moment.date().isoformat()
