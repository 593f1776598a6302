"""The decay of memories as a drawing."""

import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import strength
from memory_palace.core.errors import BadInput
from memory_palace.core.memories import Memory
from memory_palace.core.topics import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAYS = 180
"""How far ahead is drawn."""

_POINTS = 181
_NAMED = 5
_MOST_LETTERS = 46
_LEVELS = (
    (strength.ACTIVE, "active"),
    (strength.PROVISIONAL, "provisional"),
    (strength.CANDIDATE, "candidate"),
)


def draw(memories: Sequence[Memory], at: datetime, path: Path) -> None:
    """Draw how the strength of ``memories`` falls in the days after ``at``, if nothing happens.

    A panel a category; the strongest of it are named. The ending of ``path`` (``.png`` or
    ``.svg``) says as what. Raises :class:`BadInput` if it cannot be written.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "palace"  # the same drawing twice is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters of any script, as the viewer has them
    from matplotlib.figure import Figure

    there = [name for name in CATEGORIES if any(m.category == name for m in memories)] or [""]
    columns = min(len(there), 2)
    rows = -(-len(there) // columns)
    figure = Figure(figsize=(5.5 * columns, 3.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat
    for name, axes in zip(there, panels, strict=False):
        _panel(axes, [memory for memory in memories if memory.category == name], at)
        axes.set_title(CATEGORIES[name].heading if name else "no memories", fontsize=10)
    for axes in list(panels)[len(there) :]:
        axes.set_axis_off()
    figure.supxlabel(f"days after {at.date().isoformat()}", fontsize=9)
    figure.supylabel("strength", fontsize=9)
    try:
        with warnings.catch_warnings():
            # Letters that the font lacks are drawn as boxes (in an SVG they are text).
            warnings.simplefilter("ignore")
            figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else {})
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}): name another file") from None


def _panel(axes: "Axes", memories: Sequence[Memory], at: datetime) -> None:
    days = [DAYS * step / (_POINTS - 1) for step in range(_POINTS)]
    strongest = sorted(memories, key=lambda m: (-m.strength, m.id))
    for number, memory in enumerate(strongest):
        named = number < _NAMED
        text = memory.text
        text = text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
        axes.plot(
            days,
            [memory.strength_at(at + timedelta(days=day)) for day in days],
            color=f"C{number}" if named else "lightgrey",
            linestyle="--" if memory.pinned else "-",
            linewidth=1.4 if named else 0.8,
            zorder=2.0 if named else 1.0,
            # Dollars would be read as mathematics, and what begins with `_` is not shown.
            label=text.replace("$", r"\$").lstrip("_") if named else None,
        )
    for level, name in _LEVELS:
        axes.axhline(level, color="grey", linewidth=0.6, linestyle=":")
        axes.text(0, level, f" {name}", va="bottom", fontsize=6, color="grey")
    axes.set(xlim=(0, DAYS), ylim=(0, None))
    axes.tick_params(labelsize=8)
    if memories:
        axes.legend(loc="upper right", fontsize=6)
