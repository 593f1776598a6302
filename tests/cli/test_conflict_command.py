"""``palace conflict``: what it says, what it writes, its exit codes."""

import json
import subprocess

import pytest

from memory_palace.memory.conflict_scan import Proposal
from support.palaces import Palace

UV, PIP = "aaaaaaaaaaa1", "aaaaaaaaaaa2"
RECORD = "palace/conflict_room/t.md"


@pytest.fixture
def palace_with_a_pair(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """Two entries that contradict; no model."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.write(
        "palace/topics/preferences.md",
        f"- [preference] Use uv instead of pip ^{UV}\n- [preference] Use pip ^{PIP}\n",
    )
    return keyword_palace


def test_scan_open_resolve(palace_with_a_pair: Palace) -> None:
    """From the proposal to the decision: results on stdout, a line each."""
    run = palace_with_a_pair.command
    found = run("conflict", "scan", "--format", "jsonl")
    proposal = json.loads(found.out)
    assert found.code == 0
    assert list(proposal) == list(Proposal.__dataclass_fields__)
    made = run(*proposal["command"].split()[1:], "--title", "T")
    assert (made.code, made.out) == (0, f"opened {RECORD} (polarity)\n")
    assert run("conflict", "scan").code == 1
    done = run("conflict", "resolve", "t", "--winner", "a", "--reason", "so", "--by", "Ann")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"decided {RECORD}: topics/preferences#^{UV}, by Ann\n"


def test_list_shows_open_ones_first(palace_with_a_pair: Palace) -> None:
    """With `--open` only those; the keys of jsonl are stable; an empty list is exit 1."""
    run = palace_with_a_pair.command
    assert run("conflict", "list").code == 1
    run("conflict", "open", UV, PIP, "--title", "T")
    palace_with_a_pair.notes(
        conflict_room__a='---\nstatus: decided\nwinner: "[[x]]"\ndecided_by: Ann\n'
        "decided: 2026-11-12\n---\n# Old\n\n## Claim A\n\na\n\n## Claim B\n\nb\n"
    )
    listed = run("conflict", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["open", "decided", "x,"]
    assert listed.out.splitlines()[-1].endswith("x, by Ann 2026-11-12")
    rows = [
        json.loads(line) for line in run("conflict", "list", "--format", "jsonl").out.splitlines()
    ]
    assert [row["path"] for row in rows] == [RECORD, "palace/conflict_room/a.md"]
    assert sorted(rows[0]) == sorted(
        "path title status kind created agent a b evidence winner loser decided_by decided".split()
    )
    assert rows[0]["a"]["source"] == f"topics/preferences#^{UV}"
    only = run("conflict", "list", "--open", "--format", "jsonl")
    assert [json.loads(line)["path"] for line in only.out.splitlines()] == [RECORD]


def test_a_record_that_cannot_be_read_is_an_error(palace_with_a_pair: Palace) -> None:
    """Named, exit 1, and the others are still listed."""
    palace_with_a_pair.command("conflict", "open", UV, PIP, "--title", "T")
    palace_with_a_pair.write("palace/conflict_room/bad.md", b"\xff")
    listed = palace_with_a_pair.command("conflict", "list")
    assert (listed.code, listed.out.count("\n")) == (1, 1)
    assert "palace/conflict_room/bad.md:1: error: not UTF-8" in listed.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["open"], 2, "name both sides"),
        (["open", UV], 2, "name both sides"),
        (["open", UV, PIP, "--merge", "x"], 2, "leave out A, B"),
        (["open", "--merge", "x", "--kind", "value"], 2, "leave out A, B"),
        (["open", UV, "aaaaaaaaaaa3"], 1, "did you mean aaaaaaaaaaa"),
        (["open", UV, PIP, "--kind", "merge"], 2, "'merge' is not one of"),
        (["open", UV, PIP, "--kindd", "x"], 2, "did you mean `--kind`?"),
        (["resolve", "x", "--winner", "a"], 2, "add --reason TEXT"),
        (["resolve", "x", "--winner", "a", "--reason", "so"], 1, "no conflict is called x"),
        (["resolve", "x", "--reason", "so"], 2, "--winner"),
        (["scan", "--limit", "0"], 2, "0 is not in the range"),
    ],
)
def test_bad_input_is_one_line_with_what_to_do(
    palace_with_a_pair: Palace, arguments: list[str], code: int, said: str
) -> None:
    """2 for bad usage, 1 for what nothing has; nothing is written."""
    ran = palace_with_a_pair.command("conflict", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert said in ran.err
    assert not (palace_with_a_pair.root / "palace/conflict_room").exists()


def test_the_rest_beyond_the_limit_is_counted(palace_with_a_pair: Palace) -> None:
    """On stderr."""
    palace_with_a_pair.write(
        "palace/topics/lessons.md", "- [lesson] Keep 3 logs\n- [lesson] Keep 5 logs\n"
    )
    found = palace_with_a_pair.command("conflict", "scan", "--limit", "1", "--format", "jsonl")
    assert found.out.count("\n") == 1
    assert "1 pair more: raise --limit" in found.err


def test_with_automatic_commits_only_its_own_files_are_committed(
    palace_with_a_pair: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is the subject; both notes, the record and the log are in it."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    root = palace_with_a_pair.root
    palace_with_a_pair.write("palace.yaml", "git: {commit: auto}\n")
    palace_with_a_pair.notes(
        project_rooms__a="Retry 3 times.\n", project_rooms__b="Retry 5 times.\n"
    )
    palace_with_a_pair.write(".gitignore", ".palace/\n")

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    git("config", "user.name", "Bo Ek")
    git("config", "user.email", "bo@example.org")
    git("add", "-A")
    git("commit", "-qm", "first")
    palace_with_a_pair.write("palace/project_rooms/mine.md", "Not yet.\n")
    run = palace_with_a_pair.command
    assert run("conflict", "open", "a", "b", "--title", "T", "--reason", "which").code == 0
    done = run("conflict", "resolve", "t", "--winner", "b", "--reason", "measured")
    assert (done.code, "by Bo Ek" in done.out) == (0, True)
    assert git("log", "-2", "--format=%s").split() == ["measured", "which"]
    assert git("show", "--format=", "--name-only", "HEAD").split() == [
        "manifests/memory_events.jsonl",
        RECORD,
        "palace/project_rooms/a.md",
        "palace/project_rooms/b.md",
    ]
    assert git("status", "--porcelain").strip() == "?? palace/project_rooms/mine.md"
