"""A catalog damaged anywhere: no traceback, a word on what to run, and all is there again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.palaces import Palace, Ran

WORDS = "amber birch cedar delta ember fjord grove heath islet jetty knoll ledge".split()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Palace, bytes, dict[str, Ran]]:
    """An indexed palace, its catalog's bytes, and what it answers."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PALACE_EMBEDDER", "none")
    palace = Palace(tmp_path_factory.mktemp("whole") / "root")
    for number in range(40):
        links = " ".join(f"[[n{(number * k) % 40}]]" for k in (3, 7))
        text = " ".join(WORDS[(number * 5 + k) % 12] for k in range(30))
        palace.notes(**{f"topics__n{number}": f"# Note {number}\n\n{text} {links}\n"})
    assert palace.command("index").code == 0
    data = (palace.root / ".palace/index/catalog.sqlite").read_bytes()
    answers = {name: palace.command(*asked) for name, asked in ASKED.items()}
    patch.undo()
    return palace, data, answers


ASKED = {
    "query": ("query", "--format", "files", "amber ledge"),
    "filter": ("query", "--format", "files", "--room", "topics", "-k", "50"),
    "graph": ("graph",),
    "check": ("index", "--check"),
}


def damages(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The catalog cut short, overwritten and zeroed, at many places."""
    page = 4096
    for step in range(0, len(data), page * 5):
        yield f"cut at {step}", data[: step + 100]
    for step in range(0, len(data), page * 3):
        yield f"ones at {step}", data[:step] + b"\xff" * page + data[step + page :]
    for step in range(page, len(data), page * 7):
        yield f"zeros at {step}", data[:step] + bytes(page) + data[step + page :]


def test_a_catalog_damaged_anywhere_can_be_mended(
    whole: tuple[Palace, bytes, dict[str, Ran]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command ends in words, and `palace index --force` brings every answer back."""
    palace, data, before = whole
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    place = palace.root / ".palace/index/catalog.sqlite"
    for what, damaged in damages(data):
        replace(place, damaged)
        for name, asked in ASKED.items():
            ran = palace.command(*asked)
            assert ran.code in (0, 1, 3), (what, name, ran)
            assert ran.code != 3 or "run `palace index" in ran.err, (what, name, ran)
        ran = palace.command("index", "--force")
        assert ran.code == 0, (what, ran)
        for name in ("query", "filter"):
            assert palace.command(*ASKED[name]).out == before[name].out, (what, name)


def replace(place: Path, data: bytes) -> None:
    """Put ``data`` in the place of a closed catalog."""
    for suffix in ("-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    place.write_bytes(data)
