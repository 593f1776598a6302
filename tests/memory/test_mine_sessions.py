"""Conversations as notes: everything once, whatever was there, whoever edited it."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from files.test_opencode import database
from memory_palace.core import frontmatter, markdown, note, session_notes
from memory_palace.core.errors import BadInput
from memory_palace.files import journal
from memory_palace.memory import mine_sessions, note_batch
from memory_palace.memory.mine_sessions import Mined, Ran
from session.spoken import SAMPLES, SECRET, TALK, Spoken, Step, write
from support.palaces import NOW, Palace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    return Palace(tmp_path / "root").root


def mine(root: Path, *paths: Path, **more: Any) -> Ran:
    """One run."""
    return mine_sessions.run(root, NOW, paths, **more)


def one(root: Path, *paths: Path, **more: Any) -> Mined:
    """What came of the only conversation."""
    ran = mine(root, *paths, **more)
    assert not ran.faults, ran.faults
    (mined,) = ran.mined
    return mined


def said(text: str) -> list[str]:
    """The headings of a note, and the first line below each."""
    block = frontmatter.split(text)
    lines = text.split("\n")
    found = markdown.read(text[block.body_at :], block.body_line).blocks
    at = [one.start for one in found if one.kind == "heading" and one.level == 2]
    return [f"{lines[n - 1].removeprefix('## ')}: {lines[n + 1]}" for n in at]


def text_of(root: Path, mined: Mined) -> str:
    """The text of a session's note, or of its last part that is new."""
    return (root / mined.paths[-1]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("claude-code", 15),
        ("claude-code-fork", 9),
        ("claude-code-agent", 3),
        ("codex", 12),
        ("codex-fork", 2),
        ("pi", 13),
        ("pi-fork", 8),
    ],
)
def test_real_transcripts_are_filed_once(root: Path, name: str, turns: int) -> None:
    """Each client's sample: one note with all its turns, and the second time nothing is new."""
    mined = one(root, SAMPLES / f"{name}.jsonl")
    assert (mined.what, mined.added) == ("filed", turns)
    before = text_of(root, mined)
    found = note.parse(mined.paths[0], before)
    assert not found.problems
    assert found.type == "session"
    counts = [found.metadata[key] for key in ("prompts", "answers", "tool_calls")]
    assert sum(counts) == turns == len(session_notes.ids(before))
    again = one(root, SAMPLES / f"{name}.jsonl")
    assert (again.what, again.added, again.paths) == ("unchanged", 0, mined.paths)
    assert text_of(root, again) == before


def test_a_note_says_whose_session_it_is(root: Path) -> None:
    """Client, version, id, first and last time; the project is the last folder of its place."""
    mined = one(root, SAMPLES / "claude-code.jsonl")
    path = mined.paths[0]
    assert path.startswith(
        "palace/project_rooms/project/sessions/2026-11-30-light-the-lamp-please-"
    )
    told = note.parse(path, text_of(root, mined)).metadata
    assert told["title"] == "Light the lamp, please."
    assert told["client"] == "claude-code"
    assert told["version"] == "2.1.332"
    assert told["source_id"] == "85fd57d2-6f54-4bac-9097-972ae5f848b1"
    assert str(told["agent"]).startswith("claude-code@")
    assert (told["created"], told["updated"]) == ("2026-11-30T11:12:33Z", "2026-11-30T11:12:34Z")
    assert "/home/user" not in text_of(root, mined)


def test_turns_are_headings_and_tools_are_blocks(root: Path, tmp_path: Path) -> None:
    """What was said stands below who said it and when; a tool's call and output in a fence."""
    mined = one(root, Spoken(*TALK).write(tmp_path / "a.jsonl"))
    text = text_of(root, mined)
    assert said(text) == [
        "09:00 User: Light the lamp.",
        "09:00 Assistant: I look first.",
        "09:01 Assistant: It is lit.",
        "09:02 User: continue",
        "09:02 Assistant: Done.",
    ]
    assert "*Tool:*\n\n```text\n$ cat lamp.py\nok\n```\n" in text


def test_a_grown_transcript_adds_what_is_new(root: Path, tmp_path: Path) -> None:
    """At the end of the note, whose other lines stay as they are, byte for byte."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))
    before = text_of(root, first).split("---\n", 2)[2]
    grown = one(root, spoken.write(file))
    assert (grown.what, grown.added, grown.paths) == ("grown", 2, first.paths)
    after = text_of(root, grown).split("---\n", 2)[2]
    assert after.startswith(before)
    whole = one(Palace(tmp_path / "other").root, file)
    assert said(text_of(root, grown)) == said(text_of(tmp_path / "other", whole))


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, len(TALK)), max_size=4))
def test_any_steps_of_growing_come_to_the_same(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever was mined in between, also less than before: each turn is there once, in order."""
    place = tmp_path_factory.mktemp("steps")
    root, spoken, file = Palace(place / "root").root, Spoken(*TALK), place / "a.jsonl"
    for last in (*cuts, len(TALK)):
        ran = mine(root, spoken.write(file, last=last)) if last else Ran((), {}, (), False)
        assert not ran.faults
    (path,) = (root / "palace").rglob("sessions/*.md")
    assert said(path.read_text()) == [
        "09:00 User: Light the lamp.",
        "09:00 Assistant: I look first.",
        "09:01 Assistant: It is lit.",
        "09:02 User: continue",
        "09:02 Assistant: Done.",
    ]
    assert len(session_notes.ids(path.read_text())) == len(TALK)


def test_two_paths_of_a_session_are_one_note(root: Path, tmp_path: Path) -> None:
    """A copy, an older copy and a link's target, in one run and in the next."""
    spoken = Spoken(*TALK)
    (tmp_path / "b").mkdir()
    spoken.write(tmp_path / "b" / "old.jsonl", last=3)
    spoken.write(tmp_path / "b" / "new.jsonl")
    spoken.write(tmp_path / "b" / "copy.jsonl")
    (tmp_path / "b" / "link.jsonl").symlink_to(tmp_path / "b" / "new.jsonl")
    ran = mine(root, tmp_path / "b")
    assert sorted(one.added for one in ran.mined) == [0, 0, 6]
    assert ran.others == {"symbolic link": 1}
    assert len(list((root / "palace").rglob("sessions/*.md"))) == 1
    assert {one.what for one in mine(root, tmp_path / "b").mined} == {"unchanged"}


def test_a_rotated_transcript_goes_on_in_the_same_note(root: Path, tmp_path: Path) -> None:
    """One that begins later, as after a rotation, adds only what the note has not."""
    spoken = Spoken(*TALK)
    one(root, spoken.write(tmp_path / "a.jsonl", last=4))
    mined = one(root, spoken.write(tmp_path / "b.jsonl", first=3))
    assert (mined.what, mined.added) == ("grown", 2)
    assert len(session_notes.ids(text_of(root, mined))) == len(TALK)


def test_a_session_resumed_elsewhere_adds_its_own_turns(root: Path, tmp_path: Path) -> None:
    """Two machines went on from one point: both continuations are there, each once."""
    here = Spoken(*TALK[:4], Step("user", "here"), Step("answer", "At home."))
    there = list(Spoken(*TALK[:4], Step("user", "there"), Step("answer", "Away.")).records())
    for record in there[-2:]:
        record["uuid"] += "-there"
        record["parentUuid"] = record["parentUuid"].replace("step-4", "step-4-there")
    one(root, here.write(tmp_path / "a.jsonl"))
    write(tmp_path / "b.jsonl", there)
    mined = one(root, tmp_path / "b.jsonl")
    assert mined.added == 2
    assert [line.split(": ")[1] for line in said(text_of(root, mined))][-4:] == [
        *("here", "At home."),
        *("there", "Away."),
    ]
    assert one(root, here.write(tmp_path / "a.jsonl")).added == 0


def test_what_went_on_earlier_elsewhere_keeps_the_later_time(root: Path, tmp_path: Path) -> None:
    """`updated` is that of the latest turn, whichever copy is mined last."""
    records = list(Spoken(*TALK).records())
    write(tmp_path / "a.jsonl", records)
    updated = note.parse("", text_of(root, one(root, tmp_path / "a.jsonl"))).metadata["updated"]
    records[4]["uuid"] = "elsewhere"
    write(tmp_path / "b.jsonl", records[:5])
    grown = one(root, tmp_path / "b.jsonl")
    assert grown.added == 1
    assert note.parse("", text_of(root, grown)).metadata["updated"] == updated


CHAT = "User: hi\nAssistant: Hello! How can I help you?\nUser: {}\nAssistant: Gladly.\n"


def test_chats_that_begin_alike_are_two(root: Path, tmp_path: Path) -> None:
    """Their greetings are the same: a note each, also where one is archived, and each grows."""
    for name in ("lamps", "ships"):
        (tmp_path / f"{name}.txt").write_text(CHAT.format(f"Tell me of {name}."))
    lamps, ships = mine(root, tmp_path / "lamps.txt", tmp_path / "ships.txt").mined
    assert (lamps.what, lamps.added, ships.what, ships.added) == ("filed", 4, "filed", 4)
    assert "ships" not in text_of(root, lamps)
    for name, mined in (("lamps", lamps), ("ships", ships)):
        file = tmp_path / f"{name}.txt"
        assert one(root, file).what == "unchanged"
        file.write_text(f"{file.read_text()}User: And {name} at night?\n")
        grown = one(root, file)
        assert (grown.what, grown.added, grown.paths) == ("grown", 1, mined.paths)
    cold = root / lamps.paths[0].replace("palace/", "palace/archive_basement/", 1)
    cold.parent.mkdir(parents=True)
    (root / lamps.paths[0]).rename(cold)
    assert [one(root, tmp_path / f"{n}.txt").what for n in ("lamps", "ships")] == [
        "archived",
        "unchanged",
    ]
    (tmp_path / "ropes.txt").write_text(CHAT.format("Tell me of ropes."))
    assert one(root, tmp_path / "ropes.txt").what == "filed"


def test_a_text_whose_end_was_changed_is_the_same_one(root: Path, tmp_path: Path) -> None:
    """What it says now is added; it gets no second note."""
    file = tmp_path / "a.txt"
    file.write_text(CHAT.format("Why?"))
    first = one(root, file)
    file.write_text(CHAT.format("Why?").replace("Gladly.", "Gladly, so.") + "User: Ah.\n")
    grown = one(root, file)
    assert (grown.what, grown.added, grown.paths) == ("grown", 2, first.paths)


def test_a_text_is_the_same_one_whatever_was_taken_out(root: Path, tmp_path: Path) -> None:
    """Its third turn too; and where it has no third one yet."""
    file = tmp_path / "a.txt"
    file.write_text("User: hi\nAssistant: Hello!\n")
    first = one(root, file)
    file.write_bytes(b"User: hi\r\nAssistant: Hello!\r\n")
    assert one(root, file).paths == first.paths
    file.write_text("User: hi\nAssistant: Hello!\nUser: Why?\nAssistant: Since.\n")
    assert one(root, file).paths == first.paths

    def change(text: str) -> str:
        at = text.index("## User\n\nWhy?")
        return text[:at] + text[text.index("## Assistant\n\nSince.") :]

    edited(root, first, change)
    file.write_text(f"{file.read_text()}User: Ah.\n")
    grown = one(root, file)
    assert (grown.what, grown.added, grown.paths) == ("grown", 1, first.paths)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert (one(root, file).added, one(root, file).paths) == (0, first.paths)
    assert "Why?" not in text_of(root, grown)


def test_a_text_whose_last_turn_grows_is_the_same_one(root: Path, tmp_path: Path) -> None:
    """A log that somebody still writes: the turn stands there once, as it became."""
    file = tmp_path / "a.txt"
    paths = set()
    for more in (
        "User: hi\nAssistant: Hello!\n",
        "What is it?\n",
        "User: Why?\nAssistant: S",
        "o.\n",
    ):
        with file.open("a") as grows:
            grows.write(more)
        paths.add(one(root, file).paths)
    assert len(paths) == 1
    last = one(root, file)
    assert last.what == "unchanged"
    assert [line.split("User")[-1] for line in said(text_of(root, last))] == [
        *(": hi", "Assistant: Hello!", ": Why?", "Assistant: So."),
    ]


WRITTEN = (
    "User: hello  thère\nAssistant: Hello! How\n\ncan I help?\nUser: Show it.\n"
    "Assistant: Here.\n```\nUser: no\nAssistant: none\n```\nThat is it.\nUser: Ah.\n"
    "Assistant: Ah.\nUser: Ah.\nAssistant: The key is " + SECRET + ", keep it."
)


@settings(max_examples=40, deadline=None)
@example(cuts=[32, 82])
@given(cuts=st.lists(st.integers(1, len(WRITTEN.encode())), min_size=1, max_size=5))
def test_a_text_may_be_mined_while_it_is_written(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Torn within a line, a character, a fence or a secret: in the end one note says what the
    whole text says."""
    place = tmp_path_factory.mktemp("written")
    file, data = place / "a.txt", WRITTEN.encode()
    whole = Palace(place / "whole").root
    file.write_bytes(data)
    expected = said(text_of(whole, one(whole, file)))
    root = Palace(place / "root").root
    for cut in (*sorted(cuts), len(data)):
        file.write_bytes(data[:cut])
        try:
            assert not mine(root, file).faults
        except BadInput:
            assert cut < 60
    (path,) = (root / "palace").rglob("sessions/*.md")
    assert said(path.read_text()) == expected
    told = note.parse("", path.read_text()).metadata
    assert (told["prompts"], told["answers"]) == (4, 4)
    assert len(session_notes.ids(path.read_text())) == 8
    assert one(root, file).what == "unchanged"


def test_a_torn_turn_that_a_person_changed_stays(root: Path, tmp_path: Path) -> None:
    """Or wrote below: the whole one is added, and nothing is taken out."""
    for number, (old, new) in enumerate(
        [("\n\nS\n\n^", "\n\nMy S\n\n^"), ("\n\nS\n\n", "\n\nS\n\nMy S\n\n"), ("", "My S")]
    ):
        file = tmp_path / f"{number}.txt"
        file.write_text(f"User: {number}\nAssistant: Hello!\nUser: Why?\nAssistant: S")
        first = one(root, file)
        edited(root, first, lambda t, a=old, b=new: t.replace(a, b) if a else f"{t}{b}\n")
        before = text_of(root, first).split("---\n", 2)[2]
        with file.open("a") as grows:
            grows.write("o.\n")
        grown = one(root, file)
        assert (grown.what, grown.added, grown.paths) == ("grown", 1, first.paths)
        after = text_of(root, grown).split("---\n", 2)[2]
        assert after.startswith(before)
        assert "\n\nSo.\n\n^" in after


def test_a_turn_that_was_put_between_others_is_added(root: Path, tmp_path: Path) -> None:
    """A text has the same words before and after it: nobody took it out of the note."""
    file = tmp_path / "a.txt"
    file.write_text(CHAT.format("Why?"))
    one(root, file)
    file.write_text(CHAT.format("Why?").replace("Gladly.", "Since.\nUser: So?\nAssistant: Gladly."))
    grown = one(root, file)
    assert (grown.what, grown.added) == ("grown", 2)
    assert not grown.passed
    assert "Since." in text_of(root, grown)


def test_a_session_of_opencode_grows(root: Path, tmp_path: Path) -> None:
    """In its database, as in other transcripts; the export of it is the same session."""
    data = json.loads((SAMPLES / "opencode-export.json").read_text())
    whole, data["messages"] = data["messages"], data["messages"][:2]
    place = database(tmp_path / "opencode.db", data)
    first = one(root, place)
    assert (first.what, first.added) == ("filed", 3)
    assert one(root, place).what == "unchanged"
    place.unlink()
    grown = one(root, database(place, {**data, "messages": whole}))
    assert (grown.what, grown.added, grown.paths) == ("grown", 2, first.paths)
    assert one(root, SAMPLES / "opencode-export.json").added == 0


def edited(root: Path, mined: Mined, change: Callable[[str], str]) -> None:
    """What a person does to the note."""
    place = root / mined.paths[0]
    place.write_text(change(place.read_text()), encoding="utf-8")


def test_what_a_person_changed_stays(root: Path, tmp_path: Path) -> None:
    """A changed turn, one that was taken out, new keys: growing only adds below."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))

    def change(text: str) -> str:
        text = text.replace("Light the lamp.\n\n^", "Light *every* lamp.\n\n^")
        at, end = text.index("## 09:00 Assistant"), text.index("*Tool:*")
        return text[:at] + text[end:].replace("It is lit.", "It was lit.") + "\nMy own words.\n"

    edited(root, first, change)
    edited(root, first, lambda text: text.replace("type: session", "type: session\nmood: good"))
    before = text_of(root, first)
    grown = one(root, spoken.write(file))
    after = text_of(root, grown)
    assert grown.added == 2
    assert grown.passed["taken out of the note by hand"] == 1
    assert before.split("---\n", 2)[2] in after
    assert "I look first" not in after
    assert note.parse("a", after).metadata["mood"] == "good"


def test_a_note_keeps_its_line_ends_and_open_fences_are_closed(root: Path, tmp_path: Path) -> None:
    """A note with CRLF stays one; a fence that a hand left open swallows no turn."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))
    place = root / first.paths[0]
    place.write_bytes((place.read_text() + "\n```\nopen\n").replace("\n", "\r\n").encode())
    one(root, spoken.write(file))
    data = place.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert said(data.decode().replace("\r\n", "\n"))[-2:] == [
        "09:02 User: continue",
        "09:02 Assistant: Done.",
    ]


def test_a_renamed_note_is_found_again(root: Path, tmp_path: Path) -> None:
    """By what its metadata say; one in the archive stays there, and is told."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))
    place = root / "palace/project_rooms/project/The lamp.md"
    (root / first.paths[0]).rename(place)
    grown = one(root, spoken.write(file, last=5))
    assert grown.paths == ("palace/project_rooms/project/The lamp.md",)
    cold = root / "palace/archive_basement/project_rooms/project/The lamp.md"
    cold.parent.mkdir(parents=True)
    place.rename(cold)
    before = cold.read_bytes()
    assert one(root, spoken.write(file)).what == "archived"
    assert cold.read_bytes() == before
    assert not list((root / "palace/project_rooms").rglob("*.md"))


def test_a_broken_note_is_left_alone(root: Path, tmp_path: Path) -> None:
    """Its path and what to do are told; other sessions go on."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))
    edited(root, first, lambda text: text.replace("type: session", "type: [session"))
    before = text_of(root, first)
    other = Spoken(*TALK[:2], session="another")
    ran = mine(root, spoken.write(file), other.write(tmp_path / "b.jsonl"))
    assert [one.what for one in ran.mined] == ["failed", "filed"]
    assert first.paths[0] in ran.faults[0]
    assert "mend the YAML" in ran.faults[0]
    assert text_of(root, first) == before


def test_a_large_session_has_parts(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linked to each other, nothing left out, also where it grows into the next one."""
    monkeypatch.setattr(session_notes, "PART_BYTES", 1_500)
    steps = [Step("user" if n % 2 == 0 else "answer", f"word{n} " * 40) for n in range(20)]
    spoken, file = Spoken(*steps), tmp_path / "a.jsonl"
    one(root, spoken.write(file, last=7))
    grown = one(root, spoken.write(file))
    paths = sorted(
        (root / "palace").rglob("sessions/*.md"), key=lambda p: session_notes.named(p.name) or ""
    )
    assert len(paths) > 3
    assert grown.paths[-1] == paths[-1].relative_to(root).as_posix()
    texts = [path.read_text() for path in paths]
    heads = [note.parse("x", text).metadata for text in texts]
    for before, after, path in zip(heads, heads[1:], paths, strict=False):
        assert after["continues"] == f"[[{path.stem}]]"
        assert before["continued_in"] == f"[[{paths[paths.index(path) + 1].stem}]]"
    assert [("read" in head) for head in heads] == [False] * (len(heads) - 1) + [True]
    assert sum(len(session_notes.ids(text)) for text in texts) == len(steps)
    assert all(any(f"word{n} " in text for text in texts) for n in range(20))
    assert all(len(text.encode()) < 3_000 for text in texts)
    assert one(root, file).what == "unchanged"


def test_a_killed_run_is_gone_on_with(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that were written count; the next run adds the others, and nothing twice."""
    monkeypatch.setattr(session_notes, "PART_BYTES", 1_500)
    monkeypatch.setattr(note_batch, "MOST_CHARACTERS", 100)
    steps = [Step("user" if n % 2 == 0 else "answer", f"word{n} " * 40) for n in range(20)]
    file = Spoken(*steps).write(tmp_path / "a.jsonl")
    real, left = note_batch.Batch.flush, [2]

    def flush(batch: note_batch.Batch) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(batch)

    monkeypatch.setattr(note_batch.Batch, "flush", flush)
    with pytest.raises(KeyboardInterrupt):
        mine(root, file)
    assert len(list((root / "palace").rglob("sessions/*.md"))) == 2
    left[0] = 1_000
    one(root, file)
    paths = list((root / "palace").rglob("sessions/*.md"))
    texts = [path.read_text() for path in paths]
    assert sum(len(session_notes.ids(text)) for text in texts) == len(steps)
    assert sum(text.count("continued_in: ") for text in texts) == len(paths) - 1
    bodies = [text.split("---\n", 2)[2] for text in texts]
    assert all(sum(f"word{n} " in body for body in bodies) == 1 for n in range(20))


def test_what_must_not_be_stored_is_not(root: Path, tmp_path: Path) -> None:
    """Private spans, secrets, what memory injected, in what was said and in tools."""
    injected = '<palace-memory kind="wake">\nold news\n</palace-memory>'
    steps = [
        Step("user", f"Use {SECRET} <private>my street</private> here. {injected}"),
        Step("tool", f"curl -H 'Authorization: Bearer {SECRET}' x"),
        Step("answer", f"{injected}Done with {SECRET}."),
    ]
    text = text_of(root, one(root, Spoken(*steps).write(tmp_path / "a.jsonl")))
    assert not any(word in text for word in (SECRET, "my street", "old news"))
    assert "Done with [SECRET" in text


@pytest.mark.parametrize(
    "text",
    [
        "# Top\n\n## 09:00 User\n\nlike ours",
        "```\nopen",
        "~~~py\n## 10:00 User",
        "<!-- open",
        "<div>\n## 11:00 User",
        "---\ntitle: x\n---",
        "Underlined\n===",
        "Underlined\n---",
        "$$\nx",
        "%% open",
        "- a\n  ```\n  b",
        "> quote\n```",
        "| a |\n| - |\n| b |",
        "\u2028## 12:00 User",
        "a\r\r## 13:00 User",
        "^0123456789ab",
    ],
)
def test_no_text_breaks_the_note(root: Path, tmp_path: Path, text: str) -> None:
    """Whatever was said: the headings of the second level are the turns, and no more."""
    steps = [Step("user", text), Step("answer", "After it."), Step("tool", f"echo '{text}'")]
    mined = one(root, Spoken(*steps).write(tmp_path / "a.jsonl"))
    turns = [
        line.split(":")[0] + ":" + line.split(":")[1][:2] for line in said(text_of(root, mined))
    ]
    assert turns == ["09:00", "09:00"]
    assert said(text_of(root, mined))[1] == "09:00 Assistant: After it."


def test_a_prompt_that_goes_back_says_so(root: Path, tmp_path: Path) -> None:
    """A person took the session back to an earlier point: both ways are there."""
    records = list(Spoken(*TALK).records())
    records[-2]["parentUuid"] = "step-1"
    write(tmp_path / "a.jsonl", records)
    headings = said(text_of(root, one(root, tmp_path / "a.jsonl")))
    assert "09:02 User (back to 09:00): continue" in headings


def test_a_tool_without_a_result_comes_later(root: Path, tmp_path: Path) -> None:
    """A call that still runs while a later one has ended is filed when its result is there."""
    records = list(
        Spoken(Step("user", "Go."), Step("tool", "slow"), Step("tool", "quick")).records()
    )
    slow, records = records[2], [*records[:2], *records[3:]]
    file = tmp_path / "a.jsonl"
    write(file, records)
    first = one(root, file)
    assert first.added == 2
    assert "slow" not in text_of(root, first)
    write(file, [*records, slow])
    grown = one(root, file)
    assert grown.added == 1
    assert "$ slow" in text_of(root, grown)


def test_events_and_commits(tmp_path: Path) -> None:
    """One event a note, and one commit for a run where git.commit is auto."""
    palace = Palace(tmp_path / "root")
    palace.write("palace.yaml", "git: {commit: auto}\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-C", palace.root, *words], check=True, env=_git(tmp_path))
    mine(palace.root, SAMPLES, reason="What was talked about")
    log = journal.load(palace.root)
    assert not log.problems
    assert [event.event for event in log.events] == ["noted"] * 8
    told = subprocess.run(
        ["git", "-C", palace.root, "log", "--format=%s"], capture_output=True, text=True
    ).stdout
    assert told.split("\n")[0] == "What was talked about"
    assert told.count("\n") == 2


def _git(home: Path) -> dict[str, str]:
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    return {**os.environ, "HOME": str(home), **dict.fromkeys(names, "a@b")}


def test_a_dry_run_writes_nothing(root: Path) -> None:
    """And says the same as the run after it."""
    told = mine(root, SAMPLES, dry_run=True)
    assert not (root / "palace/project_rooms").exists()
    assert told.mined == mine(root, SAMPLES).mined


def test_the_project_is_the_repository(root: Path, tmp_path: Path) -> None:
    """Of the folder that a session ran in, else the one that is named; an existing room counts in
    any case of letters."""
    (tmp_path / "Harbour" / ".git").mkdir(parents=True)
    (tmp_path / "Harbour" / "deep").mkdir()
    (root / "palace/project_rooms/harbour").mkdir(parents=True)
    records = [
        {**record, "cwd": str(tmp_path / "Harbour" / "deep")} for record in Spoken(*TALK).records()
    ]
    write(tmp_path / "a.jsonl", records)
    assert one(root, tmp_path / "a.jsonl").paths[0].startswith("palace/project_rooms/harbour/")
    other = Spoken(*TALK, session="another").write(tmp_path / "b.jsonl")
    assert (
        one(root, other, project="a/../b: c?")
        .paths[0]
        .startswith("palace/project_rooms/a-b-c/sessions/")
    )


def test_what_nobody_says_anything_in_has_no_note(root: Path, tmp_path: Path) -> None:
    """Only commands and machine-made prompts: no note with headings and no content."""
    spoken = Spoken(Step("user", "<command-name>/clear</command-name>"))
    mined = one(root, spoken.write(tmp_path / "a.jsonl"))
    assert (mined.what, mined.paths) == ("empty", ())
    assert dict(mined.passed) == {"command": 1}
    assert not (root / "palace/project_rooms").exists()


def test_damaged_lines_are_counted(root: Path, tmp_path: Path) -> None:
    """Broken JSON, half a character, a NUL, bytes that are no UTF-8: the rest is filed."""
    file = Spoken(Step("user", "a\0b \ud800 c"), Step("answer", "Fine.")).write(
        tmp_path / "a.jsonl"
    )
    file.write_bytes(b"{broken\n\xff\xfe\n[1]\n" + file.read_bytes() + b'{"type": "us')
    mined = one(root, file)
    assert mined.added == 2
    assert mined.passed["broken"] == 3
    assert mined.passed["half written"] == 1


def test_pipes_and_missing_paths_are_told(root: Path, tmp_path: Path) -> None:
    """No hang; one path alone is an error, of several the others go on."""
    place = tmp_path / "pipes"
    place.mkdir()
    for name in ("a.jsonl", "a.db", "a.json", "a.txt"):
        os.mkfifo(place / name)
    for path in (*place.iterdir(), place / "none.jsonl"):
        with pytest.raises(BadInput, match="name a transcript"):
            mine(root, path)
    ran = mine(root, place / "a.jsonl", SAMPLES / "pi.jsonl")
    assert [one.what for one in ran.mined] == ["filed"]
    assert len(ran.faults) == 1
    assert mine(root, place).others == {"no regular file": 4}


def test_the_notes_of_sessions_are_not_mined(root: Path, tmp_path: Path) -> None:
    """A folder with the palace in it, or one of the palace: what was filed is no conversation
    again, and a note in which somebody speaks is no new one."""
    (tmp_path / "chat.txt").write_text("User: Hi.\nAssistant: Hello.\n")
    mined = one(root, tmp_path / "chat.txt")
    (root / "palace" / "told.md").write_text("User: Why?\nAssistant: Since.\n")
    ran = mine(root, tmp_path)
    assert [one.what for one in ran.mined] == ["unchanged"]
    assert ran.others["notes of a palace"] == 1
    ran = mine(root, (root / mined.paths[0]).parent)
    assert not ran.mined
    assert ran.others["a note of a session"] == 1


def test_a_note_that_changes_meanwhile_is_not_overwritten(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody wrote while a run read stays; the run says so, and the next one adds."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    first = one(root, spoken.write(file, last=4))
    real = mine_sessions.Batch.flush

    def flush(batch: mine_sessions.Batch) -> None:
        edited(root, first, lambda text: text + "\nMeanwhile.\n")
        real(batch)

    monkeypatch.setattr(mine_sessions.Batch, "flush", flush)
    ran = mine(root, spoken.write(file))
    assert ran.changed
    assert [(mined.what, mined.added) for mined in ran.mined] == [("failed", 0)]
    assert ran.faults == (ran.mined[0].why,)
    assert text_of(root, first).endswith("Meanwhile.\n")
    monkeypatch.undo()
    assert one(root, file).added == 2
    assert "Meanwhile.\n" in text_of(root, first)


def test_a_closed_room_keeps_its_own_sessions_only(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the others are filed; that of the room comes when it is open."""
    file, other = Spoken(*TALK).write(tmp_path / "a.jsonl"), tmp_path / "b.txt"
    other.write_text(CHAT.format("Why?"))
    real = Path.exists

    def exists(path: Path) -> bool:
        if "/project/sessions/" in path.as_posix():
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "exists", exists)
    ran = mine(root, file, other)
    assert [mined.what for mined in ran.mined] == ["failed", "filed"]
    assert "cannot be read (Permission denied): mend its permissions" in ran.faults[0]
    monkeypatch.undo()
    assert [mined.what for mined in mine(root, file, other).mined] == ["filed", "unchanged"]


def test_two_runs_at_once_write_the_same(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slower one finds its notes as it would write them: nothing has failed, none is twice."""
    spoken, file = Spoken(*TALK), tmp_path / "a.jsonl"
    real = mine_sessions.Batch.flush
    ran = []

    def flush(batch: mine_sessions.Batch) -> None:
        monkeypatch.setattr(mine_sessions.Batch, "flush", real)
        ran.append(mine(root, file))
        real(batch)

    for last in (4, None):
        spoken.write(file, last=last)
        monkeypatch.setattr(mine_sessions.Batch, "flush", flush)
        slower = mine(root, file)
        assert not slower.changed
        assert slower.mined == ran[-1].mined
    (path,) = (root / "palace").rglob("sessions/*.md")
    assert len(session_notes.ids(path.read_text())) == len(TALK)
    about = path.relative_to(root).as_posix()
    assert [event.id for event in journal.load(root).events] == [about, about]


def test_records_of_another_session_do_not_matter(root: Path, tmp_path: Path) -> None:
    """A file with lines that no client writes between its own is filed all the same."""
    file = Spoken(*TALK).write(tmp_path / "a.jsonl")
    odd = [{"type": "new thing", "uuid": "x"}, {"a": [1] * 10}, {}]
    file.write_text("".join(json.dumps(one) + "\n" for one in odd) + file.read_text())
    mined = one(root, file)
    assert mined.added == len(TALK)
    assert mined.passed['unknown type "new thing"'] == 1
