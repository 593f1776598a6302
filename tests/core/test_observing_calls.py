"""Tool entries, read."""

import pytest

from core.talked import edit, shell
from memory_palace.core.observing_calls import commit, exact, kind, paths, read


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest -q tests", "pytest"),
        ("cd /srv/app && FOO=1 python3 -m pytest -q", "pytest"),
        (".venv/bin/python -m pytest", "pytest"),
        ("timeout 60 sudo make test", "make test"),
        ("npm run build", "npm build"),
        ("pnpm build", "pnpm build"),
        ("cargo test --release", "cargo test"),
        ("./scripts/deploy.sh staging", "deploy.sh"),
        ("git commit -m x", "git commit"),
        *((looking, "") for looking in ("ls", "cat a | head", "git log -3", "rg x", "sed -n 1p a")),
        ("", ""),
    ],
)
def test_which_commands_do_the_same(command: str, found: str) -> None:
    """Program and subcommand, whatever stands before them; none for what only looks."""
    assert kind(command) == found


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\n1 failed", "KeyError: 'a'"),
        (
            "error[E0277]: the trait bound is not satisfied\n   --> src/a.rs:14:11\nerror: x",
            "error[E0277]: the trait bound is not satisfied --> src/a.rs:14:11",
        ),
        (
            "assertion `left == right` failed\n  left: 1\n right: 2\nFAILED",
            "assertion 'left == right' failed left: 1 right: 2",
        ),
        (
            "--- FAIL: TestA\n    a_test.go:11: got 320, want 240\nFAIL",
            "a_test.go:11: got 320, want 240",
        ),
        (
            "denied: token has expired\nError: push failed with exit code 1",
            "denied: token has expired",
        ),
        ("build\tRun x\t2026-10-12T11:02:18Z TypeError: y is no z", "TypeError: y is no z"),
        ("something\nodd", "odd"),
        ("", ""),
    ],
)
def test_the_exact_error(output: str, found: str) -> None:
    """The line that says best what is wrong, with what was expected; never an exit code."""
    assert exact(output.split("\n")) == found


def test_a_call() -> None:
    """Commands have a kind and an error; edits what they added; a here-document is no output."""
    made = read(shell("pytest", "1 failed", failed=False))
    assert (made.key, made.failed, made.error) == ("pytest", True, "1 failed")
    assert read(edit("a.py", "x = 1\ny = 2", "x = 1")).added == ("y = 2",)
    document = read(shell("python - <<'EOF'\nraise SystemExit\nerror: x\nEOF", "fine"))
    assert (document.failed, document.output) == (False, "fine")
    assert not read(shell("grep x a", "", failed=True)).failed


@pytest.mark.parametrize(
    ("command", "output", "failed", "error"),
    [
        ("ruff check --fix", "Found 3 errors (3 fixed, 0 remaining).", False, ""),
        ("ruff check --fix", "Found 3 errors (2 fixed, 1 remaining).\nerror: x", False, "error: x"),
        ("python count.py", "Found 12 errors in the corpus\nmean 3.2", False, ""),
        ("python count.py", "Found 12 errors in the corpus\nmean 3.2", True, "mean 3.2"),
        ("pytest | tail", "FAILED a.py::t - ValueError: bad", False, "a.py::t - ValueError: bad"),
        ("git merge dev", "Auto-merging a.py\nCONFLICT (content): a.py\nmerge failed", False,
         "CONFLICT (content): a.py"),
        ("git commit -m x", "On branch main\nnothing to commit, working tree clean", True, ""),
        ("test -f a.py", "", True, ""),
        ("git commit -m x", "[main 1a2b3c4] Mend 3 failed tests\nerror: x", False, ""),
    ],
)  # fmt: skip
def test_what_went_wrong(command: str, output: str, failed: bool, error: str) -> None:
    """As the client says; without that, only where errors are counted and one is told. What was
    mended, and that there was nothing to do, is no failure."""
    made = read(shell(command, output, failed=failed))
    assert (made.failed, made.error.removeprefix("FAILED ")) == (bool(error), error)


def test_a_commit() -> None:
    """Branch, hash and subject, as git says them."""
    said = "[main (root-commit) 1a2b3c4] Begin\n 1 file changed"
    assert commit(read(shell("git commit -m Begin", said))) == ("main", "1a2b3c4", "Begin")
    assert commit(read(shell("git commit -m x", "nothing to commit"))) is None


def test_paths() -> None:
    """Paths and names of files, each once."""
    assert paths("see src/a.py, b.md and src/a.py or e.g. 3.5") == ["src/a.py", "b.md"]


@pytest.mark.parametrize(
    ("command", "output", "subject"),
    [
        ('git commit -qm "fix: a day"', "", "fix: a day"),
        ("git add -A && git commit -q -m 'Read tabs' && git push -q", "", "Read tabs"),
        ("git -C sub commit --message=wip -q", "", "wip"),
        ("git commit -qF - <<'EOF'\nfeat: dark\n\nFor Ilse.\nEOF", "", "feat: dark"),
        ("git commit -qm \"$(cat <<'EOF'\nfix: x\n\nBody\nEOF\n)\"", "", "fix: x"),
        ("git commit -qF message.txt", "", ""),
        ('git commit -qm "x"', "nothing to commit, working tree clean", ""),
        ('git commit --dry-run -m "x"', "", ""),
        ('echo "git committed -m it"', "", ""),
    ],
)
def test_a_commit_by_its_message(command: str, output: str, subject: str) -> None:
    """Where git printed nothing; none where nothing was committed or no message is there."""
    found = commit(read(shell(command, output)))
    assert found == (("", "", subject) if subject else None)
    assert commit(read(shell(command, output, failed=True))) is None
