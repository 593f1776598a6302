"""What is kept of a long log gives what counting all of it gives."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.writing import DAY, NOW, A, B
from memory_palace.core.events import PATH
from memory_palace.memory import tallies

KINDS = ("remembered", "reinforced", "forgotten", "pinned", "restored")
told = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from((A, B)),
    st.integers(-40, 0),
    st.sampled_from(("1", "2", "ä", 'a"b', "\\u0031", "ffffffffffffffff")),
)


def line(kind: str, about: str, days: int, uid: str) -> str:
    """An event as the log has it; a repeat is the same event."""
    days = -len(uid) - ord(uid[0]) % 7  # a uid has one moment and one kind
    kind, about = KINDS[ord(uid[0]) % len(KINDS)], (A, B)[len(uid) % 2]
    at = (NOW + days * DAY).isoformat()
    data = {"at": at, "by": "a@b", "event": kind, "uid": uid, "id": about}
    return json.dumps(data, ensure_ascii=uid == "ä") + "\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(told, max_size=5), max_size=4))
def test_kept_counts_are_those_of_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: list[list[tuple[str, str, int, str]]]
) -> None:
    """However the log grows, and whatever is repeated in it."""
    monkeypatch.setattr(tallies, "KEPT_FROM", 1)
    log = tmp_path / PATH
    log.parent.mkdir(exist_ok=True)
    log.write_text("")
    kept = tmp_path / ".palace/memory/tallies.json"
    kept.unlink(missing_ok=True)
    for piece in pieces:
        with log.open("a") as file:
            file.writelines(line(*one) for one in piece)
        grown = tallies.load(tmp_path, NOW)
        kept.unlink(missing_ok=True)
        anew = tallies.load(tmp_path, NOW)
        assert dict(grown.tallies) == dict(anew.tallies)
        for about in (A, B):
            assert tallies.some(tmp_path, NOW, [about]).get(about) == anew.tallies.get(about)
            kept.unlink(missing_ok=True)
            assert tallies.some(tmp_path, NOW, [about]).get(about) == anew.tallies.get(about)


def test_few_lines_of_a_log_are_parsed_for_a_few_memories(tmp_path: Path) -> None:
    """Those that name one of them, also beside others, each once and in order."""
    log = tmp_path / PATH
    log.parent.mkdir()
    rows = [
        {"event": "remembered", "id": A, "uid": "1"},
        {"event": "remembered", "id": B, "uid": "2"},
        {"event": "archived", "id": "note", "uid": "3", "entries": [A], "reason": A},
        {"event": "restored", "id": "note", "uid": "4", "entries": [A, "other"]},
    ]
    lines = [json.dumps({"at": NOW.isoformat(), "by": "a@b", **row}) for row in rows]
    log.write_text("\n".join(["no json", *lines]))  # cut off before the last line feed
    found = tallies.some(tmp_path, NOW, [A])
    whole = tallies.load(tmp_path, NOW).tallies
    assert found[A] == whole[A]
    assert found[A].evidence == 2
    assert B not in found
    assert tallies.some(tmp_path, NOW, []) == {}
