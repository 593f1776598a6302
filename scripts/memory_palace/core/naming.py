"""How well a question names a definition: its words against those of a function's or class's name.

A name says what something is, the class and the path around it say where. All of it is absolute:
no other definition, and no file, has a part in it.
"""

from collections.abc import Iterable, Sequence

from memory_palace.core.claimwords import root
from memory_palace.core.keywords import Term
from memory_palace.core.stopwords import ENGLISH
from memory_palace.core.tokens import camel_parts, folded, words


def asked_for(terms: Iterable[Term]) -> frozenset[str]:
    """The words of a question's terms, as :func:`likeness` compares them."""
    return _parts(term.text for term in terms)


def likeness(asked: frozenset[str], symbol: Sequence[str], path: str) -> float:
    """0 to 1: the share of the name that is asked for, times the share of what is asked for that
    the name has, or the classes and the path that it stands in.

    ``symbol`` are the names from the outermost to the definition's own. Of a name of one word, its
    surroundings do not count: `run` in `tests/` is not what "run the tests" asks for. A name that
    is not asked for at all has 0, wherever it stands.
    """
    own = _parts(symbol[-1:])
    common = own & asked
    if not common:
        return 0.0
    around = _parts([*symbol[:-1], path.rpartition(".")[0]]) if len(own) > 1 else frozenset()
    return len(common) / len(own) * len(asked & (own | around)) / len(asked)


def _parts(names: Iterable[str]) -> frozenset[str]:
    """The words of identifiers, without endings and stop words."""
    parts = (
        part.lower() for name in names for word in words(folded(name)) for part in camel_parts(word)
    )
    return frozenset(root(part) for part in parts if part not in ENGLISH)
