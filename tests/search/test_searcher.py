"""Questions and their answers: filters, evidence, neighbours, freshness."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.index import catalog as catalogs
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace


def test_a_small_room_beside_a_huge_one_fills_its_k(palace: Palace) -> None:
    """Filters come before ranking, however good the rest of the palace is."""
    palace.notes(**{f"huge__n{i}": "server faiss" for i in range(200)})
    palace.notes(**{f"tiny__n{i}": f"server number {i} and much else besides" for i in range(5)})
    palace.index()
    assert len(palace.paths("server faiss", rooms=("tiny",), top_k=5)) == 5


@pytest.mark.parametrize("room", ["topics", "topics/", "palace/topics", "/topics"])
def test_a_room_is_whole_path_components(palace: Palace, room: str) -> None:
    """``topics`` is not ``topics_old``, and `_` matches only itself."""
    palace.notes(topics__a="alpha", topics_old__b="alpha", topicsXold__c="alpha")
    palace.index()
    assert palace.paths("alpha", rooms=(room,)) == ["topics/a"]
    assert palace.paths("alpha", rooms=("topics_old",)) == ["topics_old/b"]


def test_several_values_widen_and_several_filters_narrow(palace: Palace) -> None:
    """Any of one filter's values; all of the filters."""
    palace.notes(
        a="---\ntype: principle\npriority: high\ntags: [x]\n---\nalpha one",
        b="---\ntype: rule\npriority: high\ntags: [x, y]\n---\nalpha two",
        c="---\ntype: idea\npriority: high\ntags: y\n---\nalpha three",
        d="---\ntype: rule\npriority: low\n---\nalpha four",
    )
    palace.index()
    both = ("principle", "rule")
    assert sorted(palace.paths("alpha", types=both)) == ["a", "b", "d"]
    assert sorted(palace.paths("alpha", types=both, priorities=("high",))) == ["a", "b"]
    assert sorted(palace.paths("alpha", tags=("y",))) == ["b", "c"]
    assert palace.paths("alpha", tags=("#x",), types=("rule",)) == ["b"]


def test_since_and_until_are_inclusive(palace: Palace) -> None:
    """A day's first moment counts from it, its last moment up to it."""
    palace.notes(
        a="---\ncreated: 2026-11-01\n---\nalpha",
        b="---\ncreated: 2026-11-02T23:59:59Z\n---\nalpha",
        c="---\ncreated: 2026-11-03\n---\nalpha",
    )
    palace.index()
    day = datetime(2026, 11, 2, tzinfo=UTC)
    end = datetime(2026, 11, 2, 23, 59, 59, tzinfo=UTC)
    assert sorted(palace.paths("alpha", since=day)) == ["b", "c"]
    assert sorted(palace.paths("alpha", until=end)) == ["a", "b"]


def test_a_filter_without_words_gives_newest_and_most_important_first(palace: Palace) -> None:
    """The relevance is 0.5 for all of them."""
    palace.notes(
        topics__old="---\ncreated: 2025-01-01\n---\none",
        topics__new="---\ncreated: 2026-11-28\n---\ntwo",
        topics__top="---\ncreated: 2026-11-28\npriority: high\n---\nthree",
        other="x",
    )
    palace.index()
    hits = palace.hits(rooms=("topics",))
    assert [h.path for h in hits] == [f"palace/topics/{n}.md" for n in ("top", "new", "old")]
    assert {h.parts.relevance for h in hits} == {0.5}


def test_a_hit_needs_evidence(palace: Palace) -> None:
    """Recency and importance order hits, they never make one."""
    palace.notes(a="---\npriority: high\ncreated: 2026-11-29\n---\nwholly unrelated", b="alpha")
    palace.index()
    assert palace.paths("alpha") == ["b"]
    assert palace.paths("zebra") == []


def test_raw_orders_by_cosine_alone(palace: Palace) -> None:
    """However new or important another note is."""
    palace.notes(
        a="---\npriority: high\ncreated: 2026-11-29\n---\nalpha beta gamma delta epsilon",
        b="---\npriority: low\ncreated: 2020-01-01\n---\nalpha beta",
    )
    palace.index()
    assert palace.paths("alpha beta") == ["a", "b"]
    assert palace.paths("alpha beta", raw=True) == ["b", "a"]


def test_raw_without_vectors_is_refused(keyword_palace: Palace) -> None:
    """There is no cosine to order by."""
    keyword_palace.notes(a="alpha")
    keyword_palace.index()
    with pytest.raises(Missing, match="no embedder is in use"):
        keyword_palace.hits("alpha", raw=True)


def test_one_hit_a_note_unless_all_chunks_are_asked_for(palace: Palace) -> None:
    """Its best chunk stands for a note."""
    part = "alpha word " * 60
    palace.notes(a=f"## One\n{part}\n\n## Two\nalpha alpha\n{part}", b="alpha")
    palace.index()
    assert len(palace.hits("alpha")) == 2
    hits = palace.hits("alpha", all_chunks=True, top_k=10)
    assert sorted((h.path, h.heading) for h in hits) == [
        ("palace/a.md", ("One",)),
        ("palace/a.md", ("Two",)),
        ("palace/b.md", ()),
    ]


def test_nothing_asked_is_bad_input(palace: Palace) -> None:
    """No words and no filter is no question."""
    palace.notes(a="alpha")
    palace.index()
    for text in ("", "  \n"):
        with pytest.raises(BadInput, match="nothing is asked"):
            palace.ask(text)


@pytest.mark.parametrize(
    "text",
    [
        "alpha " * 10_000,
        '"alpha',
        "alpha*",
        "alpha NEAR(beta",
        "alpha AND OR NOT",
        "^alpha: {x} - +",
        "'; DROP TABLE files; -- alpha",
        "alpha \u202e\x07\x00",
    ],
)
def test_any_text_is_a_question(palace: Palace, text: str) -> None:
    """Syntax of the keyword index is text here."""
    palace.notes(a="alpha", b="beta")
    palace.index()
    assert palace.paths(text)[0] == "a"


@pytest.mark.parametrize("text", ["?!…", "—", "…" * 1000])
def test_punctuation_alone_matches_nothing(keyword_palace: Palace, text: str) -> None:
    """And is no fault."""
    keyword_palace.notes(a="alpha")
    keyword_palace.index()
    assert keyword_palace.paths(text) == []


def test_chinese_japanese_and_korean_are_found(keyword_palace: Palace) -> None:
    """Words inside a run without spaces match too."""
    keyword_palace.notes(
        zh="我们决定使用向量索引。", ja="記憶の宮殿を作る", ko="기억 궁전을 만든다"
    )
    keyword_palace.index()
    assert keyword_palace.paths("向量索引") == ["zh"]
    assert keyword_palace.paths("宮殿") == ["ja"]
    assert keyword_palace.paths("궁전") == ["ko"]
    assert keyword_palace.paths("向") == ["zh"]


def test_diacritics_and_word_forms_match(keyword_palace: Palace) -> None:
    """Café is cafe, indexing is indexed."""
    keyword_palace.notes(a="the café", b="was indexed")
    keyword_palace.index()
    assert keyword_palace.paths("cafe") == ["a"]
    assert keyword_palace.paths("indexing") == ["b"]


def test_titles_tags_and_file_names_are_searched(keyword_palace: Palace) -> None:
    """A note without any text is found by what it is called."""
    keyword_palace.notes(a="---\ntitle: Alpha\ntags: [beta]\naliases: gamma\n---\n", delta="")
    keyword_palace.index()
    for word in ("alpha", "beta", "gamma"):
        assert keyword_palace.paths(word) == ["a"]
    assert keyword_palace.paths("delta") == ["delta"]


def test_an_unknown_type_room_or_tag_says_which_there_are(palace: Palace) -> None:
    """Nothing matched, and why."""
    palace.notes(topics__a="---\ntags: [x]\ntype: rule\n---\nalpha")
    palace.index()
    assert "there are rule" in palace.ask("alpha", types=("nope",)).notes[0]
    assert "there are topics" in palace.ask("alpha", rooms=("nope",)).notes[0]
    assert "there are x" in palace.ask("alpha", tags=("nope",)).notes[0]


# -- neighbours ---------------------------------------------------------------------------------


def near(palace: Palace, text: str, **fields: object) -> dict[str, list[str]]:
    """{path: neighbours' paths} of the hits."""
    return {h.path: [n.path for n in h.neighbors] for h in palace.hits(text, **fields)}


def test_neighbours_follow_links_in_order_none_twice(palace: Palace) -> None:
    """Hits are no neighbours, and a note shown once is not shown again."""
    palace.notes(
        a="alpha [[d]] [[c]] [[b]] [[e]]",
        b="---\npriority: low\n---\nalpha [[c]] [[f]]",
        c="x",
        d="x",
        e="x",
        f="x",
    )
    palace.index()
    assert near(palace, "alpha") == {
        "palace/a.md": ["palace/d.md", "palace/c.md"],
        "palace/b.md": ["palace/f.md"],
    }
    assert near(palace, "alpha", neighbors=0) == {"palace/a.md": [], "palace/b.md": []}


def test_neighbours_pass_the_filters_and_are_alive(palace: Palace) -> None:
    """No filtered, cold or vanished note comes in through a link."""
    palace.notes(
        topics__a="alpha [[b]] [[c]] [[old]] [[gone]]",
        topics__b="x",
        topics__gone="x",
        c="x",
        archive_basement__old="x",
    )
    palace.index()
    (palace.root / "palace/topics/gone.md").unlink()
    found = near(palace, "alpha", rooms=("topics",), neighbors=9)
    assert found == {"palace/topics/a.md": ["palace/topics/b.md"]}


# -- the archive --------------------------------------------------------------------------------


def test_the_archive_is_searched_only_when_asked(palace: Palace) -> None:
    """Its hits are marked, and nothing of it is in the main catalog or among the vectors."""
    palace.notes(
        a="alpha",
        archive_basement__b="alpha cold",
        rooms__archive_basement__c="alpha cold",
    )
    palace.index()
    assert palace.paths("alpha cold") == ["a"]
    hits = palace.hits("alpha cold", archived=True)
    assert {h.path: h.archived for h in hits} == {
        "palace/a.md": False,
        "palace/archive_basement/b.md": True,
        "palace/rooms/archive_basement/c.md": True,
    }
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as main:
        assert main.count("files") == main.count("vectors") == 1
    assert (
        "archive_basement" not in (palace.root / "manifests/watchdog_manifest_v1.jsonl").read_text()
    )


# -- freshness ----------------------------------------------------------------------------------


def test_an_edit_of_equal_size_and_time_is_never_served(palace: Palace) -> None:
    """Every hit's file is hashed before it is shown."""
    palace.notes(a="alpha one", b="alpha two")
    palace.index()
    palace.notes(a="gamma one")
    answer = palace.ask("alpha")
    assert [h.path for h in answer.hits] == ["palace/b.md"]
    assert answer.changed == 1


def test_text_that_moved_within_its_file_is_found_again(palace: Palace) -> None:
    """With the lines it has now."""
    palace.notes(a="# A\n\nintro words\n\n## Part\n\nalpha here")
    palace.index()
    palace.notes(a="# A\n\nintro words\nand\nmore\n\n## Part\n\nalpha here")
    (hit,) = palace.hits("alpha")
    assert (hit.start, hit.end, hit.heading) == (7, 9, ("A", "Part"))


def test_a_deleted_note_is_dropped_and_the_next_fills_its_place(palace: Palace) -> None:
    """k hits that are there, not k minus one."""
    palace.notes(a="alpha alpha", b="alpha beta", c="alpha gamma delta")
    palace.index()
    (palace.root / "palace/a.md").unlink()
    assert len(palace.hits("alpha", top_k=2)) == 2


def test_an_emptied_note_is_not_found_with_its_old_text(palace: Palace) -> None:
    """Neither before the next index run nor after it."""
    palace.notes(a="alpha", b="beta")
    palace.index()
    palace.notes(a="")
    assert palace.paths("alpha") == []
    palace.write("palace/a.md", "", old=False)
    palace.index()
    assert palace.paths("alpha") == []


def test_a_tree_that_moved_on_is_counted(palace: Palace) -> None:
    """New, changed and gone files, without reading them."""
    from memory_palace.search.searcher import Searcher

    palace.notes(a="alpha", b="beta", c="gamma")
    palace.index()
    palace.notes(d="delta", b="beta and more")
    (palace.root / "palace/c.md").unlink()
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        assert searcher.changed() == 3


# -- the embedder -------------------------------------------------------------------------------


def test_an_index_is_never_asked_with_another_embedder(tmp_path: Path) -> None:
    """Keywords answer, and a line says what to run."""
    palace = Palace(tmp_path / "root", fake_choice(FakeEmbedder(salt="a")))
    palace.notes(a="alpha")
    palace.index()
    palace.choice = fake_choice(FakeEmbedder(salt="b"))
    from memory_palace.search.searcher import Searcher

    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        assert searcher.choice.load is None
        assert "run `palace index`" in searcher.notes[0]
    (hit,) = palace.hits("alpha")
    assert hit.parts.cosine is None


def test_chunks_without_a_vector_yet_are_found_by_keywords(palace: Palace) -> None:
    """Phase 1 alone is searchable, beside what has vectors."""
    palace.notes(a="alpha")
    palace.index()
    palace.notes(b="alpha beta")
    with_vectors, palace.choice = palace.choice, Palace(palace.root).choice
    palace.index()
    palace.choice = with_vectors
    assert sorted(palace.paths("alpha")) == ["a", "b"]


def test_a_read_only_index_can_be_asked(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader needs no right to write."""
    palace.notes(a="alpha")
    palace.index()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert palace.paths("alpha") == ["a"]


# -- what changes underneath --------------------------------------------------------------------


def test_an_edit_beside_the_text_does_not_hide_it(palace: Palace) -> None:
    """A diary that grew still answers, with the text it has now."""
    palace.notes(diary="# Diary\n\nThe gnat bit the cat.\n", b="other words")
    palace.index()
    palace.notes(diary="# Diary\n\nThe gnat bit the cat.\nLater it rained.\n")
    (hit,) = palace.hits("gnat bit")
    assert "Later it rained." in hit.text
    assert hit.end == 4


def test_text_that_was_replaced_is_no_answer(palace: Palace) -> None:
    """What stands at its place now has to have evidence of its own; the reader is told."""
    palace.notes(a="# A\n\nThe gnat bit the cat.\n")
    palace.index()
    palace.notes(a="# A\n\nWholly unlike before.\n")
    answer = palace.ask("gnat bit")
    assert answer.hits == []
    assert "has changed since" in answer.notes[0]


def test_filters_and_facts_are_those_of_the_changed_file(palace: Palace) -> None:
    """A note that was retyped after the index is shown, scored and filtered as it is."""
    palace.notes(a="---\ntype: rule\npriority: low\n---\nalpha here")
    palace.index()
    palace.notes(a="---\ntype: idea\npriority: high\n---\nalpha here")
    assert palace.hits("alpha", types=("rule",)) == []
    (hit,) = palace.hits("alpha")
    assert (hit.type, hit.priority, hit.parts.importance) == ("idea", "high", 1.0)


def test_a_note_excluded_after_the_index_is_not_shown(palace: Palace) -> None:
    """The configuration counts at once, and the index is called out of date."""
    from memory_palace.search.searcher import Searcher

    palace.notes(a="alpha", b="alpha")
    palace.index()
    palace.write("palace.yaml", 'index: {exclude: ["b.md"]}\n')
    assert palace.paths("alpha") == ["a"]
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        assert searcher.changed() == 1


def test_an_open_searcher_keeps_to_the_archive_it_opened(palace: Palace) -> None:
    """An index run meanwhile changes nothing under its feet."""
    from memory_palace.search.query import Query
    from memory_palace.search.searcher import Searcher
    from support.palaces import NOW

    palace.notes(a="x", archive_basement__b="alpha", archive_basement__c="alpha beta")
    palace.index()
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        asked = Query(text="alpha", archived=True)
        assert len(searcher.ask(asked, NOW).hits) == 2
        palace.notes(archive_basement__b="alpha two", archive_basement__d="alpha three")
        palace.index()
        assert len(searcher.ask(asked, NOW).hits) == 2


def test_raw_stays_in_cosine_order_beside_the_archive(palace: Palace) -> None:
    """Two catalogs are merged by what hits are ordered by."""
    palace.notes(
        a="---\npriority: high\ncreated: 2026-11-29\n---\nalpha beta gamma delta epsilon",
        b="---\npriority: low\ncreated: 2020-01-01\n---\nalpha beta",
        archive_basement__c="alpha",
    )
    palace.index()
    assert palace.paths("alpha beta", raw=True, archived=True)[:2] == ["b", "a"]


def test_blank_words_are_no_words(palace: Palace) -> None:
    """With a filter they ask for the newest and most important."""
    palace.notes(topics__a="alpha")
    palace.index()
    assert palace.paths("  ", rooms=("topics",)) == ["topics/a"]


def test_thousands_of_values_of_one_filter_are_fine(palace: Palace) -> None:
    """No limit of the database's is met."""
    palace.notes(topics__a="alpha")
    palace.index()
    many = tuple(f"t{n}" for n in range(3000))
    assert palace.paths("alpha", types=(*many, "palace")) == ["topics/a"]
    assert palace.paths("alpha", rooms=(*many, "topics")) == ["topics/a"]
    assert palace.paths("alpha", tags=many) == []


def test_a_question_without_a_word_is_told_so(palace: Palace) -> None:
    """And meets no chunk of punctuation by accident."""
    palace.notes(a="---\n\n***\n")
    palace.index()
    assert palace.ask("!!!").notes == ["the question has no word: write some"]
