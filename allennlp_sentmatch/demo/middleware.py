"""ASGI middleware: a filter of requests that sends security headers."""

import json
import re
from collections.abc import Collection, Container
from typing import Any

from allennlp_sentmatch.serving.requests import (
    MAX_TEXT,
    RequestError,
    RequestLimits,
    check_names,
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
    *("/", "/config", "/favicon.ico", "/manifest.json", "/robots.txt", "/theme.css"),
    *("/gradio_api/app_id", ANSWERS, JOIN),
)
FOLDERS = ("/assets/", "/static/", "/svelte/")

MAX_PATH = 200
"""The length of the longest path of a file; systems refuse much longer ones."""

MAX_SESSION = 64
"""The length of the longest name of a browser tab; Gradio's have 11 letters and digits."""

Functions = dict[int, list[dict[str, Any]]]
"""For the index of each of the page's functions, the JSON schemas of its inputs."""

OPTIONAL = type(None)
FIELDS: dict[str, Any] = {
    "data": list,
    "event_data": OPTIONAL,
    "fn_index": int,
    "session_hash": str,
    "trigger_id": (int, OPTIONAL),
}


class RequestFilter(RequestLimits):
    """Refuses requests that the page does not make, besides those that `RequestLimits` refuses.

    These are requests for Gradio's other routes, which redirect to any address, take uploads,
    record or describe themselves; and bodies other than those for the page's `functions`, see
    `check_body`. Answers can be read in the `sessions` with requests.

    Queries and the headers of proxies are not passed on, since anybody can send them, except for
    the queue's session, and `X-Forwarded-Proto` under an allowed name: that may be a proxy's.
    """

    def __init__(
        self,
        app: Any,
        functions: Functions,
        sessions: Container[str],
        allowed_hosts: Collection[str] = (),
    ) -> None:
        super().__init__(app, allowed_hosts)
        self._functions = functions
        self._sessions = sessions

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request, and send `HEADERS` with every response."""

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *HEADERS]}
            await send(event)

        await super().__call__(scope, receive, send_with_headers)

    def _checked_scope(self, scope: Any) -> Any:
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

    def _check_body(self, scope: Any, body: bytes) -> None:
        if scope["path"] == JOIN:
            check_body(body, self._functions)


def check_body(body: bytes, functions: Functions) -> None:
    """Check that a body is one that the page sends: texts and choices for one of its functions.

    Any other body is a `RequestError`. It could reach code of Gradio that the page does not need,
    which takes some objects for files of the server, for example, and copies them.
    """
    try:
        form = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "The body is not valid JSON.") from error
    if not (
        isinstance(form, dict)
        and form.keys() <= FIELDS.keys()
        and all(isinstance(form.get(name), kind) for name, kind in FIELDS.items())
    ):
        raise RequestError(400, "The page does not send such a request.")
    session = form["session_hash"]
    if not (session.isascii() and session.isalnum() and len(session) <= MAX_SESSION):
        raise RequestError(400, "The session's name is not one that the page makes.")
    schemas = functions.get(form["fn_index"])
    if schemas is None:
        raise RequestError(404, "The page has no such function.")
    if len(form["data"]) != len(schemas):
        raise RequestError(400, f"This function has {len(schemas)} inputs.")
    for value, schema in zip(form["data"], schemas):
        _check_value(value, schema)


def _check_value(value: Any, schema: dict[str, Any]) -> None:
    if "enum" in schema:
        is_valid = value in schema["enum"]
    elif schema["type"] == "boolean":
        is_valid = isinstance(value, bool)
    else:
        is_valid = isinstance(value, str)
    if not is_valid:
        raise RequestError(400, "An input is not of its type.")
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise RequestError(413, f"A text has {len(value):,} characters, which is too long.")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise RequestError(400, "A text is not valid Unicode: it has half of a character.")
