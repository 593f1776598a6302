"""Sections of a note, found by heading or by path."""

import pytest

from memory_palace.core import markdown, sections
from memory_palace.core.text import split_lines

TEXT = """before

# Plan

## Why

because

### Costs

## How

```
# no heading
```

### Costs

# Rest > of it

Lower
-----
"""


def there() -> list[sections.Section]:
    """The sections of the text above."""
    return sections.sections(markdown.read(TEXT), len(split_lines(TEXT)))


def test_a_section_holds_what_stands_below_it() -> None:
    """Up to the next heading of its level or above; a fence has none."""
    assert [(one.name, one.start, one.end) for one in there()] == [
        ("Plan", 3, 18),
        ("Plan > Why", 5, 10),
        ("Plan > Why > Costs", 9, 10),
        ("Plan > How", 11, 18),
        ("Plan > How > Costs", 17, 18),
        ("Rest > of it", 19, 22),
        ("Rest > of it > Lower", 21, 22),
    ]


@pytest.mark.parametrize(
    ("wanted", "starts"),
    [
        ("Why", [5]),
        ("why", [5]),
        ("## Why", [5]),
        ("Costs", [9, 17]),
        ("How > Costs", [17]),
        ("Plan > How > Costs", [17]),
        ("Plan>How>Costs", [17]),
        ("Plan > Costs", []),
        ("Rest > of it", [19]),
        ("of it", []),
        ("", []),
        ("no heading", []),
    ],
)
def test_sections_by_name(wanted: str, starts: list[int]) -> None:
    """By the heading, by the end of the path or by all of it; all that fit are given."""
    assert [one.start for one in sections.named(there(), wanted)] == starts


def test_the_innermost_section_around_a_line() -> None:
    """A line before all headings lies in none."""
    found = {line: sections.around(there(), line) for line in (1, 4, 10, 14, 18, 20)}
    names = [one.name if one else "" for one in found.values()]
    assert names == [
        "",
        "Plan",
        "Plan > Why > Costs",
        "Plan > How",
        "Plan > How > Costs",
        "Rest > of it",
    ]
