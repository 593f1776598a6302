"""The situation report: order, budgets, cuts."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import report_text
from memory_palace.core.memories import Memory
from memory_palace.core.queries import CLASSES, GENERAL, QueryClass, query_class
from memory_palace.core.report import BUDGET, Near, Report, compose, eligible
from memory_palace.core.report_text import Candidate
from memory_palace.core.topics import CATEGORIES

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def memory(
    name: str,
    category: str = "lesson",
    strength: float = 1.0,
    text: str = "",
    lifecycle: str = "active",
    days: float = 0.0,
    **more: object,
) -> Memory:
    """An entry; ``days`` since it last came up."""
    then = NOW - timedelta(days=days)
    return Memory(
        id=name,
        category=category,
        text=text or f"said {name}",
        path=str(more.pop("path", CATEGORIES[category].path)),
        line=1,
        cue="explicit",
        evidence=2,
        strength=strength,
        lifecycle=lifecycle,  # type: ignore[arg-type]
        pinned=bool(more.pop("pinned", False)),
        enforced=bool(more.pop("enforced", False)),
        created=then,
        reinforced=then,
        **more,  # type: ignore[arg-type]
    )


def headings(report: Report) -> list[str]:
    """The sections' names."""
    lines = report.text.split("\n")
    return [line[3:].partition(" (")[0] for line in lines if line.startswith("## ")]


def test_nothing_to_tell() -> None:
    """No header without content."""
    assert compose([], NOW).text == ""
    assert compose([memory("a", lifecycle="candidate")], NOW).text == ""


def test_header_sections_and_lines() -> None:
    """The header has the level; each section its file, strongest first; an entry elsewhere says
    where."""
    found = compose(
        [
            memory("b", strength=0.5, lifecycle="provisional"),
            memory("a"),
            memory("p", "preference", path="palace/topics/more.md"),
        ],
        NOW,
    )
    assert found.text == (
        "# Project Memory [3% — 50/1,700 tokens]\n\n"
        "## Preferences (palace/topics/preferences.md)\n"
        "- said p (palace/topics/more.md:1) ^p\n\n"
        "## Lessons (palace/topics/lessons.md)\n- said a ^a\n- said b ^b"
    )
    assert (found.used, found.budget, found.percent) == (50, 1_700, 3)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
def test_the_order_of_a_class(kind: QueryClass) -> None:
    """Sections stand in the order of the query class, after the hint."""
    found = compose([memory(name, name) for name in CATEGORIES], NOW, kind, "words")
    hint = [] if kind is GENERAL else ["Kind of work"]
    assert headings(found) == hint + [CATEGORIES[name].heading for name in kind.order]


def test_candidates_then_hint_then_pinned() -> None:
    """The order at the top; at most five candidates in 150 tokens, and how many more wait."""
    waiting = [Candidate(f"{n:012}", "project_rule", f"rule {n}") for n in range(8)]
    found = compose(
        [memory("a"), memory("p", "done", pinned=True)],
        NOW,
        query_class("debug it"),
        "debug",
        candidates=waiting,
    )
    assert headings(found) == ["Promotion candidates", "Kind of work", "Pinned", "Lessons"]
    assert found.text.count("(project rule, 0000") == 5
    assert "[3 more: `palace promote list --status proposed`]" in found.text
    assert "debug (`debug`): more room for lessons, mistakes" in found.text
    [section] = [one for one in found.sections if one.name == "Promotion candidates"]
    assert section.used <= 150
    long = [Candidate(f"{n:012}", "failure_pattern", "word " * 40) for n in range(8)]
    [section] = compose([], NOW, candidates=long).sections
    assert section.used <= 150 and section.lines[-1].endswith("--status proposed`]")


def test_pinned_and_enforced_are_always_there() -> None:
    """Outside the budget, whatever they take, even where nothing else has room."""
    safe = [memory(f"p{n}", pinned=True, text="word " * 50, strength=0.1) for n in range(40)]
    safe.append(memory("e", "preference", enforced=True, days=900))
    found = compose([*safe, memory("a")], NOW)
    assert {m.id for m in found.memories} == {m.id for m in [*safe, memory("a")]}
    assert found.used < 100
    assert "- [preference] said e *(enforced)* ^e" in found.text
    assert {m.id for m in compose([*safe, memory("a")], NOW, room=0).memories} == {
        m.id for m in safe
    }


def test_decisions_and_completions_are_of_late() -> None:
    """Seven and three days back, and with their day."""
    found = compose(
        [
            memory("d6", "decision", days=6.9),
            memory("d8", "decision", days=7.1),
            memory("c2", "done", days=2.9),
            memory("c4", "done", days=3.1),
            memory("l", days=50),
        ],
        NOW,
    )
    assert {m.id for m in found.memories} == {"d6", "c2", "l"}
    assert found.more == 0
    assert "- 2026-11-22 said d6 ^d6" in found.text


def test_what_does_not_fit_is_counted() -> None:
    """Strongest first; a later one that is short enough still gets in."""
    many = [memory(f"m{n:02}", strength=2 - n / 100, text="word " * 40) for n in range(20)]
    found = compose([*many, memory("zz", strength=0.9, text="short")], NOW)
    [section] = found.sections
    assert section.used <= 400 and found.percent < 80
    assert section.memories[0].id == "m00" and section.memories[-1].id == "zz"
    assert f"[{found.more} more: `palace recall topics/lessons`]" in found.text
    assert len(section.memories) + found.more == 21


def test_a_boosted_section_has_a_quarter_more() -> None:
    """Lessons have 500 tokens instead of 400 where an error is looked for."""
    many = [memory(f"m{n:02}", text="word " * 15) for n in range(60)]
    [general] = compose(many, NOW).sections
    boosted = compose(many, NOW, query_class("debug")).sections[-1]
    assert (general.budget, boosted.budget) == (400, 500)
    assert 350 < general.used <= 400 < boosted.used <= 500


def test_a_warning_when_it_is_nearly_full() -> None:
    """From 80 % on."""
    many = [memory(f"{c}{n:02}", c, text="word " * 15) for c in CATEGORIES for n in range(30)]
    found = compose(many, NOW)
    assert found.percent >= 80 and report_text.WARNING_LINE in found.text
    assert found.used <= BUDGET
    few = compose([m for m in many if m.category in ("lesson", "preference")], NOW)
    assert few.percent < 80 and report_text.WARNING_LINE not in few.text


def test_what_is_near_joins_and_is_not_said_twice() -> None:
    """Nearest first, as many as the class allows; what is a candidate may join too."""
    weak = memory("w", "decision", lifecycle="candidate", days=20)
    strong = memory("s")
    near = [Near(strong, 0.7), Near(weak, 0.9)]
    found = compose([strong, weak], NOW, near=near, files=[Near(strong, 0.8)])
    assert headings(found) == ["Near to the prompt"]
    assert [m.id for m in found.memories] == ["w", "s"]
    lots = [Near(memory(f"n{n}"), 0.7) for n in range(9)]
    assert len(compose([], NOW, near=lots).memories) == 5
    assert len(compose([], NOW, query_class("debug"), near=lots).memories) == 7
    assert len(compose([], NOW, files=lots).memories) == 3


def test_tokens_of_the_system_prompt_are_told() -> None:
    """And change nothing else."""
    found = compose([memory("a")], NOW, system_tokens=12_000)
    assert "Added to a system prompt of 12,000 tokens." in found.text
    assert found.memories == compose([memory("a")], NOW).memories


def test_forgotten_and_archived_ones_are_not_there() -> None:
    """Whatever their lifecycle says."""
    found = compose([memory("a", forgotten=True), memory("b", archived=True)], NOW)
    assert found.text == "" and found.more == 0


_memories = st.lists(
    st.builds(
        memory,
        st.integers(0, 10**6).map("{:07}".format),
        st.sampled_from(list(CATEGORIES)),
        st.floats(0, 3),
        st.one_of(st.text(max_size=60), st.integers(1, 120).map(lambda n: "word " * n)),
        st.sampled_from(["active", "provisional", "candidate", "dropped"]),
        st.floats(0, 12),
        pinned=st.sampled_from([False] * 9 + [True]),
        enforced=st.sampled_from([False] * 9 + [True]),
    ),
    unique_by=lambda one: one.id,
    max_size=120,
)


@settings(max_examples=60, deadline=None)
@given(_memories, st.sampled_from(CLASSES), st.integers(60, BUDGET), st.randoms())
def test_budgets_hold(
    memories: list[Memory], kind: QueryClass, room: int, dice: random.Random
) -> None:
    """But for pinned ones the report fits its room and each section its own; shown and left out
    are all that count; the order of the memories does not matter."""
    near = [Near(one, 0.7) for one in memories[::7] if one.lifecycle != "dropped"]
    found = compose(memories, NOW, kind, "words", near, room=room)
    pinned = sum(len("\n".join(s.lines)) + 14 for s in found.sections if s.name == "Pinned")
    assert len(found.text) - pinned <= 4 * room
    assert found.used <= room or not found.text
    assert all(s.used <= s.budget for s in found.sections if s.budget)
    shown = [m.id for m in found.memories]
    assert len(shown) == len(set(shown))
    joined = {
        m.id for s in found.sections if s.name.startswith(("Near", "Pin")) for m in s.memories
    }
    of = eligible(memories, NOW, joined)
    assert {m.id for many in of.values() for m in many} | joined == set(shown) | {
        m.id for s in found.sections for m in s.cut
    }
    again = list(memories)
    dice.shuffle(again)
    dice.shuffle(near)
    assert compose(again, NOW, kind, "words", near, room=room) == found


def test_it_is_explained() -> None:
    """The class and why, each section's budget and use, what was cut."""
    many = [memory(f"m{n:02}", text="word " * 40) for n in range(20)]
    found = compose(many, NOW, query_class("debug"), "debug")
    said = report_text.explained(found)
    assert said.startswith("class: debug (the prompt says `debug`)\norder: lessons, mistakes, ")
    assert "boosted: lessons, mistakes; near to the prompt: at most 7" in said
    assert said.count(" (1.00)") == found.more > 0
    assert "\ncut:\n" in said
    assert report_text.explained(compose([], NOW)).startswith("class: general (no other matches)")


def test_as_an_object() -> None:
    """The keys of ``--format json``."""
    said = report_text.as_dict(compose([memory("a")], NOW), 7)
    assert list(said) == [
        *("class", "words", "order", "boosted", "vector_hits", "used", "budget", "percent"),
        *("system_tokens", "more", "sections", "text"),
    ]
    assert said["sections"][0]["entries"][0]["id"] == "a"
