"""Ledgers in the index: each record a chunk, and no session entry."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from memory_palace.core.errors import Refused
from memory_palace.files import manifest as manifests
from memory_palace.files import tree
from memory_palace.index import catalog as catalogs
from memory_palace.index import run
from memory_palace.index.build import Options
from memory_palace.index.watch import matters
from session.sessions import Session, one_of
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW, Palace


def rows(palace: Palace, query: str, name: str = catalogs.MAIN) -> list[tuple]:
    """What a catalog answers to ``query``."""
    with catalogs.open_to_read(palace.root / ".palace/index" / name) as catalog:
        return catalog.db.execute(query).fetchall()


def texts(palace: Palace, name: str = catalogs.MAIN) -> list[str]:
    """All chunks, in their order."""
    return [row[0] for row in rows(palace, "SELECT text FROM chunks ORDER BY id", name)]


def test_each_record_is_a_chunk_on_its_line(palace: Palace) -> None:
    """Its id is the record's; observations of one line are apart; entries are none."""
    session = Session(palace.root)
    session.said("please mend the parser")
    one, two = session.observed_all(
        [
            one_of("It drops the last line", "bugfix", files=["src/parse.py"]),
            one_of("Files may end without a line feed", at=NOW + timedelta(minutes=1)),
        ]
    )
    three = session.reflected("Parsers are fragile", one)
    session.summarized(request="Mend it", completed="Mended", next_steps="")
    palace.index()
    found = rows(palace, 'SELECT chunk_id, start, "end" FROM chunks ORDER BY id')
    assert [tuple(row) for row in found[:3]] == [(one, 3, 3), (two, 3, 3), (three, 4, 4)]
    assert found[3][1:] == (5, 5)
    assert texts(palace) == [
        "2026-11-29 12:00 bugfix: It drops the last line (src/parse.py)",
        "2026-11-29 12:01 observation: Files may end without a line feed",
        "2026-11-29 12:03 reflection: Parsers are fragile",
        "2026-11-29 12:04 summary: Request: Mend it Completed: Mended",
    ]


def test_a_ledger_is_of_its_own_type_time_and_wing(palace: Palace) -> None:
    """Whatever its file's time and the manifest say; the manifest has a line of it."""
    session = Session(palace.root)
    session.observed("one")
    os.utime(session.place, (0, 0))
    manifest = palace.root / manifests.PATH
    manifest.parent.mkdir()
    line = {"path": session.path, "type": "palace", "priority": "high", "mine": 1}
    manifest.write_text(json.dumps(line) + "\n")
    palace.index()
    ((kind, priority, time, source, tags),) = rows(
        palace, "SELECT type, priority, time, time_source, tags FROM files"
    )
    assert (kind, priority, source, json.loads(tags)) == ("observation", None, "note", ["demo"])
    assert time == (NOW + timedelta(minutes=1)).timestamp()
    assert json.loads(manifest.read_text()) == {
        "path": session.path,
        "type": "observation",
        "mine": 1,
    }


def test_a_growing_ledger_embeds_only_what_is_new(tmp_path: Path) -> None:
    """Vectors go by what a record says."""
    embedder = FakeEmbedder()
    palace = Palace(tmp_path / "root", fake_choice(embedder))
    session = Session(palace.root)
    session.observed("The cache is cold", "discovery", room="src/cache")
    palace.index()
    session.observed("The cache is warm now", "change")
    session.said("thanks")
    assert palace.index().vectors == 1
    assert embedder.embedded == [
        "demo src/cache\n2026-11-29 12:01 discovery: The cache is cold",
        "demo\n2026-11-29 12:03 change: The cache is warm now",
    ]


def test_an_unchanged_ledger_is_not_read_again(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One stat says so."""
    session = Session(palace.root)
    session.observed("one")
    os.utime(session.place, (1, 1))
    palace.index()
    session.place.chmod(0)
    done = palace.index()
    assert (done.changes.unchanged, done.changes.any, done.errors) == (1, False, [])


def test_the_index_made_again_is_the_same(palace: Palace) -> None:
    """Nothing in .palace is truth."""
    session = Session(palace.root)
    session.observed("one", "decision", files=["a.py"], work=12)
    session.summarized(request="two")
    palace.notes(topics__a="# A\none")
    palace.index()
    asked = "SELECT chunk_id, heading, start, text, embedded, key FROM chunks ORDER BY id"
    before = rows(palace, asked), rows(palace, "SELECT path, title, type, time FROM files")
    shutil.rmtree(palace.root / ".palace")
    palace.index()
    assert before == (
        rows(palace, asked),
        rows(palace, "SELECT path, title, type, time FROM files"),
    )


def test_odd_lines_are_left_out_and_told_of_once(palace: Palace) -> None:
    """A torn last line says nothing yet; junk, a stray byte and half a character harm nothing."""
    session = Session(palace.root)
    session.observed("good")
    with session.place.open("ab") as file:
        file.write(b"junk\n\xff\xfe\n\0\0\0\n[1]\n")
        file.write(b'{"event": "observed", "uid": "x", "at": "never"}\n')
        file.write(b'{"event": "observed", "at": \n')
    session.observed("a half \ud800 character")
    with session.place.open("ab") as file:
        file.write(b'{"at": "2026-11-29T13:00:00Z", "event": "observed", "observations": [{"co')
    done = palace.index()
    assert [text.partition(": ")[2] for text in texts(palace)] == ["good", "a half ? character"]
    (problem,) = done.problems
    assert (problem.path, problem.line, problem.grade) == (session.path, 8, "warning")
    assert "with 1 more line" in problem.message and "`palace ledger check`" in problem.message


def test_entries_alone_and_an_empty_file(palace: Palace) -> None:
    """A ledger without records is known, and has no chunk."""
    Session(palace.root).said("hello")
    palace.write("palace/chambers/pi/ledger/empty.jsonl", "")
    done = palace.index()
    assert (done.files, done.chunks, done.problems) == (2, 0, [])


def test_ten_thousand_observations(keyword_palace: Palace) -> None:
    """Each is found by itself."""
    session = Session(keyword_palace.root)
    session.said("go")
    for first in range(0, 10_000, 100):
        session.observed_all([one_of(f"step number{n}") for n in range(first, first + 100)])
    keyword_palace.index()
    (hit,) = keyword_palace.hits("number9876", types=("observation",))
    assert hit.text.endswith("step number9876")
    assert len(keyword_palace.hits("step", all_chunks=True, top_k=10_000)) == 10_000


def test_what_is_a_ledger(palace: Palace) -> None:
    """Only where ledgers stand; links, copies of a sync tool, hidden and excluded ones are not
    read; what cannot be read is said."""
    good = Session(palace.root, "good")
    good.observed("good")
    for path in (
        "palace/project_rooms/demo/ledger/a.jsonl",
        "palace/chambers/pi/a.jsonl",
        "palace/chambers/pi/ledger/deep/a.jsonl",
        "palace/chambers/pi/ledger/.a.jsonl",
        "palace/chambers/pi/ledger/a.sync-conflict-20261129-140300.jsonl",
        "palace/chambers/pi/ledger/left-out.jsonl",
    ):
        palace.write(path, good.place.read_bytes())
    (palace.root / "palace/chambers/pi/ledger/link.jsonl").symlink_to(good.place)
    palace.write("palace.yaml", "index:\n  exclude: [left-out.jsonl]\n")
    done = palace.index()
    assert [row[0] for row in rows(palace, "SELECT path FROM files")] == [good.path]
    assert [(p.path.rsplit("/", 1)[1], p.grade) for p in done.problems] == [
        ("a.sync-conflict-20261129-140300.jsonl", "warning")
    ]


def test_an_archived_ledger_is_cold(palace: Palace) -> None:
    """It answers only where the archive is asked too."""
    where = "palace/archive_basement/chambers"
    Session(palace.root, "old", where=where).observed("ancient history")
    palace.notes(topics__a="# A\none")
    palace.index()
    assert tree.is_ledger(f"{where}/claude-code/ledger/old.jsonl")
    assert [text[-15:] for text in texts(palace, catalogs.BASEMENT)] == ["ancient history"]
    assert palace.paths("ancient") == []
    assert len(palace.hits("ancient", archived=True)) == 1


def test_a_ledger_is_no_note(palace: Palace) -> None:
    """Not to the graph, links, recent notes, the layers or the rooms' health."""
    session = Session(palace.root)
    session.observed("Use amber", "decision")
    palace.notes(topics__a="# A\nsee [[s1]] and [[s1.jsonl]]", project_rooms__demo__b="# B\nb")
    palace.command("index")
    assert list(json.loads(palace.command("graph").out)) == [
        "palace/project_rooms/demo/b.md",
        "palace/topics/a.md",
    ]
    assert "s1.jsonl" not in palace.command("recent").out
    assert session.path in palace.command("recent", "--type", "observation").out
    assert "amber" not in palace.command("wake").out
    assert "amber" not in palace.command("recall", "claude-code").out
    assert "[[s1]]" in palace.command("links", "palace/topics/a.md").out


def test_many_lost_ledgers_are_a_mass_deletion(palace: Palace) -> None:
    """The guard counts them as it counts notes; a few may go."""
    made = [Session(palace.root, f"s{n}") for n in range(30)]
    for session in made:
        session.observed(f"of {session.session}")
    palace.index()
    for session in made[:25]:
        session.place.unlink()
    with pytest.raises(Refused, match="25 of 30 files are gone"):
        palace.index()
    assert len(palace.index(yes=True).changes.removed) == 25


def test_a_run_without_the_manifest_agrees_with_one_that_has_it(palace: Palace) -> None:
    """What only a later run writes into the manifest is no change of the catalog."""
    Session(palace.root).observed("one")
    palace.index(sync_manifest=False)
    assert not (palace.root / manifests.PATH).exists()
    done = palace.index()
    assert (done.changes.any, done.manifest_written) == (False, True)
    checked = run.check(palace.root, palace.config, palace.choice, Options())
    assert not checked.stale


def test_a_change_is_seen_and_read_again(palace: Palace) -> None:
    """A hit keeps its place when the ledger grows, and is gone when its line is."""
    session = Session(palace.root)
    first = session.observed("The cache is cold")
    palace.index()
    text = session.place.read_text()
    session.observed("The queue is full")
    answer = palace.ask("cache")
    assert ([hit.id for hit in answer.hits], answer.changed) == ([first], 1)
    palace.write(session.path, "\n\n" + text, old=False)
    assert [hit.start for hit in palace.hits("cache")] == [5]
    palace.write(session.path, text.splitlines()[0] + "\n", old=False)
    assert palace.hits("cache") == []
    session.place.unlink()
    assert palace.hits("cache") == []


def test_a_watcher_looks_at_ledgers() -> None:
    """Their folder is no hidden one."""
    assert matters("palace/chambers/claude-code/ledger/s1.jsonl")
