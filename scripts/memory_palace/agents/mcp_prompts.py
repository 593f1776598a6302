"""Prompts that a person picks: what the palace knows of a topic, and the end of a session."""

from memory_palace.core.topics import CATEGORIES

RECALL = """\
Answer from what the palace knows about: {topic}

{found}

Name the notes that you use by their paths. `read` gives a whole note, `search` finds more; say so \
if the notes do not answer it."""

NOTHING = "The palace has nothing on it."

END = """\
This session is about to end. Write down what a later session should know, and nothing that the \
palace has already (`search` tells):

1. `remember` single lines that hold beyond today, each true by itself: category {categories}.
2. `write` a note where a line is too short: what was done, why, what is open, in \
palace/project_rooms/PROJECT/. Change a note that is there rather than making another: `read` it \
and pass its digest.
3. No secrets, no guesses, nothing about this request.

Then say in one line what was kept, or that there was nothing to keep.{focus}"""


def recall(topic: str, found: str) -> str:
    """The message that asks what is known of ``topic``, with what a search ``found``."""
    return RECALL.format(topic=" ".join(topic.split()), found=found or NOTHING)


def end_of_session(focus: str = "") -> str:
    """The message at the end of a session; ``focus`` is what to look at above all."""
    line = f"\n\nAbove all: {' '.join(focus.split())}" if focus.strip() else ""
    return END.format(categories=", ".join(CATEGORIES), focus=line)
