"""Transcripts into ledgers: everything once, whatever came before."""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core.errors import BadInput
from memory_palace.core.ledger import Ledger, branch
from memory_palace.files import ledgers
from memory_palace.session import capture, drain, imports
from memory_palace.session.imports import Imported
from session.spoken import CWD, SAMPLES, SESSION, START, TALK, Spoken, Step, write
from support.palaces import NOW, SCRIPTS, Palace

LAMP = Spoken(
    *TALK,
    Step("user", "continue"),
    Step("say", "Done."),
    Step("answer", "Done."),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    return Palace(tmp_path / "root").root


def bring(root: Path, file: Path, **more: object) -> Imported:
    """One import."""
    return imports.import_transcript(root, file, NOW, **more)  # type: ignore[arg-type]


def ledger(root: Path, path: str) -> Ledger:
    """The ledger, in which every line counts."""
    loaded = ledgers.load(root, path)
    assert not loaded.problems
    return loaded.ledger


def said(root: Path, path: str) -> list[tuple[str, str]]:
    """Role and text along the branch, which has all entries."""
    found = ledger(root, path)
    line = branch(found)
    assert len(line) == len(found.entries)
    return [(one.role, one.text) for one in line]


def hooked(root: Path, spoken: Spoken, *numbers: int) -> None:
    """What hooks capture of steps."""
    for number in numbers:
        event = spoken.event(number)
        if event:
            assert capture.enqueue(root, event, spoken.at(number)) == ()
    assert not drain.drain(root, NOW).faults


def expected(spoken: Spoken) -> Counter[tuple[str, str]]:
    """Role and text of all steps, each as often as it was said, without what memory injected."""
    roles = {"user": "user", "tool": "tool"}
    said = ((roles.get(s.kind, "assistant"), s.text.replace(OWN, "")) for s in spoken.steps)
    return Counter(
        (role, f"$ {text}".strip() + "\nok" if role == "tool" else text)
        for role, text in said
        if role == "tool" or text
    )


@pytest.mark.parametrize(
    ("name", "wing", "number", "forked"),
    [
        ("claude-code", "project", 15, ""),
        ("claude-code-fork", "project", 9, "85fd57d2-6f54-4bac-9097-972ae5f848b1"),
        ("claude-code-agent", "project", 3, ""),
        ("codex", "project", 12, ""),
        ("codex-fork", "project", 2, "01a22c28-1c0d-70c2-8764-e701be8185c2"),
        ("pi", "project", 13, ""),
        ("pi-fork", "project", 8, "01a22c28-21d1-72bd-9441-2385ebf49e43"),
    ],
)
def test_real_transcripts_are_brought_in_once(
    root: Path, name: str, wing: str, number: int, forked: str
) -> None:
    """Each client's sample: all of it is on one branch, and the second time nothing is new."""
    done = bring(root, SAMPLES / f"{name}.jsonl")
    assert (done.added, done.there) == (number, 0)
    assert len(said(root, done.path)) == number
    header = ledger(root, done.path).header
    assert header is not None
    assert (header.client, header.wing) == (done.client, wing)
    assert header.forked_from == forked
    before = (root / done.path).read_bytes()
    again = bring(root, SAMPLES / f"{name}.jsonl")
    assert (again.added, again.there, again.path) == (0, number, done.path)
    assert (root / done.path).read_bytes() == before


def test_nothing_of_the_machine_is_in_the_ledger(root: Path) -> None:
    """Files are relative to the project, and its folder is in no text of tools and agents."""
    done = bring(root, SAMPLES / "claude-code.jsonl")
    assert "/home/user" not in (root / done.path).read_text()
    files = {file for one in ledger(root, done.path).entries.values() for file in one.files}
    assert files == {"lamp.py"}


def test_a_windows_path_is_made_relative_too(root: Path, tmp_path: Path) -> None:
    """A session of another system: its files are below its folder."""
    call = {"type": "tool_use", "id": "c", "name": "Edit"}
    call |= {"input": {"file_path": r"C:\Users\me\demo\src\a.py", "old_string": "1"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "changed"}
    shared = {"sessionId": SESSION, "cwd": r"C:\Users\me\demo"}
    rows = [
        shared | {"type": "assistant", "uuid": "a", "message": {"content": [call]}},
        shared | {"type": "user", "uuid": "b", "message": {"content": [result]}},
    ]
    write(tmp_path / "t.jsonl", rows)
    done = bring(root, tmp_path / "t.jsonl")
    found = ledger(root, done.path)
    assert [one.files for one in found.entries.values()] == [("src/a.py",)]
    assert found.header is not None and found.header.wing == "demo"


def test_a_subagents_transcript_has_a_ledger_of_its_own(root: Path) -> None:
    """The session's name has the subagent's in it, as capture names it."""
    done = bring(root, SAMPLES / "claude-code-agent.jsonl")
    header = ledger(root, done.path).header
    assert header is not None
    assert header.session == "85fd57d2-6f54-4bac-9097-972ae5f848b1.a8f74ac9f0932dc74"
    assert done.path == ledgers.path_of(root, "claude-code", header.session)


def test_what_grows_is_added_and_nothing_else(root: Path, tmp_path: Path) -> None:
    """Every prefix in turn: each step is appended once, in its order."""
    file = tmp_path / "t.jsonl"
    for last in range(1, len(LAMP.steps) + 1):
        done = bring(root, LAMP.write(file, last=last))
        assert (done.added, done.there) == (1, last - 1)
    assert [text for _, text in said(root, done.path)] == [
        f"$ {s.text}\nok" if s.kind == "tool" else s.text for s in LAMP.steps
    ]


def test_a_rotated_and_a_truncated_file_add_and_take_nothing(root: Path, tmp_path: Path) -> None:
    """A file that begins late, one that ends early, one that repeats itself."""
    whole = bring(root, LAMP.write(tmp_path / "t.jsonl"))
    before = (root / whole.path).read_bytes()
    for name, rows in {
        "late": [*LAMP.records(first=5)],
        "early": [*LAMP.records(last=3)],
        "twice": [*LAMP.records(), *LAMP.records()],
    }.items():
        write(tmp_path / f"{name}.jsonl", rows)
        assert bring(root, tmp_path / f"{name}.jsonl").added == 0
    assert (root / whole.path).read_bytes() == before


def test_a_rotated_file_goes_on_with_new_words_that_were_said_before(
    root: Path, tmp_path: Path
) -> None:
    """The second `continue` is one of its own, though only the new file has it."""
    bring(root, LAMP.write(tmp_path / "a.jsonl", last=6))
    done = bring(root, LAMP.write(tmp_path / "b.jsonl", first=6))
    assert (done.added, done.there) == (3, 0)
    found = ledger(root, done.path).entries.values()
    assert Counter((one.role, one.text) for one in found) == expected(LAMP)


def test_another_machine_adds_what_is_new_to_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other paths and another device: the same entries by the same names."""
    bring(root, LAMP.write(tmp_path / "t.jsonl", last=6))
    monkeypatch.setattr("memory_palace.files.identity.device", lambda: "other")
    rows = [json.dumps(row).replace(CWD, "/Users/me/project") for row in LAMP.records()]
    (tmp_path / "moved.jsonl").write_text("\n".join(rows))
    done = bring(root, tmp_path / "moved.jsonl")
    assert (done.added, done.there) == (3, 6)
    by = Counter(one.by.partition("@")[2] for one in ledger(root, done.path).entries.values())
    assert by["other"] == 3


@pytest.mark.parametrize("named", [True, False])
def test_what_hooks_captured_is_there_once(root: Path, tmp_path: Path, named: bool) -> None:
    """Captured first, then imported: what hooks do not see is added after it, the rest is not."""
    spoken = Spoken(*LAMP.steps, named=named)
    hooked(root, spoken, *range(len(spoken.steps)))
    done = bring(root, spoken.write(tmp_path / "t.jsonl"))
    assert (done.added, done.there) == (2, 7)
    assert Counter(said(root, done.path)) == expected(spoken)
    assert bring(root, tmp_path / "t.jsonl").added == 0


def test_hooks_go_on_after_an_import(root: Path, tmp_path: Path) -> None:
    """What is captured later follows what the import added, and the next import adds to that."""
    hooked(root, LAMP, 0, 2, 3)
    bring(root, LAMP.write(tmp_path / "t.jsonl", last=4))
    hooked(root, LAMP, 4, 5)
    done = bring(root, LAMP.write(tmp_path / "t.jsonl"))
    assert Counter(said(root, done.path)) == expected(LAMP)


def test_a_fork_that_calls_all_prompts_the_same_has_each_once(root: Path, tmp_path: Path) -> None:
    """Claude Code gives the prompts that a fork copied the id of the fork's own first prompt."""
    rows = [row | {"requestSessionId": "before"} for row in LAMP.records()]
    rows = [row | ({"promptId": "one"} if row["type"] == "user" else {}) for row in rows]
    write(tmp_path / "t.jsonl", rows)
    only = Spoken(Step("user", "continue"))
    event = only.event(0)
    assert event is not None
    assert capture.enqueue(root, event._replace(turn="one"), START) == ()
    done = bring(root, tmp_path / "t.jsonl")
    assert (done.added, done.there) == (8, 1)
    assert Counter(said(root, done.path)) == expected(LAMP)
    assert bring(root, tmp_path / "t.jsonl").added == 0


def test_other_branches_of_a_transcript_stay_branches(root: Path, tmp_path: Path) -> None:
    """Going back and saying something else: both are there, the last one is the branch."""
    rows = list(LAMP.records(last=6))
    other = Spoken(*LAMP.steps[:4], Step("user", "Another way."))
    (back,) = other.records(first=4)
    back |= {"uuid": "other", "promptId": "other", "timestamp": "2026-11-29T10:00:00Z"}
    write(tmp_path / "t.jsonl", [*rows, back])
    done = bring(root, tmp_path / "t.jsonl")
    found = ledger(root, done.path)
    assert [one.text for one in branch(found)][-2:] == ["It is lit.", "Another way."]
    parents = {
        one.text: found.entries[one.parent].text for one in found.entries.values() if one.parent
    }
    assert parents["continue"] == parents["Another way."] == "It is lit."
    write(tmp_path / "t.jsonl", [*rows, back, *LAMP.records(first=6)])
    bring(root, tmp_path / "t.jsonl")
    parents = {one.ref: one.parent for one in ledger(root, done.path).entries.values()}
    after = {one.id: one.text for one in ledger(root, done.path).entries.values()}
    assert after[parents["prompt-6"]] == "Done."


def test_what_is_added_late_stays_on_the_branch_beside_another(root: Path, tmp_path: Path) -> None:
    """Hooks captured two branches; what they did not see is older than the end of the other."""
    hooked(root, LAMP, 0, 2, 3, 4, 5)
    path = ledgers.path_of(root, "claude-code", SESSION)
    rows = list(LAMP.records(last=6))
    (back,) = Spoken(*LAMP.steps[:4], Step("user", "Another way.")).records(first=4)
    back |= {"uuid": "other", "promptId": "other", "timestamp": "2026-11-29T10:00:00Z"}
    write(tmp_path / "t.jsonl", [*rows, back])
    bring(root, tmp_path / "t.jsonl")
    found = ledger(root, path)
    texts = [one.text for one in branch(found)]
    assert texts[-2:] == ["Another way.", "I look first."]
    assert "Done." not in texts


def test_lines_that_cannot_be_read_do_not_cut_the_branch(root: Path, tmp_path: Path) -> None:
    """A broken line in the middle: what comes after follows what came before it."""
    lines = [json.dumps(row) for row in LAMP.records()]
    lines[1] = lines[1][:40]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    done = bring(root, tmp_path / "t.jsonl")
    assert done.passed == {"broken": 1}
    assert len(said(root, done.path)) == len(LAMP.steps) - 1


def test_half_a_last_line_is_there_the_next_time(root: Path, tmp_path: Path) -> None:
    """It is passed over, and imported when it is whole."""
    text = "".join(json.dumps(row) + "\n" for row in LAMP.records())
    (tmp_path / "t.jsonl").write_text(text[:-30])
    first = bring(root, tmp_path / "t.jsonl")
    assert (first.added, first.passed) == (8, {"half written": 1})
    (tmp_path / "t.jsonl").write_text(text)
    assert bring(root, tmp_path / "t.jsonl").added == 1


def test_a_tool_that_still_runs_is_left_for_the_next_time(root: Path, tmp_path: Path) -> None:
    """Without its result it is no entry; with it, it is one."""
    rows = list(LAMP.records(last=3))
    write(tmp_path / "t.jsonl", rows[:-1])
    first = bring(root, tmp_path / "t.jsonl")
    assert (first.added, first.passed) == (2, {"without a result yet": 1})
    write(tmp_path / "t.jsonl", rows)
    done = bring(root, tmp_path / "t.jsonl")
    assert said(root, done.path)[-1] == ("tool", "$ cat lamp.py\nok")


def test_secrets_private_words_and_own_injections_stay_out(root: Path, tmp_path: Path) -> None:
    """Everything goes the way that capture goes; what is left empty is counted."""
    key = "ghp_" + "a1B2" * 9
    spoken = Spoken(
        Step("user", f"Use {key} <private>my name</private>"),
        Step("say", '<palace-memory kind="wake">\nold\n</palace-memory>'),
        Step("tool", f"curl -H {key}"),
    )
    done = bring(root, spoken.write(tmp_path / "t.jsonl"))
    text = (root / done.path).read_text()
    assert (done.added, done.passed) == (2, {"empty": 1})
    assert not any(word in text for word in (key, "my name", "palace-memory"))


def test_a_dry_run_writes_nothing_and_counts_the_same(root: Path, tmp_path: Path) -> None:
    """Neither into an empty ledger nor beside what was captured."""
    file = LAMP.write(tmp_path / "t.jsonl")
    assert bring(root, file, dry_run=True)[2:4] == (9, 0)
    assert not ledgers.every(root)
    hooked(root, LAMP, 0, 2, 3)
    before = {path: (root / path).read_bytes() for path in ledgers.every(root)}
    assert bring(root, file, dry_run=True)[2:4] == (6, 3)
    assert {path: (root / path).read_bytes() for path in ledgers.every(root)} == before
    assert bring(root, file)[2:4] == (6, 3)


def test_an_import_that_is_killed_goes_on_where_it_was(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any number of written batches, the next run brings the rest."""
    monkeypatch.setattr("memory_palace.session.import_writing.BATCH", 2)
    write_lines = ledgers.append
    left = 3

    def append(*arguments: object) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        write_lines(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ledgers, "append", append)
    with pytest.raises(KeyboardInterrupt):
        bring(root, LAMP.write(tmp_path / "t.jsonl"))
    monkeypatch.setattr(ledgers, "append", write_lines)
    done = bring(root, tmp_path / "t.jsonl")
    assert (done.added, done.there) == (3, 6)
    assert Counter(said(root, done.path)) == expected(LAMP)


def test_what_waits_in_the_queue_is_there_first(root: Path, tmp_path: Path) -> None:
    """Captured turns that nobody drained yet are not brought in beside."""
    spoken = Spoken(*LAMP.steps, named=False)
    for number in (0, 2, 3):
        event = spoken.event(number)
        assert event is not None
        capture.enqueue(root, event, spoken.at(number))
    done = bring(root, spoken.write(tmp_path / "t.jsonl", last=4))
    assert (done.added, done.there) == (1, 3)


def test_a_session_without_an_id_is_called_after_its_day(root: Path, tmp_path: Path) -> None:
    """Or after the file, where its name has an id."""
    row = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-11-28T09:00:00Z"}
    row |= {"message": {"role": "user", "content": "Hello lamp."}}
    write(tmp_path / "old.jsonl", [row])
    write(tmp_path / f"2026_{SESSION}.jsonl.1", [row])
    assert bring(root, tmp_path / "old.jsonl").path.endswith("/unnamed-2026-11-28.jsonl")
    assert bring(root, tmp_path / f"2026_{SESSION}.jsonl.1").path.endswith(f"/{SESSION}.jsonl")


@pytest.mark.parametrize(
    ("text", "client", "why"),
    [
        ("", "auto", "is empty"),
        ('{"half', "auto", "has no whole record"),
        ('{"a": 1}\nplain\n', "auto", "is no transcript: name a transcript of Claude Code"),
        (
            '{"type": "session", "id": "a", "cwd": "/"}',
            "codex",
            "is no transcript of codex, but of pi",
        ),
    ],
)
def test_what_is_no_transcript_is_refused(
    root: Path, tmp_path: Path, text: str, client: str, why: str
) -> None:
    """The message names the file and says what was expected; nothing is written."""
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(BadInput, match=f"t.jsonl {why}"):
        bring(root, tmp_path / "t.jsonl", client=client)
    assert not ledgers.every(root)


def test_a_chamber_of_choice(root: Path, tmp_path: Path) -> None:
    """`agent` says whose ledger it is."""
    done = bring(root, LAMP.write(tmp_path / "t.jsonl"), agent="Keeper")
    assert done.path.startswith("palace/chambers/keeper/ledger/")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on memory there")
def test_sixty_megabytes_fit_into_bounded_memory(tmp_path: Path) -> None:
    """A transcript of 60 MB and a line of 50, in a process that may have 60 MB more than it has
    after its imports."""
    root = Palace(tmp_path / "root").root
    call, result = list(LAMP.records())[2:4]
    with (tmp_path / "t.jsonl").open("w") as file:
        for number in range(600):
            rows = (
                json.dumps(call),
                json.dumps(result | {"toolUseResult": {"stdout": "lamp " * 20_000}}),
            )
            file.writelines(row.replace("-2", f"-2{number}") + "\n" for row in rows)
        file.write('{"x": "' + "x" * (50 << 20) + '"}\n')
    code = (
        "import resource, sys\n"
        "from datetime import UTC, datetime\n"
        "from pathlib import Path\n"
        "from memory_palace.core import captured\n"
        "from memory_palace.session import drain, imports\n"
        "captured.said('x <y> sk-1')\n"
        "used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20),) * 2)\n"
        "root, file = map(Path, sys.argv[1:])\n"
        "found = imports.import_transcript(root, file, datetime.now(UTC))\n"
        "print(found.added, dict(found.passed))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(root), str(tmp_path / "t.jsonl")],
        env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "600 {'over 10 MB': 1}\n", ran.stderr


OWN = '<palace-memory kind="wake">\nold\n</palace-memory>'
STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["user", "say", "tool", "answer"]),
        st.sampled_from(["continue", "Done.", "ls", OWN]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40)
@given(steps=STEPS, named=st.booleans(), data=st.data())
def test_nothing_is_lost_or_counted_twice(
    steps: list[Step], named: bool, data: st.DataObject
) -> None:
    """Hooks and imports of any parts (from a prompt on) in any order, then all of it: each step is
    there once, and all are on one branch."""
    spoken = Spoken(Step("user", "Begin."), *steps, named=named)
    number = len(spoken.steps)
    prompts = [n for n, step in enumerate(spoken.steps) if step.kind == "user"]
    with tempfile.TemporaryDirectory() as folder:
        root = Palace(Path(folder) / "root").root
        file = Path(folder) / "t.jsonl"
        captured = 0
        for _ in range(data.draw(st.integers(0, 4))):
            if data.draw(st.booleans()):
                more = data.draw(st.integers(captured, number))
                hooked(root, spoken, *range(captured, more))
                captured = more
            else:
                first = data.draw(st.sampled_from(prompts))
                last = data.draw(st.integers(first + 1, number))
                bring(root, spoken.write(file, first, last))
        hooked(root, spoken, *range(captured, number))
        done = bring(root, spoken.write(file))
        assert Counter(said(root, done.path)) == expected(spoken)
        assert bring(root, file).added == 0


@settings(max_examples=30)
@given(parents=st.lists(st.integers(0, 8), max_size=8), data=st.data())
def test_a_tree_keeps_its_shape_however_it_grows(parents: list[int], data: st.DataObject) -> None:
    """A person goes back again and again; each turn follows the one that it follows there."""
    (row,) = Spoken(Step("user", "Light it.")).records()
    rows = [row]
    for number, parent in enumerate(parents, start=1):
        uuid, before = f"step-{number}", f"step-{min(parent, number - 1)}"
        rows.append(row | {"uuid": uuid, "parentUuid": before, "promptId": f"prompt-{number}"})
    with tempfile.TemporaryDirectory() as folder:
        root = Palace(Path(folder) / "root").root
        file = Path(folder) / "t.jsonl"
        for last in sorted(data.draw(st.lists(st.integers(1, len(rows)), max_size=3))):
            write(file, rows[:last])
            bring(root, file)
        write(file, rows)
        found = ledger(root, bring(root, file).path).entries
        names = {one.id: one.ref.replace("prompt", "step") for one in found.values()}
        assert {names[one.id]: names.get(one.parent) for one in found.values()} == {
            one["uuid"]: one["parentUuid"] for one in rows
        }
