"""The requests that reach the application, and the headers of every answer."""

import re
import socket
from contextlib import closing, suppress

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.serving import requests
from allennlp_sentmatch.serving.endpoint import STATIC_FILES
from tests import fuzzing
from tests.serving.conftest import respond

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def port(untrained_predictor, served):
    with served(untrained_predictor("similarity_regressor")) as port:
        yield port


def test_a_body_is_read_whole_and_passed_on():
    chunks = [b'{"premise": ', b'"a"}']
    assert respond("localhost", chunks=chunks) == (200, b"".join(chunks))


def test_the_page_is_static_and_loads_nothing_from_elsewhere(port):
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
        for file in sorted(STATIC_FILES.iterdir()):
            answer = http.get("/" if file.name == "index.html" else f"/{file.name}")
            assert answer.status_code == 200
            assert answer.content == file.read_bytes()
            assert answer.headers["x-content-type-options"] == "nosniff"
            policy = dict(
                part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
            )
            assert policy.pop("require-trusted-types-for") == "'script'"
            assert set(policy.values()) == {"'self'", "'none'"}
            text = answer.text.replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?:|//[a-z.]+\.[a-z]|url\(|innerHTML|eval\(", text)
            assert not re.search(r"<script>|<style| style=| on[a-z]+=", text)
        for path in ("/../endpoint.py", "/%2e%2e/endpoint.py", "/static", "/..%2fexamples.json"):
            assert http.get(path).status_code == 404
        assert http.post("/page.js").status_code == 405


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:",
        b"POST /inspect HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        b"GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nX-Slow:",
    ],
    ids=["no headers", "headers", "body", "second headers"],
)
def test_slow_requests_are_ended(port, monkeypatch, sent):
    """Occasional single bytes do not keep them alive."""
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.5)
    with closing(socket.create_connection(("127.0.0.1", port), timeout=0.2)) as connection:
        connection.sendall(sent)
        for _ in range(100):
            try:
                if connection.recv(100_000) == b"":
                    return
            except ConnectionError:
                return
            except TimeoutError:
                if sent:
                    with suppress(ConnectionError):
                        connection.send(b" ")
    raise AssertionError("the connection is still open")


TARGETS = st.one_of(
    st.sampled_from(["/", "/model", "/search", "*", "http://evil.example/", "/openapi.json"]),
    st.text("./%0aefEF?&=#~\\", max_size=12).map("/page.js{}".format),
)
NAMES = ["Host", "Origin", "Content-Length", "Transfer-Encoding", "Expect", "Range", "Upgrade"]
VALUES = ["", "0", "-1", "9" * 30, "chunked", "gzip, br", "[", "http://127.0.0.1", "bytes=0-,1-"]
HEADERS = st.lists(
    st.tuples(
        st.sampled_from([*NAMES, "If-None-Match", "X-Forwarded-Host"]),
        st.one_of(st.sampled_from(VALUES), st.text("a:/[]@.,;=\x00\xff\r\n", max_size=9)),
    ),
    max_size=3,
)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "a"])
REQUESTS = st.one_of(
    st.tuples(METHODS, TARGETS, HEADERS, st.binary(max_size=30)), st.binary(max_size=100)
)


def request(method, target, headers, body):
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body


@fuzzing.cases(25, 2000)
def test_any_request_is_ended_without_a_failure(port, num_cases, monkeypatch, caplog):
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.2)

    def check(sent):
        sent = sent if isinstance(sent, bytes) else request(*sent)
        answer = b""
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        # Bodies that are too large are not read to their end.
        with closing(connection), suppress(ConnectionError):
            connection.sendall(sent)
            answer = connection.recv(100)
        assert not answer.startswith(b"HTTP/1.1 5"), answer

    fuzzing.check_cases(check, REQUESTS, num_cases)
    assert "Traceback" not in caplog.text
