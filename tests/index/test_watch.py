"""What the watch does with changes: which count, what a run tells, how faults are told once."""

import os
import shutil
import sqlite3

import pytest

from faults.children import fill
from memory_palace.core.errors import BadInput, Missing
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import locks, roots, tree
from memory_palace.files import manifest as manifests
from memory_palace.index import fill as fills
from memory_palace.index import run, watch
from memory_palace.index.watch import Keeper, matters
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch, embedder: FakeEmbedder) -> None:
    """Each look is taken, and the fake embedder is chosen."""
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(watch, "_LOOK_SHARE", 0.0)
    monkeypatch.setattr(watch, "PATIENCE_SECONDS", 0.0)
    loaded: list[FakeEmbedder] = []

    def load() -> FakeEmbedder:
        loaded.append(embedder)
        embedder.loads = len(loaded)  # type: ignore[attr-defined]
        return embedder

    plain = fake_choice(embedder)
    choice = Choice("fake", "fake", "", plain.fingerprint, plain.floor, load)
    monkeypatch.setattr(registry, "choose", lambda config: choice)


@pytest.fixture
def said() -> list[str]:
    """What a keeper says."""
    return []


@pytest.fixture
def keeper(keyword_palace: Palace, said: list[str]) -> Keeper:
    """A keeper of an indexed palace with three notes and two archived ones."""
    fill(keyword_palace, 3)
    made = Keeper(keyword_palace.root, said.append)
    assert made.refresh().line
    return made


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("palace", True),
        ("palace/topics/a.md", True),
        ("palace/topics", True),
        ("palace/topics/figure.png", True),
        ("palace/topics/.a.md.icloud", True),
        ("palace/topics/.a.md.8f.tmp", False),
        ("palace/.obsidian/workspace.json", False),
        ("palace/.git/index", False),
        ("palace/topics/drafts/a.md", False),
        (".palace/index/catalog.sqlite", False),
        (".git/index", False),
        ("manifests/watchdog_manifest_v1.jsonl", False),
        ("palace2/a.md", False),
    ],
)
def test_events_that_count(path: str, counts: bool) -> None:
    """Notes, folders and other files of the tree count; what is hidden or left out does not."""
    assert matters(path, tree.exclusion(("**/drafts/**",))) is counts


def test_a_run_names_what_it_did(keyword_palace: Palace, keeper: Keeper) -> None:
    """Paths by what happened to them, a move with both; many are counted; nothing is no line."""
    assert keeper.refresh().line == ""
    topics = keyword_palace.root / "palace/topics"
    (topics / "n0.md").rename(topics / "m0.md")
    (topics / "n1.md").unlink()
    for name in "abcd":
        keyword_palace.write(f"palace/rooms/{name}.md", name)
    (keyword_palace.root / "palace/archive_basement/old0.md").unlink()
    parts = keeper.refresh().line.split("; ")
    assert parts[:-1] == [
        "added palace/rooms/a.md and 3 more",
        "moved palace/topics/n0.md to palace/topics/m0.md",
        "removed palace/topics/n1.md",
        "archive: removed palace/archive_basement/old0.md",
        "4 vectors",
    ]
    assert parts[-1].endswith(" s")


def test_the_model_is_loaded_once(
    keyword_palace: Palace, keeper: Keeper, embedder: FakeEmbedder
) -> None:
    """Many runs with vectors, one load."""
    for number in range(3):
        keyword_palace.write(f"palace/topics/more{number}.md", f"more {number}")
        assert "1 vector;" in keeper.refresh().line
    assert embedder.loads == 1  # type: ignore[attr-defined]


def test_the_own_write_of_the_manifest_is_no_news(keyword_palace: Palace, keeper: Keeper) -> None:
    """A run's own manifest calls for no run; anyone else's edit does, once, and is named."""
    assert not keeper.news()
    place = keyword_palace.root / manifests.PATH
    line = '{"path": "palace/topics/n0.md", "type": "rule"}\n'
    place.write_text(line + place.read_text())
    assert keeper.news()
    ran = keeper.refresh()
    assert f"read {manifests.PATH} again" in ran.line
    assert not keeper.news()


def test_a_listed_file_outside_the_tree_is_watched(
    keyword_palace: Palace, keeper: Keeper, said: list[str]
) -> None:
    """A file that only the manifest names is looked at, also before it is there."""
    place = keyword_palace.root / manifests.PATH
    place.write_text(place.read_text() + '{"path": "docs/plan.md", "type": "plan"}\n')
    assert keeper.news()
    keeper.refresh()
    while keeper.news():
        keeper.refresh()
    keyword_palace.write("docs/plan.md", "The plan.")
    assert keeper.news()
    assert "added docs/plan.md" in keeper.refresh().line
    keyword_palace.write("docs/plan.md", "Another plan.")
    assert keeper.news()
    assert "changed docs/plan.md" in keeper.refresh().line


def test_settings_are_read_again(keyword_palace: Palace, keeper: Keeper, said: list[str]) -> None:
    """A changed palace.yaml counts from the next run on; one with a fault is said, and does not."""
    keyword_palace.write("palace.yaml", "index: {exclude: ['**/n0.md']}", old=False)
    assert keeper.news()
    assert "removed palace/topics/n0.md; read palace.yaml again" in keeper.refresh().line
    assert not keeper.concerned(["palace/topics/n0.md"])
    keyword_palace.write("palace.yaml", "index: {exclud: 3}", old=False)
    assert keeper.news()
    assert keeper.refresh().line == ""
    assert keeper.refresh().line == ""
    assert [line for line in said if "settings" in line] == [
        "error: palace.yaml:1: index: unknown key `exclud`: did you mean `exclude`?; "
        "until then the settings before count"
    ]
    assert keeper.config.exclude == ("**/n0.md",)
    keyword_palace.write("palace.yaml", "", old=False)
    assert keeper.news()
    assert "added palace/topics/n0.md" in keeper.refresh().line


def test_settings_that_cannot_be_used_at_the_start(keyword_palace: Palace) -> None:
    """There is nothing before them to go on with."""
    keyword_palace.write("palace.yaml", "nonsense: 1")
    with pytest.raises(BadInput, match="unknown key `nonsense`"):
        Keeper(keyword_palace.root, print)


def test_another_embedder_takes_over(
    keyword_palace: Palace, keeper: Keeper, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings name another model: it is said, and every vector is made anew."""
    other = FakeEmbedder(salt="other")
    monkeypatch.setattr(registry, "choose", lambda config: fake_choice(other))
    keyword_palace.write("palace.yaml", "embedder: minilm", old=False)
    assert keeper.news()
    assert "3 vectors" in keeper.refresh().line
    assert "embedder: fake" in said
    assert len(other.embedded) == 3


def test_an_error_is_told_when_it_comes_and_when_it_goes(
    keyword_palace: Palace, keeper: Keeper
) -> None:
    """Once each, also if its line has moved meanwhile; a removed note was not mended."""
    broken = "---\ntags: {\n---\ntext\n"
    bad = keyword_palace.write("palace/topics/bad.md", broken)
    keyword_palace.write("palace/topics/worse.md", b"\xff")
    ran = keeper.refresh()
    assert [problem.path for problem in ran.problems] == [
        "palace/topics/bad.md",
        "palace/topics/worse.md",
    ]
    keyword_palace.write("palace/topics/bad.md", broken.replace("tags", "title: x\ntags"))
    ran = keeper.refresh()
    assert (ran.problems, ran.mended) == ((), ())
    keyword_palace.write("palace/topics/bad.md", "mended")
    (keyword_palace.root / "palace/topics/worse.md").unlink()
    ran = keeper.refresh()
    assert (ran.problems, ran.mended) == ((), ("palace/topics/bad.md",))
    assert bad.exists()


def test_a_mass_deletion_is_refused_once(
    keyword_palace: Palace, keeper: Keeper, said: list[str]
) -> None:
    """However many runs meet it; when the notes are back the next run says so."""
    for number in range(30):
        keyword_palace.write(f"palace/rooms/r{number}.md", f"room {number}")
    keeper.refresh()
    rooms = keyword_palace.root / "palace/rooms"
    rooms.rename(keyword_palace.root / "away")
    assert keeper.refresh().line == ""
    (keyword_palace.root / "palace/topics/n0.md").unlink()  # the counts are others now
    assert keeper.refresh().line == ""
    refused = [line for line in said if "files are gone" in line]
    assert len(refused) == 1
    assert "run `palace index --yes`" in refused[0]
    keyword_palace.write("palace/topics/n0.md", "again")
    (keyword_palace.root / "away").rename(rooms)
    assert "changed palace/topics/n0.md" in keeper.refresh().line
    rooms.rename(keyword_palace.root / "away")
    keeper.refresh()
    assert len([line for line in said if "files are gone" in line]) == 2


@pytest.mark.parametrize(
    "fault",
    [
        sqlite3.OperationalError("database or disk is full"),
        OSError(28, "No space left on device"),
        Missing("the index could not be written: free disk space"),
    ],
)
def test_a_fault_is_one_line_and_the_next_change_tries_again(
    fault: Exception,
    keyword_palace: Palace,
    keeper: Keeper,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk does not end the watch; the run after it says that all is well."""
    with monkeypatch.context() as patch:

        def fails(*arguments: object) -> None:
            raise fault

        patch.setattr(run, "index", fails)
        assert [keeper.refresh(), keeper.refresh()] == [watch.Ran(), watch.Ran()]
    assert len(said) == 1
    assert said[0].startswith("error: ")
    assert keeper.refresh().line.startswith("up to date again; ")


def test_another_writer_is_waited_for(
    keyword_palace: Palace, keeper: Keeper, said: list[str]
) -> None:
    """Nothing is done beside it, who it is is said once, and the run is to be tried again."""
    keyword_palace.write("palace/topics/new.md", "new")
    with locks.writer(roots.index_folder(keyword_palace.root), "palace index"):
        assert [keeper.refresh(), keeper.refresh()] == [watch.Ran(again=True)] * 2
    assert len(said) == 1
    assert said[0].startswith(f"waiting for palace index (process {os.getpid()}, since ")
    assert "added palace/topics/new.md" in keeper.refresh().line


def test_long_vectors_give_way_to_newer_changes(
    keyword_palace: Palace,
    said: list[str],
    embedder: FakeEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The vectors made so far are kept, and the run after goes on with those that are missing."""
    monkeypatch.setattr(watch, "VECTORS_SECONDS", -1.0)
    monkeypatch.setattr(fills, "BATCH", 4)
    fill(keyword_palace, 10)
    waiting = [True]
    keeper = Keeper(keyword_palace.root, said.append, lambda: waiting[0])
    ran = keeper.refresh()
    assert ran.again
    assert ran.line.startswith("12 read, vectors go on after newer changes; ")
    assert keyword_palace.command("query", "--format", "files", "amber").code == 0
    assert len(embedder.embedded) == 4
    waiting[0] = False
    assert "6 vectors" in keeper.refresh().line
    assert len(embedder.embedded) == 10


def test_what_no_event_told_is_found(
    keyword_palace: Palace, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From time to time the tree is compared; a lost index counts as a change as well."""
    keyword_palace.write("palace/topics/new.md", "new")
    assert not keeper.missed()
    monkeypatch.setattr(watch, "SWEEP_SECONDS", 0.0)
    assert keeper.missed()
    keeper.refresh()
    assert not keeper.missed()
    shutil.rmtree(roots.index_folder(keyword_palace.root))
    assert keeper.missed()
    assert "added palace/topics/n0.md and 3 more" in keeper.refresh().line


def test_a_root_that_is_gone_or_another(keyword_palace: Palace, keeper: Keeper) -> None:
    """Nothing is made in its place, whatever stands there now."""
    root = keyword_palace.root
    root.rename(root.with_name("moved"))
    for _ in range(2):
        with pytest.raises(Missing, match=r"is gone: run `palace watch` again"):
            keeper.news()
        with pytest.raises(Missing, match=r"is gone: run `palace watch` again"):
            keeper.refresh()
        assert not (root / ".palace").exists()
        root.mkdir(exist_ok=True)
