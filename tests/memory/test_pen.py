"""The guarded write path: nothing lost, nothing half, nothing over what another wrote."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Busy, Changed, Missing, Refused
from memory_palace.core.events import PATH
from memory_palace.files import journal, locks, roots
from memory_palace.memory import pen
from memory_palace.memory.pen import Pen
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
NOTE = "palace/topics/lessons.md"


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """An empty palace."""
    return Palace(tmp_path / "root")


def work(root: Path, *acts: Callable[[Pen], object], reason: str = "") -> list[str]:
    """Do something with the pen; what it said."""
    said: list[str] = []
    with pen.begin(root, NOW, "palace test", reason, said.append) as p:
        for act in acts:
            act(p)
    return said


def write(path: str = NOTE, text: str = "new\n") -> Callable[[Pen], None]:
    """Read and replace a file."""

    def act(p: Pen) -> None:
        p.read(path)
        p.put(path, text)

    return act


def test_what_was_read_is_replaced(palace: Palace) -> None:
    """Byte for byte, CRLF and byte order mark included; a new file with its folders."""
    text = "\ufeff# T\r\n\r\n宮殿\r\n"
    palace.write(NOTE, text)

    def act(p: Pen) -> None:
        assert p.read(NOTE) == text
        p.put(NOTE, text + "more\r\n")
        assert p.read(NOTE) == text + "more\r\n"
        assert p.read("palace/deep/er/n.md") is None
        p.put("palace/deep/er/n.md", "x")
        p.put("palace/deep/er/n.md", "xy")

    work(palace.root, act)
    assert (palace.root / NOTE).read_bytes() == (text + "more\r\n").encode()
    assert (palace.root / "palace/deep/er/n.md").read_text() == "xy"
    assert not list(palace.root.rglob("*.tmp"))


@pytest.mark.parametrize("change", ["edited", "gone", "new"])
def test_what_changed_underneath_is_not_overwritten(palace: Palace, change: str) -> None:
    """Exit 4; the other's text stays, nothing else is written."""
    if change != "new":
        palace.write(NOTE, "old\n")

    def act(p: Pen) -> None:
        p.read(NOTE)
        if change == "gone":
            (palace.root / NOTE).unlink()
        else:
            palace.write(NOTE, "another's\n")
        p.put(NOTE, "ours\n")

    with pytest.raises(Changed, match=rf"^{NOTE} changed underneath: .*run this again$") as told:
        work(palace.root, act)
    assert told.value.exit_code == 4
    assert (palace.root / NOTE).exists() == (change != "gone")
    if change != "gone":
        assert (palace.root / NOTE).read_text() == "another's\n"
    assert not list((palace.root / "palace").rglob("*.tmp"))


def test_a_file_that_was_never_read_must_not_be_there(palace: Palace) -> None:
    """Whoever writes a file anew has looked first."""
    palace.write(NOTE, "old\n")
    with pytest.raises(Changed):
        work(palace.root, lambda p: p.put(NOTE, "new\n"))
    work(palace.root, lambda p: p.put("palace/n.md", "new\n"))
    assert (palace.root / NOTE).read_text() == "old\n"


def test_the_same_text_is_no_write(palace: Palace) -> None:
    """Its time stays, and nothing is to be committed."""
    place = palace.write(NOTE, "old\n")
    before = place.stat().st_mtime_ns

    def act(p: Pen) -> None:
        write(NOTE, "old\n")(p)
        assert not p.touched

    work(palace.root, act)
    assert place.stat().st_mtime_ns == before


@pytest.mark.parametrize("data", [b"a\0b", b"caf\xe9"])
def test_what_is_no_text_is_refused(palace: Palace, data: bytes) -> None:
    """Binary, or in another encoding: named, and left as it is."""
    palace.write(NOTE, data)
    with pytest.raises(BadInput, match=NOTE):
        work(palace.root, write())
    assert (palace.root / NOTE).read_bytes() == data


@pytest.mark.parametrize(
    "place", ["palace/topics", NOTE, PATH, "manifests", ".palace", ".palace/memory"]
)
def test_no_link_is_followed(palace: Palace, tmp_path: Path, place: str) -> None:
    """Neither of a file nor of a folder on the way."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("theirs\n")
    link = palace.root / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere / "file" if "." in Path(place).name[1:] else elsewhere)
    with pytest.raises(BadInput, match="is a symbolic link: replace it by what it stands for"):
        work(palace.root, write(), lambda p: p.log("pinned", "x"))
    assert [p.name for p in elsewhere.iterdir()] == ["file"]
    assert (elsewhere / "file").read_text() == "theirs\n"


def test_a_palace_without_notes_is_missing_not_empty(palace: Palace) -> None:
    """A disk that is not mounted."""
    (palace.root / "palace").rmdir()
    with pytest.raises(Missing, match="has no palace/: mount or restore it"):
        work(palace.root)
    assert not (palace.root / ".palace").exists()


def test_a_disk_that_can_only_be_read(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the reason; the note is as it was."""
    palace.write(NOTE, "old\n")
    real = os.open

    def read_only(path: object, flags: int, *more: object, **options: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and "/.palace/" not in str(path):
            raise OSError(30, "Read-only file system", str(path))
        return real(path, flags, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(
        Missing, match=rf"^{NOTE} cannot be written \(Read-only file system\): free"
    ):
        work(palace.root, write())
    with pytest.raises(Missing, match=rf"^{PATH} cannot be written .*counts as written by hand"):
        work(palace.root, lambda p: p.log("pinned", "x"))
    assert (palace.root / NOTE).read_text() == "old\n"


def test_a_folder_of_its_own_that_cannot_be_made(palace: Palace) -> None:
    """A file where `.palace` should be."""
    palace.write(".palace", "")
    with pytest.raises(Missing, match=r"cannot write .*: make it writable"):
        work(palace.root)


def test_one_writer_at_a_time(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one waits, says for whom, and gives up."""
    monkeypatch.setattr(pen, "_WAIT_SECONDS", 0.1)
    said: list[str] = []
    with (
        locks.writer(palace.root / roots.MEMORY, "palace archive"),
        pytest.raises(Busy, match=r"palace archive \(process \d+"),
        pen.begin(palace.root, NOW, "palace test", "", said.append),
    ):
        raise AssertionError
    assert said and said[0].startswith("waiting for palace archive")
    work(palace.root)


def test_events_have_the_hand_the_reason_and_the_time(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each a uid of its own; keys without a value are left out; on the disk at once."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    data = {"category": "lesson", "text": "x", "cue": "explicit", "path": NOTE, "source": None}

    def act(p: Pen) -> None:
        first = p.log("remembered", "a", **data)
        assert journal.load(palace.root).events[0].uid == first.uid
        assert p.log("pinned", "a").at == NOW + timedelta(seconds=1)
        assert p.log("pinned", "b").at == NOW

    work(palace.root, act, reason=" why\n not ")
    events = journal.load(palace.root).events
    assert [(e.by, e.reason) for e in events] == [("pi@laptop", "why not")] * 3
    assert len({e.uid for e in events}) == 3
    assert all(len(e.uid) == 16 and set(e.uid) <= set("0123456789abcdef") for e in events)
    [told] = [e for e in events if e.event == "remembered"]
    assert dict(told.data) == {k: v for k, v in data.items() if v}


def test_a_reason_is_redacted(palace: Palace) -> None:
    """It is stored in the log and in the commit."""
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    work(
        palace.root,
        lambda p: p.log("pinned", "x"),
        reason=f"said <private>in private</private> and {secret}",
    )
    text = (palace.root / PATH).read_text()
    assert "in private" not in text and secret not in text and "[PRIVATE]" in text


def test_an_event_of_no_kind_is_a_fault_of_ours(palace: Palace) -> None:
    """Nothing that the reader would report is ever written."""
    for kind, data in (("nonsense", {}), ("pinned", {"cue": "explicit"})):
        with pytest.raises(AssertionError):
            work(palace.root, lambda p, kind=kind, data=data: p.log(kind, "x", **data))
    assert not (palace.root / PATH).exists()


@pytest.mark.parametrize("tracked", [True, False])
def test_a_move(palace: Palace, tracked: bool) -> None:
    """By git or without, folders made; what was read may be written at the new place."""
    palace.write(NOTE, "old\n")
    if tracked:
        made = Repository(palace.root)
        made.git("add", "--all")
        made.git("commit", "--quiet", "-m", "x")
    target = "palace/archive_basement/topics/lessons.md"

    def act(p: Pen) -> None:
        p.read(NOTE)
        p.move(NOTE, target)
        p.put(target, "old\nmarked\n")

    work(palace.root, act)
    assert not (palace.root / NOTE).exists()
    assert (palace.root / target).read_text() == "old\nmarked\n"
    if tracked:
        assert made.git("status", "--porcelain").splitlines()[0].startswith("RM")


def test_a_move_overwrites_nothing(palace: Palace) -> None:
    """Both are named; also a link that leads nowhere is something."""
    palace.write(NOTE, "old\n")
    palace.write("palace/b.md", "b\n")
    (palace.root / "palace/c.md").symlink_to("nowhere")
    with pytest.raises(Refused, match=rf"palace/b.md is there already: {NOTE} stays"):
        work(palace.root, lambda p: p.move(NOTE, "palace/b.md"))
    with pytest.raises(BadInput):
        work(palace.root, lambda p: p.move(NOTE, "palace/c.md"))
    with pytest.raises(Changed, match=r"palace/gone.md is gone"):
        work(palace.root, lambda p: p.move("palace/gone.md", "palace/d.md"))
    assert (palace.root / NOTE).read_text() == "old\n"
    assert (palace.root / "palace/b.md").read_text() == "b\n"
