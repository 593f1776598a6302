"""``palace mine``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli.common import (
    Terminal,
    confirmed,
    format_option,
    now,
    report,
    root_option,
    say,
    to_the_end,
    yes_option,
)
from memory_palace.core.errors import BadInput, PalaceError, Refused
from memory_palace.files import config as configs
from memory_palace.files import local, roots

if TYPE_CHECKING:
    from memory_palace.files.projects import Project
    from memory_palace.memory.mining import Planned


@click.command(
    epilog="""\b
Examples:
  palace mine ~/src/shop              its files become lines and chunks; nothing is copied
  palace mine ~/src/shop --dry-run    what would come, change and go, by room
  palace mine                         all known projects that are on this machine
  palace mine --list
  palace mine --forget shop"""
)
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--name", metavar="N", help="The project's name [its repository's, or REPO-FOLDER].")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--watch", is_flag=True, help="Go on, and follow what changes, until Ctrl-C.")
@click.option("--list", "listing", is_flag=True, help="Show the known projects.")
@click.option("--forget", metavar="NAME", help="Take a project's files out of the memory.")
@yes_option
@format_option("text", "jsonl")
@root_option
def mine(
    folder: str | None,
    name: str | None,
    dry_run: bool,
    watch: bool,
    listing: bool,
    forget: str | None,
    yes: bool,
    shape: str,
    root: str | None,
) -> int:
    """Index a project's files where they are.

    Each file becomes a line in manifests/projects/NAME.jsonl and its text a part of the index. The
    project itself is only read. Without DIR all known projects are mined again.
    """
    _check(folder, name, dry_run, watch, listing, forget, yes)
    place = roots.find(root)
    if listing:
        from memory_palace.cli import mine_output as output

        return output.listing(place, shape)
    if forget is not None:
        return _forget(place, forget, dry_run, yes, shape)
    local.check(place)
    todo = _projects(place, folder, name)
    if not todo:
        return 1
    if dry_run:
        return _mine(place, todo, dry_run, yes, shape)
    failed = to_the_end(lambda: _mine(place, todo, dry_run, yes, shape))
    if watch:
        from memory_palace.cli import mine_watch

        return mine_watch.follow(place, [project.name for project in todo], shape)
    return failed


def _check(
    folder: str | None,
    name: str | None,
    dry_run: bool,
    watch: bool,
    listing: bool,
    forget: str | None,
    yes: bool,
) -> None:
    """Flags that say nothing together."""
    given = {
        "DIR": folder is not None,
        "--name": name is not None,
        "--dry-run": dry_run,
        "--watch": watch,
        "--list": listing,
        "--forget": forget is not None,
        "--yes": yes,
    }
    alone = {"--list": (), "--forget": ("--dry-run", "--yes")}
    for flag, allowed in alone.items():
        for other in (o for o in given if given[flag] and given[o] and o not in (flag, *allowed)):
            raise BadInput(f"{flag} does not go with {other}: leave out one of them")
    for flag, other in (("--watch", "--dry-run"), ("--yes", "--dry-run")):
        if given[flag] and given[other]:
            raise BadInput(f"{flag} does not go with {other}: leave out one of them")
    if name is not None and folder is None:
        raise BadInput("--name names the project in DIR: name its folder too")


def _projects(place: Path, folder: str | None, name: str | None) -> "list[Project]":
    """The projects that are meant and are here; of the others a line on stderr."""
    from memory_palace.files import projects
    from memory_palace.memory import mining_names as names

    if folder is not None:
        project = names.at(place, folder, name)
        for known, before in names.alike(place, project).items() if name is None else ():
            was = f"is not at {before} any more" if before else "was not on this machine so far"
            asked = f"is {project.root} the project {known}, which {was}?"
            say(f"{asked} `--name {known}` goes on with it", "yellow")
        return [project]
    every = projects.every(place)
    if not every:
        raise Refused("no project is known: `palace mine DIR` makes one")
    for project in every:
        if project.root is None:
            say(
                f"{project.name}: not on this machine, its lines are kept: "
                f"`palace mine DIR --name {project.name}` says where it is",
                "yellow",
            )
    return [project for project in every if project.root is not None]


def _mine(place: Path, todo: "list[Project]", dry_run: bool, yes: bool, shape: str) -> int:
    from memory_palace.cli import mine_output as output
    from memory_palace.memory import mining, mining_writing, pen

    config = configs.load(place)
    done: list[Planned] = []
    failed = False
    for project in todo:
        try:
            planned = mining.plan(place, project, config, Terminal(), keep=not dry_run)
            # The index tells what is wrong with a manifest, by its lines once it is written.
            of_manifest = planned.before.problems if dry_run else []
            failed |= report([*of_manifest, *planned.problems], every=dry_run)
            if not dry_run:
                if not yes:
                    mining.guard(planned)
                with pen.begin(place, now(), "palace mine", f"mine {project.name}", say) as held:
                    mining_writing.write(held, planned)
            output.mined(planned, shape, dry_run)
            output.taken(planned, dry_run)
            if dry_run:  # what would be refused is, once it was shown
                mining.guard(planned)
                mining.check(planned)
        except PalaceError as error:
            if len(todo) == 1:
                raise
            say(f"error: {error}", "red")
            failed = True
            continue
        done.append(planned)
    if done and not dry_run:
        output.grammars(done)
        failed |= _index(place)
    return 1 if failed else 0


def _index(place: Path) -> bool:
    """Bring the index up to date; True if it found an error."""
    from memory_palace.cli.index import summary
    from memory_palace.embed import registry
    from memory_palace.index import run
    from memory_palace.index.build import Options

    config = configs.load(place)
    choice = registry.choose(config)
    say(str(choice))
    ran = run.index(place, config, choice, Options(), Terminal())
    say(f"index: {summary(ran)}")
    return report(ran.problems)


def _forget(place: Path, name: str, dry_run: bool, yes: bool, shape: str) -> int:
    from memory_palace.cli import mine_output as output
    from memory_palace.files import projects
    from memory_palace.memory import mining, mining_writing, pen
    from memory_palace.memory import mining_names as names

    project = names.named(place, name)
    files = len(projects.load(place, project.name).lines)
    if not yes:
        output.forgotten(project, files, shape, done=False)
        if dry_run:
            return 0
        if not confirmed(False, f"Take {project.name} out of the memory?"):
            say(f"nothing was forgotten: `palace mine --forget {project.name} --yes` does it")
            return 0
    around = mining.around(place, project)
    with pen.begin(place, now(), "palace mine", f"forget {project.name}", say) as held:
        mining_writing.forget(held, project.name)

    def told() -> bool:
        output.forgotten(project, files, shape, done=True)
        for outer in around:
            say(f"its files are {outer}'s again from the next `palace mine` on")
        return _index(place)

    return 1 if to_the_end(told) else 0
