"""A question made ready: terms and vectors, of its own words or of those the caller gives."""

import numpy as np
import pytest

from memory_palace.embed.port import Embedder
from memory_palace.search import question as questions
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from support.fake import FakeEmbedder, TokenFake


def words(query: Query) -> tuple[list[str], list[str]]:
    """The terms that are asked for, and those that are excluded."""
    asked = questions.asked_by(query)
    return [t.text for t in asked.terms], [t.text for t in asked.excluded]


def made(query: Query, embedder: Embedder) -> Question:
    """The question with its vectors."""
    return questions.embedded(query, questions.asked_by(query), embedder)


def test_the_callers_keyword_form_replaces_the_questions() -> None:
    """Its terms alone are looked up; what either excludes is excluded, each once."""
    query = Query(text="how do boats float -sink -wood", lex='"amber jar" hull* -wood -tin')
    assert words(query) == (["amber jar", "hull*"], ["sink", "wood", "tin"])


def test_without_a_keyword_form_the_questions_words_count() -> None:
    """Whatever is to be embedded in its place."""
    assert words(Query(text="boats float", vec="ships", hyde="They swim.")) == (
        ["boats", "float"],
        [],
    )


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (Query(vec="ships afloat", hyde="They swim."), ["ships", "afloat"]),
        (Query(vec="ships"), ["ships"]),
        (Query(hyde="They swim."), ["swim"]),
        (Query(lex="hull", vec="ships"), ["hull"]),
        (Query(lex="hull", hyde="They swim."), ["hull"]),
    ],
)
def test_what_is_to_be_embedded_is_looked_up_where_nothing_else_is(
    query: Query, wanted: list[str]
) -> None:
    """The text to embed, or else the made-up answer; a keyword form goes before both."""
    assert words(query) == (wanted, [])


def test_the_question_is_embedded_though_keywords_are_given() -> None:
    """The keyword form alone is embedded only where there is no question."""
    assert questions.asked_by(Query(text="boats -tin", lex="hull")).text == "boats"
    assert questions.asked_by(Query(lex='"amber jar" -tin')).text == "amber jar"


@pytest.mark.parametrize("name", ["text", "lex", "vec", "hyde"])
def test_a_word_in_any_form_says_something(name: str) -> None:
    """And punctuation in all of them does not."""
    assert questions.says_something(Query(**{name: "boat"}))
    assert not questions.says_something(Query(**{name: "?!"}))
    assert not questions.says_something(Query())


def test_vec_is_embedded_in_place_of_the_question() -> None:
    """The vector is that of the given text, as a question."""
    fake = FakeEmbedder()
    found = made(Query(text="boats float", vec="amber jar"), fake)
    assert found.vector is not None and found.tokens is None
    np.testing.assert_array_equal(found.vector, fake.embed_queries(["amber jar"])[0])
    assert [t.text for t in found.asked.terms] == ["boats", "float"]


def test_a_made_up_answer_joins_by_the_mean() -> None:
    """Of both vectors, of length 1; the answer is embedded as a passage."""
    fake = FakeEmbedder()
    found = made(Query(text="boats", hyde="The hull is light."), fake)
    assert fake.embedded == ["The hull is light."]
    both = fake.embed_queries(["boats"])[0] + fake.embed_passages(["The hull is light."])[0]
    assert found.vector is not None
    np.testing.assert_allclose(found.vector, both / np.linalg.norm(both), atol=1e-6)
    alone = made(Query(hyde="The hull is light."), fake)
    assert alone.vector is not None
    np.testing.assert_allclose(alone.vector, fake.embed_passages(["The hull is light."])[0])


def test_the_vectors_of_its_words_come_along() -> None:
    """Those of what is embedded as the question, where the embedder gives them."""
    fake = TokenFake()
    found = made(Query(text="the boats", hyde="The hull is light."), fake)
    assert found.tokens is not None
    np.testing.assert_array_equal(found.tokens, [fake.word_vector("boats")])
    alone = made(Query(hyde="The hull is light."), fake)
    assert alone.vector is not None and alone.tokens is None


def test_what_is_excluded_is_not_embedded() -> None:
    """A word that is not wanted must not pull the vector towards it."""
    fake = TokenFake()
    one, two = made(Query(text="boats -amber"), fake), made(Query(text="boats"), fake)
    np.testing.assert_array_equal(one.vector, two.vector)
    np.testing.assert_array_equal(one.tokens, two.tokens)


def test_a_question_of_punctuation_has_no_vector() -> None:
    """There is nothing that it could be near to."""
    found = made(Query(text="?!"), TokenFake())
    assert (found.vector, found.tokens) == (None, None)
