"""Transcripts of each client as turns: the samples are real sessions, with a made-up project."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import transcripts
from memory_palace.core.transcript_turns import MOST_UNKNOWN, MOST_WAITING
from memory_palace.core.transcripts import CLIENTS, Reader, Turn

SAMPLES = Path(__file__).parents[1] / "fixtures" / "transcripts"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.jsonl"))
Shown = tuple[int, str, str]


def records(name: str) -> list[dict[str, Any]]:
    """The records of a sample."""
    return [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()]


def read(rows: Iterable[dict[str, Any]], client: str = "claude-code") -> tuple[list[Turn], Reader]:
    """All turns, and the reader afterwards."""
    reader = transcripts.reader(client)
    turns = [turn for row in rows for turn in reader.read(row)]
    return [*turns, *reader.rest()], reader


def sample(name: str) -> tuple[list[Turn], Reader]:
    """A sample, read."""
    client = next(one for one in CLIENTS if name.startswith(one))
    return read(records(name), client)


def shown(turns: list[Turn]) -> list[Shown]:
    """Parent, role and the first words of each."""
    return [(t.parent, t.role, (t.command or t.tool or t.text)[:30]) for t in turns]


LAMP: list[Shown] = [
    (0, "user", "Light the lamp, please."),
    (1, "assistant", "I look first."),
]


@pytest.mark.parametrize("name", NAMES)
def test_each_record_tells_its_client_or_nothing(name: str) -> None:
    """The first that tells is right, and no later one says otherwise."""
    told = {transcripts.client_of(record) for record in records(name)} - {""}
    assert len(told) == 1
    assert name.startswith(told.pop())


@pytest.mark.parametrize("name", NAMES)
def test_numbers_rise_and_parents_stand_before(name: str) -> None:
    """Also where calls wait for their results; every turn has a time and a ref of its own."""
    turns, _ = sample(name)
    assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
    assert all(turn.parent < turn.number and turn.at for turn in turns)
    assert len({turn.ref for turn in turns}) == len(turns)


def test_claude_code_session() -> None:
    """Two calls of one answer, an edit, a subagent, a compaction, a session that was continued."""
    turns, reader = sample("claude-code")
    assert shown(turns) == [
        *LAMP,
        (2, "tool", "Read"),
        (3, "tool", "cat nothing.txt"),
        (4, "tool", "Edit"),
        (5, "assistant", "The lamp is lit now."),
        (6, "user", "Have somebody look it up."),
        (7, "tool", "Agent"),
        (8, "assistant", "The helper found one file."),
        (9, "user", "continue"),
        (10, "assistant", "Continued."),
        (11, "user", "continue"),
        (12, "assistant", "Continued."),
        (13, "user", "continue"),
        (14, "assistant", "Continued."),
    ]
    failed, edit, agent = turns[3], turns[4], turns[7]
    assert (failed.failed, failed.text) == (
        True,
        "Exit code 1\ncat: nothing.txt: No such file or directory",
    )
    assert edit.files == ("/home/user/project/lamp.py",)
    assert agent.text == "Found one file."
    assert len({turn.turn for turn in turns}) == 5
    assert {k: v for k, v in reader.passed.items() if k != "bookkeeping"} == {
        "meta": 1,
        "summary": 1,
        "command": 2,
    }
    about = reader.about
    assert (about.cwd, about.version, about.forked_from) == ("/home/user/project", "2.1.332", "")


def test_codex_session() -> None:
    """A call that fails, two at once, a patch in a shell, a compaction; what is mirrored once."""
    turns, reader = sample("codex")
    assert shown(turns) == [
        *LAMP,
        (2, "tool", "cat nothing.txt"),
        (3, "tool", "ls"),
        (4, "tool", "cat lamp.py"),
        (5, "tool", "apply_patch"),
        (6, "tool", "apply_patch <<'EOF'\n*** Begin "),
        (7, "assistant", "The lamp is lit now."),
        (8, "user", "continue"),
        (9, "assistant", "Continued."),
        (10, "user", "continue"),
        (11, "assistant", "Continued."),
    ]
    assert (turns[2].failed, turns[2].text) == (
        True,
        "cat: nothing.txt: No such file or directory\n",
    )
    assert not turns[3].failed
    assert turns[6].files == ("lamp.py",)
    assert turns[6].text.startswith("Success.")
    assert reader.passed["meta"] == 2  # what the harness and AGENTS.md say
    assert reader.passed["summary"] == 1
    assert not any(key.startswith("unknown") for key in reader.passed)


def test_pi_session() -> None:
    """Two calls of one answer, an edit, a command by hand, a compaction."""
    turns, reader = sample("pi")
    assert shown(turns) == [
        *LAMP,
        (2, "tool", "read"),
        (3, "tool", "cat nothing.txt"),
        (4, "tool", "edit"),
        (5, "assistant", "The lamp is lit now."),
        (6, "user", "continue"),
        (7, "assistant", "Continued."),
        (8, "user", "continue"),
        (9, "assistant", "Continued."),
        (10, "tool", "ls"),
        (11, "user", "Where were we?"),
        (12, "assistant", "Continued."),
    ]
    assert turns[3].failed
    assert turns[4].files == ("lamp.py",)
    assert turns[1].turn == turns[4].turn == turns[5].turn != turns[7].turn
    assert reader.passed == {"bookkeeping": 3, "summary": 1}


@pytest.mark.parametrize(
    ("name", "before"), [("claude-code", "claude-code"), ("codex", "codex"), ("pi", "pi")]
)
def test_a_fork_names_the_session_before(name: str, before: str) -> None:
    """And is a session of its own."""
    _, fork = sample(f"{name}-fork")
    _, first = sample(before)
    assert fork.about.forked_from == first.about.session != fork.about.session


def test_a_subagents_own_transcript_is_read_as_its() -> None:
    """All its records are of a side chain; it names itself and the session."""
    turns, reader = sample("claude-code-agent")
    assert [turn.role for turn in turns] == ["user", "tool", "assistant"]
    assert reader.about.agent == "a8f74ac9f0932dc74"
    _, session = sample("claude-code")
    assert reader.about.session == session.about.session


def claude(kind: str, name: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    """A record of Claude Code."""
    message = {"id": f"m-{name}", "content": content}
    return {
        "type": kind,
        "uuid": name,
        "parentUuid": parent,
        "sessionId": "s",
        "message": message,
        **more,
    }


def use(ref: str, **given: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "id": ref, "name": "Bash", "input": given}


def result(ref: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    """Its result."""
    return {"type": "tool_result", "tool_use_id": ref, "content": content, **more}


def test_side_chains_in_the_session_are_skipped_and_stepped_through() -> None:
    """As older versions wrote them: what follows has the turn before as its parent."""
    turns, reader = read(
        [
            claude("user", "a", None, "Look it up."),
            claude("user", "b", "a", "Search.", isSidechain=True),
            claude("assistant", "c", "b", [{"type": "text", "text": "Found."}], isSidechain=True),
            claude("assistant", "d", "c", [{"type": "text", "text": "It is there."}]),
        ]
    )
    assert shown(turns) == [(0, "user", "Look it up."), (1, "assistant", "It is there.")]
    assert reader.passed == {"sidechain": 2}


def test_another_subagents_records_are_none_of_this_one() -> None:
    """In a subagent's own transcript, where it called one itself."""
    own: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    turns, reader = read(
        [
            claude("user", "u1", None, "Look.", **own),
            claude("user", "u2", "u1", "Not mine.", **{**own, "agentId": "a2"}),
            claude("user", "u3", "u2", "Mine.", requestSessionId="s", **own),
        ]
    )
    assert [turn.text for turn in turns] == ["Look.", "Mine."]
    assert reader.passed == {"sidechain": 1}
    assert (reader.about.agent, reader.about.forked_from) == ("a1", "")


def test_the_answer_follows_all_calls_whichever_ended_last() -> None:
    """Results come in any order, also before the last call of the answer is written."""
    rows = [
        claude("user", "u", None, "Go."),
        claude("assistant", "a", "u", [use("1", command="ls")]),
        claude("user", "r1", "a", [result("1")]),
        claude("assistant", "b", "a", [use("2", command="pwd")]),
        claude("assistant", "c", "b", [use("3", command="id")]),
        claude("user", "r3", "c", [result("3")]),
        claude("user", "r2", "b", [result("2")]),
        claude("assistant", "d", "r2", [{"type": "text", "text": "Done."}]),
    ]
    for row in rows[1:5]:
        if row["type"] == "assistant":
            row["message"]["id"] = "one answer"
    turns, _ = read(rows)
    assert shown(turns) == [
        (0, "user", "Go."),
        (1, "tool", "ls"),
        (2, "tool", "pwd"),
        (3, "tool", "id"),
        (4, "assistant", "Done."),
    ]


def test_a_call_without_a_result_waits_until_somebody_speaks() -> None:
    """At the end it is left, and what follows it is given; with a prompt after it, it is given."""
    rows = [
        claude("user", "u", None, "Go."),
        claude("assistant", "a", "u", [use("1", command="sleep 9"), use("2", command="ls")]),
        claude("user", "r", "a", [result("2")]),
    ]
    turns, reader = read(rows)
    assert [(t.number, t.parent, t.ref) for t in turns] == [(1, 0, "u"), (3, 1, "2")]
    assert reader.passed == {"without a result yet": 1}
    turns, reader = read([*rows, claude("user", "v", "r", "Never mind.")])
    assert [(t.parent, t.ref, t.text) for t in turns] == [
        (0, "u", "Go."),
        (1, "1", ""),
        (2, "2", "ok"),
        (3, "v", "Never mind."),
    ]
    late, reader = read(
        [*rows, claude("user", "v", "r", "Go on."), claude("user", "w", "v", [result("1")])]
    )
    assert len(late) == 4
    assert reader.passed == {"without its tool call": 1}


def test_what_waits_is_bounded() -> None:
    """A result that never comes does not hold back a whole session."""
    rows = [claude("assistant", "a", None, [use("1", command="ls")])]
    text = [{"type": "text", "text": "Working."}]
    rows += [claude("assistant", f"b{n}", None, text) for n in range(MOST_WAITING)]
    reader = transcripts.reader("claude-code")
    assert len([turn for row in rows for turn in reader.read(row)]) == MOST_WAITING + 1


@pytest.mark.parametrize(
    ("said", "kept", "why"),
    [
        ("<command-name>/clear</command-name><command-args></command-args>", "", "command"),
        (
            "<command-message>fix</command-message><command-name>/fix</command-name>"
            "<command-args>the lamp</command-args>",
            "/fix the lamp",
            "",
        ),
        ("<local-command-stdout>ok</local-command-stdout>", "", "command"),
        ("<bash-input>ls</bash-input>", "", "command"),
        ("[Request interrupted by user for tool use]", "", "interruption"),
        ("<task-notification>done</task-notification>", "", "made by a machine"),
    ],
)
def test_markup_is_no_prompt(said: str, kept: str, why: str) -> None:
    """What stands behind a slash command is a person's, the rest is not."""
    turns, reader = read([claude("user", "a", None, said)])
    assert [turn.text for turn in turns] == ([kept] if kept else [])
    assert reader.passed == ({why: 1} if why else {})


def test_what_a_person_adds_meanwhile_is_a_prompt() -> None:
    """Claude Code attaches it; what a machine queued is none."""
    queued = {"type": "queued_command", "prompt": "Use the small lamp.", "commandMode": "prompt"}
    machine = queued | {"origin": {"kind": "plugin"}}
    rows = [
        {"type": "attachment", "uuid": "a", "parentUuid": None, "sessionId": "s", "attachment": one}
        for one in (queued, machine | {"uuid": "b"})
    ]
    rows[1]["uuid"] = "b"
    turns, reader = read(rows)
    assert [turn.text for turn in turns] == ["Use the small lamp."]
    assert reader.passed == {"made by a machine": 1}


def test_records_that_came_before_are_repeats() -> None:
    """A file that has its own beginning twice."""
    for name in ("claude-code", "pi"):
        once, _ = sample(name)
        client = "claude-code" if name == "claude-code" else "pi"
        twice, reader = read([*records(name), *records(name)], client)
        assert twice == once
        assert reader.passed["repeat"] > len(once) / 2
    once, _ = sample("codex")
    twice, _ = read([*records("codex"), *records("codex")], "codex")
    assert [t.ref for t in twice] == [t.ref for t in once]


def test_pi_goes_on_without_a_result() -> None:
    """A call that nothing came of stands before the next prompt, not after what follows."""
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "slow"}}
    said = [("user", "Go."), ("assistant", [call]), ("user", "Never mind."), ("assistant", "Ok.")]
    rows = [
        {
            "type": "message",
            "id": f"e{number}",
            "parentId": f"e{number - 1}" if number else None,
            "message": {"role": role, "content": content},
        }
        for number, (role, content) in enumerate(said)
    ]
    turns, reader = read(rows, "pi")
    assert [turn.text or turn.command for turn in turns] == ["Go.", "slow", "Never mind.", "Ok."]
    assert not reader.passed


@pytest.mark.parametrize(("code", "failed"), [(0, False), (1, True), (None, False)])
def test_a_command_that_the_person_ran(code: int | None, failed: bool) -> None:
    """Has failed where its code is another than 0."""
    ran = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": code}
    turns, _ = read([{"type": "message", "id": "a", "parentId": None, "message": ran}], "pi")
    assert [(turn.command, turn.text, turn.failed) for turn in turns] == [("ls", "a", failed)]


def test_pi_keeps_all_branches() -> None:
    """An entry follows its parent, wherever that stands."""
    rows = records("pi")
    back = json.loads(json.dumps(rows[4])) | {"id": "0ther", "parentId": "92c12058"}
    back["message"]["content"] = "Another way."
    turns, _ = read([*rows, back], "pi")
    assert shown(turns)[-1] == (6, "user", "Another way.")


def test_codex_of_other_versions() -> None:
    """Custom tools, a local shell, outputs as JSON, no ids on messages."""
    rows = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/p", "cli_version": "0.1"}},
        {"type": "session_meta", "payload": {"id": "before", "cwd": "/q"}},
    ]
    items: list[dict[str, Any]] = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<user_instructions>x</user_instructions>"}],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {
            "type": "custom_tool_call",
            "name": "apply_patch",
            "call_id": "1",
            "input": "*** Begin Patch\n*** Add File: a.py\n+1\n*** End Patch",
        },
        {
            "type": "custom_tool_call_output",
            "call_id": "1",
            "output": json.dumps({"output": "Done!", "metadata": {"exit_code": 0}}),
        },
        {
            "type": "local_shell_call",
            "call_id": "2",
            "action": {"type": "exec", "command": ["ls", "a b"]},
        },
        {
            "type": "function_call_output",
            "call_id": "2",
            "output": json.dumps({"output": "no", "metadata": {"exit_code": 2}}),
        },
        {"type": "reasoning", "summary": []},
        {"type": "hologram"},
    ]
    rows += [
        {"type": "response_item", "timestamp": "2026-11-29T09:00:00Z", "payload": one}
        for one in items
    ]
    turns, reader = read(rows, "codex")
    assert [(t.role, t.command, t.text, t.files, t.failed) for t in turns] == [
        ("user", "", "Go.", (), False),
        ("tool", "", "Done!", ("a.py",), False),
        ("tool", "ls 'a b'", "no", (), True),
    ]
    assert (reader.about.session, reader.about.cwd) == ("s", "/p")
    assert reader.passed == {"meta": 1, "thinking": 1, 'unknown type "hologram"': 1}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("<task-notification>done</task-notification>", "made by a machine"),
        ("\n<teammate-message from='b'>hi</teammate-message>", "made by a machine"),
        ("Why does <task-notification> come?", ""),
    ],
)
def test_what_a_machine_wrote_is_no_prompt_of_codex(said: str, why: str) -> None:
    """It is counted; the call before it goes on waiting for its result."""
    items: list[dict[str, Any]] = [
        {"type": "function_call", "name": "shell", "call_id": "1", "arguments": "{}"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]},
        {"type": "function_call_output", "call_id": "1", "output": "lit"},
    ]
    head = {"type": "session_meta", "payload": {"id": "s"}}
    stamp = "2026-11-29T09:00:00Z"
    rows = [{"type": "response_item", "timestamp": stamp, "payload": one} for one in items]
    turns, reader = read([head, *rows], "codex")
    prompts = [turn.text for turn in turns if turn.role == "user"]
    if why:
        assert (prompts, turns[0].text) == ([], "lit")
        assert reader.passed == {why: 1}
    else:
        assert prompts == [said]
        assert reader.passed == {"without its tool call": 1}


def test_a_fault_of_the_service_is_no_answer() -> None:
    """Whichever of its two marks it has."""
    fault = claude("assistant", "b", "a", "API Error: 529")
    answer = claude("assistant", "c", "b", "Lit.")
    for marked in ({**fault, "isApiErrorMessage": True}, fault):
        if marked is fault:
            marked["message"] = {**fault["message"], "model": "<synthetic>"}
        turns, reader = read([claude("user", "a", None, "Go."), marked, answer])
        assert [turn.text for turn in turns] == ["Go.", "Lit."]
        assert reader.passed == {"made by a machine": 1}


def test_what_is_attached_is_counted() -> None:
    """A picture or a document beside a prompt, or alone; a block of a new kind by its name."""
    picture, news = {"type": "image", "source": {}}, {"type": "news"}
    content = [{"type": "text", "text": "See."}, picture, news]
    told = {"attached file": 2, 'unknown type "news"': 2}
    answer = claude("assistant", "c", "b", [news])
    turns, reader = read(
        [claude("user", "a", None, content), claude("user", "b", "a", [picture]), answer]
    )
    assert ([turn.text for turn in turns], reader.passed) == (["See."], told)
    rows = [
        {
            "type": "message",
            "id": name,
            "parentId": None,
            "message": {"role": role, "content": said},
        }
        for name, role, said in (("a", "user", content), ("c", "assistant", [news, picture]))
    ]
    turns, reader = read(rows, "pi")
    assert [turn.text for turn in turns] == ["See."]
    assert reader.passed == {
        "attached file": 1,
        'unknown type "news"': 2,
        'unknown type "image"': 1,
    }
    said = [{"type": "input_text", "text": "See."}, {"type": "input_image", "image_url": "x"}]
    row = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": said}}
    turns, reader = read([row], "codex")
    assert ([turn.text for turn in turns], reader.passed) == (["See."], {"attached file": 1})


def test_unknown_types_are_named_up_to_a_number() -> None:
    """A hostile file cannot fill a line with them."""
    rows = [{"type": f"t{n}\n" + "x" * 99, "sessionId": "s"} for n in range(MOST_UNKNOWN + 5)]
    _, reader = read(rows)
    assert reader.passed["other unknown types"] == 5
    assert max(map(len, reader.passed)) < 60
    assert not any("\n" in key for key in reader.passed)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type uuid parentUuid id parentId sessionId payload message role content text"
                " name input call_id arguments output tool_use_id toolCallId timestamp isSidechain"
                " attachment prompt toolUseResult".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(
    client=st.sampled_from(CLIENTS),
    rows=st.lists(
        st.tuples(
            st.sampled_from(
                "user assistant attachment session message response_item event_msg session_meta"
                " compaction function_call toolResult".split()
            ),
            st.dictionaries(
                st.sampled_from("uuid id parentUuid parentId payload message attachment".split()),
                JSON,
            ),
        ),
        max_size=8,
    ),
)
def test_no_record_of_any_shape_makes_a_reader_fail(
    client: str, rows: list[tuple[str, dict[str, Any]]]
) -> None:
    """Whatever a client comes to write: turns or counts, and parents stand before."""
    turns, _ = read([{"type": kind} | row for kind, row in rows], client)
    assert all(turn.parent < turn.number for turn in turns)


@pytest.mark.parametrize("kind", [[], {}, ["user"], 5, True, None])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_type_that_is_no_text_is_unknown(client: str, kind: object) -> None:
    """Of a record, and of what is in it; the rest of the transcript is read."""
    (name,) = [one for one in NAMES if one == client]
    known = records(name)
    odd: list[dict[str, Any]] = [
        {"type": kind, "id": "o1", "uuid": "o1", "sessionId": "s", "payload": {}},
        {"type": "response_item", "payload": {"type": kind}},
    ]
    content = [{"type": kind, "text": "x"}]
    for what in ("assistant", "message"):
        message = {"role": "assistant", "content": content}
        odd.append({"type": what, "uuid": f"o-{what}", "id": f"o-{what}", "message": message})
    assert all(isinstance(transcripts.client_of(one), str) for one in odd)
    turns, reader = read([*known, *odd], client)
    assert shown(turns) == shown(read(known, client)[0])
    assert f'unknown type "{type(kind).__name__}"' in reader.passed


@pytest.mark.parametrize("client", ["claude-code", "pi"])
def test_records_without_an_id_are_counted_as_such(client: str) -> None:
    """They are of a known type; without an id they cannot be told apart."""
    rows = [dict(row) for row in records(client)]
    for row in rows:
        if row["type"] in ("user", "assistant", "message"):
            row.pop("uuid", None), row.pop("id", None)
    turns, reader = read(rows, client)
    assert turns == [] and reader.passed["without an id"] > 3
    assert not any("unknown" in why for why in reader.passed)


def test_what_is_nested_too_deep_is_counted() -> None:
    """A tool's result that can be parsed, but not be written again."""
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    block = {"type": "tool_result", "tool_use_id": "t1", "content": [{"more": deep}]}
    row = {"type": "user", "uuid": "o1", "sessionId": "s", "message": {"content": [block]}}
    known = records("claude-code")
    turns, reader = read([*known, row])
    assert shown(turns) == shown(read(known)[0])
    assert reader.passed["nested too deep"] == 1
