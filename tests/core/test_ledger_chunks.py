"""Records of a ledger: their order, and the day on which their session began."""

from memory_palace.core import ledger_chunks
from memory_palace.core.ledger_chunks import Record
from support.ledgers import header, ledger, observed, oid
from support.ledgers import line as row
from support.palaces import NOW


def test_records_are_in_the_order_of_time_and_of_their_ids() -> None:
    """Wherever they stand in the file."""
    texts = sorted((f"said {number}" for number in range(6)), key=oid, reverse=True)
    later = observed(None, "a later one", seconds=90)
    found = ledger_chunks.records(ledger(later, *(observed(None, t, seconds=60) for t in texts)))
    assert [one.id for one in found] == [*sorted(map(oid, texts)), oid("a later one")]


def test_a_session_began_with_the_first_that_is_known_of_it() -> None:
    """A header or a record; without any of them no day is made up."""
    day = 86_400
    found = ledger(header(seconds=2 * day), observed(None, "a", seconds=day))
    records = ledger_chunks.records(found)
    assert ledger_chunks.session_day(records, found.header) == "2026-11-30"
    assert ledger_chunks.session_day((), found.header) == "2026-12-01"
    assert ledger_chunks.session_day((), None) == ""


def record(content: str, kind: str = "decision") -> Record:
    """An observation that says it."""
    return Record("0" * 12, "observation", kind, NOW, content, 1)


def test_the_title_of_a_decision_is_what_the_person_said() -> None:
    """Last; a bare yes or no needs what it is about, and other lines begin where they begin."""
    proposed = "Assistant: I would use Decimal with half up / "
    said = "User: No, use integer cents instead"
    assert ledger_chunks.title(record(proposed + said)) == said
    assert ledger_chunks.title(record(proposed + "User: no")) == proposed + "User: no"
    assert ledger_chunks.title(record(proposed + said, "change")).startswith("Assistant: ")
    assert ledger_chunks.title(record("Ana: yes / Ben: no")) == "Ana: yes / Ben: no"


def test_a_summary_in_full_has_its_parts_on_lines_of_their_own() -> None:
    """Its content, which its id is made of, is one line."""
    line = {"request": "Paint it", "learned": "Amber <private>x</private>"}
    (found,) = ledger_chunks.records(ledger(row("summarized", 0, **line)))
    assert found.content == "Request: Paint it Learned: Amber [PRIVATE]"
    assert ledger_chunks.full(found).split("\n")[1:] == [
        "Request: Paint it",
        "Learned: Amber [PRIVATE]",
    ]
