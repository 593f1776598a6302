"""A whole index run: lock, keywords, vectors; and the check that writes nothing."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import language
from memory_palace.core.errors import Missing
from memory_palace.core.problems import Problem, in_order
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import locks, roots
from memory_palace.files.config import Config
from memory_palace.index import build, fill, plan
from memory_palace.index import catalog as catalogs
from memory_palace.index.build import Indexed, Options
from memory_palace.index.catalog import Catalog
from memory_palace.index.plan import Changes
from memory_palace.index.progress import Progress, Silent


def index(
    root: Path, config: Config, choice: Choice, options: Options, progress: Progress | None = None
) -> Indexed:
    """Bring the index of ``root`` up to date. One writer at a time; readers go on meanwhile.

    Raises :class:`Busy` (another writer), :class:`Refused` (a mass deletion), :class:`Missing`
    (tree, disk, model). Whatever happens, notes are untouched and the next run goes on from here.
    """
    progress = progress or Silent()
    folder = roots.index_folder(root)
    with locks.writer(folder, "palace index", options.wait_seconds, progress.say), _disk_faults():
        try:
            return _both_phases(root, folder, config, choice, options, progress)
        except sqlite3.DatabaseError as error:
            if _is_fault_of_the_disk(error):
                raise
            progress.say(f"the index is damaged ({error}): made anew")
            catalogs.discard(folder / catalogs.MAIN)
            catalogs.discard(folder / catalogs.BASEMENT)
            return _both_phases(root, folder, config, choice, options, progress)


def _both_phases(
    root: Path, folder: Path, config: Config, choice: Choice, options: Options, progress: Progress
) -> Indexed:
    done = build.keywords_phase(root, config, options, progress)
    done.embedder = str(choice)
    started = time.perf_counter()
    with catalogs.open_to_write(folder / catalogs.MAIN) as catalog:
        if done.changes.any:
            _advise(catalog, choice, progress)
        filled = fill.fill(folder, catalog, choice, progress, options.max_vector_chunks)
    done.vectors, done.pending = filled.embedded, filled.pending
    done.vector_seconds = time.perf_counter() - started
    if config.store == "milvus":
        from memory_palace.index import milvus

        done.pushed = milvus.push(root, config, progress, options.yes, options.force)
    return done


def _advise(catalog: Catalog, choice: Choice, progress: Progress) -> None:
    """Say so if the embedder does not know the language of most notes."""
    step = catalog.count("chunks") // language.MOST_TEXTS + 1
    rows = catalog.db.execute("SELECT text FROM chunks WHERE id % ? = 0 ORDER BY id", (step,))
    line = registry.advice(choice, language.share_not_english([row[0] for row in rows]))
    if line:
        progress.say(line)


def _is_fault_of_the_disk(error: sqlite3.DatabaseError) -> bool:
    """True for busy, locked, read-only, I/O, full and cannot-open: a new index mends none."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    )


@contextlib.contextmanager
def _disk_faults() -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        place = getattr(error, "filename", None)
        where = f"{place}: {reason}" if place else reason
        raise Missing(
            f"the index could not be written ({where}): free disk space or mend that place, and "
            "run `palace index` again; notes are untouched"
        ) from None


@dataclass(frozen=True, slots=True)
class Checked:
    """How the index compares to the files. ``stale`` if a run would change anything."""

    changes: Changes
    cold: Changes
    pending: int
    manifest_differs: bool
    problems: list[Problem]

    @property
    def stale(self) -> bool:
        return self.changes.any or self.cold.any or self.pending > 0 or self.manifest_differs


def check(root: Path, config: Config, choice: Choice, options: Options) -> Checked:
    """Compare without writing. Raises :class:`Missing` if there is no usable index."""
    folder = roots.index_folder(root)
    around = plan.look(root, config)
    with (
        catalogs.open_to_read(folder / catalogs.MAIN) as main,
        catalogs.open_to_read(folder / catalogs.BASEMENT) as below,
    ):
        known = main.known()
        around.mined.set_aside(known)
        todo = plan.changes(root, around.live(), known, around, options.verify)
        cold = plan.changes(root, around.cold(), below.known(), around, options.verify)
        pending = fill.pending_count(folder, main, str(choice.fingerprint)) if choice.load else 0
        differs = False
        problems = [*around.problems(), *build.stored_problems(main, below)]
        problems += [*todo.unreachable.values(), *cold.unreachable.values()]
        if not todo.any:
            synced = build.synced(main, around)
            raw = (around.manifest.raw or b"").decode("utf-8", "surrogateescape")
            differs = options.sync_manifest and synced.text != raw
            problems += synced.problems
        build.cut_anew(main, todo)
    return Checked(todo, cold, pending, differs, in_order(problems))
