"""What a session was about, by rules: only what its entries and observations say themselves."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from memory_palace.core import captured, observing_calls, observing_cues, prompts, salience
from memory_palace.core.condense import SEPARATOR
from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import RELEVANCES, SUMMARY, Entry, Observation
from memory_palace.core.observing_calls import Call

MOST_CHARACTERS = 500
"""Characters of each part."""

_REQUEST = 300
_PIECE = 200
_COMMAND = 60
_SHOWN = 6
# An answer that says nothing of what is left; what was said before it still holds.
_ASIDE = re.compile(r"(?i)\s*(?:(?:committed|pushed|tagged|saved|you're welcome)\b.{0,30})?\Z")

# Who said it, where an observation tells what was said.
_ASKED, _ANSWERED = "User: ", "Assistant: "

_DECISION = observing_cues.DECISION.type
_LEARNED = ("discovery", _DECISION)
# What an agent said of a cause, in the line of its fix.
_EXPLAINED = re.compile(r"\. Assistant: (.+?)(?= Then passed: `|\Z)")
_SEARCHES = frozenset("grep glob find search grep_files websearch toolsearch".split())
_SAVING = frozenset({"git commit", "git add", "git push"})
_TODO_TOOLS = frozenset("todowrite todo_write update_plan todo taskcreate".split())
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_PATTERN = re.compile(r"\b(?:pattern|query)=(\S.{0,80}?)(?=\s\w+=|\Z)")
_PASSED = re.compile(
    r"(?:^|[^\w.])(\d{1,6} (?:tests? )?pass(?:ed|ing)\b[^\n]{0,60}|Tests:\s[^\n]{0,80}"
    r"|test result: ok\.[^\n]{0,60}|OK \(\d+ tests?[^\n]{0,30})"
)
_FAILED = re.compile(r"\b[1-9]\d{0,5} (?:failed|failures?|errors?|failing)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[ \]\s+)?(\S.*)\Z")
_TICK = re.compile(r"\s{0,12}[-*+]\s+\[ \]\s+(\S.*)\Z")
_DONE_TICK = re.compile(r"\s{0,12}[-*+]\s+\[[xX]\]")
_NEXT_HEADING = re.compile(
    r"(?i)[\s#*_]{0,8}(?:next(?: steps?)?|to-?dos?|remaining(?: work| steps)?|what(?:'s| is) left"
    r"|still (?:open|to do)|open (?:points|items|questions)|follow-?ups?|nächste schritte"
    r"|noch offen)\b[^.\n]{0,40}:?[*_]{0,3}:?\s{0,4}\Z"
)
_NEXT = re.compile(
    r"(?i)\b(?:next steps?|next up|next is|remain(?:s|ing)|to-?do|left to do|(?:is|are) left"
    r"|not yet|still (?:to do|open|missing|needs?|fails?|has to|have to)|follow-?up|the next"
    r"|(?:i|we)(?:'ll| will) (?:then|next|continue)|waiting (?:for|on)|blocked|als nächstes"
    r"|fehlt noch|noch offen|nächste schritte)\b|^(?:next(?:,? |: )|left: |open: |remaining: )"
)
_OFFER = re.compile(
    r"(?i)(?:let me know|would you like|do you want|shall i|should i|want me to"
    r"|if you(?:'d)? (?:like|want)|feel free|soll ich)"
)
_TODO = (
    re.compile(
        r'"(?:content|step|text)":\s?"((?:[^"\\]|\\.){1,300})"[^{}]{0,200}?"status":\s?"(?:pending'
        r'|in_progress)"'
    ),
    re.compile(
        r'"status":\s?"(?:pending|in_progress)"[^{}]{0,200}?"(?:content|step|text)":\s?'
        r'"((?:[^"\\]|\\.){1,300})"'
    ),
)


def summarize(entries: Sequence[Entry], observations: Sequence[Observation]) -> dict[str, str]:
    """The parts of a session's summary (the keys of :data:`SUMMARY`), each on one line of at most
    :data:`MOST_CHARACTERS` characters; a part that nothing is known for is left out.

    ``entries`` are those of a branch, first to last, ``observations`` what was observed on it.
    """
    calls = [observing_calls.read(one) for one in entries if one.role == "tool"]
    asked = request(entries)
    steps = list(_next_steps(entries))
    left = {_bare(one) for one in steps}
    told = [_told(one, asked, left) for one in _weighty(observations)]
    learned = [piece for found, _ in told for piece in found]
    done = [piece for _, found in told for piece in found]
    found = {
        "request": asked,
        "investigated": _investigated(calls),
        "learned": _joined([*learned, *_errors(calls, observations)]),
        "completed": _joined(_completed(calls, done)),
        "next_steps": _joined(steps),
    }
    return {key: found[key] for key in SUMMARY if found[key]}


def request(entries: Iterable[Entry]) -> str:
    """The first thing that a person asked for, its first sentences."""
    for one in entries:
        if one.role != "user" or prompts.is_machine_made(one.text):
            continue
        own = " ".join(line for line in prompts.own_lines(one.text) if line)
        if prompts.is_social(own or one.text):
            continue
        asked = own or prompts.question(one.text)
        if asked:
            return _first(asked, _REQUEST)
    return ""


def _first(text: str, most: int) -> str:
    """The sentences at the beginning of ``text`` that fit."""
    kept = ""
    for sentence in _SENTENCE.split(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > most:
            break
        kept = longer
    return kept or cut(text, most)


def _investigated(calls: Sequence[Call]) -> str:
    read: dict[str, None] = {}
    searched: dict[str, None] = {}
    ran: dict[str, int] = {}
    for call in calls:
        tool = call.entry.tool.lower()
        head = call.entry.text.split("\n", 1)[0]
        if call.key in _SAVING or call.entry.files:
            continue
        if call.command:
            name = call.key or cut(call.command, _COMMAND)
            ran[name] = ran.get(name, 0) + 1
        elif tool in _SEARCHES:
            said = _PATTERN.search(head)
            searched[cut(said[1] if said else _after_name(head), _COMMAND)] = None
        elif tool in captured.READERS and _after_name(head):
            read[_after_name(head).split(" ")[0]] = None
    times = [f"{name} ({n} times)" if n > 1 else name for name, n in ran.items()]
    pieces = [
        f"{verb} {_listed(names)}"
        for verb, names in (("read", list(read)), ("searched", list(searched)), ("ran", times))
        if any(names)
    ]
    return cut("; ".join(pieces), MOST_CHARACTERS)


def _after_name(head: str) -> str:
    return head.partition(" ")[2].strip()


def _told(one: Observation, asked: str, left: Container[str]) -> tuple[list[str], list[str]]:
    """What an observation says was found out or decided, and what it says was done: neither what
    was ``asked`` nor what a person wishes for good, nor what is ``left``."""
    if not one.content.startswith((_ASKED, _ANSWERED)):
        if one.type in _LEARNED:
            return [one.content], []
        cause = _EXPLAINED.search(one.content) if one.type else None
        if cause is None:
            return [], [one.content] if one.type else []
        return [cause[1]], [one.content[: cause.start()] + "." + one.content[cause.end() :]]
    learned: list[str] = []
    done: list[str] = []
    parts = one.content.split(SEPARATOR)
    answered = False
    for part in parts:
        if part.startswith(_ASKED):
            said = part.removeprefix(_ASKED)
            settled = _decided(said, one, asked, len(parts) == 1)
            if settled and answered and learned and observing_cues.refuses(said):
                learned[-1] = f"{learned[-1].rstrip('.')} ({_bare(settled.pop())})"
            elif not settled and answered and learned and observing_cues.answers(said):
                learned[-1] = f"{learned[-1].rstrip('.')} ({part})"
            learned += settled
            answered = False
            continue
        sentences = salience.sentences(part.removeprefix(_ANSWERED))
        sentences = [said for said in sentences if _bare(said) not in left]
        is_work = one.type not in _LEARNED
        ended = [said for said in sentences if is_work or observing_cues.is_done(said)]
        rest = [said for said in sentences if said not in ended]
        ended = [said for said in ended if observing_cues.is_done(said) or not _NEXT.search(said)]
        learned += [" ".join(rest)] if rest else []
        done += [" ".join(ended)] if ended else []
        answered = True
    return learned, done


def _decided(said: str, one: Observation, asked: str, alone: bool) -> list[str]:
    """What a person settled in a part of a line; ``alone`` if that is all of it."""
    sentences = salience.sentences(said)
    kept = [part for part in sentences if observing_cues.decides(part) and part not in asked]
    if not kept and alone and one.type == _DECISION and said not in asked:
        # In words that no rule knows; a critical one is a wish.
        kept = sentences if one.relevance != RELEVANCES[-1] else []
    return [f"{_ASKED}{' '.join(kept)}"] if kept else []


def _errors(calls: Sequence[Call], observations: Sequence[Observation]) -> Iterator[str]:
    """Errors that no line tells of."""
    everything = " ".join(one.content for one in observations).replace("`", "'")
    seen: set[str] = set()
    for n, call in enumerate(calls):
        if not call.failed or not call.error or call.error in seen or call.error in everything:
            continue
        seen.add(call.error)
        later = [one.failed for one in calls[n + 1 :] if one.key == call.key]
        yield f"{call.key} failed: {call.error}" + (" (passed later)" if False in later else "")


def _completed(calls: Sequence[Call], done: Sequence[str]) -> Iterator[str]:
    """Commits, what observations say was ``done``, the last passing tests, edited files."""
    commits = [made for call in calls if not call.failed and (made := observing_calls.commit(call))]
    for _, sha, subject in commits:
        yield f"committed {subject}" + (f" ({sha[:7]})" if sha else "")
    lines = tuple(f"Committed `{sha}`" if sha else f"Committed: {subj}" for _, sha, subj in commits)
    yield from (one for one in done if not one.startswith(lines))
    for call in reversed(calls):
        found = _PASSED.search(call.output) if call.key else None
        if found:
            if not call.failed and not _FAILED.search(found[1]):
                last = observing_calls.kind(call.command.rsplit("&&", 1)[-1])
                yield f"{last or call.key}: {found[1].strip(' =')}"
            break
    edited = dict.fromkeys(
        path for call in calls if not call.entry.failed for path in call.entry.files
    )
    if edited:
        yield f"edited {_listed(list(edited))}"


def _weighty(observations: Iterable[Observation]) -> list[Observation]:
    """Observations that are not of low relevance, weightiest first, then by time."""
    kept = [one for one in observations if one.relevance != RELEVANCES[0]]
    return sorted(kept, key=lambda one: (-RELEVANCES.index(one.relevance), one.at, one.id))


def _next_steps(entries: Sequence[Entry]) -> Iterator[str]:
    """What the last answer says is left, and what the last list of tasks has open."""
    last = next(
        (
            one
            for one in reversed(entries)
            if one.role == "assistant" and not _ASIDE.match(one.text)
        ),
        None,
    )
    if last:
        yield from dict.fromkeys(_left(last.text))
    todos = next((o for o in reversed(entries) if o.tool.lower() in _TODO_TOOLS), None)
    if todos:
        for pattern in _TODO:
            found = pattern.findall(todos.text)
            if found:
                yield from (one.replace('\\"', '"') for one in found)
                break


def _left(text: str) -> Iterator[str]:
    """The items below a heading such as "Next steps", open checkboxes, and sentences that say what
    is left; what is only offered is not."""
    below = False
    for line in text.split("\n"):
        tick, item = _TICK.match(line), _ITEM.match(line)
        if tick:
            yield _plain(tick[1])
        elif _NEXT_HEADING.match(line):
            below = True
        elif below and item and not _DONE_TICK.match(line):
            yield _plain(item[1])
        elif line.strip():
            below = below and line[:1].isspace()
            for sentence in _SENTENCE.split(line):
                only_said = sentence.rstrip().endswith(("?", ":")) or _OFFER.search(sentence)
                if _NEXT.search(sentence) and not only_said:
                    yield _plain(sentence)


def _bare(said: str) -> str:
    return said.rstrip(".; ")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\*\*|__|^#+\s", "", text).split()).lstrip("-*• ")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _joined(pieces: Iterable[str]) -> str:
    """As many whole pieces as there is room for, the first ones; each once."""
    kept = ""
    for piece in dict.fromkeys(cut(" ".join(one.split()), _PIECE).rstrip(".; ") for one in pieces):
        longer = f"{kept}; {piece}" if kept else piece
        if piece and len(longer) <= MOST_CHARACTERS:
            kept = longer
    return kept
