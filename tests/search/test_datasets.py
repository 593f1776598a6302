"""Data sets with known answers: what becomes of them on disk, and what is said of other shapes."""

import errno
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.search import datasets
from memory_palace.search.questions import Dataset, Place
from support.palaces import REPOSITORY

NOTE = """---
title: Boats
---
# Boats

Ours is called Gannet.

## Engine

Diesel, 40 hp.

### Oil

- every 200 hours,
  or once a year ^a1
- never reuse a filter ^a2

## Sails

Two.
"""
TALK: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ana",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "Hello,\n Ben."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a boat"},
        ],
        "session_2_date_time": "some day",
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "She is called Gannet."}],
    },
    "qa": [
        {"question": "What did Ben show?", "evidence": ["D1:2"], "category": 4},
        {"question": "What is her name?", "evidence": ["D1:2; D2:1", "D2:7", "D9:1"]},
        {"question": "Who knows?", "evidence": []},
    ],
}
ONE = "palace/project_rooms/conv-1/sessions/session-01.md"
TWO = "palace/project_rooms/conv-1/sessions/session-02.md"


def fixture(tmp_path: Path, *questions: object, **more: object) -> Path:
    """A fixture with one note, ``boats.md``."""
    (tmp_path / "notes").mkdir(exist_ok=True)
    (tmp_path / "notes" / "boats.md").write_text(NOTE)
    return write(tmp_path, {"notes": "notes", "questions": list(questions), **more})


def write(tmp_path: Path, data: object) -> Path:
    """``data`` as a file."""
    path = tmp_path / "set.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def loaded(tmp_path: Path, path: Path, pooled: bool = False) -> Dataset:
    """The data set, its notes below ``tmp_path/into``."""
    return datasets.load(path, tmp_path / "into", pooled)


def test_a_session_is_a_note_and_a_turn_a_list_item(tmp_path: Path) -> None:
    """With the session's date as the note's, and a caption after the text."""
    (group,) = loaded(tmp_path, write(tmp_path, [TALK])).groups
    assert (group.root / ONE).read_text() == (
        "---\ntype: session\ncreated: 2023-05-08T13:56:00Z\n---\n"
        "# 1:56 pm on 8 May, 2023\n\n- Ana: Hello, Ben.\n- Ben: Look! [image: a boat]\n"
    )
    assert (group.root / TWO).read_text().startswith("---\ntype: session\n---\n# some day\n")
    assert (group.root / "palace.yaml").is_file()


def test_evidence_is_the_lines_of_its_turns(tmp_path: Path) -> None:
    """Several in one text count each; a turn or session that is not there is kept, unfound."""
    data = loaded(tmp_path, write(tmp_path, [TALK]))
    shown, name, nobody = data.questions
    assert shown.places == {Place(ONE, 8, 8)}
    assert (shown.kind, name.kind) == ("category 4", "")
    assert name.notes == {ONE, TWO, "session-09.md"}
    assert name.places is not None
    assert {(p.path, p.start) for p in name.places} == {
        (ONE, 8),
        (TWO, 6),
        (TWO, -7),
        ("session-09.md", -1),
    }
    assert (nobody.notes, nobody.places) == (frozenset(), frozenset())
    assert data.weights is not None
    assert (data.weights.recency, data.weights.importance) == (0.0, 0.0)


def test_pooled_conversations_share_a_palace(tmp_path: Path) -> None:
    """One group with all questions, numbered through; each conversation in its own room."""
    other = TALK | {"sample_id": "conv-2"}
    path = write(tmp_path, [TALK, other])
    (group,) = loaded(tmp_path, path, pooled=True).groups
    assert [question.number for question in group.questions] == [1, 2, 3, 4, 5, 6]
    assert (group.root / ONE).is_file()
    assert (group.root / ONE.replace("conv-1", "conv-2")).is_file()
    apart = datasets.load(path, tmp_path / "apart")
    assert [group.name for group in apart.groups] == ["conv-1", "conv-2"]
    assert apart.questions == group.questions


def test_the_first_questions_only(tmp_path: Path) -> None:
    """A limit goes through the conversations in order and drops those without a question."""
    path = write(tmp_path, [TALK, TALK | {"sample_id": "conv-2"}])
    data = loaded(tmp_path, path)
    assert [len(group.questions) for group in data.first(2).groups] == [2]
    assert [len(group.questions) for group in data.first(4).groups] == [3, 1]
    assert data.first(99) == data


def test_an_answer_is_a_note_a_section_or_a_marked_item(tmp_path: Path) -> None:
    """A section reaches to the next heading of its level; an item has all its lines."""
    path = fixture(
        tmp_path,
        {"q": "name?", "relevant": ["boats.md"]},
        {"q": "engine?", "relevant": ["palace/boats.md#Engine"], "kind": "sections"},
        {"q": "oil?", "relevant": ["boats.md#^a1", "boats.md#^a2"]},
        {"q": "sails?", "relevant": ["boats.md#Sails", "boats.md"]},
    )
    name, engine, oil, sails = loaded(tmp_path, path).questions
    boats = "palace/boats.md"
    assert (name.notes, name.places) == ({boats}, None)
    assert engine.places == {Place(boats, 8, 17, "Engine")}
    assert engine.kind == "sections"
    assert oil.places == {Place(boats, 14, 15), Place(boats, 16, 16)}
    assert (sails.notes, sails.places) == ({boats}, None)


def test_a_last_section_ends_with_the_file(tmp_path: Path) -> None:
    """There is no heading after it."""
    path = fixture(tmp_path, {"q": "sails?", "relevant": ["boats.md#Sails"]})
    (question,) = loaded(tmp_path, path).questions
    assert question.places == {Place("palace/boats.md", 18, len(NOTE.splitlines()), "Sails")}


def test_the_files_of_a_fixture_have_its_own_time(tmp_path: Path) -> None:
    """One half-life before its moment, whenever they were checked out; dot-files stay away."""
    path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]}, now="2026-11-29T12:00:00Z")
    (tmp_path / "notes" / ".hidden.md").write_text("x")
    (tmp_path / "notes" / "away.md").symlink_to(tmp_path / "nowhere.md")
    data = loaded(tmp_path, path)
    root = data.groups[0].root
    assert data.now == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert (root / "palace/boats.md").stat().st_mtime == datetime(
        2026, 10, 30, 12, tzinfo=UTC
    ).timestamp()
    assert sorted(os.listdir(root / "palace")) == ["boats.md"]
    assert data.weights is None


def test_notes_lie_below_the_file(tmp_path: Path) -> None:
    """Neither above, nor somewhere else by an absolute path or a link, nor the folder itself."""
    here, away = tmp_path / "here", tmp_path / "away"
    here.mkdir()
    away.mkdir()
    (away / "secret.md").write_text("x")
    (here / "link").symlink_to(away)
    (here / "circle").symlink_to(here / "circle")
    asked = [{"q": "x", "relevant": ["secret.md"]}]
    for named in ("../../..", "..", "../away", "link", "link/.", ".", "", str(away), str(here)):
        path = write(here, {"notes": named, "questions": asked})
        with pytest.raises(BadInput) as caught:
            loaded(tmp_path, path)
        said = f"notes: {named!r} is not below the file's own folder: name one that is"
        assert str(caught.value) == f"{path}: {said}"
    for named in ("circle", "a\0b", "a" * 5000):
        path = write(here, {"notes": named, "questions": asked})
        with pytest.raises(BadInput, match=r": notes: .*: name ") as caught:
            loaded(tmp_path, path)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "into").exists()


def test_a_data_set_may_ask_of_the_palace_that_it_lies_in(tmp_path: Path) -> None:
    """Of that one's notes only, and not through a link."""
    folder = tmp_path / "tests" / "sets"
    folder.mkdir(parents=True)
    notes = tmp_path / "palace"
    notes.mkdir()
    (notes / "boats.md").write_text(NOTE)
    path = write(
        folder,
        {"notes": "../../palace", "questions": [{"q": "name?", "relevant": ["boats.md"]}]},
    )
    with pytest.raises(BadInput, match="not below the file's own folder"):
        loaded(tmp_path, path)
    (tmp_path / "palace.yaml").touch()
    assert loaded(tmp_path, path).questions[0].notes == {"palace/boats.md"}
    notes.rename(tmp_path / "elsewhere")
    notes.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="not below the file's own folder"):
        loaded(tmp_path, path)


def test_only_notes_are_copied(tmp_path: Path) -> None:
    """Regular Markdown files: no links, no pipes, no other files, nothing with a dot."""
    path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]})
    notes = tmp_path / "notes"
    outside = tmp_path / "outside"
    for folder in (outside, notes / "deep" / "er", notes / ".git", notes / "folder.md"):
        folder.mkdir(parents=True)
    for where in (outside, notes / "deep" / "er", notes / ".git"):
        (where / "more.md").write_text("x")
    (notes / "data.bin").write_bytes(b"x")
    (notes / "away").symlink_to(outside)
    (notes / "away.md").symlink_to(outside / "more.md")
    os.mkfifo(notes / "pipe.md")
    root = loaded(tmp_path, path).groups[0].root / "palace"
    copied = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if not p.is_dir())
    assert copied == ["boats.md", "deep/er/more.md"]


def test_nothing_is_copied_for_a_question_of_another_shape(tmp_path: Path) -> None:
    """The last question counts too."""
    for wrong in ({"q": "x", "relevant": [7]}, {"q": "x"}, 3):
        path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]}, wrong)
        with pytest.raises(BadInput, match=r"questions\[1\]"):
            loaded(tmp_path, path)
        assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("call", ["shutil.copy2", "os.scandir"])
def test_a_note_or_folder_that_cannot_be_read(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line names it."""
    path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]})

    def refuse(asked: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", os.fspath(asked))  # type: ignore[call-overload]

    monkeypatch.setattr(call, refuse)
    with pytest.raises(BadInput) as caught:
        loaded(tmp_path, path)
    name = tmp_path / "notes" / "boats.md" if call == "shutil.copy2" else tmp_path / "notes"
    assert str(caught.value) == (
        f"{path}: notes: {name} cannot be read (Permission denied): mend it"
    )


BAD = [
    ("{", r":1: no JSON \(.*\): write \{"),
    ('{\n "notes": x}', r":2: no JSON \(.*\): write \{"),
    ("3", r": 3 is not an object: write \{"),
    ({"questions": []}, r": notes: missing: write \{"),
    ({"notes": 3, "questions": []}, r": notes: 3 is not text: write \{"),
    ({"notes": "no", "questions": []}, r": notes: no folder no beside the file: name one .*"),
    ({"notes": "notes", "questions": []}, r": questions: empty: write \{"),
    ({"notes": "notes", "qestions": []}, r": qestions: unknown key: did you mean `questions`\?"),
    ({"notes": "notes", "questions": {}}, r": questions: \{\} is not a list: write \{"),
    ({"notes": "notes", "questions": [], "now": "soon"}, r": now: 'soon' is no date: write .*"),
    ([], r": no questions: write \{"),
    (["talk"], r': \[0\]: "talk" is not an object: write \{'),
    ([{}], r": \[0\]\.sample_id: missing: write \{"),
    ([{"sample_id": "?"}], r": \[0\]\.sample_id: no letter and no digit: give it a name"),
    ([{"sample_id": "a"}], r": \[0\]\.conversation: missing: write \{"),
    (
        [{"sample_id": "a", "conversation": {"session_1": "x"}}],
        r': \[0\]\.conversation\.session_1: "x" is not a list: write \{',
    ),
    ([{"sample_id": "a", "conversation": {}}], r": \[0\]\.conversation: no `session_1` .*"),
    ([TALK | {"qa": [{}]}], r": \[0\]\.qa\[0\]\.question: missing: write \{"),
    ([TALK | {"qa": [{"question": "\ud800"}]}], r": \[0\]\.qa\[0\]\.question: half of a .*"),
    ([TALK | {"qa": 1}], r": \[0\]\.qa: 1 is not a list: write \{"),
    ([TALK | {"qa": []}], r": no questions: write \{"),
    ([TALK, TALK], r": \[1\]\.sample_id: 'conv-1' again: give each its own"),
    (
        [TALK | {"conversation": {"session_3": [{"dia_id": "x"}]}}],
        r": \[0\]\.conversation\.session_3\[0\]\.dia_id: 'x' is not like D7:3",
    ),
    (
        [TALK | {"conversation": {"session_3": [{"dia_id": "D3:1", "speaker": "A"}]}}],
        r": \[0\]\.conversation\.session_3\[0\]\.text: missing: write \{",
    ),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=range(len(BAD)))
def test_another_shape_is_named_with_its_place(data: object, message: str, tmp_path: Path) -> None:
    """One line: the file, the place in it, what stands there and what should."""
    (tmp_path / "notes").mkdir()
    path = write(tmp_path, data)
    with pytest.raises(BadInput) as caught:
        loaded(tmp_path, path)
    assert re.match(re.escape(str(path)) + message, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


BAD_QUESTIONS = [
    ("boats?", '"boats?" is not an object'),
    ({"relevant": []}, ".q: missing"),
    ({"q": " ", "relevant": ["boats.md"]}, ".q: empty"),
    ({"q": "x"}, ".relevant: missing"),
    ({"q": "x", "relevant": "boats.md"}, '.relevant: "boats.md" is not a list'),
    ({"q": "x", "relevant": []}, ".relevant: empty"),
    ({"q": "x", "relevant": [7]}, ".relevant[0]: 7 is not text"),
    (
        {"q": "x", "relevant": ["boats.md", "boots.md"]},
        ".relevant[1]: no note palace/boots.md: did you mean `palace/boats.md`?",
    ),
    ({"q": "x", "relevant": ["../set.json"]}, ".relevant[0]: no note palace/../set.json"),
    (
        {"q": "x", "relevant": ["boats.md#Motor"]},
        ".relevant[0]: no heading 'Motor' in palace/boats.md",
    ),
    (
        {"q": "x", "relevant": ["boats.md#^a"]},
        ".relevant[0]: no block '^a' in palace/boats.md",
    ),
    (
        {"q": "x", "relevant": ["boats.md"], "kinds": "a"},
        ".kinds: unknown key: did you mean `kind`?",
    ),
    ({"q": "x", "relevant": ["boats.md"], "kind": 2}, ".kind: 2 is not text"),
]


@pytest.mark.parametrize(("question", "said"), BAD_QUESTIONS, ids=range(len(BAD_QUESTIONS)))
def test_a_wrong_question_is_named_with_its_number(
    question: object, said: str, tmp_path: Path
) -> None:
    """``questions[1]…``, counted from 0 as in JSON paths."""
    path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]}, question)
    with pytest.raises(BadInput) as caught:
        loaded(tmp_path, path)
    at = "questions[1]" if said.startswith(".") else "questions[1]: "
    assert str(caught.value).startswith(f"{path}: {at}{said}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """No file, a folder, bytes that are no text, lists in lists without end."""
    for path, said in ((tmp_path / "none.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(BadInput, match=said):
            loaded(tmp_path, path)
    for content in (b"\xff\xfe\x00", b"[" * 200_000):
        path = tmp_path / "set.json"
        path.write_bytes(content)
        with pytest.raises(BadInput, match="JSON"):
            loaded(tmp_path, path)


def test_pooled_is_for_conversations(tmp_path: Path) -> None:
    """A fixture is one palace already."""
    path = fixture(tmp_path, {"q": "name?", "relevant": ["boats.md"]})
    with pytest.raises(BadInput, match="leave it out"):
        loaded(tmp_path, path, pooled=True)


@pytest.mark.parametrize("name", ["palace", "languages", "context"])
def test_the_shipped_fixtures_load(name: str, tmp_path: Path) -> None:
    """Every note, heading and block that they name is there, and no question is asked twice."""
    path = REPOSITORY / "tests" / "fixtures" / "retrieval" / f"{name}.json"
    questions = loaded(tmp_path, path).questions
    assert all(question.kind for question in questions)
    assert len({question.text for question in questions}) == len(questions)
