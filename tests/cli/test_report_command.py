"""``palace report`` and ``palace consolidate``, as they are called."""

import json

import pytest

from memory_palace.cli import report
from support.palaces import NOW, Palace

KEYS = [
    *("class", "words", "order", "boosted", "vector_hits", "used", "budget", "percent"),
    *("system_tokens", "more", "sections", "text"),
]
ENTRY = [
    *("id", "category", "text", "path", "line", "strength", "lifecycle", "pinned", "enforced"),
]


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock, keywords only."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """Two lessons."""
    head = "---\nupdated: 2026-11-20\n---\n"
    lines = "- [lesson] Run the migrations first\n- [lesson] Mind catalog.py\n"
    keyword_palace.write("palace/topics/lessons.md", head + lines)
    return keyword_palace


def test_as_json(filled: Palace) -> None:
    """Exactly these keys, in this order."""
    ran = filled.command("report", "--format", "json")
    said = json.loads(ran.out)
    assert list(said) == KEYS
    assert list(said["sections"][0]) == ["name", "budget", "used", "entries", "cut"]
    assert list(said["sections"][0]["entries"][0]) == ENTRY


def test_files_after_one_flag(filled: Palace) -> None:
    """Or after several; ten at most are looked at, and that is said."""
    for words in (("--files", "a.py", "catalog.py"), ("--files", "a.py", "--files", "catalog.py")):
        assert "## Near to the files\n- [lesson] Mind catalog.py" in filled.command(
            "report", *words
        ).out  # fmt: skip
    many = [f"f{n}.py" for n in range(12)]
    assert "2 files are left out: a report looks at 10" in filled.command(
        "report", "--files", *many
    ).err  # fmt: skip
    ran = filled.command("report", "catalog.py")
    assert ran.code == 2 and "`catalog.py` stands alone" in ran.err


def test_a_very_long_prompt(filled: Palace) -> None:
    """Is cut and answered."""
    prompt = "how do I run the migrations? " + "x " * report.MOST_PROMPT
    assert "## Near to the prompt" in filled.command("report", "--prompt", prompt).out


def test_without_memories(keyword_palace: Palace) -> None:
    """Exit 1 and what to run; as JSON the empty report all the same."""
    ran = keyword_palace.command("report")
    assert (ran.code, ran.out) == (1, "") and "nothing to report: `palace remember" in ran.err
    assert json.loads(keyword_palace.command("report", "--format", "json").out)["text"] == ""
    ran = keyword_palace.command("consolidate")
    assert (ran.code, ran.out) == (0, "the report is at 0 % of 1,700 tokens: nothing to do\n")


def test_problems_are_named(filled: Palace) -> None:
    """With path and line; the report is there, the exit code is 1."""
    filled.write("palace/topics/more.md", "- [leson] typo\n")
    for name in ("report", "consolidate"):
        ran = filled.command(name)
        assert ran.code == 1 and ran.out
        assert "palace/topics/more.md:1: error: unknown category `leson`" in ran.err


def test_by_meaning(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real embedded model, where it is installed."""
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    ran = filled.command("report", "--prompt", "migrations have to be run first, right?")
    assert "## Near to the prompt\n- [lesson] Run the migrations first" in ran.out
    ran = filled.command("report", "--prompt", "what is the price of tea in Lisbon?")
    assert "## Near to the prompt" not in ran.out


def test_a_model_that_is_missing(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves words to compare by, and that is said."""
    monkeypatch.setenv("PALACE_EMBEDDER", "bge-m3")
    ran = filled.command("report", "--prompt", "how do I run the migrations?")
    assert "only words are compared: " in ran.err
    assert "## Near to the prompt" in ran.out
    assert "only words are compared: " in filled.command("consolidate").err
