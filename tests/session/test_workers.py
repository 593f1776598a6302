"""Who observes: the rules, or the user's command, which may cite only what it was given."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.ledger import record_id
from memory_palace.session import workers
from memory_palace.session.workers import Command, WorkerFault
from session.ledgered import Ledgered, of


@pytest.fixture
def talk(tmp_path: Path) -> Ledgered:
    """A session with two entries."""
    made = Ledgered(tmp_path / "root")
    made.say("make test", "tool", tool="Bash", files=["src/a.py", "src/b.py"], failed=True)
    made.say("It is mended")
    return made


def command(talk: Ledgered, answer: Any, told: Path | None = None) -> Command:
    """One that answers the same whatever it is given, and keeps that."""
    keep = f"open({str(told)!r}, 'w').write(sys.stdin.read())" if told else "sys.stdin.read()"
    code = f"import sys; {keep}; print({json.dumps(answer)!r})"
    return Command([sys.executable, "-I", "-c", code], 20, talk.root, "s1", "demo")


def test_the_rules_are_the_default(talk: Ledgered) -> None:
    """And a command only where the user's own configuration names one."""
    assert isinstance(workers.chosen(talk.root), workers.Rules)


def test_what_an_observer_is_told_and_tells(talk: Ledgered, tmp_path: Path) -> None:
    """Entries without empty keys; files, room, work and time follow from the sources."""
    first, second = talk.entries
    found = {
        "content": "The tests\n failed: ghp_" + "a1B2" * 9,
        "relevance": "high",
        "sources": [first.id],
        "id": "ignored",
        "files": ["/etc/passwd"],
        "tokens": 7,
    }
    told = tmp_path / "told"
    (made,) = command(talk, {"observations": [found]}, told).observe(talk.entries)
    assert made.content.startswith("The tests failed: [SECRET")
    assert made.id == record_id(made.content) and made.covers_up_to == second.id
    assert (made.files, made.room) == (("src/a.py", "src/b.py"), "src")
    assert (made.at, made.work) == (first.at, first.tokens)
    assert json.loads(told.read_text()) == {
        "stage": "observe",
        "session": "s1",
        "wing": "demo",
        "entries": [
            {
                "id": first.id,
                "at": "2026-11-29T12:00:01Z",
                "role": "tool",
                "tool": "Bash",
                "failed": True,
                "files": ["src/a.py", "src/b.py"],
                "text": "make test",
            },
            {
                "id": second.id,
                "at": "2026-11-29T12:00:02Z",
                "role": "user",
                "text": "It is mended",
            },
        ],
    }


def test_what_a_reflector_is_told_and_tells(talk: Ledgered, tmp_path: Path) -> None:
    """Each observation with how many reflections cite it."""
    one = of("The tests failed", talk.entries[0], relevance="high")
    told = tmp_path / "told"
    answer = {"reflections": [{"content": "Run the tests", "supports": [one.id]}]}
    worker = command(talk, answer, told)
    (made,) = worker.reflect([one], {one.id: "partial"}, talk.at)
    assert (made.content, made.supports) == ("Run the tests", (one.id,))
    assert json.loads(told.read_text())["observations"] == [
        {
            "id": one.id,
            "content": "The tests failed",
            "at": "2026-11-29T12:00:00Z",
            "relevance": "high",
            "support": "partial",
        }
    ]
    other = {"reflections": [answer["reflections"][0] | {"supports": ["f" * 12]}]}
    with pytest.raises(WorkerFault, match=r"reflections\[0\]: no observation 'f{12}' was given"):
        command(talk, other).reflect([one], {}, talk.at)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({}, "no list of objects `observations`"),
        ({"observations": {}}, "no list of objects"),
        ({"observations": ["x"]}, "no list of objects"),
        ({"observations": [{}]}, r"observations\[0\]: `content` is missing"),
        ({"observations": [{"content": "<private>x", "relevance": "low"}]}, "`content` is missing"),
        ({"observations": [{"content": "x", "relevance": "low"}]}, "`sources` names nothing"),
        ({"observations": [{"content": "x" * 20_000, "relevance": "no"}]}, "relevance `no`"),
    ],
)
def test_one_bad_record_refuses_all(talk: Ledgered, answer: Any, why: str) -> None:
    """With the place in what it printed."""
    with pytest.raises(WorkerFault, match=why):
        command(talk, answer).observe(talk.entries)


def test_a_deliberate_nothing(talk: Ledgered) -> None:
    """An empty list is an answer."""
    assert command(talk, {"observations": []}).observe(talk.entries) == ()
    assert command(talk, {"reflections": []}).reflect([], {}, talk.at) == ()
