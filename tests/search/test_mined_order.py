"""Mined files and notes of one palace in Milvus: hits, order and scores of the local index."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed.registry import Choice
from memory_palace.files import roots
from memory_palace.index import milvus
from memory_palace.index import milvus_rows as rows
from memory_palace.index.milvus_client import Client
from memory_palace.search import bounds, closer, likely
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.search.remote import RemoteSearcher
from memory_palace.search.searcher import Searcher
from support.fake import FakeEmbedder, fake_choice
from support.milvus import Sent, WordEmbedder, forget, mine, needs_milvus
from support.palaces import NOW

pytestmark = needs_milvus

BOTH = "server night ledger index vector query room tag alpha beta 中文字 the and with".split()
OF_NOTES = "garden letter promise walk supper amber".split()
OF_CODE = "import socket buffer parse handle retry".split()


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Milvus for all: each palace has a name of its own in it."""
    place = str(tmp_path_factory.mktemp("milvus") / "shared.db")
    with Client(place):
        yield place


def note(drawn: random.Random, n: int) -> str:
    """A note of one to three sections."""
    words = BOTH + OF_NOTES
    body = "\n\n".join(
        f"# {drawn.choice(words)} {drawn.choice(words)}\n"
        + " ".join(drawn.choices(words, range(1, len(words) + 1), k=drawn.randrange(3, 40)))
        + f"\n- {drawn.choice(words)} {n}\n"
        for _ in range(drawn.randrange(1, 4))
    )
    head = f"type: {drawn.choice(['rule', 'card'])}\ntags: [t{drawn.randrange(3)}]\n"
    return f"---\n{head}created: 2026-{drawn.randrange(1, 11):02}-01\n---\n{body}\n"


def code(drawn: random.Random) -> str:
    """A source of some functions, each of several words, and what stands between them."""
    words = [word for word in BOTH + OF_CODE if word.isascii()]
    made = [f"# {' '.join(drawn.choices(words, k=6))}\n"]
    for _ in range(drawn.randrange(1, 6)):
        body = "".join(
            f"    {drawn.choice(words)}_{drawn.choice(words)} = {drawn.choice(words)}\n"
            for _ in range(drawn.randrange(1, 25))
        )
        name = f"{drawn.choice(words)}_{drawn.choice(words)}"
        made.append(f"def {name}({drawn.choice(words)}):\n{body}    return 1\n")
    return "\n\n".join(made)


def sources(seed: int, count: int = 60) -> dict[str, str]:
    """Some sources, and some documents among them."""
    drawn = random.Random(seed)
    return {
        (f"docs/d{n}.md" if n % 10 == 9 else f"src/f{n}.py"): (
            f"# {' '.join(drawn.choices(BOTH, k=3))}\n{' '.join(drawn.choices(OF_CODE, k=9))}\n"
            if n % 10 == 9
            else code(drawn)
        )
        for n in range(count)
    }


def both(root: Path, uri: str, name: str, choice: Choice) -> Sent:
    """A palace of 60 notes and a project of 60 files."""
    made = Sent(root, uri, name)
    made.choice = choice
    drawn = random.Random(5)
    rooms = ["topics", "grand_hall", "archive_basement__topics"]
    made.notes(**{f"{rooms[n % 20 // 9]}__n{n}": note(drawn, n) for n in range(60)})
    mine(made, "demo", sources(6))
    made.push()
    return made


@pytest.fixture(scope="module")
def worded(tmp_path_factory: pytest.TempPathFactory, uri: str) -> Sent:
    """Both kinds, with the vectors of their words too."""
    root = tmp_path_factory.mktemp("worded") / "root"
    return both(root, uri, "mixed_worded", fake_choice(WordEmbedder(32)))


@pytest.fixture(scope="module", params=["vectors", "keywords"])
def mixed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, uri: str
) -> Sent:
    """Both kinds, with vectors and without."""
    root = tmp_path_factory.mktemp("mixed") / "root"
    choice = fake_choice(FakeEmbedder(32))
    if request.param == "keywords":
        choice = Choice("none", "none", "")
    return both(root, uri, f"mixed_{request.param}", choice)


def remotely(sent: Sent, text: str = "", **fields: Any) -> Answer:
    """The answer of Milvus to a question."""
    with RemoteSearcher(sent.root, sent.config, sent.choice) as searcher:
        return searcher.ask(Query(text, **fields), NOW)


def shown(answer: Answer) -> list[tuple[Any, ...]]:
    """All of a hit that must be the same wherever the index is. Scores to a millionth."""
    return [
        (
            *(hit.path, hit.start, hit.end, hit.heading, hit.type, hit.room, hit.text, hit.same),
            pytest.approx(hit.score, rel=1e-6),
            *(
                pytest.approx(value, rel=1e-6, nan_ok=True) if isinstance(value, float) else value
                for value in asdict(hit.parts).values()
            ),
        )
        for hit in answer.hits
    ]


CODE: dict[str, Any] = {"types": ("code",)}
NOTES: dict[str, Any] = {"types": ("rule", "card")}

QUESTIONS: dict[str, dict[str, Any]] = {
    "a word of both": {"text": "ledger"},
    "words of both": {"text": "server night vector", "top_k": 40},
    "all of both": {"text": "alpha beta", "top_k": 150, "all_chunks": True},
    "a word of notes alone": {"text": "garden", "top_k": 20},
    "a word of code alone": {"text": "socket", "top_k": 20},
    "a word of each": {"text": "socket supper", "top_k": 30},
    "a common word": {"text": "with", "top_k": 20},
    "no spaces between words": {"text": "中文"},
    "a name": {"text": "parse_ledger", "top_k": 20},
    "words in a row": {"text": '"the and"', "top_k": 30},
    "a name in a row": {"text": '"retry_buffer"', "top_k": 20},
    "a beginning": {"text": "par* led*", "top_k": 30},
    "a word left out": {"text": "server -night -socket", "top_k": 20},
    "lines": {"text": "ledger vector", "lines": True, "top_k": 30},
    "unlike each other": {"text": "ledger room", "diverse": 0.5},
    "nowhere": {"text": "zzzz"},
    "code": {"text": "ledger index", **CODE},
    "code by a name": {"text": "handle_query", **CODE, "top_k": 20},
    "code by a word of notes": {"text": "garden", **CODE},
    "types of notes": {"text": "ledger index", **NOTES, "top_k": 20},
    "types of notes, a word of code": {"text": "socket", **NOTES},
    "a room of code": {"text": "query handle", "rooms": ("files",), "top_k": 20},
    "a room below": {"text": "query handle", "rooms": ("files/1",)},
    "a project": {"text": "ledger", "rooms": ("project:demo",)},
    "documents": {"text": "ledger parse", "rooms": ("docs",), "top_k": 20},
    "a room of notes": {"text": "ledger", "rooms": ("topics",), "top_k": 20},
    "notes only": {"text": "ledger socket", "notes_only": True, "top_k": 20},
    "a tag": {"text": "index", "tags": ("t1",), "top_k": 20},
    "the archive": {"text": "alpha ledger", "archived": True, "top_k": 40},
    "a type and no words": {**CODE, "top_k": 25},
    "a type, no words, all chunks": {**CODE, "top_k": 25, "all_chunks": True},
    "a project and no words": {"rooms": ("project:demo",), "top_k": 150},
    "no words counted": {"text": "ledger buffer", "without": frozenset({"keyword"})},
    "no vectors": {"text": "ledger buffer", "without": frozenset({"dense"}), "top_k": 20},
    "no context": {"text": "ledger buffer", "without": frozenset({"context"}), "top_k": 20},
}


def differing(sent: Sent, monkeypatch: pytest.MonkeyPatch, few: int, band: int) -> list[str]:
    """The questions whose answers are not those of the local index."""
    monkeypatch.setattr(likely, "FEW", few)
    monkeypatch.setattr(likely, "A_BAND", band)
    found = []
    with (
        RemoteSearcher(sent.root, sent.config, sent.choice) as remote,
        Searcher(sent.root, sent.config, sent.choice) as local,
    ):
        for name, fields in QUESTIONS.items():
            here, there = (one.ask(Query(**fields), NOW) for one in (local, remote))
            if shown(there) != shown(here) or there.notes != here.notes:
                found.append(name)
    return found


def test_hits_and_order_are_those_of_the_local_index(
    mixed: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked: both kinds together and each by itself, by every filter."""
    assert differing(mixed, monkeypatch, few=0, band=8) == []


def test_one_search_brings_the_same(worded: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a palace that is small enough, and its words' vectors."""
    assert differing(worded, monkeypatch, few=500, band=100) == []


@pytest.fixture
def sent(tmp_path: Path, uri: str, request: pytest.FixtureRequest) -> Sent:
    """An empty palace for Milvus."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[-40:]
    return Sent(tmp_path / "root", uri, name)


def same(sent: Sent, text: str, **fields: Any) -> Answer:
    """The answer to a question, which is the same here and there."""
    here, there = sent.ask(text, **fields), remotely(sent, text, **fields)
    assert shown(there) == shown(here)
    assert there.notes == here.notes
    return there


def test_mined_files_alone(sent: Sent) -> None:
    """A palace without a note: the statistics of notes are nothing."""
    mine(sent, "demo", sources(8, 20))
    sent.push()
    assert sent.stamp().statistics.rows[:2] == (0, 0)
    for text in ("ledger", '"retry_buffer"', "par* led*", "garden"):
        assert same(sent, text, top_k=20).hits
    assert same(sent, "socket", **CODE).hits


def test_a_project_that_is_forgotten_leaves_nothing(sent: Sent) -> None:
    """No hit, no word, no length; notes have the scores that they had before it came."""
    drawn = random.Random(9)
    sent.notes(**{f"n{n}": note(drawn, n) for n in range(9)})
    sent.push()
    before = shown(same(sent, "ledger garden socket"))
    mine(sent, "demo", sources(9, 20))
    sent.push()
    answer = same(sent, "ledger garden socket", top_k=60)
    paths = {hit.path for hit in answer.hits}
    assert {path.startswith("project:") for path in paths} == {True, False}
    forget(sent, "demo")
    assert sent.push(yes=True).removed == 20
    assert shown(same(sent, "ledger garden socket")) == before
    assert sent.stamp().statistics.rows[2:] == sent.stamp().averages[2:] == (0, 0)
    with sent.client() as client:
        found = client.query(rows.WORDS, f'palace == "{sent.name}"', ["key"])
    assert not [row["key"] for row in found if row["key"].startswith("/")]


def test_mined_files_that_change_leave_the_notes_rows_alone(sent: Sent) -> None:
    """A hundred times as many words in a project: its own rows are made anew, and no note's; and
    the other way round."""
    sent.notes(a="the ledger", b="the garden")
    mine(sent, "demo", {"a.py": "ledger = 1\n", "b.py": "socket = 2\n"})
    sent.push()

    def of_notes() -> tuple[list[Any], ...]:
        with sent.client() as client:
            mine = f'palace == "{sent.name}"'
            pages = client.query(rows.WORDS, f'{mine} and key != ""', ["key", "record"])
        units = [unit for unit in sent.units() if "=" not in unit["text"]]
        pages = sorted((p["key"], p["record"]) for p in pages if not p["key"].startswith("/"))
        return units, pages

    before = of_notes()
    assert before[0] and before[1]
    long = "\n".join(f"ledger_{n} = socket" for n in range(400))
    mine(sent, "demo", {"a.py": long, "b.py": "socket = 2\n"})
    assert sent.push().written == 2
    assert of_notes() == before
    sent.notes(b="the garden " * 300)
    assert sent.push().written == 2
    assert sent.push().written == 0
    same(sent, "ledger socket garden")


@pytest.mark.parametrize("after", [1, 3])
def test_a_first_project_that_is_cut_short_goes_on(
    sent: Sent, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """What was written of it stays written, though no project was there before."""
    sent.notes(a="the ledger")
    sent.push()
    mine(sent, "demo", {f"{n}.py": f"ledger = {n}\n" for n in range(4)})
    monkeypatch.setattr(milvus, "BATCH", 2)  # a file at a time
    real, calls = Client.upsert, 0

    def upsert(self: Client, name: str, batch: Any) -> None:
        nonlocal calls
        calls += bool(batch and name == rows.NOTES)
        if calls > after:
            raise Missing("Milvus went away: start it again")
        real(self, name, batch)

    with monkeypatch.context() as broken:
        broken.setattr(Client, "upsert", upsert)
        with pytest.raises(Missing, match="went away"):
            sent.push()
    assert remotely(sent, "ledger").hits[0].path == "palace/a.md"
    assert sent.push().written == 4 - after
    assert len(same(sent, "ledger").hits) == 5


# -- what is found and no hit -----------------------------------------------------------------


def unlike(count: int) -> dict[str, str]:
    """Notes of little weight that have little in common."""
    head = "---\npriority: low\n---\n"
    return {f"n{n}": f"{head}the ledger and {f'walk{n} ' * 9}" for n in range(count)}


def test_a_machine_without_notes_and_sources(sent: Sent) -> None:
    """Hits of both come as they were stored."""
    drawn = random.Random(4)
    sent.notes(**{f"n{n}": note(drawn, n) for n in range(9)})
    top = mine(sent, "demo", sources(4, 20))
    sent.push()
    want = shown(same(sent, "ledger socket", top_k=30))
    for gone in (sent.root / roots.DERIVED, sent.root / "palace", top, sent.root / "manifests"):
        shutil.rmtree(gone)
    answer = remotely(sent, "ledger socket", top_k=30)
    assert shown(answer) == want
    assert answer.notes == []
    assert {hit.path[:8] for hit in answer.hits} == {"palace/n", "project:"}


def test_projects_that_are_elsewhere_hide_no_note(
    sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many of their files would come first: the hits behind them are those of the local
    index, and the line that says it."""
    monkeypatch.setattr(likely, "FEW", 0)
    monkeypatch.setattr(likely, "A_BAND", 8)
    monkeypatch.setattr(likely, "MOST_KEPT", 40)
    monkeypatch.setattr(closer, "CANDIDATES", 10)
    monkeypatch.setattr(bounds, "_SPARE", 2)
    sent.notes(**unlike(12))
    for name in ("one", "two"):
        texts = {f"f{n}.py": f"ledger = socket({name}{n})\n" for n in range(60)}
        top = mine(sent, name, texts)
        sent.push()
        top.rename(top.with_name(f"{name}-away"))
    for fields in ({}, {"diverse": 0.5}, {"top_k": 8}):
        answer = same(sent, "ledger socket", **{"top_k": 5, **fields})
        assert {hit.path[:8] for hit in answer.hits} == {"palace/n"}
    assert len(answer.hits) == 8
    (said,) = answer.notes
    assert said == "project:one, project:two: not on this machine, its files are left out"


def test_notes_that_are_alike_hide_no_other(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are one hit; what comes behind them is looked for where too little is left."""
    monkeypatch.setattr(likely, "FEW", 0)
    monkeypatch.setattr(likely, "A_BAND", 8)
    monkeypatch.setattr(closer, "CANDIDATES", 10)
    text = f"---\npriority: high\n---\nledger {' '.join(f'word{n}' for n in range(60))}"
    sent.notes(**unlike(9), **{f"same{n}": text for n in range(90)})
    sent.push()
    answer = same(sent, "ledger", top_k=4)
    assert len(answer.hits) == 4
    assert len(answer.hits[0].same) == 89
