"""What capture keeps of what is said and done in a session.

Everything that must not be stored goes first, over the whole text: private spans, what memory
itself injected, what clients add, secrets. Only then is a text cut.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_palace.core import privacy, prompt_tags

MOST_SAID = 100_000
"""Characters of what a person or an agent said."""

MOST_TOOL = 4_000
"""Characters of a tool call, all in all."""

MOST_READ = 300
"""Characters of what a tool that only looks at things gave."""

LONGEST_NAME = 200
LONGEST_FILE = 1_000
"""Characters of a file's name, which is whole more often than not: shorter would be another."""

READERS = frozenset(
    """read grep glob ls list find search view cat notebookread webfetch websearch toolsearch
    read_file list_dir grep_files view_image""".split()
)
"""Tools that only look at things, in lower case: what they gave stands in the project."""

_LOOKING = frozenset(
    """cat head tail less more ls tree find fd grep egrep rg ag bat nl wc stat file du df cd pwd
    sort uniq cut echo""".split()
)
_LOOKING_TWO = frozenset(
    f"{first} {second}"
    for first, seconds in (("sed", "-n"), ("git", "show log diff blame status ls-files grep"))
    for second in seconds.split()
)
_JOINTS = ("&&", "||", ";", "|", "&", "(")
_FAILED = r"(?i)\s{0,9}(?:process exited with )?exit code:?\s(\d{1,9})\b"
_NOTHING = ("(no output)", "(Bash completed with no output)", "{}", "[]")
"""What clients say of a command that said nothing."""

_PATHS = ("file_path", "notebook_path", "filePath", "path")
_OLD = ("old_string", "oldString", "oldText", "old_str")
_NEW = ("new_string", "newString", "newText", "new_str", "content", "new_source")
_PATCHES = ("command", "patch", "patchText", "input")
_PATCH = "*** Begin Patch"
_ARGUMENTS = 700
_COMMAND = 1_500
_EDIT = 1_600
_MOST_EDITS = 8


def said(text: str, most: int = MOST_SAID) -> str:
    """What a person or an agent said, as it may be stored: at most ``most`` characters, with a
    marker where some are gone. Empty if nothing is left."""
    text = prompt_tags.without_placeholders(_bare(text))
    return _redacted(text.replace("<command-args>", "").replace("</command-args>", ""), most)


def answer_ref(turn: str, text: str) -> str:
    """What names an agent's answer ``text`` (as :func:`said` gave it) in its ``turn``: a turn that
    a hook kept going has several. Empty without a turn."""
    from memory_palace.core.text import sha256  # only who drains the queue asks

    return f"{turn}:{sha256(text)[:8]}" if turn else ""


def of_tool(
    tool: str, command: str, given: Mapping[str, Any], output: str, failed: bool = False
) -> str:
    """A tool call and what came of it, as it may be stored, in :data:`MOST_TOOL` characters.

    The first line is the call: ``$ command`` of a shell, else the tool's name and what it was
    given; after an edit the old lines (``- ``) and the new ones (``+ ``) follow; then the output,
    its beginning and its end. Of tools that only look at things, 300 characters of it; of memory's
    own none.
    """
    tool = name(tool)
    patch = _patch(given, command)
    called = "" if patch and not command else _call(tool, command, given)
    edits = [patch] if patch else list(_edits(given))
    head = "\n".join([called, *edits] if called else [tool, *edits]).strip()
    head = _cut(head, MOST_TOOL - MOST_READ)
    if _is_own(tool, command) or (edits and not failed):
        return head
    reads = _reads(command) if command else tool.lower() in READERS
    room = MOST_TOOL - len(head) - 1
    came = _redacted(
        _bare(output, part=True), min(room, MOST_READ if reads and not failed else room)
    )
    return f"{head}\n{came}" if came and came not in _NOTHING else head


def is_failure(output: str) -> bool:
    """True for the output of a command that says it ended with a code other than 0."""
    if "xit code" not in output[:40]:
        return False
    found = re.match(_FAILED, output)
    return bool(found and int(found[1]))


def name(text: str, most: int = LONGEST_NAME) -> str:
    """A tool's name or a file's, as it may be stored: on one line, without secrets, cut after
    ``most`` characters."""
    return privacy.redact(" ".join(text.split())[: most + LONGEST_FILE]).text[:most]


def _bare(text: str, part: bool = False) -> str:
    """``text`` without private spans, without what memory injected and what clients add. Of a
    ``part`` of a file a span may have begun before it."""
    if "<" not in text:
        return text.strip()
    from memory_palace.core import cuts, private_spans

    text = private_spans.opened(text) if part and "/" in text else text
    return prompt_tags.outside(cuts.cuttable(text)).strip()


def _redacted(text: str, most: int) -> str:
    """``text`` without secrets, at most ``most`` characters. Long ones are cut twice: redaction
    takes its time, and needs to see more than what stays."""
    return _cut(privacy.redact(_cut(text, most + most // 2)).text.strip(), most)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    from memory_palace.core import cuts

    return cuts.ends(text, most)


def _parts(command: str) -> Iterator[list[str]]:
    """The words of each simple command, roughly: what is looked at is how they begin."""
    for joint in _JOINTS:
        command = command.replace(joint, "\n")
    return (words for line in command.split("\n") if (words := line.split(None, 3)[:3]))


def _reads(command: str) -> bool:
    """True if all that a shell command does is to look at things."""
    return all(
        words[0] in _LOOKING or " ".join(words[:2]) in _LOOKING_TWO for words in _parts(command)
    )


def _is_own(tool: str, command: str) -> bool:
    """True for memory's own tools and commands: what they gave is memory already."""
    if not command:
        return "palace" in tool.lower().replace("-", "_").split("_")
    return any(
        word.rpartition("/")[2] in ("palace", "palace.py")
        for words in _parts(command)
        for word in (words[:2] if words[0].rpartition("/")[2].startswith("python") else words[:1])
    )


def _call(tool: str, command: str, given: Mapping[str, Any]) -> str:
    if command:
        return f"$ {_redacted(_bare(command), _COMMAND)}"
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    shown = {*_PATHS, *_OLD, *_NEW, "edits"} if path or "edits" in given else set()
    rest = {key: value for key, value in given.items() if key not in shown}
    words = [path, *(_argument(key, value) for key, value in rest.items())]
    text = _redacted(_bare(" ".join(word for word in words if word)), _ARGUMENTS)
    return f"{tool} {text}".strip()


def _argument(key: str, value: object) -> str:
    if isinstance(value, str):
        return f"{key}={value}" if value else ""
    if value is None or isinstance(value, bool):
        return f"{key}={str(value).lower()}" if value else ""
    import json

    return f"{key}={json.dumps(value, ensure_ascii=False, default=str)}"


def _patch(given: Mapping[str, Any], command: str) -> str:
    for key in _PATCHES:
        value = given.get(key)
        if isinstance(value, str) and _PATCH in value and value != command:
            return _redacted(_bare(value, part=True), MOST_TOOL - MOST_READ)
    return ""


def _edits(given: Mapping[str, Any]) -> Iterator[str]:
    """The old and the new lines of each edit."""
    several = given.get("edits")
    found: Sequence[Any] = several if isinstance(several, list) else [given]
    if not any(isinstance(given.get(key), str) for key in _PATHS):
        return
    each = max(_EDIT // max(min(len(found), _MOST_EDITS), 1), 200)
    for one in found[:_MOST_EDITS]:
        if not isinstance(one, Mapping):
            continue
        for keys, sign in ((_OLD, "- "), (_NEW, "+ ")):
            text = next((one[key] for key in keys if isinstance(one.get(key), str)), "")
            text = _redacted(_bare(text, part=True), each)
            if text:
                yield "\n".join(sign + line for line in text.split("\n"))
    if len(found) > _MOST_EDITS:
        yield f"[… {len(found) - _MOST_EDITS} more edits …]"
