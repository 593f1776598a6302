"""Is code found? At its definitions and at blank lines, with and without path and symbol.

    python3 bench/find_code.py [--package pylint==3.3.2] [--within FOLDER] [--embedder minilm]
                               [--way WAY …] [--misses]

Questions are made of the Python files themselves, by a fixed seed, before anything is ranked:

- docstring: the first sentence of a function's docstring, which is then taken out of its file.
- identifiers: a function's name and two identifiers out of its body.
- where: `where is NAME defined?`, of names that are defined once.
- words: the words of such a name, apart.

Right is a hit that has lines of that definition (of a class: up to its first method). Beside the
ways, in the same run: plain BM25 over the same chunks, words of letters, digits and `_` in lower
case, as many hits of a file as `palace query` gives. A Markdown table: hit@1 / @5 / @10 in percent,
and the mean reciprocal rank of all questions, which is also given as a multiple of plain BM25's.
"""

import argparse
import ast
import math
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import mine as mined  # noqa: E402
from memory_palace.core import code_chunks, code_tree  # noqa: E402
from memory_palace.core.tokens import camel_parts  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.embed.registry import Choice  # noqa: E402
from memory_palace.files import config as configs  # noqa: E402
from memory_palace.index import catalog as catalogs  # noqa: E402
from memory_palace.search.pick import MOST_OF_A_SOURCE  # noqa: E402
from memory_palace.search.query import Query  # noqa: E402
from memory_palace.search.searcher import Searcher  # noqa: E402

DEPTHS = (1, 5, 10)
COUNTS = {"docstring": 60, "identifiers": 40, "where": 40, "words": 40}
WAYS = {
    "definitions": (True, True),
    "definitions, text alone": (True, False),
    "blank lines": (False, True),
    "blank lines, text alone": (False, False),
}
"""Cut at definitions; path and symbol are embedded."""
_K1, _B = 1.2, 0.75
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\s*\n")


class Place(NamedTuple):
    """Lines of a file, from 1, inclusive."""

    path: str
    start: int
    end: int


class Defined(NamedTuple):
    """A function or class: its place, the lines of a docstring that can be taken out (else 0), that
    one's first sentence, and the identifiers ``inside``."""

    name: str
    place: Place
    doc: tuple[int, int]
    sentence: str
    inside: frozenset[str]
    function: bool


class Asked(NamedTuple):
    """A question, and the places of which any is right."""

    kind: str
    text: str
    right: tuple[Place, ...]


# -- questions --------------------------------------------------------------------------------


def definitions(top: Path, paths: Iterable[str]) -> Iterator[Defined]:
    """Every function and class of Python files."""
    for path in paths:
        try:
            tree = ast.parse((top / path).read_text("utf-8"))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield _defined(path, node)


def _defined(path: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Defined:
    function = not isinstance(node, ast.ClassDef)
    end = node.end_lineno or node.lineno
    if not function:
        methods = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.ClassDef))
        end = next((max(one.lineno - 1, node.lineno) for one in methods), end)
    said, first = ast.get_docstring(node) or "", node.body[0]
    alone = len(node.body) > 1 and node.lineno < first.lineno
    alone = alone and node.body[-1].lineno > (first.end_lineno or 0)
    inside = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    inside |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return Defined(
        node.name,
        Place(path, node.lineno, end),
        (first.lineno, first.end_lineno or 0) if said and alone else (0, 0),
        " ".join(_SENTENCE.split(said)[0].split()),
        frozenset(name for name in inside - {node.name} if len(name) > 3),
        function,
    )


def ask(top: Path, paths: Sequence[str], seed: int = 7) -> list[Asked]:
    """The questions; docstrings that became one are taken out of the files below ``top``."""
    dice = random.Random(seed)
    every = list(definitions(top, paths))
    named, said = Counter(one.name for one in every), Counter(one.sentence for one in every)
    public = [one for one in every if not one.name.startswith("_")]
    long = [one for one in public if one.function and one.place.end - one.place.start > 4]
    once = [one for one in public if named[one.name] == 1 and len(_parts(one.name)) > 1]
    told = [
        one
        for one in public
        if one.function and one.doc[0] and said[one.sentence] == 1
        if len(one.sentence.split()) > 4 and len(one.sentence) < 200
    ]
    asked: list[tuple[str, str, list[Defined]]] = []
    chosen = dice.sample(told, min(COUNTS["docstring"], len(told)))
    asked += [("docstring", one.sentence, [one]) for one in chosen]
    full = [one for one in long if len(one.inside) > 1]
    for one in dice.sample(full, min(COUNTS["identifiers"], len(full))):
        words = dice.sample(sorted(one.inside), 2)
        alike = [o for o in full if o.name == one.name and o.inside >= set(words)]
        asked.append(("identifiers", " ".join([one.name, *words]), alike))
    for kind, form in (("where", "where is {} defined?"), ("words", "{}")):
        for one in dice.sample(once, min(COUNTS[kind], len(once))):
            name = " ".join(_parts(one.name)) if kind == "words" else one.name
            asked.append((kind, form.format(name), [one]))
    gone = _without(top, chosen)
    return [Asked(kind, text, tuple(_moved(o.place, gone) for o in of)) for kind, text, of in asked]


def _parts(name: str) -> list[str]:
    return [part.lower() for word in name.split("_") if word for part in camel_parts(word)]


def _without(top: Path, chosen: Iterable[Defined]) -> Mapping[str, set[int]]:
    """Take docstrings out of the files: the lines that are gone, by path."""
    gone: dict[str, set[int]] = defaultdict(set)
    for one in chosen:
        gone[one.place.path].update(range(one.doc[0], one.doc[1] + 1))
    for path, numbers in gone.items():
        lines = (top / path).read_text("utf-8").split("\n")
        kept = [line for n, line in enumerate(lines, start=1) if n not in numbers]
        (top / path).write_text("\n".join(kept), "utf-8")
    return gone


def _moved(place: Place, gone: Mapping[str, set[int]]) -> Place:
    before = gone.get(place.path, set())
    start, end = (n - sum(line < n for line in before) for n in (place.start, place.end + 1))
    return Place(place.path, start, end - 1)


# -- answers ----------------------------------------------------------------------------------


@contextmanager
def cut(at_definitions: bool, with_head: bool) -> Iterator[None]:
    """Code is cut, and embedded, another way inside."""
    before = code_tree.definitions, code_chunks.embedded_text
    if not at_definitions:
        code_tree.definitions = lambda path, text: ()
    if not with_head:
        code_chunks.embedded_text = lambda path, symbol, text: text
    try:
        yield
    finally:
        code_tree.definitions, code_chunks.embedded_text = before


def found(root: Path, choice: Choice, asked: Sequence[Asked]) -> list[int | None]:
    """The rank of the first right hit, for each question."""
    now = datetime.now(UTC)
    with Searcher(root, configs.load(root, {}), choice) as searcher:
        ranks = []
        for one in asked:
            hits = searcher.ask(Query(one.text, top_k=max(DEPTHS), neighbors=0), now).hits
            places = [Place(hit.path.split("/", 1)[1], hit.start, hit.end) for hit in hits]
            ranks.append(_rank(places, one))
        return ranks


def baseline(root: Path, asked: Sequence[Asked]) -> list[int | None]:
    """The same by BM25 over the words of the chunks as they are written."""
    with catalogs.open_to_read(root / ".palace/index" / catalogs.MAIN) as catalog:
        rows = catalog.db.execute(
            """SELECT f.path, c.start, c."end", c.text FROM chunks c
               JOIN files f ON f.id = c.file_id ORDER BY f.path, c.id"""
        ).fetchall()
    places = [Place(path.split("/", 1)[1], start, end) for path, start, end, _ in rows]
    counts = [Counter(re.findall(r"\w+", text.lower())) for *_, text in rows]
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / max(len(lengths), 1)
    having: dict[str, list[int]] = defaultdict(list)
    for n, count in enumerate(counts):
        for word in count:
            having[word].append(n)
    ranks = []
    for one in asked:
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(re.findall(r"\w+", one.text.lower())):
            weight = math.log1p((len(rows) - len(having[word]) + 0.5) / (len(having[word]) + 0.5))
            for n in having[word]:
                often = counts[n][word]
                long = _K1 * (1 - _B + _B * lengths[n] / average)
                scores[n] += weight * often * (_K1 + 1) / (often + long)
        order = sorted(scores, key=lambda n: (-scores[n], n))
        ranks.append(_rank(_few_of_each(places[n] for n in order), one))
    return ranks


def _few_of_each(places: Iterable[Place]) -> list[Place]:
    """The first hits, of each file as many as a source gives."""
    kept: list[Place] = []
    for place in places:
        if sum(one.path == place.path for one in kept) < MOST_OF_A_SOURCE:
            kept.append(place)
        if len(kept) == max(DEPTHS):
            break
    return kept


def _rank(places: Iterable[Place], asked: Asked) -> int | None:
    for rank, at in enumerate(places, start=1):
        if any(
            at.path == right.path and at.start <= right.end and right.start <= at.end
            for right in asked.right
        ):
            return rank
    return None


def line(asked: Sequence[Asked], ranks: Sequence[int | None]) -> str:
    """A cell a kind, and one for all."""
    cells = []
    for kind in COUNTS:
        own = [rank for one, rank in zip(asked, ranks, strict=True) if one.kind == kind]
        cells.append(" / ".join(_percent(own, depth) for depth in DEPTHS))
    return " | ".join([*cells, f"{mean(ranks):.3f}"])


def mean(ranks: Sequence[int | None]) -> float:
    """The mean reciprocal rank."""
    return sum(1 / rank for rank in ranks if rank) / max(len(ranks), 1)


def _percent(ranks: Sequence[int | None], depth: int) -> str:
    hits = sum(rank is not None and rank <= depth for rank in ranks)
    return f"{100 * hits / max(len(ranks), 1):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", default="pylint==3.3.2", help="a source distribution")
    parser.add_argument("--within", help="only this folder of it [the package's own]")
    parser.add_argument("--embedder", default="minilm", choices=configs.EMBEDDERS)
    parser.add_argument("--way", action="append", choices=list(WAYS), help="all of them else")
    parser.add_argument("--misses", action="store_true", help="to stderr, of the first way")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        within = given.within or given.package.partition("=")[0]
        run(folder, mined.fetched(given.package, folder) / within, given)


def run(folder: Path, top: Path, given: argparse.Namespace) -> None:
    """Measure each way, a row each."""
    paths = sorted(path.relative_to(top).as_posix() for path in top.rglob("*.py"))
    asked = ask(top, paths)
    print(f"{len(asked)} questions, {len(paths)} Python files")
    print(
        "|",
        " | ".join(["", *(f"{kind}, {COUNTS[kind]}" for kind in COUNTS), "mrr", "of BM25's"]),
        "|",
    )
    print("|", " | ".join(["---"] * (len(COUNTS) + 3)), "|")
    for way in given.way or WAYS:
        root = folder / way.replace(" ", "-")
        (root / "palace").mkdir(parents=True)
        (root / "palace.yaml").write_text(f"embedder: {given.embedder}\n")
        choice = registry.choose(configs.load(root, {}))
        with cut(*WAYS[way]):
            mined.mine(root, top)
            done, _ = mined.index(root, mined.NONE)
            keywords = found(root, mined.NONE, asked)
            ranks = keywords
            if choice.load is not None:
                mined.index(root, choice)
                ranks = found(root, choice, asked)
        plain = baseline(root, asked)
        told = {"": ranks, ", keywords alone": keywords, ", plain BM25": plain}
        for what, of in told.items():
            ratio = mean(of) / max(mean(plain), 1e-9)
            name = f"{way}{what}" if what else f"{way}, {done.chunks} chunks"
            print(f"| {name} | {line(asked, of)} | {ratio:.2f} |", flush=True)
        if given.misses:
            for one, rank, other in zip(asked, ranks, plain, strict=True):
                if rank != 1:
                    print(one.kind, repr(one.text), one.right[0], rank, other, file=sys.stderr)
            given.misses = False


if __name__ == "__main__":
    main()
