"""``palace graph``, also ``scripts/graph_router.py``."""

import contextlib
import json

import click

from memory_palace.cli.common import Terminal, count, report, root_option, say
from memory_palace.core.errors import Busy, Missing
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots, tree
from memory_palace.index import catalog as catalogs
from memory_palace.index import graph as graphs
from memory_palace.index import run
from memory_palace.index.build import Options


@click.command(
    epilog="""\b
Examples:
  palace graph                    {"note": ["linked note", …], …}
  palace graph --backlinks        who links to each note
  palace graph --check            exit 1 on broken or ambiguous links"""
)
@click.option("--backlinks", is_flag=True, help="The other way round: who links to each note.")
@click.option("--archived", is_flag=True, help="The archived notes that each note links to.")
@click.option("--check", is_flag=True, help="Exit 1 if a link is broken or ambiguous.")
@root_option
def graph(backlinks: bool, archived: bool, check: bool, root: str | None) -> int:
    """Print the graph of [[links]] as JSON and keep it in .palace/graph.json.

    The notes' current links count: keywords and links are refreshed first, vectors are left for
    ``palace index``.
    """
    place = roots.find(root)
    config = configs.load(place)
    nothing = registry.Choice("none", "none", "")
    try:
        run.index(place, config, nothing, Options(sync_manifest=False, wait_seconds=0), Terminal())
    except (Busy, Missing) as error:  # a build is on, a read-only disk: readers never wait
        tree.look(place)
        say(f"links as of the last run: {error}")
    with catalogs.open_to_read(roots.index_folder(place) / catalogs.MAIN) as catalog:
        found = graphs.read(catalog)
    with contextlib.suppress(OSError):
        graphs.keep(place, found)
    shown = found.archived if archived else found.back if backlinks else found.out
    click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    report(found.problems, every=True)
    if found.problems:
        say(f"{count(len(found.problems), 'link')} to mend: correct each where it stands")
    return 1 if check and found.problems else 0
