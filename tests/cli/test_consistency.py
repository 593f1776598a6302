"""What a command says the second time is what it said the first."""

import pytest

from support.palaces import Palace


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")


@pytest.mark.parametrize("again", [("index", "--force"), ("edit",)], ids=lambda a: a[-1])
def test_links_stay_when_a_note_is_read_again(
    again: tuple[str, ...], keyword_palace: Palace
) -> None:
    """Reading a note again with the links it had leaves the graph as it was."""
    keyword_palace.notes(topics__a="To [[b]].", topics__b="To [[a]].")
    before = keyword_palace.command("graph").out
    assert '"palace/topics/b.md"\n ]' in before
    if again == ("edit",):
        keyword_palace.notes(topics__a="Other words to [[b]].")
    else:
        assert keyword_palace.command(*again).code == 0
    assert keyword_palace.command("graph").out == before


@pytest.mark.parametrize("data", [b"a\0b", b"caf\xe9"], ids=["binary", "latin1"])
def test_a_note_that_is_no_text_changes_once(data: bytes, keyword_palace: Palace) -> None:
    """Indexed and reported, it is not "changed" at every run, nor the index stale for ever."""
    keyword_palace.write("palace/topics/a.md", data)
    assert keyword_palace.command("index").code == 1
    assert keyword_palace.command("index").out.startswith("0 added, 0 changed")
    assert keyword_palace.command("index", "--check").out.startswith("up to date")


def test_a_pipe_in_the_manifest_is_no_change(keyword_palace: Palace) -> None:
    """What the index knows as unreadable is not "changed since" at every question."""
    import os

    keyword_palace.notes(topics__a="amber")
    os.mkfifo(keyword_palace.root / "palace/topics/pipe.md")
    keyword_palace.write(
        "manifests/watchdog_manifest_v1.jsonl", '{"path": "palace/topics/pipe.md"}\n'
    )
    keyword_palace.command("index")
    assert "changed since" not in keyword_palace.command("query", "amber").err


def test_raw_without_an_embedder_names_the_way_out(keyword_palace: Palace) -> None:
    """`--raw` with embedder none says what to change, not to run what changes nothing."""
    keyword_palace.notes(topics__a="amber")
    ran = keyword_palace.command("query", "--raw", "amber")
    assert ran.code == 3
    assert "embedder" in ran.err.splitlines()[-1]


def test_no_rooms_to_list(keyword_palace: Palace) -> None:
    """Where no room holds a note the message does not end in `there are `."""
    keyword_palace.write("palace/a.md", "amber")
    ran = keyword_palace.command("query", "--room", "topics")
    assert ran.code == 1
    assert not ran.err.rstrip("\n").endswith("there are ")


def test_why_an_index_is_made_anew_is_said_whole(keyword_palace: Palace) -> None:
    """A reason with a colon in it is not cut there."""
    keyword_palace.notes(topics__a="amber")
    folder = keyword_palace.root / ".palace/index"
    folder.mkdir(parents=True)
    (folder / "catalog.sqlite").touch()
    assert "no such table: meta): made anew" in keyword_palace.command("index").err


def test_a_manifest_that_is_a_folder_is_named(keyword_palace: Palace) -> None:
    """A manifest that cannot be read is no full disk: say which file it is."""
    keyword_palace.notes(topics__a="amber")
    (keyword_palace.root / "manifests/watchdog_manifest_v1.jsonl").mkdir(parents=True)
    ran = keyword_palace.command("index")
    assert ran.code == 2
    assert "watchdog_manifest_v1.jsonl" in ran.err
