"""YAML read with the YAML 1.2 core schema, every node with its position.

The syntax is read by libyaml (PyYAML's C loader, 25 times faster than a pure Python one); what
a plain scalar *means* is decided here: ``no``, ``on``, ``10:00`` and dates are text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = "plain"


class _Loader(_Base):  # type: ignore[misc]
    """Leaves the meaning of plain scalars to :func:`plain`."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return super().resolve(kind, value, implicit)


_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_MOST_DIGITS = 300  # Python refuses to turn very long digit strings into integers
_DEEPEST = 50

MOST_CHARACTERS = 256 * 1024
"""Characters of a document: reading more would take seconds and hundreds of megabytes."""
MOST_NODES = 20_000
"""Values read of a document: aliases make a small text name more than fit in memory."""


class BadYaml(ValueError):
    """The text is not YAML. ``line`` counts from 0 within the text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the text: line and column from 0."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the top mapping, its value, and where both stand.

    ``style`` is ``plain``, ``'``, ``"``, ``|``, ``>`` for scalars, ``flow`` or ``block`` for
    collections, ``alias`` where the value stands elsewhere (its marks are then the
    key's end). ``end`` is exact for flow collections and for plain and quoted scalars.
    ``written`` is the value with numbers as the text that stands there (``3.10``).
    """

    key: str
    value: Any
    key_start: Mark
    start: Mark
    end: Mark
    style: str
    written: Any


def plain(text: str) -> Any:
    """The core-schema value of a plain scalar."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _MOST_DIGITS:
        if _INT.match(text):
            return int(text)
        if _OCTAL.match(text):
            return int(text[2:], 8)
        if _HEX.match(text):
            return int(text[2:], 16)
        if _FLOAT.match(text):
            return float(text)
    if _SPECIAL.match(text):
        return float(text.replace(".", "").lower())
    return text


def _number_as_text(text: str) -> Any:
    value = plain(text)
    return text if isinstance(value, int | float) and not isinstance(value, bool) else value


def entries(source: str) -> list[Entry] | None:
    """The entries of the mapping in ``source``, duplicates included, in order.

    An empty document gives []; one that is no mapping gives None. Raises :class:`BadYaml`.
    """
    if "\0" in source:
        raise BadYaml("NUL byte", source[: source.index("\0")].count("\n"))
    if len(source) > MOST_CHARACTERS:
        raise BadYaml(f"over {MOST_CHARACTERS // 1024} KB of YAML", 0)
    places = _Places(source)
    try:
        root = yaml.compose(source, Loader=_Loader)
    except yaml.YAMLError as error:
        raise _bad(error, places) from None
    except (RecursionError, UnicodeError, ValueError) as error:
        raise BadYaml(f"cannot be read ({type(error).__name__})", 0) from None
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        return None
    values = _Values(places)  # one for all, as the bound is the document's
    return [_entry(key, value, places, values) for key, value in root.value]


def load(source: str) -> Any:
    """The value of the document in ``source``. Raises :class:`BadYaml`."""
    found = entries(source)
    if found is None:
        return _Values(_Places(source)).of(yaml.compose(source, Loader=_Loader))
    return {entry.key: entry.value for entry in reversed(found)}


class _Places:
    """Where libyaml's marks stand: it ends lines at U+2028 and the like too, a file does not."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *(feed.end() for feed in re.finditer("\n", source))]

    def of(self, mark: Any) -> Mark:
        line = bisect_right(self._starts, mark.index) - 1
        return Mark(line, mark.index - self._starts[line])

    def line_of_byte(self, offset: int) -> int:
        return self._source.encode("utf-8", "surrogatepass")[:offset].count(b"\n")


class _Values:
    """Turns nodes into values, within the bounds above."""

    def __init__(self, places: _Places) -> None:
        self.places = places
        self.seen = 0

    def of(self, node: Any, meaning: Callable[[str], Any] = plain, depth: int = 0) -> Any:
        self.seen += 1
        if depth > _DEEPEST or self.seen > MOST_NODES:
            raise BadYaml("nested too deep or too large", self.places.of(node.start_mark).line)
        if isinstance(node, yaml.ScalarNode):
            return meaning(node.value) if node.tag == _PLAIN else node.value
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, meaning, depth + 1) for item in node.value]
        return {
            _key(key, self.places): self.of(value, meaning, depth + 1) for key, value in node.value
        }


def _entry(key: Any, value: Any, places: _Places, values: _Values) -> Entry:
    after_key = places.of(key.end_mark)
    alias = value.start_mark.index < key.end_mark.index
    return Entry(
        key=_key(key, places),
        value=values.of(value),
        key_start=places.of(key.start_mark),
        start=after_key if alias else places.of(value.start_mark),
        end=after_key if alias else places.of(value.end_mark),
        style="alias" if alias else _style(value),
        written=values.of(value, _number_as_text),
    )


def _key(node: Any, places: _Places) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise BadYaml("a key that is not text", places.of(node.start_mark).line)
    return str(node.value)


def _style(node: Any) -> str:
    if isinstance(node, yaml.ScalarNode):
        return node.style if node.style in ("'", '"', "|", ">") else "plain"
    return "flow" if node.flow_style else "block"


def _bad(error: yaml.YAMLError, places: _Places) -> BadYaml:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    if mark:
        return BadYaml(str(what), places.of(mark).line)
    return BadYaml(str(what), places.line_of_byte(getattr(error, "position", 0)))
