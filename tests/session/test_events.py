"""One form for what all clients say and are told."""

from memory_palace.session import events


def test_what_a_moment_does_not_have_is_empty() -> None:
    """An event needs its client and its name; everything else is false."""
    event = events.Event("codex", "stop")
    assert not any(event[2:])


def test_a_reply_says_nothing_by_itself() -> None:
    """So that nothing is sent."""
    assert not any(events.Reply())
