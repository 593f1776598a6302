"""Recent work: whole sessions within a budget, and a few lines of them when a session starts."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import fence, recent_work
from memory_palace.core.ledger import tokens
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.recent_work import Session as Told
from memory_palace.session import context, starting
from memory_palace.session.events import Event
from session.sessions import Session, one_of
from support.palaces import NOW, Palace

CLOCK = NOW + timedelta(hours=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace; what is written there is of today as its file's time has it."""
    return Palace(tmp_path / "root").root


def names(found: context.Recent) -> list[str]:
    """The sessions, in the order in which they are shown."""
    return [one.name for one in recent_work.in_order(found.sessions)]


def test_sessions_of_the_project_and_the_time(root: Path) -> None:
    """The newest first; of each what is of that time, without what was dropped."""
    one = Session(root, "s1", at=NOW - timedelta(hours=80))
    one.observed("too old")
    one.at = NOW - timedelta(hours=5)
    gone = one.observed("dropped again")
    one.observed("in time", "decision")
    one.dropped(gone)
    two = Session(root, "s2", at=NOW - timedelta(hours=2), agent="pi")
    two.observed("later")
    two.summarized(request="do it", next_steps="test it")
    Session(root, "s3", wing="shop").observed("elsewhere")
    Session(root, "s4", at=NOW - timedelta(hours=90)).observed("too old as well")
    Session(root, "s5", at=NOW + timedelta(days=400)).observed("a wrong clock")
    Session(root, "s6").said("nothing observed")
    found = context.recent(root, CLOCK, "demo")
    assert names(found) == ["s2", "s1"]
    first, second = recent_work.in_order(found.sessions)
    assert [one.content for one in second.records] == ["in time"]
    assert ([one.content for one in first.records], first.agent) == (["later"], "pi")
    assert dict(first.summary) == {"request": "do it", "next_steps": "test it"}
    assert names(context.recent(root, CLOCK, "Demo", hours=3)) == ["s2"]
    assert names(context.recent(root, CLOCK)) == ["s3", "s2", "s1"]
    assert names(context.recent(root, CLOCK, "none")) == []


def test_a_session_of_a_summary_alone(root: Path) -> None:
    """Then the summary is what there is."""
    Session(root).summarized(completed="all of it")
    (one,) = context.recent(root, CLOCK).sessions
    assert [record.type for record in one.records] == ["summary"]


def test_files_that_nobody_touched_are_not_opened(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their time says so to a session that starts, else their last lines as well; of many that
    were touched the newest are read."""
    for n in range(6):
        session = Session(root, f"s{n}", at=NOW - timedelta(hours=n))
        session.observed(f"of {n}")
        # The time of one file is not that of what it says.
        at = (NOW - timedelta(hours=n if n != 2 else 100)).timestamp()
        os.utime(session.place, (at, at))
    opened: list[str] = []
    read = context.observed.recent

    def remembered(root: Path, path: str, most: int) -> object:
        opened.append(path)
        return read(root, path, most)

    monkeypatch.setattr(context.observed, "recent", remembered)
    assert "of 1" in start(root) and "of 2" not in start(root)
    opened.clear()
    assert names(context.recent(root, CLOCK)) == [f"s{n}" for n in range(6)]
    opened.clear()
    Session(root, "s9", at=NOW - timedelta(days=9)).observed("of another week")
    os.utime(root / "palace/chambers/claude-code/ledger/s9.jsonl", (1, 1))
    context.recent(root, CLOCK)
    assert len(opened) == 6
    for n in range(6):  # as a clone leaves them
        os.utime(root / f"palace/chambers/claude-code/ledger/s{n}.jsonl")
    found = context.recent(root, CLOCK, most=2)
    assert (names(found), found.unread) == (["s0", "s1"], 4)


def test_of_a_long_ledger_the_end_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its start says whose it is all the same."""
    session = Session(root)
    for n in range(60):
        session.said(f"{n} {'x' * 200}")
        if n == 20:
            session.observed("in the middle")
    session.observed("at the end")
    monkeypatch.setattr(context, "TAIL", 2_000)
    (one,) = context.recent(root, CLOCK, "demo").sessions
    assert [record.content for record in one.records] == ["at the end"]


def _in_time(records: list[Record]) -> tuple[Record, ...]:
    return tuple(sorted(records, key=lambda one: one.at))


CONTENTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120)
RECORDS = st.builds(
    Record,
    st.from_regex("[0-9a-f]{12}", fullmatch=True),
    st.just("observation"),
    st.sampled_from(["bugfix", "decision", "observation"]),
    st.integers(0, 4_000).map(lambda n: NOW - timedelta(minutes=n)),
    CONTENTS,
    st.just(1),
    work=st.integers(0, 10**7),
)
SESSIONS = st.lists(
    st.builds(
        Told,
        CONTENTS,
        CONTENTS,
        st.just("pi"),
        st.just("demo"),
        st.lists(RECORDS, min_size=1, max_size=8).map(_in_time),
        st.dictionaries(st.sampled_from(["request", "completed", "next_steps"]), CONTENTS),
    ),
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@given(SESSIONS, st.integers(1, 1_500), st.integers(0, 3), CONTENTS)
def test_the_budget_holds(sessions: list[Told], budget: int, unseen: int, title: str) -> None:
    """Each session is there whole or not at all, and each that is not is counted."""
    shown = recent_work.compose(sessions, title, budget, unseen)
    assert tokens(shown.text) <= budget
    assert shown.more == len(sessions) + unseen - len(shown.sessions)
    left = sum(len(s.records) for s in sessions) - sum(len(s.records) for s in shown.sessions)
    assert shown.more_records == left
    for one in shown.sessions:
        assert recent_work.section(one) in shown.text
    rows = sum(line.startswith("| ") for line in shown.text.split("\n"))
    assert rows == sum(len(s.records) + 2 for s in shown.sessions)
    times = [one.last for one in shown.sessions]
    assert times == sorted(times, reverse=True)


@settings(max_examples=50, deadline=None)
@given(SESSIONS, st.integers(0, 2_500))
def test_the_short_form_has_its_bound(sessions: list[Told], most: int) -> None:
    """As clients count characters; nothing rather than a heading alone."""
    text = recent_work.brief(sessions, "Recent work", most, fence.size)
    assert fence.size(text) <= most
    assert not text or "## " in text


def start(root: Path, source: str = "startup", session: str = "new", **more: str) -> str:
    """What a session gets that starts."""
    event = Event("claude-code", "start", session, source=source, **more)  # type: ignore[arg-type]
    return starting.reply(root, event, CLOCK).context


def test_a_session_starts_with_what_happened_last(root: Path) -> None:
    """In the fence, within 500 tokens; nothing after a compaction, to a subagent, of itself."""
    session = Session(root, "s1")
    session.said("go")
    contents = [one_of(f"{'much was done ' * 9}{n}", "change") for n in range(40)]
    session.observed_all([*contents, one_of("Use amber", "decision")])
    session.summarized(request="paint it", next_steps="a second coat")
    Session(root, "s1.helper").observed("a part of it")
    text = start(root)
    assert text.startswith('<palace-memory kind="wake">') and fence.stripped(text) == ""
    for said in ("# Recent work, last 72 h", "Next steps: a second coat", "decision: Use amber"):
        assert said in text
    section = text[text.index("# Recent work") : text.index("\n</palace-memory>")]
    assert len(section) <= context.STARTING_CHARACTERS
    assert start(root, "compact") == start(root, agent="helper") == ""
    assert start(root, session="s1") == start(root, "resume", session="s1") == ""
    assert "s1" in start(root, "clear")


def test_only_of_the_project_at_hand(root: Path, tmp_path: Path) -> None:
    """That of the repository that the session works in."""
    Session(root, "s1").observed("of demo")
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "demo/.git").mkdir(parents=True)
    assert start(root, cwd=str(tmp_path / "shop")) == ""
    assert "of demo" in start(root, cwd=str(tmp_path / "demo"))


def test_it_gives_way_to_the_rest(root: Path) -> None:
    """Story and report have their room first, and the whole stays within what a client takes."""
    Session(root, "s1").observed("the last thing that happened")
    palace = Palace(root)
    palace.write("palace/grand_hall/identity.md", "\n".join(["we are " * 20] * 12))
    assert "the last thing" in start(root)
    big = "".join(f"- [lesson] {'never forget this ' * 12}{n} *(pinned)*\n" for n in range(60))
    palace.write("palace/topics/lessons.md", big)
    for n in range(30):
        palace.notes(**{f"project_rooms__demo__n{n}": f"# Note {n}\n{'words ' * 60}"})
    assert fence.size(start(root)) <= fence.MOST_CHARACTERS


def test_ledgers_that_cannot_be_read_are_counted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With those that are too many to read."""
    Session(root, "s1").observed("done")
    Session(root, "s2").observed("done too")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("s2.jsonl"))
    assert context.recent(root, CLOCK, "demo").unread == 1


def test_a_summary_shows_no_private_span(root: Path) -> None:
    """In the full text and in the short one."""
    session = Session(root)
    session.observed("done")
    session.summarized(request="tell <private>4711</private> nobody")
    found = context.recent(root, CLOCK, "demo").sessions
    for text in (recent_work.compose(found, "t").text, recent_work.brief(found, "t", 2_000, len)):
        assert "4711" not in text and "tell [PRIVATE] nobody" in text


def session_of(*records: Record, **summary: str) -> Told:
    """A session with these."""
    return Told("s.jsonl", "s 1", "pi", "demo", records, summary)


def record(content: str, kind: str = "change", relevance: str = "", minutes: float = 0) -> Record:
    """An observation of that minute."""
    at = NOW + timedelta(minutes=minutes)
    return Record("0" * 12, "observation", kind, at, content, 1, relevance)


def test_a_session_in_short_says_first_what_one_wants_to_know() -> None:
    """Request, completed, next steps, then what weighs most; commits are told by `completed`."""
    told = session_of(
        record("Committed `1a2b3c4` on main: paint", "feature", "high"),
        record("Sanded", "change", "low", 1),
        record("Use amber", "decision", "critical", 2),
        record("Use two coats", "decision", "low", 3),
        next_steps="a second coat",
        completed="committed paint (1a2b3c4); " + "and so on; " * 30,
        request="paint it",
    )
    lines = recent_work.short(told, 2).split("\n")
    assert lines[1] == "Request: paint it"
    assert lines[2].startswith("Completed: committed paint (1a2b3c4); and so on")
    assert lines[2].endswith("and so on; …") and len(lines[2]) <= 260
    assert lines[3:] == [
        "Next steps: a second coat",
        "- [000000000000] decision: Use amber",
        "- [000000000000] decision: Use two coats",
        "- 2 more: `palace ledger show --session 's 1'`",
    ]


def test_what_is_left_out_is_shown_by_the_command_that_is_named(root: Path) -> None:
    """All of the session's records."""
    session = Session(root, "s1")
    session.observed_all([one_of(f"change number {n}", "change") for n in range(20)])
    (line,) = [one for one in start(root).split("\n") if "more: `" in one]
    shown = Palace(root).command(*line.partition("`palace ")[2].rstrip("`").split())
    assert all(f"change number {n}" in shown.out for n in range(20))


def test_older_sessions_have_fewer_lines(root: Path) -> None:
    """So that all three have room."""
    for n in range(3):
        session = Session(root, f"s{n}", at=NOW - timedelta(hours=9 - n))
        session.observed_all([one_of(f"{'much was done ' * 9}{m}", "change") for m in range(9)])
    parts = start(root).split("## ")[1:]
    assert [part.count("\n- [") for part in parts] == [5, 2, 2]


def test_a_session_of_a_minute_has_no_end() -> None:
    """It is not told twice."""
    told = session_of(record("a"), record("b", minutes=0.5))
    assert recent_work.section(told).startswith("## 2026-11-29 12:00, pi, session s 1")
    told = session_of(record("a"), record("b", minutes=1))
    assert recent_work.section(told).startswith("## 2026-11-29 12:00 to 12:01, pi")
