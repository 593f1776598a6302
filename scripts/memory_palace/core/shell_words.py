"""What a simple command runs besides itself: what stands behind ``sudo``, in ``bash -c``."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash"})
MOST_LEVELS = 16
"""Commands before a command (``sudo env nice …``) that are looked behind; no further."""


class Wrapper(NamedTuple):
    """A command that runs its arguments: its options with a value (letters and long names), how
    many words stand before the command, and letters with which nothing is run."""

    letters: str = ""
    long: tuple[str, ...] = ()
    before: int = 0
    asks: str = ""


WRAPPERS = {
    "env": Wrapper("uCS", ("unset", "chdir", "split-string", "argv0")),
    "sudo": Wrapper(
        "ugpCrtTUhDR",
        (
            *("user", "group", "prompt", "close-from", "role", "type", "host", "chdir", "chroot"),
            *("command-timeout", "other-user"),
        ),
    ),
    "doas": Wrapper("uC"),
    "nohup": Wrapper(),
    "time": Wrapper("fo", ("format", "output")),
    "xargs": Wrapper(
        "nPILsEdaJRS",
        (
            *("max-args", "max-procs", "max-chars", "delimiter", "arg-file"),
            "process-slot-var",
        ),
    ),
    "command": Wrapper(asks="vV"),
    "nice": Wrapper("n", ("adjustment",)),
    "ionice": Wrapper("cnpPu", ("class", "classdata")),
    "timeout": Wrapper("sk", ("signal", "kill-after"), before=1),
    "stdbuf": Wrapper("ioe", ("input", "output", "error")),
    "setsid": Wrapper(),
    "exec": Wrapper("a"),
    "builtin": Wrapper(),
    "coproc": Wrapper(),
    "busybox": Wrapper(),
    "!": Wrapper(),
}
_ASSIGNING = frozenset({"env", "sudo", "doas"})
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SHELL_OPTIONS = frozenset({"--rcfile", "--init-file"})


def base(word: str) -> str:
    """A command's name without its folder: ``/usr/bin/git`` is ``git``."""
    return word.rsplit("/", 1)[-1]


def levels(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """``words`` of a simple command, then those of each command that it runs by its arguments."""
    found = [tuple(words)]
    for _ in range(MOST_LEVELS):
        current = found.pop(0) if found else ()
        if not current:
            return
        yield current
        name = base(current[0])
        if name in WRAPPERS:
            found.append(_behind(name, current[1:]))
        elif name == "find":
            found += _found_by_find(current)
        found = [one for one in found if one]


def _behind(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The command in the arguments of a wrapper; empty if there is none."""
    wrapper = WRAPPERS[name]
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word.startswith("--"):
            option, equals, _ = word[2:].partition("=")
            at += 2 if option in wrapper.long and not equals else 1
        elif word.startswith("-") and len(word) > 1:
            if any(letter in wrapper.asks for letter in word[1:]):
                return ()
            valued = next((n for n, c in enumerate(word[1:], 1) if c in wrapper.letters), 0)
            at += 2 if valued == len(word) - 1 else 1
        elif word in ("!", "-") or (name in _ASSIGNING and "=" in word):
            at += 1
        else:
            break
    while at < len(words) and name in _ASSIGNING and "=" in words[at]:
        at += 1
    return words[at + wrapper.before :]


def _found_by_find(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    starts = [at + 1 for at, word in enumerate(words) if word in _FIND_RUNS]
    del starts[MOST_LEVELS:]
    found = []
    for start in starts:
        rest = words[start:]
        end = next((at for at, word in enumerate(rest) if word in (";", "+")), len(rest))
        found.append(rest[:end])
    return found


def scripts(words: Sequence[str]) -> list[str]:
    """The texts among the arguments that are run as shell: of ``bash -c``, ``eval``, ``env -S``."""
    if not words:
        return []
    name = base(words[0])
    if name == "eval":
        return [" ".join(words[2:] if "--" in words[1:2] else words[1:])]
    if name == "env":
        return _split_strings(words)
    return _of_shell(words[1:]) if name in SHELLS else []


def _split_strings(words: Sequence[str]) -> list[str]:
    for at, word in enumerate(words[1:], 1):
        option, _, value = word.partition("=")
        if word.startswith("-") and not word.startswith("--") and "S" in word:
            value = word.partition("S")[2]
        elif option != "--split-string":
            continue
        return [" ".join([value, *words[at + 1 :]])]
    return []


def _of_shell(words: Sequence[str]) -> list[str]:
    told, at = False, 0
    while at < len(words):
        word = words[at]
        if word == "--" or not word.startswith(("-", "+")) or len(word) < 2:
            break
        letters = not word.startswith("--")
        told = told or (letters and word[0] == "-" and "c" in word)
        valued = word in _SHELL_OPTIONS or (letters and ("o" in word or "O" in word))
        at += 2 if valued else 1
    if told and at < len(words) and words[at] == "--":
        at += 1
    return [words[at]] if told and at < len(words) else []
