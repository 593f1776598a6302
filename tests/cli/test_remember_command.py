"""``palace remember`` and the commands on one memory: what they print, and their exit codes."""

import os
from pathlib import Path

import pytest

from memory_palace.core.topics import entry_id
from support.palaces import NOW, Palace, script

LESSONS = "palace/topics/lessons.md"
KEY = entry_id("lesson", "Run the tests")


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock, no model."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


def test_one_line_says_what_was_done(keyword_palace: Palace) -> None:
    """On stdout, and nothing else anywhere."""
    said = ("remember", "Run the tests", "--category", "lesson")
    assert keyword_palace.command(*said) == type(keyword_palace.command("--version"))(
        0,
        f"remembered ^{KEY} in {LESSONS}:7 (the first of its category): "
        "evidence 1, strength 0.69, provisional\n",
        "",
    )
    assert "reinforced" in keyword_palace.command(*said).out
    for words, out in (
        (("pin", KEY), "pinned"),
        (("unpin", f"^{KEY}"), "unpinned"),
        (("reinforce", KEY, "--cue", "structural", "--source", "[[x]]"), "reinforced"),
        (("edit", KEY, "Run all tests"), "edited"),
        (("forget", KEY, "--reason", "no longer"), "forgotten"),
        (("forget", KEY), "forgotten already"),
    ):
        ran = keyword_palace.command(*words)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"{out} ^{KEY} in {LESSONS}:7")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("remember", "x"), 2, "--category"),
        (("remember", "x", "--category", "lessons"), 2, "'lesson'"),
        (("remember", "x", "--category", "lesson", "--cue", "odd"), 2, "'explicit'"),
        (("remember", "", "--category", "lesson"), 2, "there is no text"),
        (("remember", "<private>x", "--category", "lesson"), 2, "all of it is private"),
        (("remember", "x ^abc", "--category", "lesson"), 2, "like a mark"),
        (("remember", "--category", "lesson"), 2, "TEXT"),
        (("remember", "x", "y", "--category", "lesson"), 2, "y"),
        (("remember", "x", "--category", "lesson", "--pinned"), 2, "did you mean `--pin`"),
        (("pin", "nonsense"), 1, "no memory has the id nonsense"),
        (("reinforce",), 2, "ID"),
        (("edit", KEY), 2, "TEXT"),
        (("forget", ""), 1, "no memory has the id"),
    ],
)
def test_bad_input(keyword_palace: Palace, words: tuple[str, ...], code: int, said: str) -> None:
    """One line that says what to do; nothing is written."""
    ran = keyword_palace.command(*words)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err and ran.err.count("\n") == 1
    assert not (keyword_palace.root / "palace/topics").exists()
    assert not (keyword_palace.root / "manifests").exists()


def test_an_argument_that_is_not_utf8(keyword_palace: Palace) -> None:
    """From a real command line: exit 2, one line."""
    env = {"PALACE_NOW": NOW.isoformat(), "PALACE_EMBEDDER": "none"}
    text = os.fsdecode(b"caf\xe9")
    ran = script(
        "palace.py", "remember", text, "--category", "lesson", root=keyword_palace.root, **env
    )
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert not (keyword_palace.root / "palace/topics").exists()


def test_a_bad_identity_stops_before_anything_is_written(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2."""
    monkeypatch.setenv("PALACE_IDENTITY", "a b")
    ran = keyword_palace.command("remember", "x", "--category", "lesson")
    assert (ran.code, ran.out) == (2, "")
    assert "write <harness>@<device>" in ran.err
    assert not (keyword_palace.root / "palace/topics").exists()


def test_a_model_that_is_missing_stops_no_memory(
    keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal texts are found all the same, and that is said."""
    monkeypatch.setenv("PALACE_EMBEDDER", "bge-m3")
    monkeypatch.setenv("PALACE_BGE_M3_DIR", str(tmp_path / "nowhere"))
    for word in ("remembered", "reinforced"):
        ran = keyword_palace.command("remember", "x", "--category", "lesson")
        assert ran.code == 0
        assert ran.out.startswith(word)
        assert "only equal texts are found: " in ran.err


def test_a_full_topic(keyword_palace: Palace) -> None:
    """Exit 1, with what to archive first."""
    keyword_palace.write(LESSONS, "- [lesson] weak\n" + "x" * 12_000)
    ran = keyword_palace.command("remember", "y", "--category", "lesson")
    assert (ran.code, ran.out) == (1, "")
    assert "of 12,000: run `" in ran.err and entry_id("lesson", "weak") in ran.err


def test_a_line_that_could_mislead_a_terminal(keyword_palace: Palace) -> None:
    """Control characters of a text or a path are shown as escapes."""
    ran = keyword_palace.command("remember", "a\x1b[31mb", "--category", "lesson")
    assert "\x1b" not in ran.out + ran.err
    ran = keyword_palace.command("topics")
    assert "a\\x1b[31mb" in ran.out and "\x1b" not in ran.out
