"""Fixtures: palaces in temporary folders, with a fake embedder, without one, with the real ones."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from memory_palace.files import identity
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace

# How long an example takes says more of the machine than of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["support.tiny_bge", "support.tiny_reranker"]


# A run in the background may have been started with interrupts ignored, and hand that down.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the configuration, the palace or the models of whoever runs it."""
    for name in list(os.environ):
        if name.startswith("PALACE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setenv("HF_HOME", "/nonexistent")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("CI", "true")  # no command starts a server by itself
    for name in (
        *("HF_HUB_CACHE", "XDG_CACHE_HOME", "VENV"),
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"),
        *identity.CLIENTS,
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keyword_palace(tmp_path: Path) -> Palace:
    """An empty palace without an embedder."""
    return Palace(tmp_path / "root")


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def palace(tmp_path: Path, embedder: FakeEmbedder) -> Palace:
    """An empty palace with the fake embedder of :func:`embedder`."""
    return Palace(tmp_path / "root", fake_choice(embedder))
