"""A question in several forms, and with parts left out, through an open index."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.embed import rerank as reranking
from memory_palace.search.hits import Hit
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from support.fake import FakeEmbedder, TokenFake, fake_choice
from support.palaces import NOW, Palace

NOTES = {
    "amber": "amber boats lie in the harbour",
    "violin": "the violin maker has a new workshop",
    "copper": "copper kettles and an amber lamp",
    "dune": "sand dunes move with the wind",
}


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """Four notes, with the fake embedder that knows single words."""
    made = Palace(tmp_path / "root", fake_choice(TokenFake()))
    made.notes(**NOTES)
    made.index()
    return made


def by_name(hits: list[Hit]) -> dict[str, Hit]:
    """The hits by the names of their notes."""
    return {h.path.removeprefix("palace/").removesuffix(".md"): h for h in hits}


def test_lex_replaces_the_keywords(palace: Palace) -> None:
    """The caller's words are found, and the question's own count as keywords no more."""
    hits = by_name(palace.hits("amber boats", lex="violin"))
    assert hits["violin"].parts.terms == ("violin",)
    assert hits["violin"].parts.keyword > 0
    assert hits["amber"].parts.terms == () and hits["amber"].parts.keyword == 0.0
    assert (hits["amber"].parts.cosine or 0) > (hits["violin"].parts.cosine or 0)


def test_vec_replaces_what_is_embedded(palace: Palace) -> None:
    """Cosine and late interaction are those of the given text, keywords those of the question."""
    plain, given = palace.hits("amber boats", vec="violin maker"), palace.hits("violin maker")
    other = by_name(plain)
    wanted = by_name(given)["violin"].parts
    assert (other["violin"].parts.cosine, other["violin"].parts.late) == (
        wanted.cosine,
        wanted.late,
    )
    assert other["amber"].parts.terms == ("amber", "boats")
    assert other["violin"].parts.terms == ()


def test_hyde_joins_the_question(palace: Palace) -> None:
    """The vector is between both; the question's keywords and words stay."""
    asked, both = (
        by_name(palace.hits("amber boats")),
        by_name(palace.hits("amber boats", hyde="the violin maker has a workshop")),
    )
    assert "violin" not in asked and "violin" in both
    assert (both["amber"].parts.cosine or 0) < (asked["amber"].parts.cosine or 0)
    assert both["amber"].parts.terms == ("amber", "boats")
    assert both["amber"].parts.late == asked["amber"].parts.late


@pytest.mark.parametrize("name", ["lex", "vec", "hyde"])
def test_a_form_alone_is_a_question(palace: Palace, name: str) -> None:
    """No other words are needed."""
    assert palace.paths(**{name: "violin maker"})[0] == "violin"


@pytest.mark.parametrize("name", ["text", "lex", "vec", "hyde"])
def test_each_form_is_bounded(palace: Palace, name: str) -> None:
    """And said to be too long, whichever it is."""
    asked: dict[str, Any] = {name: "x" * 100_001}
    with pytest.raises(BadInput, match="has 100,001 characters, of 100,000 at most"):
        palace.ask(**asked)


@pytest.mark.parametrize("fields", [{"vec": "violin"}, {"hyde": "violin"}])
def test_without_an_embedder_the_words_of_any_form_are_looked_up(
    keyword_palace: Palace, fields: dict[str, str]
) -> None:
    """What is to be embedded is found by its words, unless there is a keyword form."""
    keyword_palace.notes(**NOTES)
    keyword_palace.index()
    assert keyword_palace.paths(**fields) == ["violin"]
    assert keyword_palace.paths(lex="copper", **fields) == keyword_palace.paths("copper") != []
    assert "violin" not in keyword_palace.paths(lex="copper", **fields)


def test_excluded_words_take_hits_away(palace: Palace) -> None:
    """From words and from vectors alike, in the question or in its keyword form."""
    assert set(palace.paths("amber")) == {"amber", "copper"}
    assert palace.paths("amber -kettles") == ["amber"]
    assert palace.paths("amber", lex="amber -boats") == ["copper"]
    assert palace.paths('amber -"amber boats"') == ["copper"]
    assert palace.paths("amber -boats", vec="amber boats") == ["copper"]


def test_a_quoted_phrase_stands_side_by_side(keyword_palace: Palace) -> None:
    """In that order; the same words apart are no match."""
    keyword_palace.notes(**NOTES, apart="boats of amber")
    keyword_palace.index()
    assert keyword_palace.paths('"amber boats"') == ["amber"]
    assert sorted(keyword_palace.paths("amber boats")) == ["amber", "apart", "copper"]


def test_a_prefix_finds_what_starts_so(keyword_palace: Palace) -> None:
    """With a star only."""
    keyword_palace.notes(**NOTES)
    keyword_palace.index()
    assert keyword_palace.paths("harb*") == ["amber"]
    assert keyword_palace.paths("harb") == []


def test_parts_that_are_left_out_are_not_there(palace: Palace) -> None:
    """Each ablation leaves out what it names, and nothing else."""
    full = by_name(palace.hits("amber boats"))["amber"].parts

    def without(*names: str) -> Any:
        return by_name(palace.hits("amber boats", without=frozenset(names)))["amber"].parts

    keyword = without("dense")
    assert (keyword.cosine, keyword.late, keyword.note_late) == (None, None, None)
    assert (keyword.keyword, keyword.note_keyword) == (full.keyword, full.note_keyword)
    dense = without("keyword")
    assert (dense.keyword, dense.terms) == (0.0, ())
    assert (dense.cosine, dense.late) == (full.cosine, full.late)
    alone = without("context")
    assert alone.note_late is None
    assert (alone.cosine, alone.keyword, alone.late) == (full.cosine, full.keyword, full.late)


def test_without_keywords_a_word_is_no_evidence(palace: Palace) -> None:
    """Only the cosine makes a hit, and without vectors there is none, archive included."""
    palace.notes(archive_basement__a="amber boats")
    palace.index()
    asked: dict[str, Any] = {"without": frozenset({"keyword"}), "archived": True}
    assert "archive_basement/a" in palace.paths("amber boats", archived=True)
    assert "archive_basement/a" not in palace.paths("amber boats", **asked)
    floor = fake_choice(FakeEmbedder()).floor
    assert all((hit.parts.cosine or 0.0) >= floor for hit in palace.hits("amber", **asked))


def reranked(palace: Palace, folder: Path | None, query: Query) -> list[Hit]:
    """The hits with the reranker in a folder."""
    models = {reranking.NAME: folder} if folder else {}
    config = replace(palace.config, models=models)
    with Searcher(palace.root, config, palace.choice) as searcher:
        return searcher.ask(query, NOW).hits


@pytest.mark.parametrize("last", [0, 7, 23])
def test_the_reranker_moves_any_candidate_to_the_first_place(
    tmp_path: Path, tiny_reranker: Path, last: int
) -> None:
    """From far below the hits that are asked for; it likes what speaks of memory."""
    palace = Palace(tmp_path / "root")
    for n in range(24):
        liked = "memory memory memory memory" if n == last else f"number {n}"
        day = f"2026-{11 - n // 3:02}-{28 - n % 28:02}"
        palace.notes(**{f"n{n:02}": f"---\ncreated: {day}\n---\namber {liked}\n"})
    palace.index()
    plain = palace.hits("amber", top_k=24)
    wanted = f"palace/n{last:02}.md"
    query = Query("amber", top_k=2, rerank=True)
    hits = reranked(palace, tiny_reranker, query)
    assert len(hits) == 2
    assert hits[0].path == wanted
    assert {hit.path for hit in plain} >= {hit.path for hit in hits}
    before = next(hit for hit in plain if hit.path == wanted)
    assert hits[0].score == pytest.approx(before.score)


def test_reranking_without_the_model_says_what_to_run(palace: Palace, tmp_path: Path) -> None:
    """Before anything is searched."""
    with pytest.raises(Missing, match="reranking needs"):
        reranked(palace, tmp_path / "nothing", Query("amber", rerank=True))
    assert reranked(palace, None, Query("amber"))
