"""The open connections of a server: limits on their number and on their silence."""

import asyncio
import json
from functools import partial
from typing import Any, Optional

from allennlp_sentmatch.serving import requests

MAX_UNREAD = 1_000_000_000  # bytes of answers that the clients have yet to read


class Connection:
    """A connection, and its state according to asyncio and the application.

    Two clocks may close it: one runs until the headers of the next request have arrived, but not
    while the client sends nothing after an answer; the other runs while the client does not read.

    # Parameters

    transport : `Any`
        The connection as asyncio has it. Its client has `REQUEST_SECONDS` for the headers of the
        first request.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._deadline: Optional[asyncio.TimerHandle] = None  # for a request's headers
        self._unread: Optional[asyncio.TimerHandle] = None  # for the client's reading
        # The next request may begin before the function that answered the last one has returned.
        self._num_begun = 0  # the requests whose headers have arrived
        self._num_whole = 0
        self.expect_headers()

    @property
    def has_request(self) -> bool:
        """Whether a whole request is being answered."""
        return self._num_whole > 0

    @property
    def num_unread(self) -> int:
        """The bytes of its answers that wait for the client to read."""
        return int(self._transport.get_write_buffer_size())

    def abort(self) -> None:
        """Close the connection without the rest of its answer."""
        self._transport.abort()

    def expect_headers(self) -> None:
        """Close the connection unless the headers of a request arrive in time."""
        if self._deadline is None and self._num_begun == 0:
            self._deadline = self._loop.call_later(requests.REQUEST_SECONDS, self._close)

    def begin_request(self) -> None:
        """Note that the headers of a request have arrived."""
        self._num_begun += 1
        self._stop(self._deadline)
        self._deadline = None

    def complete_request(self) -> None:
        """Note that the body of a request has arrived."""
        self._num_whole += 1

    def end_request(self, was_whole: bool) -> None:
        """Note that a request has been answered.

        `was_whole` is whether its body had arrived by then.
        """
        self._num_begun -= 1
        self._num_whole -= was_whole

    def expect_reading(self) -> None:
        """Close the connection unless the client reads its answer in time."""
        seconds = 2 * requests.REQUEST_SECONDS
        self._unread = self._loop.call_later(seconds, self.abort)

    def note_reading(self) -> None:
        """Note that the client has read what was sent."""
        self._stop(self._unread)

    def refuse(self) -> None:
        """Close the connection with an answer."""
        body = json.dumps({"detail": "Too many connections; try again later."})
        answer = (
            "HTTP/1.1 503 Service Unavailable\r\n"
            "Connection: close\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Retry-After: {requests.RETRY_SECONDS}\r\n\r\n{body}"
        )
        self._transport.write(answer.encode())
        self._transport.close()

    def end(self) -> None:
        """Stop all clocks of a connection that is closed."""
        self._stop(self._deadline)
        self._stop(self._unread)

    def _close(self) -> None:
        self._transport.close()  # after the client has read the answer, if it reads
        self._unread = self._loop.call_later(requests.REQUEST_SECONDS, self.abort)

    @staticmethod
    def _stop(timer: Optional[asyncio.TimerHandle]) -> None:
        if timer is not None:
            timer.cancel()


class Connections:
    """The open connections of a server, at most `most`.

    A connection is closed if it sends no headers for `REQUEST_SECONDS`, or does not read an answer
    for twice as long. If there are too many, the oldest one without a whole request is closed. If
    unread answers have more than `MAX_UNREAD` bytes, the oldest of their connections are closed.
    Uvicorn itself closes only connections that send nothing after an answer, and refuses requests
    if there are too many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[Connection, None] = {}  # the oldest first
        self.is_ending = False  # whether each answer says that its connection closes

    def add(self, connection: Connection) -> None:
        """Add a new connection; close the oldest one without a whole request if there are too many.

        If all others are being answered, this is the new one.
        """
        self._open[connection] = None
        if len(self._open) > self._most:
            idle = (other for other in self._open if not other.has_request)
            refused = next(idle, connection)
            self.remove(refused)
            refused.refuse()

    def remove(self, connection: Connection) -> None:
        """Forget a connection."""
        self._open.pop(connection, None)

    def limit_unread(self) -> None:
        """Close the oldest connections with unread answers if these have too many bytes."""
        sizes = {connection: connection.num_unread for connection in self._open}
        excess = sum(sizes.values()) - MAX_UNREAD
        for connection, size in sizes.items():
            if excess > 0 and size > 0:
                excess -= size
                connection.abort()

    async def answer(
        self,
        app: Any,
        connection: Connection,
        scope: Any,
        receive: Any,
        send: Any,
    ) -> None:
        """Let an ASGI application answer a request of a connection, and follow its progress.

        While the server ends, the answer says that the connection closes.
        """
        is_whole = False

        async def noting_receive() -> Any:
            nonlocal is_whole
            event = await receive()
            if event["type"] == "http.request" and not event.get("more_body", False):
                is_whole = True
                connection.complete_request()
            return event

        async def closing_send(event: Any) -> None:
            if event["type"] == "http.response.start" and self.is_ending:
                event = {**event, "headers": [*event["headers"], (b"connection", b"close")]}
            await send(event)

        connection.begin_request()
        try:
            await app(scope, noting_receive, closing_send)
        finally:
            connection.end_request(is_whole)

    def watching(self, protocol: Any) -> Any:
        """Return a subclass of uvicorn's `protocol` that records its connections here."""
        connections = self

        class WatchedProtocol(protocol):  # type: ignore[misc]
            """Records a connection's events."""

            app: Any  # the application, which uvicorn sets

            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                self._connection = Connection(transport)
                self.app = partial(connections.answer, self.app, self._connection)
                connections.add(self._connection)

            def connection_lost(self, exc: Optional[Exception]) -> None:
                connections.remove(self._connection)
                self._connection.end()
                super().connection_lost(exc)

            def data_received(self, data: bytes) -> None:
                self._connection.expect_headers()
                super().data_received(data)

            def pause_writing(self) -> None:  # the client has yet to read
                self._connection.expect_reading()
                connections.limit_unread()
                super().pause_writing()

            def resume_writing(self) -> None:
                self._connection.note_reading()
                super().resume_writing()

        return WatchedProtocol
