"""Make the repository's own environment and install a tier into it.

    python3 scripts/install.py [core|bge|e5|milvus|mcp|code|dev]

core    the toolkit with its embedded model (the default)
bge     the whole system: FlagEmbedding and torch too
e5      the toolkit and multilingual-e5-small, a small model for many languages
milvus  the toolkit and a client for Milvus
mcp     the toolkit and what serves it over MCP
code    the toolkit and the grammars that mined code is cut by
dev     all of it and what the tests need

The environment is .venv beside this repository's README, or $VENV; it also gets the command
`palace`. Nothing is installed again while the requirements stay as they are.
"""

import hashlib
import os
import subprocess
import sys

CONTAINED = {
    "bge": ["core"],
    "e5": ["core"],
    "milvus": ["core"],
    "mcp": ["core"],
    "code": ["core"],
    "dev": ["core", "bge", "e5", "milvus", "mcp", "code"],
}
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIERS = {
    "core": ["requirements-core.txt"],
    "bge": ["requirements.txt", "requirements-core.txt", "requirements-bge.txt"],
    "e5": ["requirements-e5.txt", "requirements-core.txt"],
    "milvus": ["requirements-milvus.txt", "requirements-core.txt"],
    "mcp": ["requirements-mcp.txt", "requirements-core.txt"],
    "code": ["requirements-code.txt", "requirements-core.txt"],
    "dev": [
        "requirements-dev.txt",
        "requirements.txt",
        "requirements-core.txt",
        "requirements-bge.txt",
        "requirements-e5.txt",
        "requirements-milvus.txt",
        "requirements-mcp.txt",
        "requirements-code.txt",
    ],
}


def main(arguments):
    """Install the named tier; the exit code is pip's."""
    tier = arguments[0] if arguments else "core"
    if "-h" in arguments or "--help" in arguments:
        print(__doc__.strip())
        return 0
    if tier not in TIERS or len(arguments) > 1:
        known = "core, bge, e5, milvus, mcp, code and dev"
        return _fail("one of %s can be installed, not %s" % (known, " ".join(arguments)), 2)
    if sys.version_info < (3, 11):
        found = "%d.%d" % sys.version_info[:2]
        return _fail("Python 3.11 or newer is needed, this is %s: use another `PYTHON=`" % found, 3)
    environment = os.environ.get("VENV") or os.path.join(REPOSITORY, ".venv")
    stamp = os.path.join(environment, "." + tier)
    wanted = _digest(TIERS[tier])
    python = _python(environment)
    # A stamp says nothing about a Python that was removed or renewed since.
    if _read(stamp) == wanted and _runs([python, "-I", "-S", "-c", ""]):
        os.utime(stamp)
        return 0
    if not _runs([python, "-m", "pip", "--version"]):
        sys.stderr.write("making %s\n" % environment)
        if subprocess.call(_venv(environment)):
            return _fail(
                "no virtual environment could be made: install your system's python3-venv", 3
            )
    sys.stderr.write("installing %s (once)\n" % TIERS[tier][0])
    requirements = os.path.join(REPOSITORY, TIERS[tier][0])
    pip = [
        python,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--quiet",
        "-r",
        requirements,
        "--editable",
        REPOSITORY,
    ]
    if subprocess.call(pip):
        return _fail(
            "pip could not install %s: see above, mend it and run this again" % TIERS[tier][0], 3
        )
    for contained in [*CONTAINED.get(tier, []), tier]:
        with open(os.path.join(environment, "." + contained), "w") as file:
            file.write(_digest(TIERS[contained]))
    return 0


def _runs(command):
    if not os.path.exists(command[0]):
        return False
    try:
        return not subprocess.call(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return False


def _venv(environment):
    """The command that makes an environment. One that is broken is emptied first, but never a
    folder that is none: $VENV may name anything."""
    python, clear = sys.executable, []
    if os.path.exists(os.path.join(environment, "pyvenv.cfg")):
        clear = ["--clear"]
        if _same(sys.prefix, environment):
            python = getattr(sys, "_base_executable", python)  # its own is about to be removed
    return [python, "-m", "venv", *clear, environment]


def _same(a, b):
    a, b = [os.path.normcase(os.path.realpath(path)) for path in (a, b)]
    return a == b


def _python(environment):
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(environment, folder, name)


def _digest(names):
    found = hashlib.sha256()
    for name in [*names, "pyproject.toml"]:  # which names the command
        with open(os.path.join(REPOSITORY, name), "rb") as file:
            found.update(file.read())
    return found.hexdigest()


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _fail(message, code):
    sys.stderr.write("error: %s\n" % message)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
