"""``palace hook``: the command as the help shows it. Clients come by :mod:`cli.entry`."""

import os
import sys

import click

from memory_palace.agents import hook as hooks
from memory_palace.agents.dialects import CLIENTS
from memory_palace.agents.waiting import Received
from memory_palace.session.events import GUARD


@click.command(
    # A usage error would be exit 2, which some clients take for a refusal.
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="Example: palace hook UserPromptSubmit --client codex < event.json",
)
@click.argument("event", required=False)
@click.option(
    "--client",
    metavar="NAME",
    help=f"Who sends it: {', '.join(CLIENTS)} [what the event looks like].",
)
@click.option(
    "--root",
    metavar="DIR",
    help="The palace root [$PALACE_ROOT, else the nearest at or above the event's cwd].",
)
@click.pass_context
def hook(ctx: click.Context, event: str | None, client: str | None, root: str | None) -> int:
    """Answer one event of an agent's client: JSON in, JSON out.

    EVENT is named as in the client (SessionStart, UserPromptSubmit, PreToolUse, PostToolUse,
    PostToolUseFailure, Stop, SubagentStop, PreCompact, SessionEnd), else by the event's
    hook_event_name. Always exit 0: a fault is an empty answer and a line of `palace doctor`.
    """
    if os.environ.get(GUARD):
        return 0
    words = [event] if event else []
    words += ["--client", client] if client else []
    words += ["--root", root] if root else []
    came = Received(sys.stdin.buffer.read() if sys.stdin else b"")
    click.echo(hooks.answer(hooks.parsed([*words, *ctx.args]), came).decode("ascii"), nl=False)
    return 0
