"""Cards on the disk: opened, completed, listed."""

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_palace.core import cards as reading
from memory_palace.core.cards import FOLDER, Card, Draft
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.files import journal
from memory_palace.memory import cards, pen

NOW = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
DONE = "---\ntype: card\nstatus: active\n---\n# A\n\n## Acceptance checks\n\n- [x] a\n"
OPEN = DONE.replace("[x]", "[ ]")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / "palace.yaml").touch()
    return tmp_path


def write(root: Path, name: str, text: str) -> str:
    """Write a card; its path."""
    place = root / FOLDER / f"{name}.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    return f"{FOLDER}{name}.md"


def with_pen(root: Path, act: Callable[[pen.Pen], Card]) -> Card:
    """Do it with the pen."""
    with pen.begin(root, NOW, "palace card") as p:
        return act(p)


def new(root: Path, title: str, **texts: object) -> Card:
    """Open a card."""
    return with_pen(root, lambda p: cards.new(p, cards.draft(title, **texts)))  # type: ignore[arg-type]


def done(root: Path, name: str, after: str = "") -> Card:
    """Complete a card."""
    return with_pen(root, lambda p: cards.done(p, name, after))


def happened(root: Path) -> list[tuple[str, str]]:
    """Every event and what it is about."""
    return [(event.event, event.id) for event in journal.load(root).events]


def test_from_new_to_done(root: Path) -> None:
    """Opened with open checks, refused while one is open, completed once, and both are events."""
    made = new(root, "Measure: the floor", checks=("Asked", "Shown"), priority="high")
    path = f"{FOLDER}measure-the-floor.md"
    assert (made.path, made.status, len(made.open_checks)) == (path, "active", 2)
    place = root / path
    with pytest.raises(cards.NotDone, match="has 2 open checks of 2: mark with") as no:
        done(root, "measure-the-floor")
    assert [(p.path, p.message) for p in no.value.problems] == [
        (path, "open check: Asked"),
        (path, "open check: Shown"),
    ]
    place.write_text(place.read_text().replace("[ ]", "[x]"))
    made = done(root, "measure-the-floor", "Tell Bo")
    assert (made.is_completed, made.next_action) == (True, "Tell Bo")
    assert "updated: 2026-11-29\n" in place.read_text()
    assert happened(root) == [("card_opened", path), ("card_completed", path)]
    before = place.read_bytes()
    with pytest.raises(Refused, match="is completed already"):
        done(root, "measure-the-floor")
    assert place.read_bytes() == before
    assert len(happened(root)) == 2


def test_a_card_without_checks_is_not_completed(root: Path) -> None:
    """There is nothing that could hold."""
    new(root, "A")
    with pytest.raises(cards.NotDone, match=r"a\.md has no acceptance check"):
        done(root, "a")


def test_a_card_that_only_says_so_is_told(root: Path) -> None:
    """Completed by hand while a check was open: not completed, and not refused as such."""
    path = write(root, "a", OPEN.replace("active", "completed"))
    found = cards.load(root)
    assert not found.cards[0].is_completed
    assert [str(problem) for problem in found.problems] == [
        f"{path}:9: error: the card says completed, but does not count as that: open check: a"
    ]
    with pytest.raises(cards.NotDone):
        done(root, "a")
    write(root, "a", DONE.replace("active", "completed"))
    assert cards.load(root).problems == ()


def test_a_card_that_is_there_is_not_written_over(root: Path) -> None:
    """Not at its path, not in a folder below, not where it is no card."""
    new(root, "A b")
    for title in ("A b", "a: B!"):
        with pytest.raises(Refused, match=r"cards/a-b\.md is there already"):
            new(root, title)
    write(root, "old/c", DONE)
    with pytest.raises(Refused, match=r"cards/old/c\.md is there already"):
        new(root, "C")
    write(root, "d", "---\ntype: session\n---\n")
    with pytest.raises(Refused, match=r"cards/d\.md is there already"):
        new(root, "D")


def test_exact_names_only(root: Path) -> None:
    """With .md, as a path, in another normal form; anything else names the nearest."""
    for name in ("measure", "a b"):
        write(root, name, OPEN)
    composed = "m\u00e4rz"
    write(root, unicodedata.normalize("NFD", composed), OPEN)
    for name in ("measure", "measure.md", f"{FOLDER}measure.md", "a b", composed):
        with pytest.raises(cards.NotDone):
            done(root, name)
    for name, hint in {
        "Measure": "did you mean `measure`?",
        "measur": "did you mean `measure`?",
        "zzz": "`palace card list` shows",
        "cards/measure": f"did you mean `{FOLDER}measure.md`?",
        "": "`palace card list` shows",
    }.items():
        with pytest.raises(Refused, match=f"no card `{name}`: ") as no:
            done(root, name)
        assert hint in str(no.value)


def test_a_name_that_two_have(root: Path) -> None:
    """Both are named; the path tells them apart."""
    first, second = write(root, "one/a", DONE), write(root, "two/a", DONE)
    with pytest.raises(Refused, match=f"{first} and {second} both have this name"):
        done(root, "a")
    assert done(root, second).path == second


def test_order(root: Path) -> None:
    """Active, blocked, unknown, completed; in each by priority, then path."""
    for name, head in {
        "a": "status: completed",
        "b": "status: blocked",
        "c": "status: active\npriority: low",
        "d": "status: active\npriority: high",
        "e": "status: active",
        "f": "status: whatever",
        "g": "status: active",
    }.items():
        write(root, name, DONE.replace("status: active", head))
    write(root, "README", "# The cards\n")
    found = cards.load(root)
    assert "".join(card.path[-4] for card in found.cards) == "degcbfa"
    assert [problem.path[-4] for problem in found.problems] == ["f"]


def test_files_that_are_no_cards(root: Path) -> None:
    """Reported where they cannot be read, left out where they are other notes."""
    write(root, "a", DONE)
    (root / FOLDER / "b.md").write_bytes(b"\xff")
    (root / FOLDER / "c.md").symlink_to(root / FOLDER / "a.md")
    write(root, "d", "---\ntype: session\n---\n")
    write(root, "e (conflicted copy)", DONE)
    (root / "palace" / "f.md").write_bytes(b"\xff")
    found = cards.load(root)
    assert [card.path for card in found.cards] == [f"{FOLDER}a.md"]
    assert sorted(problem.path[len(FOLDER)] for problem in found.problems) == ["b", "e"]


def test_what_must_not_be_stored(root: Path) -> None:
    """Private spans are taken out of every text, line feeds too; nothing left is bad input."""
    span = "<private>Bo</private>"
    made = new(root, f"Ask {span}", goal=f"{span}\n# x", checks=(f"a\n- [x] {span}",))
    assert made.path == f"{FOLDER}ask-private.md"
    assert "Bo" not in (root / made.path).read_text()
    assert [(check.done, check.text) for check in made.checks] == [(False, "a - [x] [PRIVATE]")]
    for bad in ({"title": span}, {"title": "a", "goal": " "}, {"title": "a", "checks": ("",)}):
        with pytest.raises(BadInput, match="is empty"):
            cards.draft(**bad)


def test_broken_metadata_stays(root: Path) -> None:
    """The file is named, and not touched."""
    text = "---\ntype: [\n---\n## Acceptance checks\n\n- [x] a\n"
    path = write(root, "a", text)
    with pytest.raises(BadInput, match=f"{path}: line 3: broken frontmatter"):
        done(root, "a")
    assert (root / path).read_text() == text
    assert happened(root) == []


def test_a_card_that_changes_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that was opened again between reading and writing: nothing is written."""
    path = write(root, "a", DONE)
    real = reading.completed

    def slow(*arguments: str) -> str:
        write(root, "a", OPEN)
        return real(*arguments)

    monkeypatch.setattr(reading, "completed", slow)
    with pytest.raises(Changed, match="changed underneath"):
        done(root, "a")
    assert (root / path).read_text() == OPEN
    assert happened(root) == []


def test_a_folder_that_leads_elsewhere(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No card is written outside the palace."""
    there = tmp_path_factory.mktemp("elsewhere")
    (root / FOLDER).rmdir()
    (root / FOLDER).symlink_to(there)
    with pytest.raises(BadInput, match="is a symbolic link"):
        new(root, "A")
    assert list(there.iterdir()) == []


def test_no_folder_yet(root: Path) -> None:
    """It is made with the first card."""
    (root / FOLDER).rmdir()
    assert cards.load(root) == cards.Cards((), ())
    with pytest.raises(Refused, match="no card `a`"):
        done(root, "a")
    assert new(root, "A").path == f"{FOLDER}a.md"


def test_a_draft_is_of_one_line_texts() -> None:
    """Whatever white space was given."""
    assert cards.draft(" a\n b ", next_action="c\td") == Draft("a b", next_action="c d")
