"""Which requests are answered."""

import asyncio

import pytest

from allennlp_sentmatch.demo.middleware import RequestFilter, SecurityHeaders


def respond(*hosts, path="/", server=("127.0.0.1", 7860), allowed_hosts=(), kind="http"):
    """The status of the response; 200 comes from the application itself."""
    events = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]})
        await send({"type": "http.response.body", "body": b"secret"})

    async def send(event):
        events.append(event)

    headers = [(b"host", host.encode()) for host in hosts]
    scope = {"type": kind, "path": path, "server": server, "headers": headers}
    application = SecurityHeaders(RequestFilter(app, allowed_hosts))
    asyncio.run(application(scope, None, send))
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
    ],
)
def test_routes_that_the_page_does_not_need_are_closed(path):
    assert respond("127.0.0.1", path=path) == 404


@pytest.mark.parametrize("path", ["/", "/assets/index.js", "/gradio_api/queue/join"])
def test_routes_of_the_page_are_open(path):
    assert respond("127.0.0.1", path=path) == 200
