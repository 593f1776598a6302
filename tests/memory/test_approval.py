"""Approval: the page, the links both ways, the record."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory.growing import CHOICE, FILTERS, FORCED, Work, only
from memory_palace.core import proposals
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.memory import approval, pen, state
from memory_palace.memory import proposals as queues
from memory_palace.memory.approval import Choice
from memory_palace.memory.evidence import Shelf
from support.palaces import NOW


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """An empty palace of a known writer."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return Work(tmp_path / "root")


def test_approving_a_principle_writes_the_page_and_links_both_ways(work: Work) -> None:
    """Page, evidence, proposal and event all say it."""
    key = work.entry("lesson", FILTERS, 3)
    work.tasks(key)
    one = only(work.scan())
    done = work.approve(one)
    assert done.page == (
        "palace/reflection_wing/principles/apply-filters-before-the-list-is-cut.md"
    )
    page = work.text(done.page)
    assert "type: principle" in page
    assert f"[[topics/lessons#^{key}]]" in page
    assert proposals.link_to(one.path) in page
    link = "[[reflection_wing/principles/apply-filters-before-the-list-is-cut]]"
    for name in ("one", "two", "three"):
        card = work.text(f"palace/dispatch_corridor/cards/{name}.md")
        assert f'promoted_to: ["{link}"]' in card
    assert link not in work.text("palace/topics/lessons.md")
    kept = queues.load(work.root).proposals[0]
    assert (kept.status, kept.decided_by, kept.page) == ("applied", "Ann", link)
    assert kept.decision_reason == "it came up often enough"
    event = work.events("applied")[0]
    assert (event["who"], event["page"], event["id"]) == ("Ann", done.page, one.id)
    assert event["reason"] == "it came up often enough"
    work.index()
    assert work.command("graph", "--check").code == 0


def test_approving_a_rule_marks_the_entry(work: Work) -> None:
    """The rule has the shipped form, and the topic line says that it is enforced."""
    key = work.entry("mistake", FORCED, 3)
    done = work.approve(only(work.scan()))
    assert done.page == "palace/reflection_wing/rules/never-run-git-push-force.md"
    page = work.text(done.page)
    for line in ("type: rule", "action: block", 'trigger: "bash_contains git push --force"'):
        assert line in page
    assert done.enforced == key
    assert f"{FORCED} *(enforced)* ^{key}" in work.text("palace/topics/mistakes.md")
    assert state.load(work.root, NOW).find(key).enforced
    assert work.scan() == ()


def test_an_edited_draft_is_what_is_written(work: Work) -> None:
    """A person changes the draft in the proposal; approval writes that."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    text = work.text(one.path).replace("action: block", "action: warn")
    work.write(one.path, text.replace("title: Never run git push", "title: Ask before a push"))
    done = work.approve(one)
    assert "action: warn" in work.text(done.page)
    assert "ask-before-a-push" in done.page


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("action: block", "action: explode", "`action` is 'explode'"),
        ("type: rule", "type: idea", "`type` is 'idea'"),
        ("bash_contains git push --force", "shell git", "`trigger` is 'shell git'"),
        ("bash_contains git push --force", "bash_contains", "nothing after it"),
        ("bash_contains git push --force", "bash_regex (", "cannot be read"),
        ("priority: high", "priority: [", "broken frontmatter"),
        ("priority: high", "priority: urgent", "`priority` is 'urgent'"),
    ],
)
def test_a_draft_edited_into_no_rule_is_refused(work: Work, old: str, new: str, said: str) -> None:
    """Nothing is written, and the proposal stays open."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    work.write(one.path, work.text(one.path).replace(old, new))
    with pytest.raises(BadInput, match=said.replace("(", r"\(")):
        work.approve(one)
    assert queues.load(work.root).open
    assert not (work.root / "palace/reflection_wing/rules").exists()


def test_a_skill_becomes_a_candidate_folder(work: Work) -> None:
    """A SKILL.md with a name and a description that loaders take."""
    work.entry("pattern", "Write a temp file, sync it, rename it over the old one", 3)
    done = work.approve(only(work.scan()))
    assert done.page == "palace/reflection_wing/skills/write-a-temp-file/SKILL.md"
    assert work.text(done.page).startswith(
        "---\nname: write-a-temp-file\ndescription: Write a temp file, sync it,"
    )


def test_a_project_rule_joins_the_room_of_most_evidence(work: Work) -> None:
    """Without a project among the evidence it is general; a second rule joins the first."""
    first = work.entry("decision", "Errors end with what to do", 5)
    work.entry("decision", "Dates are UTC", 6)
    work.write("palace/project_rooms/demo/a.md", "# A\n")
    one, two = work.scan()
    assert one.text == "Dates are UTC"
    done = work.approve(one)
    assert done.page == "palace/project_rooms/general/rules.md"
    done = work.approve(two)
    lines = [line for line in work.text(done.page).splitlines() if line.startswith("- ")]
    assert lines[1] == f"- Errors end with what to do ([[topics/decisions#^{first}]])"
    assert len(lines) == 2


def test_a_project_rule_goes_where_the_sessions_were(work: Work) -> None:
    """The evidence's project decides; `--project` has the last word, and must be there."""
    work.write("palace/project_rooms/demo/sessions/2026-11-20.md", "# S\n")
    work.write("palace/project_rooms/other/a.md", "# A\n")
    work.entry("decision", "Dates are UTC", 5, "[[project_rooms/demo/sessions/2026-11-20]]")
    work.entry("decision", "Names are plain", 5, "[[project_rooms/demo/sessions/2026-11-20]]")
    one, two = work.scan()
    assert work.approve(one).page == "palace/project_rooms/demo/rules.md"
    with pytest.raises(Refused, match="no project room `othr`: did you mean `other`"):
        work.approve(two, replace(CHOICE, project="othr"))
    with pytest.raises(Refused, match="no project room"):
        work.approve(two, replace(CHOICE, project="../../x"))
    assert work.approve(two, replace(CHOICE, project="other")).page.endswith("other/rules.md")


def test_a_page_that_is_there_is_not_overwritten(work: Work) -> None:
    """The refusal names the page, and nothing is written."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    page = work.write("palace/reflection_wing/rules/never-run-git-push-force.md", "mine\n")
    with pytest.raises(Refused, match=r"rules/never-run-git-push-force\.md is there already"):
        work.approve(one)
    assert page.read_text() == "mine\n"
    assert queues.load(work.root).open


def test_an_approval_that_was_killed_goes_on(work: Work) -> None:
    """The page of this very proposal is there, the record is not: approving again records it."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    before = work.text(one.path)
    done = work.approve(one)
    page = work.text(done.page)
    work.write(one.path, before)
    assert work.approve(one).page == done.page
    assert work.text(done.page) == page


def test_a_name_that_another_note_has_is_not_taken(work: Work) -> None:
    """Links by name would not know which of the two is meant."""
    work.write("palace/topics/never-run-git-push-force.md", "# Mine\n")
    work.entry("mistake", FORCED, 3)
    done = work.approve(only(work.scan()))
    assert done.page.endswith("rules/never-run-git-push-force-rule.md")


def test_lost_evidence_is_said_and_needs_a_yes(work: Work) -> None:
    """A link that leads nowhere any more stops the approval unless it is wanted."""
    key = work.entry("lesson", FILTERS, 3)
    work.tasks(key)
    one = only(work.scan())
    (work.root / "palace/dispatch_corridor/cards/two.md").unlink()
    with pytest.raises(Refused, match=r"\[\[dispatch_corridor/cards/two\]\]"):
        work.approve(one)
    done = work.approve(one, replace(CHOICE, yes=True))
    assert any("cards/two" in line for line in done.said)


def test_archived_evidence_still_counts(work: Work) -> None:
    """A card in the basement is no lost evidence, and is not written to."""
    key = work.entry("lesson", FILTERS, 3)
    work.tasks(key)
    one = only(work.scan())
    card = work.root / "palace/dispatch_corridor/cards/two.md"
    cold = work.root / "palace/archive_basement/dispatch_corridor/cards/two.md"
    cold.parent.mkdir(parents=True)
    card.rename(cold)
    done = work.approve(one)
    assert len(done.linked) == 2
    assert "promoted_to" not in cold.read_text()


def test_secrets_and_private_spans_stay_out(work: Work) -> None:
    """Of the reason, the name and the draft alike."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    text = work.text(one.path).replace("## What it catches", "<private>a salary</private>\n\n## X")
    work.write(one.path, text)
    done = work.approve(one, Choice("because <private>of him</private> it matters", "Ann"))
    assert "salary" not in work.text(done.page)
    assert "of him" not in work.text(one.path)


def test_only_sure_rules_of_this_memory_apply_by_themselves(work: Work) -> None:
    """Low confidence, an edited draft, and a proposal that no memory speaks for all wait."""
    work.entry("mistake", FORCED, 3)
    work.entry("lesson", "Never run `make deploy` on Fridays", 3)
    work.entry("preference", "Never run `make wipe`", 3)
    for one in work.scan():
        if "wipe" in one.text:
            work.write(one.path, work.text(one.path).replace("make wipe", "make"))
    foreign = "Never run `git status`"
    identity = proposals.proposal_id("enforcement", "lesson", foreign)
    made = queues.load(work.root).open[0]
    work.write(
        proposals.path_of("x", identity),
        proposals.render(replace(made, id=identity, category="lesson", text=foreign)),
    )
    queue = queues.load(work.root)
    found = approval.may_apply(state.load(work.root, NOW), Shelf(work.root), queue)
    assert [one.text for one in found] == [FORCED]


def test_a_note_without_metadata_is_left_as_it_is(work: Work) -> None:
    """Its manifest line speaks for it, which a block of metadata would silence."""
    key = work.entry("lesson", FILTERS, 3)
    work.tasks(key)
    one = only(work.scan())
    bare = "palace/project_rooms/demo/bare.md"
    work.write(bare, "# Bare\n")
    text = work.text(one.path)
    link = '  - "[[dispatch_corridor/cards/two]]"'
    work.write(one.path, text.replace(link, f'{link}\n  - "[[demo/bare]]"', 1))
    done = work.approve(one)
    assert work.text(bare) == "# Bare\n"
    assert [(p.path, p.grade) for p in done.problems] == [(bare, "warning")]
    assert len(done.linked) == 3


def test_raw_records_are_kept_as_they_are(work: Work) -> None:
    """Sessions are evidence and are never written to."""
    source = ""
    for day in ("2026-11-20", "2026-11-21", "2026-11-22"):
        work.write(f"palace/chambers/pi/sessions/{day}.md", "---\ntype: session\n---\n# S\n")
        source += f"[[pi/sessions/{day}]] "
    work.entry("mistake", "Read the whole log at each turn", 3, source)
    done = work.approve(only(work.scan()))
    assert done.page.startswith("palace/reflection_wing/failure_patterns/")
    assert (done.linked, done.problems) == ((), ())


def test_a_topic_that_changed_meanwhile_is_not_marked(work: Work) -> None:
    """The line is known by its number: another one must not be written over."""
    work.entry("mistake", FORCED, 3)
    one = only(work.scan())
    place = work.root / "palace/topics/mistakes.md"
    with pen.begin(work.root, NOW, "palace promote approve") as held:
        known, queue, shelf = state.load(work.root, NOW), queues.load(work.root), Shelf(work.root)
        place.write_text(place.read_text().replace("- [mistake]", "- [mistake] mine\n- [mistake]"))
        before = place.read_text()
        choice = approval.Choice("it came up", "Ann", "", False)
        with pytest.raises(Changed):
            approval.approve(held, known, queue, shelf, one.id, choice)
    assert place.read_text() == before
    assert not (work.root / "palace/reflection_wing/rules").exists()
