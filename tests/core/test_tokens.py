"""Texts as the keyword index takes them."""

import pytest

from memory_palace.core.tokens import camel_parts, folded, indexable, pairs


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("plain [[text]] 'x'", "plain [[text]] 'x'"),
        ("é", "é"),
        ("x²", "x2"),
        ("東京都へ a", " 東京 京都 都へ へ  a"),
        ("猫", " 猫 "),
        ("a ジョン・スミス", "a  ジョ ョン ン ・ スミ ミス ス "),
        ("สวัสดี", " สว วส สด ด "),
        ("snakeCase", "snakeCase case snake"),
        ("isNotEmpty isNotEmpty", "isNotEmpty isNotEmpty empty"),
        ("C++, C++17, F#, .NET", "C++, C++17, F#, .NET cplusplus fsharp dotnet"),
        ("a#b ##C x.net", "a#b ##C x.net"),
        ("ok 🚀🚀", "ok 🚀🚀 u1f680"),
        ("🇩🇪", "🇩🇪 u1f1e9u1f1ea"),
    ],
)
def test_indexable(text: str, made: str) -> None:
    """Forms folded, unspaced scripts as pairs and the last character, extra words at the end."""
    assert indexable(text) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("foo\u00adbar\u200b\u2060", "foobar"),
        ("Straße œuvre Æ", "Strasse oeuvre AE"),
        ("مَكْتَبَةٍ", "مكتبة"),
        ("שָׁלוֹם", "שלום"),
        ("ό ё й", "ο е й"),
        ("a\ud800b", "a b"),
        ("मार्ग", "मार्ग"),
    ],
)
def test_folded(text: str, made: str) -> None:
    """What is unseen or optional goes; what tells words apart stays."""
    assert folded(text) == made


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("snakeCase", ["snake", "Case"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseHTTP2Frame", ["parse", "HTTP2", "Frame"]),
        ("APIs", ["APIs"]),
        ("iOS", ["iOS"]),
        ("word", ["word"]),
        ("WORD", ["WORD"]),
        ("aGVsbG8gd29ybGQ", ["aGVsbG8gd29ybGQ"]),
        ("aB" * 40, ["aB" * 40]),
    ],
)
def test_camel_parts(name: str, parts: list[str]) -> None:
    """Names are taken apart, keys and plurals of abbreviations are not."""
    assert camel_parts(name) == parts


def test_pairs() -> None:
    """A run becomes overlapping pairs, a single character itself."""
    assert pairs("東京都") == ["東京", "京都"]
    assert pairs("猫") == ["猫"]
