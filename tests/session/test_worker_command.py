"""A worker's command: what it is given, what it may print, and that it never outlives its time."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_palace.session import worker_command
from memory_palace.session.worker_command import WorkerFault


def ask(root: Path, code: str, seconds: float = 20.0, given: Any = None) -> Any:
    """What a command of Python text gives."""
    words = [sys.executable, "-I", "-c", code]
    return worker_command.ask(words, given or {"stage": "observe"}, root, seconds)


def test_it_is_given_json_and_gives_json(tmp_path: Path) -> None:
    """In the palace's folder, in UTF-8."""
    code = "import json,os,sys; print(json.dumps([json.load(sys.stdin), os.getcwd()]))"
    with pytest.raises(WorkerFault, match="no JSON object"):
        ask(tmp_path, code)
    code = "import json,os,sys; print(json.dumps({'a': json.load(sys.stdin), 'b': os.getcwd()}))"
    told = {"stage": "observe", "entries": [{"text": "Grüße ‑ 😀"}]}
    assert ask(tmp_path, code, given=told) == {"a": told, "b": str(tmp_path)}


def test_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of a client that it starts do nothing; our secrets are not there, the user's are."""
    monkeypatch.setenv("PALACE_MILVUS_TOKEN", "user:password")
    monkeypatch.setenv("SOME_API_KEY", "kept")
    monkeypatch.delenv("PALACE_HOOK", raising=False)
    names = ("PALACE_HOOK", "PALACE_MILVUS_TOKEN", "SOME_API_KEY", "PALACE_ROOT", "PALACE_CAPTURE")
    code = f"import json,os; print(json.dumps({{n: os.environ.get(n) for n in {names}}}))"
    assert ask(tmp_path, code) == {
        "PALACE_HOOK": "observe",
        "PALACE_MILVUS_TOKEN": None,
        "SOME_API_KEY": "kept",
        "PALACE_ROOT": str(tmp_path),
        "PALACE_CAPTURE": "off",
    }


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "it printed nothing"),
        ("print('  ')", "it printed nothing"),
        ("print('here you are: {}')", "it printed no JSON"),
        ("print('{} {}')", "it printed no JSON"),
        ("print('[' * 100_000)", "it printed no JSON"),
        ("print('[]')", "it printed no JSON object"),
        ('import sys; sys.stdout.buffer.write(b\'{"a": "\\xff"}\')', "is not UTF-8"),
        ("print('{}'); raise SystemExit(3)", "it ended with 3"),
        ("print('{}'); raise ValueError('no key\\x1b[2J')", r"1 \(ValueError: no key\\x1b\[2J\)"),
        ("print('x' * 3_000_000)", "it printed more than 1 MB"),
        ("while True: print('{}' * 10_000)", "it printed more than 1 MB"),
    ],
)
def test_what_it_may_not_do(tmp_path: Path, code: str, why: str) -> None:
    """Each is told in one line that ends with what to do."""
    with pytest.raises(WorkerFault, match=why) as told:
        ask(tmp_path, code)
    assert "\n" not in str(told.value) and str(told.value).endswith("or remove it")


def test_what_is_late_is_killed_with_all_it_started(tmp_path: Path) -> None:
    """Also what it left in the background when it ended in time."""
    mark = f"sleep 31.{os.getpid()}"
    start = f"import subprocess, time; subprocess.Popen('{mark}'.split()); "
    with pytest.raises(WorkerFault, match=r"it did not end within 0\.7 s"):
        ask(tmp_path, start + "time.sleep(30)", seconds=0.7)
    assert ask(tmp_path, start + "print('{}')") == {}
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert mark not in listed.stdout


def test_it_need_not_read(tmp_path: Path) -> None:
    """More on stdin than a pipe holds is in nobody's way."""
    given = {"entries": ["x" * 1_000_000]}
    assert ask(tmp_path, "print('{}')", given=given) == {}


def test_which_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full path, or a name on the path: never one that the palace could put there."""
    own = tmp_path / "worker"
    own.write_text("#!/bin/sh\necho '{\"a\": 1}'\n")
    own.chmod(0o755)
    for word, why in {
        "./worker": "no full path",
        "bin/worker": "no full path",
        "worker": "there is no program worker",
    }.items():
        with pytest.raises(WorkerFault, match=why):
            worker_command.ask([word], {}, tmp_path, 5)
    with pytest.raises(WorkerFault, match="could not start"):
        worker_command.ask([str(tmp_path / "gone")], {}, tmp_path, 5)
    assert worker_command.ask([str(own)], {}, tmp_path, 5) == {"a": 1}
    monkeypatch.setenv("HOME", str(tmp_path))
    assert worker_command.ask(["~/worker"], {}, tmp_path, 5) == {"a": 1}
    monkeypatch.setenv("PATH", ".")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkerFault, match="there is no program worker"):
        worker_command.ask(["worker"], {}, tmp_path, 5)
