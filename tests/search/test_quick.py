"""Notes that fit, by keywords alone."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.index import opening
from memory_palace.search import quick
from memory_palace.search.quick import Found, Quick
from support.palaces import NOW, SCRIPTS, Palace

FILLER = {
    f"project_rooms__filler__n{n}": f"# Note {n}\n\nThis one is about matter number {n} and work."
    for n in range(40)
}


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """Forty notes that say little, and a few that say something."""
    keyword_palace.notes(
        **FILLER,
        ledger="---\ncreated: 2026-11-20\n---\n# The ledger\n\n## Lock\n\nThe ledger is locked by "
        "its writer.\nReaders of the ledger never wait for the lock.",
        fjord="# Fjord\n\nThe fjord is cold.\n\n"
        + "Filler about work. " * 30
        + "\n\nIts lock is old.",
    )
    keyword_palace.index()
    return keyword_palace


def ask(palace: Palace, question: str, most: int = 3) -> list[Found]:
    """What is found for a question."""
    index = Quick(palace.root)
    try:
        terms = quick.terms_of(question)
        return index.notes(terms, index.weighed(terms), NOW, most)
    finally:
        index.close()


def test_a_note_that_fits_is_found_with_its_best_lines(filled: Palace) -> None:
    """Path, lines, headings, date and text."""
    (found,) = ask(filled, "who waits for the ledger's lock, the reader?")
    assert found.path == "palace/ledger.md"
    assert found.heading[-1] == "Lock"
    assert "Readers of the ledger never wait" in found.text
    lines = (filled.root / found.path).read_text().split("\n")
    assert found.text.split("\n")[0] == lines[found.start - 1]
    assert found.text.split("\n")[-1] == lines[found.end - 1]
    assert found.time is not None


def test_what_the_whole_search_finds_first_is_found_first(filled: Palace) -> None:
    """The ranking is that of a search without vectors."""
    question = "the ledger and its writer"
    assert ask(filled, question)[0].path == filled.hits(question)[0].path


@pytest.mark.parametrize(
    "question",
    [
        "what is this work about?",
        "a ledger of zebras, quaggas, okapis, tapirs and lamas",
        "",
        "the",
    ],
)
def test_nothing_doubtful_is_found(filled: Palace, question: str) -> None:
    """Common words, one word of many, no word."""
    assert ask(filled, question) == []


def test_words_that_stand_far_apart_are_no_proof(filled: Palace) -> None:
    """The chunk has both, but no few lines of it have."""
    assert ask(filled, "fjord lock") == []
    assert [found.path for found in ask(filled, "cold fjord")] == ["palace/fjord.md"]


def test_what_is_far_behind_the_best_is_not_shown(filled: Palace) -> None:
    """It fits, but only where nothing is better, and what is better has to be there still."""
    filled.notes(
        four="# Four\n\nAn amber okapi, a gnu and a zebra.", two="# Two\n\nAn amber okapi again."
    )
    filled.index()
    question = "amber okapi with gnu and zebra"
    assert [found.path for found in ask(filled, question)] == ["palace/four.md"]
    (filled.root / "palace/four.md").unlink()
    assert [found.path for found in ask(filled, question)] == ["palace/two.md"]


def test_a_note_that_is_gone_is_not_shown(filled: Palace) -> None:
    """Since the index was built."""
    (filled.root / "palace/ledger.md").unlink()
    assert ask(filled, "the ledger and its writer") == []


def test_a_note_that_changed_is_shown_where_its_text_stands_now(filled: Palace) -> None:
    """Lines above it move it; a text that is not there any more is not shown."""
    before = ask(filled, "the ledger and its writer")[0]
    text = (filled.root / before.path).read_text()
    filled.write(before.path, text.replace("# The ledger", "# New\n\nMore.\n\n# The ledger"))
    after = ask(filled, "the ledger and its writer")[0]
    assert (after.start, after.text) == (before.start + 4, before.text)
    filled.write(before.path, text.replace("locked by", "closed by"))
    assert ask(filled, "the ledger and its writer") == []


def test_a_superseded_note_comes_behind_its_successor_or_is_marked(keyword_palace: Palace) -> None:
    """Both are about the question: the new one is enough, though its path comes later."""
    new = '---\nsupersedes: "[[aged]]"\n---\n# New\n\n{}'
    keyword_palace.notes(
        **FILLER,
        aged="# Old\n\nThe amber ledger is on paper.",
        new=new.format("The amber ledger is a file."),
    )
    keyword_palace.index()
    assert [found.path for found in ask(keyword_palace, "amber ledger")] == ["palace/new.md"]
    keyword_palace.notes(new=new.format("Now it is a file."))
    keyword_palace.index()
    (found,) = ask(keyword_palace, "amber ledger")
    assert (found.path, found.successor) == ("palace/aged.md", "palace/new.md")


def test_the_archive_is_left_out(keyword_palace: Palace) -> None:
    """Cold storage is for those who ask for it."""
    keyword_palace.notes(**FILLER, archive_basement__old="# Old\n\nThe amber ledger of old.")
    keyword_palace.index()
    assert ask(keyword_palace, "amber ledger") == []


def test_importance_and_recency_order_what_fits(keyword_palace: Palace) -> None:
    """As in a search: of two equal texts the important one, of two such the newer one."""
    text = "---\npriority: {}\ncreated: {}\n---\n# One\n\nThe amber ledger is a file."
    keyword_palace.notes(
        **FILLER,
        a=text.format("low", "2026-01-01"),
        b=text.format("high", "2026-01-01"),
        c=text.format("high", "2026-11-28"),
    )
    keyword_palace.index()
    paths = [found.path for found in ask(keyword_palace, "amber ledger")]
    assert paths == ["palace/c.md", "palace/b.md", "palace/a.md"]


def test_a_palace_without_an_index_says_what_to_run(keyword_palace: Palace) -> None:
    """The same for one of another format, and one that is damaged."""
    with pytest.raises(Missing, match="palace index"):
        Quick(keyword_palace.root)
    keyword_palace.notes(amber="# Amber\n\nAmber.")
    keyword_palace.index()
    path = keyword_palace.root / ".palace/index" / opening.MAIN
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    with pytest.raises(Missing, match="format 1"):
        Quick(keyword_palace.root)
    db.close()
    path.write_bytes(b"no database at all, but longer than a header" * 99)
    with pytest.raises(Missing, match="damaged"):
        Quick(keyword_palace.root)


def test_a_damaged_table_is_a_fault_with_what_to_run(filled: Palace) -> None:
    """Not a traceback of the database."""
    path = filled.root / ".palace/index" / opening.MAIN
    db = sqlite3.connect(path)
    db.execute("DROP TABLE links")
    db.commit()
    db.close()
    with pytest.raises(Missing, match="palace index"):
        ask(filled, "the ledger and its writer")


def test_a_link_in_place_of_the_index_is_refused(filled: Palace, tmp_path: Path) -> None:
    """It could lead anywhere."""
    (filled.root / ".palace/index").rename(tmp_path / "elsewhere")
    (filled.root / ".palace/index").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="symbolic link"):
        Quick(filled.root)


def test_it_needs_no_arrays_nor_models(filled: Palace) -> None:
    """A hook has no time to import them."""
    code = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from memory_palace.search import quick\n"
        f"index = quick.Quick(Path({str(filled.root)!r}))\n"
        "terms = quick.terms_of('ledger writer')\n"
        "assert index.notes(terms, index.weighed(terms), datetime.now(UTC), 3)\n"
        "heavy = {'numpy', 'faiss', 'click', 'yaml', 'onnxruntime', 'pydantic', 'markdown_it'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SCRIPTS)},
        check=True,
    )
    assert done.stdout == "[]\n"
