"""ASGI middleware: a filter of requests, and security headers."""

import asyncio
import ipaddress
import json
import re
from collections.abc import Collection, Container
from typing import Any
from urllib.parse import urlsplit

from allennlp_sentmatch.demo.request_body import MAX_BYTES, Functions, RequestError, check_body

POLICY = "; ".join(
    [
        "default-src 'self'",
        # Gradio's page has scripts in it and compiles templates.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    ]
)
"""The content security policy: a browser may load from this server only."""

HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]

JOIN = "/gradio_api/queue/join"
ANSWERS = "/gradio_api/queue/data"
PATHS = (
    "/",
    "/config",
    "/favicon.ico",
    "/manifest.json",
    "/robots.txt",
    "/theme.css",
    "/gradio_api/app_id",
    ANSWERS,
    JOIN,
)
FOLDERS = ("/assets/", "/static/", "/svelte/")

MAX_PATH = 200
"""The length of the longest path of a file; systems refuse much longer ones."""

REQUEST_SECONDS = 20
"""The time in which the headers of a request must arrive, and then its body."""


class RequestFilter:
    """Refuses requests that the page does not make.

    - Requests for another host. A web page elsewhere can have its own name resolve to this
      machine's address (DNS rebinding) and then read from here as if from its own server: the
      browser still sends that name as `Host`.
    - Requests of other origins, such as pages at other ports of this machine.
    - Requests for Gradio's other routes: they redirect to any address, take uploads, record or
      describe themselves.
    - Bodies that are large, slow or not the page's (see `check_body`).

    Queries and the headers of proxies are not passed on, since anybody can send them, except for
    the queue's session, and `X-Forwarded-Proto` under an allowed name: that may be a proxy's.

    # Parameters

    app : `Any`
        An ASGI application.
    functions : `Functions`
        The page's functions.
    sessions : `Container[str]`
        The sessions with requests, whose answers can be read.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        Names in addition to the address that the request arrived at, and to "localhost" if that is
        a loopback address.
    """

    def __init__(
        self,
        app: Any,
        functions: Functions,
        sessions: Container[str],
        allowed_hosts: Collection[str] = (),
    ) -> None:
        self._app = app
        self._functions = functions
        self._sessions = sessions
        self._allowed_hosts = {host.lower() for host in allowed_hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            scope = self._checked(scope)
            body = await asyncio.wait_for(_read_body(receive), REQUEST_SECONDS)
            if scope["path"] == JOIN:
                check_body(body, self._functions)
        except RequestError as error:
            await _refuse(send, error)
        except asyncio.TimeoutError:
            await _refuse(send, RequestError(408, "The body did not arrive in time."))
        else:
            await self._app(scope, _receive_again(body, receive), send)

    def _checked(self, scope: Any) -> Any:
        """The scope of a request, with the headers and the query that are passed on.

        # Raises

        `RequestError` if the page does not make such a request.
        """
        hosts, path = _values(scope, b"host"), scope["path"]
        host = hosts[0].lower() if len(hosts) == 1 else ""
        name = _host_name(f"//{host}")
        if name not in self._allowed_hosts | _own_names(scope):
            raise RequestError(
                421,
                f"This page is not served under the name {name!r}. Start it with --allowed-host if "
                "it should be.",
            )
        for origin in _values(scope, b"origin"):
            is_own = origin.lower() in (f"http://{host}", f"https://{host}")
            if not is_own and _host_name(origin) not in self._allowed_hosts:
                raise RequestError(403, "Pages of other origins cannot use this one.")
        is_file = path.startswith(FOLDERS) and path.isascii() and len(path) <= MAX_PATH
        if scope["type"] != "http" or not (path in PATHS or is_file):
            raise RequestError(404, "Not found.")
        query = b""
        if path == ANSWERS:
            session = re.search(rb"session_hash=(\w+)", scope["query_string"])
            if session is None or session[1].decode() not in self._sessions:
                raise RequestError(404, "There is no such session.")
            query = session[0]
        headers = [
            (header, value)
            for header, value in scope["headers"]
            if not header.startswith((b"x-", b"forwarded"))
            or (header == b"x-forwarded-proto" and name in self._allowed_hosts)
        ]
        return {**scope, "query_string": query, "headers": headers}


class SecurityHeaders:
    """Sends `HEADERS` with every response.

    # Parameters

    app : `Any`
        An ASGI application.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *HEADERS]}
            await send(event)

        await self._app(scope, receive, send_with_headers)


def _values(scope: Any, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _host_name(address: str) -> str:
    """The host's name in an address, without the port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _own_names(scope: Any) -> set[str]:
    """The address that the request arrived at, and its name if it is a loopback address."""
    address = str((scope.get("server") or ("",))[0]).lower()
    try:
        is_loopback = ipaddress.ip_address(address).is_loopback
    except ValueError:
        is_loopback = False
    return {address, "localhost"} if is_loopback else {address}


async def _read_body(receive: Any) -> bytes:
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise RequestError(400, "The body is incomplete.")
        body += event.get("body", b"")
        if len(body) > MAX_BYTES:
            raise RequestError(413, f"A request is limited to {MAX_BYTES:,} bytes.")
        if not event.get("more_body"):
            return bytes(body)


def _receive_again(body: bytes, receive: Any) -> Any:
    """The function `receive` as it was before the body was read."""
    events = [{"type": "http.request", "body": body}]

    async def receive_again() -> Any:
        return events.pop() if events else await receive()

    return receive_again


async def _refuse(send: Any, error: RequestError) -> None:
    """Send an error in the form of Gradio's own, which the page shows."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    body = json.dumps({"detail": str(error)}).encode()
    await send({"type": "http.response.body", "body": body})
