"""Problems in people's files, as values: collected, shown together, never raised."""

from dataclasses import dataclass
from typing import Literal

Grade = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one file.

    ``path`` is relative to the palace root, ``line`` counts from 1 (None: the whole file).
    ``message`` says what is wrong and what to do. An *error* means that something is not
    indexed or not kept as written; a *warning* is everything else.
    """

    path: str
    line: int | None
    message: str
    grade: Grade = "error"

    def __str__(self) -> str:
        place = printable(self.path) if self.line is None else f"{printable(self.path)}:{self.line}"
        return f"{place}: {self.grade}: {printable(self.message)}"


def printable(text: str) -> str:
    """``text`` on one line: control characters and lone surrogates as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def in_order(problems: list[Problem]) -> list[Problem]:
    """The problems by path and line, each once."""
    return sorted(set(problems), key=lambda p: (p.path, p.line or 0, p.message))
