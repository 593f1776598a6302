"""Tool entries, read: what was run or edited, whether it failed, and the exact error."""

import re
from typing import NamedTuple

from memory_palace.core.excerpts import cut
from memory_palace.core.ledger import Entry
from memory_palace.core.salience import bounded

LONGEST_LINE = 400
"""Characters of a line that are looked at."""

MOST_ERROR = 200

_READING = re.compile(
    r"(?:cat|head|tail|less|more|ls|ll|tree|find|fd|grep|egrep|rg|ag|bat|nl|wc|stat|file|du|df|pwd|echo"
    r"|which|type|env|printenv|ps|lsof|date|man|diff|sed -n|awk|jq|sort|test|\[{1,2}|cmp|sleep"
    r"|git (?:show|log|diff|blame|status|ls-files|grep|branch|remote|fetch))(?:\s|$)"
)
_BEFORE = re.compile(
    r"(?:(?:cd|source|export|set)\s[^&;\n]{0,200}(?:&&|;)\s*|[A-Z_][A-Z0-9_]{0,40}=\S{0,200}\s+"
    r"|(?:sudo|time|nice|npx|bunx|pnpm exec|uv run|poetry run|bundle exec|xvfb-run)\s+"
    r"|timeout\s+\S{1,20}\s+|\S{0,100}python[\d.]{0,5}\s+-m\s+)"
)
_WITH_SUBCOMMAND = frozenset(
    """npm pnpm yarn bun cargo go make gh git docker kubectl just dotnet mvn gradle gradlew deno pip
    uv poetry terraform helm rake rails mix flutter swift""".split()
)
_DOCUMENT = re.compile(r"<<-?\s?['\"]?(\w{1,40})")
_COUNTED = re.compile(r"\b[1-9]\d{0,5} (?:failed|failures?|errors?|failing)\b", re.IGNORECASE)
_NOTHING_DONE = re.compile(r"^nothing (?:added )?to commit|^no changes added to commit", re.M)
_NONE_LEFT = re.compile(r"\b0 (?:remaining|left)\b")  # a linter that has mended all
# The first that a line has tells how exact it is: an exception before the sum of what failed.
_ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:^|[\s(])[\w.$:]{0,80}(?:Error|Exception|Panic)(?:\[[\w:]{1,40}\])?: \S",
        r"^\s{0,20}(?:error|fatal|panic|ERROR|Fatal)(?:\[[\w:]{1,40}\])?: ?\S|panicked at"
        r"|^CONFLICT \(",
        r"^E\s{1,10}\S|assertion .{0,80}failed|AssertionError|\bgot\b.{1,150}\b(?:want|expect)"
        r"|(?i:\bexpected\b.{1,150}\b(?:got|but|received|actual)\b)",
        r"(?i)(?:denied|refused|not found|cannot |can't |could not |failed to |unable to |timed out"
        r"|no such |not a function|undefined|is not installed|already in use|unresolved)",
        r"^(?:FAILED|FAIL|ERROR|✗|×)\s?\S|##\[error\]",
        r"(?i)\b(?:failed|failure|error)\b",
    )
)
_DETAIL = re.compile(
    r"^\s{0,20}(?:left|right|expected|received|actual|got|want|where)\b|^\s{0,9}(?:-->|❯|→) ", re.I
)
_NOISE = re.compile(
    r"^\S{1,30}\t[^\t]{1,60}\t\S{10,40}Z |^##\[error\]|^[>|\s]{0,12}(?:E\s+|[×✗→❯]\s)?"
)
_VAGUE = re.compile(
    r"(?i)exit(?:ed)? (?:code|status|with)|ELIFECYCLE|process completed|\d errors?\b|too many"
)
_PATH = re.compile(
    r"(?<![\w/.-])(?:[\w.@-]{1,60}/){1,12}[\w.@-]{1,80}\.\w{1,8}\b|\b[\w-]{1,60}\.(?:py|ts|tsx|js|rs|go|java|rb|c|h|cpp|md|toml|json|ya?ml|sql|sh|css|html)\b"
)
_COMMIT = re.compile(
    r"^\[(\S{1,200}) (?:\([^)]{1,40}\) )?([0-9a-f]{7,40})\] (.{1,300})$", re.MULTILINE
)


_COMMITTING = re.compile(r"\bgit (?:-[cC] \S{1,200} ){0,3}commit\b")
_MESSAGE = re.compile(
    r"\s(?:-[a-zA-Z]{0,6}m ?|--message[= ])"
    r"(?:([\"'])((?:(?!\1|\$\().){1,300})|([^\s\"'$;&]{1,80}))"  # in quotes, or one word
)
_ONLY_TRIED = re.compile(r"\s--dry-run\b")
LONGEST_MESSAGE = 4_000
"""Characters of a call in which the message of a commit is looked for."""


class Call(NamedTuple):
    """A tool entry. ``key`` says which commands do the same (``pytest``, ``cargo test``), empty
    unless it is a command that does something. ``error`` is the exact text, ``failed`` whether it
    went wrong; ``added`` are the lines that an edit brought."""

    entry: Entry
    command: str = ""
    key: str = ""
    failed: bool = False
    error: str = ""
    added: tuple[str, ...] = ()
    output: str = ""


def read(entry: Entry) -> Call:
    """A tool entry, taken apart. Linear in its length, whatever it holds."""
    lines = [line[:LONGEST_LINE] for line in bounded(entry.text).split("\n")]
    if not entry.text.startswith("$ "):
        if entry.files:
            old = {line[2:].strip() for line in lines if line.startswith("- ")}
            new = [line[2:].strip() for line in lines if line.startswith("+ ")]
            return Call(entry, added=tuple(one for one in new if one and one not in old))
        return Call(entry)
    command = lines[0][2:].strip()
    key = kind(command)
    output = lines[1:]
    document = _DOCUMENT.search(command)
    if document and document[1] in output:  # it belongs to the command
        output = output[output.index(document[1]) + 1 :]
    said = "\n".join(output)
    if not key or _NOTHING_DONE.search(said):
        return Call(entry, command, key, output=said)
    error = _told_by(output)
    # A pipe hides how a command ended; that errors are counted is not enough.
    broke = error and not _COMMIT.search(said) and any(map(_says_failed, output))
    if not (entry.failed or broke):
        return Call(entry, command, key, output=said)
    return Call(entry, command, key, True, error or _last(output), (), said)


_FAILURES = ("Traceback (most", "error:", "error[", "fatal:", "FAILED ", "CONFLICT (")


def _says_failed(line: str) -> bool:
    return bool(
        (_COUNTED.search(line) and not _NONE_LEFT.search(line))
        or line.startswith(_FAILURES)
        or "panicked at" in line
        or "##[error]" in line
    )


def kind(command: str) -> str:
    """What a command does: its program, and of some its subcommand. Empty for one that only looks
    at things."""
    left = command[:LONGEST_LINE].strip()
    for _ in range(5):
        found = _BEFORE.match(left)
        if not found:
            break
        left = left[found.end() :]
    if not left or _READING.match(left):
        return ""
    words = left.split()
    program = words[0].rsplit("/", 1)[-1]
    if program not in _WITH_SUBCOMMAND:
        return program
    rest = [word for word in words[1:4] if not word.startswith("-") and word != "run"]
    return f"{program} {rest[0]}" if rest else program


def exact(lines: list[str]) -> str:
    """The line that says best what went wrong, with what was expected beside what was there; the
    last one where none says it."""
    return _told_by(lines) or _last(lines)


def _last(lines: list[str]) -> str:
    said = [line.strip() for line in lines if line.strip()]
    return cut(said[-1], MOST_ERROR) if said else ""


def _told_by(lines: list[str]) -> str:
    """As :func:`exact`; empty where no line says what went wrong."""
    best, place = len(_ERRORS), -1
    for n, line in enumerate(lines):
        last = [len(_ERRORS) - 1] if _VAGUE.search(line) else range(len(_ERRORS))
        grade = next((g for g in last if g < best and _ERRORS[g].search(line)), best)
        if grade < best:
            best, place = grade, n
    if place < 0:
        return ""
    told = [_NOISE.sub("", lines[place]).strip()]
    for line in lines[place + 1 : place + 4]:
        if _DETAIL.match(line):
            told.append(" ".join(line.split()))
    return cut(" ".join(" ".join(told).split()), MOST_ERROR).replace("`", "'")


def paths(text: str) -> list[str]:
    """Paths and names of files in ``text``, each once."""
    return list(dict.fromkeys(_PATH.findall(text[:4_000])))


def commit(call: Call) -> tuple[str, str, str] | None:
    """Branch, hash and subject of a commit that was made. One that printed nothing (``-q``) is told
    by its message alone, unless the call failed."""
    if "commit" not in call.entry.text[:2_000]:
        return None
    found = _COMMIT.search(call.output)
    if found:
        return found[1], found[2], found[3].strip()
    subject = "" if call.failed or call.entry.failed else _message(call)
    return ("", "", subject) if subject else None


def _message(call: Call) -> str:
    """The first line of the message that a command commits with; empty where it tells none."""
    made = _COMMITTING.search(call.command)
    if not made or _NOTHING_DONE.search(call.output) or _ONLY_TRIED.search(call.command):
        return ""
    given = call.command[made.end() :]
    document = _DOCUMENT.search(given)
    lines = call.entry.text[:LONGEST_MESSAGE].split("\n")[1:]
    if document:
        written = lines[: lines.index(document[1])] if document[1] in lines else []
        return next((line.strip()[:LONGEST_LINE] for line in written if line.strip()), "")
    said = _MESSAGE.search(given)
    return (said[2] if said[1] else said[3]).strip() if said else ""
