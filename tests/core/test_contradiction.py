"""Whether two short texts may contradict, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import claimwords
from memory_palace.core.contradiction import ALIKE, KINDS, compare, overlap

FOUND = [
    ("polarity", "Never push on Fridays", "Push on Fridays"),
    ("polarity", "Always run the tests before a commit", "Don't run the tests before a commit"),
    ("polarity", "Use uv instead of pip", "Use pip"),
    ("polarity", "Tabs must not be used in Python", "Tabs must be used in Python"),
    ("polarity", "We no longer deploy from the laptop", "We deploy from the laptop"),
    ("polarity", "Avoid global state in tests", "Use global state in tests"),
    ("polarity", "Stop caching the answers", "Cache the answers"),
    ("polarity", "Global state is forbidden in tests", "Global state is fine in tests"),
    ("polarity", "Disable telemetry in builds", "Enable telemetry in builds"),
    ("polarity", "Apply filters before the list is cut", "Apply filters after the list is cut"),
    ("polarity", "Never run `git push --force`", "Run `git push --force`"),
    ("value", "FlagEmbedding cuts at 512 tokens", "FlagEmbedding cuts at 2,048 tokens"),
    ("value", "Use Python 3.11", "Use Python `3.12`"),
    ("value", "The server listens on port 8080", "The server listens on port 9090"),
    ("value", "Release on 2026-11-29", "Release on 2026-12-01"),
    ("value", "The default branch is `main`", "The default branch is `master`"),
    ("value", "Retry three times on a timeout", "Retry 5 times on a timeout"),
    ("value", "The client waits 30s", "The client waits 60s"),
    ("value", "超时是30秒", "超时是60秒"),
    ("choice", "Use tabs", "Use spaces"),
    ("choice", "Prefer tabs over spaces", "Prefer spaces over tabs"),
    ("choice", "Use uv instead of pip", "Use pip instead of uv"),
    ("choice", "The default branch is main", "The default branch is master"),
]
NOT_FOUND = [
    ("", ""),
    ("a", ""),
    ("Use tabs", "use  tabs"),
    ("It takes 2048 tokens", "It takes 2,048 tokens"),
    ("Use Python 3.11", "Use Python v3.11"),
    ("Never use 3.11", "Use 3.12"),
    ("Never use tabs", "Use spaces"),
    ("Never enable telemetry in builds", "Disable telemetry in builds"),
    ("Don't avoid tabs in code", "Tabs in code"),
    ("Merge, then push", "Squash and rebase"),
    ("Read the file first", "Read the log first"),
    ("The timeout is 30 s", "The timeout is 30 s, with 3 tries"),
    ("Never push on Fridays", "Ask the owner about the budget"),
    ("Notes have 3 parts", "Not everything has a price of 4"),
]


@pytest.mark.parametrize(("kind", "a", "b"), FOUND)
def test_a_contradiction_is_found_with_its_kind(kind: str, a: str, b: str) -> None:
    """Negation, another value, another choice: each is named for what it is."""
    found = compare(a, b)
    assert found is not None
    assert (found.kind, bool(found.why)) == (kind, True)
    assert 0 < found.weight <= 1


@pytest.mark.parametrize(("a", "b"), NOT_FOUND)
def test_what_agrees_or_has_nothing_in_common_is_none(a: str, b: str) -> None:
    """Equal texts, other words for the same, and texts about other things."""
    assert compare(a, b) is None


def test_the_reason_names_the_words_or_the_values() -> None:
    """Whoever decides sees at once what differs."""
    found = [compare(a, b) for _, a, b in FOUND]
    said = [one.why for one in found if one]
    assert "one denies what the other says: push, fridays" in said
    assert "different values: 2,048 and 512" in said
    assert "spaces or tabs, all else being equal" in said
    assert "opposites: disable and enable" in said


def test_a_similarity_makes_up_for_words_that_are_not_shared() -> None:
    """From :data:`ALIKE` on; below it nothing changes."""
    a = "Never deploy straight to the live machines of customers"
    b = "Deploy to customers whenever somebody asks for it politely"
    assert compare(a, b) is None
    assert compare(a, b, ALIKE - 0.01) is None
    found = compare(a, b, ALIKE)
    assert found is not None and found.kind == "polarity"


def test_texts_that_each_speak_of_something_else_weigh_less() -> None:
    """Two replicas of the api and three of the worker are hardly a contradiction."""
    same = compare("Deploy the api with 2 replicas", "Deploy the api with 3 replicas")
    other = compare("Deploy the api with 2 replicas", "Deploy the worker with 3 replicas")
    assert same and other and other.weight < same.weight / 2


def test_only_shared_words_count() -> None:
    """The overlap is twice the common content words by the sum of both."""
    one, other = claimwords.read("Read the file 3 times"), claimwords.read("Read the log 4 times")
    assert overlap(one, other) == pytest.approx(2 / 3)
    assert overlap(one, claimwords.read("")) == 0.0


WORDS = st.sampled_from(
    'use never don\'t not avoid 3.11 3.12 512 2,048 `a b` "x" tabs spaces over instead of prefer '
    "but , . : enable disable the is 2026-11-29 宮殿 v2 port [[a|b]] no longer".split(" ")
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=12).map(" ".join))


@given(TEXTS, TEXTS, st.one_of(st.none(), st.floats(allow_nan=True)))
def test_it_is_symmetric_and_never_raises(a: str, b: str, similarity: float | None) -> None:
    """What holds for two texts holds the other way round."""
    found = compare(a, b, similarity)
    assert found == compare(b, a, similarity)
    assert found is None or (found.kind in KINDS and found.why)


@given(TEXTS, st.one_of(st.none(), st.floats(0, 1)))
def test_a_text_never_contradicts_itself(text: str, similarity: float | None) -> None:
    """Equal texts give None, also in another case and spacing."""
    assert compare(text, text, similarity) is None
