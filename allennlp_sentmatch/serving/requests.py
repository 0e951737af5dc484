"""The requests that a server of this package reads, and the headers of its answers."""

import asyncio
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Callable

from allennlp_sentmatch.files.json_lines import JsonObject, parse_json_object
from allennlp_sentmatch.serving.host_names import HostNames
from allennlp_sentmatch.serving.request_errors import (
    RequestError,
    error_response,
    refusing_mistakes,
)

MAX_BYTES = 5_000_000  # the size of the largest body of a request
MAX_BUFFERED = 64_000_000  # bytes of all bodies; above it, only small bodies are read
SMALL_BODY = 100_000  # the size of the largest small body
REQUEST_SECONDS = 20  # time limit for a request's headers, and then for its body
HEALTH = "/health"  # not a secret: answered under every name, since load balancers may send none

POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self'; script-src 'self'; style-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The content security policy: a browser loads only from this server and runs no other scripts, and
the page's scripts never turn text into HTML.
"""

HEADERS = [
    (b"cache-control", b"no-cache"),
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]
"""Sent with every response."""

RETRY_SECONDS = 5  # clients of a busy server may try again after this time

CLIENT_LEFT = 499  # nginx's status for requests whose clients left


Count = Callable[[str, int, float], object]
"""Takes the path, the status and the seconds of an answer."""


class ClientLeftError(Exception):
    """The client has closed its connection, and will not read an answer."""


ENDING = RequestError(503, "The server is shutting down; try again later.")


class RequestLimits:
    """ASGI middleware that refuses what a server of this package should not read.

    These are requests under other host names or from other sites' pages, and large, slow or
    compressed bodies. `HEADERS` are sent with every response. Work on a request ends when its
    client leaves.

    # Parameters

    app : `Any`
        The ASGI application that answers the other requests.
    allowed_hosts : `Collection[str]`
        Further host names under which it answers; see `HostNames`, also for the errors.
    count : `Count`
        Called for each answer.
    """

    def __init__(
        self,
        app: Any,
        allowed_hosts: Collection[str],
        count: Count,
    ) -> None:
        self._app = app
        self._count = count
        self._num_buffered = 0  # the bytes of all bodies
        self._names = HostNames(allowed_hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(_plain_scope(scope), receive, send, self._count)
        try:
            await self._handle(exchange)
        finally:
            self._num_buffered -= exchange.size

    async def _handle(self, exchange: "_Exchange") -> None:
        """Read a request within the limits, and answer or refuse it."""
        try:
            self._check_head(exchange.scope)
            await asyncio.wait_for(self._read_body(exchange), REQUEST_SECONDS)
        except asyncio.TimeoutError:
            await exchange.refuse(RequestError(408, "The body did not arrive in time."))
        except RequestError as error:
            await exchange.refuse(error)
        except ClientLeftError:
            exchange.count_answer(CLIENT_LEFT)
        except asyncio.CancelledError:
            await exchange.refuse(ENDING)
        else:
            await self._answer(exchange)

    def _check_head(self, scope: Any) -> None:
        """Raise `RequestError` if a request can be refused without its body."""
        if scope["path"] != HEALTH:
            self._names.check(scope)
        if scope["type"] != "http":
            raise RequestError(404, "Not found.")
        headers = scope["headers"]
        if any(name == b"content-encoding" and value != b"identity" for name, value in headers):
            raise RequestError(415, "Content-Encoding is not read; send plain JSON.")

    async def _read_body(self, exchange: "_Exchange") -> None:
        """Read the body.

        Raise `RequestError` if it, or all bodies together, are too large, and `ClientLeftError`.
        """
        while exchange.has_more_body:
            self._num_buffered += await exchange.read_more_body()
            if exchange.size > MAX_BYTES:
                raise RequestError(413, f"A request is limited to {MAX_BYTES:,} bytes.")
            if exchange.size > SMALL_BODY and self._num_buffered > MAX_BUFFERED:
                raise RequestError(
                    503,
                    f"Other requests are so large that bodies of {SMALL_BODY:,} bytes at most are "
                    "read; try again later.",
                )

    async def _answer(self, exchange: "_Exchange") -> None:
        """Let the application answer, until the client leaves or the server ends."""
        answer = self._app(exchange.scope, exchange.receive, exchange.send)
        app = asyncio.ensure_future(answer)
        left = asyncio.ensure_future(exchange.until_client_leaves())
        try:
            await asyncio.wait([app, left], return_when=asyncio.FIRST_COMPLETED)
            if not app.done() and not exchange.is_answered:
                app.cancel()
                exchange.count_answer(CLIENT_LEFT)
            with suppress(asyncio.CancelledError):
                await app
        except asyncio.CancelledError:
            app.cancel()
            if not exchange.is_answered:
                await exchange.refuse(ENDING)
        finally:
            left.cancel()


class _Exchange:
    """A request and its answer, between the server and the application.

    # Attributes

    scope : `Any`
        The ASGI scope of the request.
    size : `int`
        The bytes of the body that have arrived.
    has_more_body : `bool`
        Whether a part of the body is still to be read.
    is_answered : `bool`
        Whether the answer has begun.
    """

    def __init__(
        self,
        scope: Any,
        receive: Any,
        send: Any,
        count: Count,
    ) -> None:
        self.scope = scope
        self.size = 0
        self.has_more_body = True
        self.is_answered = False
        self._receive = receive
        self._send = send
        self._count = count
        self._start = time.monotonic()
        self._parts: list[bytes] = []  # the body's parts, until the application has received them
        self._was_received = False

    async def read_more_body(self) -> int:
        """Wait for a part of the body, and return its size in bytes.

        Raise `ClientLeftError` if the client leaves first.
        """
        event = await self._receive()
        if event["type"] == "http.disconnect":
            raise ClientLeftError
        part = event.get("body", b"")
        self._parts.append(part)
        self.size += len(part)
        self.has_more_body = event.get("more_body", False)
        return len(part)

    async def until_client_leaves(self) -> None:
        """Wait for the connection to end, after the whole body has been read."""
        await self._receive()

    async def receive(self) -> Any:
        """Give the application the whole body, and then the server's further messages."""
        if self._was_received:
            return await self._receive()
        self._was_received = True
        body = b"".join(self._parts)
        self._parts.clear()
        return {"type": "http.request", "body": body}

    async def send(self, event: Any) -> None:
        """Send a part of the answer, and count it when it begins."""
        if event["type"].endswith("http.response.start"):  # "websocket." may precede it
            self.is_answered = True
            status = event["status"]
            self.count_answer(status)
            headers = [*event["headers"], *HEADERS]
            if status == 503:
                headers.append((b"retry-after", str(RETRY_SECONDS).encode()))
            event = {**event, "headers": headers}
        await self._send(event)

    async def refuse(self, error: RequestError) -> None:
        """Send an error in the format of FastAPI or of OpenAI."""
        answer = error_response(self.scope["path"], error.status, str(error))
        await answer(self.scope, self.receive, self.send)

    def count_answer(self, status: int) -> None:
        """Count an answer that begins, or `CLIENT_LEFT` in its place."""
        seconds = time.monotonic() - self._start
        self._count(self.scope["path"], status, seconds)


def _plain_scope(scope: Any) -> Any:
    """Return a scope without the path under which another application mounts this one.

    The path has no slash at its end: FastAPI would redirect from it, to an address that may not be
    the proxy's. HEAD becomes GET: a server sends no body in answer to it.
    """
    path = scope["path"]
    root = scope.get("root_path", "")
    if path.startswith(root):
        path = path[len(root) :]
    plain = {**scope, "root_path": "", "path": path.rstrip("/") or "/"}
    if plain.get("method") == "HEAD":
        plain["method"] = "GET"
    return plain


def parsed_body(body: bytes) -> JsonObject:
    """Parse a body as a JSON object; raise `RequestError` for anything else."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(400, "The body is not UTF-8.") from None
    with refusing_mistakes():
        return parse_json_object(text, "The body", "a JSON object")
