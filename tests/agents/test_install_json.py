"""The JSON editor: what is put in comes out again, and every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.agents.install import entries, jsonedit
from memory_palace.agents.install.jsontext import TextFault, parse, value_of

COMMAND = "'/tool kit/scripts/hook.sh' {} --client codex".format
EVENTS = {"SessionStart": 10, "Stop": 5}
SERVER = {"command": "/x/palace", "args": ["mcp"]}
KEYS = ("mcpServers", "palace")

names = st.sampled_from(["hooks", "mcpServers", "Stop", "SessionStart", "a", 'ö"\\', "\u2028", ""])
plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
group = st.fixed_dictionaries(
    {"hooks": st.lists(st.just({"type": "command", "command": "true"}), max_size=2)},
    optional={"matcher": st.just("Bash")},
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(["Stop", "PreToolUse"]), st.lists(group, max_size=2), max_size=2
        ),
        "mcpServers": st.dictionaries(st.sampled_from(["x", "y"]), values, max_size=2),
        "z": values,
    },
)


@st.composite
def layouts(draw: st.DrawFn, value: st.SearchStrategy[Any] = settings) -> str:
    """A document in some layout: indent, separators, line ends, escapes, white space around."""
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    text = json.dumps(
        draw(value),
        indent=indent,
        separators=(comma.rstrip() if indent is not None else comma, colon),
        ensure_ascii=draw(st.booleans()),
    )
    for empty in ("{}", "[]"):
        inside = draw(st.sampled_from(["", " ", "\n", "\n\n  "]))
        text = text.replace(f": {empty}", f": {empty[0]}{inside}{empty[1]}")
        if text == empty:
            text = empty[0] + inside + empty[1]
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    before = draw(st.sampled_from(["", "\ufeff", "\n", " "]))
    return before + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))


def installed(text: str | None) -> str:
    """Hooks and server put in."""
    text, _ = entries.hooked(text, "codex", COMMAND, EVENTS)
    text, _ = entries.served(text, KEYS, SERVER)
    assert text is not None
    return text


def uninstalled(text: str | None) -> str | None:
    """Server and hooks taken out."""
    text, _ = entries.unserved(text, KEYS)
    return entries.unhooked(text, "codex")[0]


@given(layouts())
def test_settings_come_back_byte_for_byte(text: str) -> None:
    """Any settings, laid out in any way, installed and uninstalled, are the same bytes."""
    assert uninstalled(installed(text)) == text


@given(layouts())
def test_a_second_install_changes_nothing(text: str) -> None:
    """What is there already is found there, whatever the layout."""
    once = installed(text)
    assert installed(once) == once
    assert entries.hooked(once, "codex", COMMAND, EVENTS)[1] == ()


@given(layouts())
def test_only_ours_is_added(text: str) -> None:
    """The file says afterwards what it said, and our entries behind it, in its order."""
    old = json.loads(text.removeprefix("\ufeff"))
    new = json.loads(installed(text).removeprefix("\ufeff"))
    assert [key for key in new if key in old] == [*old]
    assert new.get("z") == old.get("z")
    for event, groups in old.get("hooks", {}).items():
        assert new["hooks"][event][: len(groups)] == groups
    for event in EVENTS:
        assert new["hooks"][event][-1]["hooks"][0]["command"] == COMMAND(event)
    assert new["mcpServers"] == {**old.get("mcpServers", {}), "palace": SERVER}


@given(layouts())
def test_a_moved_toolkit_is_renewed_in_place(text: str) -> None:
    """Another command replaces the one that is there, and uninstall still gives the same bytes."""
    moved, done = entries.hooked(
        installed(text), "codex", "/new/scripts/hook.sh {} --client codex".format, EVENTS
    )
    assert len(done) == 1 and done[0].startswith("hooks renewed for ")
    assert moved is not None and "tool kit" not in moved
    assert uninstalled(moved) == text


@given(layouts(values))
def test_the_reader_agrees_with_the_standard_one(text: str) -> None:
    """What a text says is what `json` says it says."""
    root = parse(text)
    assert value_of(text, root) == json.loads(text.removeprefix("\ufeff"))


@given(st.text(alphabet='{}[]",:0\\u1e-t/*\n ', max_size=12))
def test_what_is_no_json_is_refused(text: str) -> None:
    """The reader takes what `json` takes, and nothing else."""
    try:
        json.loads(text, parse_constant=lambda _: 1 / 0)
        valid = True
    except (ValueError, ZeroDivisionError):
        valid = False
    if valid:
        parse(text)
    else:
        with pytest.raises(TextFault):
            parse(text)


COMMENTED = """{
  // mine
  "$schema": "x", /* why */
  "mcp": {
    "other": {"type": "local"}, // keep
    // "off": {},
  },
}
"""


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        COMMENTED.replace("\n", "\r\n"),
        COMMENTED.replace("keep\n", "keep\n    \n"),
        "{ // nothing\n}",
        '{"mcp": {/* none */}}',
        '{\n  "a": 1 // one\n  // two\n}',
        '{"a": 1,}',
        '{"a": [1,],}',
        '{\n\t"a": 1 /* x */ , // y\n}\n',
    ],
)
def test_comments_and_last_commas_stay(text: str) -> None:
    """A file with comments is edited like any other, and comes back."""
    keys = ("mcp", "palace")
    wanted = {"type": "local", "command": ["/x/palace", "mcp"]}
    made, _ = entries.served(text, keys, wanted, comments=True)
    assert made is not None
    assert value_of(made, parse(made, comments=True))["mcp"]["palace"] == wanted
    assert entries.unserved(made, keys, comments=True)[0] == text


def test_a_file_that_we_made_goes_again() -> None:
    """No file, installed and uninstalled, is no file; an empty object stays one."""
    assert uninstalled(installed(None)) is None
    for text in ("{}", "{ }\n", "{\n}\n", "\ufeff{}"):
        assert uninstalled(installed(text)) == text


def test_what_a_person_added_around_ours_stays() -> None:
    """Entries behind ours, and in our containers, are left; keys in our entry go with it."""
    text = json.loads(installed('{\n "a": 1\n}\n'))
    text["b"] = 2
    text["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    text["hooks"]["SessionStart"][0]["matcher"] = "startup"
    text["mcpServers"]["palace"]["env"] = {}
    left = uninstalled(json.dumps(text, indent=2))
    assert json.loads(left or "") == {
        "a": 1,
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]},
        "b": 2,
    }


def test_what_a_person_set_in_our_entry_is_kept_by_an_update() -> None:
    """A new command leaves a matcher and an environment of theirs."""
    text = jsonedit.put(installed("{}"), (*KEYS, "env"), {"A": "1"})
    text = jsonedit.put(text, ("hooks", "Stop", 0, "matcher"), "x")
    text, _ = entries.hooked(
        text, "codex", "/other/scripts/hook.sh {} --client codex".format, EVENTS
    )
    text, _ = entries.served(text, KEYS, {**SERVER, "command": "/other/palace"})
    said = json.loads(text or "")
    assert said["mcpServers"]["palace"]["env"] == {"A": "1"}
    assert said["hooks"]["Stop"][0]["matcher"] == "x"


def test_an_event_that_is_no_longer_used_is_taken_out() -> None:
    """A hook of an older toolkit, and one that stands twice, go at the next install."""
    text = installed("{}")
    old = {"hooks": [{"type": "command", "command": COMMAND("Stop")}]}
    text = jsonedit.append(text, ("hooks", "Gone"), old)
    text = jsonedit.append(text, ("hooks", "Stop"), old)
    mended, done = entries.hooked(text, "codex", COMMAND, EVENTS)
    assert json.loads(mended or "")["hooks"].keys() == EVENTS.keys()
    assert len(json.loads(mended or "")["hooks"]["Stop"]) == 1
    assert "hooks removed for" in done[-1]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "is empty"),
        ('{\n "a": 1,\n}', 3, "not JSON"),
        ("{\n // x\n}", 2, "comment"),
        ('{"a": 1}\n}', 2, "not JSON"),
        ("[]", 1, "the file is not an object"),
        ('{\n"hooks": []}', 2, "'hooks' is not an object"),
        ('{\n"hooks": {\n"Stop": {}}}', 3, "'Stop' is not a list"),
        ('{"hooks": {},\n"\\u0068ooks": {}}', 2, "a second time"),
        ('{"hooks": {"Stop": [],\n"Stop": []}}', 2, "a second time"),
        ("[" * 300, 1, "deeper than"),
        ('{"a": NaN}', 1, "not JSON"),
        ('{"a": "\n"}', 1, "not JSON"),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, line: int, said: str) -> None:
    """The fault names the line, and says what is wrong there."""
    with pytest.raises(TextFault, match=said) as fault:
        entries.hooked(text, "codex", COMMAND, EVENTS)
    assert fault.value.line == line


def test_comments_that_a_client_cannot_read_are_refused_with_what_to_add() -> None:
    """The fault holds, as JSON, what would have been put in."""
    for edit in (
        lambda: entries.hooked("{ // x\n}", "codex", COMMAND, EVENTS),
        lambda: entries.served("{ // x\n}", KEYS, SERVER),
    ):
        with pytest.raises(TextFault, match="Take it out, then run this again or add ") as fault:
            edit()
        lines = json.loads(str(fault.value).partition("by hand ")[2])
        assert lines in (
            json.loads(entries.hooked(None, "codex", COMMAND, EVENTS)[0] or ""),
            {"mcpServers": {"palace": SERVER}},
        )


def test_a_server_of_that_name_that_is_not_ours_is_refused() -> None:
    """Somebody else's `palace` is neither replaced nor removed."""
    text = '{\n "mcpServers": {\n  "palace": {"command": "npx", "args": ["mcp"]}}}'
    with pytest.raises(TextFault, match="another server") as fault:
        entries.served(text, KEYS, SERVER)
    assert fault.value.line == 3
    assert entries.unserved(text, KEYS) == (text, ())


def test_somebody_elses_hook_is_not_ours() -> None:
    """A `hook.sh` without our client's name stays, whatever its folder is called."""
    text = json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/x/scripts/hook.sh"}]}]}}
    )
    assert entries.unhooked(text, "codex") == (text, ())
    assert entries.unhooked(installed(text), "claude-code")[0] == installed(text)


def test_the_layout_of_the_file_is_used() -> None:
    """Tabs stay tabs; a file on one line stays on one."""
    assert '\n\t\t"Stop": [\n\t\t\t{' in installed('{\n\t"a": 1\n}')
    assert "\n" not in installed('{"a":1}')
    assert '"palace":{ "command":"/x/palace"' in installed('{"a":1}')
