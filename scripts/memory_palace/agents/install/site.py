"""Whose settings are edited: the user's own, or those of the project in this folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


def home_of(environment: Mapping[str, str]) -> Path | None:
    """The user's home; None if the variable for it is empty, or there is none."""
    if environment.get("HOME", "~") == "":  # which would come out as `/`
        return None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_absolute() and home.is_dir() else None


@dataclass(frozen=True, slots=True)
class Site:
    """``home`` and ``here`` (the current folder) are absolute; ``environment`` has the variables
    by which clients find their folders; ``project`` means the settings of ``here``."""

    home: Path
    here: Path
    environment: Mapping[str, str]
    project: bool = False

    def at_home(self) -> bool:
        """True if the current folder is the home."""
        return os.path.realpath(self.here) == os.path.realpath(self.home)

    def folder(self, variable: str, *parts: str) -> Path:
        """The folder that ``variable`` names, else ``parts`` below the home."""
        named = self.environment.get(variable)
        if not named:
            return self.home.joinpath(*parts)
        if named == "~" or named.startswith("~/"):
            return self.home / named[2:]
        return self.here / named

    def shown(self, path: Path) -> str:
        """``path`` as a person reads it: from the project's folder, or from ``~``."""
        if self.project and path.is_relative_to(self.here):
            return path.relative_to(self.here).as_posix()
        if path.is_relative_to(self.home):
            return f"~/{path.relative_to(self.home).as_posix()}"
        return str(path)
