"""Transcripts: what a person types at a palace, and what comes back, as plain text files.

``tests/transcripts/README.md`` has the format.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from support.palaces import OLD_NS, REPOSITORY, command

FOLDER = REPOSITORY / "tests" / "transcripts"
ANY = "<*>"
ROOT = "<root>"
_SETTING = re.compile(r"# (embedder): (\S+)")
_VARIES = (
    (re.compile(r"\d+\.\d+ s\b"), f"{ANY} s"),
    (re.compile(r"\(\d+/s\)"), f"({ANY}/s)"),
    (re.compile(r"(?<=\)  )\d\.\d{3}$", re.MULTILINE), ANY),
    (re.compile(r"^(#[0-9a-f]{12}) \d\.\d{3} ", re.MULTILINE), rf"\1 {ANY} "),
    (re.compile(r"(?<=manifest_v1\.)\d+(?=\.jsonl)"), ANY),
    (re.compile(r"(?<=ok    toolkit:).*|(?<=ok    packages:).*"), ANY),
    (re.compile(r"(?<=weights ).*/model.onnx|^/.*/model.onnx$", re.MULTILINE), ANY),
    (re.compile(r"\bprocess \d+, since [\d:]+"), f"process {ANY}, since {ANY}"),
)


@dataclass(slots=True)
class Step:
    """A block that makes a file, a command with its output, or lines of comment."""

    head: list[str]
    command: str | None = None
    path: str | None = None
    body: list[str] = field(default_factory=list)


def parse(text: str) -> tuple[dict[str, str], list[Step]]:
    """The settings (``# embedder: …``) and the steps of a transcript."""
    settings: dict[str, str] = {}
    steps: list[Step] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("=== "):
            step = Step([line], path=line[4:])
            for inner in lines:
                if inner == "===":
                    break
                step.body.append(inner)
            steps.append(step)
        elif line.startswith("$ "):
            steps.append(Step([line], command=line[2:]))
        elif steps and steps[-1].command is not None and line:
            steps[-1].body.append(line)
        else:
            found = _SETTING.match(line)
            if found:
                settings[found.group(1)] = found.group(2)
            steps.append(Step([line]))
    return settings, steps


def replay(steps: list[Step], root: Path) -> str:
    """Do every step in ``root``; the transcript as it came out, with the expected line wherever
    the real one matches it."""
    out: list[str] = []
    for number, step in enumerate(steps):
        out += step.head
        if step.path is not None:
            _write(root, step.path, step.body, number)
            out += [*step.body, "==="]
        elif step.command is not None:
            out += keep(step.body, run(step.command, root))
    return "".join(line + "\n" for line in out)


def run(line: str, root: Path) -> list[str]:
    """The lines that a command gives: stdout, stderr after ``! ``, ``[code]`` unless 0."""
    words = shlex.split(line)
    stdin = ""
    if "<" in words:
        at = words.index("<")
        stdin = (root / words[at + 1]).read_text()
        del words[at : at + 2]
    if words[0] == "palace":
        # In `palace init`, and where --root is given, nothing else may name the root.
        named = "init" in words[1:2] or any(w.startswith("--root") for w in words)
        done = command(*words[1:], root=None if named else root, stdin=stdin)
        code, printed, said = done.code, done.out, done.err
    else:
        ran = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, check=False)
        code, printed, said = ran.returncode, ran.stdout.decode(), ran.stderr.decode()
    lines = printed.splitlines() + [f"! {s}".rstrip() for s in said.splitlines()]
    lines += [f"[{code}]"] if code else []
    return [one.replace(str(root), ROOT) for one in lines if one.strip()]


def keep(expected: list[str], real: list[str]) -> list[str]:
    """``real``, where each line that an expected one matches (in order) is written like that."""
    best = [[0] * (len(real) + 1) for _ in range(len(expected) + 1)]
    for e in reversed(range(len(expected))):
        for r in reversed(range(len(real))):
            together = 1 + best[e + 1][r + 1] if matches(expected[e], real[r]) else 0
            best[e][r] = max(together, best[e + 1][r], best[e][r + 1])
    e = r = 0
    kept = []
    while r < len(real):
        if e < len(expected) and best[e][r] == best[e + 1][r]:
            e += 1
        elif e < len(expected) and best[e][r] != best[e][r + 1]:
            kept.append(expected[e])
            e, r = e + 1, r + 1
        else:
            kept.append(real[r])
            r += 1
    return kept


def matches(expected: str, real: str) -> bool:
    """True if the lines are equal, :data:`ANY` standing for any text."""
    pattern = ".*".join(re.escape(part) for part in expected.split(ANY))
    return re.fullmatch(pattern, real) is not None


def settle(text: str) -> str:
    """A transcript to be kept: scores, durations and places, which vary, are left open."""
    for pattern, replacement in _VARIES:
        text = pattern.sub(replacement, text)
    return text


def _write(root: Path, path: str, body: list[str], number: int) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(line + "\n" for line in body))
    moment = OLD_NS + number * 1_000_000_000
    os.utime(place, ns=(moment, moment))
