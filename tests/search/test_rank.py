"""The order of hits against a brute-force oracle that shares nothing with the product's."""

import math
import re
import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core import relevance
from memory_palace.index import catalog as catalogs
from support.fake import FakeEmbedder, TokenFake, fake_choice
from support.palaces import Palace

WORDS = ["faiss", "server", "index", "memory", "palace", "git", "vector", "note"]
STEMS = {"memory": "memori", "palace": "palac"}
PRIORITY = {"high": 1.0, "medium": 0.6, "low": 0.3, "": 0.5}
FLOOR = 0.2037  # no cosine of the fake embedder is as near to it as rounding errs
WEIGHTS = (2.0, 1.5, 1.5, 1.0)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)


@dataclass(frozen=True)
class Written:
    """A note to be: its text, then a section and one below it; which earlier note it replaces."""

    folder: str
    parts: list[list[str]]
    priority: str
    age: int
    kind: str
    replaces: int | None

    def sections(self) -> list[tuple[str, str]]:
        """(heading path, text) of each chunk."""
        headings = ["", "First", "First > Second"]
        return [(h, " ".join(p)) for h, p in zip(headings, self.parts, strict=False)]

    def day(self) -> str:
        return str(np.datetime64("2026-11-29") - np.timedelta64(self.age, "D"))

    def embedded(self) -> list[str]:
        """What the model gets of each chunk: title, date, what of the path is not the title."""
        title = "First\n" if len(self.parts) > 1 else ""
        below = ["", "", "Second\n"]
        return [
            f"{title}{self.day()}\n{path}{text}"
            for path, (_, text) in zip(below, self.sections(), strict=False)
        ]

    def text(self, number: int) -> str:
        head = f"type: {self.kind}\ncreated: {self.day()}\n"
        head += f"priority: {self.priority}\n" if self.priority else ""
        if self.replaces is not None and number:
            head += f'supersedes: "[[n{self.replaces % number:02}]]"\n'
        said = [text for _, text in self.sections()]
        marks = ["", "\n# First\n\n", "\n## Second\n\n"]
        body = "\n".join(mark + text for mark, text in zip(marks, said, strict=False))
        return f"---\n{head}---\n{body}\n"


notes = st.lists(
    st.builds(
        Written,
        st.sampled_from(["topics", "rooms/a", "rooms/ab", "rooms/a/deep"]),
        st.lists(texts, min_size=1, max_size=3),
        st.sampled_from(sorted(PRIORITY)),
        st.integers(-5, 200),
        st.sampled_from(["palace", "principle"]),
        st.none() | st.integers(0, 11),
    ),
    min_size=1,
    max_size=12,
)


@dataclass
class Scored:
    """A chunk, and all that the oracle knows of it."""

    path: str
    vector: np.ndarray
    passes: bool
    cosine: float
    keyword: float
    note_keyword: float
    rest: float
    late: float = math.nan
    note_late: float = math.nan
    score: float = 0.0
    same: list[str] = field(default_factory=list)

    def hit(self) -> bool:
        return self.passes and (self.keyword > 0 or self.cosine >= FLOOR)


def bm25(rows: list[tuple[int, list[str]]], weights: tuple[float, ...], word: str) -> dict:
    """{row: score} of the rows, each a list of columns, that have ``word``; from the formula."""
    tokens = {n: [re.findall(r"\w+", column.lower()) for column in row] for n, row in rows}
    lengths = {n: sum(map(len, columns)) for n, columns in tokens.items()}
    average = sum(lengths.values()) / len(lengths)
    counts = {
        n: sum(
            w * sum(t in (word, STEMS.get(word)) for t in c)
            for w, c in zip(weights, columns, strict=True)
        )
        for n, columns in tokens.items()
    }
    having = sum(count > 0 for count in counts.values())
    idf = math.log(1.0 + (len(rows) - having + 0.5) / (having + 0.5))
    return {
        n: idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * lengths[n] / average))
        for n, f in counts.items()
        if f
    }


def keyword_scores(root: Path, asked: list[str]) -> tuple[dict, dict]:
    """{path: [BM25 of each chunk]} and {path: BM25 of the note}."""
    with sqlite3.connect(root / ".palace/index" / catalogs.MAIN) as db:
        places = db.execute(
            "SELECT c.id, f.path FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY c.id"
        ).fetchall()
        paths = dict(db.execute("SELECT id, path FROM files"))
        rows = [(r[0], r[1:]) for r in db.execute("SELECT rowid, * FROM words")]
        whole = [(r[0], r[1:]) for r in db.execute("SELECT rowid, * FROM note_words")]
    chunks: dict = defaultdict(float)
    files: dict = defaultdict(float)
    for word in dict.fromkeys(asked):
        for row, score in bm25(rows, WEIGHTS, word).items():
            chunks[row] += max(score, 1e-9)
        for row, score in bm25(whole, (1.0, 1.0, 1.0), word).items():
            files[row] += score
    by_path: dict = defaultdict(list)
    for row, path in places:
        by_path[path].append(chunks[row])
    return by_path, {path: files[row] for row, path in paths.items()}


def mean(*parts: tuple[float, float]) -> float:
    """The mean of (share, value), those that are NaN left out, spread out."""
    there = [(share, value) for share, value in parts if not math.isnan(value)]
    found = sum(s * v for s, v in there) / sum(s for s, _ in there)
    low, high, edge = relevance.LOW, relevance.HIGH, relevance.EDGE
    if found < low:
        return edge * found / low
    if found > high:
        return 1.0 - edge * (1.0 - found) / (1.0 - high)
    return edge + (1.0 - 2.0 * edge) * (found - low) / (high - low)


def late_term(late: float) -> float:
    """What a late interaction counts; NaN stays."""
    low, high = relevance.LATE_LOW, relevance.LATE_HIGH
    return late if math.isnan(late) else min(max((late - low) / (high - low), 0.0), 1.0)


def scored(
    root: Path,
    written: list[Written],
    asked: list[str],
    room: str | None,
    kind: str | None,
    fake: FakeEmbedder | None,
) -> list[Scored]:
    """Every chunk, file by file in the order of their paths."""
    maker = fake or FakeEmbedder()
    question = maker.embed_queries([" ".join(asked)])[0]
    keyword, note_keyword = keyword_scores(root, asked)
    found: list[Scored] = []
    older: dict[str, list[str]] = {}
    paths = [f"palace/{note.folder}/n{n:02}.md" for n, note in enumerate(written)]
    for number, (path, note) in enumerate(zip(paths, written, strict=True)):
        days = note.age + 0.5
        rest = 0.25 * 0.5 ** (max(days, 0.0) / 30) + 0.25 * PRIORITY[note.priority]
        passes = not room or path.startswith(f"palace/{room}/")
        passes = passes and (not kind or note.kind == kind)
        its: list[Scored] = []
        for at, text in enumerate(note.embedded()):
            vector = maker.embed_passages([text])[0]
            cosine = float(vector @ question) if fake else math.nan
            its.append(
                Scored(path, vector, passes, cosine, keyword[path][at], note_keyword[path], rest)
            )
        if isinstance(fake, TokenFake):
            look(its, note.embedded(), asked, fake)
        found += its
        if note.replaces is not None and number:
            older.setdefault(paths[note.replaces % number], []).append(path)
    for chunk in found:
        close = mean(
            (relevance.KEYWORD, chunk.keyword / (chunk.keyword + 6)),
            (relevance.NOTE_KEYWORD, chunk.note_keyword / (chunk.note_keyword + 6)),
            (relevance.DENSE, min(max(chunk.cosine, 0), 1) if fake else math.nan),
            (relevance.LATE, late_term(chunk.late)),
            (relevance.NOTE_LATE, late_term(chunk.note_late)),
        )
        chunk.score = 0.5 * close * (0.5 if chunk.path in older else 1.0) + chunk.rest
    for path in reversed(paths):  # a successor is always a later note
        for after in older.get(path, []):
            best = max((c.score for c in found if c.path == after and c.hit()), default=math.inf)
            for chunk in found:
                if chunk.path == path:
                    chunk.score = min(chunk.score, best - 1e-9)
    return sorted(found, key=lambda chunk: chunk.path)


def look(its: list[Scored], embedded: list[str], asked: list[str], fake: TokenFake) -> None:
    """Late interaction of a note's hits, and of the note: of those of its chunks that are hits."""
    best: list[list[float]] = []
    for chunk, text in zip(its, embedded, strict=True):
        if not chunk.hit():
            continue
        said = [fake.word_vector(word).tolist() for word in re.findall(r"\w+", text.lower())]
        matches = []
        for word in asked:
            vector = fake.word_vector(word).tolist()
            matches.append(max(sum(a * b for a, b in zip(vector, w, strict=True)) for w in said))
        chunk.late = sum(matches) / len(matches)
        best.append(matches)
    for chunk in its:
        if chunk.hit():
            chunk.note_late = sum(map(max, zip(*best, strict=True))) / len(asked)


def first(found: list[Scored], k: int) -> list[Scored]:
    """The first k hits, each note once, what is nearly the same folded into one before it."""
    kept: list[Scored] = []
    seen: set[str] = set()
    for chunk in sorted(found, key=lambda chunk: -chunk.score):
        if not chunk.hit() or chunk.path in seen:
            continue
        seen.add(chunk.path)
        twin = next((c for c in kept if float(c.vector @ chunk.vector) >= 0.95), None)
        if twin and not math.isnan(chunk.cosine):
            twin.same.append(chunk.path)  # also that of the last of the k
        elif len(kept) == k:
            break
        else:
            kept.append(chunk)
    return kept


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    written=notes,
    question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    k=st.integers(1, 6),
    room=st.sampled_from([None, "topics", "rooms/a", "rooms"]),
    kind=st.sampled_from([None, "palace", "principle"]),
    fake=st.sampled_from([None, FakeEmbedder(), TokenFake()]),
)
def test_the_first_k_are_the_first_k_of_all(
    tmp_path_factory: object,
    written: list[Written],
    question: list[str],
    k: int,
    room: str | None,
    kind: str | None,
    fake: FakeEmbedder | None,
) -> None:
    """Compound order over all chunks, filters before ranking, equal to brute force."""
    root = tmp_path_factory.mktemp("oracle")  # type: ignore[attr-defined]
    palace = Palace(root, fake_choice(fake, floor=FLOOR) if fake else None)
    for number, note in enumerate(written):
        palace.write(f"palace/{note.folder}/n{number:02}.md", note.text(number))
    palace.index()
    filters = {"rooms": (room,) if room else (), "types": (kind,) if kind else ()}
    hits = palace.hits(" ".join(question), top_k=k, **filters)
    found = scored(root, written, question, room, kind, fake)
    wanted = first(found, k)
    assert len(hits) == len(wanted)
    for hit, expected in zip(hits, wanted, strict=True):
        assert hit.score == pytest.approx(expected.score, abs=1e-5)
        rivals = {c.path for c in found if abs(c.score - expected.score) < 2e-5}
        assert hit.path in rivals if len(rivals) > 1 else hit.path == expected.path
    if len({round(chunk.score, 4) for chunk in found}) == len(found):
        same = [[other.path for other in hit.same] for hit in hits]
        assert same == [chunk.same for chunk in wanted]
