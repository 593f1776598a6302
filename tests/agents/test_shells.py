"""pi and OpenCode themselves, with the shells of `agents/`, against a scripted model."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from agents import clients, homes, shell_opencode, shell_pi
from agents.endpoint import Call, Endpoint, Request, Say, in_order
from agents.streams import Turn
from support.palaces import SCRIPTS

SHELLS = {"pi": shell_pi, "opencode": shell_opencode}
SUMMARY = "They named a branch and lit the lamp."
VERIFIER = "palace/reflection_wing/rules/read-before-ship.md"
CORRECTION = "No, call them after lakes from now on."
ERRAND = "Find out how far the mole is."
PROMPTS = (homes.QUESTION, homes.QUESTION, "Now ship it, please.")


@dataclass(frozen=True, slots=True)
class Session:
    """The client and its home after a session; what the model was asked at each prompt of
    ``PROMPTS``, and at the question again after a compaction."""

    client: str
    home: homes.Home
    asked: list[list[Request]]

    @property
    def project(self) -> Path:
        """The folder that was worked in."""
        return self.home.project


@pytest.fixture(scope="module", params=SHELLS)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """`palace install`, two questions, a release, a compaction, and the question again."""
    client: str = request.param
    clients.need(client)
    shell: ModuleType = SHELLS[client]
    home = homes.make(tmp_path_factory.mktemp(client), toolkit="memory-palace")
    rule = home.toolkit / VERIFIER
    rule.write_text(rule.read_text().replace("tool_called Read", "tool_called read"))
    installed = home.palace("install", client)
    assert installed.returncode == 0, installed.stderr
    answers = in_order(
        shell.bash(homes.BLOCKED),
        shell.bash(homes.WARNED),
        [Say("After rivers.")],
        [Say("After rivers, as I said.")],
        shell.bash(homes.VERIFIED),
        [Say("Shipped.")],
        [Say("Shipped without reading.")],
        [Say("Ready.")],
        aside=SUMMARY,
    )
    with Endpoint(answers) as endpoint:
        asked = shell.talk(home, endpoint, PROMPTS, homes.QUESTION)
    return Session(client, home, asked)


def test_a_session_wakes_up_oriented(session: Session) -> None:
    """The first request holds the identity and the essential story, fenced as data."""
    text = session.asked[0][0].text
    woken = text[text.index('<palace-memory kind="wake">') :].partition("</palace-memory>")[0]
    assert homes.IDENTITY in woken
    assert homes.STORY in woken


def test_a_note_that_matches_reaches_the_prompt_once(session: Session) -> None:
    """The note that answers a question is in its request, and not again at the same question."""
    assert session.asked[0][0].news.count(homes.MATCH) == 1
    assert homes.MATCH not in session.asked[1][0].news


def test_a_blocked_command_does_not_run(session: Session) -> None:
    """A blocked command leaves nothing behind, and the model is told the reason."""
    assert homes.BLOCK_REASON in session.asked[0][1].news
    assert not (session.project / "sunk.txt").exists()


def test_a_warning_is_seen_and_the_command_runs(session: Session) -> None:
    """A warning is in the result of the command, which has run."""
    assert homes.WARNING in session.asked[0][2].news
    assert (session.project / "lit.txt").exists()


def test_a_verifier_forces_one_retry(session: Session) -> None:
    """The turn goes on once with what was not done, and then ends."""
    told = [request.news for request in session.asked[2]]
    assert len(told) == 3
    assert "read" in told[2]
    assert "read-before-ship" in told[2]


def test_memory_returns_after_a_compaction(session: Session) -> None:
    """The request after a compaction holds the wake-up again."""
    text = session.asked[3][0].text
    assert homes.IDENTITY in text
    assert homes.STORY in text


def test_after_a_compaction_the_fold_is_there(session: Session) -> None:
    """The request after a compaction has the lines that the session keeps of itself."""
    assert homes.folded(session.asked[3][0].text)
    assert homes.folded(session.asked[2][0].text) == []


def test_what_was_said_and_done_is_kept_once(session: Session) -> None:
    """Each prompt, each tool that ran and each answer is in the ledger once; nothing that memory or
    the client put in."""
    (ledger,) = session.home.kept(session.client)
    assert homes.said(ledger) == [
        ("user", homes.QUESTION),
        ("tool", f"$ {homes.WARNED}"),
        ("assistant", "After rivers."),
        ("user", homes.QUESTION),
        ("assistant", "After rivers, as I said."),
        ("user", PROMPTS[2]),
        ("tool", f"$ {homes.VERIFIED}"),
        ("assistant", "Shipped."),
        ("assistant", "Shipped without reading."),
        ("user", homes.QUESTION),
        ("assistant", "Ready."),
    ]
    assert ledger.header
    assert (ledger.header.client, ledger.header.wing) == (session.client, "harbour")
    assert ledger.folds


def test_what_is_said_while_pi_works_is_kept(tmp_path: Path) -> None:
    """A correction in the middle of a turn is a prompt; a compaction in the middle of one has the
    fold in the very next request; the session's end sums it up; its transcript adds nothing."""
    pi = clients.need("pi")
    home = homes.make(tmp_path, toolkit="memory-palace")
    assert home.palace("install", "pi").returncode == 0
    answers = in_order(
        shell_pi.bash("sleep 2; echo one"),
        [Say("After rivers.")],
        shell_pi.bash("echo two"),
        [Say("All done.")],
        aside=SUMMARY,
    )

    def script(request: Request) -> Turn:
        endpoint.tokens = 95_000 if "Go on." in request.news and request.tools else 100
        return answers(request)

    with Endpoint(script) as endpoint:
        shell_pi.point(home, endpoint)
        words = ("--mode", "rpc", "--provider", "scripted", "--model", "m")
        places = {"cwd": home.project, "home": home.place}
        with clients.started(pi, *words, **places, PI_OFFLINE="1") as process:
            clients.tell(process, {"type": "prompt", "message": homes.QUESTION})
            clients.told(process, "type", "tool_execution_start")
            clients.tell(process, {"type": "steer", "message": CORRECTION})
            clients.told(process, "type", "agent_settled")
            clients.tell(process, {"type": "prompt", "message": "Go on."})
            clients.told(process, "type", "agent_settled")
            assert process.stdin
            process.stdin.close()
            assert process.wait(clients.RUN_SECONDS) == 0
    assert homes.folded(endpoint.main()[-1].text)
    (ledger,) = home.kept("pi")
    assert homes.said(ledger) == [
        ("user", homes.QUESTION),
        ("tool", "$ sleep 2; echo one\none"),
        ("user", CORRECTION),
        ("assistant", "After rivers."),
        ("user", "Go on."),
        ("tool", "$ echo two\ntwo"),
        ("assistant", "All done."),
    ]
    assert ledger.summaries
    (again,) = home.imported("pi", ".pi/agent/sessions/*/*.jsonl")
    assert homes.said(again) == homes.said(ledger)


def test_a_subagent_of_opencode_has_a_ledger_of_its_own(tmp_path: Path) -> None:
    """It belongs to the session that started it, which has its own prompt, tool and answer, and
    is summed up when the client ends."""
    opencode = clients.need("opencode")
    home = homes.make(tmp_path, toolkit="memory-palace")
    assert home.palace("install", "opencode").returncode == 0
    errand = {"description": "look", "prompt": ERRAND, "subagent_type": "general"}
    answers = in_order(
        [Call("task", errand)],
        shell_opencode.bash("echo near"),
        [Say("It is near.")],
        [Say("They say it is near.")],
    )
    with Endpoint(answers) as endpoint:
        shell_opencode.point(home.place / ".config" / "opencode" / "opencode.json", endpoint)
        quiet = {"OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}
        places = {"cwd": home.project, "home": home.place}
        ran = clients.run(opencode, "run", "Delegate.", **places, **quiet)
        assert ran.returncode == 0, ran.stderr
    main, part = home.kept("opencode")
    assert main.header and part.header and part.header.session.startswith(main.header.session)
    asked, called, answered = homes.said(main)
    assert (asked, answered) == (("user", "Delegate."), ("assistant", "They say it is near."))
    assert called[0] == "tool"
    assert homes.said(part) == [
        ("user", ERRAND),
        ("tool", "$ echo near\nnear"),
        ("assistant", "It is near."),
    ]
    assert main.summaries


@pytest.mark.parametrize(("guard", "asked"), [({}, "asked"), ({"PALACE_HOOK": "hook.sh"}, "")])
def test_a_client_that_a_hook_started_asks_nothing(
    tmp_path: Path, guard: dict[str, str], asked: str
) -> None:
    """`$PALACE_HOOK` keeps the shells quiet too, and is no program that they run."""
    node = clients.need("node")
    shutil.copytree(SCRIPTS.parent / "agents", tmp_path / "agents")
    said = {"hookSpecificOutput": {"additionalContext": "asked"}}
    hook = tmp_path / "scripts" / "hook.sh"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(said)}'\n")
    hook.chmod(0o755)
    code = (
        'import { ask } from "./agents/shared/palace.ts";'
        'console.log(JSON.stringify(await ask("pi", "Stop", "s", ".")));'
    )
    ran = subprocess.run(
        [str(node), "--no-warnings", "--input-type=module", "-e", code],
        cwd=tmp_path,
        env=clients.environment(tmp_path, **guard) | {"PATH": f"{hook.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(ran.stdout)["context"] == asked
