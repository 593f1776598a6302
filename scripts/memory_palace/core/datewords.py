"""Days and months in a question, and the other ways in which a text may write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_palace.core.tokens import compiled

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_NUMBER = {name: n for n, name in enumerate(_MONTHS, 1)}
_NUMBER |= {name[:3]: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}

_M = rf"(?:{'|'.join(sorted(_NUMBER, key=len, reverse=True))})"
_D = r"(?:3[01]|[12]\d|0?[1-9])"
_TH = r"(?:st|nd|rd|th)?"
_Y = r"(?:19|20)\d\d"

_DATE = rf"""(?<![^\W_])(?<![./\-:]) (?:
        (?P<y1>{_Y})-(?P<n1>0[1-9]|1[0-2])(?:-(?P<d1>0[1-9]|[12]\d|3[01]))?(?![-/:]|\.\d)
      | (?P<d6>{_D})\.(?P<n6>1[0-2]|0?[1-9])\.(?P<y6>{_Y})(?![-/:]|\.\d)
      | (?P<y2>{_Y})年(?P<n2>1[0-2]|0?[1-9])月(?:(?P<d2>{_D})日)?
      | (?P<d3>{_D}){_TH}\ +(?:of\ +)?(?P<m3>{_M})\.?(?:,?\ +(?:of\ +)?(?P<y3>{_Y}))?
      | (?P<m4>{_M})\.?\ +(?P<d4>{_D}){_TH}(?:,?\ +(?P<y4>{_Y}))?
      | (?P<m5>{_M})\.?,?\ +(?:of\ +)?(?P<y5>{_Y})
    ) (?![^\W_年月日])"""


@dataclass(frozen=True, slots=True)
class Date:
    """A date in a question: where it stands, and as numbers; 0 where it does not say.

    ``named``: the month is written as a name.
    """

    start: int
    end: int
    year: int
    month: int
    day: int
    named: bool


def dates_in(text: str) -> Iterator[Date]:
    """The dates that ``text`` names with a month and a day or a year."""
    if not any(map(str.isdigit, text)):
        return
    for found in compiled(_DATE, re.IGNORECASE | re.VERBOSE).finditer(text):
        said = {name[0]: value for name, value in found.groupdict().items() if value}
        if "y" not in said and said.get("m") in ("may", "mar", "march"):
            continue  # a verb: `I may 2 times`
        month = _NUMBER[said["m"].lower()] if "m" in said else int(said["n"])
        yield Date(*found.span(), int(said.get("y", 0)), month, int(said.get("d", 0)), "m" in said)


def spellings(date: Date) -> list[tuple[str, ...]]:
    """The words of each way to write ``date``: first as a number, then with the month's name.

    With a year, a day's numbers stand in either order: `05/11/2023` is read as 11 May as well as
    5 November.
    """
    names = _names(date.month)
    year = (str(date.year),) if date.year else ()
    month, day = f"{date.month:02}", f"{date.day:02}"
    if not date.day:
        written = [(*year, month), (*year, "年", str(date.month), "月")]
        return written + [(word, *year) for word in names]
    days = dict.fromkeys((str(date.day), day, _ordinal(date.day)))
    written = [(*year, month, day), (*year, "年", str(date.month), "月", str(date.day), "日")]
    if year:
        pairs = [(d, m) for d in (day, str(date.day)) for m in (month, str(date.month))]
        written += [(*pair, *year) for d, m in pairs for pair in ((d, m), (m, d))]
    else:
        written[1] = written[1][1:]
    written += [(number, word, *year) for word in names for number in days]
    written += [(_ordinal(date.day), "of", word, *year) for word in names]
    written += [(word, number, *year) for word in names for number in days]
    return list(dict.fromkeys(written))


def words(date: Date) -> list[tuple[str, ...]]:
    """The month and the year of ``date`` by themselves, each in its spellings, as it names them."""
    month = [_names(date.month)] if date.named else []
    return month + ([(str(date.year),)] if date.year else [])


def _names(month: int) -> tuple[str, ...]:
    name = _MONTHS[month - 1]
    return tuple(dict.fromkeys((name, name[:3], "sept" if month == 9 else name)))


def _ordinal(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def in_words(year: int, month: int, day: int) -> str:
    """A day as text in which questions find it: ``2023-05-08 8 May 2023``."""
    return f"{year:04}-{month:02}-{day:02} {day} {_MONTHS[month - 1].capitalize()} {year}"
