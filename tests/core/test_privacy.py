"""Private spans and secrets: what is taken out of a text before it is stored, and what is not."""

import base64
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.privacy import Found, redact, secrets

BLOCK = "-----BEGIN RSA PRIVATE KEY-----\n{0}\n{0}\nab12==\n-----END RSA PRIVATE KEY-----"
LINE = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi"

# Assembled here, so that no scanner takes this file for a leak.
SK = "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90"
GITHUB = "ghp" + "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.mark.parametrize(
    ("text", "clean", "count"),
    [
        ("a <private>b</private> c", "a [PRIVATE] c", 1),
        ("a < PRIVATE >b</ Private > c", "a [PRIVATE] c", 1),
        ("a <\tprivate\n>b< / private > c", "a [PRIVATE] c", 1),
        ("<private>a<private>b</private>c</private>d", "[PRIVATE]d", 1),
        ("<private>a</private>-<private>b</private>", "[PRIVATE]-[PRIVATE]", 2),
        ("a <private>b\n\nc", "a [PRIVATE]", 1),
        ("a <private>b <private>c</private> d", "a [PRIVATE]", 1),
        ("a </private> b", "a </private> b", 0),
        ("a <private> b </private> c </private> d", "a [PRIVATE] c </private> d", 1),
        ("<priv<private>x</private>ate>", "<priv[PRIVATE]ate>", 1),
        ("a private thing, <privateer>", "a private thing, <privateer>", 0),
    ],
)
def test_private(text: str, clean: str, count: int) -> None:
    """A private span becomes one mark, nested ones with it; an unclosed one runs to the end."""
    result = redact(text)
    assert (result.text, result.private) == (clean, count)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"see {BLOCK.format(LINE)} there", "see [SECRET: private key] there"),
        (
            "key: " + BLOCK.format(LINE).replace("\n", "\\n") + '"',
            'key: [SECRET: private key]"',
        ),
        (f"-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}\nab1", "[SECRET: private key]"),
        (
            f"curl -H 'Authorization: Bearer {LINE}'",
            "curl -H 'Authorization: Bearer [SECRET: bearer token]'",
        ),
        (
            "authorization: basic dXNlcjpodW50ZXIy",
            "authorization: basic [SECRET: basic credentials]",
        ),
        (f"use {SK}.", "use [SECRET: sk- key]."),
        (f"line\\n{SK}", "line\\n[SECRET: sk- key]"),
        (f"{GITHUB} it is", "[SECRET: GitHub token] it is"),
        ("gho" + GITHUB[3:], "[SECRET: GitHub token]"),
        ("github" + "_pat_11ABCDEFG0abcdefghijkl_mnop", "[SECRET: GitHub token]"),
        (f"jwt={JWT}", "jwt=[SECRET: JWT]"),
        (f"id {AWS}!", "id [SECRET: AWS key id]!"),
        (f"id {AWS}12{SK}!", "id [SECRET: AWS key id]!"),
        ("xox" + "b-123456789012-abcdef", "[SECRET: Slack token]"),
        ("AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "[SECRET: Google key]"),
        ("postgres://app:hunter2@db:5432/x", "postgres://app:[SECRET: URL password]@db:5432/x"),
        ("https://:p@ss@host/", "https://:[SECRET: URL password]@host/"),
        ("API_KEY=abcdefghij", "API_KEY=[SECRET: key]"),
        (f"API_KEY={SK}", "API_KEY=[SECRET: sk- key]"),
        ("export DB_PASSWORD='correct horse'", "export DB_PASSWORD='correct horse'"),
        ("export DB_PASSWORD='hunter22'", "export DB_PASSWORD='[SECRET: password]'"),
        ('password: "hunter2"', 'password: "[SECRET: password]"'),
        ('{"dbPassword": "hunter22", "a": 1}', '{"dbPassword": "[SECRET: password]", "a": 1}'),
        (r"{\"token\": \"ab12cd34ef\"}", r"{\"token\": \"[SECRET: token]\"}"),
        ("client_secret = 'AbCdEfGhIj'", "client_secret = '[SECRET: secret]'"),
        ("password: str = 'hunter22'", "password: str = '[SECRET: password]'"),
        ("secret: aGVsbG8gdDEyMw==", "secret: [SECRET: secret]"),
        ("password: hunter22", "password: [SECRET: password]"),
        ("?access_token=ab12cd34ef56&page=2", "?access_token=[SECRET: token]&page=2"),
        ("Server=db;Uid=sa;Pwd=hunter22;", "Server=db;Uid=sa;Pwd=[SECRET: password];"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[SECRET: secret]"),
        ('passphrase: "correct horse battery"', 'passphrase: "[SECRET: password]"'),
        ('"secret": "then token=ab12cd34ef"', '"secret": "then token=[SECRET: token]"'),
        ("password=hunter2<private>x</private>", "password=[SECRET: password][PRIVATE]"),
    ],
)
def test_secrets_are_named(text: str, clean: str) -> None:
    """A secret is replaced by what kind it is; what stands around it stays."""
    assert redact(text).text == clean


@pytest.mark.parametrize(
    "text",
    [
        "the token budget is 1,700",
        "password reset flow",
        "secret: ask Anna",
        "Secret: something nobody knows",
        "password: required",
        "tokens = tokenizer.encode(text)",
        "max_tokens=4096, token=next(tokens2)",
        "token = config2.token_value",
        "token = tokens2024[0]",
        "password=request.form2.get('password')",
        "token: docs/tokens2.md",
        "API_KEY=<your key>",
        "API_KEY=$OTHER_KEY1",
        "API_KEY=${API_KEY1}",
        "API_KEY=$(pass show api1)",
        'password: "changeme"',
        'password: "************"',
        "password: xxxxxxxxxx",
        "API_KEY=[SECRET: key]",
        "SECRET_FILE=/run/secrets/db1",
        '"password": "Enter your password here 1"',
        '"type": "token", "value": 12345678',
        "PWD=/home/anna/work1",
        "API_KEY=",
        "eos_token: '<|endoftext|>'",
        "risk-assessment-of-the-whole-thing-2026",
        "sk-fading-circle-and-other-things",
        "Bearer authentication/authorization",
        "`-----BEGIN PRIVATE KEY-----` and `-----END PRIVATE KEY-----`",
        "http://localhost:8080/a@b",
        "postgres://user:$PASSWORD@db postgres://user:<pw>@db postgres://user:***@db",
        "git@host:team/repo.git, std::pair<a@b>",
        "PRIVATE KEY: the words of a key",
        "eyJ is how a JWT begins; AKIA how a key id does",
        "`secret`: `core.privacy2`",
    ],
)
def test_prose_and_code_stay(text: str) -> None:
    """Words about secrets, stand-ins for them, and code that handles them are no secrets."""
    assert redact(text).text == text
    assert secrets(text) == []


def test_secrets_have_lines_and_no_values() -> None:
    """Where secrets stand, from line 1, several on one line too."""
    text = f"a\n{AWS} and {SK}\n\n{BLOCK.format(LINE)}\nTOKEN=abcd1234"
    assert secrets(text) == [
        Found(2, "AWS key id"),
        Found(2, "sk- key"),
        Found(4, "private key"),
        Found(9, "token"),
    ]


def test_known_values_go_by_name() -> None:
    """An exact value is replaced by its name: plain, URL-encoded, in base64 at any offset."""
    value = "p@ss/wörd 42"
    data = value.encode()
    known = {"DB_PASSWORD": value, "SHORT": "abc"}
    assert redact(f"a {value} abc", known).text == "a [SECRET: DB_PASSWORD] abc"
    assert redact(f"x={quote(value)}&", known).text == "x=[SECRET: DB_PASSWORD]&"
    for before in (b"", b"u", b"u:", b"us:", b"user:"):
        coded = base64.b64encode(before + data).decode()
        result = redact(f"({coded})", known)
        assert "[SECRET: DB_PASSWORD]" in result.text
        assert result.secrets == ("DB_PASSWORD",)


def test_known_values_in_marks() -> None:
    """A value that is a word of the marks themselves does not break them."""
    known = {"A PASSWORD]": "password", "B": "[PRIVATE]", "sk-" + "a1b2" * 10: "whatever"}
    once = redact("token: 'hunter22' <private>x</private> password whatever", known)
    assert redact(once.text, known).text == once.text
    assert "hunter22" not in once.text
    assert once.text == (
        "token: '[SECRET: token]' [PRIVATE] [SECRET: A_PASSWORD_] [SECRET: known value]"
    )


PIECES = st.sampled_from(
    [
        "<private>",
        "</private>",
        "< Private >",
        "</ PRIVATE>",
        "<",
        ">",
        "private",
        "[PRIVATE]",
        "[SECRET: key]",
        "[SECRET: ",
        "[",
        "]",
        SK,
        GITHUB,
        JWT,
        AWS,
        LINE,
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "password",
        "token",
        "SECRET",
        "API_KEY",
        "=",
        ":",
        " = ",
        ": ",
        '"',
        "'",
        "`",
        "\\",
        "\\n",
        "\n",
        " ",
        "://",
        "@",
        "/",
        "-",
        "_",
        "Bearer ",
        "hunter22",
        "a",
        "1",
        "(",
        ".",
        "abcdefghij",
        "$",
        "authorization: basic ",
        "é",
        "%3D",
        "&",
        "sk-",
        "eyJ",
        "passphrase",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join))


@MODEST
@given(TEXTS)
def test_redacting_again_changes_nothing(text: str) -> None:
    """What was redacted is clean: nothing is found in it, and a second time is the same."""
    once = redact(text)
    again = redact(once.text)
    assert (again.text, again.private, again.secrets) == (once.text, 0, ())
    assert secrets(once.text) == []


@MODEST
@given(TEXTS, TEXTS.map(lambda text: text + "\u2021"), st.booleans(), TEXTS)
def test_nothing_private_survives(before: str, inside: str, closed: bool, after: str) -> None:
    """No sign of what stands in a private span is left, whatever stands around it."""
    end = "</private>" if closed else ""
    assert "\u2021" not in redact(f"{before}<private>\u2021{end}{after}").text
    # Openers inside need closers of their own: else the span ends later, or never.
    assert "\u2021" not in redact(f"{before}<private><private>{inside}".replace("</", "")).text


@MODEST
@given(TEXTS, TEXTS)
def test_secrets_do_not_survive_their_surroundings(before: str, after: str) -> None:
    """A token on a line of its own is found whatever stands on the others."""
    text = f"{before}\n{GITHUB}\n{after}"
    assert GITHUB not in redact(text).text
    assert any(found.kind for found in secrets(text))


@pytest.mark.parametrize(
    "unit",
    [
        "<private>",
        "</private>",
        "< ",
        "< private",
        "sk-",
        "eyJ",
        "-eyJaaaaaaaa.",
        "://",
        "://:",
        "://a:b",
        "password",
        "password=",
        "password: ",
        'password: "',
        "password: 'token: \"",
        'secret\\"',
        "API_KEY=a1",
        "token:a a a a a a a ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + LINE,
        "Bearer ",
        "[SECRET: ",
        "[PRIVATE]",
        "ghp_",
        "A",
        "a1",
        "authorization",
        "\\",
        'password=\\"',
        "@",
        " ",
        "secret_key_key_key",
        "token :" + " " * 3,
        "%3D",
        "xox",
    ],
)
def test_hostile_text_takes_no_longer(unit: str) -> None:
    """A megabyte of what a search might backtrack over takes less than a second."""
    text = unit * (1_000_000 // len(unit))
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 1.0
