"""Questions as FTS5 expressions, held against SQLite itself."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.keywords import (
    MOST_TERMS,
    STOP_WORDS,
    fts_expression,
    indexable,
    pairs,
    terms,
)


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    """An FTS5 table as the catalog has it."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        'CREATE VIRTUAL TABLE t USING fts5(x, tokenize = "porter unicode61 remove_diacritics 2")'
    )
    yield connection
    connection.close()


def finds(table: sqlite3.Connection, question: str, text: str) -> bool:
    """True if the question finds the text."""
    table.execute("DELETE FROM t")
    table.execute("INSERT INTO t VALUES (?)", (indexable(text),))
    expression = fts_expression(question)
    return bool(expression) and bool(
        table.execute("SELECT bm25(t) FROM t WHERE t MATCH ?", (expression,)).fetchall()
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", []),
        (" ?! -- * ", []),
        ("How do we deploy the server?", ["deploy", "server"]),
        ("Deploy DEPLOY deploy", ["deploy"]),
        (
            "v1.2.3 snake_case path/to/file.py",
            ["v1", "2", "3", "snake", "case", "path", "file", "py"],
        ),
        ("C++ x", ["c", "x"]),
        ("don't", ["don"]),
        ("ｆｕｌｌ ﬁne Ⅷ", ["full", "fine", "viii"]),
        ("e\u0301te\u0301 q\u0301", ["été", "q\u0301"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京都 x", ["東京", "京都", "x"]),
        ("猫", ["猫"]),
        ("日本語版v2のテスト", ["日本", "本語", "語版", "v2", "のテ", "テス", "スト"]),
        ("한국어", ["한국", "국어"]),
        ("\u0301 \ufe0f", []),
    ],
)
def test_terms(question: str, words: list[str]) -> None:
    """Words in order, each once, in lower case with their accents; CJK in pairs; no stop words."""
    assert terms(question) == words


def test_a_question_of_stop_words_keeps_them() -> None:
    """Better a common word than none."""
    assert terms("To be or not to be") == ["to", "be", "or", "not"]
    assert {"to", "be", "or", "not"} <= STOP_WORDS


def test_a_long_question_is_cut() -> None:
    """At most 64 distinct words are looked up, the first ones."""
    words = [f"w{n}" for n in range(100)]
    assert terms(" ".join(words + words)) == words[:MOST_TERMS]
    assert MOST_TERMS == 64


def test_stop_words_do_not_count_towards_the_limit() -> None:
    """They are taken out before the question is cut."""
    assert terms("the and of " * 50 + "needle") == ["needle"]


def test_an_expression_asks_for_any_word() -> None:
    """Words are quoted and joined by OR; one character alone asks for the start of a pair."""
    assert fts_expression("deploy server") == '"deploy" OR "server"'
    assert fts_expression("猫 a1") == '"猫"* OR "a1"'
    assert fts_expression("?") == ""


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("plain [[text]] 'x'", "plain [[text]] 'x'"),
        ("é", "é"),
        ("x²", "x2"),
        ("東京都へ a", " 東京 京都 都へ へ  a"),
        ("猫", " 猫 猫 "),
    ],
)
def test_indexable(text: str, made: str) -> None:
    """Compatibility forms folded, CJK as pairs and the last character."""
    assert indexable(text) == made


def test_pairs() -> None:
    """Every run becomes overlapping pairs, a single character itself."""
    assert pairs("a東京都b猫c") == "a 東京 京都 b 猫 c"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("deploying servers", "We deploy a server"),
        ("CAFE", "un café"),
        ("café", "un cafe\u0301"),
        ("İstanbul", "in İstanbul"),
        ("q\u0301x", "a q\u0301x b"),
        ("1.2.3", "version v1 and 1.2.3"),
        ("snake_case", "a snake_case name"),
        ("C++", "written in C++"),
        ("猫", "黒猫"),
        ("黒", "黒猫"),
        ("東京", "私は東京都に住む"),
        ("हिन्दी", "यह हिन्दी है"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("ﬁne", "fine"),
        ("한국", "한국어를"),
    ],
)
def test_a_question_finds_its_text(table: sqlite3.Connection, question: str, text: str) -> None:
    """Stems, accents, versions, names, and scripts without spaces."""
    assert finds(table, question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [("京東", "東京"), ("猫", "犬"), ("हिन्दी", "हवा न दवा"), ("deploy", "employ"), ("x", "")],
)
def test_a_question_does_not_find_another_text(
    table: sqlite3.Connection, question: str, text: str
) -> None:
    """Pairs have an order, and a word is more than its letters."""
    assert not finds(table, question, text)


SYNTAX = st.text(alphabet="\"'*()^:-+{}[]\\/~!@#$%&.,; ANDORTE\0\n中文字のカé\u0301a1_x")
OPERATORS = st.lists(
    st.sampled_from(["AND", "OR", "NOT", "NEAR(", "a*", '"', "x:", "^b", "{c}", "-d"])
)


@given(st.text() | SYNTAX | OPERATORS.map(" ".join))
@MODEST
def test_no_question_is_a_syntax_error(table: sqlite3.Connection, question: str) -> None:
    """Whatever is typed, FTS5 takes the expression; it is empty only if there is no word."""
    expression = fts_expression(question)
    assert bool(expression) == bool(terms(question))
    assert len(terms(question)) <= MOST_TERMS
    if expression:
        table.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,)).fetchall()


@given(st.text(alphabet="abz09 _-.,'éÅß中文字のカー한국\u0301q"))
@MODEST
def test_a_text_is_found_by_each_of_its_words(table: sqlite3.Connection, text: str) -> None:
    """Asked for with a word of its own, a text is found."""
    assert all(finds(table, word, text) for word in terms(text))
