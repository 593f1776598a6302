"""The palace's settings and the user's, key by key."""

import time
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.core.weights import Weights
from memory_palace.files import config as configs
from memory_palace.files import tree
from memory_palace.files.config import Config

DESIGN = """\
embedder: auto                # auto | bge-m3 | e5 | minilm | none
scoring: {semantic: 0.5, recency: 0.25, importance: 0.25, half_life_days: 30}
search: {top_k: 5, neighbors: 2}
index: {exclude: ["**/drafts/**"]}        # gitignore patterns
rooms: {backend: ["src/api/**"]}          # mining: room -> patterns
facts: {one_valued: [lives_in, owner]}
git: {commit: manual}                     # manual | auto
"""
SECTIONS = {
    "embedder: minilm": Config(embedder="minilm"),
    "scoring: {semantic: 1}": Config(weights=Weights(semantic=1.0)),
    "scoring: {recency: 0}": Config(weights=Weights(recency=0.0)),
    "scoring: {importance: 0.75}": Config(weights=Weights(importance=0.75)),
    "scoring: {half_life_days: 7.5}": Config(weights=Weights(half_life_days=7.5)),
    "search: {top_k: 20}": Config(top_k=20),
    "search: {top_k: 1}": Config(top_k=1),
    "search: {top_k: 1000}": Config(top_k=1000),
    "search: {neighbors: 0}": Config(neighbors=0),
    "search: {neighbors: 100}": Config(neighbors=100),
    "index: {exclude: [a, '!b']}": Config(exclude=("a", "!b")),
    "index: {exclude: '*.tmp.md'}": Config(exclude=("*.tmp.md",)),
    "rooms: {api: [src/**], docs: /docs}": Config(rooms={"api": ("src/**",), "docs": ("/docs",)}),
    "facts: {one_valued: [owner]}": Config(one_valued=("owner",)),
    "facts: {on_new: conflict}": Config(on_new="conflict"),
    "mine: {extensions: [Vue, .ini, Makefile]}": Config(extensions=("vue", "ini", "makefile")),
    "mine: {exclude: [gen/**]}": Config(mine_exclude=("gen/**",)),
    "git: {commit: auto}": Config(git_commit="auto"),
    "capture: off": Config(capture="off"),
}
USER = {
    "models: {bge-m3: /m/bge, minilm: /m/mini}": Config(
        models={"bge-m3": Path("/m/bge"), "minilm": Path("/m/mini")}
    ),
    "device: cuda:1": Config(device="cuda:1"),
    "identity: ada": Config(identity="ada"),
    "rules: {run_after: [make fmt, 'npm  test']}": Config(run_after=("make fmt", "npm  test")),
    "observe: {command: [my-observer, --json]}": Config(observe_command=("my-observer", "--json")),
    "observe: {seconds: 600}": Config(observe_seconds=600),
}
NESTED = {
    "index: {store: milvus, milvus_uri: 'http://host:19530'}": Config(
        store="milvus", milvus_uri="http://host:19530"
    ),
    "index: {milvus_uri: 'https://host.example'}": Config(milvus_uri="https://host.example"),
    "index: {milvus_uri: /data/memory.db}": Config(milvus_uri="/data/memory.db"),
    "index: {exclude: [a], store: faiss}": Config(exclude=("a",)),
    "index: {palaces: {/home/ada/memory: ada-1}}": Config(
        palaces={Path("/home/ada/memory"): "ada-1"}
    ),
}


def load(root: Path, text: str | bytes, **environment: str) -> Config:
    """The configuration with this ``palace.yaml``."""
    (root / "palace.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return configs.load(root, {"XDG_CONFIG_HOME": "/nonexistent"} | environment)


def refused(root: Path, text: str | bytes, **environment: str) -> str:
    """What is said about this ``palace.yaml``, which cannot be used."""
    with pytest.raises(BadInput) as caught:
        load(root, text, **environment)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def user_file(home: Path, text: str) -> Path:
    """Write a user's own configuration below ``home``."""
    path = home / "memory-palace" / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_the_settings_of_the_design_are_accepted(tmp_path: Path) -> None:
    """Every key of the design page is known, and its values are the defaults."""
    assert load(tmp_path, DESIGN) == Config(
        exclude=("**/drafts/**",),
        rooms={"backend": ("src/api/**",)},
        one_valued=("lives_in", "owner"),
    )


@pytest.mark.parametrize("text", SECTIONS)
def test_each_key_sets_its_field_and_no_other(tmp_path: Path, text: str) -> None:
    """One key changes one setting; the rest of a section keeps its defaults."""
    assert load(tmp_path, text) == SECTIONS[text] != Config()


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "\ufeffembedder: auto", "---\n", "{}", "embedder:\nscoring: ~\nrooms: null",
     "index:\n  exclude:\n  # - drafts/\nsearch: {top_k: }\nscoring: {semantic: ~}"],
)  # fmt: skip
def test_every_key_is_optional(tmp_path: Path, text: str) -> None:
    """An empty file, and a key whose value is commented out, mean the defaults."""
    assert load(tmp_path, text) == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("embeder: auto", "palace.yaml:1: unknown key `embeder`: did you mean `embedder`?"),
        (
            "# x\n\nserach: {top_k: 1}",
            "palace.yaml:3: unknown key `serach`: did you mean `search`?",
        ),
        (
            "git: {comit: auto}",
            "palace.yaml:1: git: unknown key `comit`: did you mean `commit`?",
        ),
        (
            "scoring: {half_life: 3}",
            "palace.yaml:1: scoring: unknown key `half_life`: did you mean `half_life_days`?",
        ),
        (
            "qqq: 1",
            "palace.yaml:1: unknown key `qqq`: known are capture, embedder, facts, git, index, "
            "mine, rooms, scoring, search",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(tmp_path: Path, text: str, said: str) -> None:
    """A key that means nothing is an error with file, line and the key that was meant."""
    assert refused(tmp_path, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("embedder: bge", "embedder is 'bge': use auto, bge-m3, e5, minilm or none"),
        ("embedder: [auto]", "embedder is ['auto']: use auto, bge-m3, e5, minilm or none"),
        ("scoring: 1", "scoring is 1: write a mapping"),
        ("scoring: {semantic: 2}", "scoring.semantic is 2: write a number from 0 to 1"),
        ("scoring: {semantic: -0.1}", "scoring.semantic is -0.1: write a number from 0 to 1"),
        ("scoring: {recency: true}", "scoring.recency is True: write a number"),
        ("scoring: {recency: .nan}", "scoring.recency is nan: write a number"),
        ("scoring: {importance: high}", "scoring.importance is 'high': write a number"),
        ("scoring: {half_life_days: 0}", "scoring.half_life_days is 0: write a number"),
        ("search: {top_k: 0}", "search.top_k is 0: write a whole number from 1 to 1000"),
        ("search: {top_k: 1001}", "search.top_k is 1001: write a whole number from 1 to 1000"),
        ("search: {top_k: 2.5}", "search.top_k is 2.5: write a whole number"),
        ("search: {top_k: '5'}", "search.top_k is '5': write a whole number"),
        ("search: {neighbors: -1}", "search.neighbors is -1: write a whole number from 0 to 100"),
        ("search: {neighbors: yes}", "search.neighbors is 'yes': write a whole number"),
        ("search: {neighbors: true}", "search.neighbors is True: write a whole number"),
        ("index: [a]", "index is ['a']: write a mapping"),
        ("index: {exclude: 5}", "index.exclude is 5: write a list of texts"),
        ("index: {exclude: [5]}", "index.exclude is [5]: write a list of texts"),
        ("index: {exclude: {a: b}}", "index.exclude is {'a': 'b'}: write a list of texts"),
        ("rooms: [a]", "rooms is ['a']: write a mapping of rooms to patterns"),
        ("rooms: {api: 3}", "rooms is 3: write a list of texts"),
        ("facts: {one_valued: [[a]]}", "facts.one_valued is [['a']]: write a list of texts"),
        ("facts: {on_new: ask}", "facts.on_new is 'ask': use close or conflict"),
        ("git: {commit: yes}", "git.commit is 'yes': use manual or auto"),
    ],
)
def test_a_value_of_a_wrong_kind_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """A wrong value is named with file, line and what to write."""
    assert refused(tmp_path, "# a comment\n" + text).startswith(f"palace.yaml:2: {said}")


@pytest.mark.parametrize("section", ["index: {exclude: [%s]}", "rooms: {api: [%s]}"])
@pytest.mark.parametrize(
    "pattern", ["../x", "'!../x'", "a/../../x", "..", "~/notes", "'C:/x'", "'c:\\x'"]
)
def test_a_pattern_may_not_leave_the_root(tmp_path: Path, section: str, pattern: str) -> None:
    """A palace names no place outside itself."""
    assert refused(tmp_path, section % pattern).endswith(
        "points outside the root: write a pattern below it"
    )


@pytest.mark.parametrize("room", ["../x", "a/../../x", "..", "/etc", "~", "'c:\\x'"])
def test_a_room_may_not_leave_the_root(tmp_path: Path, room: str) -> None:
    """A room's name becomes a folder: it is one below the palace."""
    assert "points outside the root" in refused(tmp_path, f"rooms: {{{room}: [src/**]}}")


@pytest.mark.parametrize("section", ["index: {exclude: [%s]}", "rooms: {api: [%s]}"])
@pytest.mark.parametrize("pattern", ["'!'", "'[z-a]'", "'\\'"])
def test_a_pattern_that_is_none_is_refused(tmp_path: Path, section: str, pattern: str) -> None:
    """A pattern that gitignore could not read is an error here, not when the tree is walked."""
    assert refused(tmp_path, section % pattern).endswith("is no gitignore pattern: mend it")


@pytest.mark.parametrize("pattern", ["a..b", "...", "/top.md", "!keep.md", "'[ab]*'", "'a b'"])
def test_a_pattern_that_stays_inside_is_accepted(tmp_path: Path, pattern: str) -> None:
    """Dots in a name, a leading slash and a negation are no way out."""
    text = pattern if pattern.startswith("'") else f"'{pattern}'"
    assert load(tmp_path, f"index: {{exclude: [{text}]}}").exclude == (pattern.strip("'"),)


@pytest.mark.parametrize("section", ["index: {exclude: [%s]}", "rooms: {api: [%s]}"])
@pytest.mark.parametrize(
    "pattern",
    ["*a*a*a*a*a*a*a*a*b", "*a*a*a*a*b", "a**b**c*", "**/a/**/a/**/a/**/a/**/b", "**/*a*a*a*b",
     "*a*a*b/*a*a*b", "!*a*a*a*a*b"],
)  # fmt: skip
def test_a_pattern_that_could_take_for_ever_is_refused(
    tmp_path: Path, section: str, pattern: str
) -> None:
    """A stranger's pattern with many `*` would be tried for minutes on one long name."""
    assert refused(tmp_path, section % f"'{pattern}'").endswith(
        f": {pattern!r} has more than 4 `*`: split it into simpler patterns"
    )


@pytest.mark.parametrize(
    "pattern", ["**/*draft*/**", "*a*b*c*", "*/*/*/*/*/*.md", "\\*\\*\\*\\*\\*", "**/a/**/*.tmp.*"]
)
def test_a_pattern_that_people_write_is_accepted(tmp_path: Path, pattern: str) -> None:
    """Four that can match more or less, any number that stand for one folder, and stars proper."""
    assert load(tmp_path, f"index: {{exclude: ['{pattern}']}}").exclude == (pattern,)
    before = time.perf_counter()
    tree.exclusion((pattern,)).match_file("palace/" + "a" * 250)  # type: ignore[union-attr]
    assert time.perf_counter() - before < 10


@pytest.mark.parametrize("text", USER)
def test_what_is_the_users_is_refused_in_a_palace(tmp_path: Path, text: str) -> None:
    """A cloned repository sets no model folder, device or identity; the error says who does."""
    key = text.partition(":")[0]
    said = refused(tmp_path, "embedder: auto\n" + text)
    assert said.startswith(f"palace.yaml:2: unknown key `{key}`")
    assert said.endswith("belongs into your own configuration")


@pytest.mark.parametrize("key", ["store", "milvus_uri", "palaces"])
def test_where_the_index_goes_is_the_users(tmp_path: Path, key: str) -> None:
    """A cloned repository sends its index, or its questions, nowhere."""
    said = refused(tmp_path, f"embedder: auto\nindex: {{exclude: [a], {key}: x}}")
    assert said == (
        f"palace.yaml:2: index: unknown key `{key}` belongs into your own configuration"
    )


@pytest.mark.parametrize("text", [*SECTIONS, *USER, *NESTED])
def test_the_user_may_set_every_key(tmp_path: Path, text: str) -> None:
    """The user's file has the palace's keys and the user's own."""
    user_file(tmp_path / "home", text)
    wanted = SECTIONS.get(text) or (USER | NESTED)[text]
    assert load(tmp_path, "", XDG_CONFIG_HOME=str(tmp_path / "home")) == wanted


@pytest.mark.parametrize(
    ("palace", "user", "counts"), [("on", "off", "off"), ("off", "on", "off"), ("on", "on", "on")]
)
def test_capture_that_is_off_in_one_place_is_off(
    tmp_path: Path, palace: str, user: str, counts: str
) -> None:
    """A palace cannot switch on what its user wants off."""
    user_file(tmp_path / "home", f"capture: {user}")
    config = load(tmp_path, f"capture: {palace}", XDG_CONFIG_HOME=str(tmp_path / "home"))
    assert config.capture == counts


def test_the_palace_counts_over_the_user_and_the_environment_over_both(tmp_path: Path) -> None:
    """Each setting comes from the nearest place that has it, one key at a time."""
    home = str(tmp_path / "home")
    user_file(
        tmp_path / "home",
        "embedder: none\nsearch: {top_k: 9, neighbors: 9}\nscoring: {semantic: 0.9, recency: 0}\n"
        "device: mps\nmodels: {minilm: /m/mini, bge-m3: /m/bge}\n",
    )
    config = load(tmp_path, "search: {top_k: 3}\nscoring: {semantic: 0.1}", XDG_CONFIG_HOME=home)
    assert (config.embedder, config.top_k, config.neighbors) == ("none", 3, 9)
    assert config.weights == Weights(semantic=0.1, recency=0.0)
    assert config.device == "mps"
    config = load(
        tmp_path,
        "embedder: bge-m3",
        XDG_CONFIG_HOME=home,
        PALACE_EMBEDDER="minilm",
        PALACE_BGE_M3_DIR="/e/bge",
        PALACE_DEVICE="cpu",
    )
    assert (config.embedder, config.device) == ("minilm", "cpu")
    assert config.models == {"minilm": Path("/m/mini"), "bge-m3": Path("/e/bge")}


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    """``PALACE_EMBEDDER=`` is as good as none."""
    empty = {"PALACE_EMBEDDER": "", "PALACE_DEVICE": "", "PALACE_MINILM_DIR": ""}
    assert load(tmp_path, "embedder: none", **empty) == Config(embedder="none")


def test_a_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``~`` in a model folder is the user's home, in the file and in the environment."""
    monkeypatch.setenv("HOME", "/home/ada")
    user_file(tmp_path / "home", "models: {bge-m3: ~/bge}")
    config = load(tmp_path, "", XDG_CONFIG_HOME=str(tmp_path / "home"), PALACE_MINILM_DIR="~/mini")
    assert config.models == {"bge-m3": Path("/home/ada/bge"), "minilm": Path("/home/ada/mini")}
    user_file(tmp_path / "home", "index: {milvus_uri: ~/memory.db, palaces: {~/memory: ada}}")
    config = load(tmp_path, "", XDG_CONFIG_HOME=str(tmp_path / "home"))
    assert config.milvus_uri == "/home/ada/memory.db"
    assert config.palaces == {Path("/home/ada/memory"): "ada"}


def test_the_environment_is_checked_too(tmp_path: Path) -> None:
    """An unknown embedder in the environment is refused by the variable's name."""
    said = refused(tmp_path, "", PALACE_EMBEDDER="bge")
    assert said == "$PALACE_EMBEDDER is 'bge': use auto, bge-m3, e5, minilm or none"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: [a]", "models is ['a']: write folders for bge-m3, minilm or reranker"),
        (
            "models: {bge: /m}",
            "models is {'bge': '/m'}: write folders for bge-m3, minilm or reranker",
        ),
        (
            "models: {minilm: }",
            "models is {'minilm': None}: write folders for bge-m3, minilm or reranker",
        ),
        ("models: {minilm: [/m]}", "models is {'minilm': ['/m']}: write folders"),
        ("device: 0", "device is 0: write text"),
        ("identity: [ada]", "identity is ['ada']: write text"),
        ("idenity: ada", "unknown key `idenity`: did you mean `identity`?"),
        ("index: {store: chroma}", "index.store is 'chroma': use faiss or milvus"),
        ("index: {stor: milvus}", "index: unknown key `stor`: did you mean `store`?"),
        ("index: {milvus_uri: memory.db}", "index.milvus_uri is 'memory.db': write http://"),
        ("index: {milvus_uri: /data/memory}", "index.milvus_uri is '/data/memory': write"),
        ("index: {milvus_uri: 'ftp://host'}", "index.milvus_uri is 'ftp://host': write"),
        ("index: {milvus_uri: 'http://:1'}", "index.milvus_uri is 'http://:1': write"),
        ("index: {milvus_uri: 'http://h:x'}", "index.milvus_uri is 'http://h:x': write"),
        ("index: {milvus_uri: 'http://h?a=b'}", "index.milvus_uri is 'http://h?a=b': write"),
        ("index: {milvus_uri: 1}", "index.milvus_uri is 1: write http://HOST:PORT"),
        (
            "index: {milvus_uri: 'http://ada:secret@h:x'}",
            "index.milvus_uri has a password in it: put `user:password` into $PALACE_MILVUS_TOKEN",
        ),
        ("index: {palaces: [a]}", "index.palaces is ['a']: write a mapping of palace folders"),
        ("index: {palaces: {/m: A b}}", "index.palaces: '/m' has the name 'A b': write at most 40"),
        ("index: {palaces: {/m: 1}}", "index.palaces: '/m' has the name 1: write at most 40"),
        ("index: {palaces: {m: a}}", "index.palaces: 'm' is no full path: write one"),
    ],
)
def test_the_users_own_file_is_checked_too(tmp_path: Path, text: str, said: str) -> None:
    """A fault in the user's file is named with its full path and line."""
    path = user_file(tmp_path / "home", "\n" + text)
    found = refused(tmp_path, "", XDG_CONFIG_HOME=str(tmp_path / "home"))
    assert found.startswith(f"{path}:2: {said}")


def test_milvus_needs_an_address(tmp_path: Path) -> None:
    """Without one, nothing is sent to a server that happens to be there."""
    path = user_file(tmp_path / "home", "index: {store: milvus}")
    said = refused(tmp_path, "", XDG_CONFIG_HOME=str(tmp_path / "home"))
    assert said.startswith(f"{path}: index.store is milvus and index.milvus_uri is not set: write")


def test_the_token_comes_from_the_environment_and_is_never_shown(tmp_path: Path) -> None:
    """No file holds it, and no message that shows the settings."""
    config = load(tmp_path, "", PALACE_MILVUS_TOKEN="ada:secret")
    assert config.milvus_token == "ada:secret"
    assert "secret" not in repr(config)
    assert load(tmp_path, "", PALACE_MILVUS_TOKEN="").milvus_token is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("embedder: auto\nsearch: {top_k: 1\n", 3),
        ("embedder: auto\n\tx: 1\n", 2),
        ("a: 1\nb: c: d\n", 2),
        ("? [a]\n: b\n", 1),
        ("x: *nowhere\n", 1),
        ("embedder: au\0to", 1),
    ],
)
def test_broken_yaml_is_refused_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    """YAML that cannot be read is an error at the line where reading stopped."""
    said = refused(tmp_path, text)
    assert said.startswith(f"palace.yaml:{line}: broken YAML (")
    assert said.endswith("): mend it")


@pytest.mark.parametrize("text", ["- embedder", "embedder", "'embedder: auto'"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    """A list or a word is no configuration."""
    assert refused(tmp_path, text) == (
        "palace.yaml:1: not a mapping: write keys such as `embedder: auto`"
    )


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Of two values for one key none is guessed."""
    said = refused(tmp_path, "embedder: none\nsearch: {top_k: 1}\nembedder: auto")
    assert said == "palace.yaml:3: key `embedder` again: keep one"


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """An undecodable file is a fault with its name, not a crash."""
    assert refused(tmp_path, b"embedder: \xff").startswith("palace.yaml: cannot be read (")


def test_a_palace_without_its_file_is_refused(tmp_path: Path) -> None:
    """``palace.yaml`` is what makes a palace: without it nothing is assumed."""
    with pytest.raises(BadInput, match=r"^palace\.yaml: cannot be read \(.*No such file"):
        configs.load(tmp_path, {})


@pytest.mark.parametrize("home", ["/nonexistent", "/dev/null", "", None])
def test_no_user_file_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    """Where the user has no configuration the palace's alone counts."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "palace.yaml").touch()
    environment = {} if home is None else {"XDG_CONFIG_HOME": home}
    assert configs.load(tmp_path, environment) == Config()


def test_a_user_file_that_cannot_be_reached_is_a_fault(tmp_path: Path) -> None:
    """A configuration that cannot be looked at is said to be so, and never passed over."""
    assert "cannot be read (" in refused(tmp_path, "", XDG_CONFIG_HOME="/" + "x" * 300)


def test_the_users_file_lies_in_the_home_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``$XDG_CONFIG_HOME`` it is ``~/.config/memory-palace/config.yaml``."""
    monkeypatch.setenv("HOME", str(tmp_path))
    user_file(tmp_path / ".config", "identity: ada")
    (tmp_path / "palace.yaml").touch()
    assert configs.load(tmp_path, {}).identity == "ada"


def test_the_process_environment_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an environment given, that of the process counts."""
    (tmp_path / "palace.yaml").touch()
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    assert configs.load(tmp_path).embedder == "none"


def test_the_users_file_is_shown_with_whether_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is named alone if the file is there, after "no" if it is not."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "memory-palace" / "config.yaml"
    assert configs.shown_user_file() == f"no {path}"
    user_file(tmp_path, "")
    assert configs.shown_user_file() == str(path)
