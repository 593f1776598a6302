"""From the queue into ledgers: every entry once, in order, whatever happens meanwhile."""

import contextlib
import os
import resource
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faults.children import KILLED, Child, dying
from files.repository import Repository
from memory_palace.core.ledger import entry_uid
from memory_palace.files import ledgers, queue
from memory_palace.session import capture, drain, items
from session.captured_turns import CLIENT, end, entries, event, files, lines, path, say, texts
from support.palaces import NOW, Palace


def aged(root: Path) -> None:
    """As if nobody had written into the queue for long."""
    past = time.time() - 2 * queue.KEPT_SECONDS
    for name in files(root):
        os.utime(root / queue.FOLDER / name, (past, past))


def test_a_session_becomes_a_ledger(keyword_palace: Palace, tmp_path: Path) -> None:
    """A header, and entries each of which follows the one before."""
    root = keyword_palace.root
    work = Repository(tmp_path / "demo").folder
    cwd = str(work / "src")
    say(root, "fix it", cwd=cwd, turn="t1")
    given = {"file_path": f"{work}/src/a.py", "old_string": "1", "new_string": "2"}
    edit = event("after_tool", tool="Edit", input=given, files=(given["file_path"],), call="c1")
    capture.enqueue(root, edit._replace(cwd=cwd), NOW)
    stop = event("stop", message=f"Changed {work}/src/a.py.", turn="t1", cwd=cwd)
    capture.enqueue(root, stop, NOW)
    done = drain.drain(root, NOW)
    assert done == drain.Drained(3, (path(root),), (), 0, ())
    first, second, third = entries(root)
    assert (first.role, first.text, first.parent) == ("user", "fix it", "")
    assert first.id == entry_uid(CLIENT, "s1", "", "user", "t1")[:12]
    assert (second.role, second.tool, second.files) == ("tool", "Edit", ("src/a.py",))
    assert second.text == "Edit src/a.py\n- 1\n+ 2"
    assert second.id == entry_uid(CLIENT, "s1", "", "tool", "c1")[:12]
    assert (third.role, third.parent) == ("assistant", second.id)
    assert third.ref.startswith("t1:")
    header = next(lines(root))
    assert (header["event"], header["id"], header["client"]) == ("session", "s1", CLIENT)
    assert header["wing"] == "demo"
    assert str(tmp_path) not in (root / path(root)).read_text()


def test_what_was_drained_is_not_drained_again(keyword_palace: Palace) -> None:
    """And what comes later follows it."""
    root = keyword_palace.root
    say(root, "one")
    drain.drain(root, NOW)
    before = (root / path(root)).read_bytes()
    assert drain.drain(root, NOW) == drain.Drained()
    assert (root / path(root)).read_bytes() == before
    say(root, "two")
    assert drain.drain(root, NOW).entries == 1
    assert texts(root) == ["one", "two"]
    aged(root)
    assert drain.drain(root, NOW) == drain.Drained()
    assert files(root) == []


def test_an_item_that_is_read_again_is_the_same_entry(keyword_palace: Palace) -> None:
    """As after a kill between the ledger and the queue."""
    root = keyword_palace.root
    say(root, "one")
    say(root, "two", turn="t2")
    before = (root / queue.FOLDER / "claude-code.s1.jsonl").read_bytes()
    drain.drain(root, NOW)
    (root / queue.FOLDER / "claude-code.s1.jsonl").write_bytes(before)
    assert drain.drain(root, NOW).entries == 0
    assert texts(root) == ["one", "two"]


def test_a_ledger_that_git_replaces_meanwhile_loses_and_repeats_nothing(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the opening and the write; a merge has the same entries, in another order."""
    root = keyword_palace.root
    say(root, "one")
    say(root, "two", turn="t2")
    before = (root / queue.FOLDER / "claude-code.s1.jsonl").read_bytes()
    drain.drain(root, NOW)
    (root / queue.FOLDER / "claude-code.s1.jsonl").write_bytes(before)
    say(root, "three", turn="t3")
    merged = b"".join(reversed((root / path(root)).read_bytes().splitlines(keepends=True)))
    real = os.fsync

    def replaced(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        (root / "merged").write_bytes(merged)
        os.replace(root / "merged", root / path(root))

    monkeypatch.setattr(os, "fsync", replaced)
    done = drain.drain(root, NOW)
    assert "replaced meanwhile" in done.faults[0]
    assert done.left > 0
    assert drain.drain(root, NOW).entries == 1
    assert texts(root) == ["one", "two", "three"]


def test_an_ended_session_is_named(keyword_palace: Palace) -> None:
    """One without a word is none; a subagent's ends by itself."""
    root = keyword_palace.root
    say(root, "one")
    end(root)
    end(root, "empty")
    capture.enqueue(root, event("subagent_stop", "s2", message="Sub.", agent="a1"), NOW)
    done = drain.drain(root, NOW)
    assert set(done.ended) == {path(root), path(root, "s2.a1")}
    assert not (root / path(root, "empty")).exists()


@pytest.mark.parametrize(
    ("seconds", "refs", "expected"),
    [
        (1, ("", ""), 1),
        (1, ("t1", ""), 1),
        (1, ("t1", "t1"), 1),
        (1, ("t1", "t2"), 2),
        (30, ("", ""), 2),
        (-3, ("", ""), 1),
        (30, ("t1", "t1"), 1),
    ],
)
def test_a_turn_is_kept_once_and_what_is_said_twice_twice(
    keyword_palace: Palace, seconds: int, refs: tuple[str, str], expected: int
) -> None:
    """Two installations see one moment; a person says `continue` again later."""
    root = keyword_palace.root
    for ref, at in zip(refs, (NOW, NOW + timedelta(seconds=seconds)), strict=True):
        say(root, "continue", turn=ref, at=at)
    drain.drain(root, NOW)
    assert texts(root) == ["continue"] * expected


def test_two_prompts_of_one_turn_are_two(keyword_palace: Palace) -> None:
    """A person may add something while the agent works: the client's id is the same."""
    root = keyword_palace.root
    for _ in range(2):
        say(root, "fix it", turn="t1")
        say(root, "and the tests", turn="t1")
        drain.drain(root, NOW)
    assert texts(root) == ["fix it", "and the tests"]


def test_what_a_subagent_said_is_no_entry_of_its_sessions(keyword_palace: Palace) -> None:
    """In the same turn and in the same words: their ids are not the same."""
    root = keyword_palace.root
    stop = event("stop", message="All tests pass.", turn="t1")
    capture.enqueue(root, stop, NOW)
    capture.enqueue(root, stop._replace(name="subagent_stop", agent="a1"), NOW)
    drain.drain(root, NOW)
    (own,), (subs,) = entries(root), entries(root, "s1.a1")
    assert own.text == subs.text
    assert own.id != subs.id


def test_what_a_person_wrote_stays_as_it_is(keyword_palace: Palace, tmp_path: Path) -> None:
    """Also a path of this machine, which is one in what the agent said."""
    root = keyword_palace.root
    work = Repository(tmp_path / "demo").folder
    say(root, f"look at {work}/a.py", cwd=str(work), turn="t1")
    stop = event("stop", message=f"I looked at {work}/a.py.", turn="t1", cwd=str(work))
    capture.enqueue(root, stop, NOW)
    drain.drain(root, NOW)
    assert texts(root) == [f"look at {work}/a.py", "I looked at a.py."]


def test_sessions_at_once_have_ledgers_of_their_own(keyword_palace: Palace) -> None:
    """Two of one agent, and ids that are no file's names."""
    root = keyword_palace.root
    ids = ["s1", "s2", "a/../b", "a\nb", "x" * 10_000, "\udcff", "S1"]
    for number in range(3):
        for session in ids:
            say(root, f"{number} of {session[:5]!r}", session)
    assert drain.drain(root, NOW).entries == 3 * len(ids)
    every = ledgers.every(root)
    assert len(every) == len(ids)
    for one in every:
        assert len(ledgers.load(root, one).ledger.entries) == 3


def test_a_clock_that_jumps_changes_no_order(keyword_palace: Palace) -> None:
    """The order is that of the lines."""
    root = keyword_palace.root
    for number, year in enumerate((2026, 1990, 2080, 2026)):
        say(root, f"turn {number}", at=datetime(year, 1, 1, tzinfo=UTC))
        drain.drain(root, NOW)
    assert texts(root) == [f"turn {number}" for number in range(4)]


JUNK = [
    b"",
    b"{",
    b"null",
    b"[1]",
    b'{"kind": "entry"}',
    b'{"kind": "entry", "client": "c", "session": "s", "uid": "x", "role": "user", "text": "t"}',
    b'{"kind": "entry", "client": 1, "session": "s"}',
    b'{"kind": "end", "client": "...", "session": "s"}',
    b'{"kind": "other", "client": "c", "session": "s"}',
    b"\xff\xfe\x00",
    b"[" * 100_000,
]


def test_what_is_no_item_is_counted_and_passed_over(keyword_palace: Palace) -> None:
    """Torn by a kill, or somebody else's."""
    root = keyword_palace.root
    say(root, "one")
    for line in JUNK:
        queue.put(root, "claude-code.s1", line)
    say(root, "two")
    done = drain.drain(root, NOW)
    assert texts(root) == ["one", "two"]
    assert done.faults[0].startswith(f"{len(JUNK) - 1} torn lines")
    assert done.left == 0


def test_a_line_that_never_ends_is_given_up(keyword_palace: Palace) -> None:
    """Once no hook can be writing it any more."""
    root = keyword_palace.root
    say(root, "one")
    with (root / queue.FOLDER / "claude-code.s1.jsonl").open("ab") as file:
        file.write(b'\n{"kind": "entry", "te')
    assert drain.drain(root, NOW).faults == ()
    aged(root)
    done = drain.drain(root, NOW)
    assert "1 torn line " in done.faults[0]
    assert (files(root), done.left) == ([], 0)


def test_what_fails_to_become_an_entry_is_kept_as_it_came(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Role and text, for any fault of ours."""
    root = keyword_palace.root
    monkeypatch.setattr(items, "relative", lambda *_: 1 / 0)
    call = event("after_tool", tool="Edit", input={"file_path": "a"}, files=("a",), call="c1")
    capture.enqueue(root, call, NOW)
    drain.drain(root, NOW)
    (one,) = entries(root)
    assert (one.role, one.text, one.files) == ("tool", "Edit a", ())


def test_a_second_drainer_leaves(keyword_palace: Palace) -> None:
    """What waits is then the first one's."""
    root = keyword_palace.root
    say(root, "one")
    with queue.only_one(root):
        done = drain.drain(root, NOW)
    assert done.entries == 0
    assert done.left > 0
    assert done.faults == ()


def test_one_ledger_is_in_memory_at_a_time(keyword_palace: Palace) -> None:
    """However many sessions wait."""
    root = keyword_palace.root
    for number in range(4):
        say(root, "one", f"s{number}")
    work = drain._Work(root, NOW, time.monotonic() + 60)
    work.all()
    assert (work.entries, len(work._books)) == (4, 1)


def test_who_may_wait_gets_his_turn(keyword_palace: Palace) -> None:
    """A checkpoint needs what was said until now."""
    root = keyword_palace.root
    say(root, "one")
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with queue.only_one(root):
            held.set()
            leave.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(20)
    threading.Timer(0.1, leave.set).start()
    assert drain.drain(root, NOW, wait_seconds=20).entries == 1
    other.join()


def test_nobody_waits_longer_for_a_writer_of_ledgers(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that starts after a compaction has seconds; what waits is not lost."""
    root = keyword_palace.root
    say(root, "one")
    say(root, "other", "s2")
    waits: list[float] = []
    real = ledgers.locked

    def locked(root: Path, purpose: str, wait_seconds: float = 60.0) -> Any:
        waits.append(wait_seconds)
        return real(root, purpose, min(wait_seconds, 1.0))

    monkeypatch.setattr(ledgers, "locked", locked)
    with real(root, "an import"):
        done = drain.drain(root, NOW, wait_seconds=0.2)
    assert len(waits) == 2
    assert max(waits) <= 0.2
    assert "an import" in done.faults[0]
    assert done.left > 0
    assert drain.drain(root, NOW).entries == 2


def damage_folder(root: Path) -> None:
    """A file where the agent's ledgers should be."""
    (root / "palace/chambers").mkdir()
    (root / "palace/chambers/claude-code").write_text("")


def damage_link(root: Path) -> None:
    """A link in the ledger's place."""
    (root / path(root)).parent.mkdir(parents=True)
    (root / path(root)).symlink_to(root / "palace.yaml")


@pytest.mark.parametrize("damage", [damage_folder, damage_link])
def test_a_ledger_that_cannot_be_written_keeps_its_session_waiting(
    keyword_palace: Palace, damage: Callable[[Path], None]
) -> None:
    """And no other one; once it is mended nothing is missing."""
    root = keyword_palace.root
    damage(root)
    say(root, "one")
    if damage is damage_link:
        say(root, "other", "s2")
    done = drain.drain(root, NOW)
    assert len(done.faults) == 1
    assert "still wait" in done.faults[0]
    assert done.left > 0
    if damage is damage_link:
        assert texts(root, "s2") == ["other"]
        (root / path(root)).unlink()
    else:
        (root / "palace/chambers/claude-code").unlink()
    say(root, "two")
    assert drain.drain(root, NOW).left == 0
    assert texts(root) == ["one", "two"]


def test_a_session_that_nobody_can_drain_holds_up_no_other(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any fault of ours; what it said still waits."""
    root = keyword_palace.root
    say(root, "one")
    say(root, "other", "s2")
    real = items.read

    def read(line: bytes, now: datetime) -> items.Item | None:
        found = real(line, now)
        if found and found.session == "s1":
            raise ValueError("odd")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(items, "read", read)
        done = drain.drain(root, NOW)
    assert texts(root, "s2") == ["other"]
    assert "claude-code.s1 still wait: ValueError: odd" in done.faults[0]
    assert done.left > 0
    drain.drain(root, NOW)
    assert texts(root) == ["one"]


def test_a_full_disk_takes_nothing_from_the_queue(keyword_palace: Palace) -> None:
    """It is said, and all is there once there is room."""
    root = keyword_palace.root
    say(root, "first")
    drain.drain(root, NOW)
    for number in range(20):
        say(root, f"{number} " + "word " * 200, turn=f"t{number}")
    before = (root / path(root)).read_bytes()

    def work() -> int:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
        done = drain.drain(root, NOW)
        return 0 if done.left > 20_000 and "free disk space" in done.faults[0] else 1

    assert Child(work).wait() == 0
    assert (root / path(root)).read_bytes() == before
    drain.drain(root, NOW)
    assert len(texts(root)) == 21


def test_a_full_disk_in_a_hook_is_a_fault(keyword_palace: Palace) -> None:
    """The half line that it leaves spoils no other."""
    root = keyword_palace.root
    say(root, "first")

    def work() -> int:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
        faults = capture.enqueue(root, event("prompt", prompt="x" * 1_000), NOW)
        return 0 if "not captured" in faults[0] else 1

    assert Child(work).wait() == 0
    say(root, "last")
    done = drain.drain(root, NOW)
    assert texts(root) == ["first", "last"]
    assert done.left == 0


def test_killed_at_any_step_no_entry_is_lost_or_counted_twice(tmp_path: Path) -> None:
    """`kill -9` at each call of the library's, at each return, at each touch of a file."""
    counted = tmp_path / "count"

    def fresh(name: str) -> Path:
        root = Palace(tmp_path / name).root
        say(root, "one")
        drain.drain(root, NOW)
        for number in range(3):
            say(root, f"turn {number}", turn=f"t{number % 2}", at=NOW + timedelta(hours=number))
        say(root, "other", "s2")
        return root

    def work(root: Path) -> Callable[[], int]:
        return lambda: len(drain.drain(root, NOW).faults)

    Child(dying(work(fresh("count-root")), 0, counted)).wait()
    steps = int(counted.read_text())
    assert steps > 100
    for number, at in enumerate(range(1, steps + 1, max(1, steps // 45))):
        root = fresh(f"root-{number}")
        assert Child(dying(work(root), at)).wait() in (0, KILLED)
        say(root, "after")
        drain.drain(root, NOW)
        assert texts(root) == ["one", "turn 0", "turn 1", "turn 2", "after"], at
        assert texts(root, "s2") == ["other"], at
        assert queue.waiting(root).bytes == 0


def test_a_hook_that_is_killed_at_any_step_spoils_nothing(tmp_path: Path) -> None:
    """Its own turn is there or not; the others are, and nothing waits for ever."""
    counted = tmp_path / "count"

    def work(root: Path) -> Callable[[], int]:
        prompt = event("prompt", prompt="killed", turn="t1")
        return lambda: len(capture.enqueue(root, prompt, NOW))

    Child(dying(work(Palace(tmp_path / "count-root").root), 0, counted)).wait()
    steps = int(counted.read_text())
    found = set()
    for at in range(1, steps + 1):
        root = Palace(tmp_path / f"root-{at}").root
        assert Child(dying(work(root), at)).wait() in (0, KILLED)
        say(root, "after", turn="t2")
        assert drain.drain(root, NOW).faults == ()
        found.add(tuple(texts(root)))
        assert queue.waiting(root).bytes == 0
    assert found == {("after",), ("killed", "after")}


def test_hooks_and_drainers_at_once(keyword_palace: Palace) -> None:
    """Six processes that put, two that drain all the time: all is there once, in order."""
    root = keyword_palace.root
    stop = root / "stop"

    def put(who: int) -> Callable[[], int]:
        def work() -> int:
            for number in range(15):
                say(root, f"{who} {number}", f"s{who % 2}", turn=f"{who}-{number}")
            return 0

        return work

    def keep_draining() -> int:
        faults = 0
        while not stop.exists():
            faults += len(drain.drain(root, NOW).faults)
            time.sleep(0.005)
        return faults

    drainers = [Child(keep_draining) for _ in range(2)]
    assert [child.wait() for child in [Child(put(who)) for who in range(6)]] == [0] * 6
    stop.touch()
    assert [child.wait() for child in drainers] == [0, 0]
    drain.drain(root, NOW)
    for session in (0, 1):
        found = texts(root, f"s{session}")
        assert len(found) == len(set(found)) == 45
        for who in (session, session + 2, session + 4):
            own = [text for text in found if text.startswith(f"{who} ")]
            assert own == [f"{who} {number}" for number in range(15)]


STEPS = st.lists(st.tuples(st.sampled_from(["put", "hold", "late", "drain", "age", "kill"]),
                           st.integers(0, 2)), max_size=25)  # fmt: skip


@settings(max_examples=60)
@given(STEPS)
@example([("put", 0), ("age", 0), ("hold", 0), ("drain", 0), ("late", 0)])
def test_whatever_the_interleaving_each_entry_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """Hooks that hold a file while it is renamed, drainers that die before any of their steps."""
    root = Palace(tmp_path_factory.mktemp("palace") / "root").root
    held: dict[int, int] = {}
    put: list[str] = []
    (root / queue.FOLDER).mkdir(parents=True)

    def late(session: int, handle: int) -> None:
        said = f"late {len(put)}"
        shared = event("prompt", f"s{session}", prompt=said)
        (item,) = capture.items(shared, NOW)
        os.write(handle, b"\n" + capture.line(item) + b"\n")
        os.close(handle)
        put.append(said)

    for what, session in steps:
        if what == "put":
            put.append(f"put {len(put)}")
            say(root, put[-1], f"s{session}")
        elif what == "hold" and session not in held:
            place = root / queue.FOLDER / f"claude-code.s{session}.jsonl"
            held[session] = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        elif what == "late" and session in held:
            late(session, held.pop(session))
        elif what == "age" and not held:  # a hook is killed long before
            aged(root)
        elif what == "drain":
            drain.drain(root, NOW)
        elif what == "kill":
            _die_at(root, session)
    for session, handle in held.items():
        late(session, handle)
    drain.drain(root, NOW)
    found = [text for session in range(3) for text in texts(root, f"s{session}")]
    assert sorted(found) == sorted(put)
    assert queue.waiting(root).bytes == 0


class _Died(BaseException):
    """Instead of a signal: nothing below catches it."""


def _die_at(root: Path, step: int) -> None:
    """A drain that ends right before it appends, right after, or before it notes that."""
    with pytest.MonkeyPatch.context() as patch:
        real = ledgers.append

        def append(*arguments: Any) -> None:
            if step:
                real(*arguments)
            raise _Died

        def mark(*_: Any) -> None:
            raise _Died

        if step < 2:
            patch.setattr(ledgers, "append", append)
        else:
            patch.setattr(queue, "mark", mark)
        with contextlib.suppress(_Died):
            drain.drain(root, NOW)


@pytest.mark.parametrize(
    ("file", "cwd", "project", "expected"),
    [
        ("/w/demo/src/a.py", "/w/demo", "/w/demo", "src/a.py"),
        ("a.py", "/w/demo/src", "/w/demo", "src/a.py"),
        ("../a.py", "/w/demo/src", "/w/demo", "a.py"),
        ("/etc/ssh/config", "/w/demo", "/w/demo", "ssh/config"),
        ("/home/me/notes/x/y.md", "/w/demo", "/w/demo", "x/y.md"),
        ("../../other/b.py", "/w/demo/src", "/w/demo", "other/b.py"),
        ("src/a.py", "", "", "src/a.py"),
        ("../up/a.py", "", "", "up/a.py"),
        ("/w/demo", "/w/demo", "/w/demo", "."),
    ],
)
def test_files_are_named_from_the_project(file: str, cwd: str, project: str, expected: str) -> None:
    """Or by their last two parts: nothing of the machine is in a ledger."""
    assert items.relative(file, cwd, project) == expected


def test_sessions_whose_long_ids_begin_alike_are_two(keyword_palace: Palace) -> None:
    """An id is cut, and what is gone of it still counts."""
    root = keyword_palace.root
    for last in "ab":
        say(root, f"said in {last}", "x" * 300 + last)
    drain.drain(root, NOW)
    assert len(ledgers.every(root)) == 2


def test_a_file_with_two_spellings_is_one(keyword_palace: Palace) -> None:
    """However a client names it."""
    root = keyword_palace.root
    call = event("after_tool", tool="Edit", input={"file_path": "a.py"}, call="c1", cwd="/w/demo")
    capture.enqueue(root, call._replace(files=("a.py", "/w/demo/a.py", "./a.py")), NOW)
    drain.drain(root, NOW)
    (one,) = entries(root)
    assert one.files == ("a.py",)


def test_places_of_the_machine_go_out_of_a_text() -> None:
    """The project's folder and the home folder; not what only begins like them."""
    text = "cd /w/demo && cat /w/demo/a.py /w/demo2/b /home/me/.x /home/me /home/men"
    said = items.without_places(text, "/w/demo", "/home/me")
    assert said == "cd . && cat a.py /w/demo2/b ~/.x ~ /home/men"
    assert items.without_places(text, "/", "") == text
