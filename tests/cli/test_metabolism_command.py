"""``palace metabolism`` as it is typed."""

import json
from pathlib import Path

import pytest

from memory_palace.cli import metabolism
from memory_palace.files import journal
from support.palaces import NOW, Palace

WING = "palace/reflection_wing"
ROOM = "palace/project_rooms/demo"
BEATEN = f"{WING}/principles/old.md"


@pytest.fixture
def palace(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """A palace at noon of 2026-11-29 with a principle that is due, a cold memory among warm
    ones, and nothing else to do."""
    monkeypatch.setattr(metabolism, "now", lambda: NOW)
    p = keyword_palace
    strike = {
        "at": "2026-11-15T12:00:00Z",
        "by": "pi@laptop",
        "event": "struck",
        "uid": "1111111111111111",
        "id": BEATEN,
        "rule": "contradicted",
        "detail": "superseded by [[new]]",
    }
    p.write("manifests/memory_events.jsonl", json.dumps(strike) + "\n")
    p.write(
        BEATEN, '---\ntype: principle\ncreated: 2026-10-01\nsuperseded_by: "[[new]]"\n---\nOld.\n'
    )
    for name in ("new", "one", "two", "three"):
        p.write(f"{WING}/principles/{name}.md", f"---\ncreated: 2026-11-01\n---\n{name}\n")
    lines = [f"- [lesson] warm {n} *(pinned)* ^{n * 12}" for n in "abcd"]
    p.write(
        "palace/topics/lessons.md",
        "---\ncreated: 2026-01-05\n---\n- [lesson] cold ^eeeeeeeeeeee\n" + "\n".join(lines) + "\n",
    )
    return p


def bytes_of(root: Path) -> dict[Path, bytes]:
    """Every file."""
    return {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}


@pytest.mark.parametrize("shape", ["text", "jsonl", "md"])
def test_a_dry_run_writes_nothing(palace: Palace, shape: str) -> None:
    """In any format, for any day: not even a lock."""
    before = bytes_of(palace.root)
    assert palace.command("metabolism", "--dry-run", "--format", shape).code == 0
    done = palace.command("metabolism", "--dry-run", "--at", "2027-06-01", "--format", shape)
    assert (done.code, done.err) == (0, "")
    assert "2027-06-01" in done.out
    assert bytes_of(palace.root) == before


def test_off_a_terminal_nothing_moves(palace: Palace) -> None:
    """Strikes are written; what would move is listed, with the command that does it."""
    done = palace.command("metabolism")
    assert done.code == 0
    assert "1 note would move one tier down" in done.out
    assert "1 single memory would move" in done.out
    assert "`palace metabolism --yes` does it" in done.err
    assert (palace.root / BEATEN).exists()
    assert [event.event for event in journal.load(palace.root).events] == ["struck"] * 2
    again = palace.command("metabolism")
    assert len(journal.load(palace.root).events) == 2
    assert "0 recorded" in again.out


def test_yes_moves(palace: Palace) -> None:
    """And prints the way back."""
    done = palace.command("metabolism", "--yes", "--reason", "end of the month")
    assert done.code == 0
    target = "palace/project_rooms/general/old.md"
    assert f"`palace restore {target}` puts it back" in done.out
    assert (palace.root / target).exists()
    assert not (palace.root / BEATEN).exists()
    events = journal.load(palace.root).events
    assert sorted(event.event for event in events) == ["archived", "demoted", "struck", "struck"]
    assert {event.reason for event in events[1:]} == {"end of the month"}


def test_a_person_is_asked(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A no moves nothing, a yes what was shown; the moves are reported again."""
    answers = [False, True]
    monkeypatch.setattr(metabolism, "confirmed", lambda _yes, _question: answers.pop(0))
    assert "nothing was moved" in palace.command("metabolism").err
    assert (palace.root / BEATEN).exists()
    done = palace.command("metabolism")
    assert done.code == 0
    assert done.out.rstrip().endswith("`palace restore PATH|ID` puts one back")
    assert not (palace.root / BEATEN).exists()
    assert answers == []


def test_a_quarter_of_a_room_wants_the_flag(palace: Palace) -> None:
    """Refused with exit 1 and the numbers; the strikes are kept."""
    (palace.root / f"{WING}/principles/three.md").unlink()
    other = BEATEN.replace("old", "two")
    palace.write(other, (palace.root / BEATEN).read_bytes())
    with (palace.root / "manifests/memory_events.jsonl").open("a") as file:
        line = json.loads((palace.root / "manifests/memory_events.jsonl").read_text())
        file.write(json.dumps(line | {"id": other, "uid": "2" * 16}) + "\n")
    done = palace.command("metabolism")
    assert done.code == 1
    assert "nothing was moved: this takes 2 of 4 notes in palace/reflection_wing" in done.err
    assert (palace.root / BEATEN).exists()
    assert palace.command("metabolism", "--yes").code == 0
    assert not (palace.root / BEATEN).exists()


def test_json_lines_have_stable_keys(palace: Palace) -> None:
    """One object a line, the first one sums up."""
    done = palace.command("metabolism", "--dry-run", "--format", "jsonl")
    first, *rest = [json.loads(line) for line in done.out.splitlines()]
    assert list(first) == [
        "section",
        "at",
        "written",
        "moved",
        "counts",
        "more_proposals",
        "more_moves",
        "more_pairs",
        "days_folded",
        "counted_since",
    ]
    assert (first["written"], first["moved"], first["counted_since"]) == (False, False, None)
    assert first["counts"]["demotion"] == first["counts"]["archive"] == 1
    by_section = {one["section"]: list(one) for one in rest}
    assert by_section["strike"] == [
        "section",
        "path",
        "tier",
        "rule",
        "detail",
        "strikes",
        "new",
        "wait",
    ]
    assert by_section["demotion"] == ["section", "from", "to", "rule", "detail", "moved", "restore"]
    assert by_section["archive"] == ["section", "kind", "id", "from", "to", "reason", "moved"]


def test_a_limit_cuts_the_lists_and_counts_the_rest(palace: Palace) -> None:
    """Each section says how many there are in all."""
    for name in "pqr":
        palace.write(
            f"{WING}/constitution_candidates/{name}.md",
            "---\ntype: constitution_candidate\ncreated: 2026-11-20\n---\nx\n",
        )
    done = palace.command("metabolism", "--dry-run", "--limit", "1")
    assert "To judge: 3 questions" in done.out
    assert "2 more: `palace metabolism --limit 3`" in done.out
    assert done.out.count("article  ") == 1


def test_what_cannot_move_is_said(palace: Palace) -> None:
    """Broken metadata is found before anything moves; the exit code says so."""
    palace.write(f"{WING}/principles/bad.md", "---\na: [\n---\n")
    palace.write(BEATEN, (palace.root / BEATEN).read_text().replace("Old.", "Old.\n\x00"))
    done = palace.command("metabolism", "--dry-run")
    assert done.code == 1
    assert f"{BEATEN}" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at", "2027-01-01"), "add --dry-run"),
        (("--at", "2027-01-01", "--yes"), "add --dry-run"),
        (("--dry-run", "--yes"), "leave out --yes"),
        (("--dry-run", "--at", "soon"), "write a date"),
        (("--limit", "0"), "not in the range"),
        (("--format", "xml"), "'xml' is not one of"),
        (("--frmt", "md"), "did you mean `--format`"),
    ],
)
def test_bad_use(palace: Palace, arguments: tuple[str, ...], said: str) -> None:
    """Exit 2, and nothing is written."""
    before = bytes_of(palace.root)
    done = palace.command("metabolism", *arguments)
    assert done.code == 2
    assert said in done.err
    assert bytes_of(palace.root) == before
