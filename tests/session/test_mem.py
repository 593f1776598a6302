"""Search over what happened: what is found, in which order, and where it is said to stand."""

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core import ledger_chunks
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.text import sha256
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from memory_palace.session import mem, mem_around, mem_index
from memory_palace.session.mem import Asked, Result
from session.sessions import Session, one_of
from support.fake import fake_choice
from support.palaces import NOW, Palace


def search(palace: Palace, text: str = "", index: bool = True, **fields: object) -> Result:
    """What is found in an index, or in the ledgers alone."""
    asked = Asked(text, **fields)  # type: ignore[arg-type]
    if not index:
        return mem.search(palace.root, asked, NOW, None)
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        return mem.search(palace.root, asked, NOW, lambda query: searcher.ask(query, NOW))


def ids(found: Result) -> list[str]:
    """The ids of the hits, in order."""
    return [hit.found.record.id for hit in found.hits]


@pytest.fixture(params=["vectors", "keywords"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Palace:
    """A palace, with vectors and without."""
    return Palace(tmp_path / "root", fake_choice() if request.param == "vectors" else None)


def test_records_of_all_sessions_are_found(made: Palace) -> None:
    """Several of one ledger, and notes are none of them."""
    session = Session(made.root)
    one = session.observed("The cache was cold", "discovery")
    two = session.observed("The cache is warmed at the start", "feature")
    session.observed("Something else")
    other = Session(made.root, "s2", agent="pi", wing="shop")
    three = other.observed("A cache of prices", "change")
    made.notes(topics__cache="# The cache\nall about the cache")
    made.index()
    found = search(made, "cache")
    assert sorted(ids(found)) == sorted([one, two, three])
    assert (found.said, found.more) == ([], 0)
    assert search(made, "cache", limit=1).more == 2
    (hit,) = search(made, "prices").hits
    assert hit.found.source == (other.path, "pi", "s2", "shop", "2026-11-29")


def test_filters_are_those_of_the_record(made: Palace) -> None:
    """Its own type, kind, time and its session's wing."""
    session = Session(made.root)
    early = session.observed("cache one", "bugfix")
    session.at = NOW + timedelta(hours=5)
    late = session.observed("cache two", "change")
    said = session.reflected("cache three", early)
    other = Session(made.root, "s2", wing="Shop")
    shop = other.observed("cache four", "bugfix")
    made.index()
    assert set(ids(search(made, "cache", types=("bugfix",)))) == {early, shop}
    assert ids(search(made, "cache", types=("reflection",))) == [said]
    assert set(ids(search(made, "cache", types=("observation",)))) == {early, late, shop}
    assert ids(search(made, "cache", wing="shop")) == [shop]
    assert set(ids(search(made, "cache", since=NOW + timedelta(hours=1)))) == {late, said}
    until = NOW + timedelta(hours=1)
    assert set(ids(search(made, "cache", until=until))) == {early, shop}
    assert ids(search(made, types=("change",))) == [late]


def test_filters_are_not_cut_short_by_what_does_not_pass(made: Palace) -> None:
    """However many others answer better, what passes is found."""
    session = Session(made.root)
    session.said("go")
    session.observed_all([one_of(f"cache cache number{n}", "change") for n in range(400)])
    wanted = session.observed("a long way from here there was a cache in the woods", "bugfix")
    made.index()
    assert ids(search(made, "cache", types=("bugfix",), limit=2)) == [wanted]


def test_importance_and_recency_decide_between_equals(made: Palace) -> None:
    """A decision before a change; the newer before the older; then by id."""
    session = Session(made.root, at=NOW - timedelta(days=60))
    old = session.observed("cache alpha", "decision")
    session.at = NOW - timedelta(minutes=10)
    change = session.observed("cache bravo", "change")
    decision = session.observed("cache charlie", "decision")
    made.index()
    assert ids(search(made, "cache"))[0] == decision
    assert {*ids(search(made, "cache"))[1:]} == {old, change}
    same = [one_of(f"queue {name}", "change", NOW - timedelta(days=1)) for name in "wxyz"]
    equal = session.observed_all(same)
    mem_index.refresh(made.root)
    assert ids(search(made, "queue", index=False)) == sorted(equal)


def test_what_is_dropped_is_found_and_said(made: Palace) -> None:
    """It comes behind what still counts."""
    session = Session(made.root)
    gone = session.observed("the cache is on disk", "decision")
    stays = session.observed("the cache is in memory", "decision")
    session.dropped(gone)
    made.index()
    hits = search(made, "cache").hits
    assert [(h.found.record.id, h.found.record.dropped) for h in hits] == [
        (stays, False),
        (gone, True),
    ]


def test_a_record_of_two_ledgers_is_one_hit(made: Palace) -> None:
    """As after an import on two machines; the other place is named."""
    one, two = Session(made.root, "s1"), Session(made.root, "s2")
    key = one.observed("cache twice")
    assert two.observed("cache twice") == key
    made.index()
    for index in (True, False):
        (hit,) = search(made, "cache", index=index).hits
        assert {hit.found.source.path, *(s.path for s in hit.also)} == {one.path, two.path}
    found, missing = mem_around.get(made.root, [key])
    assert ([len(one.also) for one in found], missing) == ([1], [])


def test_what_the_index_does_not_know_is_found_by_its_words(made: Palace) -> None:
    """New records of a known ledger, a new ledger, none at all of the index; never twice."""
    session = Session(made.root)
    first = session.observed("the cache is cold")
    made.index()
    second = session.observed("the cache is warm")
    third = Session(made.root, "s2").observed("the cache is hot")
    Session(made.root, "s3").observed("nothing of the kind")
    assert sorted(ids(search(made, "cache"))) == sorted([first, second, third])
    assert ids(search(made, "cache -hot")) == [
        key for key in ids(search(made, "cache")) if key != third
    ]
    shutil.rmtree(made.root / ".palace")
    found = search(made, "cache", index=False)
    assert sorted(ids(found)) == sorted([first, second, third])
    said = ["there is no index yet: keywords only, in the ledgers: `palace index` makes one"]
    assert found.said == said

    def missing(query: Query) -> Answer:
        raise Missing("there is no index yet: run `palace index`")

    found = mem.search(made.root, Asked("cache"), NOW, missing)
    assert (len(found.hits), found.said) == (3, said)


def test_a_ledger_that_is_gone_is_not_found(made: Palace) -> None:
    """Whatever the index still says; a changed line neither."""
    session = Session(made.root)
    session.observed("the cache is cold")
    made.index()
    text = session.place.read_text()
    session.place.write_text(text.replace("is cold", "is hot!"))
    assert ids(search(made, "cold")) == []
    session.place.unlink()
    found = search(made, "cache")
    assert (found.hits, found.said) == (
        [],
        ["no ledger yet: sessions make one, or `palace ledger import` does"],
    )


def test_refresh_brings_the_index_up_to_date(made: Palace) -> None:
    """Keywords alone, and the manifest is left to a run; without an index nothing is made."""
    session = Session(made.root)
    mem_index.refresh(made.root)
    assert not (made.root / ".palace").exists()
    session.observed("the cache is cold")
    made.index()
    manifest = (made.root / "manifests/watchdog_manifest_v1.jsonl").read_bytes()
    second = session.observed("the queue is full")
    Session(made.root, "s2").observed("another queue")
    mem_index.refresh(made.root)
    assert second in [hit.id for hit in made.hits("queue", all_chunks=True)]
    assert made.ask("queue").changed == 0
    assert (made.root / "manifests/watchdog_manifest_v1.jsonl").read_bytes() == manifest
    with Searcher(made.root, made.config, made.choice) as searcher:
        assert searcher.notes == []


def test_refresh_never_raises(keyword_palace: Palace) -> None:
    """Not where the settings are broken, nor where the index is."""
    Session(keyword_palace.root).observed("one")
    keyword_palace.index()
    keyword_palace.write("palace.yaml", "index: [")
    mem_index.refresh(keyword_palace.root)
    keyword_palace.write("palace.yaml", "")
    (keyword_palace.root / ".palace/index/catalog.sqlite").write_bytes(b"junk")
    mem_index.refresh(keyword_palace.root)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({}, "nothing is asked"),
        ({"types": ("bugfx",)}, "did you mean `bugfix`"),
        ({"since": NOW, "until": NOW - timedelta(days=1)}, "swap them"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, fields: dict[str, object], what: str) -> None:
    """One line says what to do."""
    with pytest.raises(BadInput, match=what):
        mem.search(tmp_path, Asked(**fields), NOW, None)  # type: ignore[arg-type]


def timeline(root: Path, anchor: str, *counts: int, **more: object) -> list[str]:
    """The contents around an anchor."""
    found = mem_around.timeline(root, anchor, *counts, **more)  # type: ignore[arg-type]
    return [one.record.content for one in found.records]


def test_the_neighbourhood_of_an_anchor(made: Palace) -> None:
    """Across the sessions of its wing, ascending; of all wings where that is asked."""
    one = Session(made.root, "s1")
    two = Session(made.root, "s2", at=NOW + timedelta(seconds=30), agent="pi")
    other = Session(made.root, "s3", at=NOW + timedelta(seconds=45), wing="shop")
    first = [one.observed(f"one {n}") for n in range(4)]
    for n in range(4):
        two.observed(f"two {n}")
        other.observed(f"other {n}")
    expected = ["one 0", "two 0", "one 1", "two 1", "one 2", "two 2", "one 3", "two 3"]
    for _ in range(2):
        assert timeline(made.root, first[2], 100, 100) == expected
        assert timeline(made.root, first[2], 2, 1) == ["one 1", "two 1", "one 2", "two 2"]
        assert timeline(made.root, f"#{first[2]}", 0, 0) == ["one 2"]
        assert timeline(made.root, first[2], 1, 1, every=True) == ["other 1", "one 2", "two 2"]
        assert timeline(made.root, first[2], 0, 9, wing="SHOP") == ["other 2", "other 3"]
        assert timeline(made.root, "2026-11-29T12:04:00Z", 1, 1) == ["other 1", "one 2"]
        made.index()
    with pytest.raises(Refused, match="no ledger has 000000000000"):
        timeline(made.root, "0" * 12)
    with pytest.raises(BadInput, match="no time"):
        timeline(made.root, "yesterdayish")


def test_an_entry_is_an_anchor_too(made: Palace) -> None:
    """What was said, with what was observed around it."""
    session = Session(made.root)
    session.observed("before")
    entry = session.said("now")
    session.observed("after")
    assert timeline(made.root, entry) == ["before", "after"]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=12), st.data())
def test_a_timeline_is_what_all_records_say(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[int, int]], data: st.DataObject
) -> None:
    """With an index, with a stale one and without: as if every ledger was read; ties by id."""
    palace = Palace(tmp_path_factory.mktemp("p") / "root")
    sessions = [Session(palace.root, f"s{n}") for n in range(4)]
    for session in sessions:
        session.said("go")
    every: set[tuple[datetime, str]] = set()
    cut = data.draw(st.integers(0, 12))
    for number, (which, minute) in enumerate(made):
        if number == cut:
            palace.index()
        at = NOW + timedelta(minutes=minute)
        (key,) = sessions[which].observed_all([one_of(f"n{number}", at=at)])
        every.add((at, key))
    at = NOW + timedelta(minutes=data.draw(st.integers(-1, 7)))
    before, after = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    ordered = sorted(every)
    earlier = [pair for pair in ordered if pair < (at, "")]
    later = [pair for pair in ordered if pair > (at, "")]
    found = mem_around.timeline(palace.root, at.isoformat(), before, after)
    assert [(one.record.at, one.record.id) for one in found.records] == [
        *earlier[max(len(earlier) - before, 0) :],
        *later[:after],
    ]


def test_get_gives_all_of_it(made: Palace) -> None:
    """With what it rests on, by role; an entry is given too; unknown ids are named."""
    session = Session(made.root)
    entry = session.said("it broke")
    one = session.observed("it broke", "bugfix", files=["a.py"], work=7, sources=[entry, "f" * 12])
    two = session.reflected("things break", one)
    session.summarized(request="mend it")
    summary = ledger_chunks.record_id("Request: mend it")
    found, missing = mem_around.get(made.root, [two, one, f"#{one}", entry, summary, "0" * 12])
    assert missing == ["0" * 12]
    assert [[(c.id, c.role) for c in one.cited] for one in found] == [
        [(one, "observation")],
        [(entry, "user"), ("f" * 12, "not in the ledger")],
        [],
        [],
    ]
    assert found[2].entry is not None and found[2].entry.text == "it broke"
    assert found[3].record is not None and found[3].record.record.kind == "summary"
    with pytest.raises(BadInput, match="xyz, 12: an id has 12 hex digits"):
        mem_around.get(made.root, [one, "xyz", "12"])


@given(st.text(max_size=3_000), st.integers(0, 10**9))
def test_a_title_is_short(content: str, work: int) -> None:
    """A dozen words, and never more characters than fit a line."""
    record = ledger_chunks.Record("0" * 12, "observation", "bugfix", NOW, content, 1, work=work)
    title = ledger_chunks.title(record)
    assert len(title) <= ledger_chunks.TITLE_CHARACTERS
    assert len(title.split()) <= ledger_chunks.TITLE_WORDS + 1
    assert record.read >= len(content) // 4


def test_large_ledgers_that_the_index_does_not_know(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest are read, and how many are not is said."""
    for n in range(3):
        session = Session(keyword_palace.root, f"s{n}")
        session.observed(f"cache {n}")
        os.utime(session.place, (n, n))
    monkeypatch.setattr(mem, "MOST_BYTES", session.place.stat().st_size + 1)
    found = search(keyword_palace, "cache", index=False)
    assert [hit.found.source.session for hit in found.hits] == ["s2"]
    assert "2 older ledgers" in found.said[-1]
    assert sha256("cache 2")[:12] in ids(found)


def test_an_id_as_folds_show_it(made: Palace) -> None:
    """In brackets; in a timeline too."""
    session = Session(made.root)
    one = session.observed("it broke", "bugfix")
    found, _ = mem_around.get(made.root, [f"[{one}]", f" #{one}", one])
    assert [whole.record.record.id for whole in found if whole.record] == [one]
    assert mem_around.timeline(made.root, f"[{one}]").anchor == one


def test_what_cannot_be_read_is_counted(made: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have had the answer."""
    Session(made.root).observed("the cache was cold")
    Session(made.root, "s2").observed("the cache was warm")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("s2.jsonl"))
    said = [line for line in search(made, "cache", index=False).said if "not searched" in line]
    assert said == ["1 ledger is not searched, for nothing can read it: `palace index --check`"]


def test_a_private_span_is_neither_found_nor_shown(made: Palace) -> None:
    """Of a ledger that a hand wrote; the id stays that of the whole content."""
    session = Session(made.root)
    entry = session.said("open <private>4711")
    one = session.observed("the key is <private>4711</private> today")
    session.summarized(request="find <private>4711</private> out")
    made.index()
    assert ids(search(made, "4711")) == []
    assert one in ids(search(made, "key"))
    found, _ = mem_around.get(made.root, [one, entry])
    assert found[0].record is not None and found[1].entry is not None
    assert found[0].record.record.content == "the key is [PRIVATE] today"
    assert found[1].entry.text == "open [PRIVATE]"


def test_ledgers_behind_a_link_are_not_taken_for_none(made: Palace, tmp_path: Path) -> None:
    """Nothing is followed, and that is said."""
    place = Session(made.root).place.parent
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    said = search(made, "x", index=False).said
    assert said == ["no ledger can be read: `palace ledger check` says why"]
