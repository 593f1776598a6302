"""What clients put around and into what a person wrote: tags with all that is inside, placeholders.

Apart from :mod:`core.prompts`, since capture needs only this and hooks live for milliseconds.
"""

import re

TAGS = frozenset(
    """system-reminder task-notification teammate-message autonomous-loop autonomous-loop-dynamic
    local-command-stdout local-command-stderr local-command-caveat bash-input bash-stdout
    bash-stderr command-name command-message user-prompt-submit-hook new-diagnostics
    fork-boilerplate persisted-output interrupted-output user-memory-input skill-base-dir
    ide_opened_file ide_selection ide_diagnostics environment_context user_instructions
    user_shell_command subagent_notification turn_aborted hook_prompt tools-used-before-summary
    skill INSTRUCTIONS""".split()
)
"""The tags of clients around what no person wrote, with all that is inside."""

_TAG = r"<([A-Za-z_-]{5,30})(?:\s[^<>]{0,300})?>"

MACHINE_SOURCES = frozenset(
    """auto auto-continuation autonomous background channel coordinator cron hook loop machine
    notification schedule scheduled system task task-notification teammate""".split()
)
"""What clients call a prompt that no person wrote. Any other word is taken for a person's."""

_MACHINE = (
    "<task-notification",
    "<teammate-message",
    "<autonomous-loop",
    "<local-command-",
    "<bash-std",
    "<subagent_notification",
    "<turn_aborted",
)
_PLACEHOLDERS = ("[Image", "[Pasted text", "[Request interrupted", "[...Truncated")


def is_machine_made(text: str, source: str = "") -> bool:
    """True if no person wrote the prompt: its ``source`` says so, or its first words do."""
    if source.lower().replace("_", "-") in MACHINE_SOURCES:
        return True
    return text[:300].lstrip().startswith(_MACHINE)


def without_placeholders(text: str) -> str:
    """``text`` without what stands for an image, or for a text that was cut."""
    if not any(word in text for word in _PLACEHOLDERS):
        return text
    return re.sub(
        r"\[(?:Image|Pasted text|Request interrupted|\.\.\.Truncated)[^\[\]\n]{0,80}\]", " ", text
    )


def outside(text: str) -> str:
    """``text`` without what stands in tags of clients; the time is linear, whatever is open."""
    if "<" not in text:
        return text
    kept: list[str] = []
    at = 0
    open_only: set[str] = set()
    for found in re.finditer(_TAG, text):
        name = found[1]
        if name not in TAGS or found.start() < at or name in open_only:
            continue
        end = text.find(f"</{name}>", found.end())
        if end < 0:
            open_only.add(name)
            continue
        kept.append(text[at : found.start()])
        at = end + len(name) + 3
    return " ".join([*kept, text[at:]])
