"""The catalog, brought in line with the files first: for what is listed, not ranked."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memory_palace.core.errors import Missing, Refused
from memory_palace.files import roots, tree
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index.catalog import Catalog
from memory_palace.index.progress import Progress, Silent

_WAIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Current:
    """The catalogs of live and of archived notes. ``late`` says why they are as the last run left
    them, empty if they are as the files are."""

    main: Catalog
    below: Catalog
    late: str = ""


@contextlib.contextmanager
def opened(root: Path, config: Config, progress: Progress | None = None) -> Iterator[Current]:
    """Both catalogs, with keywords and links as the files have them now; vectors are left for
    ``palace index``. Without an index one is made.

    Where another one writes, or nothing can be written, they are as the last run left them.
    Raises :class:`Missing` if the notes cannot be listed, or there is no index then.
    """
    from memory_palace.embed.registry import Choice  # the writers' side
    from memory_palace.index import run
    from memory_palace.index.build import Options

    late, why = "", ""
    try:
        # Only the files count here: what is elsewhere is brought in line by `palace index`.
        local = replace(config, store="faiss")
        options = Options(sync_manifest=False, wait_seconds=_WAIT_SECONDS)
        run.index(root, local, Choice("none", "none", ""), options, progress or Silent())
    except (Missing, Refused) as error:
        tree.look(root)
        late, why = f"as of the last run of the index: {error}", str(error)
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(as_it_is(root))
        except Missing:
            if not why:
                raise
            raise Missing(f"there is no index yet, and none could be made: {why}") from None
        yield replace(found, late=late)


@contextlib.contextmanager
def as_it_is(root: Path) -> Iterator[Current]:
    """Both catalogs as the last run left them. Raises :class:`Missing` without an index."""
    folder = roots.index_folder(root)
    with (
        catalogs.open_to_read(folder / catalogs.MAIN) as main,
        catalogs.open_to_read(folder / catalogs.BASEMENT) as below,
    ):
        yield Current(main, below)
