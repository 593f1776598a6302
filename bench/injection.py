"""How good is what is put beside a prompt? With keywords alone, and with vectors as the server has.

    python3 bench/injection.py [LOCOMO] [--embedder minilm] [--talks 5] [--misses]

Prompts that something in the palace of this repository answers, and those that nothing does
(`bench/prompts.json`); the questions of `tests/fixtures/retrieval`; and, if a file of the LoCoMo
form is named, its questions: of their own conversation, and of the palace of this repository, where
none has an answer; the prompts in the palaces of its conversations, and in one palace that has
all of them beside the notes of this repository. A Markdown table:

- any: prompts beside which something is put. Where nothing answers, that is noise.
- hit: prompts beside which something right is put: a note or an entry that answers, or an entry
  that links to such a note.
- right: the share of all that is put there that is right, by the notes that are known to be so.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

from memory_palace.core import prompts  # noqa: E402
from memory_palace.core.links import TREE  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.embed.registry import Choice  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import run  # noqa: E402
from memory_palace.index.build import Options  # noqa: E402
from memory_palace.search import datasets  # noqa: E402
from memory_palace.search.searcher import Searcher  # noqa: E402
from memory_palace.serve.finder import Finder, Known  # noqa: E402
from memory_palace.session import prompting  # noqa: E402
from memory_palace.session.finding import About, Cold, Piece  # noqa: E402
from memory_palace.session.finding import Finder as Port  # noqa: E402

FIXTURES = REPOSITORY / "tests/fixtures/retrieval"
PROMPTS = REPOSITORY / "bench/prompts.json"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
_LINK = re.compile(r"\[\[([^\]|#]+)")


class Asked(NamedTuple):
    """A prompt, and what is right beside it: paths, or ``path#^id`` of entries; none: nothing."""

    prompt: str
    right: frozenset[str]


class Noted(NamedTuple):
    """Beside one prompt: what was put there, and whether each is right."""

    asked: Asked
    pieces: tuple[Piece, ...]
    right: tuple[bool, ...]


class Remembering:
    """A finder that keeps what it found."""

    def __init__(self, finder: Port) -> None:
        self._finder = finder
        self.found: dict[str, Piece] = {}

    @property
    def faults(self) -> Sequence[str]:
        """Those of the finder."""
        return self._finder.faults

    def entries(self, question: str, most: int) -> Iterator[Piece]:
        """The same entries."""
        return self._kept(self._finder.entries(question, most))

    def notes(self, question: str, most: int) -> Iterator[Piece]:
        """The same notes."""
        return self._kept(self._finder.notes(question, most))

    def about(self, files: Sequence[str], most: int) -> list[About]:
        """Nothing that is measured here."""
        return self._finder.about(files, most)

    def _kept(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            self.found[piece.key] = piece
            yield piece


def beside(asked: Asked, finder: Port) -> Noted:
    """What a prompt gets at the beginning of a session."""
    remembering = Remembering(finder)
    question = prompts.question(asked.prompt)
    rows = prompting.compose(question, remembering, {}).rows
    assert not remembering.faults, remembering.faults
    pieces = tuple(remembering.found[row["key"]] for row in rows)
    return Noted(asked, pieces, tuple(_is_right(piece, asked.right) for piece in pieces))


def _is_right(piece: Piece, right: frozenset[str]) -> bool:
    if piece.path in right or f"{piece.path}#^{piece.key}" in right:
        return True
    stems = {Path(path).stem for path in right if "#" not in path}
    linked = _LINK.findall(piece.text) if piece.category else []
    return any(target.rsplit("/", 1)[-1] in stems for target in linked)


class Palace:
    """A palace with an index, to ask with keywords alone and with vectors."""

    def __init__(self, root: Path, choice: Choice) -> None:
        self._root = root
        self._settings = config.load(root)
        self._choice = choice
        self.chunks = run.index(root, self._settings, choice, Options()).chunks

    def asked(self, of: Sequence[Asked]) -> tuple[list[Noted], list[Noted]]:
        """The prompts, without and with the model."""
        cold = [beside(one, Cold(self._root, NOW)) for one in of]
        with closing(Searcher(self._root, self._settings, self._choice)) as searcher:
            known = Known(self._root)
            finders = (Finder(self._root, searcher, known, NOW, time.time() + 60) for _ in of)
            return cold, [beside(one, finder) for one, finder in zip(of, finders, strict=True)]


def own(name: str) -> tuple[list[Asked], list[Asked]]:
    """Our prompts, ``tuned_on`` or ``held_out``: those with an answer, and those without."""
    data = json.loads(PROMPTS.read_text("utf-8"))[name]
    with_answer = [Asked(one["q"], _paths(one["relevant"])) for one in data["answered"]]
    return with_answer, [Asked(text, frozenset()) for text in data["unanswered"]]


def fixture(name: str) -> list[Asked]:
    """The questions of a fixture; a section of a note stands for the note."""
    data = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return [Asked(one["q"], _paths(one["relevant"])) for one in data["questions"]]


def _paths(relevant: Iterable[str]) -> frozenset[str]:
    return frozenset(TREE + (one if "#^" in one else one.partition("#")[0]) for one in relevant)


def unanswered(of: Iterable[Asked]) -> list[Asked]:
    return [Asked(one.prompt, frozenset()) for one in of]


Row = tuple[str, tuple[list[Noted], list[Noted]]]


def measured(folder: Path, choice: Choice, locomo: Path | None, talks: int) -> Iterator[Row]:
    with_answer, without = own("tuned_on")
    shipped = datasets.load(FIXTURES / "palace.json", folder / "shipped").groups[0].root
    _write_topics_now(shipped)
    palace = Palace(shipped, choice)
    yield "prompts", palace.asked(with_answer)
    yield "prompts, nothing there", palace.asked(without)
    for kind, of in zip(("", ", nothing there"), own("held_out"), strict=True):
        yield f"held-out prompts{kind}", palace.asked(of)
    yield "fixture: palace", palace.asked(fixture("palace"))
    for name in ("languages", "context"):
        group = datasets.load(FIXTURES / f"{name}.json", folder / name).groups[0]
        yield f"fixture: {name}", Palace(group.root, choice).asked(fixture(name))
    if locomo is None:
        return
    chosen = folder / "talks.json"
    chosen.write_text(json.dumps(json.loads(locomo.read_text("utf-8"))[:talks]), "utf-8")
    groups = datasets.load(chosen, folder / "apart").groups
    everyday = [Asked(q.text, q.notes) for group in groups for q in group.questions if q.notes]
    yield "everyday questions, nothing there", palace.asked(unanswered(everyday))
    answered: tuple[list[Noted], list[Noted]] = ([], [])
    foreign: tuple[list[Noted], list[Noted]] = ([], [])
    for group in groups:
        palace = Palace(group.root, choice)
        of = [Asked(q.text, q.notes) for q in group.questions if q.notes]
        for all_of_them, found in (
            (answered, palace.asked(of)),
            (foreign, palace.asked(unanswered([*with_answer, *without]))),
        ):
            for how in (0, 1):
                all_of_them[how].extend(found[how])
    yield "LoCoMo", answered
    yield "prompts beside LoCoMo, nothing there", foreign
    datasets.load(chosen, shipped.parent / "talks", pooled=True)
    rooms = f"{TREE}project_rooms"
    for place in (shipped.parent / "talks/pooled" / rooms).iterdir():
        place.rename(shipped / rooms / place.name)
    palace = Palace(shipped, choice)
    yield f"prompts, {palace.chunks} chunks", palace.asked(with_answer)
    yield f"prompts, {palace.chunks} chunks, nothing there", palace.asked(without)


def _write_topics_now(root: Path) -> None:
    """A copy has no git that says when an entry was written, and a forgotten one is not shown."""
    for path in (root / TREE / "topics").iterdir():
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))


def line(found: Sequence[Noted]) -> str:
    """Three columns, in percent."""
    put = [right for one in found for right in one.right]
    answered = any(one.asked.right for one in found)
    hit = _percent(sum(any(one.right) for one in found), len(found)) if answered else ""
    right = _percent(sum(put), len(put)) if answered else ""
    return f"{_percent(sum(bool(one.pieces) for one in found), len(found))} | {hit} | {right}"


def _percent(some: int, whole: int) -> str:
    return f"{100 * some / whole:.1f}" if whole else "–"


def misses(found: Iterable[Noted]) -> Iterator[str]:
    """What is to be looked at: prompts that get nothing right, or something wrong."""
    for one in found:
        if not all(one.right) or bool(one.asked.right) != any(one.right):
            pairs = zip(one.pieces, one.right, strict=True)
            said = " ".join(f"{'+' if right else '-'}{piece.key}" for piece, right in pairs)
            yield f"  {one.asked.prompt[:90]!r}: {said or 'nothing'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locomo", nargs="?", type=Path)
    parser.add_argument("--embedder", choices=config.EMBEDDERS, default="minilm")
    parser.add_argument("--talks", type=int, default=5)
    parser.add_argument("--misses", action="store_true", help="to stderr, for our prompts")
    given = parser.parse_args()
    choice = registry.choose(config.Config(embedder=given.embedder))
    assert choice.load is not None, "no embedder is installed"
    embedder = choice.load()
    choice = replace(choice, load=lambda: embedder)
    print("| | number | keywords: any | hit | right | vectors: any | hit | right |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, (cold, warm) in measured(Path(folder), choice, given.locomo, given.talks):
            print(f"| {name} | {len(cold)} | {line(cold)} | {line(warm)} |", flush=True)
            if given.misses and not name.startswith(("LoCoMo", "everyday")):
                for how, found in (("keywords", cold), ("vectors", warm)):
                    print(f"{name}, {how}:", *misses(found), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
