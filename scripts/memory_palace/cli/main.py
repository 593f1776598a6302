"""The command line: finds the command, runs it, turns faults into one line and an exit code."""

import importlib
import re
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.exceptions import Exit

from memory_palace import __version__
from memory_palace.cli.common import called_as, drop_output, one_line
from memory_palace.core.errors import PalaceError
from memory_palace.core.text import did_you_mean

COMMANDS = {
    "archive": "memory_palace.cli.archive:archive",
    "bench": "memory_palace.cli.bench:bench",
    "card": "memory_palace.cli.card:card",
    "cold-zone": "memory_palace.cli.cold_zone:cold_zone",
    "conflict": "memory_palace.cli.conflict:conflict",
    "consolidate": "memory_palace.cli.consolidate:consolidate",
    "context": "memory_palace.cli.context:context",
    "diary": "memory_palace.cli.diary:diary",
    "doctor": "memory_palace.cli.doctor:doctor",
    "edit": "memory_palace.cli.entries:edit",
    "findings": "memory_palace.cli.findings:findings",
    "forget": "memory_palace.cli.entries:forget",
    "graph": "memory_palace.cli.graph:graph",
    "hook": "memory_palace.cli.hook:hook",
    "import": "memory_palace.cli.importing:import_",
    "index": "memory_palace.cli.index:index",
    "init": "memory_palace.cli.init:init",
    "install": "memory_palace.cli.install:install",
    "kg": "memory_palace.cli.kg:kg",
    "ledger": "memory_palace.cli.ledger:ledger",
    "links": "memory_palace.cli.links:links",
    "manifest": "memory_palace.cli.manifest:manifest",
    "map": "memory_palace.cli.map:map_",
    "mcp": "memory_palace.cli.mcp:mcp",
    "mem": "memory_palace.cli.mem:mem",
    "metabolism": "memory_palace.cli.metabolism:metabolism",
    "mine": "memory_palace.cli.mine:mine",
    "mine-sessions": "memory_palace.cli.mine_sessions:mine_sessions",
    "model": "memory_palace.cli.model:model",
    "observe": "memory_palace.cli.observe:observe",
    "pin": "memory_palace.cli.entries:pin",
    "promote": "memory_palace.cli.promote:promote",
    "query": "memory_palace.cli.query:query",
    "read": "memory_palace.cli.read:read",
    "recall": "memory_palace.cli.recall:recall",
    "recent": "memory_palace.cli.recent:recent",
    "reinforce": "memory_palace.cli.entries:reinforce",
    "remember": "memory_palace.cli.remember:remember",
    "report": "memory_palace.cli.report:report",
    "restore": "memory_palace.cli.restore:restore",
    "review": "memory_palace.cli.review:review",
    "rules": "memory_palace.cli.rules:rules",
    "serve": "memory_palace.cli.serve:serve",
    "session": "memory_palace.cli.session:session",
    "topics": "memory_palace.cli.topics:topics",
    "traverse": "memory_palace.cli.traverse:traverse",
    "tunnels": "memory_palace.cli.tunnels:tunnels",
    "uninstall": "memory_palace.cli.install:uninstall",
    "unpin": "memory_palace.cli.entries:unpin",
    "wake": "memory_palace.cli.wake:wake",
    "watch": "memory_palace.cli.watch:watch",
}
SUMMARIES = {
    "archive": "Move what went cold to archive_basement/.",
    "bench": "Measure on data with known answers.",
    "card": "Cards: one task each, with checks that say when it is done.",
    "cold-zone": "Keep archive_basement out of manifest, catalog, vectors and answers.",
    "conflict": "Contradictions: find them, record them, decide them.",
    "consolidate": "What to merge or archive, so that the report fits its budget.",
    "context": "What was done on a project in the last days, by session.",
    "diary": "An agent's diary: a file a day, written and read.",
    "doctor": "Look the palace over: exit 1 if something is wrong.",
    "edit": "Change what a memory says; it keeps its evidence.",
    "findings": "Findings of code reviews, so that none is raised twice.",
    "forget": "Let a memory go: its strength is 0 from now on.",
    "graph": "Print the graph of [[links]] as JSON and keep it in .palace/graph.json.",
    "hook": "Answer one event of an agent's client: JSON in, JSON out.",
    "import": "Bring in what another tool remembers, as notes that say where they are from.",
    "index": "Bring the index up to date with the notes.",
    "init": "Make a new palace in DIRECTORY: a git repository with the"
    " rooms and a starter identity.",
    "install": "Bring the palace into a client's sessions.",
    "kg": "Facts in time: what held when, and what ended it.",
    "ledger": "A session's ledger: what is due, what it holds, what a fold makes of it.",
    "links": "The links of a note: out, back, broken.",
    "manifest": "The manifest: one JSON line a file that is indexed.",
    "map": "The map of rooms in the grand hall, brought up to date.",
    "mcp": "Serve the palace over MCP, on stdin and stdout.",
    "mem": "Search what happened in sessions: search, then timeline, then get.",
    "metabolism": "The whole cycle: scan, propose, demote, archive, in one report.",
    "mine": "Index a project's files where they are.",
    "mine-sessions": "File conversations as notes, a note a session.",
    "model": "The models: what is installed, and what would be used.",
    "observe": "Record what a session taught, or let the rules do it.",
    "pin": "Keep a memory for good: it never decays.",
    "promote": "The queue in which memories grow up.",
    "query": "Find notes by words and filters, best first.",
    "read": "Print a note, or a part of it, with line numbers.",
    "recall": "What a wing or a room knows: its weightiest notes.",
    "recent": "The notes that changed last.",
    "reinforce": "One more piece of evidence for a memory.",
    "remember": "Remember one line, or reinforce what says the same.",
    "report": "The situation report: what the memory says now, within a budget.",
    "restore": "Put an archived note or memory back where it was.",
    "review": "What changed in the memory, by meaning.",
    "rules": "Rules: what must not run, what to warn of, what a turn has to do.",
    "serve": "Keep model and index in memory, so that questions are answered at once.",
    "session": "Sessions: what each was about, in a few lines.",
    "topics": "The memories of one line, with how strong each is.",
    "traverse": "The rooms that can be reached from a room.",
    "tunnels": "Rooms that several wings share.",
    "uninstall": "Take out of a client what `palace install` put in.",
    "unpin": "Let a pinned memory decay again.",
    "wake": "What an agent should know at the start of a session.",
    "watch": "Keep the index fresh while notes are written.",
}
"""The first sentence of each command's help: listing them must not import them all."""


_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.2 or newer


_NO_COMMAND = re.compile(r"No such command '(.+?)'")
_HELP = ["-h", "--help"]
_LATER = ("--root", "--format", "--reason", "--dry-run", "--yes")
"""Options that many commands have, and no group."""
_EXCLUDING = "To exclude a word, write it inside the quotes with the question, or after `--`"


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does it, without importing a command that has its line in the table."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        rows = []
        for name in self.list_commands(ctx):
            command = click.Command(name, help=SUMMARIES[name]) if name in SUMMARIES else None
            command = command or self.get_command(ctx, name)
            rows += [(name, command.get_short_help_str(room))] if command else []
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            raise click.UsageError(f"no command `{args[0]}`{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Commands,
    epilog='Example: palace query "why FAISS and not a server?"',
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
    called_as(program)
    for stream in (sys.stdout, sys.stderr):
        # A name or a text that the terminal cannot show must not end the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        # Not `.main`, which ends with 1 when the reader of a pipe has left.
        found = _find(command)
        with found.make_context(program, arguments, help_option_names=_HELP) as ctx:
            result = found.invoke(ctx)
        if sys.stdout:
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except Exit as done:
        return done.exit_code
    except PalaceError as error:
        return _say(str(error), error.exit_code)
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        called = f"{program} {arguments[0]}" if arguments and arguments[0] in COMMANDS else program
        return _say(_usage(error, program if command else called), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted: run it again to go on", 130)
    except BrokenPipeError:
        # The reader has what it wanted (`| head`); leave without a second fault at exit.
        drop_output(1, 2)
        return 0
    except UnicodeEncodeError:
        return _say("an argument is not UTF-8: write it as UTF-8", 2)
    except sqlite3.Error as error:
        return _say(f"the index is damaged ({error}): run `palace index --force`", 3)
    except OSError as error:
        if error.filename is None:  # no file's fault: stdout, say onto a full disk
            drop_output(1)
        what = f"{error.filename or 'the output'} ({error.strerror or error})"
        return _say(f"cannot read or write {what}: mend it and run this again", 3)


def _find(command: str | None) -> click.Command:
    if command is None:
        return palace
    found = _Commands().get_command(click.Context(palace), command)
    assert found is not None, command
    return found


def _usage(error: click.ClickException, program: str) -> str:
    ctx = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and ctx:
        known = [name for option in ctx.command.get_params(ctx) for name in option.opts]
        flags = [name for name in known if name.startswith("-")]
        if isinstance(ctx.command, click.Group) and error.option_name in _LATER:
            listed = f"`{ctx.command_path} --help` lists the commands"
            return f"`{error.option_name}` stands after the command: {listed}"
        said = f"no option `{error.option_name}`{did_you_mean(error.option_name, flags)}"
        if ctx.command.name == "query" and not error.option_name.startswith("--"):
            return f"{said} {_EXCLUDING}"
        return said
    message = " ".join(error.format_message().split()).rstrip(".")
    if ctx and isinstance(ctx.command, click.Group) and (found := _NO_COMMAND.match(message)):
        return f"no command `{found[1]}`{did_you_mean(found[1], ctx.command.list_commands(ctx))}"
    if message.endswith("?"):
        return message
    return f"{message}: see `{ctx.command_path if ctx else program} --help`"


def _say(message: str, code: int) -> int:
    click.echo(f"error: {one_line(message)}", err=True)
    return code


def entry() -> None:
    """The console script, as older installations have it."""
    from memory_palace.cli import entry as script

    script.entry()
