"""``palace archive`` and ``palace restore`` as they are typed."""

import json

import pytest

from memory_palace.cli import archive, restore
from support.palaces import NOW, Palace

LESSONS = "palace/topics/lessons.md"
BELOW = "palace/archive_basement/topics/lessons.md"
OLD = "---\ncreated: 2026-01-05\n---\n"  # what no event tells of is as old as its file says


@pytest.fixture
def aged(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """A palace at noon of 2026-11-29 with one cold entry and a pinned one, and a note."""
    for module in (archive, restore):
        monkeypatch.setattr(module, "now", lambda: NOW)
    keyword_palace.write(
        LESSONS,
        f"{OLD}- [lesson] one ^aaaaaaaaaaaa\n- [lesson] two *(pinned)* ^bbbbbbbbbbbb\n",
    )
    keyword_palace.notes(r__a="a note")
    return keyword_palace


def test_without_yes_the_plan_is_shown_and_nothing_moves(aged: Palace) -> None:
    """Off a terminal nobody is asked: what to run is said."""
    done = aged.command("archive", LESSONS.replace("lessons", "nothing"))
    assert done.code == 1
    done = aged.command("archive", "aaaaaaaaaaaa")
    assert done.code == 0
    assert "entry  ^aaaaaaaaaaaa one  328 d" in done.out
    assert f"{LESSONS} -> {BELOW}" in done.out
    assert "1 single memory would move" in done.out
    assert "`palace archive --yes` does it" in done.err
    assert not (aged.root / BELOW).exists()


def test_yes_moves_and_restore_puts_back(aged: Palace) -> None:
    """Both say from where to where."""
    done = aged.command("archive", "--yes", "palace/r/a.md", "--reason", "no use")
    assert done.code == 0
    assert "1 note moved; `palace restore PATH|ID` puts one back" in done.out
    assert "archived_reason: no use" in (aged.root / "palace/archive_basement/r/a.md").read_text()
    done = aged.command("restore", "palace/r/a.md")
    assert (done.code, done.out) == (
        0,
        "restored note: palace/archive_basement/r/a.md -> palace/r/a.md\n",
    )
    assert (aged.root / "palace/r/a.md").read_text() == "a note"


def test_a_person_is_asked(aged: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what would move; a no moves nothing."""
    asked: list[str] = []
    answers = [False, True]

    def confirmed(yes: bool, question: str) -> bool:
        asked.append(question)
        return answers.pop(0)

    monkeypatch.setattr(archive, "confirmed", confirmed)
    assert "nothing was moved" in aged.command("archive", "palace/r/a.md").err
    assert (aged.root / "palace/r/a.md").exists()
    assert "1 note moved" in aged.command("archive", "palace/r/a.md").out
    assert not (aged.root / "palace/r/a.md").exists()
    assert asked == ["Archive 1 note?"] * 2


def test_only_what_a_person_agreed_to_moves(aged: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something else went cold while the question stood."""
    aged.write(LESSONS, "- [lesson] two *(pinned)* ^bbbbbbbbbbbb\n")
    aged.notes(archive_basement__r__b="no record")

    def confirmed(yes: bool, question: str) -> bool:
        aged.notes(archive_basement__r__c="no record")
        return True

    monkeypatch.setattr(archive, "confirmed", confirmed)
    assert "1 note moved" in aged.command("archive").out
    assert "archived" not in (aged.root / "palace/archive_basement/r/c.md").read_text()


def test_a_sweep_is_named_and_takes_a_yes(aged: Palace) -> None:
    """The plan says what a great part of a room would be; only --yes moves it."""
    lines = "".join(f"- [lesson] n{n} ^{n:012x}\n" for n in range(4))
    aged.write(LESSONS, OLD + lines)
    done = aged.command("archive")
    assert done.code == 0
    assert "this takes 4 of 4 entries in palace/topics: look twice" in done.err
    assert (aged.root / LESSONS).exists()
    assert aged.command("archive", "--dry-run").code == 0
    assert aged.command("archive", "--yes").code == 0
    assert not (aged.root / LESSONS).exists()


def test_the_plan_of_another_day(aged: Palace) -> None:
    """A plan only."""
    aged.write(LESSONS, "---\ncreated: 2026-11-01\n---\n- [lesson] one ^aaaaaaaaaaaa\n")
    assert aged.command("archive").out == "nothing is cold\n"
    done = aged.command("archive", "--at", "2027-05-01")
    assert (done.code, "1 topic file would move" in done.out) == (0, True)
    for wrong in (["--at", "2027-05-01", "--yes"], ["--at", "soon"], ["--dry-run", "--yes"]):
        assert aged.command("archive", *wrong).code == 2


def test_machines_read_lines_of_json(aged: Palace) -> None:
    """Stable keys, of the plan and of what was done."""
    keys = ["kind", "id", "from", "to", "reason", "days", "strength", "entries", "moved"]
    done = aged.command("archive", "palace/r/a.md", "aaaaaaaaaaaa", "--format", "jsonl")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [list(record) for record in records] == [keys, keys]
    assert [record["moved"] for record in records] == [False, False]
    assert records[0]["days"] is None
    done = aged.command("archive", "aaaaaaaaaaaa", "--format", "jsonl", "--yes")
    assert json.loads(done.out)["moved"] is True
    done = aged.command("restore", "aaaaaaaaaaaa", "--format", "jsonl")
    assert json.loads(done.out) == {
        "kind": "entry",
        "id": "aaaaaaaaaaaa",
        "from": BELOW,
        "to": LESSONS,
        "entries": [],
    }


def test_what_is_left_out_gives_exit_1(aged: Palace) -> None:
    """The rest goes on."""
    aged.notes(r__b="---\nx: [\n---\n")
    done = aged.command("archive", "--yes", "palace/r/a.md", "palace/r/b.md")
    assert done.code == 1
    assert "palace/r/b.md: error: line 3: broken frontmatter" in done.err
    assert "1 note moved" in done.out


def test_restore_of_what_is_unknown(aged: Palace) -> None:
    """Exit 1, with the nearest."""
    done = aged.command("restore", "palace/r/a.md")
    assert (done.code, done.out) == (1, "")
    assert "not archived" in done.err
