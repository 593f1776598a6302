"""`palace doctor` about capture: whether it is on, what waits, how to switch it off."""

from datetime import timedelta

import pytest

from memory_palace.files import queue
from session.captured_turns import say
from support.palaces import NOW, Palace


def told(palace: Palace, what: str) -> list[str]:
    """The lines about ``what``, with their mark."""
    lines = palace.command("doctor").out.splitlines()
    return [line for line in lines if line[6:].startswith(f"{what}: ")]


def test_it_is_on_and_says_how_to_switch_it_off(keyword_palace: Palace) -> None:
    """By default, and nothing waits."""
    (line,) = told(keyword_palace, "capture")
    assert line.startswith("ok    capture: on; to switch it off: `capture: off` in palace.yaml")
    assert told(keyword_palace, "queue") == []


def test_what_waits_is_counted(keyword_palace: Palace) -> None:
    """And whether somebody sees to it."""
    for number in range(3):
        at = NOW + timedelta(hours=number)
        say(keyword_palace.root, "word " * 300, f"s{number % 2}", at=at)
    (line,) = told(keyword_palace, "queue")
    assert line.startswith("note  queue: 3 captured items of 2 sessions (5 KB) wait for the end of")
    with queue.only_one(keyword_palace.root, queue.WORK):
        (line,) = told(keyword_palace, "queue")
    assert line == "ok    queue: 3 captured items of 2 sessions (5 KB), being put into ledgers"


@pytest.mark.parametrize(
    ("value", "mark", "said"),
    [
        ("off", "note ", "off: palace.yaml has `capture: off`"),
        ("maybe", "WRONG", "off, because palace.yaml has `capture: maybe`: write on or off"),
    ],
)
def test_it_is_off(keyword_palace: Palace, value: str, mark: str, said: str) -> None:
    """By whom, and whether that is how it is written."""
    keyword_palace.write("palace.yaml", f"capture: {value}\n")
    assert told(keyword_palace, "capture") == [f"{mark} capture: {said}"]


def test_it_is_switched_off_by_the_variable(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one session."""
    monkeypatch.setenv("PALACE_CAPTURE", "off")
    assert told(keyword_palace, "capture") == ["note  capture: off: $PALACE_CAPTURE is off"]


def test_a_queue_that_cannot_be_used_is_wrong(keyword_palace: Palace) -> None:
    """A file in its place, or a link."""
    place = keyword_palace.root / queue.FOLDER
    place.parent.mkdir()
    place.write_text("")
    (line,) = told(keyword_palace, "queue")
    assert line.startswith("WRONG queue: .palace/queue is no folder, so no turn is captured")
    place.unlink()
    place.symlink_to(keyword_palace.root)
    (line,) = told(keyword_palace, "queue")
    assert line.startswith("WRONG queue: .palace/queue is a symbolic link")
