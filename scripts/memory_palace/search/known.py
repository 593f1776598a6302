"""Facts beside hits: entities that a question names bring what is known of them."""

import contextlib
import os
import sqlite3
from datetime import datetime
from pathlib import Path

from memory_palace.core.fact import PATH, Fact

MOST = 5
"""Facts beside the hits of one question."""

MOST_BESIDE_PROMPT = 3


def known(
    root: Path, question: str, now: datetime, as_of: datetime | None = None, most: int = MOST
) -> tuple[Fact, ...]:
    """At most ``most`` facts about entities that ``question`` names, valid at ``as_of`` (``now``),
    those that fit it best first. None without a log of facts, which costs one ``stat``; nor from
    one that cannot be read: `palace kg` says what is wrong with it.
    """
    return _found(root, question, as_of or now, most, prompted=False)


def beside_prompt(root: Path, prompt: str, now: datetime) -> tuple[Fact, ...]:
    """At most :data:`MOST_BESIDE_PROMPT` facts that hold and whose subject ``prompt`` plainly
    names. A prompt asks for nothing: what is not surely meant is noise. None while the log has
    much that was not read before, which a question does."""
    return _found(root, prompt, now, MOST_BESIDE_PROMPT, prompted=True)


def _found(root: Path, question: str, at: datetime, most: int, prompted: bool) -> tuple[Fact, ...]:
    if not question.strip() or not os.path.isfile(root / PATH):
        return ()
    from memory_palace.core import mentions
    from memory_palace.index import facts

    index = facts.opened(root, in_haste=prompted)
    if index is None:
        return ()
    with contextlib.closing(index), contextlib.suppress(OSError, sqlite3.Error):
        found = mentions.candidates(question)
        names = mentions.named(found, index.known({one.name for one in found}), prompted)
        if names:
            about = index.about(names, at)
            if prompted:
                about = [fact for fact in about if fact.names[0] in names]
            return mentions.best(about, names, question, most)
    return ()
