"""Which faults of hooks still hold: what was mended meanwhile is told to nobody."""

import importlib.util
import re
from datetime import datetime
from pathlib import Path

from memory_palace.core import dates
from memory_palace.files import roots
from memory_palace.index import opening
from memory_palace.session import health
from memory_palace.session.health import Fault

_PACKAGE = re.compile(r"the package `(\w+)` is not installed")
INDEX = "run `palace index`"
"""Ends a fault that a run of the index mends."""


def standing(root: Path) -> list[Fault]:
    """The kept faults, newest first, without those that an index run or a set-up has mended."""
    indexed = _indexed(root)
    return [fault for fault in health.read(root) if not _is_mended(fault, indexed)]


def _is_mended(fault: Fault, indexed: datetime | None) -> bool:
    package = _PACKAGE.search(fault.message)
    if package:
        return importlib.util.find_spec(package[1]) is not None
    last = dates.parse(fault.last)
    return INDEX in fault.message and bool(indexed and last and indexed > last)


def _indexed(root: Path) -> datetime | None:
    """When the index was last written; None without one."""
    try:
        place = roots.index_folder(root) / opening.MAIN
        return dates.from_seconds(int(place.stat().st_mtime))
    except (OSError, ValueError, OverflowError):
        return None
