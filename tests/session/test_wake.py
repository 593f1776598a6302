"""The wake-up: identity, essential story, mailbox, health."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memory_palace.core.errors import Refused
from memory_palace.files import starter
from memory_palace.session import health
from memory_palace.session.wake import wake
from support.palaces import NOW, Palace

IDENTITY = "palace/grand_hall/identity.md"


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """An identity, two wings, a shared principle, indexed."""
    palace = keyword_palace
    palace.write(IDENTITY, "---\ntitle: Identity\n---\n\n# Identity\n\nThe team of demo.\n\n")
    for n in range(20):
        head = f"---\ncreated: 2026-10-{n + 1:02}\n---\n# About {n}\n\n"
        palace.write(f"palace/project_rooms/demo/n{n:02}.md", f"{head}{'word ' * 60}\n")
    palace.write("palace/chambers/pi/habit.md", "---\ncreated: 2026-10-01\n---\nAsk first.\n")
    palace.write("palace/reflection_wing/principles/p.md", "---\npriority: high\n---\nTrue.\n")
    palace.write("palace/topics/lessons.md", "- [lesson] Not in the story\n")
    palace.command("index")
    return palace


def test_of_a_wing(filled: Palace) -> None:
    """The identity trimmed, then at most 3,200 characters of the wing's notes, and how many more
    there are."""
    found = wake(filled.root, NOW, "demo")
    assert found.text.startswith(
        "# Identity\n\nThe team of demo.\n\n# Essential story: demo\n\n## "
    )
    story = found.text[found.text.index("# Essential story") :]
    assert 2_800 < len(story) <= 3_200
    assert found.more == 20 - len(found.notes) > 0
    assert found.text.endswith(f"[{found.more} more: `palace recall demo`]")
    assert found.notes[0].path.endswith("n19.md")
    assert "Not in the story" not in found.text and "Ask first" not in found.text
    assert found.wing == "demo" and len(found.identity) == 64


def test_what_is_shared_fills_a_small_wing(filled: Palace) -> None:
    """After the wing's own notes, however much it counts."""
    found = wake(filled.root, NOW, "pi")
    assert [one.path for one in found.notes] == [
        "palace/chambers/pi/habit.md",
        "palace/reflection_wing/principles/p.md",
    ]
    assert found.more == 0 and "more:" not in found.text


def test_of_the_whole_palace(filled: Palace) -> None:
    """The weightiest of all, and which wings there are."""
    found = wake(filled.root, NOW)
    assert found.notes[0].path == "palace/reflection_wing/principles/p.md"
    assert found.text.endswith(" more: `palace recall WING`; wings: demo, pi]")
    assert len(found.text[found.text.index("# Essential story") :]) <= 3_200


def test_the_wing_at_hand(filled: Palace, tmp_path: Path) -> None:
    """That of the repository's name, if there is one."""
    (tmp_path / "demo/.git").mkdir(parents=True)
    (tmp_path / "else/.git").mkdir(parents=True)
    assert wake(filled.root, NOW, cwd=tmp_path / "demo").wing == "demo"
    assert wake(filled.root, NOW, cwd=tmp_path / "else").wing == ""


def test_an_unknown_wing(filled: Palace) -> None:
    """Is refused, with the nearest one."""
    with pytest.raises(Refused, match="no wing `dem0`: did you mean `demo`"):
        wake(filled.root, NOW, "dem0")


def test_same_input_same_bytes(filled: Palace) -> None:
    """With the index, without it, and in whatever order files were written."""
    first = wake(filled.root, NOW, "demo")
    assert wake(filled.root, NOW + timedelta(days=1), "demo").text == first.text
    (filled.root / ".palace/index/catalog.sqlite").unlink()
    again = wake(filled.root, NOW, "demo")
    assert again.text == first.text and again.said and not first.said


@pytest.mark.parametrize("budget", [1, 10, 40, 100, 300, 800, 5_000])
def test_a_budget_holds(filled: Palace, budget: int) -> None:
    """For all of it; whole lines only."""
    health.add(filled.root, ("a fault: run `palace doctor`",), NOW)
    found = wake(filled.root, NOW, "demo", budget, mailbox=["an ask"])
    whole = wake(filled.root, NOW, "demo", mailbox=["an ask"]).text
    assert len(found.text) <= 4 * budget
    lines = [line for line in found.text.split("\n") if line and not line.startswith("[")]
    assert all(line in whole for line in lines)
    if budget == 5_000:
        assert found.text == whole


def test_mailbox_and_health(filled: Palace) -> None:
    """After the story, when there are any; an old fault is not shown any more."""
    health.add(filled.root, ("old: run `palace doctor`",), NOW - timedelta(days=8))
    health.add(filled.root, ("new: run `palace doctor`",) * 2, NOW)
    found = wake(filled.root, NOW, "demo", mailbox=["ann asks: ready?"])
    assert found.text.endswith(
        "# Mailbox\n\n- ann asks: ready?\n\n"
        "# Health\n\n- new: run `palace doctor` (2 times, last 2026-11-29T12:00:00Z)"
    )
    assert "# Health" not in wake(filled.root, NOW, "demo", faults=False).text


def test_many_faults_leave_the_story_its_room(filled: Palace) -> None:
    """The newest few, and how many more; a file that somebody filled is read no further."""
    health.add(filled.root, (f"fault {n}: run `palace doctor`" for n in range(12)), NOW)
    lines = wake(filled.root, NOW, "demo").text.split("# Health\n\n")[1].split("\n")
    assert lines[0].startswith("- fault 11: ") and len(lines) == 9
    assert lines[-1] == "- 4 more: `palace doctor` lists them"
    rows = [health.Fault(f"f{n}", 1, "2026-11-29T12:00:00Z")._asdict() for n in range(3_000)]
    (filled.root / health.PATH).write_text(json.dumps({"faults": rows}))
    assert len(health.read(filled.root)) == health.MOST


def test_empty_parts_are_left_out(keyword_palace: Palace) -> None:
    """An empty palace has nothing to tell; one with only an identity tells that."""
    assert wake(keyword_palace.root, NOW).text == ""
    keyword_palace.write(IDENTITY, "Me.\n")
    found = wake(keyword_palace.root, NOW)
    assert found.text == "Me." and found.notes == ()
    keyword_palace.write(IDENTITY, "---\ntitle: x\n---\n")
    assert wake(keyword_palace.root, NOW).text == ""


def test_a_long_identity_is_cut(keyword_palace: Palace) -> None:
    """At a line, and says where the rest is."""
    keyword_palace.write(IDENTITY, "A line of who we are.\n" * 500)
    text = wake(keyword_palace.root, NOW).text
    assert len(text) <= 2_000 and text.endswith(
        "\n[cut: `palace read palace/grand_hall/identity.md`]"
    )


def test_a_palace_that_cannot_be_written(filled: Palace) -> None:
    """Is read all the same."""
    folder = filled.root / ".palace"
    folder.chmod(0o500)
    try:
        assert wake(filled.root, NOW, "demo").notes
    finally:
        folder.chmod(0o700)


def test_an_identity_that_cannot_be_read(keyword_palace: Palace) -> None:
    """Is said, and the rest is there; a link is not followed."""
    keyword_palace.notes(project_rooms__demo__a="Amber.")
    keyword_palace.command("index")
    keyword_palace.write(IDENTITY, b"\xff\xfe")
    found = wake(keyword_palace.root, NOW)
    assert found.said == (f"{IDENTITY}: not UTF-8 (byte 0xff): save it as UTF-8",)
    assert "- a.md" in found.text and found.identity == ""
    (keyword_palace.root / IDENTITY).unlink()
    (keyword_palace.root / IDENTITY).symlink_to("/etc/hosts")
    [said] = wake(keyword_palace.root, NOW).said
    assert said.startswith(f"{IDENTITY}: cannot be read (")


def test_a_template_is_no_identity(filled: Palace) -> None:
    """Until a person has written it, one line says so; its words are told to nobody."""
    filled.write(IDENTITY, starter.FILES[IDENTITY])
    found = wake(filled.root, NOW)
    assert found.text.startswith(f"[{IDENTITY} is not filled in yet]\n\n# Essential story")
    assert not found.identity


def test_rules_are_no_story(filled: Palace) -> None:
    """They act by themselves."""
    filled.write("palace/reflection_wing/rules/r.md", "---\ntype: rule\npriority: high\n---\nNo.\n")
    filled.command("index")
    assert "rules" not in wake(filled.root, NOW, "pi").text
