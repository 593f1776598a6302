"""What a command imports is what it needs: most of a cold start is imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.cli.main import COMMANDS, SUMMARIES, palace
from memory_palace.embed import minilm
from serve.running import questions, serving
from support.palaces import SCRIPTS, Palace

HEAVY = {
    *("faiss", "onnxruntime", "tokenizers", "torch", "transformers", "FlagEmbedding"),
    *("rich", "pydantic", "markdown_it", "mdit_py_plugins", "frontmatter", "jsonlines"),
    *("filelock", "pathspec", "pymilvus", "asyncio"),
}
_RUN = """
import atexit, runpy, sys
told, sys.argv = sys.argv[1], sys.argv[2:]
sys.path[0] = sys.argv[0].rsplit("/", 1)[0]
before = set(sys.modules)
atexit.register(lambda: open(told, "w").write(" ".join(set(sys.modules) - before)))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only, and no server by itself."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    monkeypatch.setenv("CI", "true")


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """An indexed palace of one note."""
    keyword_palace.notes(topics__amber="# Stones\n\nThe amber ledge. [[amber]]")
    keyword_palace.command("index")
    return keyword_palace


def imported(folder: Path, *words: str) -> set[str]:
    """All modules that `palace …`, in a process of its own, has imported by its end."""
    told = folder / "imported"
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, str(told), str(SCRIPTS / "palace.py"), *words],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(told.read_text().split())


def foreign(modules: set[str]) -> set[str]:
    """The packages among them, without ours and those of the standard library."""
    tops = {name.split(".")[0] for name in modules} - sys.stdlib_module_names
    return {name for name in tops if name[0] != "_"} - {"memory_palace", "cython_runtime"}


def heavy(modules: set[str]) -> set[str]:
    """Those of them that take long and that a plain question has no use for."""
    return {name.split(".")[0] for name in modules} & HEAVY


@pytest.mark.parametrize(
    "words",
    [("--help",), ("--version",), ("query", "--help"), ("serve", "--help")],
    ids=" ".join,
)
def test_help_imports_click_alone(filled: Palace, words: tuple[str, ...]) -> None:
    """No package but click, not even numpy."""
    assert foreign(imported(filled.root, *words)) == {"click"}


def test_a_search_by_keywords_imports_what_it_needs(filled: Palace) -> None:
    """Arrays for the scores and YAML for the settings; no vectors, model, parser or bar."""
    for form in ("text", "jsonl"):
        words = ("query", "--root", str(filled.root), "--format", form, "amber")
        found = imported(filled.root, *words)
        assert foreign(found) <= {"click", "numpy", "yaml"}
        assert heavy(found) == set()


@pytest.mark.skipif(
    not (minilm.runnable() and minilm.find(None)), reason="needs the embedded model"
)
def test_a_search_with_the_embedded_model_imports_no_other(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the big model's libraries, and nothing that only writers need."""
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    filled.command("index")
    found = imported(filled.root, "query", "--root", str(filled.root), "amber")
    assert {"onnxruntime", "tokenizers"} <= foreign(found)
    assert not foreign(found) & {"torch", "transformers", "FlagEmbedding", "rich", "markdown_it"}


def test_what_the_server_answers_imports_next_to_nothing(filled: Palace) -> None:
    """Click and the client: no array, index, model or setting."""
    with serving(filled.root):
        for number, form in enumerate(("text", "jsonl", "files"), start=1):
            words = ("query", "--root", str(filled.root), "--format", form, "amber")
            found = imported(filled.root, *words)
            assert questions(filled.root) == number
            assert foreign(found) == {"click"}
            assert heavy(found) == set()
            ours = {name for name in found if name.startswith("memory_palace.")}
            assert not {name for name in ours if name.split(".")[1] == "embed"}
            for name in ("index.catalog", "search.searcher", "files.config", "serve.server"):
                assert f"memory_palace.{name}" not in ours


def test_the_list_of_commands_says_what_their_help_says() -> None:
    """The table of first sentences is of every command, and true."""
    import click

    assert set(SUMMARIES) == set(COMMANDS)
    for name, said in SUMMARIES.items():
        command = palace.get_command(click.Context(palace), name)
        assert command
        assert command.get_short_help_str(limit=200) == said
