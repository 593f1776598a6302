"""Values of the configuration: each reader gives the value, or raises :class:`Wrong` with what to
write in its place."""

import re
from collections.abc import Callable
from typing import Any

from memory_palace.files import tree

_MOST_WILDCARDS = 4
_EXTENSION = re.compile(r"\.?[\w+#-]{1,40}")


class Wrong(ValueError):
    """What a value should have been."""


def number(low: float, high: float) -> Callable[[Any], float]:
    """A number from ``low`` to ``high``."""

    def read(value: Any) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise Wrong(f" is {value!r}: write a number from {low:g} to {high:g}")
        return float(value)

    return read


def whole(low: int, high: int) -> Callable[[Any], int]:
    """A whole number from ``low`` to ``high``."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Wrong(f" is {value!r}: write a whole number from {low} to {high}")
        return value

    return read


def one_of(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    """One of the ``allowed`` words."""

    def read(value: Any) -> str:
        if value not in allowed:
            raise Wrong(f" is {value!r}: use {listed(allowed)}")
        return str(value)

    return read


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong(f" is {value!r}: write true or false")
    return value


def extensions(value: Any) -> tuple[str, ...]:
    """Extensions of files, in lower case without their dot, or names without one."""
    found = words(value)
    for word in found:
        if not _EXTENSION.fullmatch(word):
            raise Wrong(
                f": {word!r} is no extension: write one such as `vue`, or a name without a"
                " dot such as `Makefile`"
            )
    return tuple(word.removeprefix(".").lower() for word in found)


def words(value: Any) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or any(not isinstance(word, str) for word in found):
        raise Wrong(f" is {value!r}: write a list of texts")
    return tuple(found)


def patterns(value: Any) -> tuple[str, ...]:
    """Gitignore patterns that stay below the root and take no time without end."""
    found = words(value)
    for pattern in found:
        if leaves(pattern.lstrip("!")):
            raise Wrong(f": {pattern!r} points outside the root: write a pattern below it")
        if _wildcards(pattern) > _MOST_WILDCARDS:
            raise Wrong(
                f": {pattern!r} has more than {_MOST_WILDCARDS} `*`: split it into simpler patterns"
            )
        try:
            tree.exclusion((pattern,))
        except (ValueError, re.error):
            raise Wrong(f": {pattern!r} is no gitignore pattern: mend it") from None
    return found


def _wildcards(pattern: str) -> int:
    """How many parts of ``pattern`` can match more or less of one path: a `**`, and each `*`
    beside something else. Each multiplies the time that a name which does not match can take."""
    parts = re.sub(r"\\.", "", pattern).lstrip("!").split("/")
    return sum(1 if part == "**" else part.count("*") for part in parts if part != "*")


def leaves(place: str) -> bool:
    """True if a path leads out of the root."""
    return ".." in place.split("/") or place.startswith("~") or place[1:2] == ":"


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Wrong(f" is {value!r}: write text")
    return value


def listed(words: tuple[str, ...]) -> str:
    """``a, b or c``."""
    return ", ".join(words[:-1]) + " or " + words[-1]
