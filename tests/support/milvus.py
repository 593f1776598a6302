"""A palace whose index goes into Milvus: a file that milvus-lite serves inside this process."""

import importlib.util
import os
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_palace.core.keywords import terms
from memory_palace.core.mining import Line, kind
from memory_palace.embed.port import Tokens, Vectors, unit
from memory_palace.files import config as configs
from memory_palace.files import local, projects
from memory_palace.index import milvus
from memory_palace.index import milvus_rows as rows
from memory_palace.index.milvus_client import Client, Row
from memory_palace.index.progress import Silent
from support.fake import FakeEmbedder, fake_choice
from support.palaces import OLD_NS, Palace

INSTALLED = all(importlib.util.find_spec(name) for name in ("pymilvus", "milvus_lite"))
needs_milvus = pytest.mark.skipif(
    not INSTALLED, reason="the extra is not installed: python3 scripts/install.py milvus"
)


class Sent(Palace):
    """A palace with a name of its own in a Milvus that others may share."""

    def __init__(self, root: Path, uri: str, name: str, embedder: FakeEmbedder | None = None):
        super().__init__(root, fake_choice(embedder or FakeEmbedder(32)))
        self.uri = uri
        self.name = name

    @property
    def config(self) -> configs.Config:
        return replace(
            super().config, store="milvus", milvus_uri=self.uri, palaces={self.root: self.name}
        )

    def push(self, **options: bool) -> milvus.Pushed:
        """Index here alone, and then bring the index to Milvus."""
        Palace(self.root, self.choice).index(yes=True)
        return milvus.push(self.root, self.config, Silent(), **options)

    def client(self) -> Client:
        return milvus.connect(self.config)

    def stamp(self) -> milvus.Stamp:
        with self.client() as client:
            found = milvus.read_stamp(client, self.name)
        assert found is not None
        return found

    def units(self, dimension: int = 32) -> list[Row]:
        """All units that Milvus has of this palace, in the order of their ids."""
        fields = ["id", "note", "text", "record", "embedded", "dense", "sparse"]
        return self._all(rows.units_name(dimension), fields)

    def sent_notes(self) -> list[str]:
        """The paths of all notes that Milvus has of this palace."""
        return sorted(row["path"] for row in self._all(rows.NOTES, ["path"]))

    def _all(self, collection: str, fields: list[str]) -> list[Row]:
        with self.client() as client:
            found = client.query(collection, f'palace == "{self.name}"', [*fields, "id"])
        return sorted(found, key=lambda row: row["id"])


class WordEmbedder(FakeEmbedder):
    """A fake that gives the vector of each word too."""

    def passages_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        return self.embed_passages(texts), [self._tokens(text) for text in texts]

    def queries_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        return self.embed_queries(texts), [self._tokens(text) for text in texts]

    def _tokens(self, text: str) -> Tokens:
        found = [word for word in re.finditer(r"\w+", text) if terms(word.group())]
        drawn = [random.Random(word.group().lower()) for word in found]
        vectors = [[one.gauss(0.0, 1.0) for _ in range(self.dimension)] for one in drawn]
        made = np.array(vectors, dtype=np.float32).reshape(-1, self.dimension)
        starts = np.array([word.start() for word in found], dtype=np.uint32)
        return Tokens(unit(made), starts)


def mine(sent: Sent, name: str, texts: dict[str, str]) -> Path:
    """A project with these files, listed; its index is not made yet."""
    top = sent.root.parent / f"{name}-source"
    for path, text in texts.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
        os.utime(top / path, ns=(OLD_NS, OLD_NS))
    local.put(sent.root, name, top)
    lines = [
        Line(path, kind(path), "docs" if path.endswith(".md") else f"files/{n % 3}")
        for n, path in enumerate(texts)
    ]
    projects.save(sent.root, name, projects.load(sent.root, name), lines)
    return top


def forget(sent: Sent, name: str) -> None:
    """A project without files."""
    projects.save(sent.root, name, projects.load(sent.root, name), [])
