"""The facts by name: as the whole log says, whatever happened to the log since."""

import json
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core.fact import PATH, Fact
from memory_palace.files import facts as logs
from memory_palace.index import facts

AT = datetime(2026, 11, 15, tzinfo=UTC)
NAMES = ("Ada", "ada", "Bob", "O'Brien", "東京", "FAISS")


def line(event: str, uid: int, **keys: Any) -> dict[str, Any]:
    """A line of the log."""
    at = f"2026-11-{uid % 28 + 1:02}T00:00:00Z"
    return {"at": at, "by": "pi@laptop", "event": event, "uid": f"{uid:016}"} | keys


def added(uid: int, subject: str, object_: str, **keys: Any) -> dict[str, Any]:
    """An added fact."""
    names = {"subject": subject, "predicate": "knows", "object": object_}
    return line("added", uid, id=f"{uid:012}", **names) | keys


def write(root: Path, rows: Sequence[dict[str, Any]], mode: str = "a") -> None:
    """Put lines into the log."""
    (root / PATH).parent.mkdir(exist_ok=True, parents=True)
    with (root / PATH).open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def about(root: Path, *names: str, at: datetime = AT) -> list[Fact]:
    """What the index says, by id, without line numbers."""
    found = facts.opened(root)
    assert found is not None
    with closing(found):
        said = found.about(names, at)
    return sorted(fact._replace(line=0) for fact in said)


def oracle(root: Path, *names: str, at: datetime = AT) -> list[Fact]:
    """The same from the whole log."""
    known = logs.load(root)
    found = {fact.id: fact for name in names for fact in known.about(name, "both", at)}
    return sorted(fact._replace(line=0) for fact in found.values())


_rows = st.lists(
    st.one_of(
        st.builds(
            lambda uid, s, o, keys: added(uid, s, o, **keys),
            st.integers(0, 40),
            st.sampled_from(NAMES),
            st.sampled_from(NAMES),
            st.sampled_from(
                [
                    {},
                    {"valid_from": "2026-11-20"},
                    {"valid_from": "2026-10-01", "valid_to": "2026-11-10"},
                    {"id": ""},
                    {"object": ""},
                    {"valid_from": "yesterday"},
                ]
            ),
        ),
        st.builds(
            lambda uid, other, keys: line("invalidated", uid + 100, id=f"{other:012}", **keys),
            st.integers(0, 40),
            st.integers(0, 40),
            st.sampled_from([{}, {"valid_to": "2026-11-05"}, {"valid_to": "2026-11-25"}]),
        ),
    ),
    max_size=25,
    unique_by=lambda row: row["uid"],
)


@settings(max_examples=60, deadline=None)
@given(
    rows=_rows,
    merged=st.randoms(use_true_random=False),
    cut=st.integers(0, 25),
    names=st.sets(st.sampled_from(NAMES), min_size=1),
)
def test_it_says_what_the_whole_log_says(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    merged: Random,
    cut: int,
    names: set[str],
) -> None:
    """Read at once, or first a part of it and then the rest, or after a merge put the lines into
    another order, some of them twice; as of any day."""
    root = tmp_path_factory.mktemp("facts")
    normal = sorted({facts.facts.normal(name) for name in names})
    other = [*merged.sample(rows, len(rows)), *rows[:3]]
    for part, mode in ((rows[:cut], "a"), (rows[cut:], "a"), (other, "w")):
        write(root, part, mode)
        for at in (AT, datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)):
            assert about(root, *normal, at=at) == oracle(root, *normal, at=at)


def test_without_a_log_there_is_nothing(tmp_path: Path) -> None:
    """And nothing is made; a folder in its place is no log."""
    assert facts.opened(tmp_path) is None
    (tmp_path / PATH).mkdir(parents=True)
    assert facts.opened(tmp_path) is None
    assert not (tmp_path / ".palace").exists()


def test_a_log_with_another_beginning_is_read_anew(tmp_path: Path) -> None:
    """After a merge, or a line taken out."""
    rows = [added(1, "Ada", "x"), added(2, "Ada", "y"), added(3, "Ada", "z")]
    write(tmp_path, rows)
    assert len(about(tmp_path, "ada")) == 3
    write(tmp_path, rows[1:], "w")
    assert [fact.object for fact in about(tmp_path, "ada")] == ["y", "z"]
    write(tmp_path, [], "w")
    assert about(tmp_path, "ada") == []


def test_a_last_line_without_its_end_counts_once(tmp_path: Path) -> None:
    """Cut off, it is passed over; whole, it is there, and is no second one when the end comes."""
    write(tmp_path, [added(1, "Ada", "x")])
    with (tmp_path / PATH).open("a") as file:
        file.write(json.dumps(added(2, "Ada", "y"))[:40])
    assert len(about(tmp_path, "ada")) == 1
    (tmp_path / PATH).write_text("\ufeff" + json.dumps(added(3, "Ada", "z")), encoding="utf-8")
    assert [fact.object for fact in about(tmp_path, "ada")] == ["z"]
    with (tmp_path / PATH).open("a") as file:
        file.write("\n" + json.dumps(added(4, "Ada", "w")) + "\n")
    assert [fact.object for fact in about(tmp_path, "ada")] == ["z", "w"]


def test_a_line_that_is_read_while_it_is_written_counts_once_it_is_whole(tmp_path: Path) -> None:
    """Whoever asks in between sees what was there before."""
    write(tmp_path, [added(1, "Ada", "x")])
    last = json.dumps(added(2, "Ada", "y")) + "\n"
    for part, known in ((last[:40], 1), (last[40:-1], 2), (last[-1:], 2)):
        with (tmp_path / PATH).open("a") as file:
            file.write(part)
        assert len(about(tmp_path, "ada")) == known


def test_the_first_spelling_is_that_of_the_whole_log(tmp_path: Path) -> None:
    """Also of two that were said at once, whichever was read first."""
    write(tmp_path, [added(29, "Ada", "Bob")])
    about(tmp_path, "ada")
    write(tmp_path, [added(1, "ADA", "BOB")])
    assert about(tmp_path, "ada") == oracle(tmp_path, "ada")
    assert {fact.sentence for fact in about(tmp_path, "ada")} == {"ADA knows BOB"}


@pytest.mark.parametrize("instead", ["", json.dumps(line("invalidated", 2, id=f"{9:012}"))])
def test_a_last_line_that_a_hand_took_out_ends_nothing(tmp_path: Path, instead: str) -> None:
    """It had no line feed: editors leave none."""
    write(tmp_path, [added(1, "Ada", "x")])
    whole = (tmp_path / PATH).read_text()
    last = json.dumps(line("invalidated", 2, id=f"{1:012}", valid_to="2026-11-05"))
    (tmp_path / PATH).write_text(whole + last)
    assert about(tmp_path, "ada") == []
    (tmp_path / PATH).write_text(whole + instead)
    assert about(tmp_path, "ada") == oracle(tmp_path, "ada")
    assert len(about(tmp_path, "ada")) == 1


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    """One that is no database, and one of another format; it is derived."""
    write(tmp_path, [added(1, "Ada", "x")])
    for damage in (b"no database at all" * 100, b""):
        about(tmp_path, "ada")
        (tmp_path / facts.NAME).write_bytes(damage)
        assert len(about(tmp_path, "ada")) == 1
    with closing(sqlite3.connect(tmp_path / facts.NAME)) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
        db.commit()
    assert len(about(tmp_path, "ada")) == 1


def test_where_nothing_can_be_kept_memory_does(tmp_path: Path) -> None:
    """A file stands where the folder would be; a link leads elsewhere: neither is written."""
    write(tmp_path, [added(1, "Ada", "x")])
    (tmp_path / ".palace").write_text("in the way")
    assert len(about(tmp_path, "ada")) == 1
    (tmp_path / ".palace").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".palace").symlink_to(tmp_path / "elsewhere")
    assert len(about(tmp_path, "ada")) == 1
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_log_that_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    """A stranger's repository may have a link in its place, or a pipe."""
    write(tmp_path / "other", [added(1, "Ada", "x")])
    (tmp_path / "manifests").mkdir()
    (tmp_path / PATH).symlink_to(tmp_path / "other" / PATH)
    assert facts.opened(tmp_path) is None
    (tmp_path / PATH).unlink()
    os.mkfifo(tmp_path / PATH)
    assert facts.opened(tmp_path) is None


def test_of_a_name_with_very_many_facts_the_newest_are_looked_at(tmp_path: Path) -> None:
    """And those that join it to another name of the question, however old."""
    rows = [
        line(
            "added",
            n,
            id=f"{n:012}",
            subject="hub",
            predicate="p",
            object=f"o{n}",
            valid_from=f"2026-{n // 28 + 1:02}-{n % 28 + 1:02}",
        )
        for n in range(200)
    ]
    write(tmp_path, rows)
    found = facts.opened(tmp_path)
    assert found is not None
    with closing(found):
        newest = found.about(["hub"], AT, most=10)
        both = found.about(["hub", "o3"], AT, most=10)
    assert {fact.object for fact in newest} == {f"o{n}" for n in range(190, 200)}
    assert {fact.object for fact in both} == {"o3"} | {f"o{n}" for n in range(190, 200)}


def test_a_prompt_does_not_wait_for_a_long_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In haste only a little is read; what a question has read is there for it."""
    write(tmp_path, [added(1, "Ada", "x"), added(2, "Ada", "y")])
    monkeypatch.setattr(facts, "MOST_IN_HASTE", 200)
    assert facts.opened(tmp_path, in_haste=True) is None
    assert len(about(tmp_path, "ada")) == 2
    found = facts.opened(tmp_path, in_haste=True)
    assert found is not None
    with closing(found):
        assert len(found.about(["ada"], AT)) == 2


def test_several_may_begin_at_once(tmp_path: Path) -> None:
    """Each reads all of the log, whoever makes the file."""
    rows = [added(n, "Ada", f"o{n}") for n in range(200)]
    for number in range(5):
        root = tmp_path / str(number)
        write(root, rows)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _, at=root: about(at, "ada"), range(4)))
        assert found == [oracle(root, "ada")] * 4


def test_a_line_that_does_not_count_spells_no_name(tmp_path: Path) -> None:
    """Though it is the earliest: here and in the whole log."""
    write(tmp_path, [added(3, "Ada", "Bob"), added(1, "Ada", ""), added(2, "ada", "bob")])
    assert about(tmp_path, "ada") == oracle(tmp_path, "ada")
    assert {fact.subject for fact in about(tmp_path, "ada")} == {"ada"}


@pytest.mark.parametrize(
    "row",
    [
        line("invalidated", 2, id=7, valid_to="2026-11-10"),
        line("invalidated", 2, id=7, valid_to="2026-11-10", at="soon"),
        line("ended", 2, id=7, valid_to="2026-11-10"),
        added(2, "Ada", "", id=7, valid_to="2026-11-10"),
    ],
    ids=["counts", "bad time", "unknown event", "no object"],
)
def test_only_a_line_that_counts_ends_a_fact(tmp_path: Path, row: dict[str, Any]) -> None:
    """As in the whole log, also where a person wrote a number as the id."""
    write(tmp_path, [added(1, "Ada", "Bob", id=7), row])
    assert about(tmp_path, "ada") == oracle(tmp_path, "ada")
    early = datetime(2026, 11, 5, tzinfo=UTC)
    assert [fact.id for fact in about(tmp_path, "ada", at=early)] == ["7"]


def test_half_characters_hide_no_other_fact(tmp_path: Path) -> None:
    """What is not UTF-8, or a lone surrogate, in names, id or source is U+FFFD: no database could
    hold it."""
    write(tmp_path, [added(1, "Ada", "Bob")])
    with (tmp_path / PATH).open("ab") as file:
        for number, row in enumerate(
            (
                added(2, "Ada", "Caf\udce9"),
                added(3, "\ud800", "Ada"),
                added(4, "Ada", "Cy", id="\ud800", source="\udce9", by="\ud800"),
            )
        ):
            text = json.dumps(row, ensure_ascii=bool(number))
            file.write(text.encode("utf-8", "surrogateescape") + b"\n")
    assert [fact.object for fact in about(tmp_path, "ada")] == [
        *("Bob", "Caf\ufffd", "Ada", "Cy"),
    ]
    assert about(tmp_path, "ada") == oracle(tmp_path, "ada")
