"""Values over JSON and back."""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.search.hits import Answer, Hit, Neighbor
from memory_palace.search.query import Query
from memory_palace.serve import codec
from support.palaces import NOW

MOMENTS = st.datetimes(
    timezones=st.none()
    | st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))
    | st.just(UTC)
)
TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=20)
SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    datetime: MOMENTS,
    type(None): st.none(),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, dataclasses by their fields: so a field that is new is tried too."""
    if kind in SIMPLE:
        return SIMPLE[kind]
    origin, inner = getattr(kind, "__origin__", None), getattr(kind, "__args__", ())
    if origin is tuple and inner[1:] != (Ellipsis,):
        return st.tuples(*(values(one) for one in inner))
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=3).map(tuple)
    if origin is list:
        return st.lists(values(inner[0]), max_size=3)
    if origin is frozenset:
        return st.frozensets(values(inner[0]), max_size=3)
    if origin in (dict, Mapping):
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=3)
    if origin is None and inner:
        return st.one_of(*(values(one) for one in inner))
    hints = get_type_hints(kind)
    if hasattr(kind, "_fields"):
        return st.builds(kind, **{name: values(hint) for name, hint in hints.items()})
    return st.builds(kind, **{f.name: values(hints[f.name]) for f in fields(kind)})


def there_and_back(kind: Any, value: Any) -> Any:
    """``value`` over a line of JSON."""
    return codec.decode(kind, json.loads(json.dumps(codec.encode(value))))


@given(values(Query))
def test_any_query_comes_back(query: Query) -> None:
    """A query with any values in any field is the same on the other side."""
    assert there_and_back(Query, query) == query


@given(values(Answer))
def test_any_answer_comes_back(answer: Answer) -> None:
    """An answer with any values in any field is the same on the other side."""
    assert there_and_back(Answer, answer) == answer


@dataclass(frozen=True, slots=True)
class Many:
    """One field of each kind that a later version may need."""

    place: Path
    pair: tuple[int, str]
    names: frozenset[str] = frozenset()
    counts: dict[int, float] = field(default_factory=dict)
    notes: Mapping[str, tuple[Neighbor, ...]] = field(default_factory=dict)
    grade: Literal["error", "warning"] = "error"
    either: int | str | None = None
    when: datetime | None = None
    inner: Neighbor | None = None
    free: Any = None


def test_what_later_fields_may_need_is_carried() -> None:
    """Paths, pairs, sets, mappings, choices and nested values come back as they were."""
    many = Many(
        place=Path("a/b"),
        pair=(1, "x"),
        names=frozenset({"b", "a"}),
        counts={1: 0.1, 2: math.inf},
        notes={"n": (Neighbor("p", "t"),)},
        grade="warning",
        either="7",
        when=NOW,
        inner=Neighbor("p", "t"),
        free=[1, {"a": None}],
    )
    assert there_and_back(Many, many) == many
    assert there_and_back(Many, replace(many, either=7)).either == 7


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 5e-324, 1e308, -0.0, math.inf, math.nan])
def test_floats_come_back_to_the_last_bit(value: float) -> None:
    """A score is the same number, not one that is near it."""
    back = there_and_back(Query, Query(diverse=value)).diverse
    assert struct.pack("d", back) == struct.pack("d", value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text": "a", "colour": 1}, "Query has no field `colour`"),
        ({"text": 1}, "Query.text is 1, not str"),
        ({"top_k": True}, "Query.top_k is True, not int"),
        ({"top_k": 1.5}, "Query.top_k is 1.5, not int"),
        ({"types": "rule"}, "Query.types is no list"),
        ({"types": ["a", 2]}, r"Query.types\[1\] is 2, not str"),
        ({"since": "yesterday"}, "Query.since is 'yesterday'"),
        ({"raw": None}, "Query.raw is None, not bool"),
        ([], "Query is no object"),
        (None, "Query is no object"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(data: Any, said: str) -> None:
    """Unknown fields and values of another type are named, never passed over."""
    with pytest.raises(codec.Unfit, match=said):
        codec.decode(Query, data)


def test_what_is_missing_is_named() -> None:
    """A field without a default has to be there."""
    with pytest.raises(codec.Unfit, match="Hit lacks the field `path`"):
        codec.decode(Hit, {})
    with pytest.raises(codec.Unfit, match=r"Many\.pair has 1 values, not 2"):
        codec.decode(Many, {"place": "a", "pair": [1]})
    with pytest.raises(codec.Unfit, match=r"Many\.grade is 'fatal'"):
        codec.decode(Many, {"place": "a", "pair": [1, "x"], "grade": "fatal"})
    with pytest.raises(codec.Unfit, match=r"Many\.notes is no"):
        codec.decode(Many, {"place": "a", "pair": [1, "x"], "notes": 5})


def test_what_has_no_form_in_json_is_not_sent() -> None:
    """An object of some class is a fault at home, not a puzzle over there."""
    with pytest.raises(codec.Unfit, match="object cannot be sent"):
        codec.encode({"a": object()})
