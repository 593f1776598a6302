"""``.palace/local.yaml``: where a palace's projects are on this machine. People edit it too."""

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path

from memory_palace.core import mining, yaml12
from memory_palace.core.errors import BadInput, Changed
from memory_palace.core.text import did_you_mean, split_lines
from memory_palace.files import atomic, git, read, roots

PATH = f"{roots.DERIVED}/local.yaml"
_BEGINNING = "# Where things are on this machine. Yours to edit; git does not see it.\n"
_MOST_BYTES = 256 * 1024


def places(root: Path) -> dict[str, Path]:
    """{project: its folder on this machine}, whether it is there or not.

    Empty where git tracks the file (see :func:`is_strange`). Raises :class:`BadInput` with the
    line that is wrong.
    """
    _, _, found = _read(root)
    return {} if found and is_strange(root) else found


def is_strange(root: Path) -> bool:
    """True if git tracks the file: whoever wrote the repository could name any folder of this
    machine."""
    try:
        info = os.lstat(root / PATH)
    except OSError:
        return False
    return _is_tracked(root, info.st_ino, info.st_mtime_ns)


def check(root: Path) -> None:
    """Raises :class:`BadInput` where git tracks the file."""
    if is_strange(root):
        raise BadInput(
            f"{PATH} is in git, so others may say what is mined here: look at it, then run "
            f"`git rm --cached {PATH}`"
        )


@functools.lru_cache(maxsize=64)
def _is_tracked(root: Path, inode: int, mtime_ns: int) -> bool:
    return git.in_repository(root) and bool(git.run(root, "ls-files", "-z", "--", PATH))


def put(root: Path, name: str, folder: Path | None) -> None:
    """Note where a project is, or (None) that it is nowhere; other lines stay as they are.

    For whoever holds the memory's lock. Raises :class:`BadInput` as :func:`places` does,
    :class:`Changed` if the file was written meanwhile.
    """
    check(root)
    raw, entries, found = _read(root)
    if found.get(name) == folder:
        return
    text = _changed((raw or b"").decode("utf-8"), entries, name, folder)
    try:
        atomic.write(roots.inside(root, PATH), text.encode("utf-8"), expected=raw)
    except Changed:
        raise Changed(f"{PATH} changed underneath: run this again") from None


def _changed(text: str, entries: list[yaml12.Entry], name: str, folder: Path | None) -> str:
    lines = split_lines(text) if text else split_lines(_BEGINNING)
    line = (
        [] if folder is None else [f"  {json.dumps(name, ensure_ascii=False)}: {_quoted(folder)}"]
    )
    block = next((entry for entry in entries if entry.key == "projects"), None)
    if block is None:
        lines += ["projects:", *line] if line else []
        return "\n".join(lines) + "\n"
    top = block.key_start.line
    if block.style == "block":
        lines[top + 1 :], rest = [], lines[top + 1 :]
        kept = [row for row in rest if _key(row) != name]
        before = next((n for n, row in enumerate(rest) if _key(row) == name), 0)
        kept[before:before] = _indented(line, rest)
        return "\n".join([*lines, *kept]) + "\n"
    held = block.value if isinstance(block.value, Mapping) else {}
    others = [
        f"  {json.dumps(key, ensure_ascii=False)}: {_quoted(value)}"
        for key, value in held.items()
        if key != name
    ]
    lines[top : block.end.line + 1] = ["projects:", *others, *line]
    return "\n".join(lines) + "\n"


def _indented(line: list[str], rest: list[str]) -> list[str]:
    """``line`` as far in as the keys that are there."""
    first = next((row for row in rest if row.strip() and not row.lstrip().startswith("#")), "  x")
    return [first[: len(first) - len(first.lstrip())] + row.strip() for row in line]


def _key(row: str) -> str | None:
    """The key of a line below ``projects:``, None for one of the top or without a key."""
    if not row.startswith((" ", "\t")):
        return None
    try:
        found = yaml12.load(row.strip())
    except yaml12.BadYaml:
        return None
    return next(iter(found), None) if isinstance(found, dict) else None


def _quoted(folder: object) -> str:
    return json.dumps(str(folder), ensure_ascii=False)


def _read(root: Path) -> tuple[bytes | None, list[yaml12.Entry], dict[str, Path]]:
    """The file's bytes (None: there is none), its entries, and the places in it."""
    place = roots.inside(root, PATH)
    if not os.path.lexists(place):
        return None, [], {}
    got = read.read_bytes(root, PATH, _MOST_BYTES, "this file")
    if isinstance(got, read.Unreadable):
        raise BadInput(f"{PATH}: {got.problem.message}")
    try:
        entries = yaml12.entries(got[0].decode("utf-8"))
    except yaml12.BadYaml as error:
        raise BadInput(f"{PATH}:{error.line + 1}: broken YAML ({error}): mend it") from None
    except UnicodeDecodeError:
        raise BadInput(f"{PATH}: not UTF-8: save it as UTF-8") from None
    if entries is None:
        raise BadInput(f"{PATH}:1: not a mapping: write `projects:` and a line each below it")
    found: dict[str, Path] = {}
    for entry in entries:
        at = f"{PATH}:{entry.key_start.line + 1}"
        if entry.key != "projects":
            hint = did_you_mean(entry.key, ["projects"])
            raise BadInput(f"{at}: unknown key `{entry.key}`{hint}")
        found |= _folders(at, entry.value)
    return got[0], entries, found


def _folders(at: str, value: object) -> dict[str, Path]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadInput(f"{at}: projects is {value!r}: write a line `NAME: FOLDER` each")
    found = {}
    for name, folder in value.items():
        if fault := mining.name_fault(str(name)):
            raise BadInput(f"{at}: projects: {fault}")
        if not isinstance(folder, str) or not Path(os.path.expanduser(folder)).is_absolute():
            raise BadInput(f"{at}: projects: {name} is {folder!r}: write the folder's full path")
        found[str(name)] = Path(os.path.expanduser(folder))
    return found
