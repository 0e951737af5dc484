import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from allennlp_sentmatch.serving import create_app
from allennlp_sentmatch.serving.page import with_page
from allennlp_sentmatch.serving.predictions import service_of
from tests.conftest import REPOSITORY
from tests.serving.running import serving

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
"""The `allennlp` command, which reports every connection to another machine."""


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


@pytest.fixture(scope="session")
def served():
    """Serves a predictor with the page, and gives the port."""

    def serve(predictor, **settings):
        corpus = settings.pop("corpus", None)
        service = with_page(service_of(predictor), predictor, "a model", corpus)
        return serving(create_app(service, **settings))

    return serve
