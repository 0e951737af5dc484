"""Which requests are answered."""

import asyncio

import pytest

from allennlp_sentmatch.demo.middleware import RequestFilter, SecurityHeaders
from allennlp_sentmatch.serving import requests
from allennlp_sentmatch.serving.requests import MAX_BYTES

JOIN = "/gradio_api/queue/join"
ANSWERS = "/gradio_api/queue/data"


def respond(
    *hosts,
    path="/",
    server=("127.0.0.1", 7860),
    allowed_hosts=(),
    kind="http",
    headers=(),
    query=b"",
    chunks=(b"",),
    passed_on=None,
):
    """The status of the response; 200 comes from the application itself.

    The application adds what it gets to the dictionary `passed_on`.
    """
    events = []
    chunks = list(chunks)

    async def receive():
        if not chunks:
            await asyncio.Event().wait()  # for ever
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    async def app(scope, receive, send):
        if passed_on is not None:
            passed_on.update(scope, body=(await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]})
        await send({"type": "http.response.body", "body": b"secret"})

    async def send(event):
        events.append(event)

    scope = {
        "type": kind,
        "path": path,
        "server": server,
        "query_string": query,
        "headers": [*((b"host", host.encode()) for host in hosts), *headers],
    }
    functions = {0: [{"type": "string"}]}
    application = SecurityHeaders(RequestFilter(app, functions, ["tab"], allowed_hosts))
    asyncio.run(application(scope, receive, send))
    status = events[0]["status"]
    assert (status == 200) == (events[1]["body"] == b"secret")
    assert b"content-security-policy" in dict(events[0]["headers"])
    return status


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:7860", "localhost:7860", "LocalHost"])
def test_the_address_itself_is_answered(host):
    assert respond(host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7860",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "",
        "[",
        "0.0.0.0",
    ],
)
def test_another_name_is_refused(host):
    assert respond(host) == 421
    assert respond(host, kind="websocket") == 421


def test_no_name_and_two_names_are_refused():
    assert respond() == 421
    assert respond("127.0.0.1", "evil.example") == 421


def test_other_addresses_than_loopback_are_not_localhost():
    assert respond("192.0.2.7:80", server=("192.0.2.7", 80)) == 200
    assert respond("localhost", server=("192.0.2.7", 80)) == 421
    assert respond("[::1]:80", server=("::1", 80)) == 200
    assert respond("localhost", server=("::1", 80)) == 200


def test_allowed_names_are_answered():
    assert respond("Demo.Example:443", allowed_hosts=["demo.example"]) == 200
    assert respond("demo.example.evil.example", allowed_hosts=["demo.example"]) == 421


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=http://evil.example/",
        "/gradio_api/file/x",
        "/gradio_api/proxy=http://evil.example/",
        "/gradio_api/upload",
        "/gradio_api/openapi.json",
        "/openapi.json",
        "/docs",
        "/monitoring",
        "//evil.example/",
        "/gradio_api/run/predict",
        "/gradio_api/call/predict",
        "/gradio_api/queue/join/",
        "/assets/" + "a" * 300,
        "/assets/é",
    ],
)
def test_routes_that_the_page_does_not_need_are_closed(path):
    assert respond("127.0.0.1", path=path) == 404


@pytest.mark.parametrize("path", ["/", "/theme.css", "/assets/index.js"])
def test_routes_of_the_page_are_open(path):
    assert respond("127.0.0.1", path=path) == 200


def test_no_socket_is_open():
    assert respond("127.0.0.1", kind="websocket") == 404


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:7860", 200),
        ("https://LOCALHOST:7860", 200),
        ("https://demo.example:8443", 200),
        ("http://localhost:7861", 403),
        ("http://localhost", 403),
        ("http://127.0.0.1:7860", 403),
        ("http://evil.example:7860", 403),
        ("http://evil.example/localhost:7860", 403),
        ("http://demo.example.evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        ("", 403),
    ],
)
def test_other_origins_are_refused(origin, status):
    """Other ports of this machine, too."""
    headers = [(b"origin", origin.encode())]
    allowed_hosts = ["demo.example"]
    assert respond("localhost:7860", headers=headers, allowed_hosts=allowed_hosts) == status
    headers = [(b"origin", b"http://localhost:7860"), *headers]
    assert respond("localhost:7860", headers=headers, allowed_hosts=allowed_hosts) == status


def test_headers_of_proxies_are_not_passed_on():
    names = [b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server", b"forwarded"]
    sent = [(name, b"https") for name in names]
    for host, kept in (("localhost", []), ("demo.example", [(b"x-forwarded-proto", b"https")])):
        passed_on = {}
        allowed_hosts = ["demo.example"]
        respond(host, headers=sent, passed_on=passed_on, allowed_hosts=allowed_hosts)
        assert passed_on["headers"] == [(b"host", host.encode()), *kept]


def test_a_query_names_a_session_or_nothing():
    passed_on = {}
    respond("localhost", query=b"page=x&deep_link=y", passed_on=passed_on)
    assert passed_on["query_string"] == b""
    query = b"__theme=dark&session_hash=tab&page=x"
    assert respond("localhost", path=ANSWERS, query=query, passed_on=passed_on) == 200
    assert passed_on["query_string"] == b"session_hash=tab"
    for query in (b"", b"session_hash=", b"session_hash=other"):
        assert respond("localhost", path=ANSWERS, query=query) == 404


def test_a_body_is_read_whole_and_passed_on():
    passed_on = {}
    chunks = [b'{"data": ["a"], "fn_index": 0', b', "session_hash": "tab"}']
    assert respond("localhost", path=JOIN, chunks=chunks, passed_on=passed_on) == 200
    assert passed_on["body"] == b"".join(chunks)
    assert respond("localhost", path=JOIN, chunks=chunks[:1]) == 400


def test_a_body_is_limited():
    for path in ("/", JOIN):
        assert respond("localhost", path=path, chunks=[b" " * 1000] * (MAX_BYTES // 500)) == 413


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.05)
    assert respond("localhost", path=JOIN, chunks=[]) == 408
