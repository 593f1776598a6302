"""``palace.yaml`` and the user's own configuration, checked key by key.

A palace may be a stranger's repository: what runs commands, names machines or points outside the
root is read from the user's configuration and environment only.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memory_palace.core import yaml12
from memory_palace.core.errors import BadInput
from memory_palace.core.text import did_you_mean
from memory_palace.core.weights import Weights
from memory_palace.files import config_values as values
from memory_palace.files.config_values import Wrong

EMBEDDERS = ("auto", "bge-m3", "e5", "minilm", "none")
MODEL_FOLDERS = {
    "bge-m3": "PALACE_BGE_M3_DIR",
    "minilm": "PALACE_MINILM_DIR",
    "reranker": "PALACE_RERANKER_DIR",
}
"""The models that a user may keep in a folder, and the variable that names it too."""

STORES = ("faiss", "milvus")
_PALACE_ID = re.compile("[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of one palace on this machine. Every one has a default."""

    embedder: str = "auto"
    weights: Weights = field(default_factory=Weights)
    top_k: int = 5
    neighbors: int = 2
    exclude: tuple[str, ...] = ()
    rooms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extensions: tuple[str, ...] = ()
    mine_exclude: tuple[str, ...] = ()
    one_valued: tuple[str, ...] = ()
    on_new: str = "close"
    git_commit: str = "manual"
    models: Mapping[str, Path] = field(default_factory=dict)
    device: str | None = None
    identity: str | None = None
    store: str = "faiss"
    milvus_uri: str | None = None
    milvus_token: str | None = field(default=None, repr=False)
    palaces: Mapping[Path, str] = field(default_factory=dict)
    auto_apply: bool = False
    run_after: tuple[str, ...] = ()
    capture: str = "on"
    observe_command: tuple[str, ...] = ()
    observe_seconds: int = 60


_Reader = Callable[[Any], Any]


def load(root: Path, environment: Mapping[str, str] | None = None) -> Config:
    """The palace's settings over the user's over the defaults; the environment over all.

    Raises :class:`BadInput` with file, line and the nearest known key.
    """
    environment = os.environ if environment is None else environment
    config = Config()
    own = user_file(environment)
    if _is_there(own):
        config = _apply(config, own, str(own), {**_PALACE, **_USER})
    config = _apply(config, root / "palace.yaml", "palace.yaml", _PALACE)
    if config.store == "milvus" and not config.milvus_uri:
        raise BadInput(
            f"{own}: index.store is milvus and index.milvus_uri is not set: write the address of "
            "your server, or a file such as ~/memory.db"
        )
    return _from_environment(config, environment)


def user_file(environment: Mapping[str, str]) -> Path:
    """Where the user's own configuration is looked for."""
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "memory-palace" / "config.yaml"


def shown_user_file() -> str:
    """Your own configuration's path, and whether it is there."""
    path = user_file(os.environ)
    return str(path) if _is_there(path) else f"no {path}"


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): mend it") from None


def _from_environment(config: Config, environment: Mapping[str, str]) -> Config:
    embedder = environment.get("PALACE_EMBEDDER")
    if embedder:
        if embedder not in EMBEDDERS:
            raise BadInput(f"$PALACE_EMBEDDER is {embedder!r}: use {values.listed(EMBEDDERS)}")
        config = replace(config, embedder=embedder)
    models = dict(config.models)
    for name, variable in MODEL_FOLDERS.items():
        if environment.get(variable):
            models[name] = Path(os.path.expanduser(environment[variable]))
    return replace(
        config,
        models=models,
        device=environment.get("PALACE_DEVICE") or config.device,
        milvus_token=environment.get("PALACE_MILVUS_TOKEN") or None,
    )


def _apply(config: Config, path: Path, shown: str, known: Mapping[str, _Reader]) -> Config:
    try:
        text = path.read_text("utf-8-sig")
        entries = yaml12.entries(text)
        if entries is None and yaml12.load(text) is None:
            entries = []  # a document marker and nothing after it
    except yaml12.BadYaml as error:
        raise BadInput(f"{shown}:{error.line + 1}: broken YAML ({error}): mend it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{shown}: cannot be read ({error}): mend it") from None
    if entries is None:
        raise BadInput(f"{shown}:1: not a mapping: write keys such as `embedder: auto`")
    seen: set[str] = set()
    for entry in entries:
        at = f"{shown}:{entry.key_start.line + 1}"
        if entry.key not in known:
            only_user = " belongs into your own configuration" if entry.key in _USER else ""
            hint = only_user or did_you_mean(entry.key, known)
            raise BadInput(f"{at}: unknown key `{entry.key}`{hint}")
        if entry.key in seen:
            raise BadInput(f"{at}: key `{entry.key}` again: keep one")
        seen.add(entry.key)
        if entry.value is None:
            continue
        try:
            config = replace(config, **known[entry.key](config)(entry.value))
        except Wrong as error:
            raise BadInput(f"{at}: {entry.key}{error}") from None
    return config


def _section(*of_the_user: str, **readers: tuple[str, Callable[[Any], Any]]) -> _Reader:
    """A reader for a mapping: {key: (field of Config, reader of its value)}.

    ``of_the_user`` are keys that the same section has in the user's own configuration only.
    """

    def read(_: Config) -> Callable[[Any], dict[str, Any]]:
        def section(value: Any) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise Wrong(f" is {value!r}: write a mapping")
            found = {}
            for key, inner in value.items():
                if key in of_the_user:
                    raise Wrong(f": unknown key `{key}` belongs into your own configuration")
                if key not in readers:
                    raise Wrong(f": unknown key `{key}`{did_you_mean(key, readers)}")
                if inner is None:
                    continue
                name, reader = readers[key]
                try:
                    found[name] = reader(inner)
                except Wrong as error:
                    raise Wrong(f".{key}{error}") from None
            return found

        return section

    return read


def _single(name: str, reader: Callable[[Any], Any]) -> _Reader:
    return lambda _: lambda value: {name: reader(value)}


def _scoring(config: Config) -> Callable[[Any], dict[str, Any]]:
    section = _section(
        semantic=("semantic", values.number(0.0, 1.0)),
        recency=("recency", values.number(0.0, 1.0)),
        importance=("importance", values.number(0.0, 1.0)),
        half_life_days=("half_life_days", values.number(0.001, 1e6)),
    )(config)
    return lambda value: {"weights": replace(config.weights, **section(value))}


def _capture(config: Config) -> Callable[[Any], dict[str, Any]]:
    """``off`` in one of the two files is off: a palace cannot switch on what its user wants off."""
    read = values.one_of(("on", "off"))
    return lambda value: {"capture": "off" if config.capture == "off" else read(value)}


def _rooms(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise Wrong(f" is {value!r}: write a mapping of rooms to patterns")
    for room in value:
        if values.leaves(room) or room.startswith("/"):
            raise Wrong(f": {room!r} points outside the root: name a room below it")
    return {
        room: values.patterns(patterns) for room, patterns in value.items() if patterns is not None
    }


def _models(value: Any) -> dict[str, Path]:
    if (
        not isinstance(value, dict)
        or not set(value) <= set(MODEL_FOLDERS)
        or any(not isinstance(folder, str) for folder in value.values())
    ):
        raise Wrong(f" is {value!r}: write folders for {values.listed(tuple(MODEL_FOLDERS))}")
    return {name: Path(os.path.expanduser(folder)) for name, folder in value.items()}


def _milvus_uri(value: Any) -> str:
    """A server's address, or the full path of a file ending in ``.db``."""
    wanted = "write http://HOST:PORT, https://HOST:PORT or a file such as ~/memory.db"
    if not isinstance(value, str):
        raise Wrong(f" is {value!r}: {wanted}")
    if "://" not in value:
        path = Path(os.path.expanduser(value))
        if path.suffix != ".db" or not path.is_absolute():
            raise Wrong(f" is {value!r}: {wanted}")
        return str(path)
    try:
        parts = urlsplit(value)
        if "@" in parts.netloc:
            raise Wrong(" has a password in it: put `user:password` into $PALACE_MILVUS_TOKEN")
        host, _ = parts.hostname, parts.port
    except Wrong:
        raise
    except ValueError:
        raise Wrong(f" is {value!r}: {wanted}") from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise Wrong(f" is {value!r}: {wanted}")
    return value


def _palaces(value: Any) -> dict[Path, str]:
    if not isinstance(value, dict):
        raise Wrong(f" is {value!r}: write a mapping of palace folders to names")
    for folder, name in value.items():
        if not isinstance(name, str) or not _PALACE_ID.fullmatch(name):
            raise Wrong(
                f": {folder!r} has the name {name!r}: write at most 40 of a-z, 0-9, `_` and `-`"
            )
        if not Path(os.path.expanduser(folder)).is_absolute():
            raise Wrong(f": {folder!r} is no full path: write one, or one from ~")
    return {Path(os.path.expanduser(folder)): name for folder, name in value.items()}


_EXCLUDE = ("exclude", values.patterns)
_PALACE: dict[str, _Reader] = {
    "embedder": _single("embedder", values.one_of(EMBEDDERS)),
    "scoring": _scoring,
    "search": _section(
        top_k=("top_k", values.whole(1, 1000)), neighbors=("neighbors", values.whole(0, 100))
    ),
    "index": _section("store", "milvus_uri", "palaces", exclude=_EXCLUDE),
    "rooms": _single("rooms", _rooms),
    "mine": _section(
        extensions=("extensions", values.extensions), exclude=("mine_exclude", values.patterns)
    ),
    "facts": _section(
        one_valued=("one_valued", values.words),
        on_new=("on_new", values.one_of(("close", "conflict"))),
    ),
    "git": _section(commit=("git_commit", values.one_of(("manual", "auto")))),
    "capture": _capture,
}
_USER: dict[str, _Reader] = {
    "models": _single("models", _models),
    "device": _single("device", values.text),
    "identity": _single("identity", values.text),
    "promote": _section(auto_apply=("auto_apply", values.flag)),
    "rules": _section(run_after=("run_after", values.words)),
    "observe": _section(
        command=("observe_command", values.words), seconds=("observe_seconds", values.whole(1, 600))
    ),
    "index": _section(
        exclude=_EXCLUDE,
        store=("store", values.one_of(STORES)),
        milvus_uri=("milvus_uri", _milvus_uri),
        palaces=("palaces", _palaces),
    ),
}
