"""Values given to names of secrets: ``API_KEY=…``, ``password: "…"``, in code and in prose."""

import re
from collections.abc import Iterator

# Marks are stepped over (the word SECRET in one is no name), so they are the first alternative.
# A value ends before a mark: what is left of it beside a mark still counts.
_ASSIGNED = re.compile(
    r"""
    (?P<mark>\[PRIVATE\]|\[SECRET:[ ][\w .-]{1,60}\])
  | (?P<name>
        pass(?:word|wd|phrase) | (?<![A-Za-z])pwd | secret | credentials?
      | (?:api|access|secret|private|signing|encryption|account|auth)[ _-]?key | token
    )
    (?:[_-]?(?:access|key|base|value|hash|salt|[0-9]{1,3}(?![0-9]))){0,3}
    (?:\\?["'`])?
    (?P<sep>[ \t]{0,4}
        (?: :[ \t]{0,3}[A-Za-z][A-Za-z_.\[\]|\ ]{0,30}[ \t]=(?=[ \t]) | := | => | ={1,2} | : )
    [ \t]{0,4})
    (?:
        \\["'](?P<escaped>(?:(?!\[PRIVATE\]|\[SECRET:)[^\n\\"'])+)
      | (?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote)|\[PRIVATE\]|\[SECRET:)(?:[^\n\\]|\\.))+)
      | (?P<bare>[^\s"'`,;<>()\[\]{}|\\&])
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_BARE = re.compile(r"""[^\s"'`,;<>()\[\]{}|\\&]+""", re.ASCII)
_LEAST_PASSWORD = 6
_NO_DIGIT = re.compile(r"[^0-9]*")
_SPACE = re.compile(r"\s")
_LOOKED_AT = 48
"""Characters of a value that are looked at: a row of names costs no more than its length."""

# Not compiled before one is asked: few texts have a value that gets so far, and hooks are short.
_PLACEHOLDER = r"""(?xi)
    [<{%\[] | \$[{(A-Za-z_] | \*{2} | \.{3} | … | x{4}
  | your | my[_-] | change[_-]?me | replace | insert | enter | example | sample | dummy | fake
  | placeholder | redacted | hidden | removed | todo | tbd
  | (?:none|null|nil|true|false|undefined|required|optional|disabled|enabled|invalid|expired
     |missing|string|password|passwd|passphrase|secret|token|unknown|whatever|something)[0-9]?\Z
    """
_CODE = r"(?a)[A-Za-z_]\w{0,30}(?:(?:\.|::|->)[A-Za-z_]\w{0,30})+\Z"
_FILE = r"(?a)[\w./~-]+\.[a-z]{1,5}[.:]?\Z"


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each value that a secret's name is given in ``text``."""
    at = run = 0
    while match := _ASSIGNED.search(text, at):
        at = match.end()
        form = match.lastgroup or "mark"
        if form == "mark":
            continue
        start, end = match.span(form)
        if form == "bare":
            # Names within one run of characters share its end: it is looked for once.
            if start >= run:
                bare = _BARE.match(text, start)
                run = bare.end() if bare else end
            end = run
        if _is_secret(text, match, form, start, end):
            at = end
            yield start, end, _kind(match["name"])
        else:
            # A sentence in quotes may hold an assignment of its own.
            at = start


def _kind(name: str) -> str:
    name = name.lower()
    if name.startswith(("pass", "pwd")):
        return "password"
    if name.endswith("key"):
        return "key"
    return name.rstrip("s")


def _is_secret(text: str, match: re.Match[str], form: str, start: int, end: int) -> bool:
    """Whether the value is more likely a secret than a word, code, or a stand-in for one."""
    if end - start < _LEAST_PASSWORD:
        return False
    value, name = text[start : min(end, start + _LOOKED_AT)], match["name"].lower()
    if len(value) < 8 and not name.startswith(("pass", "pwd")):
        return False
    mixed = not _NO_DIGIT.fullmatch(value) and any(map(str.isalpha, value))
    shell = match["name"].isupper() and match["sep"] == "="
    loose = form != "bare" and match["quote"] != "`"
    if not (mixed or loose or shell) or re.match(_PLACEHOLDER, value) or len(set(value)) < 3:
        return False
    spaced = _SPACE.search(value) is not None
    if loose:
        return name == "passphrase" if spaced else mixed or len(value) >= 8
    if spaced or "://" in value or _is_code(text, value, end):
        return False
    if shell:
        return len(value) >= 8 and not value.startswith(("/", "~"))
    return not (name == "pwd" and value.startswith(("/", "~")))


def _is_code(text: str, value: str, end: int) -> bool:
    """True for ``config.token``, ``notes.txt``, and for what is called or indexed at ``end``."""
    after = text[end : end + 9]
    if after.startswith("(") or (after.startswith("[") and not after.startswith(_MARKS)):
        return True
    return bool(re.match(_CODE, value) or re.match(_FILE, value))


_MARKS = ("[PRIVATE]", "[SECRET:")
