"""``palace query``, also ``scripts/query_bge.py``."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from memory_palace.cli import output
from memory_palace.cli.common import Terminal, look, now, report, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.kinds import PRIORITIES
from memory_palace.core.text import split_lines
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.files.config import Config
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher, open_or_none


@click.command(
    epilog="""\b
Examples:
  palace query "why FAISS and not a server?"
  palace query --type principle --priority high "what must never happen"
  palace query --room topics --since 2026-11-01
  palace query --format jsonl --details -k 20 "index" | jq .path
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
@click.option("--room", "rooms", multiple=True, metavar="FOLDER", help="Only below palace/FOLDER.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only notes with this tag.")
@click.option("--since", metavar="DATE", help="Only notes of this day or later.")
@click.option("--until", metavar="DATE", help="Only notes of this day or earlier.")
@click.option("-k", "--top-k", type=click.IntRange(1, 10_000), help="How many hits [5].")
@click.option("--raw", is_flag=True, help="Order by cosine alone.")
@click.option("--details", is_flag=True, help="Show the scores a hit is made of.")
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
    top_k: int | None,
    raw: bool,
    details: bool,
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
    place = roots.find(root)
    config = configs.load(place)
    asked = Query(
        text=" ".join(words),
        types=types,
        priorities=priorities,
        rooms=rooms,
        tags=tags,
        since=_moment("--since", since),
        until=_moment("--until", until, end=True),
        top_k=config.top_k if top_k is None else top_k,
        neighbors=config.neighbors if neighbors is None else neighbors,
        raw=raw,
        archived=archived,
        all_chunks=chunks,
    )
    look(place)
    choice = registry.choose(config)
    if batch is not None or asked.text.strip():
        choice = registry.ahead(choice)
    with _searcher(place, config, choice) as searcher:
        changed = searcher.changed()  # meanwhile the model loads
        say(str(searcher.choice))
        if batch is not None:
            return _batch(searcher, asked, batch, changed)
        answer = searcher.ask(asked, now())
        _print(answer, asked.text, form, details)
        _after(searcher, answer, changed)
        return 0 if answer.hits else 1


def _moment(flag: str, text: str | None, end: bool = False) -> datetime | None:
    if text is None:
        return None
    found = dates.end_of(text) if end else dates.parse(text)
    if found is None:
        raise BadInput(f"{flag} {text!r} is no date: write {dates.FORMS}")
    return found


def _searcher(root: Path, config: Config, choice: Choice) -> Searcher:
    """The palace's searcher; without an index, one is built: keywords, and vectors if quick."""
    searcher, why = open_or_none(root, config, choice)
    if searcher is not None:
        return searcher
    from memory_palace.index import run  # the writers' side, for a first question only
    from memory_palace.index.build import Options

    say(f"{why.split(': run ')[0]}: building it")
    options = Options(max_vector_chunks=choice.quick_texts)
    report(run.index(root, config, choice, options, Terminal()).problems)
    return Searcher(root, config, choice)


def _print(answer: Answer, question: str, form: str, details: bool) -> None:
    for number, hit in enumerate(answer.hits, start=1):
        if form == "jsonl":
            click.echo(output.as_json(hit))
        elif form == "files":
            click.echo(output.as_file(hit))
        else:
            click.echo(output.as_text(number, hit, question, details))


def _after(searcher: Searcher, answer: Answer, changed: int) -> None:
    for note in [*searcher.notes, *answer.notes]:
        say(note)
    changed = max(changed, answer.changed)
    if changed:
        files = "1 file has" if changed == 1 else f"{changed} files have"
        say(f"{files} changed since the index was built: run `palace index`")


def _batch(searcher: Searcher, asked: Query, source: str, changed: int) -> int:
    """One JSON line a question, in the order of the questions."""
    found = False
    total = Answer(changed=changed)
    for number, question in enumerate(_questions(source), start=1):
        answer = Answer()
        try:
            answer = searcher.ask(replace(asked, text=question), now())
        except BadInput as error:
            say(f"{source}:{number}: {error}")
        found = found or bool(answer.hits)
        total.changed = max(total.changed, answer.changed)
        total.notes += [note for note in answer.notes if note not in total.notes]
        line = {"query": question, "hits": [output.as_dict(hit) for hit in answer.hits]}
        click.echo(json.dumps(line, ensure_ascii=False))
    if found:
        total.notes.clear()  # an empty list of hits says it by itself
    _after(searcher, total, changed)
    return 0 if found else 1


def _questions(source: str) -> Iterator[str]:
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise BadInput(f"--batch {source}: {error.strerror}: name a file of questions") from None
    lines = split_lines(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    if not lines:
        raise BadInput(f"--batch {source}: empty: write a question on each line")
    for line in lines:
        yield line.rstrip("\r")
