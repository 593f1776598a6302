"""Indexing: what changed, what is kept, what is refused."""

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from memory_palace.core.errors import Missing, Refused
from memory_palace.files import manifest as manifests
from memory_palace.index import catalog as catalogs
from memory_palace.index import run
from memory_palace.index.build import Options
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace


def rows(palace: Palace, query: str) -> list[tuple]:
    """What the main catalog answers to ``query``."""
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as catalog:
        return catalog.db.execute(query).fetchall()


def bytes_of_notes(palace: Palace) -> dict[str, bytes]:
    """Every file below palace/ with its bytes."""
    found = (palace.root / "palace").rglob("*")
    return {str(p): p.read_bytes() for p in found if p.is_file()}


def test_a_first_run_adds_and_a_second_changes_nothing(palace: Palace) -> None:
    """Indexing is idempotent, and says so."""
    palace.notes(topics__a="# A\none", topics__b="# B\ntwo")
    first, second = palace.index(), palace.index()
    assert first.changes.added == ["palace/topics/a.md", "palace/topics/b.md"]
    assert (first.files, first.chunks, first.vectors) == (2, 2, 2)
    assert not second.changes.any
    assert second.changes.unchanged == 2
    assert second.vectors == 0
    assert not second.manifest_written


def test_indexing_never_writes_to_a_note(palace: Palace) -> None:
    """Whatever the notes look like, their bytes stay."""
    palace.write("palace/a.md", b"\xef\xbb\xbf---\r\ntitle: 'x'   # why\r\n---\r\nbody")
    palace.write("palace/b.md", "---\nbroken: [\n---\nbody")
    palace.write("palace/c.md", b"\xff\xfe")
    before = bytes_of_notes(palace)
    palace.index()
    palace.index(force=True)
    assert bytes_of_notes(palace) == before


def test_changed_removed_and_moved_files_are_told_apart(palace: Palace) -> None:
    """A file with the same text in another place has moved."""
    palace.notes(a="# A\nalpha", b="# B\nbeta", c="# C\ngamma")
    palace.index()
    palace.write("palace/a.md", "# A\nalpha and more")
    (palace.root / "palace/b.md").unlink()
    (palace.root / "palace/rooms").mkdir()
    (palace.root / "palace/c.md").rename(palace.root / "palace/rooms/d.md")
    changes = palace.index().changes
    assert changes.changed == ["palace/a.md"]
    assert changes.removed == ["palace/b.md"]
    assert changes.moved == {"palace/rooms/d.md": "palace/c.md"}
    assert changes.added == []


def test_a_moved_or_renamed_note_keeps_its_vectors(palace: Palace, embedder: FakeEmbedder) -> None:
    """Vectors are keyed by text, not by place."""
    palace.notes(a="some text without a title\n\n## Part\nand a part")
    palace.index()
    embedder.embedded.clear()
    (palace.root / "palace/a.md").rename(palace.root / "palace/b.md")
    palace.index()
    assert embedder.embedded == []
    assert palace.paths("text") == ["b"]


def test_one_changed_note_embeds_its_changed_chunks_only(
    palace: Palace, embedder: FakeEmbedder
) -> None:
    """A line on top of a note of 40 sections costs one vector."""
    sections = "".join(f"## S{n}\n\n{'word ' * 80}{n}\n\n" for n in range(40))
    palace.notes(a=f"# Long\n\n{sections}", b="# B\nother")
    palace.index()
    embedder.embedded.clear()
    palace.notes(a=f"A new line.\n\n# Long\n\n{sections}")
    palace.index()
    assert len(embedder.embedded) == 1


def test_equal_texts_share_one_vector(palace: Palace, embedder: FakeEmbedder) -> None:
    """Two notes with one text are embedded once, and one of them stands for both."""
    palace.notes(a="the same words", b="the same words")
    palace.index()
    assert len(embedder.embedded) == 1
    (hit,) = palace.hits("same words")
    assert [hit.path, *(same.path for same in hit.same)] == ["palace/a.md", "palace/b.md"]
    (palace.root / "palace/a.md").unlink()
    palace.index()
    assert palace.paths("same words") == ["b"]


def test_vectors_of_removed_text_leave_the_store(palace: Palace) -> None:
    """Nothing refers to them any more, so they go."""
    palace.notes(a="alpha", b="beta")
    palace.index()
    (palace.root / "palace/a.md").unlink()
    palace.index()
    assert rows(palace, "SELECT count(*) FROM vectors") == [(1,)]


def test_an_edit_of_equal_size_and_time_is_seen_while_the_file_was_fresh(palace: Palace) -> None:
    """A file indexed within seconds of its writing is hashed once more."""
    place = palace.write("palace/a.md", "first words", old=False)
    stat = place.stat()
    palace.index()
    place.write_text("other words")
    os.utime(place, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    assert palace.index().changes.changed == ["palace/a.md"]


def test_verify_finds_an_edit_that_kept_size_and_time(palace: Palace) -> None:
    """``--verify`` trusts no stat."""
    palace.notes(a="first words")
    palace.index()
    palace.notes(a="other words")
    assert not palace.index().changes.any
    assert palace.index(verify=True).changes.changed == ["palace/a.md"]


def test_problems_are_listed_at_every_run_until_they_are_mended(palace: Palace) -> None:
    """An unchanged broken note is still a broken note."""
    palace.notes(a="---\ntitle: [\n---\nbody", b="fine")
    for _ in range(2):
        problems = palace.index().problems
        assert [(p.path, p.line, p.grade) for p in problems] == [("palace/a.md", 3, "error")]
    assert palace.paths("body") == ["a"]
    palace.notes(a="---\ntitle: x\n---\nbody")
    assert palace.index(verify=True).problems == []


def test_a_file_that_cannot_be_reached_stays_as_it_was(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passing read fault forgets nothing and is forgotten itself."""
    from memory_palace.core.problems import Problem
    from memory_palace.files import read

    palace.notes(a="---\npriority: urgent\n---\nalpha")
    palace.index()
    real = read.read_bytes
    fault = read.Unreadable(Problem("palace/a.md", None, "cannot be read (I/O error): x"), False)
    palace.write("palace/a.md", "---\npriority: urgent\n---\nalpha 2", old=False)

    def read_bytes(root: Path, path: str, *rest: object, **named: object) -> object:
        return fault if path == "palace/a.md" else real(root, path, *rest, **named)

    monkeypatch.setattr(read, "read_bytes", read_bytes)
    assert fault.problem in palace.index().problems
    monkeypatch.setattr(read, "read_bytes", real)
    done = palace.index()
    assert done.changes.changed == ["palace/a.md"]
    assert [p.message.split(":")[0] for p in done.problems] == ["`priority` is 'urgent'"]


@pytest.mark.parametrize("how", ["plain", "force", "no index"])
def test_a_mass_deletion_is_refused_until_it_is_confirmed(palace: Palace, how: str) -> None:
    """More than 30 % and at least 20 files gone: nothing is changed without --yes."""
    palace.notes(**{f"n{i}": f"text {i}" for i in range(40)})
    palace.index()
    manifest = (palace.root / manifests.PATH).read_bytes()
    for i in range(25):
        (palace.root / f"palace/n{i}.md").unlink()
    if how == "no index":
        shutil.rmtree(palace.root / ".palace")
    with pytest.raises(Refused, match="25 of 40 files"):
        palace.index(force=how == "force")
    assert (palace.root / manifests.PATH).read_bytes() == manifest
    assert palace.index(yes=True).files == 15


def test_a_mass_deletion_in_the_archive_is_refused_too(palace: Palace) -> None:
    """Cold notes are worth as much."""
    palace.notes(**{f"archive_basement__n{i}": f"text {i}" for i in range(25)}, live="x")
    palace.index()
    shutil.rmtree(palace.root / "palace/archive_basement")
    with pytest.raises(Refused, match="25 of 25 files"):
        palace.index()


def test_moving_a_whole_folder_is_no_deletion(palace: Palace) -> None:
    """Forty notes with the same text elsewhere are forty moves."""
    palace.notes(**{f"old__n{i}": f"text {i}" for i in range(40)})
    palace.index()
    (palace.root / "palace/old").rename(palace.root / "palace/new")
    changes = palace.index().changes
    assert len(changes.moved) == 40
    assert changes.removed == []


def test_a_tree_that_is_not_there_changes_nothing(palace: Palace) -> None:
    """Missing is not deleted."""
    palace.notes(a="alpha")
    palace.index()
    (palace.root / "palace").rename(palace.root / "elsewhere")
    with pytest.raises(Missing, match="nothing was changed"):
        palace.index()
    assert rows(palace, "SELECT path FROM files") == [("palace/a.md",)]


def test_a_folder_that_cannot_be_listed_keeps_its_notes(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are reported as unseen, not as gone."""
    palace.notes(a="alpha", sub__b="beta")
    palace.index()
    real = os.scandir

    def scandir(path: str | os.PathLike[str]) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    done = palace.index()
    assert done.changes.removed == []
    assert [p.path for p in done.errors] == ["palace/sub"]
    assert "palace/sub/b.md" in (palace.root / manifests.PATH).read_text()


def test_another_embedder_makes_the_vectors_anew(tmp_path: Path) -> None:
    """Vectors of two embedders never meet."""
    old, new = FakeEmbedder(salt="a"), FakeEmbedder(salt="b", dimension=16)
    palace = Palace(tmp_path / "root", fake_choice(old))
    palace.notes(a="alpha", b="beta")
    palace.index()
    palace.choice = fake_choice(new)
    assert palace.index().vectors == 2
    assert sorted(new.embedded) == ["alpha", "beta"]
    assert palace.paths("alpha", raw=True) == ["a"]


def test_without_an_embedder_existing_vectors_are_left_alone(palace: Palace) -> None:
    """Switching to keywords and back costs nothing."""
    palace.notes(a="alpha")
    palace.index()
    with_vectors = palace.choice
    palace.choice = Palace(palace.root).choice
    assert palace.index().pending == 0
    palace.choice = with_vectors
    assert palace.index().vectors == 0


def test_a_killed_phase_two_goes_on_where_it_stopped(
    palace: Palace, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved is not embedded again."""
    from memory_palace.index import fill

    monkeypatch.setattr(fill, "BATCH", 10)
    monkeypatch.setattr(fill, "_SAVE_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(fill, "_SAVING_SHARE", 0.0)
    palace.notes(**{f"n{i}": f"text number {i}" for i in range(45)})
    real = embedder.embed_passages

    def failing(texts: list[str]) -> object:
        if len(embedder.embedded) >= 30:
            raise RuntimeError("killed")
        return real(texts)

    monkeypatch.setattr(embedder, "embed_passages", failing)
    with pytest.raises(RuntimeError):
        palace.index()
    monkeypatch.setattr(embedder, "embed_passages", real)
    embedder.embedded.clear()
    assert palace.index().vectors == len(embedder.embedded) == 15
    assert len(set(palace.paths("text number", top_k=50))) == 45


def test_an_interrupted_save_is_not_repeated(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a save leaves catalog and vectors in step."""
    from memory_palace.index.vectors import VectorFile

    palace.notes(a="alpha", b="beta")
    real = VectorFile.save
    monkeypatch.setattr(VectorFile, "save", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        palace.index()
    monkeypatch.setattr(VectorFile, "save", real)
    assert palace.index().vectors == 2
    store = VectorFile.open(
        palace.root / ".palace/index",
        int(rows(palace, "SELECT value FROM meta WHERE key = 'generation'")[0][0]),
    )
    assert len(store) == 2


@pytest.mark.parametrize("damage", ["truncate", "empty", "text", "format"])
def test_a_damaged_catalog_is_made_anew(palace: Palace, damage: str) -> None:
    """Everything in it comes from the files."""
    palace.notes(a="alpha", b="beta")
    palace.index()
    place = palace.root / ".palace/index" / catalogs.MAIN
    if damage == "format":
        with sqlite3.connect(place) as db:
            db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
    else:
        data = {"truncate": place.read_bytes()[:5000], "empty": b"", "text": b"no database"}[damage]
        for suffix in ("-wal", "-shm"):
            place.with_name(place.name + suffix).unlink(missing_ok=True)
        place.write_bytes(data)
    assert palace.index().files == 2
    assert palace.paths("alpha") == ["a"]


@pytest.mark.parametrize("damage", [b"", b"junk" * 100, None])
def test_damaged_vectors_are_made_anew(palace: Palace, damage: bytes | None) -> None:
    """A cut, foreign or missing vector file costs an embedding run, nothing else."""
    palace.notes(a="alpha", b="beta")
    palace.index()
    (place,) = (palace.root / ".palace/index").glob("vectors-*")
    place.unlink()
    if damage is not None:
        place.write_bytes(damage)
    palace.notes(c="gamma")
    assert palace.paths("alpha") == ["a"]  # keywords answer meanwhile
    assert palace.index().vectors == 3
    assert palace.paths("alpha", raw=True) == ["a"]


def test_everything_derived_can_be_deleted(palace: Palace) -> None:
    """The same files give the same answers."""
    palace.notes(a="# A\nalpha beta [[b]]", b="# B\nbeta gamma", c="# C\ngamma alpha")
    palace.index()
    before = palace.hits("alpha gamma", top_k=10)
    shutil.rmtree(palace.root / ".palace")
    palace.index()
    assert palace.hits("alpha gamma", top_k=10) == before


def test_check_writes_nothing_and_tells_stale_from_fresh(palace: Palace) -> None:
    """A check leaves every byte of the index as it is."""
    palace.notes(a="alpha")
    palace.index()
    assert not run.check(palace.root, palace.config, palace.choice, Options()).stale
    palace.notes(b="beta")
    before = bytes_of_notes(palace), (palace.root / manifests.PATH).read_bytes()
    checked = run.check(palace.root, palace.config, palace.choice, Options())
    assert checked.stale
    assert checked.changes.added == ["palace/b.md"]
    assert (bytes_of_notes(palace), (palace.root / manifests.PATH).read_bytes()) == before
    assert rows(palace, "SELECT path FROM files") == [("palace/a.md",)]


def test_check_sees_a_manifest_out_of_step(palace: Palace) -> None:
    """A line that the notes do not bear out makes the index stale."""
    palace.notes(a="alpha")
    palace.index()
    place = palace.root / manifests.PATH
    place.write_text('{"path": "palace/gone.md"}\n' + place.read_text())
    assert run.check(palace.root, palace.config, palace.choice, Options()).manifest_differs
    assert not run.check(
        palace.root, palace.config, palace.choice, Options(sync_manifest=False)
    ).manifest_differs


def test_files_that_only_the_manifest_names_are_indexed(palace: Palace) -> None:
    """With the type and priority of their lines."""
    palace.notes(a="alpha")
    palace.write("docs/guide.md", "delta words")
    line = {"path": "docs/guide.md", "type": "guide", "priority": "high", "owner": "me"}
    palace.write(manifests.PATH, json.dumps(line) + "\n")
    palace.index()
    (hit,) = palace.hits("delta")
    assert (hit.path, hit.type, hit.priority) == ("docs/guide.md", "guide", "high")
    assert json.dumps(line) in (palace.root / manifests.PATH).read_text()


@pytest.mark.parametrize(
    "path", ["../outside.md", "/etc/hostname", ".git/config", "docs", "link.md", "a\\b.md"]
)
def test_the_manifest_leads_nowhere_else(palace: Palace, path: str) -> None:
    """Paths out of the root, hidden files, folders and links are reported and not read."""
    palace.notes(a="alpha")
    palace.write("docs/x.txt", "x")
    palace.write(".git/config", "secret words")
    (palace.root.parent / "outside.md").write_text("secret words")
    (palace.root / "link.md").symlink_to(palace.root.parent / "outside.md")
    palace.write(manifests.PATH, json.dumps({"path": path}) + "\n")
    done = palace.index()
    assert [(p.path, p.line) for p in done.errors] == [(manifests.PATH, 1)]
    assert done.files == 1
    assert json.dumps({"path": path}) in (palace.root / manifests.PATH).read_text()


def test_a_changed_manifest_line_reaches_a_note_without_metadata(palace: Palace) -> None:
    """The note's file does not have to change for it."""
    palace.notes(a="alpha")
    palace.index()
    place = palace.root / manifests.PATH
    place.write_text('{"path": "palace/a.md", "type": "idea", "priority": "low"}\n')
    palace.index()
    (hit,) = palace.hits("alpha")
    assert (hit.type, hit.priority) == ("idea", "low")


def test_excluded_notes_are_in_neither_index_nor_manifest(palace: Palace) -> None:
    """Patterns are gitignore's, below the root."""
    palace.notes(a="alpha", drafts__b="alpha draft")
    palace.index()
    palace.write("palace.yaml", 'index: {exclude: ["**/drafts/**"]}\n')
    palace.index()
    assert palace.paths("alpha") == ["a"]
    assert "drafts" not in (palace.root / manifests.PATH).read_text()


def test_times_come_from_the_note_then_git_then_the_disk(palace: Palace) -> None:
    """updated, created, last commit, mtime: in this order."""
    git = ["git", "-C", str(palace.root), "-c", "user.name=t", "-c", "user.email=t@t"]
    palace.notes(
        a="---\ncreated: 2026-01-01\nupdated: 2026-02-02\n---\nx",
        b="---\ncreated: 2026-01-01\n---\nx",
        c="committed",
        d="only on disk",
    )
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "palace/a.md", "palace/b.md", "palace/c.md"], check=True)
    env = os.environ | {"GIT_COMMITTER_DATE": "2026-03-03T00:00:00Z"}
    subprocess.run([*git, "commit", "-qm", "x"], check=True, env=env)
    palace.index()
    found = dict(rows(palace, "SELECT path, date(time, 'unixepoch') FROM files"))
    assert found == {
        "palace/a.md": "2026-02-02",
        "palace/b.md": "2026-01-01",
        "palace/c.md": "2026-03-03",
        "palace/d.md": "2023-11-14",
    }
    subprocess.run([*git, "add", "palace/d.md"], check=True)
    subprocess.run([*git, "commit", "-qm", "y"], check=True, env=env)
    palace.index()
    assert (
        dict(rows(palace, "SELECT path, date(time, 'unixepoch') FROM files"))["palace/d.md"]
        == "2026-03-03"
    )


@pytest.mark.parametrize("how", ["cloud", "folder"])
def test_force_keeps_what_is_only_away(
    palace: Palace, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Missing is not deleted, not even when everything is read anew."""
    palace.notes(a="alpha", sub__b="beta")
    palace.index()
    if how == "cloud":
        (palace.root / "palace/sub/b.md").rename(palace.root / "palace/sub/.b.md.icloud")
    else:
        real = os.scandir

        def scandir(path: str | os.PathLike[str]) -> object:
            if str(path).endswith("sub"):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
    palace.index(force=True)
    found = {row[0] for row in rows(palace, "SELECT path FROM files")}
    assert found == {"palace/a.md", "palace/sub/b.md"}


@pytest.mark.parametrize("target", ["palace/archive_basement", "palace", ".git"])
def test_no_folder_of_a_manifest_path_may_be_a_link(palace: Palace, target: str) -> None:
    """Neither the archive nor a note for the second time comes in through one."""
    palace.notes(a="alpha", archive_basement__o="alpha cold")
    palace.write(".git/o.md", "alpha secret")
    (palace.root / "docs").symlink_to(palace.root / target)
    name = "a" if target == "palace" else "o"
    palace.write(manifests.PATH, json.dumps({"path": f"docs/{name}.md"}) + "\n")
    done = palace.index()
    assert [p.line for p in done.errors] == [1]
    assert palace.paths("alpha") == ["a"]


def test_a_moved_note_takes_its_manifest_line_along(palace: Palace) -> None:
    """What people wrote into the line is not lost with the old path."""
    palace.notes(r__a="alpha")
    line = {"path": "palace/r/a.md", "type": "card", "priority": "high", "owner": "ana"}
    palace.write(manifests.PATH, json.dumps(line) + "\n")
    palace.index()
    (palace.root / "palace/r/a.md").rename(palace.root / "palace/r/b.md")
    palace.index()
    moved = json.loads((palace.root / manifests.PATH).read_text())
    assert moved == line | {"path": "palace/r/b.md"}
    (hit,) = palace.hits("alpha")
    assert (hit.type, hit.priority) == ("card", "high")


def test_an_embedder_that_does_not_load_costs_no_vectors(palace: Palace) -> None:
    """The old vectors go only once the new model stands."""
    from dataclasses import replace

    palace.notes(a="alpha")
    palace.index()
    before = palace.choice

    def load() -> FakeEmbedder:
        raise Missing("the weights are broken: fetch them again")

    palace.choice = replace(fake_choice(FakeEmbedder(salt="b")), load=load)
    with pytest.raises(Missing, match="broken"):
        palace.index()
    palace.choice = before
    assert palace.index().vectors == 0


def test_excluding_many_notes_is_no_loss(palace: Palace) -> None:
    """They are on disk and left out on purpose: no question is asked."""
    palace.notes(**{f"many__n{i}": f"text {i}" for i in range(40)}, a="alpha")
    palace.index()
    palace.write("palace.yaml", 'index: {exclude: ["many/"]}\n')
    assert palace.index().files == 1


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [("r", "archive_basement/r", 1), ("archive_basement/r", "r", 41)],
    ids=["archive", "restore"],
)
def test_changing_sides_is_no_loss(palace: Palace, before: str, after: str, left: int) -> None:
    """Notes that went to their places in the basement, or came back from there, are not gone."""
    tree = palace.root / "palace"
    palace.notes(**{f"{before.replace('/', '__')}__n{i}": f"text {i}" for i in range(40)}, a="x")
    palace.index()
    (tree / after).parent.mkdir(exist_ok=True)
    (tree / before).rename(tree / after)
    for place in (tree / after).iterdir():
        place.write_text(place.read_text() + " touched by the move")
    assert palace.index().files == left


def test_generations_are_not_given_out_twice(palace: Palace) -> None:
    """A reader of the old catalog must not find new vectors under its number."""
    palace.notes(a="alpha")
    palace.index()
    first = int(rows(palace, "SELECT value FROM meta WHERE key = 'generation'")[0][0])
    catalogs.discard(palace.root / ".palace/index" / catalogs.MAIN)
    palace.index()
    assert int(rows(palace, "SELECT value FROM meta WHERE key = 'generation'")[0][0]) > first


def test_a_broken_keyword_table_is_made_anew(palace: Palace) -> None:
    """A fault inside SQLite's own tables is damage, not a full disk."""
    palace.notes(a="alpha")
    palace.index()
    with sqlite3.connect(palace.root / ".palace/index" / catalogs.MAIN) as db:
        db.execute("DELETE FROM words_config")
    palace.notes(b="beta")
    palace.index()
    assert palace.paths("beta") == ["b"]


def test_a_listed_file_that_is_excluded_keeps_its_line(palace: Palace) -> None:
    """It is left out of the index, and nobody is told that it is not there."""
    palace.notes(a="alpha one")
    palace.write("docs/b.md", "alpha two")
    palace.write(manifests.PATH, '{"path": "docs/b.md"}\n')
    palace.index()
    assert sorted(h.path for h in palace.hits("alpha")) == ["docs/b.md", "palace/a.md"]
    palace.write("palace.yaml", 'index: {exclude: ["docs/"]}\n')
    assert palace.index().problems == []
    assert palace.paths("alpha") == ["a"]
    assert '{"path": "docs/b.md"}' in (palace.root / manifests.PATH).read_text()
