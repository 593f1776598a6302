"""What of a catalog stands in Milvus: its collections, and a catalog's notes as their rows.

*Notes* carry what a hit says of its file, *units* (a chunk each) what is searched, *words* the
statistics that BM25 needs. Several palaces share the collections, told apart by ``palace``, the
partition key. Ids are made of a note's path and a unit's place in it: the same note written again
is the same rows.
"""

import json
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from memory_palace.core.text import MINED, MINED_ROOM, is_mined, sha256
from memory_palace.embed.port import Vectors
from memory_palace.index.catalog import Catalog
from memory_palace.index.milvus_client import Field, Row
from memory_palace.index.milvus_texts import (
    LONGEST,
    MOST_PIECES,
    columns_in_pieces,
    cut,
    in_pieces,
    packed,
)
from memory_palace.index.milvus_words import LEVELS, Level, Scratch, levels_of
from memory_palace.index.nearest import Nearest

FORMAT = "1"
"""Raise it when the rows change: they go into collections of other names."""

NOTES = f"memory_palace_{FORMAT}_notes"
WORDS = f"memory_palace_{FORMAT}_words"

UNDATED = -1e15
"""The time of a note that has none."""

_MOST_TAGS = 1024
_MOST_LINKS = 500
_MOST_DEEP = 256

_ID = Field("id", "VARCHAR", is_primary=True, max_length=128)
_PALACE = Field("palace", "VARCHAR", is_partition_key=True, max_length=64)
_RECORD = Field("record", "VARCHAR", max_length=LONGEST)
_FILTERS = (
    Field("type", "VARCHAR", max_length=4096),
    Field("priority", "VARCHAR", max_length=64),
    Field("time", "DOUBLE"),
    Field("rooms", "ARRAY", element_type="VARCHAR", max_length=4096, max_capacity=_MOST_DEEP),
    Field("tags", "ARRAY", element_type="VARCHAR", max_length=4096, max_capacity=_MOST_TAGS),
)
_NONE = Field("none", "FLOAT_VECTOR", dim=2)  # every collection has to have a vector
_OF_NONE = {"field_name": "none", "index_type": "FLAT", "metric_type": "IP"}

_PIECES = {"element_type": "VARCHAR", "max_length": LONGEST, "max_capacity": MOST_PIECES}

NOTES_FIELDS = (
    *(_ID, _PALACE, *_FILTERS, _RECORD),
    Field("words", "ARRAY", **_PIECES),
    Field("sparse", "SPARSE_FLOAT_VECTOR"),
    Field("path", "VARCHAR", max_length=4096),
    Field("digest", "VARCHAR", max_length=64),
    Field("units", "INT64"),
)
WORDS_FIELDS = (
    *(_ID, _PALACE, _RECORD, _NONE),
    Field("key", "VARCHAR", max_length=64),
    Field("digest", "VARCHAR", max_length=64),
)
WORDS_INDEX = (_OF_NONE,)
_BY_WORDS: Row = {
    **{"field_name": "sparse", "metric_type": "IP", "index_type": "SPARSE_INVERTED_INDEX"}
}
NOTES_INDEX = (_BY_WORDS,)
_HNSW = {"index_type": "HNSW", "params": {"M": 32, "efConstruction": 200}}
_EXACT = {"index_type": "FLAT"}


def units_index(exact: bool) -> tuple[Row, ...]:
    """The indexes of units: vectors compared one by one, or (for many) along a graph."""
    dense = {"field_name": "dense", "metric_type": "IP", **(_EXACT if exact else _HNSW)}
    return (dense, _BY_WORDS)


def units_name(dimension: int) -> str:
    """The collection of units whose vectors have this dimension (0: no vectors)."""
    return f"memory_palace_{FORMAT}_units_{dimension}"


def units_fields(dimension: int) -> tuple[Field, ...]:
    """``embedded`` tells whether there is a vector; one of zeros stands where there is none."""
    return (
        *(_ID, _PALACE, *_FILTERS, _RECORD),
        Field("note", "VARCHAR", max_length=128),
        Field("text", "VARCHAR", max_length=LONGEST),
        Field("tokens", "ARRAY", **_PIECES),
        Field("embedded", "BOOL"),
        Field("dense", "FLOAT_VECTOR", dim=max(dimension, 2)),
        Field("sparse", "SPARSE_FLOAT_VECTOR"),
    )


# -- ids and texts ----------------------------------------------------------------------------


def note_id(palace: str, path: str) -> str:
    """The id of a note's row."""
    return f"{palace}/{sha256(path)[:24]}"


def unit_id(note: str, place: int) -> str:
    """The id of the row of a note's unit; places count from 0."""
    return f"{note}/{place:06d}"


def note_of(unit: str) -> str:
    """The id of the note that a unit's id belongs to."""
    return unit.rpartition("/")[0]


# -- a catalog's notes ------------------------------------------------------------------------

NOTE_COLUMNS = ("path", "sha256", "title", "type", "priority", "time", "tags", "room")
CHUNK_COLUMNS = ("chunk_id", "ordinal", "heading", "start", "end", "embedded", "key", "units")


def digests(catalog: Catalog, vectors: bool, fingerprint: str) -> dict[str, tuple[int, str]]:
    """{path: (row id of the file, digest of all that Milvus has of the note)}.

    A note's text comes in by its file's hash, its vectors by their number.
    """
    links = _links(catalog)
    having: dict[int, int] = {}
    if vectors:
        having = dict(
            catalog.db.execute(
                """SELECT c.file_id, count(*) FROM chunks c JOIN vectors v ON v.key = c.key
                   WHERE c.key != '' GROUP BY c.file_id"""
            )
        )
    columns = ", ".join(NOTE_COLUMNS)
    found = {}
    for file_id, *values in catalog.db.execute(f"SELECT id, {columns} FROM files"):
        about = [*values, links[file_id], having.get(file_id, 0), fingerprint]
        found[values[0]] = (file_id, sha256(json.dumps(about)))
    return found


def _links(catalog: Catalog, file_id: int | None = None) -> dict[int, list[list[str]]]:
    """{row id of a file: [path, key] of its links}, and those of other notes' metadata to it: what
    supersedes a note stands in the other one.

    Incoming links have the other's path after the key.
    """
    one = "" if file_id is None else "AND ? IN (f.id, t.id)"
    found: dict[int, list[list[str]]] = defaultdict(list)
    for source, path, target, to, key in catalog.db.execute(
        f"""SELECT f.id, f.path, t.id, l.path, l.key
            FROM links l JOIN files f ON f.id = l.file_id LEFT JOIN files t ON t.path = l.path
            WHERE l.path NOT NULL {one} ORDER BY l.file_id, l.ordinal""",
        () if file_id is None else (file_id,),
    ):
        if len(found[source]) < _MOST_LINKS:
            found[source].append([to, key])
        if key and target is not None and target != source:
            found[target].append([to, key, path])
    return found


class Reader:
    """Rows of notes out of one catalog. ``vectors`` gives the rows of keys, or None."""

    def __init__(
        self,
        catalog: Catalog,
        palace: str,
        vectors: "Vectored | None",
        averages: Sequence[float],
    ) -> None:
        """``averages`` are the mean numbers of words of each level's rows."""
        self._catalog = catalog
        self._palace = palace
        self._vectors = vectors
        self._averages = averages
        self._scratch = [Scratch(level) for level in LEVELS]

    def note(self, file_id: int, digest: str) -> tuple[Row, list[Row]]:
        """The row of a note and those of its units."""
        columns = ", ".join(NOTE_COLUMNS)
        values = self._catalog.db.execute(
            f"SELECT {columns} FROM files WHERE id = ?", (file_id,)
        ).fetchone()
        about = dict(zip(NOTE_COLUMNS, values, strict=True))
        path = about["path"]
        filters = {
            "palace": self._palace,
            "type": cut(about["type"], 4096),
            "priority": cut(about["priority"] or "", 64),
            "time": UNDATED if about["time"] is None else float(about["time"]),
            "rooms": rooms(path, about["room"])[:_MOST_DEEP],
            "tags": [cut(tag, 4096) for tag in json.loads(about["tags"])[:_MOST_TAGS]],
        }
        of_units, of_notes = levels_of(path)
        names = ", ".join(of_notes.weights)
        words = self._catalog.db.execute(
            f"SELECT {names} FROM {of_notes.table} WHERE rowid = ?", (file_id,)
        ).fetchone() or [""] * len(of_notes.weights)
        note = note_id(self._palace, path)
        units = self._units(file_id, note, filters, of_units)
        row = {
            **filters,
            **{"id": note, "path": path, "digest": digest, "units": len(units)},
            "record": packed({**about, "links": _links(self._catalog, file_id)[file_id]}),
            "words": columns_in_pieces(words),
            "sparse": self._sparse(of_notes, [words])[0],
        }
        return row, units

    def _sparse(self, level: Level, rows: Sequence[Sequence[str]]) -> list[dict[int, float]]:
        return self._scratch[level.number].sparse(rows, self._averages[level.number])

    def _units(self, file_id: int, note: str, filters: Row, level: Level) -> list[Row]:
        columns = ", ".join(f'c."{name}"' for name in CHUNK_COLUMNS)
        names = ", ".join(f"w.{name}" for name in level.weights)
        count = len(level.weights)
        found = self._catalog.db.execute(
            f"""SELECT c.text, {names}, {columns} FROM chunks c
                JOIN {level.table} w ON w.rowid = c.id
                WHERE c.file_id = ? ORDER BY c.id""",
            (file_id,),
        ).fetchall()
        sparse = self._sparse(level, [row[1 : count + 1] for row in found])
        abouts = [dict(zip(CHUNK_COLUMNS, row[count + 1 :], strict=True)) for row in found]
        keys = [about["key"] for about in abouts]
        vectors = self._vectors.of(keys) if self._vectors else {}
        tokens = self._vectors.tokens(keys) if self._vectors else {}
        none = [0.0] * (self._vectors.dimension if self._vectors else 2)
        return [
            {
                **filters,
                **{"id": unit_id(note, place), "note": note, "text": cut(row[0])},
                "record": packed({**about, "words": row[1 : count + 1]}),
                "tokens": tokens.get(about["key"], []),
                "embedded": about["key"] in vectors,
                "dense": vectors.get(about["key"], none),
                "sparse": weighted,
            }
            for place, (row, about, weighted) in enumerate(zip(found, abouts, sparse, strict=True))
        ]


class Vectored:
    """Vectors by the key of their text."""

    def __init__(self, catalog: Catalog, vectors: Nearest) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._order = np.argsort(vectors.ids(), kind="stable")
        self._ids = vectors.ids()[self._order]
        self.dimension = vectors.dimension

    def of(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """{key: vector, shape (d,)}; keys without one are left out."""
        found = self._catalog.db.execute(
            "SELECT key, id FROM vectors WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(keys),),
        ).fetchall()
        ids = np.array([row[1] for row in found], dtype=np.int64)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        there = self._ids[places] == ids
        made = self._vectors.vectors_of(self._order[places[there]])
        known = [row[0] for row, known in zip(found, there, strict=True) if known]
        return dict(zip(known, made, strict=True))

    def tokens(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """{key: the vectors of its text's tokens, as the catalog has them, in pieces}."""
        found = self._catalog.db.execute(
            """SELECT v.key, t.starts, t.bits FROM vectors v JOIN tokens t ON t.id = v.id
               WHERE v.key IN (SELECT value FROM json_each(?))""",
            (json.dumps(keys),),
        )
        return {
            key: in_pieces(len(starts).to_bytes(4, "little") + starts + bits)
            for key, starts, bits in found
        }


def rooms(path: str, room: str = "") -> list[str]:
    """Every folder that a path lies in, from the root down, each with its `/`; of a mined file
    also the mark of all mined files, and its room and those above it."""
    parts = path.split("/")[:-1]
    found = ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
    if not is_mined(path):
        return found
    parts = room.split("/")
    own = [f"{MINED_ROOM}{'/'.join(parts[: n + 1])}/" for n in range(len(parts))]
    return [MINED, *own, *found]
