"""Facts in time: what lines in any order come to."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_palace.core import dates, facts, facts_check, facts_text
from memory_palace.core.facts import Fact, Facts

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

Line = dict[str, Any]


def added(object_: str = "Rome", **more: Any) -> Line:
    """A line that adds where Ann lives, as a person writes it."""
    return {"event": "added", "subject": "Ann", "predicate": "lives in", "object": object_} | more


def ended(key: str, day: str, **more: Any) -> Line:
    """A line that ends a fact."""
    return {"event": "invalidated", "id": key, "valid_to": day} | more


def folded(*lines: Line, about: list[str] | None = None) -> Facts:
    """The facts of these lines."""
    return facts.fold(list(enumerate(lines, start=1)), about)


def said(found: Facts) -> list[str]:
    """The problems, as they are shown."""
    return [str(problem) for problem in found.problems]


def objects(found: Any) -> list[str]:
    """The objects of facts."""
    return [fact.object for fact in found]


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        (" Ann  Smith ", "ann_smith"),
        ("O'Brien’s", "obriens"),
        ("Caf\u0065\u0301", "café"),
        ("lives_in", "lives_in"),
        ("STRASSE", "strasse"),
        ("''", ""),
    ],
)
def test_names_are_compared(name: str, compared: str) -> None:
    """Trimmed, lower case, without apostrophes, `_` for spaces, in one Unicode form."""
    assert facts.normal(name) == compared


@given(st.text())
def test_a_compared_name_stays(name: str) -> None:
    """Comparing twice changes nothing."""
    assert facts.normal(facts.normal(name)) == facts.normal(name)


def test_the_id_has_names_start_and_time() -> None:
    """12 hex digits; spelling does not matter, coming back does."""
    start, at = datetime(2026, 1, 1, tzinfo=UTC), NOW
    one = facts.fact_id("Ann", "lives in", "Rome", start, at)
    assert len(one) == 12
    assert one == facts.fact_id(" ann", "Lives_In", "ROME", start, at)
    assert one != facts.fact_id("Ann", "lives in", "Rome", start, at + timedelta(seconds=1))
    assert one != facts.fact_id("Ann", "lives in", "Rome", None, at)


def test_a_line_by_hand_needs_its_three_names() -> None:
    """Without dates it always holds; without an id it gets one; numbers are names too."""
    (one,) = folded(added(7)).all
    assert (one.sentence, one.valid_from, one.valid_to, one.line) == (
        "Ann lives in 7",
        None,
        None,
        1,
    )
    assert one.id == facts.fact_id("Ann", "lives in", "7", None, None)
    assert one.holds(facts.LONG_AGO)
    assert one.holds(facts.NEVER)


def test_a_fact_holds_from_its_start_to_before_its_end() -> None:
    """Without `valid_from` from the time of adding."""
    (one,) = folded(added(valid_from="2026-01-01", valid_to="2026-02-01")).all
    first, last = one.begins, one.ends
    assert [one.holds(at) for at in (first - timedelta(seconds=1), first, last)] == [
        False,
        True,
        False,
    ]
    assert one.holds(dates.end_of("2026-01-31") or NOW)
    assert not one.holds(dates.end_of("2026-02-01") or NOW)
    (later,) = folded(added(at="2026-11-29T12:00:00Z")).all
    assert later.valid_from == NOW


def test_the_earliest_end_counts() -> None:
    """Whichever branch said it, and its own `valid_to` among them; who ended it is told."""
    line = added(id="f1", valid_to="2026-09-01")
    early = ended("f1", "2026-03-01", at="2026-11-02T00:00:00Z", by="b", reason="moved")
    late = ended("f1", "2026-05-01", at="2026-11-01T00:00:00Z", by="a")
    (one,) = folded(late, line, early).all
    assert facts_text.moment(one.ends) == "2026-03-01"
    assert (one.ended_by, one.reason, one.ended_at) == (
        "b",
        "moved",
        datetime(2026, 11, 2, tzinfo=UTC),
    )
    (kept,) = folded(line, ended("f1", "2026-10-01", by="c")).all
    assert (facts_text.moment(kept.ends), kept.ended_by) == ("2026-09-01", "")
    (now,) = folded(added(id="f1"), {"event": "invalidated", "id": "f1", "at": "2026-11-01"}).all
    assert facts_text.moment(now.ends) == "2026-11-01"


def test_of_two_equal_ends_the_first_said_is_told() -> None:
    """In any order of the lines; of two said at once always the same one."""
    line = added(id="f1")
    first = ended("f1", "2026-03-01", at="2026-11-01T00:00:00Z", by="b", reason="moved")
    later = ended("f1", "2026-03-01", at="2026-11-02T00:00:00Z", by="a", reason="left")
    at_once = first | {"by": "c", "reason": "gone"}
    for one, other in ((first, later), (first, at_once)):
        for lines in ((line, one, other), (other, one, line)):
            (fact,) = folded(*lines).all
            assert (fact.ended_by, fact.reason) == ("b", "moved")


def test_a_fact_by_hand_that_was_ended_is_known_to_who_asks_of_another() -> None:
    """Its id follows from its line: what ends it is no stray, whoever the facts are about."""
    line = added("Rome", at="2026-11-01T00:00:00Z")
    (one,) = folded(line).all
    for about in (["Ann"], ["Bo"], None):
        found = folded(line, ended(one.id, "2026-11-20"), about=about)
        assert said(found) == []
        assert len(found.all) == (about != ["Bo"])
    assert said(folded(added(at="soon"), about=["Bo"])) == []


def test_the_first_spelling_is_shown() -> None:
    """Of entities and of predicates, by the time of adding; each kind for itself."""
    found = folded(
        added("ROME", id="b", at="2026-11-02T00:00:00Z", predicate="Lives_In"),
        added("Rome", id="a", at="2026-11-01T00:00:00Z", subject="ann "),
        {
            "event": "added",
            "id": "c",
            "at": "2026-11-03T00:00:00Z",
            "subject": "lives IN",
            "predicate": "rome",
            "object": "x",
        },
    )
    assert [fact.sentence for fact in found.all] == [
        "ann lives in Rome",
        "ann lives in Rome",
        "lives IN rome x",
    ]
    assert found.spelled == {"ann": "ann", "rome": "Rome", "lives_in": "lives IN", "x": "x"}
    assert found.predicates == {"lives_in": "lives in", "rome": "rome"}


def test_facts_about_an_entity() -> None:
    """As subject, as object, or both; at a time or ever; names as compared."""
    found = folded(
        added("Rome", valid_to="2026-06-01"),
        added("Oslo", valid_from="2026-06-01"),
        {"event": "added", "subject": "Bo", "predicate": "knows", "object": "Ann"},
        {"event": "added", "subject": "Ann", "predicate": "is", "object": "Ann"},
    )
    assert len(found.about(" ANN ")) == 4
    assert objects(found.about("ann", "subject", NOW)) == ["Ann", "Oslo"]
    assert [fact.subject for fact in found.about("ann", "object", NOW)] in (
        ["Ann", "Bo"],
        ["Bo", "Ann"],
    )
    then = datetime(2026, 1, 1, tzinfo=UTC)
    assert sorted(objects(found.about("ann", "subject", then))) == ["Ann", "Rome"]
    assert objects(found.about("rome", "both", NOW)) == []
    assert objects(found.timeline("rome")) == ["Rome"]
    assert found.about("nobody") == ()


def test_entities_are_counted() -> None:
    """By prefix as names are compared; near ones are offered for a wrong one."""
    found = folded(
        added("Rome", valid_to="2026-06-01"),
        added("New York"),
        {"event": "added", "subject": "Ann", "predicate": "is", "object": "ann"},
    )
    assert [tuple(one) for one in found.entities(at=NOW)] == [
        ("Ann", 3, 1, 2),
        ("New York", 0, 1, 1),
        ("Rome", 0, 1, 0),
    ]
    other = folded(added("Oslo", valid_to="2027-01-01"), added("Bern", valid_from="2027-01-01"))
    assert [one.holding for one in other.entities(at=NOW)] == [1, 0, 1]
    assert [one.name for one in found.entities("new Y")] == ["New York"]
    assert found.near("New Yrok") == ("New York",)
    assert found.near("zzz") == ()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"subject": "a"}, "has no `event`"),
        ({"event": 3}, "has no `event`"),
        ({"event": "aded"}, "unknown event `aded`, kept: did you mean `added`?"),
        (added(""), "has no `object`"),
        (added(subject=["a"]), "has no `subject`"),
        (added("''"), "`object` is \"''\", which names nothing"),
        (added("x" * 501), "`object` has 501 characters: write at most 500"),
        (added(at="soon"), "`at` is 'soon': write 2026-11-29"),
        (added(valid_from="2026-13-01"), "`valid_from` is '2026-13-01'"),
        (added(valid_to=5), "`valid_to` is '5'"),
        (ended("", "2026-01-01"), "has no `id`"),
        (ended("f1", ""), "has no `valid_to`"),
        (ended("f1", "2026-01-01"), "warning: ends f1, which no line adds"),
    ],
)
def test_lines_that_do_not_count(line: Line, what: str) -> None:
    """Each is a problem with its place; the others count."""
    found = folded(line, added("Oslo"))
    assert objects(found.all) == ["Oslo"]
    (told,) = said(found)
    assert told.startswith("manifests/facts.jsonl:1: ")
    assert what in told


@pytest.mark.parametrize("share", [2, -0.1, "high", True, float("nan")])
def test_a_confidence_is_a_share(share: Any) -> None:
    """What is none is left out and told; the fact counts."""
    found = folded(added(confidence=share))
    assert found.all[0].confidence is None
    assert "`confidence` is" in said(found)[0]
    assert folded(added(confidence=0.5)).all[0].confidence == 0.5


def test_one_uid_is_one_line() -> None:
    """The same twice is once; another content is told, and one counts in any order."""
    line = added(uid="u1", id="f1")
    assert len(folded(line, dict(line)).all) == 1
    assert said(folded(line, dict(line))) == []
    other = added("Oslo", uid="u1", id="f2")
    one, two = folded(line, other), folded(other, line)
    assert objects(one.all) == objects(two.all)
    assert "uid u1 has other content on line 1" in said(one)[0]


def test_one_id_is_one_fact() -> None:
    """Both branches added it within one second: the first counts; other names are a problem."""
    one, two = added(uid="u1", id="f1", source="x"), added(uid="u2", id="f1", source="y")
    assert [fact.source for fact in folded(two, one).all] == ["x"]
    assert "id f1 is another fact on line 1" in said(folded(one, added("Oslo", id="f1")))[0]


def test_a_line_of_text() -> None:
    """Id, names, period, and where it is from."""
    found = folded(
        added(id="f1", at="2026-11-20T00:00:00Z", by="pi@laptop", source="card 7", confidence=0.8),
        added("Oslo", id="f2", valid_from="2027-01-01", reason="so"),
        added("Bern", id="f3", valid_to="2026-02-01T10:00:00Z"),
        added("Kyiv", id="f4", valid_from="2026-01-01"),
        ended("f4", "2026-12-24", at="2026-11-01T00:00:00Z", by="me", reason="moves"),
        added("Graz", id="f5", at="2026-11-29T12:00:00Z", by="me"),
        added("Wien", id="f6", valid_from="2026-01-01"),
        ended("f6", "2026-11-29T12:00:00Z", at="2026-11-29T12:00:00Z"),
    )
    assert sorted(facts_text.line(fact, NOW) for fact in found.all) == [
        "f1  Ann lives in Rome  [2026-11-20 .. now]  by pi@laptop 2026-11-20, card 7, "
        "confidence 0.8",
        "f2  Ann lives in Oslo  [2027-01-01 ..]  by hand, because so",
        "f3  Ann lives in Bern  [.. 2026-02-01T10:00:00Z)  by hand",
        "f4  Ann lives in Kyiv  [2026-01-01 .. 2026-12-24)  by hand, end set by me: moves",
        "f5  Ann lives in Graz  [2026-11-29T12:00:00Z .. now]  by me 2026-11-29",
        "f6  Ann lives in Wien  [2026-01-01 .. 2026-11-29T12:00:00Z)  by hand, ended by hand",
    ]


def test_two_values_of_a_one_valued_predicate_clash() -> None:
    """At a moment, or at any time; others of the same and other subjects do not."""

    def clashing(*lines: Line, at: datetime | None = NOW) -> list[list[str]]:
        return [objects(pair) for pair in folded(*lines).clashes(["Lives In"], at)]

    assert clashing(added("Rome", id="a"), added("Oslo", id="b")) == [["Rome", "Oslo"]]
    assert clashing(added("Rome"), added("rome ", valid_from="2026-01-01")) == []
    assert clashing(added("Rome"), added("Oslo", subject="Ben")) == []
    assert folded(added("Rome"), added("Oslo")).clashes([], NOW) == ()
    past = (added("Rome", valid_to="2026-11-01"), added("Oslo", valid_from="2026-10-01"))
    assert clashing(*past) == []
    assert clashing(*past, at=None) == [["Rome", "Oslo"]]
    assert clashing(past[0], added("Oslo", valid_from="2026-11-01"), at=None) == []


def test_check_names_what_is_wrong_and_what_to_do() -> None:
    """Contradictions, inverted dates, the same twice at one time, lines that do not count."""
    found = folded(
        added("Rome", id="a", valid_from="2026-01-01"),
        added("Oslo", id="b", valid_from="2026-03-01"),
        added("oslo", id="c", valid_from="2026-04-01"),
        added("Bern", id="d", valid_from="2026-02-01", valid_to="2026-01-01"),
        {"event": "x"},
    )
    told = [str(problem) for problem in facts_check.check(found, ["lives_in"])]
    place = "manifests/facts.jsonl"
    assert told == [
        f"{place}:2: error: Ann has one lives in at a time: Ann lives in Rome [2026-01-01 ..] "
        "(line 1) and Oslo [2026-03-01 ..]: end one, "
        "`palace kg invalidate a --ended 2026-03-01`",
        f"{place}:3: error: Ann has one lives in at a time: Ann lives in Rome [2026-01-01 ..] "
        "(line 1) and Oslo [2026-04-01 ..]: end one, "
        "`palace kg invalidate a --ended 2026-04-01`",
        f"{place}:3: error: the same fact twice at one time: Ann lives in Oslo [2026-03-01 ..] "
        "(line 2) and Oslo [2026-04-01 ..]: end one, "
        "`palace kg invalidate b --ended 2026-04-01`",
        f"{place}:4: error: Ann lives in Bern ended on 2026-01-01, before it began on "
        "2026-02-01: mend its dates",
        f"{place}:5: error: unknown event `x`, kept: known are added, invalidated",
    ]
    assert facts_check.check(folded(added("Rome"), added("Oslo")), []) == []


# -- in any order ---------------------------------------------------------------------------

NAMES = st.sampled_from(["Ann", "ann ", "It's", "its", "Rome", "ROME", "b"])
PREDICATES = st.sampled_from(["is", "Is", "lives in"])
DAYS = st.integers(1, 6).map(lambda day: f"2026-01-0{day}")
TIMES = st.integers(0, 3).map(lambda second: f"2026-01-03T00:00:0{second}Z")
IDS = st.integers(1, 5).map(str)
ADDED = st.fixed_dictionaries(
    {"event": st.just("added"), "subject": NAMES, "predicate": PREDICATES, "object": NAMES},
    optional={
        "at": TIMES,
        "id": IDS,
        "by": st.sampled_from(["x", "y"]),
        "valid_from": DAYS,
        "valid_to": DAYS,
        "reason": st.sampled_from(["r", "s"]),
        "uid": st.sampled_from(["u1", "u2", "u3"]),
    },
)


@st.composite
def logs(draw: st.DrawFn) -> list[Line]:
    """Lines in any order: the same instant, other clocks, ends before starts, and ends of one fact
    that two said, of facts with an id and without."""
    lines = draw(st.lists(ADDED, max_size=8))
    keys = [*(fact.id for fact in folded(*lines).all), "gone"]
    ended = st.fixed_dictionaries(
        {"event": st.just("invalidated"), "id": st.sampled_from(keys), "valid_to": DAYS},
        optional={
            "at": TIMES,
            "by": st.sampled_from(["x", "y"]),
            "reason": st.sampled_from(["r", "s"]),
            "uid": st.sampled_from(["u1", "u4", "u5"]),
        },
    )
    ends = draw(st.lists(ended, max_size=6))
    # Two say the same end of one fact: who is told must not hang on the order.
    ends += [one | {"by": draw(st.sampled_from(["x", "y", "z"]))} for one in ends[:2]]
    return list(draw(st.permutations([*lines, *ends])))


LINES = logs()
MOMENTS = st.datetimes(datetime(2025, 12, 31), datetime(2026, 1, 8), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)


def state(found: Facts) -> Any:
    """All that is derived, but for the places of the lines."""
    listed = [fact._replace(line=0) for fact in found.all]
    return listed, found.spelled, found.predicates


@given(LINES, st.data())
def test_any_order_gives_the_same_state(lines: list[Line], data: st.DataObject) -> None:
    """The set of lines is all that counts."""
    mixed = data.draw(st.permutations(lines))
    assert state(folded(*mixed)) == state(folded(*lines))


@given(LINES, LINES, LINES)
def test_two_branches_merge_to_the_union(base: list[Line], a: list[Line], b: list[Line]) -> None:
    """Whichever comes first, and with the common lines once or twice."""
    union = state(folded(*base, *a, *b))
    assert state(folded(*base, *b, *base, *a)) == union


@given(LINES, MOMENTS)
def test_as_of_agrees_with_the_timeline(lines: list[Line], at: datetime) -> None:
    """What holds at a moment is what the timeline has then, identical facts once."""
    found = folded(*lines)
    for name in ("ann", "its", "rome", "b"):
        timeline = found.timeline(name)
        assert [(f.begins, f.id) for f in timeline] == sorted((f.begins, f.id) for f in timeline)
        shown = found.about(name, "both", at)
        assert {fact.names for fact in shown} == {f.names for f in timeline if f.holds(at)}
        assert set(shown) <= set(timeline)
        assert set(shown) == {f for f in found.active(at) if name in (f.names[0], f.names[2])}


@given(LINES, MOMENTS)
def test_no_two_active_facts_are_identical(lines: list[Line], at: datetime) -> None:
    """Also where two branches added the same."""
    names = [fact.names for fact in folded(*lines).active(at)]
    assert len(names) == len(set(names))


@given(LINES, st.sampled_from(["Ann", "its", "ROME"]))
def test_facts_of_one_entity_are_those_among_all(lines: list[Line], name: str) -> None:
    """Reading only what is about it gives the same facts, spelled the same.

    But for an id that is two facts, which is told and has to be mended.
    """
    some, every = folded(*lines, about=[name]), folded(*lines)
    assume(not any("is another fact" in problem for problem in said(every)))
    assert some.timeline(name) == every.timeline(name)
    assert set(said(some)) <= set(said(every))


def overlap(one: Fact, other: Fact) -> bool:
    """True if both hold at some moment."""
    begins, ends = max(one.begins, other.begins), min(one.ends, other.ends)
    return begins < ends


VALUES = st.lists(
    st.fixed_dictionaries(
        {"object": st.sampled_from(["Rome", "Oslo", "Bern"]), "valid_from": DAYS},
        optional={"valid_to": DAYS},
    ).map(lambda keys: {"event": "added", "subject": "Ann", "predicate": "is"} | keys),
    max_size=7,
)
"""Values of one subject, some of them twice, as after a merge."""


@given(LINES | VALUES)
def test_every_contradiction_is_seen(lines: list[Line]) -> None:
    """A fact is in a pair if it contradicts one before it, by comparing each with each."""
    found = folded(*lines)
    pairs = [
        (one, other)
        for one, other in combinations(found.all, 2)
        if one.names[:2] == other.names[:2] and one.names[1] == "is" and overlap(one, other)
    ]
    wrong = {other.id for one, other in pairs if one.names != other.names}
    seen = found.clashes(["IS"])
    assert {other.id for _, other in seen} == wrong
    assert set(seen) <= set(pairs)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers())
)
KEYS = st.sampled_from(
    ["event", "subject", "predicate", "object", "id", "valid_to", "valid_from", "at", "uid"]
)


@given(st.lists(st.dictionaries(KEYS, SCALARS | st.sampled_from(["added", "invalidated"]))))
def test_lines_of_any_shape_raise_nothing(lines: list[Line]) -> None:
    """Every fact has its three names."""
    found = folded(*lines)
    assert all(all(fact.names) for fact in found.all)
    facts_check.check(found, ["added"])
