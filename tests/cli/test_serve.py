"""``palace serve`` as it is typed."""

from pathlib import Path

import pytest

from serve.running import serving, status, until
from support.palaces import Palace


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


def test_start_look_stop(keyword_palace: Palace) -> None:
    """Started once, found running, ended once; each says what it found."""
    palace = keyword_palace
    palace.notes(topics__amber="The amber ledge.")
    palace.command("index")
    ran = palace.command("serve", "--status")
    assert (ran.code, ran.out, ran.err) == (1, "no server runs\n", "")
    started = palace.command("serve", "--idle", "5")
    try:
        assert (started.code, started.err) == (0, "")
        found = status(palace.root)
        assert found
        assert started.out.startswith(f"running: process {found.pid}, toolkit ")
        again = palace.command("serve")
        assert again.code == 0
        assert again.out.splitlines()[0] == started.out.splitlines()[0]
        until(lambda: "state: ready\n" in palace.command("serve", "--status").out)
        palace.command("query", "amber")
        lines = palace.command("serve", "--status").out.splitlines()
        assert lines[1:] == [
            f"root: {palace.root}",
            "state: ready",
            "embedder: none (keywords only); as configured",
            "index: generation 0",
            "questions: 1",
            "idle: 0.0 of 5 minutes",
        ]
    finally:
        ended = palace.command("serve", "--stop")
    assert (ended.code, ended.out) == (0, "ended\n")
    ended = palace.command("serve", "--stop")
    assert (ended.code, ended.out) == (0, "no server runs\n")


def test_a_second_one_in_the_foreground_is_refused(keyword_palace: Palace) -> None:
    """Exit 1 and how to end the first."""
    with serving(keyword_palace.root, state="no index"):
        ran = keyword_palace.command("serve", "--foreground")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith("has a server: `palace serve --stop` ends it\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--status", "--stop"), "give one of them"),
        (("--foreground", "--stop"), "give one of them"),
        (("--idle", "0"), "--idle"),
        (("--idle", "soon"), "--idle"),
        (("now",), "unexpected extra argument"),
    ],
)
def test_bad_usage(keyword_palace: Palace, words: tuple[str, ...], said: str) -> None:
    """Exit 2, one line, and nothing is started."""
    ran = keyword_palace.command("serve", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (keyword_palace.root / ".palace").exists()


def test_a_server_that_does_not_come_up(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3 with the place of its log."""
    from memory_palace.cli import serve

    monkeypatch.setattr("sys.executable", "/bin/false")
    monkeypatch.setattr(serve, "WAIT_SECONDS", 0.3)
    ran = keyword_palace.command("serve")
    assert (ran.code, ran.out) == (3, "")
    log = keyword_palace.root / ".palace/serve/log"
    assert ran.err == f"error: the server did not start: see {log}\n"
    assert log.is_file()


def test_no_palace_no_server(tmp_path: Path) -> None:
    """A folder without palace.yaml is refused as everywhere."""
    from support.palaces import command

    ran = command("serve", "--root", str(tmp_path))
    assert (ran.code, "is not a palace root" in ran.err) == (2, True)
