"""Source files cut into chunks: with a grammar, and at blank lines without."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import code_tree
from memory_palace.core.code_chunks import MOST, TARGET, CodeChunk, chunks
from memory_palace.core.code_tree import Definition


def brief(found: list[CodeChunk]) -> list[tuple[str, int, int]]:
    """Symbol and lines of each."""
    return [(".".join(one.symbol), one.start, one.end) for one in found]


def with_tree(monkeypatch: pytest.MonkeyPatch, *found: Definition) -> None:
    """Definitions as a grammar would tell them."""
    monkeypatch.setattr(code_tree, "definitions", lambda path, text: found)


def without_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """No grammar."""
    with_tree(monkeypatch)


def test_a_short_file_without_a_grammar_is_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Path and text are what is embedded."""
    without_tree(monkeypatch)
    (one,) = chunks("src/a.py", "\nimport os\n\nprint(os)\n\n")
    assert (one.symbol, one.start, one.end, one.text) == ((), 2, 4, "import os\n\nprint(os)")
    assert one.embedded == "src/a.py\nimport os\n\nprint(os)"


def test_a_long_file_without_a_grammar_is_cut_at_blank_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many blocks as fit go together."""
    without_tree(monkeypatch)
    block = "x = 1\n" * 50
    found = chunks("a.yaml", "\n".join([block] * 5))
    assert brief(found) == [("", 1, 152), ("", 154, 254)]
    assert all(len(one.text) <= TARGET for one in found)


def test_definitions_have_their_names_and_what_is_between_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A small class is one chunk, its methods in it."""
    inside = Definition("save", 4, 6)
    with_tree(monkeypatch, Definition("load", 1, 3), Definition("Store", 3, 6, (inside,)))
    text = "import os\ndef load():\n    1\nclass Store:\n    def save(self):\n        2\nload()\n"
    found = chunks("a.py", text)
    assert brief(found) == [("", 1, 1), ("load", 2, 3), ("Store", 4, 6), ("", 7, 7)]
    assert found[1].embedded == "a.py\nload\ndef load():\n    1"
    assert [one.ordinal for one in found] == [0, 0, 0, 1]


def test_a_large_class_gives_a_chunk_for_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own lines come before them under its name."""
    body = "        x = 1\n" * 60
    text = f"class Store:\n    size = 1\n    def save(self):\n{body}    def load(self):\n{body}"
    save, load = Definition("save", 2, 63), Definition("load", 63, 124)
    with_tree(monkeypatch, Definition("Store", 0, 124, (save, load)))
    found = chunks("a.py", text)
    assert brief(found) == [("Store", 1, 2), ("Store.save", 3, 63), ("Store.load", 64, 124)]
    assert found[1].embedded.startswith("a.py\nStore.save\n    def save(self):")


def test_a_long_function_is_cut_at_its_blank_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece has the function's name and an ordinal."""
    body = ("    x = 1\n" * 60 + "\n") * 5
    with_tree(monkeypatch, Definition("run", 0, 306))
    found = chunks("a.py", "def run():\n" + body)
    assert [one.symbol for one in found] == [("run",)] * len(found)
    assert [one.ordinal for one in found] == list(range(5))
    assert found[1].text.startswith("    x = 1")


def test_a_function_of_some_length_stays_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to MOST characters, whatever blank lines are in it."""
    body = ("    x = 1\n" * 60 + "\n") * 3
    with_tree(monkeypatch, Definition("run", 0, 184))
    text = "def run():\n" + body
    assert TARGET < len(text) < MOST
    assert brief(chunks("a.py", text)) == [("run", 1, 183)]


def test_of_a_long_path_its_end_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's name is what tells most."""
    without_tree(monkeypatch)
    (one,) = chunks("deep/" * 50 + "a.py", "x = 1\n")
    head = one.embedded.splitlines()[0]
    assert (len(head), head.endswith("/deep/a.py")) == (200, True)


def test_two_definitions_on_a_line_are_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is in two chunks."""
    with_tree(monkeypatch, Definition("a", 0, 1), Definition("b", 0, 2))
    assert brief(chunks("a.js", "function a(){}; function b(){\n}\n")) == [("a", 1, 2)]


def test_an_overlong_line_is_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them on its line."""
    without_tree(monkeypatch)
    found = chunks("a.js", "x" * (MOST + 10))
    assert brief(found) == [("", 1, 1)] * 3
    assert "".join(one.text for one in found) == "x" * (MOST + 10)


def test_a_file_without_words_has_no_chunk() -> None:
    """Braces and blank lines say nothing."""
    assert chunks("a.json", "{\n\n}\n") == []
    assert chunks("a.py", "") == []


def test_windows_lines_are_lines() -> None:
    """Neither carriage returns nor the mark of UTF-8 get into a chunk."""
    (one,) = chunks("a.toml", "\ufeffa = 1\r\n\r\nb = 2\r\n")
    assert (one.text, one.start, one.end) == ("a = 1\n\nb = 2", 1, 3)


def test_lines_that_move_embed_nothing_anew() -> None:
    """A line added above changes only the chunk that it is in."""
    text = "\n".join(f"{name} = 1\n" * 90 for name in ("one", "two", "three"))
    before = chunks("a.toml", text)
    after = chunks("a.toml", f"zero = 0\n{text}")
    assert [one.embedded for one in after[1:]] == [one.embedded for one in before[1:]]
    assert after[0].embedded != before[0].embedded


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(["", "a = 1", "def f():", "    pass", "}", "x" * 700]), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6),
)
def test_every_line_that_says_something_is_in_a_chunk(
    lines: list[str], spans: list[tuple[int, int]]
) -> None:
    """Whatever a grammar tells, in order and no line twice."""
    found = tuple(Definition(f"d{a}", min(a, b), max(a, b)) for a, b in sorted(spans))
    with pytest.MonkeyPatch.context() as patched:
        with_tree(patched, *found)
        made = chunks("a.py", "\n".join(lines))
    covered = [n for one in made for n in range(one.start, one.end + 1)]
    assert covered == sorted(set(covered))
    said = {n for n, line in enumerate(lines, 1) if any(map(str.isalnum, line))}
    assert said <= set(covered)
    for one in made:
        assert one.text == "\n".join(lines[one.start - 1 : one.end])
