"""What is chosen to be scored in full has the best of all in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.search import candidates
from memory_palace.search.candidates import Chosen, Ids, Wanted, choose


class World:
    """Places with a known part and a cosine that only the near ones are known to have."""

    def __init__(self, count: int, seed: int, near: int, passing: float = 1.0) -> None:
        dice = np.random.default_rng(seed)
        self.known = dice.random(count) ** 3
        self.cosine = dice.random(count) ** 4
        self.group = dice.integers(0, max(count // 3, 1), count)
        self.passes = dice.random(count) < passing
        self.near = np.argsort(-self.cosine)[:near]
        bound = self.cosine[self.near[-1]] if near else 1.0
        self.limit = np.where(self.passes, self.known + bound, -np.inf)
        self.limit[self.near[~self.passes[self.near]]] = -np.inf
        self.limit[self.near[self.passes[self.near]]] = 9.0
        self.scored: list[int] = []

    def score(self, places: Ids) -> np.ndarray:
        self.scored += places.tolist()
        return self.known[places] + self.cosine[places]

    def best(self, wanted: int, among: Ids | None = None) -> list[int]:
        """The best groups, by their best member that passes."""
        order = self.best_places(len(self.known), among)
        return list(dict.fromkeys(self.group[order].tolist()))[:wanted]

    def best_places(self, wanted: int, among: Ids | None = None) -> list[int]:
        """The best places that pass."""
        places = np.flatnonzero(self.passes) if among is None else among
        order = places[np.argsort(-(self.known + self.cosine)[places], kind="stable")]
        return order[:wanted].tolist()

    def choose(self, wanted: int) -> Chosen:
        return choose(self.limit, self.near, self.score, self.group, Wanted(wanted, wanted))


@settings(max_examples=80, deadline=None)
@given(
    count=st.integers(1, 3_000),
    seed=st.integers(0, 10**6),
    near=st.integers(0, 200),
    passing=st.sampled_from([1.0, 0.5, 0.01]),
    wanted=st.integers(1, 20),
)
def test_the_best_of_all_are_the_best_of_the_chosen(
    count: int, seed: int, near: int, passing: float, wanted: int
) -> None:
    """Whatever is near, strong or let through; with batches small enough that some are left."""
    world = World(count, seed, min(near, count), passing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BATCH", 16)
        chosen = world.choose(wanted)
    places = chosen.places[world.passes[chosen.places]]
    assert chosen.at_most == 0.0
    assert world.best(wanted, places) == world.best(wanted)
    assert world.best_places(wanted, places) == world.best_places(wanted)
    assert len(world.scored) == len(set(world.scored))


def test_most_of_a_large_index_is_not_scored() -> None:
    """Few can still be among the best once the nearest are known."""
    world = World(100_000, 1, near=1_000)
    chosen = world.choose(10)
    assert len(world.scored) == len(chosen.places) < 10_000
    assert world.best(10, chosen.places) == world.best(10)


def test_no_more_are_scored_than_the_most_and_what_that_costs_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without anything near, nothing bounds the cosine: every place could be the best."""
    monkeypatch.setattr(candidates, "MOST", 500)
    monkeypatch.setattr(candidates, "BATCH", 100)
    world = World(3_000, 2, near=0)
    chosen = world.choose(200)
    assert len(chosen.places) == 500
    assert 0.0 < chosen.at_most <= 2.0


def test_what_the_filters_bar_is_never_scored() -> None:
    """Not even if it is near."""
    world = World(1_000, 3, near=50, passing=0.3)
    world.choose(300)
    assert world.passes[world.scored].all()


def test_nothing_at_all_is_chosen_of_nothing() -> None:
    """An empty index, and one of which nothing passes."""
    for count in (1, 100):
        world = World(count, 4, near=1, passing=0.0)
        chosen = world.choose(5)
        assert not world.scored and not len(chosen.places)


def test_every_chunk_of_a_vector_is_found() -> None:
    """Two chunks of the same text share a vector; some have none."""
    row_of = np.array([3, 0, -1, 3, 1, 3, -1])
    order = np.argsort(row_of, kind="stable")
    assert candidates.places_of(np.array([3, 1]), row_of, order).tolist() == [0, 3, 5, 4]
    assert candidates.places_of(np.array([2]), row_of, order).tolist() == []
    assert candidates.places_of(np.zeros(0, dtype=np.int64), row_of, order).tolist() == []
