"""Single lines as hits: list items, turns of a conversation, small sections."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files.config import Config
from memory_palace.search.hits import Hit
from support.fake import TokenFake, fake_choice
from support.palaces import Palace


@pytest.fixture(scope="module")
def minilm() -> Choice:
    """The real embedded model, loaded once."""
    found = registry.choose(Config(embedder="minilm"))
    assert found.load is not None
    model = found.load()
    return replace(found, load=lambda: model)


@pytest.fixture
def real(tmp_path: Path, minilm: Choice) -> Palace:
    """With the real embedded model."""
    return Palace(tmp_path / "root", minilm)


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """With the fake embedder that knows single words."""
    return Palace(tmp_path / "root", fake_choice(TokenFake()))


def exact(palace: Palace, hit: Hit) -> bool:
    """True if the hit's lines of its file are its text."""
    lines = (palace.root / hit.path).read_text().split("\n")
    return "\n".join(lines[hit.start - 1 : hit.end]) == hit.text


TALK = """---
title: Call with Ann
---
# Call with Ann

On the phone, in the evening.

- Ann: The harbour office called about the boat.
- Bob: What did they want?
- Ann: The mooring fee is due
  on the third of May.
- Bob: I will pay it tomorrow.

## Later

- Ann: Did you see the violin maker?
"""


def test_a_list_items_lines_are_exact(palace: Palace) -> None:
    """Of one line or more, nothing of its neighbours; each has an id of its own."""
    palace.notes(talk=TALK)
    palace.index()
    hits = palace.hits("mooring fee third of May", lines=True, top_k=10)
    assert (hits[0].start, hits[0].end) == (10, 11)
    assert hits[0].text == "- Ann: The mooring fee is due\n  on the third of May."
    assert all(exact(palace, hit) for hit in hits)
    assert len({hit.id for hit in hits}) == len(hits)
    assert len({(hit.start, hit.end) for hit in hits}) == len(hits)


def test_a_chunk_that_is_one_thing_is_one_line(palace: Palace) -> None:
    """A paragraph is found as the chunk that it is, under the same id."""
    palace.notes(a="# T\n\namber boats lie\nin the harbour\n")
    palace.index()
    (line,) = palace.hits("amber boats", lines=True)
    (chunk,) = palace.hits("amber boats")
    assert (line.id, line.start, line.end, line.text) == (chunk.id, 1, 4, chunk.text)


def test_lines_come_in_the_order_of_their_scores(palace: Palace) -> None:
    """Relevance of the line, recency and importance of its note."""
    palace.notes(
        talk=TALK,
        new="---\ncreated: 2026-11-29\npriority: high\n---\n- the mooring fee\n- the violin\n",
    )
    palace.index()
    hits = palace.hits("mooring fee", lines=True, top_k=10)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert (hits[0].path, hits[0].text) == ("palace/new.md", "- the mooring fee")
    for hit in hits:
        parts = hit.parts
        wanted = 0.5 * parts.relevance + 0.25 * parts.recency + 0.25 * parts.importance
        assert hit.score == pytest.approx(wanted, abs=1e-9)


def test_lines_are_filtered_and_limited(palace: Palace) -> None:
    """As chunks are."""
    palace.notes(rooms__a=TALK, b=TALK.replace("Ann", "Eve"))
    palace.index()
    hits = palace.hits("mooring fee", lines=True, rooms=("rooms",), top_k=3)
    assert [hit.path for hit in hits] == ["palace/rooms/a.md"] * 3


def test_without_vectors_words_find_lines(keyword_palace: Palace) -> None:
    """The line that has more and rarer words of the question comes first."""
    keyword_palace.notes(talk=TALK, other="nothing of it", third="more of nothing")
    keyword_palace.index()
    hits = keyword_palace.hits("Bob pay tomorrow", lines=True)
    assert hits[0].text == "- Bob: I will pay it tomorrow."
    assert hits[0].parts.late is None


def test_words_without_spaces_find_lines(keyword_palace: Palace) -> None:
    """As they do in the index, and not only where a line starts with them."""
    said = ["大阪府の料理がとても美味しい", "今日は東京都へ", "京都府の寺は古くて静かだった"]
    keyword_palace.notes(a="# T\n\n" + "".join(f"- {one}\n" for one in said), b="海")
    keyword_palace.index()
    hits = keyword_palace.hits("東京都", lines=True)
    assert hits[0].text == "- 今日は東京都へ"
    assert all(hit.score < hits[0].score for hit in hits[1:])


def test_the_best_line_of_a_chunk_is_named(palace: Palace) -> None:
    """For the reader to see what answers; none in a chunk that is one thing."""
    palace.notes(talk=TALK, plain="mooring fee, one paragraph")
    palace.index()
    best = {hit.path: hit.best for hit in palace.hits("mooring fee third May")}
    assert best == {"palace/talk.md": (10, 11), "palace/plain.md": None}


PLANTS = [
    "It stands by the window.",
    "It gets too much sun there.",
    "The leaves turn yellow.",
]


def conversation(subject: str, turns: list[str]) -> str:
    """A note of turns, each a list item."""
    lines = "".join(f"- {'AB'[n % 2]}: {turn}\n" for n, turn in enumerate(turns))
    return f"# {subject}\n\n{lines}"


def test_a_turn_is_found_through_its_context(real: Palace) -> None:
    """Of two like turns the one whose conversation is about what was asked."""
    real.notes(
        plants=conversation(
            "The lemon tree", ["How is your lemon tree?", "It looks ill.", *PLANTS]
        ),
        cars=conversation("The old car", ["How is your old car?", "It looks ill.", *PLANTS[:2]]),
    )
    real.index()
    hits = real.hits("which parts of the lemon tree changed colour?", lines=True, top_k=3)
    assert "- A: The leaves turn yellow." in [hit.text for hit in hits]
    for asked, path in (("lemon tree", "palace/plants.md"), ("old car", "palace/cars.md")):
        found = real.hits(f"does the {asked} look ill?", lines=True, top_k=10)
        (first, *_) = [hit for hit in found if hit.text == "- B: It looks ill."]
        assert first.path == path
        assert all(exact(real, hit) for hit in found)


def test_a_line_that_moved_has_its_new_lines(palace: Palace) -> None:
    """The file changed under the index; what still stands there is found there."""
    palace.notes(talk=TALK)
    palace.index()
    palace.notes(talk=TALK.replace("in the evening.\n", "in the evening.\n\nA new line.\n"))
    hit = palace.hits("mooring fee third May", lines=True)[0]
    assert (hit.start, hit.end) == (12, 13)
    assert exact(palace, hit)


def test_a_line_that_is_gone_is_no_hit(palace: Palace) -> None:
    """The others of its chunk are."""
    palace.notes(talk=TALK)
    palace.index()
    palace.notes(talk=TALK.replace("- Bob: I will pay it tomorrow.\n", ""))
    answer = palace.ask("Bob pay tomorrow mooring fee", lines=True, top_k=10)
    assert answer.hits and answer.changed == 1
    assert not any("tomorrow" in hit.text for hit in answer.hits)
    assert all(exact(palace, hit) for hit in answer.hits)


def test_a_superseded_line_comes_after_its_successors_best(palace: Palace) -> None:
    """However well it matches, and however new and important its note is."""
    palace.notes(
        old='---\npriority: high\ncreated: 2026-11-29\nsuperseded_by: "[[new]]"\n---\n'
        "- amber boats lie in the harbour\n- copper dune\n",
        new="---\npriority: low\ncreated: 2020-01-01\n---\n"
        "- where the amber went later\n- violin strings\n",
    )
    palace.index()
    hits = palace.hits("amber boats", lines=True, top_k=10)
    assert (hits[0].path, hits[0].text) == ("palace/new.md", "- where the amber went later")
    old = [hit for hit in hits if hit.path == "palace/old.md"]
    assert old and all(hit.parts.superseded and hit.score < hits[0].score for hit in old)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


def test_a_line_that_is_a_part_of_what_stands_there_now_is_no_hit(palace: Palace) -> None:
    """What was said is not cut out of what is said now; a line that kept its text is found."""
    palace.notes(a="# T\n\n- amber boats\n- violin strings\n- copper dune\n")
    palace.index()
    palace.notes(a="# T\n\n- amber boats were never here\n- violin strings\n- copper dune\n")
    hits = palace.hits("amber boats violin", lines=True, top_k=10)
    assert "- violin strings" in [hit.text for hit in hits]
    assert not any("amber" in hit.text for hit in hits)
    assert all(exact(palace, hit) for hit in hits)
