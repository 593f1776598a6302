"""A superseded note stays, behind its successor and marked."""

import numpy as np
import pytest

from memory_palace.search import superseded
from memory_palace.search.searcher import Searcher
from support.palaces import Palace

OLD = "---\npriority: high\ncreated: 2026-11-29\n{}---\namber boats lie in the harbour"
NEW = "---\npriority: low\ncreated: 2020-01-01\n{}---\nwhere the amber went later that year"


def marked(palace: Palace, **fields: object) -> dict[str, bool]:
    """{path: is it marked} of the hits, best first."""
    return {
        h.path.removeprefix("palace/").removesuffix(".md"): h.parts.superseded
        for h in palace.hits("amber boats", **fields)
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('superseded_by: "[[new]]"\n', ""),
        ("", 'supersedes: "[[old]]"\n'),
        ('superseded_by: "[[new]]"\n', 'supersedes: "[[old]]"\n'),
        ("", 'supersedes: ["[[other]]", "[[old]]"]\n'),
    ],
)
def test_either_note_may_say_so(palace: Palace, old: str, new: str) -> None:
    """However well the old one matches, and however new and important it is."""
    palace.notes(old=OLD.format(old), new=NEW.format(new), other="violin")
    palace.index()
    assert marked(palace) == {"new": False, "old": True}
    assert list(marked(palace)) == ["new", "old"]


def test_a_link_in_the_text_supersedes_nothing(palace: Palace) -> None:
    """Only the two keys do."""
    palace.notes(old=OLD.format("") + " [[new]]", new=NEW.format("") + " [[old]]")
    palace.index()
    assert list(marked(palace).items()) == [("old", False), ("new", False)]


def test_a_chain_comes_newest_first(palace: Palace) -> None:
    """Each note behind its successor, that behind its own."""
    palace.notes(
        a=OLD.format('superseded_by: "[[b]]"\n'),
        b="amber boats, second version",
        c=NEW.format('supersedes: "[[b]]"\n'),
    )
    palace.index()
    assert list(marked(palace).items()) == [("c", False), ("b", True), ("a", True)]


def test_a_ring_ends(palace: Palace) -> None:
    """Notes that supersede each other are all marked, and all are found."""
    palace.notes(
        a=OLD.format('superseded_by: "[[b]]"\n'),
        b=NEW.format('superseded_by: "[[a]]"\n'),
        c='---\nsupersedes: "[[c]]"\n---\namber violin',
    )
    palace.index()
    assert sorted(marked(palace).items()) == [("a", True), ("b", True), ("c", False)]


def test_a_successor_that_is_no_hit_changes_no_order(palace: Palace) -> None:
    """Filtered out or about something else; the old note is marked all the same."""
    palace.notes(
        old="---\ntype: rule\npriority: high\nsuperseded_by: '[[new]]'\n---\namber boats",
        new="violin",
        last="---\ntype: rule\npriority: low\ncreated: 2020-01-01\n---\namber",
    )
    palace.index()
    assert list(marked(palace).items()) == [("old", True), ("last", False)]
    palace.notes(new="---\ntype: idea\n---\namber boats")
    palace.index()
    assert list(marked(palace, types=("rule",)).items()) == [("old", True), ("last", False)]


@pytest.mark.parametrize("folder", ["archive_basement__", None])
def test_without_a_living_successor_a_note_stands(palace: Palace, folder: str | None) -> None:
    """One that is archived or not there supersedes nothing in the search."""
    palace.notes(old=OLD.format('superseded_by: "[[new]]"\n'), other="amber")
    if folder:
        palace.notes(**{f"{folder}new": NEW.format('supersedes: "[[old]]"\n')})
    palace.index()
    assert marked(palace) == {"old": False, "other": False}
    assert next(iter(marked(palace))) == "old"


def test_relevance_is_halved(palace: Palace) -> None:
    """The score is made of what the parts say, where the successor is no hit."""
    palace.notes(a=OLD.format(""), violin="violin", b=NEW.format(""))
    palace.index()
    before = {h.path: h for h in palace.hits("amber boats")}["palace/a.md"]
    palace.notes(a=OLD.format('superseded_by: "[[violin]]"\n'))
    palace.index()
    after = {h.path: h for h in palace.hits("amber boats")}["palace/a.md"]
    assert after.parts.relevance == pytest.approx(before.parts.relevance / 2, abs=1e-6)
    assert after.score == pytest.approx(before.score - before.parts.relevance / 4, abs=1e-6)


def test_every_chunk_comes_behind_the_successors_best() -> None:
    """And keeps its score where that is lower anyway; other files are left as they are."""
    score = np.array([0.9, 0.2, 0.5, 0.4, 0.95])
    file = np.array([0, 0, 1, 1, 2])
    proven = np.ones(5, dtype=bool)
    found = superseded.behind(score, file, proven, np.array([[0, 1]]))
    assert found[0] < 0.5 and found[0] == pytest.approx(0.5)
    assert found.tolist()[1:] == [0.2, 0.5, 0.4, 0.95]
    assert score[0] == 0.9
    proven[2:4] = False
    assert superseded.behind(score, file, proven, np.array([[0, 1]])).tolist() == score.tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_a_long_chain_is_followed_whatever_its_order(order: int) -> None:
    """Each of sixty notes comes behind the next."""
    count = 60
    score = np.linspace(1.0, 0.5, count)
    pairs = np.array([[n, n + 1] for n in range(count - 1)][::order])
    found = superseded.behind(score, np.arange(count), np.ones(count, dtype=bool), pairs)
    assert np.all(np.diff(found) > 0)
    assert found[-1] == 0.5


def test_a_ring_of_files_ends() -> None:
    """No score sinks without end."""
    pairs = np.array([[0, 1], [1, 2], [2, 0]])
    found = superseded.behind(np.array([0.5, 0.6, 0.7]), np.arange(3), np.ones(3, bool), pairs)
    assert np.all(found > 0.499)


@pytest.mark.parametrize(
    ("old", "new"), [("", "supersedes: '[[old]]'"), ("superseded_by: '[[new]]'", "")]
)
def test_the_successor_is_named(palace: Palace, old: str, new: str) -> None:
    """Whichever of the two notes says so; a note that is none has none."""
    palace.notes(old=f"---\n{old}\n---\nThe amber of old.", new=f"---\n{new}\n---\nThe amber.")
    palace.index()
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        assert searcher.successor_of("palace/old.md") == "palace/new.md"
        assert searcher.successor_of("palace/new.md") == ""
        assert searcher.successor_of("palace/nowhere.md") == ""
