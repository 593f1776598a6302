"""The command line as a whole: help, unknown commands, pipes, terminals, exit codes."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memory_palace.cli import main as main_module
from memory_palace.cli.main import COMMANDS, main, palace
from memory_palace.core.errors import BadInput, Changed, Missing, Refused
from support.palaces import SCRIPTS, Palace, command


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


def every() -> Iterator[tuple[str, click.Command]]:
    """Each command, those of groups as `model status`, and the toolkit itself."""
    yield "", palace
    context = click.Context(palace)
    for name in COMMANDS:
        found = palace.get_command(context, name)
        assert found
        yield name, found
        if isinstance(found, click.Group):
            for inner, one in found.commands.items():
                yield f"{name} {inner}", one


@pytest.mark.parametrize(("name", "one"), every(), ids=lambda v: v if isinstance(v, str) else "")
def test_help_has_an_example_and_says_what_each_option_is(name: str, one: click.Command) -> None:
    """The help of every command ends with an example and explains every option."""
    for flag in ("-h", "--help"):
        ran = command(*name.split(), flag)
        assert (ran.code, ran.err) == (0, "")
        assert re.search(r"Examples?:\s+palace " + name, ran.out)
    for option in one.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.opts[0] in ran.out
    assert one.get_short_help_str()


def test_the_version_is_told() -> None:
    """`--version` names the toolkit and its version."""
    ran = command("--version")
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"palace, version \d+\.\d+\.\d+\n", ran.out)


@pytest.mark.parametrize("words", [(), ("model",), ("manifest",)])
def test_a_command_that_is_left_out_brings_the_help(words: tuple[str, ...]) -> None:
    """Without a command: the list of commands, as bad usage, over several lines."""
    ran = command(*words)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) > 8
    assert "Commands:" in ran.err


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Refused("no: do that"), 1),
        (BadInput("no: do that"), 2),
        (Missing("no: do that"), 3),
        (Changed("no: do that"), 4),
        (KeyboardInterrupt(), 130),
        (PermissionError(13, "Permission denied", "/a/b"), 3),
    ],
)
def test_a_fault_is_one_line_and_a_code(
    fault: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of fault has its exit code, and one line on stderr."""

    @click.command
    def failing() -> None:
        raise fault

    monkeypatch.setattr(main_module, "_find", lambda _: failing)
    ran = command()
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_a_fault_of_the_toolkit_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw is shown as it is."""

    @click.command
    def failing() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main_module, "_find", lambda _: failing)
    with pytest.raises(ZeroDivisionError):
        main([])


@pytest.mark.parametrize(("flag", "told"), [("-ssh", True), ("-z", True), ("--ssh", False)])
def test_a_word_to_leave_out_that_looks_like_an_option(flag: str, told: bool) -> None:
    """`query` says how a word is excluded; a long option is no such word."""
    ran = command("query", flag)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: no option `{flag if flag[1] == '-' else flag[:2]}`")
    hint = "To exclude a word, write it inside the quotes with the question, or after `--`\n"
    assert ran.err.endswith(hint) == told


@pytest.mark.parametrize(
    ("words", "listed"),
    [(("--root", ".", "kg", "stats"), "palace"), (("kg", "--root", ".", "stats"), "palace kg")],
)
def test_an_option_before_the_command(words: tuple[str, ...], listed: str) -> None:
    """What commands have and the group has not is told to stand after the command."""
    ran = command(*words)
    said = f"`--root` stands after the command: `{listed} --help` lists the commands"
    assert (ran.code, ran.err) == (2, f"error: {said}\n")


def test_an_argument_with_fixed_values_that_is_missing() -> None:
    """Its values are told on the one line."""
    ran = command("import")
    assert ran.code == 2
    start = "error: Missing argument 'KIND'. Choose from: claude-memory, codex-memories, "
    assert ran.err.startswith(start)


def test_another_command_excludes_no_words() -> None:
    """Its unknown options have no such hint."""
    assert command("index", "-z").err.startswith("error: no option `-z`")
    assert "exclude" not in command("index", "-z").err


def test_a_new_palace_names_what_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`init` by the script tells to run the script."""
    monkeypatch.setattr("sys.argv", [str(SCRIPTS / "palace.py")])
    monkeypatch.chdir(SCRIPTS.parent)
    place = str(tmp_path / "new")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["init", place], "palace.py") == 0
    run = "python3 scripts/palace.py"
    last = f'next: `{run} --help`; `{run} query --root {place} "identity"`'
    assert out.getvalue().splitlines()[-1] == last


@pytest.fixture
def many(keyword_palace: Palace) -> Palace:
    """A palace with more to say than a pipe holds."""
    text = "amber ledge " * 150
    keyword_palace.notes(**{f"topics__n{number}": f"# N{number}\n\n{text}" for number in range(60)})
    keyword_palace.command("index")
    return keyword_palace


def shell(line: str, root: Path) -> subprocess.CompletedProcess[str]:
    """A line for bash in which `palace` is the real command; pipes fail as their parts do."""
    env = os.environ | {"PALACE_ROOT": str(root), "PYTHON": sys.executable}
    palace_ = f'palace() {{ "$PYTHON" "{SCRIPTS / "palace.py"}" "$@"; }}; set -o pipefail; '
    return subprocess.run(
        ["bash", "-c", palace_ + line], env=env, capture_output=True, text=True, check=False
    )


def test_a_reader_that_leaves_is_no_fault(many: Palace) -> None:
    """`palace query … | head -1` ends quietly, with 0."""
    ran = shell("palace query --format jsonl -k 60 amber | head -1 | cut -c 1-9", many.root)
    assert (ran.returncode, ran.stdout) == (0, '{"path": \n'), ran.stderr
    assert ran.stderr == "embedder: none (keywords only); as configured\n"
    ran = shell("palace query amber 2>&1 | true", many.root)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_told(many: Palace) -> None:
    """A full disk under stdout is exit 3 and one line; a closed stdout is nothing at all."""
    ran = shell("palace query amber > /dev/full", many.root)
    assert ran.returncode == 3
    assert ran.stderr.splitlines()[-1].startswith(
        "error: cannot read or write the output (No space"
    )
    assert "Traceback" not in ran.stderr
    ran = shell("palace query amber >&-", many.root)
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False)


def test_colour_and_bars_are_for_terminals(many: Palace) -> None:
    """Off a terminal no escape is written; on one there is colour, and a bar that goes away."""
    many.notes(topics__bad="---\ntype: [a]\n---\namber")
    ran = shell("palace index --force; palace query amber; palace doctor", many.root)
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "\r" not in ran.stdout + ran.stderr
    seen, code = on_a_terminal(many.root, "index", "--force")
    assert code == 1
    assert "\x1b[31mpalace/topics/bad.md" in seen
    assert "notes" in seen
    assert "/s" in seen


def on_a_terminal(root: Path, *arguments: str) -> tuple[str, int]:
    """What a command writes to a terminal, and its exit code."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = os.environ | {"PALACE_ROOT": str(root), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, str(SCRIPTS / "palace.py"), *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # Linux ends a terminal like this
        pass
    os.close(ours)
    return seen.decode(), process.wait(60)


def test_interrupted_while_it_waits_for_another_writer(many: Palace) -> None:
    """Control-C ends a wait with 130 and a word on how to go on."""
    from memory_palace.files import locks, roots

    with locks.writer(roots.index_folder(many.root), "a test"):
        process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / "palace.py"), "index"],
            env=os.environ | {"PALACE_ROOT": str(many.root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        assert process.stderr.readline().startswith("embedder: none")
        assert process.stderr.readline().startswith("waiting for a test (process ")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (
        130,
        "",
        "error: interrupted: run it again to go on\n",
    )


@pytest.mark.parametrize("group", ["card", "rules", "promote"])
def test_a_subcommand_that_is_not_there_is_named(group: str) -> None:
    """As a command is: with the nearest, exit 2."""
    ran = command(group, "lst")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: no command `lst`: did you mean `list`?\n"
