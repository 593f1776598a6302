"""The graph of rooms: how it is built, walked, and which rooms are tunnels."""

from collections import deque
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.room_names import GENERAL, Place
from memory_palace.core.rooms_graph import (
    MOST,
    ByLinks,
    ByWing,
    Edges,
    Graph,
    Member,
    build,
    tunnels,
    walk,
)

_WINGS = st.sampled_from(["a", "b", "c", GENERAL])
_ROOMS = st.sampled_from([f"r{n}" for n in range(8)] + ["ö", 'q"', ""])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of a few rooms with wings and links of any kind, loops and repeats among them."""
    stands = draw(st.lists(st.tuples(_WINGS, _ROOMS), min_size=1, max_size=14))
    members = [Member(f"n{n}", Place(wing, room)) for n, (wing, room) in enumerate(stands)]
    paths = st.sampled_from([one.path for one in members] + ["gone"])
    return build(members, draw(st.lists(st.tuples(paths, paths), max_size=20)))


def _member(path: str, wing: str, room: str, time: float | None = None) -> Member:
    return Member(path, Place(wing, room, f"{wing}/{room}"), time)


def _neighbours(graph: Graph, edges: Edges) -> dict[str, set[str]]:
    """Who is joined to whom, by the plain meaning of the words."""
    found: dict[str, set[str]] = {name: set() for name in graph.rooms}
    for one, other in combinations(graph.rooms.values(), 2):
        shared = set(one.wings) & set(other.wings) - {GENERAL}
        linked = other.name in graph.links.get(one.name, {})
        if (edges != "links" and shared) or (edges != "wings" and linked):
            found[one.name].add(other.name)
            found[other.name].add(one.name)
    return found


def _distances(near: dict[str, set[str]], start: str, hops: int) -> dict[str, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        name = waiting.popleft()
        for other in near[name] - found.keys() if found[name] < hops else ():
            found[other] = found[name] + 1
            waiting.append(other)
    return found


@given(graphs(), st.sampled_from(["wings", "links", "both"]), st.integers(0, 5), st.data())
def test_a_walk_finds_the_shortest_way_to_every_room(
    graph: Graph, edges: Edges, hops: int, data: st.DataObject
) -> None:
    """As a search room by room over all pairs does; nearest first, each room once."""
    start = data.draw(st.sampled_from(sorted(graph.rooms)))
    found = walk(graph, start, hops, edges)
    distances = {one.room.name: one.hops for one in found.rooms}
    assert distances == _distances(_neighbours(graph, edges), start, hops)
    assert [one.hops for one in found.rooms] == sorted(distances.values())
    assert (len(found.rooms), found.more) == (len(distances), 0)


@given(graphs(), st.sampled_from(["wings", "links", "both"]), st.data())
def test_a_walk_says_truly_how_each_room_is_reached(
    graph: Graph, edges: Edges, data: st.DataObject
) -> None:
    """Each way comes from a room one hop nearer, which shares that wing or has those links."""
    start = data.draw(st.sampled_from(sorted(graph.rooms)))
    found = walk(graph, start, 9, edges)
    distance = {one.room.name: one.hops for one in found.rooms}
    for one in found.rooms[1:]:
        assert one.wings or one.links
        for wing, room in one.wings:
            assert edges != "links"
            assert wing != GENERAL
            assert {wing} <= set(one.room.wings) & set(graph.rooms[room].wings)
            assert distance[room] == one.hops - 1
        for room, links in one.links:
            assert edges != "wings"
            assert links == graph.links[one.room.name][room] == graph.links[room][one.room.name]
            assert distance[room] == one.hops - 1


@given(graphs())
def test_distance_is_the_same_from_both_ends(graph: Graph) -> None:
    """Edges have no direction."""
    far = {
        (start, one.room.name): one.hops
        for start in graph.rooms
        for one in walk(graph, start, 9).rooms
    }
    assert far == {(other, one): hops for (one, other), hops in far.items()}


@given(graphs())
def test_a_tunnel_is_a_room_in_two_wings(graph: Graph) -> None:
    """`general` is none of them; two named wings must both have it."""
    found = {room.name for room in tunnels(graph)}
    both = {room.name for room in tunnels(graph, ["a", "b"])}
    assert found == {r.name for r in graph.rooms.values() if len(set(r.wings) - {GENERAL}) > 1}
    assert both == {r.name for r in graph.rooms.values() if {"a", "b"} <= set(r.wings)}


def test_the_tunnel_of_most_wings_comes_first() -> None:
    """Then by name."""
    stands = [("a", "b"), ("ab", "b"), ("a", "c"), ("b", "c"), ("c", "c"), ("a", "a"), ("b", "a")]
    graph = build(_member(str(n), *stand) for n, stand in enumerate(stands))
    assert [room.name for room in tunnels(graph)] == ["c", "a", "b"]


@given(graphs(), st.randoms())
def test_order_does_not_matter(graph: Graph, random: object) -> None:
    """The same files in another order are the same graph."""
    members = [
        Member(f"{room.name}.{wing}.{n}", Place(wing, room.name), 1.0 * n)
        for room in graph.rooms.values()
        for wing in room.wings
        for n in range(2)
    ]
    links = list(combinations([one.path for one in members[:6]], 2))
    first = build(members, links)
    random.shuffle(members)  # type: ignore[attr-defined]
    random.shuffle(links)  # type: ignore[attr-defined]
    again = build(members, links)
    assert again == first
    assert list(again.rooms) == sorted(first.rooms)


def test_a_room_knows_what_it_holds() -> None:
    """Notes, mined files, the newest note, wings and folders."""
    graph = build(
        [
            _member("1", "demo", "api", 5.0),
            _member("2", "garden", "api", 9.0),
            _member("3", "garden", "api"),
            Member("4", Place("demo", "api"), mined=True),
        ]
    )
    room = graph.rooms["api"]
    assert (room.notes, room.files, room.newest) == (3, 1, 9.0)
    assert (room.wings, room.folders) == (("demo", "garden"), ("demo/api", "garden/api"))


def test_names_that_differ_in_case_are_one_room() -> None:
    """It is called as most files call it, its wing too."""
    graph = build(
        [
            _member("1", "Demo", "Docs"),
            _member("2", "demo", "docs"),
            _member("3", "garden", "docs"),
            _member("4", "demo", "api"),
        ],
        [("1", "2"), ("1", "4")],
    )
    assert {name: room.wings for name, room in graph.rooms.items()} == {
        "api": ("demo",),
        "docs": ("demo", "garden"),
    }
    assert graph.links == {"api": {"docs": 1}, "docs": {"api": 1}}


def test_links_are_counted_by_pairs_of_notes() -> None:
    """A pair once in each direction; not within a room, not to files that stand in none."""
    members = [_member("1", "a", "x"), _member("2", "a", "x"), _member("3", "b", "y")]
    pairs = [("1", "3"), ("1", "3"), ("3", "1"), ("2", "3"), ("1", "2"), ("1", "gone")]
    graph = build(members, pairs)
    assert graph.links == {"x": {"y": 3}, "y": {"x": 3}}


def test_a_walk_goes_by_wings_and_by_links() -> None:
    """Each way is told apart, and the two kinds can be asked for alone."""
    members = [
        _member("1", "demo", "api"),
        _member("2", "demo", "ui"),
        _member("3", "garden", "ui"),
        _member("4", "garden", "soil"),
        _member("5", GENERAL, "topics"),
        _member("6", GENERAL, "grand_hall"),
    ]
    graph = build(members, [("5", "1"), ("2", "1")])
    found = {one.room.name: (one.hops, one.wings, one.links) for one in walk(graph, "api").rooms}
    assert found == {
        "api": (0, (), ()),
        "ui": (1, (ByWing("demo", "api"),), (ByLinks("api", 1),)),
        "topics": (1, (), (ByLinks("api", 1),)),
        "soil": (2, (ByWing("garden", "ui"),), ()),
    }
    assert [one.room.name for one in walk(graph, "api", edges="wings").rooms] == [
        *("api", "ui", "soil")
    ]
    assert [one.room.name for one in walk(graph, "api", edges="links").rooms] == [
        *("api", "topics", "ui")
    ]


def test_the_wing_general_joins_nothing() -> None:
    """Not even where a project is called so."""
    graph = build([_member("1", GENERAL, "a"), _member("2", GENERAL, "b")])
    assert len(walk(graph, "a").rooms) == 1
    assert tunnels(graph) == ()


def test_a_walk_names_fifty_rooms_and_counts_the_rest() -> None:
    """The most linked ones of a level come first."""
    members = [_member(f"{n:03}", "demo", f"r{n:03}") for n in range(200)]
    found = walk(build(members, [("000", "199"), ("199", "000"), ("150", "000")]), "r000")
    assert (len(found.rooms), found.more) == (MOST, 150)
    assert [one.room.name for one in found.rooms[:4]] == ["r000", "r199", "r150", "r001"]


def test_ten_thousand_rooms_of_one_wing_are_walked_at_once() -> None:
    """A wing is opened once: its rooms are looked at once, not once for each other room."""
    looked = 0

    class Counting(tuple[str, ...]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            nonlocal looked
            looked += len(self)
            return super().__iter__()

    names = [f"r{n}" for n in range(10_000)]
    built = build([_member(name, "demo", name) for name in names])
    graph = Graph(built.rooms, {"demo": Counting(built.wings["demo"])}, built.links)
    found = walk(graph, "r0", hops=9)
    assert found.more == 10_000 - MOST
    assert looked == 10_000


def test_a_chain_and_a_ring_of_ten_thousand_rooms_end() -> None:
    """Cycles do not go round for ever, and long ways are walked to their end."""
    names = [f"r{n:05}" for n in range(10_000)]
    ring = build(
        [_member(name, name, name) for name in names],
        list(zip(names, [*names[1:], names[0]], strict=True)),
    )
    found = walk(ring, "r00000", hops=20_000)
    assert found.more == 10_000 - MOST
    assert [one.hops for one in found.rooms[:5]] == [0, 1, 1, 2, 2]


def test_a_start_that_is_no_room_is_a_fault_of_the_caller() -> None:
    """Nothing is guessed here."""
    with pytest.raises(KeyError):
        walk(build([_member("1", "a", "x")]), "y")
