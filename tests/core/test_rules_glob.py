"""Globs of files, against git's own."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core.rules_glob import fault, matches


@pytest.mark.parametrize(
    ("glob", "path", "holds"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("a.py", "src/a.py", True),
        ("/a.py", "src/a.py", False),
        ("/a.py", "a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "lib/src/a.py", False),
        ("src/**", "src/deep/a.py", True),
        ("src/**", "src", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("**/api/**", "x/api/y", True),
        ("**/a.py", "/full/path/a.py", True),
        ("docs", "docs/x/y.md", True),
        ("docs/", "docs/x/y.md", True),
        ("docs/", "x/docs/y.md", True),
        ("docs/", "docs", False),
        ("**", "anything/at/all", True),
        ("?.md", "a.md", True),
        ("?.md", "ab.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("[^ab].md", "c.md", True),
        ("[a-c]x.md", "bx.md", True),
        ("[]x].md", "].md", True),
        ("[x.md", "[x.md", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
        ("a**b", "axyb", True),
        ("tmp/**", "/tmp/x", False),
        ("日本*.md", "日本語.md", True),
    ],
)
def test_what_a_glob_names(glob: str, path: str, holds: bool) -> None:
    """As in a .gitignore: names anywhere, paths from the top, folders with all in them."""
    assert matches(glob, path) is holds


@pytest.mark.parametrize(
    "glob", ["~/.ssh/**", "../x", "a/../b", "!a", "/", "//", "./a", "a//b", "*.{ts,tsx}"]
)
def test_globs_that_cannot_be_used(glob: str) -> None:
    """Outside the project, negated, naming nothing, or fitting no path by their look."""
    assert fault(glob)
    assert not fault("{{cookiecutter.x}}/a.py")


def test_a_glob_of_many_stars_is_soon_done() -> None:
    """No star makes the others start again."""
    assert not matches("*a" * 40 + "b", "a" * 4000)
    assert not matches("/".join(["**", "a"] * 20) + "/b", "/".join(["a"] * 200))


PART = st.text(alphabet="ab*?", min_size=1, max_size=4).filter(lambda part: part.count("**") == 0)
GLOB = st.lists(st.one_of(PART, st.just("**")), min_size=1, max_size=4).map("/".join)
PATH = st.lists(st.text(alphabet="ab", min_size=1, max_size=3), min_size=1, max_size=4).map(
    "/".join
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty repository."""
    root = tmp_path_factory.mktemp("globs")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@given(glob=st.tuples(st.sampled_from(["", "/"]), GLOB, st.sampled_from(["", "/"])), path=PATH)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_git_says_the_same(repository: Path, glob: tuple[str, str, str], path: str) -> None:
    """Of any small pattern and path."""
    pattern = "".join(glob)
    (repository / ".gitignore").write_text(pattern + "\n")
    asked = ["git", "-C", str(repository), "check-ignore", "-q", "--no-index", path]
    ignored = subprocess.run(asked, check=False).returncode == 0
    assert matches(pattern, path) is ignored
