"""The graph of ``[[links]]`` between notes, read from the catalog."""

import json
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.problems import Problem
from memory_palace.core.text import is_mined
from memory_palace.files import atomic, roots, tree
from memory_palace.index import reading
from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Graph:
    """``out`` maps each note to the notes it links to, in link order, each once; ``back`` maps
    each note to those that link to it, by path. ``archived`` maps notes that link into the archive
    to the paths there. ``problems`` are the links that lead nowhere."""

    out: dict[str, list[str]]
    back: dict[str, list[str]]
    archived: dict[str, list[str]]
    problems: list[Problem]


def read(catalog: Catalog) -> Graph:
    """The graph as the last index run left it."""
    rows = catalog.db.execute("SELECT path FROM files ORDER BY path")
    paths = [path for (path,) in rows if not (tree.is_ledger(path) or is_mined(path))]
    # Dictionaries keep the order and find a repeat at once.
    out: dict[str, dict[str, None]] = {path: {} for path in paths}
    back: dict[str, dict[str, None]] = {path: {} for path in paths}
    archived: dict[str, dict[str, None]] = {}
    problems = []
    rows = catalog.db.execute(
        """SELECT f.path, l.link, l.path, l.status, l.why FROM links l
           JOIN files f ON f.id = l.file_id ORDER BY f.path, l.ordinal"""
    )
    for source, text, target, status, why in rows:
        if status in ("broken", "ambiguous"):
            link = reading.link_from_json(text)
            problems.append(Problem(source, link.line, f"{link} {status}: {why}", "warning"))
        if status == "archived":
            archived.setdefault(source, {})[why] = None
        if target in out and target != source:
            out[source][target] = None
            back[target][source] = None
    return Graph(_lists(out), _lists(back), _lists(archived), problems)


def _lists(links: dict[str, dict[str, None]]) -> dict[str, list[str]]:
    return {path: list(others) for path, others in links.items()}


def keep(root: Path, graph: Graph) -> None:
    """Write ``.palace/graph.json``; raises OSError."""
    found = {"neighbors": graph.out, "backlinks": graph.back, "archived": graph.archived}
    data = json.dumps(found, ensure_ascii=False, indent=1)
    place = roots.inside(root, f"{roots.DERIVED}/graph.json")
    atomic.write(place, (data + "\n").encode())
