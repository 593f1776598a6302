"""Chambers: one for each agent, whatever way its name is spelled."""

from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.files import chambers


def test_one_spelling(tmp_path: Path) -> None:
    """That of a chamber that is there, else lower case joined by hyphens."""
    spelled = ["Claude Code", "claude_code", "claude-code", "CLAUDE  code", "claude-code@laptop"]
    assert {chambers.name(tmp_path, one) for one in spelled} == {"claude-code"}
    (tmp_path / "palace/chambers/Claude_Code").mkdir(parents=True)
    assert {chambers.name(tmp_path, one) for one in spelled} == {"Claude_Code"}
    assert chambers.folder(tmp_path, "pi") == "palace/chambers/pi/"


def test_composed_and_decomposed(tmp_path: Path) -> None:
    """Are one name."""
    assert chambers.name(tmp_path, "ag\u00e9nt") == chambers.name(tmp_path, "age\u0301nt")


@pytest.mark.parametrize("name", ["", "@laptop", "..", "/", " - "])
def test_no_name(tmp_path: Path, name: str) -> None:
    """Without letters and digits."""
    with pytest.raises(BadInput, match="write a name, as in claude-code"):
        chambers.name(tmp_path, name)


def test_names_lead_nowhere_else(tmp_path: Path) -> None:
    """Nothing of a path is left in them."""
    assert chambers.folder(tmp_path, "../../etc") == "palace/chambers/etc/"
    assert chambers.folder(tmp_path, "a/b") == "palace/chambers/a-b/"


def test_what_is_a_chamber(tmp_path: Path) -> None:
    """A folder; no link, no file, nothing hidden."""
    assert chambers.agents(tmp_path) == ()
    for name in ("pi", "b", ".hidden"):
        (tmp_path / "palace/chambers" / name).mkdir(parents=True)
    (tmp_path / "palace/chambers/link").symlink_to(tmp_path)
    (tmp_path / "palace/chambers/file").touch()
    assert chambers.agents(tmp_path) == ("b", "pi")
