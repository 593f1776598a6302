"""Which entries are near to a prompt or to files by their words: where there is no embedder, and
for names that a vector does not see."""

import re
from collections.abc import Iterable, Sequence

from memory_palace.core import tokens
from memory_palace.core.memories import Memory
from memory_palace.core.report import Near
from memory_palace.core.stopwords import is_stop

PROMPT = 0.65
"""The similarity above which an entry joins for a prompt."""

FILES = 0.70
"""The similarity above which an entry is brought up for a file."""

MOST_FILES = 10
FEWEST_WORDS = 2
"""Words that two texts must have in common, or it says nothing."""

_SHORTEST_NAME = 4
_RUNS = re.compile(f"{tokens.RUN}+")


def words(text: str) -> frozenset[str]:
    """The words of ``text`` that say something, without the plural's ending; pairs of neighbours
    in scripts without spaces."""
    folded = tokens.folded(text)
    found = {word.casefold() for word in tokens.words(folded) if not is_stop(word, first=True)}
    pairs = {run[i : i + 2] for run in _RUNS.findall(folded) for i in range(max(1, len(run) - 1))}
    return frozenset({_singular(word) for word in found} | pairs)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


def similarity(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """The share of the shorter text's words that the other one has, 0 to 1."""
    common = len(ours & theirs)
    if common < FEWEST_WORDS:
        return 0.0
    return common / min(len(ours), len(theirs))


def to_prompt(prompt: str, memories: Iterable[Memory]) -> list[Near]:
    """The entries whose words are near to a prompt's."""
    ours = words(prompt)
    found = [Near(memory, similarity(ours, words(memory.text))) for memory in memories]
    return [one for one in found if one.similarity > PROMPT]


def to_files(files: Sequence[str], memories: Iterable[Memory]) -> list[Near]:
    """The entries that name one of the files, or whose words are near to its path."""
    ours = [(_named(path), words(path)) for path in files[:MOST_FILES]]
    found = []
    for memory in memories:
        theirs = words(memory.text)
        best = max(
            (
                1.0 if name and name.search(memory.text) else similarity(path, theirs)
                for name, path in ours
            ),
            default=0.0,
        )
        if best > FILES:
            found.append(Near(memory, best))
    return found


def _named(path: str) -> re.Pattern[str] | None:
    """A pattern for the file's name in a text, with its ending or as a word of its own."""
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    if len(name) < _SHORTEST_NAME:
        return None
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
