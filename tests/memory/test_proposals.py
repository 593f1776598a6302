"""The queue of proposals, on real files."""

from pathlib import Path

import pytest

from memory.growing import FILTERS, FORCED, Work, only
from memory_palace.core import proposals
from memory_palace.core.errors import Refused
from memory_palace.memory import proposals as queues
from memory_palace.memory.evidence import Shelf


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """An empty palace of a known writer."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return Work(tmp_path / "root")


def test_a_mechanical_lesson_seen_three_times_is_proposed_as_a_rule(work: Work) -> None:
    """Two times are not enough; the third makes a proposal with the rule drafted in full."""
    work.entry("lesson", FORCED, 2)
    assert work.scan() == ()
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    assert (one.destination, one.confidence) == ("enforcement", "high")
    assert one.id == proposals.proposal_id("enforcement", "mistake", FORCED)
    written = proposals.parse(one.path, work.text(one.path)).proposal
    assert written == one
    assert 'trigger: "bash_contains git push --force"' in one.draft
    assert work.events("proposed")[0]["path"] == one.path


def test_a_scan_may_come_late_and_never_repeats(work: Work) -> None:
    """Evidence of 4, which no mark is at, is seen; a second scan finds nothing new."""
    work.entry("preference", FORCED, 4)
    assert len(work.scan()) == 1
    assert work.scan() == ()


def test_a_plan_writes_nothing(work: Work) -> None:
    """What would be proposed is known without a file being touched."""
    work.entry("lesson", FORCED, 3)
    before = sorted(p for p in work.root.rglob("*") if p.is_file())
    assert len(work.plan().new) == 1
    assert sorted(p for p in work.root.rglob("*") if p.is_file()) == before


def test_the_strongest_evidence_comes_first_within_the_limit(work: Work) -> None:
    """A bounded list says how many more there are."""
    for number in range(5):
        work.entry("decision", f"Decision number {number}", 5 + number)
    found = work.plan(limit=2)
    assert [one.text for one in found.new] == ["Decision number 4", "Decision number 3"]
    assert found.more == 3


def test_only_several_completed_tasks_lead_into_the_reflection_wing(work: Work) -> None:
    """Evidence alone, open cards, one day only: no principle; three cards on two days: one."""
    key = work.entry("lesson", FILTERS, 30)
    assert work.scan() == ()
    for name in ("one", "two", "three"):
        work.card(name, "2026-11-20", key)
    assert work.scan() == ()
    work.card("four", "2026-11-21", key, status="active")
    assert work.scan() == ()
    work.card("four", "2026-11-21", key)
    one = only(work.scan())
    assert one.destination == "principle"
    assert one.links[0] == f"[[topics/lessons#^{key}]]"
    assert len(one.links) == 5
    assert "seen 30 times, in 4 tasks on 2 days" in one.reason


def test_sources_of_events_count_as_tasks(work: Work) -> None:
    """A link in `source` leads to a session, which needs no link back."""
    for day in ("2026-11-20", "2026-11-21", "2026-11-22"):
        work.write(f"palace/project_rooms/demo/sessions/{day}-talk.md", "# A talk\n")
    source = " ".join(f"[[2026-11-2{n}-talk]]" for n in range(3))
    work.entry("lesson", FILTERS, 3, source)
    assert only(work.scan()).destination == "principle"


def test_what_is_decided_stays_decided(work: Work) -> None:
    """Approving or rejecting again is refused and names the page; a scan does not bring it back,
    even when its file is gone."""
    work.entry("mistake", FORCED, 3)
    work.entry("preference", FORCED, 3)
    one, two = work.scan()
    work.approve(one)
    work.reject(two)
    for again in (lambda: work.approve(one), lambda: work.reject(one)):
        with pytest.raises(Refused, match=r"applied already as \[\[reflection_wing/rules/never"):
            again()
    for again in (lambda: work.approve(two), lambda: work.reject(two)):
        with pytest.raises(Refused, match="rejected already by Ann"):
            again()
    for one in queues.load(work.root).proposals:
        (work.root / one.path).unlink()
    work.write(
        "palace/topics/mistakes.md",
        work.text("palace/topics/mistakes.md").replace(" *(enforced)*", ""),
    )
    assert work.scan() == ()


def test_a_broken_proposal_is_a_problem_and_the_rest_goes_on(work: Work) -> None:
    """It is named; it is not proposed a second time; it cannot be decided."""
    work.entry("mistake", FORCED, 3)
    work.entry("preference", FORCED, 3)
    one, two = work.scan()
    work.write(one.path, work.text(one.path).replace("status: proposed", "status: maybe"))
    queue = queues.load(work.root)
    assert [p.id for p in queue.proposals] == [two.id]
    assert "`status` is 'maybe'" in queue.problems[0].message
    assert work.scan() == ()
    with pytest.raises(Refused, match="is broken"):
        work.approve(one)
    work.approve(two)


def test_two_files_with_one_id_are_a_problem(work: Work) -> None:
    """The first counts, the second is named."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    work.write(one.path.replace("enforcement", "zz"), work.text(one.path))
    queue = queues.load(work.root)
    assert [p.path for p in queue.proposals] == [one.path]
    assert one.path in queue.problems[0].message


def test_an_unknown_id_names_the_nearest(work: Work) -> None:
    """Nothing is guessed."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    with pytest.raises(Refused, match=f"did you mean {one.id}"):
        work.approve(one.id[:11] + ("0" if one.id[11] != "0" else "1"))


def test_a_rejected_rule_may_become_a_page(work: Work) -> None:
    """What nobody wants as a rule is looked at as a principle, once several tasks say so."""
    key = work.entry("lesson", FORCED, 3)
    work.tasks(key)
    one = only(work.scan())
    assert one.destination == "enforcement"
    work.reject(one)
    assert only(work.scan()).destination == "principle"


def test_what_cannot_be_read_is_reported_and_the_rest_counts(work: Work) -> None:
    """A card that is no text speaks for nothing, and is named."""
    key = work.entry("lesson", FILTERS, 3)
    work.tasks(key)
    work.write("palace/dispatch_corridor/cards/bad.md", b"\xff\xfe")
    shelf = Shelf(work.root)
    assert [p.path for p in shelf.problems] == ["palace/dispatch_corridor/cards/bad.md"]
    assert len(work.plan().new) == 1
