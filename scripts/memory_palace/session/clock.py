"""The clock of what no person runs: hooks, and what works behind them."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def now() -> "datetime":
    """The time, or ``$PALACE_NOW`` where that is one."""
    from datetime import UTC, datetime

    given = os.environ.get("PALACE_NOW")
    if given:
        from memory_palace.core import dates

        return dates.parse(given) or datetime.now(UTC)
    return datetime.now(UTC)
