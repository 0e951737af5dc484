"""Runs a web server until it is interrupted."""

import socket
from contextlib import suppress
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived

from allennlp_sentmatch.serving import requests


def serve(app: Any, host: str, port: int, name: str) -> None:
    """Serve an ASGI application until interrupted.

    The port 0 stands for any that is free. The application's `name` is printed with its address.

    # Raises

    `ConfigurationError` if the address cannot be bound.
    """
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimedProtocol(H11Protocol):
        """Closes connections that send no whole request for `REQUEST_SECONDS`.

        Uvicorn closes only those that send nothing after an answer.
        """

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(requests.REQUEST_SECONDS, self._close_unless_asked, None)

        def on_response_complete(self) -> None:
            answered = self.cycle
            super().on_response_complete()
            self.loop.call_later(requests.REQUEST_SECONDS, self._close_unless_asked, answered)

        def _close_unless_asked(self, last: Any) -> None:
            if self.cycle is last:
                self.transport.close()

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small packets at once (TCP_NODELAY) only where the protocol is named. Otherwise
    # each answer waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # who reads the address below may connect already
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"cannot serve at --host {host} --port {port}: {error.strerror}; is another "
            "program there?"
        ) from error
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    print(f"The {name} is at http://{shown}:{bound}/ (Ctrl-C ends it).", flush=True)
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        proxy_headers=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    # After shutting down, uvicorn raises the signal that ended it.
    with suppress(KeyboardInterrupt, SigTermReceived):
        uvicorn.Server(config).run(sockets=[listener])
