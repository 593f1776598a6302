"""Who writes."""

import socket

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.files import identity


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a name of its own."""
    monkeypatch.setattr(socket, "gethostname", lambda: "lap top!.example.org")


@pytest.mark.parametrize(
    ("configured", "variable", "expected"),
    [
        (None, "", "cli@lap-top"),
        ("pi", "", "pi@lap-top"),
        ("pi@desk", "", "pi@desk"),
        ("pi@desk", "hook", "hook@lap-top"),
        (None, "claude.code_2-x@a.b", "claude.code_2-x@a.b"),
        ("Zoë", "", "Zoë@lap-top"),
        (None, "x" * 60 + "@" + "y" * 60, "x" * 60 + "@" + "y" * 60),
    ],
)
def test_the_variable_then_the_configuration_then_cli(
    configured: str | None, variable: str, expected: str
) -> None:
    """Each at this device, where it names none."""
    assert identity.who(configured, {"PALACE_IDENTITY": variable}) == expected


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a@b@c",
        "@b",
        "a@",
        "a/b",
        "a\nb",
        "a\n",
        "x" * 61,
        "a@" + "y" * 61,
        "<a>",
        "a:b",
        " ",
    ],
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    """It goes into file names, events and commits; from either place."""
    with pytest.raises(BadInput, match="write <harness>@<device>"):
        identity.who(None, {"PALACE_IDENTITY": name})
    with pytest.raises(BadInput):
        identity.who(name, {})


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("", "device"),
        ("...", "device"),
        ("!!!", "device"),
        ("a.b.c", "a"),
        ("x" * 80, "x" * 60),
        ("-a-", "a"),
    ],
)
def test_any_host_has_a_name(host: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can be used in a file's name."""
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert identity.device() == expected
    assert identity.who(None, {}) == f"cli@{expected}"


def test_the_environment_is_asked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the process."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@x")
    assert identity.who("other") == "pi@x"


@pytest.mark.parametrize(
    ("configured", "environment", "expected"),
    [
        (None, {}, "cli"),
        (None, {"CLAUDECODE": "1"}, "claude-code"),
        (None, {"CODEX_THREAD_ID": "0198"}, "codex"),
        (None, {"OPENCODE": "1"}, "opencode"),
        (None, {"PI_CODING_AGENT": "true"}, "pi"),
        (None, {"CLAUDECODE": "1", "PI_CODING_AGENT": "true"}, "cli"),
        (None, {"CLAUDECODE": "", "OPENCODE": "1"}, "opencode"),
        ("pi@desk", {"CLAUDECODE": "1"}, "pi"),
        ("pi", {"CLAUDECODE": "1", "PALACE_IDENTITY": "hook@x"}, "hook"),
    ],
)
def test_the_client_in_whose_shell_it_runs(
    configured: str | None, environment: dict[str, str], expected: str
) -> None:
    """Where nobody said who writes, and one client alone says that it is there."""
    assert identity.harness(configured, environment) == expected
