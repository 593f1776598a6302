"""All memories of a palace: files as people leave them, and a log as merges leave it."""

import json
import math
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.events import PATH
from memory_palace.core.topics import entry_id
from memory_palace.memory import state as states
from memory_palace.memory import tallies
from memory_palace.memory.state import State
from support.deep import deep_folders
from support.palaces import OLD_NS, Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LESSONS = "palace/topics/lessons.md"
COLD = "palace/archive_basement/topics/lessons.md"
A, B = "3f9ac2d41b7e", "0123456789ab"


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """An empty palace."""
    return Palace(tmp_path / "root")


def event(kind: str, about: str, days: float, uid: str, **data: Any) -> str:
    """A line of the log, so many days from now."""
    at = (NOW + days * DAY).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = {"at": at, "by": "a@b", "event": kind, "uid": uid, "id": about, **data}
    return json.dumps(line) + "\n"


def load(palace: Palace, at: datetime | None = None) -> State:
    """The state now, or at a moment."""
    return states.load(palace.root, NOW, at)


def problems(state: State) -> list[str]:
    """Each problem as a text."""
    return [str(problem) for problem in state.problems]


def scores(state: State) -> list[tuple[object, ...]]:
    """What counts of each memory, wherever its line is."""
    return sorted(
        (m.id, m.text, m.evidence, m.strength, m.lifecycle, m.pinned) for m in state.memories
    )


def test_an_empty_palace(palace: Palace) -> None:
    """Has no memories and no problems."""
    state = load(palace)
    assert (state.memories, state.problems, state.events, state.texts) == ((), (), (), {})


def test_all_topic_files_count(palace: Palace) -> None:
    """Of any name and depth, live before archived; no hidden ones, no other kinds."""
    for name in ("lessons.md", "sub/x.MD", ".hidden.md", ".obsidian/y.md", "z.txt"):
        palace.write(f"palace/topics/{name}", f"- [lesson] {name}\n")
    palace.write(COLD, "- [lesson] cold\n")
    palace.write("palace/chambers/n.md", "- [lesson] elsewhere\n")
    state = load(palace)
    assert [m.text for m in state.memories] == ["lessons.md", "sub/x.MD", "cold"]
    assert [m.text for m in state.live] == ["lessons.md", "sub/x.MD"]


@pytest.mark.parametrize("place", ["palace/topics", LESSONS, "palace/archive_basement"])
def test_links_lead_nowhere(palace: Palace, tmp_path: Path, place: str) -> None:
    """What a stranger's repository links to is not read as memory."""
    (tmp_path / "elsewhere/topics").mkdir(parents=True)
    for folder in ("elsewhere", "elsewhere/topics"):
        (tmp_path / folder / "lessons.md").write_text("- [lesson] theirs\n")
    link = palace.root / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / ("elsewhere/lessons.md" if place == LESSONS else "elsewhere"))
    assert load(palace).memories == ()


def test_what_is_wrong_is_reported_with_its_place(palace: Palace) -> None:
    """In files and in the log, in order; the rest counts."""
    palace.write("palace/topics/b.md", b"- [lesson] caf\xe9\n")
    palace.write(LESSONS, f"- [lesson] x ^{A}\n- [lessn] y\n- [lesson] z ^{A}\n")
    palace.write(PATH, "nonsense\n" + event("reinforced", A, -1, "1", cue="explicit"))
    state = load(palace)
    assert [(p.path, p.line, p.grade) for p in state.problems] == [
        (PATH, 1, "error"),
        ("palace/topics/b.md", 1, "error"),
        (LESSONS, 2, "error"),
        (LESSONS, 3, "error"),
    ]
    assert [(m.id, m.evidence) for m in state.memories] == [(A, 2)]


def test_find_guesses_nothing(palace: Palace) -> None:
    """With or without its mark; an unknown id is refused with the nearest."""
    palace.write(LESSONS, f"- [lesson] x ^{A}\n- [lesson] y\n")
    state = load(palace)
    bare = entry_id("lesson", "y")
    for name, found in ((A, A), (f"^{A}", A), (f" ^{A} ", A), (bare, bare)):
        assert state.find(name).id == found
    for name in (A[:-1], A.upper(), "", "x"):
        with pytest.raises(Refused, match="no memory has the id"):
            state.find(name)
    with pytest.raises(Refused, match=f"did you mean {A}"):
        state.find(A[:-1])


def test_an_id_that_two_files_have(palace: Palace) -> None:
    """With other texts neither is meant; with one text the first is."""
    palace.write(LESSONS, f"- [lesson] x ^{A}\n- [lesson] y ^{B}\n")
    palace.write("palace/topics/other.md", f"- [lesson] z ^{A}\n- [lesson] Y. ^{B}\n")
    state = load(palace)
    with pytest.raises(
        Refused, match=rf"^{LESSONS}:1 and palace/topics/other.md:1 both have the id {A}"
    ):
        state.find(A)
    assert state.find(B).path == LESSONS
    assert len(state.memories) == 2


LOG = (
    event("remembered", A, -30, "1", category="lesson", text="old", cue="explicit")
    + event("reinforced", A, -9, "2", cue="explicit")
)  # fmt: skip


@pytest.mark.parametrize(
    "files",
    [
        {LESSONS: f"- [lesson] old ^{A}\n"},
        {LESSONS: f"# T\n\ntext\n\n* [lesson]  quite another text  ^{A}\n"},
        {LESSONS: f"---\ntype: topic\n---\r\n\r\n- [lesson] old ^{A}\r\n"},
        {"palace/topics/moved/here.md": f"    + [lesson] old ^{A}\n"},
        {LESSONS: f"- [lesson] new\n- [lesson] other\n- [lesson] old ^{A}"},
    ],
    ids=["as it was", "edited", "crlf", "moved", "lines before it"],
)
def test_an_id_keeps_its_evidence(palace: Palace, files: dict[str, str]) -> None:
    """Through edits, moves to another line or file, and other line ends."""
    for path, text in files.items():
        palace.write(path, text)
    palace.write(PATH, LOG)
    memory = load(palace).find(A)
    assert (memory.evidence, memory.cue, memory.days(NOW)) == (2, "explicit", 9)
    assert memory.created == NOW - 30 * DAY
    assert memory.strength == pytest.approx(math.exp(-9 / 60) * math.log(3))


def test_a_line_that_lost_its_id_is_known_by_its_text(palace: Palace) -> None:
    """As long as it says what its id was made of."""
    key = entry_id("lesson", "old")
    palace.write(LESSONS, "- [lesson] Old.\n")
    palace.write(PATH, LOG.replace(A, key))
    assert load(palace).find(key).evidence == 2


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "---\nupdated: 2026-11-20\ncreated: 2026-01-01\n---\n",
            datetime(2026, 11, 20, tzinfo=UTC),
        ),
        ("---\ncreated: 2026-01-01T10:00:00Z\n---\n", datetime(2026, 1, 1, 10, tzinfo=UTC)),
        ("---\nupdated: 2030-01-01\n---\n", NOW),
        ("", datetime.fromtimestamp(OLD_NS // 10**9, UTC)),
    ],
)
def test_a_line_by_hand_without_git(palace: Palace, head: str, expected: datetime) -> None:
    """Is as old as the file says, never of the future: `updated`, `created`, else its time."""
    palace.write(LESSONS, head + "- [lesson] x\n- [lesson] y *(pinned)*\n")
    behavioral, explicit = load(palace).memories
    assert (behavioral.created, behavioral.cue, behavioral.evidence) == (expected, "behavioral", 1)
    assert (explicit.created, explicit.cue, explicit.lifecycle) == (expected, "explicit", "active")
    assert not behavioral.written


def test_a_line_by_hand_is_as_old_as_its_commit(palace: Palace) -> None:
    """Each its own, whatever the file says; one that is not committed is as old as the file."""
    repository = Repository(palace.root)
    start = int((NOW - 50 * DAY).timestamp())
    palace.write(LESSONS, "---\nupdated: 2026-11-01\n---\n- [lesson] a\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "a", at=start)
    palace.write(LESSONS, "---\nupdated: 2026-11-01\n---\n- [lesson] b\n- [lesson] a\n")
    repository.git("commit", "--quiet", "-a", "-m", "b", at=start + 86400)
    palace.write(
        LESSONS, "---\nupdated: 2026-11-01\n---\n- [lesson] b\n- [lesson] c\n- [lesson] a\n"
    )
    days = {m.text: m.days(NOW) for m in load(palace).memories}
    assert days == {"a": 50, "b": 49, "c": 28.5}
    assert load(palace, NOW - 49.5 * DAY).memories[0].text == "a"
    assert len(load(palace, NOW - 49.5 * DAY).memories) == 1


def test_at_another_moment(palace: Palace) -> None:
    """Past and future: nothing of what came since, nothing that is not told yet."""
    palace.write(LESSONS, f"- [lesson] a *(pinned)* ^{A}\n- [lesson] b ^{B}\n")
    palace.write(
        PATH,
        event("remembered", A, -20, "1", cue="explicit")
        + event("pinned", A, -5, "2")
        + event("remembered", B, -3, "3", cue="explicit"),
    )
    assert [m.id for m in load(palace).memories] == [A, B]
    [past] = load(palace, NOW - 10 * DAY).memories
    assert (past.id, past.pinned, past.days(NOW - 10 * DAY)) == (A, False, 10)
    future = load(palace, NOW + 60 * DAY)
    assert (future.find(A).strength, future.find(A).lifecycle) == (math.log(2), "active")
    assert future.find(B).strength == pytest.approx(math.exp(-63 / 60) * math.log(2))
    assert load(palace, NOW - 21 * DAY).memories == ()


def test_the_future_is_kept_and_reported(palace: Palace) -> None:
    """An event of a day to come does not count yet; one of a clock an hour ahead does."""
    palace.write(LESSONS, f"- [lesson] a ^{A}\n")
    palace.write(
        PATH,
        event("remembered", A, -20, "1", cue="explicit")
        + event("reinforced", A, 1 / 24, "2", cue="explicit")
        + event("forgotten", A, 400, "3"),
    )
    state = load(palace)
    assert (state.find(A).evidence, state.find(A).forgotten) == (2, False)
    [problem] = problems(state)
    assert problem.startswith(f"{PATH}:3: warning: from the future (2028-")
    assert load(palace, NOW + 401 * DAY).find(A).forgotten


def test_deleting_what_is_derived_changes_no_score(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the kept counts of a long log, at each of its lengths, and after repairs by hand."""
    monkeypatch.setattr(tallies, "KEPT_FROM", 300)
    palace.write(LESSONS, f"- [lesson] a ^{A}\n- [lesson] b *(pinned)* ^{B}\n- [lesson] c\n")
    kinds = ["remembered", "reinforced", "forgotten", "pinned", "restored", "unpinned", "edited"]
    lines = [
        event(
            kinds[n * n % 7],
            (A, B)[n % 3 == 0],
            (n * 37 % 50) - 50 + n / 7,
            f"{n:016x}",
            cue="explicit",
        )
        for n in range(40)
    ]
    log = [""]
    log += ["".join(lines[:n]) for n in range(1, 41)]
    log += ["".join(lines) + "half a li", "".join(lines) + lines[3], "".join(reversed(lines))]
    log += [
        "".join(lines).replace("forgotten", "reinforced"),
        "".join(lines[:9]),
        "nonsense\n" + "".join(lines),
    ]
    for text in log:
        palace.write(PATH, text)
        kept = load(palace), load(palace)
        shutil.rmtree(palace.root / ".palace", ignore_errors=True)
        fresh = load(palace)
        for state in kept:
            assert scores(state) == scores(fresh)
            assert problems(state) == problems(fresh)
            assert state.events == fresh.events
        load(palace)


def test_a_clock_that_goes_back_does_not_depend_on_what_is_derived(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts that were kept later do not tell an earlier clock of what is to come."""
    monkeypatch.setattr(tallies, "KEPT_FROM", 100)
    palace.write(LESSONS, f"- [lesson] a ^{A}\n")
    palace.write(
        PATH,
        event("remembered", A, -20, "1", cue="explicit") + event("forgotten", A, -1, "2"),
    )
    load(palace)
    earlier = NOW - 9 * DAY
    kept = states.load(palace.root, earlier)
    shutil.rmtree(palace.root / ".palace", ignore_errors=True)
    fresh = states.load(palace.root, earlier)
    assert scores(kept) == scores(fresh)
    assert problems(kept) == problems(fresh)


def test_a_renewed_state_is_what_a_new_one_would_be(palace: Palace) -> None:
    """After a write nothing is read again, and nothing differs."""
    palace.write(LESSONS, f"- [lesson] a ^{A}\n- [lesson] by hand\n")
    palace.write(PATH, event("remembered", A, -20, "1", cue="explicit"))
    before = load(palace)
    text = f"- [lesson] a *(pinned)* ^{A}\n- [lesson] b ^{B}\n- [lesson] by hand\n"
    more = event("pinned", A, 0, "2") + event("remembered", B, 0, "3", cue="recurrence")
    palace.write(LESSONS, text)
    palace.write(PATH, event("remembered", A, -20, "1", cue="explicit") + more)
    fresh = load(palace)
    logged = [one for one in fresh.events if one.uid in ("2", "3")]
    renewed = states.renewed(palace.root, before, {LESSONS: text}, logged, NOW)
    assert renewed.memories == fresh.memories
    assert renewed.entries == fresh.entries
    assert renewed.texts == fresh.texts
    assert [e.uid for e in renewed.events] == [e.uid for e in fresh.events]


def test_a_log_that_is_none_stops_everything(palace: Palace) -> None:
    """Without it every score would be wrong."""
    (palace.root / "manifests").mkdir()
    os.mkfifo(palace.root / PATH)
    with pytest.raises(BadInput, match="not a regular file"):
        load(palace)


def test_two_branches_merged_are_their_union(palace: Palace) -> None:
    """Lines and events of both, in whichever direction the merge goes."""
    repository = Repository(palace.root)
    palace.write(".gitattributes", "*.jsonl merge=union text eol=lf\n")
    palace.write(LESSONS, f"- [lesson] a ^{A}\n")
    palace.write(PATH, event("remembered", A, -20, "1", cue="behavioral"))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "first")
    found = []
    for into in ("left", "right"):
        for name, days in (("left", -5), ("right", -9)):
            repository.git("checkout", "--quiet", "-B", name, "main")
            with (palace.root / PATH).open("a") as log:
                log.write(
                    event(
                        "reinforced", A, days, name, cue="explicit" if days == -9 else "recurrence"
                    )
                )
                log.write(
                    event("forgotten" if name == "right" else "reinforced", A, days + 1, name + "2")
                )
            repository.git("commit", "--quiet", "-a", "-m", name)
        repository.git("checkout", "--quiet", into)
        repository.git("merge", "--quiet", "-m", "m", "right" if into == "left" else "left")
        state = load(palace)
        assert problems(state) == []
        found.append(scores(state))
    assert found[0] == found[1]
    assert found[0][0][2] == 4


def test_topic_files_are_found_however_deep(palace: Palace) -> None:
    """Folders within each other have no end."""
    palace.write(LESSONS, "x\n")
    top = palace.root / "palace/topics"
    with deep_folders(top, "x.md") as path:
        assert states.topic_files(palace.root) == [LESSONS, f"palace/topics/{path}"]
