"""Drawing the room map into the grand hall."""

import json
import os
import re
import shutil
import subprocess
from datetime import timedelta

import pytest

from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.rooms_map import BEGIN, END, PATH
from memory_palace.core.text import sha256
from memory_palace.files import starter
from memory_palace.memory import rooms_map
from support.palaces import NOW, REPOSITORY, Palace


@pytest.fixture
def hall(keyword_palace: Palace) -> Palace:
    """A palace with a map by hand, marks in it, and two rooms."""
    keyword_palace.write(PATH, f"---\ntitle: Map\n---\n# Map\n\n{BEGIN}\nold\n{END}\n\n[[a]] end")
    keyword_palace.notes(
        topics__a="x\n",
        project_rooms__demo__plan="---\nupdated: 2026-11-02\n---\n[[a]]\n",
    )
    return keyword_palace


def _text(palace: Palace) -> str:
    return (palace.root / PATH).read_bytes().decode()


def _events(palace: Palace) -> list[dict[str, str]]:
    log = palace.root / "manifests/memory_events.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_only_the_block_changes(hall: Palace) -> None:
    """What stands before and after the marks stays, the metadata too."""
    before = _text(hall)
    drawn = rooms_map.draw(hall.root, NOW)
    head, tail = before.split(BEGIN)[0], before.split(END)[1]
    assert _text(hall) == head + drawn.block + tail
    assert "| `demo` | `demo` | 1 | 2026-11-02 |" in drawn.block
    assert drawn.what == "edited"


def test_drawing_is_one_event(hall: Palace) -> None:
    """`noted`, with the digests of before and after."""
    before = _text(hall)
    drawn = rooms_map.draw(hall.root, NOW, "after the move")
    (event,) = _events(hall)
    assert {k: event[k] for k in ("event", "id", "digest", "base", "reason")} == {
        "event": "noted",
        "id": PATH,
        "digest": sha256(_text(hall)),
        "base": sha256(before),
        "reason": "after the move",
    }
    assert drawn.digest == event["digest"]


def test_a_second_time_changes_nothing(hall: Palace) -> None:
    """Not on a later day, nor where the map's own file got another time, nor after an index run."""
    rooms_map.draw(hall.root, NOW)
    text, events = _text(hall), _events(hall)
    os.utime(hall.root / PATH)
    assert rooms_map.draw(hall.root, NOW + timedelta(days=400)).what == "unchanged"
    hall.index()
    assert rooms_map.draw(hall.root, NOW + timedelta(days=800)).what == "unchanged"
    assert (_text(hall), _events(hall)) == (text, events)


def test_the_map_follows_the_notes(hall: Palace) -> None:
    """A new note changes its row, and a day changes only where a note has another one."""
    rooms_map.draw(hall.root, NOW)
    hall.write("palace/project_rooms/demo/next.md", "---\nupdated: 2026-11-05\n---\nx\n")
    assert "| `demo` | `demo` | 2 | 2026-11-05 |" in rooms_map.draw(hall.root, NOW).block


def test_a_plan_writes_nothing(hall: Palace) -> None:
    """It says what would be."""
    before = _text(hall)
    plan = rooms_map.plan(hall.root)
    assert (plan.what, _text(hall), _events(hall)) == ("edited", before, [])
    drawn = rooms_map.draw(hall.root, NOW)
    assert (drawn.block, drawn.digest) == (plan.block, plan.digest)
    assert rooms_map.plan(hall.root).what == "unchanged"


def test_without_the_note_it_is_made(hall: Palace) -> None:
    """With title, day and author, as every note that is made; it counts as a note at once."""
    (hall.root / PATH).unlink()
    drawn = rooms_map.draw(hall.root, NOW)
    assert drawn.what == "created"
    assert _text(hall).startswith("---\ntitle: Room map\ncreated: 2026-11-29\nagent: ")
    assert "| `grand_hall` | – | 1 |  |" in drawn.block
    assert "base" not in _events(hall)[0]
    assert rooms_map.draw(hall.root, NOW).what == "unchanged"


def test_a_palace_that_init_made_has_the_marks(hall: Palace) -> None:
    """The first map replaces what says that there is none yet."""
    shutil.rmtree(hall.root)
    starter.make(hall.root)
    before = _text(hall)
    assert before.count(BEGIN) == before.count(END) == 1
    rooms_map.draw(hall.root, NOW)
    after = _text(hall)
    assert after.startswith(before.split(BEGIN)[0])
    assert "Not drawn yet" not in after
    assert rooms_map.draw(hall.root, NOW).what == "unchanged"


def test_broken_marks_are_refused_before_anything_is_written(hall: Palace) -> None:
    """The dry run says so too."""
    hall.write(PATH, f"# Map\n{BEGIN}\nlost end\n")
    for ask in (lambda: rooms_map.plan(hall.root), lambda: rooms_map.draw(hall.root, NOW)):
        with pytest.raises(Refused, match="start mark is there, in line 2, and no end mark"):
            ask()
    assert _text(hall) == f"# Map\n{BEGIN}\nlost end\n"
    assert _events(hall) == []


def test_a_note_that_cannot_be_read_is_refused(hall: Palace) -> None:
    """No text is guessed into it."""
    hall.write(PATH, b"caf\xe9\n")
    with pytest.raises(BadInput, match="not UTF-8"):
        rooms_map.draw(hall.root, NOW)


def test_a_symbolic_link_is_not_written_through(hall: Palace) -> None:
    """A stranger's palace could lead it anywhere."""
    outside = hall.root / "outside.md"
    (hall.root / PATH).rename(outside)
    (hall.root / PATH).symlink_to(outside)
    with pytest.raises(BadInput, match="symbolic link"):
        rooms_map.draw(hall.root, NOW)


def test_it_is_committed_where_that_is_wanted(hall: Palace) -> None:
    """One commit with the note and the event, under `git.commit: auto`."""
    hall.write("palace.yaml", "git: {commit: auto}\n")
    git = ["git", "-C", str(hall.root), "-c", "user.name=t", "-c", "user.email=t@t"]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run([*git, *step], check=True)
    subprocess.run([*git, "config", "user.email", "t@t"], check=True)
    subprocess.run([*git, "config", "user.name", "t"], check=True)
    rooms_map.draw(hall.root, NOW, "rooms moved")
    shown = subprocess.run(
        [*git, "show", "--name-only", "--format=%s"], check=True, capture_output=True, text=True
    )
    assert shown.stdout.split("\n\n") == ["rooms moved", f"manifests/memory_events.jsonl\n{PATH}\n"]


def test_the_map_of_this_repository_is_up_to_date(keyword_palace: Palace) -> None:
    """Rooms, wings, counts and links; the days of notes that git dates are left aside."""
    shutil.copytree(REPOSITORY / "palace", keyword_palace.root / "palace", dirs_exist_ok=True)
    text = _text(keyword_palace)
    stands = text[text.index(BEGIN) : text.index(END) + len(END)]
    days = re.compile(r"(\d{4}-\d\d-\d\d)? \|$", re.MULTILINE)
    assert days.sub("|", stands) == days.sub("|", rooms_map.plan(keyword_palace.root).block)
