"""The cards of the dispatch corridor: read all, open one, complete one."""

from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import cards, privacy
from memory_palace.core.cards import FOLDER, Card, Draft
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.note import parse as parse_note
from memory_palace.core.problems import Problem
from memory_palace.core.text import nearest, nfc, slug, stem
from memory_palace.files import config as configs
from memory_palace.files import read, tree
from memory_palace.memory.pen import Pen

_ORDER = {name: number for number, name in enumerate((*cards.STATUSES[:2], None, "completed"))}
_PRIORITIES = {"high": 0, "medium": 1, None: 2, "low": 3}


@dataclass(frozen=True, slots=True)
class Cards:
    """All cards, active ones first, and what is wrong with any file among them."""

    cards: tuple[Card, ...]
    problems: tuple[Problem, ...]


class NotDone(Refused):
    """A card cannot be completed yet; ``problems`` says why, a line each."""

    def __init__(self, message: str, problems: list[Problem]) -> None:
        super().__init__(message)
        self.problems = problems


def load(root: Path) -> Cards:
    """The cards below :data:`FOLDER`. Raises :class:`Missing` if the notes cannot be listed."""
    seen = tree.scan(root, configs.load(root).exclude)
    problems = [problem for problem in seen.problems if (problem.path + "/").startswith(FOLDER)]
    found = []
    for file in seen.notes:
        if not file.path.startswith(FOLDER):
            continue
        got = read.read(root, file.path)
        if isinstance(got, read.Unreadable):
            problems.append(got.problem)
        elif cards.is_card(parse_note(file.path, got.text)):
            card = cards.parse(file.path, got.text)
            found.append(card)
            problems += card.problems
            if card.status == "completed" and not card.holds:
                problems += _claimed(card)
    found.sort(key=lambda c: (_ORDER[c.status], _PRIORITIES[c.priority], c.path))
    return Cards(tuple(found), tuple(problems))


def _claimed(card: Card) -> list[Problem]:
    """What speaks against a card that says it is completed: it does not count as that."""
    return [
        Problem(p.path, p.line, f"the card says completed, but does not count as that: {p.message}")
        for p in cards.faults(card)
    ]


def clean(text: str, what: str) -> str:
    """``text`` on one line, without private spans and secrets.

    Raises :class:`BadInput` if nothing is left.
    """
    kept = " ".join(privacy.redact(text).text.split())
    if not kept.replace(privacy.PRIVATE_MARK, "").strip():
        raise BadInput(f"{what} is empty{' or private' if kept else ''}: write what is to be kept")
    return kept


def draft(
    title: str,
    goal: str | None = None,
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    checks: tuple[str, ...] = (),
    next_action: str | None = None,
    priority: str | None = None,
) -> Draft:
    """A new card's content, cleaned. Raises :class:`BadInput` for a text that is empty then."""
    return Draft(
        clean(title, "the title"),
        "" if goal is None else clean(goal, "--goal"),
        tuple(clean(text, "--input") for text in inputs),
        tuple(clean(text, "--output") for text in outputs),
        tuple(clean(text, "--check") for text in checks),
        "" if next_action is None else clean(next_action, "--next"),
        priority,
    )


def new(p: Pen, wanted: Draft) -> Card:
    """Write a new card. Raises :class:`Refused` if a card of that name is there, naming it."""
    name = slug(wanted.title)
    path = f"{FOLDER}{name}.md"
    there = [card.path for card in load(p.root).cards if _is_named(card.path, name)]
    if there or p.read(path) is not None:
        raise Refused(f"{there[0] if there else path} is there already: choose another title")
    text = cards.render(wanted, p.now.date().isoformat(), p.by)
    p.put(path, text)
    p.log("card_opened", path, path=path)
    return cards.parse(path, text)


def done(p: Pen, name: str, next_action: str = "") -> Card:
    """Complete the card of that file name (or path), if all its checks hold.

    Raises :class:`Refused` for a name that no card or more than one has, :class:`NotDone` with
    what is still open, :class:`BadInput` for metadata that cannot be changed.
    """
    path = _find(load(p.root).cards, name)
    text = p.read(path)
    if text is None:
        raise Missing(f"{path} is gone: `palace card list` shows what is there")
    card = cards.parse(path, text)
    if card.is_completed:
        raise Refused(f"{path} is completed already: nothing to do")
    faults = cards.faults(card)
    if faults:
        raise NotDone(f"{path} {_why(card)}", faults)
    try:
        changed = cards.completed(text, p.now.date().isoformat(), next_action)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    p.put(path, changed)
    p.log("card_completed", path, path=path)
    return cards.parse(path, changed)


def _why(card: Card) -> str:
    if not card.checks:
        return "has no acceptance check: write one, and mark it with [x] when it holds"
    number = len(card.open_checks)
    if not number:
        return "is too long for its checks to be seen: move text to another note"
    checks = "1 open check" if number == 1 else f"{number} open checks"
    return f"has {checks} of {len(card.checks)}: mark with [x] what holds"


def _is_named(path: str, name: str) -> bool:
    return nfc(stem(path)) == nfc(name)


def _find(found: tuple[Card, ...], name: str) -> str:
    """The path of the card ``name``. Nothing is guessed: this is for a write."""
    paths = [card.path for card in found]
    there = [path for path in paths if nfc(path) == nfc(name)]
    if "/" not in name:
        there = [path for path in paths if _is_named(path, stem(name))]
    if len(there) == 1:
        return there[0]
    if there:
        raise Refused(f"{' and '.join(there)} both have this name: write the path")
    near = nearest(stem(name), map(stem, paths))
    if near and "/" in name:
        near = next(path for path in paths if stem(path) == near)
    hint = f"did you mean `{near}`?" if near else "`palace card list` shows what is there"
    raise Refused(f"no card `{name}`: {hint}")
