"""Questions to a palace in Milvus, by a real milvus-lite: the answers of the local index."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.embed.registry import Choice
from memory_palace.files import roots
from memory_palace.index import milvus
from memory_palace.index import milvus_rows as rows
from memory_palace.index.milvus_client import Client
from memory_palace.search import closer, likely
from memory_palace.search.hits import Answer, Hit
from memory_palace.search.query import Query
from memory_palace.search.remote import RemoteSearcher
from support.fake import FakeEmbedder, fake_choice
from support.milvus import Sent, WordEmbedder, needs_milvus
from support.palaces import NOW

pytestmark = needs_milvus

WORDS = (
    "server night run faiss index vector milvus cluster note room tag link search query alpha beta "
    "gamma 中文字 the and of with"
).split()


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Milvus for all: each palace has a name of its own in it."""
    place = str(tmp_path_factory.mktemp("milvus") / "shared.db")
    with Client(place):
        yield place


@pytest.fixture
def sent(tmp_path: Path, uri: str, request: pytest.FixtureRequest) -> Sent:
    """An empty palace for Milvus."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[-40:]
    return Sent(tmp_path / "root", uri, name)


def remotely(sent: Sent, text: str = "", **fields: Any) -> Answer:
    """The answer of Milvus to a question."""
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:
        return searcher.ask(Query(text, **fields), NOW)


def shown(answer: Answer) -> list[tuple[Any, ...]]:
    """What must be the same wherever the index is. Scores to a millionth."""
    return [
        (
            *(hit.path, hit.id, hit.start, hit.end, hit.title, hit.heading, hit.date, hit.type),
            *(hit.text, hit.archived, [near.path for near in hit.neighbors]),
            *(hit.same, hit.best, hit.parts.terms, hit.parts.superseded),
            *(None if v is None else pytest.approx(v, rel=1e-6, nan_ok=True) for v in scores(hit)),
        )
        for hit in answer.hits
    ]


def scores(hit: Hit) -> tuple[float | None, ...]:
    """The score and its parts."""
    parts = hit.parts
    of_note = (parts.note_keyword, parts.note_late)
    return (
        *(hit.score, parts.relevance, parts.recency, parts.importance, parts.keyword),
        *(parts.cosine, parts.late, *of_note),
    )


# -- the same order ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, uri: str) -> Sent:
    """A generated palace with all that the order depends on, an archive, and a neighbour."""
    place = tmp_path_factory.mktemp("large")
    other = Sent(place / "other", uri, "other")
    other.notes(**{f"n{n}": "server night alpha" for n in range(30)})
    other.push()
    made = Sent(place / "root", uri, "large")
    drawn = random.Random(7)
    for n in range(120):
        body = "\n\n".join(
            f"# {drawn.choice(WORDS)} {drawn.choice(WORDS)}\n"
            + " ".join(drawn.choices(WORDS, range(1, len(WORDS) + 1), k=drawn.randrange(2, 50)))
            + f"\n- {drawn.choice(WORDS)} {n}\n- {drawn.choice(WORDS)} and more\n"
            for _ in range(drawn.randrange(1, 5))
        )
        head = (
            f"created: 20{drawn.randrange(23, 27)}-{drawn.randrange(1, 12):02}-01\n"
            f"priority: {drawn.choice(['high', 'medium', 'low', 'none'])}\n"
            f"tags: [t{drawn.randrange(5)}, all]\ntype: {drawn.choice(['rule', 'card'])}\n"
        )
        room = drawn.choice(["topics", "grand_hall", "chambers__ada", "archive_basement__topics"])
        links = f"[[n{drawn.randrange(120)}]] [[n{drawn.randrange(120)}]]"
        if n % 7 == 0:
            head += f'superseded_by: "[[n{drawn.randrange(120)}]]"\n'
        if n % 11 == 0:
            head += f'supersedes: "[[n{drawn.randrange(120)}]]"\n'
        made.notes(**{f"{room}__n{n}": f"---\n{head}---\n{body}\n{links}\n"})
    made.push()
    return made


QUESTIONS: dict[str, dict[str, Any]] = {
    "words": {"text": "alpha server"},
    "many hits": {"text": "faiss vector index", "top_k": 40},
    "a common word": {"text": "with", "top_k": 20},
    "all chunks": {"text": "night run", "all_chunks": True, "top_k": 30},
    "no spaces between words": {"text": "中文", "top_k": 20},
    "half a word without spaces": {"text": "中"},
    "a tag": {"text": "link", "tags": ("t1",), "top_k": 20},
    "rooms": {"text": "search query", "rooms": ("topics", "chambers"), "top_k": 10},
    "days": {"text": "note", "since": NOW.replace(year=2024), "until": NOW.replace(year=2025)},
    "priorities": {"text": "room of", "priorities": ("high", "low"), "top_k": 20},
    "no words": {"types": ("rule",), "top_k": 25},
    "no words, all chunks": {"tags": ("t2",), "top_k": 25, "all_chunks": True},
    "the archive": {"text": "cluster", "archived": True, "top_k": 40},
    "the archive alone": {"text": "alpha", "archived": True, "rooms": ("archive_basement",)},
    "raw": {"text": "milvus note", "raw": True, "top_k": 20},
    "no neighbours": {"text": "gamma", "neighbors": 0},
    "many neighbours": {"text": "gamma", "neighbors": 100, "rooms": ("topics",)},
    "words in a row": {"text": '"night run"', "top_k": 20},
    "stop words in a row": {"text": '"and with the"', "top_k": 20},
    "a beginning": {"text": "clu* fai*", "top_k": 20},
    "all of it": {"text": 'server "beta gamma" nig* 文字', "top_k": 20},
    "a word left out": {"text": "server -night -alpha", "top_k": 20},
    "lines": {"text": "cluster vector", "lines": True, "top_k": 30},
    "unlike each other": {"text": "room", "diverse": 0.5, "top_k": 10},
    "the caller's forms": {"text": "what?", "lex": "note tag", "vec": "faiss", "hyde": "an index"},
    "only a made-up answer": {"hyde": "the cluster and its link", "top_k": 10},
    "no vectors": {"text": "milvus run", "without": frozenset({"dense"}), "top_k": 20},
    "no words counted": {"text": "milvus run", "without": frozenset({"keyword"}), "top_k": 20},
    "no context": {"text": "milvus run", "without": frozenset({"context"}), "top_k": 20},
    "words that occur nowhere": {"text": "zzzz"},
    "an unknown type": {"text": "alpha", "types": ("rul",)},
    "an unknown room": {"text": "alpha", "rooms": ("topic",)},
    "an unknown tag": {"text": "alpha", "tags": ("t9",)},
}


@pytest.fixture(scope="module")
def worded(tmp_path_factory: pytest.TempPathFactory, uri: str, large: Sent) -> Sent:
    """The same palace, with the vectors of its words too."""
    place = tmp_path_factory.mktemp("worded") / "root"
    shutil.copytree(large.root / "palace", place / "palace")
    made = Sent(place, uri, "worded", WordEmbedder(32))
    made.push()
    return made


@pytest.mark.parametrize("name", ["words", "all of it", "lines", "unlike each other", "raw"])
def test_the_closer_look_is_the_same_too(
    worded: Sent, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Late interaction of words, of the units that the local search looks at more closely."""
    monkeypatch.setattr(likely, "FEW", 0)
    monkeypatch.setattr(closer, "CANDIDATES", 30)
    here = worded.ask(**QUESTIONS[name])
    assert shown(remotely(worded, **QUESTIONS[name])) == shown(here)
    assert (here.hits[0].parts.late is None) == (name == "raw")


@pytest.mark.parametrize(("few", "band"), [(500, 100), (0, 8)])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_order_is_that_of_the_local_index(
    large: Sent, monkeypatch: pytest.MonkeyPatch, name: str, few: int, band: int
) -> None:
    """Every hit, every part of its score, its neighbours, and what is said where nothing is
    found: where one search brings all, and where bands are searched again and again since the
    first time brought next to nothing."""
    monkeypatch.setattr(likely, "FEW", few)
    monkeypatch.setattr(likely, "A_BAND", band)
    here = large.ask(**QUESTIONS[name])
    there = remotely(large, **QUESTIONS[name])
    assert shown(there) == shown(here)
    assert there.notes == here.notes
    assert (there.hits == []) == name.startswith("an unknown")


def test_long_notes_and_short_ones(sent: Sent) -> None:
    """Lengths of more than a hundred words count as they do in the local index."""
    for n in range(6):
        sent.notes(**{f"n{n}": "\n\n".join(f"# s{k}\n" + "alpha beta " * 40 * n for k in range(n))})
    sent.notes(a="alpha", b="beta gamma")
    sent.push()
    assert shown(remotely(sent, "alpha gamma")) == shown(sent.ask("alpha gamma"))


def test_without_an_embedder_the_words_decide(sent: Sent) -> None:
    """A palace of keywords only, and its order."""
    sent.choice = Choice("none", "none", "")
    sent.notes(a="alpha beta", b="alpha alpha gamma", c="beta")
    sent.push()
    assert shown(remotely(sent, "alpha")) == shown(sent.ask("alpha"))
    assert [hit.parts.cosine for hit in remotely(sent, "alpha").hits] == [None, None]


# -- who may ask ------------------------------------------------------------------------------


def test_no_local_index_is_needed(sent: Sent) -> None:
    """A fresh clone asks; nothing is written beside its notes."""
    sent.notes(a="alpha", b="beta")
    sent.push()
    want = shown(sent.ask("alpha"))
    shutil.rmtree(sent.root / roots.DERIVED)
    assert shown(remotely(sent, "alpha")) == want
    assert not (sent.root / roots.DERIVED).exists()


def test_no_notes_are_needed(sent: Sent) -> None:
    """Hits come as they were stored, linked notes too."""
    sent.notes(a="# One\nalpha [[b]]", b="beta")
    sent.push()
    want = shown(sent.ask("alpha", top_k=1))
    shutil.rmtree(sent.root / roots.DERIVED)
    shutil.rmtree(sent.root / "palace")
    answer = remotely(sent, "alpha", top_k=1)
    assert shown(answer) == want
    assert [near.title for near in answer.hits[0].neighbors] == ["b"]


def test_hits_are_checked_against_the_notes_that_are_here(sent: Sent) -> None:
    """What changed is read again, what is gone is no answer, and the difference is told."""
    sent.notes(a="alpha one", b="alpha two", c="alpha three")
    sent.push()
    sent.notes(a="new first line\n\nalpha one", b="all of it is new")
    (sent.root / "palace/c.md").unlink()
    answer = remotely(sent, "alpha")
    assert shown(answer) == shown(sent.ask("alpha"))
    assert [(hit.path, hit.end) for hit in answer.hits] == [("palace/a.md", 3)]
    assert answer.changed == 3


def test_another_palace_is_never_an_answer(sent: Sent, tmp_path: Path) -> None:
    """Whatever matches better elsewhere in the same Milvus."""
    other = Sent(tmp_path / "other", sent.uri, "x" + sent.name[:30])
    other.notes(**{f"n{n}": "alpha alpha" for n in range(5)})
    other.push()
    sent.notes(a="alpha and much else besides")
    sent.push()
    assert [hit.path for hit in remotely(sent, "alpha").hits] == ["palace/a.md"]


def test_an_empty_palace_answers_nothing(sent: Sent) -> None:
    """As the local index says it."""
    sent.notes(a="alpha")
    sent.push()
    (sent.root / "palace/a.md").unlink()
    sent.push(yes=True)
    assert remotely(sent, "alpha").hits == []


# -- faults -----------------------------------------------------------------------------------


def refused(sent: Sent, text: str = "alpha", **fields: Any) -> str:
    """What is said where there is no answer."""
    with pytest.raises(Missing) as caught:
        remotely(sent, text, **fields)
    return str(caught.value)


def test_a_palace_that_was_never_sent(sent: Sent) -> None:
    """What to run, and what to set on a machine without notes."""
    assert refused(sent) == (
        f"palace {sent.name} is not in Milvus at {sent.uri}: run `palace index` where its notes "
        "are, or name the palace in index.palaces of your own configuration"
    )


def test_an_upload_that_was_cut_short_is_told(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there answers."""
    sent.notes(a="alpha one")
    sent.push()
    sent.notes(b="alpha and much else")

    def broken(*_: Any) -> None:
        raise Missing("Milvus went away")

    with monkeypatch.context() as patched:
        patched.setattr(milvus._Push, "_write_pages", broken)
        with pytest.raises(Missing):
            sent.push()
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:
        assert searcher.notes == ["the index in Milvus is not complete: run `palace index`"]
        assert len(searcher.ask(Query("alpha"), NOW).hits) == 2
        assert searcher.changed() == 0


def test_a_first_upload_that_was_cut_short_is_told(
    sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no answer yet, and what to run: it is no other version's."""
    sent.notes(a="alpha one")
    with monkeypatch.context() as patched:
        patched.setattr(milvus._Push, "_write_pages", None)
        with pytest.raises(TypeError):
            sent.push()
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:
        assert searcher.notes == ["the index in Milvus is not complete: run `palace index`"]
        assert searcher.ask(Query("alpha"), NOW).hits == []
    sent.push()
    assert remotely(sent, "alpha").hits


def test_another_version_of_the_toolkit(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of another form are not read."""
    sent.notes(a="alpha")
    with monkeypatch.context() as newer:
        newer.setattr(milvus.catalogs, "FORMAT", milvus.catalogs.FORMAT)
        sent.push()
    monkeypatch.setattr(milvus.catalogs, "FORMAT", "999")
    assert "by a toolkit of another version" in refused(sent)


def test_vectors_of_an_embedder_that_is_not_here(sent: Sent) -> None:
    """Keywords alone answer, and it is said; raw cannot be."""
    sent.notes(a="alpha", b="beta")
    sent.push()
    sent.choice = fake_choice(FakeEmbedder(32, salt="other"))
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:
        assert searcher.notes == [
            "the vectors in Milvus were made by fake/1, not fake: keywords only"
        ]
        (hit,) = searcher.ask(Query("alpha"), NOW).hits
        assert hit.parts.cosine is None
    assert refused(sent, raw=True).startswith("--raw orders by cosine")


def test_a_question_that_says_nothing_asks_nobody(sent: Sent) -> None:
    """As everywhere."""
    sent.notes(a="alpha")
    sent.push()
    with pytest.raises(BadInput, match="nothing is asked"):
        remotely(sent, " ")
    with pytest.raises(BadInput, match="100,000"):
        remotely(sent, "x" * 100_001)


@pytest.mark.parametrize(
    "text", ['"', "NEAR(a b)", "a* OR ^b", "'; DROP TABLE files", "\u202eabc", "\0\x01", "é" * 9999]
)
def test_any_text_is_a_question(sent: Sent, text: str) -> None:
    """No syntax of Milvus or FTS5 gets through."""
    sent.notes(a="alpha drop table")
    sent.push()
    assert shown(remotely(sent, text)) == shown(sent.ask(text))


def test_milvus_that_goes_away_is_said(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of an answer: one line, nothing half."""
    sent.notes(a="alpha")
    sent.push()
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:

        def gone(*_: Any, **__: Any) -> None:
            raise RuntimeError("connection reset")

        monkeypatch.setattr(searcher._client._milvus, "search", gone)
        with pytest.raises(Missing, match="connection reset"):
            searcher.ask(Query("alpha"), NOW)


@pytest.mark.parametrize("record", ["", "{", "zz", "[]", '{"chunk_id": 1}'])
def test_rows_that_are_not_ours_are_no_traceback(sent: Sent, record: str) -> None:
    """Somebody else wrote to the same Milvus: what mends it."""
    sent.notes(a="alpha")
    sent.push()
    with sent.client() as client:
        name = rows.units_name(32)
        (row,) = client.query(name, f'palace == "{sent.name}"', ["*"])
        client.upsert(name, [dict(row) | {"record": record}])
    said = refused(sent)
    assert said.startswith("a row in Milvus cannot be read (")
    assert said.endswith("run `palace index --force`")
    sent.push(force=True)
    assert remotely(sent, "alpha").hits


def test_a_stamp_that_is_not_ours_is_no_traceback(sent: Sent) -> None:
    """The same for what is known of the palace as a whole."""
    sent.notes(a="alpha")
    sent.push()
    with sent.client() as client:
        (row,) = client.query(rows.WORDS, f'id == "{sent.name}"', ["*"])
        client.upsert(rows.WORDS, [dict(row) | {"record": '{"format": "2"}'}])
    assert refused(sent).startswith("a row in Milvus cannot be read (")


def test_the_connection_closes_where_the_palace_is_not_there(
    sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is let go of, for the next process."""
    closed = []
    monkeypatch.setattr(Client, "close", lambda self: closed.append(self))
    refused(sent)
    assert len(closed) == 1
    assert replace(sent.config).store == "milvus"
