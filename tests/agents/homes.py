"""A home of a test's own: this toolkit cloned into it, with a small palace, and a project.

The toolkit stands where a newcomer puts it, ``~/.claude/skills/memory-palace``. Its environment is
that of the tests. The palace in it knows the project ``harbour``, another one, one rule of each
kind, and one rule that is broken.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_palace.core.ledger import Ledger, branch
from memory_palace.files import ledgers
from support.palaces import REPOSITORY

LEFT_OUT = ("palace", "manifests", "tests", "bench", "node_modules", "*.egg-info", "__pycache__")
OWN = (".claude-plugin", ".mcp.json")
"""Of what starts with a dot, what a clone has."""

IDENTITY = "This palace serves the lighthouse crew."
STORY = "The harbour signals are numbered from the mole inwards."
MATCH = "Release branches are called after rivers, in the order of the alphabet."
QUESTION = "How are release branches called here?"
BLOCKED = "touch sunk.txt"
BLOCK_REASON = "The sunk file brought the lamp down for a night."
WARNED = "touch lit.txt"
WARNING = "Whoever lights the lamp tells the pilots."
VERIFIED = "touch shipped.txt"

NOTES = {
    "palace/grand_hall/identity.md": f"# Identity\n\n{IDENTITY}\n",
    "palace/project_rooms/harbour/signals.md": (
        f"---\ntitle: Signals\npriority: high\nhall: hall_decisions\ncreated: 2026-11-20\n---\n"
        f"# Signals\n\n{STORY}\n"
    ),
    "palace/project_rooms/quay/branches.md": (
        f"---\ntitle: Release branches\npriority: low\ncreated: 2026-11-21\n---\n"
        f"# Release branches\n\n{MATCH}\n"
    ),
    "palace/reflection_wing/rules/no-sunk-file.md": (
        f"---\ntitle: No sunk file\ntype: rule\ntrigger: bash_contains {BLOCKED}\n"
        f"action: block\nreason: {BLOCK_REASON}\n---\n# No sunk file\n"
    ),
    "palace/reflection_wing/rules/lamp.md": (
        f"---\ntitle: Lamp\ntype: rule\ntrigger: bash_contains {WARNED}\n"
        f"action: warn\nreason: {WARNING}\n---\n# Lamp\n"
    ),
    "palace/reflection_wing/rules/read-before-ship.md": (
        f"---\ntitle: Read before you ship\ntype: rule\n"
        f"verifier: tool_called Read before {VERIFIED}\n"
        f"reason: The log is read before anything is shipped.\n---\n# Read before you ship\n"
    ),
    "palace/reflection_wing/rules/broken.md": (
        "---\ntitle: Broken\ntype: rule\ntrigger: bash_regex (unclosed\n"
        "action: block\n---\n# Broken\n"
    ),
}


@dataclass(frozen=True, slots=True)
class Home:
    """The home, the toolkit in it (which is the palace too), and the project to work in."""

    place: Path
    toolkit: Path
    project: Path

    def palace(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``palace`` of this toolkit, from its own folder, with this home."""
        return subprocess.run(
            [sys.executable, str(self.toolkit / "scripts" / "palace.py"), *arguments],
            cwd=self.toolkit,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.place),
                "CI": "true",
                "HF_HUB_OFFLINE": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def kept(self, client: str) -> list[Ledger]:
        """The ledgers of the sessions of ``client``, in the order in which they began and those of
        subagents behind, once everything that was captured is in them."""
        for done in (self.palace("observe", "--auto"), self.palace("doctor")):
            assert "Traceback" not in done.stderr, done.stderr
            faults = [line for line in done.stdout.splitlines() if line.startswith("WRONG hook")]
            assert not [line for line in faults if "Error" in line], done.stdout
        found = [
            ledgers.load(self.toolkit, path).ledger
            for path in ledgers.every(self.toolkit)
            if ledgers.names(path)[0] == client
        ]
        return sorted(found, key=_begun)

    def imported(self, client: str, transcripts: str) -> list[Ledger]:
        """As :meth:`kept`, once the client's own ``transcripts`` (a pattern) were imported too."""
        found = sorted(self.place.glob(transcripts))
        assert found
        for transcript in found:
            done = self.palace("ledger", "import", str(transcript))
            assert done.returncode == 0, done.stderr
        return self.kept(client)


def _begun(ledger: Ledger) -> tuple[bool, datetime]:
    assert ledger.header
    return "." in ledger.header.session, min(entry.at for entry in ledger.entries.values())


def said(ledger: Ledger) -> list[tuple[str, str]]:
    """Who said what in a session, in order, each once."""
    entries = branch(ledger)
    assert len(entries) == len(ledger.entries)
    return [(entry.role, entry.text) for entry in entries]


def make(place: Path, toolkit: str = ".claude/skills/memory-palace") -> Home:
    """A home in ``place``, with the palace indexed by keywords."""
    home = Home(place, place / toolkit, place / "harbour")
    _copy_toolkit(home.toolkit)
    for path, text in NOTES.items():
        target = home.toolkit / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (home.toolkit / "palace.yaml").write_text("embedder: none\n", encoding="utf-8")
    for repository in (home.project, home.toolkit):
        (repository / ".git").mkdir(parents=True)
    indexed = home.palace("index")
    assert indexed.returncode == 0, indexed.stderr
    return home


def remembered(text: str, kind: str) -> str:
    """What memory put into ``text`` as ``kind``: all that stands between its marks."""
    blocks = text.split(f'<palace-memory kind="{kind}">')[1:]
    return "\n".join(block.partition("</palace-memory>")[0] for block in blocks)


def folded(text: str) -> list[str]:
    """The ids of the lines that a compacted session gets back, in what memory put into ``text``."""
    fold = remembered(text, "wake").partition("# This session before the compaction")[2]
    return re.findall(r"^\[([0-9a-f]{12})\] ", fold, re.MULTILINE)


def _copy_toolkit(target: Path) -> None:
    """This repository as it is now, without its memory, and the environment of the tests."""
    hidden = [path.name for path in REPOSITORY.glob(".*") if path.name not in OWN]
    shutil.copytree(REPOSITORY, target, ignore=shutil.ignore_patterns(*LEFT_OUT, *hidden))
    (target / ".venv").symlink_to(sys.prefix)
