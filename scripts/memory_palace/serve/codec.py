"""Frozen values as JSON and back, by the types of their fields.

What a :class:`Query` or an :class:`Answer` gains is carried without a change here.
"""

import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_LISTS: dict[Any, Any] = {
    list: list,
    Sequence: list,
    set: set,
    frozenset: frozenset,
    AbstractSet: frozenset,
}


class Unfit(ValueError):
    """A value that is not of the type it should have; the message names the field."""


def encode(value: Any) -> Any:
    """``value`` as what :mod:`json` writes. Raises :class:`Unfit` for what has no such form.

    Dataclasses become objects, moments and paths text, sequences (named tuples too) and sets
    lists; a mapping whose keys are not all text becomes a list of pairs.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value) if f.init}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: encode(inner) for key, inner in value.items()}
        return [[encode(key), encode(inner)] for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((encode(inner) for inner in value), key=repr)
    raise Unfit(f"{type(value).__name__} cannot be sent")


def decode(kind: type[_T], data: Any) -> _T:
    """The value of type ``kind`` that :func:`encode` made ``data`` of.

    Raises :class:`Unfit` naming the field that is unknown, missing or of another type.
    """
    found: _T = _decode(kind, data, kind.__name__)
    return found


def _decode(kind: Any, data: Any, at: str) -> Any:
    if kind is Any:
        return data
    if is_dataclass(kind):
        return _object(kind, data, at)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*_tuple(tuple(get_type_hints(kind).values()), data, at))
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return _either(inner, data, at)
    if origin is Literal:
        if any(data == one and type(data) is type(one) for one in inner):
            return data
    elif origin is tuple:
        return _tuple(inner, data, at)
    elif origin in _LISTS:
        each = inner[0] if inner else Any
        found = [_decode(each, one, f"{at}[{n}]") for n, one in enumerate(_list(data, at))]
        return _LISTS[origin](found)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(inner or (Any, Any), data, at)
    else:
        return _scalar(kind, data, at)
    raise Unfit(f"{at} is {data!r:.80}")


def _object(kind: Any, data: Any, at: str) -> Any:
    if not isinstance(data, dict):
        raise Unfit(f"{at} is no object")
    known, needed = _fields(kind)
    for name in data:
        if name not in known:
            raise Unfit(f"{at} has no field `{name:.80}`")
    for name in needed:
        if name not in data:
            raise Unfit(f"{at} lacks the field `{name}`")
    values = {name: _decode(known[name], inner, f"{at}.{name}") for name, inner in data.items()}
    return kind(**values)


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of a dataclass's fields by name, and the names without a default."""
    hints = get_type_hints(kind)
    given = [field for field in fields(kind) if field.init]
    needed = [f.name for f in given if f.default is MISSING and f.default_factory is MISSING]
    return {field.name: hints[field.name] for field in given}, tuple(needed)


def _either(kinds: Sequence[Any], data: Any, at: str) -> Any:
    """The first kind that fits; what fits as it is comes before what would be converted."""
    for kind in kinds:
        if isinstance(kind, type) and type(data) is kind:
            return data
    faults = []
    for kind in kinds:
        try:
            return _decode(kind, data, at)
        except Unfit as fault:
            faults.append(str(fault))
    raise Unfit(faults[0])


def _tuple(kinds: Sequence[Any], data: Any, at: str) -> Any:
    values = _list(data, at)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_decode(kinds[0], one, f"{at}[{n}]") for n, one in enumerate(values))
    if len(kinds) != len(values):
        raise Unfit(f"{at} has {len(values)} values, not {len(kinds)}")
    pairs = zip(kinds, values, strict=True)
    return tuple(_decode(kind, one, f"{at}[{n}]") for n, (kind, one) in enumerate(pairs))


def _mapping(kinds: Sequence[Any], data: Any, at: str) -> Any:
    pairs = data.items() if isinstance(data, dict) else _list(data, at)
    found = {}
    for pair in pairs:
        if len(pair) != 2:
            raise Unfit(f"{at} is no mapping")
        key = _decode(kinds[0], pair[0], f"{at} (a key)")
        found[key] = _decode(kinds[1], pair[1], f"{at}[{pair[0]!r:.40}]")
    return found


def _list(data: Any, at: str) -> list[Any]:
    if not isinstance(data, list):
        raise Unfit(f"{at} is no list")
    return data


def _scalar(kind: Any, data: Any, at: str) -> Any:
    if kind is None or kind is type(None):
        if data is None:
            return None
    elif kind is float:
        if isinstance(data, int | float) and not isinstance(data, bool):
            return data
    elif kind in (bool, int, str):
        if type(data) is kind:
            return data
    elif isinstance(data, str) and kind is Path:
        return Path(data)
    elif isinstance(data, str) and kind is datetime:
        try:
            return datetime.fromisoformat(data)
        except ValueError:
            pass
    name = getattr(kind, "__name__", str(kind))
    raise Unfit(f"{at} is {data!r:.80}, not {'null' if kind is type(None) else name}")
