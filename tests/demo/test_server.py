"""The page as it is served: it asks nobody else for anything, and is for this machine only."""

import asyncio
import re
import socket
import sys

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo import create_app, serve
from allennlp_sentmatch.demo.server import MAX_SESSIONS

ADDRESS = "http://127.0.0.1"


class Client:
    """Sends requests to an application, without a network."""

    def __init__(self, app):
        self._app = app

    def get(self, path, **arguments):
        return asyncio.run(self._request("GET", path, **arguments))

    def post(self, path, **arguments):
        return asyncio.run(self._request("POST", path, **arguments))

    async def _request(self, method, path, **arguments):
        httpx = pytest.importorskip("httpx")
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            return await client.request(method, path, **arguments)


@pytest.fixture(scope="module")
def client(pair_model):
    pytest.importorskip("gradio")
    return Client(create_app(pair_model))


def test_the_page_may_load_from_its_own_server_alone(client):
    response = client.get("/")
    assert response.status_code == 200
    policy = dict(
        part.split(" ", 1) for part in response.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'self'"
    for name, sources in policy.items():
        assert "http" not in sources, name
        assert "*" not in sources, name


def test_the_page_loads_no_script_style_or_font_from_elsewhere(client):
    html = client.get("/").text
    loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?\s(?:src|href)="([^"]*)"', html)
    assert loaded
    stylesheet = client.get("/theme.css").text
    loaded += re.findall(r"""url\(["']?([^"')]*)""", stylesheet)
    for address in loaded:
        assert re.match(r"(https?:)?//(?!127.0.0.1/)", address) is None, address
    assert "fonts.googleapis" not in html + stylesheet


@pytest.mark.parametrize(
    "path",
    ["/gradio_api/file=http://evil.example/", "/openapi.json", "/gradio_api/openapi.json", "/docs"],
)
def test_gradio_s_other_routes_are_closed(client, path):
    """The first one is a redirection to anywhere, in Gradio 6.17."""
    assert client.get(path).status_code == 404


def test_another_host_is_refused(client, pair_model):
    response = client.get("/", headers={"host": "evil.example"})
    assert response.status_code == 421
    assert "--allowed-host" in response.text


def test_an_allowed_host_is_answered(pair_model):
    pytest.importorskip("gradio")
    client = Client(create_app(pair_model, allowed_hosts=["demo.example"]))
    assert client.get("/", headers={"host": "demo.example"}).status_code == 200


def test_old_sessions_are_forgotten(pair_model):
    pytest.importorskip("gradio")
    app = create_app(pair_model)
    (mounted,) = (route.app for route in app.routes if hasattr(route.app, "state_holder"))
    for number in range(MAX_SESSIONS + 10):
        mounted.state_holder[str(number)]
    assert len(mounted.state_holder.session_data) == MAX_SESSIONS


def test_nothing_can_be_uploaded(client):
    response = client.post("/gradio_api/upload", files={"files": ("a.txt", b"some bytes")})
    assert response.status_code >= 400


def test_a_port_that_is_taken_is_named(pair_model):
    pytest.importorskip("gradio")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"--host 127.0.0.1 --port {port}: Address"):
            serve(None, port=port)


def test_a_missing_extra_is_named(pair_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(ConfigurationError, match=r"\[demo\]: pip install 'gradio"):
        create_app(pair_model)
