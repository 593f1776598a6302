"""What a hook keeps of its event, and what it never does."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core import fence
from memory_palace.files import queue
from memory_palace.session import capture
from memory_palace.session.events import Event
from support.palaces import NOW, Palace

KEY = "ghp_" + "a1B2c3D4e5" * 4


def kept(root: Path) -> list[dict[str, Any]]:
    """All items in the queue, by session."""
    found = []
    for path in sorted((root / queue.FOLDER).glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return found


def event(name: str, **fields: Any) -> Event:
    """An event of a session of Claude Code."""
    return Event("claude-code", name, session="s1", cwd="/work/demo")._replace(**fields)


def one(root: Path, **fields: Any) -> dict[str, Any]:
    """The only item that an event leaves."""
    assert capture.enqueue(root, event(**fields), NOW) == ()
    (found,) = kept(root)
    return found


def test_a_prompt_is_what_the_user_said(keyword_palace: Palace) -> None:
    """With all that the entry needs, and where it came from."""
    found = one(keyword_palace.root, name="prompt", prompt=" fix it ", turn="t1")
    uid = found.pop("uid")
    assert len(uid) == 16
    assert found == {
        "client": "claude-code",
        "session": "s1",
        "agent": "",
        "cwd": "/work/demo",
        "at": "2026-11-29T12:00:00Z",
        "kind": "entry",
        "role": "user",
        "text": "fix it",
        "ref": "t1",
    }


def test_a_tool_call_has_its_files_and_whether_it_failed(keyword_palace: Palace) -> None:
    """A failure is known by the event or by the output."""
    root = keyword_palace.root
    shell = {"tool": "Bash", "command": "make", "input": {"command": "make"}, "call": "c1"}
    edit = {"file_path": "/work/demo/a.py", "old_string": "1", "new_string": "2"}
    capture.enqueue(root, event("tool_failed", **shell, output="Exit code 2"), NOW)
    capture.enqueue(root, event("after_tool", **shell, output="Exit code: 1\nbad"), NOW)
    capture.enqueue(root, event("after_tool", **shell, output="fine"), NOW)
    files = ("/work/demo/a.py",)
    capture.enqueue(root, event("after_tool", tool="Edit", input=edit, files=files), NOW)
    found = kept(root)
    assert [item.get("failed", False) for item in found] == [True, True, False, False]
    assert [item["tool"] for item in found] == ["Bash", "Bash", "Bash", "Edit"]
    assert found[3]["files"] == ["/work/demo/a.py"]
    assert found[2]["text"] == "$ make\nfine"
    assert found[2]["ref"] == "c1"


def test_an_answer_and_the_end_of_a_subagent(keyword_palace: Palace) -> None:
    """A subagent's session is its own, and over when it stops."""
    root = keyword_palace.root
    capture.enqueue(root, event("stop", message="Done.", turn="t1"), NOW)
    capture.enqueue(root, event("subagent_stop", message="Sub.", agent="a1"), NOW)
    capture.enqueue(root, event("end"), NOW)
    said = {(i["agent"], i["kind"], i.get("text", "")) for i in kept(root)}
    assert said == {
        ("", "entry", "Done."),
        ("", "end", ""),
        ("a1", "entry", "Sub."),
        ("a1", "end", ""),
    }
    assert queue.sessions(root) == ["claude-code.s1", "claude-code.s1.a1"]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "before_tool", "tool": "Bash", "command": "ls"},
        {"name": "start", "source": "startup"},
        {"name": "compact", "source": "auto"},
        {"name": "stop", "message": ""},
        {"name": "after_tool", "tool": ""},
        {"name": "prompt", "prompt": "  \n"},
        {"name": "prompt", "prompt": "<system-reminder>x</system-reminder>"},
        {"name": "prompt", "prompt": fence.fenced("a note", "prompt")},
        {"name": "prompt", "prompt": "go on", "source": "auto-continuation"},
        {"name": "prompt", "prompt": "<task-notification>\n<task-id>1</task-id>"},
    ],
    ids=lambda fields: f"{fields['name']}-{str(fields.get('prompt', ''))[:12].strip()}",
)
def test_what_nobody_said_is_not_kept(keyword_palace: Palace, fields: dict[str, Any]) -> None:
    """Nothing is written, not even a folder made."""
    assert capture.enqueue(keyword_palace.root, event(**fields), NOW) == ()
    assert not (keyword_palace.root / queue.FOLDER).exists()


def test_no_secret_and_nothing_private_reaches_the_disk(keyword_palace: Palace) -> None:
    """Wherever in an event it stands."""
    root = keyword_palace.root
    hidden = f"<private>hidden</private> {KEY}"
    given = {"file_path": f"/x/{KEY}.py", "old_string": hidden, "new_string": hidden}
    for fields in (
        {"name": "prompt", "prompt": hidden},
        {"name": "stop", "message": hidden},
        {"name": "after_tool", "tool": "Edit", "input": given, "files": (f"/x/{KEY}.py",)},
        {"name": "after_tool", "tool": "Bash", "command": hidden, "output": hidden},
        {"name": "tool_failed", "tool": KEY, "input": {"a": [hidden]}, "output": hidden},
    ):
        assert capture.enqueue(root, event(**fields), NOW) == ()
    data = (root / queue.FOLDER / "claude-code.s1.jsonl").read_bytes()
    assert len(kept(root)) == 5
    assert KEY.encode() not in data
    assert b"hidden" not in data


def test_what_cannot_be_made_compact_is_kept_as_it_is(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cleaned all the same."""
    from memory_palace.core import captured

    monkeypatch.setattr(captured, "of_tool", lambda *_: 1 / 0)
    found = one(keyword_palace.root, name="after_tool", tool="Bash", command=f"echo {KEY}")
    assert found["text"] == "Bash echo [SECRET: GitHub token]"


@pytest.mark.parametrize(
    "session", ["a/b/../c", "a\nb", "x" * 10_000, "\udcff\ud800", "..", "CON", "é" * 300]
)
def test_any_session_has_a_file_of_its_own(keyword_palace: Palace, session: str) -> None:
    """Whatever its id is made of; nothing leaves the queue's folder."""
    root = keyword_palace.root
    found = one(root, name="prompt", session=session, agent=session, prompt="fix it")
    assert len(found["session"]) <= capture.LONGEST_ID
    assert [path.parent for path in root.rglob("*.jsonl")] == [root / queue.FOLDER]


def test_a_session_without_an_id_is_named_by_the_day(keyword_palace: Palace) -> None:
    """Some clients have none."""
    found = one(keyword_palace.root, name="prompt", session="", prompt="fix it")
    assert found["session"] == "unnamed-2026-11-29"


SWITCHES: list[tuple[dict[str, str], str, str, bool]] = [
    ({}, "", "", True),
    ({"PALACE_CAPTURE": "on"}, "", "", True),
    ({"PALACE_CAPTURE": "Off"}, "", "", False),
    ({"PALACE_CAPTURE": "of"}, "", "", False),
    ({"PALACE_CAPTURE": "on"}, "capture: off\n", "", False),
    ({}, "embedder: none\ncapture: off  # for now\n", "", False),
    ({}, "capture: 'off'\n", "", False),
    ({}, "capture: on\n", "", True),
    ({}, "capture:\n", "", True),
    ({}, "# capture: off\n", "", True),
    ({}, "embedder: auto  # capture is elsewhere\n", "", True),
    ({}, "{capture: off}\n", "", False),
    ({}, '"capture": off\n', "", False),
    ({}, "{capture: off\n", "", False),
    ({}, "capture: maybe\n", "", False),
    ({}, "rooms:\n  capture: [a.md]\n", "", True),
    ({}, "", "capture: off\n", False),
    ({}, "capture: on\n", "capture: off\n", False),
]


@pytest.mark.parametrize(("environment", "palace", "own", "on"), SWITCHES)
def test_any_of_three_places_switches_it_off(
    keyword_palace: Palace,
    tmp_path: Path,
    environment: dict[str, str],
    palace: str,
    own: str,
    on: bool,
) -> None:
    """And so does what cannot be understood: nothing is kept against somebody's will."""
    keyword_palace.write("palace.yaml", palace)
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    if own:
        (tmp_path / "memory-palace").mkdir()
        (tmp_path / "memory-palace/config.yaml").write_text(own)
    found = capture.state(keyword_palace.root, environment | home)
    assert found.on == on
    assert bool(found.why) != on


def test_switched_off_nothing_is_written(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a folder made."""
    monkeypatch.setenv("PALACE_CAPTURE", "off")
    capture.enqueue(keyword_palace.root, event("prompt", prompt="fix it"), NOW)
    assert not (keyword_palace.root / queue.FOLDER).exists()


def test_a_full_queue_is_a_fault_that_says_what_to_do(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted where faults are; the turn itself is given up."""
    monkeypatch.setattr(queue, "MOST_BYTES", 10)
    (fault,) = capture.enqueue(keyword_palace.root, event("prompt", prompt="fix it"), NOW)
    assert "is full" in fault
    assert "palace observe --auto" in fault


@pytest.mark.parametrize("way", ["file", "link", "read-only"])
def test_a_queue_that_cannot_be_used_is_a_fault(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """One line, with what to do; nothing is raised."""
    place = keyword_palace.root / queue.FOLDER
    place.parent.mkdir()
    if way == "file":
        place.write_text("")
    elif way == "link":
        place.symlink_to(keyword_palace.root)
    else:
        place.parent.chmod(0o500)
        if os.geteuid() == 0:  # who may write everywhere is refused as anybody else would be

            def refused(*_: Any, **__: Any) -> None:
                raise PermissionError(13, "Permission denied")

            monkeypatch.setattr(os, "makedirs", refused)
    try:
        faults = capture.enqueue(keyword_palace.root, event("prompt", prompt="fix it"), NOW)
    finally:
        place.parent.chmod(0o700)
    assert len(faults) == 1
    assert "not captured" in faults[0]
    assert not list(keyword_palace.root.glob("*.jsonl"))


def test_a_clock_that_is_wrong_changes_only_the_moment(keyword_palace: Palace) -> None:
    """The order is that of the lines."""
    root = keyword_palace.root
    for year in (2026, 1970, 2090):
        capture.enqueue(root, event("prompt", prompt="fix it"), datetime(year, 1, 1, tzinfo=UTC))
    assert [item["at"][:4] for item in kept(root)] == ["2026", "1970", "2090"]
