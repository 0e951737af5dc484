"""Runs a web server until it is interrupted."""

import argparse
import asyncio
import json
import resource
import socket
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Optional

from allennlp_sentmatch.serving import requests

SHUTDOWN_SECONDS = 5  # the time in which requests are still answered after the signal to end
MAX_CONNECTIONS = 1000  # the most that are open; at most half of the files that may be open
KEEP_ALIVE_SECONDS = 620  # without a request; a proxy that waits for less never meets a closed one


def add_server_options(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the address to serve at, with the default `port`, and the limits of the server."""
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets other machines in")
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer requests for this host name too, such as a proxy's name, and not only "
        "for the address itself; may be repeated",
    )
    parser.add_argument("--port", type=int, default=port, help="the port to serve at")
    parser.add_argument("--batch-size", type=int, default=32, help="inputs predicted at a time")
    parser.add_argument(
        "--max-words",
        type=int,
        help="refuse inputs that cost more than one text of this many words (default: up to "
        "1,000, as many as a trained model reads in 10 seconds; measured at the start)",
    )


def serve(app: Any, host: str, port: int, name: str) -> None:
    """Serve an ASGI application until interrupted, and at most `SHUTDOWN_SECONDS` longer.

    Port 0 chooses a free port. The application's `name` is printed with its address. An
    address that cannot be bound is a `ValueError`.
    """
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    num_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_CONNECTIONS if num_files < 0 else min(MAX_CONNECTIONS, num_files // 2)
    open_connections: dict[Any, None] = {}  # the oldest first

    class LimitedProtocol(H11Protocol):
        """Closes connections that send no whole request for `REQUEST_SECONDS`, that do not read an
        answer for twice as long, and the oldest without a whole request where there are too many.

        Uvicorn closes only those that send nothing after an answer, for `KEEP_ALIVE_SECONDS`.
        """

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(requests.REQUEST_SECONDS, self._close_unless_asked, None)
            open_connections[self] = None
            if len(open_connections) > limit:
                message = "Too many connections; try again later."
                next(filter(_is_idle, open_connections)).send_400_response(message, 503)

        def connection_lost(self, exc: Optional[Exception]) -> None:
            open_connections.pop(self, None)
            super().connection_lost(exc)

        def send_400_response(self, msg: str, status: int = 400) -> None:
            open_connections.pop(self, None)
            body = json.dumps({"detail": msg})
            head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nConnection: close\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self.transport.write((head + body).encode())
            self.transport.close()

        def data_received(self, data: bytes) -> None:
            if self.timeout_keep_alive_task is not None:  # the first data since an answer
                self.loop.call_later(requests.REQUEST_SECONDS, self._close_unless_asked, self.cycle)
            super().data_received(data)

        def pause_writing(self) -> None:  # the client has yet to read
            super().pause_writing()
            seconds = 2 * requests.REQUEST_SECONDS
            self._unread = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            self._unread.cancel()
            super().resume_writing()

        def _close_unless_asked(self, last: Any) -> None:
            if self.cycle is last:
                self.transport.close()  # once the client has read the answer, if it reads
                self.loop.call_later(requests.REQUEST_SECONDS, self.transport.abort)

    class Server(uvicorn.Server):
        """Answers what still comes through open connections, and says that they close."""

        async def shutdown(self, sockets: Any = None) -> None:
            for server in self.servers:
                server.close()
            state: Any = self.server_state
            headers = [*state.default_headers, (b"connection", b"close")]
            for part in (state, *(one.cycle for one in state.connections if one.cycle)):
                part.default_headers = headers
            await asyncio.sleep(0.5)
            await super().shutdown(sockets)
            await asyncio.sleep(0.2)  # until the requests that were cancelled are answered

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small packets at once (TCP_NODELAY) only where the protocol is named. Otherwise
    # each answer waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # who reads the address below may connect already
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot serve at --host {host} --port {port}: {reason}") from error
    address, bound = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    others = "" if shown == address else " and at this machine's other addresses"
    shown = f"[{shown}]" if ":" in shown else shown
    print(f"The {name} is at http://{shown}:{bound}/{others} (Ctrl-C ends it).", flush=True)
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        # asyncio accepts so many connections before the protocol can close one; each of them that
        # lacks a free file would be a message in the log.
        backlog=max(limit // 2, 1),
        ws="none",
        proxy_headers=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    # After shutting down, uvicorn raises the signal that ended it.
    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _is_idle(connection: Any) -> bool:
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or cycle.more_body
