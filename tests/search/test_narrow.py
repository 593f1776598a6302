"""A narrowed index gives the answers of the whole one."""

import random
from pathlib import Path

import numpy as np
import pytest

from memory_palace.search import candidates, closer, narrow
from memory_palace.search.hits import Hit
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace

WORDS = [f"word{n}" for n in range(40)]
CASES: dict[str, dict[str, object]] = {
    "plain": {},
    "more": {"top_k": 30},
    "all chunks": {"all_chunks": True, "top_k": 20},
    "raw": {"raw": True},
    "room": {"rooms": ("a",)},
    "nothing passes": {"types": ("none",)},
    "archived too": {"archived": True},
    "no vectors": {"without": frozenset({"dense"})},
    "no keywords": {"without": frozenset({"keyword"})},
    "no context": {"without": frozenset({"context"})},
}


def write(palace: Palace, seed: int, notes: int) -> None:
    """Notes of a few sections; some supersede others, some are without a vector."""
    dice = random.Random(seed)
    for number in range(notes):
        head = f"created: 2026-{dice.randint(1, 11):02}-{dice.randint(1, 28):02}\n"
        head += f"priority: {dice.choice(['high', 'medium', 'low'])}\n"
        if number % 9 == 8:
            head += f'supersedes: "[[n{number - dice.randint(1, 8)}]]"\n'
        parts = [
            f"## Part {part}\n\n{' '.join(dice.choices(WORDS, k=dice.randint(3, 12)))}\n"
            for part in range(dice.randint(1, 4))
        ]
        palace.write(
            f"palace/{dice.choice('abc')}/n{number}.md", f"---\n{head}---\n" + "\n".join(parts)
        )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Palace:
    """150 notes, of which the last ten have no vectors yet."""
    palace = Palace(tmp_path_factory.mktemp("narrow"), fake_choice(FakeEmbedder(32)))
    write(palace, 1, 140)
    palace.index()
    choice, palace.choice = palace.choice, Palace(palace.root).choice
    write(palace, 1, 150)
    palace.index()
    palace.choice = choice
    return palace


def same(hits: list[Hit]) -> list[tuple[str, int, float]]:
    """What of the hits is compared: scores to eight places."""
    return [(hit.path, hit.start, round(hit.score, 8)) for hit in hits]


@pytest.mark.parametrize("near", [1, 40])
@pytest.mark.parametrize("floor", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("case", CASES)
def test_the_hits_are_those_of_scoring_everything(
    built: Palace, monkeypatch: pytest.MonkeyPatch, case: str, floor: float, near: int
) -> None:
    """Questions of common and rare words, exclusions, filters, parts left out."""
    monkeypatch.setattr(built, "choice", fake_choice(FakeEmbedder(32), floor))
    monkeypatch.setattr(candidates, "BATCH", 5)
    monkeypatch.setattr(candidates, "NEAREST", 60 if case == "raw" else near)
    monkeypatch.setattr(closer, "CANDIDATES", 5)
    dice = random.Random(case)
    texts = [" ".join(dice.choices(WORDS, k=n)) for n in (1, 2, 3, 5)] + ["word1 word2 -word3"]
    for text in ["", *texts] if case in ("room", "nothing passes") else texts:
        expected = same(built.hits(text, **CASES[case]))
        with monkeypatch.context() as patch:
            patch.setattr(candidates, "FEW", 2)
            assert same(built.hits(text, **CASES[case])) == expected


def test_most_chunks_are_left_out(built: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be no use."""
    kept: list[int] = []
    real = narrow.narrowed

    def counted(*given: object) -> object:
        found = real(*given)  # type: ignore[arg-type]
        kept.append(len(found.chunk))
        return found

    monkeypatch.setattr(candidates, "FEW", 2)
    monkeypatch.setattr(candidates, "BATCH", 5)
    monkeypatch.setattr(candidates, "NEAREST", 5)
    monkeypatch.setattr(closer, "CANDIDATES", 5)
    monkeypatch.setattr(narrow, "narrowed", counted)
    assert built.hits("word1 word2", top_k=1)
    assert 5 <= kept[0] < 150


def test_no_score_exceeds_its_limit(built: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of chunks that are not among the nearest, with any parts left out and any floor."""
    seen = 0
    near = np.zeros(0, dtype=np.int64)
    real, real_near = narrow._Scorer.limit, narrow._Scorer.near

    def noted(scorer: narrow._Scorer, wanted: int) -> tuple[np.ndarray, float]:
        nonlocal near
        near, bound = real_near(scorer, wanted)
        return near, bound

    def checked(scorer: narrow._Scorer, bound: float) -> np.ndarray:
        nonlocal seen
        limit = real(scorer, bound)
        others = np.setdiff1d(np.flatnonzero(scorer._known.allowed), near)
        if scorer._known.dense:
            scores = scorer.score(others)
            assert np.all(scores <= limit[others] + 1e-12)
            seen += np.count_nonzero(scores > -np.inf)
        return limit

    monkeypatch.setattr(narrow._Scorer, "limit", checked)
    monkeypatch.setattr(candidates, "FEW", 2)
    monkeypatch.setattr(narrow._Scorer, "near", noted)
    monkeypatch.setattr(candidates, "NEAREST", 10)
    monkeypatch.setattr(closer, "CANDIDATES", 5)
    dice = random.Random(5)
    for floor in (0.0, 0.2, 0.6):
        monkeypatch.setattr(built, "choice", fake_choice(FakeEmbedder(32), floor))
        for case in CASES.values():
            for size in (1, 2, 4):
                built.hits(" ".join(dice.choices(WORDS, k=size)), **case)
    assert seen > 1_000


def test_a_note_comes_behind_its_successor_that_is_far_from_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The successor has but one of the words, and is kept to be compared."""
    palace = Palace(tmp_path, fake_choice(FakeEmbedder(32)))
    for number in range(60):
        palace.write(f"palace/a/n{number}.md", f"---\npriority: high\n---\nword1 word2 {number}")
    palace.write("palace/a/old.md", "---\npriority: high\n---\nword1 word2 word3")
    other = " ".join(f"other{n}" for n in range(200))
    palace.write(
        "palace/a/new.md",
        f'---\npriority: low\ncreated: 2020-01-01\nsupersedes: "[[old]]"\n---\nword3 {other}',
    )
    palace.index()
    monkeypatch.setattr(closer, "CANDIDATES", 3)
    expected = same(palace.hits("word1 word2 word3", top_k=5))
    monkeypatch.setattr(candidates, "FEW", 2)
    monkeypatch.setattr(candidates, "BATCH", 5)
    monkeypatch.setattr(candidates, "NEAREST", 5)
    assert same(palace.hits("word1 word2 word3", top_k=5)) == expected
    assert all(path != "palace/a/old.md" for path, _, _ in expected)


def test_an_empty_palace_is_narrowed_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No chunk, no vector."""
    monkeypatch.setattr(candidates, "FEW", -1)
    palace = Palace(tmp_path, fake_choice())
    palace.index()
    assert palace.hits("anything") == []
