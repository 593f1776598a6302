"""What a sentence is about by its words: a decision, a wish, work that is done, what blocks it."""

import re
from typing import NamedTuple


class Cue(NamedTuple):
    """What a cue makes of a line."""

    type: str
    relevance: str


PREFERENCE = Cue("decision", "critical")
CORRECTION = Cue("decision", "critical")
DECISION = Cue("decision", "high")
BLOCKED = Cue("discovery", "high")
DONE = Cue("change", "high")
CAUSE = Cue("discovery", "high")
REQUEST = Cue("discovery", "high")
FACT = Cue("discovery", "medium")


def _any(*phrases: str) -> re.Pattern[str]:
    """One of ``phrases`` (regular expressions, one a line), as whole words, in any case."""
    lines = [line.strip() for phrase in phrases for line in phrase.strip().split("\n")]
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(lines)})(?!\w)")


_PREFERENCE = _any(
    r"""
    from now on
    i(?:'d)? (?:always |really |strongly )?prefer
    always (?!been|was|wanted)\w+
    never (?!been|had|seen|heard|thought|knew|mind)\w+
    please (?:use|don't|do not|stop|avoid|keep)
    make sure (?:to|that|you)
    don't ever
    my (?:preference|convention) is
    """
)
_CORRECTION = _any(
    r"""
    (?:that|this|it)(?:'s| is| was) (?:not right|wrong|incorrect|not what)
    instead(?: of)?
    i (?:meant|said)
    revert (?:that|this|it)
    """
)
_NO = re.compile(
    r"(?i)(?:(?:no|nope|wrong|not quite|actually)[,.!:;]|(?:nope|wrong|not quite|actually) "
    r"|no (?:i|we|you|it|that|this|don't|do|use|just|please|keep|leave|the)\b)"
    r"(?! ?(?:never ?mind|thanks|thank you|problem|worries)\b)"
)
_ONLY_NO = re.compile(
    r"(?i)\s*(?:no|nope|nah|wrong|nein|non|нет|いいえ|leave it"
    r"|not (?:that|this|quite|now|like (?:that|this)))"
    r"(?:,? (?:thanks?(?: you)?|please))?[.!,。]*\s*\Z"
)
# `Not Redis, keep the table`; not `not bad, go on`.
_NOT_THAT = re.compile(
    r"(?i)(?:nein|non), |not (?!(?:only|just|yet|sure|bad|really|at all|too|much|all|a problem)\b)"
    r"[^\s,]+(?: [^\s,]+){0,2}, \w"
)
_DECISION = _any(
    r"""
    let's (?:go with|use|take|keep|drop|stick|do)
    we(?:'ll| will) (?:go|use|take|keep|drop)
    (?:we|i|have|was|were) (?:decided|agreed|chose|rejected|ruled out)
    decision:|go with|(?:is|are) out|ruled out|instead of|must be
    rejected (?:because|as|since)
    agreed (?:on|to)
    """
)
# What a person demands without deciding between anything.
_DEMAND = _any(
    r"""
    don't|do not|mustn't|must(?: not)?|(?:has|have) to
    at most|at least|no later than|not before|no more than
    """
)
_BLOCKED = _any(
    r"""
    block(?:ed|er|s|ing)|on hold|left for later|depends on|todo|deadline|due (?:on|by)
    waiting (?:for|on)|waits for|wait (?:with|for|until)
    (?:can't|cannot) (?:continue|proceed|go on)
    still (?:open|missing|fails|broken|to do|needs?|waits)
    not (?:yet|applied)
    """
)
_DONE = _any(
    r"""
    (?:is|are) (?:now )?(?:done|finished|complete|fixed|implemented|deployed|released|merged)
    (?:is|are) (?:now )?(?:green|tagged|written|in place)
    all (?:\d+ )?tests pass|pass(?:es)? now|works now
    (?:have|has|i've) (?:added|implemented|fixed|finished|completed|written|moved|removed)
    """
)
_ENDED = re.compile(
    r"(?i)(?:\w{1,40}: )?(?:done|finished|fixed|completed|implemented|all set|shipped|released)\b"
)
_CAUSE = _any(
    r"""
    root cause|cause (?:is|was|found)|caused by|because|due to
    the (?:bug|problem|issue|fault|reason) (?:is|was)
    reproduced|confirmed|it turns out|turned out|the culprit|requires
    """
)
_PLAN = re.compile(
    r"(?i)(?:(?:ok|okay|great|good|perfect|sure|right|understood|now|first|next|then|so)[,.!:]? )*"
    r"(?:let me|i'll|i will|i'm going to|i am going to|let's (?:look|see|check|start|begin|run)"
    r"|looking at|checking|running|now (?:i|let))\b"
)
_PROPOSED = _any(
    r"""
    (?:shall|should|would|could|can) (?:i|we)|(?:i|we) (?:would|could|suggest|propose|recommend)
    i'd (?:suggest|propose|recommend|go|use|take|raise|do)|want me to
    """
)
_END = 400  # characters
_ANSWER = re.compile(
    r"(?i)\s*(?:yes|yep|yeah|yup|ok|okay|sure|agreed|go ahead|go for it|do it|do that|sounds good"
    r"|please do|lgtm|ja|oui|sí|si|да|はい|好的|no|nope|nah|not now|leave it|nein|non|нет|いいえ)\b"
)


def of_person(sentence: str) -> Cue | None:
    """What a person says beyond facts; None for nothing in particular."""
    if _PREFERENCE.search(sentence):
        return PREFERENCE
    if corrects(sentence):
        return CORRECTION
    if _DECISION.search(sentence):
        return DECISION
    if _BLOCKED.search(sentence):
        return BLOCKED
    return DECISION if _DEMAND.search(sentence) else None


def of_agent(sentence: str) -> Cue | None:
    """What an agent says beyond facts; None for nothing in particular."""
    if _BLOCKED.search(sentence):
        return BLOCKED
    if is_done(sentence):
        return DONE
    if _CAUSE.search(sentence):
        return CAUSE
    return DECISION if _DECISION.search(sentence) else None


def is_plan(sentence: str) -> bool:
    """True for what an agent says that it does next: what it then did is told by itself."""
    return bool(_PLAN.match(sentence))


def proposes(text: str) -> bool:
    """True for what asks for a decision."""
    end = text.rstrip()[-_END:]
    return end.endswith(("?", "？")) or bool(_PROPOSED.search(end))


def answers(text: str) -> bool:
    """True for a short yes or no to what was proposed."""
    return len(text) <= 80 and bool(_ANSWER.match(text))


def is_no(text: str) -> bool:
    """True for a bare no."""
    return bool(_ONLY_NO.match(text))


def refuses(sentence: str) -> bool:
    """True for what says no to what was done or proposed: `no, use X instead`, `not Y, Z`."""
    return bool(_NO.match(sentence) or _NOT_THAT.match(sentence) or _ONLY_NO.match(sentence))


def corrects(sentence: str) -> bool:
    """True for what a person sets right, with or without a no before it."""
    return bool(_NO.match(sentence) or _NOT_THAT.match(sentence) or _CORRECTION.search(sentence))


def is_settled(text: str) -> bool:
    """True for work that is done, and for what blocks it."""
    return is_done(text) or bool(_BLOCKED.search(text))


def decides(sentence: str) -> bool:
    """True for what a person settles for the work at hand; a wish that lasts is none."""
    return not _PREFERENCE.search(sentence) and of_person(sentence) in (CORRECTION, DECISION)


def is_done(sentence: str) -> bool:
    """True for work that is done."""
    return bool(_ENDED.match(sentence) or _DONE.search(sentence))


def of_wish(text: str) -> bool:
    """True for a preference, and for a decision."""
    return bool(_PREFERENCE.search(text) or _DECISION.search(text))
