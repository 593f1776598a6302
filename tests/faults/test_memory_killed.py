"""Write commands that are killed, and several at once: no memory lost, none twice."""

import shutil
import time
from pathlib import Path

import pytest

from faults.children import KILLED, Child, commands, deadly, dying, said
from memory_palace.core.events import PATH
from memory_palace.core.topics import entry_id
from memory_palace.files import journal
from memory_palace.memory import state as states
from support.palaces import NOW, Palace

LESSONS = "palace/topics/lessons.md"
KEY = entry_id("lesson", "amber")
NEW = entry_id("lesson", "birch")


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock and hand."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")


def start(palace: Palace) -> None:
    """One memory with an event, one by hand."""
    assert palace.command("remember", "--category", "lesson", "amber").code == 0
    with (palace.root / LESSONS).open("a") as file:
        file.write("- [lesson] cedar by hand\n")


WORK = {
    "remember": ("remember", "--category", "lesson", "birch"),
    "reinforce": ("reinforce", KEY),
    "pin": ("pin", KEY),
    "forget": ("forget", KEY),
    "edit": ("edit", KEY, "delta"),
}


def check(palace: Palace, what: str, before: str, at: str) -> None:
    """Whole files, what was there is there, and the command can be run again to its end."""
    text = (palace.root / LESSONS).read_text()
    assert "\n- [lesson] cedar by hand" in text, at
    assert "amber" in text or what == "edit", at
    state = states.load(palace.root, NOW)
    errors = [str(problem) for problem in state.problems if problem.grade == "error"]
    assert not errors, at
    assert len(state.memories) in ((2, 3) if what == "remember" else (2,)), at
    kept = [(m.id, m.evidence, m.strength) for m in state.memories]
    shutil.rmtree(palace.root / ".palace", ignore_errors=True)
    again = states.load(palace.root, NOW).memories
    assert [(m.id, m.evidence, m.strength) for m in again] == kept, at
    ran = palace.command(*WORK[what])
    assert ran.code == 0, (at, ran)
    state = states.load(palace.root, NOW)
    found = {memory.id: memory for memory in state.memories}
    assert not [p for p in state.problems if p.grade == "error"], at
    assert len(found) == (3 if what == "remember" else 2), at
    if what == "remember":
        assert found[NEW].evidence in (1, 2), at
    elif what == "reinforce":
        assert found[KEY].evidence in (2, 3), at
    elif what == "pin":
        assert found[KEY].pinned and found[KEY].lifecycle == "active", at
    elif what == "forget":
        assert found[KEY].forgotten, at
    else:
        assert found[KEY].text == "delta", at
    assert found[entry_id("lesson", "cedar by hand")].evidence == 1, at
    assert not list((palace.root / "palace").rglob(".*.tmp")), at


def copy(origin: Palace) -> Palace:
    """The same palace in another place."""
    place = origin.root.parent / "again"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(origin.root, place)
    return Palace(place)


@pytest.mark.parametrize("what", list(WORK))
def test_killed_at_any_step(tmp_path: Path, what: str) -> None:
    """At steps spread over the whole command."""
    origin = Palace(tmp_path / "origin")
    start(origin)
    before = (origin.root / LESSONS).read_text()
    counted = tmp_path / "counted"
    assert Child(dying(commands(copy(origin), *WORK[what]), 0, counted)).wait() == 0
    steps = int(counted.read_text())
    assert steps > 30
    died = 0
    for point in range(14):
        palace = copy(origin)
        at = 1 + point * (steps - 2) // 13
        died += Child(dying(commands(palace, *WORK[what]), at)).wait() == KILLED
        check(palace, what, before, f"{what}, step {at} of {steps}")
    assert died > 10


@pytest.mark.parametrize("what", list(WORK))
@pytest.mark.parametrize(
    "point", ["memory_palace.files.atomic:write", "memory_palace.files.journal:append"]
)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_between_note_and_event(tmp_path: Path, what: str, point: str, after: bool) -> None:
    """A line without an event counts as written by hand."""
    palace = Palace(tmp_path / "root")
    start(palace)
    before = (palace.root / LESSONS).read_text()
    assert Child(deadly(commands(palace, *WORK[what]), point, after)).wait() == KILLED
    if what == "remember" and point.endswith("write") and after:
        memory = states.load(palace.root, NOW).find(NEW)
        assert (memory.cue, memory.evidence, memory.written) == ("behavioral", 1, True)
    check(palace, what, before, f"{what} {point} {after}")


def test_killed_in_the_middle_of_an_event(tmp_path: Path) -> None:
    """Half a line is left out, and the next event stands on a line of its own."""
    palace = Palace(tmp_path / "root")
    start(palace)
    log = palace.root / PATH
    with log.open("ab") as file:
        file.write(b'{"at": "2026-11-29T12:00:00Z", "by": "pi@la')
    ran = palace.command("topics")
    assert ran.code == 0
    assert f"{PATH}:2: warning: cut off in the middle: left out" in ran.err
    assert palace.command("reinforce", KEY).code == 0
    assert [e.event for e in journal.load(palace.root).events].count("reinforced") == 1
    ran = palace.command("topics")
    assert ran.code == 0
    assert "error" not in ran.err


def test_two_writers_at_once(tmp_path: Path) -> None:
    """Twenty memories each: every line and every event is there."""
    palace = Palace(tmp_path / "root")

    def write(side: str) -> Child:
        def work() -> int:
            codes = [
                palace.command(
                    "remember", "--category", "lesson", f"{side}{n}x {side}{n}y {side}{n}z"
                ).code
                for n in range(20)
            ]
            return max(codes)

        return Child(work)

    children = [write("left"), write("right")]
    assert [child.wait() for child in children] == [0, 0]
    state = states.load(palace.root, NOW)
    assert state.problems == ()
    assert len(state.memories) + sum(m.evidence - 1 for m in state.memories) == 40
    assert len(state.events) == 40
    assert (palace.root / PATH).read_bytes().count(b"\n") == 40
    assert len(state.memories) >= 38
    assert all(memory.written for memory in state.memories)


def test_many_reinforcements_at_once(tmp_path: Path) -> None:
    """None is lost, and each has a moment of its own."""
    palace = Palace(tmp_path / "root")
    start(palace)
    told = [tmp_path / str(n) for n in range(6)]
    children = [Child(commands(palace, "reinforce", KEY, told=place)) for place in told]
    assert [child.wait() for child in children] == [0] * 6
    assert sorted(said(place).out.split("evidence ")[1].split(",")[0] for place in told) == list(
        "234567"
    )
    times = [event.at for event in journal.load(palace.root).events if event.id == KEY]
    assert len(set(times)) == 7


def test_a_writer_that_was_killed_blocks_nobody(tmp_path: Path) -> None:
    """Its lock died with it."""
    palace = Palace(tmp_path / "root")
    start(palace)
    assert (
        Child(
            deadly(commands(palace, "pin", KEY), "memory_palace.files.atomic:write", False)
        ).wait()
        == KILLED
    )
    begun = time.monotonic()
    assert palace.command("pin", KEY).code == 0
    assert time.monotonic() - begun < 10
