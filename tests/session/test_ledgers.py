"""Which ledger is meant, and which has an id."""

from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.ledger import record_id
from memory_palace.session import ledgers
from session.sessions import Session
from support.ledgers import dropped, eid, entry, header, observed, oid, write
from support.palaces import Palace


@pytest.fixture
def root(keyword_palace: Palace) -> Path:
    """Two agents; the newest session is of another project."""
    root = keyword_palace.root
    write(root, "pi", "5e1f-a", [header("5e1f-a", "demo"), entry(0), observed(0, "a", "same")])
    write(root, "pi", "5e1f-b", [header("5e1f-b", "Demo"), entry(5, parent=None)])
    rows = [header("C 1", "other"), entry(9, parent=None), observed(9, "c", "same")]
    write(root, "claude-code", "c-1-0123", rows)
    write(root, "claude-code", "empty", [])
    return root


def repository(tmp_path: Path, name: str) -> Path:
    """A folder inside a repository."""
    (tmp_path / name / ".git").mkdir(parents=True)
    (tmp_path / name / "src").mkdir()
    return tmp_path / name / "src"


def found(root: Path, **which: str | Path) -> str:
    """The name of the ledger that is meant."""
    return ledgers.find(root, **which).path.rpartition("/")[2]  # type: ignore[arg-type]


def test_newest_first(root: Path) -> None:
    """By what is in them; an empty one last."""
    names = [one.name for one in ledgers.listed(root)]
    assert names == ["c-1-0123", "5e1f-b", "5e1f-a", "empty"]
    assert [one.name for one in ledgers.listed(root, agent="PI@laptop")] == ["5e1f-b", "5e1f-a"]
    assert ledgers.listed(root / "nowhere") == []


def test_by_session(root: Path) -> None:
    """The client's id, the file's name, or the beginning of either if it is one's alone."""
    assert found(root, session="C 1") == found(root, session="c-1") == "c-1-0123.jsonl"
    assert found(root, session="5e1f-a") == "5e1f-a.jsonl"
    assert found(root, session="5e1f-a", agent="pi") == "5e1f-a.jsonl"
    with pytest.raises(Refused, match=r"`5e1f` is 2 sessions \(5e1f-b, 5e1f-a\): write more"):
        found(root, session="5e1f")


def test_of_the_project_at_hand(root: Path, tmp_path: Path) -> None:
    """Its newest, from any folder of it; the newest of all where it has none."""
    assert found(root, cwd=repository(tmp_path, "demo")) == "5e1f-b.jsonl"
    assert found(root, cwd=repository(tmp_path, "third")) == found(root) == "c-1-0123.jsonl"
    assert found(root, session="5e1f-a", cwd=repository(tmp_path, "other")) == "5e1f-a.jsonl"
    assert found(root, agent="pi", cwd=tmp_path / "other/src") == "5e1f-b.jsonl"


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ({"session": "5e2f"}, "no ledger of session `5e2f`: did you mean `5e1f-"),
        ({"agent": "pie"}, "no ledger of agent `pie`: did you mean `pi`?"),
        ({"session": "5e1f-a", "agent": "claude-code"}, "no ledger of session `5e1f-a`: "),
        ({"session": "\x1b[31m"}, r"no ledger of session `\x1b[31m`: known are "),
    ],
)
def test_what_is_not_there(root: Path, which: dict[str, str], said: str) -> None:
    """Is refused, with the nearest that is."""
    with pytest.raises(Refused) as refused:
        found(root, **which)
    assert str(refused.value).startswith(said)


def test_a_palace_without_ledgers(keyword_palace: Palace) -> None:
    """Says what makes one."""
    with pytest.raises(Refused, match="no ledger yet: sessions make one"):
        ledgers.find(keyword_palace.root)
    with pytest.raises(Refused, match="no ledger of session `x`"):
        ledgers.find(keyword_palace.root, "x")
    with pytest.raises(BadInput, match="write a name"):
        ledgers.find(keyword_palace.root, agent="..")


def test_which_have_an_id(root: Path) -> None:
    """As an entry or a record of their own; to mention it is not enough."""
    write(root, "pi", "mentions", [entry(20, f'see "{eid(0)}"', None), dropped(None, "a")])
    names = {id: [one.path.rpartition("/")[2] for one in ledgers.holding(root, id)]
             for id in (eid(0), oid("a"), oid("same"), "0" * 12)}  # fmt: skip
    assert list(names.values()) == [
        ["5e1f-a.jsonl"], ["5e1f-a.jsonl"], ["c-1-0123.jsonl", "5e1f-a.jsonl"], []
    ]  # fmt: skip


def test_recall(root: Path, tmp_path: Path) -> None:
    """From the ledger that has it: of the project at hand, else the newest; the others named."""
    asked = ledgers.recall(root, oid("same"))
    assert asked.loaded is not None and asked.loaded.path.endswith("/c-1-0123.jsonl")
    assert asked.recalled.sources[0].id == eid(9)
    assert asked.others == ("palace/chambers/pi/ledger/5e1f-a.jsonl",)
    asked = ledgers.recall(root, oid("same"), cwd=repository(tmp_path, "demo"))
    assert asked.recalled.sources[0].id == eid(0)
    assert ledgers.recall(root, oid("a"), session="C 1").recalled.result == "not_found"
    assert ledgers.recall(root, oid("a"), agent="pi").recalled.result == "not_found"
    assert ledgers.recall(root, "0" * 12) == (
        ledgers.Recalled("0" * 12, "not_found"),
        None,
        (),
        "",
    )
    assert ledgers.recall(root, "amber").recalled.result == "invalid_id"


def test_the_current_branch_only(root: Path) -> None:
    """A fork in a ledger sees its own line; a ledger whose branch has the id is asked first."""
    rows = [entry(0), entry(1), entry(2, parent=0, seconds=5000), observed(1, "left")]
    forked = write(root, "pi", "forked", rows)
    asked = ledgers.recall(root, oid("left"))
    assert asked.recalled.result == "not_found" and asked.loaded is not None
    assert asked.recalled.gaps == (f"observation {oid('left')} stands on another branch",)
    older = write(root, "pi", "older", [entry(1, parent=None), observed(1, "left")])
    asked = ledgers.recall(root, oid("left"))
    assert asked.recalled.result == "ok" and asked.loaded is not None
    assert (asked.loaded.path, asked.others) == (older, ())
    assert ledgers.find(root).path == forked


def test_a_session_goes_before_its_subagents(root: Path) -> None:
    """Their names begin as its own does; each is meant by its full name."""
    for name in ("7c2a-x", "7c2a-x.helper"):
        write(root, "pi", name, [header(name, "demo"), entry(0)])
    assert found(root, session="7c2a") == found(root, session="7c2a-x") == "7c2a-x.jsonl"
    assert found(root, session="7c2a-x.h") == "7c2a-x.helper.jsonl"
    write(root, "pi", "7c2a-y", [header("7c2a-y", "demo"), entry(0)])
    with pytest.raises(Refused, match="`7c2a` is 2 sessions"):
        found(root, session="7c2a")


def test_an_id_of_a_summary_is_told(root: Path) -> None:
    """It is made of what the summary says, and stands in no file."""
    session = Session(root, "summed")
    session.summarized(request="Paint it", learned="Amber dries slowly")
    id = record_id("Request: Paint it Learned: Amber dries slowly")
    asked = ledgers.recall(root, id)
    assert (asked.recalled.result, asked.summary) == ("not_found", session.path)
