"""``palace bench retrieval``: its result, and what it leaves behind: nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import memory_palace
from memory_palace.cli import bench
from memory_palace.files import git
from support.palaces import REPOSITORY, SCRIPTS, Ran, command


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fixture of three questions, and a folder of its own for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in (("a", "amber boats"), ("b", "# Crew\n\ncopper"), ("c", "dune")):
        (notes / f"{name}.md").write_text(text)
    questions = [
        {"q": "amber", "relevant": ["a.md"], "kind": "colour"},
        {"q": "copper", "relevant": ["b.md#Crew"], "kind": "colour"},
        {"q": "elsewhere", "relevant": ["c.md"]},
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"notes": "notes", "questions": questions}))
    return path


def ask(dataset: Path, *flags: str) -> Ran:
    """``palace bench retrieval`` by keywords only."""
    return command("bench", "retrieval", str(dataset), "--embedder", "none", *flags)


def result(dataset: Path, *flags: str) -> dict[str, Any]:
    """What it writes to a file."""
    path = dataset.with_name("result.json")
    assert ask(dataset, "-o", str(path), *flags).code == 0
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_the_result_says_what_was_measured_and_how(dataset: Path) -> None:
    """Data set, settings, embedder, figures, toolkit, and durations last."""
    found = result(dataset, "--against", "keyword")
    assert list(found) == ["dataset", "settings", "embedder", "results", "toolkit", "seconds"]
    assert found["dataset"] | {"sha256": ""} == {
        "name": "set.json",
        "sha256": "",
        "questions": 3,
        "palaces": 1,
        "notes": 3,
        "chunks": 3,
    }
    assert found["settings"] == {
        "pooled": False,
        "limit": None,
        "weights": {
            "semantic": 0.5,
            "recency": 0.25,
            "importance": 0.25,
            "half_life_days": 30.0,
        },
        "now": None,
    }
    assert found["embedder"] == {"name": "none", "fingerprint": None}
    full = found["results"]["full"]
    assert full["notes"] == {"questions": 3, "first": 66.7, "R@5": 66.7, "R@10": 66.7, "MRR": 0.667}
    assert full["lines"]["questions"] == 1
    assert {kind: of["notes"]["R@5"] for kind, of in full["kinds"].items()} == {
        "": 0.0,
        "colour": 100.0,
    }
    assert found["toolkit"]["version"] == memory_palace.__version__
    assert set(found["seconds"]["questions"]) == {"full", "keyword"}


def test_the_same_twice_but_for_the_seconds(dataset: Path) -> None:
    """The figures are no matter of luck."""
    one, two = result(dataset), result(dataset)
    assert one.pop("seconds").keys() == two.pop("seconds").keys()
    assert one == two


def test_the_commit_is_that_of_the_toolkit(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None where it is no checkout of its own, though it may lie within somebody's."""
    toolkit = tmp_path / "outer" / "toolkit"
    (toolkit / "scripts").mkdir(parents=True)
    monkeypatch.setattr(bench, "_TOOLKIT", toolkit)
    git.init(toolkit.parent)
    assert result(dataset)["toolkit"] == {
        "version": memory_palace.__version__,
        "commit": None,
        "changed": None,
    }
    git.init(toolkit)
    (toolkit / "scripts" / "a.py").write_text("")
    assert result(dataset)["toolkit"]["changed"] is True


def test_ways_are_compared_question_by_question(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the difference stands which questions are found better, and which worse."""
    monkeypatch.setitem(bench.measure.ABLATIONS, "keyword", {"rooms": ("nowhere",)})  # type: ignore[arg-type]
    way = result(dataset, "--against", "keyword", "--against", "keyword")["results"]["keyword"]
    assert way["notes"]["against_full"] == {"R@5": -66.7, "better": [], "worse": [1, 2]}
    assert way["lines"]["against_full"] == {"R@5": -100.0, "better": [], "worse": [2]}
    ran = ask(dataset, "--against", "keyword")
    rows = {line[:30].strip(): line[30:].split() for line in ran.out.splitlines()[2:]}
    assert rows["notes R@5"] == ["66.7", "0.0"]
    assert rows["notes R@5 against full"] == ["-66.7"]
    assert rows["notes R@5 against full better"] == ["0"]
    assert rows["notes R@5 against full worse"] == ["2"]


def test_neither_a_palace_nor_the_user_s_weights_count(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The product's own settings are measured, wherever the command is run."""
    (tmp_path / "palace.yaml").write_text("scoring: {semantic: 0.1}\nembedder: minilm\n")
    monkeypatch.chdir(tmp_path)
    assert result(dataset)["settings"]["weights"]["semantic"] == 0.5
    assert not (tmp_path / ".palace").exists()
    assert not (tmp_path / "manifests").exists()


def test_the_embedder_is_the_configured_one_unless_named(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here from the environment."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    ran = command("bench", "retrieval", str(dataset))
    assert (ran.code, ran.err) == (0, "embedder: none (keywords only); as configured\n")


def test_nothing_is_left_behind(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after a run, not after bad input, not after Control-C."""
    temporary = dataset.with_name("temporary")
    before = sorted(p.name for p in dataset.parent.rglob("*"))
    assert ask(dataset).code == 0
    assert ask(dataset, "--against", "raw").code == 3
    assert ask(dataset, "--pooled").code == 2

    def interrupted(*_: object) -> None:
        assert list(temporary.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.measure, "measure", interrupted)
    assert ask(dataset).code == 130
    assert sorted(p.name for p in dataset.parent.rglob("*")) == before


def test_interrupted_among_the_questions(dataset: Path, tmp_path: Path) -> None:
    """A real Control-C in a process of its own: exit 130, one line, and no folder stays."""
    entry = {"q": "amber copper", "relevant": ["a.md"]}
    dataset.write_text(json.dumps({"notes": "notes", "questions": [entry] * 50_000}))
    temporary = dataset.with_name("temporary")
    child = subprocess.Popen(
        [sys.executable, str(SCRIPTS / "palace.py"), "bench", "retrieval", str(dataset)],
        env=os.environ | {"PALACE_EMBEDDER": "none", "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    give_up = time.monotonic() + 60
    while not list(temporary.glob("palace-bench-*/palaces/fixture/.palace/index/*")):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == "error: interrupted: run it again to go on"
    assert list(temporary.iterdir()) == []


def test_where_the_result_goes_is_looked_at_first(dataset: Path) -> None:
    """A long measurement is not lost for a folder that is not there."""
    for place in (dataset.parent, dataset.parent / "none" / "r.json"):
        ran = ask(dataset, "-o", str(place))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"error: {place} cannot be a file: ")


def test_a_limit_takes_the_first_questions(dataset: Path) -> None:
    """And says so in the result."""
    found = result(dataset, "--limit", "2")
    assert (found["dataset"]["questions"], found["settings"]["limit"]) == (2, 2)
    assert found["results"]["full"]["notes"]["R@5"] == 100.0


def test_one_note_is_no_plural(dataset: Path) -> None:
    """The first line counts questions, notes and palaces."""
    assert ask(dataset).out.startswith("set.json: 3 questions, 3 notes in 1 palace\n")
    for name in ("b", "c"):
        (dataset.parent / "notes" / f"{name}.md").unlink()
    dataset.write_text(
        json.dumps({"notes": "notes", "questions": [{"q": "amber", "relevant": ["a.md"]}]})
    )
    assert ask(dataset).out.startswith("set.json: 1 question, 1 note in 1 palace\n")


def test_the_example_in_the_help_is_there() -> None:
    """The fixture that `palace bench --help` names."""
    ran = command("bench", "--help")
    name = ran.out.split("Example: palace bench retrieval ")[1].split()[0]
    assert (REPOSITORY / name).is_file()
