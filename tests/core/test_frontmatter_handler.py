"""The handler through which python-frontmatter reads a note."""

import frontmatter as python_frontmatter
import pytest

from memory_palace.core.frontmatter import Yaml12

TEXT = "---\ntitle: A # c\non: no\ntags: [x, 10:00]\nwhen: 2026-11-29\n---\n\nBody\n"


def test_python_frontmatter_reads_through_the_handler() -> None:
    """``frontmatter.loads`` with this handler gives the core types and the body."""
    post = python_frontmatter.loads(TEXT, handler=Yaml12())
    expected = {"title": "A", "on": "no", "tags": ["x", "10:00"], "when": "2026-11-29"}
    assert post.metadata == expected
    assert post.content.strip() == "Body"
    again = python_frontmatter.loads(
        python_frontmatter.dumps(post, handler=Yaml12()), handler=Yaml12()
    )
    assert again.metadata == expected
    assert again.content.strip() == "Body"


@pytest.mark.parametrize("text", ["plain\n", "---\nno mapping\n---\nplain\n"])
def test_python_frontmatter_takes_a_text_without_metadata(text: str) -> None:
    """Then all of it is content."""
    assert not Yaml12().detect(text)
    with pytest.raises(ValueError, match="no frontmatter"):
        Yaml12().split(text)
    post = python_frontmatter.loads(text, handler=Yaml12())
    assert post.metadata == {}
    assert post.content.strip() == text.strip()
