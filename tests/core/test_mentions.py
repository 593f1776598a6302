"""Which names a question mentions, and which of their facts come first."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import mentions
from memory_palace.core.fact import Fact, normal


def named(question: str, *known: str) -> list[str]:
    """The known names that a question mentions, in their first spelling."""
    spelled = {normal(name): name for name in known}
    return [spelled[name] for name in mentions.named(mentions.candidates(question), spelled)]


@pytest.mark.parametrize(
    ("question", "known", "expected"),
    [
        ("who runs the gateway?", ["Gateway"], ["Gateway"]),
        ("who runs gateways?", ["Gateway"], []),
        ("the gateway-side code", ["Gateway"], []),
        ("see src/gateway and gateway.py", ["Gateway"], []),
        ("see gateway.", ["Gateway"], ["Gateway"]),
        ("(gateway), gateway:", ["Gateway"], ["Gateway"]),
        ("ada_lovelace wrote it", ["Ada Lovelace"], ["Ada Lovelace"]),
        ("what did Ada   Lovelace's team do", ["Ada Lovelace", "Ada"], ["Ada Lovelace"]),
        ("Ada and Ada Lovelace", ["Ada Lovelace", "Ada"], ["Ada", "Ada Lovelace"]),
        ("Ada’s mail", ["Ada"], ["Ada"]),
        ("is OBRIEN in?", ["O'Brien"], ["O'Brien"]),
        ("do we use C++ or C?", ["C++", "C"], ["C++", "C"]),
        ("do we use .NET", [".NET", "net"], [".NET"]),
        ("why BGE-M3 v1.2?", ["bge-m3", "M3"], ["bge-m3"]),
        ("node.js here", ["Node", "Node.js"], ["Node.js"]),
        ("wohnt Zoë in ZÜRICH?", ["Zürich", "Zoe\u0308"], ["Zoe\u0308", "Zürich"]),
        ("東京の天気は", ["東京"], ["東京"]),
        ("서울은 어디", ["서울"], ["서울"]),
        ("दिल्ली कहाँ है", ["दिल्ली", "दिल"], ["दिल्ली"]),
        ("", ["a"], []),
    ],
)
def test_whole_names_the_longest_first(
    question: str, known: list[str], expected: list[str]
) -> None:
    """Case, blanks and apostrophes do not count; what is glued to other words is no mention."""
    assert named(question, *known) == expected


@pytest.mark.parametrize(
    ("question", "name", "counts"),
    [
        ("fix the tests of this project", "tests", False),
        ("fix the tests of this Project", "Project", True),
        ("Project plans?", "Project", False),
        ('what is "project"?', "Project", True),
        ("what is `project`?", "Project", True),
        ("is it there", "IT", False),
        ("ask IT for it", "IT", True),
        ("it will be", "Will", False),
        ("does Will know", "Will", True),
        ("Will it work", "Will", False),
        ("compile c with it", "C", False),
        ("compile C with it", "C", True),
        ("what did I do, and A thing", "I", False),
        ("all 3 of them", "3", False),
        ("'3' of them, “3”", "3", True),
        ("since 2026-11-01", "2026-11-01", False),
        ("人の話", "人", False),
        ("the app crashes", "the app", False),
        ("why does our Main page load twice", "our main page", True),
        ("does `the app` crash", "the app", True),
        ("when did she go there last", "last", False),
        ("which games did they make and enjoy", "Make", False),
        ("does Make rebuild it", "Make", True),
        ("use less of it", "Less", False),
    ],
)
def test_words_that_say_little_need_an_exact_mention(
    question: str, name: str, counts: bool
) -> None:
    """Stop words, words of everyday work and talk, single characters, numbers."""
    assert named(question, name) == ([name] if counts else [])


def test_an_article_makes_no_name_of_a_common_word() -> None:
    """Not for a prompt either, however it is spelled."""
    for name, kept in (("The App", []), ("Our Docs", []), ("The Gateway", ["the_gateway"])):
        found = mentions.candidates(f"what about {name} of ours")
        assert mentions.named(found, {normal(name): name}, exact=True) == kept


def test_a_long_question_is_read_as_far_as_it_is_bounded() -> None:
    """A pasted file costs no more than its beginning."""
    found = mentions.candidates("word " * 5_000 + "gateway")
    assert len(found) <= mentions.MOST_TOKENS * mentions.LONGEST
    assert not any(one.name == "gateway" for one in found)


@given(st.text(max_size=80), st.text(max_size=10))
def test_a_mention_stands_in_the_question(question: str, name: str) -> None:
    """Whatever is asked: what is mentioned was written there, as names are compared."""
    found = mentions.named(mentions.candidates(question), {normal(name): name})
    assert all(one in normal(question).replace("\n", "_") or not one for one in found)


def fact(subject: str, predicate: str, object_: str, day: int = 1) -> Fact:
    """A fact since a day of November."""
    names = normal(subject), normal(predicate), normal(object_)
    begins = datetime(2026, 11, day, tzinfo=UTC)
    return Fact(f"{day:012}", subject, predicate, object_, names, begins)


def best(question: str, names: list[str], *facts: Fact, most: int = 5) -> list[str]:
    """The sentences of the best facts."""
    return [one.sentence for one in mentions.best(facts, names, question, most)]


def test_what_is_asked_for_comes_first() -> None:
    """Two names, then the predicate in any form, then the newest; objects behind subjects."""
    facts = [
        fact("api", "port", "8080", 9),
        fact("Ada", "likes", "api", 8),
        fact("api", "owner", "Bob", 2),
        fact("api", "uses", "Redis", 1),
        fact("web", "uses", "Redis", 7),
    ]
    assert best("who owns the api?", ["api"], *facts) == [
        "api owner Bob",
        "api port 8080",
        "api uses Redis",
        "Ada likes api",
    ]
    found = best("does api use redis?", ["api", "redis"], *facts, most=2)
    assert found == ["api uses Redis", "web uses Redis"]


def test_a_name_with_many_facts_leaves_room_for_others() -> None:
    """The names take turns, that with fewer facts first."""
    facts = [fact("hub", f"p{n}", "x", n) for n in range(1, 9)] + [fact("leaf", "q", "y", 1)]
    assert best("hub leaf", ["hub", "leaf"], *facts, most=3) == ["leaf q y", "hub p8 x", "hub p7 x"]
