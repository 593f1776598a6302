"""A hit whose file has changed since the index was built."""

from pathlib import Path

import pytest

from support.fake import FakeEmbedder, TokenFake, fake_choice
from support.palaces import Palace


@pytest.fixture(params=["words", "vectors", "tokens"])
def palace(request: pytest.FixtureRequest, tmp_path: Path) -> Palace:
    """With keywords only, with vectors, with vectors of single words."""
    choice = {
        "words": None,
        "vectors": fake_choice(FakeEmbedder()),
        "tokens": fake_choice(TokenFake()),
    }[request.param]
    return Palace(tmp_path / "root", choice)


def test_a_text_beside_the_same_text_scores_the_same(palace: Palace) -> None:
    """What did not change has the evidence that the index has of it."""
    note = "# A\n\namber boats\n\n## B\n\n" + "violin " * 60
    palace.notes(a=note, b="copper")
    palace.index()
    (before,) = palace.hits("amber boats")
    palace.notes(a=note + "\n\n## C\n\nmore\n")
    answer = palace.ask("amber boats")
    (after,) = answer.hits
    assert answer.changed == 1
    assert after.parts.relevance == before.parts.relevance
    assert after.parts.terms == before.parts.terms == ("amber", "boats")
    assert after.text == before.text


def test_a_changed_text_is_scored_by_what_it_says(palace: Palace) -> None:
    """With fewer of the words it is less relevant, and names those that are left."""
    palace.notes(a="amber boats lie here", b="copper")
    palace.index()
    (before,) = palace.hits("amber boats")
    palace.notes(a="amber lies here among much else that is new")
    (after,) = palace.hits("amber boats")
    assert after.parts.terms == ("amber",)
    assert after.parts.keyword <= before.parts.keyword / 2 + 1e-9
    assert after.parts.relevance <= before.parts.relevance
    if before.parts.cosine is not None and after.parts.cosine is not None:
        assert after.parts.cosine < before.parts.cosine
    if before.parts.late is not None and after.parts.late is not None:
        assert after.parts.late < before.parts.late
    assert "new" in after.text and after.best is None


def test_a_changed_text_is_compared_with_what_is_not_wanted(palace: Palace) -> None:
    """A word that is excluded and came in since takes the hit away."""
    palace.notes(a="amber boats lie here")
    palace.index()
    assert palace.paths("amber -violin") == ["a"]
    palace.notes(a="amber boats and a violin lie here")
    assert palace.paths("amber -violin") == []
    assert palace.paths("amber") == ["a"]


@pytest.mark.parametrize(
    ("filters", "there"),
    [
        ({"types": ("rule",)}, False),
        ({"types": ("idea",)}, False),  # the index chose by what it knew
        ({"tags": ("x",)}, False),
        ({}, True),
    ],
)
def test_the_changed_file_has_to_pass_the_filters(
    palace: Palace, filters: dict[str, tuple[str, ...]], there: bool
) -> None:
    """As it is now."""
    palace.notes(a="---\ntype: rule\ntags: [x]\n---\namber")
    palace.index()
    palace.notes(a="---\ntype: idea\ntags: [y]\n---\namber")
    assert palace.paths("amber", **filters) == (["a"] if there else [])


def test_recency_and_importance_are_those_of_the_changed_file(palace: Palace) -> None:
    """And the score is made of them."""
    palace.notes(a="---\npriority: low\ncreated: 2020-01-01\n---\namber")
    palace.index()
    palace.notes(a="---\npriority: high\ncreated: 2026-11-29T12:00:00Z\n---\namber")
    (hit,) = palace.hits("amber")
    assert (hit.parts.recency, hit.parts.importance) == (1.0, 1.0)
    assert hit.score == pytest.approx(0.5 * hit.parts.relevance + 0.5)


def test_a_superseded_note_that_changed_is_still_marked(palace: Palace) -> None:
    """And its relevance is still halved."""
    old = '---\nsuperseded_by: "[[new]]"\n---\namber boats'
    palace.notes(old=old, new="violin")
    palace.index()
    (before,) = palace.hits("amber boats")
    palace.notes(old=old + " lie")
    (after,) = palace.hits("amber boats")
    assert before.parts.superseded and after.parts.superseded
    assert after.parts.relevance <= before.parts.relevance + 1e-6


def test_a_superseded_note_that_changed_stays_behind_its_successor(palace: Palace) -> None:
    """However well it matches, and however new and important it is."""
    old = '---\npriority: high\ncreated: 2026-11-29\nsuperseded_by: "[[new]]"\n---\namber boats lie'
    new = "---\npriority: low\ncreated: 2020-01-01\n---\nwhere the amber went later that year"
    palace.notes(old=old, new=new, other="violin")
    palace.index()
    assert palace.paths("amber boats") == ["new", "old"]
    for text in (old + "\n\n## More\n\nnew section\n", old + " here"):
        palace.notes(old=text)
        answer = palace.ask("amber boats")
        assert [hit.path for hit in answer.hits] == ["palace/new.md", "palace/old.md"]
        assert answer.changed == 1


@pytest.mark.parametrize(
    ("before", "added", "phrase", "excluded"),
    [
        ("大阪府の天気は良い。", "今日は東京都も同じ。", "天気は良い", "東京都"),
        ("东京都的天气很好。", "今天北京市也一样。", "天气很好", "北京市"),
    ],
)
def test_a_changed_text_without_spaces_is_compared_as_in_the_index(
    palace: Palace, before: str, added: str, phrase: str, excluded: str
) -> None:
    """A phrase of it is found, and a word that is excluded and came in takes the hit away."""
    palace.notes(a=before)
    palace.index()
    wanted = phrase[:2]
    assert palace.paths(f"{wanted} -{excluded}") == ["a"]
    palace.notes(a=before + added)
    (hit,) = palace.hits(f'"{phrase}"')
    assert added in hit.text and hit.parts.terms == (phrase,)
    assert palace.paths(f"{wanted} -{excluded}") == []


@pytest.mark.parametrize("head", ["title: The violin", "title: Harbour\ntags: [violin]"])
def test_what_is_not_wanted_may_come_into_the_head_of_the_file(palace: Palace, head: str) -> None:
    """An excluded word in a new title or tag takes the hit away, though its text is the same."""
    palace.notes(a="---\ntitle: Harbour\ntags: [sea]\n---\namber boats")
    palace.index()
    assert palace.paths("amber -violin") == ["a"]
    palace.notes(a=f"---\n{head}\n---\namber boats")
    assert palace.paths("amber -violin") == []
    assert palace.paths("amber") == ["a"]


def test_a_changed_hit_takes_its_new_place(palace: Palace) -> None:
    """What lost its words goes behind what kept them, and is not taken for the same any more."""
    palace.notes(a="amber boats copper here", b="amber boats copper there now")
    palace.notes(**{f"other{n}": f"violin {n}" for n in range(30)})
    palace.index()
    palace.notes(a="amber, and nothing of the rest any more, but much else")
    paths = palace.paths("amber boats copper")
    assert paths[:2] == ["b", "a"]
