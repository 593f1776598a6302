"""Claude Code itself, with this toolkit in its skills folder, against a scripted model.

Nothing here is a stand-in but the model: what it was sent is what a real one would see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents import clients, homes
from agents.endpoint import Call, Endpoint, Request, Say, Script, in_order
from memory_palace.core import fence

SUMMARY = "They named a branch and lit the lamp."
SEARCH = "mcp__plugin_memory-palace_palace__search"
PROMPTS = (
    homes.QUESTION,
    homes.QUESTION,
    "Now ship it, please.",
    "/compact",
    "Where were we with the release?",
    "/clear",
    homes.QUESTION,
    "Have somebody sink it.",
)
ERRAND = "Sink it for me."
FINE = in_order([Say("Fine.")])
ALLOWED = ("--allowedTools", f"Bash,Read,ToolSearch,{SEARCH}")


@dataclass(frozen=True, slots=True)
class Session:
    """The home after a session, what the model was asked at each prompt of ``PROMPTS``, and what
    at the first question again, in another process that continues it."""

    home: homes.Home
    asked: list[list[Request]]
    continued: list[Request]


def talk(home: homes.Home, endpoint: Endpoint, prompts: Sequence[str]) -> list[list[Request]]:
    """Give Claude Code one prompt after the other in one session; the requests at each."""
    asked = []
    with clients.started(
        clients.need("claude"),
        *("-p", "--verbose", *ALLOWED),
        *("--input-format", "stream-json", "--output-format", "stream-json"),
        cwd=home.project,
        home=home.place,
        **towards(endpoint),
    ) as claude:
        for prompt in prompts:
            message = {"role": "user", "content": prompt}
            clients.tell(claude, {"type": "user", "message": message})
            clients.told(claude, "type", "result")
            asked.append(list(endpoint.requests))
            endpoint.clear()
        assert claude.stdin
        claude.stdin.close()
        assert claude.wait(clients.RUN_SECONDS) == 0
    return asked


def towards(endpoint: Endpoint) -> dict[str, str]:
    """The variables that point Claude Code at ``endpoint``."""
    return {"ANTHROPIC_BASE_URL": endpoint.url, "ANTHROPIC_API_KEY": "dummy"}


def ask(home: homes.Home, script: Script, prompt: str, *flags: str) -> list[Request]:
    """One prompt in a process of its own."""
    with Endpoint(script) as endpoint:
        ran = clients.run(
            clients.need("claude"),
            *("-p", prompt, *flags, *ALLOWED),
            cwd=home.project,
            home=home.place,
            **towards(endpoint),
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return endpoint.requests


def bash(command: str) -> list[Call]:
    """The model runs ``command``."""
    return [Call("Bash", {"command": command, "description": "try it"})]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> homes.Home:
    """A home with the toolkit in Claude Code's skills folder."""
    clients.need("claude")
    return homes.make(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def session(home: homes.Home) -> Session:
    """Questions, a release, a compaction, a cleared session, a subagent, and one more process."""
    errand = {"description": "sink it", "prompt": ERRAND, "run_in_background": False}
    answers = in_order(
        bash(homes.BLOCKED),
        bash(homes.WARNED),
        [Say("After rivers.")],
        [Say("After rivers, as I said.")],
        bash(homes.VERIFIED),
        [Say("Shipped.")],
        [Say("Shipped without reading.")],
        [Say("Ready.")],
        [Say("After rivers.")],
        [Call("Agent", {**errand, "subagent_type": "general-purpose"})],
        bash(homes.BLOCKED),
        [Say("It does not sink.")],
        [Say("Nobody could.")],
    )

    def script(request: Request) -> list[Say | Call]:
        summing_up = "<summary>" in request.news
        return [Say(f"<summary>{SUMMARY}</summary>")] if summing_up else list(answers(request))

    with Endpoint(script) as endpoint:
        asked = talk(home, endpoint, PROMPTS)
    return Session(home, asked, ask(home, FINE, homes.QUESTION, "--continue"))


def test_a_session_wakes_up_oriented(session: Session) -> None:
    """The first request holds the identity and the essential story, fenced as data."""
    woken = homes.remembered(session.asked[0][0].text, "wake")
    assert homes.IDENTITY in woken
    assert homes.STORY in woken


def test_a_note_that_matches_reaches_the_prompt_once(session: Session) -> None:
    """The note that answers a question is in its request, and not again at the same question."""
    first, second = session.asked[0][0], session.asked[1][0]
    assert homes.MATCH in homes.remembered(first.news, "prompt")
    assert homes.MATCH not in second.news
    assert second.text.count(homes.MATCH) == 1


def test_a_blocked_command_does_not_run(session: Session) -> None:
    """A blocked command leaves nothing behind, and the model is told the reason and the note."""
    told = session.asked[0][1].news
    assert homes.BLOCK_REASON in told
    assert "no-sunk-file" in told
    assert not (session.home.project / "sunk.txt").exists()


def test_a_warning_is_seen_and_the_command_runs(session: Session) -> None:
    """A warning is in the request after the command, which has run."""
    assert homes.WARNING in session.asked[0][2].news
    assert (session.home.project / "lit.txt").exists()


def test_a_verifier_makes_the_turn_go_on_once(session: Session) -> None:
    """A turn that broke a verifier goes on with its list, and ends at the second stop."""
    start, shipped, retried = session.asked[2]
    assert homes.VERIFIED in shipped.text
    assert "Read" in retried.news
    assert homes.VERIFIED in retried.news
    assert homes.VERIFIED not in start.news


def test_after_compaction_memory_returns(session: Session) -> None:
    """The request after a compaction has the summary instead of the talk, and the wake-up again."""
    (after,) = session.asked[4]
    assert SUMMARY in after.text
    assert "After rivers, as I said." not in fence.stripped(after.text)
    assert homes.IDENTITY in homes.remembered(after.text, "wake")
    assert homes.STORY in homes.remembered(after.text, "wake")


def test_after_compaction_the_fold_is_there(session: Session) -> None:
    """The request after a compaction has the lines that the session keeps of itself, whose ids
    lead back to what was said."""
    (after,) = session.asked[4]
    first, *_ = homes.folded(after.text)
    assert homes.folded(session.asked[6][0].text) == []
    recalled = session.home.palace("recall", first)
    assert (recalled.returncode, "## Sources" in recalled.stdout) == (0, True), recalled.stderr


def test_what_was_said_and_done_is_kept_once(session: Session) -> None:
    """Each prompt, each tool that ran and each answer is in the session's ledger once; nothing
    that memory or the client put in; a cleared session and a subagent have ledgers of their own."""
    first, cleared, *others = session.home.kept("claude-code")
    assert homes.said(first) == [
        ("user", homes.QUESTION),
        ("tool", f"$ {homes.WARNED}"),
        ("assistant", "After rivers."),
        ("user", homes.QUESTION),
        ("assistant", "After rivers, as I said."),
        ("user", PROMPTS[2]),
        ("tool", f"$ {homes.VERIFIED}"),
        ("assistant", "Shipped."),
        ("assistant", "Shipped without reading."),
        ("user", PROMPTS[4]),
        ("assistant", "Ready."),
    ]
    assert first.header and (first.header.client, first.header.wing) == ("claude-code", "harbour")
    assert first.folds and first.summaries
    asked = [text for role, text in homes.said(cleared) if role == "user"]
    assert asked == [homes.QUESTION, PROMPTS[7], homes.QUESTION]
    assert [("assistant", "It does not sink.")] in [homes.said(one) for one in others]
    texts = [text for one in (first, cleared, *others) for _, text in homes.said(one)]
    assert not [text for text in texts if "palace-memory" in text or SUMMARY in text]


def test_its_transcript_adds_nothing(session: Session) -> None:
    """What hooks saw has the same ids in the client's own transcript, so that it is kept once."""
    before = [homes.said(one) for one in session.home.kept("claude-code")]
    again = session.home.imported("claude-code", ".claude/projects/*/*.jsonl")
    after = [homes.said(one) for one in again]
    assert [one for one in before if one not in after] == []


def test_two_installations_keep_a_turn_once(home: homes.Home) -> None:
    """The plugin and the same hooks in the settings: one ledger, and nothing in it twice."""
    before = [one.header for one in home.kept("claude-code")]
    plugin = (home.toolkit / "hooks" / "hooks.json").read_text(encoding="utf-8")
    settings = home.place / ".claude" / "settings.json"
    settings.write_text(plugin.replace("${CLAUDE_PLUGIN_ROOT}", str(home.toolkit)))
    try:
        ask(home, in_order(bash("echo twice"), [Say("Once.")]), "Say it, and say it once.")
    finally:
        settings.unlink()
    (ledger,) = [one for one in home.kept("claude-code") if one.header not in before]
    assert homes.said(ledger) == [
        ("user", "Say it, and say it once."),
        ("tool", "$ echo twice\ntwice"),
        ("assistant", "Once."),
    ]


def test_a_cleared_session_starts_anew(session: Session) -> None:
    """After `/clear` the wake-up is there, and the note that was given before it as well."""
    (cleared,) = session.asked[6]
    assert SUMMARY not in cleared.text
    assert homes.IDENTITY in homes.remembered(cleared.text, "wake")
    assert homes.MATCH in homes.remembered(cleared.news, "prompt")


def test_a_session_that_goes_on_gets_nothing_twice(session: Session) -> None:
    """In another process, a continued session does not get the same note again."""
    (request,) = session.continued
    assert homes.MATCH in request.text
    assert homes.MATCH not in request.news


def test_rules_hold_in_a_subagent(session: Session) -> None:
    """A command that a subagent may not run is stopped there, with the reason."""
    (told,) = [r for r in session.asked[7] if homes.BLOCK_REASON in r.news]
    assert ERRAND in told.text
    assert not (session.home.project / "sunk.txt").exists()


def test_a_broken_rule_is_told_at_the_next_start(session: Session) -> None:
    """A rule that cannot be read has broken nothing, and the next session names its file."""
    (request,) = ask(session.home, FINE, "Is everything in order?")
    assert "palace/reflection_wing/rules/broken.md" in request.text


def test_the_palace_is_searched_over_mcp(home: homes.Home) -> None:
    """The model finds the plugin's search tool and gets a note from it."""

    def script(request: Request) -> list[Say | Call]:
        if SEARCH in request.tools:
            found = "signals.md" in request.news
            return [Say("Found.")] if found else [Call(SEARCH, {"query": "harbour signals"})]
        if len(request.turns) > 20:  # the server may need a moment to connect
            return [Say("There is no such tool.")]
        return [Call("ToolSearch", {"query": f"select:{SEARCH}"})]

    asked = ask(home, script, "Look it up.")
    assert "palace/project_rooms/harbour/signals.md" in asked[-1].news


def test_the_plugin_is_valid(home: homes.Home) -> None:
    """Claude Code's own check of a plugin passes, also for what a directory would refuse."""
    ran = clients.run(
        clients.need("claude"),
        *("plugin", "validate", str(home.toolkit), "--profile", "directory"),
        cwd=home.project,
        home=home.place,
    )
    assert ran.returncode == 0, ran.stdout


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[homes.Home]:
    """A home with the toolkit in a folder that Claude Code does not look at."""
    clients.need("claude")
    yield homes.make(tmp_path / "home", "tools/memory-palace")


def test_an_installed_palace_wakes_a_session(elsewhere: homes.Home) -> None:
    """After `palace install claude-code` a session wakes up with the palace of its own folder, and
    after `uninstall` nothing is left of it."""
    identity = elsewhere.project / "palace" / "grand_hall" / "identity.md"
    identity.parent.mkdir(parents=True)
    identity.write_text("This palace serves the pilots.\n", encoding="utf-8")
    (elsewhere.project / "palace.yaml").write_text("embedder: none\n", encoding="utf-8")
    installed = elsewhere.palace("install", "claude-code")
    assert installed.returncode == 0, installed.stderr
    (request,) = ask(elsewhere, FINE, "What did we decide?")
    woken = homes.remembered(request.text, "wake")
    assert "This palace serves the pilots." in woken
    assert homes.IDENTITY not in woken
    removed = elsewhere.palace("uninstall", "claude-code")
    assert removed.returncode == 0, removed.stderr
    (request,) = ask(elsewhere, FINE, "What did we decide?")
    assert "<palace-memory" not in request.text
