"""What this machine alone knows of ledgers, in ``.palace/ledger/``: {path: {key: word}} each.

Derived: where it is lost, something is read again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import atomic, ledgers, roots

BACKOFF = "backoff"
"""{path: {stage: entry id}}: up to where a stage has read and deliberately recorded nothing."""

Marks = dict[str, dict[str, str]]


def read(root: Path, name: str) -> Marks:
    """The marks ``name``; none where there is no file or it is damaged."""
    try:
        data = json.loads(_place(root, name).read_bytes())
    except (OSError, ValueError, RecursionError, BadInput):
        return {}
    found: Marks = {}
    for path, words in data.items() if isinstance(data, dict) else ():
        if isinstance(words, dict):
            found[path] = {k: v for k, v in words.items() if isinstance(v, str)}
    return found


def change(root: Path, name: str, path: str, words: Mapping[str, str]) -> None:
    """Set words of one ledger; an empty one is removed. For whoever holds the ledgers' lock.

    Marks of ledgers that are gone go too. Raises :class:`Missing` where that cannot be written.
    """
    before = read(root, name)
    own = {key: word for key, word in ({**before.get(path, {}), **words}).items() if word}
    after = {**before, path: own}
    after = {key: value for key, value in after.items() if value and (root / key).exists()}
    if after == before:
        return
    place = _place(root, name)
    try:
        atomic.tidy(place)
        atomic.write(place, json.dumps(after, indent=0, sort_keys=True).encode("ascii"))
    except OSError as error:
        raise Missing(
            f"{ledgers.LOCK}/{name}.json cannot be written ({error.strerror}): free disk space or "
            "mend that place, and run this again"
        ) from None


def _place(root: Path, name: str) -> Path:
    return roots.inside(root, f"{ledgers.LOCK}/{name}.json")
