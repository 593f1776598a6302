"""``palace topics``: as a table, as JSON, as a drawing."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from support.palaces import NOW, SCRIPTS, Palace

LESSONS = "palace/topics/lessons.md"
A, B = "3f9ac2d41b7e", "0123456789ab"
KEYS = ["id", "category", "text", "path", "line", "cue", "evidence", "strength", "lifecycle",
        "pinned", "enforced", "created", "reinforced", "archived"]  # fmt: skip


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """Three live memories and an archived one, with two events."""
    palace = keyword_palace
    head = "---\nupdated: 2026-10-30T12:00:00Z\n---\n"
    palace.write(LESSONS, f"{head}- [lesson] a ^{A}\n- [lesson] pay $5 宮殿 *(pinned)* ^{B}\n")
    palace.write("palace/topics/more.md", f"{head}- [decision] by hand *(enforced)*\n")
    palace.write("palace/archive_basement/topics/lessons.md", f"{head}- [lesson] cold\n")
    event = {
        "at": "2026-11-29T00:00:00Z",
        "by": "a@b",
        "event": "remembered",
        "uid": "1",
        "id": A,
        "cue": "explicit",
    }
    more = event | {"event": "reinforced", "uid": "2"}
    palace.write("manifests/memory_events.jsonl", f"{json.dumps(event)}\n{json.dumps(more)}\n")
    return palace


def rows(palace: Palace, *words: str) -> list[dict[str, object]]:
    """The objects that the command prints."""
    return [
        json.loads(line)
        for line in palace.command("topics", "--format", "jsonl", *words).out.splitlines()
    ]


def test_the_keys_of_an_entry(filled: Palace) -> None:
    """Exactly these, in this order, each of its type."""
    found = rows(filled)
    assert [list(row) for row in found] == [KEYS] * 3
    [a] = [row for row in found if row["id"] == A]
    assert a == {
        "id": A, "category": "lesson", "text": "a", "path": LESSONS, "line": 4, "cue": "explicit",
        "evidence": 2, "strength": 1.089495, "lifecycle": "active", "pinned": False,
        "enforced": False, "created": "2026-11-29T00:00:00Z", "reinforced": "2026-11-29T00:00:00Z",
        "archived": False,
    }  # fmt: skip


def test_which_entries_are_shown(filled: Palace) -> None:
    """By category, archived ones on demand and last, strongest first."""
    assert [row["text"] for row in rows(filled)] == ["a", "pay $5 宮殿", "by hand"]
    assert [row["text"] for row in rows(filled, "--archived")][-1] == "cold"
    assert [row["text"] for row in rows(filled, "--category", "decision")] == ["by hand"]
    two = rows(filled, "--category", "decision", "--category", "lesson")
    assert len(two) == 3


def test_as_they_stood_and_will_stand(filled: Palace) -> None:
    """A day is its end; before anything there is nothing, exit 1."""
    assert [row["text"] for row in rows(filled, "--at", "2026-11-28")] == ["pay $5 宮殿", "by hand"]
    assert len(rows(filled, "--at", "2026-11-29")) == 3
    later = {row["id"]: row["lifecycle"] for row in rows(filled, "--at", "2027-11-29")}
    assert (later[A], later[B]) == ("dropped", "active")
    ran = filled.command("topics", "--at", "2020-01-01")
    assert (ran.code, ran.out) == (1, "")


def test_the_table(filled: Palace) -> None:
    """A heading a category, a line an entry, no colour off a terminal."""
    ran = filled.command("topics", "--archived")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Lessons, half-life 60 days",
        "Decisions, half-life 30 days",
        "Lessons (archived), half-life 60 days",
    ]
    assert lines[1] == f"  █████████······· 1.09 active        2x   12 h  a ^{A}"
    assert "\x1b" not in ran.out


def test_what_is_wrong_is_said_at_the_end(filled: Palace) -> None:
    """Errors: exit 1, and the rest is shown."""
    filled.write("palace/topics/odd.md", "- [lessn] x\n")
    ran = filled.command("topics")
    assert ran.code == 1
    assert "palace/topics/odd.md:1: error: unknown category `lessn`" in ran.err
    assert f"^{A}" in ran.out


def test_no_memories(keyword_palace: Palace) -> None:
    """Exit 1, with how to make one; nothing is made."""
    ran = keyword_palace.command("topics")
    assert (ran.code, ran.out) == (1, "")
    assert "remember" in ran.err
    assert sorted(os.listdir(keyword_palace.root)) == ["palace", "palace.yaml"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "yesterday"), "write 2026-"),
        (("--at", "2026-02-30"), "write 2026-"),
        (("--category", "lessons"), "lesson"),
        (("--plot", "x.pdf"), "ends in .png or .svg"),
        (("--plot", "x"), "ends in .png or .svg"),
        (("--format", "csv"), "jsonl"),
        (("--plots", "x.png"), "did you mean `--plot`"),
    ],
)
def test_bad_flags(filled: Palace, words: tuple[str, ...], said: str) -> None:
    """Exit 2, one line."""
    ran = filled.command("topics", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["decay.png", "decay.SVG"])
def test_a_drawing(filled: Palace, tmp_path: Path, name: str) -> None:
    """A real one, of letters of any script, without a warning; the same twice is the same file."""
    place = tmp_path / name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ran = filled.command("topics", "--plot", str(place))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"drawn: {place}\n"
    data = place.read_bytes()
    if name.endswith("png"):
        image = pytest.importorskip("PIL.Image").open(place)
        image.load()
        assert image.format == "PNG" and image.width >= 800
        assert len(set(image.convert("RGB").getdata())) > 20
    else:
        assert b"<svg" in data and data.rstrip().endswith(b"</svg>")
        assert "pay $5 宮殿".encode() in data
    filled.command("topics", "--plot", str(place))
    assert place.read_bytes() == data


def test_a_drawing_of_nothing_and_of_very_much(keyword_palace: Palace, tmp_path: Path) -> None:
    """Neither fails."""
    assert keyword_palace.command("topics", "--plot", str(tmp_path / "a.svg")).code == 1
    lines = "".join(f"- [lesson] number {n}\n" for n in range(60))
    keyword_palace.write(LESSONS, lines)
    assert keyword_palace.command("topics", "--plot", str(tmp_path / "b.svg")).code == 0
    assert (tmp_path / "b.svg").stat().st_size > 10_000


@pytest.mark.parametrize("place", ["nowhere/x.png", "folder.svg"])
def test_a_drawing_that_cannot_be_written(filled: Palace, tmp_path: Path, place: str) -> None:
    """Exit 2, one line."""
    (tmp_path / "folder.svg").mkdir()
    ran = filled.command("topics", "--plot", str(tmp_path / place))
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be written" in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [("topics",), ("pin", A), ("unpin", A), ("reinforce", A), ("edit", A, "b"), ("forget", A)],
)
def test_what_is_imported(filled: Palace, words: tuple[str, ...]) -> None:
    """No array, no model, no drawing: these commands start at once."""
    code = (
        "import sys; from memory_palace.cli.main import main; assert main(sys.argv[1:]) == 0; "
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": str(SCRIPTS), "PALACE_ROOT": str(filled.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    loaded = set(ran.stderr.split())
    assert not loaded & {"numpy", "faiss", "matplotlib", "onnxruntime", "rich", "pydantic", "torch"}
