"""scripts/*.py and the Makefile: under any Python, from anywhere, with any words."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.palaces import REPOSITORY, SCRIPTS, Palace

PLAIN = [sys.executable, "-S", "-E"]
"""A Python without packages."""

OF_PALACES = ["palace.py", "build_index_bge.py", "query_bge.py", "graph_router.py"]
OF_PALACES += ["cold_zone_blinding_patch.py"]

STUB = """#!{python}
import json, os, sys
names = ("PALACE_QUESTION", "Q")
print(json.dumps([sys.argv[1:], {{n: os.environ[n] for n in names if n in os.environ}}]))
"""


def run(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, with nothing of Python's in its environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        words, env=env | environment, capture_output=True, text=True, timeout=120, check=False
    )


def stub_python(environment: Path) -> None:
    """Give ``environment`` a Python that prints what it is given, and the stamps of make."""
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(STUB.format(python=sys.executable))
    python.chmod(0o755)
    for tier in ("core", "bge", "e5", "milvus", "mcp", "code", "dev"):
        (environment / f".{tier}").touch()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the toolkit's scripts, with no environment beside it."""
    shutil.copytree(SCRIPTS, tmp_path / "kit/scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "kit"


@pytest.mark.parametrize("name", OF_PALACES)
def test_a_plain_python_says_what_to_run(name: str, copy: Path) -> None:
    """Without packages and without an environment: exit 3 and the command that makes one."""
    ran = run([*PLAIN, str(copy / "scripts" / name), "--help"])
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == (
        "error: the toolkit's packages are not installed: run `make setup`, or "
        "`python3 scripts/install.py` where there is no make\n"
    )


def test_a_plain_python_goes_on_in_the_environment(copy: Path) -> None:
    """With an environment beside the scripts, every word is handed to its Python."""
    stub_python(copy / ".venv")
    words = ["a b", "", "$HOME `x` \"'", "-k", "näme\n"]
    ran = run([*PLAIN, str(copy / "scripts/query_bge.py"), *words])
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)[0] == [str(copy / "scripts/query_bge.py"), *words]


def test_the_environment_that_was_chosen_is_gone_on_in(copy: Path, tmp_path: Path) -> None:
    """``$VENV`` counts over the environment beside the scripts, as it does for install.py."""
    stub_python(copy / ".venv")
    stub_python(tmp_path / "mine")
    (copy / ".venv/bin/python").write_text("#!/bin/sh\nexit 9\n")
    ran = run([*PLAIN, str(copy / "scripts/palace.py"), "doctor"], VENV=str(tmp_path / "mine"))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)[0] == [str(copy / "scripts/palace.py"), "doctor"]


def test_a_python_that_is_no_environment_is_tried_once(copy: Path, tmp_path: Path) -> None:
    """``$VENV`` may lead to a Python that calls another folder its own: that ends with a word."""
    python = tmp_path / "mine/bin/python"
    python.parent.mkdir(parents=True)
    base = Path(sys.base_prefix) / "bin" / Path(sys.executable).resolve().name
    python.write_text(f'#!/bin/sh\nexec {base} -S -E "$@"\n')
    python.chmod(0o755)
    ran = run([*PLAIN, str(copy / "scripts/palace.py"), "doctor"], VENV=str(tmp_path / "mine"))
    assert ran.returncode == 3
    assert ran.stderr.startswith("error: the toolkit's packages are not installed: run")


def test_an_environment_without_packages_is_not_asked_for_ever(copy: Path) -> None:
    """The environment's own Python, without packages, says so and stops."""
    python = copy / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(Path(sys.base_prefix) / "bin" / Path(sys.executable).resolve().name)
    (copy / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
    for first in ([str(python)], PLAIN):
        ran = run([*first, str(copy / "scripts/palace.py"), "doctor"])
        assert ran.returncode == 3, ran.stderr
        assert "run `make setup`" in ran.stderr


def test_every_package_that_is_imported_is_asked_for() -> None:
    """`scripts/_start.py` knows what the library imports wherever it starts."""
    import _start

    imported = set()
    for path in (SCRIPTS / "memory_palace").rglob("*.py"):
        if path.match("agents/mcp_*.py"):
            continue  # imported by `palace mcp` once the extra is there
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module)
    foreign = {name.split(".")[0] for name in imported} - sys.stdlib_module_names
    asked_for = {name.split(".")[0] for name in _start.NEEDED}
    assert foreign - {"memory_palace"} <= asked_for


def test_a_script_stands_for_its_command(keyword_palace: Palace) -> None:
    """The scripts are the commands, in whatever folder they are called, and say their own name."""
    keyword_palace.notes(topics__a="The amber ledge, see [[b]].", topics__b="The birch.")
    folder = keyword_palace.root / "palace/topics"
    for name, words, said in (
        ("build_index_bge.py", [], "2 added"),
        ("query_bge.py", ["--format", "files", "amber"], "palace/topics/a.md:1-1"),
        ("graph_router.py", ["--check"], '"palace/topics/b.md"'),
        ("cold_zone_blinding_patch.py", ["--check"], "none of 0 archived notes"),
    ):
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / name), *words],
            cwd=folder,
            env=os.environ | {"PALACE_EMBEDDER": "none"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
    ran = run([sys.executable, str(SCRIPTS / "query_bge.py"), "--tpye"])
    assert (ran.returncode, ran.stderr) == (
        2,
        "error: no option `--tpye`: did you mean `--type`?\n",
    )


@pytest.mark.parametrize("words", [["everything"], ["core", "bge"], ["--force"], [""]])
def test_install_takes_one_known_tier(words: list[str]) -> None:
    """Anything else is bad usage, and says what can be installed."""
    ran = run([*PLAIN, str(SCRIPTS / "install.py"), *words])
    assert (ran.returncode, ran.stdout) == (2, "")
    known = "core, bge, e5, milvus, mcp, code and dev"
    assert ran.stderr.startswith(f"error: one of {known} can be installed, not ")
    assert ran.stderr.count("\n") == 1


def test_install_explains_itself() -> None:
    """`--help` lists the tiers."""
    ran = run([*PLAIN, str(SCRIPTS / "install.py"), "--help"])
    assert (ran.returncode, ran.stderr) == (0, "")
    for tier in ("core", "bge", "e5", "milvus", "dev"):
        assert re.search(rf"^{tier} ", ran.stdout, re.MULTILINE)


def test_install_does_nothing_twice(copy: Path, tmp_path: Path) -> None:
    """With the stamp of these very requirements, nothing is run; a stale stamp is not believed."""
    for path in (*REPOSITORY.glob("requirements*.txt"), REPOSITORY / "pyproject.toml"):
        shutil.copy(path, copy)
    environment = tmp_path / "elsewhere"
    stub_python(environment)
    install = [*PLAIN, str(copy / "scripts/install.py"), "core"]
    ran = run(install, VENV=str(environment))
    assert ran.returncode == 0, ran.stderr
    requirements = ["-r", str(copy / "requirements-core.txt")]
    assert json.loads(ran.stdout)[0][-4:] == [*requirements, "--editable", str(copy)]
    ran = run(install, VENV=str(environment))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    with (copy / "requirements-core.txt").open("a") as file:
        file.write("more==1\n")
    assert run(install, VENV=str(environment)).stdout


@pytest.mark.parametrize(
    ("tier", "also"),
    [
        ("bge", ["core"]),
        ("e5", ["core"]),
        ("mcp", ["core"]),
        ("code", ["core"]),
        ("dev", ["core", "bge", "e5", "milvus", "mcp", "code"]),
    ],
)
def test_install_marks_what_a_tier_contains(
    copy: Path, tmp_path: Path, tier: str, also: list[str]
) -> None:
    """What came with a larger tier is not installed again; what did not come is not marked."""
    for path in (*REPOSITORY.glob("requirements*.txt"), REPOSITORY / "pyproject.toml"):
        shutil.copy(path, copy)
    environment = tmp_path / "elsewhere"
    stub_python(environment)
    install = [*PLAIN, str(copy / "scripts/install.py")]
    assert run([*install, tier], VENV=str(environment)).returncode == 0
    stamps = (path for path in environment.iterdir() if path.is_file())
    marked = {path.name for path in stamps if path.read_text()}
    assert marked == {f".{name}" for name in (*also, tier)}
    for name in (*also, tier):
        assert run([*install, name], VENV=str(environment)).stdout == ""


def test_install_tells_of_a_pip_that_fails(copy: Path, tmp_path: Path) -> None:
    """Exit 3, what failed and what to do; the stamp is not set."""
    for path in (*REPOSITORY.glob("requirements*.txt"), REPOSITORY / "pyproject.toml"):
        shutil.copy(path, copy)
    python = tmp_path / "elsewhere/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\n[ "$3" = --version ]\n')
    python.chmod(0o755)
    ran = run([*PLAIN, str(copy / "scripts/install.py")], VENV=str(tmp_path / "elsewhere"))
    assert ran.returncode == 3
    assert "pip could not install requirements-core.txt" in ran.stderr
    assert not (tmp_path / "elsewhere/.core").exists()


VENV_STUB = """
import json, os, sys
folder = sys.argv[-1]
os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
python = os.path.join(folder, "bin", "python")
if os.path.lexists(python):
    os.unlink(python)
with open(python, "w") as file:
    file.write("#!/bin/sh\\nexit 0\\n")
os.chmod(python, 0o755)
with open(os.path.join(folder, "made"), "w") as file:
    json.dump(sys.argv[1:], file)
"""


@pytest.mark.parametrize(
    ("state", "made"),
    [
        ("nothing there", []),
        ("a python that is gone", ["--clear"]),
        ("a python that leads nowhere", ["--clear"]),
        ("a python that does not run", ["--clear"]),
        ("no pip", ["--clear"]),
        ("no environment at all", []),
        ("whole", None),
    ],
)
def test_a_broken_environment_is_made_anew(
    copy: Path, tmp_path: Path, state: str, made: list[str] | None
) -> None:
    """A stamp does not stand for a Python that runs, and a half-made environment is no end.

    A folder that is no environment is never emptied.
    """
    for path in (*REPOSITORY.glob("requirements*.txt"), REPOSITORY / "pyproject.toml"):
        shutil.copy(path, copy)
    (copy / "scripts/venv.py").write_text(VENV_STUB)  # found before the library's own
    environment = tmp_path / "elsewhere"
    python = environment / "bin/python"
    install = [str(Path(sys.executable)), "-S", str(copy / "scripts/install.py"), "core"]
    if state != "nothing there":
        stub_python(environment)
        (environment / "pyvenv.cfg").touch()
        python.write_text("#!/bin/sh\nexit 0\n")
        assert run(install, VENV=str(environment)).returncode == 0
        assert (environment / ".core").read_text(), "the stamp is set"
    if state in ("a python that is gone", "a python that leads nowhere", "no environment at all"):
        python.unlink()
    if state == "a python that leads nowhere":
        python.symlink_to("nowhere")
    if state == "a python that does not run":
        python.write_text("#!/nowhere/python\n")
    if state == "no environment at all":
        (environment / "pyvenv.cfg").unlink()
    if state == "no pip":
        python.write_text('#!/bin/sh\n[ "$2" != pip ]\n')
        (environment / ".core").unlink()
    environment_of_python = {"VENV": str(environment), "PYTHONPATH": str(copy / "scripts")}
    ran = run(install, **environment_of_python)
    assert ran.returncode == 0, ran.stderr
    if made is None:
        assert not (environment / "made").exists()
        assert not ran.stderr
    else:
        assert json.loads((environment / "made").read_text()) == [*made, str(environment)]
        assert ran.stderr.startswith(f"making {environment}\ninstalling ")
    assert run(install, **environment_of_python).stderr == "", "made once"


needs_make = pytest.mark.skipif(not shutil.which("make"), reason="no make here")


def make(environment: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``make`` in the repository, with another environment."""
    return run(
        ["make", "-C", str(REPOSITORY), "--no-print-directory", *words, f"VENV={environment}"]
    )


@needs_make
@pytest.mark.parametrize(
    "question",
    [
        "plain words",
        "it's \"quoted\" 'twice'",
        "$HOME $(HOME) ${HOME} $$ $",
        "`touch pwned` $(touch pwned) ; touch pwned & | > pwned",
        "$(shell touch pwned)$(error stop)",
        "two\nlines\n\n# and a # sign \\ \\\\ \t tab",
        "%s %% -k 5 --type x",
        "宮殿 🏛️ = := a=b",
        "",
    ],
)
def test_make_hands_on_the_question_as_it_was_typed(question: str, tmp_path: Path) -> None:
    """Quotes, dollars, backquotes, line breaks: nothing is expanded, nothing is run."""
    stub_python(tmp_path / "env")
    ran = make(tmp_path / "env", "query", f"Q={question}", "ARGS=--type 'a b' -k 3")
    assert ran.returncode == 0, ran.stderr
    words, environment = json.loads(ran.stdout)
    assert words == ["scripts/query_bge.py", "--type", "a b", "-k", "3", "--", question]
    assert environment == {"PALACE_QUESTION": question}
    assert not (REPOSITORY / "pwned").exists()


@needs_make
def test_make_lists_its_targets(tmp_path: Path) -> None:
    """`make` and `make help` show every target, each with what it does."""
    targets = re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    for words in ((), ("help",)):
        ran = make(tmp_path / "env", *words)
        assert ran.returncode == 0
        listed = dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", ran.stdout, re.MULTILINE))
        assert sorted(listed) == sorted(targets)
    phony = re.search(r"^\.PHONY: (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert phony
    assert sorted(phony.group(1).split()) == sorted(targets)


@needs_make
@pytest.mark.parametrize(
    ("target", "script"),
    [
        ("index", "scripts/build_index_bge.py"),
        ("graph", "scripts/graph_router.py"),
        ("doctor", "scripts/palace.py"),
    ],
)
def test_make_targets_are_the_scripts(target: str, script: str, tmp_path: Path) -> None:
    """Each target runs its script with ARGS."""
    stub_python(tmp_path / "env")
    ran = make(tmp_path / "env", target, "ARGS=--check")
    assert ran.returncode == 0, ran.stderr
    assert [w for w in json.loads(ran.stdout)[0] if w != "doctor"] == [script, "--check"]
