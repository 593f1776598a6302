"""``palace review``: its forms, its exit codes, and what it takes for a commit."""

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from files.repository import Repository
from memory_palace.cli import review_output
from support.palaces import Ran, command

T = 1_700_000_000
A = "palace/a.md"
EVIL = "</details><script>x</script> | **x** @team #1 `x` [x](y) ~~x~~\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A palace in a repository that knows who commits."""
    repository = Repository(tmp_path / "repository")
    repository.git("config", "user.name", "a")
    repository.git("config", "user.email", "a@example.org")
    repository.write("palace.yaml", "")
    repository.write(".gitignore", ".palace/\n")
    repository.commit(A, "palace/b.md", at=T)
    return repository


def review(repository: Repository, *words: str) -> Ran:
    """Run the command."""
    return command("review", *words, root=repository.folder)


def test_nothing_changed(repository: Repository) -> None:
    """Says so, in every form."""
    assert review(repository).out.endswith(": nothing changed\n")
    assert review(repository, "--check").out == "ok: nothing changed\n"
    assert "nothing changed" in review(repository, "--format", "md").out
    lines = [json.loads(line) for line in review(repository, "--format=jsonl").out.splitlines()]
    assert [line["kind"] for line in lines] == ["review", "verdict"]


def test_the_check_names_each_problem_and_ends_with_a_verdict(repository: Repository) -> None:
    """Exit 1 for errors; a removal alone is a warning."""
    repository.write(A, "[[nowhere]]\n")
    done = review(repository, "--check")
    assert (done.code, done.out.splitlines()) == (
        1,
        [
            f"{A}:1: error: link: [[nowhere]] broken: no such note: "
            "mend the name or write the note",
            "failed: 1 error (1 link)",
        ],
    )
    assert review(repository).code == 0
    for shape in ("md", "jsonl"):
        assert review(repository, "--check", "--format", shape).code == 1
        assert review(repository, "--format", shape).code == 0


def test_it_checks_what_a_branch_brings(repository: Repository) -> None:
    """As in continuous integration: from where the branch left the other one."""
    repository.git("checkout", "--quiet", "-b", "work")
    repository.commit("palace/mine.md", at=T + 1)
    repository.git("checkout", "--quiet", "main")
    repository.write(A, "[[nowhere]]\n")
    repository.git("commit", "--quiet", "-am", "x")
    repository.git("checkout", "--quiet", "work")
    assert review(repository, "main...", "--check").out == "ok: 1 note added\n"


@pytest.mark.parametrize(
    "words",
    [("HEAD", "--format", "jsonl"), ("--format", "jsonl", "HEAD"), ("--format=jsonl", "HEAD")],
)
def test_options_stand_before_or_after_the_commit(repository: Repository, words: tuple) -> None:  # type: ignore[type-arg]
    """As in every other command."""
    assert json.loads(review(repository, *words).out.splitlines()[0])["kind"] == "review"


def test_the_value_of_an_option_is_no_subcommand(repository: Repository) -> None:
    """A palace may lie in a folder called accept."""
    done = command("review", "--root", "accept", "HEAD")
    assert done.code == 2 and "accept is not a palace root" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no commit `nowhere`"),
        (("HEAD", "HEAD"), "one commit or range, not 2"),
        (("--chek",), "no option `--chek`: did you mean `--check`?"),
        (("HEAD", "--chek"), "no option `--chek`: did you mean `--check`?"),
        (("--format", "html"), "html"),
        (("--check", "accept", A, "-m", "x"), "write options after `accept`"),
        (("accept", A), "Missing option '-m'"),
        (("accept", "-m", "x"), "Missing argument 'PATH"),
        (("accept", A, "-m", " "), "empty message"),
        (("accept", "a.md", "-m", "x"), "no path of the memory"),
        (("reject",), "Missing argument 'PATH"),
        (("reject", A, "--check"), "no option `--check`"),
    ],
)
def test_bad_usage(repository: Repository, words: tuple[str, ...], said: str) -> None:
    """Each is one line that says what to write instead."""
    done = review(repository, *words)
    assert done.code == 2 and said in done.err and len(done.err.splitlines()) == 1


def test_without_git(tmp_path: Path) -> None:
    """Something is missing: exit 3."""
    (tmp_path / "palace.yaml").write_text("")
    (tmp_path / "palace").mkdir()
    done = command("review", root=tmp_path)
    assert done.code == 3 and "git init" in done.err


def test_accept_and_reject(repository: Repository) -> None:
    """One change is committed, the other is put back, and the way to have it again works."""
    repository.write(A, "a\n")
    repository.write("palace/b.md", "b\n")
    done = review(repository, "accept", A, "-m", "why")
    head = repository.git("rev-parse", "HEAD")[:12]
    assert (done.code, done.out) == (0, f"accepted {A}\ncommit {head}\n")
    done = review(repository, "reject", "palace/b.md", "--reason", "no")
    first, second, undo = done.out.splitlines()
    assert first == "put back palace/b.md" and second.startswith("kept as refs/palace/rejected/")
    repository.git(*undo.split()[1:])
    assert (repository.folder / "palace/b.md").read_text() == "b\n"


def test_refusals(repository: Repository) -> None:
    """Exit 1, and nothing is done."""
    for words in (("accept", A, "-m", "x"), ("reject", A)):
        done = review(repository, *words)
        assert done.code == 1 and "has no change" in done.err


def test_what_a_note_says_is_no_markup_in_a_pull_request(repository: Repository) -> None:
    """Neither in words nor in metadata nor in a name, open or folded away."""
    name = "palace/<b>@x`|*.md"
    repository.write(A, "one\n")
    repository.write(name, "---\ntitle: x\n---\n" + "old stays the same text here and there\n" * 9)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    repository.write(A, f"---\ntitle: '{EVIL.strip()}'\n---\n{EVIL}one\n")
    repository.write(
        name,
        "---\ntitle: y\n---\n" + "".join(f"old {EVIL.strip()} same {n} there\n" for n in range(9)),
    )
    repository.write("palace/topics/lessons.md", f"- [lesson] {EVIL}")
    out = review(repository, "--format", "md").out
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(out)
    assert (
        "<script" not in page and "<a " not in page and "<code>" not in page and "<b>" not in page
    )
    assert page.count("<details>") == page.count("</details>") == 1
    assert "@team" not in page and "#1 " not in page
    assert "<h3>Notes</h3>" in page and "<h3>Entries</h3>" in page and page.count("<table>") == 2


def test_json_lines_have_stable_keys(repository: Repository) -> None:
    """One object a line, each with its kind."""
    repository.write(A, "---\npriority: urgent\n---\ntexts\n")
    repository.write("palace/topics/lessons.md", "- [lesson] Measure\n")
    repository.write("manifests/facts.jsonl", '{"event": "added", "subject": "a"}\n')
    repository.write("palace/x.png", "\0")
    lines = [json.loads(line) for line in review(repository, "--format", "jsonl").out.splitlines()]
    keys = {line["kind"]: sorted(line) for line in lines}
    assert keys == {
        "review": ["base", "head", "kind", "summary"],
        "note": ["change", "keys", "kind", "line", "path", "was", "why", "words"],
        "entry": sorted("after before category change id kind line path text was words".split()),
        "fact": ["event", "kind", "line", "text"],
        "log": ["added", "kind", "lost", "path"],
        "file": ["change", "kind", "path"],
        "problem": ["grade", "kind", "line", "message", "path", "problem"],
        "verdict": ["errors", "kind", "ok", "warnings"],
    }


def test_a_long_list_of_changes_is_cut(repository: Repository) -> None:
    """The text shows some and says how many more; JSON lines have all."""
    lines = [f"line {n} has words of its own that stay as they are" for n in range(40)]
    repository.write(A, "\n".join(lines))
    repository.git("commit", "--quiet", "-am", "x")
    repository.write(A, "\n".join(line.replace("words", "terms") for line in lines))
    out = review(repository).out
    assert out.count("[-words-]") == review_output.MOST_HUNKS
    assert "and 28 more changes" in out
    (note,) = [
        told
        for line in review(repository, "--format", "jsonl").out.splitlines()
        if (told := json.loads(line))["kind"] == "note"
    ]
    assert len(note["words"]) == 40


def test_no_path_moves_the_cursor(repository: Repository) -> None:
    """Names are printed on one line."""
    repository.write("palace/\x1b[31m.md", "x\n")
    assert "\x1b" not in review(repository).out + review(repository, "--format", "md").out
