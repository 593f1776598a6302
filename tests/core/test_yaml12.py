"""YAML with the 1.2 core schema, and where each entry stands."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import yaml12


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "yes",
        "on",
        "off",
        "Y",
        "n",
        "tRUE",
        "10:00",
        "1:30:00",
        "2026-11-29",
        "nULL",
        "none",
        "2026-11-29T20:15:03Z",
        "1_000",
        "0b1",
        "0o8",
        "0xg",
        "1e",
        "e3",
        ".",
        "-",
        "+",
        "- 1",
        "NaN",
        "inf",
        "-.nan",
        "<<",
        "=",
        "1.2.3",
        "v1",
        "١٢",
        "1\n",
        "9" * 400,
    ],
)
def test_text_stays_text(text: str) -> None:
    """What YAML 1.1 took for booleans, times, dates and the like is text."""
    assert yaml12.plain(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [(t, None) for t in ("", "~", "null", "Null", "NULL")]
    + [(t, True) for t in ("true", "True", "TRUE")]
    + [(t, False) for t in ("false", "False", "FALSE")]
    + [("0", 0), ("-12", -12), ("+3", 3), ("012", 12), ("0o17", 15), ("0xfF", 255)]
    + [("1.", 1.0), ("+.5", 0.5), ("1.50", 1.5), ("1e3", 1000.0), ("-2E-1", -0.2)]
    + [(".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf)],
)
def test_core_types(text: str, value: Any) -> None:
    """Null, booleans and numbers are as the core schema has them."""
    found = yaml12.plain(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number() -> None:
    """``.nan`` is the float that is not itself."""
    assert all(math.isnan(yaml12.plain(text)) for text in (".nan", ".NaN", ".NAN"))


def test_quoted_and_tagged_scalars_are_text() -> None:
    """Only a plain scalar has a type; a tag makes nothing happen."""
    found = yaml12.load("a: 'true'\nb: \"1\"\nc: !!int '3'\nd: !!python/object:os.x y\ne: |\n  1\n")
    assert found == {"a": "true", "b": "1", "c": "3", "d": "y", "e": "1\n"}


def test_values_nest() -> None:
    """Lists and mappings are read to the bottom, keys as text; aliases stand for their anchors."""
    found = yaml12.load("a: [1, {no: x, 2: y}]\nb:\n- c: ~\nd: &x [on]\ne: *x\n")
    assert found == {
        "a": [1, {"no": "x", "2": "y"}],
        "b": [{"c": None}],
        "d": ["on"],
        "e": ["on"],
    }


def test_numbers_are_kept_as_written_too() -> None:
    """``3.10`` is a number, and it is known how it was written, in lists as well."""
    one, many, other = yaml12.entries("a: 3.10\nb: [007, 0x1F, no, ~]\nc: true\n") or []
    assert (one.value, one.written) == (3.1, "3.10")
    assert (many.value, many.written) == ([7, 31, "no", None], ["007", "0x1F", "no", None])
    assert other.written is True


@pytest.mark.parametrize("source", ["", "\n\n", "# only a comment\n"])
def test_an_empty_document_has_no_entries(source: str) -> None:
    """Nothing at all is an empty mapping."""
    assert yaml12.entries(source) == []
    assert yaml12.load(source) == {}


@pytest.mark.parametrize(("source", "value"), [("text", "text"), ("- a\n- 1", ["a", 1])])
def test_a_document_may_be_no_mapping(source: str, value: Any) -> None:
    """Then there are no entries to speak of, but there is a value."""
    assert yaml12.entries(source) is None
    assert yaml12.load(source) == value


def test_duplicates_are_all_there_and_the_first_counts() -> None:
    """Entries keep every key in order; the value is the first one's."""
    source = "a: 1\nb: 2\na: 3\n"
    assert [(e.key, e.value) for e in yaml12.entries(source) or []] == [
        ("a", 1),
        ("b", 2),
        ("a", 3),
    ]
    assert yaml12.load(source)["a"] == 1


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a: 1\nb: [\n", 2),
        ("a: 1\nb: c: d\n", 1),
        ("a: 1\n\tb: 2\n", 1),
        ("a: 1\nb: @x\n", 1),
        ("a: 1\nb: *nowhere\n", 1),
        ("a: é\nb: 1\nc: bell\x07\n", 2),
        ("a: é\n\n\nb: \x7f\n", 3),
        ("a: 1\nb: 2\0\n", 1),
        ("a: 1\n[b, c]: d\n", 1),
        ("a: 1\nb: {[c]: d}\n", 1),
        ("a: 1\n--- b\n", 1),
        ("a: 1\nb: " + "[" * 60 + "]" * 60, 1),
        ("a: 1\nb: " + "[" * 100_000, 1),
        ("# x\u2028# y\n# \x85# \r# z\na: 1\nb: @\n", 3),
    ],
)
def test_a_fault_names_its_line(source: str, line: int) -> None:
    """What is no YAML, or too much of it, is refused with the line, counted by line feeds."""
    with pytest.raises(yaml12.BadYaml) as caught:
        yaml12.load(source)
    assert caught.value.line == line
    assert str(caught.value)


def test_aliases_cannot_blow_up() -> None:
    """A few lines that name a billion values are refused at once, and so is a ring."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi")  # noqa: B905
    )
    for source in (bomb, "a: &a [*a]\n"):
        with pytest.raises(yaml12.BadYaml, match="deep or too large"):
            yaml12.load(source)


@pytest.mark.parametrize(
    ("source", "style", "start", "end"),
    [
        ("k: v w # c", "plain", (0, 3), (0, 6)),
        ("k: 'v' # c", "'", (0, 3), (0, 6)),
        ('k: "é😀" # c', '"', (0, 3), (0, 7)),
        ("k: [a,\n b] # c", "flow", (0, 3), (1, 3)),
        ("k: {a: b}", "flow", (0, 3), (0, 9)),
        ("k: v\n  w\n", "plain", (0, 3), (1, 3)),
        ("# \u2028\n'k': 'a\u2028b'\n", "'", (1, 5), (1, 10)),
    ],
)
def test_marks(source: str, style: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Marks are exact, in characters, and count lines by line feeds only."""
    (entry,) = yaml12.entries(source) or []
    assert entry.key == "k"
    assert entry.style == style
    assert (entry.start.line, entry.start.column) == start
    assert (entry.end.line, entry.end.column) == end


@pytest.mark.parametrize(
    ("source", "style"), [("k: |\n  v\n", "|"), ("k: >\n  v\n", ">"), ("k:\n- v\n", "block")]
)
def test_styles_of_blocks(source: str, style: str) -> None:
    """Literal, folded and block collections are told apart."""
    (entry,) = yaml12.entries(source) or []
    assert entry.style == style


def test_an_alias_stands_where_its_key_ends() -> None:
    """The value of an alias is elsewhere, so its marks are not the value's."""
    _, alias = yaml12.entries("a: &x [1,\n 2]\nb: *x\n") or []
    assert (alias.style, alias.value) == ("alias", [1, 2])
    assert alias.start == alias.end == yaml12.Mark(2, 1)


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@`\n\t \r\u2028\x85\x07\0é?,"))
@MODEST
def test_any_text_is_read_or_refused(source: str) -> None:
    """Whatever is written, the answer is entries with places inside the text, or a line in it."""
    last = source.count("\n")
    try:
        found = yaml12.entries(source) or []
    except yaml12.BadYaml as error:
        assert 0 <= error.line <= last
    else:
        assert all(0 <= e.key_start.line <= e.end.line <= last for e in found)


def test_the_bound_on_values_is_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many keys with a few thousand values each would fill the memory, too."""
    monkeypatch.setattr(yaml12, "MOST_NODES", 100)
    assert yaml12.load("a: &a [x, x, x]\n" + "".join(f"k{n}: *a\n" for n in range(8)))
    with pytest.raises(yaml12.BadYaml, match="too large") as caught:
        yaml12.load("a: &a [x, x, x]\n" + "".join(f"k{n}: *a\n" for n in range(20)))
    assert caught.value.line == 0


def test_a_huge_document_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only reading it would take seconds."""
    big = "a: " + "x" * yaml12.MOST_CHARACTERS
    assert yaml12.entries(big[: yaml12.MOST_CHARACTERS])
    monkeypatch.setattr(yaml12.yaml, "compose", None)
    with pytest.raises(yaml12.BadYaml, match="over 256 KB") as caught:
        yaml12.entries(big)
    assert caught.value.line == 0
