"""What a session is told of rules: facts, one paragraph each. What a note says is quoted."""

from collections.abc import Sequence

from memory_palace.core import fence, private_spans
from memory_palace.core.rules import Fault, Rule

BLOCKED = "Blocked before it ran, by the rule"
"""How the reason of a blocked tool call begins, wherever a client puts it."""

MOST_REASON = 600
MOST_SHOWN = 200
MOST_LISTED = 10


def _plain(text: str) -> str:
    """``text`` on one line: a file's name may have line breaks."""
    if text.isprintable():
        return text
    from memory_palace.core.problems import printable

    return printable(text)


def _cut(text: str, most: int = MOST_SHOWN) -> str:
    text = _plain(" ".join(private_spans.hidden(text).split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def _why(rule: Rule) -> str:
    # A quotation mark of its own would end the quotation, and what follows it would be ours.
    said = _cut(rule.reason.replace('"', "'"), MOST_REASON)
    return f' It says: "{said}"' if said else ""


def _named(rule: Rule) -> tuple[str, str, str]:
    """Its link, its trigger and its place, none of which can end the quotation they stand in."""
    return _plain(rule.link), _cut(rule.trigger.replace("`", "'")), _plain(rule.where)


def digest(rule: Rule) -> str:
    """Of what the rule says: another text is another warning."""
    from memory_palace.core.text import short_id

    return short_id(rule.trigger, rule.action, rule.reason)


def fenced(text: str) -> str:
    """As data."""
    return fence.fenced(text, "rule")


def denied(rule: Rule) -> str:
    """Why a tool call is blocked, and what can be done."""
    link, trigger, where = _named(rule)
    return (
        f"{BLOCKED} {link} of this palace (`{trigger}`, {where})."
        f"{_why(rule)} Do it in a way that the rule allows, or ask the user, who can change that "
        "note."
    )


def warned(rule: Rule, file: str = "") -> str:
    """That a call is what a rule warns of."""
    about = f"changes to `{_cut(file)}`" if file else "this call"
    link, trigger, _ = _named(rule)
    return f"The rule {link} warns of {about} (`{trigger}`).{_why(rule)}"


def ran(rule: Rule, command: str, code: int | None, output: str) -> str:
    """What came of a command that follows a tool call."""
    how = "was given up" if code is None else f"ended with {code}"
    shown = f":\n{output}" if output else ", without output"
    return f"After it ran `{_cut(command)}`, as {_plain(rule.link)} wants; it {how}{shown}"


def not_ended(rule: Rule, command: str) -> str:
    """A fault: a command did not end."""
    where = _plain(rule.where)
    return f"{where}: `{_cut(command)}` did not end by itself: run it yourself to see why"


def not_allowed(rule: Rule, command: str) -> str:
    """That a command is not run."""
    return (
        f"{_plain(rule.where)} wants `{_cut(command)}` to run afterwards, and the user's own "
        "configuration does not allow it: nothing ran; the user alone decides whether that text "
        "belongs into `rules: {run_after: [...]}` of their config.yaml"
    )


def retried(broken: Sequence[tuple[Rule, str]]) -> str:
    """Why the turn is not over."""
    lines = []
    for rule, command in broken[:MOST_LISTED]:
        tool, _ = rule.demand
        lines.append(
            f"- `{_cut(command)}` ran, and {tool} had not been called before it in this turn "
            f"({_plain(rule.link)}).{_why(rule)}"
        )
    if len(broken) > MOST_LISTED:
        lines.append(f"- {len(broken) - MOST_LISTED} more")
    head = "This turn did not keep what this palace's rules ask for:"
    foot = "Make up for it now, or say why it does not apply; this is asked once a turn."
    return "\n".join([head, *lines, foot])


def given_up(rule: Rule) -> str:
    """A fault: a regular expression took too long."""
    return (
        f"{_plain(rule.where)}: its regular expression took too long and was given up: "
        "write it without repetition inside repetition"
    )


def faulty(fault: Fault) -> str:
    """A fault of a rule's file."""
    path = _plain(fault.path)
    place = f"{path}:{fault.line}" if fault.line else path
    return f"{place}: {fault.message}"
