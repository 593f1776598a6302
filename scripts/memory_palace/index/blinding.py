"""Keep the archive out of search: take cold lines and rows out, and prove that none is left."""

import time
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.text import is_cold
from memory_palace.files import atomic, jsonl, roots
from memory_palace.files import manifest as manifests
from memory_palace.index import nearest
from memory_palace.index.catalog import Catalog

COPIES = "backups"
_KEPT_COPIES = 10


@dataclass(frozen=True, slots=True)
class Cold:
    """What of the archive is where it should not be."""

    manifest: list[str]
    catalog: list[str]
    stray_vectors: int

    def lines(self) -> list[str]:
        """One line each, for a person."""
        found = [f"manifest: {path}" for path in self.manifest]
        found += [f"catalog: {path}" for path in self.catalog]
        if self.stray_vectors:
            found.append(f"vectors: {self.stray_vectors} belong to no live note")
        return found


def find(root: Path, catalog: Catalog | None) -> Cold:
    """Look in the manifest, the main catalog and the vectors."""
    manifest = manifests.load(root)
    listed = sorted(path for path in manifest.entries if is_cold(path))
    if catalog is None:
        return Cold(listed, [], 0)
    paths = [row[0] for row in catalog.db.execute("SELECT path FROM files ORDER BY path")]
    return Cold(listed, [path for path in paths if is_cold(path)], _stray(root, catalog))


def _stray(root: Path, catalog: Catalog) -> int:
    """Vectors in the file that no chunk of a live note stands for."""
    if not int(catalog.meta("generation", "0")) or not catalog.meta("fingerprint"):
        return 0
    try:
        stored = nearest.open_to_read(roots.index_folder(root), int(catalog.meta("generation")))
    except (OSError, ImportError):
        return 0  # unreadable vectors are never searched; `palace index` makes them anew
    live = {
        row[0]
        for row in catalog.db.execute(
            "SELECT v.id, f.path FROM vectors v JOIN chunks c ON c.key = v.key "
            "JOIN files f ON f.id = c.file_id"
        )
        if not is_cold(row[1])
    }
    return sum(1 for vector in stored.ids().tolist() if vector not in live)


def clean_manifest(root: Path) -> tuple[int, Path | None]:
    """Take the archive's lines out of the manifest; how many, and the copy kept of it before."""
    raw = manifests.read_raw(root)
    if raw is None:
        return 0, None
    lines, _ = jsonl.parse(manifests.PATH, raw.decode("utf-8", "surrogateescape"))
    kept = [line for line in lines if not _names_cold(line)]
    if len(kept) == len(lines):
        return 0, None
    copy = _keep_copy(root, raw)
    text = "".join(line.raw + "\n" for line in kept)
    atomic.write(
        roots.inside(root, manifests.PATH), text.encode("utf-8", "surrogateescape"), expected=raw
    )
    return len(lines) - len(kept), copy


def _names_cold(line: jsonl.Line) -> bool:
    path = line.data.get("path") if line.data else None
    return isinstance(path, str) and is_cold(path)


def _keep_copy(root: Path, raw: bytes) -> Path:
    folder = roots.inside(root, f"{roots.DERIVED}/{COPIES}")
    copy = folder / f"watchdog_manifest_v1.{time.time_ns()}.jsonl"
    atomic.write(copy, raw)
    for old in sorted(folder.glob("watchdog_manifest_v1.*.jsonl"))[:-_KEPT_COPIES]:
        old.unlink()
    return copy


def probe_words(basement: Catalog, most: int = 50) -> list[str]:
    """Questions that archived notes would answer: their titles and first words."""
    rows = basement.db.execute(
        "SELECT f.title, c.text FROM files f JOIN chunks c ON c.file_id = f.id AND c.ordinal = 0 "
        "GROUP BY f.id ORDER BY f.path LIMIT ?",
        (most,),
    )
    return [f"{title} {' '.join(text.split()[:20])}" for title, text in rows]
