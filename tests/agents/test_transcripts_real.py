"""Sessions of the real clients, captured by the hooks of the toolkit and then imported from their
transcripts: each turn is in the ledger once."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agents import clients, homes, shell_pi
from agents.endpoint import Call, Endpoint, Say, in_order
from agents.test_claude_code import talk as speak
from agents.test_codex import CONFIG, MODEL, trust

PROMPT = "Light the lamp, please."
PROMPTS = (PROMPT, PROMPT)
FIRST = "I look first."
LIT = "The lamp is lit."
EXPECTED = [
    *(("user", PROMPT), ("assistant", FIRST), ("tool", "$ cat none.txt"), ("assistant", LIT)),
    *(("user", PROMPT), ("assistant", LIT)),
]


def claude(home: homes.Home, endpoint: Endpoint) -> Path:
    """All prompts in one process."""
    speak(home, endpoint, PROMPTS)
    (transcript,) = (home.place / ".claude" / "projects").glob("*/*.jsonl")
    return transcript


def codex(home: homes.Home, endpoint: Endpoint) -> Path:
    """The same, after its hooks were trusted."""
    folder = home.place / ".codex"
    folder.mkdir()
    told = CONFIG.format(model=MODEL, url=endpoint.url, project=home.project)
    (folder / "config.toml").write_text(told, encoding="utf-8")
    assert home.palace("install", "codex").returncode == 0
    trust(home)
    for number, prompt in enumerate(PROMPTS):
        ran = clients.run(
            clients.need("codex"),
            *("exec", "--skip-git-repo-check", *(["resume", "--last"] if number else []), prompt),
            cwd=home.project,
            home=home.place,
            SCRIPTED_KEY="dummy",
        )
        assert ran.returncode == 0, ran.stderr
    (transcript,) = (folder / "sessions").glob("*/*/*/*.jsonl")
    return transcript


def pi(home: homes.Home, endpoint: Endpoint) -> Path:
    """All prompts in one process."""
    assert home.palace("install", "pi").returncode == 0
    shell_pi.point(home, endpoint)
    with clients.started(
        clients.need("pi"),
        *("--mode", "rpc", "--provider", "scripted", "--model", "m"),
        cwd=home.project,
        home=home.place,
        PI_OFFLINE="1",
    ) as process:
        for prompt in PROMPTS:
            clients.tell(process, {"type": "prompt", "message": prompt})
            clients.told(process, "type", "agent_settled")
    (transcript,) = (home.place / ".pi" / "agent" / "sessions").glob("*/*.jsonl")
    return transcript


@pytest.mark.parametrize(
    ("client", "talk", "call"),
    [
        ("claude", claude, Call("Bash", {"command": "cat none.txt"})),
        ("codex", codex, Call("exec_command", {"cmd": "cat none.txt"})),
        ("pi", pi, Call("bash", {"command": "cat none.txt"})),
    ],
)
def test_a_session_that_hooks_captured_is_imported_once(
    client: str,
    talk: Callable[[homes.Home, Endpoint], Path],
    call: Call,
    tmp_path: Path,
) -> None:
    """What the hooks saw and what only the transcript has, each as often as it was said."""
    clients.need(client)
    where = ".claude/skills/memory-palace" if client == "claude" else "memory-palace"
    home = homes.make(tmp_path / "home", where)
    answers = in_order([Say(FIRST), call], [Say(LIT)])
    with Endpoint(answers) as endpoint:
        transcript = talk(home, endpoint)
    first = home.palace("ledger", "import", str(transcript))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("1 entry added to "), first.stdout
    assert ", 5 there already" in first.stdout
    again = home.palace("ledger", "import", str(transcript))
    assert again.stdout.startswith("nothing new for "), again.stdout
    (ledger,) = home.toolkit.glob("palace/chambers/*/ledger/*.jsonl")
    rows = [json.loads(line) for line in ledger.read_text().splitlines()]
    entries = [row for row in rows if row["event"] == "entry"]
    found = Counter((row["role"], row["text"].split("\n")[0]) for row in entries)
    assert found == Counter(EXPECTED)
    assert home.palace("ledger", "check").returncode == 0
