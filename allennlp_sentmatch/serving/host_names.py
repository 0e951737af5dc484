"""The host names under which a server of this package answers."""

import ipaddress
import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from allennlp_sentmatch.serving.request_errors import RequestError

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class HostNames:
    """Refuses requests to other host names, and requests by pages of other sites.

    A web page elsewhere can have its own name resolve to this machine's address (DNS rebinding) and
    then read from here as if from its own server: the browser still sends that name as `Host`.
    Accepted are the `allowed` names, the address at which the request arrived, and the names of the
    browser's own machine, which no other machine can have: forwarded ports are used under them.

    # Parameters

    allowed : `Collection[str]`
        Further host names under which the server answers.

    # Raises

    `ValueError` for a name that is neither a host name nor an address.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        for host in allowed:
            is_name = re.fullmatch(r"[\w.-]+", host)
            if not is_name and isinstance(_address(host), str):
                expected = "expected a name such as demo.example, without a port"
                raise ValueError(f"--allowed-host {host}: {expected}")
        self._allowed = {host.lower() for host in allowed}

    def check(self, scope: Any) -> None:
        """Raise `RequestError` for a request, given by its ASGI scope, that is refused.

        Its status is 421 for another name, and 403 for a page of another origin.
        """
        hosts = _values(scope, b"host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        server = scope.get("server")
        self._check_host(host, server[0] if server else "")
        for origin in _values(scope, b"origin"):
            self._check_origin(origin, host)

    def _check_host(self, host: str, server: Any) -> None:
        """Raise `RequestError` if a name and port are not of the server at an address."""
        name = _host_name(f"//{host}")
        is_known = name in LOCAL_NAMES or name in self._allowed
        if not is_known and _address(name) != _address(str(server)):
            raise RequestError(
                421,
                f"Nothing is served here under the name {name!r}. Start the server with "
                "--allowed-host if it should be.",
            )

    def _check_origin(self, origin: str, host: str) -> None:
        """Raise `RequestError` if a page's origin is neither the `host` itself nor allowed."""
        is_own = origin.lower() in (f"http://{host}", f"https://{host}")
        if not is_own and _host_name(origin) not in self._allowed:
            raise RequestError(
                403,
                f"Pages at {origin!r:.100} cannot use this server. Start it with --allowed-host if "
                "they should.",
            )


def _values(scope: Any, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _address(name: str) -> Any:
    """Return the IP address in a name; IPv4 addresses within IPv6 become IPv4."""
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        return getattr(address, "ipv4_mapped", None) or address
    return name.lower()


def _host_name(address: str) -> str:
    """Return the host's name in an address, without the port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
