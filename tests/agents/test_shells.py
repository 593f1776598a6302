"""pi and OpenCode themselves, with the shells of `agents/`, against a scripted model."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from agents import clients, homes, shell_opencode, shell_pi
from agents.endpoint import Endpoint, Request, Say, in_order
from support.palaces import SCRIPTS

SHELLS = {"pi": shell_pi, "opencode": shell_opencode}
SUMMARY = "They named a branch and lit the lamp."
VERIFIER = "palace/reflection_wing/rules/read-before-ship.md"
PROMPTS = (homes.QUESTION, homes.QUESTION, "Now ship it, please.")


@dataclass(frozen=True, slots=True)
class Session:
    """The project after a session; what the model was asked at each prompt of ``PROMPTS``, and
    at the question again after a compaction."""

    project: Path
    asked: list[list[Request]]


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
        return Session(home.project, shell.talk(home, endpoint, PROMPTS, homes.QUESTION))


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
