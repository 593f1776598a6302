"""``palace findings``."""

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from memory_palace.cli import json_input
from memory_palace.cli.common import format_option, now, reason_option, report, root_option, say
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.findings import RESOLUTIONS, STATUSES, Fault, Finding
from memory_palace.core.privacy import redact
from memory_palace.core.problems import Problem, printable
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.memory import findings as stores
from memory_palace.memory import pen

MOST_BYTES = 10 * 1024 * 1024


def repository_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--repository NAME``."""
    return click.option("--repository", metavar="NAME", help="Its name, without the owner.")(
        function
    )


def source_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--source DIR``."""
    return click.option(
        "--source",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="A working tree: the code around each place is looked up there.",
    )(function)


@click.group(
    epilog="""\b
Examples:
  palace findings check review.json --repository demo --source ../demo
  palace findings add --repository demo --path src/a.py --line 3 --body "No test"
  palace findings resolve 3f9ac2d41b7e resolved_accepted --answer "On purpose"
  palace findings guideline "unused import" "generated code" --repository demo"""
)
def findings() -> None:
    """Findings of code reviews, so that none is raised twice."""


@findings.command(
    epilog="""\b
Examples:
  palace findings check review.json --repository demo --source ../demo
  palace findings check - --format jsonl < review.jsonl"""
)
@click.argument("file")
@repository_option
@source_option
@format_option("text", "jsonl")
@root_option
def check(
    file: str, repository: str | None, source: Path | None, shape: str, root: str | None
) -> int:
    """Say for each candidate in FILE: raise, or skip and why.

    FILE is a JSON array or one object a line; - is stdin. Keys: path, line, body; repository,
    pull_request, head, severity, kind, context or lines (the 7 lines around the place). Bad items
    are told, and the rest goes on.
    """
    place = roots.find(root)
    defaults = {"repository": stores.named(repository)} if repository else {}
    good, bad = _items(file, defaults, source)
    decided, problems = stores.check(place, good, _cosines(place))
    where = dict(good)
    for number, one in decided:
        word = "raise" if one.raised else "skip"
        if shape == "jsonl":
            keys = {"index": number, "decision": word, "why": one.why, "finding": one.finding}
            click.echo(json.dumps(keys, ensure_ascii=False))
        else:
            about = f" ({one.finding})" if one.finding else ""
            click.echo(printable(f"{word:5}  {where[number].place}  {one.why}{about}"))
    failed = report(problems)
    return 2 if bad else int(failed)


def _items(
    file: str, defaults: dict[str, Any], source: Path | None
) -> tuple[list[tuple[int, Finding]], bool]:
    """The numbered good items of FILE; True if there are bad ones, which are told."""
    good, bad = [], False
    for number, item in enumerate(stores.items(json_input.text(file, MOST_BYTES)), start=1):
        try:
            good.append((number, stores.candidate(item, defaults, source)))
        except Fault as fault:
            bad = True
            say(f"item {number}: {fault}", "red")
    return good, bad


def _cosines(root: Path) -> Callable[[str, Sequence[str]], Sequence[float]]:
    """Cosines by the palace's embedder, which is loaded when it is first asked."""

    @functools.cache
    def entries() -> Any:
        from memory_palace.embed import registry
        from memory_palace.memory import alike

        return alike.Entries(root, registry.choose(configs.load(root)))

    told: list[str] = []

    def ask(text: str, others: Sequence[str]) -> Sequence[float]:
        if told:
            return []
        try:
            kept = entries()
            if not kept.usable:
                return []
            vectors = kept.of([text, *others])
        except Missing as error:
            told.append(f"only common words are compared: {error}")
            say(told[0])
            return []
        return [float(cosine) for cosine in vectors[1:] @ vectors[0]]

    return ask


@findings.command(
    epilog="""\b
Examples:
  palace findings add --repository demo --pull-request 7 --head 1a2b3c4 \\
    --path src/a.py --line 3 --body "No test for an empty file" --severity high
  palace findings add --json - --repository demo < findings.jsonl"""
)
@repository_option
@click.option("--pull-request", type=int, metavar="N", help="The pull request's number.")
@click.option("--head", metavar="COMMIT", help="The commit that was reviewed.")
@click.option("--path", metavar="PATH", help="The file, relative to the repository.")
@click.option("--line", type=int, metavar="N", help="The line, from 1.")
@click.option("--body", metavar="TEXT", help="What the finding says.")
@click.option("--severity", metavar="WORD", help="How bad it is, in the review's own words.")
@click.option("--kind", metavar="TEXT", help="What guidelines call it.")
@click.option("--status", type=click.Choice(STATUSES), help="Posted (default), or skipped.")
@click.option("--skip-reason", metavar="TEXT", help="Why it was skipped.")
@click.option("--resolution", type=click.Choice(RESOLUTIONS), help="What came of it.")
@click.option("--answer", metavar="TEXT", help="What the author answered.")
@click.option("--json", "file", metavar="FILE", help="Take findings from JSON; - is stdin.")
@source_option
@reason_option
@root_option
def add(
    repository: str | None,
    file: str | None,
    source: Path | None,
    reason: str,
    root: str | None,
    **given: Any,
) -> int:
    """Keep findings of a review: one from the options, or many from JSON.

    The same finding again changes what is other than before. Private spans and secrets are taken
    out first.
    """
    place = roots.find(root)
    if repository:
        given["repository"] = stores.named(repository)
    if file is None:
        try:
            good, bad = [(1, stores.candidate(given, {}, source))], False
        except Fault as fault:
            raise BadInput(str(fault)) from None
    else:
        good, bad = _items(file, {k: v for k, v in given.items() if v is not None}, source)
    if good:
        with pen.begin(place, now(), "palace findings add", reason, say) as held:
            words = stores.add(held, [one for _, one in good])
        for word, (_, one) in zip(words, good, strict=True):
            click.echo(printable(f"{word} {one.id}  {one.place}"))
    return 2 if bad else 0


@findings.command("list", epilog="Example: palace findings list --repository demo --open")
@repository_option
@click.option("--path", metavar="PATH", help="Only findings on this file.")
@click.option("--open", "only_open", is_flag=True, help="Only posted ones without a resolution.")
@format_option("text", "jsonl")
@root_option
def list_findings(
    repository: str | None, path: str | None, only_open: bool, shape: str, root: str | None
) -> int:
    """The findings, oldest first: id, what came of it, place, first line."""
    place = roots.find(root)
    names = [stores.named(repository)] if repository else stores.repositories(place)
    problems: list[Problem] = []
    shown = 0
    for name in names:
        store = stores.load(place, name)
        problems += store.problems
        for one in store.findings:
            if (path and one.path != path) or (only_open and not one.is_open):
                continue
            shown += 1
            if shape == "jsonl":
                click.echo(json.dumps(as_dict(one), ensure_ascii=False))
            else:
                click.echo(printable(as_text(one)))
    failed = report(problems)
    if not shown:
        say("no finding: `palace findings add` keeps one")
    return 0 if shown and not failed else 1


def as_text(one: Finding) -> str:
    """A finding in a line."""
    came = one.resolution.removeprefix("resolved_") or one.status
    body = one.body.split("\n", 1)[0].rstrip("\r")
    return f"{one.id}  {came:8}  {one.repository}  {one.place}  {body}"


def as_dict(one: Finding) -> dict[str, Any]:
    """A finding with the keys that ``--format jsonl`` promises."""
    return {
        key: getattr(one, key) or None
        for key in (
            *("id", "repository", "pull_request", "head", "path", "line", "body", "severity"),
            *("kind", "status", "skip_reason", "resolution", "answer", "context", "at", "by"),
        )
    }


@findings.command(
    epilog="""\b
Example:
  palace findings resolve 3f9ac2d41b7e resolved_accepted --answer "On purpose" """
)
@click.argument("key", metavar="ID")
@click.argument("resolution", type=click.Choice(RESOLUTIONS))
@click.option("--answer", metavar="TEXT", default="", help="What the author answered.")
@repository_option
@reason_option
@root_option
def resolve(
    key: str, resolution: str, answer: str, repository: str | None, reason: str, root: str | None
) -> int:
    """Record what came of the posted finding ID."""
    place = roots.find(root)
    known = stores.find(place, key, stores.named(repository) if repository else None)
    with pen.begin(place, now(), "palace findings resolve", reason, say) as held:
        try:
            made = stores.resolve(held, known, resolution, answer)
        except Fault as fault:
            raise BadInput(str(fault)) from None
    click.echo(printable(f"{made.resolution} {made.id}  {made.place}"))
    return 0


@findings.command(
    epilog="""\b
Example:
  palace findings guideline "unused import" "generated code" --repository demo"""
)
@click.argument("kind")
@click.argument("why")
@click.option("--repository", metavar="NAME", required=True, help="Its name, without the owner.")
@reason_option
@root_option
def guideline(kind: str, why: str, repository: str, reason: str, root: str | None) -> int:
    """Never flag KIND again in this repository, because of WHY.

    Candidates whose kind is KIND are skipped from then on.
    """
    place = roots.find(root)
    name = stores.named(repository)
    said, because = redact(kind).text.strip(), redact(why).text.strip()
    with pen.begin(place, now(), "palace findings guideline", reason, say) as held:
        where, new = stores.add_guideline(held, name, said, because)
    click.echo(printable(f"{'added' if new else 'there already'}: {where}"))
    return 0
