"""Topic entries at a glance."""

from datetime import timedelta

import pytest

from memory_palace.core.errors import PalaceError
from memory_palace.core.proof import weighed
from memory_palace.core.strength import STANDING
from memory_palace.memory import glance, state
from memory_palace.search import quick
from session.prompted import Prompted
from support.deep import deep_folders
from support.palaces import NOW, Palace


@pytest.fixture
def filled(keyword_palace: Palace) -> Prompted:
    """Entries of many ages, some of them by hand, pinned, enforced or let go."""
    made = Prompted(keyword_palace)
    for number in range(40):
        made.entry(f"Matter {number} of the ledger", f"{number:012x}", days=number * 7)
    made.log("forgotten", f"{0:012x}")
    made.log("forgotten", f"{1:012x}")
    made.log("pinned", f"{1:012x}")
    made.log("reinforced", f"{30:012x}", 1.0)
    keyword_palace.notes(
        topics__patterns="---\ncreated: 2026-11-28\n---\n- [pattern] By hand and new\n"
        "- [pattern] Kept *(pinned)*\n- [pattern] Held *(enforced)*\n",
        topics__more__decisions="---\ncreated: 2026-01-01\n---\n- [decision] By hand and old\n",
        archive_basement__topics__lessons="- [lesson] Archived ^ffffffffffff\n",
    )
    return made


@pytest.mark.parametrize("days", [0, 5, 40, 400])
def test_those_that_stand_are_those_of_the_whole_state(filled: Prompted, days: int) -> None:
    """Active and provisional, at any time."""
    now = NOW + timedelta(days=days)
    whole = state.load(filled.root, now)
    stand = {m.id: (m.strength, m.pinned) for m in whole.live if m.lifecycle in STANDING}
    found = glance.lines(filled.root)
    seen = glance.standing(filled.root, found, found.pairs, now)
    assert {key: (m.strength, m.pinned) for key, m in seen.items()} == stand
    assert dict(found.pairs).keys() == {memory.id for memory in whole.live}


def test_a_few_entries_stand_as_they_do_among_all(filled: Prompted) -> None:
    """Only these are looked at."""
    found = glance.lines(filled.root)
    all_of_them = glance.standing(filled.root, found, found.pairs, NOW)
    for key, entry in found.pairs:
        alone = glance.standing(filled.root, found, [(key, entry)], NOW)
        assert set(alone) == {key} & set(all_of_them)


def test_entries_that_share_telling_words_fit(keyword_palace: Palace) -> None:
    """By the index's rarity, or by that in the entries."""
    made = Prompted(keyword_palace)
    made.entry("Never lock the ledger for its readers", "aaaaaaaaaaaa")
    made.entry("Feed the quagga", "bbbbbbbbbbbb")
    found = glance.lines(made.root)
    terms = quick.terms_of("is the ledger locked for readers?")
    words = glance.words_of(found)
    for asked in (None, weighed(1_000, [3] * len(terms))):
        assert [key for key, _, _ in glance.fitting(found, words, terms, asked)] == ["aaaaaaaaaaaa"]
    common = weighed(1_000, [900] * len(terms))
    assert glance.fitting(found, words, terms, common) == []
    words.close()


def test_what_cannot_be_read_is_left_out(keyword_palace: Palace) -> None:
    """A huge file, a binary one, a folder that is a link."""
    keyword_palace.write("palace/topics/a.md", b"- [lesson] nul\0")
    keyword_palace.write("palace/topics/b.md", "- [lesson] Kept\n")
    keyword_palace.write("palace/topics/c.md", "- [lesson] long\n" * 40_000)
    assert [entry.text for _, entry in glance.lines(keyword_palace.root).pairs] == ["Kept"]
    (keyword_palace.root / "palace/topics").rename(keyword_palace.root / "elsewhere")
    (keyword_palace.root / "palace/topics").symlink_to(keyword_palace.root / "elsewhere")
    assert glance.lines(keyword_palace.root).pairs == ()


def test_few_files_are_read(keyword_palace: Palace) -> None:
    """Those on top first, however many there are."""
    for number in range(glance.MOST_FILES + 20):
        keyword_palace.write(f"palace/topics/deep/n{number}.md", f"- [lesson] Deep {number}\n")
    keyword_palace.write("palace/topics/z.md", "- [lesson] On top\n")
    texts = [entry.text for _, entry in glance.lines(keyword_palace.root).pairs]
    assert "On top" in texts
    assert len(texts) == glance.MOST_FILES


def test_a_log_that_cannot_be_read_raises(filled: Prompted) -> None:
    """Nobody knows then what was let go."""
    log = filled.root / "manifests/memory_events.jsonl"
    log.unlink()
    log.mkdir()
    found = glance.lines(filled.root)
    with pytest.raises(PalaceError):
        glance.standing(filled.root, found, found.pairs, NOW)


def test_folders_in_folders_of_topics_have_no_end(filled: Prompted) -> None:
    """A prompt gets what it got without them."""
    before = glance.lines(filled.root)
    with deep_folders(filled.root / "palace/topics", "x.md"):
        assert glance.lines(filled.root) == before
