"""ASGI middleware: a filter of requests, and security headers."""

import re
from collections.abc import Collection, Container
from typing import Any

from allennlp_sentmatch.demo.request_body import Functions, check_body
from allennlp_sentmatch.serving.requests import (
    RequestError,
    check_names,
    read_body,
    receive_again,
    refuse,
)

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


class RequestFilter:
    """Refuses requests that the page does not make.

    - Requests for another host and of other origins, such as pages at other ports of this machine
      (see `check_names`).
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
        See `check_names`.
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
            body = await read_body(receive)
            if scope["path"] == JOIN:
                check_body(body, self._functions)
        except RequestError as error:
            await refuse(send, error)
        else:
            await self._app(scope, receive_again(body, receive), send)

    def _checked(self, scope: Any) -> Any:
        """The scope of a request, with the headers and the query that are passed on.

        # Raises

        `RequestError` if the page does not make such a request.
        """
        path = scope["path"]
        name = check_names(scope, self._allowed_hosts)
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
