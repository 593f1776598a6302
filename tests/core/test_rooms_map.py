"""The room map: what the block says, and where it goes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import markdown, rooms_map
from memory_palace.core.errors import Refused
from memory_palace.core.room_names import GENERAL, Place
from memory_palace.core.rooms_graph import Graph, Member, build
from memory_palace.core.rooms_map import BEGIN, END, block, put

_DAY = 86_400.0
_HOSTILE = (
    *('a"b', "a|b", "a`b``", "[[link]]", "a]b", "<script>", BEGIN, END, "```", "#quot;", "%%{x}%%"),
    *("1. x", "end", " odd ", "new\nline", "\u202e", "\ud800", "x" * 500, "日本語", ""),
)


def _graph(*stands: tuple[str, str], time: float | None = None) -> Graph:
    return build(
        Member(str(number), Place(wing, room), time) for number, (wing, room) in enumerate(stands)
    )


def test_a_map_of_a_few_rooms() -> None:
    """Wings and rooms are nodes; solid lines are wings, dotted ones links; then the table."""
    graph = build(
        [
            Member("1", Place("demo", "api"), 20_000 * _DAY),
            Member("2", Place("garden", "api"), 20_001 * _DAY),
            Member("3", Place("demo", "demo/sessions")),
            Member("4", Place(GENERAL, "topics"), 3.0),
        ],
        [("1", "4"), ("4", "1"), ("3", "4")],
    )
    assert block(graph).split("\n") == [
        BEGIN,
        "",
        "3 rooms in 2 wings. Solid lines lead to a wing, dotted ones count links between notes.",
        "",
        "```mermaid",
        "graph LR",
        '    w1(["demo"])',
        '    w2(["garden"])',
        '    r1["api"]',
        '    r2["demo/sessions"]',
        '    r3["topics"]',
        "    w1 --- r1",
        "    w2 --- r1",
        "    w1 --- r2",
        '    r1 -. "2" .- r3',
        '    r2 -. "1" .- r3',
        "```",
        "",
        "| Room | Wings | Notes | Newest |",
        "| --- | --- | --- | --- |",
        "| `api` | `demo`, `garden` | 2 | 2024-10-05 |",
        "| `demo/sessions` | `demo` | 1 |  |",
        "| `topics` | – | 1 | 1970-01-01 |",
        "",
        END,
    ]


def test_mined_files_have_a_column_where_there_are_any() -> None:
    """Beside the notes, empty for rooms without."""
    members = [Member("1", Place("demo", "api"), mined=True), Member("2", Place("demo", "demo"))]
    assert "| `api` | `demo` | 0 | 1 |  |\n| `demo` | `demo` | 1 |  |  |" in block(build(members))


def test_a_palace_without_rooms_has_a_map() -> None:
    """It says so."""
    assert "There are no rooms yet." in block(build([]))


def test_a_map_is_bounded_and_counts_what_it_leaves_out() -> None:
    """Of a thousand rooms the largest are drawn and listed, and the links of most notes."""
    members, links = [], []
    for room in range(1_000):
        for note in range(1 + (room >= 990)):
            members.append(Member(f"{room}.{note}", Place("demo", f"r{room:03}")))
        links += [(f"{room}.0", f"{other}.0") for other in range(room % 20)]
    said = block(build(members, links))
    assert said.count('["r') == rooms_map.DRAWN_ROOMS
    assert '["r990"]' in said
    assert "Drawn are the 30 largest rooms, without 970 more." in said
    assert said.count(" .- ") == rooms_map.DRAWN_LINKS
    assert "Joined by dots are the 24 pairs of rooms with most links, without " in said
    assert said.count("\n| `") == rooms_map.LISTED_ROOMS
    assert "Listed are the 200 largest rooms, without 800 more." in said


@pytest.mark.parametrize("name", _HOSTILE)
def test_no_name_breaks_out_of_the_map(name: str) -> None:
    """Not of its node, its cell, its fence nor the marks; and it is no link."""
    made = block(_graph((name, name), ("demo", "other"), (name, "third")))
    lines = made.split("\n")
    start, end = lines.index("```mermaid"), lines.index("```")
    for line in lines[start + 2 : end]:
        assert re.fullmatch(
            r'    (w\d+\(\["[^"\[\]<>`]*"\]\)|r\d+\["[^"\[\]<>`]*"\]|w\d+ --- r\d+)', line
        )
    for line in lines[end + 2 : -2]:
        assert re.fullmatch(r"\|.*\|", line)
        assert len(re.findall(r"(?<!\\)\|", line)) == 5
    assert markdown.read(made, 1).links == ()
    assert put(put("text\n", made), made) == put("text\n", made)


@given(st.text(st.characters(exclude_characters="\n")), st.text(), st.booleans())
def test_everything_outside_the_marks_stays(line: str, after: str, crlf: bool) -> None:
    """Byte for byte, whatever it is; a second time changes nothing."""
    feed = "\r\n" if crlf else "\n"
    if "palace:map" in line + after:
        return
    text = f"{line}{feed}{BEGIN}{feed}old{feed}{END}{feed}{after}"
    made = block(_graph(("demo", "api")))
    now = put(text, made)
    assert now.startswith(f"{line}{feed}{BEGIN}")
    assert now.endswith(f"{END}{feed}{after}")
    assert "old" not in now[len(line) : len(now) - len(after)]
    assert put(now, made) == now


@pytest.mark.parametrize(
    ("before", "between"),
    [
        ("", ""),
        ("text", "\n\n"),
        ("text\n", "\n"),
        ("text\n\n", ""),
        ("text\r\n", "\r\n"),
        ("\ufeff", "\n\n"),
    ],
)
def test_without_marks_the_block_comes_to_the_end(before: str, between: str) -> None:
    """After a blank line, with the line feeds of the text."""
    made = f"{BEGIN}\nx\n{END}"
    feed = "\r\n" if "\r\n" in before else "\n"
    assert put(before, made) == before + between + made.replace("\n", feed) + feed
    assert put(put(before, made), made) == put(before, made)


def test_crlf_stays() -> None:
    """A note whose lines all end with CRLF gets such a block."""
    now = put(f"a\r\n{BEGIN}\r\n{END}\r\nb\r\n", block(_graph(("demo", "api"))))
    assert now.count("\n") == now.count("\r\n")


def test_a_note_of_mixed_line_feeds_keeps_them() -> None:
    """The block gets plain ones; all around it stays."""
    made = block(_graph(("demo", "api")))
    before, after = "a\r\nb\n", "\r\nc\n"
    text = put(f"{before}{BEGIN}\r\nold\r\n{END}{after}", made)
    assert text == f"{before}{made}{after}"
    assert put(text, made) == text
    assert put("a\r\nb\n", made) == f"a\r\nb\n\n{made}\n"


def test_marks_may_be_spaced_and_text_may_speak_of_them() -> None:
    """Only a line that is a mark counts as one."""
    text = f"See `{BEGIN}`.\n  <!--palace:map:start-->\nold\n<!-- palace:map:end  -->\nafter"
    assert put(text, f"{BEGIN}\n{END}") == f"See `{BEGIN}`.\n{BEGIN}\n{END}\nafter"


_SHOWN = f"```markdown\n{BEGIN}\n{END}\n```\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_SHOWN, ""),
        ("", f"\n~~~\n{BEGIN}\n```\n~~~\nend"),
        (f"- how:\n\n  ````text\n  ```\n  {END}\n  {BEGIN}\n  ````\n", f"\n{_SHOWN}"),
        ("```\na fence that does not end\n\n", "\ntext\n"),
        ("~~~ never closed\n", ""),
        ("text of ```three``` signs\n", ""),
        (f"```\n{END}\n`````\n", ""),
        (f"```\n```python\n{END}\n```\n", ""),
        ("\ufeff", ""),
    ],
)
def test_marks_in_a_code_fence_only_tell_of_marks(before: str, after: str) -> None:
    """The map goes between the others; an open fence above it does not hide it."""
    made = block(_graph(("demo", "api")))
    for old in (f"{BEGIN}\nold\n{END}", made):
        for feed in ("\n", "\r\n"):
            text = f"{before}{old}{after}".replace("\n", feed)
            assert put(text, made) == f"{before}{made}{after}".replace("\n", feed)


def test_a_note_that_only_shows_the_marks_gets_the_map_at_its_end() -> None:
    """What it shows stays, and the next map replaces the one at the end."""
    made = block(_graph(("demo", "api")))
    assert put(_SHOWN, made) == f"{_SHOWN}\n{made}\n"
    assert put(put(_SHOWN, f"{BEGIN}\nold\n{END}"), made) == f"{_SHOWN}\n{made}\n"


@pytest.mark.parametrize("lost", ["```mermaid\n", "\n```", "graph LR\n", "| --- "])
def test_a_map_that_a_hand_broke_is_drawn_again(lost: str) -> None:
    """Fences within the marks are the map's own, whole or not; what follows stays."""
    made = block(_graph(("demo", "api")))
    broken = "".join(made.rsplit(lost, 1))
    assert broken != made
    for above in ("a\n", _SHOWN):
        text = f"{above}{broken}\n\n```\ncode\n```\n"
        assert put(text, made) == text.replace(broken, made)


def test_marks_that_are_shown_do_not_stand_in_for_lost_ones() -> None:
    """The map has lost its end: that is told, and the end in the fence is left alone."""
    with pytest.raises(Refused, match="start mark is there, in line 5, and no end mark"):
        put(f"{_SHOWN}{BEGIN}\nold\n", f"{BEGIN}\n{END}")


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ([BEGIN], "the map's start mark is there, in line 2, and no end mark"),
        ([END], "the map's end mark is there, in line 2, and no start mark"),
        ([END, BEGIN], "the map's end mark, in line 2, is before its start mark, in line 4"),
        ([BEGIN, END, BEGIN, END], "the map's start mark is there 2 times, in lines 2, 6"),
        ([BEGIN, END, END], "the map's end mark is there 2 times, in lines 4, 6"),
        (
            [BEGIN, *[END] * 9],
            "the map's end mark is there 9 times, in lines 4, 6, 8, 10, 12 and 4 more",
        ),
    ],
)
def test_marks_that_are_not_one_pair_are_refused(marks: list[str], said: str) -> None:
    """What is wrong, in which line, and what to do."""
    text = "\n".join(["text", *(f"{mark}\ntext" for mark in marks)])
    with pytest.raises(Refused, match=re.escape(said)) as told:
        put(text, f"{BEGIN}\n{END}")
    assert "palace/grand_hall/README.md: " in str(told.value)
    assert f"leave one {BEGIN} and {END}" in str(told.value)
