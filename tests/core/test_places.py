"""Folders of a machine in what was said."""

import pytest

from memory_palace.core import places


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("see /home/me/demo/src/a.py", "see src/a.py"),
        ("cd /home/me/demo", "cd ."),
        ("cd /home/me/demo-two", "cd ~/demo-two"),
        ("in /home/me/notes.md", "in ~/notes.md"),
        ("/home/me.", "/home/me."),
        ("/home/meet/x", "/home/meet/x"),
        ("nothing here", "nothing here"),
        ("PATH=/home/me/demo/bin:/home/me/bin", "PATH=bin:~/bin"),
        ("file:///home/me/demo/a.py", "file://a.py"),
        ("cc -I/home/me/demo/include", "cc -Iinclude"),
        (r"a\n/home/me/demo/b.py", r"a\nb.py"),
    ],
)
def test_paths_are_made_relative(text: str, kept: str) -> None:
    """Below the project, then below the home; names that only begin so stay."""
    assert places.without(text, "/home/me/demo", "/home/me") == kept


@pytest.mark.parametrize(
    "text",
    ["src/app/main.py", "./app/x", "a//app/x", "~/root/x", "lib-1/app", "https://x.org/app/"],
)
def test_a_place_within_a_path_stays(text: str) -> None:
    """A short project (`/app` of a container) takes nothing out of the middle of other paths."""
    assert places.without(text, "/app", "/root") == text


def test_no_folder_takes_nothing_out() -> None:
    """Without a project and a home a text stays; the top of a disk is no folder to take out."""
    assert places.without("a /b/c", "", "/") == "a /b/c"


@pytest.mark.parametrize(
    ("path", "home", "last"),
    [
        ("/home/me/demo", "/home/me", "demo"),
        ("/Users/me", "/Users/me", "me"),
        ("/root/x/", "/root", "x"),
        ("C:\\Users\\me\\demo", "/C:/Users/me", "demo"),
        ("/srv/demo", "", "demo"),
        ("/", "", ""),
        ("", "", ""),
    ],
)
def test_home_and_last_folder(path: str, home: str, last: str) -> None:
    """Of each system's spelling."""
    assert places.home(places.posix(path)) == home
    assert places.last(path) == last
