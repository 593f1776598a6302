"""Blocks between markers: in Markdown, and in a TOML file that Codex writes too."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.agents.install import blocks, shim, tomlblock
from memory_palace.agents.install.jsontext import TextFault

BODY = blocks.about("palace")
SERVER = {"command": "/x y/palace", "args": ["mcp"], "startup_timeout_sec": 30}

lines = st.lists(st.sampled_from(["# A", "text", "", "  ", "```", "ü"]), max_size=5)
texts = st.builds(
    lambda parts, newline, end: newline.join(parts) + newline * end,
    lines,
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 3),
)
tables = st.lists(
    st.sampled_from(
        ["# mine", "a = 1", "[b]", "[mcp_servers.x]", 'command = "y"', "", "[[hooks.Stop]]"]
    ),
    max_size=6,
    unique=True,
)


@given(texts)
def test_markdown_comes_back_byte_for_byte(text: str) -> None:
    """Any text, with the block put in twice and taken out, is the same."""
    made, done = blocks.blocked(text, BODY)
    assert done and made is not None and made.startswith(text)
    assert blocks.blocked(made, BODY) == (made, ())
    assert blocks.unblocked(made) == (text, blocks.WHAT)


@given(texts, texts)
def test_what_stands_around_the_block_stays(before: str, after: str) -> None:
    """Text that a person wrote behind the block is left, and the block is renewed in place."""
    made, _ = blocks.blocked(before, BODY)
    renewed, _ = blocks.blocked((made or "") + after, blocks.about("other", "/pinned"))
    assert renewed and renewed.startswith(before) and renewed.endswith(after)
    left, _ = blocks.unblocked(renewed)
    assert [line for line in (left or "").split() if line] == (before + " " + after).split()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_that_were_moved_up_to_ours_do_not_run_together(newline: str) -> None:
    """A person took out the empty line above: there is none of ours to take."""
    made, _ = blocks.blocked(newline.join(("one", "")), BODY)
    close = (made or "").replace(newline * 2 + "<", newline + "<") + f"two{newline}"
    assert blocks.unblocked(close)[0] == newline.join(("one", "two", ""))
    made, _ = tomlblock.tabled(f"a = 1{newline}", SERVER)
    close = (made or "").replace(newline * 2 + "#", newline + "#") + f"[b]{newline}"
    assert tomlblock.untabled(close)[0] == newline.join(("a = 1", "[b]", ""))


def test_a_markdown_file_that_we_made_goes_again() -> None:
    """Unless there is something else in it by then."""
    made, _ = blocks.blocked(None, BODY)
    assert made and blocks.unblocked(made)[0] is None
    assert blocks.unblocked(made + "\nmine\n")[0] == "\nmine\n"
    assert blocks.unblocked("nothing of ours") == ("nothing of ours", ())


@pytest.mark.parametrize(
    "text",
    [
        f"a\n{blocks.BEGIN}\n",
        f"a\n{blocks.END}\n",
        f"{blocks.END}\n{blocks.BEGIN}\n",
        f"{blocks.BEGIN}\n{blocks.END}\n{blocks.BEGIN}\n{blocks.END}\n",
    ],
)
def test_markers_that_do_not_fit_are_refused(text: str) -> None:
    """Half a block, or two, is neither filled nor taken out."""
    for edit in (lambda: blocks.blocked(text, BODY), lambda: blocks.unblocked(text)):
        with pytest.raises(TextFault, match="mend the block"):
            edit()


@pytest.mark.parametrize(
    "text",
    [
        f"# How\n```md\n{blocks.BEGIN}\nwords\n{blocks.END}\n```\nmore\n",
        f"The markers `{blocks.BEGIN}` and `{blocks.END}`.\n",
        f"- a list\n  {blocks.BEGIN}\n  {blocks.END}\n",
        "of an old machine\r",
        "of two\r\nmachines\n",
    ],
)
def test_markers_that_a_person_shows_are_not_ours(text: str) -> None:
    """In a code fence, or within a line: what stands between them is neither replaced nor lost."""
    assert blocks.unblocked(text) == (text, ())
    made, _ = blocks.blocked(text, BODY)
    assert made and made.startswith(text) and blocks.has_block(made)
    assert blocks.blocked(made, BODY) == (made, ())
    assert blocks.unblocked(made) == (text, blocks.WHAT)


@given(tables, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_toml_comes_back_byte_for_byte(parts: list[str], newline: str, ends: bool) -> None:
    """Any valid file, with the server put in twice and taken out, is the same."""
    text = newline.join(parts) + (newline if ends and parts else "")
    try:
        old = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(TextFault):
            tomlblock.tabled(text, SERVER)
        return
    made, _ = tomlblock.tabled(text, SERVER)
    assert made is not None
    said = tomllib.loads(made)
    assert said["mcp_servers"].pop("palace") == SERVER
    assert {**said, "mcp_servers": 0} == {**old, "mcp_servers": 0}
    assert tomlblock.tabled(made, SERVER) == (made, ())
    assert tomlblock.untabled(made) == (text, tomlblock.WHAT)


def test_a_toml_file_that_we_made_goes_again() -> None:
    """An empty one that was there stays."""
    assert tomlblock.untabled(tomlblock.tabled(None, SERVER)[0])[0] is None
    assert tomlblock.untabled(tomlblock.tabled("", SERVER)[0])[0] == ""


CODEX_WROTE = """\
model = "x"
model_reasoning_effort = "high"

[mcp_servers.palace]
command = "/x y/palace"
args = ["mcp"]
startup_timeout_sec = 30

[mcp_servers.foo]
command = "/bin/true"

[hooks.state."/h/hooks.json:stop:0:0"]
trusted_hash = "sha256:1"

[projects."/tmp/x"]
trust_level = "trusted"
# memory-palace:end
"""
"""What Codex 0.171 made of a file of ours when it added a server, a project and trust."""


def test_what_codex_put_between_the_markers_stays() -> None:
    """Codex moves our markers: its tables are neither doubled nor taken out with ours."""
    assert tomlblock.tabled(CODEX_WROTE, SERVER) == (CODEX_WROTE, ())
    left, _ = tomlblock.untabled(CODEX_WROTE)
    assert left is not None and "palace:" not in left and "/x y" not in left
    said = tomllib.loads(CODEX_WROTE)
    del said["mcp_servers"]["palace"]
    assert tomllib.loads(left) == said


def test_a_moved_toolkit_is_renewed_and_settings_in_its_table_stay() -> None:
    """What a person added to our table is kept; tables behind it are not touched."""
    text = CODEX_WROTE.replace("args", "enabled = false\nargs")
    made, done = tomlblock.tabled(text, {**SERVER, "command": "/new/palace"})
    assert done == ("MCP server mcp_servers.palace renewed",)
    table = tomllib.loads(made or "")["mcp_servers"]["palace"]
    assert table == {**SERVER, "command": "/new/palace", "enabled": False}
    assert (made or "").endswith(CODEX_WROTE[CODEX_WROTE.index("[mcp_servers.foo]") :])


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a = 1\nb = \n", 2, "not TOML"),
        ('a = 1\n[mcp_servers.palace]\ncommand = "npx"\n', 2, "another server"),
        ('a = 1\nmcp_servers = { x = { command = "y" } }\n', 2, "write it as tables"),
        ('mcp_servers = { palace = { command = "/x/palace", args = ["mcp"] } }\n', 1, "otherwise"),
    ],
)
def test_toml_that_cannot_be_edited_is_refused(text: str, line: int, said: str) -> None:
    """The fault names the line, and what to do."""
    with pytest.raises(TextFault, match=said) as fault:
        tomlblock.tabled(text, {**SERVER, "command": "/other/palace"})
    assert fault.value.line == line


def test_a_table_inside_a_string_is_not_ours() -> None:
    """What only looks like our table, or like its markers, is left as it is."""
    for inside in ("[mcp_servers.palace]", f"{tomlblock.BEGIN}\n{tomlblock.END}"):
        text = f"a = '''\n{inside}\n'''\nb = nan\n"
        made, _ = tomlblock.tabled(text, SERVER)
        assert tomlblock.tabled(made, SERVER) == (made, ())
        renewed, _ = tomlblock.tabled(made, {**SERVER, "command": "/new/palace"})
        assert tomlblock.untabled(renewed) == (text, tomlblock.WHAT)


OF_A_PERSON = """\
enabled_tools = [  # mine
  "search",
]
env = { A = "1" }

[mcp_servers.palace.tools.search]
approval_mode = "approve"
"""
"""What a person, or Codex when asked not to ask again, adds to our table."""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tables_below_ours_stay_when_it_is_renewed_and_go_with_it(newline: str) -> None:
    """Without the table above it, one of them keeps Codex from starting."""
    text = f"a = 1{newline}"
    made, _ = tomlblock.tabled(text, SERVER)
    more = OF_A_PERSON.replace("\n", newline)
    made = (made or "").replace(tomlblock.END, more + tomlblock.END)
    renewed, done = tomlblock.tabled(made, {**SERVER, "command": "/new/palace"})
    assert done and renewed == made.replace(SERVER["command"], "/new/palace")
    assert tomlblock.untabled(renewed) == (text, tomlblock.WHAT)
    apart = f"{text}[mcp_servers.palace.env]{newline}A = 1{newline}[b]{newline}{made}"
    left, _ = tomlblock.untabled(apart.replace(more, "").replace(f"[b]{newline}{text}", ""))
    assert tomllib.loads(left or "") == {"a": 1}


def test_a_plugin_file_is_ours_as_we_made_it_only(tmp_path: Path) -> None:
    """One that a person changed is neither replaced nor removed."""
    plugin = tmp_path / "a b's" / "index.ts"
    made, _ = shim.shimmed(None, "{ default }", plugin, tmp_path)
    assert made and "a%20b" in made
    assert shim.shimmed(made, "{ default }", plugin, tmp_path) == (made, ())
    assert shim.command_of(made) == [plugin.as_uri(), "--root", str(tmp_path)]
    assert shim.unshimmed(made) == (None, shim.WHAT)
    assert shim.shimmed(made, "*", plugin, None)[1] == ("the plugin renewed",)
    for text in (f"{made}// mine\n", "", "export {}"):
        with pytest.raises(TextFault, match="move it away"):
            shim.unshimmed(text)
        assert shim.command_of(text) == []
