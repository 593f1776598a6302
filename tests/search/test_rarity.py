"""How rare words are in Milvus: the counts of the local keyword index."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_palace.core import keywords
from memory_palace.files import roots
from memory_palace.index import catalog as catalogs
from memory_palace.index import milvus
from memory_palace.index import milvus_words as words
from memory_palace.index.milvus_client import Client
from memory_palace.search.rarity import Pages, Rarity
from support.milvus import Sent, mine, needs_milvus

pytestmark = needs_milvus

NOTES = {
    "a": "# Server restarts\nthe server runs at night",
    "b": "---\ntags: [runner, x1]\n---\nrunning late, serves nobody at night",
    "c": "# Naïve café\n中文字 and 中国 here\n\n# Night\nrun the run; at midnight",
    "d": "a day without words of that kind",
    "e": "quoted phrase, and a phrase that is quoted",
}
SOURCES = {
    "a.py": "server = night\nrun(server, at_night)\n",
    "b.py": "# the run the\nquoted_phrase = '中国 cafe'\n",
    "c.py": "nothing = running\n",
    "d.md": "# Server\nat night, nightly, at noon\n",
}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sent]:
    """A palace that has gone to a Milvus of its own, where another one is too."""
    place = tmp_path_factory.mktemp("rarity")
    with Client(str(place / "own.db")):
        other = Sent(place / "other", str(place / "own.db"), "other")
        other.notes(a="server server night", b="run")
        other.push()
        made = Sent(place / "root", other.uri, "ada")
        made.notes(**NOTES)
        mine(made, "demo", SOURCES)
        made.push()
        yield made


def made(client: Client, name: str, stamp: milvus.Stamp, level: words.Level) -> Rarity:
    """What counts a palace's words on one level."""
    return Rarity(client, name, stamp, Pages(client, name, stamp.statistics.pages), level)


@pytest.mark.parametrize(
    "expression",
    [
        *('"server"', '"run"', '"running"', '"night"', '"the"', '"x1"', '"nowhere"', '"cafe"'),
        *('"run"*', '"n"*', '"中"*', '"中国"', '"ser"*', '"zz"*', '"phrase"*'),
        *('"at night"', '"night at"', '"quoted phrase"', '"the run the"', '"at n"*', '"server x"'),
        *('"!"', '"don\'t"', '""'),
    ],
)
@pytest.mark.parametrize("level", words.LEVELS, ids=lambda level: level.table)
def test_it_counts_what_the_local_index_matches(
    sent: Sent, expression: str, level: words.Level
) -> None:
    """Words in every form, beginnings, and words in a row, of this palace alone; of notes and of
    mined files each by themselves."""
    with (
        catalogs.open_to_read(roots.index_folder(sent.root) / catalogs.MAIN) as catalog,
        sent.client() as client,
    ):
        stamp = milvus.read_stamp(client, sent.name)
        assert stamp is not None
        rarity = made(client, sent.name, stamp, level)
        rarity.look_up([expression])
        found = catalog.db.execute(
            f"SELECT count(*) FROM {level.table} WHERE {level.table} MATCH ?", (expression,)
        ).fetchone()
        assert rarity.having(expression) == found[0]
        assert bool(rarity.weights([expression])) == bool(found[0])
        assert rarity.rows == catalog.count(level.table) > 0


def test_the_words_of_a_question_are_fetched_at_once(
    sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many words: one look at the pages, and none again."""
    question = keywords.parse("server run night café phrase late kind").terms
    expressions = [term.expression for term in question]
    with sent.client() as client:
        stamp = milvus.read_stamp(client, sent.name)
        assert stamp is not None
        rarity = made(client, sent.name, stamp, words.UNITS)
        rarity.look_up(expressions)
        monkeypatch.setattr(client, "get", None)
        weights = rarity.weights(expressions)
        assert len(weights) == len(question)
        assert all(weight > 0.0 for weight in weights.values())
        assert all(rarity.having(expression) for expression in expressions)


def test_very_many_words_that_begin_alike_stand_on_several_pages(
    sent: Sent, tmp_path: Path
) -> None:
    """Tables of numbers in sources: no page is more than Milvus takes, and each word is found."""
    drawn = random.Random(3)
    numbers = [f"0x{drawn.getrandbits(32):08x}" for _ in range(20_000)]
    many = Sent(tmp_path / "root", sent.uri, "many")
    many.notes(a="0x1")
    mine(many, "demo", {"t.h": ",\n".join(numbers)})
    many.push()
    with many.client() as client:
        stamp = many.stamp()
        assert set(stamp.statistics.pages) == {"/0x"}
        rarity = made(client, many.name, stamp, words.MINED_FILES)
        assert [rarity.having(f'"{text}"') for text in (*numbers[:9], "0x1")] == [1] * 9 + [0]
        rarity = made(client, many.name, stamp, words.NOTES)
        assert [rarity.having(f'"{text}"') for text in (numbers[0], "0x1")] == [0, 1]
