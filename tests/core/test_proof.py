"""When keywords prove that a text is about what is asked."""

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import proof
from memory_palace.core.proof import weighed

ROWS = 10_000


def test_several_rare_words_prove_it() -> None:
    """Two of three that few rows have."""
    asked = weighed(ROWS, [3, 40, 40])
    assert asked.proves([0, 1])
    assert asked.proves([1, 2])


def test_common_words_prove_nothing() -> None:
    """However many of them stand in the text."""
    asked = weighed(ROWS, [5_000, 4_000, 3_000, 2_000])
    assert asked.weights == (0.0,) * 4
    assert not asked.proves(range(4))


def test_one_word_proves_it_if_it_is_rare_and_most_of_the_question() -> None:
    """`FAISS?` is answered by the note that names it, a long question is not."""
    assert weighed(ROWS, [2, 4_000]).proves([0])
    assert not weighed(ROWS, [2, 30, 30, 30]).proves([0])
    assert not weighed(ROWS, [300, 4_000]).proves([0])


def test_a_small_part_of_the_question_proves_nothing() -> None:
    """Two of nine words by chance."""
    assert not weighed(ROWS, [200] * 9).proves([0, 1])


def test_everyday_words_prove_less_than_rare_ones() -> None:
    """Half of a question, either time."""
    assert weighed(ROWS, [20] * 4).proves([0, 1])
    assert not weighed(ROWS, [900] * 4).proves([0, 1])


def test_a_long_question_needs_no_share_of_all_its_words() -> None:
    """A thousand characters about a subject have more words than any note repeats."""
    asked = weighed(ROWS, [20] * 60)
    assert asked.proves(range(5))
    assert not asked.proves(range(3))


def test_words_that_nobody_wrote_count_against_it() -> None:
    """A question of words that the palace does not know is not about the palace."""
    assert weighed(ROWS, [150, 150, 150]).proves([0, 1])
    assert not weighed(ROWS, [150, 150, *[0] * 12]).proves([0, 1])


def test_no_word_proves_nothing() -> None:
    """A text without any of them."""
    assert not weighed(ROWS, [1, 2]).proves([])


@given(st.lists(st.integers(0, ROWS), min_size=1, max_size=64), st.data())
def test_more_words_never_prove_less(having: list[int], data: st.DataObject) -> None:
    """Nor weigh less, from two words on."""
    asked = weighed(ROWS, having)
    places = st.sets(st.sampled_from(range(len(having))))
    some, more = data.draw(places), data.draw(places)
    assert asked.worth(some | more) >= asked.worth(some)
    telling = {place for place in some if asked.weights[place] > 0}
    if len(telling) > 1 and asked.proves(some):
        assert asked.proves(some | more)


def test_in_a_small_palace_a_word_of_many_notes_still_counts() -> None:
    """A tenth of ten rows is one."""
    assert proof.common_from(10) == proof.COMMON_LEAST
    assert weighed(10, [4, 4]).proves([0, 1])
