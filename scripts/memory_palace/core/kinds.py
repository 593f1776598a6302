"""The fixed words of a note's metadata."""

PRIORITIES = ("high", "medium", "low")
HALLS = (
    "hall_decisions",
    "hall_bugs",
    "hall_features",
    "hall_refactors",
    "hall_discoveries",
    "hall_changes",
    "hall_diary",
)
DEFAULT_TYPE = "palace"
