"""`palace watch` as people run it: a process, real files, the real watcher."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_palace.embed import minilm
from memory_palace.files import locks, roots
from memory_palace.files import manifest as manifests
from support.palaces import SCRIPTS, Palace

SECONDS = 90.0
"""Longest wait for anything; only a failure takes it."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ends its processes by signals")


class Watch:
    """A running `palace watch`. ``err`` is what it has said so far."""

    def __init__(self, palace: Palace, log: Path, *options: str, embedder: str = "none") -> None:
        self.palace = palace
        self.log = log
        with log.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, str(SCRIPTS / "palace.py"), "watch", *options],
                stderr=err,
                stdout=subprocess.PIPE,
                env=os.environ | {"PALACE_ROOT": str(palace.root), "PALACE_EMBEDDER": embedder},
            )

    @property
    def err(self) -> str:
        return self.log.read_text()

    def until(self, true: Callable[[], bool], what: str = "it never came to that") -> None:
        """Wait until something is so, while the watch runs."""
        end = time.monotonic() + SECONDS
        while not true():
            assert self.process.poll() is None, self.err
            assert time.monotonic() < end, f"{what}:\n{self.err}"
            time.sleep(0.02)

    def says(self, text: str, times: int = 1) -> None:
        """Wait until a line with ``text`` has come that often."""
        self.until(lambda: self.err.count(text) >= times, f"no `{text}`")

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def lines(self) -> list[str]:
        """What its runs have said, without the clock and the duration."""
        found = re.findall(r"^\d\d:\d\d:\d\d  (.*?)(?:; \d+\.\d\d s)?$", self.err, re.MULTILINE)
        return [str(line) for line in found]


@pytest.fixture
def watch(
    keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Watch]]:
    """Starts `palace watch` on a palace with two notes, and ends it with the test."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(topics__one="The first.", topics__two="The second.")
    started: list[Watch] = []

    def start(*options: str, embedder: str = "none") -> Watch:
        log = tmp_path / f"log{len(started)}"
        started.append(Watch(keyword_palace, log, *options, embedder=embedder))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()
        assert each.process.stdout is not None
        each.process.stdout.close()


def save(palace: Palace, path: str, text: str) -> None:
    """Save as editors do: beside it, then renamed over it, so that no run sees half of it."""
    place = palace.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_name(f".{place.name}.tmp").write_text(text)
    place.with_name(f".{place.name}.tmp").rename(place)


def git(palace: Palace, *words: str) -> None:
    """Run git in the palace, as anyone."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=palace.root, check=True, capture_output=True)


@pytest.mark.parametrize("options", [(), ("--polling",)], ids=["notified", "polling"])
def test_what_is_written_can_be_found(watch: Callable[..., Watch], options: tuple[str]) -> None:
    """Saves, renames, folders that move, deletions: the index follows, each with its line."""
    running = watch(*options)
    palace = running.palace
    running.says("added palace/topics/one.md, palace/topics/two.md")
    save(palace, "palace/topics/one.md", "The first, with a walrus.")
    running.says("changed palace/topics/one.md")
    assert palace.paths("walrus") == ["topics/one"]
    palace.write("palace/rooms/deep/er/three.md", "A heron.", old=False)
    running.says("added palace/rooms/deep/er/three.md")
    (palace.root / "palace/rooms").rename(palace.root / "palace/chambers")
    running.says("moved palace/rooms/deep/er/three.md to palace/chambers/deep/er/three.md")
    assert palace.paths("heron") == ["chambers/deep/er/three"]
    save(palace, "palace/chambers/deep/er/three.md", "A stork.")
    running.says("changed palace/chambers/deep/er/three.md")
    shutil.rmtree(palace.root / "palace/chambers")
    running.says("removed palace/chambers/deep/er/three.md")
    assert palace.paths("stork") == []
    running.until(lambda: palace.command("index", "--check").code == 0, "stale")
    assert running.end() == 0
    assert running.process.stdout is not None
    assert running.process.stdout.read() == b""


def test_own_writes_call_for_no_run(watch: Callable[..., Watch]) -> None:
    """Index, manifest, git and hidden files change beside the notes: no line more than theirs."""
    running = watch()
    palace = running.palace
    running.says("added palace/topics/one.md")
    manifest = palace.root / manifests.PATH
    written = manifest.stat().st_mtime_ns
    save(palace, "palace.yaml", "index: {exclude: ['**/drafts/**']}")
    running.says("read palace.yaml again")
    for number in range(20):
        palace.write(f"palace/topics/drafts/d{number}.md", "draft", old=False)
        palace.write(f"palace/.obsidian/w{number}.json", "{}", old=False)
        palace.write(f".git/objects/{number}", "x", old=False)
    save(palace, "palace/topics/last.md", "The last.")
    running.says("added palace/topics/last.md")
    assert manifest.stat().st_mtime_ns != written
    save(palace, "palace/topics/final.md", "The final.")
    running.says("added palace/topics/final.md")
    assert running.end() == 0
    assert running.lines() == [
        "added palace/topics/one.md, palace/topics/two.md",
        "read palace.yaml again",
        "added palace/topics/last.md",
        "added palace/topics/final.md",
    ]


def test_a_checkout_of_thousands(watch: Callable[..., Watch]) -> None:
    """A branch with many notes comes and another goes: at the end all is as on disk."""
    running = watch()
    palace = running.palace
    running.says("added palace/topics/one.md")

    palace.write(".gitignore", ".palace/\nmanifests/\n")
    git(palace, "init", "-q", "-b", "main")
    git(palace, "add", "-A")
    git(palace, "commit", "-qm", "two")
    git(palace, "checkout", "-qb", "many")
    for number in range(2000):
        palace.write(f"palace/f{number % 40}/n{number}.md", f"Note {number}.", old=False)
    git(palace, "add", "-A")
    git(palace, "commit", "-qm", "many")
    running.until(lambda: len(palace.paths("note", top_k=3000)) == 2000, "not all were found")
    git(palace, "checkout", "-q", "main")
    running.says("files are gone: if that is meant, run `")
    save(palace, "palace/topics/one.md", "The first, changed.")
    git(palace, "checkout", "-q", "many")
    running.says("changed palace/topics/one.md")
    assert running.err.count("files are gone") == 1
    running.until(lambda: palace.command("index", "--check").code == 0, "stale")
    assert running.end() == 0


def test_from_a_linked_worktree(
    watch: Callable[..., Watch], keyword_palace: Palace, tmp_path: Path
) -> None:
    """Whichever worktree asks, and by whatever link, the main one's palace is watched."""
    palace = keyword_palace
    palace.write(".gitignore", ".palace/\nmanifests/\n")
    git(palace, "init", "-q", "-b", "main")
    git(palace, "add", "-A")
    git(palace, "commit", "-qm", "two")
    git(palace, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "link").symlink_to(tmp_path / "linked")
    running = watch("--root", str(tmp_path / "link"))
    running.says(f"watching {palace.root}; ")
    running.says("added palace/topics/one.md")
    save(palace, "palace/topics/one.md", "A walrus.")
    running.says("changed palace/topics/one.md")
    assert running.end() == 0


def test_errors_in_notes_and_settings(watch: Callable[..., Watch]) -> None:
    """Each is said when it comes up, and that it is mended; none is said again in between."""
    running = watch()
    palace = running.palace
    running.says("added palace/topics/one.md")
    save(palace, "palace/topics/bad.md", "---\ntags: {\n---\ntext\n")
    running.says("palace/topics/bad.md:3: error: broken frontmatter")
    save(palace, "palace.yaml", "index: 3")
    running.says("error: palace.yaml:1: index is 3: write a mapping; until then the settings")
    save(palace, "palace/topics/two.md", "Changed meanwhile.")
    running.says("changed palace/topics/two.md")
    save(palace, "palace/topics/bad.md", "text")
    running.says("palace/topics/bad.md: mended")
    assert running.end() == 0
    assert running.err.count("broken frontmatter") == 1
    assert running.err.count("index is 3") == 1


def test_two_on_one_palace(watch: Callable[..., Watch]) -> None:
    """The second says who is there and ends with 1; after the first has gone it may."""
    first = watch()
    first.says("added palace/topics/one.md")
    second = watch()
    assert second.process.wait(SECONDS) == 1
    who = rf"error: palace watch \(process {first.process.pid}, since [\d:]+\) is watching "
    assert re.match(who, second.err)
    assert len(second.err.splitlines()) == 1
    assert first.end() == 0
    third = watch()
    third.says("watching ")
    assert third.end() == 0


def test_never_beside_another_writer(watch: Callable[..., Watch]) -> None:
    """While a build holds the lock nothing is written; who it is is said once, then the run is."""
    running = watch()
    palace = running.palace
    running.says("added palace/topics/one.md")
    with locks.writer(roots.index_folder(palace.root), "palace index"):
        save(palace, "palace/topics/one.md", "A walrus.")
        running.says("waiting for palace index (process ")
        assert "changed palace/topics/one.md" not in running.err
    running.says("changed palace/topics/one.md")
    assert running.end() == 0
    assert running.err.count("waiting for") == 1


def test_the_root_goes(watch: Callable[..., Watch]) -> None:
    """It ends by itself, says why, and makes nothing anew in that place."""
    running = watch()
    running.says("added palace/topics/one.md")
    shutil.rmtree(running.palace.root)
    assert running.process.wait(SECONDS) == 3
    last = running.err.splitlines()[-1]
    assert last.startswith(f"error: {running.palace.root} is gone: run `python3 ")
    assert not running.palace.root.exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_ended_by_a_signal(watch: Callable[..., Watch], number: int, code: int) -> None:
    """Ctrl-C is 130 as everywhere, SIGTERM 0; no lock is left and no traceback shown."""
    running = watch()
    running.says("added palace/topics/one.md")
    assert running.end(number) == code
    assert "Traceback" not in running.err
    assert not locks.is_held(running.palace.root / ".palace/watch")
    assert not (running.palace.root / ".palace/watch/writer.json").exists()


@pytest.mark.skipif(not minilm.find(None), reason="needs the model's packages")
def test_with_the_embedded_model(
    watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keywords, then vectors: a note written meanwhile is found by its meaning."""
    running = watch(embedder="minilm")
    palace = running.palace
    running.says("2 vectors")
    save(palace, "palace/topics/three.md", "The automobile would not start in the cold.")
    running.says("added palace/topics/three.md; 1 vector")
    assert running.end() == 0
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    ran = palace.command("query", "--raw", "-k", "1", "--format", "files", "a car in winter")
    assert "palace/topics/three.md" in ran.out


@pytest.mark.parametrize("value", ["5", "100000", "soon"])
def test_a_debounce_out_of_range(keyword_palace: Palace, value: str) -> None:
    """One line, code 2, nothing started."""
    ran = keyword_palace.command("watch", "--debounce", value)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "--debounce" in ran.err
    assert not (keyword_palace.root / ".palace").exists()


def test_a_palace_without_its_tree(keyword_palace: Palace) -> None:
    """There is nothing to watch: code 3 and what to do."""
    (keyword_palace.root / "palace").rmdir()
    ran = keyword_palace.command("watch")
    assert ran.code == 3
    assert "mount or restore it" in ran.err


def test_a_lock_folder_that_leads_elsewhere(keyword_palace: Palace, tmp_path: Path) -> None:
    """A symbolic link in place of `.palace` is refused, and nothing is written where it leads."""
    (tmp_path / "elsewhere").mkdir()
    (keyword_palace.root / ".palace").symlink_to(tmp_path / "elsewhere")
    ran = keyword_palace.command("watch")
    assert ran.code == 2
    assert "is a symbolic link" in ran.err
    assert not list((tmp_path / "elsewhere").iterdir())
