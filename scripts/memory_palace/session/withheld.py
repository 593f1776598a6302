"""What of the memories is shown to nobody: private spans that a person wrote into a topic file."""

from dataclasses import replace

from memory_palace.memory import glance
from memory_palace.memory.state import State


def without_private(state: State) -> State:
    """``state`` with its memories as they may be shown; itself where there is nothing private."""
    shown = glance.visible(state.texts)
    if not shown:
        return state
    kept = []
    for memory in state.memories:
        said = shown[memory.path].get(memory.line) if memory.path in shown else memory.text
        if said:
            kept.append(replace(memory, text=said))
    return replace(state, memories=tuple(kept))
