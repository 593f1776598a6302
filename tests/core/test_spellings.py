"""A name in the ways that a text may write it."""

import pytest

from memory_palace.core.spellings import completed, is_short_hash, spellings


@pytest.mark.parametrize(
    ("written", "ways"),
    [
        ("word", ["word"]),
        ("snake_case", ["snake case", "snakecase"]),
        ("snakeCase", ["snakeCase", "snake Case"]),
        ("Foo.getName", ["Foo getName", "Foo get Name", "FoogetName"]),
        ("v1.2.3", ["v1 2 3", "1 2 3"]),
        ("1.2", ["1 2", "v1 2"]),
        ("1,000,000", ["1 000 000", "1000000"]),
        ("12000", ["12000", "12 000"]),
        ("0x80070005", ["0x80070005"]),
        ("python3", ["python3", "python 3"]),
        ("GPT-4", ["GPT 4", "GPT4"]),
        ("U.S", ["U S"]),
        ("a@b.org", ["a b org"]),
        ("src/api/users.py", ["src api users py", "users py"]),
        ("src/api/users", ["src api users"]),
        ("Müller", ["Müller", "Mueller"]),
    ],
)
def test_spellings(written: str, ways: list[str]) -> None:
    """The way it is written comes first, no way twice."""
    assert [" ".join(way) for way in spellings(written)] == ways


def test_a_long_name_is_cut() -> None:
    """At most 64 tokens are looked for side by side."""
    assert [len(way) for way in spellings("a." * 1000 + "b")] == [64]


@pytest.mark.parametrize(
    ("start", "word"),
    [
        ("universit", "university"),
        ("generaliz", "generalize"),
        ("runni", "running"),
        ("planet", ""),
        ("index", ""),
        ("at", ""),
    ],
)
def test_completed(start: str, word: str) -> None:
    """A start that reaches into an ending gets the whole ending."""
    assert completed(start) == word


@pytest.mark.parametrize(
    ("written", "so"),
    [
        ("cdf5789", True),
        ("cdf578", False),
        ("1234567", False),
        ("defaced", False),
        ("x1f2e3d", False),
    ],
)
def test_is_short_hash(written: str, so: bool) -> None:
    """Seven hex digits or more, letters and digits mixed."""
    assert is_short_hash(written) == so
