"""What changed, from two lists of stats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.diff import (
    FRESH_NS,
    Compared,
    FileStat,
    Known,
    compare,
    is_settled,
    moves,
    too_many_gone,
)

PATHS = st.sampled_from(["a", "a/b", "a.b", "A", "b", "z/y/x", "é", "漢", "a b"])
SEEN = st.lists(
    st.builds(FileStat, PATHS, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)),
    unique_by=lambda stat: stat.path,
).map(lambda found: sorted(found, key=lambda stat: stat.path))
KNOWN = st.lists(
    st.builds(
        Known,
        PATHS,
        st.integers(0, 1),
        st.integers(0, 1),
        st.integers(0, 1),
        st.just("hash"),
        st.booleans(),
    ),
    unique_by=lambda known: known.path,
).map(lambda found: sorted(found, key=lambda known: known.path))


@given(SEEN, KNOWN, st.booleans())
@MODEST
def test_comparing_is_what_two_dictionaries_say(
    seen: list[FileStat], known: list[Known], verify: bool
) -> None:
    """The merge of the sorted lists agrees with looking each path up."""
    now = {stat.path: stat for stat in seen}
    then = {one.path: one for one in known}
    expected: dict[str, list[str]] = {"new": [], "suspect": [], "same": [], "gone": []}
    for path in sorted(now | then):
        if path not in then:
            kind = "new"
        elif path not in now:
            kind = "gone"
        else:
            old, stat = then[path], now[path]
            equal = FileStat(path, old.size, old.mtime_ns, old.inode) == stat
            sure = old.settled and not verify
            kind = "same" if equal and sure else "suspect"
        expected[kind].append(path)
    assert compare(seen, known, verify) == Compared(
        **{kind: tuple(paths) for kind, paths in expected.items()}
    )


@pytest.mark.parametrize(
    ("size", "mtime", "inode", "settled", "flags", "kind"),
    [
        (1, 2, 3, True, {}, "same"),
        (9, 2, 3, True, {}, "suspect"),
        (1, 9, 3, True, {}, "suspect"),
        (1, 2, 9, True, {}, "suspect"),
        (1, 2, 3, False, {}, "suspect"),
        (1, 2, 3, True, {"verify": True}, "suspect"),
        (1, 2, 3, False, {"verify": True}, "suspect"),
    ],
)
def test_a_known_file_is_the_same_or_suspect(
    size: int, mtime: int, inode: int, settled: bool, flags: dict[str, bool], kind: str
) -> None:
    """Size, time and inode all count; a file read while fresh is looked at again."""
    found = compare(
        [FileStat("p", size, mtime, inode)], [Known("p", 1, 2, 3, "", settled)], **flags
    )
    assert getattr(found, kind) == ("p",)


def test_moves_pair_the_same_content() -> None:
    """What went away here and came up there with the same bytes has moved."""
    found = moves(
        new=["new/a", "new/b", "new/c"],
        gone=["old/a", "old/b"],
        hashes={"new/a": "A", "new/b": "other", "new/c": "B"},
        old={"old/a": "A", "old/b": "B"},
    )
    assert found == {"new/a": "old/a", "new/c": "old/b"}


def test_copies_of_one_content_move_in_order_each_once() -> None:
    """Two files of the same bytes are paired by path; a third new one is just new."""
    hashes = dict.fromkeys(("n3", "n1", "n2"), "same")
    old = {"o2": "same", "o1": "same"}
    assert moves(hashes, old, hashes, old) == {"n1": "o1", "n2": "o2"}


def test_a_new_file_without_a_hash_has_not_moved() -> None:
    """A file that could not be read is paired with nothing."""
    assert moves(["n"], ["o"], {}, {"o": "x"}) == {}


@given(
    st.dictionaries(PATHS, st.sampled_from("xyz")), st.dictionaries(PATHS, st.sampled_from("xyz"))
)
@MODEST
def test_moves_are_one_to_one(new: dict[str, str], gone: dict[str, str]) -> None:
    """Each pair has one content, no file is in two pairs, and none that could be is left over."""
    found = moves(new, gone, new, gone)
    assert all(new[path] == gone[old] for path, old in found.items())
    assert len(set(found.values())) == len(found)
    for content in "xyz":
        both = list(new.values()).count(content), list(gone.values()).count(content)
        assert sum(new[path] == content for path in found) == min(both)


@pytest.mark.parametrize(
    ("gone", "known", "too_many"),
    [
        (19, 19, False),
        (20, 20, True),
        (20, 66, True),
        (20, 67, False),
        (30, 100, False),
        (31, 100, True),
        (0, 0, False),
        (300, 1000, False),
        (301, 1000, True),
    ],
)
def test_too_many_gone(gone: int, known: int, too_many: bool) -> None:
    """More than 30 % of the known files, and at least 20 of them."""
    assert too_many_gone(gone, known) is too_many


def test_what_the_clock_gives_now_is_not_settled() -> None:
    """A file of this moment, on either side of it, may change unseen; all other times are kept
    only by a file that stays."""
    now = 1_700_000_000_000_000_000
    for apart in (0, FRESH_NS, -FRESH_NS):
        assert not is_settled(now + apart, now)
    for apart in (FRESH_NS + 1, -FRESH_NS - 1, 10**18, -now):
        assert is_settled(now + apart, now)
