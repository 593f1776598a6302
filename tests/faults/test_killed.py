"""A build that is killed, anywhere: notes untouched, questions answered, the next run converges."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.children import (
    KILLED,
    Child,
    answers,
    commands,
    deadly,
    dying,
    fill,
    fresh_answers,
    snapshot,
    text,
)
from support.palaces import SCRIPTS, Palace


def first(palace: Palace) -> tuple[str, ...]:
    """A palace that was never indexed."""
    fill(palace, 14)
    return ("index",)


def changed(palace: Palace) -> tuple[str, ...]:
    """An indexed palace in which notes came, changed, moved and went since."""
    fill(palace, 14)
    assert palace.command("index").code == 0
    for number in (2, 3):
        palace.write(f"palace/topics/n{number}.md", text(number + 50))
    palace.write("palace/topics/new.md", text(60))
    (palace.root / "palace/topics/n5.md").unlink()
    (palace.root / "palace/topics/n6.md").rename(palace.root / "palace/topics/moved.md")
    (palace.root / "palace/topics/n7.md").rename(palace.root / "palace/archive_basement/n7.md")
    return ("index",)


def forced(palace: Palace) -> tuple[str, ...]:
    """An indexed palace that is to be indexed anew."""
    fill(palace, 14)
    assert palace.command("index").code == 0
    return ("index", "--force")


def asked(palace: Palace) -> tuple[str, ...]:
    """A palace whose first question builds the index."""
    fill(palace, 14)
    return ("query", "amber")


START = [first, changed, forced, asked]
POINTS = 22


@pytest.mark.parametrize("start", START, ids=lambda s: s.__name__)
def test_killed_at_any_step(start: Callable[[Palace], tuple[str, ...]], tmp_path: Path) -> None:
    """At steps spread over the whole build, from first call to last return."""
    origin = Palace(tmp_path / "origin")
    command = start(origin)
    wanted = fresh_answers(origin)
    counted = tmp_path / "counted"
    count = Child(dying(commands(again(origin), *command), 0, counted))
    assert count.wait() == 0
    steps = int(counted.read_text())
    assert steps > 300
    before = {k.replace("/origin/", "/again/"): v for k, v in snapshot(origin).items()}
    died = 0
    for point in range(POINTS):
        palace = again(origin)
        at = 1 + point * (steps - 2) // (POINTS - 1)
        died += Child(dying(commands(palace, *command), at)).wait() == KILLED
        check(palace, wanted, before, f"step {at} of {steps}")
    assert died > POINTS * 0.9


@pytest.mark.parametrize("start", [first, changed, forced], ids=lambda s: s.__name__)
def test_killed_at_any_moment(start: Callable[[Palace], tuple[str, ...]], tmp_path: Path) -> None:
    """With SIGKILL, at moments spread over the time that the build takes."""
    origin = Palace(tmp_path / "origin")
    command = start(origin)
    wanted = fresh_answers(origin)
    before = {k.replace("/origin/", "/again/"): v for k, v in snapshot(origin).items()}
    palace = again(origin)
    started = time.monotonic()
    assert Child(commands(palace, *command)).wait() == 0
    whole = time.monotonic() - started
    for point in range(8):
        palace = again(origin)
        child = Child(commands(palace, *command))
        time.sleep(whole * (point + 0.5) / 8)
        child.kill()
        assert child.wait() in (-9, 0)
        check(palace, wanted, before, f"moment {point}")


POINTS_THAT_MATTER = [
    "memory_palace.index.catalog:create",
    "memory_palace.index.catalog:Catalog.set_meta",
    "memory_palace.index.build:_apply",
    "memory_palace.index.build:_connect_links",
    "memory_palace.files.manifest:save",
    "memory_palace.files.atomic:os.replace",
    "memory_palace.files.atomic:os.fsync",
    "memory_palace.index.vectors:VectorFile.save",
    "memory_palace.index.vectors:tidy",
    "memory_palace.index.fill:_fresh",
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", POINTS_THAT_MATTER)
def test_killed_where_it_matters(point: str, after: bool, tmp_path: Path) -> None:
    """Right before and right after each write, in a first build and in a later one."""
    for start in (first, changed):
        origin = Palace(tmp_path / start.__name__ / "origin")
        command = start(origin)
        wanted = fresh_answers(origin)
        before = {k.replace("/origin/", "/again/"): v for k, v in snapshot(origin).items()}
        palace = again(origin)
        code = Child(deadly(commands(palace, *command), point, after)).wait()
        later = start is changed and point.endswith((":create", ":_fresh"))
        assert code == (0 if later else KILLED)
        check(palace, wanted, before, point)


def test_the_script_itself_is_killed(keyword_palace: Palace) -> None:
    """`scripts/build_index_bge.py` dies of SIGKILL; the same script afterwards makes it whole."""
    fill(keyword_palace, 150)
    before = snapshot(keyword_palace)
    environment = os.environ | {"PALACE_ROOT": str(keyword_palace.root), "PALACE_EMBEDDER": "none"}
    script = [sys.executable, str(SCRIPTS / "build_index_bge.py")]
    for seconds in (0.2, 0.35, 0.5):
        process = subprocess.Popen(script, env=environment, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        assert process.wait() in (-9, 0)
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "150 notes" in done.stdout
    assert snapshot(keyword_palace) == before
    assert keyword_palace.command("index").code == 0
    assert answers(keyword_palace) == fresh_answers(keyword_palace)


def test_killed_again_and_again(keyword_palace: Palace, tmp_path: Path) -> None:
    """A build that never gets to its end in one go still gets there, bit by bit."""
    fill(keyword_palace, 20)
    wanted = fresh_answers(keyword_palace)
    deaths = 0
    for at in range(150, 4000, 150):
        code = Child(dying(commands(keyword_palace, "index"), at)).wait()
        deaths += code == KILLED
        if code == 0:
            break
    assert code == 0
    assert deaths >= 3
    assert answers(keyword_palace) == wanted
    left = sorted(p.name for p in (keyword_palace.root / ".palace/index").iterdir())
    assert len([name for name in left if name.startswith("vectors-")]) <= 2


def again(origin: Palace) -> Palace:
    """A copy of the palace, index and times included, always in the same place."""
    place = origin.root.parent / "again"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(origin.root, place, symlinks=True)
    return Palace(place)


def check(palace: Palace, wanted: dict[str, str], before: dict[str, bytes], when: str) -> None:
    """Notes as they were, a question answered, the same answers after the next run."""
    assert snapshot(palace) == before, when
    ran = palace.command("query", "--format", "files", "amber")
    assert ran.code == 0, (when, ran)
    ran = palace.command("index")
    assert ran.code == 0, (when, ran)
    assert answers(palace) == wanted, when
    ran = palace.command("index", "--check")
    assert ran.out.startswith("up to date"), (when, ran)
