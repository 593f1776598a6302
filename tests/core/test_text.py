"""Lines, hashes, names and nearest words."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import text


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\r\nb\r\n", ["a\r", "b\r"]),
        ("a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h", ["a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h"]),
    ],
)
def test_only_a_line_feed_ends_a_line(source: str, lines: list[str]) -> None:
    """No other character that Python takes for a line's end is one."""
    assert text.split_lines(source) == lines


@given(st.text(alphabet="ab\n\r\u2028"))
@MODEST
def test_lines_put_together_are_the_text(source: str) -> None:
    """Nothing of the text is lost but the line feed at its end."""
    assert "\n".join(text.split_lines(source)) == source.removesuffix("\n")


def test_hashes_are_those_of_utf_8() -> None:
    """Text and its bytes have the same hash, and lone surrogates have one too."""
    assert text.sha256("é") == text.digest("é".encode()) == hashlib.sha256(b"\xc3\xa9").hexdigest()
    assert text.sha256("\ud800") != text.sha256("\ud801")


def test_short_ids_are_twelve_hex_digits_of_the_parts_in_order() -> None:
    """The borders between the parts count, and so does their order."""
    ids = {text.short_id("a", "b"), text.short_id("b", "a"), text.short_id("ab"), text.short_id()}
    assert len(ids) == 4
    assert all(len(i) == 12 and int(i, 16) >= 0 for i in ids)
    assert text.short_id("a", "b") == text.short_id("a", "b")


def test_names_are_compared_in_nfc() -> None:
    """A decomposed name, as macOS writes it, is the composed one."""
    decomposed = unicodedata.normalize("NFD", "Müller é")
    assert decomposed != "Müller é"
    assert text.nfc(decomposed) == "Müller é"


@pytest.mark.parametrize(
    ("path", "cold"),
    [
        ("palace/archive_basement/topics/a.md", True),
        ("archive_basement", True),
        ("palace/archive_basement.md", False),
        ("palace/my_archive_basement/a.md", False),
        ("palace/topics/a.md", False),
    ],
)
def test_only_the_whole_component_is_cold(path: str, cold: bool) -> None:
    """A path is cold by a whole component, not by a part of one."""
    assert text.is_cold(path) is cold


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("palace/topics/lessons.md", "lessons"),
        ("a.MD", "a"),
        ("a/b.txt", "b.txt"),
        ("v1.2.md", "v1.2"),
        ("x.md.md", "x.md"),
        ("plain", "plain"),
    ],
)
def test_a_note_is_called_by_its_file(path: str, name: str) -> None:
    """Folder and ``.md`` do not belong to the name."""
    assert text.stem(path) == name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Measure the BGE-M3 floor", "measure-the-bge-m3-floor"),
        ("  v1.2: don't / do  ", "v1-2-don-t-do"),
        ("Über ALLES", "über-alles"),
        (unicodedata.normalize("NFD", "Äpfel"), "äpfel"),
        ("हिन्दी में", "हिन्दी-में"),
        ("日本語のメモ", "日本語のメモ"),
        ("word " * 40, "-".join(["word"] * 12)),
        ("x" * 70, "x" * 60),
        ("short " + "x" * 70, "short"),
        ("𠀀" * 70, "𠀀" * 50),
        ("CON", "con-note"),
        ("com1", "com1-note"),
        ("console", "console"),
        ("../../etc/passwd", "etc-passwd"),
        ("???", text.short_id("???")),
        ("", text.short_id("")),
    ],
)
def test_names_for_files(title: str, name: str) -> None:
    """Letters and digits of any script, lower case, hyphens, not too long, never empty."""
    assert text.slug(title) == name


@given(st.text())
@MODEST
def test_a_name_is_a_name(title: str) -> None:
    """It can be a file's on every system, and its own name is itself."""
    name = text.slug(title)
    assert 0 < len(name) <= text.LONGEST_SLUG
    assert len(name.encode("utf-8")) <= 200
    assert name == text.nfc(name) == name.strip("-")
    assert not set(name) & set('/\\:*?"<>|. \0')
    assert text.slug(name) == name


def test_the_nearest_word_is_close_or_none() -> None:
    """A slip of the pen finds its word, a strange word finds none."""
    known = ["semantic", "recency", "importance"]
    assert text.nearest("recencey", known) == "recency"
    assert text.nearest("zzz", known) is None


def test_did_you_mean() -> None:
    """The nearest word, else all known ones in order, else nothing."""
    assert text.did_you_mean("tpo", ["top", "end"]) == ": did you mean `top`?"
    assert text.did_you_mean("zzz", ["top", "end"]) == ": known are end, top"
    assert text.did_you_mean("zzz", []) == ""
