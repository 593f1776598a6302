"""The index of a palace brought to Milvus: the new and the changed written, the gone taken out.

Every step can be repeated. A note's own row is written after its units, with a digest of all that
stands there: a run that was killed goes on with the notes whose digest differs. What is gone goes
last, and the palace's stamp is complete only after that.
"""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.core import dates
from memory_palace.core.diff import too_many_gone
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.text import is_mined, sha256
from memory_palace.files import git, roots
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import milvus_rows as rows
from memory_palace.index import milvus_texts as texts
from memory_palace.index import milvus_words as words
from memory_palace.index import nearest
from memory_palace.index.catalog import Catalog
from memory_palace.index.milvus_client import BATCH, Client, Row
from memory_palace.index.milvus_words import Counts, Statistics
from memory_palace.index.progress import Progress

COLD = ".cold"
"""Follows a palace's id: its archive, a palace of its own here."""

_NOWHERE = ("", 0, "")  # a note that Milvus does not have

MOST_FACETS = 2000
"""So many distinct types, rooms and tags are known to tell why a filter matches nothing."""


@dataclass(slots=True)
class Stamp:
    """What is known of a palace as a whole. ``state`` is a digest of it; empty while it is being
    written. ``dimension`` is 0 without vectors. ``notes`` counts mined files too. ``averages`` are
    the lengths of each level's rows that sparse vectors were made with. ``by`` is the machine that
    wrote it."""

    format: str = ""
    state: str = ""
    fingerprint: str = ""
    dimension: int = 0
    notes: int = 0
    statistics: Statistics = field(default_factory=Statistics)
    averages: tuple[float, ...] = (0.0,) * len(words.LEVELS)
    at: str = ""
    by: str = ""
    types: list[str] = field(default_factory=list)
    rooms: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Pushed:
    """How many notes were written and taken out."""

    written: int = 0
    removed: int = 0


def palace_id(root: Path, config: Config) -> str:
    """The name of the palace in Milvus: the same on every machine that has a clone of it.

    The user's ``index.palaces`` says it; else it is made of the repository's first commit and the
    root's place in the repository, else (no commit) of this machine's name and the folder. Raises
    :class:`BadInput` for a shallow clone, whose first commit is not known.
    """
    for folder, name in config.palaces.items():
        if folder == root or _same(folder, root):
            return name
    first = git.run(root, "rev-list", "--max-parents=0", "HEAD") if git.head(root) else None
    if not first:
        return sha256(f"{platform.node()}\0{root}")[:16]
    if (git.run(root, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        raise BadInput(
            f"{root} is a shallow clone, and the palace's name in Milvus comes from the first "
            "commit: run `git fetch --unshallow`, or name it in index.palaces of your own "
            "configuration"
        )
    place = git.run(root, "rev-parse", "--show-prefix") or b""
    return sha256((first.split()[-1] + b"\0" + place.strip()).decode("utf-8", "replace"))[:16]


def _same(folder: Path, root: Path) -> bool:
    try:
        return folder.resolve() == root
    except OSError:
        return False


def connect(config: Config) -> Client:
    """Raises :class:`Missing` where pymilvus is not installed or Milvus does not answer."""
    return Client(config.milvus_uri or "", config.milvus_token)


def read_stamp(client: Client, palace: str) -> Stamp | None:
    """The stamp of a palace; None if nothing of it was ever written."""
    if not client.has(rows.WORDS):
        return None
    for row in client.get(rows.WORDS, [palace], ["record"]):
        with texts.readable():
            found: dict[str, Any] = texts.unpacked(row["record"])
            given = found.pop("statistics")
            averages, made, lengths = (
                _of_levels(numbers)
                for numbers in (found.pop("averages"), given["rows"], given["lengths"])
            )
            # Before format 3 there was one number for all keys.
            pages = given["pages"] if isinstance(given["pages"], dict) else {}
            return Stamp(**found, averages=averages, statistics=Statistics(made, lengths, pages))
    return None


def _of_levels(numbers: Sequence[Any]) -> tuple[Any, ...]:
    """Of mined files there were none before format 3."""
    return (*numbers, 0, 0, 0, 0)[: len(words.LEVELS)]


def described(root: Path, config: Config) -> tuple[bool, str]:
    """Whether the palace is whole in Milvus, and a line about what is there.

    Raises what :func:`palace_id` and :func:`connect` raise.
    """
    palace = palace_id(root, config)
    with connect(config) as client:
        stamp = read_stamp(client, palace)
    where = f"{config.milvus_uri}, palace {palace}"
    if stamp is None:
        return False, f"{where}: nothing there yet: run `palace index`"
    if not stamp.state:
        return False, f"{where}: not complete: run `palace index`"
    mined = stamp.statistics.rows[words.MINED_FILES.number]
    files = f"notes {stamp.notes - mined}" + f", mined files {mined}" * bool(mined)
    units = stamp.statistics.units
    return True, f"{where}: {files}, units {units}, {stamp.at} by {stamp.by}"


def push(
    root: Path, config: Config, progress: Progress, yes: bool = False, force: bool = False
) -> Pushed:
    """Bring Milvus in line with the local index, whose lock the caller holds.

    With ``force`` everything is written again. Raises :class:`Refused` if most of what is there
    would go and not ``yes``, :class:`Missing` if Milvus fails: the next run goes on from there.
    """
    palace = palace_id(root, config)
    folder = roots.index_folder(root)
    with connect(config) as client:
        done = Pushed()
        for name, part in ((catalogs.MAIN, palace), (catalogs.BASEMENT, palace + COLD)):
            with catalogs.open_to_write(folder / name) as catalog:
                vectors = None
                if catalog.count("vectors"):
                    generation = int(catalog.meta("generation", "0"))
                    vectors = rows.Vectored(catalog, nearest.open_to_read(folder, generation))
                _Push(client, catalog, vectors, part, progress).run(done, yes, force)
    return done


class _Push:
    """One catalog on its way."""

    def __init__(
        self,
        client: Client,
        catalog: Catalog,
        vectors: rows.Vectored | None,
        palace: str,
        progress: Progress,
    ) -> None:
        self.client = client
        self.catalog = catalog
        self.vectors = vectors
        self.palace = palace
        self.progress = progress
        self.mine = f'palace == "{palace}"'
        self.dimension = vectors.dimension if vectors else 0
        self.units = rows.units_name(self.dimension)
        self.fingerprint = catalog.meta("fingerprint") if vectors else ""

    def run(self, done: Pushed, yes: bool, force: bool) -> None:
        wanted = rows.digests(self.catalog, self.vectors is not None, self.fingerprint)
        state = sha256(
            repr((catalogs.FORMAT, sorted((path, d) for path, (_, d) in wanted.items())))
        )
        whole = self._make_collections()
        before = read_stamp(self.client, self.palace)
        if before is None and not wanted:
            return
        if whole and before and before.state == state and not force:
            return
        there = self._there() if before else {}
        ids = {rows.note_id(self.palace, path): path for path in wanted}
        gone = {note: units for note, (_, units, _) in there.items() if note not in ids}
        # Mined files can be had again from their sources.
        own = {note for note, (_, _, path) in there.items() if not is_mined(path)}
        lost = len(own & gone.keys())
        if not yes and too_many_gone(lost, len(own)):
            raise Refused(
                f"{lost} of the {len(own)} notes that palace {self.palace} has in Milvus "
                "are not in this index: run `palace index --yes` if that is meant; if it is "
                "another palace, give this one a name in index.palaces of your own configuration"
            )
        counted = words.count(self.catalog)
        begun = before or Stamp(
            format=catalogs.FORMAT, fingerprint=self.fingerprint, dimension=self.dimension
        )
        begun.averages = self._begun(begun.averages, counted.statistics, there)
        averages = self._averages(begun.averages, counted.statistics)
        changed = [
            (wanted[path], there.get(note, _NOWHERE)[1])
            for note, path in ids.items()
            if force
            or not whole
            or there.get(note, _NOWHERE)[0] != wanted[path][1]
            or any(begun.averages[lv.number] != averages[lv.number] for lv in words.levels_of(path))
        ]
        self._write_stamp(begun, "")
        self._write_notes(changed, averages)
        self._write_pages(counted.pages)
        self._remove(gone)
        if before and before.dimension != self.dimension:
            self.client.delete_where(rows.units_name(before.dimension), self.mine)
        for name in (self.units, rows.NOTES, rows.WORDS):
            self.client.settle(name)
        stamp = self._stamp(len(wanted), counted.statistics)
        stamp.averages = averages
        self._write_stamp(stamp, state)
        done.written += len(changed)
        done.removed += len(gone)

    def _begun(
        self,
        averages: tuple[float, ...],
        statistics: Statistics,
        there: dict[str, tuple[str, int, str]],
    ) -> tuple[float, ...]:
        """``averages``, and those of now for notes or mined files where none of them is there: so
        a run that is killed goes on."""
        kinds = {is_mined(path) for _, _, path in there.values()}
        return tuple(
            averages[level.number] if level.mined in kinds else statistics.average(level)
            for level in words.LEVELS
        )

    def _averages(self, before: tuple[float, ...], statistics: Statistics) -> tuple[float, ...]:
        """The lengths to make sparse vectors with: the same as long as they are about right."""
        made = []
        for of_kind in (words.LEVELS[:2], words.LEVELS[2:]):
            now = [statistics.average(level) for level in of_kind]
            then = [before[level.number] for level in of_kind]
            made += (
                then if all(a / 2 <= b <= a * 2 for a, b in zip(now, then, strict=True)) else now
            )
        return tuple(made)

    def _make_collections(self) -> bool:
        """True if the collection of units was there already."""
        whole = self.client.has(self.units)
        self.client.ensure(
            self.units, rows.units_fields(self.dimension), rows.units_index(self.client.is_file)
        )
        self.client.ensure(rows.NOTES, rows.NOTES_FIELDS, rows.NOTES_INDEX)
        self.client.ensure(rows.WORDS, rows.WORDS_FIELDS, rows.WORDS_INDEX)
        return whole

    def _there(self) -> dict[str, tuple[str, int, str]]:
        """{note's id: (digest, number of units, path)} of what Milvus has."""
        found = self.client.listing(rows.NOTES, self.mine, ["id", "digest", "units", "path"])
        return {row["id"]: (row["digest"], int(row["units"]), row["path"]) for row in found}

    def _write_notes(
        self, changed: Sequence[tuple[tuple[int, str], int]], averages: Sequence[float]
    ) -> None:
        reader = rows.Reader(self.catalog, self.palace, self.vectors, averages)
        notes: list[Row] = []
        units: list[Row] = []
        left: list[str] = []
        self.progress.start("milvus", len(changed))
        try:
            for (file_id, digest), before in changed:
                note, its_units = reader.note(file_id, digest)
                notes.append(note)
                units += its_units
                left += [rows.unit_id(note["id"], n) for n in range(len(its_units), before)]
                if len(units) + len(notes) >= BATCH:
                    self._send(notes, units, left)
            self._send(notes, units, left)
        finally:
            self.progress.stop()

    def _send(self, notes: list[Row], units: list[Row], left: list[str]) -> None:
        """Units first: a note that is there has them all."""
        self.client.upsert(self.units, units)
        self.client.delete(self.units, left)
        self.client.upsert(rows.NOTES, notes)
        self.progress.advance(len(notes))
        for sent in (notes, units, left):
            sent.clear()

    def _write_pages(self, pages: dict[tuple[str, int], dict[str, Counts]]) -> None:
        found = self.client.listing(rows.WORDS, f'{self.mine} and key != ""', ["id", "digest"])
        there = {row["id"]: row["digest"] for row in found}
        made = {}
        for (key, number), counts in pages.items():
            record = texts.packed(counts)
            name = words.page_id(self.palace, key, number)
            row = {"id": name, "palace": self.palace, "key": texts.cut(key, 64)}
            made[name] = row | {"record": record, "digest": sha256(record), "none": [0.0, 0.0]}
        self.client.upsert(
            rows.WORDS, [row for row in made.values() if there.get(row["id"]) != row["digest"]]
        )
        self.client.delete(rows.WORDS, [name for name in there if name not in made])

    def _remove(self, gone: dict[str, int]) -> None:
        ids = [rows.unit_id(note, n) for note, units in gone.items() for n in range(units)]
        self.client.delete(self.units, ids)
        self.client.delete(rows.NOTES, list(gone))

    def _stamp(self, notes: int, statistics: Statistics) -> Stamp:
        db = self.catalog.db
        tags = db.execute("SELECT DISTINCT value FROM files, json_each(tags) ORDER BY value")
        paths = db.execute("SELECT path, room FROM files")
        folders = {folder for path, room in paths for folder in rows.rooms(path, room)}
        return Stamp(
            format=catalogs.FORMAT,
            fingerprint=self.fingerprint,
            dimension=self.dimension,
            notes=notes,
            statistics=statistics,
            at=dates.stamp(datetime.now(UTC)),
            by=platform.node(),
            types=self.catalog.values("type")[:MOST_FACETS],
            rooms=sorted(folders)[:MOST_FACETS],
            tags=[row[0] for row in tags][:MOST_FACETS],
        )

    def _write_stamp(self, stamp: Stamp, state: str) -> None:
        stamp.state = state
        record = texts.packed(asdict(stamp))
        row = {"id": self.palace, "palace": self.palace, "key": "", "digest": ""}
        self.client.upsert(rows.WORDS, [row | {"record": record, "none": [0.0, 0.0]}])
