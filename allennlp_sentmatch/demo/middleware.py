"""ASGI middleware: a filter of requests, and security headers."""

import ipaddress
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

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

PATHS = (
    "/",
    "/config",
    "/favicon.ico",
    "/manifest.json",
    "/robots.txt",
    "/theme.css",
    "/gradio_api/app_id",
    "/gradio_api/cancel",
    "/gradio_api/queue/data",
    "/gradio_api/queue/join",
)
FOLDERS = ("/assets/", "/static/", "/svelte/", "/gradio_api/heartbeat/")


class RequestFilter:
    """Refuses requests for another host, and those that the page does not make.

    A web page elsewhere can have its own name resolve to this machine's address (DNS rebinding)
    and then read from here as if from its own server: the browser still sends that name as `Host`.
    Gradio's server has routes that the page does not need: they redirect to any address, take
    uploads, record or describe themselves.

    # Parameters

    app : `Any`
        An ASGI application.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        Names in addition to the address that the request arrived at, and to "localhost" if that is
        a loopback address.
    """

    def __init__(self, app: Any, allowed_hosts: Collection[str] = ()) -> None:
        self._app = app
        self._allowed_hosts = {host.lower() for host in allowed_hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        host = _host(scope)
        if host not in self._allowed_hosts | _own_names(scope):
            await _refuse(
                send,
                421,
                f"This page is not served under the name {host!r}. Start it with --allowed-host if "
                "it should be.",
            )
        elif scope["path"] not in PATHS and not scope["path"].startswith(FOLDERS):
            await _refuse(send, 404, "Not found.")
        else:
            await self._app(scope, receive, send)


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


def _host(scope: Any) -> str:
    """The name in the `Host` header, without the port; empty if it is missing or repeated."""
    values = [value for name, value in scope["headers"] if name == b"host"]
    if len(values) != 1:
        return ""
    try:
        return urlsplit(f"//{values[0].decode('latin-1')}").hostname or ""
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


async def _refuse(send: Any, status: int, reason: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reason.encode()})
