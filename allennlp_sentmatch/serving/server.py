"""Run a web server until it is interrupted."""

import asyncio
import resource
import socket
from contextlib import suppress
from typing import Any

from allennlp_sentmatch.serving.connections import Connections

SHUTDOWN_SECONDS = 5  # after the signal to end, requests are answered for this time
MAX_CONNECTIONS = 1000  # open connections, at most; also at most half of the files that may be open
KEEP_ALIVE_SECONDS = 620  # longer than proxies wait, so that they never meet a closed one


def serve(
    app: Any,
    host: str,
    port: int,
    name: str,
) -> None:
    """Serve an ASGI application until interrupted, and at most `SHUTDOWN_SECONDS` longer.

    # Parameters

    app : `Any`
    host : `str`
        The name or address of this machine at which to serve.
    port : `int`
        0 chooses a free port.
    name : `str`
        What the application is called in the line that says its address.

    # Raises

    `ValueError` if the address cannot be bound.
    """
    listener = _listening_socket(host, port)
    address, bound = listener.getsockname()[:2]
    print(f"The {name} is at {_shown_address(address, bound)} (Ctrl-C ends it).", flush=True)
    server = _server(app)
    # After shutting down, uvicorn raises the signal that ended it.
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def _most_connections() -> int:
    """Return how many connections may be open, with regard to the limit on open files."""
    num_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_unlimited = num_files < 0
    return MAX_CONNECTIONS if is_unlimited else min(MAX_CONNECTIONS, num_files // 2)


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address, or raise a `ValueError` that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small packets at once (TCP_NODELAY) only if the protocol is named. Otherwise,
    # each answer waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # clients may connect as soon as the address is printed
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot serve at --host {host} --port {port}: {reason}") from error
    return listener


def _shown_address(address: str, port: int) -> str:
    """Return the address for a browser on this machine, and whether there are other addresses."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}
    shown = local.get(address, address)
    others = " and at this machine's other addresses" if address in local else ""
    name = f"[{shown}]" if ":" in shown else shown
    return f"http://{name}:{port}/{others}"


def _server(app: Any) -> Any:
    """Return the server of an application, which watches its connections."""
    import uvicorn

    most = _most_connections()
    connections = Connections(most)

    class Server(uvicorn.Server):
        """Answers late requests on open connections, and says that they close."""

        async def shutdown(self, sockets: Any = None) -> None:
            connections.is_ending = True
            for server in self.servers:
                server.close()
            await asyncio.sleep(0.5)
            await super().shutdown(sockets)
            await asyncio.sleep(0.2)  # until the cancelled requests are answered

    config = uvicorn.Config(
        app,
        http="h11",
        # asyncio accepts this many connections before one of them can be closed; each one without a
        # free file would cause a message in the log.
        backlog=max(most // 2, 1),
        ws="none",
        lifespan="off",  # a second Ctrl-C would log the traceback of its task
        proxy_headers=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    config.load()
    config.http_protocol_class = connections.watching(config.http_protocol_class)
    return Server(config)
