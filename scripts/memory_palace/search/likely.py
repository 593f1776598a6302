"""Which units of a palace in Milvus can be among the first hits of a question.

In each band of standing Milvus is asked for the nearest units, those with the best words, and the
notes with the best words. What it did not bring has at most the scores of the last that it did: a
band is searched deeper until nothing that is left in it could still come before the last unit
that is wanted.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from memory_palace.core.text import is_mined
from memory_palace.core.weights import Weights
from memory_palace.index import milvus_rows as rows
from memory_palace.index.milvus_client import MOST_ROWS, Client, Row
from memory_palace.search import bands as banded
from memory_palace.search.bounds import Bounds, Depth, Sought, Unit

A_BAND = 100
"""Units that each search brings from a band at first."""

FEW = 500
"""If a palace has no more units, each search brings all of them."""

DEEPER = 4
"""So many times as many the next time, where a band may hold more of the best."""

ROUNDS = 4
"""Times that a band is searched, at most."""

COMPLETED = 600
"""Units, the most promising, whose scores are all asked for before some of them are fetched."""

MOST_KEPT = 1000
"""Units that are fetched with their texts and vectors, at most."""

SLACK = 0.005
"""How much the scores that choose may differ from those of the ranking: the mean length of texts
moves on between uploads."""

_A_NOTE = 8  # units of a note that may come before another note's
_A_SOURCE = 50  # the same of a source, which gives several hits


class Likely:
    """One palace (or its archive) to look in. ``cut`` tells that the last answer left out units
    that may be hits, behind the first."""

    def __init__(
        self, client: Client, palace: str, dimension: int, count: int, weights: Weights
    ) -> None:
        """``dimension`` and ``count`` are those of the palace's units."""
        self.cut = False
        self._client = client
        self._count = count
        self._palace = palace
        self._collection = rows.units_name(dimension)
        self._weights = weights

    def units(self, sought: Sought, now: datetime, away: Collection[str] = ()) -> list[str]:
        """The ids of the units that can be among the first, the likeliest first; none of the
        projects ``away`` (``project:NAME``)."""
        condition = banded.condition(self._palace, sought.query)
        if away:
            condition += f" and {banded.outside(away)}"
        if sought.query.raw:
            return self._nearest(sought, condition)
        if sought.question.vector is None and not sought.question.asked.terms:
            return self._without_words(condition, sought, now)
        depths = [Depth(band, A_BAND) for band in banded.bands(self._weights, now)]
        if self._count <= FEW:
            depths = [Depth(banded.every(self._weights), 2 * FEW)]
        bounds = Bounds(sought, self._weights, now)
        search, notes = depths, dict[str, float]()
        for _ in range(ROUNDS):
            for depth in search:
                self._search_band(sought, condition, depth, notes)
            self._complete(sought, depths, notes, bounds)
            last = bounds.least(depths)
            least, self.cut = last - SLACK, last >= 0.0
            search = [depth for depth in depths if bounds.of_the_rest(depth) > least]
            for depth in search:
                depth.limit = min(depth.limit * DEEPER, MOST_ROWS)
            if not search:
                break
        best = [pair for depth in depths for pair in bounds.at_most(depth)]
        kept = sorted((-score, unit.id) for unit, score in best if score >= least)
        return [name for _, name in kept[:MOST_KEPT]]

    def _search_band(
        self, sought: Sought, condition: str, depth: Depth, notes: dict[str, float]
    ) -> None:
        inside = " and ".join(part for part in (condition, depth.band.condition) if part)
        limit = min(depth.limit, MOST_ROWS)
        depth.cosine, depth.keyword, depth.note = math.nan, 0.0, 0.0
        fields = ["id", "time", "priority"]
        near: list[tuple[float, Row]] = []
        if sought.question.vector is not None:
            near = self._client.search(
                self._collection,
                "dense",
                sought.question.vector.tolist(),
                f"{inside} and embedded == true",
                limit,
                fields,
            )
            depth.cosine = near[-1][0] if len(near) == limit else math.nan
        worded: list[tuple[float, Row]] = []
        if sought.words:
            worded = self._client.search(
                self._collection, "sparse", sought.words, inside, limit, fields
            )
            depth.keyword = worded[-1][0] if len(worded) == limit else 0.0
        if sought.note_words:
            found = self._client.search(
                rows.NOTES, "sparse", sought.note_words, inside, limit, ["id"]
            )
            notes.update({row["id"]: score for score, row in found})
            depth.note = found[0][0] if found else 0.0
        for score, row in near:
            self._unit(depth, row).cosine = score
        for score, row in worded:
            self._unit(depth, row).keyword = score
        for unit in depth.units.values():
            if unit.cosine is None and len(near) < limit:
                unit.cosine = math.nan
            if unit.keyword is None and len(worded) < limit:
                unit.keyword = 0.0

    def _unit(self, depth: Depth, row: Row) -> Unit:
        made = Unit(row["id"], row["time"], row["priority"] or None)
        return depth.units.setdefault(row["id"], made)

    def _complete(
        self, sought: Sought, depths: Sequence[Depth], notes: dict[str, float], bounds: Bounds
    ) -> None:
        """Ask for what is not known of the most promising units."""
        best = [pair for depth in depths for pair in bounds.at_most(depth)]
        best.sort(key=lambda pair: -pair[1])
        units = [unit for unit, _ in best[:COMPLETED]]
        if sought.note_words:
            missing = {rows.note_of(unit.id) for unit in units} - notes.keys()
            found = self._among(rows.NOTES, "sparse", sought.note_words, missing)
            notes.update({name: found.get(name, 0.0) for name in missing})
        for unit in units:
            unit.note = notes.get(rows.note_of(unit.id), 0.0)
        if sought.question.vector is not None:
            missing = {unit.id for unit in units if unit.cosine is None}
            vector = sought.question.vector.tolist()
            found = self._among(self._collection, "dense", vector, missing, "embedded == true")
            for unit in units:
                if unit.cosine is None:
                    unit.cosine = found.get(unit.id, math.nan)
        missing = {unit.id for unit in units if unit.keyword is None}
        found = self._among(self._collection, "sparse", sought.words, missing)
        for unit in units:
            if unit.keyword is None:
                unit.keyword = found.get(unit.id, 0.0)

    def _among(
        self, collection: str, name: str, vector: object, ids: Iterable[str], more: str = ""
    ) -> dict[str, float]:
        """{id: score} of some rows."""
        wanted = sorted(ids)
        if not wanted:
            return {}
        listed = ", ".join(banded.literal(one) for one in wanted)
        condition = f"palace == {banded.literal(self._palace)} and id in [{listed}]"
        if more:
            condition += f" and {more}"
        found = self._client.search(collection, name, vector, condition, len(wanted), ["id"])
        return {row["id"]: score for score, row in found}

    def _nearest(self, sought: Sought, condition: str) -> list[str]:
        """By cosine alone."""
        if sought.question.vector is None:
            return []
        limit = min(MOST_KEPT, _A_NOTE * sought.notes)
        vector = sought.question.vector.tolist()
        found = self._client.search(
            self._collection, "dense", vector, f"{condition} and embedded == true", limit, ["id"]
        )
        self.cut = len(found) == limit
        return [row["id"] for _, row in found]

    def _without_words(self, condition: str, sought: Sought, now: datetime) -> list[str]:
        """The first units of the notes of the highest standing; equal ones by path."""
        found: list[tuple[float, str, str, int]] = []
        for band in banded.bands(self._weights, now):
            if len(found) >= sought.notes:
                break
            notes = self._client.query(
                rows.NOTES,
                f"{condition} and {band.condition}",
                ["id", "path", "time", "priority", "units"],
            )
            times = [row["time"] for row in notes]
            priorities = [row["priority"] or None for row in notes]
            standing = banded.standing(times, priorities, self._weights, now)
            found += [
                (-float(value), row["path"], row["id"], int(row["units"]))
                for value, row in zip(standing, notes, strict=True)
            ]
        each = sought.notes if sought.query.all_chunks or sought.query.lines else 2
        ids: list[str] = []
        taken = 0
        for _, path, note, units in sorted(found):
            most = max(each, _A_SOURCE) if is_mined(path) else each
            ids += [rows.unit_id(note, place) for place in range(min(units, most))]
            taken += units > 0
            self.cut = taken >= sought.notes or len(ids) >= MOST_KEPT
            if self.cut:
                break
        return ids[:MOST_KEPT]
