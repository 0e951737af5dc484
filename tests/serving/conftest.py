"""Servers and clients for the tests."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from allennlp_sentmatch.serving import create_app, serve
from allennlp_sentmatch.serving.page import with_page
from allennlp_sentmatch.serving.predictions import service_of
from allennlp_sentmatch.serving.requests import RequestLimits
from tests.conftest import REPOSITORY

WATCHED = """
import sys

def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if host not in ("127.0.0.1", "::1", "localhost", None):
        print("OUTSIDE:", event, host, file=sys.stderr, flush=True)

sys.addaudithook(watch)
from allennlp.__main__ import run
run()
"""
"""The `allennlp` command, with reports of every connection to another machine."""


@pytest.fixture(scope="module")
def demo_process(small_archive, tmp_path_factory) -> Iterator[tuple[subprocess.Popen, str]]:
    """A running `allennlp demo`, which contacts no other machine until it ends, and its address."""
    pytest.importorskip("fastapi")
    log = tmp_path_factory.mktemp("demo") / "log.txt"
    # allennlp-models, which `make test-slow` has on this path, downloads when it is imported.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", WATCHED, "demo", str(small_archive), "--port", "0"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process, address_in(log, process)
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(timeout=20)
    assert "OUTSIDE" not in log.read_text(), log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


def address_in(log, process) -> str:
    """The address that the command prints once it listens."""
    for _ in range(240):
        assert process.poll() is None, log.read_text()
        for word in log.read_text().split():
            if word.startswith("http://127.0.0.1:"):
                return word
        time.sleep(0.25)
    raise AssertionError(f"no address after a minute:\n{log.read_text()}")


@contextmanager
def serving(app, host="127.0.0.1", port=0):
    """The port of a server of the application, in a thread."""
    uvicorn = pytest.importorskip("uvicorn")
    servers = []

    class Stoppable(uvicorn.Server):
        def __init__(self, config):
            super().__init__(config)
            servers.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn, "Server", Stoppable)
        thread = threading.Thread(
            target=serve,
            args=(app, host, port, "server"),
            daemon=True,
        )
        thread.start()
        try:
            while not (servers and servers[0].started):
                assert thread.is_alive()
                time.sleep(0.01)
            yield servers[0].servers[0].sockets[0].getsockname()[1]
        finally:
            servers[0].should_exit = True
            thread.join(timeout=20)


def respond(*hosts, server="127.0.0.1", allowed_hosts=(), kind="http", headers=(), chunks=(b"",)):
    """The status of the response, and the body that the application receives."""
    events = []
    bodies = []
    chunks = list(chunks)

    async def receive():
        if not chunks:
            await asyncio.Event().wait()  # forever
        return {
            "type": "http.request",
            "body": chunks.pop(0),
            "more_body": bool(chunks),
        }

    async def app(scope, receive, send):
        bodies.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]})
        await send({"type": "http.response.body", "body": b"secret"})

    async def send(event):
        events.append(event)

    scope = {
        "type": kind,
        "method": "GET",
        "path": "/",
        "server": (server, 7860),
        "headers": [*((b"host", host.encode()) for host in hosts), *headers],
    }
    asyncio.run(RequestLimits(app, allowed_hosts, lambda *_: None)(scope, receive, send))
    status = events[0]["status"]
    assert (status == 200) == (events[1]["body"] == b"secret")
    assert b"default-src 'none'" in dict(events[0]["headers"])[b"content-security-policy"]
    return status, *bodies


def sent(port, content):
    """Return the server's answer to some bytes."""
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(content)
        return client.makefile("rb").read()


@pytest.fixture(scope="session")
def served():
    """Serves a predictor with the page, and gives the port."""

    def serve(predictor, **settings):
        corpus = settings.pop("corpus", None)
        service = with_page(service_of(predictor), predictor, ["a model"], (), corpus)
        return serving(create_app(service, **settings))

    return serve
