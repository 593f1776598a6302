"""Shell commands taken apart, and what ``bash_contains`` finds in them."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import shell, shell_tree, shell_words
from memory_palace.core.shell import contains, may_contain, parse, squeezed
from support.palaces import SCRIPTS

FORCE = "git push --force"


def found(command: str, text: str = FORCE) -> bool:
    """Whether the text is found; what is known without parsing has to agree."""
    held = contains(parse(command), text)
    assert may_contain(squeezed(command), text) or not held
    return held


def words(command: str) -> list[str]:
    """The simple commands, their words joined."""
    return [" ".join(simple.words) for simple in parse(command).commands if simple.words]


@pytest.mark.parametrize(
    "command",
    [
        "git push --force",
        "git push origin main --force",
        "git -C /work push --force",
        "/usr/bin/git push --force",
        "cd x && sudo git push origin --force",
        "cd x; git push --force",
        "false || git push --force",
        "true | git push --force | tee log",
        "a |& git push --force",
        "git push --force &",
        "(cd x; git push --force)",
        "{ git push --force; }",
        "! git push --force",
        "if git push --force; then x; fi",
        "! if git push --force; then x; fi",
        "a; time -p while g'it' push --force; do x; done",
        "time { exec git push --force; }",
        "if a; then b; elif c; then git push --force; else d; fi",
        "for r in a b; do git push $r --force; done",
        "for ((i=0; i<3; i++)); do git push --force; done",
        "while git push --force; do sleep 1; done",
        "until git push --force; do sleep 1; done",
        "case $x in a) git push --force;; esac",
        "f() { git push --force; }; f",
        "function f { git push --force; }",
        "echo $(git push --force)",
        "echo `git push --force`",
        'echo "done: $(git push --force)"',
        "x=$(git push --force)",
        "export X=$(git push --force)",
        "diff <(git push --force) x",
        "[[ $(git push --force) ]]",
        "cat <<EOF\n$(git push --force)\nEOF",
        "A=1 B='x y' git push --force",
        "git push --force > log 2>&1",
        "> log git push --force",
        "git push --force <<< x",
        "git 'push' \"--force\"",
        "g'i't pu\"sh\" --fo\\rce",
        "\\git push --force",
        "git push \\\n  --force",
        "git push --for\\\nce",
        "$'git' push $'\\x2d-force'",
        "$'\\147it' push --force",
        '$"git" push --force',
        "bash -c 'git push --force'",
        "sh -c \"git push '--force'\"",
        "bash -lc 'git push --force' name arg",
        "bash -e -o pipefail -c 'git push --force'",
        "/bin/zsh -c 'cd x && git push --force'",
        "bash -c \"bash -c 'git push --force'\"",
        "eval git push --force",
        "eval 'git push' '--force'",
        "bash <<< 'git push --force'",
        "bash <<'EOF'\ngit push --force\nEOF",
        "sudo bash <<EOF\ngit push --force\nEOF",
        "bash <<'EOF'\n\\git push o\\\nrigin --force\nEOF",
        "bash -s <<-EOF | cat\n\tls\n\tgit push --force\n\tEOF\nls",
        "true && cat > f <<EOF; g'it' pu\\\nsh --force\nx\nEOF",
        "sudo -u bob -E git push --force",
        "sudo --user=bob -- git push --force",
        "sudo --user bob git push --force",
        "sudo A=1 git push --force",
        "env -i A=1 -u B git push --force",
        "env -S 'git push --force'",
        "env '--split-string=git push --force'",
        "env sudo nice -n 5 git push --force",
        "nohup git push --force >/dev/null 2>&1 &",
        "time -p git push --force",
        "command git push --force",
        "nice -5 git push --force",
        "timeout -s KILL 10 git push --force",
        "timeout --signal=KILL 10s git push --force",
        "doas -u bob git push --force",
        "echo main | xargs git push --force",
        "echo main | xargs -I {} git push {} --force",
        "echo main | xargs -I{} -P4 git push {} --force",
        "exec git push --force",
        "builtin command git push --force",
        "coproc git push --force",
        "find . -name x -exec git push --force {} \\;",
        "find . -exec true \\; -execdir git push --force +",
        "cat <<'EOF' > f; git push --force\nx\nEOF",
        "cat <<EOF > f; g\\it push --fo'r'ce\nx\nEOF",
        "cat <<EOF > f; ls\n$(git push --force)\nEOF",
        "bash -euo pipefail -c 'git push --force'",
        "bash +O extglob -xc 'git push --force'",
        "bash <<'EOF' > f; ls\ngit push --force\nEOF",
        "cat <<'EOF' > f; ls\nx\ngit push --force",
        "cat <<EOF | git push --force\nx\nEOF",
        "cat <<A <<B\nx\nA\ny\nB\ngit push --force",
        "git push 2>/dev/null --force",
        "git 2>&1 push origin > log --force",
        "git push <<EOF --force\nx\nEOF",
        "cat <<EOF\n`git push --force`\nEOF",
        "cat <<EOF\nit's $(git pu\\\nsh --force)\nEOF",
        "echo `echo \\`git push --force\\``",
        'echo "${x:-`git push --force`}"',
        "coproc X { git push --force; }",
        "if true; then coproc { git push --force; }; fi",
        "case a in a) time { git push --force; }; esac",
        "x=$(! ! git push --force)",
        "ls\n\\git push --force",
        "x=${y//a/b}\n\n\\git push --force",
        "cat > f <<'EOF'; bash -c \"git $'push' --force\"\nit's `\nEOF",
        "env - A=1 git push --force",
        "env --split-string='git push' --force",
        "echo main | xargs --replace git push {} --force",
        "echo main | xargs --max-lines git push --force",
        "eval -- 'git push --force'",
        "bash -oe pipefail -c 'git push --force'",
        "git push --force)",  # what cannot be parsed is plain text
        "((A=1 git push $'--force'\n) > x\n) > y",
        'git push "--force',
    ],
)
def test_a_command_is_found_wherever_it_would_run(command: str) -> None:
    """In lists, groups, control flow, substitutions, inner texts, and behind other commands."""
    assert found(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "git push",
        "git push --force-with-lease",
        "git push --forced",
        "git --force push",
        "git pull && ls --force push",
        "git pushx --force",
        "gitx push --force",
        "echo git push --force",
        "git commit -m 'git push --force'",
        'git commit -m "never git push --force"',
        "git push # --force",
        "# git push --force",
        "# it's\ngit push # it's --force",
        "cat <<EOF\ngit push --force\nEOF",
        "cat > notes.md <<'EOF'\nit's `git push --force`, don't\nEOF",
        "git commit -m \"$(cat <<'EOF'\nIt's about git push --force (don't)\nEOF\n)\"",
        "cat <<'EOF' > f; ls\nit's about git push --force (don't)\nEOF\nls",
        "cat <<\"EOF\" 2>&1 | tee f\nit's about git push --force (don't)\nEOF",
        "cat > x.sh <<'EOF'\ngit push --force\nEOF\nchmod +x x.sh",
        "git push; echo --force",
        "git push | cat --force",
        "command -v git push --force",
        "grep -r 'git push --force' .",
        "echo 'git push --force' > bash",
        "python3 -c 'git push --force'",
        "cat <<'EOF'\n`git push --force`\nEOF",
        "cat <<\\EOF\n`git push --force`\nEOF",
        "cat <<EOF\n\\`git push --force\\`\nEOF",
        "git push > log; ls --force",
        "git push 2>&1 | cat --force",
        "ls \\\n\\git push --force",
        'echo "a\n\\git push --force"',
        "x='git push --force'",
        "bash script.sh git push --force",
    ],
)
def test_what_only_speaks_of_a_command_is_not_found(command: str) -> None:
    """Messages, comments, here-documents, arguments of other commands, other words."""
    assert not found(command)


@pytest.mark.parametrize(
    ("text", "command", "holds"),
    [
        ("npm", "cd web && npm install", True),
        ("npm", "pnpm install", True),
        ("npm", "echo 'use npm here'", False),
        ("npm", "echo 'npm'", True),
        ("/etc/passwd", "cat /etc/passwd", True),
        ("/etc/passwd", "echo x > /etc/passwd", True),
        ("/etc/passwd", "{ echo x; } > '/etc/passwd'", True),
        ("/etc/passwd", "cat <<EOF > /etc/passwd\nx\nEOF", True),
        ("/etc/passwd", "cat <<EOF\nof /etc/passwd\nEOF", False),
        ("TOKEN=", "TOKEN=1 ./run", True),
        ("TOKEN=", "TOKEN=1", True),
        ("--no-verify", "git commit --no-verify -m x", True),
        ("--no-verify -m", "git commit --no-verify -m x", True),
        ("--no-verify -m", "git commit -m x --no-verify", False),
        ("rm -rf", "sudo rm -rf /", True),
        ("rm -rf", "git rm -rf x", False),
        ("sudo rm", "sudo -n rm x", True),
        ("bash -c", "bash -c ls", True),
        ("/usr/bin/git push", "/usr/bin/git push", True),
        ("/usr/bin/git push", "git push", False),
        ('git commit -m "wip"', "git commit -m wip", True),
        ("git  push", "git push", True),
        ("", "git push", False),
        ("'", "git push '", False),
        ("declare -x", "declare -x A=1", True),
        ("unset PATH", "unset PATH", True),
        ("GIT push", "git push", False),
    ],
)
def test_what_a_text_means(text: str, command: str, holds: bool) -> None:
    """Several words: in order, whole, the first the command's name. One: a part of a word."""
    assert found(command, text) is holds


def test_the_simple_commands_are_given_in_order() -> None:
    """With what stands in front of them, and without it; quotes are gone."""
    assert words('sudo -u "a b" env X=1 git "push" && echo \'a b\' | cat') == [
        "sudo -u a b env X=1 git push",
        "env X=1 git push",
        "git push",
        "echo a b",
        "cat",
    ]
    [simple] = parse("A=1 git push > 'log file' 2>&1").commands
    assert simple == shell.Simple(("git", "push"), ("A=1", "log file", "1"))


def test_escapes_of_ansi_strings_are_read() -> None:
    """Hexadecimal, octal, Unicode and named ones; an unknown one is its letter."""
    [simple] = parse(r"x $'\x41\102\u0043\U00000044\n\q\'' ").commands
    assert simple.words == ("x", "ABCD\nq'")
    [simple] = parse(r"x $'\U7fffffff'").commands
    assert simple.words == ("x", r"\U7fffffff")


def test_a_long_command_is_plain_text() -> None:
    """Beyond the bound nothing is parsed, and a mention counts."""
    filler = "x" * shell.LONGEST
    assert not found(f"echo 'git push --force' {filler[:1000]}")
    assert found(f"echo 'git push --force' {filler}")
    assert found(f"echo {filler}\ngit push \\\n--force")
    assert not found(f"echo {filler}\ngit push\n--force")
    assert found(f"echo {filler} a-token-b", "token")


def test_a_text_without_end_is_searched_up_to_a_bound() -> None:
    """So that a hook comes back."""
    filler = "x" * shell.MOST_SEARCHED
    assert not found(f"{filler}\ngit push --force")
    assert found(f"{filler[100:]}\ngit push --force")


def test_deep_texts_are_plain_text() -> None:
    """Texts inside texts end somewhere, and what is in the last is still searched."""
    command = "git push --force"
    for _ in range(shell.DEEPEST + 3):
        command = f"eval eval {command}"
    assert parse(command).plain
    assert found(command)


def test_many_commands_are_plain_text_too() -> None:
    """Behind more commands than are read, the rest is searched as text."""
    many = "a;" * (shell_tree.MOST_STATEMENTS + 10)
    parsed = parse(many + "git push --force")
    assert len(parsed.commands) == shell_tree.MOST_STATEMENTS
    assert contains(parsed, FORCE)


def test_commands_before_a_command_end_somewhere() -> None:
    """A long row of them takes no long time."""
    assert len(parse("env " * 5000 + "git push").commands) == shell_words.MOST_LEVELS


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 20_000, "$(" * 9_000, "'\"`" * 9_000, "<<a " * 9_000, "\\" * 60_000 + "$"),
        *("env -S " * 7_000, "'a' \\\n" * 9_000, "#\\\n" * 20_000, "coproc " * 8_000 + "x"),
        *("find " + "-exec find " * 5_000, "a \\\n" * 15_000 + "<<x ;("),
    ],
)
def test_deep_nesting_is_taken(text: str) -> None:
    """What no shell would take is plain text at worst, and takes no long time."""
    parsed = parse(text)
    assert sum(map(len, parsed.plain)) <= shell.MOST_SEARCHED
    assert squeezed(text) != ""


def test_texts_in_a_text_are_parsed_up_to_a_bound() -> None:
    """All together; what is beyond is searched as plain text."""
    command = f"{'x' * 50_000}; eval eval eval eval git push --force"
    for _ in range(2):
        command = shlex.join(["eval", command])
    assert parse(command).plain and found(command)


SHELL = st.text(alphabet="abgit push-'\"\\`$(){}[];|&<>#=\n~*!", max_size=60)


@given(st.one_of(st.text(max_size=80), SHELL), st.sampled_from([FORCE, "a", "-b a", "git push"]))
@MODEST
def test_any_text_is_taken_apart(command: str, text: str) -> None:
    """Nothing raises, and what is skipped without parsing holds nothing."""
    found(command, text)


WORD = st.text(alphabet="abc-./_1", min_size=1, max_size=6)


def spellings(word: str) -> st.SearchStrategy[str]:
    """The word in quotes of all kinds."""
    return st.sampled_from(
        [
            word,
            f"'{word}'",
            f'"{word}"',
            f"{word[:1]}'{word[1:]}'",
            f'"{word[:1]}"{word[1:]}',
            "".join(f"\\{c}" for c in word),
            "".join(f"$'\\x{ord(c):02x}'" for c in word),
            f"{word[:1]}\\\n{word[1:]}",
        ]
    )


@given(st.data(), st.lists(WORD, min_size=2, max_size=4))
@MODEST
def test_quotes_do_not_change_what_is_found(data: st.DataObject, plain: list[str]) -> None:
    """However its words are written, a command is found, and so it is behind others."""
    plain = ["git", *plain]
    typed = " ".join(data.draw(spellings(word)) for word in plain)
    around = data.draw(st.sampled_from(["{}", "cd x && {}", "({})", "sudo {} | cat", "x=$({})"]))
    assert found(around.format(typed), " ".join(plain))


AROUND = [
    *("{}", "true && {}", "{} | cat", "({})", "{{ {}; }}", "if {}; then :; fi", "x=$({})"),
    *("for i in 1; do {}; done", "! {}", "time ! {}", "f() {{ {}; }}; f", "env -u B A=1 {}"),
    *("nice -n 1 {}", "timeout 5 {}", "command {}", "nohup {}", "xargs {} </dev/null"),
    *("cat <<'E' > /dev/null; {}\nit's\nE", "bash <<'E'\n{}\nE", "bash -euo pipefail -c Q"),
    *("eval Q", "bash <<< Q", "find / -maxdepth 0 -exec {} \\;", "A='b c' {}", "(( 1 )) && {}"),
    *("echo `{}`", "cat <({})", "{} > /dev/null 2>&1", "time if {}; then :; fi", "exec {}"),
]
TYPED = ["git push --force", "g'i't \"push\" -\\\n-force", "\\git $'pu\\x73h' origin '--force'"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("typed", TYPED)
def test_what_bash_runs_is_found(tmp_path: Path, around: str, typed: str) -> None:
    """By the shell itself, with a `git` that notes how it is called."""
    stub = tmp_path / "git"
    stub.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
    stub.chmod(0o755)
    command = around.replace("Q", shlex.quote(typed)) if "Q" in around else around.format(typed)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(
        ["bash", "-c", command],
        env=path,
        capture_output=True,
        timeout=30,
        cwd=tmp_path,
        check=False,
    )
    called = (tmp_path / "called").read_text().split()
    assert (called[0], called[-1]) == ("push", "--force")
    assert found(command)


@given(st.lists(WORD, min_size=1, max_size=4), st.integers(0, 3))
@MODEST
def test_texts_inside_texts_are_found(plain: list[str], depth: int) -> None:
    """Each level of `bash -c` is read as a shell would."""
    command = shlex.join(["git", *plain])
    for _ in range(depth):
        command = shlex.join(["bash", "-c", command])
    assert found(command, " ".join(["git", *plain]))


def test_no_character_ends_the_process() -> None:
    """Letters of any plane are parts of words; the grammar alone is read beyond its tables by
    them. In a process of its own, since a fault there is no exception."""
    code = (
        "from memory_palace.core.shell import parse\n"
        "for plane in range(17):\n"
        "    for start in range(0, 0x10000, 0x400):\n"
        "        text = ''.join(map(chr, range(plane * 0x10000 + start, plane * 0x10000 + start"
        " + 0x400, 13)))\n"
        "        parse(f'{text} {text}$(git {text}) <<{text} push')\n"
        "print(*parse('gît “push” 宮殿\\U0010fffd').commands[0].words)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr[-500:]
    assert ran.stdout.decode() == "gît “push” 宮殿\U0010fffd\n"
