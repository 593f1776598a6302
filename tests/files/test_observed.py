"""The records of a ledger, read without its entries: as the whole reading has them."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.ledger import Ledger, record_id
from memory_palace.files import ledgers, observed, read

PATH = "palace/chambers/pi/ledger/s1.jsonl"
AT = "2026-11-29T12:00:00Z"
ENTRY = "e" * 12

TEXTS = st.one_of(
    st.sampled_from(
        ['"event": "observed"', '{"event":"observed"}', '\\"event\\": \\"dropped\\"', "\u2028", "é"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
)


def _line(number: int, kind: str, text: str, spaces: bool, extra: bool) -> str:
    text = " ".join(text.split()) or "-"
    row = {"at": AT, "by": "x", "event": kind, "uid": f"{number:016x}", "id": f"{number:012x}"}
    record = {"id": record_id(text), "content": text}
    row |= {
        "session": {"client": "pi", "wing": text},
        "entry": {"role": "user", "text": text, "observations": [{"event": "observed"}]},
        "observed": {"observations": [record | {"relevance": "low", "sources": [ENTRY]}]},
        "reflected": {"reflections": [record | {"supports": [ENTRY]}]},
        "dropped": {"ids": [record_id(text)]},
        "folded": {"covers_up_to": ENTRY, "full": True},
        "summarized": {"request": text},
        "odd": {},
    }[kind]
    if extra:  # a nested object may have an event too
        row = {"more": {"event": "observed"}} | row
    return json.dumps(row, ensure_ascii=False, separators=None if spaces else (",", ":"))


KINDS = ["session", "entry", "observed", "reflected", "dropped", "folded", "summarized", "odd"]
LINES = st.one_of(
    st.tuples(st.sampled_from(KINDS), TEXTS, st.booleans(), st.booleans()),
    st.sampled_from(["", "  ", "junk", "[1]", '{"event": "observed"', '{"event": "observed"}']),
)


def records(found: Ledger) -> tuple[object, ...]:
    """All but the entries, each with its line."""
    lines = [one.line for one in (*found.observations, *found.reflections, *found.summaries)]
    said = found.observations, found.reflections, found.summaries, found.drops, found.headers
    return *said, lines


@given(st.lists(LINES, max_size=12), st.booleans(), st.booleans())
def test_it_reads_what_the_whole_reading_does(lines: list, ended: bool, marked: bool) -> None:
    """Whatever stands between the records, and in the texts of entries."""
    texts = [
        one if isinstance(one, str) else _line(number, *one) for number, one in enumerate(lines)
    ]
    text = "\ufeff" * marked + "\n".join(texts) + "\n" * ended
    fast, whole = observed.parse(PATH, text), ledgers.parse(PATH, text)
    assert records(fast.ledger) == records(whole.ledger)
    assert not fast.ledger.entries
    assert {line for line, _ in fast.refused} <= {one.line for one in whole.problems}


def test_a_stray_byte_spoils_its_own_line(tmp_path: Path) -> None:
    """A note would not be read at all; nor is one where no file is."""
    place = tmp_path / PATH
    place.parent.mkdir(parents=True)
    good = _line(1, "observed", "good", True, False)
    place.write_bytes(b"\xff\0\n" + good.encode() + b"\n")
    got = observed.read_text(tmp_path, PATH)
    assert isinstance(got, read.Text)
    (one,) = observed.parse(PATH, got.text).ledger.observations
    assert (one.content, one.line) == ("good", 2)
    assert isinstance(observed.read_text(tmp_path, PATH + "x"), read.Unreadable)
    assert observed.recent(tmp_path, PATH + "x", 100) is None


@given(st.integers(0, 5_000))
def test_the_end_of_a_ledger(tmp_path_factory: object, most: int) -> None:
    """However much of it is read: whole lines only, and none twice."""
    root = tmp_path_factory.mktemp("r")  # type: ignore[attr-defined]
    place = root / PATH
    place.parent.mkdir(parents=True)
    rows = [_line(n, "observed", f"number {n}", True, False) for n in range(60)]
    place.write_text("\n".join([_line(99, "session", "demo", True, False), *rows]) + "\n")
    found = observed.recent(root, PATH, most)
    assert found is not None and found.refused == ()
    assert found.ledger.header is not None and found.ledger.header.wing == "demo"
    numbers = [int(one.content.split()[1]) for one in found.ledger.observations]
    assert len(numbers) == len(set(numbers))
    if most >= len(rows[-1]) + 2:
        assert 59 in numbers


def test_an_event_ends_with_its_line() -> None:
    """A line that was cut off after its key takes nothing of the next one."""
    last = _line(1, "summarized", "kept", True, False)
    cut = '{"at": "2026-11-29T12:00:00Z", "uid": "x", "id": "s", "request": "no", "event":'
    text = f'{cut}\n"summarized"}}\n{last}\n'
    found = observed.parse(PATH, text)
    assert [(one.parts["request"], one.line) for one in found.ledger.summaries] == [("kept", 3)]
    assert found.ledger.summaries == ledgers.parse(PATH, text).ledger.summaries


def test_utf_16_is_said() -> None:
    """No event is found in it, so that it would look like a ledger without records."""
    for order in ("utf-16-le", "utf-16-be"):
        data = ("\ufeff" + _line(1, "summarized", "kept", True, False) + "\n").encode(order)
        found = observed.parse(PATH, data.decode("utf-8", "surrogateescape"))
        assert found.refused == ((1, "UTF-16, save it as UTF-8"),)
