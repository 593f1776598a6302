"""``palace recall``."""

from pathlib import Path

import click

from memory_palace.cli.common import now, root_option, say
from memory_palace.core.errors import Refused
from memory_palace.core.problems import printable
from memory_palace.files import roots, tree

_EXITS = {"ok": 0, "partial": 0, "invalid_id": 2}
_TOLD = {
    "partial": "some of what it rests on is not there",
    "no_source": "nothing leads on to what was said or done",
    "source_unavailable": "what it rests on is not there",
}


@click.command(
    epilog="""\b
Examples:
  palace recall memory-palace               a project, or an agent
  palace recall memory-palace sessions      one room of it
  palace recall reflection_wing/principles  any room, by its path below palace/
  palace recall topics/lessons              the memories of a topic, strongest first
  palace recall 3f9ac2d41b7e                what a line of a session's fold rests on"""
)
@click.argument("wing", metavar="WING|ID")
@click.argument("room", required=False)
@click.option("--session", metavar="ID", default="", help="Look ID up in this session's ledger.")
@click.option("--agent", metavar="NAME", default="", help="Look ID up in its newest session.")
@root_option
def recall(wing: str, room: str | None, session: str, agent: str, root: str | None) -> int:
    """What a wing or a room knows: its weightiest notes.

    Ten of them by importance, then recency, 300 characters each, and how many more there are.
    The ID of an observation, a reflection or an entry (12 hex digits) gives its sources in full.
    """
    from memory_palace.core.ledger import is_id
    from memory_palace.session import recall as recalls

    place = roots.find(root)
    bare = wing.removeprefix("#").removeprefix("[").removesuffix("]")  # as hits and folds have it
    wing = bare if is_id(bare) else wing
    if session or agent:
        if room is not None:
            raise click.UsageError("--session and --agent take one ID")
        return _record(place, wing, session, agent)
    tree.look(place)
    try:
        found = recalls.recall(place, now(), wing, room)
    except Refused:
        if room is not None or not is_id(wing):
            raise
        return _record(place, wing)
    for line in found.said:
        say(line)
    if found.text:
        click.echo(found.text)
    else:
        say("nothing in there yet")
    return 0 if found.notes or found.memories else 1


def _record(root: Path, id: str, session: str = "", agent: str = "") -> int:
    """What an id leads to, from the ledgers."""
    from memory_palace.cli.ledger import tell_problems
    from memory_palace.core.ledger_text import recalled
    from memory_palace.session import ledgers

    found = ledgers.recall(root, id, session, agent, roots.current())
    result = found.recalled.result
    if found.recalled.record is not None:
        for line in recalled(found.recalled).split("\n"):
            click.echo("\t".join(map(printable, line.removesuffix("\r").split("\t"))))
    elif found.summary:
        say(f"{id} is a summary, in {printable(found.summary)}: `palace mem get {id}` shows it")
    elif result == "not_found":
        where = f"{found.loaded.path} has no {id}" if found.loaded else f"no ledger has {id}"
        memory = "" if found.loaded else f", `palace read ^{id}` shows a memory"
        gaps = "".join(f"; {gap}" for gap in found.recalled.gaps)
        say(f"{where}{gaps}: `palace ledger show` lists ids{memory}")
    else:
        say(f"error: id {id!r}: {'; '.join(found.recalled.gaps)}")
    if found.loaded and result != "ok":
        tell_problems(found.loaded)
    if result in _TOLD:
        say(f"{result}: {_TOLD[result]}")
    if found.others:
        say(f"also in {', '.join(found.others)}: --session shows it there")
    return _EXITS.get(result, 1)
