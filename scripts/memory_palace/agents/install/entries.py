"""Our entries in a client's JSON settings: its hooks, its MCP server."""

import contextlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memory_palace.agents.install import jsonedit
from memory_palace.agents.install.jsonstyle import Style, laid_out
from memory_palace.agents.install.jsontext import Commented, TextFault, line_of, value_of
from memory_palace.agents.install.toolkit import is_hook, is_server

Edited = tuple[str | None, tuple[str, ...]]
"""The text (None: no file), and what was done to it, in a few words each."""

Place = tuple[str, int, int]
"""Event, number of the group, number of the hook in the group."""


def hooked(
    text: str | None, client: str, command: Callable[[str], str], events: Mapping[str, int]
) -> Edited:
    """``text`` with one hook for each event (and the seconds that it may take). ``command`` gives
    what is run for one.

    Raises :class:`TextFault`.
    """
    wanted = {
        event: {"type": "command", "command": command(event), "timeout": seconds}
        for event, seconds in events.items()
    }
    whole = {"hooks": {event: [{"hooks": [hook]}] for event, hook in wanted.items()}}
    if text is None:
        return laid_out(whole, Style(), "") + "\n", (f"hooks for {', '.join(events)}",)
    added, renewed, spare = [], [], []
    kept = set()
    with _told(whole):
        known = [*_hooks(text, client)]
    for place, hook in reversed(known):
        event, group, number = place
        if event not in wanted or event in kept:
            spare.append(place)
        elif not wanted[event].items() <= hook.items():
            path = ("hooks", event, group, "hooks", number)
            text = jsonedit.put(text, path, {**hook, **wanted[event]})
            renewed.append(event)
        kept.add(event)
    for event, hook in wanted.items():
        if event not in kept:
            text = jsonedit.append(text, ("hooks", event), {"hooks": [hook]})
            added.append(event)
    for place in spare:
        text = _unhooked(text, place) or ""
    gone = [event for event, _, _ in reversed(spare)]
    done = (("hooks for", added), ("hooks renewed for", renewed[::-1]), ("hooks removed for", gone))
    return text, tuple(f"{what} {', '.join(names)}" for what, names in done if names)


def unhooked(text: str | None, client: str) -> Edited:
    """``text`` without our hooks. Raises :class:`TextFault`."""
    if text is None:
        return None, ()
    left: str | None = text
    events = []
    for place, _ in reversed([*_hooks(text, client)]):
        left = _unhooked(left, place) if left else left
        events.append(place[0])
    return left, (f"hooks for {', '.join(reversed(events))}",) if events else ()


def commands_in(text: str, client: str) -> list[list[str]]:
    """What each of our hooks runs, as words. Raises :class:`TextFault`."""
    return [shlex.split(hook["command"]) for _, hook in _hooks(text, client)]


def places(text: str, client: str) -> list[Place]:
    """Where our hooks stand. Raises :class:`TextFault`."""
    return [place for place, _ in _hooks(text, client)]


def served(
    text: str | None,
    keys: tuple[str, str],
    wanted: Mapping[str, Any],
    comments: bool = False,
) -> Edited:
    """``text`` with the MCP server ``wanted`` at ``keys``. What a person added to our entry stays.

    Raises :class:`TextFault`, also for a server of this name that is not ours.
    """
    whole = {keys[0]: {keys[1]: wanted}}
    if text is None:
        return laid_out(whole, Style(), "") + "\n", _server(keys)
    with _told(whole):
        node = jsonedit.find(text, keys, comments)
    if node is None:
        return jsonedit.put(text, keys, dict(wanted), comments), _server(keys)
    unclaimed(text, keys, comments)
    found = value_of(text, node)
    if wanted.items() <= found.items():
        return text, ()
    return jsonedit.put(text, keys, {**found, **wanted}, comments), (
        f"MCP server {'.'.join(keys)} renewed",
    )


def unclaimed(text: str | None, keys: tuple[str, str], comments: bool = False) -> Edited:
    """``text`` as it is. Raises :class:`TextFault` for a server at ``keys`` that is not ours."""
    node = None if text is None else jsonedit.find(text, keys, comments)
    if text is not None and node and not is_server(words_of(value_of(text, node))):
        message = f"{'.'.join(keys)} is another server: give it another name"
        raise TextFault(line_of(text, node.start), message)
    return text, ()


def unserved(text: str | None, keys: tuple[str, str], comments: bool = False) -> Edited:
    """``text`` without our MCP server. Raises :class:`TextFault`."""
    if text is None or not server_in(text, keys, comments):
        return text, ()
    return jsonedit.cut(text, keys, comments), _server(keys)


def server_in(text: str, keys: tuple[str, str], comments: bool = False) -> list[str]:
    """Program and arguments of our MCP server, empty without one. Raises :class:`TextFault`."""
    node = jsonedit.find(text, keys, comments)
    words = words_of(value_of(text, node)) if node else []
    return words if is_server(words) else []


def words_of(server: object) -> list[str]:
    """Program and arguments of an entry, in whichever form its client has them."""
    if not isinstance(server, dict):
        return []
    command, arguments = server.get("command"), server.get("args")
    words = [*(command if isinstance(command, list) else [command])]
    words += arguments if isinstance(arguments, list) else []
    return [word for word in words if isinstance(word, str)]


@contextlib.contextmanager
def _told(lines: Mapping[str, Any]) -> Iterator[None]:
    """Where comments are in the way, say what a person may add in our stead."""
    try:
        yield
    except Commented as fault:
        by_hand = json.dumps(lines, ensure_ascii=False)
        raise Commented(
            fault.line, f"{fault}, then run this again or add by hand {by_hand}"
        ) from None


def _server(keys: Sequence[str]) -> tuple[str, ...]:
    return (f"MCP server {'.'.join(keys)}",)


def _hooks(text: str, client: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Our hooks, in the order of the text. What has another form than a hook is not ours."""
    node = jsonedit.find(text, ("hooks",))
    events = value_of(text, node) if node else {}
    for event, groups in _entries(events, dict, dict.items):
        for number, group in _entries(groups, list, enumerate):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for inner, hook in _entries(hooks, list, enumerate):
                if isinstance(hook, dict) and is_hook(hook.get("command"), client):
                    yield (event, number, inner), hook


def _entries(box: Any, kind: type, each: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    yield from each(box) if isinstance(box, kind) else ()


def _unhooked(text: str, place: Place) -> str | None:
    """A group of hooks goes with its last one, whatever else a person wrote into it."""
    event, group, number = place
    path: jsonedit.Path = ("hooks", event, group)
    node = jsonedit.find(text, (*path, "hooks"))
    if node and len(node.members) > 1:
        path = (*path, "hooks", number)
    return jsonedit.cut(text, path)
