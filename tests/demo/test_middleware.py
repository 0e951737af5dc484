"""Which requests are answered, and which bodies reach Gradio: texts and choices for the page's own
functions.
"""

import asyncio
import json

import pytest

from allennlp_sentmatch.demo.middleware import ANSWERS, JOIN, RequestFilter, check_body
from allennlp_sentmatch.serving.requests import MAX_TEXT, RequestError


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
        "method": "GET",
        "path": path,
        "server": server,
        "query_string": query,
        "headers": [*((b"host", host.encode()) for host in hosts), *headers],
    }
    functions = {0: [{"type": "string"}]}
    application = RequestFilter(app, functions, ["tab"], allowed_hosts)
    asyncio.run(application(scope, receive, send))
    status = events[0]["status"]
    assert (status == 200) == (events[1]["body"] == b"secret")
    assert b"content-security-policy" in dict(events[0]["headers"])
    return status


@pytest.mark.parametrize(
    ("status", "hosts", "server"),
    [
        # The address itself.
        *((200, [host], "127.0.0.1") for host in ("127.0.0.1:7860", "localhost:7860", "LocalHost")),
        (200, ["192.0.2.7:80"], "192.0.2.7"),
        (200, ["[::1]:80"], "::1"),
        (200, ["localhost"], "::1"),
        (200, ["Demo.Example:443"], "127.0.0.1"),
        # Another name, no name and two names.
        *((421, [host], "127.0.0.1") for host in ("evil.example:7860", "127.0.0.2", "", "[")),
        (421, ["127.0.0.1.evil.example"], "127.0.0.1"),
        (421, ["demo.example.evil.example"], "127.0.0.1"),
        (421, ["0.0.0.0"], "127.0.0.1"),
        (421, ["localhost"], "192.0.2.7"),
        (421, [], "127.0.0.1"),
        (421, ["127.0.0.1", "evil.example"], "127.0.0.1"),
    ],
)
def test_names_that_are_answered(status, hosts, server):
    settings = {"server": (server, 7860), "allowed_hosts": ["demo.example"]}
    assert respond(*hosts, **settings) == status
    # No socket is open.
    assert respond(*hosts, kind="websocket", **settings) == (404 if status == 200 else 421)


@pytest.mark.parametrize(
    "path",
    [
        *("/gradio_api/file=http://evil.example/", "/gradio_api/proxy=http://evil.example/"),
        *("/gradio_api/upload", "/gradio_api/run/predict", "/gradio_api/queue/join/"),
        *("/openapi.json", "//evil.example/", "/assets/" + "a" * 300, "/assets/é"),
    ],
)
def test_routes_that_the_page_does_not_need_are_closed(path):
    assert respond("127.0.0.1", path=path) == 404


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        *(("http://localhost:7860", 200), ("https://LOCALHOST:7860", 200)),
        *(("https://demo.example:8443", 200), ("http://demo.example.evil.example", 403)),
        *(("http://localhost:7861", 403), ("http://localhost", 403)),
        *(("http://127.0.0.1:7860", 403), ("http://evil.example:7860", 403)),
        *(("http://evil.example/localhost:7860", 403), ("null", 403)),
        *(("http://[", 403), ("", 403)),
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


TEXT = {"type": "string"}
FUNCTIONS = {
    0: [TEXT, TEXT],
    3: [{"type": "string", "enum": ["simple", "smooth"]}, TEXT],
    4: [TEXT, {"type": "boolean"}],
}
FORM = {"data": ["a cat", ""], "fn_index": 0, "trigger_id": 8, "session_hash": "4cz5se8l4c4"}
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


def body(**changes):
    return json.dumps({**FORM, **changes}).encode()


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"event_data": None, "trigger_id": None},
        {"fn_index": 3, "data": ["smooth", "é \U0001f600"]},
        {"fn_index": 4, "data": ["a" * MAX_TEXT, False]},
    ],
)
def test_what_the_page_sends_is_accepted(form):
    check_body(body(**form), FUNCTIONS)


REFUSED = {
    400: [
        *({"fn_index": index} for index in (None, "0", 0.0, [0], {})),
        *({"session_hash": name} for name in (None, "", 7, "a" * 65, "../x", "a\0", "é")),
        *({"trigger_id": target} for target in ("8", [8], 8.5)),
        *({"event_data": data} for data in ({}, FILE, "x", 0)),
        *({"data": data} for data in (None, {}, "ab", [], ["a"], ["a", "b", "c"])),
        *({"data": ["a", value]} for value in (None, 1, True, ["a"], {}, FILE, {"a": [FILE]})),
        {"data": ["a \ud800", ""]},  # half of a character, which Gradio could not send back
        {"fn_index": 3, "data": ["integrated", "a"]},
        {"fn_index": 3, "data": [["simple"], "a"]},
        {"fn_index": 4, "data": ["a", 1]},
        {"batched": True},
        {"files": [FILE]},
        *(b"", b"{", b"null", b'"a"', b"\xff\xfe", b"[" * 500_000, b"1" * 5000, b"NaN"),
    ],
    404: [{"fn_index": index} for index in (1, -1, 10**30)],
    413: [{"data": ["a" * (MAX_TEXT + 1), ""]}],
}
"""Changes to the form, or whole bodies, by the status of the refusal."""


@pytest.mark.parametrize(
    ("status", "content"), [(status, one) for status in REFUSED for one in REFUSED[status]]
)
def test_any_other_form_is_refused(status, content):
    with pytest.raises(RequestError) as refusal:
        check_body(content if isinstance(content, bytes) else body(**content), FUNCTIONS)
    assert refusal.value.status == status
