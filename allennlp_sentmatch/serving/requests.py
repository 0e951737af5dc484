"""Limits of requests, and the names under which a server of this package answers."""

import asyncio
import ipaddress
import json
import re
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Callable
from urllib.parse import urlsplit

MAX_BYTES = 1_000_000  # the size of the largest body of a request
MAX_TEXT = 20_000  # the length of the longest text of a request
REQUEST_SECONDS = 20  # the time in which the headers of a request must arrive, and then its body
HEALTH = "/health"  # under every name: it tells no secret, and load balancers may send none


POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self'; script-src 'self'; style-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The content security policy: a browser loads from this server only, and runs no other script, and
the page's scripts make no HTML of text."""

HEADERS = [
    (b"cache-control", b"no-cache"),
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]
"""Sent with every response."""


class RequestError(Exception):
    """A request is refused with an HTTP status, and a sentence for the visitor."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


ENDING = RequestError(503, "The server is shutting down; try again later.")


def check_names(scope: Any, allowed_hosts: Collection[str]) -> str:
    """The name, without the port, that a request was sent to.

    A web page elsewhere can have its own name resolve to this machine's address (DNS rebinding) and
    then read from here as if from its own server: the browser still sends that name as `Host`.
    Accepted are the names `allowed_hosts`, in lower case, and the address that the request arrived
    at, or "localhost" if that is a loopback address; others, and a page of another origin, are a
    `RequestError`.
    """
    hosts = _values(scope, b"host")
    host = hosts[0].lower() if len(hosts) == 1 else ""
    name = _host_name(f"//{host}")
    address = _address(str((scope.get("server") or ("",))[0]))
    is_local = name == "localhost" and getattr(address, "is_loopback", False)
    if not (name in allowed_hosts or _address(name) == address or is_local):
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
    """The address that a name is: IPv4's, where it is that within IPv6."""
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        return getattr(address, "ipv4_mapped", None) or address
    return name.lower()


def _host_name(address: str) -> str:
    """The host's name in an address, without the port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


class RequestLimits:
    """ASGI middleware that refuses requests under other names or of pages elsewhere, and large,
    slow or compressed bodies; see `check_names` for `allowed_hosts`.

    `HEADERS` are sent with every response. Work on a request ends when its client leaves. `count`
    takes the path, the status and the seconds of each answer.
    """

    def __init__(
        self,
        app: Any,
        allowed_hosts: Collection[str] = (),
        count: Callable[[str, int, float], object] = lambda path, status, seconds: None,
    ) -> None:
        self._app = app
        self._count = count
        for host in allowed_hosts:
            if not re.fullmatch(r"[\w.-]+", host) and isinstance(_address(host), str):
                expected = "expected a name such as demo.example, without a port"
                raise ValueError(f"--allowed-host {host}: {expected}")
        self._allowed_hosts = {host.lower() for host in allowed_hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        # Without the path at which another application mounts this one, and without a slash at the
        # end: FastAPI would redirect from it, to an address that may not be the proxy's.
        root = scope.get("root_path", "")
        path = scope["path"][len(root) if scope["path"].startswith(root) else 0 :].rstrip("/")
        scope = {**scope, "root_path": "", "path": path or "/"}
        start = time.monotonic()

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                self._count(scope["path"], event["status"], time.monotonic() - start)
                event = {**event, "headers": [*event["headers"], *HEADERS]}
            await send(event)

        await self._handle(scope, receive, send_with_headers)

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            if scope["path"] != HEALTH:
                check_names(scope, self._allowed_hosts)
            if scope["type"] != "http":
                raise RequestError(404, "Not found.")
            if scope["method"] == "HEAD":  # a server sends no body in answer to it
                scope = {**scope, "method": "GET"}
            if set(_values(scope, b"content-encoding")) - {"identity"}:
                raise RequestError(415, "Content-Encoding is not read; send plain JSON.")
            body = await asyncio.wait_for(_whole_body(receive), REQUEST_SECONDS)
        except asyncio.TimeoutError:
            await _refuse(scope, send, RequestError(408, "The body did not arrive in time."))
        except RequestError as error:
            await _refuse(scope, send, error)
        except asyncio.CancelledError:
            await _refuse(scope, send, ENDING)
        else:
            await self._answer(scope, body, receive, send)

    async def _answer(self, scope: Any, body: bytes, receive: Any, send: Any) -> None:
        events = [{"type": "http.request", "body": body}]
        task: Any = asyncio.current_task()

        async def receive_again() -> Any:
            return events.pop() if events else await receive()

        def stop(left: Any) -> None:
            if not left.cancelled():
                task.cancel()

        left = asyncio.ensure_future(receive())  # which ends when the client leaves
        left.add_done_callback(stop)
        try:
            await self._app(scope, receive_again, send)
        except asyncio.CancelledError:
            with suppress(RuntimeError):  # the answer has begun
                await _refuse(scope, send, ENDING)
        finally:
            left.cancel()


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


async def _refuse(scope: Any, send: Any, error: RequestError) -> None:
    """Send an error in the form of FastAPI's own, or of OpenAI's."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    body = json.dumps(error_body(scope["path"], error.status, str(error))).encode()
    await send({"type": "http.response.body", "body": body})


def error_body(path: str, status: int, reason: str) -> dict[str, Any]:
    """The body of an error: `detail`, or OpenAI's `error` where its clients ask."""
    if not path.startswith("/v1/"):
        return {"detail": reason}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": reason, "type": kind, "param": None, "code": None}}


def parsed_body(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is; anything else is a `RequestError`."""
    try:
        parsed = json.loads(body.decode("utf-8"), object_pairs_hook=_distinct)
    except UnicodeDecodeError:
        raise RequestError(400, "The body is not UTF-8.") from None
    except RecursionError:
        raise RequestError(400, "The body is nested too deeply.") from None
    except ValueError as error:
        reason = str(error).encode("utf-8", "backslashreplace").decode()
        raise RequestError(400, f"The body: not valid JSON ({reason}).") from None
    if not isinstance(parsed, dict):
        raise RequestError(400, f"The body: expected a JSON object, not {type(parsed).__name__}.")
    return parsed


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {key!r:.100} occurs twice in an object")
        values[key] = value
    return values
