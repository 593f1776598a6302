"""How long work tells of itself; what it looks like is the caller's."""

from typing import Protocol


class Progress(Protocol):
    """Told what is going on."""

    def say(self, line: str) -> None:
        """One line for a person."""
        ...

    def start(self, label: str, total: int) -> None:
        """``total`` steps of ``label`` begin."""
        ...

    def advance(self, steps: int) -> None: ...

    def stop(self) -> None: ...


class Silent:
    """A :class:`Progress` that says nothing."""

    def say(self, line: str) -> None: ...

    def start(self, label: str, total: int) -> None: ...

    def advance(self, steps: int) -> None: ...

    def stop(self) -> None: ...
