"""What changed in the memory, by meaning."""

import json
from pathlib import Path

import pytest

from files.repository import Repository
from memory.reviewed import LESSONS, ROOM, Memory, entries, errors, notes
from memory_palace.core.errors import BadInput, Missing
from memory_palace.memory import review as reviews
from support.palaces import NOW


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """See :class:`Memory`."""
    return Memory(tmp_path / "memory")


def test_nothing_changed(memory: Memory) -> None:
    """A clean tree has nothing to review."""
    assert memory.look().is_empty
    assert memory.look("HEAD..HEAD").is_empty


def test_an_edited_note_is_told_in_words_and_keys(memory: Memory) -> None:
    """Words of the body with their lines, keys of the metadata with both values."""
    memory.edit(f"{ROOM}/one.md", "so many words", "so few words")
    memory.edit(f"{ROOM}/one.md", "status: open", "status: done\ntags: [x, y]")
    (note,) = memory.look().notes
    assert (note.kind, note.line) == ("edited", 3)
    assert [(h.before, h.after, h.line) for h in note.words] == [("many", "few", 8)]
    assert [(k.key, k.before, k.after, k.line) for k in note.keys] == [
        ("status", "open", "done", 3),
        ("tags", None, "x, y", 4),
    ]


def test_a_paragraph_that_was_wrapped_anew_says_so(memory: Memory) -> None:
    """Every change is told, also one without words."""
    memory.edit(f"{ROOM}/one.md", "so many", "so\nmany")
    assert notes(memory.look()) == [("edited", f"{ROOM}/one.md", "", "spaces and line breaks only")]


def test_added_moved_and_removed_notes(memory: Memory) -> None:
    """A move is known by what the note says, though git was not told; a removal is a warning."""
    memory.write(f"{ROOM}/new.md", "# New\n")
    memory.move(f"{ROOM}/two.md", "palace/chambers/pi/two.md")
    memory.edit("palace/chambers/pi/two.md", "so many", "so few")
    memory.move(f"{ROOM}/three.md", f"{ROOM}/drei.md")
    (memory.folder / f"{ROOM}/four.md").unlink()
    review = memory.look()
    assert notes(review) == [
        ("moved", "palace/chambers/pi/two.md", f"{ROOM}/two.md", ""),
        ("moved", f"{ROOM}/drei.md", f"{ROOM}/three.md", ""),
        ("removed", f"{ROOM}/four.md", "", "gone, and neither moved nor archived"),
        ("added", f"{ROOM}/new.md", "", ""),
    ]
    assert [f.grade for f in review.findings if f.path == f"{ROOM}/four.md"] == ["warning"]
    assert review.errors == ()


def test_archived_and_restored_notes(memory: Memory) -> None:
    """In and out of the archive: by its metadata, or by the place that mirrors the old one."""
    memory.move(f"{ROOM}/two.md", "palace/archive_basement/project_rooms/demo/two.md")
    other = "palace/archive_basement/project_rooms/demo/three-2.md"
    memory.move(f"{ROOM}/three.md", other)
    head = (
        f"---\narchived: 2026-11-29\narchived_from: {ROOM}/three.md\narchived_reason: cold\n---\n"
    )
    memory.write(other, head + memory.text(other))
    assert notes(memory.look()) == [
        ("archived", other, f"{ROOM}/three.md", "cold"),
        ("archived", "palace/archive_basement/project_rooms/demo/two.md", f"{ROOM}/two.md", ""),
    ]
    memory.save()
    back = notes(memory.look("HEAD..HEAD~1"))
    assert [(kind, path) for kind, path, _, _ in back] == [
        ("restored", f"{ROOM}/three.md"),
        ("restored", f"{ROOM}/two.md"),
    ]


def test_promotions(memory: Memory) -> None:
    """A note that came up a tier, a proposal that was applied with its page, a new article."""
    wing = "palace/reflection_wing"
    memory.write(f"{wing}/proposals/p-1.md", "---\ntype: proposal\nstatus: proposed\n---\nX\n")
    memory.write(f"{wing}/constitution.md", "# Constitution\n\n## One\n\nA.\n")
    memory.save()
    memory.edit(f"{wing}/proposals/p-1.md", "proposed", "applied")
    memory.write(f"{wing}/principles/page.md", "# Page\n\nOf its own.\n")
    memory.log("applied", "p", path=f"{wing}/proposals/p-1.md", page=f"{wing}/principles/page.md")
    memory.move(f"{ROOM}/two.md", f"{wing}/thinking_paths/two.md")
    memory.edit(f"{wing}/constitution.md", "A.\n", "A.\n\n## Two\n\nB.\n")
    assert notes(memory.look()) == [
        ("promoted", f"{wing}/constitution.md", "", "article of the constitution: Two"),
        (
            "promoted",
            f"{wing}/principles/page.md",
            "",
            f"page of the proposal {wing}/proposals/p-1.md",
        ),
        ("promoted", f"{wing}/proposals/p-1.md", "", "proposal applied"),
        ("promoted", f"{wing}/thinking_paths/two.md", f"{ROOM}/two.md", "came to a higher tier"),
    ]


def test_conflicts(memory: Memory) -> None:
    """A record that was opened, and then decided."""
    memory.write("palace/conflict_room/x.md", "---\ntype: conflict\nstatus: open\n---\nA or B\n")
    assert notes(memory.look())[0][3] == "conflict opened"
    memory.save()
    memory.edit("palace/conflict_room/x.md", "open", "decided")
    assert notes(memory.look())[0][3] == "conflict decided"


def test_entries_with_their_strength_before_and_after(memory: Memory) -> None:
    """Both at the same moment: what only time did is no change."""
    memory.edit(LESSONS, "Friday ^", "Fridays ^")
    memory.write(LESSONS, memory.text(LESSONS) + "- [lesson] Measure first\n")
    memory.log("reinforced", "aaaaaaaaaaaa", cue="explicit")
    review = memory.look()
    assert entries(review) == [("edited", "Never push on Fridays"), ("added", "Measure first")]
    assert review.notes == ()  # the file itself is told by its entries
    first = review.entries[0]
    assert [(h.before, h.after, h.line) for h in first.words] == [("Friday", "Fridays", 3)]
    assert first.before and first.after
    assert (first.before.evidence, first.after.evidence) == (1, 2)
    assert first.before.strength < first.after.strength
    assert review.entries[1].before is None
    assert review.happened == {"reinforced": 1}


def test_entries_that_only_events_tell_of(memory: Memory) -> None:
    """No topic file changed, and yet a memory stands elsewhere."""
    memory.log("reinforced", "aaaaaaaaaaaa", cue="explicit")
    assert entries(memory.look()) == [("reinforced", "Never push on Friday")]
    memory.save()
    memory.log("forgotten", "aaaaaaaaaaaa")
    (entry,) = memory.look().entries
    assert entry.kind == "forgotten" and entry.after and entry.after.lifecycle == "dropped"


def test_entries_move_to_the_archive_and_back(memory: Memory) -> None:
    """A line in another file is the same entry; none is lost."""
    below = "palace/archive_basement/topics/lessons.md"
    memory.write(below, "- [lesson] Never push on Friday ^aaaaaaaaaaaa\n")
    memory.edit(LESSONS, "- [lesson] Never push on Friday ^aaaaaaaaaaaa\n", "")
    review = memory.look()
    assert [(e.kind, e.path, e.was) for e in review.entries] == [("archived", below, LESSONS)]
    assert review.errors == ()
    memory.save()
    assert [e.kind for e in memory.look("HEAD..HEAD~1").entries] == ["restored"]


def test_a_hand_written_line_stays_itself(memory: Memory) -> None:
    """Edited, it is edited; given an id, it is unchanged."""
    memory.write(LESSONS, memory.text(LESSONS) + "- [lesson] Measure before you cut\n")
    memory.save()
    memory.edit(LESSONS, "before you cut", "before you cut anything")
    assert entries(memory.look()) == [("edited", "Measure before you cut anything")]
    memory.edit(LESSONS, " anything", " ^bbbbbbbbbbbb")
    assert entries(memory.look()) == []


def test_what_a_topic_file_says_besides_is_a_note(memory: Memory) -> None:
    """A heading, a sentence, metadata."""
    memory.edit(LESSONS, "# Lessons", "# What we learned")
    assert notes(memory.look()) == [("edited", LESSONS, "", "")]


def test_facts_and_logs(memory: Memory) -> None:
    """Each added line of the facts; of other logs how many lines."""
    memory.write("manifests/facts.jsonl", "")
    memory.write("palace/project_rooms/demo/reviews.jsonl", "")
    memory.save()
    fact = {"event": "added", "subject": "ann", "predicate": "lives_in", "object": "Rome"}
    memory.write("manifests/facts.jsonl", json.dumps(fact) + "\n")
    memory.write("palace/project_rooms/demo/reviews.jsonl", '{"a": 1}\n{"a": 2}\n')
    review = memory.look()
    assert [(f.event, f.text, f.line) for f in review.facts] == [("added", "ann lives_in Rome", 1)]
    assert [(log.path, len(log.added)) for log in review.logs] == [
        ("manifests/facts.jsonl", 1),
        ("palace/project_rooms/demo/reviews.jsonl", 2),
    ]


def test_hidden_files_are_no_part_of_it(memory: Memory) -> None:
    """What an editor keeps beside the notes."""
    memory.write("palace/.obsidian/app.json", "{}")
    assert memory.look().is_empty


def test_without_a_commit_everything_is_new(tmp_path: Path) -> None:
    """And is checked all the same."""
    fresh = Repository(tmp_path / "fresh")
    fresh.write("palace.yaml", "")
    fresh.write("palace/a.md", "[[nowhere]]\n")
    review = reviews.look(fresh.folder, None, NOW)
    assert [n.kind for n in review.notes] == ["added", "added"]
    assert errors(review) == [("link", "palace/a.md", 1)]


def test_a_palace_below_the_top_of_a_repository(tmp_path: Path) -> None:
    """Its paths are its own."""
    outer = Repository(tmp_path)
    inner = tmp_path / "sub"
    outer.write("sub/palace.yaml", "")
    outer.write("sub/palace/a.md", "text\n")
    outer.git("add", "sub")
    outer.git("commit", "--quiet", "-m", "x")
    outer.write("sub/palace/a.md", "texts\n")
    assert notes(reviews.look(inner, None, NOW)) == [("edited", "palace/a.md", "", "")]


def test_no_git_and_no_commit(memory: Memory, tmp_path: Path) -> None:
    """Each says what to do."""
    with pytest.raises(Missing, match="git init"):
        reviews.look(tmp_path, None, NOW)
    with pytest.raises(BadInput, match="no commit"):
        memory.look("nowhere")


def test_nothing_is_written(memory: Memory) -> None:
    """A review leaves no trace, not even of an index."""
    memory.edit(f"{ROOM}/one.md", "so many", "so few")
    before = sorted(p for p in memory.folder.rglob("*") if ".git" not in p.parts)
    index = (memory.folder / ".git/index").read_bytes()
    memory.look()
    assert sorted(p for p in memory.folder.rglob("*") if ".git" not in p.parts) == before
    assert (memory.folder / ".git/index").read_bytes() == index


def test_a_topic_file_is_no_page_that_was_promoted(memory: Memory) -> None:
    """An approved wish counts once, with the entry that it became."""
    proposal, topic = "palace/reflection_wing/proposals/p-1.md", "palace/topics/preferences.md"
    memory.write(proposal, "---\ntype: proposal\nstatus: proposed\n---\nX\n")
    memory.save()
    memory.edit(proposal, "proposed", "applied")
    memory.write(topic, "# Preferences\n\n- [preference] Use tabs ^bbbbbbbbbbbb\n")
    memory.log("applied", "p", path=proposal, page=topic)
    assert notes(memory.look()) == [
        ("promoted", proposal, "", "proposal applied"),
        ("added", topic, "", ""),
    ]
