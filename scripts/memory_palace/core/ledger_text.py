"""What stands in a ledger, as lines to read: an entry in full or in short, and a recall."""

from memory_palace.core import dates
from memory_palace.core.fold import observation_line, reflection_line
from memory_palace.core.ledger import Entry, Observation, Reflection
from memory_palace.core.ledger_recall import Recalled
from memory_palace.core.private_spans import hidden

SHORT = 160
"""Characters of an entry's text where entries are listed."""


def entry_head(one: Entry) -> str:
    """``[id] YYYY-MM-DD HH:MM role tool`` and the files, without the text."""
    words = [f"[{one.id}]", dates.minute(one.at), one.role]
    words += [one.tool] if one.tool else []
    words += ["(failed)"] if one.failed else []
    words += [", ".join(one.files)] if one.files else []
    return " ".join(words)


def entry_line(one: Entry) -> str:
    """An entry on one line, at most :data:`SHORT` characters of its text."""
    said = " ".join(one.text.split())
    cut = len(said) - SHORT
    return f"{entry_head(one)}: {said[:SHORT]}" + (f" [{cut} more characters]" if cut > 0 else "")


def record_line(one: Observation | Reflection, dropped: bool = False) -> str:
    """A record as a fold has it, and whether it was dropped."""
    said = observation_line(one) if isinstance(one, Observation) else reflection_line(one)
    return f"{said} (dropped)" if dropped else said


def recalled(found: Recalled) -> str:
    """What a recall gave: the record, what it was drawn from, its sources in full, every gap.

    Only the gaps where there is no record. Stored text: for an agent it has to be fenced.
    """
    gaps = [f"- {gap}" for gap in found.gaps]
    sections = [("\n".join(("## Gaps", *gaps)))] if gaps else []
    if found.record is None:
        return "\n".join(gaps)
    if isinstance(found.record, Entry):
        return "\n\n".join([_in_full(found.record), *sections])
    head = [record_line(found.record, found.dropped)]
    if isinstance(found.record, Observation):
        told = [found.record.type, ", ".join(found.record.files)]
        head += [" · ".join(one for one in told if one)] if any(told) else []
    parts = ["\n".join(head)]
    if found.observations:
        lines = [record_line(one, one.id in found.hidden) for one in found.observations]
        parts.append("\n".join(("## Observations", *lines)))
    if found.sources:
        parts.append("## Sources\n" + "\n\n".join(_in_full(one) for one in found.sources))
    return "\n\n".join([*parts, *sections])


def _in_full(one: Entry) -> str:
    return f"{entry_head(one)}\n{hidden(one.text)}" if one.text else entry_head(one)
