"""The warm server in a process of its own: the same answers, in step, gone when it should be."""

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed import minilm
from memory_palace.index import catalog as catalogs
from memory_palace.search.query import Query
from memory_palace.serve import client, place, process, wire
from memory_palace.serve.server import Server
from serve.running import begin, end, questions, serving, state_of, status, until
from support.palaces import NOW, SCRIPTS, Palace, Ran

ASKED = [
    ("amber",),
    ("--format", "jsonl", "--details", "amber ledge"),
    ("--format", "jsonl", "-k", "1", "--neighbors", "0", "amber"),
    ("--format", "files", "ember Grüße 記憶"),
    ("--details", "--chunks", "birch"),
    ("--format", "jsonl", "--archived", "amber"),
    ("--tag", "stone", "--since", "2026-11-01"),
    ("--room", "nowhere"),
    ("--type", "rule", "amber"),
    ("zzzz",),
    ("?!",),
    (),
    ("--raw", "amber"),
    ("--until", "2020-01-01"),
    ("amber \udc80 \x00 \u202e",),
    ("y" * 100_001,),
]


@pytest.fixture
def short(tmp_path: Path) -> Iterator[Path]:
    """A folder whose path fits into a socket's name, whatever the tests' own is called."""
    with tempfile.TemporaryDirectory(prefix="pal") as folder:
        yield Path(folder).resolve() / "root"


def apart(palace: Palace, monkeypatch: pytest.MonkeyPatch, *words: str, stdin: str = "") -> Ran:
    """What the command gives without a server."""
    monkeypatch.setenv("PALACE_SERVE", "off")
    ran = palace.command("query", *words, stdin=stdin)
    monkeypatch.delenv("PALACE_SERVE")
    return ran


@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_the_same_is_printed_with_and_without(
    embedder: str, filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte, on both streams, and the exit code; and the server did answer."""
    if embedder == "minilm" and not (minilm.runnable() and minilm.find(None)):
        pytest.skip("needs the embedded model")
    monkeypatch.setenv("PALACE_EMBEDDER", embedder)
    filled.command("index")
    filled.notes(topics__new="The amber that no index knows.")
    filled.notes(topics__birch="# Birch\n\nAnother line.\n\nThe birch and the amber fjord.")
    batch = "amber\n\nbirch \udc80\nzzzz\n" + "x" * 100_001
    with serving(filled.root):
        for words in ASKED:
            before = questions(filled.root)
            assert filled.command("query", *words) == apart(filled, monkeypatch, *words), words
            assert questions(filled.root) == before + 1
        before = questions(filled.root)
        (filled.root / "batch").write_text(batch, errors="surrogateescape")
        words = ("--batch", str(filled.root / "batch"), "-k", "2")
        assert filled.command("query", *words) == apart(filled, monkeypatch, *words)
        assert questions(filled.root) == before + 5


def test_the_index_and_the_settings_are_read_again(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a build, a change of palace.yaml, a lost index and a broken setting, the server's
    answers are those of a command without it."""

    def same(*words: str) -> str:
        ran = filled.command("query", "--format", "files", *words)
        assert ran == apart(filled, monkeypatch, "--format", "files", *words)
        return ran.out

    with serving(filled.root):
        for number in range(3):
            filled.notes(**{f"topics__new{number}": f"A jetty, number {number}."})
            filled.command("index")
            assert f"new{number}.md" in same("jetty")
        filled.command("index", "--force")
        assert len(same("jetty").splitlines()) == 3
        (filled.root / "palace/archive_basement/older.md").write_text("A jetty of old.")
        filled.command("index")
        assert "older.md" in same("--archived", "jetty")
        filled.write("palace.yaml", "search: {top_k: 1}\n", old=False)
        assert len(same("jetty").splitlines()) == 1
        filled.write("palace.yaml", "index: {exclude: ['**/new1.md']}\n", old=False)
        assert "new1.md" not in same("jetty")
        answered = questions(filled.root)
        filled.write("palace.yaml", "saerch: {top_k: 1}\n", old=False)
        assert filled.command("query", "jetty").code == 2
        filled.write("palace.yaml", "", old=False)
        shutil.rmtree(filled.root / ".palace/index")
        ran = filled.command("query", "--format", "files", "jetty")
        assert "there is no index yet: building it" in ran.err
        assert questions(filled.root) == answered
        assert len(same("jetty").splitlines()) == 3
        assert questions(filled.root) == answered + 1


def test_many_ask_at_once(filled: Palace) -> None:
    """Each of several clients gets its own answers, whole and in order."""
    words = ["amber", "birch", "cedar", "ember", "fjord", "ledge"]
    expected = {word: filled.ask(word) for word in words}
    faults: list[object] = []

    def work(shift: int) -> None:
        try:
            connection = client.connect(filled.root)
            assert connection
            with connection:
                for n in range(12):
                    word = words[(n + shift) % len(words)]
                    assert connection.ask(Query(text=word), NOW) == expected[word]
        except BaseException as fault:
            faults.append(fault)

    with serving(filled.root):
        threads = [threading.Thread(target=work, args=(shift,)) for shift in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not faults
        assert questions(filled.root) == 72


def test_one_wins_a_race(filled: Palace) -> None:
    """Of several that are started at once one serves; the others say so and end."""
    all_ = [begin(filled.root) for _ in range(4)]
    try:
        until(lambda: sum(one.poll() is None for one in all_) == 1, "one winner")
        losers = [one for one in all_ if one.poll() is not None]
        assert [one.wait() for one in losers] == [1, 1, 1]
        for one in losers:
            assert one.stderr
            assert "has a server: `" in one.stderr.read()
        until(lambda: state_of(filled.root) == "ready")
        found = status(filled.root)
        assert found
        assert found.pid in {one.pid for one in all_ if one.poll() is None}
    finally:
        for one in all_:
            end(one)


def test_what_a_dead_server_left_is_replaced(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `kill -9` commands answer by themselves without a word, and a new server can start."""
    expected = apart(filled, monkeypatch, "amber")
    with serving(filled.root) as first:
        first.kill()
        first.wait()
        assert place.address(filled.root)  # what is left looks like a server
        assert not process.is_running(filled.root)
        assert filled.command("query", "amber") == expected
        with serving(filled.root):
            assert filled.command("query", "amber") == expected
            assert questions(filled.root) == 1


def asking(palace: Palace) -> "subprocess.Popen[str]":
    """A real `palace query` that is not waited for."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPTS / "palace.py"), "query", f"--root={palace.root}", "amber"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see who waits")
def test_a_server_that_is_killed_while_a_command_waits(filled: Palace) -> None:
    """The command, connected and waiting, finds the answer by itself."""
    with serving(filled.root) as server:
        server.send_signal(signal.SIGSTOP)  # it will take the connection and say nothing
        command = asking(filled)

        def waits() -> bool:
            if command.poll() is not None:
                return True
            with contextlib.suppress(OSError):
                held = Path(f"/proc/{command.pid}/fd").iterdir()
                return any(os.readlink(one).startswith("socket:") for one in held)
            return False

        until(waits, "a waiting command")
        assert command.poll() is None
        server.kill()
        out, err = command.communicate(timeout=60)
    assert (command.returncode, "amber.md" in out) == (0, True)
    assert err.splitlines()[0].startswith("embedder: ")
    assert len(err.splitlines()) <= 2
    assert "Traceback" not in err


def test_a_server_that_hangs_is_not_waited_for(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command answers by itself with one note; `--stop` ends the hung one by force."""
    expected = apart(filled, monkeypatch, "amber")
    monkeypatch.setattr(client, "FIRST_SECONDS", 0.2)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.3)
    with serving(filled.root) as server:
        server.send_signal(signal.SIGSTOP)
        ran = filled.command("query", "amber")
        assert (ran.code, ran.out) == (expected.code, expected.out)
        assert set(ran.err.splitlines()) - set(expected.err.splitlines()) == {
            "the server gave no answer, so this was found without it: `palace serve --stop` ends it"
        }
        ran = filled.command("serve", "--status")
        assert (ran.code, "does not answer" in ran.out) == (1, True)
        assert filled.command("serve", "--stop").out == "ended\n"
        assert server.wait(60) == -signal.SIGKILL
        assert filled.command("query", "amber") == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(filled: Palace, number: signal.Signals) -> None:
    """Exit 0, a line that says why, and nothing left to connect to."""
    with serving(filled.root) as server:
        server.send_signal(number)
        _, said = server.communicate(timeout=60)
        assert server.returncode == 0
        assert said.splitlines()[-1] == f"ended: {number.name}"
        assert place.address(filled.root) is None
        assert not (place.folder(filled.root) / place.RECORD).exists()


def test_a_signal_while_it_looks_around_counts(filled: Palace) -> None:
    """What comes while the server asks itself whether to end is not lost."""
    server = Server(filled.root, 1000, lambda _: None)

    def looks(_: object) -> str:
        server.stop("asked to, meanwhile")
        return ""

    server._reason = looks  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


def test_it_ends_when_nobody_asks(filled: Palace) -> None:
    """After the idle time; asking for its status does not count."""
    with serving(filled.root, "--idle", "0.03") as server:
        until(lambda: status(filled.root) is None)
        _, said = server.communicate(timeout=60)
        assert (server.returncode, said.splitlines()[-1]) == (0, "ended: idle")


@pytest.mark.parametrize("way", ["removed", "moved", "replaced", "socket removed"])
def test_it_ends_when_its_root_is_gone(filled: Palace, way: str) -> None:
    """Removed, moved away or replaced by another folder: not this server's palace any more."""
    with serving(filled.root) as server:
        if way == "removed":
            shutil.rmtree(filled.root)
        elif way == "socket removed":
            shutil.rmtree(filled.root / ".palace")
        else:
            filled.root.rename(filled.root.with_name("other"))
            if way == "replaced":
                Palace(filled.root)
        _, said = server.communicate(timeout=60)
        assert server.returncode == 0
        assert " is gone" in said.splitlines()[-1]


def test_a_palace_that_was_moved_is_not_answered_for(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes to the socket in the palace's new place is told to find it by himself."""
    with serving(filled.root) as server:
        moved = filled.root.with_name("moved")
        filled.root.rename(moved)
        palace = Palace(moved)
        assert palace.command("query", "amber") == apart(palace, monkeypatch, "amber")
        assert server.wait(60) == 0


def test_it_ends_when_the_toolkit_changes(filled: Palace, tmp_path: Path) -> None:
    """A changed module ends it at once; commands of another copy answer by themselves."""
    kit = tmp_path / "kit/scripts"
    shutil.copytree(SCRIPTS, kit, ignore=shutil.ignore_patterns("__pycache__"))
    with serving(filled.root, scripts=kit) as server:
        ran = filled.command("query", "--format", "files", "amber")
        assert ran.code == 0
        assert ran.err.splitlines()[1:] == [
            "the server has another copy of the toolkit, so this was found without it: "
            "`palace serve --stop` ends it"
        ]
        told = filled.command("serve", "--status")
        assert (told.code, "another toolkit than here" in told.out) == (0, True)
        with (kit / "memory_palace/core/text.py").open("a") as file:
            file.write("# changed\n")
        _, said = server.communicate(timeout=60)
        assert (server.returncode, said.splitlines()[-1]) == (0, "ended: the toolkit has changed")


def test_a_catalog_that_is_lost_is_told_as_without_a_server(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same line and exit 3, whichever class of the index's own says so."""
    words = ("query", "--archived", "--format", "files", "amber")
    with serving(filled.root):
        assert filled.command(*words).code == 0
        for path in (filled.root / ".palace/index").glob(f"{catalogs.BASEMENT}*"):
            path.unlink()
        answered = questions(filled.root)
        connection = client.connect(filled.root)
        assert connection
        with connection, pytest.raises(Missing, match="there is no index yet"):
            connection.ask(Query(text="amber", archived=True), NOW)
        ran = filled.command(*words)
        assert questions(filled.root) == answered + 2
        assert (ran.code, ran) == (3, apart(filled, monkeypatch, *words[1:]))


def test_other_settings_are_no_business_of_the_server(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command with another embedder or user's configuration is not answered by the server."""
    with serving(filled.root):
        monkeypatch.setenv("PALACE_DEVICE", "cpu")
        ran = filled.command("query", "--format", "files", "amber")
        assert ran.code == 0
        assert "the server has another PALACE_DEVICE, so this was found without it" in ran.err
        assert questions(filled.root) == 0


def test_without_an_index_it_says_so(keyword_palace: Palace) -> None:
    """It builds none; the command does, and from then on the server answers."""
    keyword_palace.notes(topics__amber="The amber ledge.")
    with serving(keyword_palace.root, state="there is no index yet"):
        assert not (keyword_palace.root / ".palace/index").exists()
        ran = keyword_palace.command("query", "--format", "files", "amber")
        assert (ran.code, "there is no index yet: building it" in ran.err) == (0, True)
        assert keyword_palace.command("query", "amber").code == 0
        assert questions(keyword_palace.root) == 1


def talk(root: Path, *lines: bytes) -> list[dict[str, Any]]:
    """What the server says to raw lines, signs of life left out, until it closes."""
    where = place.address(root)
    assert where
    said = b""
    with place.connect(where, 10) as connection:
        connection.settimeout(20)
        with contextlib.suppress(OSError):
            for line in lines:
                connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while part := connection.recv(65536):
                said += part
    found = [json.loads(line) for line in said.splitlines()]
    return [one for one in found if "wait" not in one]


def request(of: Path, **fields: Any) -> bytes:
    """A request as the client would send it, but for ``fields``."""
    where = place.address(of)
    assert where
    base = {"op": "ask", "root": str(of), "token": where.token, "like": wire.myself()}
    given = {"query": {"text": "amber"}, "now": NOW.isoformat(), "configured": []}
    return json.dumps({**base, **given, **fields}).encode() + b"\n"


def test_garbage_is_declined_and_harms_nothing(filled: Palace) -> None:
    """No JSON, no object, endless lines, unknown ops and fields: each is named, the next served."""
    root = filled.root
    with serving(root) as server:
        for line, said in (
            (b"GET / HTTP/1.1\r\n\r\n", "no JSON"),
            (b"[" * 100_000 + b"\n", "no JSON"),
            (b"[1]\n", "no object"),
            (b"\xff\xfe\n", "no JSON"),
            (b'{"op": "ask"', "half a line"),
            (b"x" * (wire.MOST_REQUEST + 100_000), "more than"),
            (request(root, op="drop"), "no such op: 'drop'"),
            (request(root, op=["ask"]), "no such op"),
            (request(root, root="/"), "another root"),
            (request(root, like={}), "another protocol"),
            (request(root, like=[1]), "another protocol"),
            (request(root, query={"text": "a", "colour": 1}), "Query has no field `colour`"),
            (request(root, query=None), "Query is no object"),
            (request(root, now="noon"), "datetime is 'noon'"),
            (request(root, configured=["text"]), "settings decide top_k, neighbors only"),
        ):
            replies = talk(root, line)
            assert len(replies) <= 1, line[:60]
            assert said in replies[0]["declined"] if replies else line.startswith(b"x")
        assert server.poll() is None
        good = talk(root, request(root), request(root))
        assert [len(one["ok"]["hits"]) for one in good] == [2, 2]


def test_only_its_user_may_come_to_it(short: Path) -> None:
    """The folder is the user's alone, so is the socket; a folder open to others is not believed."""
    palace = Palace(short)
    palace.notes(topics__amber="The amber ledge.")
    palace.command("index")
    with serving(palace.root):
        folder = place.folder(palace.root)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert (folder / place.SOCKET).is_socket()
        folder.chmod(0o755)
        assert client.connect(palace.root) is None
        folder.chmod(0o700)
        assert questions(palace.root) == 0


def test_where_there_can_be_no_socket_a_port_and_a_token_serve(tmp_path: Path) -> None:
    """A path too long for a socket: loopback, and nothing without the token."""
    palace = Palace(tmp_path / ("deep" * 30))
    palace.notes(topics__amber="The amber ledge.")
    palace.command("index")
    with serving(palace.root) as server:
        where = place.address(palace.root)
        assert where
        assert where.path is None
        assert len(where.token) == 64
        folder = place.folder(palace.root)
        assert stat.S_IMODE((folder / place.ADDRESS).stat().st_mode) == 0o600
        assert palace.command("query", "--format", "files", "amber").code == 0
        assert questions(palace.root) == 1
        for token in ("", "0" * 64, None, "é"):
            for op in ("ask", "status", "stop"):
                (said,) = talk(palace.root, request(palace.root, token=token, op=op))
                assert said == {"declined": "the token is not this server's"}
        (folder / place.ADDRESS).chmod(0o644)
        assert client.connect(palace.root) is None  # as git would have given it
        (folder / place.ADDRESS).chmod(0o600)
        server.terminate()
        assert server.wait(60) == 0
        assert not (folder / place.ADDRESS).exists()


def test_it_writes_to_its_own_folder_only(filled: Palace) -> None:
    """Notes, manifest and index are what they were, whatever is asked."""

    def seen() -> dict[str, bytes]:
        return {
            str(path.relative_to(filled.root)): path.read_bytes()
            for path in sorted(filled.root.rglob("*"))
            if path.is_file()
            and "/.palace/serve/" not in str(path)
            and path.name != "retrieved.jsonl"  # the asking command counts, not the server
            and path.suffix != ".sqlite-shm"
        }

    before = seen()
    with serving(filled.root) as server:
        for words in ASKED:
            filled.command("query", *words)
        server.terminate()
        server.wait(60)
    assert seen() == before


def test_a_root_that_cannot_be_written_has_no_server(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that says why, exit 3."""
    (filled.root / ".palace/serve").write_text("in the way")
    ran = filled.command("serve", "--foreground")
    assert (ran.code, ran.out) == (3, "")
    assert "cannot write" in ran.err
    (filled.root / ".palace/serve").unlink()
    (filled.root / ".palace/serve").symlink_to(filled.root / "palace")
    ran = filled.command("serve", "--foreground")
    assert (ran.code, "symbolic link" in ran.err) == (2, True)
    assert filled.command("query", "--format", "files", "amber").code == 0
    assert os.listdir(filled.root / "palace") == os.listdir(filled.root / ".palace/serve")
