"""A note of what another tool remembers: kept as it is, with where it is from."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import imported, note
from memory_palace.core.imported import Piece

PATH = "palace/project_rooms/imports/openclaw/a.md"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def made(text: str, **more: object) -> tuple[str, note.Note, list[str]]:
    """The note of a text: its own text, as read, and what is said of it."""
    piece = Piece("memory/a.md", "memory/a", text, **more)  # type: ignore[arg-type]
    whole, said = imported.made(piece, "openclaw", PATH, "2026-11-29", "cli@laptop")
    return whole, note.parse(PATH, whole), said


def test_where_it_is_from() -> None:
    """The tool, the path or id there, when it was imported, who did."""
    _, found, said = made("# Lamp\n\nIt is lit.\n", id="x1", modified="2026-03-01T10:00:00Z")
    assert not said
    assert found.body == "# Lamp\n\nIt is lit.\n"
    told = dict(found.metadata)
    assert told.pop("source_digest")
    assert told.pop("import_digest")
    assert told == {
        "updated": "2026-03-01T10:00:00Z",
        "agent": "cli@laptop",
        "source": "openclaw",
        "original": "memory/a.md",
        "original_id": "x1",
        "imported": "2026-11-29",
    }


def test_its_own_metadata_stay() -> None:
    """In their order, with their comments; only what is missing is added."""
    text = "---\ntags: [b, a] # mine\nmood: good\ncreated: 2024-01-02\n---\nx\n"
    whole, found, said = made(text, tags=("c",), aliases=("The lamp",), modified="2026-03-01")
    assert not said
    assert whole.startswith("---\ntags: [b, a, c] # mine\nmood: good\ncreated: 2024-01-02\n")
    assert found.aliases == ("The lamp",)
    assert "updated" not in found.metadata
    text = "---\ntags: a, b\naliases: One\n---\nx\n"
    whole, found, _ = made(text, tags=("b",))
    assert whole.startswith(text[:-6])
    assert (found.tags, found.aliases) == (("a", "b"), ("One",))


def test_what_this_palace_cannot_hold_is_kept_beside() -> None:
    """Values of a wrong type, keys of ours, types and marks that mean something here."""
    text = (
        "---\ncreated: yesterday\npriority: 1\nhall: lobby\nsource: wiki\ntype: rule\n"
        "pinned: true\n---\nx\n"
    )
    _, found, said = made(text)
    assert not found.problems
    assert not found.pinned
    assert (found.type, found.metadata["source"]) == (None, "openclaw")
    kept = {key: found.metadata[f"original_{key}"] for key in ("created", "source", "type")}
    assert kept == {"created": "yesterday", "source": "wiki", "type": "rule"}
    assert len(said) == 6


def test_broken_metadata_become_text() -> None:
    """Nothing of it is lost, and it is said."""
    whole, found, said = made("---\nname: [open\n---\nThe body.\n")
    assert not found.broken
    assert "name: [open" in whole
    assert found.body.endswith("The body.\n")
    assert "kept as text" in said[0]


def test_secrets_and_private_spans_are_taken_out() -> None:
    """Of the body and of the metadata."""
    whole, _, said = made(f"---\nkey: {SECRET}\n---\n<private>x</private> {SECRET}\n")
    assert SECRET not in whole
    assert "<private>" not in whole
    assert "taken out: a private span" in said


def test_an_edit_is_told() -> None:
    """Of the body or a key; other line ends are none."""
    whole, found, _ = made("x\n")
    assert not imported.is_edited(whole, found.metadata)
    assert not imported.is_edited(whole.replace("\n", "\r\n"), found.metadata)
    for change in (("x\n", "y\n"), ("agent: ", "mood: good\nagent: ")):
        text = whole.replace(*change)
        assert imported.is_edited(text, note.parse(PATH, text).metadata)


def test_the_digest_is_of_what_the_source_says() -> None:
    """Not of when its file was touched."""
    one = Piece("a", "a", "x", modified="2026-01-01")
    assert one.digest == Piece("b", "c", "x", modified="2026-02-02").digest
    others = (
        {"text": "y"},
        {"id": "1"},
        {"title": "t"},
        {"created": "2026-01-01"},
        {"updated": "2026-01-01"},
        {"aliases": ("n",)},
        {"tags": ("n",)},
    )
    assert all(replace(one, **more).digest != one.digest for more in others)  # type: ignore[arg-type]


def test_a_nul_is_left_out() -> None:
    """No note can have one."""
    assert made("a\0b\n")[1].body == "ab\n"


YAML = st.sampled_from(
    """title: x|title: [a]|tags: a, b|tags: {a: 1}|aliases: 1|- a|a: &x 1|b: *x|created: 1
    |type: session|original: y|{}|updated: 2026-01-01|?|original_type: z|import_digest: 1""".split(
        "|"
    )
)


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(YAML, max_size=5), body=st.text(max_size=40))
def test_any_note_can_be_imported(lines: list[str], body: str) -> None:
    """Whatever its metadata are: the note can be read, and says where it is from."""
    text = "---\n" + "".join(line + "\n" for line in lines) + f"---\n{body}"
    whole, found, _ = made(text.replace("\ud800", ""))
    assert not [one for one in found.problems if one.grade == "error"]
    assert found.metadata["source"] == "openclaw"
    assert found.metadata["original"] == "memory/a.md"
    assert not imported.is_edited(whole, found.metadata)


@pytest.mark.parametrize(
    "text", ["---", "---\n", "\ufeff---\n---\n", "---\n---\n---\nx", "\0a", "\r"]
)
def test_odd_beginnings(text: str) -> None:
    """What only looks like metadata is body."""
    _, found, _ = made(text)
    assert not found.broken
    assert found.metadata["source"] == "openclaw"
