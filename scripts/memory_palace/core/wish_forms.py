"""How people say how things are to be done: the shape of a form, and what speaks against one."""

import re
from typing import NamedTuple


class Form(NamedTuple):
    """One way to say it: what kind of memory it makes, what to call it, how it is found.

    ``lasting`` is true where words such as "yet" or "for now" mean that it holds only once.
    """

    category: str
    cue: str
    pattern: re.Pattern[str]
    lasting: bool = False


def form(category: str, cue: str, pattern: str, lasting: bool = False) -> Form:
    """A form whose ``pattern`` is for one sentence in lower case, with what stands in quotes and in
    code hidden. A group ``verb`` is the word that has to be an imperative."""
    return Form(category, cue, re.compile(pattern), lasting)


ONCE = re.compile(
    r"\b(?:yet|for now|right now|just now|this time|today|tonight|tomorrow|at the moment|this once"
    r"|until|first|second|third|latter|former|option|that one|this one|other one|jetzt|heute"
    r"|diesmal|vorerst|erst mal|maintenant|aujourd'hui|cette fois|todavía|hoy|ahora|esta vez)\b"
)
"""With one of these it holds once, where the form alone does not say that it lasts."""

_PART = (
    "endpoint|function|method|handler|component|class|page|form|table|query|view|button|field|loop"
    "|module|screen|dialog|route|script|case|column|variable"
)
_THING = (
    "user|request|client|server|file|list|response|page|connection|queue|value|input|token|session"
    "|customer|cache|key|field"
)
THE_PROGRAM = re.compile(
    rf"\b(?:in|from|of|on|for|to|by) (?:this|that|these|those|the \w+) (?:{_PART})s?\b"
    rf"|\b(?:when|whenever|if|once|while) (?:the|a|an|no) (?:{_THING})s?\b"
    r"|^(?:fix|add|implement|create|build|handle|change|update|refactor)\b[^,;]*: |^then\b"
    r"|^(?:explain|check|see|find out|figure out|investigate) (?:why|how|whether|if|that|what)\b"
)
"""With one of these, "always", "never" and "don't" tell what the program at hand is to do."""

OF_PROGRAMS = frozenset(("always", "never", "don't", "we always"))
"""The cues of the forms for which that holds."""

NOT_IMPERATIVE = frozenset(
    """
    mind said seen been had got did saw heard went knew thought came gone done made found felt told
    took gave left lost kept met understood was were has is are being again more less the a an in
    on at to of by with from there here this that it he she they i you we my your our true false
    enough quite really sure happy happen knows heard fails works
    forget seem wonder feel believe give good nice great full glad fun ready time room
    """.split()
)
"""Words after "always" and "never" with which a sentence tells what is so."""

_SOMEBODY = (
    r"[Hh]e|[Ss]he|[Tt]hey|[Ii]t|[Ss]omeone|[Ss]omebody|[Pp]eople|[Ee]veryone|[Nn]obody"
    r"|(?:[Tt]he|[Mm]y|[Oo]ur|[Aa]|[Hh]is|[Hh]er) [\w-]+|[Ee]r|[Ss]ie|[Dd]er \w+|[Dd]ie \w+"
    r"|[Ii]l|[Ee]lle|[Éé]l|[Ee]lla|(?!(?:Je|Ich|Wir|Nous|On|You|We|Please)\b)[A-Z][a-zé]+"
)
_SAYS = (
    "says?|said|tells?|told|claims?|claimed|thinks?|thought|prefers?|preferred|wants?|wanted"
    "|recommends?|recommended|suggests?|suggested|insists?|insisted|reads?|states?|stated|asks"
    "|asked|writes|wrote|mentions?|mentioned|warns?|warned|advises?|advised|likes|hates|sagte?"
    "|meinte?|will|schreibt|dit|veut|préfère|dice|quiere|prefiere"
)
REPORTED = re.compile(
    rf"\b(?:{_SOMEBODY}) (?:\w+ly |also |always |once |has |have |had )?(?:{_SAYS})\b"
    r"|\b(?:[Aa]ccording to|[Aa]pparently|(?:was|were|been) told|[Ll]aut|[Ss]elon|[Ss]egún)\b"
)
"""What somebody else says, where it stands before the form."""

SAID_AFTER = re.compile(r",\s(?:says?|said|wrote|writes|according\sto|sagt|dit|dice)\b")
"""What somebody else says, where that is told at the end."""

JOINED = re.compile(r"(?:and|but|so|then|also)\b")
SUBJECT = re.compile(
    r"\b(?:i|we|they|he|she|it|you|this|that|there|these|those|my|our|your|their"
    r"|\w+'(?:s|m|re|ve|d|ll))\b"
)
"""Before an "and" without a comma, a subject says that what follows is told of it."""

ASKS = re.compile(
    r"(?:why|how|what|who|which|where|do you|does|did|should (?:i|we|it|you|the)|can (?:i|you|we)"
    r"|could|would you|is|are|shall|may i|warum|wieso|wie|was|soll|sollen|kannst|pourquoi|comment"
    r"|est-ce|por qué|cómo)\b"
)
"""How a question begins that has lost its mark."""
