"""The table of rules: read once, and again when a file has changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.session import rulefiles, ruletable
from session.ruled import FOLDER, Ruled
from support.palaces import OLD_NS, SCRIPTS

LIGHT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from memory_palace.session import ruletable
table = ruletable.load(Path(sys.argv[2]))
assert len(table.rules) == 1 and not table.looked, table
print(" ".join(sys.modules))
"""


@pytest.fixture
def ruled(tmp_path: Path) -> Ruled:
    """A palace without rules."""
    return Ruled(tmp_path / "root")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read for a table."""
    seen: list[str] = []
    read = rulefiles._of

    def noted(root: Path, path: str, topical: bool) -> object:
        seen.append(path)
        return read(root, path, topical)

    monkeypatch.setattr(rulefiles, "_of", noted)
    return seen


def triggers(ruled: Ruled, look: bool = False) -> list[str]:
    """What the rules look for."""
    return [rule.trigger for rule in ruletable.load(ruled.root, look).rules]


def test_rules_are_kept_until_a_file_changes(ruled: Ruled, reads: list[str]) -> None:
    """Only what changed is read again: a note, a new one, one that went, a topic file."""
    first = ruled.rule("tool_name A", "warn")
    assert triggers(ruled) == ["tool_name A"]
    assert triggers(ruled) == ["tool_name A"]
    assert reads == [first]
    second = ruled.rule("tool_name B", "warn")
    os.utime(ruled.root / FOLDER, ns=(OLD_NS + 5, OLD_NS + 5))
    assert triggers(ruled) == ["tool_name A", "tool_name B"]
    assert reads == [first, second]
    ruled.palace.write(first, "---\ntype: rule\ntrigger: tool_name CC\naction: block\n---\n")
    assert triggers(ruled) == ["tool_name CC", "tool_name B"]
    (ruled.root / second).unlink()
    assert triggers(ruled) == ["tool_name CC"]
    topic = "palace/topics/lessons.md"
    ruled.palace.write(topic, "- [lesson] Never use the tool WebFetch *(enforced)*\n")
    assert triggers(ruled) == ["tool_name CC", "tool_name WebFetch"]
    assert reads == [first, second, first, topic]


def test_a_file_touched_just_now_is_read_again(ruled: Ruled, reads: list[str]) -> None:
    """It may change again and look the same."""
    path = ruled.rule("tool_name A", "warn")
    ruled.palace.write(
        path, "---\ntype: rule\ntrigger: tool_name B\naction: warn\n---\n", old=False
    )
    assert triggers(ruled) == triggers(ruled) == ["tool_name B"]
    assert reads == [path, path]


def test_rules_elsewhere_are_those_that_the_index_knows(ruled: Ruled, reads: list[str]) -> None:
    """Once known, their own file tells; the archive has none."""
    note = "---\ntype: rule\ntrigger: tool_name {}\naction: warn\n---\nx\n"
    ruled.palace.write("palace/chambers/a.md", note.format("A"))
    ruled.palace.write("palace/archive_basement/b.md", note.format("B"))
    assert triggers(ruled) == []
    ruled.palace.index()
    assert triggers(ruled) == ["tool_name A"]
    os.utime(ruled.root / rulefiles.CATALOG, ns=(OLD_NS, OLD_NS))
    ruled.palace.write("palace/chambers/a.md", note.format("CC"))
    assert triggers(ruled) == ["tool_name CC"]
    (ruled.root / rulefiles.CATALOG).write_bytes(b"damaged")
    assert triggers(ruled, look=True) == ["tool_name CC"]
    ruled.palace.write("palace/chambers/a.md", "---\ntype: rule\ntrigger: tool")
    assert "no end" in ruletable.load(ruled.root).faults[0].message
    ruled.palace.write("palace/chambers/a.md", "# No rule\n")
    assert ruletable.load(ruled.root).faults == ()
    (ruled.root / "palace/chambers/a.md").unlink()
    assert triggers(ruled) == []


def test_what_is_wrong_with_one_leaves_the_others(ruled: Ruled) -> None:
    """As problems with path and line; other files among rules are none."""
    ruled.rule("tool_name A", "warn")
    bad = ruled.rule("tool_name B", "stop")
    ruled.palace.write(f"{FOLDER}/binary.md", b"a\0b")
    ruled.palace.write(f"{FOLDER}/README.md", "# About rules\n")
    ruled.palace.write(f"{FOLDER}/deep/er/c.md", "---\ntype: rule\nverifier: x\n---\n")
    table = ruletable.load(ruled.root)
    assert [rule.trigger for rule in table.rules] == ["tool_name A"]
    assert [(problem.path, problem.line) for problem in table.problems] == [
        (f"{FOLDER}/binary.md", 1),
        (f"{FOLDER}/deep/er/c.md", 3),
        (bad, 4),
    ]
    assert table.looked
    again = ruletable.load(ruled.root)
    assert again.faults == table.faults


def test_a_folder_that_leads_elsewhere_holds_no_rules(ruled: Ruled, tmp_path: Path) -> None:
    """Links are not followed: the folder is a fault, a file is left out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("---\ntype: rule\ntrigger: tool_name A\naction: block\n---\n")
    (ruled.root / FOLDER / "a.md").symlink_to(outside / "a.md")
    (ruled.root / FOLDER / "b").symlink_to(outside)
    linked = ruletable.load(ruled.root)
    assert linked.rules == () and "a symbolic link" in linked.faults[0].message
    (ruled.root / FOLDER / "a.md").unlink()
    (ruled.root / FOLDER / "b").unlink()
    (ruled.root / FOLDER).rmdir()
    (ruled.root / FOLDER).symlink_to(outside)
    [fault] = ruletable.load(ruled.root).faults
    assert "symbolic link" in fault.message


def test_more_files_than_are_read_are_reported(
    ruled: Ruled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left out is not left out in silence."""
    monkeypatch.setattr(rulefiles, "MOST_FILES", 2)
    for letter in "ABC":
        ruled.rule(f"tool_name {letter}", "block")
    table = ruletable.load(ruled.root)
    assert (len(table.rules), len(table.faults)) == (2, 1)
    assert "3 files may hold rules, 2 are read" in table.faults[0].message


def test_a_pipe_in_the_tables_place_is_passed_over(ruled: Ruled) -> None:
    """Nobody writes to it, and a hook does not wait."""
    ruled.rule("tool_name A", "block")
    (ruled.root / ".palace").mkdir(exist_ok=True)
    os.mkfifo(ruled.root / ruletable.PATH)
    assert triggers(ruled) == ["tool_name A"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_disk_that_cannot_be_written_has_rules_too(ruled: Ruled) -> None:
    """They are read each time."""
    ruled.rule("tool_name A", "warn")
    ruled.root.chmod(0o500)
    assert triggers(ruled) == triggers(ruled) == ["tool_name A"]
    ruled.root.chmod(0o700)


def test_without_a_place_to_keep_them_rules_are_read_each_time(
    ruled: Ruled, reads: list[str]
) -> None:
    """A file where the folder should be, or a link to another place, is no fault of the session."""
    path = ruled.rule("tool_name A", "warn")
    (ruled.root / ".palace").write_text("")
    assert triggers(ruled) == triggers(ruled) == ["tool_name A"]
    assert reads == [path, path]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": 1}',
        b'{"format": 1, "stamps": {}, "reads": {"a": 1}}',
        b'{"format": 1, "stamps": {"a": [1, "x", 2]}, "reads": {}}',
        b'{"format": 1, "stamps": {}, "reads": {"a": [[["p", 1]], [], [], []]}}',
        b'{"format": 1, "stamps": {}, "reads": {}}',
        b'{"format": 99, "stamps": {}, "reads": {}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_damaged_table_is_made_again(ruled: Ruled, damage: bytes) -> None:
    """Whatever is in its file."""
    ruled.rule("tool_name A", "warn")
    triggers(ruled)
    (ruled.root / ruletable.PATH).write_bytes(damage)
    table = ruletable.load(ruled.root)
    assert (len(table.rules), table.looked) == (1, True)
    assert not ruletable.load(ruled.root).looked


def test_the_catalog_that_is_looked_at_is_the_indexs(ruled: Ruled) -> None:
    """Named without importing it."""
    from memory_palace.core import topics
    from memory_palace.files import roots
    from memory_palace.index import opening

    assert roots.index_folder(ruled.root) / opening.MAIN == ruled.root / ruletable.CATALOG
    assert f"{ruletable.TOPICS}/" == topics.FOLDER


def test_a_table_that_is_kept_imports_next_to_nothing(ruled: Ruled) -> None:
    """No YAML, no command line, no arrays, no database, no dataclasses, no parser."""
    ruled.rule("tool_name A", "warn")
    triggers(ruled)
    arguments = [sys.executable, "-I", "-c", LIGHT, str(SCRIPTS), str(ruled.root)]
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    modules = set(ran.stdout.split())
    heavy = {"yaml", "click", "numpy", "sqlite3", "dataclasses", "tree_sitter", "frontmatter"}
    assert modules & heavy == set()
    assert {name for name in modules if name.startswith("memory_palace.session.")} == {
        "memory_palace.session.ruletable"
    }


def test_many_tables_at_once_leave_a_whole_one(ruled: Ruled) -> None:
    """Each writes a file of its own and renames it."""
    ruled.rule("tool_name A", "warn")
    code = LIGHT.replace(" and not table.looked", "")
    arguments = [sys.executable, "-I", "-c", code, str(SCRIPTS), str(ruled.root)]
    running = [subprocess.Popen(arguments, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert json.loads((ruled.root / ruletable.PATH).read_text())["format"] == ruletable.FORMAT
    assert [path.name for path in (ruled.root / ".palace").iterdir()] == ["rules.json"]


@pytest.mark.parametrize("half", ["", "---\ntype: rule\ntrig", "---\ntype: rule\n---\nx\n"])
def test_a_rule_holds_while_its_note_is_written(ruled: Ruled, half: str) -> None:
    """Half a note keeps the rule that it had, for as long as it may still be written; an old file
    without a rule holds none."""
    path = ruled.rule("bash_contains git push --force", "block")
    os.utime(ruled.root / path, ns=(OLD_NS, OLD_NS))
    assert triggers(ruled) == ["bash_contains git push --force"]
    (ruled.root / path).write_text(half)
    ruled.old()
    assert triggers(ruled) == ["bash_contains git push --force"]
    assert triggers(ruled) == ["bash_contains git push --force"]
    os.utime(ruled.root / path, ns=(OLD_NS + 1, OLD_NS + 1))
    assert triggers(ruled) == []


def test_a_rule_that_is_changed_counts_at_once(ruled: Ruled) -> None:
    """What reads as a rule is not held back; a note that is gone holds nothing."""
    path = ruled.rule("bash_contains git push --force", "block", name="push")
    assert triggers(ruled) == ["bash_contains git push --force"]
    ruled.rule("bash_contains git push -f", "block", name="push")
    assert triggers(ruled) == ["bash_contains git push -f"]
    (ruled.root / path).unlink()
    assert triggers(ruled) == []
