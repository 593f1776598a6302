"""Dates as people write them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import dates


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-29", "2026-11-29T00:00:00"),
        ("2024-02-29", "2024-02-29T00:00:00"),
        (" 2026-11-29\n", "2026-11-29T00:00:00"),
        ("2026-11-29T20:15:03Z", "2026-11-29T20:15:03"),
        ("2026-11-29t20:15:03z", "2026-11-29T20:15:03"),
        ("2026-11-29 20:15:03", "2026-11-29T20:15:03"),
        ("2026-11-29T20:15", "2026-11-29T20:15:00"),
        ("2026-11-29T20:15:03.5Z", "2026-11-29T20:15:03.500000"),
        ("2026-11-29T20:15:03.123456789Z", "2026-11-29T20:15:03.123456"),
        ("2026-11-29T20:15:03+02:00", "2026-11-29T18:15:03"),
        ("2026-11-29T20:15:03 -0530", "2026-11-30T01:45:03"),
        ("2026-01-01T00:30+01:00", "2025-12-31T23:30:00"),
    ],
)
def test_forms(text: str, moment: str) -> None:
    """ISO dates and date-times are read, in UTC; naive ones are UTC."""
    assert dates.parse(text) == datetime.fromisoformat(moment).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026",
        "20261129",
        "2026-1-2",
        "29.11.2026",
        "２０２６-11-29",
        "2026-11-29T",
        "2026-02-30",
        "2023-02-29",
        "2026-13-01",
        "2026-00-10",
        "0000-01-01",
        "2026-11-29T24:00",
        "2026-11-29T23:59:60Z",
        "2026-11-29T10:60",
        "2026-11-29T20:15:03+25:00",
        "2026-11-29 x",
        "2026-11-29T20",
        "2026-11-29T20:15:03Z Z",
        "2026-11-29T20:15 UTC",
        "2026-11-29\n2026-11-29",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_what_is_no_date_gives_none(text: str) -> None:
    """Other forms, days that are none, leap seconds and overflows give None, never an error."""
    assert dates.parse(text) is None
    assert dates.end_of(text) is None


@pytest.mark.parametrize("day", ["2026-11-29", "2024-02-29", "0001-01-01", "9999-12-31"])
def test_a_day_as_an_end_is_the_whole_day(day: str) -> None:
    """The last moment of the day is on it, and nothing of the day is after it."""
    end = dates.end_of(day)
    assert end is not None
    assert end.isoformat() == f"{day}T23:59:59.999999+00:00"


def test_a_date_time_as_an_end_is_that_moment() -> None:
    """Only a bare day is stretched."""
    assert dates.end_of("2026-11-29T00:00Z") == datetime(2026, 11, 29, tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)))
@MODEST
def test_a_stamp_reads_back(moment: datetime) -> None:
    """A moment that is stored and read is the same to the second, in every year."""
    text = dates.stamp(moment)
    assert len(text) == 20
    assert dates.parse(text) == moment.replace(microsecond=0)


def test_a_stamp_is_in_utc() -> None:
    """The zone of the moment does not show."""
    moment = datetime.fromisoformat("2026-11-29T22:15:03.9+02:00")
    assert dates.stamp(moment) == "2026-11-29T20:15:03Z"


@pytest.mark.parametrize(
    ("seconds", "stamp"),
    [
        (0.0, "1970-01-01T00:00:00Z"),
        (1_700_000_000.0, "2023-11-14T22:13:20Z"),
        (1e30, "9999-12-31T23:59:59Z"),
        (float("inf"), "9999-12-31T23:59:59Z"),
        (-1e30, "0001-01-01T00:00:00Z"),
    ],
)
def test_seconds_are_clipped(seconds: float, stamp: str) -> None:
    """An absurd modification time is a moment all the same."""
    assert dates.stamp(dates.from_seconds(seconds)) == stamp


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The local time zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_bare_date_stays_that_date(zone: str) -> None:
    """Midnight UTC is how a date without a time is kept: it is shown as written anywhere."""
    assert dates.local_day(datetime(2026, 11, 29, tzinfo=UTC)) == "2026-11-29"


def test_a_moment_is_shown_on_the_local_day(zone: str) -> None:
    """Late in the evening in UTC is the next day in Tokyo, and early is the day before here."""
    late, early = (datetime(2026, 11, 29, h, 30, tzinfo=UTC) for h in (23, 1))
    shown = (dates.local_day(early), dates.local_day(late))
    assert (
        shown
        == {
            "UTC": ("2026-11-29", "2026-11-29"),
            "America/New_York": ("2026-11-28", "2026-11-29"),
            "Asia/Tokyo": ("2026-11-29", "2026-11-30"),
        }[zone]
    )


def test_the_edges_of_time_can_be_shown(zone: str) -> None:
    """The first and the last day that there are do not overflow in any zone."""
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert dates.local_day(first + timedelta(hours=1)) == "0001-01-01"
    assert dates.local_day(last) == "9999-12-31"


def test_a_moment_that_the_system_cannot_place_is_shown_in_utc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows refuses local times before 1970."""

    class Refusing(datetime):
        def astimezone(self, tz: tzinfo | None = None) -> Self:
            raise OSError(22, "Invalid argument")

        @classmethod
        def fromtimestamp(cls, *_: object) -> Self:  # type: ignore[override]
            raise OSError(22, "Invalid argument")

    assert dates.local_day(Refusing(1969, 11, 29, 1, tzinfo=UTC)) == "1969-11-29"
    monkeypatch.setattr(dates, "datetime", Refusing)
    assert dates.from_seconds(-86_400.5).isoformat() == "1969-12-30T23:59:59.500000+00:00"
