"""The commands with BGE-M3's own code, on a tiny model of its shape; from one model to another."""

import json
import re
from pathlib import Path

import pytest

from memory_palace.embed import bge_m3, minilm
from support.palaces import Palace, Ran

pytestmark = pytest.mark.skipif(
    not (bge_m3.runnable() and minilm.find(None)), reason="needs both models' packages"
)
SMALL = "minilm-l6-v2 int8 (384-d)"


@pytest.fixture
def both(keyword_palace: Palace) -> Palace:
    """A palace with three notes, one of them in the archive."""
    keyword_palace.notes(
        topics__decisions="We chose FAISS and not a server: there is nothing to run.",
        topics__database="The database migration had a timeout, the rollback worked.",
        archive_basement__old="The server had a queue and a worker.",
    )
    return keyword_palace


@pytest.fixture
def bge(tiny_bge: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """BGE-M3's weights are on this machine."""
    monkeypatch.setenv("PALACE_BGE_M3_DIR", str(tiny_bge))
    return tiny_bge


def cosines(ran: Ran) -> list[float | None]:
    """The cosine of each hit of a `--format jsonl`."""
    return [json.loads(line)["parts"]["cosine"] for line in ran.out.splitlines()]


def test_with_its_weights_here_bge_m3_is_used(both: Palace, bge: Path) -> None:
    """`palace index` and `palace query` say so, find by cosine, and never write to the model."""
    before = {p.name: p.stat().st_mtime_ns for p in bge.iterdir()}
    ran = both.command("index")
    assert (ran.code, ran.err) == (0, "embedder: BGE-M3 (64-d)\n")
    assert "2 vectors in" in ran.out
    ran = both.command("query", "--format", "jsonl", "why did we choose FAISS and not a server")
    assert (ran.code, ran.err) == (0, "embedder: BGE-M3 (64-d)\n")
    assert '"palace/topics/decisions.md"' in ran.out.splitlines()[0]
    assert all(cosine is not None for cosine in cosines(ran))
    ran = both.command("query", "--raw", "--details", "-k", "1", "database rollback")
    assert ran.code == 0
    assert re.search(r"database\.md.*\n.*\n   relevance \d\.\d{3} \(cosine 0\.\d{3}", ran.out)
    assert both.command("index", "--check").code == 0
    assert both.command("cold-zone", "--check").code == 0
    assert {p.name: p.stat().st_mtime_ns for p in bge.iterdir()} == before
    status = both.command("model", "status").out
    assert f"bge-m3: libraries installed; weights {bge}/" in status
    assert status.endswith("embedder: BGE-M3 (64-d)\n")
    assert both.command("model", "path").out.startswith(f"{bge}/")


def test_from_one_embedder_to_the_other(
    both: Palace, tiny_bge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are made anew, with a line that says so; until then their own embedder answers."""
    ran = both.command("index")
    assert ran.err == f"embedder: {SMALL}; BGE-M3: make setup-bge\n"
    asked = ("query", "--format", "jsonl", "database rollback")
    by_small = both.command(*asked)
    # BGE-M3 comes to the machine: the index still answers with the model that it was built with.
    monkeypatch.setenv("PALACE_BGE_M3_DIR", str(tiny_bge))
    ran = both.command(*asked)
    assert cosines(ran) == cosines(by_small)
    assert f"embedder: {SMALL}\n" in ran.err
    assert re.search(
        r"built with minilm/sha256:\w+; `palace index` rebuilds it with bge-m3", ran.err
    )
    ran = both.command("index", "--check")
    assert (ran.code, "2 texts without a vector" in ran.out) == (1, True)
    ran = both.command("index")
    assert ran.code == 0
    assert re.search(
        r"^embedder changed from minilm/sha256:\w+ to bge-m3/\S+: vectors are made anew$",
        ran.err,
        re.MULTILINE,
    )
    assert "2 vectors in" in ran.out
    ran = both.command(*asked)
    assert ran.err == "embedder: BGE-M3 (64-d)\n"
    assert cosines(ran) != cosines(by_small)
    # And it goes again: what it made is not asked with another model.
    monkeypatch.delenv("PALACE_BGE_M3_DIR")
    ran = both.command(*asked)
    assert ran.code == 0
    assert cosines(ran) == [None] * len(cosines(ran))
    assert re.search(
        r"built with bge-m3/\S+, not minilm; keywords only: run `palace index`", ran.err
    )
    ran = both.command("index")
    assert "embedder changed from bge-m3/" in ran.err
    assert cosines(both.command(*asked)) == cosines(by_small)


@pytest.mark.parametrize(("built", "asked"), [("bge-m3", "minilm"), ("minilm", "bge-m3")])
def test_an_index_is_never_asked_with_another_model(
    built: str, asked: str, both: Palace, bge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an embedder that is named, not chosen, a foreign index gives keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", built)
    assert both.command("index").code == 0
    monkeypatch.setenv("PALACE_EMBEDDER", asked)
    ran = both.command("query", "--format", "jsonl", "database rollback")
    assert ran.code == 0
    assert cosines(ran) == [None] * len(cosines(ran))
    assert f"not {asked}; keywords only: run `palace index`" in ran.err
    ran = both.command("query", "--raw", "database")
    assert (ran.code, ran.out) == (3, "")


def test_no_embedder_leaves_the_vectors_alone(
    both: Palace, bge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`none` searches by keywords, and the vectors are still there afterwards."""
    assert both.command("index").code == 0
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    assert both.command("index").code == 0
    ran = both.command("query", "--format", "jsonl", "database")
    assert cosines(ran) == [None]
    monkeypatch.delenv("PALACE_EMBEDDER")
    ran = both.command("index")
    assert "vector" not in ran.out
    assert cosines(both.command("query", "--format", "jsonl", "database"))[0] is not None


def test_bge_m3_that_is_named_and_not_here_is_missing(
    both: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3 and the command that fetches it, for an empty folder, a broken one and none at all."""
    monkeypatch.setenv("PALACE_EMBEDDER", "bge-m3")
    ran = both.command("index")
    assert ran.code == 3
    assert "run `make setup-bge`" in ran.err
    monkeypatch.setenv("PALACE_BGE_M3_DIR", str(tmp_path / "none"))
    ran = both.command("query", "words")
    assert ran.code == 3
    assert "lacks everything (no such folder)" in ran.err


def test_broken_weights_leave_the_keywords(
    both: Palace, tiny_bge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights that do not load: exit 3 in one line, and questions by keyword are answered."""
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in tiny_bge.iterdir():
        data = path.read_bytes()
        weights = path.name in ("model.safetensors", "pytorch_model.bin")
        (broken / path.name).write_bytes(data[: len(data) // 2] if weights else data)
    monkeypatch.setenv("PALACE_BGE_M3_DIR", str(broken))
    ran = both.command("index")
    assert ran.code == 3
    assert "BGE-M3 cannot be loaded from" in ran.err.splitlines()[-1]
    assert "run `make setup-bge`" in ran.err
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    assert both.command("query", "database").code == 0
