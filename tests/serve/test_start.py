"""When a server is started in the background, and how."""

import os
import signal
from pathlib import Path

import pytest
from filelock import FileLock

from memory_palace.core.errors import BadInput, Missing
from memory_palace.embed import bge_m3
from memory_palace.serve import place, process, start
from serve.running import state_of, status, until
from support.palaces import Palace


@pytest.mark.parametrize(
    ("environment", "started"),
    [
        ({}, {"bge-m3"}),
        ({"PALACE_SERVE": "auto"}, {"bge-m3"}),
        ({"PALACE_SERVE": ""}, {"bge-m3"}),
        ({"CI": "true"}, set()),
        ({"CI": "1"}, set()),
        ({"CI": "false"}, {"bge-m3"}),
        ({"PALACE_SERVE": "off"}, set()),
        ({"PALACE_SERVE": "on"}, {"bge-m3", "minilm", "none"}),
        ({"PALACE_SERVE": "on", "CI": "true"}, {"bge-m3", "minilm", "none"}),
    ],
)
def test_the_policy(environment: dict[str, str], started: set[str]) -> None:
    """By itself only for the embedder that takes seconds to load, and in no CI."""
    known = ("bge-m3", "minilm", "none")
    assert {name for name in known if start.wanted(name, environment)} == started
    assert {bge_m3.NAME} == start.SLOW


def test_another_word_is_refused() -> None:
    """Not guessed."""
    with pytest.raises(BadInput, match="use auto, on or off"):
        start.wanted("minilm", {"PALACE_SERVE": "yes"})


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The roots that a server would have been started for."""
    roots: list[Path] = []
    monkeypatch.setattr(start, "in_background", lambda root, *_: roots.append(root))
    return roots


def test_a_command_starts_one_for_the_next(
    filled: Palace, begun: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its own answer, where it is wanted."""
    filled.command("query", "amber")
    assert not begun
    monkeypatch.setenv("PALACE_SERVE", "on")
    filled.command("query", "--type", "nothing")
    assert begun == [filled.root]


def test_not_where_it_would_be_of_no_use(
    keyword_palace: Palace, begun: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an index, and soon after one was started: it may be on its way, or unable."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    root = keyword_palace.root
    assert not start.afterwards(root, "none")
    keyword_palace.command("index")
    assert start.afterwards(root, "none")
    log = place.make(root) / place.LOG
    log.write_bytes(start._BY_A_COMMAND + b"what it said\n")
    assert not start.afterwards(root, "none")
    os.utime(log, (1, 1))
    assert start.afterwards(root, "none")
    assert begun == [root, root]


def test_nor_while_one_runs(
    filled: Palace, begun: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that does not answer, such as one that is loading, has the place all the same."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    with FileLock(place.make(filled.root) / place.LOCK):
        assert not start.afterwards(filled.root, "none")
    assert start.afterwards(filled.root, "none")
    assert begun == [filled.root]


def test_one_that_dies_at_once_is_not_tried_at_each_question(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command started it, so that the next one waits; a person may try as often as he likes."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert start.afterwards(filled.root, "none")
    assert not start.afterwards(filled.root, "none")
    start.in_background(filled.root, by_hand=True)
    assert start.afterwards(filled.root, "none")


def test_one_that_was_killed_after_a_start_by_hand(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`PALACE_SERVE=on`: the next command starts another at once."""
    try:
        assert filled.command("serve").code == 0
        found = status(filled.root)
        assert found
        os.kill(found.pid, signal.SIGKILL)
        until(lambda: not process.is_running(filled.root), "its end")
        monkeypatch.setenv("PALACE_SERVE", "on")
        assert filled.command("query", "amber").code == 0
        until(lambda: state_of(filled.root) == "ready", "another server")
    finally:
        process.stop(filled.root)


def test_the_log_is_not_written_through_a_link(filled: Palace, tmp_path: Path) -> None:
    """A stranger's repository may hold one: what it leads to stays as it is."""
    other = tmp_path / "other"
    other.write_text("mine")
    (place.make(filled.root) / place.LOG).symlink_to(other)
    with pytest.raises(BadInput, match=r"serve/log in .* is a symbolic link"):
        start.in_background(filled.root)
    assert other.read_text() == "mine"


def test_not_by_itself_for_what_is_soon_gone(
    filled: Palace, begun: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A palace in the folder for temporary files gets a server only where one is asked for."""
    monkeypatch.delenv("CI")
    monkeypatch.setattr("tempfile.tempdir", str(filled.root.parent))
    assert not start.afterwards(filled.root, "bge-m3")
    monkeypatch.setattr("tempfile.tempdir", str(filled.root / "palace"))
    assert start.afterwards(filled.root, "bge-m3")
    assert begun == [filled.root]


def test_what_stands_in_its_way_is_no_fault_of_the_question(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be made: the answer is printed all the same, and nothing is said."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    (filled.root / ".palace/serve").write_text("in the way")
    with pytest.raises(Missing, match="cannot write"):
        start.in_background(filled.root)
    ran = filled.command("query", "--format", "files", "amber")
    assert (ran.code, ran.err) == (0, "embedder: none (keywords only); as configured\n")


def test_a_real_one(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PALACE_SERVE=on`: the first question is answered without, the second by the server; files
    of the palace that are called like modules are not imported."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    for name in ("numpy", "memory_palace", "filelock", "sitecustomize"):
        filled.write(f"{name}.py", "raise SystemExit('a stranger')")
        filled.write(f".palace/serve/{name}.py", "raise SystemExit('a stranger')")
    monkeypatch.chdir(filled.root)
    try:
        first = filled.command("query", "--format", "jsonl", "amber")
        until(lambda: state_of(filled.root) == "ready", "a server")
        second = filled.command("query", "--format", "jsonl", "amber")
        assert second == first
        found = status(filled.root)
        assert found
        assert (found.questions, found.idle_limit_seconds) == (1, 1800)
        log = (place.folder(filled.root) / place.LOG).read_text()
        assert "serving" in log
        assert not start.afterwards(filled.root, "none")
    finally:
        process.stop(filled.root)
    assert not process.is_running(filled.root)
