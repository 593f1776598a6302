"""Notes that do not earn their place: struck, moved a tier down, and brought back."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.core import elimination as rules
from memory_palace.core import events, note
from memory_palace.core.errors import Refused
from memory_palace.core.events import Event
from memory_palace.files import config, journal
from memory_palace.memory import elimination, pen, state, usage
from memory_palace.memory.elimination import Gathered
from memory_palace.memory.evidence import Shelf
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WING = "palace/reflection_wing"
A = f"{WING}/principles/a.md"
ROOM = "palace/project_rooms/demo"


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """A palace whose retrievals are counted since long ago."""
    tell(keyword_palace, "retrieved", "2025-01-01", NOW - 600 * DAY, counts={"palace/x.md": 1})
    return keyword_palace


def tell(palace: Palace, kind: str, about: str, at: datetime, **data: object) -> None:
    """Append an event."""
    uid = f"{abs(hash((kind, about, at))):016x}"[:16]
    journal.append(palace.root, Event(at, "pi@laptop", kind, uid, about, "", data))


def principle(palace: Palace, name: str = "a", body: str = "Text.", **keys: str) -> str:
    """Write a principle of long ago; its path."""
    path = f"{WING}/principles/{name}.md"
    said = {"type": "principle", "created": "2025-01-01", **keys}
    lines = [f"{key}: {value}" for key, value in said.items()]
    palace.write(path, "\n".join(["---", *lines, "---", f"# {name}", "", body, ""]))
    return path


def look(palace: Palace, now: datetime = NOW) -> Gathered:
    """What speaks against which notes."""
    shelf = Shelf(palace.root, config.load(palace.root, {}).exclude)
    return elimination.gather(palace.root, shelf, state.load(palace.root, now), now)


def against(palace: Palace, now: datetime = NOW) -> dict[str, str]:
    """{path: rule}."""
    return {case.finding.path: case.finding.rule for case in look(palace, now).cases}


def turn(palace: Palace, now: datetime) -> Gathered:
    """Strike, and move what is due."""
    found = look(palace, now)
    with pen.begin(palace.root, now, "palace metabolism") as held:
        elimination.strike(held, found.cases)
        moved, problems = elimination.demote(held, found.demotions)
    assert not problems
    assert tuple(moved) == found.demotions
    return found


def log(palace: Palace) -> tuple[Event, ...]:
    """All events."""
    found = journal.load(palace.root)
    assert not found.problems
    return found.events


def test_unused_is_counted_from_retrievals_and_citations(palace: Palace) -> None:
    """A hit, or a link from a newer note, keeps a principle where it is."""
    principle(palace)
    principle(palace, "hit")
    principle(palace, "cited")
    principle(palace, "told")
    palace.write(f"{ROOM}/new.md", "---\ncreated: 2026-11-20\n---\n[[cited]]\n")
    usage.note_retrieved(palace.root, [f"{WING}/principles/hit.md"], NOW - 10 * DAY)
    tell(
        palace,
        "remembered",
        "3f9ac2d41b7e",
        NOW - 9 * DAY,
        category="lesson",
        text="x",
        cue="explicit",
        path="palace/topics/lessons.md",
        source="[[principles/told]]",
    )
    assert against(palace) == {A: "unused"}
    assert len(against(palace, NOW + 400 * DAY)) == 4


def test_without_counts_nothing_is_unused(keyword_palace: Palace) -> None:
    """No retrieval was ever counted, or not for long enough."""
    principle(keyword_palace)
    keyword_palace.write(f"{ROOM}/low.md", "---\npriority: low\ncreated: 2025-01-01\n---\nx\n")
    assert against(keyword_palace) == {}
    usage.note_retrieved(keyword_palace.root, ["palace/x.md"], NOW - 40 * DAY)
    assert against(keyword_palace) == {f"{ROOM}/low.md": "low value"}
    assert look(keyword_palace).counted == NOW - 40 * DAY
    usage.note_retrieved(keyword_palace.root, ["palace/x.md"], NOW - 91 * DAY)
    assert against(keyword_palace)[A] == "unused"


def test_superseded_from_either_side(palace: Palace) -> None:
    """A successor that is there, named by the old note or naming it; not one that is gone."""
    principle(palace, created="2026-11-01", superseded_by='"[[b]]"')
    principle(palace, "b", created="2026-11-02")
    principle(palace, "c", created="2026-11-02")
    principle(palace, "d", created="2026-11-02", supersedes='"[[c]]"')
    principle(palace, "e", created="2026-11-02", superseded_by='"[[gone]]"')
    found = {case.finding.path: case.finding for case in look(palace).cases}
    assert set(found) == {A, f"{WING}/principles/c.md"}
    assert found[A].detail == "superseded by [[b]]"
    assert {one.rule for one in found.values()} == {"contradicted"}


def test_a_lost_conflict_counts_unless_the_note_is_newer(palace: Palace) -> None:
    """From the event, from a record that a person wrote, and under the name that it had then."""
    principle(palace, created="2026-11-01")
    principle(palace, "by-hand", created="2026-11-01")
    principle(palace, "mended", created="2026-11-01", updated="2026-11-20")
    principle(palace, "moved", created="2026-11-01")
    mended, old = f"{WING}/principles/mended.md", f"{WING}/constitution_candidates/moved.md"
    for name, loser in (("one", A), ("two", mended), ("three", old)):
        path = f"palace/conflict_room/{name}.md"
        data = {"path": path, "winner": "palace/w.md", "loser": loser, "who": "Ann"}
        tell(palace, "conflict_resolved", path, NOW - 15 * DAY, **data)
    new = f"{WING}/principles/moved.md"
    tell(palace, "demoted", old, NOW - 14 * DAY, path=old, to=new, rule="contradicted")
    palace.write(
        "palace/conflict_room/four.md",
        '---\ntype: conflict\nstatus: decided\ncreated: 2026-11-10\nloser: "[[by-hand]]"\n---\n',
    )
    found = {case.finding.path: case.finding.detail for case in look(palace).cases}
    assert found == {
        A: "lost in [[one]]",
        f"{WING}/principles/by-hand.md": "lost in [[four]]",
        new: "lost in [[three]]",
    }


def test_evidence_that_is_all_broken(palace: Palace) -> None:
    """Archived evidence, an address and what cannot be read still count as there."""
    palace.write("palace/archive_basement/topics/old.md", "Old.\n")
    fresh = "2026-11-20"
    principle(palace, created=fresh, evidence='["[[gone]]", "[[lost#^abc]]"]')
    principle(palace, "half", created=fresh, evidence='["[[gone]]", "[[a]]"]')
    principle(palace, "cold", created=fresh, evidence='["[[old]]"]')
    principle(palace, "said", created=fresh, evidence='["[[gone]]", "what Ann said"]')
    principle(palace, "none", created=fresh)
    principle(palace, "block", created=fresh, evidence='"[[half#^nothing]]"')
    assert against(palace) == {A: "unsupported", f"{WING}/principles/block.md": "unsupported"}
    palace.write(f"{ROOM}/gone.md", b"\xff\xfe\xff")
    assert A not in against(palace)


def test_an_excluded_note_is_not_gone(palace: Palace) -> None:
    """What the index leaves out is there all the same."""
    palace.write("palace.yaml", 'index: {exclude: ["**/drafts/**"]}\n')
    principle(palace, created="2026-11-20", evidence='"[[plan]]"')
    assert against(palace) == {A: "unsupported"}
    palace.write(f"{ROOM}/drafts/plan.md", "A plan.\n")
    assert against(palace) == {}


def test_only_low_notes_that_nobody_links_to(palace: Palace) -> None:
    """Sessions, diaries, rules of a room and linked notes stay; a link from itself is none."""
    old = "---\npriority: low\ncreated: 2025-01-01\n---\n"
    for path in ("low", "linked", "sessions/s", "rules", "README"):
        palace.write(f"{ROOM}/{path}.md", f"{old}[[{path}]]\n")
    palace.write(f"{ROOM}/odd.md", "---\npriority: low\ncreated: 2025-01-01\ntype: card\n---\n")
    palace.write(f"{ROOM}/pinned.md", old.replace("low", "low\npinned: true"))
    palace.write(f"{ROOM}/normal.md", "---\ncreated: 2025-01-01\n---\n[[linked]]\n")
    palace.write("palace/chambers/pi/diary/d.md", old)
    palace.write("palace/chambers/pi/habit.md", old)
    assert against(palace) == {
        f"{ROOM}/low.md": "low value",
        "palace/chambers/pi/habit.md": "low value",
    }
    tell(palace, "struck", f"{ROOM}/low.md", NOW - 8 * DAY, rule="low value", detail="x")
    found = look(palace)
    assert [path for path, _ in found.useless] == [f"{ROOM}/low.md"]
    assert found.demotions == ()


def test_pinned_and_broken_notes_are_left_alone(palace: Palace) -> None:
    """Whatever they rest on."""
    principle(palace, pinned="true", superseded_by='"[[b]]"')
    principle(palace, "b", created="2026-11-20")
    palace.write(f"{WING}/principles/bad.md", "---\ntype: [\n---\n")
    assert against(palace) == {}


def test_two_strikes_then_a_tier_down(palace: Palace) -> None:
    """Struck, struck a week later, moved into the room of its evidence, with a record."""
    palace.write(f"{ROOM}/fact.md", "---\ncreated: 2025-01-01\n---\nFact.\n")
    palace.write("palace/project_rooms/b/x.md", "---\ncreated: 2025-01-01\n---\n[[principles/a]]\n")
    principle(palace, evidence='["[[fact]]"]')
    assert turn(palace, NOW).demotions == ()
    assert turn(palace, NOW).strikes == ()
    assert turn(palace, NOW + 3 * DAY).strikes == ()
    found = turn(palace, NOW + 7 * DAY)
    target = f"{ROOM}/a.md"
    assert [(one.path, one.target, one.rule) for one in found.demotions] == [(A, target, "unused")]
    assert not (palace.root / A).exists()
    said = note.parse(target, (palace.root / target).read_text())
    assert said.type == "palace"
    assert said.metadata["demoted"] == "2026-12-06"
    assert said.metadata["demoted_from"] == A
    assert said.metadata["demoted_reason"].startswith("unused: neither retrieved nor cited since")
    assert [event.event for event in log(palace)[1:]] == ["struck", "struck", "demoted"]
    last = log(palace)[-1]
    assert (last.id, last.data) == (A, {"path": A, "to": target, "rule": "unused"})
    shelf = Shelf(palace.root)
    assert shelf.resolve("[[principles/a]]").path == target
    assert look(palace, NOW + 7 * DAY).strikes == ()


def test_a_candidate_becomes_a_principle_again(palace: Palace) -> None:
    """One tier only; there it has its full time again."""
    path = f"{WING}/constitution_candidates/a.md"
    text = "---\ntype: constitution_candidate\ncreated: 2025-01-01\nstatus: proposed\n---\n# A\n"
    palace.write(path, text)
    palace.write(f"{WING}/constitution.md", "---\npinned: true\ncreated: 2025-01-02\n---\n[[a]]\n")
    for day in (0, 7):
        found = turn(palace, NOW + day * DAY)
    assert found.articles == (path,)
    assert [one.target for one in found.demotions] == [A]
    assert note.parse(A, (palace.root / A).read_text()).type == "principle"
    assert turn(palace, NOW + 97 * DAY).strikes == ()
    assert len(turn(palace, NOW + 98 * DAY).strikes) == 1
    assert turn(palace, NOW + 105 * DAY).demotions[0].target == "palace/project_rooms/general/a.md"


def test_undone_by_either_name(palace: Palace) -> None:
    """The text is what it was, the strikes have lapsed, and the event says so."""
    palace.write(
        f"{ROOM}/x.md", "---\ncreated: 2025-01-01\n---\n[[reflection_wing/principles/a]]\n"
    )
    path = principle(palace, superseded_by='"[[b]]"', created="2026-11-01")
    principle(palace, "b", created="2026-11-20")
    before = (palace.root / path).read_bytes()
    for name in (A, "palace/project_rooms/general/a.md"):
        for _ in range(2):
            turn(palace, max(NOW, max(event.at for event in log(palace)) + 8 * DAY))
        moment = max(event.at for event in log(palace))
        assert not (palace.root / A).exists()
        assert elimination.where(palace.root, name) == "palace/project_rooms/general/a.md"
        with pen.begin(palace.root, moment, "palace restore") as held:
            done = elimination.undo(held, name)
        assert (done.source, done.target) == ("palace/project_rooms/general/a.md", A)
        assert (palace.root / A).read_bytes() == before
        assert log(palace)[-1].event == "restored"
        assert look(palace, moment).strikes == look(palace, moment).demotions == ()


def test_what_was_not_demoted_is_not_undone(palace: Palace) -> None:
    """Nor one whose metadata names a place that no reflection can have; a live note stays."""
    principle(palace, "b")
    palace.write(f"{ROOM}/odd.md", "---\ndemoted_from: ../../etc/x.md\n---\n")
    palace.write(f"{ROOM}/a.md", f"---\ndemoted_from: {A}\n---\n")
    palace.write(f"{ROOM}/two.md", f"---\ndemoted_from: {A}\n---\n")
    with pen.begin(palace.root, NOW, "palace restore") as held:
        for name in (f"{WING}/principles/b.md", f"{ROOM}/odd.md", "palace/nowhere.md"):
            with pytest.raises(Refused, match="was not demoted"):
                elimination.undo(held, name)
        with pytest.raises(Refused, match="both came from"):
            elimination.undo(held, A)
        principle(palace)
        with pytest.raises(Refused, match="is there already"):
            elimination.undo(held, f"{ROOM}/two.md")
    assert len(log(palace)) == 1


def test_an_undo_that_was_killed_goes_on(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is back and still says that it was demoted: the next one mends that."""
    principle(palace, superseded_by='"[[b]]"', created="2026-11-01")
    principle(palace, "b", created="2026-11-20")
    before = (palace.root / A).read_bytes()
    for day in (0, 7):
        turn(palace, NOW + day * DAY)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pen.Pen, "put", killed)
        with pen.begin(palace.root, NOW + 8 * DAY, "palace restore") as held:
            elimination.undo(held, A)
    assert (palace.root / A).read_bytes() != before
    with pen.begin(palace.root, NOW + 8 * DAY, "palace restore") as held:
        elimination.undo(held, A)
    assert (palace.root / A).read_bytes() == before


@pytest.mark.parametrize("last", ["put", "move", "log"])
def test_a_demotion_that_was_killed(
    palace: Palace, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """Wherever it ended, the next turn or a restore gets the text as it was back."""
    principle(palace, superseded_by='"[[b]]"', created="2026-11-01")
    principle(palace, "b", created="2026-11-20")
    before = (palace.root / A).read_bytes()
    turn(palace, NOW)
    found = look(palace, NOW + 8 * DAY)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pen.Pen, last, killed)
        with pen.begin(palace.root, NOW + 8 * DAY, "palace metabolism") as held:
            elimination.demote(held, found.demotions)
    turn(palace, NOW + 8 * DAY)
    assert not (palace.root / A).exists()
    with pen.begin(palace.root, NOW + 9 * DAY, "palace restore") as held:
        elimination.undo(held, A)
    assert (palace.root / A).read_bytes() == before


def test_one_commit_holds_the_move(palace: Palace) -> None:
    """Where commits are automatic: only its own paths, the reason as subject, git sees a move."""
    palace.write("palace.yaml", "git: {commit: auto}\n")
    palace.write(".gitignore", ".palace/\n")
    principle(palace, body="A long enough text, so that git knows it again. " * 20)
    git(palace.root, "init", "-q")
    for key, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        git(palace.root, "config", key, value)
    git(palace.root, "add", "-A")
    git(palace.root, "commit", "-qm", "x")
    palace.write("palace/other.md", "Not of this.\n")
    turn(palace, NOW)
    turn(palace, NOW + 7 * DAY)
    assert git(palace.root, "status", "--porcelain") == "?? palace/other.md\n"
    shown = git(palace.root, "show", "--stat", "-M", "--format=%s%n%b", "HEAD")
    assert shown.startswith("palace metabolism: palace/reflection_wing/principles/a.md\n")
    assert shown.count("Event: ") == 2
    assert "=> project_rooms/general}/a.md" in shown


def test_a_name_that_is_taken(palace: Palace) -> None:
    """The room has a note of that name: the other gets a second one."""
    palace.write("palace/project_rooms/general/a.md", "Mine.\n")
    principle(palace, superseded_by='"[[b]]"', created="2026-11-01")
    principle(palace, "b", created="2026-11-20")
    turn(palace, NOW)
    assert turn(palace, NOW + 7 * DAY).demotions[0].target == "palace/project_rooms/general/a-2.md"
    assert (palace.root / "palace/project_rooms/general/a.md").read_text() == "Mine.\n"


def test_no_more_than_the_bound_in_a_day(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is counted, waits for another day, and a great part of the wing is named."""
    monkeypatch.setattr(rules, "MOST_MOVES", 2)
    for name in "abcde":
        principle(palace, name)
    turn(palace, NOW)
    found = turn(palace, NOW + 7 * DAY)
    assert (len(found.demotions), found.more) == (2, 3)
    assert [str(sweep) for sweep in found.sweeps] == ["2 of 5 notes in palace/reflection_wing"]
    again = look(palace, NOW + 7 * DAY)
    assert (again.demotions, again.more) == ((), 3)
    assert len(look(palace, NOW + 8 * DAY).demotions) == 2


def test_uncommitted_changes_are_not_moved(palace: Palace) -> None:
    """In git the note has to be as committed; then git moves it."""
    principle(palace)
    git(palace.root, "init", "-q")
    git(palace.root, "add", "-A")
    git(palace.root, "commit", "-qm", "x")
    turn(palace, NOW)
    before = (palace.root / A).read_text()
    (palace.root / A).write_text(before + "\nMore.\n")
    found = turn(palace, NOW + 7 * DAY)
    assert found.demotions == ()
    assert "uncommitted changes" in found.problems[0].message
    (palace.root / A).write_text(before)
    assert len(turn(palace, NOW + 7 * DAY).demotions) == 1
    assert "R" in git(palace.root, "status", "--porcelain")


def test_a_note_without_dates_has_the_time_of_its_commit(palace: Palace) -> None:
    """A clone resets modification times, so git is asked first."""
    palace.write(A, "# A\n")
    git(palace.root, "init", "-q")
    git(palace.root, "add", "-A")
    git(palace.root, "commit", "-qm", "x", date="2026-11-20T12:00:00Z")
    assert against(palace) == {}
    assert against(palace, NOW + 100 * DAY) == {A: "unused"}


def git(root: Path, *arguments: str, date: str = "2026-11-01T12:00:00Z") -> str:
    """Run git in ``root``."""
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    env = {
        "GIT_COMMITTER_DATE": date,
        "GIT_AUTHOR_DATE": date,
        "PATH": "/usr/bin:/bin",
        "HOME": "/",
    }
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def test_an_event_of_the_day_after_does_not_count_yet(palace: Palace) -> None:
    """Looked at as of an earlier day, later strikes have not happened."""
    principle(palace)
    tell(palace, "struck", A, NOW + 20 * DAY, rule="unused", detail="x")
    tell(palace, "struck", A, NOW + 30 * DAY, rule="unused", detail="x")
    assert events.SKEW < 20 * DAY
    assert [case.count for case in look(palace).cases] == [1]
    assert look(palace, NOW + 40 * DAY).demotions != ()


def test_a_place_that_is_taken_leaves_the_note_as_it_is(palace: Palace) -> None:
    """Excluded notes are on no shelf: the record is not written before the move may happen."""
    palace.write("palace.yaml", 'index: {exclude: ["palace/project_rooms/general/**"]}\n')
    palace.write("palace/project_rooms/general/a.md", "Mine.\n")
    principle(palace, superseded_by='"[[b]]"', created="2026-11-01")
    principle(palace, "b", created="2026-11-20")
    before = (palace.root / A).read_text()
    turn(palace, NOW)
    found = look(palace, NOW + 7 * DAY)
    with pen.begin(palace.root, NOW + 7 * DAY, "palace metabolism") as held:
        moved, problems = elimination.demote(held, found.demotions)
    assert (moved, len(problems)) == ([], 1)
    assert problems[0].message.startswith("palace/project_rooms/general/a.md is there already")
    assert (palace.root / A).read_text() == before
    assert (palace.root / "palace/project_rooms/general/a.md").read_text() == "Mine.\n"
