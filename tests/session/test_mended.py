"""Which faults of hooks still hold."""

import os
from datetime import timedelta

from memory_palace.session import health, mended, wake
from support.palaces import NOW, Palace

INDEX = "there is no index yet: run `palace index`"
PACKAGE = "hook Stop: the package `%s` is not installed: run `make setup` in /palace"


def told(palace: Palace) -> list[str]:
    """The faults that still hold."""
    return [fault.message for fault in mended.standing(palace.root)]


def test_an_index_run_mends_what_asked_for_one(keyword_palace: Palace) -> None:
    """From then on nobody is told; a fault that came up later is."""
    keyword_palace.notes(a="One.")
    health.add(keyword_palace.root, (INDEX, "a lock is held"), NOW)
    assert told(keyword_palace) == ["a lock is held", INDEX]
    keyword_palace.index()
    later = (NOW + timedelta(hours=1)).timestamp()
    os.utime(keyword_palace.root / ".palace/index/catalog.sqlite", (later, later))
    assert told(keyword_palace) == ["a lock is held"]
    assert INDEX not in wake.wake(keyword_palace.root, NOW).text
    assert INDEX not in keyword_palace.command("doctor").out
    health.add(keyword_palace.root, (INDEX,), NOW + timedelta(hours=2))
    assert told(keyword_palace) == [INDEX, "a lock is held"]


def test_a_package_that_is_here_now_is_not_missed(keyword_palace: Palace) -> None:
    """Only one that still cannot be found is told."""
    health.add(keyword_palace.root, (PACKAGE % "json", PACKAGE % "no_such_package"), NOW)
    assert told(keyword_palace) == [PACKAGE % "no_such_package"]
