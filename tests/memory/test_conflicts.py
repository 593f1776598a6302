"""Contradictions recorded and decided, on real files."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from memory_palace.core import events, note, topics
from memory_palace.core.errors import BadInput, Changed, PalaceError, Refused
from memory_palace.memory import conflict_sides, conflicts, pen
from memory_palace.memory import state as states
from memory_palace.memory.pen import Pen
from support.palaces import NOW, Palace

UV, PIP = "aaaaaaaaaaa1", "aaaaaaaaaaa2"
TOPIC = "palace/topics/preferences.md"
RECORD = "palace/conflict_room/use-uv-instead-of-pip-or-use-pip.md"
OLD, NEW = "palace/project_rooms/old.md", "palace/project_rooms/new.md"


@pytest.fixture
def root(keyword_palace: Palace) -> Path:
    """A palace with two entries that contradict, two without ids, and two notes."""
    keyword_palace.write(
        TOPIC,
        f"- [preference] Use uv instead of pip ^{UV}\n- [preference] Use pip ^{PIP}\n"
        "- [preference] Use Python 3.11\n- [preference] Use Python 3.12\n",
    )
    keyword_palace.write(OLD, "---\ntitle: Old\n---\n# Old\n\nRetry 3 times. ^abc\n")
    keyword_palace.write(NEW, "# New\n\nRetry 5 times.\n")
    return keyword_palace.root


@contextmanager
def held(root: Path, reason: str = "") -> Iterator[Pen]:
    """The pen at noon."""
    with pen.begin(root, NOW, "palace conflict", reason) as one:
        yield one


def opened(root: Path, a: str, b: str, **more: object) -> conflicts.Record:
    """A record of ``a`` and ``b``."""
    with held(root) as one:
        return conflicts.open_pair(one, a, b, **more)  # type: ignore[arg-type]


def resolved(
    root: Path, name: str, winner: str, reason: str = "so", by: str | None = "Ann"
) -> conflicts.Decided:
    """The decision for ``winner``."""
    with held(root, reason) as one:
        return conflicts.resolve(one, name, winner, by, reason)


def log(root: Path) -> list[dict[str, object]]:
    """The events, as they stand in the log."""
    path = root / events.PATH
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_record_of_two_entries_has_both_claims_and_the_reason(root: Path) -> None:
    """And an event that names record and kind; the entries' lines are not touched."""
    before = (root / TOPIC).read_text()
    made = opened(root, f"^{UV}", PIP)
    assert (made.path, made.kind, made.status) == (RECORD, "polarity", "open")
    assert (made.a.text, made.a.source) == ("Use uv instead of pip", f"topics/preferences#^{UV}")
    assert "one denies what the other says: pip" in (root / RECORD).read_text()
    assert (root / TOPIC).read_text() == before
    (event,) = log(root)
    assert [event[key] for key in ("event", "id", "path", "kind")] == [
        "conflict_opened",
        RECORD,
        RECORD,
        "polarity",
    ]


def test_a_line_without_an_id_gets_one_and_keeps_its_age(root: Path) -> None:
    """The record links to it; the event of its line is dated when it was written."""
    state = states.load(root, NOW)
    three, four = [topics.entry_id("preference", f"Use Python 3.1{n}") for n in (1, 2)]
    made = opened(root, three, f"{TOPIC}:4")
    assert made.a.source == f"topics/preferences#^{three}"
    assert f"Use Python 3.12 ^{four}\n" in (root / TOPIC).read_text()
    after = states.load(root, NOW)
    for key in (three, four):
        before, now = state.find(key), after.find(key)
        assert (now.created, now.strength) == (before.created, before.strength)
        assert (before.written, now.written) == (False, True)


def test_two_lines_with_one_id_are_told_apart(root: Path, keyword_palace: Palace) -> None:
    """The line that does not count gets an id of its own."""
    keyword_palace.write(
        TOPIC, f"- [preference] Use uv ^{UV}\n- [preference] Use pip ^{UV}\n", old=False
    )
    with pytest.raises(Refused, match="both have the id"):
        opened(root, UV, PIP)
    made = opened(root, f"{TOPIC}:1", f"{TOPIC}:2")
    fresh = topics.entry_id("preference", "Use pip")
    assert (made.a.key, made.b.key) == (f"^{UV}", f"^{fresh}")
    assert (root / TOPIC).read_text().endswith(f"Use pip ^{fresh}\n")


def test_notes_claim_their_first_paragraph(root: Path) -> None:
    """By path or exact name; without block ids, which would be there twice."""
    made = opened(root, "old", NEW, title="Retries")
    assert made.path == "palace/conflict_room/retries.md"
    assert [(side.text, side.source) for side in (made.a, made.b)] == [
        ("Retry 3 times.", "project_rooms/old"),
        ("Retry 5 times.", "project_rooms/new"),
    ]
    assert made.kind == "value"


def test_evidence_is_linked_or_an_address(root: Path) -> None:
    """What leads nowhere is refused, and nothing is written."""
    made = opened(root, UV, PIP, evidence=["old", "https://example.org/x", f"^{UV}"])
    text = (root / made.path).read_text()
    entry = f"[[topics/preferences#^{UV}]]"
    assert f'evidence: ["[[project_rooms/old]]", "https://example.org/x", "{entry}"]' in text
    with pytest.raises(Refused, match="no note or entry is called olt: did you mean"):
        opened(root, "old", "new", evidence=["olt"])
    assert len(log(root)) == 1


def test_a_pair_is_recorded_once(root: Path) -> None:
    """In any order, open or decided; the record is named."""
    opened(root, UV, PIP)
    with pytest.raises(Refused, match=f"{RECORD} is about these two and is open"):
        opened(root, PIP, UV)
    resolved(root, RECORD, "a")
    with pytest.raises(Refused, match="was decided by Ann"):
        opened(root, UV, PIP)


def test_another_pair_with_the_same_title_gets_another_file(root: Path) -> None:
    """Nothing is overwritten."""
    opened(root, UV, PIP, title="T")
    assert opened(root, "old", "new", title="T").path == "palace/conflict_room/t-2.md"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (UV, UV, "are the same"),
        (UV, "bbbbbbbbbbbb", "no memory has the id bbbbbbbbbbbb"),
        (UV, "odl", "no note or entry is called odl: did you mean palace/project_rooms/old.md"),
        (UV, "zzzz", "name a note, or the id of an entry"),
        (UV, f"{TOPIC}:9", "is no entry of a topic"),
        (UV, "manifests/facts.jsonl:1", "is no fact"),
        (UV, "../outside", "no note or entry is called"),
    ],
)
def test_an_unknown_side_is_refused_with_the_nearest(root: Path, a: str, b: str, said: str) -> None:
    """Nothing is guessed, nothing is written."""
    with pytest.raises(Refused, match=said):
        opened(root, a, b)
    assert log(root) == []


def test_a_name_of_two_notes_is_refused_naming_both(root: Path, keyword_palace: Palace) -> None:
    """The path tells them apart."""
    keyword_palace.write("palace/chambers/pi/old.md", "Retry 4 times.\n")
    with pytest.raises(Refused, match=r"chambers/pi/old\.md or palace/project_rooms/old\.md"):
        opened(root, "old", "new")
    assert opened(root, "project_rooms/old", "new").status == "open"


def test_private_text_and_secrets_stay_out(root: Path, keyword_palace: Palace) -> None:
    """Of the title, the reason, who decides, and of what is quoted."""
    token = "ghp_" + "a1B2" * 9
    keyword_palace.write(OLD, f"Retry 3 times with {token}.\n", old=False)
    made = opened(root, "old", "new", title="<private>who</private> is right")
    resolved(root, made.path, "b", f"because {token}", "Ann <private>X</private>")
    text = (root / made.path).read_text()
    assert token not in text and "who" not in made.title and "[PRIVATE] is right" in text
    with pytest.raises(BadInput, match="--title is empty"):
        opened(root, UV, PIP, title="  ")


def test_a_decision_makes_the_losing_entry_count_as_forgotten(root: Path) -> None:
    """The record has who, when and why; its line stays; the event names both."""
    opened(root, UV, PIP)
    before = (root / TOPIC).read_text()
    done = resolved(root, "use-uv-instead-of-pip-or-use-pip", f"^{UV}", "uv is faster")
    assert (done.record.winner, done.record.decided_by, done.marked) == (
        f"topics/preferences#^{UV}",
        "Ann",
        (),
    )
    assert done.record.decision.startswith("A. uv is faster")
    assert (root / TOPIC).read_text() == before
    state = states.load(root, NOW + timedelta(seconds=5))
    assert (state.find(PIP).forgotten, state.find(UV).forgotten) == (True, False)
    event = log(root)[-1]
    assert [event[key] for key in ("event", "id", "winner", "loser", "who", "reason")] == [
        "conflict_resolved",
        RECORD,
        UV,
        PIP,
        "Ann",
        "uv is faster",
    ]


def test_a_decision_between_notes_links_them_both_ways(root: Path) -> None:
    """What was there before stays."""
    keep = '---\ntitle: New\nsupersedes: "[[older]]"\n---\nRetry 5 times.\n'
    (root / NEW).write_text(keep)
    made = opened(root, "old", "new")
    done = resolved(root, made.path, "project_rooms/new")
    assert done.marked == (OLD, NEW)
    lost, won = (note.parse(path, (root / path).read_text()) for path in (OLD, NEW))
    assert lost.metadata["superseded_by"] == "[[project_rooms/new]]"
    assert won.metadata["supersedes"] == ["[[older]]", "[[project_rooms/old]]"]
    assert "Retry 3 times. ^abc" in lost.body


def test_an_entry_may_win_over_a_note(root: Path) -> None:
    """The note gets the link, the entry's line is not touched."""
    before = (root / TOPIC).read_text()
    made = opened(root, UV, "old")
    assert resolved(root, made.path, "a").marked == (OLD,)
    assert f'superseded_by: "[[topics/preferences#^{UV}]]"' in (root / OLD).read_text()
    assert (root / TOPIC).read_text() == before


def test_a_decision_needs_a_reason_and_a_side(root: Path) -> None:
    """Nothing is written without."""
    made = opened(root, UV, PIP)
    text = (root / made.path).read_text()
    with pytest.raises(BadInput, match="add --reason TEXT"):
        resolved(root, made.path, "a", " ")
    with pytest.raises(Refused, match="old is no side of"):
        resolved(root, made.path, "old")
    with pytest.raises(BadInput, match="--by is empty"):
        resolved(root, made.path, "a", by=" ")
    with pytest.raises(
        Refused, match="no conflict is called use-uv-instead-of-pip: did you mean use-uv-"
    ):
        resolved(root, "use-uv-instead-of-pip", "a")
    assert (root / made.path).read_text() == text


def test_what_is_decided_is_not_decided_again(root: Path) -> None:
    """Also not a record that a person wrote."""
    made = opened(root, UV, PIP)
    resolved(root, made.path, "a")
    with pytest.raises(Refused, match="was decided by Ann: write down what holds now"):
        resolved(root, made.path, "b")
    (root / "palace/conflict_room/mine.md").write_text("---\nstatus: decided\n---\n# Mine\n")
    with pytest.raises(Refused, match="was decided: write down"):
        resolved(root, "mine", "a")


def test_a_decision_that_a_kill_kept_from_the_log_is_finished(root: Path) -> None:
    """The record says who won; the event is added once."""
    made = opened(root, UV, PIP)
    resolved(root, made.path, "a")
    lines = (root / events.PATH).read_text().splitlines(keepends=True)
    (root / events.PATH).write_text("".join(lines[:-1]))
    assert not states.load(root, NOW).find(PIP).forgotten
    resolved(root, made.path, "a")
    assert states.load(root, NOW + timedelta(seconds=5)).find(PIP).forgotten
    with pytest.raises(Refused, match="was decided"):
        resolved(root, made.path, "a")


def test_a_winner_that_says_it_is_superseded_by_the_loser_is_refused(root: Path) -> None:
    """Each would stand behind the other; the link may be a short one."""
    (root / NEW).write_text('---\nsuperseded_by: "[[old]]"\n---\nRetry 5 times.\n')
    made = opened(root, "old", "new")
    with pytest.raises(Refused, match=r"new\.md says that it is superseded by project_rooms/old"):
        resolved(root, made.path, "b")
    assert "superseded_by" not in (root / OLD).read_text()


def test_broken_metadata_of_a_side_is_named(root: Path) -> None:
    """And nothing is written anywhere."""
    made = opened(root, "old", "new")
    (root / OLD).write_text("---\na: [\n---\nRetry 3 times.\n")
    with pytest.raises(BadInput, match=r"old\.md: broken frontmatter"):
        resolved(root, made.path, "b")
    assert "supersedes" not in (root / NEW).read_text()
    assert log(root)[-1]["event"] == "conflict_opened"


def test_git_names_who_decides(root: Path) -> None:
    """Else whoever writes does."""
    assert conflicts.decider(root, " Ann  B ", "cli@x") == "Ann B"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "config", "user.name", "Bo Ek"], check=True)
    assert conflicts.decider(root, None, "cli@x") == "Bo Ek"


def test_without_git_whoever_writes_decides(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git knows no name."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    assert conflicts.decider(root, None, "cli@x") == "cli@x"


MERGED = "# M\n<<<<<<< HEAD\nours `a`\n=======\n## Claim B\n>>>>>>> side\nend\n"


def test_a_merge_left_in_a_note_is_recorded_word_for_word(
    root: Path, keyword_palace: Palace
) -> None:
    """The note stays as it is, and so it does after the decision."""
    keyword_palace.write("palace/project_rooms/m.md", MERGED)
    with held(root) as one:
        (made,) = conflicts.open_merge(one, "m")
    assert (made.kind, made.a.text, made.b.text) == ("merge", "ours `a`", "## Claim B")
    with held(root) as one, pytest.raises(Refused, match=f"{made.path} has that merge already"):
        conflicts.open_merge(one, "palace/project_rooms/m.md:3")
    done = resolved(root, made.path, "a")
    assert "keep the winner's lines and remove the marks" in done.left[0]
    assert (done.letter, done.record.winner, done.record.loser) == ("A", "claim A", "claim B")
    assert [log(root)[-1][key] for key in ("winner", "loser")] == ["A", "B"]
    assert (root / "palace/project_rooms/m.md").read_text() == MERGED


def test_only_the_merge_at_the_line_is_recorded(root: Path, keyword_palace: Palace) -> None:
    """Without a line, all of them; a note without any is refused."""
    keyword_palace.write("palace/project_rooms/m.md", MERGED + MERGED.replace("ours", "mine"))
    with held(root) as one:
        (first,) = conflicts.open_merge(one, "m:10", "Second")
        (other,) = conflicts.open_merge(one, "m")
    assert (first.a.text, other.a.text) == ("mine `a`", "ours `a`")
    with held(root) as one, pytest.raises(Refused, match="old has no merge conflict"):
        conflicts.open_merge(one, "old")


def test_two_facts_are_recorded_as_one_valued(root: Path, keyword_palace: Palace) -> None:
    """By their lines; what is left to do is said."""
    lines = [
        {"event": "added", "subject": "Ann", "predicate": "lives in", "object": o, "id": o}
        for o in ("Rome", "Oslo")
    ]
    keyword_palace.write("manifests/facts.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    made = opened(root, "manifests/facts.jsonl:1", "manifests/facts.jsonl:2")
    assert (made.kind, made.a.key, made.a.detail) == (
        "one_valued",
        "fact Rome",
        "manifests/facts.jsonl:1",
    )
    done = resolved(root, made.path, "Oslo")
    assert (done.record.loser, log(root)[-1]["loser"]) == ("fact Rome", "Rome")
    assert done.left == ("fact Rome still holds: end it, `palace kg invalidate Rome --ended D`",)


def test_a_topic_edited_in_between_is_left_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line numbers of the text that was read would hit other lines."""
    state = states.load(root, NOW)
    entry = next(e for e in state.entries.values() if not e.block)
    side = conflict_sides.of_entry(entry, state)
    (root / TOPIC).write_text("- [preference] Something else\n")
    with held(root) as one, pytest.raises(Changed):
        conflict_sides.identify(one, state, [side])
    assert (root / TOPIC).read_text() == "- [preference] Something else\n"


def test_unreadable_records_are_problems(root: Path) -> None:
    """The others are still listed, archived ones too."""
    opened(root, UV, PIP)
    (root / "palace/conflict_room/bad.md").write_bytes(b"\xff")
    cold = root / "palace/archive_basement/conflict_room/old.md"
    cold.parent.mkdir(parents=True)
    cold.write_text("---\nstatus: decided\n---\n# Old\n\n## Claim A\n\na\n\n## Claim B\n\nb\n")
    records, problems = conflicts.load(root)
    assert [record.title for record in records] == ["Use uv instead of pip or Use pip", "Old"]
    assert [problem.path for problem in problems] == ["palace/conflict_room/bad.md"]


def test_refusals_end_with_what_to_do(root: Path) -> None:
    """One line each."""
    for a, b in ((UV, UV), (UV, "zzzz"), (UV, f"{TOPIC}:9")):
        with pytest.raises(PalaceError) as caught:
            opened(root, a, b)
        assert "\n" not in str(caught.value) and ": " in str(caught.value)


def test_a_side_that_was_archived_meanwhile_is_marked_where_it_lies(root: Path) -> None:
    """By the path that it had."""
    made = opened(root, "old", "new")
    cold = "palace/archive_basement/project_rooms/old.md"
    (root / cold).parent.mkdir(parents=True)
    (root / OLD).rename(root / cold)
    assert resolved(root, made.path, "b").marked == (cold, NEW)


@pytest.mark.parametrize("mark", ["pinned", "enforced"])
def test_what_is_safe_does_not_lose(root: Path, mark: str) -> None:
    """Pinned and enforced memories are let go by no decision; nothing is written."""
    opened(root, UV, PIP)
    place = root / TOPIC
    place.write_text(place.read_text().replace(f" ^{PIP}", f" *({mark})* ^{PIP}"))
    before = (root / RECORD).read_text()
    with pytest.raises(Refused, match=f"would lose and is {mark}"):
        resolved(root, "use-uv-instead-of-pip-or-use-pip", "a")
    assert (root / RECORD).read_text() == before
