"""Commands where the user's own configuration keeps the index in Milvus."""

import shutil
from pathlib import Path

import pytest

from memory_palace.files import config as configs
from memory_palace.serve import process
from support.milvus import needs_milvus
from support.palaces import Palace

HERE = "note  index: no notes here: questions are answered from Milvus"


@pytest.fixture
def sent(keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """A palace without an embedder whose index goes to a Milvus in a file."""
    own = tmp_path / "config.yaml"
    own.write_text(
        f"index: {{store: milvus, milvus_uri: {tmp_path}/one.db, "
        f"palaces: {{{keyword_palace.root}: mine}}}}\n"
    )
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    monkeypatch.setattr(configs, "user_file", lambda _: own)
    keyword_palace.notes(topics__a="The amber ledge.")
    return keyword_palace


def leave(palace: Palace) -> None:
    """What is left on a machine that only asks: no notes, no index."""
    shutil.rmtree(palace.root / "palace")
    shutil.rmtree(palace.root / ".palace", ignore_errors=True)


@needs_milvus
def test_doctor_where_there_are_no_notes(sent: Palace) -> None:
    """Nothing is wrong: Milvus answers, and nothing is to be run here."""
    assert sent.command("index").code == 0
    assert HERE not in sent.command("doctor").out
    leave(sent)
    assert sent.command("query", "amber").code == 0
    ran = sent.command("doctor")
    assert (ran.code, ran.err) == (0, "")
    (milvus,) = [line for line in ran.out.splitlines() if line.startswith("ok    Milvus: ")]
    assert ": notes 1, units 1, " in milvus
    assert HERE in ran.out.splitlines()


@needs_milvus
def test_doctor_where_there_is_nothing_in_milvus_either(sent: Palace) -> None:
    """The index is made where the notes are."""
    leave(sent)
    lines = sent.command("doctor").out.splitlines()
    (milvus,) = [line for line in lines if "Milvus: " in line]
    assert milvus.endswith("palace mine: nothing there yet: run `palace index` where the notes are")
    assert HERE in lines


@pytest.mark.parametrize("flags", [(), ("--check",), ("--force",)])
def test_no_index_is_made_where_there_are_no_notes(sent: Palace, flags: tuple[str, ...]) -> None:
    """Exit 3, one line on where it is made, and nothing is written."""
    leave(sent)
    ran = sent.command("index", *flags)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        f"error: this machine only asks: index.store is milvus and {sent.root} has no palace/: "
        "run `palace index` where the notes are, or restore palace/ if they belong here\n"
    )
    assert not (sent.root / ".palace").exists()


@pytest.mark.parametrize("flags", [(), ("--foreground",)])
def test_there_is_nothing_to_serve(sent: Palace, flags: tuple[str, ...]) -> None:
    """Exit 1, one line, and nothing is started; one that runs can be looked at and ended."""
    ran = sent.command("serve", *flags)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "error: with index.store milvus a server has nothing to keep: just run `palace query`\n"
    )
    assert not process.is_running(sent.root)
    assert not (sent.root / ".palace").exists()
    assert sent.command("serve", "--status").out == "no server runs\n"
    assert sent.command("serve", "--stop").code == 0
