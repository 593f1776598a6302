"""The command line: finds the command, runs it, turns faults into one line and an exit code."""

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from memory_palace import __version__
from memory_palace.core.errors import PalaceError
from memory_palace.core.problems import printable

COMMANDS = {
    "cold-zone": "memory_palace.cli.cold_zone:cold_zone",
    "doctor": "memory_palace.cli.doctor:doctor",
    "graph": "memory_palace.cli.graph:graph",
    "index": "memory_palace.cli.index:index",
    "init": "memory_palace.cli.init:init",
    "manifest": "memory_palace.cli.manifest:manifest",
    "model": "memory_palace.cli.model:model",
    "query": "memory_palace.cli.query:query",
}


class _Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = (
                f"did you mean `{close[0]}`?"
                if close
                else f"known are {', '.join(sorted(COMMANDS))}"
            )
            raise click.UsageError(f"no command `{args[0]}`: {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Commands,
    epilog='Example: palace query "why FAISS and not a server?"',
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="palace")
def palace() -> None:
    """A long-term memory for AI agents made of plain files."""


def main(
    arguments: Sequence[str] | None = None, program: str = "palace", command: str | None = None
) -> int:
    """Run a command and give its exit code (0 to 4, 130 when interrupted).

    ``command`` names one command that ``program`` stands for; without it the arguments do.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name or a text that the terminal cannot show must not end the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        result = _find(command).main(arguments, prog_name=program, standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except PalaceError as error:
        return _say(str(error), error.exit_code)
    except click.ClickException as error:
        return _say(_usage(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted: run it again to go on", 130)
    except BrokenPipeError:
        # The reader has what it wanted (`| head`); leave without a second fault at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def _find(command: str | None) -> click.Command:
    if command is None:
        return palace
    found = _Commands().get_command(click.Context(palace), command)
    assert found is not None, command
    return found


def _usage(error: click.ClickException) -> str:
    message = error.format_message().replace("\n", " ").rstrip(".")
    ctx = getattr(error, "ctx", None)
    return f"{message}: see `{ctx.command_path} --help`" if ctx else message


def _say(message: str, code: int) -> int:
    click.echo(f"error: {printable(message)}", err=True)
    return code


def entry() -> None:
    """The console script."""
    sys.exit(main())
