"""What the documents list is what the code has."""

import dataclasses
import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import memory_palace
from docs import documents, playing, usage
from memory_palace.cli import output
from memory_palace.core import errors, events, kinds, topics
from memory_palace.files import config, starter
from memory_palace.search.hits import Hit, Neighbor, Parts, Same
from support.palaces import NOW, REPOSITORY, SCRIPTS, script
from test_architecture import FLOORS, LIBRARY

REFERENCES = REPOSITORY / "references"
CLI = REFERENCES / "cli.md"
CLI_PAGES = (
    CLI,
    *(
        REFERENCES / f"cli_{name}.md"
        for name in ("facts", "memory", "mining", "observations", "session")
    ),
)
README = REPOSITORY / "README.md"
FOREIGN = {"--quiet", "--no-ensure-ascii", "-m", "-r", "-e", "-x", "-A", "-h", "--help"}
"""Flags of other programs, and help, which every command has."""

_MACHINE = re.compile(r"(?<![\w.~-])/(?:work|root|tmp|home|Users|opt|mnt|var)\b")
_HOST = re.compile(r"https?://|\bwww\.|\b[\w-]+\.(?:org|com|io|co|net|dev|ai)\b")
_ISSUE = re.compile(r"(?<!\w)#\d{1,4}\b|\bissue \d", re.IGNORECASE)


def every() -> pytest.MarkDecorator:
    """Once for each document."""
    return pytest.mark.parametrize("path", documents.paths(), ids=documents.name)


def test_every_command_that_is_written_exists_with_its_flags() -> None:
    """Commands in blocks and code spans name a command of the toolkit and flags that it has."""
    found = 0
    for use in usage.uses():
        words = usage.palace_words(use.words)
        if words is None:
            continue
        name, flags = usage.called(words) or ((), [])
        unknown = set(flags) - usage.commands()[name] - FOREIGN
        assert not unknown, f"{use.place}: {' '.join(use.words)}: no {unknown}"
        found += 1
    assert found > 50


def test_every_target_of_make_that_is_written_exists() -> None:
    """`make …` names targets of the Makefile, and each of those is in the README."""
    for use in usage.uses():
        if use.words[0] == "make":
            named = [w for w in use.words[1:] if "=" not in w and not w.startswith("-")]
            assert set(named) <= {*playing.targets(), "…"}, f"{use.place}: {use.words}"
    readme = README.read_text()
    assert {
        t for t in playing.targets() if f"`{t}`" not in readme and f"make {t}" not in readme
    } == set()


@every()
def test_every_flag_that_is_written_exists(path: Path) -> None:
    """A flag in code is one that some command has."""
    known = frozenset().union(*usage.commands().values()) | FOREIGN
    code = [*documents.inline_code(path), *(block.text for block in documents.blocks(path))]
    written = {flag for text in code for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
    assert written <= known


@pytest.mark.parametrize(
    "command", [name for name in usage.commands() if len(name) == 1], ids="".join
)
def test_the_flags_of_a_command_are_those_in_its_section(command: tuple[str, ...]) -> None:
    """The table below `## palace NAME` has every flag that `--help` shows, and no other."""
    heading = f"palace {command[0]}"
    every_flag = {
        f for name, flags in usage.commands().items() if name[:1] == command for f in flags
    }
    listed = {
        code
        for page in CLI_PAGES
        for row in documents.rows(page)
        if row.heading == heading
        for code in documents.codes(row.cells[0])
        if code.startswith("-")
    }
    assert listed == every_flag
    for name in usage.commands():
        if len(name) > 1 and name[:1] == command:
            pages = [page for page in CLI_PAGES if heading in documents.headings(page)]
            shown = "".join(documents.section(page, heading) for page in pages)
            assert f"palace {' '.join(name)}" in shown


def test_the_scripts_are_those_listed() -> None:
    """The table of scripts says which command each stands for."""
    listed = {
        row.cells[0].strip("`"): row.cells[1].strip("`").removeprefix("palace ")
        for row in documents.rows(CLI)
        if row.heading == "Commands"
    }
    there = {f"scripts/{p.name}": playing.command_of(p) for p in SCRIPTS.glob("*.py")}
    assert listed == {name: command for name, command in there.items() if command}
    skill = {row.cells[0].strip("`") for row in documents.rows(REPOSITORY / "SKILL.md")}
    assert skill == {name for name in there if not name.startswith("scripts/_")}


@pytest.mark.parametrize("name", ["query_bge.py", "palace.py"])
def test_a_script_has_both_spellings_of_help(name: str) -> None:
    """`-h` and `--help` give the same, whichever way a command is called."""
    short, long = script(name, "-h"), script(name, "--help")
    assert (short.code, short.out) == (0, long.out)
    assert "Example" in long.out


def test_the_keys_of_jsonl_are_those_listed() -> None:
    """The table of keys and `output.as_dict` agree, nested ones too."""
    parts = Parts(0.5, 1.0, 1.0, None, 0.0)
    hit = Hit(
        *("palace/a.md", "0" * 12, "A", ("A",), 1, 2, NOW, "palace", None, 0.5, parts, "text"),
        neighbors=(Neighbor("palace/b.md", "B"),),
        same=(Same("palace/c.md", 1, 2),),
        best=(1, 1),
    )
    given = set(flat(json.loads(output.as_json(hit))))
    listed = {
        code
        for row in documents.rows(CLI)
        if row.heading == "jsonl"
        for code in documents.codes(row.cells[0])
    }
    assert listed == given


def flat(value: dict[str, Any], above: str = "") -> list[str]:
    """Keys with their parents: ``a.b``, and ``a[].b`` for those of objects in a list."""
    found = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            found += flat(inner, f"{above}{key}.")
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            found += flat(inner[0], f"{above}{key}[].")
        else:
            found.append(above + key)
    return found


def test_the_exit_codes_are_those_listed() -> None:
    """The table of exit codes has those of the error classes, done and interrupted."""
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    there = {c.exit_code for c in classes if issubclass(c, errors.PalaceError)} | {0, 130}
    listed = [r.cells[0].strip("`") for r in documents.rows(CLI) if r.heading == "Exit codes"]
    assert sorted(map(int, listed)) == sorted(there)


def constants() -> list[documents.Row]:
    """The rows of the table of constants."""
    return [row for row in documents.rows(REFERENCES / "scoring.md") if row.heading == "Constants"]


@pytest.mark.parametrize("row", constants(), ids=lambda row: row.cells[0])
def test_a_constant_has_the_value_listed(row: documents.Row) -> None:
    """The name in the second column leads to the value in the third."""
    assert float(row.cells[2]) == value_of(row.cells[1].strip("`"))


def test_no_weight_or_importance_is_left_out() -> None:
    """Every weight and every priority is in the table of constants."""
    from memory_palace.core import scoring, weights

    names = {row.cells[1].strip("`").rsplit(".", 1)[-1] for row in constants()}
    assert {f.name for f in dataclasses.fields(weights.Weights)} <= names
    assert set(scoring.IMPORTANCE) == set(kinds.PRIORITIES) <= names


def value_of(name: str) -> float:
    """The number at ``room.module.NAME``, with a field's default or a key below it."""
    room, module, *rest = name.split(".")
    value: Any = importlib.import_module(f"memory_palace.{room}.{module}")
    for part in rest:
        if isinstance(value, type):
            value = value()
        value = value[part] if isinstance(value, dict) else getattr(value, part)
    return float(value)


@pytest.mark.parametrize(
    ("page", "words", "name"),
    [
        ("cli.md", "at most {} texts to embed", "embed.registry.QUICK_TEXTS"),
        ("note_format.md", "may\nhave {} MB", "files.read.MOST_BYTES"),
        ("architecture.md", "less than {} seconds before", "core.diff.FRESH_NS"),
        ("architecture.md", "the last {}", "index.blinding._KEPT_COPIES"),
    ],
)
def test_a_number_in_a_sentence_is_the_code_s(page: str, words: str, name: str) -> None:
    """Sizes and limits named in passing are those of the code."""
    number = value_of(name) / {"MOST_BYTES": 2**20, "FRESH_NS": 1e9}.get(name.split(".")[-1], 1)
    spelled = {2: "two", 10: "10"} | ({10: "ten"} if "last" in words else {})
    expected = words.format(spelled.get(int(number), int(number)))
    assert expected in (REFERENCES / page).read_text()


def test_the_house_is_the_one_on_disk() -> None:
    """The table of the house has every room with its floor, and no other."""
    listed = {
        row.cells[1].strip("`"): int(row.cells[0])
        for row in documents.rows(REFERENCES / "architecture.md")
        if row.heading == "The house"
    }
    there = {p.name: FLOORS[p.name] for p in LIBRARY.iterdir() if (p / "__init__.py").is_file()}
    assert listed == there


def test_the_rooms_of_a_palace_are_those_of_a_new_one() -> None:
    """The trees that the documents draw have the top rooms that `palace init` makes."""
    made = {room.split("/")[0] for room in starter.ROOMS}
    for path in (REFERENCES / "architecture.md", REPOSITORY / "SKILL.md"):
        assert set(re.findall(r"^[├└]── (\w+)/", path.read_text(), re.MULTILINE)) == made
    for room in starter.ROOMS:
        assert (REPOSITORY / "palace" / room.split("/")[0]).is_dir()


def test_notes_are_described_as_they_are_read() -> None:
    """Halls, priorities and the keys that are read are in the page on notes."""
    page = REFERENCES / "note_format.md"
    text = page.read_text()
    assert all(
        f"`{word}`" in text for word in (*kinds.HALLS, *kinds.PRIORITIES, kinds.DEFAULT_TYPE)
    )
    keys = {
        c
        for r in documents.rows(page)
        if r.heading == "Frontmatter"
        for c in documents.codes(r.cells[0])
    }
    read = set(re.findall(r'reader\.\w+\("(\w+)"', (LIBRARY / "core" / "note.py").read_text()))
    assert read | {"hall"} <= keys


def settings(path: Path) -> list[str]:
    """The YAML blocks of a document."""
    return [block.text for block in documents.blocks(path) if block.language == "yaml"]


@every()
def test_settings_that_are_shown_load(path: Path, tmp_path: Path) -> None:
    """Every YAML block is accepted as the user's own configuration."""
    for text in settings(path):
        own = tmp_path / "memory-palace" / "config.yaml"
        own.parent.mkdir(exist_ok=True)
        own.write_text(text)
        (tmp_path / "palace.yaml").write_text("")
        config.load(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path)})


def test_the_settings_are_those_listed(tmp_path: Path) -> None:
    """The page on commands has every key of both files, with the code's defaults."""
    palace, user = (set(yaml.safe_load(text)) for text in settings(CLI))
    assert palace == set(config._PALACE)
    assert user == set(config._USER)
    (tmp_path / "palace.yaml").write_text(settings(CLI)[0])
    loaded = config.load(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path)})
    examples = {"exclude": (), "rooms": {}, "one_valued": (), "extensions": (), "mine_exclude": ()}
    without_examples = dataclasses.replace(loaded, **examples)
    assert without_examples == config.Config()


def test_the_environment_is_the_one_listed() -> None:
    """Every PALACE_ variable that the code reads is in the page on commands, and no other."""
    code = "".join(path.read_text() for path in SCRIPTS.rglob("*.py"))
    pattern = re.compile(r"\bPALACE_[A-Z0-9_]+\b")
    own = {
        "PALACE_STARTED_IN",
        "PALACE_HOOK_STARTED_IN",
    }  # what one script tells the next, not a setting
    assert set(pattern.findall(code)) - own == set(pattern.findall(CLI.read_text()))


def test_the_embedders_are_those_listed() -> None:
    """The README's table has every embedder."""
    rows = [row for row in documents.rows(README) if row.heading == "Embedders"]
    assert {row.cells[0].strip("`") for row in rows} == set(config.EMBEDDERS)


@every()
def test_links_lead_somewhere(path: Path) -> None:
    """Links between documents name files that are there and headings that they have."""
    for link in documents.links(path):
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), link
        assert not anchor or anchor in map(documents.slug, documents.headings(target)), link


@every()
def test_no_machine_and_no_host_is_named(path: Path) -> None:
    """No paths of one machine, no addresses, no numbers of issues."""
    text = path.read_text()
    for pattern in (_MACHINE, _HOST, _ISSUE):
        assert pattern.findall(text) == []


def test_the_references_are_all_named_in_the_skill() -> None:
    """The skill says when to read each file of references/."""
    linked = set(documents.links(REPOSITORY / "SKILL.md"))
    assert {f"references/{path.name}" for path in REFERENCES.glob("*.md")} <= linked


def test_the_skill_is_valid(tmp_path: Path) -> None:
    """In a folder of its name the skill has what the standard asks for and no more."""
    folder = tmp_path / "memory-palace"
    folder.mkdir()
    text = Path(shutil.copy(REPOSITORY / "SKILL.md", folder)).read_text()
    found = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    assert found
    metadata = yaml.safe_load(found[1])
    assert set(metadata) == {"name", "description", "license", "compatibility"}
    assert all(isinstance(value, str) for value in metadata.values())
    assert metadata["name"] == folder.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", metadata["name"])
    assert 1 <= len(metadata["description"]) <= 1024
    assert not set("<>") & set(metadata["description"])
    assert 1 <= len(metadata["compatibility"]) <= 500
    assert len(found[2].splitlines()) < 200


def test_the_description_says_when_in_its_first_110_characters() -> None:
    """Some clients show no more: it begins with the trigger and holds a whole thought."""
    text = (REPOSITORY / "SKILL.md").read_text()
    description = yaml.safe_load(text.split("---\n")[1])["description"]
    first = description[:110]
    assert first.startswith("Use to ")
    assert re.search(r"[.:]", first)
    for phrase in ("long-term memory", "vector search", "agent memory", "memory management"):
        assert phrase in description
    assert "knowledge base for agent" in description


@pytest.mark.parametrize("path", sorted(REPOSITORY.glob("requirements*.txt")), ids=lambda p: p.name)
def test_every_requirement_has_its_reason(path: Path) -> None:
    """A line that names a package says why after `#`."""
    for line in path.read_text().splitlines():
        if line and not line.startswith(("#", "-r ")):
            assert re.search(r"\S\s+# \w", line), line


def test_the_changelog_begins_with_this_version() -> None:
    """The newest entry is the version of the code."""
    versions = re.findall(r"^## (\S+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == memory_palace.__version__


def test_the_kinds_of_events_are_those_listed() -> None:
    """The table of events has every kind with its keys."""
    listed = {
        row.cells[0].strip("`"): tuple(documents.codes(row.cells[1]))
        for row in documents.rows(REFERENCES / "note_format.md")
        if row.heading == "Events"
    }
    assert listed == events.KINDS


def test_the_categories_of_topics_are_those_listed() -> None:
    """The table of topic files has each file with its half-life and its cap."""
    listed = [
        (row.cells[0].strip("`"), row.cells[1], float(row.cells[2]), int(row.cells[3]))
        for row in documents.rows(REFERENCES / "note_format.md")
        if row.heading == "Topic entries"
    ]
    there = [(c.file, c.name, c.half_life, c.cap) for c in topics.CATEGORIES.values()]
    assert listed == there
