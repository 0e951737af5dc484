"""The requests that reach the application, and the headers of every answer."""

import asyncio
import re
import socket
from contextlib import closing, suppress

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.serving import requests
from allennlp_sentmatch.serving.endpoint import STATIC_FILES
from allennlp_sentmatch.serving.requests import RequestLimits
from tests import fuzzing

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def port(untrained_predictor, served):
    with served(untrained_predictor("similarity_regressor")) as port:
        yield port


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
    asyncio.run(RequestLimits(app, allowed_hosts)(scope, receive, send))
    status = events[0]["status"]
    assert (status == 200) == (events[1]["body"] == b"secret")
    assert b"default-src 'none'" in dict(events[0]["headers"])[b"content-security-policy"]
    return status, *bodies


@pytest.mark.parametrize(
    ("status", "hosts", "server"),
    [
        # The address itself.
        *((200, [host], "127.0.0.1") for host in ("127.0.0.1:7860", "localhost:7860", "LocalHost")),
        (200, ["192.0.2.7:80"], "192.0.2.7"),
        (200, ["[::1]:80"], "::1"),
        (200, ["localhost"], "::1"),
        (200, ["Demo.Example:443"], "127.0.0.1"),
        # The browser's own machine, whose port is mapped to a container's.
        *((200, [host], "172.17.0.2") for host in ("localhost:80", "127.0.0.1:80", "[::1]:80")),
        (421, ["localhost.evil.example"], "172.17.0.2"),
        (421, ["127.0.0.2"], "172.17.0.2"),
        # Another name, no name and two names.
        *((421, [host], "127.0.0.1") for host in ("evil.example:7860", "127.0.0.2", "", "[")),
        (421, ["127.0.0.1.evil.example"], "127.0.0.1"),
        (421, ["demo.example.evil.example"], "127.0.0.1"),
        (421, ["0.0.0.0"], "127.0.0.1"),
        (421, [], "127.0.0.1"),
        (421, ["127.0.0.1", "evil.example"], "127.0.0.1"),
    ],
)
def test_names_that_are_answered(status, hosts, server):
    settings = {"server": server, "allowed_hosts": ["demo.example"]}
    assert respond(*hosts, **settings)[0] == status
    # No socket is open.
    assert respond(*hosts, kind="websocket", **settings) == (404 if status == 200 else 421,)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:7860", 200),
        ("https://LOCALHOST:7860", 200),
        ("https://demo.example:8443", 200),
        ("http://demo.example.evil.example", 403),
        ("http://localhost:7861", 403),
        ("http://localhost", 403),
        ("http://127.0.0.1:7860", 403),
        ("http://evil.example:7860", 403),
        ("http://evil.example/localhost:7860", 403),
        ("null", 403),
        ("http://[", 403),
        ("", 403),
    ],
)
def test_other_origins_are_refused(origin, status):
    """The same holds for other ports of this machine."""
    headers = [(b"origin", origin.encode())]
    for more in ([], [(b"origin", b"http://localhost:7860")]):
        settings = {"headers": more + headers, "allowed_hosts": ["demo.example"]}
        assert respond("localhost:7860", **settings)[0] == status


@pytest.mark.parametrize("host", ["*", "*.example", "demo.example:80", "https://demo.example", ""])
def test_allowed_hosts_that_are_no_names(host):
    with pytest.raises(ValueError, match=rf"--allowed-host {re.escape(host)}: expected a name"):
        RequestLimits(None, [host])
    RequestLimits(None, ["demo.example", "2001:db8::1", "my_service"])


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
