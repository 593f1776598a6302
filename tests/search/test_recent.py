"""The notes that changed last."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from memory_palace.core.errors import Missing
from memory_palace.files import locks, roots
from memory_palace.search import recent
from memory_palace.search.query import Query
from support.palaces import NOW, OLD_NS, Palace


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """Notes that say when they were written, and one that does not."""
    keyword_palace.notes(
        a="---\ncreated: 2026-11-01\nupdated: 2026-11-20\ntags: [t]\n---\n# The a\n",
        demo__b="---\ncreated: 2026-11-28T10:00:00Z\ntype: session\n---\nb\n",
        demo__c="---\ncreated: 2026-11-20\npriority: high\n---\nc\n",
        d="d\n",
        archive_basement__e="---\ncreated: 2026-11-29\n---\ne\n",
    )
    return keyword_palace


def paths(palace: Palace, **asked: object) -> list[str]:
    """The notes, newest first."""
    query = Query(**{"top_k": 10, **asked})  # type: ignore[arg-type]
    return [one.path for one in recent.recent(palace.root, query).notes]


def test_newest_first(palace: Palace) -> None:
    """By what a note says, else by its file; those of one day by path; no archived one."""
    assert paths(palace) == [
        "palace/demo/b.md",
        "palace/a.md",
        "palace/demo/c.md",
        "palace/d.md",
    ]
    found = recent.recent(palace.root, Query(top_k=2))
    first, second = found.notes
    assert (first.type, first.source, first.date) == (
        "session",
        "note",
        datetime(2026, 11, 28, 10, tzinfo=UTC),
    )
    assert (second.title, second.tags, found.more) == ("The a", ("t",), 2)
    last = recent.recent(palace.root, Query(top_k=10)).notes[-1]
    assert (last.source, last.date) == ("mtime", datetime.fromtimestamp(OLD_NS / 1e9, UTC))


def test_filters(palace: Palace) -> None:
    """By time, room and type; what nothing has is named."""
    assert paths(palace, since=NOW - timedelta(days=2)) == ["palace/demo/b.md"]
    assert paths(palace, until=datetime(2026, 11, 1, tzinfo=UTC)) == ["palace/d.md"]
    assert paths(palace, rooms=("demo",)) == ["palace/demo/b.md", "palace/demo/c.md"]
    assert paths(palace, types=("session",)) == ["palace/demo/b.md"]
    nothing = recent.recent(palace.root, Query(rooms=("demi",)))
    assert (nothing.notes, nothing.nothing) == ((), "no note has room `demi`: there are demo")
    late = recent.recent(palace.root, Query(since=NOW))
    assert late.nothing == "no note is of that time"


def test_as_the_files_are_now(palace: Palace) -> None:
    """What was written since the last run counts."""
    palace.index()
    place = palace.write("palace/d.md", "d and more\n", old=False)
    os.utime(place, (NOW.timestamp(), NOW.timestamp()))
    assert paths(palace)[0] == "palace/d.md"


def test_while_another_one_writes(palace: Palace) -> None:
    """As of the last run, without what is gone since; without a run there is no answer."""
    index = roots.index_folder(palace.root)
    with (
        locks.writer(index, "palace index", 0.0),
        pytest.raises(Missing, match=r"no index yet, and none could be made: .*palace index"),
    ):
        paths(palace)
    palace.index()
    palace.write("palace/new.md", "---\ncreated: 2026-11-29\n---\n", old=False)
    (palace.root / "palace/demo/b.md").unlink()
    with locks.writer(index, "palace index", 0.0):
        found = recent.recent(palace.root, Query(top_k=1))
    assert found.late.startswith("as of the last run of the index")
    assert ([one.path for one in found.notes], found.more) == (["palace/a.md"], 2)


def test_when_the_notes_are_away(palace: Palace) -> None:
    """What the index knows of them is no answer."""
    palace.index()
    (palace.root / "palace").rename(palace.root / "elsewhere")
    with pytest.raises(Missing, match="cannot read palace/"):
        paths(palace)


@pytest.mark.parametrize(
    ("text", "end", "moment"),
    [
        ("24h", False, NOW - timedelta(days=1)),
        (" 7D ", False, NOW - timedelta(days=7)),
        ("2w", True, NOW - timedelta(days=14)),
        ("2026-11-03", False, datetime(2026, 11, 3, tzinfo=UTC)),
        ("2026-11-03", True, datetime(2026, 11, 3, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-11-03T10:00:00Z", True, datetime(2026, 11, 3, 10, tzinfo=UTC)),
        ("7", False, None),
        ("last week", False, None),
        ("99999w", False, NOW - timedelta(weeks=99_999)),
        ("", False, None),
    ],
)
def test_moments(text: str, end: bool, moment: datetime | None) -> None:
    """A date, or so long ago."""
    assert recent.moment(text, NOW, end) == moment


def test_days_in_words() -> None:
    """The local day, from its first moment to its last."""
    first, last = recent.moment("today", NOW), recent.moment("today", NOW, end=True)
    before = recent.moment("Yesterday", NOW)
    assert first is not None and last is not None and before is not None
    assert first <= NOW <= last
    assert first.astimezone().hour == 0
    assert last - first == timedelta(days=1) - timedelta(microseconds=1)
    assert before < first
