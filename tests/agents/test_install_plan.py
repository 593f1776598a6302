"""Writing: all files or none, through links, over nothing that moved on."""

import errno
import os
import stat
from pathlib import Path

import pytest

from memory_palace.agents.install import plan
from memory_palace.agents.install.entries import Edited
from memory_palace.agents.install.plan import Edit
from memory_palace.agents.install.site import Site
from memory_palace.core.errors import BadInput, Changed
from memory_palace.files import atomic


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A user's settings."""
    return Site(tmp_path, tmp_path, {})


def appended(text: str | None) -> Edited:
    """A line more."""
    return (text or "") + "ours\n", ("a line",)


def removed(text: str | None) -> Edited:
    """No file."""
    return None, ("the file",)


def test_a_link_into_a_folder_of_dotfiles_is_written_through(site: Site) -> None:
    """The link stays a link, what it leads to is written, and keeps its mode."""
    real = site.home / "dotfiles" / "settings"
    real.parent.mkdir()
    real.write_text("mine\n")
    real.chmod(0o600)
    link = site.home / "settings"
    link.symlink_to(real)
    plan.apply(site, plan.plan(site, [Edit(link, appended)]))
    assert link.is_symlink()
    assert real.read_text() == "mine\nours\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_link_that_leads_out_of_a_project_is_refused(site: Site) -> None:
    """A stranger's repository must not choose what is written elsewhere."""
    (site.home / "project").mkdir()
    link = site.home / "project" / "settings"
    link.symlink_to(site.home / "secret")
    project = Site(site.home, site.home / "project", {}, project=True)
    with pytest.raises(BadInput, match="settings leads out of the project"):
        plan.plan(project, [Edit(link, appended)])


@pytest.mark.parametrize("kind", ["loop", "folder", "pipe", "below a file"])
def test_what_is_no_file_is_refused(kind: str, site: Site) -> None:
    """A link to itself, a folder, a pipe, a path through a file: named, and not waited for."""
    path = site.home / "settings"
    if kind == "loop":
        path.symlink_to(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.touch()
        path = path / "below"
    with pytest.raises(BadInput, match="settings"):
        plan.plan(site, [Edit(path, appended)])


def test_nothing_stays_of_a_run_that_fails_half_way(site: Site) -> None:
    """A file that moved on stops the run, and those written before it are as they were."""
    first, made, gone, last = (site.home / name for name in ("first", "made", "gone", "last"))
    for path in (first, gone, last):
        path.write_text("mine\n")
    edits = [Edit(first, appended), Edit(made, appended), Edit(gone, removed), Edit(last, appended)]
    changes = plan.plan(site, edits)
    last.write_text("another's\n")
    with pytest.raises(Changed, match="last changed underneath"):
        plan.apply(site, changes)
    texts = {path.name: path.read_text() for path in site.home.iterdir()}
    assert texts == {"first": "mine\n", "gone": "mine\n", "last": "another's\n"}


def test_a_file_that_moved_on_is_not_removed(site: Site) -> None:
    """Removing compares what was read as writing does."""
    path = site.home / "a"
    path.write_text("mine\n")
    changes = plan.plan(site, [Edit(path, removed)])
    path.write_text("more\n")
    with pytest.raises(Changed):
        plan.apply(site, changes)
    assert path.read_text() == "more\n"


def test_two_edits_of_one_file_are_one_change(site: Site) -> None:
    """CLAUDE.md may be a link to AGENTS.md: the second edit works on what the first made."""
    file, link = site.home / "AGENTS.md", site.home / "CLAUDE.md"
    file.write_text("mine\n")
    link.symlink_to(file)
    (change,) = plan.plan(site, [Edit(file, appended), Edit(link, appended)])
    assert change.what == ("a line", "a line")
    plan.apply(site, [change])
    assert file.read_text() == "mine\nours\nours\n"


def test_a_write_that_fails_names_the_file(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the temporary one beside it."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/x/.settings.1.tmp")

    monkeypatch.setattr(atomic, "write", full)
    changes = plan.plan(site, [Edit(site.home / "settings", appended)])
    with pytest.raises(OSError, match="No space left") as fault:
        plan.apply(site, changes)
    assert fault.value.filename == str(changes[0].target)


def test_reading_a_pipe_does_not_wait(site: Site) -> None:
    """The doctor reads whatever is there."""
    os.mkfifo(site.home / "settings")
    assert plan.read(site.home / "settings") == "{}"


def test_folders_that_are_left_empty_go_too(site: Site) -> None:
    """Up to the home; one with something else in it stays."""
    kept, gone = site.home / "a" / "b" / "c", site.home / "x" / "y" / "z"
    for path in (kept, gone):
        path.parent.mkdir(parents=True)
        path.touch()
    (site.home / "a" / "mine").touch()
    plan.apply(site, plan.plan(site, [Edit(kept, removed), Edit(gone, removed)]))
    assert {path.name for path in site.home.rglob("*")} == {"a", "mine"}


def test_the_diff_names_files_as_a_person_does(site: Site) -> None:
    """From `~`, with nothing as `/dev/null`."""
    (site.home / "a").write_text("mine\n")
    made, changed = plan.plan(
        site, [Edit(site.home / "b", appended), Edit(site.home / "a", appended)]
    )
    assert plan.diff(site, made) == "--- /dev/null\n+++ ~/b\n@@ -0,0 +1 @@\n+ours"
    assert plan.diff(site, changed) == "--- ~/a\n+++ ~/a\n@@ -1 +1,2 @@\n mine\n+ours"
    assert not (site.home / "b").exists()
