"""Diaries in their chambers, on real files, by several writers."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.writing import SECRET
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.files import journal, starter
from memory_palace.memory import diary, pen
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 14, 3, 10, tzinfo=UTC)
FILE = "palace/chambers/claude-code/diary/2026-11-29.md"


@pytest.fixture(autouse=True)
def writer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A known writer."""
    monkeypatch.setenv("PALACE_IDENTITY", "claude-code@laptop")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))


def texts(found: diary.Found) -> list[str]:
    """The entries that were read."""
    return [page.entry.text for page in found.pages]


def test_an_entry_is_written_logged_and_found(palace: Palace) -> None:
    """In the writer's own chamber; its event has the new digest; it is a hit of its type."""
    done = diary.write(palace.root, NOW, "The parser reads tabs", topic="parser")
    assert (done.path, done.agent, done.new) == (FILE, "claude-code", True)
    (event,) = journal.load(palace.root).events
    assert (event.event, event.id, event.data["path"]) == ("noted", FILE, FILE)
    assert "base" not in event.data
    diary.write(palace.root, NOW + timedelta(hours=1), "More")
    assert journal.load(palace.root).events[1].data["base"] == event.data["digest"]
    palace.index()
    assert palace.paths("tabs", types=("diary",)) == ["chambers/claude-code/diary/2026-11-29"]


@pytest.mark.parametrize(
    "name", ["Claude Code", "claude_code", "claude-code", "claude-code@desktop", "CLAUDE-CODE"]
)
def test_one_agent_whatever_its_spelling(palace: Palace, name: str) -> None:
    """Written under one spelling and read under another."""
    diary.write(palace.root, NOW, "said", "Claude_Code")
    done = diary.write(palace.root, NOW + timedelta(hours=1), "more", name)
    assert done.path == FILE
    assert texts(diary.find(palace.root, name)) == ["said", "more"]
    assert diary.agents(palace.root) == ("claude-code",)


def test_two_chambers_of_one_agent_are_read_together(palace: Palace) -> None:
    """Folders that people or other machines named otherwise."""
    palace.write("palace/chambers/Claude_Code/diary/2026-11-28.md", "## 10:00\n\nold\n")
    palace.write(FILE, "## 09:00\n\nnew\n")
    assert texts(diary.find(palace.root, "claude code")) == ["old", "new"]


def test_an_agent_without_a_diary_is_told_the_nearest(palace: Palace) -> None:
    """And how to begin one where nobody has any."""
    with pytest.raises(Refused, match='pi has no diary: `palace diary write "…"` begins one'):
        diary.find(palace.root, "pi")
    diary.write(palace.root, NOW, "said")
    with pytest.raises(Refused, match="claud has no diary: did you mean `claude-code`"):
        diary.find(palace.root, "claud")
    with pytest.raises(BadInput, match="write a name"):
        diary.find(palace.root, "@laptop")


def test_a_range_and_the_last(palace: Palace) -> None:
    """Both ends belong to it; what is left out is counted."""
    for hours in range(0, 60, 12):
        diary.write(palace.root, NOW + timedelta(hours=hours), f"after {hours}")
    found = diary.find(palace.root, "claude-code", last=2)
    assert (texts(found), found.more) == (["after 36", "after 48"], 3)
    day = datetime(2026, 11, 30, tzinfo=UTC)
    found = diary.find(palace.root, "claude-code", day, day + timedelta(days=1, microseconds=-1))
    assert texts(found) == ["after 12", "after 24"]
    found = diary.find(palace.root, "claude-code", NOW, NOW)
    assert texts(found) == ["after 0"]


def test_secrets_and_private_spans_stay_out(palace: Palace) -> None:
    """Of text and topic; what was taken out is said, and never its value."""
    done = diary.write(
        palace.root, NOW, f"Used {SECRET} and <private>her name</private>", topic=f"on {SECRET}"
    )
    text = (palace.root / FILE).read_text()
    assert "Used [SECRET: GitHub token] and [PRIVATE]" in text
    assert SECRET not in text and "her name" not in text
    assert done.said == ("taken out: a private span", "taken out: GitHub token")
    with pytest.raises(BadInput, match="all of the text is private"):
        diary.write(palace.root, NOW, "<private>all of it")


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "a\ud800b", "x" * 100_001])
def test_what_is_no_text_is_refused(palace: Palace, text: str) -> None:
    """Nothing is written."""
    with pytest.raises(BadInput):
        diary.write(palace.root, NOW, text)
    assert not (palace.root / "palace/chambers").exists()


def test_the_same_again_is_one_entry_also_at_midnight(palace: Palace) -> None:
    """A hook that fires twice, a client that repeats its call."""
    late = datetime(2026, 11, 29, 23, 59, 50, tzinfo=UTC)
    assert diary.write(palace.root, late, "# Done\n").new
    assert not diary.write(palace.root, late + timedelta(seconds=5), "# Done").new
    assert not diary.write(palace.root, late + timedelta(seconds=20), "# Done").new
    assert len(diary.find(palace.root, "claude-code").pages) == 1
    assert diary.write(palace.root, late + timedelta(minutes=9), "# Done").new


def test_a_hand_edited_day_keeps_everything(palace: Palace) -> None:
    """Metadata with a comment, a preamble, CRLF; a file without metadata gets it."""
    mine = "---\r\ntype: diary  # mine\r\nmood: good\r\n---\r\nHi.\r\n\r\n## 10:00\r\n\r\nten\r\n"
    palace.write(FILE, mine)
    diary.write(palace.root, NOW, "said")
    assert (palace.root / FILE).read_bytes().decode() == (
        f"{mine}\r\n## 14:03 (claude-code@laptop)\r\n\r\nsaid\r\n"
    )
    palace.write(FILE, "Hello.\n")
    diary.write(palace.root, NOW, "said")
    text = (palace.root / FILE).read_text()
    assert text.startswith("---\ntitle: Diary of claude-code, 2026-11-29\ntype: diary\n")
    assert text.endswith("---\n\nHello.\n\n## 14:03 (claude-code@laptop)\n\nsaid\n")


def test_a_file_that_changes_underneath_is_not_written(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who saves between reading and writing."""
    diary.write(palace.root, NOW, "said")
    plain = pen.Pen.put

    def put(held: pen.Pen, path: str, text: str) -> None:
        (palace.root / path).write_text("mine\n")
        plain(held, path, text)

    monkeypatch.setattr(pen.Pen, "put", put)
    with pytest.raises(Changed, match="changed underneath"):
        diary.write(palace.root, NOW, "more")
    assert (palace.root / FILE).read_text() == "mine\n"


def test_a_link_is_not_followed(palace: Palace, tmp_path: Path) -> None:
    """Neither a day's file nor the folder may lead out of the palace."""
    (tmp_path / "out.md").write_text("outside\n")
    (palace.root / FILE).parent.mkdir(parents=True)
    (palace.root / FILE).symlink_to(tmp_path / "out.md")
    with pytest.raises(BadInput):
        diary.write(palace.root, NOW, "said")
    assert (tmp_path / "out.md").read_text() == "outside\n"
    found = diary.find(palace.root, "claude-code")
    assert (found.pages, len(found.problems)) == ((), 1)


def test_an_unreadable_day_hides_no_other(palace: Palace) -> None:
    """It is named; the rest is read."""
    palace.write("palace/chambers/claude-code/diary/2026-11-28.md", b"## 10:00\n\n\xff\n")
    diary.write(palace.root, NOW, "said")
    found = diary.find(palace.root, "claude-code")
    assert texts(found) == ["said"]
    assert [problem.path for problem in found.problems] == [
        "palace/chambers/claude-code/diary/2026-11-28.md"
    ]


def git(root: Path, *words: str) -> str:
    """Run git as somebody."""
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def test_two_machines_write_to_one_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both made the file, both went on: git joins them without a conflict, and all is by time."""
    one, two = tmp_path / "one", tmp_path / "two"
    starter.make(one)
    git(one, "add", "-A")
    git(one, "commit", "-qm", "start")
    git(tmp_path, "clone", "-q", str(one), str(two))

    def write(root: Path, hour: int, text: str) -> None:
        monkeypatch.setenv("PALACE_IDENTITY", f"pi@{root.name}")
        diary.write(root, NOW.replace(hour=hour), text)
        git(root, "add", "-A")
        git(root, "commit", "-qm", text)

    for round_ in range(2):
        write(one, 10 + 4 * round_, f"one, {round_}\n\n- a\n- b")
        write(two, 11 + 4 * round_, f"two, {round_}\n\nThe same.")
        write(one, 12 + 4 * round_, f"one again, {round_}\n\nThe same.")
        write(two, 12 + 4 * round_, f"two again, {round_}")
        git(two, "pull", "-q", "--no-rebase", "--no-edit", str(one), "HEAD")
        git(one, "pull", "-q", "--no-rebase", "--no-edit", str(two), "HEAD")
    found = diary.find(two, "pi")
    assert found.pages == diary.find(one, "pi").pages
    heads = [text.split("\n")[0] for text in texts(found)]
    assert sorted(heads) == sorted(
        f"{who}, {n}" for n in range(2) for who in ("one", "two", "one again", "two again")
    )
    times = [page.entry.at for page in found.pages]
    assert times == sorted(times)
    assert [page.entry.text.count("The same.") for page in found.pages].count(1) == 4


def test_a_day_that_would_swallow_the_entry_is_refused(palace: Palace) -> None:
    """With its path; the file stays as it is."""
    text = "## 09:00\n\n`````\n"
    palace.write(FILE, text)
    with pytest.raises(Refused, match=f"{FILE}: .*swallow the entry: close there what is open"):
        diary.write(palace.root, NOW, "said")
    assert (palace.root / FILE).read_text() == text


@pytest.mark.parametrize("more", ["word " * 199_990, "word\n" * 99_990])
def test_a_full_day_is_refused_as_such(palace: Palace, more: str) -> None:
    """Longer than what is read as Markdown; the file stays as it is."""
    text = f"## 09:00\n\n{more}\n"
    palace.write(FILE, text)
    with pytest.raises(Refused, match=f"{FILE} is full: make it a note"):
        diary.write(palace.root, NOW, "said")
    assert (palace.root / FILE).read_text() == text
