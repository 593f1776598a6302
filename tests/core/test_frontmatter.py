"""The metadata block: split without loss, changed without damage."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.generated import AWKWARD, KEYS, MODEST, Frontmatter, bodies, frontmatters, values
from memory_palace.core import yaml12
from memory_palace.core.errors import BadInput
from memory_palace.core.frontmatter import change, scalar, split


def read(text: str) -> dict[str, Any]:
    """The metadata in ``text``; of a repeated key the first value."""
    return {entry.key: entry.value for entry in reversed(split(text).entries or ())}


@pytest.mark.parametrize(
    ("text", "body", "line"),
    [
        ("---\na: b\n---\nbody", "body", 4),
        ("---\na: b\n---", "", 3),
        ("---\na: b\n...\nbody", "body", 4),
        ("--- \t\na: b\n---  \nbody", "body", 4),
        ("---\r\na: b\r\n---\r\nbody", "body", 4),
        ("\ufeff---\na: b\n---\nbody", "body", 4),
        ("---\n---\nbody", "body", 3),
        ("---\n# c\n\n---\nbody", "body", 5),
        ("---\na: |\n  ---\n  x\n---\nbody", "body", 6),
        ("---\na: b\n---\n---\nc: d\n---\n", "---\nc: d\n---\n", 4),
    ],
)
def test_a_block_is_taken_off(text: str, body: str, line: int) -> None:
    """Fences with blanks, CRLF, a BOM, an empty block: the body begins after the closing fence."""
    block = split(text)
    assert block.present
    assert (text[block.body_at :], block.body_line) == (body, line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "---",
        "---\n",
        "---\na: b\n",
        "----\na: b\n----\n",
        "\n---\na: b\n---\n",
        "---\n\nA thought.\n\n---\n\nAnother.\n",
        "---\n- a\n---\n",
        "--- a\nb: c\n---\n",
        " ---\na: b\n---\n",
        "---\ra: b\r---\r",
    ],
)
def test_what_only_looks_like_a_block_is_body(text: str) -> None:
    """No closing fence, no mapping between the fences, or not at the top: all of it is body."""
    block = split(text)
    assert not block.present
    assert block.entries == ()
    assert (text[block.body_at :], block.body_line) == (text, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [("---\na: [\n---\nb", 3), ("---\na: b\nc: d: e\n---\nb", 3), ("---\n\ta: b\n---\nb", 2)],
)
def test_a_broken_block_is_present_with_its_fault(text: str, line: int) -> None:
    """Its line is that of the file, and the body is found all the same."""
    block = split(text)
    assert block.present
    assert block.entries is None
    assert block.fault
    assert block.fault_line == line
    assert text[block.body_at :] == "b"


@given(st.one_of(bodies(), bodies().map(lambda body: "---\n" + body), frontmatters()))
@MODEST
def test_the_parts_put_together_are_the_text(made: str | Frontmatter) -> None:
    """Splitting loses nothing, and the body's line is the one that its offset stands on."""
    text = made if isinstance(made, str) else made.text
    block = split(text)
    assert block.head + block.source + block.rest == text
    assert block.body_line == text[: block.body_at].count("\n") + 1


@given(frontmatters())
@MODEST
def test_writing_what_is_there_changes_no_byte(made: Frontmatter) -> None:
    """Parse, then write every value back: the text is the same."""
    assert split(made.text).source == made.source
    assert set(made.around) == set(read(made.text))
    assert change(made.text, read(made.text)) == made.text
    assert change(made.text, {}) == made.text


@given(frontmatters(), st.sampled_from(KEYS), values())
@MODEST
def test_a_change_touches_only_the_lines_of_its_key(
    made: Frontmatter, key: str, value: Any
) -> None:
    """All other lines stay byte for byte, in order, and everything reads back as it should."""
    before = read(made.text)
    changed = change(made.text, {key: value})
    head, tail = made.text.split(made.source, 1)
    assert changed.startswith(head)
    assert changed.endswith(tail)
    inner = changed[len(head) : len(changed) - len(tail)]
    if key in made.around:
        above, _, below = made.around[key]
        assert inner.startswith(above)
        assert inner.endswith(below)
        assert len(inner) >= len(above) + len(below)
    else:
        assert inner.startswith(made.source)
        assert (inner == made.source) == (value is None)
    if "\r\n" in head:
        assert inner.count("\r\n") == inner.count("\n")
    after = read(changed)
    expected = list(value) if isinstance(value, tuple) else value
    assert after.get(key) == expected
    assert type(after.get(key)) is type(expected)
    assert {k: v for k, v in after.items() if k != key} == {
        k: v for k, v in before.items() if k != key
    }


@given(bodies(), values(), st.sampled_from(["", "\ufeff"]))
@MODEST
def test_a_block_is_made_where_there_is_none(body: str, value: Any, bom: str) -> None:
    """The new block goes on top, after a BOM; the body stays byte for byte."""
    text = bom + body
    assume(value is not None and not split(text).present and body[:1] != "\ufeff")
    changed = change(text, {"title": value})
    assert changed.startswith(bom + "---")
    assert changed.endswith(body)
    assert changed[split(changed).body_at :] == body
    assert list(read(changed)) == ["title"]


def test_a_new_block_has_the_newlines_of_the_body() -> None:
    """A file with CRLF gets no lone line feeds."""
    assert change("a\r\nb\r\n", {"k": "v"}) == "---\r\nk: v\r\n---\r\na\r\nb\r\n"


def test_a_changed_line_has_the_newline_of_its_block() -> None:
    """A body with other newlines than the block does not infect it."""
    assert change("---\na: [x]\n---\nb\r\n", {"c": 1}) == "---\na: [x]\nc: 1\n---\nb\r\n"


def test_several_keys_at_once() -> None:
    """Changed in place, removed, and added at the end, in the order given."""
    text = "---\na: 1 # one\nb:\n  - x\n# about c\nc: |\n  long\nd: 4\n---\nbody\n"
    changed = change(text, {"z": "new", "c": None, "b": ["p", "q: r"], "a": 2, "y": [1, "a, b"]})
    assert changed == (
        '---\na: 2 # one\nb:\n  - p\n  - "q: r"\n# about c\nd: 4\n'
        'z: new\ny: [1, "a, b"]\n---\nbody\n'
    )


def test_the_style_of_a_value_is_kept() -> None:
    """Quotes stay the kind that they are, lists flow or block."""
    text = "---\na: 'x'\nb: \"x\"\nc: [x] # c\nd:\n- x\n---\n"
    changed = change(text, {"a": "it's", "b": "y", "c": ["y", "z"], "d": ["y", "z"]})
    assert changed == "---\na: 'it''s'\nb: \"y\"\nc: [y, z] # c\nd:\n- y\n- z\n---\n"


def test_a_key_without_a_value_gets_one() -> None:
    """In place, with a blank before it, and its comment stays."""
    changed = change("---\na:\nb: # c\nc:   \n---\n", {"a": 1, "b": [2], "c": "x"})
    assert changed == "---\na: 1\nb: [2] # c\nc: x   \n---\n"


def test_removing_a_key_that_is_not_there_changes_nothing() -> None:
    """None for a strange key, or for one without a value, is no change."""
    text = "---\na: 1\nb:\n---\n"
    assert change(text, {"c": None, "b": None}) == text
    assert change(text, {"a": 2, "b": None}) == "---\na: 2\nb:\n---\n"


def test_another_type_is_another_value() -> None:
    """True is not 1, and 1 is not 1.0: such a change is written."""
    assert change("---\na: true\n---\n", {"a": 1}) == "---\na: 1\n---\n"
    assert change("---\na: 1\n---\n", {"a": 1.0}) == "---\na: 1.0\n---\n"


def test_a_flow_mapping_can_be_changed_in_place() -> None:
    """The rest of its line stays."""
    assert change("---\n{a: 1, b: x} # c\n---\n", {"b": "y"}) == "---\n{a: 1, b: y } # c\n---\n"


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("---\na: [\n---\nbody", {"b": 1}, "line 3: broken frontmatter"),
        ("---\na: &x 1\nb: *x\n---\n", {"a": 2}, "by hand"),
        ("---\n{a: 1, b: 2}\n---\n", {"c": 3}, "by hand"),
        ("---\n{a: 1, b: 2}\n---\n", {"a": None}, "by hand"),
        ("---\na: 1\na: 2\n---\n", {"a": None}, "by hand"),
        ("---\na: 1\n---\n", {"b": "\ud800"}, "by hand"),
        ("---\na: 1\n---\n", {"b": {"c": 1}}, "by hand"),
    ],
)
def test_a_change_that_could_do_damage_is_refused(
    text: str, values: dict[str, Any], said: str
) -> None:
    """Broken YAML and structures that one line cannot change are left to a person."""
    with pytest.raises(BadInput, match=said):
        change(text, values)


@given(values(), st.sampled_from(["plain", "'", '"', "item"]))
@MODEST
def test_a_scalar_reads_back(value: Any, style: str) -> None:
    """A value written on one line, in any style, is the value again."""
    line = scalar(value, style)
    assert "\n" not in line
    source = f"k: [{line}]\n" if style == "item" else f"k: {line}\n"
    expected = list(value) if isinstance(value, tuple) else value
    assert yaml12.load(source)["k"] == ([expected] if style == "item" else expected)


@pytest.mark.parametrize("style", ["plain", "'", '"', "item"])
@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_text_reads_back(text: str, style: str) -> None:
    """Whatever could be taken for something else is quoted."""
    line = scalar(text, style)
    assert yaml12.load(f"k: [{line}]" if style == "item" else f"k: {line}") == {
        "k": [text] if style == "item" else text
    }
