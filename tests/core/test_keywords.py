"""What a question is taken apart into. What that finds is tested in tests/search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.keywords import MOST_TERMS, Term, parse, terms


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", []),
        (" ?! -- * ", []),
        ("How do we deploy the server?", ["deploy", "server"]),
        ("Deploy DEPLOY deploy", ["deploy"]),
        ("What is Caroline's plan, and what's John’s?", ["caroline", "plan", "john"]),
        ("I don't know, they'll see", ["know", "see"]),
        ("a well-known mother/daughter pair", ["well", "known", "mother", "daughter", "pair"]),
        ("vitamin D, plan B, Model S", ["vitamin", "d", "plan", "b", "model", "s"]),
        ("Did Will go in May?", ["will", "may"]),
        ("Will it rain? It may.", ["rain"]),
        ("who are we", ["who", "are", "we"]),
        ("don't", ["don't"]),
        ("ｆｕｌｌ ﬁne Ⅷ", ["full", "fine", "viii"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京都 x", ["東京", "京都", "x"]),
        ("用FAISS做索引", ["用", "faiss", "做索", "索引"]),
        ("什么是索引", ["么是", "是索", "索引"]),
        ("什么", ["什么"]),
        ("日本語版v2のテスト", ["日本", "本語", "語版", "v2", "のテ", "テス", "スト"]),
        ("Wie wird der Server gestartet?", ["server", "gestartet"]),
        ("¿Cómo se instala el servidor?", ["instala", "servidor"]),
        ("the war or die", ["war", "die"]),
        ("Where is `src/api/users.py`?", ["src/api/users.py"]),
        ("ask a.b@c.org, see https://x.org/y.", ["ask", "a.b@c.org", "see", "https://x.org/y"]),
        ("C++ or C#, .NET", ["c++", "c#", ".net"]),
        ("thanks 🚀", ["thanks"]),
        ("the 🚀", ["the"]),
        ("🚀", ["🚀"]),
        ("\u0301 \ufe0f", []),
    ],
)
def test_terms(question: str, words: list[str]) -> None:
    """Terms in order, each once: no stop words unless nothing else is left, then emoji."""
    assert terms(question) == words


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("deploy", Term("deploy", '"deploy"', "word")),
        ('"the deploy"', Term("the deploy", '"the deploy"', "phrase")),
        ("index*", Term("index*", '"index"*', "prefix")),
        ("universit*", Term("universit*", '("universit"* OR "university")', "prefix")),
        ("猫", Term("猫", '"猫"*', "prefix")),
        ("snake_case", Term("snake_case", '("snake case" OR "snakecase")', "phrase")),
        ("C++", Term("C++", '"cplusplus"', "word")),
        ("cdf5789", Term("cdf5789", '"cdf5789"*', "prefix")),
    ],
)
def test_a_term(question: str, term: Term) -> None:
    """As it is shown, as FTS5 takes it, and its kind."""
    assert parse(question).terms == (term,)


@pytest.mark.parametrize(
    ("question", "wanted", "excluded", "text"),
    [
        ('find "a thing" -not -"this one" now', ["find", "a thing"], ["not", "this one"],
         "find a thing now"),
        ("alpha -b* -beta-gamma", ["alpha", "b"], ["beta-gamma"], "alpha -b*"),
        ("alpha -be* -C++ -東京都", ["alpha"], ["be*", "C++", "東京都"], "alpha"),
        ("-5 --flag -v x - y", ["5", "flag", "v", "x", "y"], [], "-5 --flag -v x - y"),
        ("-alpha -beta", ["alpha", "beta"], [], "alpha beta"),
        ('-"alpha beta"', ["alpha beta"], [], "alpha beta"),
        ("what is -alpha", ["alpha"], [], "what is alpha"),
        ('un"balanced and "open', ["un", "balanced", "open"], [], 'un"balanced and "open'),
        ('"" "?"', [], [], '"" "?"'),
    ],
)  # fmt: skip
def test_what_is_wanted_excluded_and_embedded(
    question: str, wanted: list[str], excluded: list[str], text: str
) -> None:
    """A minus excludes after a blank, before a word, beside something wanted."""
    asked = parse(question)
    assert [term.text for term in asked.terms] == wanted
    assert [term.text for term in asked.excluded] == excluded
    assert asked.text == text


def test_a_date_is_a_term_beside_its_month_and_year() -> None:
    """What is dated near the day says its month and year."""
    assert terms("on 8 May 2023") == ["8 may 2023", "may", "2023"]
    assert terms("2023-05-08") == ["2023-05-08", "2023"]


def test_a_long_question_is_cut() -> None:
    """At most 64 distinct terms are looked up, the first ones, and as many excluded."""
    words = [f"word{n}" for n in range(100)]
    assert terms(" ".join(words + words)) == words[:MOST_TERMS]
    assert terms('"' + " ".join(words) + '"') == [" ".join(words)]
    assert parse('"' + " ".join(words) + '"').terms[0].expression.count("word") == MOST_TERMS
    asked = parse("needle " + " ".join(f"-{word}" for word in words))
    assert len(asked.excluded) == MOST_TERMS == 64


def test_stop_words_do_not_count_towards_the_limit() -> None:
    """They are taken out before the question is cut."""
    assert terms("the and of " * 500 + "needle") == ["needle"]


@given(st.text() | st.text(alphabet="-\"'*ab _.C+#é中ค🚀 \ud800\0"))
@MODEST
def test_terms_are_distinct(question: str) -> None:
    """No expression twice; none is empty."""
    asked = parse(question)
    made = [term.expression for term in asked.terms]
    assert len(set(made)) == len(made) <= MOST_TERMS
    assert all(one.strip('"*() ') for one in made)


@pytest.mark.parametrize("letter", ["क", "अ", "ம", "é", "ก", "猫", "_a", "a-", "1,000"])
def test_a_long_word_of_any_script_is_taken_apart_at_once(letter: str) -> None:
    """Letters that stand in a block of marks too are not tried in every way (it never ended)."""
    assert 1 <= len(terms(letter * 500 + "!")) <= MOST_TERMS
    assert 1 <= len(terms(f'"{letter * 500}!"')) <= MOST_TERMS
