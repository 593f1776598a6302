"""Facts that a text may state: what the rules find, and what they must leave alone."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import extract
from memory_palace.core.extract import Proposed

NOTE = "palace/project_rooms/demo/design.md"


def said(text: str, path: str = NOTE) -> list[tuple[str, str, str]]:
    """The triples, by line."""
    return [(one.subject, one.predicate, one.object) for one in extract.extract(path, text)]


@pytest.mark.parametrize(
    ("sentence", "triples"),
    [
        ("Palace uses FAISS.", [("Palace", "uses", "FAISS")]),
        ("The `api` is owned by Team Blue.", [("api", "owned_by", "Team Blue")]),
        ("Ada lives in Zürich.", [("Ada", "lives_in", "Zürich")]),
        ("Billing depends on Postgres 16.", [("Billing", "depends_on", "Postgres 16")]),
        ("Envoy replaced Nginx.", [("Envoy", "replaced", "Nginx")]),
        ("Nginx was replaced by Envoy.", [("Envoy", "replaced", "Nginx")]),
        ("[[notes/Gateway]] uses **Redis**.", [("Gateway", "uses", "Redis")]),
        ("We use FAISS.", [("demo", "uses", "FAISS")]),
        (
            "Demo uses FAISS, SQLite and BGE-M3 for search.",
            [("Demo", "uses", "FAISS"), ("Demo", "uses", "SQLite"), ("Demo", "uses", "BGE-M3")],
        ),
        (
            "We switched from Milvus to FAISS.",
            [("demo", "uses", "FAISS"), ("FAISS", "replaced", "Milvus")],
        ),
    ],
)
def test_plain_sentences(sentence: str, triples: list[tuple[str, str, str]]) -> None:
    """Each relation as people say it; marks are no part of a name; `we` is the project."""
    assert said(sentence) == triples


def test_a_date_says_since_when() -> None:
    """The only day that a sentence names; with two nobody knows which."""
    text = "Demo moved to GitHub on 2026-10-01.\n\nSince 3 November 2026, Demo uses FAISS."
    assert [one.since for one in extract.extract(NOTE, text)] == ["2026-10-01", "2026-11-03"]
    two = "Demo uses Redis from 2026-01-01 to 2026-02-01."
    assert [one.since for one in extract.extract(NOTE, two)] == [""]


@pytest.mark.parametrize(
    "text",
    [
        "Does Demo use FAISS?",
        "Demo uses FAISS?",
        "Demo does not use FAISS.",
        "Demo doesn't use FAISS.",
        "Demo never uses FAISS.",
        "Demo no longer uses FAISS.",
        "If Demo uses FAISS, it is fast.",
        "Demo should use FAISS. Maybe Demo uses FAISS.",
        '"Demo uses FAISS" was what he wrote.',
        "He said that Demo uses FAISS.",
        "> Demo uses FAISS.\nand so it goes on: Demo uses FAISS.",
        "> He wrote\nDemo uses FAISS.\n> so",
        "```\nDemo uses FAISS.\n```",
        "- a list\n  ```yaml\n  owner: Ada\n  ```",
        "~~~\nDemo uses FAISS.\n```\nDemo uses FAISS.",
        "    Demo uses FAISS.",
        "`Demo uses FAISS`",
        "<!-- Demo uses FAISS. -->",
        "%% Demo uses FAISS. %%",
        "<private>Demo uses FAISS.</private>",
        "It uses FAISS. This uses FAISS. Everyone uses FAISS.",
        "Demo uses it.",
        "Demo uses `make index`. People use FAISS.",
        "Password: hunter2 hunter2",
        "See: the docs",
        "https://example.org/x: y",
        "The thing in the corner of the room that we saw uses FAISS.",
    ],
)
def test_what_states_nothing(text: str) -> None:
    """Questions, negations, doubts, quotes, code, comments, private spans, pronouns."""
    assert said(text) == []


def test_a_sentence_may_go_over_lines() -> None:
    """Its line is the one it begins on; an item of a list ends with the next."""
    text = "A first line. Demo\nuses\nFAISS. Ada lives in Rome.\n\n- one\n- Bob uses\n  Vim\n"
    found = extract.extract(NOTE, text)
    assert [(one.line, one.object) for one in found] == [(1, "FAISS"), (3, "Rome"), (6, "Vim")]


def test_metadata_is_about_the_note() -> None:
    """Known keys only; lists, links and numbers; under their lines."""
    text = (
        '---\ntitle: Gateway\nowner: Ada\nuses: [Envoy, "[[x/redis|Redis]]"]\nmood: good\n'
        "version: 2.10\nstatus: true\n---\n"
    )
    assert [tuple(one)[:4] for one in extract.extract(NOTE, text)] == [
        (3, "Gateway", "owner", "Ada"),
        (4, "Gateway", "uses", "Envoy"),
        (4, "Gateway", "uses", "Redis"),
        (6, "Gateway", "version", "2.10"),
    ]


def test_tables_with_a_header() -> None:
    """The first column is the subject; a column that names a relation weighs more."""
    text = (
        "| service | owner | colour |\n|---|:-:|---|\n| api | Ada \\| Bob | blue |\n| web | | |\n"
    )
    found = extract.extract("", text)
    assert [(one.line, *one[1:5]) for one in found] == [
        (3, "api", "owner", "Ada | Bob", extract.KNOWN_KEY),
        (3, "api", "colour", "blue", extract.OTHER_KEY),
    ]
    (plain,) = extract.extract("", "| a | b |\n| - | - |\n| x | y |\n")
    assert plain.confidence == extract.OTHER_TABLE < extract.LEAST
    assert extract.extract("", "api | owner\nweb | Ada\n") == ()


def test_lines_of_key_and_value_are_about_their_heading() -> None:
    """Any key where there are several, one that names a relation alone too."""
    text = "# Notes\n\n## Gateway\n\n- **Owner:** Ada\n- Colour: blue\n\n## Api\n\nMood: good\n\n"
    assert said(text + "Owned by: Bob\n") == [
        ("Gateway", "owner", "Ada"),
        ("Gateway", "colour", "blue"),
        ("Api", "owned_by", "Bob"),
    ]


def test_each_fact_once_and_secrets_never() -> None:
    """The surest place of a fact is told; a key of a service is no value."""
    text = "---\ntitle: Demo\nuses: FAISS\n---\nDemo uses FAISS. demo uses faiss.\n"
    assert [(one.line, one.rule) for one in extract.extract(NOTE, text)] == [(3, "metadata")]
    text = "# Api\n\nApi uses Redis.\n\n- Uses: Redis\n"
    assert [(one.line, one.rule) for one in extract.extract("", text)] == [(5, "pair")]
    assert said("# Api\n\n- Owner: Ada\n- Version: ghp_" + "a1B2" * 9 + "\n") == [
        ("Api", "owner", "Ada")
    ]


def test_the_command_says_it_again() -> None:
    """As a shell reads it, names that begin with a dash too."""
    one = Proposed(3, "it's", "uses", "-x", 0.5, "sentence", "2026-11-01")
    words = shlex.split(extract.command(one, "a b.md"))
    assert words[3:] == [
        *("--from", "2026-11-01", "--confidence", "0.5", "--source", "a b.md:3"),
        *("--", "it's", "uses", "-x"),
    ]
    assert "--source" not in extract.command(one, "")


def test_long_and_odd_lines_take_no_time() -> None:
    """No pattern goes back and forth over them."""
    for text in ("# " + " #" * 50_000, "| " + " " * 100_000 + "x\n|-" + " " * 100_000 + "x"):
        assert extract.extract("", text) == ()
    assert extract.extract("", "Api uses " * 50_000) == ()
    assert len(extract.extract("", "# T\n" + "\n".join(f"- k{n}: v" for n in range(5000)))) == (
        extract.MOST
    )


@given(st.text(alphabet=" \n#|-:>`*_.?!\"'[]()<>%abUsesXY0\r\t\u00e9\u6771", max_size=200))
def test_any_text_is_read(text: str) -> None:
    """Lines are of the text, names are names, confidences are shares."""
    for one in extract.extract(NOTE, text):
        assert 1 <= one.line <= text.count("\n") + 1
        assert 0 < one.confidence <= 1
        assert all(name.strip() for name in one[1:4])
