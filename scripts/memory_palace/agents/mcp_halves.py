"""Messages with half a character in them, which the SDK drops: its client would wait for ever.

JavaScript's strings are of UTF-16: cut in the middle of an emoji, they end with half of it, and
`JSON.stringify` writes that as `\\ud83d`.
"""

import json
from contextvars import Context
from types import TracebackType
from typing import Any, Self

import mcp_types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError


class Mended:
    """The stream of received messages; where half a character stood is a replacement character."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def last_context(self) -> Context | None:
        """That of the last message's sender, which the SDK asks for."""
        found: Context | None = self._inner.last_context
        return found

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or what was wrong with it."""
        return mended(await self._inner.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return mended(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def mended(item: SessionMessage | Exception) -> SessionMessage | Exception:
    """The message that ``item`` says could not be read, where halves of characters are all that is
    wrong with it; else ``item`` itself."""
    line = item.errors()[0]["input"] if isinstance(item, ValidationError) else None
    if not isinstance(line, str):
        return item
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return item
