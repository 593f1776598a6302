"""What a model says, as the event streams of the three model APIs that agents speak.

``messages`` is Anthropic's, ``responses`` and ``chat`` are OpenAI's. Each function gives the
server-sent events of one answer as pairs of an event name (empty for chat) and an object.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Say:
    """The model says ``text``."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls ``tool`` with ``arguments``: an object, or free text for Codex's ``exec``."""

    tool: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    namespace: str = ""


Turn = Sequence[Say | Call]
Event = tuple[str, dict[str, Any]]


def messages(turn: Turn, model: str, tokens: int) -> Iterator[Event]:
    """The events of ``POST /v1/messages`` with ``stream``; ``tokens`` is the reported input."""
    message = {
        "id": f"msg_{next(_NUMBERS):06}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "output_tokens": 1},
    }
    yield "message_start", {"message": message}
    for index, item in enumerate(turn):
        if isinstance(item, Say):
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": item.text}
        else:
            number = f"toolu_{next(_NUMBERS):06}"
            block = {"type": "tool_use", "id": number, "name": item.tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(item.arguments)}
        yield "content_block_start", {"index": index, "content_block": block}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    calls = any(isinstance(item, Call) for item in turn)
    end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": end, "usage": {"output_tokens": 10}}
    yield "message_stop", {}


def whole_message(turn: Turn, model: str, tokens: int) -> dict[str, Any]:
    """The answer of ``POST /v1/messages`` without ``stream``."""
    events = list(messages(turn, model, tokens))
    blocks = [e["content_block"] for _, e in events if "content_block" in e]
    for block, item in zip(blocks, turn, strict=True):
        block.update({"text": item.text} if isinstance(item, Say) else {"input": item.arguments})
    message: dict[str, Any] = events[0][1]["message"]
    return {**message, "content": blocks, **events[-2][1]["delta"]}


def responses(turn: Turn, model: str, tokens: int) -> Iterator[Event]:
    """The events of ``POST /v1/responses`` with ``stream``."""
    number = f"resp_{next(_NUMBERS):06}"
    answer: dict[str, Any] = {"id": number, "object": "response", "model": model, "output": []}
    yield "response.created", {"response": {**answer, "status": "in_progress"}}
    for index, item in enumerate(turn):
        output = _response_item(item)
        answer["output"].append(output)
        opened = {**output, "content": []} if isinstance(item, Say) else output
        yield "response.output_item.added", {"output_index": index, "item": opened}
        if isinstance(item, Say):
            where = {"item_id": output["id"], "output_index": index, "content_index": 0}
            yield "response.output_text.delta", {**where, "delta": item.text}
        yield "response.output_item.done", {"output_index": index, "item": output}
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 10,
    }
    yield "response.completed", {"response": {**answer, "status": "completed", "usage": usage}}


def _response_item(item: Say | Call) -> dict[str, Any]:
    number = next(_NUMBERS)
    if isinstance(item, Say):
        return {
            "type": "message",
            "id": f"msg_{number:06}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": item.text, "annotations": []}],
        }
    call = {"call_id": f"call_{number:06}", "name": item.tool, "status": "completed"}
    if item.namespace:
        call["namespace"] = item.namespace
    if isinstance(item.arguments, str):
        return {"type": "custom_tool_call", "id": f"ctc_{number}", "input": item.arguments, **call}
    arguments = json.dumps(item.arguments)
    return {"type": "function_call", "id": f"fc_{number:06}", "arguments": arguments, **call}


def chat(turn: Turn, model: str, tokens: int) -> Iterator[Event]:
    """The chunks of ``POST /v1/chat/completions`` with ``stream``."""
    answer = {
        "id": f"chatcmpl-{next(_NUMBERS)}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
    }

    def chunk(delta: dict[str, Any], end: str | None = None) -> Event:
        return "", {**answer, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    yield chunk({"role": "assistant", "content": ""})
    calls = 0
    for item in turn:
        if isinstance(item, Say):
            yield chunk({"content": item.text})
            continue
        function = {"name": item.tool, "arguments": json.dumps(item.arguments)}
        call = {"index": calls, "id": f"call_{next(_NUMBERS):06}", "type": "function"}
        yield chunk({"tool_calls": [{**call, "function": function}]})
        calls += 1
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    yield "", {**answer, "choices": [], "usage": usage}
