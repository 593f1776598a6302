"""Whole notes written by agents: created, edited, in parts, renamed, archived."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import elimination, topics
from memory_palace.core.errors import BadInput, Changed, PalaceError, Refused
from memory_palace.core.text import digest, split_lines
from memory_palace.files import journal
from memory_palace.memory import notes, notes_text
from memory_palace.memory import pen as pens
from memory_palace.memory import state as states
from memory_palace.memory.notes import Written
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
NOTE = "palace/project_rooms/demo/plan.md"
LESSONS = "palace/topics/lessons.md"
A, B = "3f9ac2d41b7e", "0123456789ab"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
TOPIC = f"# Lessons\n\n- [lesson] One ^{A}\n- [lesson] Two *(enforced)* ^{B}\n- [lesson] Three\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A palace with one note and one topic file."""
    palace = Palace(tmp_path / "root")
    palace.write(NOTE, "---\ntitle: Plan\ncreated: 2026-11-01\n---\n# Plan\n\nGo on.\n")
    palace.write(LESSONS, TOPIC)
    return palace.root


def text(root: Path, path: str = NOTE) -> str:
    """The note as it is on the disk."""
    return (root / path).read_bytes().decode()


def base(root: Path, path: str = NOTE) -> str:
    """The digest of the note as it is."""
    return digest((root / path).read_bytes())


def files(root: Path) -> dict[str, bytes]:
    """All that is not derived."""
    found = [p for p in sorted(root.rglob("*")) if p.is_file()]
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in found
        if not {".palace", ".git"} & set(p.relative_to(root).parts)
    }


def refused(
    root: Path, kind: type[PalaceError], match: str, act: Callable[[], Written]
) -> PalaceError:
    """It is refused with these words, and nothing is written."""
    before = files(root)
    with pytest.raises(kind, match=match) as no:
        act()
    assert files(root) == before
    return no.value


def events(root: Path) -> list[tuple[str, str]]:
    """Every event and what it is about."""
    return [(event.event, event.id) for event in journal.load(root).events]


def git(root: Path, *arguments: str) -> str:
    """What git says."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", "-C", str(root), *who, *arguments], capture_output=True, check=True, text=True
    )
    return done.stdout


# -- creating ---------------------------------------------------------------------------------


def test_a_new_note_gets_its_metadata(root: Path) -> None:
    """Title from the heading, day and writer; an event says what was written."""
    path = "palace/project_rooms/demo/why.md"
    done = notes.write(root, NOW, path, "# Why: so\n\nBecause", reason="asked for")
    whole = text(root, path)
    assert whole.startswith('---\ntitle: "Why: so"\ncreated: 2026-11-29\nagent: cli@')
    assert whole.endswith("---\n# Why: so\n\nBecause\n")
    assert (done.what, done.path, done.base, done.digest) == ("created", path, "", base(root, path))
    assert done.said == ("added to its metadata: title, created, agent",)
    (event,) = journal.load(root).events
    assert (event.event, event.id, event.reason) == ("noted", path, "asked for")
    assert event.data == {"path": path, "digest": done.digest}


def test_metadata_that_is_there_stays(root: Path) -> None:
    """Only what lacks is added, at the end of the block; a topic file gets no writer."""
    path = "palace/a.md"
    notes.write(root, NOW, path, "---\ncreated: 2020-01-01 # then\ntags: [x]\n---\nx\n")
    start, agent, rest = text(root, path).partition("agent: ")
    assert start == "---\ncreated: 2020-01-01 # then\ntags: [x]\n"
    assert agent and rest.endswith("\n---\nx\n")
    own = "palace/topics/mine.md"
    notes.write(root, NOW, own, "- [lesson] Mine\n")
    assert text(root, own) == "---\ntitle: mine\n---\n- [lesson] Mine\n"


def test_what_is_there_is_not_made_again(root: Path) -> None:
    """A note that is there is refused, and its digest is named."""
    what = f"{NOTE} is there already, with the digest {base(root)}: read it"
    refused(root, Refused, what, lambda: notes.write(root, NOW, NOTE, "x"))


def test_secrets_are_taken_out_of_a_new_note(root: Path) -> None:
    """Private spans and secrets become marks, and it is said; nothing but them is no note."""
    path = "palace/a.md"
    done = notes.write(root, NOW, path, f"key {SECRET}, {SECRET}\n<private>me</private> b\n")
    assert "key [SECRET: GitHub token], [SECRET: GitHub token]\n[PRIVATE] b\n" in text(root, path)
    assert done.said[:2] == ("taken out: a private span", "taken out: GitHub token (2 times)")
    private = "<private>all</private>"
    refused(
        root, BadInput, "all of the text", lambda: notes.write(root, NOW, "palace/b.md", private)
    )


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("", "is not below palace/"),
        ("plan.md", "is not below palace/: write the whole path, as in palace/plan.md"),
        ("/etc/passwd.md", "is not below"),
        ("../a.md", "is not below"),
        ("manifests/a.md", "is not below"),
        ("palace/../a.md", "no path of a note"),
        ("palace/./a.md", "no path of a note"),
        ("palace//a.md", "no path of a note"),
        ("palace/.hidden.md", "no path of a note"),
        ("palace/.git/a.md", "no path of a note"),
        ("palace/a\\b.md", "no path of a note"),
        ("palace/a\nb.md", "no path of a note"),
        ("palace/a\x00b.md", "no path of a note"),
        ("palace/\ud800.md", "no path of a note"),
        ("palace/a.txt", "is no note"),
        ("palace/dispatch_corridor/log/pi@laptop.jsonl", "is no note: .* logs grow"),
        ("palace/archive_basement/a.md", "is in the archive"),
        ("palace/a .md", "begins or ends with a space or a dot"),
        ("palace/ a/b.md", "begins or ends with a space or a dot"),
        ("palace/a./b.md", "begins or ends with a space or a dot"),
        ("palace/NUL.md", "is a device on Windows"),
        ("palace/com1/a.md", "is a device on Windows"),
        ("palace/a:b.md", "a name with ':'"),
        ("palace/a#b.md", "a name with '#'"),
        ("palace/[a].md", "a name with '\\['"),
        (f"palace/{'a' * 250}.md", "over 240 bytes"),
        (f"palace/{'ü' * 2000}.md", "over 240 bytes"),
        (f"palace/{'a/' * 600}a.md", "over 1000 bytes"),
        ("palace/topics/lessons.md/a.md", "is a file: no note can be below it"),
    ],
)
def test_paths_that_no_note_can_have(root: Path, path: str, what: str) -> None:
    """Each is refused in words."""
    refused(root, BadInput, what, lambda: notes.write(root, NOW, path, "x"))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("palace/Topics/new.md", "palace/topics is there already, .* write the folder like that"),
        ("palace/topics/LESSONS.md", "palace/topics/lessons.md is there .* take another name"),
        ("palace/reflection_wing/constitution.md", "changes by a person's approval"),
        ("palace/reflection_wing/rules/a.md", "is a rule"),
    ],
)
def test_places_that_are_taken_or_kept(root: Path, path: str, what: str) -> None:
    """Names that differ in case only, the constitution, rules."""
    refused(root, Refused, what, lambda: notes.write(root, NOW, path, "x"))


@pytest.mark.parametrize(
    ("written", "kind", "what"),
    [
        ("", BadInput, "would be empty"),
        (" \n\t\r\n\ufeff", BadInput, "would be empty"),
        ("a\nb\0c", BadInput, "palace/a.md:2: there is a NUL"),
        ("a\ud800", BadInput, "halves of characters"),
        ("---\ntitle: a\nb: [\n---\nx", BadInput, "palace/a.md:4: broken frontmatter"),
        ("---\ntype: rule\n---\nx", Refused, "`palace rules add`"),
        ("x" * (10 * 1024 * 1024 + 1), Refused, "over 10 MB"),
    ],
)
def test_texts_that_no_note_can_have(
    root: Path, written: str, kind: type[PalaceError], what: str
) -> None:
    """Nothing is written, and the line is named."""
    refused(root, kind, what, lambda: notes.write(root, NOW, "palace/a.md", written))


def test_a_left_out_place_is_refused(root: Path) -> None:
    """A note that the index would never see is not written in silence."""
    (root / "palace.yaml").write_text("index: {exclude: ['**/drafts/**']}\n")
    path = "palace/drafts/a.md"
    refused(root, BadInput, "left out by index.exclude", lambda: notes.write(root, NOW, path, "x"))


def test_a_name_that_sync_tools_give_is_told(root: Path) -> None:
    """Written, and said to be unseen by the index."""
    done = notes.write(root, NOW, "palace/plan.orig.md", "x")
    assert done.said[-1].startswith("left out of the index: a sync tool's conflict copy")


def test_no_write_goes_through_a_symbolic_link(root: Path, tmp_path: Path) -> None:
    """Neither a folder nor a note may be one."""
    away = tmp_path / "away"
    away.mkdir()
    (away / "a.md").write_text("theirs")
    (root / "palace/out").symlink_to(away)
    (root / "palace/a.md").symlink_to(away / "a.md")
    for path in ("palace/out/b.md", "palace/a.md"):
        refused(
            root, BadInput, "symbolic link", lambda path=path: notes.write(root, NOW, path, "x")
        )
    assert sorted(place.name for place in away.iterdir()) == ["a.md"]


def test_odd_values_are_told_and_written(root: Path) -> None:
    """A value of a wrong type is a problem of the note, named with its line."""
    done = notes.write(root, NOW, "palace/a.md", "---\npriority: urgent\n---\nx\n")
    assert done.said[-1].startswith("line 2: `priority` is 'urgent'")


# -- editing ----------------------------------------------------------------------------------


def test_an_edit_needs_the_digest_of_what_is_there(root: Path) -> None:
    """The right base edits; that base again is of another file, which is exit 4."""
    was = base(root)
    done = notes.write(root, NOW, NOTE, text(root).replace("Go on", "Stop"), was, "it is over")
    assert "Stop." in text(root)
    assert (done.what, done.base, done.digest) == ("edited", was, base(root))
    assert events(root) == [("noted", NOTE)]
    assert journal.load(root).events[0].data["base"] == was
    no = refused(
        root,
        Changed,
        f"it has the digest {done.digest} now",
        lambda: notes.write(root, NOW, NOTE, "x", was),
    )
    assert no.exit_code == 4


def test_a_part_may_have_a_base_too(root: Path) -> None:
    """Lines count in the text that was read, so a part can be based on it."""
    was = base(root)
    notes.insert(root, NOW, NOTE, 7, "one", base=was.upper())
    for act in (
        lambda: notes.insert(root, NOW, NOTE, 7, "two", base=was),
        lambda: notes.replace(root, NOW, NOTE, "one", "two", base=was),
    ):
        refused(root, Changed, "changed underneath", act)
    notes.replace(root, NOW, NOTE, "one", "two", base=base(root))
    assert text(root).endswith("Go on.\ntwo\n")


def test_an_edit_of_what_is_gone(root: Path) -> None:
    """A note that was moved away is not made anew under a base."""
    path = "palace/gone.md"
    refused(root, Changed, "is gone", lambda: notes.write(root, NOW, path, "x", "a" * 64))
    refused(root, BadInput, "is no SHA-256", lambda: notes.write(root, NOW, NOTE, "x", "abc"))


def test_the_same_text_is_no_write(root: Path) -> None:
    """Nothing is written, and no event is logged."""
    before = files(root)
    done = notes.write(root, NOW, NOTE, text(root), base(root))
    assert (done.what, done.digest) == ("unchanged", base(root))
    assert files(root) == before


def test_an_edit_dates_the_note(root: Path) -> None:
    """`updated` is the day of the edit, unless the writer says another, or the note says none."""
    done = notes.replace(root, NOW, NOTE, "Go on.", "Stop.")
    assert text(root).startswith(
        "---\ntitle: Plan\ncreated: 2026-11-01\nupdated: 2026-11-29\n---\n"
    )
    assert done.said == ("`updated` is 2026-11-29 now; lines below it moved down by 1",)
    done = notes.replace(root, NOW + timedelta(days=1), NOTE, "Stop.", "Wait.")
    assert "updated: 2026-11-30\n" in text(root)
    assert done.said == ("`updated` is 2026-11-30 now",)
    notes.replace(root, NOW, NOTE, "updated: 2026-11-30", "updated: 2026-11-02")
    assert "updated: 2026-11-02\n" in text(root)
    (root / "palace/bare.md").write_text("one\n")
    assert notes.replace(root, NOW, "palace/bare.md", "one", "two").said == ()
    assert text(root, "palace/bare.md") == "two\n"


def test_the_form_of_a_file_stays(root: Path) -> None:
    """CRLF, a byte order mark and a last line feed stay, whatever the writer sends."""
    place = root / "palace/a.md"
    place.write_bytes(b"\xef\xbb\xbf# A\r\n\r\none\r\n")
    notes.write(root, NOW, "palace/a.md", "# A\n\ntwo", base(root, "palace/a.md"))
    assert place.read_bytes() == b"\xef\xbb\xbf# A\r\n\r\ntwo\r\n"
    notes.replace(root, NOW, "palace/a.md", "# A\n\ntwo", "# A\n\nthree\nfour")
    assert place.read_bytes() == b"\xef\xbb\xbf# A\r\n\r\nthree\r\nfour\r\n"
    notes.insert(root, NOW, "palace/a.md", 0, "top")
    notes.insert(root, NOW, "palace/a.md", 5, "end\nof it\n")
    assert place.read_bytes() == b"\xef\xbb\xbftop\r\n# A\r\n\r\nthree\r\nfour\r\nend\r\nof it\r\n"


def test_metadata_is_not_lost(root: Path) -> None:
    """A text without the block is refused; keys that go are named."""
    what = "would lose its metadata: .* lines 1 to 4"
    refused(root, Refused, what, lambda: notes.write(root, NOW, NOTE, "x", base(root)))
    refused(root, Refused, what, lambda: notes.insert(root, NOW, NOTE, 0, "x"))
    done = notes.write(root, NOW, NOTE, "---\ncreated: 2026-11-01\n---\nx\n", base(root))
    assert "no longer in its metadata: title" in done.said


def test_what_a_person_kept_private_stays(root: Path) -> None:
    """A whole text would take it out, so it is refused; a part leaves it, and is cleaned itself."""
    place = root / "palace/a.md"
    place.write_text(f"one {SECRET}\ntwo\n")
    whole = place.read_text().replace("two", "three")
    what = "holds private spans or secrets of before"
    refused(
        root,
        Refused,
        what,
        lambda: notes.write(root, NOW, "palace/a.md", whole, base(root, "palace/a.md")),
    )
    done = notes.replace(root, NOW, "palace/a.md", "two", "<private>x</private> 3")
    assert place.read_text() == f"one {SECRET}\n[PRIVATE] 3\n"
    assert done.said == ("taken out: a private span",)


def test_replace_wants_one_place(root: Path) -> None:
    """None and several are refused, with the lines; an empty text names nothing."""
    (root / "palace/a.md").write_text("x\naa\nx\nx y x\n")
    for old, new, kind, what in [
        ("z", "b", Refused, "is not in it"),
        ("x", "b", Refused, "4 times, in lines 1, 3, 4, 4:"),
        ("a", "b", Refused, "2 times, in lines 2, 2"),
        ("", "b", BadInput, "no text to replace"),
    ]:
        refused(
            root,
            kind,
            what,
            lambda old=old, new=new: notes.replace(root, NOW, "palace/a.md", old, new),
        )
    notes.replace(root, NOW, "palace/a.md", "x\naa\n", "")
    assert text(root, "palace/a.md") == "x\nx y x\n"


def test_insert_wants_a_line(root: Path) -> None:
    """After 0 to the last; a last line without a feed gets one."""
    (root / "palace/a.md").write_text("a\nb")
    refused(root, BadInput, "has 2 lines", lambda: notes.insert(root, NOW, "palace/a.md", 3, "x"))
    refused(root, BadInput, "has 2 lines", lambda: notes.insert(root, NOW, "palace/a.md", -1, "x"))
    refused(root, BadInput, "no text", lambda: notes.insert(root, NOW, "palace/a.md", 1, ""))
    notes.insert(root, NOW, "palace/a.md", 1, "x\n")
    notes.insert(root, NOW, "palace/a.md", 3, "y")
    assert text(root, "palace/a.md") == "a\nx\nb\ny"


@given(st.text("ab\n", min_size=1, max_size=30), st.data(), st.text("xy\n", min_size=1))
def test_an_insert_only_adds(before: str, data: st.DataObject, new: str) -> None:
    """The lines that were there are there in order, and the new ones where they were wanted."""
    lines = split_lines(before)
    line = data.draw(st.integers(0, len(lines)))
    for newline in ("\n", "\r\n"):
        after = notes_text.inserted("a.md", before.replace("\n", newline), line, new)
        wanted = [*lines[:line], *new.removesuffix("\n").split("\n"), *lines[line:]]
        if newline == "\n":
            assert split_lines(after) == wanted
        elif "\n" in before:
            assert split_lines(after.replace("\r\n", "\n")) == wanted
            assert after.count("\r\n") == after.count("\n")


# -- topic files and rules --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (f"- [lesson] One ^{A}\n", "", f"{LESSONS}:3: the memory \\^{A} would be lost"),
        (f" ^{A}", "", "would be lost"),
        ("- [lesson] Three\n", "", "a memory would be lost"),
        (f"[lesson] One ^{A}", f"[mistake] One ^{A}", "would change its category"),
        (f"One ^{A}", f"One *(pinned)* ^{A}", "the marks of"),
        ("Two *(enforced)*", "Two", "the marks of"),
        ("Two", "Not two", f"\\^{B} is enforced"),
        ("Three", "Three *(enforced)*", "comes by `palace promote`"),
        ("Three", f"Three ^{A}", "would be there twice"),
        ("[lesson] Three", "[lesion] Three", "unknown category `lesion`"),
        ("Three", "Three " + "x" * 12_000, "characters of 12,000"),
    ],
)
def test_memories_are_not_lost_or_bent(root: Path, old: str, new: str, what: str) -> None:
    """Ids, marks and categories are the commands' to change."""
    refused(root, Refused, what, lambda: notes.replace(root, NOW, LESSONS, old, new))


def test_memories_may_be_worded_and_added(root: Path) -> None:
    """The words of a memory are changed with its id kept; a new line is a memory."""
    notes.replace(root, NOW, LESSONS, f"One ^{A}", f"One and a half ^{A}")
    notes.insert(root, NOW, LESSONS, 5, "- [lesson] Four")
    found = {memory.id: memory.text for memory in states.load(root, NOW).live}
    assert found[A] == "One and a half"
    assert found[topics.entry_id("lesson", "Four")] == "Four"
    assert len(found) == 4


def test_an_id_of_another_topic_is_taken(root: Path) -> None:
    """The same id in two files would be one memory with two texts."""
    path = "palace/topics/mistakes.md"
    (root / path).write_text("# Mistakes\n")
    line = f"- [mistake] Other ^{A}"
    what = f"\\^{A} is in {LESSONS}:3 already"
    refused(root, Refused, what, lambda: notes.insert(root, NOW, path, 1, line))


def test_rules_are_changed_by_people(root: Path) -> None:
    """A note that is a rule is not edited, renamed or archived; nor does one become a rule."""
    path = "palace/project_rooms/demo/rule.md"
    (root / path).write_text("---\ntype: rule\n---\nNever.\n")
    for act in (
        lambda: notes.replace(root, NOW, path, "Never", "Ever"),
        lambda: notes.rename(root, NOW, path, "palace/b.md"),
        lambda: notes.archive(root, NOW, path),
        lambda: notes.replace(root, NOW, NOTE, "title: Plan", "type: rule"),
    ):
        refused(root, Refused, "rule", act)


# -- renaming and archiving -------------------------------------------------------------------


def test_a_rename_keeps_its_links(root: Path) -> None:
    """Links by name and by folder lead to it as before, and other notes are as they were."""
    palace = Palace(root)
    palace.notes(
        a="[[plan]] and [[demo/plan#Plan|that]], [[Plan]]", b="[[nothing]]", c="`[[plan]]` [[a]]"
    )
    target = "palace/project_rooms/other/the-plan.md"
    done = notes.rename(root, NOW, NOTE, target, "moved on")
    assert not (root / NOTE).exists()
    assert "aliases: [Plan, demo/plan, plan]\n" in text(root, target)
    assert (done.what, done.path, done.source) == ("renamed", target, NOTE)
    assert done.digest == base(root, target)
    assert done.said == (
        "linked from palace/a.md: these links still lead here",
        "added to its aliases: Plan, demo/plan, plan",
    )
    assert events(root) == [("moved", NOTE)]
    palace.index()
    graph = palace.command("graph", "--check")
    assert "palace/a.md" not in graph.err
    assert text(root, "palace/a.md") == "[[plan]] and [[demo/plan#Plan|that]], [[Plan]]"


def test_a_rename_that_breaks_no_link_changes_no_text(root: Path) -> None:
    """Into another folder a link by name leads there anyway."""
    Palace(root).notes(a="[[plan]]")
    was = text(root)
    notes.rename(root, NOW, NOTE, "palace/chambers/pi/plan.md")
    assert text(root, "palace/chambers/pi/plan.md") == was


def test_what_was_counted_of_a_note_follows_it(root: Path) -> None:
    """Retrievals and strikes are kept by path, and a rename leads from one to the other."""
    notes.rename(root, NOW, NOTE, "palace/b.md")
    notes.rename(root, NOW + timedelta(days=1), "palace/b.md", "palace/c.md")
    happened = journal.load(root).events
    assert elimination.names_now(happened) == {NOTE: "palace/c.md", "palace/b.md": "palace/c.md"}


def test_renames_that_are_refused(root: Path) -> None:
    """Onto a note, onto itself in other letters, of topics, out of the palace, of nothing."""
    Palace(root).notes(a="x")
    for source, target, kind, what in [
        (NOTE, "palace/a.md", Refused, "palace/a.md is there already"),
        (NOTE, NOTE, Refused, "is there already"),
        (NOTE, "palace/A.md", Refused, "spelled otherwise"),
        (LESSONS, "palace/b.md", Refused, "is a topic file"),
        (NOTE, "palace/topics/plan.md", Refused, "is a topic file"),
        (NOTE, "palace/archive_basement/plan.md", BadInput, "is in the archive"),
        ("palace/plam.md", "palace/b.md", Refused, "no note palace/plam.md"),
        ("palace/demo/plan.md", "palace/b.md", Refused, f"did you mean {NOTE}"),
    ]:
        refused(
            root,
            kind,
            what,
            lambda source=source, target=target: notes.rename(root, NOW, source, target),
        )


def test_archiving_has_a_way_back(root: Path) -> None:
    """The note is in the archive, and `palace restore` puts it back as it was."""
    was = text(root)
    done = notes.archive(root, NOW, NOTE, "done with")
    target = "palace/archive_basement/project_rooms/demo/plan.md"
    assert (done.what, done.path, done.source) == ("archived", target, NOTE)
    assert "archived_reason: done with\n" in text(root, target)
    assert done.digest == base(root, target)
    assert events(root) == [("archived", NOTE)]
    assert Palace(root).command("restore", NOTE).code == 0
    assert text(root) == was


def test_archiving_that_is_refused(root: Path) -> None:
    """Pinned notes, topic files, and what is not there."""
    (root / "palace/p.md").write_text("---\npinned: true\n---\nx\n")
    refused(root, Refused, "is pinned", lambda: notes.archive(root, NOW, "palace/p.md"))
    refused(root, Refused, "is a topic file", lambda: notes.archive(root, NOW, LESSONS))
    refused(root, Refused, "no note palace/q.md", lambda: notes.archive(root, NOW, "palace/q.md"))


# -- with git, and with others ----------------------------------------------------------------


def test_a_write_is_committed_where_that_is_wanted(root: Path) -> None:
    """With git.commit: auto just the note and the log, with the reason as the subject."""
    (root / "palace.yaml").write_text("git: {commit: auto}\n")
    (root / ".gitignore").write_text(".palace/\n")
    git(root, "init", "-q")
    git(root, "config", "user.name", "a")
    git(root, "config", "user.email", "a@example.org")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    (root / LESSONS).write_text(TOPIC + "\nnot mine\n")
    notes.replace(root, NOW, NOTE, "Go on.", "Stop.", "it is over")
    assert git(root, "log", "-1", "--format=%s").strip() == "it is over"
    changed = git(root, "show", "--name-only", "--format=", "HEAD").split()
    assert changed == ["manifests/memory_events.jsonl", NOTE]
    notes.rename(root, NOW, NOTE, "palace/b.md", "a better name")
    assert git(root, "status", "--porcelain").split() == ["M", LESSONS]
    assert "Stop." in git(root, "show", "HEAD:palace/b.md")


def test_a_note_that_moves_on_in_between(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another one saves after it was read is not overwritten."""
    put = pens.Pen.put

    def saved_by_another(self: pens.Pen, path: str, new: str) -> None:
        (root / path).write_text("theirs")
        put(self, path, new)

    monkeypatch.setattr(pens.Pen, "put", saved_by_another)
    with pytest.raises(Changed, match="changed underneath"):
        notes.replace(root, NOW, NOTE, "Go on.", "Stop.")
    assert text(root) == "theirs"
    assert events(root) == []


def test_the_new_events_leave_memories_as_they_are(root: Path) -> None:
    """A log with them counts as before, and none of its lines is a problem."""
    Palace(root).notes(a="x")
    before = states.load(root, NOW)
    notes.replace(root, NOW, NOTE, "Go on.", "Stop.")
    notes.rename(root, NOW, "palace/a.md", "palace/b.md")
    after = states.load(root, NOW)
    assert {event.event for event in after.events} == {"noted", "moved"}
    assert (after.memories, after.problems) == (before.memories, before.problems)
