"""The list of what is indexed, brought in line with the tree."""

import json
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core.errors import BadInput, Changed, Missing
from memory_palace.core.problems import Problem
from memory_palace.files import manifest as manifests
from memory_palace.files import tree
from memory_palace.files.manifest import Said, Synced

NOTE = Said(block=True)
BARE = Said(block=False)


def write(root: Path, *lines: str | bytes | dict[str, Any]) -> bytes:
    """Write the manifest, a line each; its bytes."""
    raw = b"".join(
        (json.dumps(line) if isinstance(line, dict) else line).encode() + b"\n"
        if not isinstance(line, bytes)
        else line + b"\n"
        for line in lines
    )
    path = root / manifests.PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return raw


def sync(
    root: Path,
    notes: Mapping[str, Said] | None = None,
    hidden: Collection[str] = (),
    excluded: Collection[str] = (),
    there: Collection[str] = (),
) -> Synced:
    """Load, sync, save, as an index run does."""
    manifest = manifests.load(root)
    synced = manifests.sync(
        manifest, notes or {}, hidden.__contains__, excluded.__contains__, there.__contains__
    )
    differs = synced.text.encode("utf-8", "surrogateescape") != (manifest.raw or b"")
    assert manifests.save(root, manifest, synced) is differs
    return synced


def text(root: Path) -> str:
    """The manifest as it is now."""
    return (root / manifests.PATH).read_text("utf-8", "surrogateescape")


def lines(root: Path) -> list[dict[str, Any]]:
    """The manifest's lines, all of which parse."""
    return [json.loads(line) for line in text(root).splitlines()]


def said_of(problems: list[Problem]) -> list[tuple[int | None, str, str]]:
    """(line, grade, message) of each problem."""
    assert all(p.path == manifests.PATH for p in problems)
    return [(p.line, p.grade, p.message) for p in problems]


def changes(synced: Synced) -> tuple[list[str], list[str], list[str]]:
    """What a sync added, updated and removed."""
    return synced.added, synced.updated, synced.removed


def test_no_manifest_is_an_empty_one(tmp_path: Path) -> None:
    """A palace without the file has no entries and no problems, and none is made for no notes."""
    manifest = manifests.load(tmp_path)
    assert (manifest.entries, manifest.odd, manifest.problems, manifest.raw) == ({}, [], [], None)
    sync(tmp_path)
    assert not (tmp_path / manifests.PATH).exists()


def test_notes_get_a_line_each_sorted_by_path(tmp_path: Path) -> None:
    """A new note is listed with path and type, and with its priority where it has one."""
    notes = {
        "palace/topics/b.md": Said(True, "principle", "high"),
        "palace/a.md": NOTE,
        "palace/c.md": BARE,
    }
    synced = sync(tmp_path, notes)
    assert changes(synced) == (list(notes), [], [])
    assert text(tmp_path) == (
        '{"path": "palace/a.md", "type": "palace"}\n'
        '{"path": "palace/c.md", "type": "palace"}\n'
        '{"path": "palace/topics/b.md", "type": "principle", "priority": "high"}\n'
    )


def test_a_manifest_in_line_with_the_notes_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second sync changes nothing and says so."""
    sync(tmp_path, {"palace/a.md": NOTE})
    manifest = manifests.load(tmp_path)
    synced = manifests.sync(
        manifest, {"palace/a.md": NOTE}, lambda _: False, lambda _: False, lambda _: False
    )
    monkeypatch.setattr(manifests.atomic, "write", lambda *_, **__: pytest.fail("written"))
    assert not manifests.save(tmp_path, manifest, synced)
    assert changes(synced) == ([], [], [])


def test_other_keys_are_kept_in_their_order(tmp_path: Path) -> None:
    """A line of a note is updated in its own words: unknown keys and their order stay."""
    write(
        tmp_path,
        {"note": "mine", "priority": "low", "path": "palace/a.md", "n": [1, {"ü": None}]},
    )
    synced = sync(tmp_path, {"palace/a.md": Said(True, "principle", "high")})
    assert changes(synced) == ([], ["palace/a.md"], [])
    assert text(tmp_path) == (
        '{"note": "mine", "priority": "high", "path": "palace/a.md", "n": [1, {"ü": null}], '
        '"type": "principle"}\n'
    )


@pytest.mark.parametrize(
    "raw",
    [
        '{"type":"palace" ,"path":"palace/a.md"}',
        '  {"path": "palace/a.md", "type": "palace", "x": "\\u00fc"} ',
    ],
)
def test_a_line_that_says_the_same_stays_as_it_was_typed(tmp_path: Path, raw: str) -> None:
    """Spacing and escapes that a person chose are no reason to write."""
    write(tmp_path, raw)
    assert changes(sync(tmp_path, {"palace/a.md": NOTE})) == ([], [], [])
    assert text(tmp_path) == raw + "\n"


@pytest.mark.parametrize(
    ("said", "line", "effective"),
    [
        (NOTE, {"type": "principle", "priority": "high"}, ("palace", None)),
        (Said(True, "card", "low"), {"type": "principle", "priority": "high"}, ("card", "low")),
        (Said(True, "card"), {"priority": "high"}, ("card", None)),
        (Said(True, None, "low"), {"type": "principle"}, ("palace", "low")),
        (BARE, {"type": "principle", "priority": "high"}, ("principle", "high")),
        (BARE, {"type": "principle"}, ("principle", None)),
        (BARE, {"priority": "low"}, ("palace", "low")),
        (BARE, {"priority": "urgent"}, ("palace", None)),
        (BARE, {"priority": ["high"], "type": 5}, ("palace", None)),
        (BARE, None, ("palace", None)),
        (NOTE, None, ("palace", None)),
    ],
)
def test_a_note_with_a_block_speaks_for_itself(
    tmp_path: Path, said: Said, line: dict[str, Any] | None, effective: tuple[str, str | None]
) -> None:
    """Type and priority come from a note's metadata block, and from its line if it has none."""
    if line is not None:
        write(tmp_path, {"path": "palace/a.md"} | line)
    entry = manifests.load(tmp_path).entries.get("palace/a.md")
    assert manifests.effective(said, entry) == effective
    sync(tmp_path, {"palace/a.md": said})
    after = manifests.load(tmp_path).entries["palace/a.md"]
    assert manifests.effective(said, after) == effective
    if said.block:
        kind, priority = effective
        assert after.data == {"path": "palace/a.md", "type": kind} | (
            {"priority": priority} if priority else {}
        )


def test_lines_outside_the_tree_stay_as_they_were_written(tmp_path: Path) -> None:
    """A listed file that is no note of the tree keeps its line, typed as it was."""
    raw = write(
        tmp_path,
        '{"type":"x",  "path":"./docs//guide.md", "priority": "odd"}',
        '{"path": "palace/data.txt"}',
        {"path": "scripts/a.py", "mine": True},
    )
    there = ("docs/guide.md", "palace/data.txt", "scripts/a.py")
    synced = sync(tmp_path, there=there)
    assert changes(synced) == ([], [], [])
    assert text(tmp_path).encode() == raw


def test_a_line_whose_file_is_gone_is_reported_outside_the_tree(tmp_path: Path) -> None:
    """A file that a person listed and that is not there is named with its line, and stays."""
    raw = write(tmp_path, {"path": "docs/a.md"}, {"path": "docs/gone.md"})
    synced = sync(tmp_path, there=["docs/a.md"])
    assert said_of(synced.problems) == [
        (2, "warning", "docs/gone.md is not there: restore it or remove the line")
    ]
    assert text(tmp_path).encode() == raw


def test_a_line_of_the_tree_goes_with_its_file(tmp_path: Path) -> None:
    """A deleted note loses its line, and the sync says which."""
    write(tmp_path, {"path": "palace/a.md", "type": "palace"}, {"path": "palace/gone.md"})
    synced = sync(tmp_path, {"palace/a.md": NOTE})
    assert changes(synced) == ([], [], ["palace/gone.md"])
    assert not synced.problems
    assert lines(tmp_path) == [{"path": "palace/a.md", "type": "palace"}]


def test_a_line_whose_file_may_be_there_is_kept(tmp_path: Path) -> None:
    """A folder that could not be listed and a note in the cloud cost no line."""
    raw = write(tmp_path, {"path": "palace/shut/a.md", "type": "x"}, {"path": "palace/cloud.md"})
    synced = sync(tmp_path, hidden=["palace/shut/a.md", "palace/cloud.md"])
    assert changes(synced) == ([], [], [])
    assert not synced.problems
    assert sorted(text(tmp_path).splitlines()) == sorted(raw.decode().splitlines())


@pytest.mark.parametrize("path", ["palace/drafts/a.md", "palace/archive_basement/a.md"])
def test_an_excluded_or_cold_note_loses_its_line(tmp_path: Path, path: str) -> None:
    """What is left out of the index is not listed, though its file is there."""
    write(tmp_path, {"path": path}, {"path": "palace/b.md", "type": "palace"})
    synced = sync(tmp_path, {"palace/b.md": NOTE}, excluded=["palace/drafts/a.md"], there=[path])
    assert changes(synced) == ([], [], [path])
    assert lines(tmp_path) == [{"path": "palace/b.md", "type": "palace"}]


def test_a_pattern_leaves_listed_files_outside_the_tree_alone(tmp_path: Path) -> None:
    """``index.exclude`` is about the tree; what a person lists by hand is meant."""
    write(tmp_path, {"path": "drafts/a.md"})
    synced = sync(tmp_path, excluded=["drafts/a.md"], there=["drafts/a.md"])
    assert changes(synced) == ([], [], [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"path": "palace/a.md"', "not a JSON object ("),
        ("<<<<<<< HEAD", "not a JSON object ("),
        ("[1]", "not a JSON object ("),
        ("{}", "has no `path`: add one, relative to the root"),
        ('{"path": ""}', "has no `path`"),
        ('{"path": null}', "has no `path`"),
        ('{"path": ["a"]}', "has no `path`"),
        ('{"path": "a\\u0000b"}', "has no `path`"),
        ('{"path": "/etc/passwd"}', "path '/etc/passwd' is outside the root: make it relative"),
        ('{"path": "../a.md"}', "path '../a.md' is outside the root"),
        ('{"path": "palace/../../a.md"}', "path 'palace/../../a.md' is outside the root"),
        ('{"path": "//host/a.md"}', "path '//host/a.md' is outside the root"),
        ('{"path": "C:/a.md"}', "path 'C:/a.md' is outside the root"),
        ('{"path": "palace\\\\a.md"}', "path 'palace\\\\a.md' is outside the root"),
        ('{"path": "."}', "path '.' is outside the root"),
        ('{"path": "palace/.."}', "path 'palace/..' is outside the root"),
        ('{"path": "palace/\\ud800.md"}', "its `path` is not UTF-8"),
        (b'{"path": "palace/caf\xe9.md"}', "its `path` is not UTF-8"),
    ],
)
def test_a_line_that_names_no_file_is_reported_and_kept(
    tmp_path: Path, line: str | bytes, message: str
) -> None:
    """It is an error with its number, and comes after the sorted lines, byte for byte."""
    write(tmp_path, {"path": "palace/b.md", "type": "palace"}, line, {"path": "docs/a.md"})
    manifest = manifests.load(tmp_path)
    assert list(manifest.entries) == ["palace/b.md", "docs/a.md"]
    ((number, grade, said),) = said_of(manifest.problems)
    assert (number, grade) == (2, "error")
    assert said.startswith(message)
    synced = sync(tmp_path, {"palace/b.md": NOTE}, there=["docs/a.md"])
    assert synced.problems == manifest.problems
    kept = line if isinstance(line, bytes) else line.encode()
    assert (tmp_path / manifests.PATH).read_bytes().split(b"\n") == [
        b'{"path": "docs/a.md"}',
        b'{"path": "palace/b.md", "type": "palace"}',
        kept,
        b"",
    ]


def test_a_stray_byte_spoils_no_other_line(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 survive in a line that is kept and in one that is updated."""
    write(tmp_path, b'{"path": "palace/a.md", "by": "Ren\xe9"}', b"\xff\xfe", {"path": "docs/b.md"})
    synced = sync(tmp_path, {"palace/a.md": Said(True, "card")}, there=["docs/b.md"])
    assert synced.updated == ["palace/a.md"]
    assert (tmp_path / manifests.PATH).read_bytes() == (
        b'{"path": "docs/b.md"}\n'
        b'{"path": "palace/a.md", "by": "Ren\xe9", "type": "card"}\n'
        b"\xff\xfe\n"
    )


def test_half_a_character_in_a_line_can_be_written_back(tmp_path: Path) -> None:
    r"""A line whose text has a lone surrogate (``"\ud800"``) is updated like any other."""
    write(tmp_path, '{"path": "palace/a.md", "by": "x\\ud800"}')
    sync(tmp_path, {"palace/a.md": NOTE})
    assert lines(tmp_path) == [{"path": "palace/a.md", "by": "x\ud800", "type": "palace"}]


@pytest.mark.parametrize("second", ["./a.md", "b/../a.md", ".//a.md", "a.md"])
def test_two_lines_for_one_file_become_one(tmp_path: Path, second: str) -> None:
    """Spellings of one path are one entry: the first line counts, the other fills gaps."""
    write(
        tmp_path,
        {"path": "palace/a.md", "type": "card", "x": 1},
        {"path": "docs/z.md"},
        {"path": f"palace/{second}", "type": "principle", "x": 2, "y": 3},
    )
    synced = sync(tmp_path, {"palace/a.md": BARE}, there=["docs/z.md"])
    assert said_of(synced.problems) == [
        (3, "warning", "names palace/a.md again (line 1): made one")
    ]
    assert lines(tmp_path) == [
        {"path": "docs/z.md"},
        {"path": "palace/a.md", "type": "card", "x": 1, "y": 3},
    ]
    assert not sync(tmp_path, {"palace/a.md": BARE}, there=["docs/z.md"]).problems


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"type": 5}, "type 5 is not text: mend it; left out"),
        ({"type": ["card"]}, "type ['card'] is not text: mend it; left out"),
        ({"priority": "urgent"}, "priority 'urgent': write high, medium or low; left out"),
        ({"priority": 1}, "priority 1: write high, medium or low; left out"),
    ],
)
def test_a_word_of_a_wrong_kind_is_reported(
    tmp_path: Path, line: dict[str, Any], message: str
) -> None:
    """A type or priority that cannot count is an error with its line; the line still counts."""
    write(tmp_path, {"path": "docs/a.md"}, {"path": "docs/b.md"} | line)
    manifest = manifests.load(tmp_path)
    assert said_of(manifest.problems) == [(2, "error", message)]
    assert list(manifest.entries) == ["docs/a.md", "docs/b.md"]


@pytest.mark.parametrize(("one_file", "spelling"), [(True, "palace/Notes/A.md"), (False, None)])
def test_on_a_disk_that_ignores_case_the_tree_spells_the_path(
    tmp_path: Path, one_file: bool, spelling: str | None
) -> None:
    """A line in another case gets the tree's spelling if both lead to one file, and only then."""
    write(tmp_path, {"path": "palace/notes/a.md", "mine": 1})
    asked: list[tuple[str, str]] = []

    def same_file(a: str, b: str) -> bool:
        asked.append((a, b))
        return one_file

    manifest = manifests.load(tmp_path)
    manifests.fold_case(manifest, ["palace/Notes/A.md", "palace/other.md"], same_file)
    assert asked == [("palace/notes/a.md", "palace/Notes/A.md")]
    assert list(manifest.entries) == [spelling or "palace/notes/a.md"]
    (entry,) = manifest.entries.values()
    assert entry.data == {"path": entry.path, "mine": 1}
    assert entry.number == 1


def test_two_cases_of_one_file_become_one_line(tmp_path: Path) -> None:
    """Where the tree's own spelling is listed too, the lines are merged and reported."""
    write(tmp_path, {"path": "palace/A.md", "y": 2}, {"path": "palace/a.md", "x": 1})
    manifest = manifests.load(tmp_path)
    manifests.fold_case(manifest, ["palace/a.md"], lambda *_: True)
    assert manifest.entries["palace/a.md"].data == {"path": "palace/a.md", "x": 1, "y": 2}
    assert len(manifest.entries) == 1
    assert said_of(manifest.problems) == [
        (1, "warning", "names palace/a.md again (line 2): made one")
    ]


def test_a_line_in_composed_letters_is_the_same_file(tmp_path: Path) -> None:
    """macOS has one file for ``é`` typed as one character and as two."""
    write(tmp_path, {"path": "palace/caf\u00e9.md"}, {"path": "palace/Archive_Basement/Z.md"})
    manifest = manifests.load(tmp_path)
    spelt = ["palace/Cafe\u0301.md", "palace/archive_basement/z.md"]
    manifests.fold_case(manifest, spelt, lambda *_: True)
    assert list(manifest.entries) == spelt


@pytest.mark.parametrize("link", ["manifests", manifests.PATH])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_leads_no_write_out_of_the_root(tmp_path: Path, link: str, there: bool) -> None:
    """Neither the folder nor the file may be a symbolic link, for reading and for writing."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    empty = manifests.load(root)
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)
    if there:
        outside.mkdir() if link == "manifests" else outside.write_bytes(b"")
    message = f"^{link} in {root} is a symbolic link: replace it by what it stands for$"
    with pytest.raises(BadInput, match=message):
        manifests.load(root)
    synced = manifests.sync(
        empty, {"palace/a.md": NOTE}, lambda _: False, lambda _: False, lambda _: False
    )
    with pytest.raises(BadInput, match=message):
        manifests.save(root, empty, synced)
    assert outside.exists() is there
    if there:
        assert not list(outside.iterdir()) if outside.is_dir() else outside.read_bytes() == b""


@pytest.mark.parametrize("kind", ["pipe", "folder", "too large"])
def test_a_manifest_that_is_no_list_is_named(tmp_path: Path, kind: str) -> None:
    """A pipe does not hang, and a folder or a giant is one message."""
    path = tmp_path / manifests.PATH
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(manifests.MOST_BYTES + 1)
    with pytest.raises(BadInput) as caught:
        manifests.load(tmp_path)
    said = "256 MB, a manifest may have 256: split it"
    said = said if kind == "too large" else "not a regular file: move it away"
    assert str(caught.value) == f"{manifests.PATH}: {said}"


def test_a_manifest_larger_than_a_note_is_read(tmp_path: Path) -> None:
    """The limit of a note is not that of the list of all notes."""
    raw = write(tmp_path, {"path": "docs/a.md", "x": "y" * 11 * 2**20})
    assert manifests.load(tmp_path).raw == raw


def test_a_manifest_out_of_reach_is_missing(tmp_path: Path) -> None:
    """What cannot be reached is not taken for an empty list."""
    (tmp_path / "manifests").touch()
    message = (
        rf"^{manifests.PATH}: cannot be read \(Not a directory\): check it and its permissions$"
    )
    with pytest.raises(Missing, match=message):
        manifests.load(tmp_path)


@pytest.mark.parametrize("change", ["edited", "deleted", "made"])
def test_a_manifest_that_moved_on_is_not_overwritten(tmp_path: Path, change: str) -> None:
    """What another process wrote between reading and saving stays, and nothing is lost."""
    path = tmp_path / manifests.PATH
    if change != "made":
        write(tmp_path, {"path": "docs/a.md"})
    manifest = manifests.load(tmp_path)
    synced = manifests.sync(
        manifest, {"palace/b.md": NOTE}, lambda _: False, lambda _: False, lambda _: True
    )
    if change == "deleted":
        path.unlink()
    else:
        write(tmp_path, {"path": "docs/theirs.md"})
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(Changed, match=r"watchdog_manifest_v1\.jsonl changed underneath"):
        manifests.save(tmp_path, manifest, synced)
    assert (path.read_bytes() if path.exists() else None) == before


def test_blank_lines_and_windows_line_ends_are_tidied(tmp_path: Path) -> None:
    """The file is written with one line feed a line, whatever an editor made of it."""
    write(tmp_path, b"\xef\xbb\xbf" + b'{"path": "docs/b.md"}\r', b"\r", b'{"path": "docs/a.md"}\r')
    synced = sync(tmp_path, there=["docs/a.md", "docs/b.md"])
    assert not synced.problems
    assert (tmp_path / manifests.PATH).read_bytes() == (
        b'{"path": "docs/a.md"}\n{"path": "docs/b.md"}\n'
    )


PATHS = ["palace/a.md", "palace/b.md", "palace/archive_basement/c.md", "docs/d.md"]
spellings = st.sampled_from([*PATHS, "./palace/a.md", "palace/x/../b.md", "docs//d.md", "../out"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=3,
)
unknown = st.dictionaries(st.text(max_size=5).map(lambda key: "x-" + key), json_values, max_size=3)
known = st.fixed_dictionaries(
    {"path": spellings},
    optional={"type": st.sampled_from(["card", 5]), "priority": st.sampled_from(["high", "odd"])},
)
good_lines = st.builds(lambda data, more: json.dumps(data | more).encode(), known, unknown)
odd_lines = st.binary(max_size=20).map(lambda raw: b"<" + raw.replace(b"\n", b"").rstrip(b"\r"))
said = st.builds(
    Said, st.just(True), st.none() | st.just("card"), st.none() | st.just("low")
) | st.just(BARE)


def in_a_folder(raw: list[bytes], check: Callable[[Path], None]) -> None:
    """Run a check in a root whose manifest has those lines."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), *raw)
        check(Path(folder))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(good_lines | odd_lines, max_size=8),
    st.dictionaries(st.sampled_from(PATHS[:2]), said),
    st.sets(st.sampled_from(PATHS)),
    st.sets(st.sampled_from(PATHS)),
)
def test_syncing_twice_changes_nothing_more(
    raw: list[bytes], notes: dict[str, Said], hidden: set[str], there: set[str]
) -> None:
    """Whatever the manifest holds, a synced one is in line with the notes."""

    def check(root: Path) -> None:
        sync(root, notes, hidden=hidden, there=there)
        before = (root / manifests.PATH).read_bytes()
        again = sync(root, notes, hidden=hidden, there=there)
        assert changes(again) == ([], [], [])
        assert (root / manifests.PATH).read_bytes() == before
        listed = manifests.load(root).entries
        assert set(notes) <= set(listed)
        assert sorted(listed) == list(listed)

    in_a_folder(raw, check)


@settings(max_examples=50, deadline=None)
@given(st.lists(good_lines | odd_lines, max_size=8), st.dictionaries(st.sampled_from(PATHS), said))
def test_lines_that_do_not_parse_survive_byte_for_byte(
    raw: list[bytes], notes: dict[str, Said]
) -> None:
    """They come last, in their order, each as it was."""
    odd = [line for line in raw if line.startswith(b"<") or b'"../out"' in line]

    def check(root: Path) -> None:
        sync(root, notes, there=PATHS)
        after = (root / manifests.PATH).read_bytes().split(b"\n")[:-1]
        assert after[len(after) - len(odd) :] == odd
        assert all(line.startswith(b"{") for line in after[: len(after) - len(odd)])

    in_a_folder(raw, check)


@settings(max_examples=50, deadline=None)
@given(st.lists(good_lines, max_size=6), st.dictionaries(st.sampled_from(PATHS[:2]), said))
def test_unknown_keys_are_kept(raw: list[bytes], notes: dict[str, Said]) -> None:
    """Every unknown key of a file's lines is in its line after a sync, the first value counting."""
    wanted: dict[str, dict[str, Any]] = {}
    for line in raw:
        data = json.loads(line)
        path = {"./palace/a.md": "palace/a.md", "palace/x/../b.md": "palace/b.md",
                "docs//d.md": "docs/d.md"}.get(data["path"], data["path"])  # fmt: skip
        more = {key: value for key, value in data.items() if key.startswith("x-")}
        wanted[path] = more | wanted.get(path, {})
    for path in ("../out", "palace/archive_basement/c.md"):
        wanted.pop(path, None)

    def check(root: Path) -> None:
        sync(root, notes, there=PATHS)
        entries = manifests.load(root).entries
        for path, more in wanted.items():
            after = entries[path].data
            assert {key: after[key] for key in after if key.startswith("x-")} == more

    in_a_folder(raw, check)


def makeable(name: str) -> bool:
    """True if a disk takes that name and it is not hidden."""
    return "/" not in name and not name.startswith(".") and len(name.encode()) < 250


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from('\\:" \n'),
    min_size=1,
    max_size=12,
).filter(makeable)


@settings(max_examples=100, deadline=None)
@given(st.sets(names, max_size=5))
def test_whatever_a_note_is_called_it_has_one_line(made: set[str]) -> None:
    """For every name that a scan lets through, the second run finds the line of the first."""

    def check(root: Path) -> None:
        (root / "palace").mkdir()
        for name in made:
            (root / "palace" / f"{name}.md").touch()
        notes = {file.path: NOTE for file in tree.scan(root).notes}
        sync(root, notes)
        before = (root / manifests.PATH).read_bytes()
        assert changes(sync(root, notes)) == ([], [], [])
        assert (root / manifests.PATH).read_bytes() == before
        manifest = manifests.load(root)
        assert set(manifest.entries) == set(notes)
        assert not manifest.problems

    in_a_folder([], check)
