"""Search over what happened, where the index is in Milvus."""

import shutil
from dataclasses import replace
from pathlib import Path

from memory_palace.search.query import Query
from memory_palace.search.remote import RemoteSearcher
from memory_palace.session import mem
from session.sessions import Session, one_of
from support.milvus import Sent, needs_milvus
from support.palaces import NOW


@needs_milvus
def test_records_are_found_in_milvus(tmp_path: Path) -> None:
    """With the same filters as in the index of this machine; notes can be had alone."""
    palace = Sent(tmp_path / "root", str(tmp_path / "milvus.db"), "one")
    session = Session(palace.root)
    session.said("go")
    wanted, _ = session.observed_all(
        [one_of("the cache is cold", "bugfix"), one_of("the cache is warm", "change")]
    )
    palace.notes(topics__cache="# The cache\nall about the cache")
    palace.push()
    with RemoteSearcher(palace.root, palace.config, palace.choice) as searcher:
        found = mem.search(
            palace.root,
            mem.Asked("cache", types=("bugfix",)),
            NOW,
            lambda query: searcher.ask(query, NOW),
        )
        assert [hit.found.record.id for hit in found.hits] == [wanted]
        shutil.rmtree(palace.root / ".palace")
        found = mem.search(
            palace.root, mem.Asked("cache"), NOW, lambda query: searcher.ask(query, NOW)
        )
        assert (len(found.hits), found.said) == (2, [])
        query = Query("cache", all_chunks=True)
        assert len(searcher.ask(query, NOW).hits) == 3
        hits = searcher.ask(replace(query, notes_only=True), NOW).hits
        assert [hit.path for hit in hits] == ["palace/topics/cache.md"]
