"""The forms of English."""

from memory_palace.core.wish_forms import form

# A clause begins here; then politeness, and who is to do it.
_AT = r"(?:^|[,;:—–]\s*|\s-\s+|\b(?:and|but|so|then|also)\s+)"
_WHO = (
    r"(?:(?:please|pls|ok(?:ay)?|btw|oh|hey|just|well|actually|again|also|and|but|so|in general"
    r"|claude|(?:make|be) sure (?:to|you|that you|we)|remember to|try to"
    r"|(?:you|we|one|agents|everyone) (?:should|must|have to|need to|ought to|are to|shall)"
    r"|i(?: want|'d like| would like| need| expect) you to)[,:]?\s+)*"
)
_CLAUSE = _AT + _WHO
_ALONE = r"\b(?!\s(?:this|that|it|so)(?:\s(?:again|please|ever))?$)"
_WORDS_3 = r"[^\s,]+(?: [^\s,]+){0,2}"
_WORK = (
    "commit|push|change|pull request|pr|merge|release|edit|session|answer|response|reply|task"
    "|test|function|module|feature|file|step|migration|deploy|deployment|branch"
)

ENGLISH = (
    form(
        "decision",
        "we decided",
        r"^decision: |^(?:\w+,? ){0,3}?we(?:'ve| have)? "
        r"(?:just |finally |now |all |both )?(?:decided|agreed|settled) "
        r"(?:to|that|on|against|not)\b",
    ),
    form("lesson", "lesson", r"^(?:lesson|lessons|lesson learned|learned|takeaway): "),
    form("preference", "rule", r"^(?:rule|house rule|preference|convention): "),
    form(
        "lesson",
        "remember",
        _CLAUSE + r"(?:remember|keep in mind|bear in mind"
        r"|(?:don't|do not|never) forget|for future reference)"
        r"(?: that (?!(?:\w+ )?(?:bug|time|thing|error|issue|file|one|day|night|week|script"
        r"|function|conversation|fix|problem|pr|commit|discussion|trick|command|stack|trace"
        r"|message|log|branch|test)\b)|: )",
    ),
    form(
        "preference",
        "from now on",
        r"\b(?:from now on|from here on(?: out)?|going forward"
        r"|from this point on|henceforth)\b"
        r"(?!,? (?:it|this|that|there|the \w+ (?:is|are|was|were|has|have|\w+s))\b)"
        r"(?!.*\b(?:may|might|could|maybe|perhaps|will)\b)",
    ),
    form(
        "preference",
        "in future",
        r"^(?:in|for) (?:the )?future,? "
        r"(?!.*\b(?:may|might|could|will|would|maybe|perhaps|hope)\b)"
        r"|^(?!.*\b(?:i|i'm|i'll|i've|i'd|we'll|there's|may|might|could|hope|want|going|will)\b).*"
        r"\bin (?:the )?future$",
    ),
    form("preference", "always", _CLAUSE + r"always (?:\w+ly |first )?(?P<verb>[\w'`-]+)" + _ALONE),
    form(
        "preference",
        "never",
        _CLAUSE + r"never(?:,? ever,?)? (?:\w+ly )?(?P<verb>[\w'`-]+)" + _ALONE,
    ),
    form(
        "preference",
        "we always",
        r"\bwe (?:always|never) "
        r"(?:use|write|run|deploy|commit|test|merge|squash|rebase|put|name|log|format|keep|ship|push"
        r"|release|build|pin|mock|check|review|document|add|start|call|store|import|branch|tag)\b",
    ),
    form(
        "preference",
        "always",
        r"\bi (?:always|never) (?:ever )?"
        r"(?:want|like|prefer|need|expect|use|write|commit)\b(?! this\b)",
    ),
    form(
        "preference",
        "always",
        r"^(?:all |new )?(?!this\b)[a-z]+s (?:should|must|have to) "
        r"(?:always|never) be\b",
    ),
    form(
        "preference",
        "I prefer",
        r"\bi(?:'d| would| really| generally| usually| strongly"
        r"| much| always)* (?:prefer|rather)\b(?! (?:not|this|that|these|those)\b)"
        r"|\b(?:my|our) (?:strong )?preference is\b",
        True,
    ),
    form(
        "preference",
        "I like",
        r"\bi(?:'d| would| really| do)* (?:like|love) (?:it )?when\b"
        r"|\bi (?:don't|do not|hate|dislike) ?(?:like|want)? "
        r"(?:it when|when|to (?:ever )?see|you to ever)\b",
        True,
    ),
    form(
        "preference",
        "don't",
        _CLAUSE + r"(?:don't|do not) (?:you )?(?:ever )?"
        r"(?!(?:worry|know|think|mind|understand|see|get|forget|hesitate|want|like|care|believe"
        r"|remember|panic|stop|hurry|rush|bother|have|need|be|you|feel|seem|tell|give|quit|lose)\b)"
        r"[\w-]+ (?!(?:this|that|it|these|those|them|him|her)\b)(?!.*\b(?:this|these|those)\b)"
        r"\S",
        True,
    ),
    form(
        "preference",
        "stop",
        _CLAUSE + r"stop (?:always )?(?!(?:runn|wait|try|work|crash|fail|load|search|look)ing\b)"
        r"\w{2,}ing (?!(?:this|that|it|these|those|them|so much|so many)\b)\S",
        True,
    ),
    form(
        "preference",
        "we use",
        r"\bwe (?:only |all |usually |generally |normally )?"
        r"(?:use|write|keep|put|name|call|format|indent|follow|prefer|build|test|deploy|log)\b"
        r".*\b(?:instead of|rather than|(?:but |and )?not (?!sure|yet|only))",
    ),
    form(
        "preference",
        "we use",
        r"\bin (?:this|our) (?:repo|repository|project|codebase|team"
        r"|company),? we (?:only |always )?(?!have|are|see|need|can|could|had|were|get)\w+",
    ),
    form(
        "preference",
        "we use",
        r"\bwe (?:don't|do not) (?:use|write|commit|push|allow|mock|do"
        r"|add|put|squash|rebase|merge|want)\b.*\b(?:here|anymore|any more|in (?:this|our) "
        r"(?:repo|repository|project|codebase|team|company))\b",
    ),
    form(
        "preference",
        "use",
        _CLAUSE + rf"use (?!.*\b(?:the|this|that|my|your|a|an|it)\b)"
        rf"{_WORDS_3},? (?:and )?not {_WORDS_3}$",
    ),
    form(
        "preference",
        "every time",
        r"\b(?:every time|whenever|each time|any ?time) (?:you|we) "
        r"(?!(?:get|see|run into|had|did|tried|need|want|like|feel)\b).*, "
        r"(?!(?:which|it|i|the|this|that|there|he|she|they|we (?:get|see)|nothing)\b)",
    ),
    form(
        "preference",
        "every time",
        r"^(?:please |also |and )*(?:run|add|write|update|check|ask"
        r"|commit|show|test|lint|format|explain|use|make|do|give|include|start|create|put|document"
        r"|review|read|list|tell|verify|bump|tag|pull|push|rebase|squash)\b"
        rf".*\b(?:before|after|for|with|on|at) (?:every|each|any) (?:new |single )?(?:{_WORK})\b",
    ),
)
