"""``palace review``: what changed in the memory, by meaning; accept it or put it back."""

from pathlib import Path

import click
from click.core import ParameterSource

from memory_palace.cli.common import format_option, now, reason_option, root_option, say
from memory_palace.core.problems import printable
from memory_palace.files import roots


class _Review(click.Group):
    """A first word that is no subcommand is the commit; then options may follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self._word(ctx, args) in self.commands:
            return super().parse_args(ctx, args)
        ctx.allow_interspersed_args = True
        words = click.Command.parse_args(self, ctx, args)
        if len(words) > 1:
            raise click.UsageError(f"one commit or range, not {len(words)}", ctx)
        ctx.params["commit"] = words[0] if words else None
        ctx.args = []
        return ctx.args

    def _word(self, ctx: click.Context, args: list[str]) -> str | None:
        """The first word that is neither an option nor the value of one."""
        takes = {
            name
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        left = iter(args)
        for word in left:
            if word == "--":
                return None
            if not word.startswith("-"):
                return word
            if word in takes:
                next(left, None)
        return None


@click.group(
    cls=_Review,
    invoke_without_command=True,
    subcommand_metavar="[COMMIT | accept … | reject …]",
    epilog="""\b
Examples:
  palace review                            what is not committed
  palace review HEAD~3                     what changed since then
  palace review origin/main... --check     what this branch brings; exit 1 if it does harm
  palace review origin/main... --format md the text of a pull request
  palace review accept palace/topics/lessons.md -m "What the outage taught"
  palace review reject palace/topics/lessons.md --reason "not what happened" """,
)
@click.option(
    "--check",
    is_flag=True,
    help="Name problems only; exit 1 on broken links, lost entries or lines, secrets, "
    "broken metadata.",
)
@format_option("text", "md", "jsonl")
@root_option
@click.pass_context
def review(
    ctx: click.Context, check: bool, shape: str, root: str | None, commit: str | None = None
) -> int:
    """What changed in the memory, by meaning.

    Since COMMIT (default HEAD) to the files as they are, staged or not; A..B compares two
    commits, A...B the second with where it left the first. Needs git, and no index.
    """
    if ctx.invoked_subcommand is not None:
        sources = map(ctx.get_parameter_source, ctx.params)
        if ParameterSource.COMMANDLINE in sources:
            raise click.UsageError(f"write options after `{ctx.invoked_subcommand}`", ctx)
        return 0
    return _look(roots.find(root), commit, check, shape)


def _look(root: Path, commit: str | None, check: bool, shape: str) -> int:
    from memory_palace.cli import review_markdown, review_output
    from memory_palace.memory import review as reviews

    found = reviews.look(root, commit, now())
    code = 1 if check and found.errors else 0
    if shape == "md":
        shown = review_markdown.markdown(found)
    elif shape == "jsonl":
        shown = review_output.jsonl(found)
    elif check:
        shown = (review_output.finding_line(finding) for finding in found.findings)
    else:
        shown = review_output.text(found)
    for line in shown:
        click.echo(line)
    if check and shape == "text":
        click.echo(review_output.verdict(found))
    return code


@review.command(
    epilog='Example: palace review accept palace/topics/lessons.md -m "What the outage taught"'
)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@click.option("-m", "--message", metavar="TEXT", required=True, help="What the change is about.")
@root_option
def accept(paths: tuple[str, ...], message: str, root: str | None) -> int:
    """Commit exactly these paths; of a move name both.

    Hooks run, and what else is staged stays staged.
    """
    from memory_palace.memory import decide

    done = decide.accept(roots.find(root), paths, message, now(), say)
    for path in done.paths:
        click.echo(f"accepted {printable(path)}")
    click.echo(f"commit {done.commit[:12]}")
    return 0


@review.command(
    epilog='Example: palace review reject palace/topics/lessons.md --reason "not what happened"'
)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@reason_option
@root_option
def reject(paths: tuple[str, ...], reason: str, root: str | None) -> int:
    """Put these paths back to what the last commit has; git keeps what they were.

    A path that the last commit does not have goes away. Logs are never put back: their lines stay.
    """
    from memory_palace.memory import decide

    place = roots.find(root)
    done = decide.reject(place, paths, reason, now(), say)
    for word, listed in (("put back", done.restored), ("took away", done.removed)):
        for path in listed:
            click.echo(f"{word} {printable(path)}")
    if done.ref:
        click.echo(f"kept as {done.ref}; to have it again:")
    for line in done.undo(place, Path.cwd()):
        click.echo(f"  {printable(line)}")
    return 0
