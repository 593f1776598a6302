"""Facts added and ended, on real files."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.repository import Repository
from memory_palace.core import dates, facts_check
from memory_palace.core import facts as core
from memory_palace.core.errors import BadInput, PalaceError, Refused
from memory_palace.files import facts as logs
from memory_palace.memory import conflicts, facts, pen
from memory_palace.memory.pen import Pen
from support.palaces import NOW, Palace


@pytest.fixture
def root(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A palace in which somebody lives at one place at a time."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    keyword_palace.write("palace.yaml", "facts: {one_valued: [Lives In]}\n")
    return keyword_palace.root


@contextmanager
def held(root: Path, reason: str = "", now: datetime = NOW) -> Iterator[Pen]:
    """The pen at noon."""
    with pen.begin(root, now, "palace kg", reason) as one:
        yield one


def day(text: str) -> datetime:
    """A day's first moment."""
    moment = dates.parse(text)
    assert moment is not None
    return moment


def add(root: Path, *names: str, start: str = "", now: datetime = NOW, **more: Any) -> facts.Added:
    """Add a fact."""
    with held(root, more.pop("reason", ""), now) as one:
        return facts.add(one, *names, start=day(start) if start else None, **more)


def end(root: Path, *names: str, on: str = "", now: datetime = NOW) -> list[str]:
    """End a fact by its names or id: the periods of what ended."""
    ended = day(on) if on else None
    with held(root, "so", now) as one:
        if len(names) == 1:
            return spans(facts.invalidate_id(one, *names, ended=ended))
        return spans(facts.invalidate(one, *names, ended=ended))


def spans(found: Any) -> list[str]:
    """Object and days of facts."""
    return [
        f"{f.object} {dates.stamp(f.begins)[:10]} {dates.stamp(f.ends)[:10] if f.valid_to else '-'}"
        for f in found
    ]


def timeline(root: Path, entity: str = "ann") -> list[str]:
    """All facts of an entity."""
    return spans(logs.load(root).timeline(entity))


def test_an_added_fact_has_all_it_was_given(root: Path) -> None:
    """In the log and in the answer; it holds from now on without a start."""
    done = add(root, "Ann", "works at", "Acme", source="card 7", confidence=0.8, reason="said so")
    (one,) = logs.load(root).all
    assert done.new
    assert one._replace(line=0) == done.fact
    assert (one.source, one.confidence, one.reason, one.by) == (
        "card 7",
        0.8,
        "said so",
        "pi@laptop",
    )
    assert (one.at, one.valid_from, one.valid_to) == (NOW, NOW, None)
    assert one.id == core.fact_id("ann", "works_at", "acme", NOW, NOW)


def test_an_identical_active_fact_is_returned(root: Path) -> None:
    """However it is spelled, whatever start is given; nothing is written."""
    first = add(root, "Ann", "works at", "Acme", start="2026-11-20").fact
    before = (root / core.PATH).read_bytes()
    for start in ("", "2026-01-01", "2027-01-01"):
        done = add(root, " ann", "Works_At", "ACME", start=start)
        assert (done.new, done.fact.id) == (False, first.id)
    assert (root / core.PATH).read_bytes() == before


def test_a_fact_comes_back_after_it_ended(root: Path) -> None:
    """With an id of its own, also within the same second."""
    one = add(root, "Ann", "is", "here").fact
    end(root, "Ann", "is", "here")
    two = add(root, "Ann", "is", "here").fact
    assert one.id != two.id
    found = logs.load(root)
    assert [fact.id for fact in found.active(NOW)] == [two.id]
    assert facts_check.check(found, ()) == []


def test_a_start_within_a_written_time_is_refused(root: Path) -> None:
    """One that ended says from when on; a planned one how to take it back."""
    add(root, "Ann", "is", "here", start="2026-01-01")
    end(root, "Ann", "is", "here", on="2026-06-01")
    with pytest.raises(BadInput, match="use --from 2026-06-01 or later"):
        add(root, "Ann", "is", "here", start="2026-05-31")
    assert add(root, "Ann", "is", "here", start="2026-06-01").new
    planned = add(root, "Bo", "is", "here", start="2027-01-01").fact
    with pytest.raises(BadInput, match=rf"palace kg invalidate {planned.id}"):
        add(root, "Bo", "is", "here")
    assert not add(root, "Bo", "is", "here", start="2027-06-01").new


def test_a_fact_that_has_ended_is_one_line(root: Path) -> None:
    """With its end from the start, beside what holds later; an end before the start is refused."""
    add(root, "Ann", "lives_in", "Oslo", start="2024-01-01")
    add(root, "Ann", "lives_in", "Oslo", start="2020-01-01", end=day("2022-01-01"))
    add(root, "Ann", "lives_in", "Rome", start="2022-05-01", end=day("2022-06-01"))
    lines = (root / core.PATH).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["added"] * 3
    assert timeline(root) == [
        "Oslo 2020-01-01 2022-01-01",
        "Rome 2022-05-01 2022-06-01",
        "Oslo 2024-01-01 -",
    ]
    for early in ("2020-01-01", "2019-01-01"):
        with pytest.raises(BadInput, match="not after it begins"):
            add(root, "Bob", "lives_in", "Oslo", start="2020-01-01", end=day(early))


def test_a_new_value_closes_the_one_before(root: Path) -> None:
    """At its own start; one that lies earlier ends where the next begins."""
    add(root, "Ann", "lives in", "Rome", start="2026-01-01")
    done = add(root, "ann", "Lives In", "Oslo", start="2026-06-01")
    assert spans(done.closed) == ["Rome 2026-01-01 2026-06-01"]
    assert done.closed[0].reason == "followed by Oslo"
    between = add(root, "Ann", "lives_in", "Bern", start="2026-03-01")
    assert spans([between.fact]) == ["Bern 2026-03-01 2026-06-01"]
    add(root, "Ann", "lives in", "Kyiv", start="2027-01-01")
    add(root, "Ann", "likes", "Rome")
    add(root, "Ann", "likes", "Oslo")
    assert timeline(root)[:4] == [
        "Rome 2026-01-01 2026-03-01",
        "Bern 2026-03-01 2026-06-01",
        "Oslo 2026-06-01 2027-01-01",
        *timeline(root)[3:4],
    ]
    assert facts_check.check(logs.load(root), ["lives in"]) == []


def test_a_new_value_of_the_same_day_takes_the_place_of_the_one_before(root: Path) -> None:
    """It holds from then; the other never did."""
    add(root, "Ann", "lives in", "Rome", start="2026-01-01")
    done = add(root, "Ann", "lives in", "Oslo", start="2026-01-01", reason="a slip")
    assert spans(done.closed) == ["Rome 2026-01-01 2026-01-01"]
    assert [fact.reason for fact in done.closed] == ["a slip"]
    known = logs.load(root)
    assert spans(known.active(NOW)) == spans(known.active(day("2026-01-01")))
    assert spans(known.active(NOW)) == ["Oslo 2026-01-01 -"]
    assert facts_check.check(known, ["lives in"]) == []


def test_a_new_value_opens_a_conflict_where_that_is_configured(
    root: Path, keyword_palace: Palace
) -> None:
    """Both stay; the record names both lines; the loser is to be ended by its id."""
    keyword_palace.write("palace.yaml", "facts: {one_valued: [lives_in], on_new: conflict}\n")
    first = add(root, "Ann", "lives in", "Rome", start="2026-01-01").fact
    done = add(root, "Ann", "lives in", "Oslo", start="2026-06-01")
    assert done.closed == ()
    assert timeline(root) == ["Rome 2026-01-01 -", "Oslo 2026-06-01 -"]
    ((record,), _) = conflicts.load(root)
    assert (record.path,) == done.opened
    assert (record.kind, record.a.detail) == ("one_valued", "manifests/facts.jsonl:1")
    with held(root, "she moved") as one:
        decided = conflicts.resolve(one, record.path, "b", "Ann", "she moved")
    assert decided.left == (
        f"fact {first.id} still holds: end it, `palace kg invalidate {first.id} --ended D`",
    )


def test_private_spans_and_secrets_are_left_out(root: Path) -> None:
    """Also a value that is a secret only beside its name; a name must be left."""
    key = "ghp_" + "a1B2" * 9
    add(root, "db", "token", key, source=f"<private>x</private> {key}", reason=key)
    add(root, "db", "password", "hunter2xyz9")
    with pytest.raises(BadInput, match="the subject has nothing in it"):
        add(root, "<private>Ann</private>", "is", "here")
    with pytest.raises(BadInput, match="the object has nothing in it"):
        add(root, "Ann", "is", " ' ")
    with pytest.raises(BadInput, match="the predicate has 501 characters"):
        add(root, "Ann", "x" * 501, "here")
    text = (root / core.PATH).read_text()
    assert key not in text
    assert "hunter2xyz9" not in text
    assert "[PRIVATE]" in text
    assert [fact.object for fact in logs.load(root).all].count("[SECRET: password]") == 1


@pytest.mark.parametrize("share", [1.1, -1.0, float("nan")])
def test_a_confidence_is_a_share(root: Path, share: float) -> None:
    """Anything else is refused."""
    with pytest.raises(BadInput, match="write 0 to 1"):
        add(root, "a", "b", "c", confidence=share)


def test_ending_a_fact(root: Path) -> None:
    """From a day on, or from now on; with the reason, and who did."""
    add(root, "Ann", "is", "here", start="2026-01-01")
    assert end(root, "ANN", "is", "Here", on="2026-06-01") == ["here 2026-01-01 2026-06-01"]
    (one,) = logs.load(root).all
    assert (one.ended_by, one.ended_at, one.reason) == ("pi@laptop", NOW, "so")
    with pytest.raises(Refused, match=rf"ended on 2026-06-01 already \({one.id}\)"):
        end(root, "Ann", "is", "here")
    line = json.loads((root / core.PATH).read_text().splitlines()[1])
    assert (line["subject"], line["valid_to"], line["id"]) == ("Ann", "2026-06-01", one.id)


def test_what_ended_this_second_has_ended(root: Path) -> None:
    """A second command writes nothing, and says so."""
    one = add(root, "Ann", "is", "here", start="2026-01-01").fact
    end(root, "Ann", "is", "here")
    before = (root / core.PATH).read_bytes()
    for names in (("Ann", "is", "here"), (one.id,)):
        with pytest.raises(Refused, match="already"):
            end(root, *names)
    assert (root / core.PATH).read_bytes() == before


def test_an_end_before_the_start_shows_both(root: Path) -> None:
    """And writes nothing."""
    add(root, "Ann", "is", "here", start="2026-01-02")
    with pytest.raises(BadInput, match=r"end on 2026-01-01, before it began on 2026-01-02"):
        end(root, "Ann", "is", "here", on="2026-01-01")
    assert timeline(root) == ["here 2026-01-02 -"]


def test_a_planned_fact_is_taken_back(root: Path) -> None:
    """It ends where it would begin, and may be planned again."""
    add(root, "Ann", "is", "away", start="2027-01-01")
    assert end(root, "Ann", "is", "away") == ["away 2027-01-01 2027-01-01"]
    assert add(root, "Ann", "is", "away", start="2027-01-01").new
    assert facts_check.check(logs.load(root), ()) == []


def test_by_its_id_an_end_may_become_earlier(root: Path) -> None:
    """That is how a contradiction in the past is mended; never later."""
    one = add(root, "Ann", "is", "here", start="2026-01-01").fact
    end(root, one.id, on="2026-06-01")
    assert end(root, one.id, on="2026-03-01") == ["here 2026-01-01 2026-03-01"]
    with pytest.raises(Refused, match="ends on 2026-03-01 already"):
        end(root, one.id, on="2026-04-01")
    with pytest.raises(Refused, match="ends on 2026-03-01 already"):
        end(root, one.id, on="2026-03-01")
    with pytest.raises(Refused, match="ended on 2026-03-01 already"):
        end(root, one.id)
    with pytest.raises(Refused, match="no fact has the id 0123; `palace kg query`"):
        end(root, "0123")


def test_ending_nothing_names_the_nearest(root: Path) -> None:
    """Among what holds, by spelling of entity or value."""
    add(root, "Ann", "works at", "Acme")
    with pytest.raises(Refused, match="the nearest is Ann works at Acme"):
        end(root, "Ann", "works at", "Akme")
    with pytest.raises(Refused, match="the nearest is Ann works at Acme"):
        end(root, "Anne", "works at", "x")
    with pytest.raises(Refused, match="`palace kg entities` lists the names"):
        end(root, "zzz", "yy", "x")


def test_all_that_a_merge_left_active_is_ended(root: Path, keyword_palace: Palace) -> None:
    """Both lines of the same fact."""
    line = {"event": "added", "subject": "Ann", "predicate": "is", "object": "here"}
    lines = [line | {"id": "1", "by": "a"}, line | {"id": "2", "by": "b"}]
    keyword_palace.write(core.PATH, "".join(json.dumps(one) + "\n" for one in lines))
    assert len(logs.load(root).active(NOW)) == 1
    assert len(end(root, "Ann", "is", "here")) == 2
    assert logs.load(root).active(NOW) == ()


def test_two_branches_merge_to_the_union(root: Path) -> None:
    """By git; what then contradicts is named, and mended by the command that is shown."""
    repository = Repository(root)
    repository.write(".gitattributes", "*.jsonl merge=union text eol=lf\n")
    add(root, "Ann", "lives in", "Rome", start="2026-01-01")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "first")
    repository.git("branch", "other")
    add(root, "Ann", "lives in", "Oslo", start="2026-03-01")
    repository.git("commit", "--quiet", "-a", "-m", "ours")
    repository.git("checkout", "--quiet", "other")
    add(root, "Ann", "lives in", "Bern", start="2026-02-01")
    add(root, "Ann", "likes", "tea", now=NOW + timedelta(seconds=5))
    repository.git("commit", "--quiet", "-a", "-m", "theirs")
    repository.git("merge", "--quiet", "-m", "both", "main")
    assert timeline(root) == [
        "Rome 2026-01-01 2026-02-01",
        "Bern 2026-02-01 -",
        "Oslo 2026-03-01 -",
        "tea 2026-11-29 -",
    ]
    (problem,) = facts_check.check(logs.load(root), ["lives in"])
    *_, key, _, day_shown = problem.message.split("`")[1].split()
    assert end(root, key, on=day_shown) == ["Bern 2026-02-01 2026-03-01"]
    assert facts_check.check(logs.load(root), ["lives in"]) == []


def test_the_commit_names_the_events(keyword_palace: Palace, root: Path) -> None:
    """As those of other logs."""
    with held(root, "moved") as one:
        facts.add(one, "Ann", "is", "here")
        assert list(one.touched) == [core.PATH]
        assert f"Event: {one.logged[0].uid}" in pen.message(one)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "end", "id"]),
        st.sampled_from(["Ann", "Bo"]),
        st.sampled_from(["lives in", "likes"]),
        st.sampled_from(["Rome", "ROME", "Oslo", "Bern"]),
        st.sampled_from(["", "2026-11-01", "2026-11-20", "2026-12-01", "2026-12-24"]),
        st.integers(-2, 3),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_whatever_is_added_and_ended_there_is_no_contradiction(
    steps: list[tuple[str, str, str, str, str, int]],
) -> None:
    """No two identical facts at one time, no two values where one can be, no inverted dates; also
    where the clock goes back."""
    with tempfile.TemporaryDirectory() as folder:
        root = Palace(Path(folder)).root
        (root / "palace.yaml").write_text("facts: {one_valued: [lives in]}\n")
        now = NOW - timedelta(days=14)
        with held(root, now=now) as one:
            for what, subject, predicate, object_, start, days in steps:
                one.now += timedelta(days=days)
                moment = day(start) if start else None
                known = logs.load(root).all
                try:
                    if what == "add":
                        done = facts.add(one, subject, predicate, object_, start=moment)
                        assert not done.new or done.fact.holds(moment or done.fact.begins)
                        told = done.fact.id, done.fact.names, done.fact.begins, done.fact.ends
                        kept = logs.load(root).all
                        assert told in {(f.id, f.names, f.begins, f.ends) for f in kept}
                    elif what == "end":
                        facts.invalidate(one, subject, predicate, object_, ended=moment)
                    elif known:
                        facts.invalidate_id(one, known[days % len(known)].id, ended=moment)
                except PalaceError:
                    assert logs.load(root).all == known
        found = logs.load(root)
        assert facts_check.check(found, ["lives in"]) == []
