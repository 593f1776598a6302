"""Rules: what is blocked or warned of, what runs afterwards, and what a turn has to do."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_palace.core import shell

FOLDER = "palace/reflection_wing/rules"
"""Notes below it are rules from the next look on, indexed or not."""

LONGEST_SEARCHED = 4_000
"""Characters of a command that a regular expression looks at."""

MOST_RULES = 1_000
"""Rules that count; more are reported."""


class Rule(NamedTuple):
    """One rule. ``path`` and ``line`` say where it stands, ``link`` is what links to it.

    ``trigger`` (``bash_contains git push --force``) and ``action`` go together; ``verifier`` may
    stand alone. ``needs`` is a text without which the trigger's regular expression cannot match.
    All are text as written, without what surrounds them.
    """

    path: str
    line: int
    link: str
    title: str
    trigger: str = ""
    action: str = ""
    verifier: str = ""
    reason: str = ""
    needs: str = ""

    @property
    def on(self) -> tuple[str, str]:
        """The trigger's name, and what it looks for."""
        name, _, what = self.trigger.partition(" ")
        return name, what

    @property
    def run_after(self) -> str:
        """The command of a ``run_after``; empty for other actions."""
        verb, _, command = self.action.partition(" ")
        return command.strip() if verb == "run_after" else ""

    @property
    def demand(self) -> tuple[str, str]:
        """(tool, command) of the verifier: the one before the other; empty without one."""
        words = self.verifier.split(maxsplit=3)
        return (words[1], words[3]) if len(words) == 4 else ("", "")

    @property
    def where(self) -> str:
        """``path:line``."""
        return f"{self.path}:{self.line}"


class Fault(NamedTuple):
    """What is wrong with a rule: its file, the line (0: none), and what to do."""

    path: str
    line: int
    message: str


class Read(NamedTuple):
    """What one file holds. ``covers`` are ids of topic entries that a rule note speaks for;
    ``entries`` names for each rule of a topic file the entry that it is."""

    rules: tuple[Rule, ...] = ()
    faults: tuple[Fault, ...] = ()
    covers: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


def together(reads: Mapping[str, Read]) -> tuple[tuple[Rule, ...], tuple[Fault, ...]]:
    """The rules of all files ({path: what it holds}) by path and line, and all faults.

    An entry of a topic whose rule is a note's is left out, and so is what another rule says.
    """
    ordered = [reads[path] for path in sorted(reads)]
    covered = {key for read in ordered if read.rules for key in read.covers}
    rules: dict[tuple[str, str, str], Rule] = {}
    for read in sorted(ordered, key=lambda read: bool(read.entries)):
        for at, rule in enumerate(read.rules):
            if not (read.entries and read.entries[at] in covered):
                rules.setdefault((rule.trigger, rule.action, rule.verifier), rule)
    kept = sorted(rules.values(), key=lambda rule: (rule.path, rule.line))
    faults = [fault for read in ordered for fault in read.faults]
    for rule in kept[MOST_RULES:]:
        what = f"there are more than {MOST_RULES:,} rules, this one does not count: archive some"
        faults.append(Fault(rule.path, rule.line, what))
    return tuple(kept[:MOST_RULES]), tuple(faults)


class Call(NamedTuple):
    """A tool call as rules see it. ``files`` maps each file, as given, to the paths by which a
    glob may name it: relative to the session's folder, its project's top and the palace's root."""

    tool: str = ""
    command: str = ""
    files: Mapping[str, Sequence[str]] = {}


class Hits(NamedTuple):
    """The rules that a call triggers, in their order, each with the file that did (or ``""``), and
    those whose regular expression was given up."""

    rules: tuple[tuple[Rule, str], ...]
    given_up: tuple[Rule, ...] = ()

    @property
    def block(self) -> Rule | None:
        """The rule that blocks the call: the first that does."""
        return next((rule for rule, _ in self.rules if rule.action == "block"), None)


Search = Callable[[Sequence[str], str], Mapping[str, bool | None]]
"""(patterns, text) to whether each is found; None for one that took too long."""


def verifier_fault(verifier: object) -> str:
    """What is wrong with a rule's ``verifier``; empty if nothing is."""
    words = verifier.split(maxsplit=3) if isinstance(verifier, str) else []
    if len(words) == 4 and (words[0], words[2]) == ("tool_called", "before"):
        return ""
    return f"`verifier` is {verifier!r}: write tool_called TOOL before COMMAND"


def hits(rules: Iterable[Rule], call: Call, search: Search) -> Hits:
    """Which of ``rules`` the call triggers. The command is parsed only if a rule may need it."""
    rules = tuple(rule for rule in rules if rule.trigger)
    found: dict[int, str] = {}
    slow: list[int] = []
    for at, rule in enumerate(rules):
        name, what = rule.on
        if name == "tool_name" and what == call.tool:
            found[at] = ""
        elif name == "file_modified" and call.files:
            hit = _file(what, call.files)
            if hit:
                found[at] = hit
        elif name == "bash_regex" and call.command and rule.needs in call.command:
            slow.append(at)
    if call.command:
        found |= dict.fromkeys(_containing(rules, call.command), "")
    blocking = [at for at in found if rules[at].action == "block"]
    if blocking:  # nothing else matters than what would block before
        slow = [at for at in slow if rules[at].action == "block" and at < min(blocking)]
    said = search([rules[at].on[1] for at in slow], call.command[:LONGEST_SEARCHED]) if slow else {}
    found |= {at: "" for at in slow if said.get(rules[at].on[1])}
    given_up = tuple(rules[at] for at in slow if said.get(rules[at].on[1], False) is None)
    return Hits(tuple((rules[at], found[at]) for at in sorted(found)), given_up)


def _file(glob: str, files: Mapping[str, Sequence[str]]) -> str:
    from memory_palace.core import rules_glob

    for name, paths in files.items():
        if any(rules_glob.matches(glob, path) for path in paths):
            return name
    return ""


def _containing(rules: Sequence[Rule], command: str) -> list[int]:
    squeezed = shell.squeezed(command)
    may = []
    for at, rule in enumerate(rules):
        name, what = rule.on
        if name == "bash_contains" and shell.may_contain(squeezed, what):
            may.append((at, what))
    if not may:
        return []
    parsed = shell.parse(command)
    return [at for at, what in may if shell.contains(parsed, what)]


class Ran(NamedTuple):
    """One tool call of a turn: the tool, and its shell command if it has one."""

    tool: str
    command: str = ""


def violated(rules: Iterable[Rule], turn: Sequence[Ran]) -> list[tuple[Rule, str]]:
    """The verifiers that a turn broke, each with the command that ran too early."""
    found = []
    parsed: dict[str, shell.Parsed] = {}
    for rule in rules:
        tool, wanted = rule.demand
        if not wanted:
            continue
        for ran in turn:
            if ran.tool == tool:
                break
            if not ran.command or not shell.may_contain(shell.squeezed(ran.command), wanted):
                continue
            if ran.command not in parsed:
                parsed[ran.command] = shell.parse(ran.command)
            if shell.contains(parsed[ran.command], wanted):
                found.append((rule, ran.command))
                break
    return found
