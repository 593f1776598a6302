"""``palace findings``: what is printed, and the exit codes."""

import json
from pathlib import Path

import pytest

from memory_palace.cli import findings as command
from support.palaces import NOW, Palace, Ran

STORE = "palace/project_rooms/demo/reviews.jsonl"


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    monkeypatch.setattr(command, "now", lambda: NOW)


def add(palace: Palace, *words: str) -> Ran:
    """Add a finding from options."""
    return palace.command(
        *("findings", "add", "--repository", "demo", "--path", "src/a.py", "--line", "3"),
        *("--body", "No test here", *words),
    )


def key(palace: Palace) -> str:
    """The id of the only finding."""
    return str(json.loads(palace.command("findings", "list", "--format", "jsonl").out)["id"])


def test_add_and_list(keyword_palace: Palace) -> None:
    """A line each, all keys as JSON, and filters."""
    done = add(keyword_palace, "--pull-request", "7", "--severity", "high", "--head", "1a2b")
    one = key(keyword_palace)
    assert (done.code, done.out, done.err) == (0, f"added {one}  src/a.py:3\n", "")
    listed = keyword_palace.command("findings", "list", "--open", "--path", "src/a.py")
    assert listed.out == f"{one}  posted    demo  src/a.py:3  No test here\n"
    data = json.loads(keyword_palace.command("findings", "list", "--format", "jsonl").out)
    assert list(data) == [
        *("id", "repository", "pull_request", "head", "path", "line", "body", "severity"),
        *("kind", "status", "skip_reason", "resolution", "answer", "context", "at", "by"),
    ]
    assert (data["pull_request"], data["kind"]) == (7, None)
    none = keyword_palace.command("findings", "list", "--path", "src/b.py")
    assert (none.code, none.out) == (1, "")
    assert none.err == "no finding: `palace findings add` keeps one\n"


def test_add_from_json(keyword_palace: Palace) -> None:
    """Bad items are told, the rest is kept, and the exit code is 2."""
    items = [
        {"path": "a.py", "line": 1, "body": "One", "repository": "other"},
        {"path": "a.py", "line": "1", "body": "Two"},
        {"path": "b.py", "line": 2, "body": "Three"},
    ]
    words = ("findings", "add", "--json", "-", "--repository", "demo")
    done = keyword_palace.command(*words, stdin=json.dumps(items))
    assert done.code == 2
    assert [line.split("  ")[1] for line in done.out.splitlines()] == ["a.py:1", "b.py:2"]
    assert done.err == "item 2: `line` is '1': write a whole number from 1\n"
    listed = keyword_palace.command("findings", "list")
    assert [line.split()[2] for line in listed.out.splitlines()] in (
        ["demo", "other"],
        ["other", "demo"],
    )


def test_check(keyword_palace: Palace, tmp_path: Path) -> None:
    """Raise or skip, in both formats; bad lines are told and end in exit code 2."""
    add(keyword_palace)
    one = key(keyword_palace)
    file = tmp_path / "c.jsonl"
    file.write_text(
        '{"path": "src/a.py", "line": 5, "body": "no test here"}\n'
        '{"path": "src/a.py"\n'
        '{"path": "src/b.py", "line": 5, "body": "Bad name"}\n'
    )
    words = ("findings", "check", str(file), "--repository", "demo")
    done = keyword_palace.command(*words)
    assert done.code == 2
    assert done.out == f"skip   src/a.py:5  already raised ({one})\nraise  src/b.py:5  new\n"
    assert done.err.startswith("item 2: is no JSON (")
    shaped = keyword_palace.command(*words, "--format", "jsonl")
    assert [json.loads(line) for line in shaped.out.splitlines()] == [
        {"index": 1, "decision": "skip", "why": "already raised", "finding": one},
        {"index": 3, "decision": "raise", "why": "new", "finding": None},
    ]
    assert keyword_palace.command("findings", "check", "-", stdin="[]").code == 0


def test_check_says_what_is_wrong_in_the_store(keyword_palace: Palace) -> None:
    """The candidates are answered all the same; exit code 1."""
    keyword_palace.write(STORE, '{"id": 1}\n')
    item = '{"path": "a", "line": 1, "body": "b", "repository": "demo"}'
    done = keyword_palace.command("findings", "check", "-", stdin=item)
    assert (done.code, done.out) == (1, "raise  a:1  new\n")
    assert done.err == f"{STORE}:1: error: `id` is 1: write 12 hex digits, or leave it out\n"


def test_changed_code_is_raised_again(keyword_palace: Palace, tmp_path: Path) -> None:
    """The lines around the place are compared in the working tree."""
    source = tmp_path / "work"
    (source / "src").mkdir(parents=True)
    code = source / "src/a.py"
    code.write_text("one\ntwo\nthree\n")
    skip = ("--status", "skipped", "--skip-reason", "a helper", "--source", str(source))
    assert add(keyword_palace, *skip).code == 0
    one = key(keyword_palace)
    words = ("findings", "check", "-", "--repository", "demo", "--source", str(source))
    item = '{"path": "src/a.py", "line": 3, "body": "No test here"}'
    done = keyword_palace.command(*words, stdin=item)
    why = "skipped before: a helper (the code is unchanged)"
    assert done.out == f"skip   src/a.py:3  {why} ({one})\n"
    code.write_text("one\ntwo!\nthree\n")
    done = keyword_palace.command(*words, stdin=item)
    assert done.out == f"raise  src/a.py:3  the code changed since it was skipped ({one})\n"


def test_resolve(keyword_palace: Palace) -> None:
    """The resolution shows in the list, and the finding is no longer open."""
    add(keyword_palace)
    one = key(keyword_palace)
    done = keyword_palace.command("findings", "resolve", one, "resolved_no_fix", "--answer", "no")
    assert (done.code, done.out) == (0, f"resolved_no_fix {one}  src/a.py:3\n")
    assert "  no_fix    demo" in keyword_palace.command("findings", "list").out
    assert keyword_palace.command("findings", "list", "--open").code == 1


def test_guideline(keyword_palace: Palace) -> None:
    """Written once; a candidate of that kind is skipped, and the guideline is named."""
    words = ("findings", "guideline", "unused import", "generated code", "--repository", "demo")
    place = "palace/project_rooms/demo/review_guidelines.md:7"
    assert keyword_palace.command(*words).out == f"added: {place}\n"
    assert keyword_palace.command(*words).out == f"there already: {place}\n"
    item = '{"path": "a", "line": 1, "body": "b", "kind": "unused_import", "repository": "demo"}'
    done = keyword_palace.command("findings", "check", "-", stdin=item)
    assert done.out == "skip   a:1  guideline: Do not flag unused import — generated code\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("add",), 2, "`repository` is missing: write it"),
        (("add", "--repository", "a/b"), 2, "write its name alone"),
        (("add", "--repository", "a", "--line", "x"), 2, "'x' is not a valid integer"),
        (("add", "--json", "nowhere.json"), 2, "nowhere.json cannot be read"),
        (("check", "nowhere.json"), 2, "nowhere.json cannot be read"),
        (("check",), 2, "Missing argument 'FILE'"),
        (("resolve", "0" * 12, "resolved_fixed"), 1, "no finding has the id"),
        (("resolve", "0" * 12, "fixed"), 2, "'fixed' is not one of"),
        (("guideline", "a", "b"), 2, "Missing option '--repository'"),
        (("guideline", "a — c", "b", "--repository", "demo"), 2, "reword"),
    ],
)
def test_bad_input(keyword_palace: Palace, words: tuple[str, ...], code: int, said: str) -> None:
    """One line that says what is wrong, and nothing is written."""
    done = keyword_palace.command("findings", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not (keyword_palace.root / "palace/project_rooms").exists()


def test_meaning_is_compared_where_words_differ(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the palace's embedder; one that is missing is told once, and words decide."""
    words = ("--repository", "demo")
    body = "The file handle is never closed"
    add(keyword_palace, "--body", body)
    item = '{"path": "src/a.py", "line": 3, "body": "This file handle is not being closed"}\n'
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    done = keyword_palace.command("findings", "check", "-", *words, stdin=item)
    assert done.out.startswith("skip   src/a.py:3  already raised")
    monkeypatch.setenv("PALACE_EMBEDDER", "bge-m3")
    monkeypatch.setenv("PALACE_BGE_M3_DIR", "/nonexistent")
    done = keyword_palace.command(
        "findings", "check", "-", *words, stdin=item + item.replace("3", "4")
    )
    assert done.out.startswith("raise  src/a.py:3  new")
    assert done.err.count("only common words are compared") == 1
