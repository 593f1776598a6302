"""What a run of session entries tells, as lines: a deterministic worker, without a model.

What was said is in ``observing_talk``, what was done with tools in ``observing_work``.
"""

from collections.abc import Sequence
from dataclasses import replace

from memory_palace.core import observing_cues, observing_talk, observing_work, salience
from memory_palace.core.ledger import Entry, Observation, content, record_id
from memory_palace.core.observing_talk import Said
from memory_palace.core.observing_work import Draft
from memory_palace.core.private_spans import MARK
from memory_palace.core.salience import Rarity, bounded

MOST_CONTENT = 1_000
"""Characters of a line."""


def observe(entries: Sequence[Entry]) -> tuple[Observation, ...]:
    """Observations of ``entries``, by the place of the last entry that each rests on.

    Each cites those it rests on, at most a handful, and has their files and time. All cover up to
    the last entry. Social turns, questions without facts and what tools only show give nothing.
    """
    if not entries:
        return ()
    rare = Rarity(bounded(one.text) for one in entries)
    said = observing_talk.turns(entries, rare)
    explained = {key: _without_proposals(one) for key, one in said.items() if not one.person}
    work = list(observing_work.drafts(entries, explained))
    # What an agent said of a cause is told with the fix.
    told = {one.id for draft in work for one in draft.sources}
    left = {k: one if k not in told else _proposal(one) for k, one in said.items()}
    spoken = {key: one for key, one in left.items() if one is not None}
    drafts = [*observing_talk.drafts(spoken, entries), *work]
    places = {one.id: n for n, one in enumerate(entries)}
    drafts.sort(key=lambda one: max(places[entry.id] for entry in one.sources))
    found: dict[str, Observation] = {}
    for draft in drafts:
        made = _observation(draft, entries[-1].id)
        if made.content:
            found.setdefault(made.id, made)
    return tuple(found.values())


def _without_proposals(said: Said) -> str:
    """What an agent said of a cause, without what it proposed: a person may have said no."""
    _, _, words = said.text.partition(": ")
    kept = [one for one in salience.sentences(words) if not observing_cues.proposes(one)]
    return f"Assistant: {' '.join(kept)}" if kept else ""


def _proposal(said: Said) -> Said | None:
    """Of what is told with a fix, what the agent proposed."""
    _, _, words = said.text.partition(": ")
    offered = [one for one in salience.sentences(words) if observing_cues.proposes(one)]
    return replace(said, text=f"Assistant: {' '.join(offered)}") if offered else None


def _observation(draft: Draft, covers: str) -> Observation:
    line = content("".join(c if c.isprintable() else " " for c in draft.content.replace(MARK, "")))
    line = line if len(line) <= MOST_CONTENT else line[: MOST_CONTENT - 1].rstrip() + "…"
    sources = list({one.id: one for one in draft.sources}.values())
    files = draft.files or tuple(dict.fromkeys(file for one in sources for file in one.files))
    return Observation(
        record_id(line),
        line,
        max(one.at for one in sources),
        draft.relevance,
        tuple(one.id for one in sources),
        covers,
        draft.type,
        files[0].rpartition("/")[0] if files else "",
        files,
        sum(one.tokens for one in sources),
    )
