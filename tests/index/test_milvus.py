"""The index in Milvus, by a real milvus-lite: what goes there, goes on, and goes away."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.mining import Line
from memory_palace.files import local, projects
from memory_palace.files.config import Config
from memory_palace.index import milvus, milvus_client
from memory_palace.index import milvus_rows as rows
from memory_palace.index import milvus_texts as texts
from memory_palace.index import milvus_words as words
from memory_palace.index.milvus_client import Client
from support.fake import FakeEmbedder, fake_choice
from support.milvus import Sent, needs_milvus


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Milvus for all: each palace has a name of its own in it."""
    place = str(tmp_path_factory.mktemp("milvus") / "shared.db")
    with Client(place):
        yield place


@pytest.fixture
def sent(tmp_path: Path, uri: str, request: pytest.FixtureRequest) -> Sent:
    """An empty palace for Milvus."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[-40:]
    return Sent(tmp_path / "root", uri, name)


@needs_milvus
def test_every_unit_is_there_with_text_vector_and_words(sent: Sent) -> None:
    """Sections in order, each with its vector; the other palaces' are not among them."""
    sent.notes(topics__a="# One\nalpha beta\n\n# Two\nalpha gamma", b="delta [[a]]")
    done = sent.push()
    assert (done.written, done.removed) == (2, 0)
    units = sent.units()
    assert sorted(row["text"] for row in units) == [
        "# One\nalpha beta",
        "# Two\nalpha gamma",
        "delta [[a]]",
    ]
    assert all(row["embedded"] and any(row["dense"]) for row in units)
    for row in units:
        for word in ("alpha", "beta", "gamma"):
            assert (words.dimension_of(word) in row["sparse"]) == (word in row["text"])
    stamp = sent.stamp()
    assert (stamp.notes, stamp.statistics.rows[0], stamp.dimension) == (2, 3, 32)
    assert stamp.rooms == ["palace/", "palace/topics/"]
    assert stamp.state


@needs_milvus
def test_only_what_changed_is_written(sent: Sent) -> None:
    """New, edited and gone notes; a shorter note loses its last units; nothing twice."""
    sent.notes(a="# One\nalpha\n\n# Two\nbeta", b="gamma", c="delta")
    sent.push()
    done = sent.push()
    assert (done.written, done.removed) == (0, 0)
    sent.notes(a="# One\nalpha", d="epsilon")
    (sent.root / "palace/b.md").unlink()
    done = sent.push()
    assert (done.written, done.removed) == (2, 1)
    assert sent.sent_notes() == ["palace/a.md", "palace/c.md", "palace/d.md"]
    assert sorted(row["text"] for row in sent.units()) == ["# One\nalpha", "delta", "epsilon"]


@needs_milvus
def test_what_is_not_in_the_file_is_brought_too(sent: Sent) -> None:
    """Importance from the manifest and the target of a link change without their note."""
    sent.notes(a="alpha [[b]]", c="gamma")
    sent.push()
    sent.notes(b="beta")
    assert sent.push().written == 2  # b, and a, whose link leads somewhere now


@needs_milvus
@pytest.mark.parametrize("after", [0, 1, 2, 4])
def test_a_killed_upload_goes_on(sent: Sent, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """What was written stays written; until all is, the palace's stamp says so."""
    sent.notes(**{f"n{n}": f"alpha {n}" for n in range(4)})
    monkeypatch.setattr(milvus, "BATCH", 2)  # a note at a time
    calls = 0

    def upsert(self: Client, name: str, batch: Any) -> None:
        nonlocal calls
        if batch and name == rows.NOTES:
            if calls == after:
                raise Missing("Milvus went away: start it again")
            calls += 1
        real(self, name, batch)

    real = Client.upsert
    with monkeypatch.context() as broken:
        broken.setattr(Client, "upsert", upsert)
        if after < 4:
            with pytest.raises(Missing, match="went away"):
                sent.push()
            assert sent.stamp().state == ""
        else:
            sent.push()
    assert len(sent.sent_notes()) == after
    assert sent.push().written == 4 - after
    assert len(sent.units()) == len(sent.sent_notes()) == 4
    assert sent.stamp().state


@needs_milvus
def test_gone_last(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renamed note can be found all the while: its new row is there before the old one goes."""
    sent.notes(a="alpha", b="beta")
    sent.push()
    (sent.root / "palace/a.md").rename(sent.root / "palace/new.md")

    def broken(self: Any, gone: dict[str, int]) -> None:
        raise Missing("Milvus went away: start it again")

    with monkeypatch.context() as patched:
        patched.setattr(milvus._Push, "_remove", broken)
        with pytest.raises(Missing):
            sent.push()
    assert sent.sent_notes() == ["palace/a.md", "palace/b.md", "palace/new.md"]
    sent.push()
    assert sent.sent_notes() == ["palace/b.md", "palace/new.md"]


@needs_milvus
def test_longer_texts_make_new_sparse_vectors(sent: Sent) -> None:
    """They hold the mean length; as long as it is about right, they stay."""
    sent.notes(**{f"n{n}": "alpha beta gamma" for n in range(3)})
    sent.push()
    sent.notes(a="alpha beta gamma delta")
    assert sent.push().written == 1
    sent.notes(b="word " * 300)
    assert sent.push().written == 5
    assert sent.push().written == 0


@needs_milvus
def test_another_embedder_moves_the_units(sent: Sent) -> None:
    """Vectors of another length go into another collection, and none stay in the first."""
    sent.notes(a="alpha")
    sent.push()
    sent.choice = fake_choice(FakeEmbedder(16))
    sent.push()
    assert [len(row["dense"]) for row in sent.units(16)] == [16]
    assert sent.units(32) == []
    assert sent.stamp().dimension == 16


@needs_milvus
def test_the_archive_is_a_palace_of_its_own(sent: Sent) -> None:
    """Its statistics and its notes are not the living ones'; a move goes from one to the other."""
    sent.notes(a="alpha", b="beta")
    sent.push()
    place = sent.root / "palace/archive_basement/b.md"
    place.parent.mkdir()
    (sent.root / "palace/b.md").rename(place)
    sent.push()
    assert sent.sent_notes() == ["palace/a.md"]
    sent.name += milvus.COLD
    assert sent.stamp().statistics.rows == (1, 1, 0, 0)


@needs_milvus
def test_statistics_are_those_of_the_keyword_index(sent: Sent) -> None:
    """How many units have a word, for every word, off the pages where a reader looks."""
    sent.notes(a="# One\nalpha running\n\n# Two\nalpha 中文字", b="---\ntags: [x]\n---\nÉtude runs")
    sent.push()
    pages = {}
    with sent.client() as client:
        for row in client.query(rows.WORDS, f'palace == "{sent.name}"', ["key", "record"]):
            pages |= texts.unpacked(row["record"]) if row["key"] else {}
    assert {word: pages[word] for word in ("alpha", "run", "etud", "中文", "x")} == {
        **{"alpha": [2, 1], "run": [2, 2], "etud": [1, 1], "中文": [1, 1], "x": [1, 1]}
    }
    assert all(words.key_of(word) in (word[:2], word[:1]) for word in pages)


@needs_milvus
def test_most_of_a_palace_is_not_taken_out_unasked(sent: Sent, tmp_path: Path) -> None:
    """Another palace under the same name would be overwritten: that takes a yes."""
    sent.notes(**{f"n{n}": f"alpha {n}" for n in range(40)})
    sent.push()
    other = Sent(tmp_path / "other", sent.uri, sent.name)
    other.notes(x="alpha")
    with pytest.raises(Refused, match=r"40 of the 40 notes .* index\.palaces"):
        other.push()
    assert len(sent.sent_notes()) == 40
    assert other.push(yes=True).removed == 40


@needs_milvus
def test_mined_files_are_no_measure_for_what_is_taken_out(sent: Sent, tmp_path: Path) -> None:
    """They go however many they are, and do not hide that most notes would."""
    sent.notes(a="alpha")
    top = tmp_path / "demo-source"
    top.mkdir()
    local.put(sent.root, "demo", top)
    lines = [Line(f"{n}.py", "code", "general") for n in range(100)]
    for line in lines:
        (top / line.path).write_text(f"x = {line.path!r}\n")
    projects.save(sent.root, "demo", projects.load(sent.root, "demo"), lines)
    sent.push()
    other = Sent(tmp_path / "other", sent.uri, sent.name)
    other.notes(a="alpha")
    assert other.push().removed == 100
    other.notes(**{f"n{n}": f"beta {n}" for n in range(40)})
    other.push()
    for n in range(20):
        (other.root / f"palace/n{n}.md").unlink()
    with pytest.raises(Refused, match="20 of the 41 notes"):
        other.push()


@needs_milvus
def test_force_writes_everything_again(sent: Sent) -> None:
    """For a Milvus that has lost something."""
    sent.notes(a="alpha", b="beta")
    sent.push()
    assert sent.push(force=True).written == 2


@needs_milvus
def test_an_index_run_brings_what_it_changed(sent: Sent) -> None:
    """`palace index` itself writes to Milvus, and nothing where nothing is new."""
    sent.notes(a="alpha", b="beta")
    first, second = sent.index().pushed, sent.index().pushed
    assert first and first.written == 2
    assert second and second.written == 0


@needs_milvus
def test_a_lost_collection_is_filled_again(tmp_path: Path) -> None:
    """Dropped in Milvus behind our back: the next run brings all of it."""
    sent = Sent(tmp_path / "root", str(tmp_path / "own.db"), "ada")
    sent.notes(a="alpha")
    sent.push()
    with sent.client() as client:
        client._milvus.drop_collection(rows.units_name(32))
    assert sent.push().written == 1
    assert len(sent.units()) == 1


def test_bytes_come_back_from_pieces() -> None:
    """Tokens of a long text in a wide model, keyword columns of a whole note, and none."""
    data = bytes(range(256)) * 1000
    pieces = texts.in_pieces(data)
    assert len(pieces) == 6 and max(map(len, pieces)) < 65_535
    assert texts.joined(pieces) == data
    assert texts.tokens_joined(texts.in_pieces(b"\2\0\0\0ab" + data)) == (b"ab", data)
    assert texts.tokens_joined([]) is None
    columns = ["é", "", "word " * 100_000]
    assert texts.columns_joined(texts.columns_in_pieces(columns)) == columns


def test_long_records_are_compressed() -> None:
    """What Milvus would not take as it is comes back as it was."""
    for value in ({"a": "é" * 10}, {"a": ["word " * 20_000]}, {}):
        packed = texts.packed(value)
        assert len(packed.encode()) < 65_535
        assert texts.unpacked(packed) == value


@pytest.mark.parametrize(("most", "kept"), [(3, "é"), (4, "éé"), (100, "éé中"), (5, "éé")])
def test_a_text_is_cut_between_characters(most: int, kept: str) -> None:
    """The limit counts bytes."""
    assert texts.cut("éé中", most) == kept


# -- names ------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    """Run git there."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    """A repository with a palace below it, and two commits."""
    palace = folder / "memory"
    palace.mkdir(parents=True)
    git(folder, "init", "-q")
    for n in range(2):
        (palace / "palace.yaml").write_text(f"# {folder.name} {n}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", str(n))
    return palace


def test_clones_have_one_name(tmp_path: Path) -> None:
    """Wherever a clone lies and whatever was committed since; a place beside it is another."""
    first = repository(tmp_path / "one")
    git(tmp_path, "clone", "-q", "one", "two")
    name = milvus.palace_id(first, Config())
    assert len(name) == 16
    assert milvus.palace_id(tmp_path / "two/memory", Config()) == name
    git(tmp_path / "two", "commit", "-q", "--allow-empty", "-m", "more")
    assert milvus.palace_id(tmp_path / "two/memory", Config()) == name
    assert milvus.palace_id(tmp_path / "two", Config()) != name
    assert milvus.palace_id(repository(tmp_path / "three"), Config()) != name


def test_the_users_own_name_counts(tmp_path: Path) -> None:
    """For a fork that is another memory, and for a machine without the notes."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert milvus.palace_id(tmp_path, Config(palaces={link: "ada", Path("/x"): "b"})) == "ada"


def test_without_a_commit_the_folder_is_the_name(tmp_path: Path) -> None:
    """A palace that lies on this machine only."""
    git(tmp_path, "init", "-q")
    name = milvus.palace_id(tmp_path, Config())
    assert name == milvus.palace_id(tmp_path, Config())
    assert name != milvus.palace_id(tmp_path / "x", Config())


def test_a_shallow_clone_does_not_know_its_name(tmp_path: Path) -> None:
    """Its oldest commit is not the first one: it would be another palace."""
    repository(tmp_path / "one")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/one", "two")
    with pytest.raises(BadInput, match="git fetch --unshallow"):
        milvus.palace_id(tmp_path / "two/memory", Config())


# -- faults -----------------------------------------------------------------------------------


def refused(config: Config) -> str:
    """What is said where no connection comes about."""
    with pytest.raises(Missing) as caught:
        milvus.connect(config)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    return str(caught.value)


@needs_milvus
def test_a_server_that_is_not_there_is_said_at_once() -> None:
    """Nobody listens: what to check."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{free.getsockname()[1]}"
        said = refused(Config(milvus_uri=uri))
    assert said.startswith(f"Milvus at {uri} does not answer (")
    assert said.endswith("check index.milvus_uri, that the server runs, and the network")


@needs_milvus
def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone listens and says nothing."""
    monkeypatch.setattr(milvus_client, "CONNECT_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "does not answer" in refused(Config(milvus_uri=uri))


@needs_milvus
def test_a_file_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    """No folder, or a plain file in its place."""
    (tmp_path / "plain.db").write_text("x")
    for place in (tmp_path / "no/x.db", tmp_path / "plain.db"):
        said = refused(Config(milvus_uri=str(place)))
        assert said.startswith(f"the Milvus file {place} cannot be used (")


@needs_milvus
def test_a_file_that_another_process_has_open_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """milvus-lite serves one process at a time; nothing is printed on the side."""
    monkeypatch.setattr(milvus_client, "CONNECT_SECONDS", 0.5)
    uri = str(tmp_path / "own.db")
    code = (
        f"import sys; from pymilvus import MilvusClient as Client; client = Client({uri!r})\n"
        "print(1, flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        assert "check that no other process has it open" in refused(Config(milvus_uri=uri))
    finally:
        other.communicate(timeout=30)
    milvus.connect(Config(milvus_uri=uri)).close()


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the command."""
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    said = refused(Config(milvus_uri="http://127.0.0.1:1"))
    assert said == (
        "index.store is milvus, and pymilvus is not installed: "
        "run `python3 scripts/install.py milvus`"
    )


@needs_milvus
def test_a_file_needs_milvus_lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client installed for a server only."""
    monkeypatch.setattr(milvus_client.importlib.util, "find_spec", lambda name: None)
    said = refused(Config(milvus_uri=str(tmp_path / "x.db")))
    assert said.endswith("milvus-lite is not installed: run `python3 scripts/install.py milvus`")


@needs_milvus
@pytest.mark.parametrize("reason", ["auth check failure, please check", "permission deny"])
def test_a_refused_token_is_told_apart(sent: Sent, reason: str) -> None:
    """The address is right and the token is not."""
    with sent.client() as client:
        client.is_file = False
        fault = client._fault(RuntimeError(reason))
    assert fault == f"Milvus at {sent.uri} says no ({reason}): check $PALACE_MILVUS_TOKEN"


@needs_milvus
def test_no_env_file_is_read(tmp_path: Path) -> None:
    """The library would take the settings of whatever `.env` lies above it or the debugger."""
    (tmp_path / ".env").write_text("PALACE_ROOT=/stolen\n")
    code = (
        "import os, sys; sys.settrace(lambda *a: None)\n"
        "from memory_palace.index import milvus_client; milvus_client._import()\n"
        "print(os.environ.get('PALACE_ROOT'), os.environ.get('PYTHON_DOTENV_DISABLED'))"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | path, capture_output=True
    )
    assert done.stdout == b"None None\n", done.stderr


@needs_milvus
@pytest.mark.skipif(not hasattr(os, "fork"), reason="gRPC speaks up at a fork")
def test_the_connection_says_nothing_on_its_own(tmp_path: Path) -> None:
    """gRPC's threads would write to stderr, also between the lines of a command."""
    code = (
        "import os, sys\n"
        "from memory_palace.index.milvus_client import Client\n"
        "with Client(sys.argv[1]):\n"
        "    child = os.fork() or os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GRPC_")}
    words = [sys.executable, "-c", code, str(tmp_path / "m.db")]
    done = subprocess.run(words, env=plain | path, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@needs_milvus
def test_a_palace_that_was_never_sent_has_no_stamp(sent: Sent, tmp_path: Path) -> None:
    """Neither in a Milvus that others use, nor in an empty one."""
    with sent.client() as client:
        assert milvus.read_stamp(client, "nobody") is None
    with Client(str(tmp_path / "empty.db")) as client:
        assert milvus.read_stamp(client, "nobody") is None
        with pytest.raises(Missing, match="holds no palace: run `palace index`"):
            client.get(rows.NOTES, ["a"], ["id"])


@needs_milvus
def test_a_palace_in_milvus_is_described(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing, a part, all of it: and what to run."""
    name = f"{sent.uri}, palace {sent.name}"
    said = f"{name}: nothing there yet: run `palace index`"
    assert milvus.described(sent.root, sent.config) == (False, said)
    sent.notes(a="# One\nalpha\n\n# Two\nbeta")
    with monkeypatch.context() as broken:
        broken.setattr(milvus._Push, "_remove", None)
        with pytest.raises(TypeError):
            sent.push()
    said = f"{name}: not complete: run `palace index`"
    assert milvus.described(sent.root, sent.config) == (False, said)
    sent.push()
    whole, line = milvus.described(sent.root, sent.config)
    assert whole and line.startswith(f"{name}: notes 1, units 2, 20")


@needs_milvus
def test_settings_of_one_palace_leave_the_other_alone(sent: Sent, tmp_path: Path) -> None:
    """The same note in two palaces is two notes."""
    other = Sent(tmp_path / "other", sent.uri, "other_" + sent.name[:20])
    for palace in (sent, other):
        palace.notes(a=f"alpha {palace.name}")
        palace.push()
    (other.root / "palace/a.md").unlink()
    other.notes(b="beta")
    other.push()
    assert sent.sent_notes() == ["palace/a.md"]
    assert [row["text"] for row in sent.units()] == [f"alpha {sent.name}"]
    assert replace(sent.stamp(), at="").notes == 1
