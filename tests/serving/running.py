"""Servers in threads of the tests."""

import threading
import time
from contextlib import contextmanager

import pytest

from allennlp_sentmatch.serving import serve


@contextmanager
def serving(app, host="127.0.0.1"):
    """The port of a server of the application, in a thread."""
    uvicorn = pytest.importorskip("uvicorn")
    servers = []

    class Stoppable(uvicorn.Server):
        def __init__(self, config):
            super().__init__(config)
            servers.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn, "Server", Stoppable)
        thread = threading.Thread(target=serve, args=(app, host, 0, "server"), daemon=True)
        thread.start()
        try:
            while not (servers and servers[0].started):
                assert thread.is_alive()
                time.sleep(0.01)
            yield servers[0].servers[0].sockets[0].getsockname()[1]
        finally:
            servers[0].should_exit = True
            thread.join(timeout=20)
