"""How much each part of the compound score counts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """``semantic`` is the weight of relevance; recency has halved after ``half_life_days``."""

    semantic: float = 0.5
    recency: float = 0.25
    importance: float = 0.25
    half_life_days: float = 30.0
