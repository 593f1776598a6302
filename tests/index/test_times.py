"""When notes that do not say it were last changed."""

from files.repository import Repository
from memory_palace.index import catalog as catalogs
from support.palaces import Palace


def times(palace: Palace) -> dict[str, tuple[float, str]]:
    """Time and its source of each note, as the catalog has them."""
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as catalog:
        asked = "SELECT path, time, time_source FROM files ORDER BY path"
        return {path: (time, source) for path, time, source in catalog.db.execute(asked)}


def test_what_git_said_stands_while_it_cannot_be_asked(keyword_palace: Palace) -> None:
    """A part of the history is damaged: only what is found gets another time; a note that never
    had one has that of the disk, and once git answers, its own."""
    keyword_palace.notes(a="old", b="x")
    repository = Repository(keyword_palace.root)
    repository.git("add", "palace/a.md")
    repository.git("commit", "--quiet", "-m", "one", at=1_700_000_000)
    keyword_palace.index()
    first = repository.git("rev-parse", "HEAD")
    repository.git("add", "palace/b.md")
    repository.git("commit", "--quiet", "-m", "two", at=1_710_000_000)
    kept = repository.folder / ".git/objects" / first[:2] / first[2:]
    kept.rename(repository.folder / "away")
    keyword_palace.notes(c="new")
    keyword_palace.index()
    found = times(keyword_palace)
    assert found["palace/a.md"] == (1_700_000_000, "git")
    assert found["palace/c.md"][1] == "mtime"
    (repository.folder / "away").rename(kept)
    repository.git("commit", "--quiet", "-m", "three", "--allow-empty", at=1_720_000_000)
    keyword_palace.index()
    assert [times(keyword_palace)[f"palace/{name}.md"] for name in "ab"] == [
        (1_700_000_000, "git"),
        (1_710_000_000, "git"),
    ]
