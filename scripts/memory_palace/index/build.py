"""Phase 1 of indexing: files and keywords into the catalog, in one commit.

Order: look, guard against mass deletion, catalog, manifest. A run that dies in between leaves
the old state or the new one, and the next run finds what is left to do by itself.
"""

import json
import sqlite3
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import code_tree
from memory_palace.core.diff import FileStat, Known, is_settled, too_many_gone
from memory_palace.core.errors import Refused
from memory_palace.core.kinds import DEFAULT_TYPE
from memory_palace.core.links import Anchors, Archived, Resolver
from memory_palace.core.mining import Line
from memory_palace.core.problems import Problem, in_order
from memory_palace.core.text import MINED, is_mined, sha256
from memory_palace.files import manifest as manifests
from memory_palace.files import read, roots, tree
from memory_palace.files.config import Config
from memory_palace.files.manifest import Said, Synced
from memory_palace.index import catalog as catalogs
from memory_palace.index import graph, plan, reading, times
from memory_palace.index.catalog import Catalog, FileRow
from memory_palace.index.plan import Changes, Losses, Surroundings
from memory_palace.index.progress import Progress, Silent
from memory_palace.index.projects import Mined

if TYPE_CHECKING:
    from memory_palace.index.milvus import Pushed


_UNSAID: tuple[str, str | None, str] = (DEFAULT_TYPE, None, "")


@dataclass(slots=True)
class Options:
    """How to index. ``verify`` hashes every file; ``yes`` allows a mass deletion."""

    force: bool = False
    verify: bool = False
    sync_manifest: bool = True
    yes: bool = False
    wait_seconds: float = 60.0
    max_vector_chunks: int | None = None


@dataclass(slots=True)
class Indexed:
    """What a run did. ``ledgers`` and ``mined`` are among the ``files``; ``vectors`` counts
    texts embedded, ``pending`` those still without one."""

    changes: Changes
    cold: Changes
    synced: Synced
    files: int = 0
    ledgers: int = 0
    mined: int = 0
    chunks: int = 0
    vectors: int = 0
    pending: int = 0
    problems: list[Problem] = field(default_factory=list)
    keyword_seconds: float = 0.0
    vector_seconds: float = 0.0
    embedder: str = ""
    manifest_written: bool = False
    pushed: "Pushed | None" = None

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if p.grade == "error"]


def keywords_phase(
    root: Path, config: Config, options: Options, progress: Progress | None = None
) -> Indexed:
    """Bring catalog, basement and manifest in line with the files. The caller holds the lock.

    Raises :class:`Refused` if too many files would go, :class:`Missing` if tree or disk fail.
    """
    progress = progress or Silent()
    started = time.perf_counter()
    folder = roots.index_folder(root)
    around = plan.look(root, config)
    with (
        _open(folder / catalogs.MAIN, progress) as main,
        _open(folder / catalogs.BASEMENT, Silent()) as below,
    ):
        known = main.known()
        around.mined.set_aside(known)
        todo = plan.changes(root, around.live(), known, around, options.verify)
        cold = plan.changes(root, around.cold(), below.known(), around, options.verify)
        if not options.yes:
            _guard(*plan.losses(todo, cold, around), plan.manifest_losses(around))
        # Commands that only look something up bring the index in line too: they are silent.
        if options.sync_manifest:
            for line in (*around.mined.notes, *plan.dropped(todo, around)):
                progress.say(line)
        manifests.move(around.manifest, todo.moved)
        way = cut_anew(main, todo)
        if options.force:
            if main.db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("its pages do not fit together")
            todo, cold = todo.everything(), cold.everything()
        _apply(root, below, cold, {}, Mined(), options.force, progress)
        entries = around.manifest.entries
        _apply(root, main, todo, entries, around.mined, options.force, progress)
        if lacking := code_tree.lacking(filter(is_mined, todo.to_read)):
            progress.say(
                f"no grammar for {', '.join(lacking)}: cut at blank lines; "
                "`python3 scripts/install.py code` puts them in place"
            )
        _connect_links(main, below, around)
        main.set_meta("code_chunks", way)  # a run that ends before this cuts anew once more
        main.set_meta("projects", around.mined.state)
        done = Indexed(todo, cold, synced(main, around))
        if options.sync_manifest:
            done.manifest_written = manifests.save(root, around.manifest, done.synced)
        done.files, done.chunks = main.count("files"), main.count("chunks")
        done.ledgers = len(around.tree.ledgers)
        done.mined = main.count(f"files WHERE path GLOB '{MINED}*'")
        done.problems = in_order(
            [
                *around.problems(),
                *done.synced.problems,
                *stored_problems(main, below),
                *todo.unreachable.values(),
                *cold.unreachable.values(),
            ]
        )
    done.keyword_seconds = time.perf_counter() - started
    return done


def cut_anew(catalog: Catalog, todo: Changes) -> str:
    """Have mined code read again where it can be cut better than it was; the way in which all of
    it is cut after that (see :func:`core.code_tree.way`)."""
    before, now = catalog.meta("code_chunks"), code_tree.way()
    if not any(map(is_mined, todo.files)):
        return before
    if not code_tree.is_better(now, before):
        return before or now
    again = {path for path in (*todo.same, *todo.touched) if code_tree.language_of(path)}
    again = set(filter(is_mined, again))
    todo.changed = sorted({*todo.changed, *again})
    todo.same = [path for path in todo.same if path not in again]
    todo.touched = [path for path in todo.touched if path not in again]
    todo.unchanged -= len(again)
    todo.cut_anew = len(again)
    return now


def _guard(*losses: Losses) -> None:
    """Refuse to forget many files at once: a folder may only be away."""
    for lost in losses:
        if too_many_gone(lost.gone, lost.known):
            raise Refused(
                f"{lost.gone} of {lost.known} files are gone: if that is meant, run "
                "`palace index --yes`; else mount or restore them. Nothing was changed"
            )


def stored_problems(main: Catalog, below: Catalog) -> list[Problem]:
    """What is wrong with the notes and their links, as of the last run."""
    return [*main.problems(), *graph.read(main).problems, *below.problems()]


def _open(path: Path, progress: Progress) -> Catalog:
    if not path.exists():
        return catalogs.create(path)
    try:
        return catalogs.open_to_write(path)
    except catalogs.Damaged as error:
        progress.say(f"{error.reason}: made anew")
        return catalogs.create(path)


def _apply(
    root: Path,
    catalog: Catalog,
    todo: Changes,
    entries: dict[str, manifests.Entry],
    mined: Mined,
    force: bool,
    progress: Progress,
) -> None:
    """All changes in one transaction."""
    to_read = todo.to_read
    now_ns = time.time_ns()
    progress.start("files" if mined.lines else "notes", len(to_read))
    try:
        with catalog.transaction():
            if force:
                catalog.forget_vectors()
            for path in [*todo.removed, *todo.moved.values()]:
                catalog.remove_file(path)
            for path in to_read:
                line = mined.lines.get(path)
                _store(root, catalog, todo.files[path], entries.get(path), line, now_ns)
                progress.advance(1)
            for path in todo.touched:
                _restat(catalog, todo.files[path], now_ns)
            for path in todo.unreachable:
                catalog.unsettle(path)
            times.retime(root, catalog, mined.folders)
            _reclassify(catalog, entries, mined)
            catalog.set_meta("complete", "1")
    finally:
        progress.stop()


def _store(
    root: Path,
    catalog: Catalog,
    stat: FileStat,
    entry: manifests.Entry | None,
    line: Line | None,
    now_ns: int,
) -> None:
    path = stat.path
    got = reading.read(root, path)
    if isinstance(got, read.Unreadable) and not got.content and catalog.unsettle(path):
        catalog.put_problems(path, [got.problem])
        return
    if isinstance(got, read.Unreadable):
        catalog.put_file(_unreadable_row(stat, got, line, now_ns), [], [])
        catalog.put_problems(path, [got.problem])
        return
    parsed = reading.parse(path, got)
    kind, priority, room = _effective(parsed.said, entry, line)
    written = parsed.note.updated or parsed.note.created
    row = FileRow(
        known=_known(got.stat, got.sha256, now_ns),
        title=parsed.title,
        said=reading.said_as_json(parsed.said),
        type=kind,
        priority=priority,
        time=written.timestamp() if written else None,
        time_source="note" if written else "",
        tags=parsed.note.tags,
        aliases=parsed.note.aliases,
        anchors=reading.anchors_as_json(parsed.anchors),
        room=room,
    )
    catalog.put_file(row, parsed.chunks, parsed.links)
    catalog.put_problems(path, parsed.problems)


def _known(stat: FileStat, sha256: str, now_ns: int) -> Known:
    settled = is_settled(stat.mtime_ns, now_ns)
    return Known(stat.path, stat.size, stat.mtime_ns, stat.inode, sha256, settled)


def _effective(
    said: Said, entry: manifests.Entry | None, line: Line | None
) -> tuple[str, str | None, str]:
    """(type, priority, room) that count: of a mined file those of its manifest's line."""
    if line is not None:
        return line.type, line.priority, line.room
    return (*manifests.effective(said, entry), "")


def _unreadable_row(
    stat: FileStat, got: read.Unreadable, line: Line | None, now_ns: int
) -> FileRow:
    known = _known(stat, got.sha256, now_ns)
    known = replace(known, settled=known.settled and got.content)
    said = reading.said_as_json(Said(False))
    anchors = reading.anchors_as_json(Anchors())
    kind, priority, room = (line.type, line.priority, line.room) if line else _UNSAID
    return FileRow(known, "", said, kind, priority, None, "note", (), (), anchors, room)


def _restat(catalog: Catalog, stat: FileStat, now_ns: int) -> None:
    settled = is_settled(stat.mtime_ns, now_ns)
    catalog.db.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, settled = ?, "
        "time = CASE time_source WHEN 'note' THEN time ELSE NULL END, "
        "time_source = CASE time_source WHEN 'note' THEN 'note' ELSE '' END WHERE path = ?",
        (stat.size, stat.mtime_ns, stat.inode, settled, stat.path),
    )


def _reclassify(catalog: Catalog, entries: dict[str, manifests.Entry], mined: Mined) -> None:
    """A manifest line may have changed while its file did not."""
    rows = catalog.db.execute("SELECT path, said, type, priority, room FROM files").fetchall()
    for path, said, *before in rows:
        line = mined.lines.get(path)
        if line is None and is_mined(path):
            continue  # its manifest cannot be read now
        wanted = _effective(reading.said_from_json(said), entries.get(path), line)
        if wanted != tuple(before):
            catalog.db.execute(
                "UPDATE files SET type = ?, priority = ?, room = ? WHERE path = ?",
                (*wanted, path),
            )


def _connect_links(catalog: Catalog, below: Catalog, around: Surroundings) -> None:
    """Resolve every link again if links, or anything that they can lead to, have changed."""
    asked = "SELECT id, path, aliases, anchors FROM files ORDER BY id"
    # A ledger is a file like others to a link, no note; to a mined file leads none.
    rows = [
        row for row in catalog.db.execute(asked) if not (tree.is_ledger(row[1]) or is_mined(row[1]))
    ]
    cold = [row for row in below.db.execute(asked) if not tree.is_ledger(row[1])]
    links = catalog.db.execute("SELECT file_id, ordinal, link FROM links").fetchall()
    state = sha256(repr((rows, links, cold, around.tree.others)))
    if state == catalog.meta("link_state"):
        return
    paths = {file_id: path for file_id, path, _, _ in rows}
    anchors = {path: reading.anchors_from_json(text) for _, path, _, text in [*rows, *cold]}
    resolver = Resolver(
        {path: json.loads(text) for _, path, text, _ in rows},
        [Archived(path, tuple(json.loads(a)), anchors[path].origin) for _, path, a, _ in cold],
        around.tree.others,
    )
    updates = []
    for file_id, ordinal, text in links:
        if file_id not in paths:
            raise sqlite3.DatabaseError("a link stands in no file")
        found = resolver.resolve(paths[file_id], reading.link_from_json(text), anchors)
        updates.append((found.path, found.status, found.why, file_id, ordinal))
    with catalog.transaction():
        catalog.db.executemany(
            "UPDATE links SET path = ?, status = ?, why = ? WHERE file_id = ? AND ordinal = ?",
            updates,
        )
        catalog.set_meta("link_state", state)


def synced(catalog: Catalog, around: Surroundings) -> Synced:
    """The manifest as the notes in the catalog would have it."""
    said = dict(catalog.db.execute("SELECT path, said FROM files"))
    in_tree = [*around.tree.notes, *around.tree.ledgers]
    notes = {f.path: reading.said_from_json(said[f.path]) for f in in_tree if f.path in said}
    left_out = set(around.tree.excluded)
    there = {*(f.path for f in around.listed.files), *around.listed.refused}
    return manifests.sync(
        around.manifest,
        notes,
        may_be_there=around.tree.may_be_there,
        left_out=left_out.__contains__,
        exists=there.__contains__,
    )
