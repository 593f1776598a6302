"""``palace query``, also ``scripts/query_bge.py``."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_palace.cli import known_output, output
from memory_palace.cli.common import Terminal, now, only_asks, report, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.kinds import PRIORITIES
from memory_palace.core.text import split_lines
from memory_palace.files import roots, tree
from memory_palace.memory.usage import note_retrieved
from memory_palace.search.hits import Answer, Hit
from memory_palace.search.query import Query
from memory_palace.serve.asking import Asker

if TYPE_CHECKING:
    from memory_palace.cli.explain import Row
    from memory_palace.core.weights import Weights
    from memory_palace.embed.registry import Choice
    from memory_palace.files.config import Config
    from memory_palace.search.searcher import Searcher

MOST_COUNTED = 100
"""So many hits of an answer count as retrieved: what comes after them is a listing. A batch of
more questions is a measurement, and none of its hits counts."""


@click.command(
    epilog="""\b
Examples:
  palace query "why FAISS and not a server?"
  palace query --type principle --priority high "what must never happen"
  palace query --room topics --since 2026-11-01
  palace query --format jsonl --details -k 20 "index" | jq .path
  palace query --lines "what did we agree on for the release?"
  palace query --lex '"vector store" -sqlite' "where do we keep them?"
  palace query --explain -k 1 "why FAISS"
  palace query --as-of 2026-11-01 "who owned the api?"
  palace query --batch questions.txt

Several values of one filter mean any of them; different filters add up."""
)
@click.argument("words", nargs=-1)
@click.option(
    "-t", "--type", "types", multiple=True, metavar="TYPE", help="Only notes of this type."
)
@click.option(
    "-p",
    "--priority",
    "priorities",
    multiple=True,
    type=click.Choice(PRIORITIES),
    help="Only notes of this priority.",
)
@click.option(
    "--room",
    "rooms",
    multiple=True,
    metavar="FOLDER",
    help="Only below palace/FOLDER, or mined into that room or project:NAME.",
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only notes with this tag.")
@click.option("--since", metavar="DATE", help="Only notes of this day or later.")
@click.option("--until", metavar="DATE", help="Only notes of this day or earlier.")
@click.option("--as-of", metavar="DATE", help="Only notes and facts as of the end of this day.")
@click.option("-k", "--top-k", type=click.IntRange(1, 10_000), help="How many hits [5].")
@click.option("--raw", is_flag=True, help="Order by cosine alone.")
@click.option("--lex", metavar="TEXT", default="", help="Keywords to look up, not the question's.")
@click.option("--vec", metavar="TEXT", default="", help="Text to embed instead of the question.")
@click.option("--hyde", metavar="TEXT", default="", help="A made-up answer, to be embedded too.")
@click.option("--lines", is_flag=True, help="Single lines: list items, turns, small sections.")
@click.option(
    "--diverse",
    metavar="WEIGHT",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Prefer hits unlike those before them, 0 to 1 [0].",
)
@click.option("--rerank", is_flag=True, help="Let a large model put the best 30 in order.")
@click.option("--details", is_flag=True, help="Show the scores a hit is made of, in a line.")
@click.option("--explain", is_flag=True, help="Show how the score of a hit adds up.")
@click.option("--neighbors", type=click.IntRange(0, 100), help="Linked notes shown a hit [2].")
@click.option("--chunks", is_flag=True, help="All chunks of a note, not only its best.")
@click.option("--archived", is_flag=True, help="Search the archive too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl", "files"]),
    default="text",
    help="How hits are shown [text].",
)
@click.option(
    "--batch",
    metavar="FILE",
    help="A question a line from FILE (- is stdin); an answer a JSON line.",
)
@root_option
def query(
    words: tuple[str, ...],
    types: tuple[str, ...],
    priorities: tuple[str, ...],
    rooms: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    as_of: str | None,
    top_k: int | None,
    raw: bool,
    lex: str,
    vec: str,
    hyde: str,
    lines: bool,
    diverse: float,
    rerank: bool,
    details: bool,
    explain: bool,
    neighbors: int | None,
    chunks: bool,
    archived: bool,
    form: str,
    batch: str | None,
    root: str | None,
) -> int:
    """Find notes by words and filters, best first."""
    if batch is not None and any(words):
        raise BadInput("--batch takes its questions from the file: leave the words out")
    if batch is not None and (details or form == "files"):
        raise BadInput("--batch prints JSON lines only: leave --details and --format files out")
    if batch is not None and (lex or vec or hyde):
        raise BadInput("--lex, --vec and --hyde belong to one question: leave them or --batch out")
    if explain and form == "files":
        raise BadInput("--explain needs --format text or jsonl")
    if raw and (lines or diverse or rerank):
        raise BadInput(
            "--raw orders chunks by cosine alone: leave --lines, --diverse and --rerank out"
        )
    if archived and diverse:
        raise BadInput("--diverse compares vectors, and the archive has none: leave one out")
    if lines and diverse:
        raise BadInput("--diverse compares chunks and --lines gives single lines: leave one out")
    place = roots.find(root)
    # What no flag decides is the palace's settings' to say, wherever they are read.
    counts = {"top_k": top_k, "neighbors": neighbors}
    unsaid = tuple(name for name, value in counts.items() if value is None)
    asked = Query(
        text=" ".join(words),
        types=types,
        priorities=priorities,
        rooms=rooms,
        tags=tags,
        since=_moment("--since", since),
        until=_moment("--until", until, end=True),
        top_k=top_k or 0,
        neighbors=neighbors or 0,
        raw=raw,
        archived=archived,
        all_chunks=chunks,
        lex=lex.strip(),
        vec=vec.strip(),
        hyde=hyde.strip(),
        lines=lines,
        diverse=diverse,
        rerank=rerank,
        facts=form != "files",
        as_of=_moment("--as-of", as_of, end=True),
    )
    if not only_asks(place):
        tree.look(place)
    words_asked = batch is not None or any((asked.text.strip(), asked.lex, asked.vec, asked.hyde))
    with Asker(place, unsaid, words_asked, _searcher) as asker:
        say(asker.embedder)
        shower = _Shower(place, asked, asker.name, form, details, explain)
        if batch is not None:
            found, shown = _batch(asker, asked, batch, shower)
        else:
            answer = asker.ask(asked, now())
            shower.show(answer)
            _after(asker, answer)
            found = bool(answer.hits or answer.facts)
            shown = [hit.path for hit in answer.hits[:MOST_COUNTED]]
    if not asker.served:
        _warm_up(place, asker.name)
    note_retrieved(place, shown, now())
    return 0 if found else 1


def _warm_up(root: Path, embedder: str) -> None:
    """A server for the next question, where one is wanted."""
    from memory_palace.serve import start

    start.afterwards(root, embedder)


def _moment(flag: str, text: str | None, end: bool = False) -> datetime | None:
    if text is None:
        return None
    found = dates.end_of(text) if end else dates.parse(text)
    if found is None:
        raise BadInput(f"{flag} {text!r} is no date: write {dates.FORMS}")
    return found


def _searcher(root: Path, config: "Config", choice: "Choice") -> "Searcher":
    """The palace's searcher; without an index, one is built: keywords, and vectors if quick."""
    from memory_palace.search.searcher import Searcher, open_or_none

    if config.store == "milvus":
        from memory_palace.search.remote import RemoteSearcher

        return RemoteSearcher(root, config, choice)
    searcher, why = open_or_none(root, config, choice)
    if searcher is not None:
        return searcher
    from memory_palace.index import run  # the writers' side, for a first question only
    from memory_palace.index.build import Options

    say(f"{why.split(': run ')[0]}: building it")
    options = Options(max_vector_chunks=choice.quick_texts)
    report(run.index(root, config, choice, options, Terminal()).problems)
    return Searcher(root, config, choice)


class _Shower:
    """How hits are printed: their form, and what is told of their scores."""

    def __init__(
        self, root: Path, asked: Query, embedder: str, form: str, details: bool, explain: bool
    ) -> None:
        self._root, self._asked, self._embedder = root, asked, embedder
        self._form, self._details, self._explain = form, details, explain
        self._weights: Weights | None = None
        self._at = asked.as_of or now()

    def show(self, answer: Answer) -> None:
        question = self._asked.lex or self._asked.text
        if self._explain and any((question, self._asked.vec, self._asked.hyde)):
            self._tell_terms()
        for number, hit in enumerate(answer.hits, start=1):
            if self._form == "jsonl":
                facts = self.facts(answer) if number == 1 else {}
                click.echo(output.as_json(hit, self._keys(hit) | facts))
            elif self._form == "files":
                click.echo(output.as_file(hit))
            else:
                more = self._table(hit)
                click.echo(output.as_text(number, hit, question, self._details, more))
        if answer.facts and self._form != "jsonl":
            click.echo("\n".join(known_output.as_lines(answer.facts, min(self._at, now()))))
        elif answer.facts and not answer.hits:
            click.echo(json.dumps(self.facts(answer), ensure_ascii=False))

    def as_dict(self, hit: Hit) -> dict[str, Any]:
        """What :func:`output.as_dict` gives, with the explanation if there is to be one."""
        return output.as_dict(hit) | self._keys(hit)

    def facts(self, answer: Answer) -> dict[str, Any]:
        """The key ``facts``, where there are some."""
        return {"facts": known_output.as_dicts(answer.facts, self._at)} if answer.facts else {}

    def _tell_terms(self) -> None:
        from memory_palace.cli import explain
        from memory_palace.search import question

        say(explain.looked_up(question.asked_by(self._asked)))

    def _rows(self, hit: Hit, digits: int) -> "list[Row]":
        from memory_palace.cli import explain
        from memory_palace.files import config

        self._weights = self._weights or config.load(self._root).weights
        scale = explain.scale_of(self._embedder)
        return explain.explain(hit, self._weights, scale, self._asked.lines, digits)

    def _table(self, hit: Hit) -> list[str]:
        if not self._explain:
            return []
        from memory_palace.cli import explain

        return explain.as_lines(self._rows(hit, 3), hit.score)

    def _keys(self, hit: Hit) -> dict[str, Any]:
        if not self._explain:
            return {}
        from memory_palace.cli import explain

        return {"explain": explain.as_list(self._rows(hit, 6))}


def _after(asker: Asker, answer: Answer) -> None:
    for note in [*asker.notes, *answer.notes]:
        say(note)
    changed = max(asker.changed, answer.changed)
    if changed:
        files = "1 file" if changed == 1 else f"{changed} files"
        say(f"{files} may have changed since the index was built: run `palace index`")


def _batch(asker: Asker, asked: Query, source: str, shower: _Shower) -> tuple[bool, list[str]]:
    """One JSON line a question, in the order of the questions. True if anything was found, and
    the paths of the hits; none after more than :data:`MOST_COUNTED` questions."""
    found = False
    paths: list[str] = []
    total = Answer()
    for number, question in enumerate(_questions(source), start=1):
        answer = Answer()
        try:
            answer = asker.ask(replace(asked, text=question), now())
        except BadInput as error:
            say(f"{source}:{number}: {error}")
        found = found or bool(answer.hits or answer.facts)
        paths = [*paths, *(hit.path for hit in answer.hits)] if number <= MOST_COUNTED else []
        total.changed = max(total.changed, answer.changed)
        total.notes += [note for note in answer.notes if note not in total.notes]
        line = {"query": question, "hits": [shower.as_dict(hit) for hit in answer.hits]}
        line |= shower.facts(answer)
        click.echo(json.dumps(line, ensure_ascii=False))
    if found:
        total.notes.clear()  # an empty list of hits says it by itself
    _after(asker, total)
    return found, paths


def _questions(source: str) -> Iterator[str]:
    if source == "-" and sys.stdin is None:
        raise BadInput("--batch -: stdin is closed: name a file of questions")
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise BadInput(f"--batch {source}: {error.strerror}: name a file of questions") from None
    lines = split_lines(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    if not lines:
        raise BadInput(f"--batch {source}: empty: write a question on each line")
    for line in lines:
        yield line.rstrip("\r")
