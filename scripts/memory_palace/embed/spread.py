"""Texts over the cores: one text a thread, each run on one core.

A small model that uses all cores for one text mostly waits at the end of each layer, the more so
beside other work on the machine; one text a core made two to three times the texts a second.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")


def spread(embed: Callable[[str], Made], texts: Sequence[str]) -> list[Made]:
    """What ``embed`` gives for each text, in order; an exception of one is raised."""
    if len(texts) < 2:
        return [embed(text) for text in texts]
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, len(texts)))
    try:
        return list(pool.map(embed, texts))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt waits for the texts at work, no more
