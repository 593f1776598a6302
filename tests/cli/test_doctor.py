"""`palace doctor` where the toolkit cannot keep what it derives."""

import os
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.session import health
from support.palaces import NOW, Palace


def wrong(palace: Palace) -> list[str]:
    """The lines of what is wrong."""
    ran = palace.command("doctor")
    return [line for line in ran.out.splitlines() if line.startswith("WRONG")]


def test_a_file_in_the_place_of_the_derived_folder(keyword_palace: Palace) -> None:
    """The advice for a missing index alone would lead to an error."""
    (keyword_palace.root / ".palace").write_text("")
    assert wrong(keyword_palace)[0].startswith("WRONG .palace/: not a folder: move it away")


def test_a_link_in_the_place_of_the_derived_folder(keyword_palace: Palace, tmp_path: Path) -> None:
    """Nothing is said of git, which does not look behind it."""
    Repository(keyword_palace.root)
    (keyword_palace.root / ".palace").symlink_to(tmp_path)
    said = wrong(keyword_palace)
    assert said[0] == "WRONG .palace/: a symbolic link: replace it by a folder"
    assert not [line for line in said if "ignored" in line]


def test_a_derived_folder_that_cannot_be_written(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks have no other place to say so."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert any(
        "hooks keep nothing there: make it writable" in line for line in wrong(keyword_palace)
    )


def test_a_repository_that_git_refuses(keyword_palace: Palace) -> None:
    """What is ignored in it is not known then."""
    (keyword_palace.root / ".git").write_text("gitdir: /nowhere\n")
    said = wrong(keyword_palace)
    assert any("git: refuses this repository: run `git -C " in line for line in said)
    assert not [line for line in said if "ignored" in line]


def test_faults_of_hooks_are_told_beside_a_broken_configuration(keyword_palace: Palace) -> None:
    """Hooks run without it, so what they met has other reasons."""
    assert health.add(keyword_palace.root, ["hook Stop: broken: run `palace doctor`"], NOW)
    (keyword_palace.root / "palace.yaml").write_text("a: [")
    said = wrong(keyword_palace)
    assert "palace.yaml:1: broken YAML" in said[0]
    assert any(line.startswith("WRONG hook: Stop: broken") for line in said)
