"""What rooms are called, and the wings that they stand in."""

import pytest

from memory_palace.core.room_names import GENERAL, Place, meanings, mined, place


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("project_rooms/demo/a.md", Place("demo", "demo", "project_rooms/demo")),
        ("project_rooms/demo/api/a.md", Place("demo", "api", "project_rooms/demo/api")),
        ("project_rooms/demo/api/v2/a.md", Place("demo", "api", "project_rooms/demo/api")),
        ("chambers/ada/a.md", Place("ada", "ada", "chambers/ada")),
        ("chambers/ada/diary/d.md", Place("ada", "ada/diary", "chambers/ada/diary")),
        (
            "project_rooms/demo/sessions/x/a.md",
            Place("demo", "demo/sessions", "project_rooms/demo/sessions"),
        ),
        (
            "project_rooms/demo/Sessions/a.md",
            Place("demo", "demo/Sessions", "project_rooms/demo/Sessions"),
        ),
        ("project_rooms/a.md", Place(GENERAL, "project_rooms", "project_rooms")),
        ("topics/lessons.md", Place(GENERAL, "topics", "topics")),
        (
            "reflection_wing/principles/deep/a.md",
            Place(GENERAL, "reflection_wing/principles", "reflection_wing/principles"),
        ),
        ("a.md", Place(GENERAL, "palace", "")),
    ],
)
def test_a_note_stands_in_the_first_folder_of_its_wing(path: str, expected: Place) -> None:
    """Below a project or an agent the first folder is the room; else the path, of two parts."""
    assert place(f"palace/{path}") == expected


def test_what_is_outside_the_palace_stands_in_no_room() -> None:
    """A file that only the manifest names has no room."""
    assert place("docs/operations.md") is None


def test_names_are_compared_in_nfc() -> None:
    """One name in two forms of Unicode is one room; the folder stays as it is on disk."""
    found = place("palace/project_rooms/cafe\u0301/no\u0308te/a.md")
    assert found == Place("caf\u00e9", "n\u00f6te", "project_rooms/cafe\u0301/no\u0308te")


def test_a_mined_file_without_a_room_is_in_a_room_of_its_project_alone() -> None:
    """`general` says nothing, so it bridges nothing."""
    assert mined("demo", "api") == Place("demo", "api")
    assert mined("demo", "") == mined("demo", "general") == Place("demo", "demo/general")


@pytest.mark.parametrize(
    ("said", "room"),
    [
        ("api", "api"),
        ("project_rooms/demo/api", "api"),
        ("palace/project_rooms/demo/api/v2", "api"),
        ("demo/api", "api"),
        ("demo/sessions", "demo/sessions"),
        ("project_rooms/demo", "demo"),
        ("chambers/ada/diary", "ada/diary"),
        ("palace/topics", "topics"),
        ("reflection_wing/rules", "reflection_wing/rules"),
    ],
)
def test_a_room_can_be_named_by_its_folder_or_its_wing(said: str, room: str) -> None:
    """A name, a folder with or without `palace/`, or the wing and the name."""
    assert room in [one.room for one in meanings(said)]
