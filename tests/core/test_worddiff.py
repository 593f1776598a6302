"""Differences in words, and how they are shown."""

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory_palace.core import worddiff
from memory_palace.core.worddiff import Hunk, as_markdown, as_text, changes, escaped

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(before: str, after: str) -> list[str]:
    """The changes as text."""
    return [as_text(hunk) for hunk in changes(before, after)]


def test_a_changed_word_stands_between_its_neighbours() -> None:
    """Only the words that differ are marked, with a few around them."""
    assert shown("one two three four five six", "one two three 4 five six") == [
        "one two three [-four-] {+4+} five six"
    ]


def test_words_far_away_are_left_out() -> None:
    """An ellipsis says that the text goes on."""
    words = [f"w{n}" for n in range(20)]
    new = [*words[:10], "new", *words[10:]]
    assert shown(" ".join(words), " ".join(new)) == ["… w6 w7 w8 w9 {+new+} w10 w11 w12 w13 …"]


def test_wrapping_a_paragraph_anew_changes_nothing() -> None:
    """Line breaks and spaces are no words."""
    assert changes("a b\nc  d\n", "a\nb c\td\r\n") == []


def test_the_line_is_that_of_the_new_text() -> None:
    """Lines count from 1 in the whole file: ``first_line`` is where the text begins."""
    hunks = changes("a\n\nb\n", "a\n\nnew\nb\n\nlast\n", first_line=10)
    assert [(hunk.after, hunk.line) for hunk in hunks] == [("new", 12), ("last", 15)]


def test_a_deletion_at_the_end_stands_at_the_last_line() -> None:
    """There is no word after it, and no line either."""
    (hunk,) = changes("a\nb\nc", "a\nb")
    assert (hunk.before, hunk.after, hunk.line) == ("c", "", 2)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("", "", []), ("", "new", ["{+new+}"]), ("old", "", ["[-old-]"]), (" \n", "\t", [])],
)
def test_empty_texts(before: str, after: str, expected: list[str]) -> None:
    """A text that came or went is one change."""
    assert shown(before, after) == expected


def test_a_text_without_spaces_is_compared_letter_by_letter() -> None:
    """One new character in a Chinese sentence is that character."""
    assert shown("我们用数据库", "我们不用数据库") == ["我们 {+不+} 用数据库"]


def test_a_rewritten_sentence_is_one_change() -> None:
    """A word that both happen to have does not cut it into pieces."""
    assert shown(
        "The quick brown fox jumps over the lazy dog.", "A slow red cat leaps across the tired cow."
    ) == [
        "[-The quick brown fox jumps over the lazy dog-] "
        "{+A slow red cat leaps across the tired cow+} ."
    ]


def test_two_additions_stay_two() -> None:
    """What was there before is never told as taken out and put in again."""
    hunks = changes("keep this text and this one", "keep new this text and this other one")
    assert [(hunk.before, hunk.after) for hunk in hunks] == [("", "new"), ("", "other")]


TEXTS = st.lists(
    st.sampled_from(["a", "b", "the", "x1", "\n", "\n\n", ",", ".", "我", "é", "`"]), max_size=40
).map(" ".join)


@given(TEXTS, TEXTS)
def test_the_changes_turn_one_text_into_the_other(before: str, after: str) -> None:
    """With every change undone, in order, the new words are the old ones again."""
    hunks = changes(before, after)
    assert (not hunks) == (before.split() == after.split())
    old, new = before.split(), after.split()
    words = [hunk.after for hunk in hunks]
    gone = [hunk.before for hunk in hunks]
    # What is neither added nor removed is the same on both sides.
    for added in words:
        for word in added.split():
            new.remove(word)
    for removed in gone:
        for word in removed.split():
            old.remove(word)
    assert sorted(old) == sorted(new)


@given(TEXTS)
def test_a_text_has_no_changes_from_itself(text: str) -> None:
    """Equal texts are equal."""
    assert changes(text, text) == []


@pytest.mark.parametrize("words", [2, 50, 5000])
@pytest.mark.parametrize("separator", [" ", "\n"])
def test_a_long_text_is_compared_in_a_moment(words: int, separator: str) -> None:
    """Whatever it consists of: few words again and again, or the same words in another order."""
    random.seed(1)
    old = [f"w{random.randrange(words)}" for _ in range(30_000)]
    new = random.sample(old, len(old))
    started = time.perf_counter()
    assert changes(separator.join(old), separator.join(new))
    assert time.perf_counter() - started < 20


def test_in_a_long_text_words_are_found_within_the_lines_that_differ() -> None:
    """Beyond the limit lines are compared first, and that finds one word all the same."""
    lines = [f"line {n} of a note with many words in each of them" for n in range(2000)]
    new = [*lines]
    new[3] = new[3].replace("many", "few")
    new[1990] = new[1990].replace("many", "some")
    assert len(lines) * 10 > worddiff.MOST_TOKENS
    hunks = changes("\n".join(lines), "\n".join(new))
    assert [(h.before, h.after, h.line) for h in hunks] == [
        ("many", "few", 4),
        ("many", "some", 1991),
    ]


def test_a_long_change_is_shortened() -> None:
    """Both ends are shown, and how many words are not."""
    text = as_text(Hunk("", " ".join(["word"] * 1000), 1))
    assert text.startswith("{+word word") and text.endswith("word+}")
    assert "words) …" in text and len(text) < 500


@pytest.mark.parametrize(
    ("one", "two", "alike", "overlap"),
    [
        ("a b", "b a", 1.0, 1.0),
        ("a b c d", "a b", 0.5, 1.0),
        ("a", "b", 0.0, 0.0),
        ("", "", 1.0, 0.0),
    ],
)
def test_how_much_two_texts_share(one: str, two: str, alike: float, overlap: float) -> None:
    """Of the longer one, and of the shorter one; the order of the words does not count."""
    assert (worddiff.alike(one, two), worddiff.overlap(one, two)) == (alike, overlap)


def test_control_characters_are_escapes() -> None:
    """No text moves the cursor of a terminal, or breaks a line."""
    assert as_text(Hunk("", "a\x1b[31m\nb\u202e", 1)) == "{+a\\x1b[31m b\\u202e+}"


ANYTHING = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from(list("*_`~[]()<>!#|\\@&-+=.:1 \n\t"))),
    min_size=1,
)


def text_of(tokens: Sequence[Token]) -> str:
    """What a reader sees of inline tokens."""
    return "".join("" if t.type == "html_inline" else t.content for t in tokens)


@given(ANYTHING)
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    """Alone, in a list and in a table it makes no markup and ends no cell."""
    expected = worddiff.one_line(text)
    if not expected:
        return
    for source in (
        escaped(text),
        f"- {escaped(text)}",
        f"| a | b |\n| --- | --- |\n| {escaped(text)} | x |",
    ):
        tokens = MARKDOWN.parse(source)
        inline = [token for token in tokens if token.type == "inline"]
        texts = [text_of(token.children or []) for token in inline]
        assert texts in ([expected], ["a", "b", expected, "x"])
        kinds = {child.type for token in inline for child in token.children or []}
        assert kinds <= {"text", "html_inline", "text_special"}
        blocks = {token.type for token in tokens}
        assert not blocks & {
            "html_block",
            "fence",
            "code_block",
            "heading_open",
            "hr",
            "ordered_list_open",
        }


@given(ANYTHING, ANYTHING)
def test_a_change_in_markdown_is_struck_out_and_strong(before: str, after: str) -> None:
    """The old text is struck out, the new one is strong, and nothing else is."""
    old, new = worddiff.shortened(before), worddiff.shortened(after)
    if not old or not new:
        return
    (paragraph,) = [
        t
        for t in MARKDOWN.parse(f"- 7: {as_markdown(Hunk(before, after, 7, 'a', 'b'))}")
        if t.type == "inline"
    ]
    children = paragraph.children or []
    kinds = [child.type for child in children]
    assert kinds.count("s_open") == kinds.count("strong_open") == 1
    struck = children[kinds.index("s_open") + 1 : kinds.index("s_close")]
    strong = children[kinds.index("strong_open") + 1 : kinds.index("strong_close")]
    assert (text_of(struck), text_of(strong)) == (old, new)


def test_nobody_is_called() -> None:
    """A forge finds no name and no issue in the page."""
    assert MARKDOWN.renderInline(escaped("@team #12")) == "@<!-- -->team #<!-- -->12"
