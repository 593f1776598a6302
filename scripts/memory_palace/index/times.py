"""When files that do not say it were last changed: by git, else by the disk."""

from collections.abc import Mapping
from pathlib import Path

from memory_palace.core.text import MINED
from memory_palace.files import git
from memory_palace.index.catalog import Catalog


def retime(root: Path, catalog: Catalog, folders: Mapping[str, Path]) -> None:
    """Give files without a written date the time of their last commit, else their mtime: the
    palace's own, and those of the mined projects in ``folders``."""
    _own(root, catalog)
    for name, folder in folders.items():
        _mined(name, folder, catalog)


def _own(root: Path, catalog: Catalog) -> None:
    head = git.head(root)
    every = "" if head == catalog.meta("git_head") else " OR time_source != 'note'"
    rows = catalog.db.execute(
        "SELECT path, mtime_ns, time_source FROM files "
        f"WHERE (time_source = ''{every}) AND path NOT GLOB '{MINED}*'"
    ).fetchall()
    committed = git.commit_times(root, {row[0] for row in rows}) if head else git.Times()
    for path, mtime_ns, before in rows:
        if path not in committed and before == "git" and not committed.whole:
            continue  # git did not answer this time; what it said before still stands
        _put(catalog, path, committed.get(path), mtime_ns)
    catalog.set_meta("git_head", head if committed.whole else "")


def _mined(name: str, folder: Path, catalog: Catalog) -> None:
    """A project's history may be long: what was committed since the last run is enough for files
    that had a time already."""
    start = f"{MINED}{name}/"
    rows = catalog.db.execute(
        "SELECT path, mtime_ns, time_source FROM files WHERE substr(path, 1, ?) = ?",
        (len(start), start),
    ).fetchall()
    head, last = git.head(folder), catalog.meta(f"git_head:{name}")
    if head == last and all(source for _, _, source in rows):
        return
    inside = {path[len(start) :]: (mtime_ns, source) for path, mtime_ns, source in rows}
    timed = {path for path, (_, source) in inside.items() if source}
    recent = git.Times()
    if head and last and head != last:
        recent = git.commit_times(folder, timed, since=last)
    untimed = inside.keys() - timed
    if not recent.whole:  # that commit is gone
        untimed = set(inside)
    committed = git.commit_times(folder, untimed) if head else git.Times()
    for path in untimed | recent.keys():
        moment = committed.get(path, recent.get(path))
        _put(catalog, start + path, moment, inside[path][0])
    catalog.set_meta(f"git_head:{name}", head if committed.whole else "")


def _put(catalog: Catalog, path: str, moment: int | None, mtime_ns: int) -> None:
    at, source = (mtime_ns / 1e9, "mtime") if moment is None else (moment, "git")
    catalog.db.execute(
        "UPDATE files SET time = ?, time_source = ? WHERE path = ?", (at, source, path)
    )
