"""Drains the queue of captured turns inside the warm server, behind whoever asks for it."""

import threading
from collections.abc import Callable
from pathlib import Path

from memory_palace.session import draining


class Drainer:
    """One thread at a time, which looks again before it ends where it was asked meanwhile."""

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self._root = root
        self._say = say
        self._lock = threading.Lock()
        self._asked = False
        self.busy = False

    def start(self) -> None:
        """Have the queue drained; comes back at once."""
        with self._lock:
            self._asked = True
            if self.busy:
                return
            self.busy = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while self._goes_on():
            try:
                draining.work(self._root)
            except Exception as fault:
                self._say(f"captured turns: {type(fault).__name__}: {fault}")

    def _goes_on(self) -> bool:
        with self._lock:
            self.busy, self._asked = self._asked, False
            return self.busy
