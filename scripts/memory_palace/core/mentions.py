"""The entities of facts that a question names, and which of their facts answer it best."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_palace.core.claimwords import root
from memory_palace.core.fact import Fact, normal
from memory_palace.core.stopwords import ENGLISH, PAIRED
from memory_palace.core.tokens import UNSPACED, compiled

MOST_TOKENS = 400
"""Tokens of a question that are looked at: it may be a whole pasted file."""

LONGEST = 16
"""Tokens of a name, signs included: in scripts without spaces each character is one."""

COMMON = frozenset(
    """
    access account ai admin agent agents answer api app apps application area article backend bug
    bugs build builds cache case cases change changes chat check class client clients code command
    commit commits company config configuration content context core country customer data database
    date day demo deploy deployment design dev device docs document documents done email entity
    error errors event events example fact facts false feature features field file files fix flag
    folder format frontend function goal group host hour hours idea image index info input issue
    issues item items job jobs key language library license line lines link links list live log
    logs main manager master memory message method minute model models module month name network
    new none note notes null object office old open order output owner package page pages parser
    people person phone place plan plans platform port prod product production program project
    projects prompt query question release report repo repository request response result review
    role room rule run school script search server servers service services session setting
    settings site source staging start state status step store string support system table task
    tasks team teams test tests text thing ticket time title today token tool tools topic true type
    unit update url user users value version view web week window word work worker year yes no
    ci cd css csv html http https json pr readme sdk sql toml ui xml yaml cli gui ide os
    active inactive pending high low medium left right red green blue black white one two three
    """.split()
)
"""Single words that name nothing by themselves in a question about work: as a name they need an
exact mention."""

EVERYDAY = frozenset(
    """
    add added ask asked asking became become began begin believe bring brought buy came care carry
    come comes coming create created decide decided enjoy enjoyed enjoying enjoys expect fail failed
    fails feel feeling feels felt find finds finish follow found gave gets getting gives giving goes
    going gone got happen happened happens hear heard help helped helping helps hold hope keep keeps
    kept knew know known knows learn learned learning leave left let like liked likes look looked
    looking looks lose lost love loved loves made make makes making mean means mention mentioned met
    move moved need needed needs play plays please prefer put read remember replace said saw say
    says see seem seems seen send sent show showed shown shows speak spend spent stay stop suggest
    take taken takes taking talk talked tell tells thank thanks think thinking thinks thought told
    took tried tries try trying turn understand use used uses using visit visited wait want wanted
    wants watch went wish wonder wondering write writes writing written wrote

    able actually ago ahead almost alone along already although always anyone anything apart around
    away back better best big certain certainly clear close completely correct definitely different
    difficult early easily easy enough especially even everybody everyone everything exactly far
    fast finally fine first former forward full further general glad good great happy hard hardly
    hello hey however important indeed instead interesting kind large last late lately later latest
    latter least less likely little long longer lot lots main many maybe near nearly never next nice
    nobody nothing often ok okay outside part particular perhaps plus possible pretty probably quick
    quickly quite rather ready real really recent recently right second several simple simply slow
    small somebody someone something sometimes somewhere soon special specific still strong
    suddenly sure though together tomorrow tonight totally true truly usual usually various way ways
    well whatever whenever wherever whether whole wonderful wrong yesterday yet
    every another per via upon towards toward onto inside besides except like unlike
    daily weekly monthly yearly morning afternoon evening night weekend hour hours minutes days
    weeks months years january february march april may june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday four five six seven eight nine
    ten hundred thousand
    """.split()
)
"""Verbs, adverbs, adjectives and times of everyday talk, which are hardly ever a name: likewise."""

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "`": "`", "[": "]", "‘": "’"}
_ENDING = re.compile(r"(?<=\w\w\w)(?:er|or|e)$")
_GLUE = frozenset("-./\\@:#+&=_")
_ENDS = frozenset(".!?:\n")


class Mention(NamedTuple):
    """A part of a question that may be a name. ``first`` and ``last`` are its tokens; ``quoted``
    if it stands in quotation marks, code marks or a link; ``opens`` a sentence."""

    name: str
    written: str
    first: int
    last: int
    quoted: bool
    opens: bool


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    word: bool


def candidates(question: str) -> list[Mention]:
    """Every part of ``question`` that starts and ends at the boundary of a word, longest first."""
    pattern = compiled(rf"[{UNSPACED}]|(?:[^\W{UNSPACED}][\u0300-\u036f\u0900-\u0dff]*)+|\S")
    tokens = []
    for found in pattern.finditer(question):
        text = found[0]
        tokens.append(_Token(text, *found.span(), text[0].isalnum() or text[0] == "_"))
        if len(tokens) == MOST_TOKENS:
            break
    made = []
    for first, token in enumerate(tokens):
        for last in range(first, min(first + LONGEST, len(tokens))):
            if not any(one.word for one in tokens[first : last + 1]):
                continue
            if _is_whole(question, tokens, first, last):
                written = question[token.start : tokens[last].end]
                name = normal(written)
                if name:
                    quoted = _is_quoted(tokens, first, last)
                    opens = first == 0 or tokens[first - 1].text in _ENDS
                    opens = opens or "\n" in question[tokens[first - 1].end : token.start]
                    made.append(Mention(name, written, first, last, quoted, opens))
    return sorted(made, key=lambda one: (one.first - one.last, one.first))


def _is_whole(question: str, tokens: Sequence[_Token], first: int, last: int) -> bool:
    """True if nothing is glued to it: `server` is not named in `server-side` or `src/server`."""
    start, end = tokens[first].start, tokens[last].end
    before = first > 0 and tokens[first - 1].end == start
    after = last + 1 < len(tokens) and tokens[last + 1].start == end
    if before:
        one = tokens[first - 1]
        further = first > 1 and tokens[first - 2].end == one.start and tokens[first - 2].word
        if one.text in _GLUE and (further or one.text in "./\\@#_+-") and tokens[first].word:
            return False
        if not tokens[first].word and one.word and not _unspaced(one):
            return False
    if after:
        one = tokens[last + 1]
        further = last + 2 < len(tokens) and tokens[last + 2].start == one.end
        closes = one.text in "+#" or (further and tokens[last + 2].word)
        if one.text in _GLUE and tokens[last].word and closes:
            return False
        if not tokens[last].word and one.word and tokens[last].text not in ",;":
            return False
    return True


def _unspaced(token: _Token) -> bool:
    return compiled(f"[{UNSPACED}]").fullmatch(token.text) is not None


def _is_quoted(tokens: Sequence[_Token], first: int, last: int) -> bool:
    if not first or last + 1 >= len(tokens):
        return False
    return _QUOTES.get(tokens[first - 1].text) == tokens[last + 1].text


def named(found: Iterable[Mention], known: Mapping[str, str], exact: bool = False) -> list[str]:
    """The entities that are named, in the order of the question; ``known`` has the first spelling
    of each by its name as compared. The longest name takes its words: none is in two.

    With ``exact`` only what is plainly a name counts: quoted, or spelled as in the fact, with a
    capital after its first letter, a digit, or several words of which one has a capital.
    """
    taken: set[int] = set()
    kept: dict[str, int] = {}
    for one in found:  # the longest first
        spelled = known.get(one.name)
        places = set(range(one.first, one.last + 1))
        if spelled is None or taken & places or not _counts(one, spelled):
            continue
        taken |= places
        if exact and not (one.quoted or _is_plain(one, spelled)):
            continue
        kept[one.name] = min(one.first, kept.get(one.name, one.first))
    return sorted(kept, key=kept.__getitem__)


def _counts(one: Mention, spelled: str) -> bool:
    """False for a word that says little, unless it is plainly meant as the name."""
    if one.quoted or not _is_weak(one.name):
        return True
    if one.written != spelled or not any(map(str.isupper, one.written)):
        return False
    if len(one.written) > 1 and one.written.isupper():
        return True
    return not one.opens and one.written not in ("A", "I")


def _is_plain(one: Mention, spelled: str) -> bool:
    written = one.written
    if written != spelled or _is_common(one.name) or not any(map(str.isalpha, written)):
        return False
    signs = any(c.isupper() or c.isdigit() for c in written[1:])
    return signs or (" " in written and written[0].isupper())


def _is_weak(name: str) -> bool:
    """Stop words, very common words, one character, numbers and dates."""
    if len(name) == 1 or not any(map(str.isalpha, name)):
        return True
    words = name.split("_")
    return _is_common(name) or all(word in ENGLISH or word in PAIRED for word in words)


def _is_common(name: str) -> bool:
    """A very common word, or one with nothing but stop words beside it: `the app`."""
    said = [word for word in name.split("_") if word not in ENGLISH]
    return len(said) == 1 and (said[0] in COMMON or said[0] in EVERYDAY)


def best(facts: Iterable[Fact], names: Sequence[str], question: str, most: int) -> tuple[Fact, ...]:
    """At most ``most`` of the facts about ``names``: first those with two of the names, then those
    whose predicate or other side is in the question, then the others; what a name is the subject
    of before what it is the object of. The newest first, each name in its turn, that with the
    fewest facts first: it says most of what is asked for."""
    asked = _roots(question.lower())
    sides = [(fact, [name for name in names if name in fact.names[::2]]) for fact in facts]
    rarity = Counter(name for _, about in sides for name in about)
    order = {name: n for n, name in enumerate(sorted(names, key=lambda name: rarity[name]))}
    ranked: list[tuple[tuple[int, int, int], Fact]] = []
    turns: Counter[tuple[int, str]] = Counter()
    sides.sort(key=lambda pair: (-pair[0].begins.timestamp(), pair[0].id))
    for fact, about in sides:
        if not about:
            continue
        name = min(about, key=order.__getitem__)
        subject, predicate, object_ = fact.names
        is_subject = subject == name
        fits = bool((_roots(predicate) | _roots(object_ if is_subject else subject)) & asked)
        tier = 0 if len(about) > 1 else 1 + 2 * (not fits) + (not is_subject)
        ranked.append(((tier, turns[tier, name], order[name]), fact))
        turns[tier, name] += 1
    ranked.sort(key=lambda pair: pair[0])
    return tuple(fact for _, fact in ranked[:most])


def _roots(text: str) -> set[str]:
    """The words of ``text`` that say something, without endings: `owner` and `owns` are one."""
    words = {root(word) for word in re.findall(r"[^\W_]+", text) if word not in ENGLISH}
    return {_ENDING.sub("", word) for word in words}
