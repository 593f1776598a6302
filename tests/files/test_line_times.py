"""When lines were written, as git knows it."""

from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.files import git

T = 1_700_000_000
NAMES = [
    "palace/a.md",
    "palace/two words.md",
    "palace/宮殿/\N{CASTLE}.md",
    "palace/line\nfeed.md",
    'palace/"quoted"\\.md',
    "palace/*.md",
    "-rf.md",
    ":(top)a.md",
]
LINES = "palace/topics/lessons.md"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository."""
    return Repository(tmp_path / "repository")


def test_each_line_has_the_time_of_its_commit(repository: Repository) -> None:
    """As it stands: a changed line that of its change, one that only moved down its own."""
    repository.write(LINES, "a\nb\nc\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "one", at=T)
    repository.write(LINES, "new\na\nB\nc\n")
    repository.git("commit", "--quiet", "-a", "-m", "two", at=T + 100)
    assert git.line_times(repository.folder, LINES) == {1: T + 100, 2: T, 3: T + 100, 4: T}
    repository.write(LINES, "a\nB\nonly here\nc\n")
    assert git.line_times(repository.folder, LINES) == {1: T, 2: T + 100, 4: T}
    repository.git("add", "--all")
    assert git.line_times(repository.folder, LINES) == {1: T, 2: T + 100, 4: T}


def test_a_file_without_history_has_no_times(repository: Repository, tmp_path: Path) -> None:
    """Untracked, gone, outside any repository, before the first commit."""
    repository.write(LINES, "a\n")
    assert git.line_times(repository.folder, LINES) == {}
    (repository.folder / LINES).unlink()
    repository.commit("palace/a.md", at=T)
    repository.write(LINES, "a\n")
    assert git.line_times(repository.folder, LINES) == {}
    assert git.line_times(repository.folder, "palace/gone.md") == {}
    assert git.line_times(tmp_path, LINES) == {}


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_a_file_of_any_name(repository: Repository, name: str) -> None:
    """Below the top of a repository, and whatever stands in the lines and the commit."""
    text = f"{'0' * 40} 1 1\n\ncommitter-time 7\n\ttab\ncr\r\n\xff\x0c\u2028\n"
    repository.write(f"sub/{name}", text)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", f"{'f' * 40} 1 1\n\ncommitter-time 9", at=T)
    times = git.line_times(repository.folder / "sub", name)
    assert times == dict.fromkeys(range(1, text.count("\n") + 1), T)


@pytest.mark.parametrize(
    "setting",
    ["blame.showRoot=true", "blame.blankBoundary=true",
     "blame.date=relative", "core.quotePath=true", "color.ui=always",
     "blame.coloring=repeatedLines", "core.autocrlf=true", "blame.showEmail=true", "core.abbrev=4"],
)  # fmt: skip
def test_settings_of_git_change_no_line(repository: Repository, setting: str) -> None:
    """However the user, or the repository, has set up git."""
    repository.write(LINES, "a\nb\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "one", at=T)
    repository.git("config", *setting.split("="))
    assert git.line_times(repository.folder, LINES) == {1: T, 2: T}


def test_reading_lines_runs_no_program_of_the_repository(
    repository: Repository, tmp_path: Path
) -> None:
    """No text conversion, no monitor."""
    program, trace = tmp_path / "program", tmp_path / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\ncat $1\n")
    program.chmod(0o755)
    repository.write(".gitattributes", "*.md diff=odd\n")
    repository.write(LINES, "a\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "one", at=T)
    repository.git("config", "diff.odd.textconv", str(program))
    repository.git("config", "core.fsmonitor", str(program))
    repository.write(LINES, "a\nb\n")
    assert git.line_times(repository.folder, LINES) == {1: T}
    assert not trace.exists()


def test_lines_without_git_or_in_too_much_time(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None are known, and nothing hangs."""
    repository.commit(LINES, at=T)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.line_times(repository.folder, LINES) == {}
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    slow.chmod(0o755)
    assert git.line_times(repository.folder, LINES, timeout=0.2) == {}
