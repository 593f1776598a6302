"""OpenCode's records as turns: the sample is a real session's export, with a made-up project."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.transcript_opencode import OpenCode, header, message, moment
from memory_palace.core.transcripts import Turn

SAMPLE = Path(__file__).parents[1] / "fixtures" / "transcripts" / "opencode-export.json"


def records() -> list[Any]:
    """The sample's records."""
    data = json.loads(SAMPLE.read_text())
    return [header(data["info"]), *(message(one["info"], one["parts"]) for one in data["messages"])]


def read(rows: list[Any]) -> tuple[list[Turn], OpenCode]:
    """All turns, and the reader afterwards."""
    reader = OpenCode()
    turns = [turn for row in rows for turn in reader.read(row)]
    return [*turns, *reader.rest()], reader


def part(kind: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """A part of a message."""
    return {"id": f"prt_{number}", "type": kind, **more}


def said(*parts: Any, role: str = "user", **info: Any) -> Any:
    """A message."""
    return message({"id": "msg_1", "role": role, "time": {"created": 1_000}, **info}, list(parts))


def test_a_session() -> None:
    """Who spoke and which tools ran, what they gave, which files they changed, when."""
    turns, reader = read(records())
    assert [(t.number, t.parent, t.role) for t in turns] == [
        (1, 0, "user"),
        (2, 1, "assistant"),
        (3, 2, "tool"),
        (4, 3, "tool"),
        (5, 4, "assistant"),
    ]
    assert [t.text for t in turns if t.role != "tool"] == [
        '"Light the lamp, please"',
        "I will look.",
        "Done: the lamp is lit.",
    ]
    assert (turns[2].command, turns[2].text) == ("echo hello; ls", "hello\n")
    assert turns[3].files == ("/home/user/project/a.txt",)
    assert all(turn.at for turn in turns)
    about = reader.about
    assert (about.client, about.cwd, about.version) == (
        *("opencode", "/home/user/project", "1.18.33"),
    )
    assert about.session.startswith("ses_")
    assert set(reader.passed) == {"bookkeeping"}


def test_what_no_person_said_is_passed_over() -> None:
    """Parts that OpenCode made, what the agent thought, a summary, attached files."""
    turns, reader = read(
        [
            said(part("text", text="x", synthetic=True), part("text", 2, text="y", ignored=True)),
            said(part("reasoning", text="z"), part("file"), role="assistant", id="msg_2"),
            said(part("text", text="sum"), role="assistant", id="msg_3", summary=True),
            said(part("new thing"), id="msg_4"),
        ]
    )
    assert not turns
    assert reader.passed == {
        "made by a machine": 2,
        "thinking": 1,
        "attached file": 1,
        "summary": 1,
        'unknown type "new thing"': 1,
    }


def test_a_call_that_runs_waits() -> None:
    """Until its session is read with the result; a failed one says so."""
    running = part("tool", tool="bash", callID="c", state={"status": "running", "input": {}})
    turns, reader = read([said(running, role="assistant")])
    assert (turns, reader.passed) == ([], {"without a result yet": 1})
    for state in (
        {"status": "error", "error": "no"},
        {"status": "completed", "output": "no", "metadata": {"exit": 1}},
    ):
        ended = part("tool", tool="bash", callID="c", state=state)
        turns, _ = read([said(ended, role="assistant")])
        assert [(turn.text, turn.failed) for turn in turns] == [("no", True)]


def test_an_answer_that_is_still_written_waits() -> None:
    """Its text grows in its place: it counts once it is whole, or the session went on."""
    half = part("text", text="Half of", time={"start": 1_000})
    asked = said(part("text", 0, text="Go."), id="msg_0")
    turns, reader = read([asked, said(half, role="assistant")])
    assert [turn.text for turn in turns] == ["Go."]
    assert reader.passed == {"without a result yet": 1}
    whole = part("text", text="Half of it.", time={"start": 1_000, "end": 2_000})
    over = {"time": {"created": 1_000, "completed": 2_000}}
    for answer, text in (
        (said(whole, role="assistant"), "Half of it."),
        (said(half, role="assistant", **over), "Half of"),
        (said(half, role="assistant", error={"name": "MessageAbortedError"}), "Half of"),
        (said(part("text", text="No time."), role="assistant"), "No time."),
    ):
        turns, reader = read([asked, answer])
        assert [turn.text for turn in turns] == ["Go.", text]
        assert not reader.passed
    turns, _ = read([asked, said(half, role="assistant"), said(part("text", text="On."), id="m")])
    assert [turn.text for turn in turns] == ["Go.", "Half of", "On."]


def test_a_subagent_belongs_to_its_session() -> None:
    """It is told by the one above it and its own id."""
    _, reader = read([header({"id": "ses_2", "parentID": "ses_1", "directory": "/d"})])
    assert (reader.about.session, reader.about.agent) == ("ses_1", "ses_2")


@pytest.mark.parametrize("value", [None, "x", True, -1, 0, 1e30, float("nan"), []])
def test_what_is_no_time(value: object) -> None:
    """Gives none."""
    assert moment(value) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@given(info=JSON, parts=JSON)
def test_nothing_that_is_stored_raises(info: object, parts: object) -> None:
    """Whatever stands in the place of a message and its parts."""
    read([{"type": "message", "info": info, "parts": parts}, {"type": "session", "info": info}])
    read([said(*(parts if isinstance(parts, list) else [parts]))])
