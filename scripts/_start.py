"""What every script here starts with: the right Python, then the command.

Only the standard library, and syntax that an old Python can read: its job is to say what is
missing on a machine where much may be.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)
MARK = "PALACE_STARTED_IN"
NEEDED = (
    "click",
    "faiss",
    "filelock",
    "frontmatter",
    "jsonlines",
    "markdown_it",
    "mdit_py_plugins",
    "numpy",
    "pathspec",
    "rich",
    "yaml",
)


def run(command=None):
    """Run one command of the toolkit (or all of them), and exit with its code."""
    words = sys.argv[1:]
    if command is None and words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        import hook

        hook.run(words[1:])
        return
    came_from = os.environ.pop(MARK, "")
    if sys.version_info < OLDEST:
        _elsewhere("Python %d.%d or newer is needed" % OLDEST, came_from)
    if not _installed():
        _elsewhere("the toolkit's packages are not installed", came_from)
    try:
        from memory_palace.cli.main import main

        code = main(sys.argv[1:], program=os.path.basename(sys.argv[0]), command=command)
    except KeyboardInterrupt:  # while the packages are still being imported
        sys.stderr.write("error: interrupted: run it again to go on\n")
        code = 130
    sys.exit(code)


def _installed():
    """Some of the packages are on many machines; only all of them will do."""
    from importlib.util import find_spec

    try:
        return all(find_spec(name) for name in NEEDED)
    except ImportError:
        return False


def _elsewhere(problem, came_from):
    """Go on in the environment that install.py makes, if it is there and is not this one."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    environment = os.environ.get("VENV") or os.path.join(os.path.dirname(HERE), ".venv")
    environment = os.path.abspath(environment)
    python = os.path.join(environment, folder, name)
    ours = os.path.normcase(environment)
    # $VENV may be no environment at all: its Python then says another prefix, each time.
    here = os.path.normcase(os.path.abspath(sys.prefix))
    if os.path.exists(python) and ours not in (here, came_from):
        os.environ[MARK] = ours
        arguments = [python, os.path.abspath(sys.argv[0]), *sys.argv[1:]]
        if os.name == "nt":
            import subprocess

            sys.exit(subprocess.call(arguments))
        os.execv(python, arguments)
    sys.stderr.write(
        "error: %s: run `make setup`, or `python3 scripts/install.py` where there is no make\n"
        % problem
    )
    sys.exit(3)
