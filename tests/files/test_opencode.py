"""OpenCode's database, exports and files: the same session from each of them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.core.transcript_opencode import OpenCode
from memory_palace.files import opencode
from support.palaces import REPOSITORY

SAMPLE = REPOSITORY / "tests" / "fixtures" / "transcripts" / "opencode-export.json"
SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""


def sample() -> dict[str, Any]:
    """The export of a real session."""
    return json.loads(SAMPLE.read_text())


def database(place: Path, data: dict[str, Any]) -> Path:
    """The session as the database has it, in WAL mode."""
    info = data["info"]
    with sqlite3.connect(place) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.executescript(SCHEMA)
        created, updated = info["time"]["created"], info["time"]["updated"]
        row = (info["id"], "global", None, info["directory"], "t", info["version"])
        made.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", (*row, created, updated))
        for one in data["messages"]:
            told = dict(one["info"])
            name, at = told.pop("id"), told["time"]["created"]
            row = (name, info["id"], at, at, json.dumps(told))
            made.execute("INSERT INTO message VALUES (?,?,?,?,?)", row)
            for part in one["parts"]:
                kept = {key: part[key] for key in part if key not in ("id", "messageID")}
                row = (part["id"], name, info["id"], at, at, json.dumps(kept))
                made.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", row)
    made.close()
    return place


def storage(place: Path, data: dict[str, Any]) -> Path:
    """The session as older versions kept it, a file each thing."""
    info = data["info"]
    files = {f"session/global/{info['id']}.json": info}
    for one in data["messages"]:
        name = one["info"]["id"]
        files[f"message/{info['id']}/{name}.json"] = one["info"]
        files |= {f"part/{name}/{part['id']}.json": part for part in one["parts"]}
    for path, value in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(json.dumps(value))
    return place


def turns(session: opencode.Session) -> list[tuple[str, str, str, str]]:
    """Ref, role, text and command of each turn."""
    reader = OpenCode()
    found = [turn for record in session.records() for turn in reader.read(record)]
    found += reader.rest()
    assert reader.about.session == sample()["info"]["id"]
    assert reader.about.cwd == "/home/user/project"
    return [(turn.ref, turn.role, turn.text, turn.command) for turn in found]


def test_all_forms_give_the_same_turns(tmp_path: Path) -> None:
    """So that a session is the same one, wherever it is read."""
    (exported,) = opencode.in_export(SAMPLE)
    (kept,) = opencode.in_database(database(tmp_path / "opencode.db", sample()))
    faults: list[str] = []
    assert opencode.is_storage(storage(tmp_path / "storage", sample()))
    (stored,) = opencode.in_storage(tmp_path / "storage", faults)
    assert not faults
    assert turns(exported) == turns(kept) == turns(stored)
    assert len(turns(exported)) == 5


def test_the_mark_changes_with_a_part(tmp_path: Path) -> None:
    """Of the database, and of the files."""
    place, before = tmp_path / "opencode.db", sample()
    database(place, before)
    first = opencode.in_database(place)[0].mark
    with sqlite3.connect(place) as made:
        made.execute(
            "INSERT INTO part VALUES ('prt_z', 'm', ?, 1, 1, '{}')", (before["info"]["id"],)
        )
    made.close()
    assert opencode.in_database(place)[0].mark != first
    files = storage(tmp_path / "storage", before)
    marks = {opencode.in_storage(files, [])[0].mark}
    name = before["messages"][0]["info"]["id"]
    (files / "part" / name / "prt_z.json").write_text("{}")
    marks.add(opencode.in_storage(files, [])[0].mark)
    assert len(marks) == 2


def test_the_database_is_only_read(tmp_path: Path) -> None:
    """Its bytes are the same afterwards, and there is nothing beside it."""
    place = database(tmp_path / "opencode.db", sample())
    before = place.read_bytes()
    turns(opencode.in_database(place)[0])
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_broken_rows_are_empty_ones(tmp_path: Path) -> None:
    """No JSON, no object: the other parts count."""
    place = database(tmp_path / "opencode.db", sample())
    with sqlite3.connect(place) as made:
        made.execute("UPDATE part SET data = '{broken' WHERE data LIKE '%I will look%'")
        made.execute("UPDATE part SET data = '[1]' WHERE data LIKE '%callID%'")
    made.close()
    reader = OpenCode()
    (session,) = opencode.in_database(place)
    found = [turn for record in session.records() for turn in reader.read(record)]
    assert [turn.text for turn in found] == ['"Light the lamp, please"', "Done: the lamp is lit."]


def test_messages_come_by_their_time(tmp_path: Path) -> None:
    """Whatever their ids are; parts by theirs."""
    data = sample()
    for number, one in enumerate(data["messages"]):
        one["info"]["id"] = f"msg_{9 - number}"
    (session,) = opencode.in_database(database(tmp_path / "opencode.db", data))
    texts = [text for _, role, text, _ in turns(session) if role != "tool"]
    assert texts == ['"Light the lamp, please"', "I will look.", "Done: the lamp is lit."]


def test_bytes_that_are_no_utf8_spoil_no_session(tmp_path: Path) -> None:
    """They are replaced; all else of the session is there."""
    place = database(tmp_path / "opencode.db", sample())
    with sqlite3.connect(place) as made:
        made.execute(
            "UPDATE part SET data = CAST(replace(CAST(data AS BLOB), 'will', x'ff') AS TEXT)"
            " WHERE data LIKE '%I will look%'"
        )
    made.close()
    (session,) = opencode.in_database(place)
    texts = [text for _, role, text, _ in turns(session) if role == "assistant"]
    assert texts == ["I \ufffd look.", "Done: the lamp is lit."]


def test_what_is_no_database(tmp_path: Path) -> None:
    """Another database has no sessions; a damaged file is an error that names a way."""
    with sqlite3.connect(tmp_path / "other.db") as made:
        made.execute("CREATE TABLE x (y)")
    made.close()
    assert opencode.in_database(tmp_path / "other.db") == []
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(BadInput, match=r"is no SQLite database: name OpenCode's opencode\.db"):
        opencode.in_database(tmp_path / "text.db")
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0" + b"x" * 500)
    with pytest.raises(BadInput, match="opencode export"):
        opencode.in_database(tmp_path / "torn.db")


def test_other_json_is_no_export(tmp_path: Path) -> None:
    """A list, an object of something else, nothing, too deep."""
    for text in ("[]", '{"info": {}}', "", "[" * 100_000):
        (tmp_path / "a.json").write_text(text)
        assert opencode.in_export(tmp_path / "a.json") == []


def test_a_broken_session_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is too large is passed over with a word; the others are there."""
    place = storage(tmp_path / "storage", sample())
    (place / "session" / "global" / "ses_a.json").write_text(" " * 10_000)
    monkeypatch.setattr(opencode, "MOST_JSON", 9_000)
    faults: list[str] = []
    assert len(opencode.in_storage(place, faults)) == 1
    assert "ses_a.json is over" in faults[0]
