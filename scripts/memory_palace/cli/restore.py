"""``palace restore``."""

import json

import click

from memory_palace.cli.common import format_option, now, reason_option, root_option, say
from memory_palace.core.problems import printable
from memory_palace.files import roots


@click.command(
    epilog="""\b
Examples:
  palace restore palace/project_rooms/demo/old-plan.md    by the path that it had
  palace restore palace/archive_basement/topics/mistakes.md
  palace restore 3f9ac2d41b7e                             one memory"""
)
@click.argument("name", metavar="PATH|ID")
@format_option("text", "jsonl")
@reason_option
@root_option
def restore(name: str, shape: str, reason: str, root: str | None) -> int:
    """Put an archived note or memory back where it was.

    It counts as reinforced now. What is live at that place is never overwritten. A note that
    went down a tier goes up again.
    """
    from memory_palace.memory import pen
    from memory_palace.memory import restore as restores

    with pen.begin(roots.find(root), now(), "palace restore", reason, say) as held:
        done = restores.restore(held, name)
    if shape == "jsonl":
        record = {
            "kind": done.kind,
            "id": done.id,
            "from": done.source,
            "to": done.target,
            "entries": list(done.entries),
        }
        click.echo(json.dumps(record, ensure_ascii=False))
        return 0
    what = f"^{done.id}" if done.kind == "entry" else done.kind
    click.echo(printable(f"restored {what}: {done.source} -> {done.target}"))
    return 0
