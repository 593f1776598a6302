"""What a change must not do, each found at its place."""

import json
from pathlib import Path

import pytest

from memory.reviewed import LESSONS, LOG, ROOM, TOKEN, Memory, entries, errors
from memory_palace.memory.review import masked


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """See :class:`Memory`."""
    return Memory(tmp_path / "memory")


def test_lines_that_a_log_lost_are_errors(memory: Memory) -> None:
    """In another order, or written with other spaces, a line is the same."""
    memory.log("reinforced", "aaaaaaaaaaaa", cue="explicit")
    memory.save()
    first, second = memory.text(LOG).splitlines()
    memory.write(LOG, f"{second}\n{json.dumps(json.loads(first), separators=(',', ':'))}\n")
    assert memory.look().is_empty
    memory.write(LOG, f"{first}\n")
    review = memory.look()
    assert errors(review) == [("lost-line", LOG, 2)]
    assert "event reinforced aaaaaaaaaaaa" in review.errors[0].message
    assert entries(review) == [("rescored", "Never push on Friday")]


def test_many_lost_lines_are_counted(memory: Memory) -> None:
    """A log that is gone is not told line by line."""
    for _ in range(30):
        memory.log("reinforced", "aaaaaaaaaaaa")
    place = memory.folder / LOG
    lines = [json.dumps(json.loads(line) | {"at": "2026-11-10T00:00:00Z"}) for line in
             place.read_text().splitlines()]  # fmt: skip
    memory.write(LOG, "".join(f"{line}\n" for line in lines))
    memory.save()
    place.unlink()
    lost = [f for f in memory.look().errors if f.kind == "lost-line"]
    assert len(lost) == 21 and "11 more events" in lost[-1].message


def test_a_list_is_written_anew_at_will(memory: Memory) -> None:
    """The manifest is no log."""
    path = "manifests/watchdog_manifest_v1.jsonl"
    memory.write(path, '{"path": "a"}\n')
    memory.save()
    memory.write(path, '{"path": "b"}\n')
    review = memory.look()
    assert review.errors == () and [log.append_only for log in review.logs] == [False]


def test_secrets_are_found_in_added_text_only_and_never_shown(memory: Memory) -> None:
    """By line and kind, wherever they were written; what stood there before is not new."""
    memory.write(f"{ROOM}/old.md", f"old {TOKEN}\n")
    memory.save()
    memory.write(f"{ROOM}/old.md", f"new line\nold {TOKEN}\n")
    assert memory.look().errors == ()
    new = TOKEN.replace("abc", "xyz")
    memory.edit(LESSONS, "Friday ^", f"Friday, use {new} ^")
    memory.write(f"{ROOM}/new.md", f"---\ntitle: x\nkey: {new}\ntype: [{new}]\n---\n\n{new}\n")
    memory.log("reinforced", "aaaaaaaaaaaa", reason=new)
    memory.write("palace.yaml", f"# {new}\n")
    review = memory.look()
    assert [(p, n) for kind, p, n in errors(review) if kind == "secret"] == [
        (LOG, 2),
        ("palace.yaml", 1),
        (f"{ROOM}/new.md", 3),
        (f"{ROOM}/new.md", 4),
        (f"{ROOM}/new.md", 7),
        (LESSONS, 3),
    ]
    assert new not in repr([review.notes, review.entries, review.facts, review.findings])


def test_a_masked_text_keeps_its_lines() -> None:
    """Also where a secret has several."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3
    text = f"a\n{key}-----END PRIVATE KEY-----\nlast\n"
    assert "MII" not in masked(text)
    assert masked(text).count("\n") == text.count("\n")


def test_broken_metadata_is_an_error(memory: Memory) -> None:
    """Of changed notes, at its line."""
    memory.write(f"{ROOM}/bad.md", "---\ntitle: x\npriority: urgent\n---\ntext\n")
    memory.write(f"{ROOM}/worse.md", "---\ntitle: [\n---\ntext\n")
    found = errors(memory.look())
    assert [(kind, path) for kind, path, _ in found] == [
        ("frontmatter", f"{ROOM}/bad.md"),
        ("frontmatter", f"{ROOM}/worse.md"),
    ]
    assert found[0][2] == 3


def test_broken_links_of_changed_notes(memory: Memory) -> None:
    """In the body and in the metadata; names, headings and blocks; archived notes still count."""
    memory.move(f"{ROOM}/five.md", "palace/archive_basement/project_rooms/demo/five.md")
    memory.write(
        f"{ROOM}/new.md",
        '---\nsource: "[[none]]"\n---\n[[two]] [[five]] [[two#two]] [[two#none]]\n\n'
        "[[lessons#^aaaaaaaaaaaa]] [[lessons#^bbb]]\n",
    )
    assert errors(memory.look()) == [
        ("link", f"{ROOM}/new.md", 2),
        ("link", f"{ROOM}/new.md", 4),
        ("link", f"{ROOM}/new.md", 6),
    ]


def test_links_of_others_to_what_was_taken_away(memory: Memory) -> None:
    """A note, a heading or an alias that goes leaves broken links in notes that did not change."""
    memory.write(f"{ROOM}/links.md", "[[two]]\n[[three#three]]\n[[Called]]\n[[broken before]]\n")
    memory.write(f"{ROOM}/six.md", "---\naliases: [Called]\n---\nsix\n")
    memory.save()
    (memory.folder / f"{ROOM}/two.md").unlink()
    memory.edit(f"{ROOM}/three.md", "# three", "# drei")
    memory.edit(f"{ROOM}/six.md", "Called", "Named")
    assert [e for e in errors(memory.look()) if e[0] == "link"] == [
        ("link", f"{ROOM}/links.md", 1),
        ("link", f"{ROOM}/links.md", 2),
        ("link", f"{ROOM}/links.md", 3),
    ]


def test_links_between_two_commits_lead_into_the_second(memory: Memory) -> None:
    """What lies on the disk now says nothing about them."""
    memory.write(f"{ROOM}/new.md", "[[two]] [[later]]\n")
    memory.save()
    memory.write(f"{ROOM}/later.md", "x\n")
    (memory.folder / f"{ROOM}/two.md").unlink()
    assert errors(memory.look("HEAD~1..HEAD")) == [("link", f"{ROOM}/new.md", 1)]
    assert "later" in memory.look("HEAD~1..HEAD").errors[0].message


def test_more_than_a_quarter_of_a_room_gone_is_an_error(memory: Memory) -> None:
    """What was moved or archived is not gone; of entries each counts."""
    (memory.folder / f"{ROOM}/two.md").unlink()
    memory.move(f"{ROOM}/three.md", "palace/chambers/pi/three.md")
    memory.move(f"{ROOM}/four.md", "palace/archive_basement/project_rooms/demo/four.md")
    assert errors(memory.look()) == []
    (memory.folder / f"{ROOM}/one.md").unlink()
    assert errors(memory.look()) == [("lost-entries", ROOM, None)]
    assert "2 of 5 notes" in memory.look().errors[0].message


def test_lost_entries_of_topics(memory: Memory) -> None:
    """A file that is emptied or gone loses its entries."""
    memory.write(LESSONS, "# Lessons\n")
    assert errors(memory.look()) == [("lost-entries", "palace/topics", None)]
    (memory.folder / LESSONS).unlink()
    review = memory.look()
    assert errors(review) == [("lost-entries", "palace/topics", None)]
    assert entries(review) == [("removed", "Never push on Friday")]


def test_entries_that_do_not_count(memory: Memory) -> None:
    """An unknown category is an error where it is new."""
    memory.write(LESSONS, memory.text(LESSONS) + "- [lession] Oh\n")
    assert errors(memory.look()) == [("entry", LESSONS, 4)]
    memory.save()
    memory.write(LESSONS, memory.text(LESSONS) + "- [lesson] Well\n")
    assert errors(memory.look()) == []


def test_files_that_are_no_text(memory: Memory) -> None:
    """A picture is named; a note that is not UTF-8 is an error."""
    (memory.folder / "palace/x.png").write_bytes(b"\x89PNG\0")
    (memory.folder / f"{ROOM}/one.md").write_bytes(b"\xff\xfe")
    review = memory.look()
    assert review.files == (("added", "palace/x.png"),)
    assert errors(review) == [("unreadable", f"{ROOM}/one.md", None)]


def test_a_line_that_is_no_json_is_an_error(memory: Memory) -> None:
    """Where it is new, at its line."""
    memory.write(LOG, memory.text(LOG) + "oh\n")
    assert errors(memory.look()) == [("log", LOG, 2)]


def test_the_marks_of_a_merge_are_an_error(memory: Memory) -> None:
    """A check in CI must not let them in."""
    memory.write(f"{ROOM}/m.md", "# M\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    assert errors(memory.look()) == [("merge", f"{ROOM}/m.md", 3)]


def test_an_added_event_that_does_not_count_is_an_error(memory: Memory) -> None:
    """It parses, and is no event: each is named at its line."""
    memory.log("reinforced", "aaaaaaaaaaaa", at="soon")
    memory.log("reinforced", "")
    assert errors(memory.look()) == [("log", LOG, 2), ("log", LOG, 3)]
