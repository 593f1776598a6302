"""The whole cycle: a plan writes nothing, a turn writes once a day, moves wait for a yes."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.core.errors import Refused
from memory_palace.core.events import Event
from memory_palace.files import journal
from memory_palace.memory import metabolism, pen, usage
from memory_palace.memory import proposals as queues
from memory_palace.memory.metabolism import Cycle
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WING = "palace/reflection_wing"
ROOM = "palace/project_rooms/demo"
TOPICS = "palace/topics"
OLD = "created: 2025-01-01"


def tell(palace: Palace, kind: str, about: str, at: datetime, **data: object) -> None:
    """Append an event."""
    uid = f"{abs(hash((kind, about, at))):016x}"[:16]
    journal.append(palace.root, Event(at, "pi@laptop", kind, uid, about, "", data))


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """Something for each section: a lesson that is ready, a cold mistake, an unused principle, a
    low note, a contradiction, an open conflict, a candidate, and retrievals of another day."""
    p = keyword_palace
    tell(p, "retrieved", "2025-01-01", NOW - 600 * DAY, counts={"palace/x.md": 1})
    for n, day in enumerate((9, 6, 3)):
        tell(
            p,
            "reinforced" if n else "remembered",
            "aaaaaaaaaaaa",
            NOW - day * DAY,
            **(
                {"cue": "explicit"}
                if n
                else {
                    "category": "lesson",
                    "text": "Never run git push --force",
                    "cue": "explicit",
                    "path": f"{TOPICS}/lessons.md",
                }
            ),
        )
    p.write(
        f"{TOPICS}/lessons.md",
        "- [lesson] Never run git push --force ^aaaaaaaaaaaa\n"
        "- [lesson] Keep the answers under 300 ms *(pinned)* ^bbbbbbbbbbbb\n"
        "- [lesson] Keep the answers under 500 ms *(pinned)* ^cccccccccccc\n",
    )
    p.write(f"{TOPICS}/mistakes.md", f"---\n{OLD}\n---\n- [mistake] Cold one ^dddddddddddd\n")
    p.write(f"{WING}/principles/idle.md", f"---\ntype: principle\n{OLD}\n---\nIdle.\n")
    for name in "abcdef":
        text = f"---\ntype: principle\n{OLD}\npinned: true\n---\nKept.\n"
        p.write(f"{WING}/principles/{name}.md", text)
        p.write(f"{ROOM}/{name}-of-demo.md", f"---\n{OLD}\n---\nKept.\n")
    p.write(f"{ROOM}/low.md", f"---\npriority: low\n{OLD}\n---\nLow.\n")
    p.write(
        f"{WING}/constitution_candidates/article.md",
        "---\ntype: constitution_candidate\nstatus: proposed\ncreated: 2026-11-20\n"
        'evidence: ["[[idle-evidence]]", "[[a]]"]\n---\n# An article\n',
    )
    p.write(
        "palace/conflict_room/which.md",
        "---\ntitle: Which\ntype: conflict\nstatus: open\nkind: choice\ncreated: 2026-11-20\n---\n"
        "## Claim A\n\n> One.\n\nSource: [[a]]\n\n## Claim B\n\n> Two.\n\nSource: [[b]]\n",
    )
    usage.note_retrieved(p.root, ["palace/x.md"], NOW - DAY)
    return p


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and time; a lock that was taken says nothing."""
    return {
        str(place.relative_to(root)): (place.read_bytes(), place.stat().st_mtime_ns)
        for place in root.rglob("*")
        if place.is_file()
    }


def turn(palace: Palace, now: datetime = NOW, yes: bool = False) -> Cycle:
    """One turn of the cycle."""
    with pen.begin(palace.root, now, "palace metabolism") as held:
        return metabolism.run(held, yes)


def kinds(palace: Palace) -> Counter[str]:
    """How many events of each kind."""
    return Counter(event.event for event in journal.load(palace.root).events)


def test_a_plan_writes_nothing(palace: Palace) -> None:
    """Not a byte and not a time, for now and for another day; it has something in each section."""
    before = tree(palace.root)
    cycle = metabolism.look(palace.root, NOW)
    metabolism.look(palace.root, NOW, NOW + 90 * DAY)
    metabolism.look(palace.root, NOW, NOW - 90 * DAY)
    assert tree(palace.root) == before
    assert not cycle.written
    assert [one.destination for one in cycle.found.new] == ["enforcement"]
    struck = {case.finding.path: case.finding.rule for case in cycle.eliminated.strikes}
    assert struck == {f"{WING}/principles/idle.md": "unused", f"{ROOM}/low.md": "low value"}
    assert [item.source for item in cycle.archive.items] == [f"{TOPICS}/mistakes.md"]
    assert cycle.folded == 1
    assert [task.kind for task in cycle.tasks] == [
        "conflict",
        "article",
        "contradiction",
    ]
    assert cycle.problems == ()


def test_each_task_has_evidence_and_the_commands_that_decide(palace: Palace) -> None:
    """Exactly as they are to be typed, but for who and why."""
    conflict, article, proposal, pair = turn(palace).tasks
    assert conflict.evidence == ("[[a]]", "[[b]]", "palace/conflict_room/which.md")
    assert conflict.commands[0] == 'palace conflict resolve which --winner a --reason "why"'
    assert article.evidence[:2] == ("[[idle-evidence]]", "[[a]]")
    assert "constitution_candidates/article.md --by NAME" in article.commands[0]
    assert proposal.evidence[0] == "[[topics/lessons#^aaaaaaaaaaaa]]"
    assert [command.split()[:3] for command in proposal.commands] == [
        ["palace", "promote", "approve"],
        ["palace", "promote", "reject"],
    ]
    assert pair.commands == ("palace conflict open bbbbbbbbbbbb cccccccccccc",)
    assert pair.evidence[0] == f"{TOPICS}/lessons.md:2: Keep the answers under 300 ms"


def test_a_turn_writes_proposals_strikes_and_totals(palace: Palace) -> None:
    """Nothing moves without a yes, and a second turn on that day writes nothing new."""
    before = kinds(palace)
    cycle = turn(palace)
    assert (cycle.written, cycle.moved, cycle.folded) == (True, None, 1)
    assert kinds(palace) - before == Counter(proposed=1, struck=2, retrieved=1)
    assert len(queues.load(palace.root).open) == 1
    assert (palace.root / TOPICS / "mistakes.md").exists()
    after = tree(palace.root)
    again = turn(palace, NOW + timedelta(hours=3))
    assert {k: v for k, v in tree(palace.root).items() if "lock" not in k} == {
        k: v for k, v in after.items() if "lock" not in k
    }
    assert again.found.new == ()
    assert len(again.waiting) == 1
    assert again.eliminated.strikes == ()


def test_with_a_yes_what_is_due_moves(palace: Palace) -> None:
    """What is cold at once, what was struck twice a week later; then the day is done."""
    first = turn(palace, yes=True)
    assert first.moved
    assert [item.source for item in first.moved.archived] == [f"{TOPICS}/mistakes.md"]
    assert first.moved.demotions == ()
    cycle = turn(palace, NOW + 7 * DAY, yes=True)
    assert cycle.moved
    assert [one.target for one in cycle.moved.demotions] == ["palace/project_rooms/general/idle.md"]
    assert [item.target for item in cycle.moved.archived] == [
        "palace/archive_basement/project_rooms/demo/low.md"
    ]
    assert cycle.moved.archived[0].reason.startswith("low value: of low priority")
    assert cycle.moved.problems == ()
    after = tree(palace.root)
    turn(palace, NOW + 7 * DAY + timedelta(hours=3), yes=True)
    assert {k: v[0] for k, v in tree(palace.root).items()} == {k: v[0] for k, v in after.items()}


def test_what_came_up_since_is_not_moved(palace: Palace) -> None:
    """A person agrees to what was shown, and to nothing else; a changed note stays too."""
    turn(palace)
    shown = turn(palace, NOW + 7 * DAY)
    assert shown.movable == 3
    palace.write(f"{WING}/principles/idle.md", "---\ntype: principle\nupdated: 2026-12-06\n---\n")
    more = replace(shown, archive=replace(shown.archive, items=shown.archive.items[:1]))
    with pen.begin(palace.root, NOW + 7 * DAY, "palace metabolism") as held:
        done = metabolism.agreed(held, more, yes=False)
    assert done.moved
    assert done.moved.demotions == ()
    assert len(done.moved.archived) == 1


def test_more_than_a_quarter_needs_a_yes(palace: Palace) -> None:
    """Of a room's notes: refused on a terminal's yes, done with --yes."""
    for name in "abc":
        palace.write(f"{ROOM}/{name}-of-demo.md", f"---\npriority: low\n{OLD}\n---\nx\n")
    turn(palace)
    shown = turn(palace, NOW + 7 * DAY)
    assert [str(sweep) for sweep in shown.sweeps] == [f"4 of 7 notes in {ROOM}"]
    with pytest.raises(Refused, match="4 of 7 notes"):
        metabolism.check_sweeps(shown, yes=False)
    with (
        pen.begin(palace.root, NOW + 7 * DAY, "palace metabolism") as held,
        pytest.raises(Refused, match="nothing was moved"),
    ):
        metabolism.agreed(held, shown, yes=False)
    assert turn(palace, NOW + 7 * DAY, yes=True).moved
    assert not (palace.root / ROOM / "low.md").exists()


def test_a_day_has_room_for_so_many_proposals(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second turn does not add the next ones; the next day does."""
    monkeypatch.setattr(queues, "LIMIT", 1)
    lines = []
    for n in range(3):
        key = f"{n}" * 12
        text = f"Never run tool-{n} --force"
        lines.append(f"- [lesson] {text} ^{key}")
        for day in (9, 6, 3):
            data = {"category": "lesson", "text": text, "cue": "explicit", "path": "x"}
            first = day == 9
            kind = "remembered" if first else "reinforced"
            tell(palace, kind, key, NOW - day * DAY, **(data if first else {"cue": "explicit"}))
    palace.write(f"{TOPICS}/lessons.md", "\n".join(lines) + "\n")
    assert (len(turn(palace).found.new), turn(palace).found.new) == (1, ())
    assert turn(palace).found.more > 0
    assert len(turn(palace, NOW + DAY).found.new) == 1


def test_a_principle_that_came_down_is_not_put_up_again(palace: Palace) -> None:
    """Of high priority and seen in several tasks, yet it was an article's candidate before."""
    names = [f"2026-11-0{n}-work" for n in (1, 2, 3)]
    for room, name in zip(("demo", "demo", "other"), names, strict=True):
        path = f"palace/project_rooms/{room}/sessions/{name}.md"
        palace.write(path, "---\ntype: session\n---\nWork.\n")
    evidence = ", ".join(f'"[[{name}]]"' for name in names)
    text = f"---\ntype: principle\npriority: high\n{OLD}\nevidence: [{evidence}]\n"
    palace.write(f"{WING}/principles/up.md", f"{text}---\n# Up\n")
    found = [one.destination for one in metabolism.look(palace.root, NOW).found.new]
    came_from = f"{WING}/constitution_candidates/up.md"
    palace.write(f"{WING}/principles/up.md", f"{text}demoted_from: {came_from}\n---\n# Up\n")
    after = [one.destination for one in metabolism.look(palace.root, NOW).found.new]
    assert sorted(found) == ["constitution_candidate", "enforcement"]
    assert after == ["enforcement"]
