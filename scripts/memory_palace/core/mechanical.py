"""Mechanical forms: sentences of a memory that a rule can hold without anyone judging.

"Never run X", "never use tool X", "always ask before X", "warn when modifying P", and the same in
other words. What narrows such a sentence ("unless", "on Fridays") cannot be held by a trigger, so
the form then has low confidence and waits for a person.
"""

import re
from dataclasses import dataclass
from typing import Literal

CATEGORIES = frozenset({"lesson", "mistake", "preference"})
"""The categories of entries that are read for a form."""
TRIGGERS = ("bash_contains", "bash_regex", "tool_name", "file_modified")
LONGEST_REGEX = 200
SHORTEST_WORD = 4
"""A single word with fewer characters stands inside too many others."""

Confidence = Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class Form:
    """The rule in a sentence: ``trigger`` (``bash_contains git push --force``), ``action``
    (``block`` or ``warn``), how sure it is, and why."""

    trigger: str
    action: str
    confidence: Confidence
    why: str


def read(text: str) -> Form | None:
    """The form that ``text``, one entry, has; None if it has none."""
    text = _LINKS.sub(" ", text).strip()
    for clause in _CLAUSE.finditer(text):
        if _inside_quotes(text, clause.start()):
            continue
        for pattern, make in _FORMS:
            found = pattern.match(text, clause.end())
            form = make(found) if found else None
            if form:
                alone = not text[: clause.start()].strip()
                return form if alone else _lowered(form, "it is one part of a longer text")
    return None


def fault(trigger: object, action: object) -> str:
    """What is wrong with a rule's ``trigger`` and ``action``; empty if nothing is.

    ``run_after COMMAND`` is an action too; only the user's own configuration lets it run.
    """
    name, _, rest = str(trigger).partition(" ") if isinstance(trigger, str) else ("", "", "")
    if name not in TRIGGERS:
        known = f"{', '.join(TRIGGERS[:-1])} or {TRIGGERS[-1]}"
        return f"`trigger` {_is(trigger)}: write {known}"
    if not rest.strip():
        return f"`trigger` {name} has nothing after it: write what it looks for, in quotes"
    if name == "bash_regex" and (why := _regex_fault(rest)):
        return why
    verb, _, command = str(action).partition(" ")
    if action not in ("block", "warn") and not (verb == "run_after" and command.strip()):
        return f"`action` {_is(action)}: write block, warn or run_after COMMAND"
    return ""


def _is(value: object) -> str:
    return "is missing" if value is None else f"is {value!r}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """X as written: ``marked`` in backticks or quotes; ``rest`` is what follows it."""

    text: str
    marked: bool
    rest: str


_LINKS = re.compile(r"(?:,?\s*\bsee\s+)?\[\[[^\]\n]*\]\]")
_CLAUSE = re.compile(r"(?:^|(?<=[.;:!?])\s+|\s+[—–]\s+)(?:please\s+)?", re.IGNORECASE)
_NEVER = r"(?:never|(?:you\s+)?(?:must|should)\s+(?:not|never)|do\s+not|don['’]?t)(?:\s+ever)?\s+"
_TOOL_WORD = r"(?:the\s+)?tool\s+(?:called\s+|named\s+)?"
_MARKED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
_CONDITION = re.compile(
    r"\b(?:unless|except(?:ing)?|only|if|when(?:ever)?|while|until|till|but|without|otherwise|"
    r"before|after|during|sometimes|usually|mostly|again|anymore|by hand|instead of|"
    r"(?:on|in|at|from|to|for|with|as|or|and) \S+)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\s*(?:[.;:!—–]|-\s|[,(]?\s*(?:because|since|it|that|this|which)\b)", re.IGNORECASE
)
_NARROWS = re.compile(
    r"\b(?:unless|except(?:ing)?|only|if|when(?:ever)?|while|until|till|but|otherwise|sometimes|"
    r"usually|mostly|exceptions?|allowed|fine|okay?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"(?:on|in|at|to|for|from|with|without|by|as|and|or|nor|but|because|since|unless|except|only|"
    r"if|when|whenever|while|until|before|after|during|again|instead|here|there|is|was|it)\Z",
    re.IGNORECASE,
)
_COMMANDS = frozenset(
    "git gh hg svn make cmake ninja npm npx pnpm yarn bun node deno pip pip3 pipx uv poetry python "
    "python3 pytest tox ruff mypy cargo rustup go java mvn gradle docker podman kubectl helm "
    "terraform ansible aws gcloud az ssh scp rsync curl wget rm mv cp ln dd chmod chown kill "
    "killall pkill sudo apt apt-get dnf yum brew systemctl journalctl crontab psql mysql sqlite3 "
    "redis-cli sed awk find xargs tar zip unzip bash sh zsh eval source alembic flask rails bundle "
    "palace".split()
)
_PLACEHOLDER = re.compile(r"[<>…*]|\.\.\.|\b(?:FOO|BAR|XXX?)\b")


def _subject(text: str, at: int) -> _Subject | None:
    marked = _MARKED.match(text, at)
    if marked:
        inner = next(group for group in marked.groups() if group is not None).strip()
        return _Subject(inner, True, text[marked.end() :]) if inner else None
    words, end = [], at
    for word in re.finditer(r"\S+", text[at:]):
        bare = word.group().rstrip(".,;:!?)")
        if not bare or _STOP.match(bare) or bare[0] in "(—–\"'`“":
            break
        words.append(bare)
        end = at + word.start() + len(bare)
        if bare != word.group():
            break
    return _Subject(" ".join(words), False, text[end:]) if words else None


def _inside_quotes(text: str, at: int) -> bool:
    return any(m.start() < at < m.end() for m in _MARKED.finditer(text))


def _lowered(form: Form, why: str) -> Form:
    return Form(form.trigger, form.action, "low", why)


def _form(trigger: str, action: str, subject: _Subject, doubt: str, sure: str) -> Form:
    """High unless there is a doubt, or the rest of the sentence narrows it."""
    rest = subject.rest.strip()
    narrowing = _NARROWS.search(rest)
    if not doubt and narrowing:
        doubt = f"`{narrowing.group()}` narrows it, which a trigger cannot"
    elif not doubt and rest and not _REASON.match(subject.rest):
        condition = _CONDITION.match(rest)
        shown = condition.group() if condition else rest.split()[0]
        doubt = f"`{shown}` follows, which may narrow it"
    return Form(trigger, action, "low" if doubt else "high", doubt or sure)


def _run(found: re.Match[str], action: str = "block") -> Form | None:
    subject = _subject(found.string, found.end())
    if subject is None:
        return None
    words = subject.text.split()
    known = words[0] in _COMMANDS
    if not subject.marked and not (known or any(word.startswith("-") for word in words)):
        return None
    doubt = ""
    if _PLACEHOLDER.search(subject.text):
        doubt = "it has a placeholder: write the words that are always there"
    elif re.search(r"[|;&]|\$\(", subject.text):
        doubt = "it is more than one command, and a trigger looks at each alone"
    elif len(words) == 1 and len(words[0]) < SHORTEST_WORD:
        doubt = f"`{words[0]}` is short, and would be found inside other words"
    elif not subject.marked and not (len(words) > 1 and known and words[-1].startswith("-")):
        doubt = "where the command ends is a guess: put it into backticks"
    elif not (known or _names_a_command(found, words)):
        doubt = f"`{words[0]}` may be no command"
    sure = "the command is marked" if subject.marked else "it ends with an option of the command"
    return _form(
        f"bash_contains {subject.text}", action, subject, doubt, f"{sure}; nothing narrows it"
    )


def _names_a_command(found: re.Match[str], words: list[str]) -> bool:
    """True if the verb says so: one runs a command, and uses or asks about many things."""
    return found.re is _RUN or (found.re is _ASK and bool(found["run"] or len(words) > 1))


def _ask(found: re.Match[str]) -> Form | None:
    return _run(found, "warn")


def _tool(found: re.Match[str]) -> Form | None:
    subject = _subject(found.string, found.end())
    return _named_tool(_first_word(subject)) if subject else None


def _tool_after(found: re.Match[str]) -> Form | None:
    rest = found.string[found.end() :]
    return _named_tool(_Subject(found.group("name"), bool(found.group("mark")), rest))


def _named_tool(subject: _Subject) -> Form | None:
    name = subject.text
    if not re.fullmatch(r"[\w.:/-]+", name):
        return None
    doubt = ""
    if not subject.marked and not re.search(r"[A-Z_]", name):
        doubt = f"`{name}` may be no tool's name: put it into backticks"
    return _form(
        f"tool_name {name}", "block", subject, doubt, "a tool is named; nothing narrows it"
    )


def _first_word(subject: _Subject) -> _Subject:
    """What is not marked ends at the first blank."""
    if subject.marked:
        return subject
    word = subject.text.split()[0]
    return _Subject(word, False, subject.text[len(word) :] + subject.rest)


def _modify(found: re.Match[str]) -> Form | None:
    subject = _subject(found.string, found.end())
    if subject is None:
        return None
    subject = _first_word(subject)
    glob = subject.text
    plain = re.search(r"[/*]|\.\w+\Z", glob)
    if " " in glob or not (subject.marked or plain):
        return None
    doubt = ""
    if glob.startswith(("/", "~")) or ".." in glob.split("/"):
        doubt = "it points outside the project"
    elif not plain:
        doubt = f"`{glob}` may be no file"
    elif not glob.strip("*/."):
        doubt = "it would hit every file"
    elif found.re is not _WARN:
        doubt = "it forbids, and a change can only be warned of"
    glob += "**" if glob.endswith("/") else ""
    sure = "the files are named; nothing narrows it"
    return _form(f"file_modified {glob}", "warn", subject, doubt, sure)


def _regex(found: re.Match[str]) -> Form | None:
    subject = _subject(found.string, found.end())
    if subject is None or not subject.marked or _regex_fault(subject.text):
        return None
    why = "a regular expression is for a person to read first"
    return Form(f"bash_regex {subject.text}", "block", "low", why)


def _regex_fault(pattern: str) -> str:
    if len(pattern) > LONGEST_REGEX:
        return f"`trigger` has a pattern of more than {LONGEST_REGEX} characters: shorten it"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"`trigger` has a pattern that cannot be read ({error}): mend it"
    return ""


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_THING = r"(?:the\s+)?(?:commands?\s+|script\s+)?"
_MATCHING = _compiled(
    _NEVER + r"(?:run|execute)\s+(?:anything|commands?)\s+(?:that\s+)?match(?:es|ing)?\s+"
)
_TOOL = _compiled(_NEVER + r"(?:use|call|invoke)\s+" + _TOOL_WORD)
_TOOL_AFTER = _compiled(
    _NEVER
    + r"(?:use|call|invoke)\s+(?:the\s+)?(?P<mark>[`\"'“]?)(?P<name>[\w.:/-]+)[`\"'”]?\s+tool\b"
)
_RUN = _compiled(_NEVER + r"(?:run|execute|type|start)\s+" + _THING)
_USE = _compiled(_NEVER + r"(?:use|call|invoke)\s+" + _THING)
_ASK = _compiled(
    r"(?:you\s+(?:must|should)\s+)?always\s+(?:ask|check\s+with)(?:\s+(?:me|us|first|the\s+user|a\s+person))*"
    r"\s+before\s+(?P<run>(?:you\s+)?(?:run|running|execute|executing|use|using)\s+)?" + _THING
)
_FILES = (
    r"(?:any\s+|a\s+|the\s+)?(?:files?\s+)?(?:(?:in|under|below|matching)\s+)?(?:the\s+file\s+)?"
)
_CHANGING = r"(?:modif(?:y|ying)|edit(?:ing)?|chang(?:e|ing)|touch(?:ing)?)\s+"
_WARN = _compiled(
    r"(?:always\s+)?warn(?:\s+(?:me|us))?\s+(?:when(?:ever)?|before|on|about)\s+(?:you\s+(?:are\s+)?|someone\s+)?"
    + _CHANGING
    + _FILES
)
_FORBID = _compiled(_NEVER + _CHANGING + _FILES)
_FORMS = (
    (_MATCHING, _regex),
    (_TOOL, _tool),
    (_TOOL_AFTER, _tool_after),
    (_RUN, _run),
    (_USE, _run),
    (_ASK, _ask),
    (_WARN, _modify),
    (_FORBID, _modify),
)
