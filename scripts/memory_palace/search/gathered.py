"""Units out of Milvus as a small catalog in memory, which the ordinary search ranks.

What it cannot know by itself, how rare a word is among all units and how long they are, comes from
``rarity``: the scores are those of the whole palace.
"""

import itertools
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import bm25
from memory_palace.core.scoring import Scores
from memory_palace.core.text import MINED_ROOM
from memory_palace.index import milvus_rows as rows
from memory_palace.index import milvus_texts as texts
from memory_palace.index.catalog import Catalog
from memory_palace.index.milvus import Stamp
from memory_palace.index.milvus_client import Client, Row
from memory_palace.index.milvus_words import LEVELS, UNITS, Level, in_memory, levels_of
from memory_palace.index.nearest import Matrix
from memory_palace.search.rarity import Rarity, phrases

_SUCCESSORS = 5
"""Successors of successors that are looked for."""

_MOST_OF_A_NOTE = 100
"""Units of a successor, which comes along with the note that it supersedes."""


def fetch(
    client: Client, palace: str, dimension: int, units: Sequence[str], rarities: "Rarities"
) -> "Gathered":
    """These units and their notes as a catalog, with their vectors, and the notes that supersede
    theirs."""
    fields = ["id", "note", "text", "record", "tokens", "embedded", "dense"]
    its_units: dict[str, list[Row]] = defaultdict(list)
    notes: dict[str, Row] = {}
    for _ in range(_SUCCESSORS):
        for row in client.get(rows.units_name(dimension), units, fields):
            its_units[row["note"]].append(row)
        new = [note for note in its_units if note not in notes]
        found = client.get(rows.NOTES, new, ["id", "path", "units", "record", "words"])
        for row in found:
            notes[row["id"]] = row | {"record": texts.unpacked(row["record"])}
        after = {
            rows.note_id(palace, path) for row in found for path in _successors(notes[row["id"]])
        }
        units = []
        for row in client.get(rows.NOTES, sorted(after - notes.keys()), ["id", "units"]):
            most = min(int(row["units"]), _MOST_OF_A_NOTE)
            units += [rows.unit_id(row["id"], place) for place in range(most)]
        if not units:
            break
    gathered = Gathered(rarities)
    for row in sorted(notes.values(), key=lambda row: str(row["path"])):
        gathered.add(row, sorted(its_units[row["id"]], key=lambda unit: str(unit["id"])))
    return gathered


def _successors(note: Row) -> list[str]:
    """The paths of the notes that supersede a note, whichever of them says so."""
    own = [link[0] for link in note["record"]["links"] if link[1:] == ["superseded_by"]]
    theirs = [
        link[2] for link in note["record"]["links"] if link[1:2] == ["supersedes"] and link[2:]
    ]
    return own + theirs


def add_linked(client: Client, palace: str, gathered: "Gathered", paths: Sequence[str]) -> None:
    """Add the notes that the notes with these paths link to, without their units."""
    marks = ", ".join("?" for _ in paths)
    linked = gathered.db.execute(
        f"""SELECT DISTINCT l.path FROM links l JOIN files f ON f.id = l.file_id
            WHERE f.path IN ({marks})""",
        list(paths),
    ).fetchall()
    ids = [rows.note_id(palace, path) for (path,) in linked]
    for row in client.get(rows.NOTES, ids, ["record"]):
        gathered.add_file(texts.unpacked(row["record"]))


Rarities = Sequence[Rarity]
"""One of each level."""


class Gathered(Catalog):
    """A catalog in memory with a part of a palace. Keyword scores are made those of the whole.
    ``cut`` tells that there may be more hits, behind the first."""

    scores_words = True

    def __init__(self, rarities: Rarities) -> None:
        super().__init__(in_memory())
        self.cut = False
        self._rarities = rarities
        self._counted: dict[str, dict[int, int]] = {}
        self._keys: list[str] = []
        self._vectors: list[list[float]] = []

    def add(self, note: Row, units: Sequence[Row]) -> None:
        """A note with some of its units; notes by path, units by place."""
        record = note["record"]
        file_id = self.add_file(record)
        of_units, of_files = levels_of(record["path"])
        self._insert(of_files, file_id, texts.columns_joined(note["words"]))
        own = [link for link in record["links"] if len(link) == 2]
        for ordinal, (path, key) in enumerate(own):
            self._link(file_id, ordinal, path, key)
        for row in units:
            self._add_unit(file_id, row, of_units)

    def _add_unit(self, file_id: int, row: Row, level: Level) -> None:
        about = texts.unpacked(row["record"])
        values = {name: about[name] for name in rows.CHUNK_COLUMNS}
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" for _ in values)
        chunk = self.db.execute(
            f"INSERT INTO chunks (file_id, text, {names}) VALUES (?, ?, {marks})",
            (file_id, row["text"], *values.values()),
        ).lastrowid
        self._insert(level, int(chunk or 0), about["words"])
        if not row["embedded"] or about["key"] in self._keys:
            return
        self._keys.append(about["key"])
        self._vectors.append(row["dense"])
        self.db.execute("INSERT INTO vectors (key) VALUES (?)", (about["key"],))
        tokens = texts.tokens_joined(row["tokens"])
        if tokens:
            self.db.execute("INSERT INTO tokens VALUES (?, ?, ?)", (len(self._keys), *tokens))

    def _insert(self, level: Level, row: int, columns: Sequence[str]) -> None:
        names, marks = ", ".join(level.weights), ", ".join("?" for _ in level.weights)
        self.db.execute(
            f"INSERT INTO {level.table} (rowid, {names}) VALUES (?, {marks})", (row, *columns)
        )

    def _link(self, file_id: int, ordinal: int, path: str, key: str) -> None:
        self.db.execute(
            "INSERT INTO links VALUES (?, ?, '[]', ?, 'ok', '', ?)", (file_id, ordinal, path, key)
        )

    def add_file(self, note: dict[str, Any]) -> int:
        """A note without its units: for a link to lead to it."""
        row = {
            **{name: note[name] for name in rows.NOTE_COLUMNS},
            **{"size": 0, "mtime_ns": 0, "inode": 0, "settled": 1},
            **{"said": "[]", "time_source": "note", "aliases": "[]", "anchors": "[[], []]"},
        }
        columns = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        added = self.db.execute(
            f"INSERT OR IGNORE INTO files ({columns}) VALUES ({marks})", tuple(row.values())
        )
        return int(added.lastrowid or 0)

    def add_facets(self, stamp: Stamp) -> None:
        """Types, rooms and tags of all notes, so that it can be said which of a filter's values
        occurs nowhere."""
        blank: dict[str, Any] = dict.fromkeys(rows.NOTE_COLUMNS, "") | {"time": None}
        blank["type"] = next(iter(stamp.types), "")
        for number, kind in enumerate(stamp.types):
            self.add_file(blank | {"path": f"type/{number}", "type": kind, "tags": "[]"})
        for room in stamp.rooms:
            name = room[len(MINED_ROOM) : -1] if room.startswith(MINED_ROOM) else ""
            self.add_file(blank | {"path": room, "tags": "[]", "room": name})
        self.add_file(blank | {"path": "tags", "tags": json.dumps(stamp.tags)})

    def vectors(self) -> Matrix | None:
        """The vectors, under the ids of the table ``vectors``; None if there are none."""
        if not self._vectors:
            return None
        ids = np.arange(1, len(self._vectors) + 1, dtype=np.int64)
        return Matrix(ids, np.array(self._vectors, dtype=np.float32))

    def keyword(self, expression: str) -> list[tuple[int, float]]:
        return self._of_the_whole(expression, of_units=True)

    def note_keyword(self, expression: str) -> list[tuple[int, float]]:
        return self._of_the_whole(expression, of_units=False)

    def spread(self, expression: str) -> tuple[int, int]:
        """In how many units of all notes an FTS5 expression holds, of how many."""
        rarity = self._rarities[UNITS.number]
        having = sum(map(rarity.having, phrases([expression])))
        return min(having, rarity.rows), rarity.rows

    def _of_the_whole(self, expression: str, of_units: bool) -> list[tuple[int, float]]:
        """(row, BM25 over the whole palace) of the rows that match, among notes and among mined
        files each by themselves.

        Each phrase is scored over the rows that are here, and that made the score of the whole.
        """
        total: dict[int, float] = defaultdict(float)
        levels = [level for level in LEVELS if level.of_units == of_units]
        for level, phrase in itertools.product(levels, phrases([expression])):
            found = self._here(level, phrase)
            if found:
                lengths = self._lengths(level)
                own = np.array([lengths[row] for row, _ in found], dtype=np.int64)
                scores = np.array([score for _, score in found])
                whole = self._scores(level, phrase, scores, own, list(lengths.values()))
                for (row, _), score in zip(found, whole.tolist(), strict=True):
                    total[row] += score
        return sorted(total.items())

    def _here(self, level: Level, phrase: str) -> list[tuple[int, float]]:
        name, weights = level.table, ", ".join(map(str, level.weights.values()))
        return self.db.execute(
            f"SELECT rowid, -bm25({name}, {weights}) FROM {name} WHERE {name} MATCH ?", (phrase,)
        ).fetchall()

    def _scores(
        self,
        level: Level,
        phrase: str,
        scores: Scores,
        lengths: NDArray[np.int64],
        every: Sequence[int],
    ) -> Scores:
        mean = sum(every) / len(every)
        occurred = bm25.frequency(scores, lengths, mean, bm25.idf(len(every), len(scores)))
        rarity = self._rarities[level.number]
        # In the middle of an upload there may be more rows than the statistics know.
        having = max(rarity.having(phrase), len(scores))
        weight = bm25.rarity(max(rarity.rows, having), having)
        return bm25.contributions(occurred, lengths, rarity.average, weight)

    def _lengths(self, level: Level) -> dict[int, int]:
        """{row: its number of words} of all rows that are here."""
        if level.table not in self._counted:
            found = self.db.execute(f"SELECT id, sz FROM {level.table}_docsize")
            self._counted[level.table] = {row: _sum(sizes) for row, sizes in found}
        return self._counted[level.table]


def _sum(sizes: bytes) -> int:
    """The sum of FTS5's numbers, one a column: seven bits a byte, the high bits first, and the top
    bit on all bytes but a number's last."""
    total = number = 0
    for byte in sizes:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            total, number = total + number, 0
    return total
