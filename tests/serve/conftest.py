"""Servers answer at a fixed hour and without a model, unless a test says otherwise."""

import pytest

from memory_palace.cli import query
from support.palaces import NOW, Palace

HEAD = "tags: [stone]\npriority: high\ncreated: 2026-11-20\n"


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only; a server is asked where there is one, and started by tests alone."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(query, "now", lambda: NOW)


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """A palace with a few notes, one of them in the archive, indexed."""
    keyword_palace.notes(
        topics__amber=f"---\n{HEAD}---\n# Amber\n\nThe amber ledge. [[birch]]",
        topics__birch="# Birch\n\nThe birch and the amber fjord.",
        project_rooms__cedar__notes="# Cedar\n\nA cedar, an ember and « Grüße 記憶 »\u2028.",
        archive_basement__old="# Old\n\nThe amber of old.",
    )
    assert keyword_palace.command("index").code == 0
    return keyword_palace
