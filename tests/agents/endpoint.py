"""A model endpoint on loopback that answers by a script and keeps what it was asked.

    with Endpoint(in_order([Call("Bash", {"command": "ls"})], [Say("Done.")])) as endpoint:
        run_the_client(ANTHROPIC_BASE_URL=endpoint.url)     # OpenAI clients: endpoint.url + "/v1"
        assert "remembered" in endpoint.requests[0].text

It speaks Anthropic's streaming messages and OpenAI's streaming responses and chat completions.
A script is called with each :class:`Request` and gives the answer, a list of ``Say`` and ``Call``.
"""

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from agents import streams
from agents.streams import Call, Say, Turn

__all__ = ["Call", "Endpoint", "Request", "Say", "in_order"]

SPOKEN = {
    "/messages": streams.messages,
    "/responses": streams.responses,
    "/chat/completions": streams.chat,
}
MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked: the path without ``/v1`` and the query, and the body as an object."""

    path: str
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the model is offered; those of a namespace with its name."""
        names = []
        for tool in self.body.get("tools") or []:
            name = str(tool.get("name") or tool.get("function", {}).get("name", ""))
            names.append(name)
            names += [f"{name}{inner.get('name', '')}" for inner in tool.get("tools") or []]
        return names

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The conversation, oldest first, as the API has it, without a system text apart."""
        given = self.body.get("messages") or self.body.get("input") or []
        return given if isinstance(given, list) else [{"role": "user", "content": given}]

    @property
    def text(self) -> str:
        """Every text that the model is given, instructions and results of tools included."""
        apart = [self.body.get(name) for name in ("system", "instructions")]
        return "\n".join(_texts([apart, self.turns]))

    @property
    def news(self) -> str:
        """The texts since the model's last answer."""
        turns = self.turns
        spoken = [n for n, turn in enumerate(turns) if _is_answer(turn)]
        return "\n".join(_texts(turns[spoken[-1] + 1 :] if spoken else turns))


Script = Callable[[Request], Turn]


def in_order(*turns: Turn, aside: str = "Fine.") -> Script:
    """A script that gives ``turns`` one after the other, and then goes on with the last one.

    A request that offers no tools (a title, a summary) is answered ``aside`` and takes no turn.
    """
    left = list(turns)
    lock = threading.Lock()

    def answer(request: Request) -> Turn:
        if not request.tools:
            return [Say(aside)]
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return answer


class Endpoint:
    """A context manager; ``url`` is without ``/v1``. ``requests`` are those for an answer.

    ``tokens`` is the size of the input that answers report. ``unknown`` are paths that were asked
    for and not there; they got 404. ``script`` may be changed between runs of a client.
    """

    def __init__(self, script: Script, tokens: int = 100) -> None:
        self.script = script
        self.tokens = tokens
        self.requests: list[Request] = []
        self.unknown: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def main(self) -> list[Request]:
        """The requests that offer tools: those of the agent itself."""
        return [request for request in self.requests if request.tools]

    def clear(self) -> None:
        """Forget what was asked so far."""
        self.requests.clear()


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on the terminal."""

        def do_HEAD(self) -> None:
            self._give(b"", "text/plain")

        def do_GET(self) -> None:
            path = _path(self.path)
            if path == "/models":
                self._object({"object": "list", "data": [], "models": []})
            else:
                endpoint.unknown.append(path)
                self._object({"error": {"type": "not_found_error", "message": path}}, 404)

        def do_POST(self) -> None:
            length = min(int(self.headers.get("Content-Length") or 0), MOST_BYTES)
            raw = self.rfile.read(length)
            if self.headers.get("Content-Encoding") == "gzip":
                raw = zlib.decompress(raw, 31)
            path = _path(self.path)
            if path == "/messages/count_tokens":
                self._object({"input_tokens": len(raw) // 4})
                return
            speak = SPOKEN.get(path)
            if speak is None:
                endpoint.unknown.append(path)
                self._object({"error": {"type": "not_found_error", "message": path}}, 404)
                return
            request = Request(path, json.loads(raw))
            endpoint.requests.append(request)
            turn = endpoint.script(request)
            model = str(request.body.get("model", "scripted"))
            if path == "/messages" and not request.body.get("stream"):
                self._object(streams.whole_message(turn, model, endpoint.tokens))
                return
            lines = []
            for name, event in speak(turn, model, endpoint.tokens):
                typed = {"type": name, **event} if name else event
                lines.append(f"event: {name}\n" if name else "")
                lines.append(f"data: {json.dumps(typed)}\n\n")
            if path == "/chat/completions":
                lines.append("data: [DONE]\n\n")
            self._give("".join(lines).encode(), "text/event-stream")

        def _object(self, value: dict[str, Any], status: int = 200) -> None:
            self._give(json.dumps(value).encode(), "application/json", status)

        def _give(self, data: bytes, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _path(target: str) -> str:
    return target.partition("?")[0].rstrip("/").removeprefix("/v1")


def _is_answer(turn: dict[str, Any]) -> bool:
    return turn.get("role") == "assistant" or str(turn.get("type", "")).endswith("_call")


def _texts(value: object) -> Iterator[str]:
    """All strings in ``value`` that are text for the model, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("type", "role", "id"):
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
