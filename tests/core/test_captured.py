"""What capture keeps of what is said and done, and what it never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import captured, cuts, fence

KEY = "ghp_" + "a1B2c3D4e5" * 4
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "MIIEvQIBADANBgkqhkiG9w0B\n" * 40
    + "-----END PRIVATE KEY-----"
)


def test_what_is_said_stays_as_it_is() -> None:
    """Words, code and signs of a person are not touched."""
    text = "Use `a < b`, not <my-tag>; see [1] and C++.\n\n  indented"
    assert captured.said(f"  {text}\n") == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("before <private>the pin is 4711</private> after", "before [PRIVATE] after"),
        (f"the token {KEY} is old", "the token [SECRET: GitHub token] is old"),
        (fence.fenced("a note", "prompt") + "\nand my words", "and my words"),
        ("<system-reminder>be nice</system-reminder>fix it", "fix it"),
        ("<command-name>/x</command-name><command-args>fix it</command-args>", "fix it"),
        ("[Image #1] what is this", "what is this"),
        ("<private>all of it", "[PRIVATE]"),
        ("<system-reminder>only that</system-reminder>", ""),
    ],
)
def test_what_must_not_be_kept_goes(text: str, kept: str) -> None:
    """Private spans, secrets, what memory put there and what clients add."""
    assert captured.said(text) == kept


def test_a_private_span_ends_where_it_ends_whatever_is_cut() -> None:
    """One that begins before the cut and ends behind it is private as a whole."""
    text = "open " + "x " * 80_000 + "<private>" + "hidden " * 40_000 + "</private> close"
    kept = captured.said(text)
    assert "hidden" not in kept
    assert len(kept) <= captured.MOST_SAID
    assert kept.startswith("open x")
    assert kept.endswith("close")


def test_what_is_cut_is_counted() -> None:
    """The mark says how many characters are gone."""
    kept = captured.said("word " * 50_000)
    assert len(kept) <= captured.MOST_SAID
    mark = kept[kept.index("[…") : kept.index("…]")]
    gone = int(mark.split()[1])
    assert abs(gone + len(kept) - 250_000) < 60


def test_what_was_cut_twice_is_counted_whole() -> None:
    """A mark in the part that goes counts as what it stands for."""
    once = cuts.ends("word " * 10_000, 20_000)
    twice = cuts.ends(once, 2_000)
    assert twice.count("characters …]") == 1
    gone = int(twice[twice.index("[…") :].split()[1])
    assert abs(gone + len(twice) - 50_000) < 60


def test_half_a_key_is_no_end() -> None:
    """Where a key's beginning was cut off, the rest of it goes too."""
    kept = cuts.ends("log\n" * 3_000 + PEM + "\nlast line", 1_000)
    assert "MIIE" not in kept
    assert kept.endswith("last line")
    assert "MIIE" not in captured.said("log\n" * 40_000 + PEM + "\nlast line", 1_000)


def test_a_shell_s_call_has_its_command_and_both_ends_of_its_output() -> None:
    """What was run, what it said first and last."""
    output = "first\n" + "noise 1\n" * 5_000 + "FAILED test_x"
    text = captured.of_tool("Bash", "make test", {"command": "make test"}, output)
    assert text.startswith("$ make test\nfirst\n")
    assert text.endswith("FAILED test_x")
    assert len(text) <= captured.MOST_TOOL


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("Read", ""),
        ("Grep", ""),
        ("Bash", "cat a.py"),
        ("Bash", "cd src && grep -rn x . | head -5"),
        ("Bash", "git diff HEAD~1"),
        ("Bash", "sed -n 1,20p a.py"),
    ],
)
def test_of_what_only_looks_little_is_kept(tool: str, command: str) -> None:
    """What a file says stands in the file."""
    given = {"command": command} if command else {"file_path": "a.py"}
    text = captured.of_tool(tool, command, given, "word " * 1_000)
    call = f"$ {command}" if command else f"{tool} a.py"
    assert text.startswith(call)
    assert len(text) <= len(call) + 1 + captured.MOST_READ


def test_what_also_does_something_is_kept() -> None:
    """A command that begins like one that looks, and then runs the tests."""
    command = "cat a.py && make test"
    text = captured.of_tool("Bash", command, {"command": command}, "word " * 1_000)
    assert len(text) > 2_000


def test_why_a_look_failed_is_kept() -> None:
    """An error is worth more than what a file says."""
    text = captured.of_tool("Read", "", {"file_path": "a.py"}, "no such file " * 50, failed=True)
    assert text.count("no such file") == 50


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("mcp__memory-palace__query", ""),
        ("memory_palace_recall", ""),
        ("Bash", "palace query amber"),
        ("Bash", "cd x && .venv/bin/python scripts/palace.py mem search amber"),
    ],
)
def test_what_memory_itself_gave_is_not_kept(tool: str, command: str) -> None:
    """Or it would be learned again and again."""
    given = {"command": command} if command else {"query": "amber"}
    text = captured.of_tool(tool, command, given, "an old note")
    assert "amber" in text
    assert "old note" not in text


def test_a_folder_that_is_called_palace_is_not_memory() -> None:
    """Only the command is."""
    text = captured.of_tool("Bash", "pytest palace", {"command": "pytest palace"}, "3 passed")
    assert text == "$ pytest palace\n3 passed"


def test_an_edit_has_its_lines() -> None:
    """Old and new, and not the file that clients send back."""
    given = {"file_path": "src/a.py", "old_string": "a = 1\nb", "new_string": "a = 2"}
    text = captured.of_tool("Edit", "", given, "the whole file")
    assert text == "Edit src/a.py\n- a = 1\n- b\n+ a = 2"


def test_why_an_edit_failed_is_kept() -> None:
    """Beside the lines that it would have changed."""
    given = {"file_path": "a.py", "old_string": "a", "new_string": "b"}
    text = captured.of_tool("Edit", "", given, "no match for old_string", failed=True)
    assert text == "Edit a.py\n- a\n+ b\nno match for old_string"


def test_a_command_has_nothing_that_nobody_wrote() -> None:
    """Nor a private span that ends behind a cut."""
    command = "git commit -m '<system-reminder>be brief</system-reminder>mended'"
    assert captured.of_tool("Bash", command, {}, "") == "$ git commit -m ' mended'"
    command = "echo '" + "a b " * 300 + "<private>" + "hidden " * 300 + "</private>' > out"
    text = captured.of_tool("Bash", command, {}, "")
    assert "hidden" not in text
    assert text.endswith("> out")


def test_marks_that_are_longer_than_secrets_keep_to_the_bound() -> None:
    """A password is short, and what stands in its place is not."""
    text = "".join(f"pwd=hunter{number} " for number in range(100, 400))
    kept = captured.said(text, 2_000)
    assert "hunter" not in kept
    assert len(kept) <= 2_000


def test_several_edits_and_a_patch() -> None:
    """The other two forms that clients have."""
    edits = [{"old_string": f"a{n}", "new_string": f"b{n}"} for n in range(12)]
    text = captured.of_tool("MultiEdit", "", {"file_path": "a.py", "edits": edits}, "")
    assert "- a7\n+ b7" in text
    assert text.endswith("[… 4 more edits …]")
    patch = "*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** End Patch"
    text = captured.of_tool("apply_patch", "", {"command": patch}, "Success")
    assert text == f"apply_patch\n{patch}"


def test_other_tools_have_their_arguments() -> None:
    """Each by its name, what is no text as JSON."""
    given = {"query": "q", "limit": 3, "deep": False, "tags": ["a"], "none": None}
    text = captured.of_tool("Search", "", given, "found")
    assert text == 'Search query=q limit=3 tags=["a"]\nfound'


def test_no_part_of_a_call_has_a_secret() -> None:
    """Neither the command, nor an edit, nor an argument, nor the output."""
    calls = [
        ("Bash", f"curl -H 'Authorization: Bearer {KEY}'", {}, f"token: {KEY}"),
        ("Edit", "", {"file_path": f"{KEY}.py", "old_string": KEY, "new_string": KEY}, ""),
        ("Fetch", "", {"url": f"https://u:{KEY}@x.org", "more": {"k": KEY}}, KEY),
        ("apply_patch", "", {"input": f"*** Begin Patch\n+{KEY}\n"}, KEY),
    ]
    for tool, command, given_, output in calls:
        text = captured.of_tool(tool, command, given_, output)
        assert KEY not in text
        assert "[SECRET:" in text
    assert KEY not in captured.name(f"src/{KEY}/a.py")


def test_a_span_that_begins_in_one_part_and_ends_in_another_hides_both() -> None:
    """An edit has parts of a file, and so has what a tool gave."""
    given = {
        "file_path": "a.py",
        "old_string": "a = 1\n<private>\nearns 5000",
        "new_string": "earns 6000\n</private>\n</private>\nb = 2",
    }
    text = captured.of_tool("Edit", "", given, "")
    assert text == "Edit a.py\n- a = 1\n- [PRIVATE]\n+ [PRIVATE]\n+ \n+ \n+ b = 2"
    text = captured.of_tool("Bash", "make", {"command": "make"}, "earns 6000 </private> done")
    assert text == "$ make\n[PRIVATE] done"
    patch = "*** Begin Patch\n*** Update File: a.py\n-earns 5000\n+</private>\n+b = 2"
    text = captured.of_tool("apply_patch", "", {"input": patch}, "")
    assert "5000" not in text
    assert text.endswith("+b = 2")


def test_a_files_name_is_whole() -> None:
    """A tool's is cut: nobody opens it."""
    long = "deep/" * 100 + "a.py"
    assert captured.name(long, captured.LONGEST_FILE) == long
    assert len(captured.name(long)) == captured.LONGEST_NAME
    assert len(captured.name("x" * 5_000, captured.LONGEST_FILE)) == captured.LONGEST_FILE
    cut = captured.name("x" * (captured.LONGEST_NAME - 20) + f" {KEY}")
    assert KEY[:12] not in cut


def test_a_failure_is_known_by_its_code() -> None:
    """Clients that have no event of their own for it say so in the output."""
    assert captured.is_failure("Exit code: 2\nWall time: 0 seconds")
    assert not captured.is_failure("Exit code: 0\nfine")
    assert not captured.is_failure("it said: exit code: 2 somewhere")


_PIECES = st.sampled_from(
    ["<private>", "</private>", "hidden", "said ", "\n", "<palace-memory", ">", "x" * 300, KEY]
)


@given(st.lists(_PIECES, max_size=60), st.integers(0, 400))
def test_whatever_is_cut_no_key_and_no_span_gets_through(parts: list[str], most: int) -> None:
    """Redacting what was kept changes nothing, and the bound holds."""
    from memory_palace.core import privacy

    text = " ".join(parts)
    kept = captured.said(text, most)
    assert privacy.redact(kept).text == kept
    assert KEY not in kept
    assert len(kept) <= max(most, 60)
    spans = privacy.redact(text).text
    if "hidden" not in spans:
        assert "hidden" not in kept


@given(st.text(max_size=300), st.integers(45, 200))
def test_a_cut_keeps_to_its_length(text: str, most: int) -> None:
    """Whatever the text is made of; a short one stays."""
    kept = cuts.ends(text, most)
    assert len(kept) <= most
    assert kept == text or len(text) > most
