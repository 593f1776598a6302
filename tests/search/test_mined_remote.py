"""Mined files of a palace that is in Milvus: the local index's hits, by the same filters."""

from pathlib import Path

from memory_palace.core.mining import Line
from memory_palace.files import local, projects
from memory_palace.index.milvus_client import Client
from memory_palace.search.query import Query
from memory_palace.search.remote import RemoteSearcher
from memory_palace.search.searcher import Searcher
from support.milvus import Sent, needs_milvus
from support.palaces import NOW

pytestmark = needs_milvus

QUESTIONS = (
    Query("ledger"),
    Query("ledger", types=("code",)),
    Query("ledger", rooms=("files",)),
    Query("ledger", rooms=("project:demo",)),
    Query("ledger", rooms=("topics",)),
    Query("ledger", notes_only=True),
)


def test_mined_files_are_found_as_by_the_local_index(tmp_path: Path) -> None:
    """By type, room and project; without them where notes alone are wanted; rooms are known."""
    uri = str(tmp_path / "milvus.db")
    with Client(uri):
        sent = Sent(tmp_path / "root", uri, "mined")
        sent.notes(topics__a="# Ledgers\nA note about the ledger.")
        top = tmp_path / "demo-source"
        top.mkdir()
        (top / "ledger.py").write_text("def open_ledger():\n    return 1\n")
        local.put(sent.root, "demo", top)
        lines = [Line("ledger.py", "code", "files/stores")]
        projects.save(sent.root, "demo", projects.load(sent.root, "demo"), lines)
        sent.index()
        with (
            RemoteSearcher(sent.root, sent.config, sent.choice) as remote,
            Searcher(sent.root, sent.config, sent.choice) as here,
        ):
            for query in QUESTIONS:
                found = [(hit.path, hit.room) for hit in remote.ask(query, NOW).hits]
                assert found == [(hit.path, hit.room) for hit in here.ask(query, NOW).hits]
                assert found
            (note,) = remote.ask(Query("ledger", rooms=("store",)), NOW).notes
            assert "files, files/stores, project:demo, topics" in note
