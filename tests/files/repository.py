"""A real git repository for tests, deaf to the configuration of whoever runs them."""

import os
import subprocess
from pathlib import Path

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Repository:
    """A repository in ``folder``, made if it is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ".git").exists():
            self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, stdin: str = "", at: int = 1_700_000_000) -> str:
        """The output of one git command; ``at`` is the time of a commit it makes."""
        dates = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            capture_output=True,
            check=True,
            input=stdin.encode(),
            env=os.environ | _ENVIRONMENT | dates,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, text: str = "text\n") -> Path:
        """Write a file of the working tree."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    def commit(self, *paths: str, at: int) -> str:
        """Commit those paths, each written with a text of its own; the commit's hash."""
        for path in paths:
            self.write(path, f"{path} at {at}\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "words", at=at)
        return self.git("rev-parse", "HEAD")

    def worktree(self, folder: Path) -> Path:
        """A linked worktree of the current commit."""
        self.git("worktree", "add", "--quiet", "--detach", str(folder))
        return folder
