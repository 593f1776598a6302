"""``palace kg``: what is printed, and the exit codes."""

import json

import pytest

from memory_palace.cli import kg as command
from support.palaces import NOW, Palace, Ran


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock, and who writes."""
    monkeypatch.setattr(command, "now", lambda: NOW)
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")


def kg(palace: Palace, *words: str) -> Ran:
    """Run one command of the group."""
    return palace.command("kg", *words)


def rows(palace: Palace, *words: str) -> list[dict[str, object]]:
    """What a command prints as JSON lines."""
    return [json.loads(line) for line in kg(palace, *words, "--format", "jsonl").out.splitlines()]


@pytest.mark.parametrize(
    "words",
    [
        ("add", "Ann", "is", "here", "--from", "last week"),
        ("invalidate", "Ann", "is", "here", "--ended", "tomorrow"),
        ("query", "Ann", "--as-of", "3 days ago"),
        ("query", "Ann", "--as-of", "2026-02-30"),
    ],
)
def test_dates_in_words_are_refused(keyword_palace: Palace, words: tuple[str, ...]) -> None:
    """With the form that is taken."""
    ran = kg(keyword_palace, *words)
    assert (ran.code, ran.out) == (2, "")
    assert "is no date: write 2026-11-29 or 2026-11-29T20:15:03Z" in ran.err


def test_as_of_a_day_is_the_whole_day(keyword_palace: Palace) -> None:
    """Its end, UTC; a time is that time; the end of a fact is exclusive."""
    kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2026-11-20T15:00:00Z")
    kg(keyword_palace, "invalidate", "Ann", "is", "here", "--ended", "2026-11-25")
    for day, code in (
        ("2026-11-19", 1),
        ("2026-11-20", 0),
        ("2026-11-20T14:59:59Z", 1),
        ("2026-11-24", 0),
        ("2026-11-25", 1),
        ("9999-12-31", 1),
    ):
        assert kg(keyword_palace, "query", "Ann", "--as-of", day).code == code, day
    kg(keyword_palace, "add", "Ann", "is", "here")
    assert kg(keyword_palace, "query", "Ann", "--as-of", "9999-12-31").code == 0


def test_holds_is_told_for_the_moment_that_is_asked_for(keyword_palace: Palace) -> None:
    """In JSON: of what ended, as of a day on which it held; of what is to come, not yet."""
    kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2026-11-20")
    kg(keyword_palace, "invalidate", "Ann", "is", "here", "--ended", "2026-11-25")
    kg(keyword_palace, "add", "Ann", "is", "away", "--from", "2027-03-01")
    told = [one["holds"] for one in rows(keyword_palace, "query", "Ann", "--history")]
    assert told == [False, False]
    assert [one["holds"] for one in rows(keyword_palace, "timeline", "Ann")] == [False, False]
    (then,) = rows(keyword_palace, "query", "Ann", "--as-of", "2026-11-24")
    assert (then["holds"], then["valid_to"]) == (True, "2026-11-25")


def test_what_is_to_come_does_not_hold_until_now(keyword_palace: Palace) -> None:
    """As of a day to come it holds; its period says from when on, not `now`."""
    kg(keyword_palace, "add", "Ann", "is", "away", "--from", "2027-03-01")
    ran = kg(keyword_palace, "query", "Ann", "--as-of", "2027-03-01")
    assert ran.code == 0 and "[2027-03-01 ..]" in ran.out
    (one,) = rows(keyword_palace, "query", "Ann", "--as-of", "2027-03-01")
    assert (one["holds"], one["valid_to"]) == (True, None)


def test_a_fact_that_holds_but_will_end_is_not_made_longer(keyword_palace: Palace) -> None:
    """Adding it again says until when, and from which day on to add it."""
    kg(keyword_palace, "add", "Ann", "is", "here")
    kg(keyword_palace, "invalidate", "Ann", "is", "here", "--ended", "2027-01-01")
    ran = kg(keyword_palace, "add", "Ann", "is", "here")
    assert ran.code == 0 and ran.out.startswith("there already:")
    assert "it ends on 2027-01-01: `--from 2027-01-01` adds it again from then on" in ran.err
    assert kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2027-01-01").out[:5] == "added"
    keyword_palace.write("palace.yaml", "facts: {one_valued: [owner]}\n")
    kg(keyword_palace, "add", "api", "owner", "Bo", "--from", "2027-01-01")
    ran = kg(keyword_palace, "add", "api", "owner", "Ann")
    assert ran.out.startswith("added") and ".. 2027-01-01)" in ran.out and ran.err == ""


def test_every_answer_has_id_source_and_validity(keyword_palace: Palace) -> None:
    """The same keys from query and timeline."""
    kg(keyword_palace, "add", "Ann", "is", "here", "--source", "card 7", "--confidence", "0.5")
    (one,) = rows(keyword_palace, "query", "ann")
    assert rows(keyword_palace, "timeline", "here") == [one]
    assert len(str(one.pop("id"))) == 12
    assert one == {
        "subject": "Ann",
        "predicate": "is",
        "object": "here",
        "valid_from": "2026-11-29T12:00:00Z",
        "valid_to": None,
        "holds": True,
        "confidence": 0.5,
        "source": "card 7",
        "at": "2026-11-29T12:00:00Z",
        "by": "pi@laptop",
        "ended_at": None,
        "ended_by": None,
        "reason": None,
    }


def test_direction(keyword_palace: Palace) -> None:
    """The place of the entity in the fact."""
    kg(keyword_palace, "add", "Ann", "knows", "Bo")
    kg(keyword_palace, "add", "Bo", "knows", "Cy")
    for direction, many in (("subject", 1), ("object", 1), ("both", 2)):
        assert len(rows(keyword_palace, "query", "Bo", "--direction", direction)) == many
    ran = kg(keyword_palace, "query", "Cy", "--direction", "subject")
    said = "no fact has Cy as subject: --direction both --history shows 1\n"
    assert (ran.code, ran.out, ran.err) == (1, "", said)
    assert kg(keyword_palace, "query", "Bo", "--direction", "up").code == 2


def test_long_answers_are_cut(keyword_palace: Palace) -> None:
    """The newest stay, and the rest is counted."""
    for n in range(5):
        kg(keyword_palace, "add", "Ann", "saw", f"thing {n}", "--from", f"2026-01-0{n + 1}")
    ran = kg(keyword_palace, "query", "Ann", "--limit", "2")
    assert [line.split("saw ")[1][:7] for line in ran.out.splitlines()] == ["thing 3", "thing 4"]
    assert ran.err == "3 older of 5 left out: raise --limit\n"
    ran = kg(keyword_palace, "entities", "thing", "--limit", "2")
    assert ran.out.splitlines() == [
        "thing 0  0 as subject, 1 as object, 1 now",
        "thing 1  0 as subject, 1 as object, 1 now",
    ]
    assert ran.err == "3 more of 5: raise --limit, or write more of the name\n"


def test_nothing_known(keyword_palace: Palace) -> None:
    """Exit 1, with the nearest name or where names are listed."""
    assert kg(keyword_palace, "entities").err == "no facts: `palace kg add` adds one\n"
    kg(keyword_palace, "add", "Gateway", "is", "up")
    for words in (("query",), ("query", "--history"), ("timeline",), ("entities",)):
        ran = kg(keyword_palace, *words, "gatewya")
        assert (ran.code, ran.out) == (1, ""), words
        said = "no name begins with" if words == ("entities",) else "no fact names"
        assert ran.err == f"{said} gatewya: did you mean Gateway?\n"
    assert "`palace kg entities` lists the names" in kg(keyword_palace, "query", "zzz").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("query", "Ann", "--history", "--as-of", "2026-01-01"), "leave out --as-of"),
        (("invalidate", "Ann", "is"), "name SUBJECT PREDICATE OBJECT"),
        (("invalidate",), "name SUBJECT PREDICATE OBJECT"),
        (("add", "Ann", "is"), "Missing argument"),
        (("add", "Ann", "is", "here", "--confidence", "2"), "write 0 to 1"),
        (("add", "", "is", "here"), "the subject has nothing in it"),
        (("add", "\udcff", "is", "here"), "the subject is not UTF-8"),
        (("query", " "), "ENTITY is blank"),
        (("timeline", ""), "ENTITY is blank"),
        (("qery", "Ann"), "did you mean `query`?"),
    ],
)
def test_wrong_usage(keyword_palace: Palace, words: tuple[str, ...], said: str) -> None:
    """One line that says what to write."""
    ran = kg(keyword_palace, *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_broken_lines_are_told_and_the_rest_counts(keyword_palace: Palace) -> None:
    """Queries answer with exit 1; a line that was cut off does not change it."""
    kg(keyword_palace, "add", "Ann", "is", "here")
    log = keyword_palace.root / "manifests/facts.jsonl"
    whole = log.read_text()
    log.write_text(whole + '{"at": "2026')
    ran = kg(keyword_palace, "query", "Ann")
    assert (ran.code, "warning: cut off in the middle" in ran.err) == (0, True)
    assert kg(keyword_palace, "check").code == 0
    log.write_text(whole + "nonsense\n")
    ran = kg(keyword_palace, "query", "Ann")
    assert (ran.code, len(ran.out.splitlines())) == (1, 1)
    assert "manifests/facts.jsonl:2: error: not a JSON object" in ran.err
    ran = kg(keyword_palace, "check")
    assert (ran.code, ran.out) == (1, "1 fact: 1 problem\n")


def test_stats_as_json(keyword_palace: Palace) -> None:
    """Counts, and the predicates with most facts."""
    keyword_palace.write("palace.yaml", "facts: {one_valued: [Is]}\n")
    kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2026-01-01")
    kg(keyword_palace, "add", "Ann", "is", "there", "--from", "2027-01-01")
    assert json.loads(kg(keyword_palace, "stats", "--format", "json").out) == {
        "facts": 2,
        "holding": 1,
        "ended": 0,
        "to_come": 1,
        "taken_back": 0,
        "entities": 3,
        "first": "2026-01-01",
        "last": "2027-01-01",
        "predicates": 1,
        "by_predicate": [{"name": "is", "facts": 2, "one_valued": True}],
    }


def test_stats_count_what_ended_this_second_and_not_what_was_taken_back(
    keyword_palace: Palace,
) -> None:
    """A fact that was planned and taken back neither holds, nor ended, nor is to come."""
    kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2026-01-01")
    kg(keyword_palace, "invalidate", "Ann", "is", "here")
    kg(keyword_palace, "add", "Ann", "is", "away", "--from", "2027-01-01")
    kg(keyword_palace, "invalidate", "Ann", "is", "away")
    assert "2 facts: 0 hold, 1 ended, 0 to come, 1 taken back" in kg(keyword_palace, "stats").out
    told = json.loads(kg(keyword_palace, "stats", "--format", "json").out)
    assert [told[key] for key in ("facts", "holding", "ended", "to_come")] == [2, 0, 1, 0]


def test_what_was_taken_back_is_called_so(keyword_palace: Palace) -> None:
    """A fact that was ended before it began did not end: every fact is in one of the counts."""
    kg(keyword_palace, "add", "Ann", "is", "here", "--from", "2026-01-01")
    kg(keyword_palace, "add", "Ann", "is", "there", "--from", "2027-01-01")
    ran = kg(keyword_palace, "invalidate", "Ann", "is", "there")
    assert ran.out.startswith("took back ")
    assert ran.out.endswith(
        "[2027-01-01 .. 2027-01-01)  by pi@laptop 2026-11-29, taken back by pi@laptop\n"
    )
    stats = kg(keyword_palace, "stats").out
    assert stats.startswith("2 facts: 1 holds, 0 ended, 0 to come, 1 taken back\n")


def test_help_has_whole_lines(keyword_palace: Palace) -> None:
    """What each command does is said in the width of a terminal."""
    commands = kg(keyword_palace, "--help").out.partition("Commands:")[2]
    assert "..." not in commands
    assert "invalidate  End a fact" in commands


def test_a_name_is_no_id(keyword_palace: Palace) -> None:
    """One name to invalidate is looked for among the ids, which is said."""
    kg(keyword_palace, "add", "Ann", "is", "here")
    ran = kg(keyword_palace, "invalidate", "Ann")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: nothing to end: no fact has the id Ann; `palace kg query`")


def test_control_characters_are_shown_as_escapes(keyword_palace: Palace) -> None:
    """What a name holds cannot move the cursor."""
    kg(keyword_palace, "add", "Ann\x1b[2J", "is", "here")
    assert "\x1b" not in kg(keyword_palace, "query", "Ann\x1b[2J").out
