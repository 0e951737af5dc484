"""Limits of requests, and the names under which a server of this package answers."""

import asyncio
import ipaddress
import json
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

MAX_BYTES = 1_000_000
"""The size of the largest body of a request."""

MAX_TEXT = 20_000
"""The length of the longest text of a request."""

REQUEST_SECONDS = 20
"""The time in which the headers of a request must arrive, and then its body."""


class RequestError(Exception):
    """A request is refused.

    # Parameters

    status : `int`
        The HTTP status.
    reason : `str`
        A sentence for the visitor.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def check_names(scope: Any, allowed_hosts: Collection[str]) -> str:
    """Check the name that a request was sent to, and the page that sends it.

    A web page elsewhere can have its own name resolve to this machine's address (DNS rebinding) and
    then read from here as if from its own server: the browser still sends that name as `Host`.

    # Parameters

    scope : `Any`
        The ASGI scope of the request.
    allowed_hosts : `Collection[str]`
        Names, in lower case, in addition to the address that the request arrived at, and to
        "localhost" if that is a loopback address.

    # Returns

    `str`
        The name, without the port.

    # Raises

    `RequestError` for another name, and for a page of another origin.
    """
    hosts = _values(scope, b"host")
    host = hosts[0].lower() if len(hosts) == 1 else ""
    name = _host_name(f"//{host}")
    if not (name in allowed_hosts or name in _own_names(scope)):
        raise RequestError(
            421,
            f"Nothing is served here under the name {name!r}. Start the server with --allowed-host "
            "if it should be.",
        )
    for origin in _values(scope, b"origin"):
        is_own = origin.lower() in (f"http://{host}", f"https://{host}")
        if not is_own and _host_name(origin) not in allowed_hosts:
            raise RequestError(403, "Pages of other origins cannot use this server.")
    return name


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


async def read_body(receive: Any) -> bytes:
    """The body of a request.

    # Raises

    `RequestError` for a body that is too large, too slow or incomplete.
    """
    try:
        return await asyncio.wait_for(_whole_body(receive), REQUEST_SECONDS)
    except asyncio.TimeoutError:
        raise RequestError(408, "The body did not arrive in time.") from None


async def _whole_body(receive: Any) -> bytes:
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


def receive_again(body: bytes, receive: Any) -> Any:
    """The function `receive` as it was before the body was read."""
    events = [{"type": "http.request", "body": body}]

    async def again() -> Any:
        return events.pop() if events else await receive()

    return again


async def refuse(send: Any, error: RequestError) -> None:
    """Send an error in the form of FastAPI's own, which is also Gradio's."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    body = json.dumps({"detail": str(error)}).encode()
    await send({"type": "http.response.body", "body": body})
