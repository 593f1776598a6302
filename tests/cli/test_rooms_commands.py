"""``palace traverse``, ``palace tunnels`` and ``palace map``: what is printed, and exit codes."""

import json

import pytest

from support.palaces import Palace

_MAP = "palace/grand_hall/README.md"


@pytest.fixture
def house(keyword_palace: Palace) -> Palace:
    """Two projects that share a room, and a room of no wing."""
    keyword_palace.notes(
        project_rooms__demo__api__a="---\nupdated: 2026-11-02\n---\n[[lessons]]\n",
        project_rooms__garden__api__b="---\nupdated: 2026-11-03\n---\nx\n",
        project_rooms__garden__soil="---\nupdated: 2026-11-04\n---\nx\n",
        topics__lessons="---\nupdated: 2026-11-05\n---\nx\n",
    )
    return keyword_palace


def test_traverse_as_text(house: Palace) -> None:
    """The start, then a line a room with how it is reached."""
    done = house.command("traverse", "topics")
    assert done.out.splitlines() == [
        "0  topics  (no wing; 1 note, 2026-11-05)",
        "1  api  (in demo, garden; 2 notes, 2026-11-03)  1 link with topics",
        "2  garden  (in garden; 1 note, 2026-11-04)  wing garden with api",
    ]
    assert (done.code, done.err) == (0, "")


def test_traverse_as_jsonl(house: Palace) -> None:
    """All keys, always; the two kinds of edges apart."""
    done = house.command("traverse", "api", "--hops", "1", "--format", "jsonl")
    first, *rest = map(json.loads, done.out.splitlines())
    assert first == {
        "hops": 0,
        "room": "api",
        "wings": ["demo", "garden"],
        "notes": 2,
        "files": 0,
        "newest": "2026-11-03T00:00:00Z",
        "folders": ["project_rooms/demo/api", "project_rooms/garden/api"],
        "by_wings": [],
        "by_links": [],
    }
    assert [(one["room"], one["by_wings"], one["by_links"]) for one in rest] == [
        ("topics", [], [{"room": "api", "links": 1}]),
        ("garden", [{"wing": "garden", "room": "api"}], []),
    ]


def test_traverse_by_one_kind_of_edges(house: Palace) -> None:
    """What is not reached is not told of; a lonely room says so."""
    done = house.command("traverse", "topics", "--edges", "wings")
    assert len(done.out.splitlines()) == 1
    assert done.err.startswith("nothing is reached: ")
    assert done.code == 0


def test_traverse_says_how_many_more_there_are(house: Palace) -> None:
    """Fifty lines at most."""
    house.notes(**{f"project_rooms__big__r{n:02}__a": "x" for n in range(60)})
    done = house.command("traverse", "r00")
    assert len(done.out.splitlines()) == 50
    assert done.err == "10 more rooms within 2 hops: fewer --hops, or --edges\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["traverse", "apy"], 1, "error: no room `apy`: did you mean `api`?"),
        (["traverse", ""], 2, "error: no room is named: give its name or its folder"),
        (["traverse"], 2, "error: Missing argument 'ROOM'"),
        (["traverse", "api", "--hops", "0"], 2, "error: Invalid value for '--hops'"),
        (["traverse", "api", "--edges", "tunnels"], 2, "error: Invalid value for '--edges'"),
        (["traverse", "api", "--hop", "1"], 2, "error: no option `--hop`: did you mean `--hops`?"),
        (["tunnels", "demo"], 2, "error: name two wings, or none"),
        (["tunnels", "demo", "gardens"], 1, "error: no wing `gardens`: did you mean `garden`?"),
        (["map", "--dry"], 2, "error: no option `--dry`: did you mean `--dry-run`?"),
    ],
)
def test_bad_input_is_one_line(house: Palace, arguments: list[str], code: int, said: str) -> None:
    """What, and what to do; nothing on stdout."""
    done = house.command(*arguments)
    assert done.err.startswith(said)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)


def test_tunnels(house: Palace) -> None:
    """A line a room; none is exit code 1."""
    assert house.command("tunnels").out == "api  (in demo, garden; 2 notes, 2026-11-03)\n"
    done = house.command("tunnels", "garden", "demo", "--format", "jsonl")
    assert json.loads(done.out)["room"] == "api"
    (house.root / "palace/project_rooms/demo/api").rename(house.root / "palace/project_rooms/x")
    done = house.command("tunnels")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("no room is shared: ")


def test_map(house: Palace) -> None:
    """A dry run prints the block; then it is written, once."""
    dry = house.command("map", "--dry-run")
    assert dry.out.startswith("<!-- palace:map:start -->\n")
    assert dry.err == f"{_MAP} would be created; nothing was written\n"
    assert not (house.root / _MAP).exists()
    assert house.command("map").out == f"created: {_MAP}, 4 rooms\n"
    assert dry.out in (house.root / _MAP).read_text()
    assert house.command("map").out == f"unchanged: {_MAP}, 4 rooms\n"
    assert house.command("map", "--dry-run").err == f"{_MAP} is up to date; nothing was written\n"


def test_a_map_of_faulty_manifests_ends_with_one(house: Palace) -> None:
    """The line is named, the rest is drawn."""
    house.write("manifests/projects/demo.jsonl", '{"path": "a", "room": "core"}\nbroken\n')
    done = house.command("map")
    assert (done.code, done.out) == (1, f"created: {_MAP}, 5 rooms\n")
    assert "manifests/projects/demo.jsonl:2: error: not a JSON object" in done.err
