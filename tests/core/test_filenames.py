"""Whether a memory of one line speaks of a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.filenames import speaks_of

PATH = "scripts/memory_palace/core/frontmatter.py"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("keep core/frontmatter.py free of yaml", "path"),
        ("see scripts/memory_palace/core/frontmatter.py.", "path"),
        ("`memory_palace.core.frontmatter` writes lines", "path"),
        ("frontmatter.py keeps comments", "name"),
        ("frontmatter is edited by lines", "stem"),
        ("nothing in core/ reads a file", "folder"),
        ("memory_palace/core is pure", "folder"),
    ],
)
def test_a_text_that_names_the_file_speaks_of_it(text: str, how: str) -> None:
    """By its path, its name, its stem or its folder."""
    found = speaks_of(text, PATH)
    assert found
    assert found.how == how


@pytest.mark.parametrize(
    "text",
    [
        "other/frontmatter.py is not ours",
        "the core of it",
        "and/or what matters",
        "front matter",
        "tests/core/test_frontmatter.py",
        "/ is the root",
        "",
    ],
)
def test_any_other_text_does_not(text: str) -> None:
    """Another file of this name, or a word that is also a folder."""
    assert speaks_of(text, PATH) is None


def test_a_common_name_counts_with_its_folder_only() -> None:
    """There are a thousand files called so."""
    assert speaks_of("the main thing is index.py", "src/index.py") is None
    found = speaks_of("src/index.py is generated", "src/index.py")
    assert found
    assert found.how == "path"


def test_a_short_word_counts_in_backticks_only() -> None:
    """`note` is also a word."""
    assert speaks_of("write a note first", "core/note.py") is None
    assert speaks_of("`note` is pure", "core/note.py")
    assert speaks_of("read_all keeps order", "core/read_all.py")


def test_the_closest_way_counts() -> None:
    """A text may name the folder and the file."""
    found = speaks_of("in core/ only core/frontmatter.py knows yaml", PATH)
    assert found
    assert found.how == "path"


@given(st.text(max_size=200), st.text("ab/._", max_size=30))
def test_nothing_raises(text: str, path: str) -> None:
    """Whatever the path and the text are."""
    speaks_of(text, path)
