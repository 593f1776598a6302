"""Texts over the cores."""

import threading
import time

import numpy as np
import pytest

from memory_palace.embed.spread import spread


def test_results_come_in_the_order_of_the_texts() -> None:
    """Whichever is ready first."""

    def embed(text: str) -> np.ndarray:
        time.sleep(0.02 if text == "0" else 0.0)
        return np.array([int(text)])

    assert [int(row[0]) for row in spread(embed, [str(n) for n in range(30)])] == list(range(30))


def test_several_texts_are_at_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there are cores: here each waits for the other."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=30)

    def embed(text: str) -> np.ndarray:
        both.wait()
        return np.zeros(1)

    assert len(spread(embed, ["a", "b", "c", "d"])) == 4


def test_one_text_takes_no_other_thread() -> None:
    """A question is answered where it is asked."""
    where = []

    def embed(text: str) -> np.ndarray:
        where.append(threading.current_thread())
        return np.zeros(1)

    assert spread(embed, []) == []
    spread(embed, ["a"])
    assert where == [threading.current_thread()]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_a_fault_is_raised_and_stops_the_rest(fault: type[BaseException]) -> None:
    """Texts that nobody will ask for any more are not embedded."""
    done = []

    def embed(text: str) -> np.ndarray:
        if text == "0":
            raise fault("no")
        time.sleep(0.01)
        done.append(text)
        return np.zeros(1)

    with pytest.raises(fault, match="no"):
        spread(embed, [str(n) for n in range(500)])
    assert len(done) < 400
