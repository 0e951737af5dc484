import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Callable

import pytest

from allennlp_sentmatch.demo import DemoModel
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
"""The `allennlp` command, which reports every connection to another machine."""


@pytest.fixture(scope="session")
def pair_model(small_archive) -> DemoModel:
    """A classifier of pairs, trained on the quick start's sentences."""
    return DemoModel.from_archive(small_archive)


@pytest.fixture(scope="session")
def untrained(untrained_predictor) -> Callable[[str], DemoModel]:
    """Makes the model of a configuration in fixtures/models."""
    return lambda name: DemoModel(untrained_predictor(name))


@pytest.fixture(scope="module")
def demo_process(small_archive, tmp_path_factory) -> Iterator[tuple[subprocess.Popen, str]]:
    """A running `allennlp demo`, which contacts no other machine until it ends, and its address."""
    for module in ("gradio", "matplotlib"):
        pytest.importorskip(module)
    log = tmp_path_factory.mktemp("demo") / "log.txt"
    # allennlp-models, which `make test-slow` has on this path, downloads when it is imported.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", WATCHED, "demo", str(small_archive), "--port", "0"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        yield process, wait_for_address(process, log)
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(timeout=20)
    assert "OUTSIDE" not in log.read_text(), log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="module")
def server(demo_process) -> str:
    """The address of a running `allennlp demo`."""
    return demo_process[1]


def wait_for_address(process: subprocess.Popen, log: Path) -> str:
    """The address that the command prints, once it answers."""
    for _ in range(240):
        assert process.poll() is None, log.read_text()
        for word in log.read_text().split():
            if word.startswith("http://127.0.0.1:"):
                # The address is printed just before the server listens.
                with suppress(urllib.error.URLError), urllib.request.urlopen(word):
                    return word
        try:
            process.wait(0.25)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(f"no address after a minute:\n{log.read_text()}")
