"""How much of what questions need is left when a session is folded?

    python3 bench/ledger.py [LOCOMO] [--session NAME]

The sessions of `tests/fixtures/sessions`, and, if a file of the LoCoMo form is named, its
conversations, one entry a turn: observed by the rules in parts of 10,000 tokens, folded, and cut to
a share of the tokens of all entries. Beside it, with the same number of tokens: the newest entries
whole (truncation), and random entries (the mean of five draws). Markdown tables, in percent:

- recall: of the entries that answer a question, those that a line cites. Mean over questions.
- words: of the words of an answer that stand in those entries (without stop words, stemmed), those
  that stand anywhere in what is left.
- said: those that stand in a line that cites one of those entries: nothing is cited without being
  said, and no word counts that happens to stand elsewhere.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

from memory_palace.core import captured, dates, folded_lines, observer, tool_calls  # noqa: E402
from memory_palace.core import fold as folding  # noqa: E402
from memory_palace.core.ledger import TOKEN, Entry, Ledger, Observation, tokens  # noqa: E402
from memory_palace.core.ledger_due import OBSERVE_TOKENS  # noqa: E402
from memory_palace.core.salience import terms  # noqa: E402
from memory_palace.core.text import short_id  # noqa: E402

SESSIONS = REPOSITORY / "tests/fixtures/sessions"
SHARES = (10, 20, 40)
DRAWS = 5
_SESSION = re.compile(r"session_(\d+)\Z")
_LINE_ID = re.compile(r"\[([0-9a-f]{12})\] ")


class Question(NamedTuple):
    """The entries that answer it, and the words of its answer that stand in them."""

    entries: frozenset[str]
    words: frozenset[str]


class Session(NamedTuple):
    """A session's entries, oldest first, and what is asked of it."""

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Question, ...]

    @property
    def tokens(self) -> int:
        """Of all entries."""
        return sum(one.tokens for one in self.entries)


class Line(NamedTuple):
    """What is left of a session: a text, and the entries that it cites."""

    text: str
    sources: tuple[str, ...]


class Figures(NamedTuple):
    """0 to 1, means over questions; see above."""

    recall: float
    words: float
    said: float


def question(entries: Iterable[str], answer: str, texts: dict[str, str]) -> Question:
    there = frozenset(one for one in entries if one in texts)
    said = set(terms(" ".join(texts[one] for one in there)))
    return Question(there, frozenset(set(terms(answer)) & said))


def session(path: Path) -> Session:
    """A session of ours."""
    data = json.loads(path.read_text("utf-8"))
    made: list[Entry] = []
    for one in data["entries"]:
        text = one.get("text", "")
        if one["role"] == "tool":
            command = tool_calls.command(tool_calls.CLAUDE_CODE, one["tool"], one["given"])
            failed = one.get("failed", False)
            text = captured.of_tool(one["tool"], command, one["given"], one["output"], failed)
        at = dates.parse(one["at"])
        assert at is not None
        made.append(
            Entry(
                one["id"],
                made[-1].id if made else "",
                one["role"],
                text,
                at,
                one.get("tool", ""),
                tuple(one.get("files", ())),
                one.get("failed", False),
            )
        )
    texts = {one.id: one.text for one in made}
    asked = [question(one["entries"], one["answer"], texts) for one in data["questions"]]
    return Session(path.stem, tuple(made), tuple(asked))


def talks(path: Path) -> Iterator[Session]:
    """The conversations of a file of the LoCoMo form."""
    for talk in json.loads(path.read_text("utf-8")):
        made: list[Entry] = []
        by_turn: dict[str, str] = {}
        conversation = talk["conversation"]
        for key in sorted(filter(_SESSION.match, conversation), key=lambda k: int(k[8:])):
            start = _moment(conversation.get(f"{key}_date_time", ""))
            for n, turn in enumerate(conversation[key]):
                made.append(_turn(turn, conversation, made, start + timedelta(minutes=n)))
                by_turn[turn["dia_id"]] = made[-1].id
        texts = {one.id: one.text for one in made}
        asked = [
            question(
                (by_turn[turn] for turn in one["evidence"] if turn in by_turn),
                str(one.get("answer", "")),
                texts,
            )
            for one in talk["qa"]
        ]
        yield Session(talk["sample_id"], tuple(made), tuple(asked))


def _turn(turn: dict[str, Any], talk: dict[str, Any], made: Sequence[Entry], at: datetime) -> Entry:
    text = f"{turn['speaker']}: {turn['text']}"
    if turn.get("blip_caption"):
        text += f" [image: {turn['blip_caption']}]"
    role = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
    parent = made[-1].id if made else ""
    return Entry(short_id(turn["dia_id"], text), parent, role, text, at)


def _moment(said: str) -> datetime:
    return datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def observed(entries: Sequence[Entry]) -> list[Observation]:
    """What the rules see in parts of 10,000 tokens, the rest as at the end of a session."""
    found: dict[str, Observation] = {}
    part: list[Entry] = []
    for n, entry in enumerate(entries, start=1):
        part.append(entry)
        if n == len(entries) or sum(one.tokens for one in part) >= OBSERVE_TOKENS:
            for one in observer.observe(part):
                found.setdefault(one.id, one)
            part = []
    return list(found.values())


def folded(of: Session) -> folding.Fold:
    there = {one.id: one for one in of.entries}
    return folding.fold(Ledger(there, tuple(observed(of.entries))), of.entries)


def cut(fold: folding.Fold, budget: int) -> list[Line]:
    """The lines of a fold that fit."""
    text = folded_lines.fitted(fold, budget)
    assert tokens(text) <= budget, (tokens(text), budget)
    by_id = {one.id: one for one in fold.observations}
    found = ((line, _LINE_ID.match(line)) for line in text.split("\n"))
    return [Line(line, by_id[m[1]].sources) for line, m in found if m and m[1] in by_id]


def whole(entries: Iterable[Entry], budget: int) -> list[Line]:
    """Entries as they are until the next does not fit."""
    left = budget * TOKEN
    found = []
    for one in entries:
        left -= len(one.text) + 1
        if left < 0:
            break
        found.append(Line(one.text, (one.id,)))
    return found


def figures(lines: Sequence[Line], questions: Sequence[Question]) -> Figures:
    by_entry: dict[str, set[str]] = {}
    anywhere: set[str] = set()
    for line in lines:
        words = set(terms(line.text))
        anywhere |= words
        for one in line.sources:
            by_entry.setdefault(one, set()).update(words)
    cited, there, said = [], [], []
    for one in questions:
        if one.entries:
            cited.append(len(one.entries & by_entry.keys()) / len(one.entries))
        if one.words:
            beside: set[str] = set().union(*(by_entry.get(entry, ()) for entry in one.entries))
            there.append(len(one.words & anywhere) / len(one.words))
            said.append(len(one.words & beside) / len(one.words))
    return Figures(_mean(cited), _mean(there), _mean(said))


def measured(of: Session, share: int) -> dict[str, Figures]:
    budget = of.tokens * share // 100
    found = {"folded": figures(cut(folded(of), budget), of.questions)}
    found["truncated"] = figures(whole(reversed(of.entries), budget), of.questions)
    drawn = []
    for seed in range(DRAWS):
        entries = list(of.entries)
        random.Random(seed).shuffle(entries)
        drawn.append(figures(whole(entries, budget), of.questions))
    found["random"] = Figures(*map(_mean, zip(*drawn, strict=True)))
    return found


def _mean(values: Iterable[float]) -> float:
    all_of_them = list(values)
    return sum(all_of_them) / len(all_of_them) if all_of_them else 0.0


def table(name: str, sessions: Sequence[Session]) -> None:
    asked = [len(one.questions) for one in sessions]
    print(f"\n{name}: {sum(asked)} questions, {sum(one.tokens for one in sessions):,} tokens\n")
    print("| of the tokens | | recall | words | said |")
    print("| --- | --- | --- | --- | --- |")
    for share in SHARES:
        by_session = [measured(one, share) for one in sessions]
        for how in ("folded", "truncated", "random"):
            # Each question counts once, whichever session it is of.
            of = [
                sum(getattr(one[how], key) * n for one, n in zip(by_session, asked, strict=True))
                / sum(asked)
                for key in Figures._fields
            ]
            print(f"| {share} % | {how} | " + " | ".join(f"{100 * one:.1f}" for one in of) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locomo", nargs="?", type=Path)
    parser.add_argument("--show", metavar="NAME", help="the fold of a session, cut to --share")
    parser.add_argument("--share", type=int, default=20)
    given = parser.parse_args()
    ours = [session(path) for path in sorted(SESSIONS.glob("*.json"))]
    theirs = list(talks(given.locomo)) if given.locomo else []
    if given.show:
        for one in (*ours, *theirs):
            if one.name == given.show:
                print(folded_lines.fitted(folded(one), one.tokens * given.share // 100))
        return
    table("Coding sessions of ours", ours)
    if theirs:
        table("LoCoMo, development half", theirs)


if __name__ == "__main__":
    main()
