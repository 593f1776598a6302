"""The order of hits against a brute-force oracle that shares nothing with the product's."""

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.index import catalog as catalogs
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW, Palace

WORDS = ["faiss", "server", "index", "memory", "palace", "git", "vector", "note"]
PRIORITY = {"high": 1.0, "medium": 0.6, "low": 0.3, "": 0.5}
FLOOR = 0.2

notes = st.lists(
    st.tuples(
        st.sampled_from(["topics", "rooms/a", "rooms/ab", "rooms/a/deep"]),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
        st.sampled_from(sorted(PRIORITY)),
        st.integers(-5, 200),
        st.sampled_from(["palace", "principle"]),
    ),
    min_size=1,
    max_size=12,
)


def oracle(
    root: Path, question: str, room: str | None, kind: str | None, keywords_only: bool
) -> list[tuple[str, float]]:
    """(path, score) of each note with evidence, best first, from the files themselves."""
    fake = FakeEmbedder()
    asked = fake.embed_queries([question])[0]
    words = set(question.split())
    with sqlite3.connect(root / ".palace/index" / catalogs.MAIN) as db:
        expression = " OR ".join(f'"{w}"' for w in dict.fromkeys(question.split()))
        bm25 = dict(
            db.execute(
                "SELECT f.path, -bm25(words) FROM words JOIN chunks c ON c.id = words.rowid "
                "JOIN files f ON f.id = c.file_id WHERE words MATCH ?",
                (expression,),
            )
        )
    found = []
    for place in sorted((root / "palace").rglob("*.md")):
        path = place.relative_to(root).as_posix()
        _, head, body = place.read_text().split("---\n")
        meta = dict(line.split(": ") for line in head.splitlines())
        if room and not path.startswith(f"palace/{room}/"):
            continue
        if kind and meta["type"] != kind:
            continue
        embedded = f"{meta['created']}\n{body.rstrip()}"
        cosine = float(np.dot(fake.embed_passages([embedded])[0], asked))
        matched = words & set(body.split())
        if not matched and (keywords_only or cosine < FLOOR):
            continue
        b = max(bm25.get(path, 0.0), 1e-9)
        semantic = b / (b + 6) if keywords_only else min(max(cosine, 0.0), 1.0)
        created = np.datetime64(meta["created"])
        age = (np.datetime64(NOW.replace(tzinfo=None)) - created) / np.timedelta64(1, "D")
        recency = math.pow(0.5, max(float(age), 0.0) / 30)
        important = PRIORITY[meta.get("priority", "")]
        found.append((path, 0.5 * semantic + 0.25 * recency + 0.25 * important))
    return sorted(found, key=lambda item: (-round(item[1], 6), item[0]))


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    written=notes,
    question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    k=st.integers(1, 6),
    room=st.sampled_from([None, "topics", "rooms/a", "rooms"]),
    kind=st.sampled_from([None, "palace", "principle"]),
    keywords_only=st.booleans(),
)
def test_the_first_k_are_the_first_k_of_all(
    tmp_path_factory: object,
    written: list,
    question: list[str],
    k: int,
    room: str | None,
    kind: str | None,
    keywords_only: bool,
) -> None:
    """Compound order over all chunks, filters before ranking, equal to brute force."""
    root = tmp_path_factory.mktemp("oracle")  # type: ignore[attr-defined]
    palace = Palace(root, None if keywords_only else fake_choice(floor=FLOOR))
    for number, (folder, words, priority, age, note_type) in enumerate(written):
        created = np.datetime64("2026-11-29") - np.timedelta64(age, "D")
        head = f"type: {note_type}\ncreated: {created}\n"
        head += f"priority: {priority}\n" if priority else ""
        text = f"---\n{head}---\n{' '.join(words)}\n"
        palace.write(f"palace/{folder}/n{number:02}.md", text)
    palace.index()
    asked = " ".join(question)
    filters = {"rooms": (room,) if room else (), "types": (kind,) if kind else ()}
    got = [(h.path, h.score) for h in palace.hits(asked, top_k=k, **filters)]
    wanted = oracle(root, asked, room, kind, keywords_only)
    assert len(got) == min(k, len(wanted))
    for (path, score), (expected, its_score) in zip(got, wanted, strict=False):
        assert score == pytest.approx(its_score, abs=1e-5)
        rivals = [p for p, other in wanted if abs(other - its_score) < 2e-5]
        assert path in rivals if len(rivals) > 1 else path == expected
