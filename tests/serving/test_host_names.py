"""The names and the origins under which a server answers."""

import re

import pytest

from allennlp_sentmatch.serving.host_names import HostNames
from tests.serving.conftest import respond


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
        HostNames([host])
    HostNames(["demo.example", "2001:db8::1", "my_service"])
