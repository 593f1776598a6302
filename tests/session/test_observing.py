"""The pipeline over a ledger: what is due is recorded once, whole, and by nobody twice."""

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core.errors import Busy, Missing
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection
from memory_palace.files import ledgers
from memory_palace.session import afterwards, marks, observing
from memory_palace.session.observing import LEAST_TOKENS, MOST_TOKENS
from memory_palace.session.workers import WorkerFault
from session.ledgered import Killed, Ledgered, Told, concluded, killed_at, of


@pytest.fixture
def talk(tmp_path: Path) -> Ledgered:
    """A session in which nothing was said yet."""
    return Ledgered(tmp_path / "root")


@pytest.fixture(autouse=True)
def afterwards_is(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether what follows was to sum up, each time it was asked for."""
    asked: list[bool] = []

    def run(root: Path, path: str, now: object, ledger: Ledger, flushed: bool) -> tuple[str, ...]:
        asked.append(flushed)
        return ()

    monkeypatch.setattr(afterwards, "run", run)
    return asked


def each(part: Sequence[Entry]) -> list[Observation]:
    """An observation of every entry."""
    return [of(f"said {one.text.rstrip('.')}", one) for one in part]


def test_nothing_is_done_before_it_is_due(talk: Ledgered) -> None:
    """At 9,999 tokens; at 10,000 all of it is read, and it covers up to the last entry."""
    worker = Told(each)
    talk.say("a", tokens=9_000)
    talk.say("b", tokens=999)
    assert talk.run(worker=worker) == observing.Ran(talk.path)
    last = talk.say("c", tokens=1)
    ran = talk.run(worker=worker)
    assert worker.parts == [["a", "b", "c"]]
    assert [one.content for one in ran.observations] == ["said a", "said b", "said c"]
    assert [one.covers_up_to for one in talk.ledger.observations] == [last] * 3
    assert talk.pending == () and talk.ledger.observations[0].by.startswith("told@")
    assert talk.run(worker=worker).observations == ()


def test_a_flush_reads_all(talk: Ledgered, afterwards_is: list[bool]) -> None:
    """Whether it is due or not; then the session is summed up, and not by a run within a hook."""
    talk.say("a")
    assert len(talk.run(worker=Told(each), flush=True).observations) == 1
    assert talk.pending == () and afterwards_is == [True]
    talk.run(worker=Told(each))
    assert afterwards_is == [True, False]
    talk.run(worker=Told(each), flush=True, until=float("inf"))
    assert afterwards_is == [True, False]


@given(sizes=st.lists(st.integers(1, 30_000), max_size=40), cut=st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_parts_depend_on_the_entries_alone(sizes: list[int], cut: int) -> None:
    """They are the same whenever somebody looks, hold every entry once, and are neither too small
    nor too large."""
    from support.palaces import NOW

    entries = [Entry(f"{n:012x}", "", "user", "x" * size * 4, NOW) for n, size in enumerate(sizes)]
    whole = list(observing.parts(entries, True))
    assert [one for part in whole for one in part] == entries
    early = list(observing.parts(entries[:cut], False))
    assert whole[: len(early)] == early
    for number, part in enumerate(whole):
        size = sum(one.tokens for one in part)
        assert size <= MOST_TOKENS or len(part) == 1
        following = whole[number + 1][0].tokens if number + 1 < len(whole) else MOST_TOKENS
        assert size >= LEAST_TOKENS or size + following > MOST_TOKENS or part is whole[-1]


def test_much_is_read_in_parts(talk: Ledgered) -> None:
    """Rules read them all and append once; a command's answer is kept before it reads on. What is
    short of a part waits."""
    for number in range(5):
        talk.say(f"e{number}", tokens=6_000)
    lines = len((talk.root / talk.path).read_text().splitlines())
    worker = Told(each)
    ran = talk.run(worker=worker)
    assert worker.parts == [["e0", "e1"], ["e2", "e3"]]
    assert len(ran.observations) == 4 and len(talk.pending) == 1
    assert len((talk.root / talk.path).read_text().splitlines()) == lines + 2
    for number in range(5, 8):
        talk.say(f"e{number}", tokens=6_000)
    seen = []
    slow = Told(lambda part: seen.append(len(talk.pending)) or each(part), slow=True)
    talk.run(worker=slow)
    assert slow.parts == [["e4", "e5"], ["e6", "e7"]] and seen == [4, 2]


def test_repeats_are_skipped(talk: Ledgered) -> None:
    """Of an earlier part, and within one; when nothing is new, that is a deliberate nothing."""
    same = Told(lambda part: [of("the same", part[0]), of("the same", part[-1])])
    talk.say("a", tokens=10_000)
    assert len(talk.run(worker=same).observations) == 1
    last = talk.say("b", tokens=10_000)
    ran = talk.run(worker=same)
    assert ran.observations == () and "observe" in ran.nothing
    assert len(talk.ledger.observations) == 1 and talk.backoff["observe"] == last


def test_a_deliberate_nothing_backs_off(talk: Ledgered) -> None:
    """For another 10,000 tokens; coverage stays, nothing is written, and it is not read again
    until more than it has come."""
    silent = Told(lambda _: [])
    first = talk.say("a", tokens=10_000)
    before = (talk.root / talk.path).read_bytes()
    assert talk.run(worker=silent).nothing == ("observe",)
    assert (talk.root / talk.path).read_bytes() == before
    assert [one.id for one in talk.pending] == [first] and talk.backoff == {"observe": first}
    talk.say("b", tokens=9_999)
    assert talk.run(worker=silent).nothing == () and silent.parts == [["a"]]
    last = talk.say("c", tokens=1)
    worker = Told(each)
    talk.run(worker=worker)
    assert worker.parts == [["b", "c"]] and talk.pending == ()
    assert {one.covers_up_to for one in talk.ledger.observations} == {last}
    assert "observe" not in talk.backoff


def test_lost_marks_cost_a_reading_only(talk: Ledgered) -> None:
    """Without them, or with damaged ones, all that is pending is read again."""
    talk.say("a", tokens=10_000)
    talk.run(worker=Told(lambda _: []))
    place = talk.root / f".palace/ledger/{marks.BACKOFF}.json"
    for text in ("", "{", "[]", '{"%s": 3}' % talk.path, '{"%s": {"observe": 3}}' % talk.path):
        place.write_text(text)
        worker = Told(lambda _: [])
        talk.run(worker=worker)
        assert worker.parts == [["a"]]


def test_an_observer_fault_stops_all(talk: Ledgered) -> None:
    """Coverage stays where it was, nothing is reflected, and what is wrong is told."""

    def broken(part: Sequence[Entry]) -> list[Observation]:
        if part[0].text.startswith("c"):
            raise WorkerFault("it hangs: mend it")
        return each(part)

    for text in "abcd":
        talk.say(text, tokens=10_000)
    worker = Told(broken)
    ran = talk.run(worker=worker)
    assert ran.faults == ("the observer (told): it hangs: mend it",)
    assert [one.content for one in ran.observations] == ["said a", "said b"]
    assert [one.text[0] for one in talk.pending] == ["c", "d"] and worker.reflected == []
    assert talk.backoff == {}
    assert talk.run(worker=Told(each)).faults == () and talk.pending == ()


def test_a_proposal_with_an_unknown_source_is_refused_whole(talk: Ledgered) -> None:
    """Also one that cites an entry of another part."""
    first = talk.say("a", tokens=10_000)
    talk.say("b", tokens=10_000)

    def reaches(part: Sequence[Entry]) -> list[Observation]:
        return [of("fine", part[0]), replace(of("x", part[0]), sources=(first,))]

    ran = talk.run(worker=Told(reaches))
    assert "which it was not given" in ran.faults[0]
    assert {one.covers_up_to for one in talk.ledger.observations} == {first}
    assert [one.text[0] for one in talk.pending] == ["b"]


def reflecting(talk: Ledgered, lines: int = 2, size: int = 40) -> Told:
    """A session in which the reflector is due, and a worker that concludes something."""
    for number in range(lines):
        talk.say(f"e{number}", tokens=20_000 // lines + 1)

    def observe(part: Sequence[Entry]) -> list[Observation]:
        long = "y" * size
        return [of(f"{one.text.rstrip('.')} {long}", one, relevance="low") for one in part]

    return Told(observe, lambda seen: [concluded("both", *seen[:2])])


def test_reflections(talk: Ledgered) -> None:
    """Due at 20,000 tokens; they cover what was observed, and citations are told."""
    worker = reflecting(talk)
    ran = talk.run(worker=worker)
    assert [one.content for one in ran.reflections] == ["both"] and ran.drops == ()
    assert set(worker.reflected[0].values()) == {"none"}
    (made,) = talk.ledger.reflections
    assert made.covers_up_to == talk.entries[-1].id and len(made.supports) == 2
    assert talk.run(worker=worker).reflections == () and len(worker.reflected) == 1
    talk.say("more", tokens=20_000)
    talk.run(worker=worker)
    assert sorted(worker.reflected[1].values()) == ["none", "partial", "partial"]
    assert talk.backoff == {"reflect": talk.entries[-1].id}, "a repeat is a deliberate nothing"


def test_a_conclusion_of_nothing_backs_off(talk: Ledgered) -> None:
    """For 10,000 tokens of entries after the last that there was."""
    worker = Told(each)
    talk.say("a", tokens=20_000)
    last = talk.say("b", tokens=100)
    assert talk.run(worker=worker).nothing == ("reflect",)
    assert talk.backoff == {"reflect": last} and len(worker.reflected) == 1
    talk.say("c", tokens=9_999)
    talk.run(worker=worker)
    assert len(worker.reflected) == 1
    talk.say("d", tokens=1)
    talk.run(worker=worker)
    assert len(worker.reflected) == 2


def test_a_ledger_is_read_again_only_if_it_has_changed(
    talk: Ledgered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once where nothing is due, and once more after each write."""
    reads: list[str] = []
    load = ledgers.load

    def counted(root: Path, path: str) -> ledgers.Loaded:
        reads.append(path)
        return load(root, path)

    monkeypatch.setattr(ledgers, "load", counted)
    talk.say("a", tokens=9_000)
    talk.run(worker=Told(each))
    assert len(reads) == 1
    talk.say("b", tokens=11_000)
    talk.run(worker=Told(each))
    assert len(reads) == 3


def test_a_flush_does_not_reflect_before_it_is_due(talk: Ledgered) -> None:
    """A conclusion needs something to be drawn from."""
    talk.say("a", tokens=15_000)
    worker = Told(each)
    talk.run(worker=worker, flush=True)
    assert worker.reflected == [] and talk.pending == ()


@pytest.mark.parametrize("kind", ["fault", "unknown"])
def test_a_reflector_fault_skips_the_dropper(talk: Ledgered, kind: str) -> None:
    """What was observed stays, and the pool stays above its target."""
    worker = reflecting(talk, lines=12, size=4_000)

    def broken(_: object) -> list[Reflection]:
        if kind == "fault":
            raise WorkerFault("it printed nothing: mend it")
        return [Reflection("0" * 12, "x", ("f" * 12,), talk.at)]

    worker._reflect = broken
    ran = talk.run(worker=worker)
    assert len(ran.observations) == 12 and len(ran.faults) == 1
    assert ran.faults[0].startswith("the reflector (told)")
    assert talk.ledger.reflections == () and talk.ledger.drops == ()


def test_the_dropper_brings_the_pool_to_its_target(talk: Ledgered) -> None:
    """Only in a run that concluded something; strongly cited ones first, and what must survive
    never; reflections and drops are one write."""
    worker = reflecting(talk, lines=12, size=4_000)
    keep = worker._observe

    def observe(part: Sequence[Entry]) -> list[Observation]:
        first, *rest = keep(part)
        return [of(f"Decided: use FAISS, not a server. {first.content}", part[0]), *rest]

    worker._observe = observe
    worker._reflect = lambda _: []
    ran = talk.run(worker=worker)
    assert ran.nothing == ("reflect",) and talk.ledger.drops == ()
    talk.say("more", tokens=20_000)
    cited: list[str] = []

    def reflect(seen: Sequence[Observation]) -> list[Reflection]:
        cited.append(seen[5].id)
        return [concluded("one", seen[5], seen[6]), concluded("two", seen[5])]

    worker._reflect = reflect
    ran = talk.run(worker=worker)
    assert len(ran.reflections) == 2
    over = sum(one.tokens for one in talk.ledger.observations) - 10_000
    assert 1 <= len(ran.drops) <= -(-over // 1_000)
    assert [ran.drops[0]] == cited
    assert talk.ledger.dropped == set(ran.drops)
    kept = [one for one in talk.ledger.observations if one.content.startswith("Decided")]
    assert kept and not talk.ledger.dropped & {one.id for one in kept}


def test_a_dry_run_writes_nothing(talk: Ledgered) -> None:
    """And says what it would have recorded."""
    worker = reflecting(talk)
    before = sorted((p, p.read_bytes()) for p in talk.root.rglob("*") if p.is_file())
    dry = talk.run(worker=worker, dry_run=True)
    assert before == sorted((p, p.read_bytes()) for p in talk.root.rglob("*") if p.is_file())
    assert len(dry.observations) == 2 and len(dry.reflections) == 1
    real = talk.run(worker=worker)
    assert [one.content for one in real.observations] == [one.content for one in dry.observations]
    assert [one.id for one in real.reflections] == [one.id for one in dry.reflections]


def test_a_deadline(talk: Ledgered) -> None:
    """No part is begun after it, and that is a fault that says what to run."""
    talk.say("a", tokens=12_000)
    ran = talk.run(worker=Told(each), flush=True, until=0.0)
    assert ran.faults == ("no time to observe all of a session: `palace observe --auto --flush`",)
    assert len(talk.pending) == 1


def test_what_is_said_meanwhile_is_read_next(talk: Ledgered) -> None:
    """No lock is held while a worker reads; what came in is pending."""
    talk.say("a", tokens=10_000)

    def observe(part: Sequence[Entry]) -> list[Observation]:
        if not part[0].text.startswith("b"):
            talk.say("b", tokens=100)
        return each(part)

    talk.run(worker=Told(observe))
    assert [one.text[0] for one in talk.pending] == ["b"]


@pytest.mark.parametrize("slow", [False, True])
def test_another_run_meanwhile(talk: Ledgered, slow: bool) -> None:
    """What somebody else has read meanwhile is not recorded again, whatever was proposed."""
    for text in "abc":
        talk.say(text, tokens=10_000)
    done: list[bool] = []

    def observe(part: Sequence[Entry]) -> list[Observation]:
        if not done:
            done.append(True)
            talk.run(worker=Told(lambda p: [of(f"first {p[0].text[0]}", p[0])], slow=slow))
        return each(part)

    ran = talk.run(worker=Told(observe, slow=slow))
    assert ran.observations == ()
    assert sorted(one.content for one in talk.ledger.observations) == [
        "first a",
        "first b",
        "first c",
    ]


def test_a_session_that_goes_back_meanwhile(talk: Ledgered) -> None:
    """What was read stands on another branch now: what is on this one is read."""
    first = talk.say("a", tokens=6_000)
    talk.say("b", tokens=6_000)

    def observe(part: Sequence[Entry]) -> list[Observation]:
        if part[-1].text.startswith("b"):
            talk.say("c", tokens=6_000, parent=first)
        return each(part)

    ran = talk.run(worker=Told(observe))
    assert sorted(one.content for one in ran.observations) == ["said a", "said c"]
    assert sorted(one.content for one in talk.ledger.observations) == ["said a", "said c"]


def test_another_reflects_meanwhile(talk: Ledgered) -> None:
    """What it concluded stays alone; nothing is concluded from what it has read."""
    talk.say("a", tokens=10_000)
    talk.say("b", tokens=10_000)
    done: list[bool] = []

    def reflect(seen: Sequence[Observation]) -> list[Reflection]:
        if not done:
            done.append(True)
            talk.run(worker=Told(each, lambda _: [concluded("first", *seen)]))
        return [concluded("second", *seen)]

    assert talk.run(worker=Told(each, reflect)).reflections == ()
    assert [one.content for one in talk.ledger.reflections] == ["first"]


def test_two_runs_at_once(talk: Ledgered) -> None:
    """Every entry is read into the ledger once."""
    for number in range(40):
        talk.say(f"e{number}", tokens=3_000)
    start = threading.Barrier(3)

    def work() -> None:
        start.wait()
        talk.run(worker=Told(each, slow=True), flush=True)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.content for one in talk.ledger.observations} == {f"said e{n}" for n in range(40)}
    assert len({one.sources for one in talk.ledger.observations}) == 40
    assert talk.pending == () and talk.ledger.observed_again == ()


def test_a_busy_ledger(talk: Ledgered) -> None:
    """Whoever holds the lock for too long is named, and nothing is lost."""
    talk.say("a", tokens=10_000)
    with ledgers.locked(talk.root, "somebody"), pytest.raises(Busy, match="somebody"):
        talk.run(worker=Told(each), wait_seconds=0.05)
    assert len(talk.run(worker=Told(each)).observations) == 1


def test_a_clock_that_jumps_back(talk: Ledgered) -> None:
    """What was recorded in the future counts, and the cursor goes on from there."""
    talk.say("a", tokens=10_000)
    talk.run(worker=Told(each))
    talk.at -= timedelta(days=400)
    tip = talk.entries[-1].id
    talk.say("b", tokens=10_000)
    assert [one.text[0] for one in talk.entries] == ["a", "b"] and tip == talk.entries[0].id
    worker = Told(each)
    talk.run(worker=worker)
    assert worker.parts == [["b"]] and talk.pending == ()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    sizes=st.lists(st.integers(1, 9_000), min_size=1, max_size=14),
    step=st.integers(0, 12),
    runs=st.lists(st.integers(1, 14), max_size=3),
    slow=st.booleans(),
    silent=st.sets(st.integers(0, 13)),
)
def test_a_kill_at_any_step_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    afterwards_is: list[bool],
    sizes: list[int],
    step: int,
    runs: list[int],
    slow: bool,
    silent: set[int],
) -> None:
    """After the next run the ledger holds what it would hold undisturbed; no entry is covered
    twice or left out."""

    def observe(part: Sequence[Entry]) -> list[Observation]:
        loud = [one for one in part if int(one.text.rstrip(".")[1:]) not in silent]
        return [of(f"said {one.text.rstrip('.')} " + "y" * 6_000, one) for one in loud]

    def reflect(seen: Sequence[Observation]) -> list[Reflection]:
        return [concluded(f"up to {' '.join(seen[-1].content.split()[:2])}", *seen[-2:])]

    def play(kill: bool) -> Any:
        talk = Ledgered(tmp_path_factory.mktemp("root"))
        with contextlib.ExitStack() as stack:
            for number, size in enumerate(sizes):
                talk.say(f"e{number}", tokens=size)
                if number + 1 in runs or number + 1 == len(sizes):
                    flush = number + 1 == len(sizes)
                    if kill:
                        with stack, contextlib.suppress(Killed):
                            stack.enter_context(killed_at(step))
                            talk.run(worker=Told(observe, reflect, slow), flush=flush)
                        stack = contextlib.ExitStack()
                    talk.run(worker=Told(observe, reflect, slow), flush=flush)
        return talk.contents()

    assert play(kill=True) == play(kill=False)


def test_a_line_that_is_not_as_a_ledger_holds_it(talk: Ledgered) -> None:
    """Its id is made again of what is kept: with another the whole line would be void."""
    talk.say("a", tokens=10_000)
    odd = replace(of("x", talk.entries[0]), content=" two\nlines ", id="0" * 12)
    talk.run(worker=Told(lambda _: [odd]))
    assert [one.content for one in talk.ledger.observations] == ["two lines"]
    assert talk.ledger.refused == () and talk.pending == ()


def test_a_full_disk(talk: Ledgered, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told with what to do, and the next run goes on."""
    talk.say("a", tokens=10_000)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("memory_palace.files.jsonl.append", full)
        with pytest.raises(Missing, match="free disk space"):
            talk.run(worker=Told(each))
    assert len(talk.run(worker=Told(each)).observations) == 1
    with monkeypatch.context() as patched:
        patched.setattr("memory_palace.files.atomic.write", full)
        talk.say("b", tokens=10_000)
        with pytest.raises(Missing, match=r"backoff\.json cannot be written"):
            talk.run(worker=Told(lambda _: []))
