"""Control-C, full disks, files that are not there: a message, a code, and the next run goes on."""

import contextlib
import errno
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faults.children import Child, answers, commands, fill, fresh_answers, said, snapshot, until
from memory_palace.index import catalog as catalogs
from support.fake import FakeEmbedder
from support.palaces import Palace


def catalog_bytes(palace: Palace) -> dict[str, bytes]:
    """Every file of the index but the lock."""
    folder = palace.root / ".palace/index"
    return {
        p.name: p.read_bytes() for p in sorted(folder.iterdir()) if not p.name.startswith("writer")
    }


def test_interrupted_among_the_vectors(
    keyword_palace: Palace,
    tmp_path: Path,
    embedder: FakeEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit 130 and what to run; keywords answer; what was embedded is not embedded again."""
    fill(keyword_palace, 60)
    wanted = fresh_answers(keyword_palace)
    plain = embedder.embed_passages

    def slow(texts):  # type: ignore[no-untyped-def]
        time.sleep(0.05)
        return plain(texts)

    monkeypatch.setattr(embedder, "embed_passages", slow)
    child = Child(commands(keyword_palace, "index", told=tmp_path / "told"))
    folder = keyword_palace.root / ".palace/index"
    until(lambda: any(folder.glob("vectors-*2.faiss")))
    child.kill(signal.SIGINT)
    assert child.wait() == 130
    ran = said(tmp_path / "told")
    assert ran.err.splitlines()[-1] == "error: interrupted: run it again to go on"
    with catalogs.open_to_read(folder / catalogs.MAIN) as catalog:
        done = catalog.count("vectors")
    assert 4 <= done < 60
    ran = keyword_palace.command("query", "--format", "files", "amber")
    assert ran.code == 0
    assert f"{60 - done} texts have no vector yet: run `palace index`" in ran.err
    embedder.embedded.clear()
    ran = keyword_palace.command("index")
    assert ran.code == 0
    assert f"{60 - done} vectors in" in ran.out
    assert len(embedder.embedded) == 60 - done
    assert answers(keyword_palace) == wanted


@pytest.mark.parametrize("limit", [0, 4_000, 9_000, 50_000, 150_000])
def test_a_disk_that_is_full_for_large_files(
    limit: int, keyword_palace: Palace, tmp_path: Path
) -> None:
    """A write that fails, wherever: exit 3, what to do, notes untouched, the next run is well."""
    fill(keyword_palace, 60)
    wanted = fresh_answers(keyword_palace)
    before = snapshot(keyword_palace)
    told = tmp_path / "told"

    assert Child(limited(keyword_palace, limit, told, "index")).wait() == 3
    assert "Traceback" not in told.read_text()
    assert told.read_text().splitlines()[-1].endswith("notes are untouched")
    assert snapshot(keyword_palace) == before
    recovered(keyword_palace, wanted)
    assert Child(limited(keyword_palace, limit, told, "index", "--force")).wait() in (0, 3)
    assert "Traceback" not in told.read_text()
    assert keyword_palace.command("query", "amber").code == 0
    recovered(keyword_palace, wanted)
    assert snapshot(keyword_palace) == before


def limited(palace: Palace, limit: int, told: Path, *arguments: str) -> Callable[[], int]:
    """A command in a process that cannot write files longer than ``limit``; its stderr is kept."""
    told.write_bytes(b"")

    def work() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with told.open("w") as file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            ran = palace.command(*arguments)
            resource.setrlimit(
                resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )
            file.write(ran.err)
        return ran.code

    return work


def recovered(palace: Palace, wanted: dict[str, str]) -> None:
    """The next run is well, and its answers are those of a build in peace."""
    ran = palace.command("index")
    assert ran.code == 0, ran
    assert answers(palace) == wanted
    assert palace.command("index", "--check").out.startswith("up to date")


@contextlib.contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    """A disk of so many kilobytes at ``place``; skips where none can be mounted."""
    place.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here: needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("kilobytes", [4, 64, 256])
def test_a_full_disk_under_the_index(kilobytes: int, keyword_palace: Palace) -> None:
    """The index on a disk that fills up: exit 3, notes untouched; with room again, all is there."""
    fill(keyword_palace, 200)
    before = snapshot(keyword_palace)
    with small_disk(keyword_palace.root / ".palace", kilobytes):
        for words in (["index"], ["query", "amber"], ["index", "--force"]):
            ran = keyword_palace.command(*words)
            assert ran.code == 3, ran
            assert "free disk space" in ran.err
            assert "notes are untouched" in ran.err
    assert snapshot(keyword_palace) == before
    recovered(keyword_palace, fresh_answers(keyword_palace))


def test_a_disk_that_fills_up_under_a_good_index(keyword_palace: Palace) -> None:
    """The old index goes on answering while no new one can be written."""
    fill(keyword_palace, 20)
    with small_disk(keyword_palace.root / ".palace", 2048):
        assert keyword_palace.command("index").code == 0
        wanted = answers(keyword_palace)
        filler = keyword_palace.root / ".palace/filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        ran = keyword_palace.command("index", "--force")
        assert ran.code == 3, ran
        assert answers(keyword_palace) == wanted
        filler.unlink()
        recovered(keyword_palace, wanted)


def test_a_manifest_that_cannot_be_written(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without room for the manifest: exit 3, the old manifest whole, no rubbish beside it."""
    fill(keyword_palace, 5)
    assert keyword_palace.command("index").code == 0
    folder = keyword_palace.root / "manifests"
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    keyword_palace.notes(topics__new="amber")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memory_palace.files.atomic.os.fsync", full)
        ran = keyword_palace.command("index")
    assert ran.code == 3
    assert "No space left on device" in ran.err
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    recovered(keyword_palace, fresh_answers(keyword_palace))


def test_a_mass_deletion_needs_a_word(keyword_palace: Palace) -> None:
    """Over 30 % and at least 20 files gone: refused by every command that writes, until --yes."""
    fill(keyword_palace, 60)
    assert keyword_palace.command("index").code == 0
    manifest = (keyword_palace.root / "manifests/watchdog_manifest_v1.jsonl").read_bytes()
    for number in range(20):
        (keyword_palace.root / f"palace/topics/n{number}.md").unlink()
    index = catalog_bytes(keyword_palace)
    for words in (
        ["index"],
        ["index", "--force"],
        ["index", "--no-sync"],
        ["manifest", "sync"],
        ["graph"],
        ["cold-zone"],
    ):
        ran = keyword_palace.command(*words)
        assert ran.code == 1, words
        assert "20 of 60 files are gone" in ran.err, (words, ran)
        assert "run `palace index --yes`" in ran.err
    assert catalog_bytes(keyword_palace) == index
    assert (keyword_palace.root / "manifests/watchdog_manifest_v1.jsonl").read_bytes() == manifest
    ran = keyword_palace.command("index", "--yes")
    assert ran.code == 0
    assert "20 removed" in ran.out
    assert answers(keyword_palace) == fresh_answers(keyword_palace)


def test_fewer_files_gone_need_no_word(keyword_palace: Palace) -> None:
    """19 files, or 30 % of them, are an ordinary day."""
    fill(keyword_palace, 70)
    assert keyword_palace.command("index").code == 0
    for number in range(21):
        (keyword_palace.root / f"palace/topics/n{number}.md").unlink()
    assert keyword_palace.command("index").code == 0
    for number in range(21, 40):
        (keyword_palace.root / f"palace/topics/n{number}.md").unlink()
    assert keyword_palace.command("index").code == 0


def test_an_unmounted_palace_is_not_an_empty_one(keyword_palace: Palace) -> None:
    """With palace/ away, commands end with 3 and touch nothing; back again, nothing has changed."""
    fill(keyword_palace, 25)
    assert keyword_palace.command("index").code == 0
    wanted, index = answers(keyword_palace), catalog_bytes(keyword_palace)
    away = keyword_palace.root / "away"
    (keyword_palace.root / "palace").rename(away)
    for words in (
        ["index"],
        ["index", "--force", "--yes"],
        ["index", "--check"],
        ["query", "amber"],
        ["query", "--batch", "-"],
        ["manifest", "sync", "--yes"],
        ["graph"],
        ["cold-zone"],
    ):
        ran = keyword_palace.command(*words, stdin="amber\n")
        assert ran.code == 3, (words, ran)
        assert "cannot read palace/ in" in ran.err
    assert catalog_bytes(keyword_palace) == index
    away.rename(keyword_palace.root / "palace")
    assert keyword_palace.command("index", "--check").code == 0
    assert answers(keyword_palace) == wanted


def test_an_empty_mount_point_is_refused(keyword_palace: Palace) -> None:
    """A palace/ with nothing in it is a deletion that is too large, with an index or without."""
    fill(keyword_palace, 25)
    assert keyword_palace.command("index").code == 0
    (keyword_palace.root / "palace").rename(keyword_palace.root / "away")
    (keyword_palace.root / "palace").mkdir()
    for again in range(2):
        ran = keyword_palace.command("index")
        assert ran.code == 1
        assert "are gone: if that is meant, run `palace index --yes`" in ran.err, again
        shutil.rmtree(keyword_palace.root / ".palace")


def test_without_its_derived_folder_a_palace_answers_the_same(keyword_palace: Palace) -> None:
    """Everything in .palace/ is made again from the notes."""
    fill(keyword_palace, 15)
    assert keyword_palace.command("index").code == 0
    wanted, graph = answers(keyword_palace), keyword_palace.command("graph").out
    shutil.rmtree(keyword_palace.root / ".palace")
    assert answers(keyword_palace) == wanted
    assert keyword_palace.command("graph").out == graph
    shutil.rmtree(keyword_palace.root / ".palace")
    assert keyword_palace.command("index").code == 0
    assert answers(keyword_palace) == wanted
