"""The text of a note that goes a tier down, and comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import demotion, note
from memory_palace.core.errors import BadInput

PRINCIPLE = "palace/reflection_wing/principles/a.md"
CANDIDATE = "palace/reflection_wing/constitution_candidates/a.md"


@pytest.mark.parametrize(
    ("projects", "room"),
    [
        ([], "general"),
        (["", "b", "b", "a"], "b"),
        (["b", "a"], "a"),
        (["../x", "a/b", ".git", "", "\x07", " b"], "general"),
    ],
)
def test_a_reflection_goes_to_the_room_of_its_evidence(projects: list[str], room: str) -> None:
    """Of most of it; a room that no folder can be called is none."""
    assert demotion.target(PRINCIPLE, projects) == f"palace/project_rooms/{room}/a.md"


def test_a_candidate_goes_back_to_the_principles() -> None:
    """Wherever its evidence comes from."""
    assert demotion.target(CANDIDATE, ["demo"]) == PRINCIPLE


TEXT = """---
title: A  # mine
type: "principle"
aliases: [one]
evidence:
  - "[[b]]"
---
# A
"""


def test_the_record_of_a_demotion() -> None:
    """Type, day, where from, why; the names that links used; nothing else changes."""
    text = demotion.demoted(TEXT, PRINCIPLE, "2026-11-29", "unused: for long", ["principles/a"])
    found = note.parse("palace/project_rooms/demo/a.md", text)
    assert not found.problems
    assert found.type == "palace"
    assert found.aliases == ("one", "principles/a")
    assert {key: found.metadata[key] for key in demotion.KEYS} == {
        "demoted": "2026-11-29",
        "demoted_from": PRINCIPLE,
        "demoted_reason": "unused: for long",
        "demoted_type": "principle",
    }
    assert "title: A  # mine\n" in text
    assert demotion.undone(text) == TEXT


def test_a_candidate_becomes_a_principle() -> None:
    """And one that was a principle before a room's note, with a fresh record."""
    text = TEXT.replace("principle", "constitution_candidate")
    lower = demotion.demoted(text, CANDIDATE, "2026-11-29", "unused", [])
    assert note.parse(PRINCIPLE, lower).type == "principle"
    lowest = demotion.demoted(lower, PRINCIPLE, "2027-03-01", "unused", [])
    found = note.parse("palace/project_rooms/demo/a.md", lowest)
    assert (found.type, found.metadata["demoted_from"]) == ("palace", PRINCIPLE)
    assert found.metadata["demoted_type"] == "principle"


@pytest.mark.parametrize(
    "text",
    [
        "# No metadata\n",
        "",
        "---\ntitle: x\n---\n",
        "---\n---\nText.\n",
        "\ufeffText.\n",
        "---\ntype: insight\n---\nText.\n",
        "---\r\ntype: principle\r\n---\r\nText.\r\n",
        "---\ntype: principle\naliases: [a, b]\n---\nText.\n",
        "\ufeff---\ntype: principle # why\n---\n",
    ],
)
@pytest.mark.parametrize("aliases", [[], ["principles/a", "reflection_wing/principles/a"]])
def test_undoing_gives_the_text_back(text: str, aliases: list[str]) -> None:
    """Byte for byte, also where the metadata block was made for the record."""
    back = demotion.undone(demotion.demoted(text, PRINCIPLE, "2026-11-29", "unused", aliases))
    assert back == text


def test_broken_metadata_is_refused() -> None:
    """Before anything moves."""
    with pytest.raises(BadInput, match="mend it by hand"):
        demotion.demoted("---\na: [\n---\n", PRINCIPLE, "2026-11-29", "unused", [])


def test_what_a_link_with_a_folder_can_be() -> None:
    """Every tail with a folder, with and without .md; not the bare name."""
    assert demotion.spellings("palace/x/a.md") == {"palace/x/a.md", "palace/x/a", "x/a.md", "x/a"}
    assert demotion.spellings("a.md") == set()


@given(st.text(max_size=60), st.lists(st.sampled_from(sorted(demotion.spellings(PRINCIPLE)))))
def test_any_body_survives(body: str, aliases: list[str]) -> None:
    """Down and back: the body is what it was."""
    text = f"---\ntype: principle\n---\n{body}"
    back = demotion.undone(demotion.demoted(text, PRINCIPLE, "2026-11-29", "unused", aliases))
    assert back == text
