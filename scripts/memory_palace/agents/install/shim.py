"""The file of ours that a client loads as its plugin: one line that names the toolkit's own."""

import json
import re
from pathlib import Path

from memory_palace.agents.install.entries import Edited
from memory_palace.agents.install.jsontext import TextFault

WHAT = ("the plugin",)
_HEAD = "// The memory palace's: made and removed by `palace install` and `palace uninstall`.\n"
_WHOLE = re.compile(
    re.escape(_HEAD)
    + r'(?:process\.env\.PALACE_ROOT = (?P<root>".*");\n)?'
    + r'export (?:\*|\{ default \}) from (?P<plugin>".*");\n'
)


def shimmed(text: str | None, what: str, plugin: Path, pinned: Path | None) -> Edited:
    """The file that exports ``what`` (``*`` or ``{ default }``) of ``plugin``.

    Raises :class:`TextFault` for a file that is not ours, or not as we made it.
    """
    root = f"process.env.PALACE_ROOT = {_quoted(str(pinned))};\n" if pinned else ""
    new = f"{_HEAD}{root}export {what} from {_quoted(plugin.as_uri())};\n"
    if text == new:
        return text, ()
    _check(text)
    return new, WHAT if text is None else ("the plugin renewed",)


def unshimmed(text: str | None) -> Edited:
    """No file. Raises :class:`TextFault` for one that is not as we made it."""
    _check(text)
    return None, () if text is None else WHAT


def command_of(text: str | None) -> list[str]:
    """The plugin that is loaded, as a URI, and which palace it is pinned to; empty for a file
    that is not ours."""
    found = _WHOLE.fullmatch(text or "")
    if not found:
        return []
    root = found["root"]
    return [json.loads(found["plugin"]), *(["--root", json.loads(root)] if root else [])]


def _check(text: str | None) -> None:
    if text is not None and not _WHOLE.fullmatch(text):
        raise TextFault(1, "is not as `palace install` makes it: move it away")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
