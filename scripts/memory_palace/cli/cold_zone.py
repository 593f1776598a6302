"""``palace cold-zone``, also ``scripts/cold_zone_blinding_patch.py``."""

import click

from memory_palace.cli.common import Terminal, count, now, report, root_option, runnable, say
from memory_palace.core.problems import printable
from memory_palace.core.text import COLD_COMPONENT, is_cold
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import locks, roots, tree
from memory_palace.index import blinding, run
from memory_palace.index import catalog as catalogs
from memory_palace.index.build import Options
from memory_palace.search import remote
from memory_palace.search.query import Query


@click.command(
    name="cold-zone",
    epilog="""\b
Examples:
  palace cold-zone             take the archive out of manifest and index
  palace cold-zone --check     exit 1 if any of it can still be found""",
)
@click.option("--check", is_flag=True, help="Prove that nothing archived is left; writes nothing.")
@root_option
def cold_zone(check: bool, root: str | None) -> int:
    """Keep archive_basement out of manifest, catalog, vectors and answers.

    A copy of the manifest is kept in .palace/backups before a line goes.
    """
    place = roots.find(root)
    tree.look(place)
    config = configs.load(place)
    choice = registry.choose(config)
    failed = False
    if not check:
        with locks.writer(roots.index_folder(place), "palace cold-zone", say=say):
            removed, copy = blinding.clean_manifest(place)
        kept = f", a copy is {copy.relative_to(place)}" if copy else ""
        click.echo(f"{count(removed, 'line')} taken out of the manifest{kept}")
        done = run.index(place, config, choice, Options(), Terminal())
        failed = report(done.problems)
    with (
        remote.opened(place, config, choice) as searcher,
        catalogs.open_to_read(roots.index_folder(place) / catalogs.MAIN) as main,
    ):
        cold = blinding.find(place, main)
        with catalogs.open_to_read(roots.index_folder(place) / catalogs.BASEMENT) as basement:
            questions = blinding.probe_words(basement)
            archived = basement.count("files")
        shown = set()
        for question in questions:
            hits = searcher.ask(Query(text=question, top_k=50), now()).hits
            shown |= {hit.path for hit in hits if is_cold(hit.path)}
            shown |= {n.path for hit in hits for n in hit.neighbors if is_cold(n.path)}
    left = [*cold.lines(), *(f"answers: {path}" for path in sorted(shown))]
    for line in left:
        click.echo(printable(line))
    click.echo(
        runnable(f"{count(len(left), 'trace')} of {COLD_COMPONENT} left: run `palace cold-zone`")
        if left
        else f"none of {count(archived, 'archived note')} is in manifest, catalog, vectors "
        f"or the answers to {count(len(questions), 'test question')}"
    )
    return 1 if left or failed else 0
