"""``palace card``: what is printed, and the exit codes."""

import json

import pytest

from memory_palace.cli import card as command
from memory_palace.core.cards import FOLDER
from support.palaces import NOW, Palace


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    monkeypatch.setattr(command, "now", lambda: NOW)


@pytest.fixture
def opened(keyword_palace: Palace) -> Palace:
    """A palace with one card of two checks."""
    done = keyword_palace.command(
        *("card", "new", "Measure the floor", "--goal", "It rests on a measurement"),
        *("--input", "[[score]]", "--input", "questions", "--output", "the floor"),
        *("--check", "Asked", "--check", "Shown", "--next", "Write", "--priority", "high"),
    )
    assert (done.code, done.out, done.err) == (0, f"opened {FOLDER}measure-the-floor.md\n", "")
    return keyword_palace


def hold(palace: Palace) -> None:
    """Let all checks hold."""
    place = palace.root / FOLDER / "measure-the-floor.md"
    place.write_text(place.read_text().replace("[ ]", "[x]"))


def test_list_as_text(opened: Palace) -> None:
    """A line a card, and its next action below it while it is not completed."""
    done = opened.command("card", "list")
    line = f"  0/2  Measure the floor  {FOLDER}measure-the-floor.md"
    assert done.out.splitlines() == [f"active     {line}", f"{'':18}next: Write"]
    assert (done.code, done.err) == (0, "")


def test_list_as_jsonl(opened: Palace) -> None:
    """All keys, always."""
    done = opened.command("card", "list", "--format", "jsonl")
    assert json.loads(done.out) == {
        "path": f"{FOLDER}measure-the-floor.md",
        "title": "Measure the floor",
        "status": "active",
        "priority": "high",
        "created": "2026-11-29T00:00:00Z",
        "updated": None,
        "goal": "It rests on a measurement",
        "inputs": ["[[score]]", "questions"],
        "outputs": ["the floor"],
        "checks": [
            {"line": 26, "done": False, "text": "Asked"},
            {"line": 27, "done": False, "text": "Shown"},
        ],
        "next": "Write",
    }


def test_open_checks_are_listed(opened: Palace) -> None:
    """Each with its place, and exit code 1."""
    done = opened.command("card", "done", "measure-the-floor")
    path = f"{FOLDER}measure-the-floor.md"
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        f"{path}:26: open check: Asked",
        f"{path}:27: open check: Shown",
        f"error: {path} has 2 open checks of 2: mark with [x] what holds",
    ]


def test_done_and_done_twice(opened: Palace) -> None:
    """Completed, with what follows; a second time it is refused."""
    hold(opened)
    done = opened.command("card", "done", "measure-the-floor", "--next", "Tell\nBo")
    assert (done.code, done.out) == (
        0,
        f"completed {FOLDER}measure-the-floor.md: all 2 checks hold\n",
    )
    listed = opened.command("card", "list", "--status", "completed")
    assert listed.out == f"completed    2/2  Measure the floor  {FOLDER}measure-the-floor.md\n"
    assert '"next": "Tell Bo"' in opened.command("card", "list", "--format", "jsonl").out
    again = opened.command("card", "done", "measure-the-floor")
    assert (again.code, again.out) == (1, "")
    assert "is completed already" in again.err


def test_status_filters(opened: Palace) -> None:
    """Nothing of that status is exit code 1, and is said."""
    done = opened.command("card", "list", "--status", "blocked")
    assert (done.code, done.out, done.err) == (1, "", "no blocked card\n")
    assert opened.command("card", "list", "--status", "open").code == 2


def test_an_empty_corridor(keyword_palace: Palace) -> None:
    """It says how to open a card."""
    done = keyword_palace.command("card", "list")
    assert (done.code, done.out) == (1, "")
    assert done.err == 'no card: `palace card new "Title"` opens one\n'


def test_problems_are_told_and_fail(opened: Palace) -> None:
    """The cards are listed all the same."""
    opened.write(f"{FOLDER}b.md", "---\ntype: card\nstatus: compleded\n---\n# B\n")
    done = opened.command("card", "list")
    assert done.code == 1
    assert done.out.splitlines()[2] == f"?            0/0  B  {FOLDER}b.md"
    assert done.err == (
        f"{FOLDER}b.md:3: error: `status` is 'compleded': did you mean `completed`?\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("new",), 2, "Missing argument 'TITLE'"),
        (("new", " "), 2, "the title is empty: write what is to be kept"),
        (("new", "A", "--goal", ""), 2, "--goal is empty"),
        (("new", "A", "--priority", "urgent"), 2, "'urgent' is not one of"),
        (("new", "A", "--checks", "b"), 2, "no option `--checks`: did you mean `--check`?"),
        (("new", "Measure the floor"), 1, "measure-the-floor.md is there already"),
        (("done", "measure"), 1, "no card `measure`: did you mean `measure-the-floor`?"),
        (("done", "measure-the-floor", "--next", " "), 2, "--next is empty"),
    ],
)
def test_bad_input(opened: Palace, words: tuple[str, ...], code: int, said: str) -> None:
    """One line that says what is wrong, and nothing is written."""
    before = sorted(opened.root.rglob("*.md"))
    done = opened.command("card", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert sorted(opened.root.rglob("*.md")) == before


def test_a_card_without_checks_is_told(keyword_palace: Palace) -> None:
    """It could never be completed."""
    done = keyword_palace.command("card", "new", "A", "--reason", "why not")
    assert (done.code, done.out) == (0, f"opened {FOLDER}a.md\n")
    assert done.err == "without acceptance checks it cannot be completed: write some into it\n"
    log = (keyword_palace.root / "manifests" / "memory_events.jsonl").read_text()
    assert '"reason": "why not"' in log
