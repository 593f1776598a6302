"""Cheap marks of files, code, settings, models and commits."""

import os
from pathlib import Path

import pytest

from memory_palace.core.errors import Missing
from memory_palace.files import config as configs
from memory_palace.files import locks, roots
from memory_palace.index import catalog as catalogs
from memory_palace.serve import stamps
from support.palaces import Palace


def test_marks_tell_files_apart(palace: Palace) -> None:
    """Another content, another file under the same name, none at all."""
    path = palace.write("a", "one")
    first = stamps.of(path)
    os.utime(path, ns=(1, 2))
    assert stamps.of(path) != first
    assert stamps.identity(path) == first[:2]
    palace.write("b", "two").replace(path)
    assert stamps.identity(path) != first[:2]
    path.unlink()
    assert (stamps.of(path), stamps.identity(path)) == ((), ())


def test_the_index_is_marked_by_what_a_reader_reads(filled: Palace) -> None:
    """Locks, logs and files in the making say nothing of it; another catalog or vectors do."""
    folder = roots.index_folder(filled.root)
    before = stamps.index(folder)
    with locks.writer(folder, "a test"):
        (folder / ".vectors-00000009.faiss.x.tmp").write_text("half")
        catalogs.open_to_read(folder / catalogs.MAIN).close()
        assert stamps.index(folder) == before
    (folder / "vectors-00000009.faiss").write_text("whole")
    assert stamps.index(folder) != before
    with pytest.raises(OSError, match="No such file"):
        stamps.index(folder / "none")


def test_models_are_marked_by_the_files_that_the_user_names(tmp_path: Path) -> None:
    """A file that is changed or added in a model's folder is seen."""
    config = configs.Config(models={"minilm": tmp_path, "bge-m3": tmp_path / "none"})
    seen = [stamps.models(config)]
    (tmp_path / "model.onnx").write_text("a")
    seen.append(stamps.models(config))
    (tmp_path / "model.onnx").write_text("ab")
    seen.append(stamps.models(config))
    assert len(set(seen)) == 3
    assert stamps.models(config) == seen[-1]


def test_commits_are_told_without_a_look_at_the_files(filled: Palace) -> None:
    """Of either catalog, and there are none without an index."""
    folder = roots.index_folder(filled.root)
    commits = stamps.Commits(folder)
    seen = [commits.stamp()]
    assert commits.stamp() == seen[0]
    for name in (catalogs.MAIN, catalogs.BASEMENT):
        with catalogs.open_to_write(folder / name) as catalog, catalog.transaction():
            catalog.db.execute("UPDATE files SET type = 'rule'")
        seen.append(commits.stamp())
    assert len(set(seen)) == 3
    assert commits.generation() == "0"
    commits.close()
    with pytest.raises(Missing, match="no index yet"):
        stamps.Commits(folder / "none")


def test_the_code_is_marked_by_every_module() -> None:
    """One mark a module, and those of the folders that packages are in."""
    modules = list(Path(stamps.__file__).parents[1].rglob("*.py"))
    assert len(stamps.code()) > len(modules) > 30
    assert stamps.code() == stamps.code()
