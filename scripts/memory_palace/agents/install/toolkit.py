"""What a client is told to run: this toolkit's hook and MCP server, from wherever it lies."""

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.errors import BadInput, Missing

CLIENT = "--client"
_PROGRAMS = {"hook.sh", "hook.py", "palace", "palace.exe", "palace.py"}


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Where the toolkit is. ``folder`` is its checkout, None if only the package is installed;
    ``python`` runs it; ``palace`` is the console script, for a toolkit without a checkout;
    ``windows`` says how paths are written; ``pinned`` is the palace that every session is to use,
    None for the one around its folder."""

    folder: Path | None
    python: str
    palace: str = "palace"
    windows: bool = False
    pinned: Path | None = None

    def hook(self, client: str, event: str) -> str:
        """The shell command of the hook of ``client`` for ``event``."""
        if self.folder is None:
            words = [self.palace, "hook"]
        elif self.windows:
            words = [self.python, str(self.folder / "scripts" / "hook.py")]
        else:
            # By name, not by its mode: a copy may lose that, or lie where nothing may be run.
            words = ["sh", str(self.folder / "scripts" / "hook.sh")]
        return self._line([*words, event, CLIENT, client, *self._root()])

    def server(self) -> tuple[str, list[str]]:
        """Program and arguments of the MCP server."""
        if self.folder is None:
            return _text(self.palace), ["mcp", *self._root()]
        script = _text(str(self.folder / "scripts" / "palace.py"))
        return _text(self.python), [script, "mcp", *self._root()]

    def command(self) -> str:
        """What a person or an agent types for ``palace``."""
        if self.folder is None:
            return self._line([self.palace])
        python = "python" if self.windows else "python3"
        return self._line([python, str(self.folder / "scripts" / "palace.py")])

    def root(self) -> str:
        """The pinned palace as a word of a shell's line; empty if there is none."""
        return self._line(self._root()[1:])

    def plugin(self, path: str) -> Path:
        """The file of the checkout that is a client's plugin. Raises :class:`Missing`."""
        if self.folder is None:
            raise Missing(
                "this client's plugin is a file of the toolkit's repository, which is not here: "
                "clone it, and run `palace install` from there"
            )
        place = self.folder / path
        if not place.is_file():
            raise Missing(f"{place} is not there: bring the toolkit's repository up to date")
        return place

    def _root(self) -> list[str]:
        return ["--root", _text(str(self.pinned))] if self.pinned else []

    def _line(self, words: Sequence[str]) -> str:
        if not self.windows:
            return " ".join(shlex.quote(_text(word)) for word in words)
        # What cmd and a POSIX shell both read: forward slashes, double quotes.
        slashes = [_text(word).replace("\\", "/") for word in words]
        return " ".join(
            word if re.fullmatch(r"[\w./:=-]+", word) else f'"{word}"' for word in slashes
        )


def here(pinned: Path | None = None) -> Toolkit:
    """The toolkit that this code is part of."""
    folder = Path(__file__).resolve().parents[4]
    checkout = folder if (folder / "scripts" / "palace.py").is_file() else None
    beside = Path(sys.executable).parent
    palace = shutil.which("palace", path=str(beside)) or shutil.which("palace")
    if checkout is None and palace is None:
        raise Missing("the command `palace` is not on the path: install the toolkit again")
    found = str(Path(palace).absolute()) if palace else "palace"
    return Toolkit(checkout, sys.executable, found, sys.platform == "win32", pinned)


def is_hook(command: object, client: str) -> bool:
    """True if ``command`` is a hook of ``client`` that some toolkit of ours put there."""
    words = _words(command)
    if CLIENT not in words[:-1] or words[words.index(CLIENT) + 1] != client:
        return False
    return any(_name(word) in _PROGRAMS for word in words)


def is_server(words: Sequence[object]) -> bool:
    """True if ``words``, program and arguments, start the MCP server of some toolkit of ours."""
    named = [word for word in words if isinstance(word, str)]
    if any("${CLAUDE_PLUGIN_ROOT}" in word for word in named):
        return False  # of the plugin's own .mcp.json: not an install's
    return "mcp" in named and any(_name(word) in _PROGRAMS for word in named)


def _words(command: object) -> list[str]:
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return []


def _name(word: str) -> str:
    return re.split(r"[\\/]", word)[-1]


def _text(word: str) -> str:
    """``word``, which goes into a file of UTF-8 lines."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the path {word!r} is not UTF-8: give it another name") from None
    if "\n" in word or "\r" in word:
        raise BadInput(f"the path {word!r} has a line break: give it another name")
    return word
