"""What session notes say of themselves, and what stays true of them as they grow and are moved."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core import note, session_notes
from memory_palace.files import conversations
from memory_palace.memory import mine_sessions
from memory_palace.memory.mine_sessions import Mined, Ran
from memory_palace.memory.session_writing import COUNTS
from session import spoken as samples
from session.spoken import SAMPLES, SECRET, TALK, Spoken, Step, write
from support.deep import deep_folders
from support.palaces import NOW, Palace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    return Palace(tmp_path / "root").root


def mine(root: Path, *paths: Path, **more: Any) -> Ran:
    """One run, without a fault."""
    ran = mine_sessions.run(root, NOW, paths, **more)
    assert not ran.faults, ran.faults
    return ran


def one(root: Path, *paths: Path, **more: Any) -> Mined:
    """What came of the only conversation."""
    (mined,) = mine(root, *paths, **more).mined
    return mined


def told(root: Path, path: str) -> dict[str, Any]:
    """The metadata of a note."""
    return dict(note.parse(path, (root / path).read_text()).metadata)


def counted(root: Path, path: str) -> list[int]:
    """Prompts, answers and tool calls, as its metadata have them."""
    return [told(root, path)[key] for key in COUNTS.values()]


def parts(root: Path) -> list[str]:
    """All parts of the only session, in order."""
    paths = (path.relative_to(root).as_posix() for path in (root / "palace").rglob("sessions/*.md"))
    return sorted(paths, key=lambda path: session_notes.named(path) or ("", 0))


def later(records: list[dict[str, Any]], days: int) -> list[dict[str, Any]]:
    """The records, as if they were written days later."""
    made = []
    for record in records:
        at = samples.START + timedelta(days=days, minutes=5)
        made.append({**record, "timestamp": at.isoformat().replace("+00:00", "Z")})
    return made


def test_what_an_agent_says_is_portable_and_a_persons_words_stay(
    root: Path, tmp_path: Path
) -> None:
    """Paths of the machine are relative in answers and tools; a prompt is kept as it was typed."""
    path = f"{samples.CWD}/lamp.py"
    steps = [Step("user", f"Look at {path}"), Step("tool", f"cat {path}"), Step("answer", path)]
    mined = one(root, Spoken(*steps).write(tmp_path / "a.jsonl"))
    text = (root / mined.paths[0]).read_text()
    assert f"Look at {path}\n" in text
    assert "$ cat lamp.py\n" in text
    assert "\n\nlamp.py\n" in text
    assert text.split("---\n", 2)[2].count(samples.CWD) == 1


def test_paths_are_relative_to_the_repository(root: Path, tmp_path: Path) -> None:
    """Also where the session ran in one of its folders."""
    top = tmp_path / "harbour"
    (top / ".git").mkdir(parents=True)
    (top / "deep").mkdir()
    steps = [Step("user", "Go."), Step("answer", f"See {top}/quay.md and {top}/deep/x.md")]
    records = [{**one, "cwd": str(top / "deep")} for one in Spoken(*steps).records()]
    write(tmp_path / "a.jsonl", records)
    mined = one(root, tmp_path / "a.jsonl")
    assert "See quay.md and deep/x.md\n" in (root / mined.paths[0]).read_text()


def test_counts_grow_with_the_note(root: Path, tmp_path: Path) -> None:
    """Prompts, answers and tool calls of all runs together, whoever edits the note in between."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = one(root, spoken.write(file, last=4)).paths[0]
    assert counted(root, path) == [1, 2, 1]
    one(root, spoken.write(file))
    assert counted(root, path) == [2, 3, 1]


def test_each_part_counts_its_own_turns(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as it has, and no more than a part may have, of turns and of lines."""
    monkeypatch.setattr(session_notes, "PART_TURNS", 4)
    steps = [Step("user" if n % 2 == 0 else "answer", f"word{n}") for n in range(10)]
    spoken, file = Spoken(*steps), tmp_path / "a.jsonl"
    for last in (3, 10):
        mine(root, spoken.write(file, last=last))
    assert [sum(counted(root, path)) for path in parts(root)] == [4, 4, 2]
    assert [told(root, path)["title"] for path in parts(root)] == [
        "word0",
        "word0 (part 2)",
        "word0 (part 3)",
    ]
    monkeypatch.setattr(session_notes, "PART_LINES", 60)
    steps = [Step("user", "line\n" * 40), Step("answer", "line\n" * 40), Step("user", "end")]
    ran = mine(root, Spoken(*steps, session="long").write(tmp_path / "b.jsonl"))
    assert len(ran.mined[0].paths) == 2


def test_parts_are_called_as_the_first_one(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a person renamed that: with the session's id in it, else as parts are called."""
    monkeypatch.setattr(session_notes, "PART_TURNS", 2)
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = root / one(root, spoken.write(file, last=2)).paths[0]
    key = (session_notes.named(path.name) or ("", 0))[0]
    path.rename(path.with_name(f"lamp-{key}.md"))
    one(root, spoken.write(file, last=4))
    assert [Path(path).name for path in parts(root)] == [
        f"lamp-{key}.md",
        f"lamp-{key}-part-2.md",
    ]
    second = root / parts(root)[1]
    second.rename(second.with_name("Second.md"))
    grown = one(root, spoken.write(file))
    assert grown.added == 2
    assert session_notes.named(grown.paths[-1]) == (key, 3)
    assert told(root, grown.paths[-1])["continues"] == "[[Second]]"


def test_a_growing_session_tells_its_last_version_and_days(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note keeps its first day; what was said later has its date, and the version is the
    newest, however far down it stands."""
    monkeypatch.setattr(conversations, "FIRST_RECORDS", 2)
    records, file = list(Spoken(*TALK).records()), tmp_path / "a.jsonl"
    write(file, records[:5])
    path = one(root, file).paths[0]
    write(file, records[:5] + [{**one, "version": "3.0.0"} for one in later(records[5:], 2)])
    assert one(root, file).paths == (path,)
    found = told(root, path)
    assert (found["date"], found["version"]) == ("2026-11-29", "3.0.0")
    assert (found["created"], found["updated"]) == ("2026-11-29T09:00:00Z", "2026-12-01T09:05:00Z")
    assert "## 2026-12-01 09:05 User\n" in (root / path).read_text()


def test_a_rotated_transcript_keeps_the_notes_day(root: Path, tmp_path: Path) -> None:
    """What it begins with is of another day than the note, and has its date."""
    records, file = list(Spoken(*TALK).records()), tmp_path / "a.jsonl"
    write(file, records[:5])
    path = one(root, file).paths[0]
    write(file, later(records[5:], 2))
    assert one(root, file).paths == (path,)
    assert "## 2026-12-01 09:05 User\n" in (root / path).read_text()
    assert told(root, path)["date"] == "2026-11-29"


def test_no_note_is_made_where_the_index_does_not_look(root: Path, tmp_path: Path) -> None:
    """It is told, and nothing is there."""
    (root / "palace.yaml").write_text("index: {exclude: ['**/sessions/**']}\n")
    ran = mine_sessions.run(root, NOW, [Spoken(*TALK).write(tmp_path / "a.jsonl")])
    assert [mined.what for mined in ran.mined] == ["failed"]
    assert len(ran.faults) == 1
    assert not parts(root)


def test_times_out_of_order(root: Path, tmp_path: Path) -> None:
    """`created` is the earliest, `updated` the latest, wherever they stand."""
    records = list(Spoken(*TALK).records())
    write(tmp_path / "a.jsonl", [*later(records[:1], 0), *records[1:]])
    found = told(root, one(root, tmp_path / "a.jsonl").paths[0])
    assert (found["created"], found["updated"]) == ("2026-11-29T09:00:30Z", "2026-11-29T09:05:00Z")


def test_the_last_turn_that_was_taken_out_stays_out(root: Path, tmp_path: Path) -> None:
    """Also where nothing is left of the note but its metadata."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = root / one(root, spoken.write(file, last=4)).paths[0]
    text = path.read_text()
    path.write_text(text[: text.index("## 09:01 Assistant")])
    grown = one(root, spoken.write(file))
    assert (grown.added, grown.passed["taken out of the note by hand"]) == (2, 1)
    assert "It is lit." not in path.read_text()
    path.write_text("---\n".join([*path.read_text().split("---\n")[:2], ""]))
    write(file, [*spoken.records(), *later([{**next(spoken.records()), "uuid": "new"}], 1)])
    grown = one(root, file)
    assert (grown.added, grown.passed["taken out of the note by hand"]) == (1, 6)


def test_a_call_that_was_waited_for_comes_all_the_same(root: Path, tmp_path: Path) -> None:
    """Where a person took another turn out meanwhile: the call is none of those."""
    steps = [Step("user", "Go."), Step("tool", "slow"), Step("tool", "quick"), Step("say", "Hm.")]
    records, file = list(Spoken(*steps).records()), tmp_path / "a.jsonl"
    slow = records.pop(2)
    write(file, records)
    path = root / one(root, file).paths[0]
    text = path.read_text()
    path.write_text(text[: text.index("## 09:00 User")] + text[text.index("*Tool:*") :])
    write(file, [*records, slow])
    grown = one(root, file)
    assert (grown.added, grown.passed["taken out of the note by hand"]) == (1, 1)
    assert "$ slow" in path.read_text()
    assert "\nGo.\n" not in path.read_text()


def test_a_part_that_was_deleted_does_not_come_back(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as a later one stands: its turns were taken out by hand."""
    monkeypatch.setattr(session_notes, "PART_TURNS", 2)
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    one(root, spoken.write(file, last=5))
    (root / parts(root)[1]).unlink()
    grown = one(root, spoken.write(file))
    assert (grown.added, grown.passed["taken out of the note by hand"]) == (1, 2)


def test_a_tools_output_may_show_a_note(root: Path, tmp_path: Path) -> None:
    """Ids that stand in it are no turns of this note: what was taken out is told all the same."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = root / one(root, spoken.write(file, last=4)).paths[0]
    text = path.read_text()
    at, end = text.index("## 09:00 Assistant"), text.index("*Tool:*")
    shown = "".join(f"\n^{n:012x}\n" for n in range(5))
    path.write_text((text[:at] + text[end:]).replace("ok\n```", f"ok{shown}```"))
    grown = one(root, spoken.write(file))
    assert (grown.added, grown.passed["taken out of the note by hand"]) == (2, 1)
    assert "I look first." not in path.read_text()


def test_a_transcript_that_did_not_grow_is_not_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for its first records, which say whose it is."""
    file = Spoken(*TALK).write(tmp_path / "a.jsonl")
    one(root, file)
    monkeypatch.setattr(conversations, "FIRST_RECORDS", 2)
    read = []
    real = conversations.Conversation.records

    def records(self: conversations.Conversation, *given: Any) -> Any:
        for record in real(self, *given):
            read.append(record)
            yield record

    monkeypatch.setattr(conversations.Conversation, "records", records)
    assert one(root, file).what == "unchanged"
    assert len(read) <= 2


def test_a_projects_name_keeps_no_secret(root: Path, tmp_path: Path) -> None:
    """Neither one that is given nor that of the folder."""
    file = Spoken(*TALK).write(tmp_path / "a.jsonl")
    assert SECRET not in one(root, file, project=f"demo {SECRET}").paths[0]
    records = [{**one, "cwd": f"/srv/{SECRET}"} for one in Spoken(*TALK, session="b").records()]
    write(tmp_path / "b.jsonl", records)
    mined = one(root, tmp_path / "b.jsonl")
    assert SECRET not in mined.paths[0] + (root / mined.paths[0]).read_text()


def test_subagents_are_told_apart(root: Path, tmp_path: Path) -> None:
    """By their ids, where their notes were renamed too; the session itself names none."""
    own, above = SAMPLES / "claude-code-agent.jsonl", SAMPLES / "claude-code.jsonl"
    ran = mine(root, own, above)
    session = told(root, ran.mined[1].paths[0])["source_id"]
    assert [mined.session for mined in ran.mined] == [f"{session}.a8f74ac9f0932dc74", session]
    assert [told(root, mined.paths[0]).get("subagent") for mined in ran.mined] == [
        "a8f74ac9f0932dc74",
        None,
    ]
    for number, mined in enumerate(ran.mined):
        (root / mined.paths[0]).rename(root / f"palace/project_rooms/project/Note {number}.md")
    again = mine(root, own, above).mined
    assert [(mined.what, mined.paths) for mined in again] == [
        ("unchanged", (f"palace/project_rooms/project/Note {number}.md",)) for number in (0, 1)
    ]


@pytest.mark.parametrize("name", ["codex", "pi", "claude-code"])
def test_a_session_of_its_own_names_no_other(root: Path, name: str) -> None:
    """No subagent and nothing that it was forked from."""
    found = told(root, one(root, SAMPLES / f"{name}.jsonl").paths[0])
    assert "subagent" not in found
    assert "forked_from" not in found


def test_what_is_live_counts_before_what_is_archived(root: Path, tmp_path: Path) -> None:
    """Where both are there; what lies in a hidden folder, as an editor's trash, is neither."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = one(root, spoken.write(file, last=4)).paths[0]
    cold = root / path.replace("palace/", "palace/archive_basement/", 1)
    trash = root / "palace/project_rooms/.trash" / Path(path).name
    for copy in (cold, trash):
        copy.parent.mkdir(parents=True)
        copy.write_bytes((root / path).read_bytes())
    assert one(root, spoken.write(file, last=5)).paths == (path,)
    cold.unlink()
    (root / path).unlink()
    assert one(root, spoken.write(file)).what == "filed"


@pytest.mark.parametrize("place", ["palace/Lamp.md", "palace/chambers/pi/notes/Lamp.md"])
def test_a_note_that_was_moved_anywhere_is_found(root: Path, tmp_path: Path, place: str) -> None:
    """Also outside the rooms of projects; what is new is added to it."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = one(root, spoken.write(file, last=4)).paths[0]
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / path).rename(root / place)
    grown = one(root, spoken.write(file))
    assert (grown.what, grown.added, grown.paths) == ("grown", 2, (place,))


def test_a_file_that_grows_while_it_is_read(root: Path, tmp_path: Path) -> None:
    """What came meanwhile is left for the next run, which adds it once."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    spoken.write(file, last=4)
    (found,) = conversations.find([file]).conversations
    more = [json.dumps(record) for record in spoken.records(4)]
    with file.open("a") as grows:
        grows.write(f"{more[0]}\n{more[1][:20]}")
    assert len(list(found.records())) == 6
    assert found.passed == {"half written": 1}
    first = one(root, file)
    assert first.passed["half written"] == 1
    spoken.write(file)
    assert one(root, file).added == 1
    assert [sum(counted(root, path)) for path in parts(root)] == [6]


def _without_metadata(path: Path, keep: str = "") -> None:
    """What a person leaves of a note who takes its whole block of metadata out."""
    path.write_text(keep + path.read_text().split("---\n", 2)[2].lstrip("\n"))


def test_a_note_without_its_metadata_gets_them_again(root: Path, tmp_path: Path) -> None:
    """With what is new: as if nobody had deleted them; a turn that was taken out stays out."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = root / one(root, spoken.write(file, last=4)).paths[0]
    before = told(root, str(path))
    _without_metadata(path)
    assert one(root, file).what == "unchanged"
    text = path.read_text()
    at, end = text.index("## 09:00 Assistant"), text.index("*Tool:*")
    path.write_text(text[:at] + text[end:])
    grown = one(root, spoken.write(file))
    assert (grown.what, grown.added, grown.paths) == (
        *("grown", 2),
        (path.relative_to(root).as_posix(),),
    )
    after = told(root, str(path))
    same = set(before) - {"prompts", "answers", "updated", "last", "read"}
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert counted(root, str(path)) == [2, 3, 1]
    assert "I look first." not in path.read_text()
    assert len(session_notes.ids(path.read_text())) == 5
    path.rename(path.with_name("Lamp.md"))
    assert one(root, file).paths[0].endswith("/Lamp.md")
    assert one(root, file).what == "unchanged"


def test_own_metadata_in_place_of_ours_stay(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a later part, which says what it continues again and counts its own turns."""
    monkeypatch.setattr(session_notes, "PART_TURNS", 4)
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    one(root, spoken.write(file, last=5))
    first, second = (root / path for path in parts(root))
    _without_metadata(second, "---\ntitle: Mine\nmood: good\n---\n")
    grown = one(root, spoken.write(file))
    assert (grown.what, grown.added) == ("grown", 1)
    after = told(root, str(second))
    assert (after["title"], after["mood"], after["part"]) == ("Mine", "good", 2)
    assert after["continues"] == f"[[{first.stem}]]"
    assert counted(root, str(second)) == [1, 1, 0]
    assert after["created"] == "2026-11-29T09:02:00Z"


def test_metadata_of_an_earlier_part(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without them it is no longer known how many turns it had: none comes back or twice."""
    monkeypatch.setattr(session_notes, "PART_TURNS", 4)
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    one(root, spoken.write(file, last=5))
    first = root / parts(root)[0]
    _without_metadata(first)
    before = first.read_text()
    grown = one(root, spoken.write(file))
    assert (grown.added, first.read_text()) == (1, before)


def test_an_earlier_beginning_goes_back(root: Path, tmp_path: Path) -> None:
    """Its turns stand below and say so, once; `created` is the time of the first."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    path = one(root, spoken.write(file, first=4)).paths[0]
    assert told(root, path)["created"] == "2026-11-29T09:02:00Z"
    grown = one(root, spoken.write(file))
    assert (grown.what, grown.added, grown.paths) == ("grown", 4, (path,))
    headings = [x for x in (root / path).read_text().split("\n") if x.startswith("## ")]
    assert headings == [
        *("## 09:02 User", "## 09:02 Assistant"),
        *("## 09:00 User (back to the beginning)", "## 09:00 Assistant", "## 09:01 Assistant"),
    ]
    found = told(root, path)
    assert (found["created"], found["updated"]) == ("2026-11-29T09:00:00Z", "2026-11-29T09:02:30Z")
    assert (found["date"], counted(root, path)) == ("2026-11-29", [2, 3, 1])
    more = {**next(spoken.records()), "uuid": "new", "parentUuid": "step-5"}
    write(file, [*spoken.records(), *later([more], 0)])
    assert one(root, file).added == 1
    assert (root / path).read_text().count("(back to ") == 1


def test_a_beginning_of_the_day_before(root: Path, tmp_path: Path) -> None:
    """Has its date, as the note keeps its own day; what it goes back to has it too."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    records = list(spoken.records())
    moved = [*records[:5], *later(records[5:], 1)]
    for first in (5, 1, 0):
        write(file, moved[first:])
        path = one(root, file).paths[0]
    headings = [x for x in (root / path).read_text().split("\n") if x.startswith("## ")]
    assert headings == [
        *("## 09:05 User", "## 09:05 Assistant"),
        "## 2026-11-29 09:00 Assistant (back to the beginning)",
        "## 2026-11-29 09:01 Assistant",
        "## 2026-11-29 09:00 User (back to the beginning)",
    ]
    found = told(root, path)
    assert (found["created"], found["date"]) == ("2026-11-29T09:00:00Z", "2026-11-30")


def test_a_branch_from_elsewhere_that_was_earlier_goes_back(root: Path, tmp_path: Path) -> None:
    """To the turn that it follows; a tool of it stands below a heading of its own."""
    there = list(Spoken(*TALK[:1], Step("tool", "date"), Step("answer", "Noon.")).records())
    for record in there[1:]:
        record["uuid"] += "-there"
        record["timestamp"] = "2026-11-29T09:00:10Z"
    one(root, Spoken(*TALK).write(tmp_path / "a.jsonl"))
    write(tmp_path / "b.jsonl", there)
    grown = one(root, tmp_path / "b.jsonl")
    assert grown.added == 2
    text = (root / grown.paths[0]).read_text()
    assert "## 09:00 Assistant (back to 09:00)\n\n*Tool:*" in text
    assert text.count("(back to 09:00)") == 1


def test_folders_in_folders_of_the_palace_have_no_end(root: Path, tmp_path: Path) -> None:
    """Its notes are looked for below more of them than Python calls within each other."""
    with deep_folders(root / "palace", "x"):
        mined = one(root, Spoken(*TALK).write(tmp_path / "a.jsonl"))
    assert mined.what == "filed"
