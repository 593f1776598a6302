"""What a fold keeps of real-like coding sessions, when it is cut to a share of their tokens."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The benchmark: it knows how the sessions are read."""
    spec = importlib.util.spec_from_file_location("bench_ledger", REPOSITORY / "bench/ledger.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_ledger"] = module
    spec.loader.exec_module(module)
    return module


def test_questions_name_entries_that_hold_the_answer(bench: ModuleType) -> None:
    """Each has one entry at least, and words of its answer stand in it."""
    paths = sorted(bench.SESSIONS.glob("*.json"))
    assert len(paths) >= 3
    for path in paths:
        session = bench.session(path)
        known = {one.id for one in session.entries}
        assert len(known) == len(session.entries)
        for question in session.questions:
            assert question.entries and question.entries <= known
            assert question.words, path.name


@pytest.mark.parametrize("share", [10, 20, 40])
def test_a_cut_fold_keeps_more_than_the_newest_entries(bench: ModuleType, share: int) -> None:
    """Of what answers questions it cites and says more, and clearly more at a fifth."""
    for path in sorted(bench.SESSIONS.glob("*.json")):
        found = bench.measured(bench.session(path), share)
        folded, truncated = found["folded"], found["truncated"]
        assert folded.recall > truncated.recall, path.name
        assert folded.said > truncated.said, path.name
        if share == 20:
            assert folded.recall >= 2 * truncated.recall, path.name


def test_the_same_session_gives_the_same_fold(bench: ModuleType) -> None:
    """Byte for byte."""
    path = bench.SESSIONS / "billing.json"
    first, again = (bench.folded(bench.session(path)) for _ in range(2))
    assert first.text == again.text
    assert bench.cut(first, 300) == bench.cut(again, 300)
