"""The decay of memories as a drawing."""

import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from memory_palace.core import strength
from memory_palace.core.errors import BadInput
from memory_palace.core.memories import Memory
from memory_palace.core.topics import CATEGORIES

DAYS = 180
"""How far ahead is drawn."""

_POINTS = 181
_NAMED = 40


def draw(memories: Sequence[Memory], at: datetime, path: Path) -> None:
    """Draw how the strength of ``memories`` falls in the days after ``at``, if nothing happens.

    The ending of ``path`` (``.png`` or ``.svg``) says as what. Raises :class:`BadInput` if it
    cannot be written.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "palace"  # the same drawing twice is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters of any script, as the viewer has them
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots()
    days = [DAYS * step / (_POINTS - 1) for step in range(_POINTS)]
    tab10 = matplotlib.colormaps["tab10"]
    colours = {name: tab10(number) for number, name in enumerate(CATEGORIES)}
    named: set[str] = set()
    for memory in memories:
        label = None if memory.category in named else CATEGORIES[memory.category].heading
        named.add(memory.category)
        axes.plot(
            days,
            [memory.strength_at(at + timedelta(days=day)) for day in days],
            color=colours[memory.category],
            linestyle="-" if not memory.pinned else "--",
            linewidth=1.2,
            alpha=0.8,
            label=label,
        )
    if len(memories) <= _NAMED:
        for memory in memories:
            # Dollars would be read as mathematics.
            text = memory.text[:48].replace("$", r"\$")
            axes.annotate(text, (0, memory.strength), fontsize=6, alpha=0.8)
    for level, name in (
        (strength.ACTIVE, "active"),
        (strength.PROVISIONAL, "provisional"),
        (strength.CANDIDATE, "candidate"),
    ):
        axes.axhline(level, color="grey", linewidth=0.8, linestyle=":")
        axes.text(DAYS, level, name, va="bottom", ha="right", fontsize=7, color="grey")
    axes.set(xlim=(0, DAYS), ylim=(0, None))
    axes.set_xlabel(f"days after {at.date().isoformat()}")
    axes.set_ylabel("strength")
    if named:
        axes.legend(loc="upper right", fontsize=8)
    try:
        with warnings.catch_warnings():
            # Letters that the font lacks are drawn as boxes (in an SVG they are text).
            warnings.simplefilter("ignore")
            figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else {})
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}): name another file") from None
