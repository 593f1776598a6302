"""What a ledger has already, in little memory: an import reads it line by line, and what others
add meanwhile."""

import re
from pathlib import Path
from typing import Any

from memory_palace.core.text import sha256
from memory_palace.files import roots, transcripts

_AFTER_PROMPT = re.compile(r":[0-9a-f]{8}\Z")


class Known:
    """The entries of the ledger ``path``: numbers made of their uids, ids and texts.

    ``texts`` has a prompt's text by the uid, 0 for any other entry; ``loose`` the ids of entries
    that the client gave no id, by the number of role and text; ``moments`` those of answers that
    are named after their prompt, by text and second; ``headers`` is what headers say.
    """

    def __init__(self, root: Path, path: str) -> None:
        self.texts: dict[int, int] = {}
        self.loose: dict[int, list[int]] = {}
        self.moments: dict[int, int] = {}
        self.headers: set[tuple[str, ...]] = set()
        self._parents: dict[int, int] = {}
        self._place = roots.inside(root, path)
        self._read = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what was added since the last time."""
        if not self._place.exists():
            return
        with transcripts.opened(self._place) as source:
            if source.size > self._read:
                for row in source.records(self._read):
                    self._take(row)
                self._read = source.size

    def _take(self, row: dict[str, Any]) -> None:
        event = row.get("event")
        if event == "session":
            keys = ("client", "wing", "version", "forked_from")
            self.headers.add(tuple(str(row.get(key, "")) for key in keys))
        uid, role, text = row.get("uid"), row.get("role"), row.get("text")
        if event != "entry" or not (isinstance(uid, str) and isinstance(text, str)):
            return
        try:
            one, parent = int(str(row.get("id")), 16), int(str(row.get("parent") or "0"), 16)
            self.texts[int(uid, 16)] = text_number(text) if role == "user" else 0
        except ValueError:
            return
        if one in self._parents:
            return
        self._parents[one] = parent
        if role == "assistant" and _AFTER_PROMPT.search(str(row.get("ref"))):
            self.moments.setdefault(said_number(str(row.get("at")), text), one)
        if not row.get("ref"):
            self.loose.setdefault(said_number(str(role), text), []).append(one)

    def end(self, one: int) -> int:
        """The last entry of those that follow ``one`` (0: of all) and that none follows: itself,
        where it has none after it."""
        followed = set(self._parents.values())
        if one and one not in followed:
            return one
        leaves = (leaf for leaf in reversed(self._parents) if leaf not in followed)
        return next((leaf for leaf in leaves if self._leads_to(leaf, one)), one)

    def _leads_to(self, leaf: int, one: int) -> bool:
        seen: set[int] = set()
        while leaf and leaf not in seen:
            if leaf == one:
                return True
            seen.add(leaf)
            leaf = self._parents.get(leaf, 0)
        return not one


def text_number(text: str) -> int:
    """A number for a text, whatever its white space."""
    return int(sha256(" ".join(text.split()))[:15], 16)


def said_number(what: str, text: str) -> int:
    """A number for a text of a role, or of a time."""
    return text_number(f"{what} {text}")


def empty(root: Path, path: str) -> bool:
    """True if there is no ledger at ``path`` yet."""
    place = roots.inside(root, path)
    return not place.exists() or place.stat().st_size == 0
