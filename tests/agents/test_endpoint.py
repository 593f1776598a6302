"""The scripted model endpoint itself: what the tests of the clients rest on."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from agents.endpoint import Call, Endpoint, Request, Say, in_order

TOOLS = [{"name": "Bash", "input_schema": {}}]


def ask(endpoint: Endpoint, path: str, body: dict[str, Any]) -> str:
    """Post ``body`` to the endpoint; what it answers."""
    data = json.dumps(body).encode()
    asked = urllib.request.Request(f"{endpoint.url}{path}", data)
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/v1/messages", '"type": "message_stop"'),
        ("/v1/responses", '"type": "response.completed"'),
        ("/v1/chat/completions", "[DONE]"),
    ],
)
def test_each_api_streams_what_is_said_and_called(path: str, end: str) -> None:
    """Each API streams the texts and calls of a turn, to its end."""
    with Endpoint(in_order([Say("Look."), Call("Bash", {"command": "ls"})])) as endpoint:
        told = ask(endpoint, path, {"stream": True, "tools": TOOLS})
    assert "Look." in told
    assert "Bash" in told
    assert r"{\"command\": \"ls\"}" in told
    assert end in told


def test_turns_are_given_in_order_and_the_last_one_again() -> None:
    """Turns are given in order, the last one again, and a request without tools takes none."""
    with Endpoint(in_order([Say("one")], [Say("two")], aside="title")) as endpoint:
        with_tools = {"tools": TOOLS}
        bodies: list[dict[str, Any]] = [with_tools, {}, with_tools, with_tools]
        told = [json.loads(ask(endpoint, "/v1/messages", body)) for body in bodies]
    assert [t["content"][0]["text"] for t in told] == ["one", "title", "two", "two"]
    assert len(endpoint.requests) == 4
    assert len(endpoint.main()) == 3


def test_a_request_tells_what_is_new() -> None:
    """A request's news are the texts after the model's last answer, in each API's form."""
    said = Request(
        "/messages",
        {
            "system": [{"type": "text", "text": "rules"}],
            "messages": [
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "working"},
                {"role": "user", "content": [{"type": "tool_result", "content": "result"}]},
            ],
        },
    )
    assert said.news == "result"
    assert said.text.split("\n") == ["rules", "hello", "working", "result"]
    called = {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "1"}
    given = {"type": "function_call_output", "call_id": "1", "output": "listed"}
    assert "listed" in Request("/responses", {"input": [called, given]}).news
    assert "ls" not in Request("/responses", {"input": [called, given]}).news.split("\n")


def test_an_unknown_path_is_not_found_and_kept() -> None:
    """A path that no script answers gets 404 and is listed."""
    with Endpoint(in_order([Say("x")])) as endpoint:
        with pytest.raises(urllib.error.HTTPError, match="404") as error:
            ask(endpoint, "/v1/elsewhere", {})
        error.value.close()
    assert endpoint.unknown == ["/elsewhere"]
