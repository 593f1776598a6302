"""``palace mem`` and ``palace context``: what is printed, and the exit codes."""

import json
from datetime import timedelta

import pytest

from memory_palace.cli import context as context_command
from memory_palace.cli import mem as command
from memory_palace.core.ledger import tokens
from session.sessions import Session, one_of
from support.palaces import NOW, Palace


@pytest.fixture(autouse=True)
def one_o_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    for module in (command, context_command):
        monkeypatch.setattr(module, "now", lambda: NOW + timedelta(hours=1))


@pytest.fixture
def session(keyword_palace: Palace) -> Session:
    """A session that is not in an index."""
    made = Session(keyword_palace.root)
    made.said("the cache is cold")
    return made


def test_a_result_takes_few_tokens(keyword_palace: Palace, session: Session) -> None:
    """50 to 100 where sessions have the names that clients give them."""
    long = Session(keyword_palace.root, "0198f1de-7d4a-7d1e-9a3b-0c5de2f6a7b8", wing="my-project")
    contents = ["cache " + " ".join(f"{word}{n}" for word in ["what", "was"] * 9) for n in range(9)]
    long.observed_all([one_of(one, "discovery", work=10**6) for one in contents])
    for _ in range(2):
        done = keyword_palace.command("mem", "search", "cache", "--wing", "my-project")
        results = done.out.split("\n  ")
        assert (done.code, len(results)) == (0, 10)
        lines = done.out.splitlines()
        for number in range(0, len(lines), 2):
            assert 50 <= tokens("\n".join(lines[number : number + 2])) <= 100
        keyword_palace.command("index")


def test_search_as_json(keyword_palace: Palace, session: Session) -> None:
    """All keys."""
    key = session.observed("the cache is warm", "change", work=12)
    keyword_palace.command("index")
    done = keyword_palace.command("mem", "search", "warm", "--format", "jsonl")
    line = json.loads(done.out)
    assert 0 < line.pop("relevance") < line.pop("score") < 1
    assert line == {
        "id": key,
        "time": "2026-11-29T12:02:00Z",
        "type": "change",
        "title": "the cache is warm",
        "read": tokens(f"[{key}] 2026-11-29T12:02:00Z change medium\nthe cache is warm"),
        "work": 12,
        "dropped": False,
        "wing": "demo",
        "path": session.path,
        "line": 3,
        "also": [],
    }


def test_nothing_is_found(keyword_palace: Palace, session: Session) -> None:
    """Exit 1 and why; without an index that is said too."""
    done = keyword_palace.command("mem", "search", "cache")
    assert done.code == 1 and done.out == ""
    assert done.err.splitlines()[-1] == "nothing matched: try other words or fewer filters"
    assert "there is no index yet" in done.err


def test_what_is_asked_wrongly(keyword_palace: Palace, session: Session) -> None:
    """Exit 2, in one line."""
    for arguments in (
        ["search"],
        ["search", "x", "--type", "bugfx"],
        ["search", "x", "--since", "nowish"],
        ["search", "x", "--since", "2026-11-29", "--until", "2026-11-01"],
        ["search", "x", "--limit", "0"],
        ["timeline", "x"],
        ["timeline", "2026-11-29", "--all", "--wing", "demo"],
        ["get", "12"],
        ["get"],
    ):
        done = keyword_palace.command("mem", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
    assert keyword_palace.command("mem", "timeline", "0" * 12).code == 1


def test_a_hit_names_its_source(keyword_palace: Palace) -> None:
    """Its line, and the id to recall."""
    key = Session(keyword_palace.root).observed("the cache is warm", "change")
    keyword_palace.command("index")
    done = keyword_palace.command("query", "--type", "observation", "--tag", "demo", "cache")
    path = "palace/chambers/claude-code/ledger/s1.jsonl"
    assert done.out.startswith(f"1. {path}:3-3  demo > session of 2026-11-29 #{key}  (observation,")
    assert keyword_palace.command("read", f"{path}:3").code == 0
    assert keyword_palace.command("read", f"#{key}").out.startswith(f"{path}:3-3")
    for name in (key, f"#{key}"):
        assert keyword_palace.command("recall", name).out.startswith(f"[{key}] ")


def test_get_names_unknown_ids(keyword_palace: Palace, session: Session) -> None:
    """Those that are known are shown all the same."""
    key = session.observed("one two", "bugfix")
    done = keyword_palace.command("mem", "get", key, "0" * 12)
    assert done.code == 1
    assert done.out.startswith(f"[{key}] 2026-11-29T12:02:00Z bugfix medium\n")
    assert done.err == "no ledger has 000000000000: `palace mem search` finds records by words\n"


def test_context(keyword_palace: Palace, session: Session) -> None:
    """A table a session; as JSON; nothing; no room."""
    key = session.observed("one | two", "bugfix", work=5)
    done = keyword_palace.command("context", "--wing", "demo")
    assert done.code == 0 and done.out.startswith("# Recent work: demo, last 72 h\n\n## 2026-11-29")
    assert f"| {key} | 2026-11-29 12:02 | bugfix | one \\| two | " in done.out
    line = json.loads(keyword_palace.command("context", "--wing", "", "--format", "jsonl").out)
    assert (line["session"], [one["id"] for one in line["records"]]) == ("s1", [key])
    done = keyword_palace.command("context", "--wing", "none")
    assert (done.code, done.out) == (1, "")
    done = keyword_palace.command("context", "--wing", "demo", "--budget", "3")
    assert (done.code, done.out) == (1, "")
    assert done.err == "no session fits 3 tokens: give a larger --budget\n"
    assert keyword_palace.command("context", "--hours", "0").code == 2


def test_a_timeline_around_a_time_that_words_tell(keyword_palace: Palace, session: Session) -> None:
    """As far back as `--since` takes it elsewhere."""
    key = session.observed("one two", "bugfix")
    for anchor in ("1h", "today", "2026-11-29"):
        done = keyword_palace.command("mem", "timeline", anchor)
        assert (done.code, done.out[:14]) == (0, f"  {key}"), anchor


def test_an_entry_keeps_its_tabs(keyword_palace: Palace, session: Session) -> None:
    """As blanks; what else moves a cursor is told apart."""
    key = session.said("def f():\n\treturn 1\x1b[31m")
    done = keyword_palace.command("mem", "get", key)
    assert done.out.splitlines()[1:3] == ["def f():", "    return 1\\x1b[31m"]


def test_context_for_no_number_of_hours(keyword_palace: Palace) -> None:
    """It is a number to the option's type."""
    done = keyword_palace.command("context", "--hours", "nan")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: --hours 'nan' is no number: write one from 0 to 87600\n"


def test_a_summary_in_full(keyword_palace: Palace, session: Session) -> None:
    """Its parts on lines of their own, with the project and the writer; recall names the way."""
    session.summarized(request="Warm the cache", learned="It was cold")
    found = json.loads(keyword_palace.command("mem", "search", "warm", "--format", "jsonl").out)
    done = keyword_palace.command("mem", "get", found["id"])
    assert done.out.split("\n")[1:5] == [
        "Request: Warm the cache",
        "Learned: It was cold",
        "session: s1, project demo",
        "written by: claude-code@box",
    ]
    ran = keyword_palace.command("recall", found["id"])
    assert (ran.code, ran.out) == (1, "")
    told = f"{found['id']} is a summary, in {session.path}: `palace mem get {found['id']}` shows it"
    assert told in ran.err
