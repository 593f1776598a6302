"""A new palace: the rooms, the ignore rules, and a first note to change."""

import os
from pathlib import Path

from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import atomic, git, roots

ROOMS = (
    "grand_hall",
    "chambers",
    "project_rooms",
    "reflection_wing/principles",
    "reflection_wing/prompt_kernels",
    "reflection_wing/failure_patterns",
    "reflection_wing/thinking_paths",
    "reflection_wing/constitution_candidates",
    "reflection_wing/proposals",
    "reflection_wing/rules",
    "dispatch_corridor/cards",
    "dispatch_corridor/log",
    "conflict_room",
    "archive_basement",
    "topics",
)

UNFILLED = "Replace these lines:"
"""Stands in a new palace's identity until a person has written it."""

FILES = {
    roots.MARKER: "# Settings of this palace; every key is optional.\nembedder: auto\n",
    "palace/grand_hall/identity.md": f"""---
title: Identity
type: palace
priority: high
---
# Identity

Who this memory serves, and what an agent should always know. {UNFILLED}

- who you are and what you work on
- what matters most to you
- what an agent must never do
""",
    "palace/grand_hall/README.md": """---
title: Room map
---
# Room map

- `grand_hall`: this map and the [[identity]]
- `chambers`: what one agent knows, a folder each
- `project_rooms`: long-running projects, a folder each
- `reflection_wing`: principles, prompt kernels, failure patterns, thinking paths
- `dispatch_corridor`: tasks and the log between agents
- `conflict_room`: contradictions and how they were decided
- `archive_basement`: cold storage, left out of search unless asked for
- `topics`: preferences, lessons, patterns, decisions, completions, mistakes

<!-- palace:map:start -->

Not drawn yet: `palace map` does it.

<!-- palace:map:end -->
""",
}
_IGNORED = (".palace/", ".*.tmp")  # the second is what a killed write leaves
_ATTRIBUTES = (
    "*.jsonl merge=union text eol=lf",
    # One memory a line: lines that two branches added are both wanted.
    "palace/topics/**/*.md merge=union",
    # An entry of a diary has lines of its own, and two machines may write to one day.
    "palace/chambers/*/diary/*.md merge=union",
)


def make(directory: Path) -> list[str]:
    """Make a palace in ``directory``; the paths made, relative to it. Nothing is overwritten.

    Raises :class:`BadInput` if that is no place for one, :class:`Missing` without git.
    """
    root = Path(os.path.expanduser(directory))
    made = []
    try:
        root.mkdir(parents=True, exist_ok=True)
        for room in ROOMS:
            folder = roots.inside(root, f"palace/{room}")
            if not folder.is_dir():
                folder.mkdir(parents=True)
                made.append(f"palace/{room}/")
            keep = folder / ".gitkeep"
            if not any(folder.iterdir()):
                keep.touch()
        for path, text in FILES.items():
            if not (root / path).exists():
                atomic.write(root / path, text.encode(), expected=None)
                made.append(path)
        made += _with_lines(root, ".gitignore", _IGNORED)
        made += _with_lines(root, ".gitattributes", _ATTRIBUTES)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{error.filename} is in the way: name a folder") from None
    except OSError as error:
        raise Missing(
            f"{error.filename or root} cannot be written ({error.strerror}): mend it"
        ) from None
    if not git.in_repository(root.resolve()):
        git.init(root)
        made.append(".git/")
    return made


def _with_lines(root: Path, name: str, wanted: tuple[str, ...]) -> list[str]:
    """Add the lines that ``name`` lacks."""
    before = atomic.read_or_none(root / name)
    there = (before or b"").decode("utf-8", "surrogateescape")
    missing = [line for line in wanted if line not in there.splitlines()]
    if not missing:
        return []
    gap = "" if not there or there.endswith("\n") else "\n"
    text = there + gap + "".join(line + "\n" for line in missing)
    atomic.write(root / name, text.encode("utf-8", "surrogateescape"), expected=before)
    return [name]
