"""``palace recent``: what is printed, and the exit codes."""

import json

import pytest

from memory_palace.cli import common
from support.palaces import NOW, Palace


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    monkeypatch.setattr(common, "now", lambda: NOW)


@pytest.fixture
def dated(keyword_palace: Palace) -> Palace:
    """Three dated notes."""
    keyword_palace.notes(
        a="---\ncreated: 2026-11-01\n---\n# The a\n",
        demo__b="---\ncreated: 2026-11-29\ntype: session\ntags: [t]\n---\nb\n",
        demo__c="---\ncreated: 2026-11-20\npriority: high\n---\nc\n",
    )
    return keyword_palace


def test_as_text(dated: Palace) -> None:
    """Day, path and title, the newest first; how many more there are on stderr."""
    done = dated.command("recent", "-k", "2")
    assert done.out.splitlines() == [
        "2026-11-29  palace/demo/b.md  b",
        "2026-11-20  palace/demo/c.md  c",
    ]
    assert (done.code, done.err) == (0, "1 older note not shown: -k 3 shows all\n")


def test_other_forms(dated: Palace) -> None:
    """All keys as JSON lines; paths alone."""
    done = dated.command("recent", "--type", "session", "--format", "jsonl")
    assert json.loads(done.out) == {
        "path": "palace/demo/b.md",
        "title": "b",
        "date": "2026-11-29T00:00:00Z",
        "source": "note",
        "type": "session",
        "priority": None,
        "tags": ["t"],
    }
    done = dated.command("recent", "--room", "demo", "--since", "10d", "--format", "files")
    assert (done.out, done.err) == ("palace/demo/b.md\npalace/demo/c.md\n", "")


def test_bounds_in_time(dated: Palace) -> None:
    """Both ends belong to it; a day given as an end is the whole day."""
    done = dated.command("recent", "--until", "2026-11-20", "--since", "2026-11-01")
    assert [line.split()[1] for line in done.out.splitlines()] == [
        "palace/demo/c.md",
        "palace/a.md",
    ]


def test_nothing_and_nonsense(dated: Palace) -> None:
    """1 and why where nothing matches, 2 and what to write for no date."""
    for arguments, code, what in [
        (["--since", "1h"], 1, "no note is of that time"),
        (["--type", "sesion"], 1, "no note has type `sesion`: there are palace, session"),
        (["--since", "soon"], 2, "--since 'soon' is no date: write 2026-11-29 or"),
        (["--since", "1d", "--until", "2d"], 2, "--since 1d is after --until 2d: swap them"),
        (["-k", "0"], 2, "0 is not in the range"),
        (["--sinc", "1d"], 2, "did you mean `--since`?"),
    ]:
        done = dated.command("recent", *arguments)
        assert (done.code, done.out) == (code, ""), arguments
        assert what in done.err and done.err.count("\n") == 1
