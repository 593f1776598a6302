"""`palace promote` on the command line."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memory_palace.core import proposals, topics
from memory_palace.files import config as configs
from memory_palace.files import git
from support.palaces import Palace

FORCED = "Never run `git push --force`: it drops what others pushed"
SURE = proposals.proposal_id("enforcement", "lesson", FORCED)


def seen(palace: Palace, text: str, times: int, category: str = "lesson") -> str:
    """An entry and as many events; its id."""
    key = topics.entry_id(category, text)
    path = topics.CATEGORIES[category].path
    place = palace.root / path
    before = place.read_text() if place.exists() else ""
    palace.write(path, f"{before}- [{category}] {text} ^{key}\n")
    shared = {"by": "pi@laptop", "id": key, "category": category, "text": text, "path": path}
    events = [
        {
            "at": f"2026-11-{10 + n:02}T09:00:00Z",
            "event": "reinforced" if n else "remembered",
            "uid": f"{key}{n:04x}",
            "cue": "explicit",
            **(shared if n == 0 else {"by": "pi@laptop", "id": key}),
        }
        for n in range(times)
    ]
    log = palace.root / "manifests/memory_events.jsonl"
    log.parent.mkdir(exist_ok=True)
    with log.open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
    return key


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """A palace with one lesson that is ready."""
    made = Palace(tmp_path / "root")
    seen(made, FORCED, 3)
    return made


def test_a_dry_run_writes_nothing(palace: Palace) -> None:
    """The list is the same as that of the scan that follows."""
    before = {path for path in palace.root.rglob("*") if path.is_file()}
    dry = palace.command("promote", "scan", "--dry-run", "--format", "jsonl")
    assert dry.code == 0
    assert {path for path in palace.root.rglob("*") if path.is_file()} == before
    wet = palace.command("promote", "scan", "--format", "jsonl")
    assert json.loads(dry.out)["id"] == json.loads(wet.out)["id"] == SURE


def test_the_keys_are_stable(palace: Palace) -> None:
    """One object a line, with the same keys for each."""
    palace.command("promote", "scan")
    listed = json.loads(palace.command("promote", "list", "--format", "jsonl").out)
    assert list(listed) == [
        "id", "status", "destination", "category", "text", "confidence", "created", "reason",
        "evidence", "path", "page", "decided_by", "decided", "decision_reason",
    ]  # fmt: skip
    scanned = json.loads(palace.command("promote", "scan", "--format", "jsonl").out)
    assert list(scanned) == [*listed, "new"]
    assert scanned["new"] is False


def test_show_prints_the_file(palace: Palace) -> None:
    """As it stands, to be piped or read."""
    palace.command("promote", "scan")
    shown = palace.command("promote", "show", SURE)
    path = next((palace.root / "palace/reflection_wing/proposals").iterdir())
    assert shown.out == path.read_text()


@pytest.mark.parametrize("verb", ["approve", "reject", "show"])
def test_ids_are_exact(palace: Palace, verb: str) -> None:
    """A part of an id is none; the nearest is named, of candidates too."""
    palace.command("promote", "scan")
    palace.write(
        "palace/reflection_wing/constitution_candidates/no-hit.md",
        "---\ntype: constitution_candidate\n---\nText.\n",
    )
    why = () if verb == "show" else ("--reason", "why")
    ran = palace.command("promote", verb, SURE[:11], *why)
    assert ran.code == 1
    assert f"did you mean {SURE}?" in ran.err
    if why:
        ran = palace.command("promote", verb, "no-hits", *why)
        assert (ran.code, "did you mean no-hit?" in ran.err) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve", SURE),
        ("approve", SURE, "--reason", "  "),
        ("approve", SURE, "--reason", "why", "--project", "x"),
        ("reject", SURE, "--reason", ""),
        ("scan", "--limit", "0"),
        ("scan", "--limits", "3"),
        ("list", "--status", "open"),
    ],
)
def test_bad_input_is_2(palace: Palace, arguments: tuple[str, ...]) -> None:
    """And nothing is decided."""
    palace.command("promote", "scan")
    assert palace.command("promote", *arguments).code == 2
    listed = json.loads(palace.command("promote", "list", "--format", "jsonl").out)
    assert listed["status"] == "proposed"


def test_a_candidate_is_rejected_by_name(palace: Palace) -> None:
    """The note stays and says so; a second decision is refused."""
    path = "palace/reflection_wing/constitution_candidates/no-hit.md"
    palace.write(path, "---\ntype: constitution_candidate\n---\nText.\n")
    ran = palace.command("promote", "reject", "no-hit", "--by", "Ann", "--reason", "too early")
    assert (ran.code, ran.out) == (0, f"rejected {path}\n")
    assert "decision_reason: too early" in (palace.root / path).read_text()
    ran = palace.command("promote", "approve", path, "--by", "Ann", "--reason", "after all")
    assert (ran.code, "rejected already" in ran.err) == (1, True)


def test_an_approval_commits_its_own_paths(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is the subject; what else lies about stays uncommitted."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    palace.write("palace.yaml", "git: {commit: auto}\n")
    git.init(palace.root)
    palace.command("promote", "scan", "--reason", "weekly look")
    palace.write("palace/other.md", "mine\n")
    ran = palace.command("promote", "approve", SURE, "--reason", "twice in a month")
    assert ran.code == 0, ran.err
    listed = git.run(palace.root, "show", "--name-only", "--format=%s", "HEAD")
    assert listed is not None
    lines = listed.decode().split()
    assert listed.decode().startswith("twice in a month\n")
    assert "palace/reflection_wing/rules/never-run-git-push-force.md" in lines
    assert "palace/topics/lessons.md" in lines
    assert "palace/other.md" not in lines


def turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own configuration lets sure rules apply by themselves."""
    load = configs.load

    def with_it(root: Path, *more: object) -> configs.Config:
        return replace(load(root, *more), auto_apply=True)  # type: ignore[arg-type]

    monkeypatch.setattr(configs, "load", with_it)


def test_sure_rules_apply_by_themselves_where_the_user_says_so(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those; a page that is there holds up none of the others."""
    seen(palace, "Never run `make deploy` on Fridays", 3)
    seen(palace, "Never run `make wipe`", 3)
    palace.command("promote", "scan")
    assert palace.command("promote", "apply").code == 1
    turned_on(monkeypatch)
    palace.write("palace/reflection_wing/rules/never-run-make-wipe.md", "mine\n")
    ran = palace.command("promote", "apply")
    assert ran.code == 1
    assert "never-run-make-wipe.md is there already" in ran.err
    assert re.findall("^applied .*", ran.out, re.MULTILINE) == [
        f"applied {SURE}  enforcement  palace/reflection_wing/rules/never-run-git-push-force.md"
    ]
    (palace.root / "palace/reflection_wing/rules/never-run-make-wipe.md").unlink()
    assert palace.command("promote", "apply").code == 0
    ran = palace.command("promote", "apply")
    assert (ran.code, ran.out) == (0, "")


def test_a_palace_cannot_turn_it_on(palace: Palace) -> None:
    """A key of the user's own configuration is none of a palace."""
    palace.write("palace.yaml", "promote: {auto_apply: true}\n")
    assert palace.command("promote", "apply").code == 2
