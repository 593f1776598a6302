"""Palaces whose builds can be killed: a fake embedder, a fixed clock, small batches."""

import os

import pytest

from memory_palace.cli import query
from memory_palace.embed import registry
from memory_palace.index import fill
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, embedder: FakeEmbedder) -> None:
    """Commands use the fake embedder, and save after every few texts; children inherit it."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    choice = fake_choice(embedder)
    monkeypatch.setattr(registry, "choose", lambda config: choice)
    monkeypatch.setattr(registry, "named", lambda config, fingerprint: None)
    monkeypatch.setattr(query, "now", lambda: NOW)
    monkeypatch.setattr(fill, "BATCH", 4)
    monkeypatch.setattr(fill, "_SAVE_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(fill, "_SAVING_SHARE", 0.0)
