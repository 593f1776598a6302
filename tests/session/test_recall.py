"""What a wing, a room or a topic knows."""

import pytest

from memory_palace.core import dates
from memory_palace.core.errors import Refused
from memory_palace.session.recall import recall
from support.palaces import NOW, Palace

A, B = "3f9ac2d41b7e", "0123456789ab"


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """A wing with a room, a principle, and memories."""
    palace = keyword_palace
    for n in range(12):
        head = f"---\ncreated: 2026-10-{n + 1:02}\n---\n"
        palace.write(f"palace/project_rooms/demo/n{n:02}.md", f"{head}{'word ' * 90}\n")
    palace.notes(project_rooms__demo__sessions__s="A session.", chambers__pi__a="Hello.")
    palace.notes(reflection_wing__principles__p="True.", reflection_wing__proposals__q="Maybe.")
    head = "---\nupdated: 2026-11-20T12:00:00Z\n---\n"
    palace.write(
        "palace/topics/lessons.md",
        f"{head}- [lesson] weak ^{A}\n- [lesson] kept *(pinned)* ^{B}\n- [mistake] wrong\n",
    )
    palace.write("palace/topics/more.md", f"{head}- [lesson] elsewhere\n")
    palace.command("index")
    return palace


def test_a_wing(filled: Palace) -> None:
    """Ten notes of at most 300 characters, the rest counted, its rooms named."""
    found = recall(filled.root, NOW, "demo")
    lines = [line for line in found.text.split("\n") if line.startswith("- ")]
    assert len(lines) == len(found.notes) == 10 and all(len(line) <= 300 for line in lines)
    assert max(map(len, lines)) > 250
    assert found.more == 3
    assert found.text.endswith(
        "[3 more; rooms: project_rooms/demo/sessions 1: `palace recall ROOM`]"
    )
    assert recall(filled.root, NOW, " Demo/ ").text == found.text


def test_a_room(filled: Palace) -> None:
    """By its wing and its name, or by its path; with or without ``palace/``."""
    expected = "## palace/project_rooms/demo/sessions\n- s.md (2023-11-14): A session."
    assert recall(filled.root, NOW, "demo", "sessions").text == expected
    assert recall(filled.root, NOW, "project_rooms/demo/sessions").text == expected
    assert recall(filled.root, NOW, "palace/project_rooms/demo/sessions/").text == expected
    assert "True." in recall(filled.root, NOW, "reflection_wing").text
    assert "Maybe." in recall(filled.root, NOW, "reflection_wing/proposals").text


def test_the_memories_of_a_topic(filled: Palace) -> None:
    """Strongest first, wherever they stand, with place and id; what the file has of another
    category too."""
    found = recall(filled.root, NOW, "topics/lessons")
    said = [memory.text for memory in found.memories]
    assert (said[0], said[-1], sorted(said[1:3])) == ("kept", "wrong", ["elsewhere", "weak"])
    assert f"- kept *(pinned)* ^{B} (active 0.69, palace/topics/lessons.md:5)" in found.text
    assert found.text.startswith("## Lessons\n") and "\n\n## Mistakes\n- wrong" in found.text
    assert recall(filled.root, NOW, "topics", "lessons") == found
    assert recall(filled.root, NOW, "topics/lessons.md") == found
    assert [m.text for m in recall(filled.root, NOW, "topics/more").memories] == ["elsewhere"]
    assert len(recall(filled.root, NOW, "topics").memories) == 4
    assert recall(filled.root, NOW, "topics/patterns").memories == ()


def test_dropped_memories_are_counted(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not shown."""
    monkeypatch.setenv("PALACE_NOW", dates.stamp(NOW))
    filled.command("forget", A)
    found = recall(filled.root, NOW, "topics/lessons")
    assert "weak" not in found.text
    assert found.text.endswith("[1 dropped: `palace topics` lists them]")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dmo",), "no wing `dmo`: did you mean `demo`?"),
        (("topisc",), "no wing `topisc`: did you mean `topics`?"),
        (("0123456789ab",), "no wing `0123456789ab`: known are "),
        (("demo", "sesion"), "no room `sesion` in demo: did you mean `sessions`?"),
        (("pi", "x"), "no room `x` in pi: it has no rooms"),
        (("project_rooms/dem",), "no room `project_rooms/dem`: did you mean `project_rooms/demo`?"),
        (("topics/lesson",), "no topic `topics/lesson`: did you mean `topics/lessons`?"),
        (("../..",), "no room `../..`"),
        (("reflection_wing/../topics",), "no room `reflection_wing/../topics`"),
        (("archive_basement",), "no wing `archive_basement`"),
        (("",), "no wing ``"),
    ],
)
def test_what_is_not_there(filled: Palace, words: tuple[str, ...], said: str) -> None:
    """Is refused, with the nearest that is."""
    filled.notes(archive_basement__x="cold")
    with pytest.raises(Refused) as refused:
        recall(filled.root, NOW, *words)
    assert str(refused.value).startswith(said)
