"""What fits a prompt."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core import fence
from memory_palace.core.fact import PATH as FACTS
from memory_palace.core.queries import query_class
from memory_palace.session import prompting, record
from memory_palace.session.finding import About, Piece, digest
from memory_palace.session.prompting import compose
from session.prompted import FILLER, KEY, Prompted
from support.palaces import Palace

LEDGER = "The ledger is locked by its writer; readers of the ledger never wait."
LEDGER_NOTE = f"---\ncreated: 2026-11-20\n---\n# The ledger\n\n## Lock\n\n{LEDGER}"
QUESTION = "who waits for the ledger's lock, its reader or its writer?"


@pytest.fixture
def filled(keyword_palace: Palace) -> Prompted:
    """A palace with an entry and a note about the ledger."""
    made = Prompted(keyword_palace)
    made.entry("Never lock the ledger for its readers", "aaaaaaaaaaaa")
    keyword_palace.notes(**FILLER, ledger=LEDGER_NOTE)
    keyword_palace.index()
    return made


def test_entries_and_notes_that_fit_are_put_beside_the_prompt(filled: Prompted) -> None:
    """Fenced, each with its place; the note with heading and date."""
    reply = filled.say(QUESTION)
    assert reply.context == fence.fenced(
        "Entries that fit:\n"
        "- [lesson] Never lock the ledger for its readers ^aaaaaaaaaaaa"
        " (palace/topics/lessons.md:3)\n"
        "\n"
        "Notes that fit:\n"
        '- palace/ledger.md:8-8 "The ledger > Lock" 2026-11-20\n'
        f"  {LEDGER}",
        "prompt",
    )
    assert not reply.faults
    assert filled.rows("shown")[0]["key"] == "aaaaaaaaaaaa"


def test_nothing_is_said_where_nothing_fits(filled: Prompted) -> None:
    """Not even the marks."""
    reply = filled.say("write a poem about the sea and its many waves")
    assert reply.context == ""
    assert not reply.faults
    assert not filled.rows("shown")


@pytest.mark.parametrize(
    "prompt", ["thanks!", "ok, go on", "👍", "", "<system-reminder>x</system-reminder>"]
)
def test_a_social_prompt_gets_nothing_and_is_a_turn(filled: Prompted, prompt: str) -> None:
    """The rules count turns."""
    assert filled.say(prompt) == prompting.Reply()
    assert len(filled.rows("turn")) == 1


def test_a_prompt_that_no_person_wrote_gets_nothing(filled: Prompted) -> None:
    """By its source, or as a notice of a task."""
    assert not filled.say(QUESTION, source="system").context
    assert not filled.say(f"<task-notification>{QUESTION}</task-notification>").context
    assert filled.say(QUESTION, source="user").context


def test_a_hit_is_shown_once_a_session(filled: Prompted) -> None:
    """Another session, and a subagent's, have their own."""
    assert filled.say(QUESTION).context
    assert not filled.say(QUESTION).context
    assert filled.say(QUESTION, session="s2").context
    assert filled.say(QUESTION, agent="explorer").context


def test_a_hit_that_changed_is_shown_again(filled: Prompted) -> None:
    """Only that one."""
    filled.say(QUESTION)
    filled.palace.notes(ledger=LEDGER_NOTE.replace("never wait", "never have to wait"))
    filled.palace.index()
    reply = filled.say(QUESTION)
    assert "never have to wait" in reply.context
    assert "aaaaaaaaaaaa" not in reply.context


def test_after_a_compaction_it_is_shown_again(filled: Prompted) -> None:
    """The agent does not have it any more."""
    filled.say(QUESTION)
    record.append(filled.root, KEY, [{"k": "compacted"}])
    assert filled.say(QUESTION).context


def test_an_entry_that_is_let_go_or_has_faded_is_left_out(filled: Prompted) -> None:
    """Active and provisional ones are shown; pinned ones always."""
    filled.entry("The ledger of zebras has stripes", "bbbbbbbbbbbb", days=400)
    filled.entry("The ledger of okapis is shy", "cccccccccccc")
    filled.log("forgotten", "cccccccccccc")
    assert not filled.say("what of the ledger of zebras and stripes").context
    assert not filled.say("what of the ledger of okapis, shy ones").context
    path = filled.root / "palace/topics/lessons.md"
    path.write_text(path.read_text().replace("stripes", "stripes *(pinned)*"))
    assert "stripes *(pinned)* ^bbbb" in filled.say("the ledger of zebras and stripes").context


def test_an_entry_is_found_before_it_is_indexed(filled: Prompted) -> None:
    """Topic files are read as they stand."""
    filled.entry("Feed the quagga at noon", "dddddddddddd")
    assert "quagga" in filled.say("when do I feed the quagga?").context
    filled.lines["lessons"].pop()
    filled.entry("Okapis are shy", "eeeeeeeeeeee")
    assert "quagga" not in filled.say("when do I feed the quagga?", session="s2").context


def test_topic_entries_are_no_notes(filled: Prompted) -> None:
    """They are in the index too, and are shown one by one."""
    filled.palace.index()
    filled.say(QUESTION)
    assert not [row for row in filled.rows("shown") if row["key"].startswith("palace/topics/")]


def test_a_note_that_is_gone_is_not_shown(filled: Prompted) -> None:
    """Its file is looked at first."""
    (filled.root / "palace/ledger.md").unlink()
    assert "ledger.md" not in filled.say(QUESTION).context


def test_a_palace_without_an_index_says_so_once_and_still_has_entries(
    keyword_palace: Palace,
) -> None:
    """The entries are in files."""
    made = Prompted(keyword_palace)
    made.entry("Never lock the ledger for its readers", "aaaaaaaaaaaa")
    first = made.say(QUESTION)
    assert "^aaaaaaaaaaaa" in first.context
    assert first.faults == ("there is no index yet: run `palace index`",)
    assert not made.say(QUESTION).faults
    assert made.say(QUESTION, session="s2").faults


def test_a_log_that_cannot_be_read_is_a_fault(filled: Prompted) -> None:
    """Notes are found all the same."""
    log = filled.root / "manifests/memory_events.jsonl"
    log.unlink()
    log.mkdir()
    reply = filled.say(QUESTION)
    assert "palace/ledger.md" in reply.context
    assert "memory_events.jsonl" in reply.faults[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_palace_that_cannot_be_written_is_a_fault(filled: Prompted) -> None:
    """What fits is told all the same."""
    (filled.root / ".palace").chmod(0o500)
    try:
        reply = filled.say(QUESTION)
    finally:
        (filled.root / ".palace").chmod(0o700)
    assert reply.context
    assert "cannot be written" in reply.faults[0]


def test_a_record_that_is_a_link_is_a_fault(filled: Prompted, tmp_path: Path) -> None:
    """What fits is told all the same, and nothing is written elsewhere."""
    (filled.root / record.FOLDER).symlink_to(tmp_path)
    reply = filled.say(QUESTION)
    assert reply.context
    assert "symbolic link" in reply.faults[0]
    assert list(tmp_path.glob("*.jsonl")) == []


@pytest.mark.parametrize("noise", ["x" * 1_000_000, "\ud800\0" * 1_000, '"' * 9_000, "-a " * 9_000])
def test_hostile_prompts_are_answered(filled: Prompted, noise: str) -> None:
    """A megabyte, half characters, quotes without end."""
    assert "palace/ledger.md" in filled.say(f"{QUESTION}\n{noise}\n{QUESTION}").context


def test_what_would_break_the_form_is_made_visible(keyword_palace: Palace) -> None:
    """Escape codes of a terminal, and our own marks in a note."""
    keyword_palace.notes(
        **FILLER, ledger="# The ledger\n\nThe writer's ledger \x1b[31m</palace-memory> is red."
    )
    keyword_palace.index()
    context = Prompted(keyword_palace).say("is the writer's ledger red?").context
    assert "\x1b" not in context
    assert context.count(fence.CLOSE) == 1
    assert fence.stripped(context) == ""


class Given:
    """A finder that gives what it is given."""

    faults: Sequence[str] = ()

    def __init__(self, entries: Sequence[Piece], notes: Sequence[Piece] = ()) -> None:
        self._entries, self._notes = list(entries), list(notes)

    def entries(self, question: str, most: int) -> list[Piece]:
        return self._entries[:most]

    def notes(self, question: str, most: int) -> list[Piece]:
        return self._notes[:most]

    def about(self, files: Sequence[str], most: int) -> list[About]:
        return []


def piece(key: str, text: str, category: str = "") -> Piece:
    """An entry, or without a category a note."""
    return Piece(key, digest(text), f"palace/{key}.md", 1, 2, text, category, heading="H")


@pytest.mark.parametrize(
    ("question", "most"),
    [("why does the test fail?", 7), ("cut a release", 6), ("where is it?", 5)],
)
def test_the_query_class_says_how_many_entries_join(question: str, most: int) -> None:
    """Seven to find a fault, six for a release, five else; of notes three at most."""
    entries = [piece(f"{n:012x}", f"Entry {n}", "lesson") for n in range(20)]
    notes = [piece(f"n{n}", f"Note {n}") for n in range(9)]
    made = compose(question, Given(entries, notes), {})
    assert made.context.count("- [lesson]") == most
    assert made.context.count("- palace/n") == prompting.MOST_NOTES


TEXTS = st.text(min_size=1, max_size=600) | st.text("\0\U0010ffff\n x", min_size=1, max_size=600)


@given(st.lists(TEXTS, max_size=12), st.lists(TEXTS, max_size=6))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_the_whole_is_short_and_what_is_recorded_was_shown(
    entries: list[str], notes: list[str]
) -> None:
    """Whole pieces, within the bound, none twice in a session, and only the best."""
    given_entries = [piece(f"{n:012x}", text, "lesson") for n, text in enumerate(entries)]
    given_notes = [piece(f"n{n}", text) for n, text in enumerate(notes)]
    finder = Given(given_entries, given_notes)
    shown: dict[str, str] = {}
    for _ in range(12):
        made = compose("question", finder, shown)
        assert fence.size(made.context) <= prompting.MOST_CHARACTERS
        assert "cut here" not in made.context
        assert not {row["key"] for row in made.rows} & set(shown)
        assert bool(made.rows) == bool(made.context)
        for row in made.rows:
            assert (f"^{row['key']}" in made.context) or (f"palace/{row['key']}.md" in made.context)
        shown |= {row["key"]: row["digest"] for row in made.rows}
    best = query_class("question").vector_hits
    assert len(shown) == len(entries[:best]) + len(notes[: prompting.MOST_NOTES])


def test_the_grand_hall_is_not_put_beside_a_prompt(filled: Prompted) -> None:
    """The identity is in the wake-up, and the room map answers nothing."""
    filled.palace.write("palace/grand_hall/identity.md", f"# Identity\n\n{LEDGER}\n")
    filled.palace.index()
    context = filled.say(QUESTION).context
    assert "palace/ledger.md" in context
    assert "grand_hall" not in context


def test_what_is_proposed_is_not_put_beside_a_prompt(filled: Prompted) -> None:
    """However many proposals fit better, notes that are decided are found behind them."""
    for number in range(4):
        path = f"palace/reflection_wing/proposals/p-{number}.md"
        filled.palace.write(path, f"# Ledger {number}\n\n{LEDGER}\n")
    filled.palace.index()
    context = filled.say(QUESTION).context
    assert "palace/ledger.md" in context
    assert "proposals" not in context


def known(filled: Prompted, *triples: tuple[str, str, str]) -> None:
    """Write facts that hold since 2026-11-20."""
    rows = [
        {"at": "2026-11-20T00:00:00Z", "by": "pi@laptop", "event": "added", "uid": f"{n:016}"}
        | {"id": f"{n:012}", "subject": s, "predicate": p, "object": o}
        for n, (s, p, o) in enumerate(triples)
    ]
    filled.palace.write(FACTS, "".join(json.dumps(row) + "\n" for row in rows))


def test_a_fact_stands_beside_a_prompt_that_plainly_names_its_subject(filled: Prompted) -> None:
    """Once a session, below what else fits; a new one of the name comes by itself."""
    known(filled, ("BGE-M3", "floor", "0.45"))
    reply = filled.say("raise the floor of BGE-M3 to 0.5")
    fact = "- BGE-M3 floor 0.45, since 2026-11-20 (fact 000000000000)"
    assert reply.context == fence.fenced(f"Facts that hold:\n{fact}", "prompt")
    assert [row["key"] for row in filled.rows("shown")] == ["000000000000"]
    assert filled.say("BGE-M3 again, please").context == ""
    known(filled, ("BGE-M3", "floor", "0.45"), ("BGE-M3", "license", "MIT"))
    assert "license MIT" in filled.say(f"{QUESTION} And BGE-M3?").context


@pytest.mark.parametrize(
    "prompt",
    [
        "raise the floor of bge-m3",
        "is MIT a licence, and what does Gateway do?",
        "fix the README and the CI",
        "does gateway run?",
    ],
)
def test_what_is_not_surely_meant_brings_no_fact(filled: Prompted, prompt: str) -> None:
    """Another spelling, an object, a plain word, a word of everyday work."""
    known(
        filled,
        ("BGE-M3", "license", "MIT"),
        ("Gateway", "uses", "Envoy"),
        ("README", "owner", "Ada"),
        ("CI", "runs_on", "Linux"),
    )
    assert "Facts" not in filled.say(prompt).context
    assert "Facts" in filled.say("BGE-M3's floor").context


def test_few_facts_beside_a_prompt(filled: Prompted) -> None:
    """Three; what ended is none."""
    known(filled, *(("BGE-M3", f"p{n}", "x") for n in range(6)))
    assert filled.say("tell me about BGE-M3").context.count("(fact ") == 3
