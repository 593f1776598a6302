"""Putting back what was archived, as it was, onto nothing live."""

import contextlib
import re
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from core.generated import Frontmatter, frontmatters
from files.repository import Repository
from memory.test_archive import BELOW, LESSONS, TOPIC, logged, moved, planned, text, topic
from memory_palace.core.errors import Changed, Refused
from memory_palace.memory import pen, restore, state
from memory_palace.memory.pen import Pen
from memory_palace.memory.restore import Restored
from support.palaces import NOW, Palace

LATER = NOW + timedelta(days=1)
ONE = "- [lesson] one ^aaaaaaaaaaaa"
ARCHIVED = TOPIC.replace("type: topic\n", "type: topic\narchived: 2026-11-29\n")


def put_back(palace: Palace, name: str) -> Restored:
    """`palace restore NAME`, a day after everything else."""
    with pen.begin(palace.root, LATER, "palace restore") as held:
        return restore.restore(held, name)


@pytest.mark.parametrize(
    "name", ["palace/r/a.md", "palace/archive_basement/r/a.md", "./palace/r/a.md"]
)
def test_a_note_comes_back_as_it_was(keyword_palace: Palace, name: str) -> None:
    """By either path; the bytes are those of before, and an event tells of it."""
    before = "\ufeff---\r\n# c\r\nx: [1]\r\n---\r\nno end"
    keyword_palace.notes(r__a=before)
    moved(keyword_palace, asked=["palace/r/a.md"])
    done = put_back(keyword_palace, name)
    assert text(keyword_palace, "palace/r/a.md") == before
    assert not (keyword_palace.root / "palace/archive_basement/r/a.md").exists()
    assert (done.kind, done.id, done.target) == ("note", "palace/r/a.md", "palace/r/a.md")
    event = logged(keyword_palace)[-1]
    assert (event["event"], event["id"]) == ("restored", "palace/r/a.md")
    assert (event["path"], event["to"]) == ("palace/archive_basement/r/a.md", "palace/r/a.md")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(frontmatters())
def test_archive_then_restore_is_the_identity_on_bytes(
    keyword_palace: Palace, made: Frontmatter
) -> None:
    """Through the files, whatever the metadata looks like."""
    keyword_palace.notes(r__a=made.text)
    before = (keyword_palace.root / "palace/r/a.md").read_bytes()
    if moved(keyword_palace, asked=["palace/r/a.md"]).items:
        put_back(keyword_palace, "palace/r/a.md")
    assert (keyword_palace.root / "palace/r/a.md").read_bytes() == before


def test_a_topic_comes_back_reinforced(keyword_palace: Palace) -> None:
    """All its entries are as fresh as if each had been said again."""
    topic(keyword_palace, ONE, "- [lesson] two ^bbbbbbbbbbbb")
    before = text(keyword_palace, LESSONS)
    moved(keyword_palace)
    done = put_back(keyword_palace, LESSONS)
    assert (done.kind, done.entries) == ("topic", ("aaaaaaaaaaaa", "bbbbbbbbbbbb"))
    assert text(keyword_palace, LESSONS) == before
    found = state.load(keyword_palace.root, LATER)
    assert [(m.archived, m.evidence, m.reinforced) for m in found.memories] == [
        (False, 2, LATER),
        (False, 2, LATER),
    ]
    assert planned(keyword_palace).items == ()


def test_an_entry_comes_back_into_its_live_topic(keyword_palace: Palace) -> None:
    """At its end, its line as it was; the archived file stays, empty of entries."""
    topic(keyword_palace, ONE, "- [lesson] two *(pinned)* ^bbbbbbbbbbbb")
    moved(keyword_palace)
    done = put_back(keyword_palace, "^aaaaaaaaaaaa")
    assert (done.kind, done.id, done.source, done.target) == (
        "entry",
        "aaaaaaaaaaaa",
        BELOW,
        LESSONS,
    )
    assert text(keyword_palace, LESSONS).endswith(f"*(pinned)* ^bbbbbbbbbbbb\n{ONE}\n")
    assert text(keyword_palace, BELOW).endswith("# Lessons\n\n")
    memory = state.load(keyword_palace.root, LATER).find("aaaaaaaaaaaa")
    assert (memory.archived, memory.evidence, memory.reinforced) == (False, 2, LATER)
    assert planned(keyword_palace).items == ()


def test_a_forgotten_entry_is_remembered_again(keyword_palace: Palace) -> None:
    """Or the next run would archive it at once."""
    topic(keyword_palace, ONE, "- [lesson] two ^bbbbbbbbbbbb", at=NOW)
    from memory.test_archive import remembered

    remembered(keyword_palace, "aaaaaaaaaaaa", NOW, "forgotten")
    moved(keyword_palace)
    put_back(keyword_palace, "aaaaaaaaaaaa")
    assert not state.load(keyword_palace.root, LATER).find("aaaaaaaaaaaa").forgotten


def test_a_topic_file_that_is_gone_is_made(keyword_palace: Palace) -> None:
    """As the first entry of its kind would make it; the other entries stay archived."""
    keyword_palace.write(BELOW, f"{ARCHIVED}{ONE}\n- [lesson] two ^bbbbbbbbbbbb\n")
    put_back(keyword_palace, "aaaaaaaaaaaa")
    assert text(keyword_palace, LESSONS) == f"{TOPIC}{ONE}\n"
    assert text(keyword_palace, BELOW) == f"{ARCHIVED}- [lesson] two ^bbbbbbbbbbbb\n"


def test_nothing_live_is_overwritten(keyword_palace: Palace) -> None:
    """Both are named, and nothing is written."""
    keyword_palace.notes(
        r__a="live",
        archive_basement__r__a="---\narchived: 2026-01-01\n---\nold",
        topics__lessons="live",
    )
    keyword_palace.write(BELOW, f"{ARCHIVED}{ONE}\n")
    before = {p: p.read_bytes() for p in keyword_palace.root.rglob("*.md")}
    for name, path in (("palace/r/a.md", "r/a.md"), (BELOW, "topics/lessons.md")):
        with pytest.raises(Refused, match=f"palace/{path} is live, palace/archive_basement/{path}"):
            put_back(keyword_palace, name)
    assert {p: p.read_bytes() for p in keyword_palace.root.rglob("*.md")} == before


def test_an_id_that_is_live_too_is_refused(keyword_palace: Palace) -> None:
    """With both lines."""
    keyword_palace.write(LESSONS, f"{TOPIC}{ONE}\n")
    keyword_palace.write(BELOW, f"{ARCHIVED}{ONE}\n")
    with pytest.raises(Refused) as caught:
        put_back(keyword_palace, "aaaaaaaaaaaa")
    assert f"{LESSONS}:7" in str(caught.value)
    assert f"{BELOW}:8" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("palace/r/live.md", "palace/r/live.md is not archived: nothing to restore"),
        (
            "palace/r/b.md",
            "nothing in the archive came from palace/r/b.md: did you mean `palace/r/a.md`",
        ),
        ("palace/archive_basement/r/b.md", "nothing in the archive at .*: did you mean"),
        ("zzz.md", "nothing in the archive came from zzz.md"),
        ("../../etc/passwd.md", "nothing in the archive"),
        ("aaaaaaaaaaab", "did you mean aaaaaaaaaaaa"),
        ("bbbbbbbbbbbb", "is not archived: it is in palace/topics/mistakes.md:1"),
        ("palace/r/twin.md", "both came from palace/r/twin.md"),
    ],
)
def test_what_is_not_there_is_refused(keyword_palace: Palace, name: str, message: str) -> None:
    """Nothing is guessed; the nearest is named."""
    stamp = "---\narchived: 2026-01-01\narchived_from: palace/r/{}.md\n---\n"
    keyword_palace.notes(
        r__live="x",
        archive_basement__r__a=stamp.format("a"),
        archive_basement__r__twin=stamp.format("twin"),
        **{"archive_basement__r__twin-2": stamp.format("twin")},
        topics__mistakes="- [mistake] x ^bbbbbbbbbbbb\n",
    )
    keyword_palace.write(BELOW, f"{ARCHIVED}{ONE}\n")
    with pytest.raises(Refused, match=message):
        put_back(keyword_palace, name)


def test_a_note_never_leaves_the_palace(keyword_palace: Palace) -> None:
    """Whatever its metadata says of where it came from."""
    keyword_palace.notes(
        archive_basement__r__a="---\narchived: x\narchived_from: ../../a.md\n---\nx"
    )
    assert put_back(keyword_palace, "palace/archive_basement/r/a.md").target == "palace/r/a.md"


def test_a_second_name_comes_back_under_the_first(keyword_palace: Palace) -> None:
    """By its path in the archive, as the name alone is of two."""
    keyword_palace.notes(r__a="new", archive_basement__r__a="---\narchived: x\n---\nold")
    moved(keyword_palace, asked=["palace/r/a.md"])
    put_back(keyword_palace, "palace/archive_basement/r/a-2.md")
    assert text(keyword_palace, "palace/r/a.md") == "new"


def test_a_full_topic_takes_no_more(keyword_palace: Palace) -> None:
    """What to do is said; nothing is written."""
    keyword_palace.write(LESSONS, TOPIC + "x" * 11_950 + "\n")
    keyword_palace.write(BELOW, f"{ARCHIVED}{ONE}\n")
    with pytest.raises(Refused, match="12,000"):
        put_back(keyword_palace, "aaaaaaaaaaaa")
    assert text(keyword_palace, BELOW) == f"{ARCHIVED}{ONE}\n"


class Killed(BaseException):
    """Stands for a kill."""


@pytest.mark.parametrize("step", range(3))
def test_a_kill_of_a_restore_is_ended_by_the_next_one(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Between move, metadata and event: the note is where it belongs at last, as it was."""
    keyword_palace.notes(r__a="x")
    moved(keyword_palace, asked=["palace/r/a.md"])
    names = ["move", "put", "log"]

    def killed(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(Pen, names[step], killed)
    with contextlib.suppress(Killed):
        put_back(keyword_palace, "palace/r/a.md")
    monkeypatch.undo()
    with contextlib.suppress(Refused):  # only the event was missing
        put_back(keyword_palace, "palace/r/a.md")
    assert text(keyword_palace, "palace/r/a.md") == "x"
    assert not re.search("archived", text(keyword_palace, "palace/r/a.md"))


def test_both_ways_in_git_leave_nothing_behind(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With git.commit auto: a commit each, a clean tree, and the file as it was."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    keyword_palace.write("palace.yaml", "git: {commit: auto}\n")
    keyword_palace.write(".gitignore", ".palace/\n")
    keyword_palace.notes(r__a="words\n")
    repository = Repository(keyword_palace.root)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    moved(keyword_palace, asked=["palace/r/a.md"])
    assert repository.git("status", "--porcelain") == ""
    put_back(keyword_palace, "palace/r/a.md")
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("diff", "--name-only", "HEAD~2") == "manifests/memory_events.jsonl"
    assert repository.git("log", "--format=%s").splitlines() == [
        "palace restore: palace/r/a.md",
        "palace archive: palace/r/a.md",
        "x",
    ]


def test_no_line_comes_back_into_an_open_fence(keyword_palace: Palace) -> None:
    """There it would be read as code: nothing is written."""
    keyword_palace.write(BELOW, ARCHIVED + ONE + "\n")
    keyword_palace.write(LESSONS, TOPIC + "```\ncode\n")
    with pytest.raises(Refused, match="ends inside a code fence: close it"):
        put_back(keyword_palace, "aaaaaaaaaaaa")
    assert text(keyword_palace, BELOW) == ARCHIVED + ONE + "\n"


def test_an_edit_while_the_file_moves_is_kept(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody writes between the move and the next write is refused, not overwritten."""
    keyword_palace.notes(r__a="words\n")
    moved(keyword_palace, asked=["palace/r/a.md"])
    real = Pen.move

    def slow(p: Pen, source: str, target: str) -> None:
        real(p, source, target)
        with (p.root / target).open("a") as file:
            file.write("more\n")

    monkeypatch.setattr(Pen, "move", slow)
    with pytest.raises(Changed):
        put_back(keyword_palace, "palace/r/a.md")
    assert text(keyword_palace, "palace/r/a.md").endswith("more\n")


def test_a_topic_that_has_grown_too_long_comes_back_line_by_line(keyword_palace: Palace) -> None:
    """Above the cap nothing could be remembered in it."""
    lines = "".join(f"- [lesson] {'x' * 200} {n} ^{n:012x}\n" for n in range(80))
    keyword_palace.write(BELOW, ARCHIVED + lines)
    with pytest.raises(Refused, match="one by one, by their ids"):
        put_back(keyword_palace, LESSONS)
    assert not (keyword_palace.root / LESSONS).exists()
