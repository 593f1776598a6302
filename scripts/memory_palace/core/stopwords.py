"""Words that say nothing of what a question is about."""

from collections.abc import Iterable

ENGLISH = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between
    both but by can could d did do does doing done down during each either else ever few for
    from get give go had has have having he her here hers herself him himself his how i if in
    into is it its itself just ll m may me might mine more most much must my myself neither no
    nor not now of off on once only or other our ours ourselves out over own re s
    same shall she should since so some such t than that the their theirs them themselves then
    there these they this those through to too under until up upon us ve very was we were what
    when where which while who whom whose why will with within without would yet you your
    yours yourself yourselves
    dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wouldnt couldnt shouldnt
    whats thats whos theres lets
    """.split()
)

OTHERS = tuple(
    frozenset(words.split())
    for words in (
        # German
        """aber als am an auch auf aus bei bin bis da dann das dass dem den der des die dir du ein
        eine einem einen einer eines er es für gibt habe haben hat hatte ich ihr im in ist ja kann
        man mein mich mir mit nach nicht noch oder sich sie sind so und uns unser vom von vor war
        was wann warum welche welcher welches wenn wer werden wie wir wird wo wurde zu zum zur""",
        # French
        """a ai as au aux avec ce ces cette comme comment dans de des du elle elles en est et été
        être il ils je la le les leur leurs lui ma mais mes mon ne nos notre nous on ont ou où par
        pas pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses son sont
        sur ta tes ton tu un une vos votre vous""",
        # Spanish
        """a al como cómo con cuál cuáles cuando cuándo cuánto de del donde dónde e el él ella ellos
        en entre era es esta está están este esto fue ha hay la las le les lo los me mi mis muy no
        nos o para pero por porque qué que quien quién se ser si sin sobre son su sus te tu un una
        unos y ya yo""",
        # Portuguese
        """a ao aos as com como da das de do dos e é ela ele eles em era essa esse esta este eu foi
        há isso isto já mais mas me meu minha na nas não no nos o onde os ou para pela pelo por
        porque qual quais quando que quem são se sem ser seu sua também te um uma você""",
        # Italian
        """a ai al alla anche che chi ci come con cosa cui da dal dalla dei del della delle di dove
        e è ed era gli ha hai hanno ho i il in io la le lei lo lui ma mi mia mio ne nei nel nella
        noi non o per perché più quale quali quando questa questo se si sono su sua suo ti tra tu
        un una""",
        # Dutch
        """aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe ik in
        is je kan maar met mijn naar niet nog of om ook op over te tot uit van voor waar waarom
        wanneer was wat we welke werd wie wij worden zijn ze zo""",
    )
)
"""One set a language. Many are words of substance in another (German `die`, `war`), so they are
left out only of a question that is plainly in that language."""

PAIRED = frozenset(
    """
    什么 什麼 怎么 怎麼 怎样 怎樣 如何 哪里 哪裡 哪个 哪個 哪些 为什 為什 多少 是否 这个 這個
    那个 那個 我们 我們 你们 你們 他们 他們 我 你 的 了 吗 嗎 呢 是 在 和 与
    です ます した して すか ます ませ せん とは どう なに この その あの から ので いつ どこ
    の は を が に へ と も で や か
    무엇 어떻 떻게 어디 언제 입니 니까 합니 니다 하는 있는 인가 은 는 이 가 을 를 의 에
    """.split()
)
"""Pairs (and single characters) of Chinese, Japanese and Korean that say nothing either."""


def is_stop(word: str, first: bool) -> bool:
    """True if ``word``, as it is written, says nothing. ``first``: it opens the question.

    A capital letter makes a difference: `vitamin D`, `in May`, `Will`.
    """
    if word[:1].isupper() and not first:
        if len(word) == 1 and word not in "AI":
            return False
        if word in ("May", "Will"):
            return False
    return word.lower() in ENGLISH or word in PAIRED


def foreign(words: Iterable[str]) -> frozenset[str]:
    """The stop words of the language that ``words`` (lower case, stop words included) are in, if
    that is plainly another than English; else none."""
    said = set(words)
    best = max(OTHERS, key=lambda known: len(known & said))
    return best if len(best & said) >= 2 and not (ENGLISH - best) & said else frozenset()
