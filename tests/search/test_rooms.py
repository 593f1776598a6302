"""The rooms of a palace, as its files are now."""

import shutil

import pytest

from memory_palace.core.errors import BadInput, Refused
from memory_palace.files import locks
from memory_palace.search import rooms
from support.palaces import Palace


@pytest.fixture
def two_wings(keyword_palace: Palace) -> Palace:
    """Two projects with a room of one name, an agent, and a room of no wing."""
    keyword_palace.notes(
        project_rooms__demo__api__a="[[lessons]]\n",
        project_rooms__demo__plan="see [[a]]\n",
        project_rooms__garden__api__b="nothing\n",
        chambers__ada__diary__d="---\nupdated: 2026-11-02\n---\nx\n",
        topics__lessons="[[plan]] [[plan]] [[nowhere]] [[old]]\n",
        archive_basement__old="old\n",
    )
    return keyword_palace


def _held(palace: Palace) -> dict[str, tuple[tuple[str, ...], int, int]]:
    found = rooms.rooms(palace.root).graph.rooms
    return {name: (room.wings, room.notes, room.files) for name, room in found.items()}


def test_rooms_are_those_of_live_notes(two_wings: Palace) -> None:
    """By wing and folder; the archive is none."""
    assert _held(two_wings) == {
        "ada/diary": (("ada",), 1, 0),
        "api": (("demo", "garden"), 2, 0),
        "demo": (("demo",), 1, 0),
        "topics": (("general",), 1, 0),
    }


def test_links_join_the_rooms_of_their_notes(two_wings: Palace) -> None:
    """Pairs of notes, in both directions; broken links and those into the archive do not count."""
    assert rooms.rooms(two_wings.root).graph.links == {
        "api": {"demo": 1, "topics": 1},
        "demo": {"api": 1, "topics": 1},
        "topics": {"api": 1, "demo": 1},
    }


def test_rooms_are_as_the_files_are_now(two_wings: Palace) -> None:
    """A note that came, went or moved counts at once."""
    rooms.rooms(two_wings.root)
    two_wings.notes(project_rooms__demo__ui__c="new\n")
    (two_wings.root / "palace/chambers/ada/diary/d.md").unlink()
    (two_wings.root / "palace/project_rooms/garden/api").rename(
        two_wings.root / "palace/project_rooms/garden/soil"
    )
    assert _held(two_wings) == {
        "api": (("demo",), 1, 0),
        "demo": (("demo",), 1, 0),
        "soil": (("garden",), 1, 0),
        "topics": (("general",), 1, 0),
        "ui": (("demo",), 1, 0),
    }


def test_nothing_is_written_but_the_index(two_wings: Palace) -> None:
    """Looking at rooms leaves every file as it is, the manifest too."""
    before = {p: p.read_bytes() for p in two_wings.root.rglob("*") if p.is_file()}
    rooms.traverse(two_wings.root, "api")
    rooms.tunnels(two_wings.root)
    after = {
        p: p.read_bytes()
        for p in two_wings.root.rglob("*")
        if p.is_file() and ".palace" not in p.parts
    }
    assert after == before


def test_while_another_one_writes_the_last_run_answers(two_wings: Palace) -> None:
    """It is said so, and a note that is gone is not told of."""
    two_wings.index()
    (two_wings.root / "palace/chambers/ada/diary/d.md").unlink()
    with locks.writer(two_wings.root / ".palace/index", "a test", 1.0):
        found = rooms.rooms(two_wings.root)
    assert found.late.startswith("as of the last run of the index: ")
    assert "ada/diary" not in found.graph.rooms


def test_without_an_index_one_is_made(two_wings: Palace) -> None:
    """Deleting what is derived changes no answer."""
    first = rooms.rooms(two_wings.root).graph
    shutil.rmtree(two_wings.root / ".palace")
    assert rooms.rooms(two_wings.root).graph == first


def test_ledgers_and_files_outside_the_palace_are_in_no_room(keyword_palace: Palace) -> None:
    """A ledger is no note; a file that only the manifest names stands in no room."""
    keyword_palace.write("docs/operations.md", "text")
    keyword_palace.write(
        "manifests/watchdog_manifest_v1.jsonl", '{"path": "docs/operations.md", "type": "palace"}\n'
    )
    keyword_palace.write(
        "palace/chambers/ada/ledger/s.jsonl",
        '{"at": "2026-11-29T20:15:03Z", "by": "ada", "event": "observed",'
        ' "uid": "605540ea1a84c3d2", "id": "605540ea1a84",'
        ' "text": "Never retry.", "kind": "lesson"}\n',
    )
    keyword_palace.notes(topics__a="x\n")
    assert list(_held(keyword_palace)) == ["topics"]


def test_mined_files_count_by_the_lines_of_their_manifests(two_wings: Palace) -> None:
    """A project is a wing; a room of its name with notes is the same room."""
    two_wings.write(
        "manifests/projects/demo.jsonl",
        '{"path": "src/a.py", "type": "code", "room": "api"}\n'
        '{"path": "src/b.py", "type": "code", "room": "core"}\n'
        '{"path": "x.py", "type": "code"}\n',
    )
    two_wings.write("manifests/projects/.hidden.jsonl", '{"path": "a", "room": "hidden"}\n')
    held = _held(two_wings)
    assert held["api"] == (("demo", "garden"), 2, 1)
    assert held["core"] == (("demo",), 0, 1)
    assert held["demo/general"] == (("demo",), 0, 1)
    assert "hidden" not in held


def test_a_broken_line_of_a_manifest_is_told(two_wings: Palace) -> None:
    """With path and line; the others count, and so do other projects."""
    two_wings.write("manifests/projects/demo.jsonl", '{"path": "a", "room": "core"}\nbroken\n')
    (two_wings.root / "manifests/projects/odd.jsonl").symlink_to("demo.jsonl")
    two_wings.write("manifests/projects/pike.jsonl", '{"path": "p/a.py"}\n{"path": "../b"}\n')
    found = rooms.rooms(two_wings.root)
    assert [(one.path, one.line) for one in found.problems] == [
        ("manifests/projects/demo.jsonl", 2),
        ("manifests/projects/pike.jsonl", 2),
    ]
    assert (found.graph.rooms["core"].files, found.graph.rooms["p"].files) == (1, 1)


def test_an_unknown_start_is_refused_with_suggestions(two_wings: Palace) -> None:
    """At most five; where none is near, the largest; a wing that is no room tells its rooms."""
    with pytest.raises(Refused, match="no room `apis`: did you mean `api` or `topics`\\?"):
        rooms.traverse(two_wings.root, "apis")
    with pytest.raises(Refused, match="no room `zzz`: the largest are `api`, `ada/diary`, `demo`"):
        rooms.traverse(two_wings.root, "zzz")
    with pytest.raises(
        Refused, match="no room `garden`: it is a wing, whose largest rooms are `api`"
    ):
        rooms.traverse(two_wings.root, "garden")
    for said in ("GARDEN", "palace/project_rooms/garden"):
        with pytest.raises(Refused, match=": it is a wing, whose largest rooms are `api`"):
            rooms.traverse(two_wings.root, said)
    two_wings.write("palace/project_rooms/Barn/hay/a.md", "x\n")
    with pytest.raises(
        Refused, match="no room `barn`: it is a wing, whose largest rooms are `hay`"
    ):
        rooms.traverse(two_wings.root, "barn")
    with pytest.raises(BadInput, match="no room is named"):
        rooms.traverse(two_wings.root, " / ")


def test_an_empty_palace_has_no_rooms(keyword_palace: Palace) -> None:
    """It is said in words."""
    with pytest.raises(Refused, match="there are no rooms yet"):
        rooms.traverse(keyword_palace.root, "api")
    assert rooms.tunnels(keyword_palace.root)[0] == ()


def test_tunnels_between_two_wings(two_wings: Palace) -> None:
    """Wings may be named by their folder or in another case; order does not matter."""
    assert [room.name for room in rooms.tunnels(two_wings.root)[0]] == ["api"]
    for wings in (("demo", "garden"), ("GARDEN", "palace/project_rooms/demo")):
        assert [room.name for room in rooms.tunnels(two_wings.root, wings)[0]] == ["api"]
    assert rooms.tunnels(two_wings.root, ("demo", "ada"))[0] == ()


@pytest.mark.parametrize(
    ("wings", "error", "said"),
    [
        (("demo",), BadInput, "name two wings, or none"),
        (("demo", "garden", "ada"), BadInput, "name two wings, or none"),
        (("demo", "Demo"), BadInput, "demo is named twice"),
        (("demo", "gardn"), Refused, "no wing `gardn`: did you mean `garden`"),
        (("demo", "general"), Refused, "`general` is what no project or agent owns"),
        (("demo", ""), Refused, "no wing ``"),
    ],
)
def test_other_wings_are_refused(
    two_wings: Palace, wings: tuple[str, ...], error: type[Exception], said: str
) -> None:
    """With what to do."""
    with pytest.raises(error, match=said):
        rooms.tunnels(two_wings.root, wings)
