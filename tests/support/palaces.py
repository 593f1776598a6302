"""Small palaces for tests: files from a dictionary, an index, a question, a command."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_palace.cli.main import main
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.index import run
from memory_palace.index.build import Indexed, Options
from memory_palace.search.hits import Answer, Hit
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = REPOSITORY / "scripts"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
OLD_NS = 1_700_000_000_000_000_000
"""A modification time long past, so that no file counts as fresh."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Palace:
    """A palace in a folder of the test's own."""

    def __init__(self, root: Path, choice: registry.Choice | None = None) -> None:
        self.root = root
        self.choice = choice or registry.Choice("none", "none", "")
        root.mkdir(parents=True, exist_ok=True)
        (root / "palace").mkdir(exist_ok=True)
        if not (root / "palace.yaml").exists():
            self.write("palace.yaml", "")

    def write(self, path: str, text: str | bytes, old: bool = True) -> Path:
        """Write a file; with ``old`` its time is long past, so that stat alone tells of it."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        if old:
            os.utime(place, ns=(OLD_NS, OLD_NS))
        return place

    def notes(self, **texts: str) -> None:
        """``notes(topics__a="text")`` writes ``palace/topics/a.md``."""
        for name, text in texts.items():
            self.write(f"palace/{name.replace('__', '/')}.md", text)

    @property
    def config(self) -> configs.Config:
        return configs.load(self.root, {})

    def index(self, **options: object) -> Indexed:
        """One index run with the palace's embedder."""
        return run.index(self.root, self.config, self.choice, Options(**options))  # type: ignore[arg-type]

    def ask(self, text: str = "", **fields: object) -> Answer:
        """The answer to a question, at :data:`NOW`."""
        with Searcher(self.root, self.config, self.choice) as searcher:
            return searcher.ask(Query(text=text, **fields), NOW)  # type: ignore[arg-type]

    def hits(self, text: str = "", **fields: object) -> list[Hit]:
        return self.ask(text, **fields).hits

    def paths(self, text: str = "", **fields: object) -> list[str]:
        """The paths of the hits, without ``palace/`` and ``.md``."""
        return [
            h.path.removeprefix("palace/").removesuffix(".md") for h in self.hits(text, **fields)
        ]

    def command(self, *arguments: str, stdin: str = "") -> Ran:
        """Run ``palace …`` in this process, with this palace as the root."""
        return command(*arguments, root=self.root, stdin=stdin)


def command(*arguments: str, root: Path | None = None, stdin: str = "") -> Ran:
    """Run ``palace …`` in this process and collect what it prints."""
    out, err, into = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(3))
    into.write(stdin)
    into.seek(0)
    before = {name: os.environ.get(name) for name in ("PALACE_ROOT", "XDG_CONFIG_HOME")}
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    if root is not None:
        os.environ["PALACE_ROOT"] = str(root)
    stdin_before = sys.stdin
    sys.stdin = into
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
    finally:
        sys.stdin = stdin_before
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    return Ran(code, *texts)


def script(name: str, *arguments: str, root: Path | None = None, **environment: str) -> Ran:
    """Run ``scripts/NAME`` in a process of its own."""
    env = os.environ | {"XDG_CONFIG_HOME": "/nonexistent"} | environment
    if root is not None:
        env["PALACE_ROOT"] = str(root)
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / name), *arguments],
        capture_output=True,
        env=env,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
