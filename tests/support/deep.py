"""Folders within each other, more of them than Python calls within each other."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEPTH = 1_200


@contextmanager
def deep_folders(top: Path, name: str) -> Iterator[str]:
    """An empty file ``name`` that many folders below ``top``; its path there. All go afterwards."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        yield "d/" * DEPTH + name
    finally:  # Python's own way to remove folders has an end
        subprocess.run(["rm", "-r", str(top / "d")], check=True)
