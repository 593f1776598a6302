"""Codex itself, after `palace install codex`, against a scripted model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents import clients, homes
from agents.endpoint import Call, Endpoint, Request, Say, Script, in_order
from memory_palace.core import fence

MODEL = "gpt-5.5"
"""One that Codex offers its patch tool."""

SUMMARY = "They named a branch and lit the lamp."
CONFIG = """\
# Mine.
model = "{model}"
model_provider = "scripted"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_auto_compact_token_limit = 100000

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
supports_websockets = false

[projects."{project}"]
trust_level = "trusted"
"""


@dataclass(frozen=True, slots=True)
class Sessions:
    """The home, and what the model was asked: without trust, in a session, at the same question
    again, after a compaction, and in a session that searches."""

    home: homes.Home
    untrusted: list[Request]
    first: list[Request]
    again: list[Request]
    compacted: list[Request]
    searched: list[Request]


def execute(home: homes.Home, endpoint: Endpoint, script: Script, *arguments: str) -> list[Request]:
    """One run of `codex exec`; the agent's own requests."""
    endpoint.script = script
    endpoint.clear()
    ran = clients.run(
        clients.need("codex"),
        *("exec", "--skip-git-repo-check", *arguments),
        cwd=home.project,
        home=home.place,
        SCRIPTED_KEY="dummy",
    )
    assert ran.returncode == 0, ran.stderr
    return endpoint.main()


def trust(home: homes.Home) -> list[str]:
    """Trust every hook, as a person does in Codex; the events that were not trusted before."""
    with clients.started(
        clients.need("codex"), "app-server", cwd=home.project, home=home.place
    ) as server:

        def call(method: str, **parameters: Any) -> Any:
            clients.tell(server, {"id": method, "method": method, "params": parameters})
            return clients.told(server, "id", method)["result"]

        call("initialize", clientInfo={"name": "tests", "title": "Tests", "version": "1"})
        found = call("hooks/list", cwds=[str(home.project)])["data"][0]["hooks"]
        hashes = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found}
        edit = {"keyPath": "hooks.state", "value": hashes, "mergeStrategy": "upsert"}
        call("config/batchWrite", edits=[edit])
    return [hook["eventName"] for hook in found if hook["trustStatus"] == "untrusted"]


def shell(command: str) -> list[Call]:
    """The model runs ``command``."""
    return [Call("exec_command", {"cmd": command})]


def searching(request: Request) -> list[Say | Call]:
    """The model searches the palace over MCP; the server may need a moment to start."""
    search = Call("search", {"query": "harbour signals"}, "mcp__palace")
    if len(request.turns) > 80 or '"hits"' in request.news:
        return [Say("That is all.")]
    return [*shell("sleep 1"), search] if "unsupported call" in request.news else [search]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> homes.Home:
    """A home with the toolkit beside it; Codex knows nothing of it yet."""
    clients.need("codex")
    home = homes.make(tmp_path_factory.mktemp("home"), "tools/memory-palace")
    (home.place / ".codex").mkdir()
    return home


@pytest.fixture(scope="module")
def sessions(home: homes.Home) -> Sessions:
    """Runs: hooks not trusted, trusted, the session resumed, resumed over its limit, a search."""
    with Endpoint(in_order([Say("Fine.")], aside=SUMMARY)) as endpoint:
        told = CONFIG.format(model=MODEL, url=endpoint.url, project=home.project)
        (home.place / ".codex" / "config.toml").write_text(told, encoding="utf-8")
        installed = home.palace("install", "codex")
        assert installed.returncode == 0, installed.stderr
        idle = in_order([Say("Fine.")], aside=SUMMARY)
        untrusted = execute(home, endpoint, idle, homes.QUESTION)
        assert "sessionStart" in trust(home)
        busy = in_order(
            shell(homes.BLOCKED),
            shell(homes.WARNED),
            shell(homes.VERIFIED),
            [Say("Shipped.")],
            [Say("Shipped without reading.")],
        )
        first = execute(home, endpoint, busy, homes.QUESTION)
        endpoint.tokens = 200_000
        again = execute(home, endpoint, idle, "resume", "--last", homes.QUESTION)
        endpoint.tokens = 100
        compacted = execute(home, endpoint, idle, "resume", "--last", "Where were we?")
        searched = execute(home, endpoint, searching, "Look it up.")
    return Sessions(home, untrusted, first, again, compacted, searched)


def test_hooks_that_are_not_trusted_say_nothing(sessions: Sessions) -> None:
    """Until a person trusts the hooks, Codex leaves them out, and memory is not there."""
    assert homes.IDENTITY not in sessions.untrusted[0].text


def test_a_session_wakes_up_oriented(sessions: Sessions) -> None:
    """The first request holds the identity and the essential story, whole."""
    woken = homes.remembered(sessions.first[0].text, "wake")
    assert homes.IDENTITY in woken
    assert homes.STORY in woken


def test_a_note_that_matches_reaches_the_prompt_once(sessions: Sessions) -> None:
    """The note that answers a question is in its request, and not again in the same session."""
    assert homes.MATCH in homes.remembered(sessions.first[0].text, "prompt")
    assert homes.MATCH not in sessions.again[0].news


def test_a_blocked_command_does_not_run(sessions: Sessions) -> None:
    """A blocked command leaves nothing behind, and the model is told the reason and the note."""
    told = sessions.first[1].news
    assert homes.BLOCK_REASON in told
    assert "no-sunk-file" in told
    assert not (sessions.home.project / "sunk.txt").exists()


def test_a_warning_is_seen_and_the_command_runs(sessions: Sessions) -> None:
    """A warning is in the request after the command, which has run."""
    assert homes.WARNING in sessions.first[2].news
    assert (sessions.home.project / "lit.txt").exists()


def test_a_verifier_makes_the_turn_go_on_once(sessions: Sessions) -> None:
    """A turn that broke a verifier goes on with its list, and ends at the second stop."""
    assert len(sessions.first) == 5
    assert homes.VERIFIED in sessions.first[4].news
    assert "Read" in sessions.first[4].news


def test_the_palace_is_searched_over_mcp(sessions: Sessions) -> None:
    """The model calls the search tool of the palace's server and gets a note from it."""
    assert "palace/project_rooms/harbour/signals.md" in sessions.searched[-1].news


def test_after_compaction_memory_returns(sessions: Sessions) -> None:
    """The request after a compaction has the summary, and the wake-up once more."""
    (request,) = sessions.compacted
    assert SUMMARY in request.text
    assert "Shipped without reading." not in fence.stripped(request.text)
    assert homes.IDENTITY in homes.remembered(request.text, "wake")
    assert homes.STORY in homes.remembered(request.text, "wake")


def test_after_compaction_the_fold_is_there(sessions: Sessions) -> None:
    """The request after a compaction has the lines that the session keeps of itself."""
    assert homes.folded(sessions.compacted[0].text)
    assert homes.folded(sessions.again[0].text) == []


def test_what_was_said_and_done_is_kept_once(sessions: Sessions) -> None:
    """Each prompt, each tool that ran and each answer is in the ledger once, over three processes;
    nothing of the session that nobody trusted, nothing that memory or the client put in."""
    first, searched = sessions.home.kept("codex")
    assert homes.said(first) == [
        ("user", homes.QUESTION),
        ("tool", f"$ {homes.WARNED}"),
        ("tool", f"$ {homes.VERIFIED}"),
        ("assistant", "Shipped."),
        ("assistant", "Shipped without reading."),
        ("user", homes.QUESTION),
        ("assistant", "Fine."),
        ("user", "Where were we?"),
        ("assistant", "Fine."),
    ]
    assert first.header and (first.header.client, first.header.wing) == ("codex", "harbour")
    assert first.folds and first.summaries
    assert homes.said(searched)[0] == ("user", "Look it up.")
    assert homes.STORY not in str(homes.said(searched))


def test_its_transcript_adds_nothing(sessions: Sessions) -> None:
    """What hooks saw has the same ids in the client's own transcript, so that it is kept once; the
    session that nobody trusted comes in by its transcript."""
    first, *_ = sessions.home.kept("codex")
    untrusted, again, *_ = sessions.home.imported("codex", ".codex/sessions/**/*.jsonl")
    assert homes.said(again) == homes.said(first)
    assert homes.said(untrusted) == [("user", homes.QUESTION), ("assistant", "Fine.")]


def test_uninstall_leaves_what_codex_and_the_person_wrote(sessions: Sessions) -> None:
    """After `palace uninstall codex` the hooks are gone and the person's own lines are there."""
    folder: Path = sessions.home.place / ".codex"
    removed = sessions.home.palace("uninstall", "codex")
    assert removed.returncode == 0, removed.stderr
    kept = (folder / "config.toml").read_text(encoding="utf-8")
    assert kept.startswith("# Mine.\n")
    assert "[model_providers.scripted]" in kept
    assert not any("hook.sh" in path.read_text() for path in folder.glob("*.json"))
    assert trust(sessions.home) == []
