"""Pairs that may contradict, found without looking at every pair."""

import json
from pathlib import Path

import numpy as np
import pytest

from memory_palace.files import config as configs
from memory_palace.memory import conflict_pairs, conflict_scan, conflicts, pen
from memory_palace.memory import state as states
from memory_palace.memory.conflict_scan import Scan
from support.fake import FakeEmbedder
from support.palaces import NOW, Palace

UV, PIP = "aaaaaaaaaaa1", "aaaaaaaaaaa2"
TOPIC = "palace/topics/preferences.md"
PAIR = f"- [preference] Use uv instead of pip ^{UV}\n- [preference] Use pip ^{PIP}\n"


def scanned(root: Path, limit: int = 20, embed: conflict_scan.Embed | None = None) -> Scan:
    """The scan of a palace at noon."""
    state = states.load(root, NOW)
    return conflict_scan.scan(root, configs.load(root, {}), state, limit, embed)


def kinds(found: Scan) -> list[str]:
    """The kinds of what was proposed, in order."""
    return [one.kind for one in found.proposals]


def test_entries_of_one_category_are_compared(keyword_palace: Palace) -> None:
    """With both places and the command that records them; other categories are not."""
    keyword_palace.write(TOPIC, PAIR + "- [lesson] Use pip, never uv\n")
    (one,) = scanned(keyword_palace.root).proposals
    assert (one.kind, one.a, one.b) == ("polarity", f"{TOPIC}:1", f"{TOPIC}:2")
    assert (one.a_text, one.b_text) == ("Use uv instead of pip", "Use pip")
    assert one.command == f"palace conflict open {UV} {PIP}"


def test_what_has_a_record_is_left_out(keyword_palace: Palace) -> None:
    """Open or decided."""
    root = keyword_palace.root
    keyword_palace.write(TOPIC, PAIR)
    with pen.begin(root, NOW, "palace conflict open") as held:
        made = conflicts.open_pair(held, PIP, UV)
    assert scanned(root).proposals == []
    with pen.begin(root, NOW, "palace conflict resolve") as held:
        conflicts.resolve(held, made.path, "a", "Ann", "so")
    assert scanned(root).proposals == []


def test_forgotten_and_archived_entries_are_left_out(keyword_palace: Palace) -> None:
    """They do not count any more."""
    line = {"at": "2026-11-29T00:00:00Z", "by": "x@y", "event": "forgotten", "uid": "u", "id": PIP}
    keyword_palace.write(TOPIC, PAIR)
    keyword_palace.write("manifests/memory_events.jsonl", json.dumps(line) + "\n")
    keyword_palace.write(
        "palace/archive_basement/topics/preferences.md", "- [preference] Never use uv\n"
    )
    assert scanned(keyword_palace.root).proposals == []


def test_what_was_done_differs_from_time_to_time(keyword_palace: Palace) -> None:
    """Two releases are two things that were done; a denial is a contradiction."""
    keyword_palace.write(
        "palace/topics/completions.md",
        "- [done] Released version 1.2\n- [done] Released version 1.3\n"
        "- [done] The archive moved to the new disk\n"
        "- [done] The archive never moved to the new disk\n",
    )
    assert kinds(scanned(keyword_palace.root)) == ["polarity"]


def test_vectors_bring_together_what_shares_few_words(keyword_palace: Palace) -> None:
    """From a cosine of 0.80 on; without an embedder nothing is said."""
    keyword_palace.write(
        TOPIC,
        "- [preference] Never deploy straight to the live machines of customers\n"
        "- [preference] Deploy to customers whenever somebody asks for it politely\n",
    )
    assert scanned(keyword_palace.root).proposals == []

    def same(texts: object) -> np.ndarray:
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))  # type: ignore[arg-type]

    assert kinds(scanned(keyword_palace.root, embed=same)) == ["polarity"]
    fake = FakeEmbedder()
    assert scanned(keyword_palace.root, embed=fake.embed_passages).proposals == []


def test_facts_of_one_valued_predicates_are_compared(keyword_palace: Palace) -> None:
    """Those that palace.yaml names; lines of other shapes are passed over."""
    lines = [
        {"event": "added", "subject": "Ann", "predicate": "owner", "object": o} for o in ("a", "b")
    ]
    text = "\n".join(map(json.dumps, lines)) + '\n{"x": 1}\nnot json\n'
    keyword_palace.write("manifests/facts.jsonl", text)
    assert scanned(keyword_palace.root).proposals == []
    keyword_palace.write("palace.yaml", "facts: {one_valued: [owner]}\n")
    (one,) = scanned(keyword_palace.root).proposals
    assert (one.kind, one.a, one.b) == (
        "one_valued",
        "manifests/facts.jsonl:1",
        "manifests/facts.jsonl:2",
    )


def test_notes_of_one_title_are_compared(keyword_palace: Palace) -> None:
    """By title or alias, in any case, by their first paragraph; others are not."""
    keyword_palace.notes(
        project_rooms__a="---\ntitle: Retries\n---\n# R\n\nRetry 3 times.\n\nMore.\n",
        project_rooms__b="---\ntitle: B\naliases: [retries]\n---\nRetry 5 times.\n",
        project_rooms__c="---\ntitle: C\n---\nRetry 7 times.\n",
    )
    (one,) = scanned(keyword_palace.root).proposals
    assert (one.kind, one.a, one.b) == (
        "value",
        "palace/project_rooms/a.md:6",
        "palace/project_rooms/b.md:5",
    )
    assert one.command.endswith("open palace/project_rooms/a.md palace/project_rooms/b.md")


def test_merges_left_in_notes_come_first(keyword_palace: Palace) -> None:
    """Once recorded they are listed with the record, as long as the marks stand."""
    root, path = keyword_palace.root, "palace/project_rooms/m m.md"
    keyword_palace.write(TOPIC, PAIR)
    keyword_palace.write(path, "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> side\n<<<<<<< HEAD\n")
    found = scanned(root)
    assert kinds(found) == ["merge", "polarity"]
    first = found.proposals[0]
    assert (first.a, first.b, first.record) == (f"{path}:1", f"{path}:5", "")
    assert first.command == f"palace conflict open --merge '{path}:1'"
    assert [(p.path, p.line, p.grade) for p in found.problems] == [(path, 6, "warning")]
    with pen.begin(root, NOW, "palace conflict open") as held:
        (made,) = conflicts.open_merge(held, path)
    again = scanned(root).proposals[0]
    assert (again.record, "recorded" in again.why) == (made.path, True)
    assert again.command.startswith("palace conflict resolve merge-of-m-m-line-1 --winner")
    keyword_palace.write(path, "mended\n")
    assert kinds(scanned(root)) == ["polarity"]


def test_two_lines_with_one_id_are_proposed_by_their_places(keyword_palace: Palace) -> None:
    """A union merge kept both; the same text twice is no contradiction."""
    lines = f"- [preference] Use uv ^{UV}\n- [preference] Use pip ^{UV}\n"
    keyword_palace.write(TOPIC, lines + f"- [preference] use uv. ^{UV}\n")
    (one,) = scanned(keyword_palace.root).proposals
    assert f"two lines have the id ^{UV}" in one.why
    assert one.command == f"palace conflict open {TOPIC}:1 {TOPIC}:2"


def test_the_limit_keeps_the_best_and_counts_the_rest(keyword_palace: Palace) -> None:
    """Surest kinds first."""
    keyword_palace.write(TOPIC, PAIR + "".join(f"- [preference] Keep {n} logs\n" for n in range(4)))
    found = scanned(keyword_palace.root, limit=2)
    assert (len(found.proposals), found.more) == (2, 5)
    weights = [one.weight for one in scanned(keyword_palace.root).proposals]
    assert weights == sorted(weights, reverse=True)


def test_records_are_no_notes_to_scan(keyword_palace: Palace) -> None:
    """A merge that a record quotes is not proposed again."""
    keyword_palace.notes(conflict_room__x="<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    assert scanned(keyword_palace.root).proposals == []


def test_unreadable_notes_are_problems(keyword_palace: Palace) -> None:
    """The others are still scanned."""
    keyword_palace.write(TOPIC, PAIR)
    keyword_palace.write("palace/project_rooms/bad.md", b"\xff")
    found = scanned(keyword_palace.root)
    assert (kinds(found), [p.path for p in found.problems]) == (
        ["polarity"],
        ["palace/project_rooms/bad.md"],
    )


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_texts_give_few_pairs(count: int) -> None:
    """Down to none."""
    texts = ["Keep 3 logs", "Keep 5 logs"][:count]
    vectors = np.ones((count, 1), dtype=np.float32)
    found = [(a, b, why.kind) for a, b, why in conflict_pairs.contradicting(texts, vectors)]
    assert found == ([(0, 1, "value")] if count == 2 else [])


def test_ten_thousand_sentences_alike_do_not_make_every_pair() -> None:
    """Words that all share bring no pairs; neighbours in order are still compared."""
    texts = [f"The service listens on port {8000 + n}" for n in range(10_000)]
    found = list(conflict_pairs.contradicting(texts, None))
    assert 9_000 < len(found) <= conflict_pairs.NEIGHBOURS * len(texts)
