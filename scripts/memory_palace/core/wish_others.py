"""The forms of German, and the most common ones of French and Spanish."""

from memory_palace.core.wish_forms import form

_DE_VERBS = (
    "benutze?|verwende?|nutze?|schreibe?|mache?|führe?|lasse?|teste?|prüfe?|frage?|antworte?|halte?"
    "|nimm|gib|lies|achte?|denke?|formatiere?|committe?|starte?|lege?|setze?|füge?|erkläre?|zeige?"
    "|sage?|baue?|rufe?|stelle?|speichere?|dokumentiere?|kommentiere?|arbeite?|bleibe?|pushe?"
)
_DE_STILL = (
    r"(?!(?:noch|wieder|mehr|öfter|so\b|schlechter|schneller|langsamer|größer|(?:das|der|die)"
    r" (?:selbe|gleiche)|dasselbe|derselbe|dieselbe)\b)"
)
_DE_AT = r"(?:^|[,;:—–] *|\b(?:und|aber|also|dann) +)(?:(?:bitte|und|aber|also|ok|hey)[,:]? +)*"
GERMAN = (
    form(
        "decision",
        "wir haben entschieden",
        r"\bwir (?:haben )?(?:uns )?(?:\w+ ){0,8}?"
        r"(?:entschieden|beschlossen|entschlossen|geeinigt)\b",
    ),
    form(
        "lesson",
        "merk dir",
        _DE_AT + r"(?:merke? dir|denke? daran|vergiss nicht|beachte)"
        r"(?:,? bitte)?(?:,? dass\b|: |, )",
    ),
    form(
        "preference",
        "ab jetzt",
        r"\b(?:ab jetzt|ab sofort|von nun an|von jetzt an"
        r"|(?:in )?zukunft bitte|bitte in zukunft|künftig|zukünftig)\b|^in zukunft\b",
    ),
    form(
        "preference",
        "immer",
        _DE_AT + rf"(?:{_DE_VERBS}|(?<=bitte )\w+e)\b(?: \S+){{0,4}}?,? (?:immer {_DE_STILL}"
        r"|nie\b|niemals\b)",
    ),
    form("preference", "immer", _DE_AT + rf"immer {_DE_STILL}.*en(?:,|$)"),
    form("preference", "nie", _DE_AT + r"(?:nie|niemals|nie wieder) .*en(?:,|$)"),
    form(
        "preference",
        "immer",
        r"\b(?:du|ihr|wir|man) (?:sollst|solltest|musst|darfst|sollt|müsst"
        rf"|sollten|müssen|dürfen|sollte|muss|darf) (?:.* )?(?:immer {_DE_STILL}|nie\b|niemals\b)",
    ),
    form(
        "preference",
        "immer",
        r"\b(?:wir|ich) (?:benutzen?|verwenden?|nutzen?|schreiben?|machen?"
        rf"|nehmen?|committen?|möchte|will|wollen) (?:.* )?(?:immer {_DE_STILL}|nie\b|niemals\b)",
    ),
    form(
        "preference",
        "ich bevorzuge",
        r"\bich (?:bevorzuge|mag (?:lieber|keine?n?|es nicht)"
        r"|hätte (?:lieber|gern)|hasse)\b|\bmir (?:ist|sind|wäre|wären) .*\blieber\b",
        True,
    ),
    form(
        "preference",
        "bitte nicht",
        _DE_AT + r"(?:keine?[nm]?|nicht) .*\b(?:mehr|wieder)\b(?: \S+){0,3}$"
        r"|\bhöre? auf,? .*\bzu\b",
        True,
    ),
    form(
        "preference",
        "wir verwenden",
        r"\bwir (?:benutzen|verwenden|nutzen|schreiben|nehmen) .*"
        r"\b(?:nicht|keine?n?|statt|anstatt|anstelle)\b(?! (?:sicher|nur|mehr))",
    ),
)

_FR_AT = r"(?:^|[,;:—–] *)(?:(?:s'il (?:te|vous) pla[iî]t|stp|svp|et|mais|donc)[,:]? +)*"
FRENCH = (
    form("decision", "nous avons décidé", r"\b(?:nous avons|on a) (?:\w+ )?(?:décidé|convenu)\b"),
    form(
        "lesson",
        "souviens-toi",
        _FR_AT + r"(?:souviens-toi|rappelle-toi|retiens|n'oublie pas"
        r"|n'oubliez pas|souvenez-vous|rappelez-vous|retenez)(?: que\b| qu'| ?: )",
    ),
    form(
        "preference",
        "désormais",
        r"\b(?:à partir de maintenant|désormais|dorénavant"
        r"|à l'avenir)\b",
    ),
    form(
        "preference",
        "toujours",
        _FR_AT + r"(?!(?:ça|ca|il|elle|cela|je|on|tu|nous|ce|c'est)\b)"
        r"(?:veuillez )?[\w-]+(?:e|es|ez|s|is) toujours\b(?! pas)",
    ),
    form(
        "preference",
        "toujours",
        _FR_AT + r"(?:toujours (?!pas\b)\w+(?:er|ir|re)\b"
        r"|(?:il faut|tu dois|vous devez|on doit) toujours\b)",
    ),
    form(
        "preference",
        "jamais",
        _FR_AT + r"(?:(?:ne |n')\w+ (?:plus )?jamais\b|jamais de "
        r"|ne jamais \w+(?:er|ir|re)\b|(?:il ne faut|tu ne dois|vous ne devez|on ne doit)"
        r" jamais\b)",
    ),
    form("preference", "ne plus", _FR_AT + r"(?:ne |n')\w+ plus (?!(?:ça|cela)\b)\S", True),
    form(
        "preference",
        "je préfère",
        r"\bje (?:préfère|préférerais)\b"
        r"|\bj'aime (?:mieux|quand|pas quand)|\bje n'aime pas qu",
        True,
    ),
    form(
        "preference",
        "on utilise",
        r"\b(?:on utilise|nous utilisons) .*"
        r"(?:, (?:et )?(?:pas|non)\b|\bau lieu d|\bplutôt que\b|\bet non\b)",
    ),
)

_ES_AT = r"(?:^|[,;:—–] *)(?:(?:por favor|y|pero|entonces)[,:]? +)*"
_ES_DO = (
    "usa|utiliza|escribe|ejecuta|haz|pon|responde|contesta|añade|agrega|revisa|comprueba|prueba"
    "|corre|pregunta|explica|mantén|documenta|formatea|use|utilice|escriba|ejecute|haga|responda"
)
SPANISH = (
    form("decision", "hemos decidido", r"\b(?:hemos (?:decidido|acordado)|decidimos|acordamos)\b"),
    form(
        "lesson",
        "recuerda",
        _ES_AT + r"(?:recuerda|recuerde|ten en cuenta|no olvides)"
        r"(?: que\b|: )",
    ),
    form(
        "preference",
        "a partir de ahora",
        r"\b(?:a partir de ahora|de ahora en adelante"
        r"|desde ahora|en adelante)\b",
    ),
    form(
        "preference",
        "siempre",
        _ES_AT + rf"(?:(?:{_ES_DO}) (?:\S+ ){{0,3}}?siempre\b"
        rf"|siempre (?:{_ES_DO})\b|(?:siempre (?:debes|hay que|tienes que))"
        r"|(?:debes|hay que|tienes que) (?:\S+ )?siempre\b)",
    ),
    form(
        "preference",
        "nunca",
        _ES_AT + r"(?:nunca|jamás) \w+(?:es|as)\b"
        r"|" + _ES_AT + r"(?:nunca|jamás) (?:debes|hay que)\b|\bno debes nunca\b",
    ),
    form(
        "preference",
        "prefiero",
        r"\b(?:prefiero|preferiría|me gusta más"
        r"|no me gusta (?:que|cuando)|no quiero (?:que|ver))\b",
        True,
    ),
    form(
        "preference",
        "no más",
        _ES_AT + r"no (?:vuelvas a \w+|\w+(?:es|as) .*\b(?:más|nunca"
        r"|de nuevo|otra vez))\b",
        True,
    ),
    form(
        "preference",
        "usamos",
        r"\b(?:usamos|utilizamos) .*(?:, (?:y )?no\b|\ben vez de\b"
        r"|\ben lugar de\b)",
    ),
)

OTHERS = (*GERMAN, *FRENCH, *SPANISH)
