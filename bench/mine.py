"""How fast does a project become part of the memory?

    python3 bench/mine.py [--package pylint==3.3.2 | --folder DIR] [--embedder minilm]

A package's source distribution is downloaded into a temporary folder and mined there as a git
repository of one commit: files a second into the manifest, files a second into the keyword index,
chunks a second into vectors, a run with nothing to do, a run after one edit, peak memory. One JSON
line.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

from memory_palace.core import code_tree  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.embed.registry import Choice  # noqa: E402
from memory_palace.files import config as configs  # noqa: E402
from memory_palace.files import projects  # noqa: E402
from memory_palace.files.projects import Project  # noqa: E402
from memory_palace.index import catalog as catalogs  # noqa: E402
from memory_palace.index import run  # noqa: E402
from memory_palace.index.build import Indexed, Options  # noqa: E402
from memory_palace.memory import mining, mining_writing, pen  # noqa: E402

NONE = Choice("none", "none", "")
PUBLISHED = 6.9
"""Chunks a second that others report: 17,700 in 43 minutes, four workers on a laptop."""


def fetched(package: str, into: Path) -> Path:
    """The unpacked source distribution of ``package``, committed as it is."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--no-build-isolation", "--dest", str(into), package], check=True)
    with tarfile.open(next(into.glob("*.tar.gz"))) as archive:
        archive.extractall(into / "source", filter="data")
    top = next((into / "source").iterdir())
    git = ["git", "-C", str(top), "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it came"]):
        subprocess.run([*git, *arguments], check=True)
    return top


def mine(root: Path, top: Path) -> int:
    """Bring the manifest of the project at ``top`` in line; how many files it has."""
    config = configs.load(root, {})
    planned = mining.plan(root, Project("bench", top), config)
    with pen.begin(root, datetime.now(UTC), "palace mine", "bench") as held:
        mining_writing.write(held, planned)
    return len(planned.lines)


def index(root: Path, choice: Choice) -> tuple[Indexed, float]:
    """A run and its seconds."""
    started = time.perf_counter()
    done = run.index(root, configs.load(root, {}), choice, Options())
    return done, time.perf_counter() - started


def whole(root: Path, top: Path, choice: Choice) -> tuple[Indexed, float]:
    """Mining again and indexing, and the seconds of both."""
    started = time.perf_counter()
    mine(root, top)
    done, _ = index(root, choice)
    return done, time.perf_counter() - started


def measure(root: Path, top: Path, choice: Choice) -> dict[str, object]:
    started = time.perf_counter()
    files = mine(root, top)
    collected = time.perf_counter() - started
    keywords, keyword_seconds = index(root, NONE)
    filled, _ = index(root, choice)
    with catalogs.open_to_read(root / ".palace/index" / catalogs.MAIN) as catalog:
        (characters,) = catalog.db.execute("SELECT avg(length(embedded)) FROM chunks").fetchone()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, settled = whole(root, top, choice)
    _, unchanged = whole(root, top, choice)
    lines = projects.listed(root, "bench")
    edited = top / next(line.path for line in lines if line.path.endswith(".py"))
    before = edited.read_bytes()
    try:
        edited.write_bytes(before + b"\n\ndef added_by_the_benchmark():\n    return 1\n")
        again, one_change = whole(root, top, choice)
    finally:
        edited.write_bytes(before)
    rate = filled.vectors / filled.vector_seconds if filled.vectors else None
    return {
        "files": files,
        "chunks": keywords.chunks,
        "characters_a_chunk": round(characters),
        "grammars": code_tree.installed(),
        "manifest_files_per_s": round(files / collected),
        "keyword_files_per_s": round(files / keyword_seconds),
        "keyword_seconds": round(keyword_seconds, 2),
        "vectors": filled.vectors,
        "chunks_per_s": rate and round(rate, 1),
        "times_published": rate and round(rate / PUBLISHED, 1),
        "first_run_again_s": round(settled, 2),
        "unchanged_s": round(unchanged, 2),
        "one_change_s": round(one_change, 2),
        "one_change_vectors": again.vectors,
        "peak_memory_mb": round(peak / 1024),
        "index_mb": round(sum(f.stat().st_size for f in root.glob(".palace/**/*")) / 2**20, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--package", default="pylint==3.3.2", help="a source distribution")
    parser.add_argument("--folder", type=Path, help="a project that is here instead")
    parser.add_argument("--embedder", default="minilm", choices=configs.EMBEDDERS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "palace-root"
        (root / "palace").mkdir(parents=True)
        (root / "palace.yaml").write_text(f"embedder: {given.embedder}\n")
        top = given.folder.resolve() if given.folder else fetched(given.package, Path(folder))
        load = os.getloadavg()[0]
        found = measure(root, top, registry.choose(configs.load(root, {})))
        what = given.folder.name if given.folder else given.package
        machine = {"load_before": round(load, 1), "load_after": round(os.getloadavg()[0], 1)}
        machine |= {"cores": os.cpu_count(), "python": platform.python_version()}
        print(json.dumps({"project": what, **found, **machine}))


class _Raw(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the text above."""


if __name__ == "__main__":
    main()
