"""Are notes English? Told by script and by the small words that every sentence has."""

import re
from collections.abc import Sequence

MOST_TEXTS = 300
"""Texts that are looked at, spread evenly; two thousand characters of each."""

FEWEST = 3
"""Signs of a language that a text needs to count: a list of names or a table says nothing."""

_CHARACTERS = 2_000
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_END = 0x024F
_LATIN_MORE = range(0x1E00, 0x1F00)

_ENGLISH = frozenset(
    """
    about after also and any are because been before being between both but by can could did does
    each every for from had has have how if into is it its just must not of off only other our
    should since so such than that the their them then there these they this those through to
    under until was we were what when where which while who why will with without would you your
    """.split()
)
# None of them is English, though some are in more than one of the languages.
_OTHERS = frozenset(
    """
    aber auch auf aus bei dem den des ein eine einen einer für haben ich ist mit nach nicht oder
    sich sie sind und von werden wie wir wird zu zum zur
    au aux avec ce ces cette dans du elle est et il ils je la le les leur mais nous ont ou où par
    pas pour que qui sont sur un une vous
    al como con cuando de del el ella ellos es esta este las los muy más nosotros para pero por
    porque se sin su también una y ya
    ao da das dos ela ele em essa esse foi mais mas na nas não nos os ou pela pelo seu sua são uma
    alla anche che chi con dalla degli della delle di gli ha ho il loro nella perché più quando
    questa questo sono sulla tra
    aan als bij dat een en geen het hij hoe ik maar met naar niet ook op te tot uit voor wat
    werd wordt zijn
    att av den det ett för från har icke ikke inte jag jeg med mig måste när och og om som sig på
    är til være
    albo ale bez czy dla gdzie jak jest już lub nie oraz przez się że
    ale jako jsem jsou nebo není při také za
    bir bu daha değil gibi ile için olan olarak ve veya
    adalah atau bagi dan dari dengan di itu juga kami ke pada saya tidak untuk yang
    các cho của không là một những và với
    az egy és hogy nem vagy
    că cu este fi mai nu pe sau și
    ei ja joka mutta myös olla ovat se
    """.split()
)


def share_not_english(texts: Sequence[str]) -> float:
    """The share, 0 to 1, of texts in another language than English, among those that tell; 0 if
    none does. Code, names and numbers tell nothing."""
    step = max(-(-len(texts) // MOST_TEXTS), 1)
    told = [not_english(text) for text in texts[::step]]
    sure = [one for one in told if one is not None]
    return sum(sure) / len(sure) if sure else 0.0


def not_english(text: str) -> bool | None:
    """True for another language, False for English, None where a text does not tell."""
    english = other = 0
    for word in _WORD.findall(text[:_CHARACTERS].lower()):
        if not word.isascii() and _is_foreign(word):
            other += 1 + len(word) // 4  # scripts without spaces have long runs
        elif word in _ENGLISH:
            english += 1
        elif word in _OTHERS or not word.isascii():
            other += 1
    if english + other < FEWEST:
        return None
    return other > english


def _is_foreign(word: str) -> bool:
    """True for a word that is not in Latin letters."""
    first = ord(word[0])
    return first > _LATIN_END and first not in _LATIN_MORE
