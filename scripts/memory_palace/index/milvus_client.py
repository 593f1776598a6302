"""Milvus behind a few calls: a time limit on each, every fault as one line that says what to check.

A uri is a server's address, or a file ending in ``.db``, which milvus-lite serves inside this
process, to one process at a time.
"""

import contextlib
import importlib
import importlib.util
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memory_palace.core.errors import Missing

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
WRITE_SECONDS = 60.0
_AGAIN_SECONDS = 0.25

BATCH = 500
"""Rows sent at once: a few megabytes."""

MOST_ROWS = 16_384
"""Rows that Milvus gives back at once, at most."""

INSTALL = "run `python3 scripts/install.py milvus`"

_LEAST_EF = 256  # how far a graph of vectors is followed: recall, for time

Row = dict[str, Any]


class Field:
    """A column of a collection: its name, the name of its type, and what the type needs."""

    def __init__(self, name: str, kind: str, **options: Any) -> None:
        self.name = name
        self.kind = kind
        self.options = options


_in_use: Counter[str] = Counter()
_lock = threading.Lock()


class Client:
    """One connection. Raises :class:`Missing` for whatever fails."""

    def __init__(self, uri: str, token: str | None = None) -> None:
        self.uri = uri
        self.is_file = "://" not in uri
        made = _import()
        if self.is_file and importlib.util.find_spec("milvus_lite") is None:
            raise Missing(f"{uri} is a file, and milvus-lite is not installed: {INSTALL}")
        self._types = made.DataType
        self._milvus = self._connected(made, token)
        self._known: set[str] = set()

    def _connected(self, made: Any, token: str | None) -> Any:
        # Another process may be about to let go of the file.
        deadline = time.monotonic() + (CONNECT_SECONDS if Path(self.uri).is_dir() else 0.0)
        while True:
            try:
                with _lock, self._faults():
                    found = made.MilvusClient(
                        self.uri, token=token or "", timeout=CONNECT_SECONDS, dedicated=True
                    )
                    _in_use[self.uri] += 1
                    return found
            except Missing:
                if not self.is_file or time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN_SECONDS)

    def close(self) -> None:
        with _lock, contextlib.suppress(Exception):
            self._milvus.close()
            _in_use[self.uri] -= 1
            if self.is_file and not _in_use[self.uri]:
                served = importlib.import_module("milvus_lite.server_manager")
                served.server_manager_instance.release_server(self.uri)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except Missing:
            raise
        except Exception as error:  # of pymilvus, grpc or the engine: all mean the same here
            raise Missing(self._fault(error)) from None

    def _fault(self, error: Exception) -> str:
        reason = (str(getattr(error, "message", "") or error).splitlines() or [""])[0][:200]
        if self.is_file:
            return (
                f"the Milvus file {self.uri} cannot be used ({reason}): check that no other "
                "process has it open and that its folder is there and can be written"
            )
        if any(word in reason.lower() for word in ("auth", "permission", "denied")):
            return f"Milvus at {self.uri} says no ({reason}): check $PALACE_MILVUS_TOKEN"
        return (
            f"Milvus at {self.uri} does not answer ({reason}): check index.milvus_uri, that the "
            "server runs, and the network"
        )

    # -- collections --------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """True if the collection is there; it is then loaded too."""
        if name in self._known:
            return True
        with self._faults():
            if not self._milvus.has_collection(name, timeout=READ_SECONDS):
                return False
            self._milvus.load_collection(name, timeout=WRITE_SECONDS)
        self._known.add(name)
        return True

    def _look_for(self, name: str) -> None:
        """A collection that is not loaded answers nothing."""
        if not self.has(name):
            raise Missing(f"Milvus at {self.uri} holds no palace: run `palace index`")

    def ensure(self, name: str, fields: Sequence[Field], indexes: Sequence[Row]) -> None:
        """Make the collection if it is not there."""
        if self.has(name):
            return
        with self._faults():
            schema = self._milvus.create_schema(auto_id=False, enable_dynamic_field=False)
            for field in fields:
                options = {
                    name: self._types[value] if name == "element_type" else value
                    for name, value in field.options.items()
                }
                schema.add_field(field.name, self._types[field.kind], **options)
            parameters = self._milvus.prepare_index_params()
            for index in indexes:
                parameters.add_index(**index)
            self._milvus.create_collection(
                name,
                schema=schema,
                index_params=parameters,
                consistency_level="Bounded",
                timeout=WRITE_SECONDS,
            )
        self._known.add(name)

    # -- writing ------------------------------------------------------------------------------

    def upsert(self, name: str, rows: Sequence[Row]) -> None:
        """Write rows, over those that have their ids."""
        for start in range(0, len(rows), BATCH):
            with self._faults():
                self._milvus.upsert(name, list(rows[start : start + BATCH]), timeout=WRITE_SECONDS)

    def delete(self, name: str, ids: Sequence[str]) -> None:
        """Take rows out; ids that are not there are no fault."""
        for start in range(0, len(ids), BATCH):
            with self._faults():
                self._milvus.delete(
                    name, ids=list(ids[start : start + BATCH]), timeout=WRITE_SECONDS
                )

    def delete_where(self, name: str, condition: str) -> None:
        """Take out all rows that meet the condition."""
        if self.has(name):
            with self._faults():
                self._milvus.delete(name, filter=condition, timeout=WRITE_SECONDS)

    def settle(self, name: str) -> None:
        """Wait until what was written is found by everyone."""
        with self._faults():
            if self.is_file:  # rows that are not in the file yet are slow to search
                self._milvus.flush(name, timeout=WRITE_SECONDS)
                return
            self._milvus.query(
                name,
                filter="",
                output_fields=["count(*)"],
                consistency_level="Strong",
                timeout=WRITE_SECONDS,
            )

    # -- reading ------------------------------------------------------------------------------

    def get(self, name: str, ids: Sequence[str], fields: Sequence[str]) -> list[Row]:
        """The rows with these ids, in any order; those that are not there are left out."""
        self._look_for(name)
        found: list[Row] = []
        for start in range(0, len(ids), BATCH):
            with self._faults():
                found += self._milvus.get(
                    name,
                    ids=list(ids[start : start + BATCH]),
                    output_fields=list(fields),
                    timeout=READ_SECONDS,
                )
        return found

    def query(
        self, name: str, condition: str, fields: Sequence[str], limit: int = MOST_ROWS
    ) -> list[Row]:
        """Rows that meet the condition, ``limit`` at most, in any order."""
        self._look_for(name)
        with self._faults():
            return list(
                self._milvus.query(
                    name,
                    filter=condition,
                    output_fields=list(fields),
                    limit=limit,
                    timeout=READ_SECONDS,
                )
            )

    def listing(self, name: str, condition: str, fields: Sequence[str]) -> Iterator[Row]:
        """All rows that meet the condition, as they are now."""
        self._look_for(name)
        with self._faults():
            pages = self._milvus.query_iterator(
                name,
                batch_size=MOST_ROWS,
                filter=condition,
                output_fields=list(fields),
                consistency_level="Strong",
                timeout=WRITE_SECONDS,
            )
        try:
            while True:
                with self._faults():
                    page = pages.next()
                if not page:
                    return
                yield from page
        finally:
            pages.close()

    def search(
        self,
        name: str,
        field: str,
        vector: Any,
        condition: str,
        limit: int,
        fields: Sequence[str],
    ) -> list[tuple[float, Row]]:
        """(inner product, row) of the nearest rows that meet the condition, best first."""
        self._look_for(name)
        options = {"ef": max(_LEAST_EF, 2 * limit)} if field == "dense" else {}
        with self._faults():
            found = self._milvus.search(
                name,
                data=[vector],
                anns_field=field,
                search_params={"metric_type": "IP", "params": options},
                filter=condition,
                limit=limit,
                output_fields=list(fields),
                timeout=READ_SECONDS,
            )
        return [(float(hit["distance"]), dict(hit["entity"])) for hit in found[0]]


def _import() -> Any:
    """pymilvus, without what it does on the side."""
    # gRPC would tell on stderr, from threads of its own, of connections that were idle for long.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # pymilvus would take settings for this process from any `.env` above its own folder.
    before = os.environ.get("PYTHON_DOTENV_DISABLED")
    os.environ["PYTHON_DOTENV_DISABLED"] = "1"
    try:
        import pymilvus
    except ImportError:
        raise Missing(f"index.store is milvus, and pymilvus is not installed: {INSTALL}") from None
    finally:
        if before is None:
            os.environ.pop("PYTHON_DOTENV_DISABLED")
        else:
            os.environ["PYTHON_DOTENV_DISABLED"] = before
    for name in ("pymilvus", "milvus_lite", "grpc._server"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # faults are raised, not printed
    return pymilvus
