"""The review store on the disk."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.findings import Fault, Finding
from memory_palace.memory import findings as stores
from memory_palace.memory import pen

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
STORE = "palace/project_rooms/demo/reviews.jsonl"
LINES = "palace/project_rooms/demo/review_guidelines.md"
ITEM: dict[str, Any] = {"path": "src/a.py", "line": 3, "body": "No test here"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    (tmp_path / "palace").mkdir()
    (tmp_path / "palace.yaml").touch()
    return tmp_path


def made(**other: Any) -> Finding:
    """A finding like ITEM."""
    return stores.candidate({**ITEM, **other}, {"repository": "demo"})


def add(root: Path, one: Finding, now: datetime = NOW) -> str:
    """Keep it with the pen."""
    with pen.begin(root, now, "palace findings add", "why") as p:
        return stores.add(p, [one])[0]


def resolve(root: Path, one: Finding, resolution: str, answer: str = "") -> Finding:
    """Resolve it with the pen."""
    with pen.begin(root, NOW, "palace findings resolve") as p:
        return stores.resolve(p, one, resolution, answer)


def test_added_once(root: Path) -> None:
    """A line with what is known; the same again writes nothing; another status is a line more."""
    one = made(pull_request=7, severity="high")
    assert add(root, one) == "added"
    first = (root / STORE).read_text()
    assert list(json.loads(first)) == [
        *("at", "by", "id", "repository", "pull_request", "path", "line", "body", "severity"),
        *("status", "reason"),
    ]
    assert add(root, one) == "unchanged"
    assert (root / STORE).read_text() == first
    assert add(root, replace(one, answer="will do")) == "updated"
    assert (root / STORE).read_text().startswith(first)
    assert stores.load(root, "demo").findings[0].answer == "will do"


def test_a_change_comes_after_what_it_changes(root: Path) -> None:
    """Within a second, and where the clock went back."""
    one = made()
    add(root, one)
    add(root, replace(one, answer="a"), NOW - timedelta(days=1))
    add(root, replace(one, answer="b"), NOW)
    (kept,) = stores.load(root, "demo").findings
    assert (kept.answer, kept.at) == ("b", "2026-11-29T12:00:02Z")


def test_many_at_once(root: Path) -> None:
    """In one write, each after what it changes."""
    one, two = made(), made(body="Bad name")
    with pen.begin(root, NOW, "palace findings add") as p:
        several = [one, two, one, replace(one, answer="a"), replace(one, answer="b")]
        words = stores.add(p, several)
    assert words == ["added", "added", "unchanged", "updated", "updated"]
    assert stores.find(root, one.id).answer == "b"
    before = (root / STORE).read_text()
    skipped = made(body="x", status="skipped", skip_reason="y")
    wrong = replace(skipped, status="posted", resolution="resolved_fixed")
    with pen.begin(root, NOW, "palace findings add") as p:
        stores.add(p, [skipped, wrong])
    assert stores.find(root, skipped.id).status == "posted"
    assert (root / STORE).read_text().startswith(before)


def test_posted_again_after_the_code_changed(root: Path) -> None:
    """A resolved finding on other code is open again."""
    one = made(context="old")
    add(root, one)
    resolve(root, one, "resolved_fixed")
    assert add(root, one) == "unchanged"
    assert add(root, replace(one, context="new")) == "updated"
    assert stores.find(root, one.id).is_open


def test_resolved(root: Path) -> None:
    """The resolution and the answer are kept; a skipped one has none."""
    one, skipped = made(), made(body="Bad name", status="skipped", skip_reason="house style")
    add(root, one)
    add(root, skipped)
    resolve(root, one, "resolved_accepted", "on purpose, password: 'hunter22'")
    kept = stores.find(root, one.id)
    assert kept.resolution == "resolved_accepted"
    assert kept.answer == "on purpose, password: '[SECRET: password]'"
    resolve(root, one, "resolved_fixed")
    assert stores.find(root, one.id).answer == kept.answer
    with pytest.raises(Refused, match="was skipped"):
        resolve(root, skipped, "resolved_fixed")


def test_an_unknown_id(root: Path) -> None:
    """The nearest is named, and nothing is guessed."""
    one = made()
    add(root, one)
    with pytest.raises(Refused, match=f"did you mean {one.id}"):
        stores.find(root, one.id[:-1])
    with pytest.raises(Refused, match="no finding has the id"):
        stores.find(root, one.id, "other")


def test_a_half_written_line(root: Path) -> None:
    """It is left out and told, ended by the next write, and kept as a line."""
    add(root, made())
    place = root / STORE
    whole = place.read_text()
    place.write_text(whole + whole[:40])
    store = stores.load(root, "demo")
    assert len(store.findings) == 1
    assert [str(p) for p in store.problems] == [
        f"{STORE}:2: warning: cut off in the middle: left out; the next write ends the line"
    ]
    add(root, made(body="Bad name"))
    assert place.read_text().startswith(whole + whole[:40] + "\n{")
    store = stores.load(root, "demo")
    assert len(store.findings) == 2
    assert [p.message for p in store.problems] == [
        "cut off in the middle: left out; remove the line"
    ]


def test_a_whole_last_line_without_its_end(root: Path) -> None:
    """It counts, and the next line is one of its own."""
    add(root, made())
    place = root / STORE
    place.write_text(place.read_text().rstrip("\n"))
    assert len(stores.load(root, "demo").findings) == 1
    add(root, made(body="Bad name"))
    assert len(stores.load(root, "demo").findings) == 2


def test_merged_by_union(root: Path) -> None:
    """Lines of two branches, in either order, give the same findings."""
    one = made()
    add(root, one)
    add(root, made(body="Bad name"))
    resolve(root, one, "resolved_fixed")
    before = stores.load(root, "demo").findings
    place = root / STORE
    place.write_text("".join(reversed(place.read_text().splitlines(keepends=True))))
    assert stores.load(root, "demo").findings == before


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("[]", []),
        ("", []),
        ('[{"a": 1}, 2]', [{"a": 1}, 2]),
        ('{\n "a": 1\n}', [{"a": 1}]),
        ('{"a": 1}\n\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
    ],
)
def test_items(text: str, items: list[Any]) -> None:
    """An array, one object, or an object a line."""
    assert list(stores.items(text)) == items


def test_bad_items() -> None:
    """A bad line is a fault in its place; a bad array is no input; depth is no crash."""
    first, bad = stores.items('{"a": 1}\n{"b": \n')
    assert first == {"a": 1}
    assert isinstance(bad, Fault)
    with pytest.raises(Fault, match="is no JSON"):
        stores.candidate(bad, {})
    with pytest.raises(BadInput, match="no JSON array"):
        list(stores.items('[{"a": 1},'))
    with pytest.raises(BadInput):
        list(stores.items("[" * 100_000))
    with pytest.raises(Fault, match="`at` is set by the store"):
        made(at="2026-11-29")


def test_context_from_a_working_tree(root: Path, tmp_path: Path) -> None:
    """The lines around the place; nothing of a file that is not there, or lies outside."""
    source = tmp_path / "work"
    (source / "src").mkdir(parents=True)
    (source / "src/a.py").write_text("1\n2\n3\n4\n5\n6\n7\n8\n")
    (tmp_path / "secret").write_text("1\n2\n3\n")
    (source / "out.py").symlink_to(tmp_path / "secret")
    (source / "up").symlink_to(tmp_path)

    def context(**other: Any) -> str:
        return stores.candidate({**ITEM, **other}, {"repository": "demo"}, source).context

    assert context() == made(lines=["1", "2", "3", "4", "5", "6"]).context
    assert context(context="mine") == "mine"
    assert [context(path=path) for path in ("src/b.py", "out.py", "up/secret")] == ["", "", ""]
    assert context(line=50) == ""


def test_check(root: Path) -> None:
    """Each candidate by its own store; twins within one input are raised once."""
    add(root, made())
    other = replace(made(), repository="other")
    wanted = [(1, made(line=9)), (2, other), (4, other), (5, replace(other, line=8))]
    decided, problems = stores.check(root, wanted, lambda _, others: [])
    assert [(n, d.raised, d.why) for n, d in decided] == [
        (1, False, "already raised"),
        (2, True, "new"),
        (4, False, "the same as item 2"),
        (5, True, "new"),
    ]
    assert problems == []


def guideline(root: Path, kind: str, reason: str) -> tuple[str, bool]:
    """Write a guideline with the pen."""
    with pen.begin(root, NOW, "palace findings guideline") as p:
        return stores.add_guideline(p, "demo", kind, reason)


def test_guidelines(root: Path) -> None:
    """Added once; what people wrote stays; another reason for the same kind is refused."""
    assert guideline(root, "unused import", "generated code") == (f"{LINES}:7", True)
    assert guideline(root, "Unused  Import", "generated code") == (f"{LINES}:7", False)
    with pytest.raises(Refused, match="has another reason"):
        guideline(root, "unused import", "because")
    assert guideline(root, "long lines", "old files") == (f"{LINES}:8", True)
    text = (root / LINES).read_text()
    assert text.endswith(
        "# Review guidelines of demo\n\n- Do not flag unused import — generated code\n"
        "- Do not flag long lines — old files\n"
    )
    assert [g.kind for g in stores.load(root, "demo").guidelines] == ["unused import", "long lines"]


@pytest.mark.parametrize(("kind", "reason"), [("", "a"), ("a", ""), ("a — b", "c"), ("a\nb", "c")])
def test_bad_guidelines(root: Path, kind: str, reason: str) -> None:
    """What would not be read back as written is not written."""
    with pytest.raises(BadInput):
        guideline(root, kind, reason)
    assert not (root / LINES).exists()


def test_guidelines_of_windows(root: Path) -> None:
    """Line ends stay as they are; a missing one is put in."""
    (root / LINES).parent.mkdir(parents=True)
    (root / LINES).write_bytes(b"# Ours\r\nkept")
    guideline(root, "a", "b")
    expected = "# Ours\r\nkept\r\n- Do not flag a — b\r\n"
    assert (root / LINES).read_bytes() == expected.encode()


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a\\b", "a b", "x" * 200])
def test_unsafe_names(name: str) -> None:
    """A repository's name is one path component."""
    with pytest.raises(BadInput, match="write its name alone"):
        stores.named(name)


def test_not_utf8(root: Path) -> None:
    """A store that cannot be read is an input fault, not an empty one."""
    (root / STORE).parent.mkdir(parents=True)
    (root / STORE).write_bytes(b"\xff\n")
    with pytest.raises(BadInput, match="not UTF-8"):
        stores.load(root, "demo")
    with pytest.raises(BadInput, match="not UTF-8"):
        add(root, made())
