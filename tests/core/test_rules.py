"""Which rules a call triggers, and which verifiers a turn broke."""

from collections.abc import Sequence

from memory_palace.core import rules
from memory_palace.core.rules import Call, Fault, Hits, Ran, Read, Rule, hits, together, violated


def rule(trigger: str = "", action: str = "block", path: str = "a.md", **more: object) -> Rule:
    """A rule on line 3 of a note."""
    return Rule(path, 3, "[[a]]", "A", trigger, action if trigger else "", **more)  # type: ignore[arg-type]


class Searcher:
    """Finds plain texts, is late for one, and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, patterns: Sequence[str], text: str) -> dict[str, bool | None]:
        self.asked += patterns
        self.length = len(text)
        return {p: None if p == "late" else p in text for p in patterns}


def hit(call: Call, *given: Rule) -> tuple[Hits, list[str]]:
    """What is triggered, and the patterns that were searched for."""
    search = Searcher()
    return hits(given, call, search), search.asked


def test_each_trigger_looks_at_its_part_of_a_call() -> None:
    """Commands, tools by their exact name, files by any name that they have."""
    contains = rule("bash_contains git push", "warn")
    regex = rule("bash_regex push", "warn")
    tool = rule("tool_name Web", "warn")
    file = rule("file_modified src/**", "warn")
    every = (contains, regex, tool, file)
    assert hit(Call("Bash", "git push"), *every)[0].rules == ((contains, ""), (regex, ""))
    assert hit(Call("Web"), *every)[0].rules == ((tool, ""),)
    assert hit(Call("web"), *every)[0].rules == ()
    files = {"../x": ("lib/x",), "y": ("/full/y", "src/y")}
    assert hit(Call("Edit", "", files), *every)[0].rules == ((file, "y"),)
    assert hit(Call(), *every, rule(verifier="tool_called A before b"))[0].rules == ()


def test_the_first_rule_that_blocks_decides() -> None:
    """In the order given, whatever it looks at; what comes later is not even searched for."""
    first, second = rule("bash_regex push"), rule("bash_contains git", path="b.md")
    assert hit(Call("Bash", "git push"), first, second)[0].block is first
    found, asked = hit(Call("Bash", "git push"), second, first)
    assert (found.block, asked) == (second, [])
    warning = rule("bash_regex push", "warn")
    found, asked = hit(Call("Bash", "git push"), warning, second)
    assert (found.block, asked) == (second, [])
    assert hit(Call("Bash", "git push"), warning)[0].block is None


def test_a_regular_expression_sees_the_beginning_of_the_command() -> None:
    """4,000 characters of it as typed; not asked for without the text that it needs."""
    late = rule("bash_regex late")
    plain = rule("bash_regex x y", "warn", needs="x")
    search = Searcher()
    found = hits([late, plain], Call("Bash", "'x y'" + "z" * 9000), search)
    assert (found.given_up, found.rules) == ((late,), ((plain, ""),))
    assert search.length == rules.LONGEST_SEARCHED == 4_000
    assert hit(Call("Bash", "a y"), plain) == (Hits(()), [])


def test_the_parts_of_a_rule() -> None:
    """Trigger, run_after and verifier, as they are used."""
    one = rule("bash_regex  a b ", "run_after make  fmt")
    assert (one.on, one.run_after, one.where) == (("bash_regex", " a b "), "make  fmt", "a.md:3")
    two = rule(verifier="tool_called Read before git commit -m")
    assert (two.demand, two.run_after) == (("Read", "git commit -m"), "")
    assert (one.demand, two.on) == (("", ""), ("", ""))


def test_a_verifier_is_broken_by_a_command_that_runs_too_early() -> None:
    """Its tool has to be called before, in the same turn; the command is read as in a trigger."""
    one = rule(verifier="tool_called Read before git commit")
    bad = Ran("Bash", "cd x && git commit -m y")
    assert violated([one], [bad, Ran("Read")]) == [(one, bad.command)]
    assert violated([one], [Ran("Edit"), bad, bad]) == [(one, bad.command)]
    assert violated([one], [Ran("Read"), bad]) == []
    assert violated([one], [Ran("Bash", "echo 'git commit'"), Ran("Bash", "ls")]) == []
    assert violated([rule("tool_name Bash")], [bad]) == []


def test_verifiers_are_checked_for_their_form() -> None:
    """`tool_called TOOL before COMMAND`, nothing else."""
    assert rules.verifier_fault("tool_called Read before git commit") == ""
    for wrong in ("", None, 3, "tool_called Read", "called A before b", "tool_called A after b"):
        assert "write tool_called TOOL before COMMAND" in rules.verifier_fault(wrong)


def test_rules_of_all_files_come_by_path_and_line() -> None:
    """What two say counts once, the note's before the entry's; faults of all."""
    note = rule("bash_contains x", path="r/b.md")
    same = rule("bash_contains x", path="a.md")
    other = rule("bash_contains y", path="a.md")
    wrong = Fault("r/a.md", 1, "mend it")
    reads = {
        "r/b.md": Read((note,)),
        "a.md": Read((same, other), entries=("1", "2")),
        "r/a.md": Read(faults=(wrong,)),
    }
    assert together(reads) == ((other, note), (wrong,))


def test_a_note_speaks_for_the_entry_that_it_is_made_of() -> None:
    """Also where it looks for something else now; not if it does not count itself."""
    note = rule("bash_contains x y", path="r.md")
    entry = rule("bash_contains x", path="t.md")
    topic = Read((entry,), entries=("abc",))
    assert together({"r.md": Read((note,), covers=("abc",)), "t.md": topic})[0] == (note,)
    assert together({"r.md": Read((), covers=("abc",)), "t.md": topic})[0] == (entry,)


def test_too_many_rules_are_reported() -> None:
    """Those beyond the bound do not count."""
    many = tuple(rule(f"tool_name T{n}") for n in range(rules.MOST_RULES + 1))
    kept, faults = together({"a.md": Read(many)})
    assert (len(kept), len(faults)) == (rules.MOST_RULES, 1)
    assert "1,000" in faults[0].message
