"""What goes to the archive: planned first, then moved, and ended by the next run after a kill."""

import contextlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.memory import archive, pen, state
from memory_palace.memory.archive import Moved, Plan
from memory_palace.memory.pen import Pen
from support.palaces import NOW, Palace

COLD = NOW - timedelta(days=200)
TOPIC = "---\ntitle: Lessons\ntype: topic\n---\n# Lessons\n\n"
LESSONS = "palace/topics/lessons.md"
BELOW = "palace/archive_basement/topics/lessons.md"


def remembered(palace: Palace, key: str, at: datetime, event: str = "remembered") -> None:
    """An event in the log."""
    log = palace.root / "manifests/memory_events.jsonl"
    log.parent.mkdir(exist_ok=True)
    with log.open("a") as file:
        number = len(log.read_text().splitlines())
        line = {
            "at": at.isoformat(),
            "by": "a@b",
            "event": event,
            "uid": f"{number:016x}",
            "id": key,
        }
        file.write(json.dumps(line | ({"cue": "explicit"} if event == "remembered" else {})) + "\n")


def topic(palace: Palace, *lines: str, at: datetime = COLD, path: str = LESSONS) -> None:
    """A topic file with these lines, each remembered then."""
    palace.write(path, TOPIC + "".join(line + "\n" for line in lines))
    for line in lines:
        remembered(palace, line.rsplit("^", 1)[-1], at)


def planned(palace: Palace, at: datetime | None = None, **more: object) -> Plan:
    """The plan of now, or of another day."""
    now = state.load(palace.root, NOW, at)
    return archive.plan(palace.root, now, NOW, at, **more)  # type: ignore[arg-type]


def moved(palace: Palace, yes: bool = True, **more: object) -> Moved:
    """Plan and do it."""
    with pen.begin(palace.root, NOW, "palace archive") as held:
        now = state.load(palace.root, NOW)
        todo = archive.plan(palace.root, now, NOW, **more)  # type: ignore[arg-type]
        return archive.run(held, todo, yes)


def shown(todo: Plan) -> list[tuple[str, str]]:
    """(kind, id) of each item."""
    return [(item.kind, item.id) for item in todo.items]


def text(palace: Palace, path: str) -> str:
    """A file's text."""
    return (palace.root / path).read_bytes().decode()


def logged(palace: Palace) -> list[dict[str, object]]:
    """The events that a command made."""
    lines = text(palace, "manifests/memory_events.jsonl").splitlines()
    events = [json.loads(line) for line in lines]
    return [event for event in events if event["event"] in ("archived", "restored")]


def test_a_cold_topic_goes_as_a_whole(keyword_palace: Palace) -> None:
    """With its other text, three more keys, one event that names its entries."""
    topic(
        keyword_palace,
        "- [lesson] one ^aaaaaaaaaaaa",
        "said by hand",
        "- [lesson] two ^bbbbbbbbbbbb",
    )
    before = text(keyword_palace, LESSONS)
    done = moved(keyword_palace)
    assert not (keyword_palace.root / LESSONS).exists()
    keys = (
        "archived: 2026-11-29\narchived_from: palace/topics/lessons.md\n"
        "archived_reason: nothing in it reinforced for 200 days\n"
    )
    assert text(keyword_palace, BELOW) == before.replace("type: topic\n", "type: topic\n" + keys)
    assert [item.kind for item in done.items] == ["topic"]
    (event,) = logged(keyword_palace)
    assert (event["id"], event["path"], event["to"]) == (LESSONS, LESSONS, BELOW)
    assert event["entries"] == ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]
    found = state.load(keyword_palace.root, NOW).find("aaaaaaaaaaaa")
    assert (found.archived, found.path) == (True, BELOW)
    assert shown(planned(keyword_palace)) == []


def test_single_entries_leave_a_warm_topic(keyword_palace: Palace) -> None:
    """Their lines go as they are, into a file with the archive's keys; the ids stay."""
    topic(keyword_palace, "- [lesson] cold *(odd)* ^aaaaaaaaaaaa")
    keyword_palace.write(LESSONS, text(keyword_palace, LESSONS) + "- [lesson] warm ^bbbbbbbbbbbb\n")
    remembered(keyword_palace, "bbbbbbbbbbbb", NOW)
    done = moved(keyword_palace)
    assert [item.id for item in done.items] == ["aaaaaaaaaaaa"]
    assert text(keyword_palace, LESSONS) == TOPIC + "- [lesson] warm ^bbbbbbbbbbbb\n"
    below = text(keyword_palace, BELOW)
    assert below.endswith("# Lessons\n\n- [lesson] cold *(odd)* ^aaaaaaaaaaaa\n")
    assert "archived_from: palace/topics/lessons.md\n" in below
    (event,) = logged(keyword_palace)
    assert (event["id"], event["path"], event["to"]) == ("aaaaaaaaaaaa", LESSONS, BELOW)
    assert state.load(keyword_palace.root, NOW).find("aaaaaaaaaaaa").archived


def test_entries_join_the_archived_topic_that_is_there(keyword_palace: Palace) -> None:
    """At its end; the live file keeps what is no entry, also when the whole topic is cold."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "by hand\r")
    old = TOPIC + "- [lesson] old ^cccccccccccc"
    keyword_palace.write(BELOW, old.replace("\n---\n#", "\narchived: 2026-01-01\n---\n#"))
    moved(keyword_palace)
    assert text(keyword_palace, LESSONS) == TOPIC + "by hand\r\n"
    assert text(keyword_palace, BELOW).endswith(
        "archived: 2026-01-01\n---\n# Lessons\n\n"
        "- [lesson] old ^cccccccccccc\n- [lesson] one ^aaaaaaaaaaaa\n"
    )


def test_a_line_that_the_archive_has_only_leaves_the_live_file(keyword_palace: Palace) -> None:
    """A kill between the two writes left it in both."""
    line = "- [lesson] one ^aaaaaaaaaaaa"
    topic(keyword_palace, line)
    keyword_palace.write(BELOW, TOPIC.replace("type", "archived: 2026-11-29\ntype") + line + "\n")
    below = text(keyword_palace, BELOW)
    assert moved(keyword_palace).items
    assert text(keyword_palace, LESSONS) == TOPIC
    assert text(keyword_palace, BELOW) == below


def test_an_id_with_another_text_in_the_archive_stays_and_is_reported(
    keyword_palace: Palace,
) -> None:
    """Nothing is overwritten; the other entries go."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two ^bbbbbbbbbbbb")
    keyword_palace.write(
        BELOW, TOPIC.replace("type", "archived: x\ntype") + "- [lesson] 1 ^aaaaaaaaaaaa\n"
    )
    done = moved(keyword_palace)
    assert [(p.path, p.line) for p in done.problems] == [(LESSONS, 7)]
    assert "^aaaaaaaaaaaa has another text" in done.problems[0].message
    assert text(keyword_palace, LESSONS) == TOPIC + "- [lesson] one ^aaaaaaaaaaaa\n"
    assert "^bbbbbbbbbbbb" in text(keyword_palace, BELOW)


def test_forgotten_entries_go(keyword_palace: Palace) -> None:
    """At once, from a warm topic."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two ^bbbbbbbbbbbb", at=NOW)
    remembered(keyword_palace, "aaaaaaaaaaaa", NOW, "forgotten")
    (item,) = moved(keyword_palace).items
    assert (item.kind, item.id, item.reason) == ("entry", "aaaaaaaaaaaa", "forgotten")


def test_a_line_without_an_id_keeps_its_key(keyword_palace: Palace) -> None:
    """It is keyed by what it says, in the archive too."""
    keyword_palace.write(LESSONS, TOPIC + "- [lesson] by hand\n- [lesson] safe *(pinned)*\n")
    before = state.load(keyword_palace.root, NOW).memories[0].id
    (item,) = moved(keyword_palace).items
    assert item.id == before
    assert "- [lesson] by hand\n" in text(keyword_palace, BELOW)
    assert state.load(keyword_palace.root, NOW).find(before).archived


def test_a_plan_for_another_day_is_only_a_plan(keyword_palace: Palace) -> None:
    """What would be cold by then; it cannot be done."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", at=NOW)
    assert shown(planned(keyword_palace)) == []
    todo = planned(keyword_palace, NOW + timedelta(days=121))
    assert shown(todo) == [("topic", LESSONS)]
    with pen.begin(keyword_palace.root, NOW, "x") as held, pytest.raises(BadInput, match="--at"):
        archive.run(held, todo, yes=True)
    assert (keyword_palace.root / LESSONS).exists()


def test_named_notes_go_with_their_reason(keyword_palace: Palace) -> None:
    """Private parts of the reason are not kept; a note without metadata gets a block."""
    keyword_palace.notes(r__old="no metadata")
    done = moved(keyword_palace, asked=["palace/r/old.md"], reason="no <private>Bob</private> use")
    assert text(keyword_palace, "palace/archive_basement/r/old.md") == (
        "---\narchived: 2026-11-29\narchived_from: palace/r/old.md\n"
        "archived_reason: no [PRIVATE] use\n---\nno metadata"
    )
    assert [item.kind for item in done.items] == ["note"]
    (event,) = logged(keyword_palace)
    assert event["id"] == "palace/r/old.md"


def test_named_entries_and_topics_go_while_they_are_warm(keyword_palace: Palace) -> None:
    """To make room in a full topic."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two ^bbbbbbbbbbbb", at=NOW)
    assert shown(planned(keyword_palace, asked=["^aaaaaaaaaaaa"])) == [("entry", "aaaaaaaaaaaa")]
    both = planned(keyword_palace, asked=["aaaaaaaaaaaa", LESSONS, "./" + LESSONS])
    assert shown(both) == [("topic", LESSONS)]
    assert both.items[0].reason == "asked for"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("palace/r/pinned.md", Refused, "is pinned"),
        ("palace/r/gone.md", Refused, "did you mean `palace/r/gong.md`"),
        ("palace/r/picture.png", BadInput, "is no note"),
        ("palace/archive_basement/r/below.md", Refused, "already"),
        ("palace/r/below.md", Refused, "already: palace/archive_basement/r/below.md"),
        ("../x.md", Refused, "no note"),
        ("/palace/r/gong.md", Refused, "no note"),
        ("aaaaaaaaaaaa", Refused, "is pinned: run `palace unpin"),
        ("bbbbbbbbbbbb", Refused, "enforced"),
        (LESSONS, Refused, "is pinned"),
        ("cccccccccccc", Refused, "already"),
        ("dddddddddddd", Refused, "no memory"),
    ],
)
def test_what_cannot_be_archived_is_refused(
    keyword_palace: Palace, name: str, error: type[Exception], message: str
) -> None:
    """Pinned, unknown, no note, archived before: nothing is planned."""
    keyword_palace.notes(
        r__pinned="---\npinned: true\n---\n",
        r__gong="x",
        archive_basement__r__below="---\narchived: 2026-01-01\n---\n",
    )
    keyword_palace.write("palace/r/picture.png", b"\x89")
    topic(
        keyword_palace,
        "- [lesson] one *(pinned)* ^aaaaaaaaaaaa",
        "- [lesson] two *(enforced)* ^bbbbbbbbbbbb",
    )
    keyword_palace.write(
        BELOW, TOPIC.replace("type", "archived: x\ntype") + "- [lesson] x ^cccccccccccc\n"
    )
    with pytest.raises(error, match=message.replace("(", r"\(")):
        planned(keyword_palace, asked=[name])


def test_a_note_gets_a_second_name(keyword_palace: Palace) -> None:
    """Another note of that path is in the archive."""
    keyword_palace.notes(r__a="new", archive_basement__r__a="---\narchived: 2026-01-01\n---\nold")
    (item,) = moved(keyword_palace, asked=["palace/r/a.md"]).items
    assert item.target == "palace/archive_basement/r/a-2.md"
    assert "archived_from: palace/r/a.md" in text(keyword_palace, item.target)
    assert text(keyword_palace, "palace/archive_basement/r/a.md").endswith("old")


def test_notes_that_others_name_join_what_is_cold(keyword_palace: Palace) -> None:
    """But for pinned ones, and ones that are gone."""
    keyword_palace.notes(r__a="x", r__b="---\npinned: true\n---\nx", r__c="x", r__d="x", r__e="x")
    why = "two strikes"
    todo = planned(keyword_palace, notes=[(f"palace/r/{n}.md", why) for n in ("a", "b", "z")])
    assert [(i.kind, i.id, i.reason) for i in todo.items] == [("note", "palace/r/a.md", why)]


def test_an_unfinished_move_is_ended(keyword_palace: Palace) -> None:
    """A kill came between the move and the record; asked for, and when everything is looked at."""
    keyword_palace.notes(archive_basement__r__a="x", archive_basement__r__b="---\ntitle: B\n---\nx")
    named = planned(keyword_palace, asked=["palace/r/a.md"])
    assert [(i.source, i.target, i.half) for i in named.items] == [
        ("palace/r/a.md", "palace/archive_basement/r/a.md", True)
    ]
    done = moved(keyword_palace)
    assert [item.source for item in done.items] == ["palace/r/a.md", "palace/r/b.md"]
    assert "archived_from: palace/r/a.md" in text(keyword_palace, "palace/archive_basement/r/a.md")
    assert shown(planned(keyword_palace)) == []


def test_what_is_no_archived_note_gets_no_record(keyword_palace: Palace) -> None:
    """What tells of the archive, and another folder of that name."""
    keyword_palace.notes(archive_basement__README="x", r__archive_basement__a="x")
    assert planned(keyword_palace).items == ()


def test_an_unfinished_topic_tells_its_entries(keyword_palace: Palace) -> None:
    """As if it had not been interrupted."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", path=BELOW)
    moved(keyword_palace)
    (event,) = logged(keyword_palace)
    assert (event["id"], event["entries"]) == (LESSONS, ["aaaaaaaaaaaa"])


class Killed(BaseException):
    """Stands for a kill."""


@pytest.mark.parametrize("step", range(12))
def test_a_kill_anywhere_is_ended_by_the_next_run(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """No line is ever in neither file, and the next run leaves each in the archive, once."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two ^bbbbbbbbbbbb")
    keyword_palace.write(
        "palace/topics/mistakes.md",
        "- [mistake] three ^cccccccccccc\n- [mistake] four *(pinned)* ^dddddddddddd\n",
    )
    left = [step]

    def counted(function: object) -> object:
        def wrapper(*arguments: object, **named: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return function(*arguments, **named)  # type: ignore[operator]

        return wrapper

    for name in ("put", "move", "log"):
        monkeypatch.setattr(Pen, name, counted(getattr(Pen, name)))
    with contextlib.suppress(Killed):
        moved(keyword_palace)
    monkeypatch.undo()
    keys = [c * 12 for c in "abcd"]
    everything = "".join(p.read_text() for p in (keyword_palace.root / "palace").rglob("*.md"))
    assert all(f"^{key}" in everything for key in keys)
    later = NOW + timedelta(days=200)
    with pen.begin(keyword_palace.root, later, "palace archive") as held:
        now = state.load(keyword_palace.root, later)
        archive.run(held, archive.plan(keyword_palace.root, now, later), yes=True)
    found = state.load(keyword_palace.root, later)
    assert found.problems == ()
    assert {m.id for m in found.memories if m.archived} == set(keys[:3])
    everything = "".join(p.read_text() for p in (keyword_palace.root / "palace").rglob("*.md"))
    assert [everything.count(f"^{key}") for key in keys] == [1, 1, 1, 1]


def test_uncommitted_changes_are_left_alone(keyword_palace: Palace) -> None:
    """Reported with what to do; what is committed moves by git; what git does not know moves."""
    keyword_palace.notes(r__a="x", r__b="x")
    repository = Repository(keyword_palace.root)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    keyword_palace.notes(r__a="changed", r__c="x")
    done = moved(keyword_palace, asked=[f"palace/r/{n}.md" for n in "abc"])
    assert [item.id for item in done.items] == ["palace/r/b.md", "palace/r/c.md"]
    (problem,) = done.problems
    assert (problem.path, problem.message) == (
        "palace/r/a.md",
        "has uncommitted changes: commit them, then run this again",
    )
    assert text(keyword_palace, "palace/r/a.md") == "changed"
    staged = repository.git("diff", "--cached", "--name-status", "--find-renames=10%")
    assert "palace/archive_basement/r/b.md" in staged


def test_single_entries_leave_a_topic_with_uncommitted_changes(keyword_palace: Palace) -> None:
    """Nothing is lost: the line stands in the archive, and git shows both files."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two *(pinned)* ^bbbbbbbbbbbb")
    repository = Repository(keyword_palace.root)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    keyword_palace.write(LESSONS, text(keyword_palace, LESSONS) + "more\n")
    assert [item.id for item in moved(keyword_palace).items] == ["aaaaaaaaaaaa"]


def test_commits_just_its_own_paths(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With git.commit auto: one commit, and nothing else in it."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    keyword_palace.write("palace.yaml", "git: {commit: auto}\n")
    keyword_palace.notes(r__a="x", r__b="x")
    repository = Repository(keyword_palace.root)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    keyword_palace.notes(r__b="changed")
    moved(keyword_palace, asked=["palace/r/a.md"])
    listed = repository.git("show", "--name-only", "--no-renames", "--format=", "HEAD")
    assert sorted(listed.splitlines()) == [
        "manifests/memory_events.jsonl",
        "palace/archive_basement/r/a.md",
        "palace/r/a.md",
    ]


def test_broken_metadata_stays_where_it_is(keyword_palace: Palace) -> None:
    """The others go on."""
    keyword_palace.notes(r__a="---\na: [\n---\n", r__b="x")
    done = moved(keyword_palace, asked=["palace/r/a.md", "palace/r/b.md"])
    assert [item.id for item in done.items] == ["palace/r/b.md"]
    assert [problem.path for problem in done.problems] == ["palace/r/a.md"]
    assert (keyword_palace.root / "palace/r/a.md").exists()
    assert not (keyword_palace.root / "palace/archive_basement/r/a.md").exists()


def test_a_symbolic_link_on_the_way_is_refused(keyword_palace: Palace, tmp_path: Path) -> None:
    """An archive that leads out of the palace."""
    keyword_palace.notes(r__a="x")
    (tmp_path / "out").mkdir()
    (keyword_palace.root / "palace/archive_basement").symlink_to(tmp_path / "out")
    with pytest.raises(BadInput, match="symbolic link"):
        planned(keyword_palace, asked=["palace/r/a.md"])
    todo = planned(keyword_palace, notes=[("palace/r/a.md", "x")])
    assert todo.items == ()
    assert "symbolic link" in todo.left_out[0].message
    assert list((tmp_path / "out").iterdir()) == []


def test_a_sweep_needs_a_yes(keyword_palace: Palace) -> None:
    """More than a quarter of what a room has; nothing has moved then."""
    topic(keyword_palace, *(f"- [lesson] n{n} ^{n:012x}" for n in range(4)))
    assert [str(s) for s in planned(keyword_palace).sweeps] == ["4 of 4 entries in palace/topics"]
    with pytest.raises(Refused, match="--yes"):
        moved(keyword_palace, yes=False)
    assert (keyword_palace.root / LESSONS).exists()
    assert planned(keyword_palace, asked=[LESSONS]).sweeps == ()
    assert len(moved(keyword_palace).items) == 1


def test_a_topic_that_moved_on_is_left_alone(keyword_palace: Palace) -> None:
    """The plan is of a line that is another now: nothing is written."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa", "- [lesson] two *(pinned)* ^bbbbbbbbbbbb")
    todo = planned(keyword_palace)
    keyword_palace.write(LESSONS, TOPIC + "- [lesson] other ^aaaaaaaaaaaa\n")
    with pen.begin(keyword_palace.root, NOW, "x") as held, pytest.raises(Changed):
        archive.run(held, todo, yes=True)
    assert not (keyword_palace.root / BELOW).exists()


def test_two_that_want_one_place_get_two(keyword_palace: Palace) -> None:
    """A note in a folder named like the archive's own number."""
    keyword_palace.notes(
        **{"r__a": "x", "r__a-2": "x"}, archive_basement__r__a="---\narchived: x\n---\n"
    )
    todo = planned(keyword_palace, asked=["palace/r/a.md", "palace/r/a-2.md"])
    targets: Sequence[str] = [item.target for item in todo.items]
    assert len(set(targets)) == 2


def test_no_line_goes_into_an_open_fence(keyword_palace: Palace) -> None:
    """There it would be read as code: it stays where it is, and that is said."""
    topic(keyword_palace, "- [lesson] one ^aaaaaaaaaaaa")
    keyword_palace.write(BELOW, TOPIC + "```\ncode\n")
    before = (keyword_palace.root / LESSONS).read_text()
    done = moved(keyword_palace)
    assert ["ends inside a code fence" in problem.message for problem in done.problems] == [True]
    assert (keyword_palace.root / LESSONS).read_text() == before


def test_keys_of_a_note_of_its_own_are_not_overwritten(keyword_palace: Palace) -> None:
    """A restore could not tell them from ours."""
    before = "---\narchived: false\narchived_from: the old wiki\n---\nwords\n"
    keyword_palace.notes(r__a=before)
    done = moved(keyword_palace, asked=["palace/r/a.md"])
    assert ["of its own" in problem.message for problem in done.problems] == [True]
    assert (keyword_palace.root / "palace/r/a.md").read_text() == before
