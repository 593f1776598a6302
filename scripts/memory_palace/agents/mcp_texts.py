"""What an agent reads of hits, errors and remarks."""

from memory_palace.core import dates
from memory_palace.core.fence import harmless
from memory_palace.core.problems import printable
from memory_palace.core.text import split_lines
from memory_palace.search.hits import Hit

MOST_OF_A_HIT = 800
"""Characters of a hit's text that are shown; `read` shows the rest."""

MOST_OF_A_LINE = 1_000
"""Characters of an error or a remark: they may name what a client sent, of any length."""

OBSERVATION = "observation"
"""The type of what a session showed: its id leads to its sources, so it is shown."""

_TOOLS = {
    "`palace query`": "`search`",
    "`palace mem search`": "`mem_search`",
    "`palace context --budget N`": "`context` with a larger `budget`",
    "`palace observe --pending`": "`observe` without arguments",
    '`palace diary write "…"`': "`diary_write`",
    "`palace topics` lists them": "`search` finds them",
    "`palace kg query`": "`kg_query`",
    "`palace kg invalidate ": "`kg_invalidate ",
    "`palace kg add": "`kg_add",
    "use --from": "use `valid_from`",
    "later --ended": "later `ended`",
    "earlier --ended": "earlier `ended`",
    "`palace kg entities` lists the names": "`kg_timeline` shows all facts of a name",
    "with --room": "with `rooms`",
    "--archived": "`archived`",
    "without --section": "without `section`",
}
"""What the command line calls what a client has as a tool or a parameter."""


def told(line: str) -> str:
    """An error or a remark as one bounded line, in the words of the tools."""
    line = harmless(printable(in_tools(line)))
    if len(line) > MOST_OF_A_LINE:  # what to do is at the end
        line = f"{line[: MOST_OF_A_LINE - 300]} … {line[-297:]}"
    return line


def in_tools(text: str) -> str:
    """``text`` with tools in place of commands."""
    for command, tool in _TOOLS.items():
        text = text.replace(command, tool)
    return text


def hits(found: list[Hit]) -> str:
    """Each hit: where it stands, what it is, what it says, what it links to."""
    return "\n\n".join(_hit(number, one) for number, one in enumerate(found, start=1))


def heading(hit: Hit) -> str:
    """The path of headings, or the note's title."""
    return " > ".join(hit.heading) or hit.title


def _hit(number: int, hit: Hit) -> str:
    facts = [hit.type, hit.priority, dates.local_day(hit.date) if hit.date else None]
    facts += [f"#{hit.id}"] if hit.type == OBSERVATION else []
    facts += ["archived"] if hit.archived else []
    facts += ["superseded"] if hit.parts.superseded else []
    listed = ", ".join(printable(fact) for fact in facts if fact)
    lines = [
        f"{number}. {printable(hit.path)}:{hit.start}-{hit.end}  {printable(heading(hit))}  "
        f"({listed})  {hit.score:.3f}",
        *_body(hit),
    ]
    lines += [f"   = {printable(same.path)}:{same.start}-{same.end}" for same in hit.same]
    lines += [f"   -> {printable(near.path)}  {printable(near.title)}" for near in hit.neighbors]
    return "\n".join(lines)


def _body(hit: Hit) -> list[str]:
    text = hit.text.strip("\n")
    if len(text) > MOST_OF_A_HIT and hit.best:
        start, end = (line - hit.start for line in hit.best)
        text = "\n".join(split_lines(hit.text)[start : end + 1])
    if len(text) > MOST_OF_A_HIT:
        text = text[:MOST_OF_A_HIT].rsplit(" ", 1)[0] + " …"
    return [f"   {line}".rstrip() for line in split_lines(text)]
