"""Memories of one line: remember, reinforce, pin, forget, edit."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_palace.core import contradiction, privacy, topics
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.memories import Memory
from memory_palace.core.topics import CATEGORIES, Entry
from memory_palace.memory import state as states
from memory_palace.memory import topic_file
from memory_palace.memory.pen import Pen

if TYPE_CHECKING:
    from memory_palace.memory.alike import Entries

DUPLICATE = 0.90
"""From this cosine on two entries of one category say the same."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did, in a word, to which memory, as it stands now, and why.

    ``against`` is the id of a memory that says nearly the same, and another value or the opposite.
    """

    what: str
    memory: Memory
    why: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What is to be remembered."""

    text: str
    category: str
    cue: str = "explicit"
    pin: bool = False
    source: str | None = None


def clean(text: str) -> str:
    """``text`` on one line, without private spans and secrets.

    Raises :class:`BadInput` if nothing is left, or a file cannot hold it.
    """
    kept = topics.one_line(privacy.redact(text).text)
    if not kept.replace("[PRIVATE]", "").strip():
        what = "all of it is private" if kept else "there is no text"
        raise BadInput(f"{what}: nothing was remembered; write what is to be kept")
    if "\0" in kept or any("\ud800" <= character <= "\udfff" for character in kept):
        raise BadInput("the text is not UTF-8, or has a NUL in it: write it as UTF-8")
    return kept


def _source(text: str | None) -> str | None:
    """``text`` on one line, without private spans and secrets; raises :class:`BadInput` if a log
    cannot hold it."""
    if text and any("\ud800" <= character <= "\udfff" for character in text):
        raise BadInput("the source is not UTF-8: write it as UTF-8")
    return topics.one_line(privacy.redact(text).text) if text else None


def _apart(a: str, b: str, cosine: float) -> str:
    """Why two texts that are near do not say the same; empty if they do."""
    found = contradiction.compare(a, b, cosine)
    return found.why if found and found.kind in ("polarity", "value") else ""


class Book:
    """The memories of one line, for one command that writes. ``now`` is how they stand.

    Each method raises :class:`Refused` for an unknown id and an archived memory,
    :class:`BadInput` for a text that is no entry, :class:`Changed` if a topic file moved on.
    """

    def __init__(self, pen: Pen) -> None:
        self.pen = pen
        self.now = states.load(pen.root, pen.now)
        self._counted = len(pen.logged)

    def remember(self, said: Said, vectors: "Entries") -> Done:
        """Reinforce the memory of the same category that says the same, or append a line.

        The same is an equal text, or a cosine of at least 0.90, unless one denies what the other
        says or names another value: a model hardly tells "15 minutes" from "60 minutes". Raises
        :class:`Refused` if the topic is full.
        """
        text = clean(said.text)
        _source(said.source)  # a bad one is refused before anything is written
        entry = Entry(CATEGORIES[said.category].path, 1, said.category, text, pinned=said.pin)
        if not topics.reads_back(entry):
            raise BadInput("the text begins or ends like a mark of an entry: put it otherwise")
        same = [memory for memory in self.now.memories if memory.category == said.category]
        for memory in same:
            if topics.normal(memory.text) == topics.normal(text):
                return self._again(memory, said, "the same text")
        live = [memory for memory in same if not memory.archived]
        near = vectors.nearest(text, [memory.text for memory in live])
        against = ""
        for place, cosine in near:
            if cosine < DUPLICATE:
                break
            apart = _apart(text, live[place].text, cosine)
            if not apart:
                return self._again(live[place], said, f'cosine {cosine:.2f} with "{text}"')
            against = against or f"^{live[place].id} is as near as {cosine:.2f}, but {apart}"
        if against:
            why = against
        elif near:
            why = f"the nearest is ^{live[near[0][0]].id} at {near[0][1]:.2f}"
        else:
            why = "no entry of its category has this text" if live else "the first of its category"
        done = self._append(entry, said, why)
        return replace(done, against=live[near[0][0]].id if against else "")

    def reinforce(self, name: str, cue: str = "recurrence", source: str | None = None) -> Done:
        """One more piece of evidence, and a decay that starts anew."""
        memory, told = self._live(name), _source(source)
        self._write(memory)
        self.pen.log("reinforced", memory.id, cue=cue, source=told)
        return self._done("reinforced", memory.id)

    def pin(self, name: str) -> Done:
        """Mark the line as pinned: it never decays. Done twice is done once."""
        return self._mark(name, True)

    def unpin(self, name: str) -> Done:
        """Take the mark off; the memory decays since its last reinforcement."""
        return self._mark(name, False)

    def forget(self, name: str) -> Done:
        """Strength 0 from now on; the line stays until it is archived.

        Refused for a pinned memory, and one that a rule stands on.
        """
        memory = self._live(name)
        if memory.pinned:
            raise Refused(f"^{memory.id} is pinned: run `palace unpin {memory.id}` first")
        if memory.enforced:
            raise Refused(f"^{memory.id} is enforced by a rule: archive the rule first")
        if memory.forgotten:
            return Done("forgotten already", memory)
        self._write(memory)
        self.pen.log("forgotten", memory.id)
        return self._done("forgotten", memory.id, "`palace archive` moves its line to the archive")

    def edit(self, name: str, text: str) -> Done:
        """Give the memory another text; its id and evidence stay.

        Refused if another memory says that already, or the topic is full.
        """
        memory = self._live(name)
        text = clean(text)
        if text == memory.text:
            return Done("edited already", memory)
        if not topics.reads_back(Entry(memory.path, 1, memory.category, text)):
            raise BadInput("the text ends like a mark of an entry: put it otherwise")
        for other in self.now.live:
            same = topics.normal(other.text) == topics.normal(text)
            if same and other.category == memory.category and other.id != memory.id:
                raise Refused(
                    f"^{other.id} ({other.path}:{other.line}) says that already: reinforce it, and "
                    f"forget {memory.id}"
                )
        self._write(memory, text=text)
        self.pen.log("edited", memory.id, text=text, before=memory.text)
        return self._done("edited", memory.id)

    def _again(self, memory: Memory, said: Said, why: str) -> Done:
        if memory.archived:
            from memory_palace.memory import restore

            restore.restore(self.pen, memory.id)
            self.now = states.load(self.pen.root, self.pen.now)
            self._counted = len(self.pen.logged)
            done = self.pin(memory.id) if said.pin and not memory.pinned else None
            found = done.memory if done else self.now.find(memory.id)
            return Done("restored", found, f"{why}; it was in the archive")
        if said.pin and not memory.pinned:
            self.pin(memory.id)
        return replace(self.reinforce(memory.id, said.cue, said.source), why=why)

    def _append(self, entry: Entry, said: Said, why: str) -> Done:
        salt = 0
        while (block := topics.entry_id(entry.category, entry.text, salt)) in self.now.entries:
            salt += 1
        entry = replace(entry, block=block)
        text = topic_file.rewrite(
            self.pen,
            self.now,
            entry.path,
            {},
            added=topics.render(entry),
            check=lambda _, after: topic_file.check_room(self.now, entry.path, after),
        )
        self.pen.log(
            "remembered",
            block,
            category=entry.category,
            text=entry.text,
            cue=said.cue,
            path=entry.path,
            source=_source(said.source),
        )
        if said.pin:
            self.pen.log("pinned", block)
        return self._done("remembered", block, why, {entry.path: text})

    def _mark(self, name: str, pinned: bool) -> Done:
        memory = self._live(name)
        word = "pinned" if pinned else "unpinned"
        if memory.pinned == pinned:
            return Done(f"{word} already", memory)
        self._write(memory, pinned=pinned)
        self.pen.log(word, memory.id)
        return self._done(word, memory.id)

    def _live(self, name: str) -> Memory:
        memory = self.now.find(name)
        if memory.archived:
            raise Refused(f"^{memory.id} is archived: run `palace restore {memory.id}` first")
        return memory

    def _write(self, memory: Memory, **changes: object) -> None:
        """Write the memory's line with its id and with ``changes``."""
        entry = self.now.entries[memory.id]
        new = replace(entry, block=memory.id, **changes)  # type: ignore[arg-type]
        if not topics.reads_back(new):
            raise BadInput("the text ends like a mark of an entry: put it otherwise")

        def check(before: str, after: str) -> None:
            if len(after) > len(before):
                topic_file.check_room(self.now, memory.path, after)

        changed = {entry: new} if new != entry else {}
        text = topic_file.rewrite(self.pen, self.now, memory.path, changes=changed, check=check)
        self._renew({memory.path: text})

    def _renew(self, texts: dict[str, str]) -> None:
        logged = self.pen.logged[self._counted :]
        self._counted += len(logged)
        self.now = states.renewed(self.pen.root, self.now, texts, logged, self.pen.now)

    def _done(
        self, what: str, key: str, why: str = "", texts: dict[str, str] | None = None
    ) -> Done:
        self._renew(texts or {})
        return Done(what, self.now.find(key), why)
