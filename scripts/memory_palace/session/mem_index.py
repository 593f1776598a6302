"""The index catches up with ledgers that were written to, without anybody asking."""

import sqlite3
from dataclasses import replace
from pathlib import Path

from memory_palace.core.errors import PalaceError
from memory_palace.files import roots
from memory_palace.index import opening

WAIT_SECONDS = 0.5
"""How long another writer is waited for; the next run of the index does it then."""


def refresh(root: Path) -> None:
    """Keywords as the files have them now, if there is an index; no model is loaded, no vector
    made, and the manifest stays as it is. Never raises: what fails is done by the next run."""
    try:
        if not (roots.index_folder(root) / opening.MAIN).is_file():
            return
        from memory_palace.embed.registry import Choice  # the writers' side, once it is needed
        from memory_palace.files import config as configs
        from memory_palace.index import run
        from memory_palace.index.build import Options

        config = replace(configs.load(root), store="faiss")  # what is elsewhere waits for a run
        options = Options(sync_manifest=False, wait_seconds=WAIT_SECONDS)
        run.index(root, config, Choice("none", "none", ""), options)
    except (PalaceError, sqlite3.Error, OSError):
        return
