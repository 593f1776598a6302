"""Wishes as proposals of topic entries, and what becomes of them."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memory.growing import Work, only
from memory_palace.core import ledger as forms
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.ledger import Entry
from memory_palace.memory import approval, pen, state, wishes
from memory_palace.memory import proposals as queues
from memory_palace.memory.approval import Choice
from memory_palace.memory.evidence import Shelf
from support import ledgers
from support.palaces import NOW

LINT = "Always run `make lint` before you commit."
PATH = "palace/chambers/pi/ledger/s.jsonl"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """An empty palace of a known writer."""
    monkeypatch.setenv("PALACE_IDENTITY", "cli@laptop")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return Work(tmp_path / "root")


def said(*texts: str, role: str = "user") -> list[Entry]:
    """Entries of a ledger."""
    lines = [ledgers.entry(n, text, role=role) for n, text in enumerate(texts)]
    return list(forms.branch(ledgers.ledger(*lines)))


def test_a_wish_is_a_proposal_and_no_memory(work: Work) -> None:
    """In the queue with the person's own words, where they were said, and the line it would be."""
    entries = said("Fix the parser.", LINT)
    ledgers.write(work.root, "pi", "s", [ledgers.entry(0, "Fix it."), ledgers.entry(1, LINT)])
    (identity,) = wishes.propose(work.root, entries, NOW)
    one = only(queues.load(work.root).open)
    assert (one.id, one.destination, one.category) == (identity, "topic", "preference")
    assert one.text == LINT
    assert (
        one.reason == f'"{LINT}", said in entry {entries[1].id} (`palace recall {entries[1].id}`)'
    )
    assert [(e.link, e.day) for e in one.evidence] == [
        ("[[chambers/pi/ledger/s.jsonl]]", "2026-11-29")
    ]
    assert one.draft == f"- [preference] {LINT}\n"
    assert one.agent == "pi@laptop"
    assert work.events("proposed")[0]["destination"] == "topic"
    assert state.load(work.root, NOW).live == ()


def test_the_words_say_what_kind_it_is(work: Work) -> None:
    """A lesson, a decision."""
    wishes.propose(
        work.root, said("Remember that the CI needs Redis.", "We decided to drop Python 3.9."), NOW
    )
    kinds = {one.category for one in queues.load(work.root).open}
    assert kinds == {"lesson", "decision"}


def test_only_what_a_person_said(work: Work) -> None:
    """Not the agent, not a tool; and without a wish nothing is touched."""
    for role in ("assistant", "tool"):
        assert wishes.propose(work.root, said(LINT, role=role), NOW) == ()
    assert wishes.propose(work.root, said("Fix the parser."), NOW) == ()
    assert not (work.root / "palace/reflection_wing").exists()
    assert not (work.root / ".palace").exists()


def test_the_same_wish_is_proposed_once(work: Work) -> None:
    """Again, in another spelling, rejected, and with its file gone."""
    other = said(f"  {LINT.upper().replace('`MAKE LINT`', '`make lint`')}")
    assert len(wishes.propose(work.root, said(LINT, LINT), NOW)) == 1
    assert wishes.propose(work.root, said(LINT), NOW) == ()
    assert wishes.propose(work.root, other, NOW) == ()
    one = only(queues.load(work.root).open)
    work.reject(one)
    assert wishes.propose(work.root, said(LINT), NOW) == ()
    (work.root / one.path).unlink()
    assert wishes.propose(work.root, said(LINT), NOW) == ()


def test_what_a_memory_says_already_is_not_proposed(work: Work) -> None:
    """Whatever its case and full stop."""
    work.entry("lesson", LINT.rstrip("."), 1)
    assert wishes.propose(work.root, said(LINT), NOW) == ()


def test_secrets_do_not_get_into_a_proposal(work: Work) -> None:
    """Also where an entry holds one, which capture should have taken out."""
    wishes.propose(work.root, said("Never print ghp_0123456789abcdefghijABCDEFGHIJ012345."), NOW)
    for place in (work.root / "palace").rglob("*.md"):
        assert "ghp_" not in place.read_text()


def test_beyond_twenty_they_are_counted(work: Work) -> None:
    """Said where proposals are listed, and gone once there is room for a new one."""
    entries = said(*(f"Never use the library number{n} here." for n in range(23)))
    assert len(wishes.propose(work.root, entries, NOW)) == wishes.MOST_OPEN
    assert wishes.left_out(work.root) == 3
    assert wishes.propose(work.root, said(LINT), NOW) == ()
    assert wishes.left_out(work.root) == 4
    assert "4 wishes not proposed" in work.command("promote", "list").err
    work.reject(queues.load(work.root).open[0])
    assert len(wishes.propose(work.root, said(LINT), NOW)) == 1
    assert wishes.left_out(work.root) == 0


def test_a_damaged_count_is_none(work: Work) -> None:
    """It is derived."""
    work.write(wishes.LEFT, "[")
    assert wishes.left_out(work.root) == 0
    work.write(wishes.LEFT, '["left"]')
    assert wishes.left_out(work.root) == 0


def test_approving_one_remembers_the_line(work: Work) -> None:
    """In its topic, with the explicit cue; the proposal links to the entry."""
    wishes.propose(work.root, said(LINT), NOW)
    one = only(queues.load(work.root).open)
    done = work.approve(one)
    (memory,) = state.load(work.root, NOW).live
    assert (memory.text, memory.category, memory.evidence) == (LINT, "preference", 1)
    assert (done.page, done.remembered) == ("palace/topics/preferences.md", memory.id)
    event = work.events("remembered")[0]
    assert (event["cue"], event["text"]) == ("explicit", LINT)
    kept = queues.load(work.root).proposals[0]
    assert (kept.status, kept.page) == ("applied", f"[[topics/preferences#^{memory.id}]]")
    with pytest.raises(Refused, match="applied already as"):
        work.approve(one)
    work.index()
    assert work.command("graph", "--check").code == 0
    assert wishes.propose(work.root, said(LINT), NOW + timedelta(days=1)) == ()


def test_one_that_is_remembered_since_is_reinforced(work: Work) -> None:
    """No second line of the same text."""
    wishes.propose(work.root, said(LINT), NOW)
    key = work.entry("preference", LINT, 1)
    done = work.approve(only(queues.load(work.root).open))
    assert done.remembered == key
    assert state.load(work.root, NOW).find(key).evidence == 2


def test_the_line_may_be_edited_before(work: Work) -> None:
    """Another wording or category; anything but one line is refused, and nothing is written."""
    wishes.propose(work.root, said(LINT), NOW)
    one = only(queues.load(work.root).open)
    text = work.text(one.path)
    line = f"- [preference] {LINT}"
    for bad in ("", "Run the linter.", f"{line}\n{line}", "- [wish] Run the linter."):
        work.write(one.path, text.replace(line, bad))
        with pytest.raises(BadInput, match="has to be one line"):
            work.approve(one)
    assert not (work.root / "palace/topics").exists()
    work.write(one.path, text.replace(line, "- [lesson] Run the linter before each commit."))
    assert work.approve(one).page == "palace/topics/lessons.md"


def test_a_project_is_for_project_rules_only(work: Work) -> None:
    """A topic has none."""
    wishes.propose(work.root, said(LINT), NOW)
    with pytest.raises(BadInput, match="is a topic"):
        work.approve(only(queues.load(work.root).open), Choice("why", project="shop"))


def test_an_approval_that_was_killed_goes_on(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the memory and the record: the second run counts nothing twice."""
    wishes.propose(work.root, said(LINT), NOW)
    one = only(queues.load(work.root).open)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(approval, "_decided", killed)
        with pytest.raises(KeyboardInterrupt):
            work.approve(one)
    assert work.approve(one).remembered
    (memory,) = state.load(work.root, NOW).live
    assert memory.evidence == 1


def test_no_wish_is_applied_without_a_person(work: Work) -> None:
    """Whatever the configuration says."""
    wishes.propose(work.root, said("Never run `git push --force`."), NOW)
    queue = queues.load(work.root)
    with pen.begin(work.root, NOW, "palace promote apply"):
        known = state.load(work.root, NOW)
        assert approval.may_apply(known, Shelf(work.root), queue) == ()


def test_promote_lists_shows_and_approves_it(work: Work) -> None:
    """As any other proposal."""
    (identity,) = wishes.propose(work.root, said(LINT), NOW, path=PATH)
    ran = work.command("promote", "list", "--format", "jsonl")
    assert json.loads(ran.out)["evidence"] == [
        {"link": "[[chambers/pi/ledger/s.jsonl]]", "day": "2026-11-29"}
    ]
    assert "To become: topic." in work.command("promote", "show", identity).out
    ran = work.command("promote", "approve", identity, "--reason", "she said so")
    assert ran.code == 1 and "no longer resolves" in ran.err  # no ledger is there
    ran = work.command("promote", "approve", identity, "--reason", "she said so", "--yes")
    assert ran.code == 0
    assert f"applied {identity}  topic  palace/topics/preferences.md" in ran.out
    assert "  remembered ^" in ran.out
