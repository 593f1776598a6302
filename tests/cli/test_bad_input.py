"""Bad input that a transcript cannot hold: very long, not text, not readable."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from support.palaces import SCRIPTS, Palace


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


def test_a_question_of_100_000_characters_is_answered(keyword_palace: Palace) -> None:
    """The longest question finds its words; one character more is refused with the limit."""
    keyword_palace.notes(topics__a="The amber ledge.")
    longest = ("amber " + "x" * 50 + " ") * 1754
    longest += "y" * (100_000 - len(longest))
    assert keyword_palace.command("query", longest).code == 0
    ran = keyword_palace.command("query", longest + "y")
    assert (ran.code, ran.out) == (2, "")
    assert "100,001 characters" in ran.err
    assert "shorten it" in ran.err


@pytest.mark.parametrize(
    "question", ["amber\0ledge", "amber \ud800", "\u202eamber", "amber\x1b[31m"]
)
def test_odd_characters_in_a_question_are_no_fault(keyword_palace: Palace, question: str) -> None:
    """NUL bytes, lone surrogates and control characters are passed over."""
    keyword_palace.notes(topics__a="The amber ledge.")
    ran = keyword_palace.command("query", "--format", "files", question)
    assert ran.code == 0
    assert "topics/a.md" in ran.out


@pytest.mark.parametrize("flag", ["--type", "--room", "--tag"])
def test_a_filter_that_is_not_utf8_is_named(keyword_palace: Palace, flag: str) -> None:
    """A stray byte in a filter's value is bad input."""
    keyword_palace.notes(topics__a="The amber ledge.")
    ran = keyword_palace.command("query", flag, "\udcff")
    assert ran.code == 2
    assert "not UTF-8" in ran.err


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["kg", "add", "Ann", "works_at", "Acme"], "--reason"),
        (["map"], "--reason"),
        (["remember", "The lamp is lit", "--category", "lesson"], "--reason"),
        (["remember", "The lamp is lit", "--category", "lesson"], "--source"),
    ],
)
def test_no_log_gets_what_is_not_utf8(keyword_palace: Palace, words: list[str], flag: str) -> None:
    """A stray byte in a reason or a source is bad input; nothing is written."""
    keyword_palace.notes(topics__a="The amber ledge.")
    before = sorted(keyword_palace.root.glob("palace/**/*"))
    ran = keyword_palace.command(*words, flag, "a \udcff")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: the {flag[2:]} is not UTF-8: write it as UTF-8\n"
    assert not list(keyword_palace.root.glob("manifests/*events.jsonl"))
    assert not (keyword_palace.root / "manifests/facts.jsonl").exists()
    assert sorted(keyword_palace.root.glob("palace/**/*")) == before


def test_control_characters_reach_no_terminal(keyword_palace: Palace) -> None:
    """What a note or a filter holds is shown escaped."""
    keyword_palace.notes(
        topics__a='---\ntype: "\\e[31mred"\ntitle: "\\e]0;x\\a"\n---\n# \x1b[2J\n\namber'
    )
    for asked in (["amber"], ["--type", "a\x1bb"], ["--format", "files", "amber"]):
        ran = keyword_palace.command("query", *asked)
        assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["query", "--since", "c" * 100_000, "amber"], "2026-11-29T20:15:03Z"),
        (["read", "c" * 100_000], "`palace query` finds notes by words"),
        (["kg", "timeline", "c" * 100_000], "`palace kg entities` lists the names"),
        (["topics", "c" * 100_000], "--help`"),
    ],
)
def test_a_very_long_argument_does_not_fill_the_terminal(
    keyword_palace: Palace, words: list[str], hint: str
) -> None:
    """The line that names it is cut in the middle, and still ends with what to do."""
    keyword_palace.notes(topics__a="The amber ledge.")
    ran = keyword_palace.command(*words)
    assert ran.code in (1, 2)
    (line,) = ran.err.splitlines()
    assert len(line) < 4_100
    assert "characters …]ccc" in line
    assert line.endswith(hint)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["mine"], "DIR"),
        (["mine-sessions"], "PATH"),
        (["mine-sessions", "."], "PATH"),
        (["import", "claude-memory", "--yes"], "PATH"),
        (["ledger", "import"], "TRANSCRIPT"),
    ],
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_not_the_current_folder(
    keyword_palace: Palace,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    name: str,
    empty: str,
) -> None:
    """What a variable that is not set gives is refused; nothing is read or written."""
    here = keyword_palace.write("here/CLAUDE.md", "User: hello\n\nAssistant: hello\n").parent
    monkeypatch.chdir(here)
    ran = keyword_palace.command(*words, empty)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {name} is empty: name ")
    assert not (keyword_palace.root / "palace/project_rooms").exists()


def test_batch_goes_on_after_a_bad_question(keyword_palace: Palace) -> None:
    """Each question has its line; bad ones are named with theirs."""
    keyword_palace.notes(topics__a="The amber ledge.")
    ran = keyword_palace.command(
        "query", "--batch", "-", stdin="\ufeffamber\r\n" + "y" * 100_001 + "\n\nledge"
    )
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert len(lines) == 4
    assert lines[0].startswith('{"query": "amber", "hits": [{')
    assert "-:2: the question has 100,001 characters" in ran.err
    assert "-:3: nothing is asked" in ran.err


def test_blank_words_do_not_stand_in_the_way_of_a_batch(keyword_palace: Palace) -> None:
    """`make query ARGS="--batch f"` gives an empty question along."""
    keyword_palace.notes(topics__a="The amber ledge.")
    assert keyword_palace.command("query", "--batch", "-", "", stdin="amber").code == 0


def test_a_note_that_may_not_be_read_is_named_and_kept(keyword_palace: Palace) -> None:
    """Without the right to read a note, what was known of it stands, and is not served."""
    keyword_palace.notes(topics__a="The amber ledge.", topics__b="The birch ledge.")
    assert keyword_palace.command("index").code == 0
    locked = keyword_palace.write("palace/topics/a.md", "The amber ledge, secret.")
    locked.chmod(0)
    ran = unprivileged(keyword_palace, "index")
    assert ran.returncode == 1, ran.stderr
    assert "palace/topics/a.md: error: cannot be read (Permission denied)" in ran.stderr
    assert "2 notes" in ran.stdout
    ran = unprivileged(keyword_palace, "query", "--format", "files", "ledge")
    assert ran.returncode == 0, ran.stderr
    assert "topics/b.md" in ran.stdout
    assert "topics/a.md" not in ran.stdout
    locked.chmod(0o644)
    assert keyword_palace.command("index").code == 0
    assert keyword_palace.command("query", "secret").code == 0


def test_a_folder_that_may_not_be_listed_is_not_deleted(keyword_palace: Palace) -> None:
    """Notes that cannot be seen stay in index and manifest."""
    keyword_palace.notes(topics__a="The amber ledge.", rooms__b="The birch ledge.")
    assert keyword_palace.command("index").code == 0
    folder = keyword_palace.root / "palace/topics"
    folder.chmod(0)
    try:
        ran = unprivileged(keyword_palace, "index")
    finally:
        folder.chmod(0o755)
    assert ran.returncode == 1
    assert "palace/topics: error: cannot be listed (Permission denied)" in ran.stderr
    assert "0 removed" in ran.stdout
    assert keyword_palace.command("index", "--check").code == 0


@pytest.fixture
def west(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is behind UTC."""
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_until_the_last_day_there_is(keyword_palace: Palace) -> None:
    """`--until 9999-12-31` is a way to say no end."""
    keyword_palace.notes(topics__a="amber")
    assert keyword_palace.command("query", "--until", "9999-12-31").code == 0


def test_a_date_of_the_first_year(keyword_palace: Palace, west: None) -> None:
    """A note of year 1 is shown wherever one is."""
    keyword_palace.notes(topics__a="---\ncreated: 0001-01-01T00:00:01\n---\namber")
    assert keyword_palace.command("query", "amber").code == 0


def test_a_pattern_that_is_none(keyword_palace: Palace) -> None:
    """A pattern that cannot be read is bad input, with its line."""
    keyword_palace.write("palace.yaml", 'index: {exclude: ["\\\\"]}\n')
    ran = keyword_palace.command("index")
    assert ran.code == 2
    assert ran.err.startswith("error: palace.yaml:1: ")


def unprivileged(palace: Palace, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command run by someone whom file permissions bind, as they do not bind root."""
    prefix: list[str] = []
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root reads everything, and there is no setpriv to be less than root")
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    return subprocess.run(
        [*prefix, sys.executable, str(SCRIPTS / "palace.py"), *arguments],
        env=os.environ | {"PALACE_ROOT": str(palace.root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
