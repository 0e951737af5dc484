"""Limits of requests, and the host names under which a server of this package answers."""

import asyncio
import ipaddress
import json
import re
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Callable
from urllib.parse import urlsplit

from allennlp_sentmatch.files.json_lines import JsonObject, parse_json_object

MAX_BYTES = 5_000_000  # the size of the largest body of a request
MAX_BUFFERED = 64_000_000  # bytes of all bodies; above it, only small bodies are read
SMALL_BODY = 100_000  # the size of the largest small body
MAX_TEXT = 20_000  # the characters of all texts of an input
REQUEST_SECONDS = 20  # time limit for a request's headers, and then for its body
HEALTH = "/health"  # not a secret: answered under every name, since load balancers may send none

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

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


class RequestError(Exception):
    """A refused request, with an HTTP status and its reason, a sentence for the visitor."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@contextmanager
def refusing_mistakes() -> Iterator[None]:
    """Raise every `ValueError` of the block as a `RequestError` with the same sentence."""
    try:
        yield
    except ValueError as error:
        raise RequestError(400, f"{error}.") from error


class ClientLeftError(Exception):
    """The client has closed its connection, and will not read an answer."""


ENDING = RequestError(503, "The server is shutting down; try again later.")


def check_names(scope: Any, allowed_hosts: Collection[str]) -> str:
    """Return the host name, without the port, to which a request was sent.

    A web page elsewhere can have its own name resolve to this machine's address (DNS rebinding) and
    then read from here as if from its own server: the browser still sends that name as `Host`.
    Accepted are the names in `allowed_hosts`, in lower case, the address at which the request
    arrived, and the names of the browser's own machine, which no other machine can have: forwarded
    ports are used under them.

    # Parameters

    scope : `Any`
        The ASGI scope of the request.
    allowed_hosts : `Collection[str]`

    # Raises

    `RequestError` with status 421 for other names, and with 403 for a page of another origin.
    """
    hosts = _values(scope, b"host")
    host = hosts[0].lower() if len(hosts) == 1 else ""
    name = _host_name(f"//{host}")
    server, *_ = scope.get("server") or ("",)
    is_known = name in LOCAL_NAMES or name in allowed_hosts
    if not is_known and _address(name) != _address(str(server)):
        raise RequestError(
            421,
            f"Nothing is served here under the name {name!r}. Start the server with --allowed-host "
            "if it should be.",
        )
    for origin in _values(scope, b"origin"):
        is_own = origin.lower() in (f"http://{host}", f"https://{host}")
        if not is_own and _host_name(origin) not in allowed_hosts:
            raise RequestError(
                403,
                f"Pages at {origin!r:.100} cannot use this server. Start it with --allowed-host if "
                "they should.",
            )
    return name


def _values(scope: Any, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _address(name: str) -> Any:
    """Return the IP address in a name; IPv4 addresses within IPv6 become IPv4."""
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        return getattr(address, "ipv4_mapped", None) or address
    return name.lower()


def _host_name(address: str) -> str:
    """Return the host's name in an address, without the port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


class RequestLimits:
    """ASGI middleware that refuses what a server of this package should not read.

    These are requests under other host names or from other sites' pages, and large, slow or
    compressed bodies. `HEADERS` are sent with every response. Work on a request ends when its
    client leaves.

    # Parameters

    app : `Any`
        The ASGI application that answers the other requests.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        Further host names under which it answers; see `check_names`.
    count : `Count`, optional
        Called for each answer. By default, nothing is counted.

    # Raises

    `ValueError` for a name in `allowed_hosts` that is neither a host name nor an address.
    """

    def __init__(
        self,
        app: Any,
        allowed_hosts: Collection[str] = (),
        count: Count = lambda path, status, seconds: None,
    ) -> None:
        self._app = app
        self._count = count
        self._num_buffered = 0  # the bytes of all bodies
        for host in allowed_hosts:
            is_name = re.fullmatch(r"[\w.-]+", host)
            if not is_name and isinstance(_address(host), str):
                expected = "expected a name such as demo.example, without a port"
                raise ValueError(f"--allowed-host {host}: {expected}")
        self._allowed_hosts = {host.lower() for host in allowed_hosts}

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
            exchange.note_that_client_left()
        except asyncio.CancelledError:
            await exchange.refuse(ENDING)
        else:
            await self._answer(exchange)

    def _check_head(self, scope: Any) -> None:
        """Raise `RequestError` if a request can be refused without its body."""
        if scope["path"] != HEALTH:
            check_names(scope, self._allowed_hosts)
        if scope["type"] != "http":
            raise RequestError(404, "Not found.")
        if set(_values(scope, b"content-encoding")) - {"identity"}:
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
                exchange.note_that_client_left()
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
        if event["type"] == "http.response.start":
            self.is_answered = True
            status = event["status"]
            self._count_answer(status)
            headers = [*event["headers"], *HEADERS]
            if status == 503:
                headers.append((b"retry-after", str(RETRY_SECONDS).encode()))
            event = {**event, "headers": headers}
        await self._send(event)

    async def refuse(self, error: RequestError) -> None:
        """Send an error in the format of FastAPI or of OpenAI."""
        headers = [(b"content-type", b"application/json")]
        start = {"type": "http.response.start", "status": error.status, "headers": headers}
        body = error_body(self.scope["path"], error.status, str(error))
        await self.send(start)
        await self.send({"type": "http.response.body", "body": json.dumps(body).encode()})

    def note_that_client_left(self) -> None:
        """Count a request whose client has left before the answer."""
        self._count_answer(CLIENT_LEFT)

    def _count_answer(self, status: int) -> None:
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


def error_body(path: str, status: int, reason: str) -> JsonObject:
    """Return the body of an error: `detail`, or OpenAI's `error` on its paths."""
    if not path.startswith("/v1/"):
        return {"detail": reason}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": reason, "type": kind, "param": None, "code": None}}


def parsed_body(body: bytes) -> JsonObject:
    """Parse a body as a JSON object; raise `RequestError` for anything else."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(400, "The body is not UTF-8.") from None
    with refusing_mistakes():
        return parse_json_object(text, "The body", "a JSON object")
