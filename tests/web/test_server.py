from __future__ import annotations

import asyncio
import socket
from unittest.mock import Mock
from urllib.parse import urlsplit

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from punish_fast.web import server
from punish_fast.web.limits import client_of
from punish_fast.web.server import AddressError, address_of, listen, network_address_of, proxy_of


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", ""),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("::", "[::1]"),
        ("0.0.0.0", "127.0.0.1"),
    ],
)
def test_an_address_is_shown_as_people_type_it(host, shown):
    if ":" in shown and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with listen(host, 0) as listening:
        address = address_of(listening)
        assert address.startswith(f"http://{shown}")
        assert address.endswith(f":{listening.getsockname()[1]}")
        assert listening.getsockname()[1] > 0
        url = urlsplit(address)
        for opened in (url.hostname, *(["127.0.0.1"] if host == "::" else [])):
            socket.create_connection((opened, url.port), timeout=10).close()
        network = network_address_of(listening)
        assert network is None or (host in ("::", "0.0.0.0") and network.endswith(f":{url.port}"))


@pytest.mark.parametrize(("owner", "name"), [(socket.socket, "connect"), (socket, "socket")])
def test_a_machine_without_a_network_has_no_address_for_others(monkeypatch, owner, name):
    with listen("0.0.0.0", 0) as listening:
        monkeypatch.setattr(owner, name, Mock(side_effect=OSError))
        assert network_address_of(listening) is None


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "n_connections"),
    [(1024, 4096, 4096, 3868), (1024, -1, 16384, 16156), (1024, 1024, None, 796), (200, 200, None, 1)],
)
def test_connections_fit_in_the_limit_on_open_files(monkeypatch, soft, hard, raised, n_connections):
    resource = pytest.importorskip("resource")
    set_limits = []
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _what, limits: set_limits.append(limits))
    assert server._connections() == n_connections
    assert set_limits == ([] if raised is None else [(raised, hard)])


@pytest.mark.parametrize(
    ("error", "most", "n_connections"),
    [(ValueError, 10240, 10012), (OSError, 10240, 10012), (ValueError, 256, 28), (PermissionError, 256, 28)],
)
def test_a_limit_that_the_system_refuses_stays(monkeypatch, error, most, n_connections):
    # macOS reports no limit, but refuses numbers above its own.
    resource = pytest.importorskip("resource")

    def refuse(_what, limits):
        if limits[0] > most:
            raise error("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "RLIM_INFINITY", 2**63 - 1)
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (256, 2**63 - 1))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert server._connections() == n_connections


def client_seen(peer, forwarded, *proxies):
    """The address that limits apply to, of a request by a peer that forwards others."""
    seen = []

    async def app(scope, _receive, _send):
        seen.append(client_of(scope, "")[0].address)

    trusted = [each for proxy in proxies for each in proxy_of(proxy)]
    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    asyncio.run(ProxyHeadersMiddleware(app, trusted)(scope, None, None))
    return seen[0]


def test_forwarded_addresses_are_believed_from_a_proxy_alone():
    assert client_seen("192.0.2.1", "198.51.100.7") == "192.0.2.1"
    assert client_seen("192.0.2.1", "198.51.100.7", "192.0.2.2") == "192.0.2.1"
    assert client_seen("192.0.2.1", "198.51.100.7", "192.0.2.1") == "198.51.100.7"
    assert client_seen("::ffff:192.0.2.1", "198.51.100.7", "192.0.2.0/24") == "198.51.100.7"
    # The last address is the one that the proxy saw; the client writes those before it.
    assert client_seen("192.0.2.1", "203.0.113.9, 198.51.100.7", "192.0.2.1") == "198.51.100.7"
    # Customers of a provider have a network of their own.
    assert client_seen("::ffff:192.0.2.1", "") == "192.0.2.1"
    assert client_seen("2001:db8::1", "") == client_seen("2001:db8::ffff:1", "") != client_seen("2001:db8:0:1::1", "")


@pytest.mark.parametrize(
    ("seen", "address"),
    [
        ("198.51.100.7:99", "198.51.100.7"),
        ("[2001:db8::1]:99", "2001:db8::/64"),
        ("[::ffff:198.51.100.7]:99", "198.51.100.7"),
        ("2001:db8::1:99", "2001:db8::/64"),
        ("unknown", "unknown"),
        ("a" + ":1" * 3000, "a" + ":1" * 3000),
    ],
)
def test_a_port_is_not_part_of_a_forwarded_address(seen, address):
    assert client_seen("192.0.2.1", seen, "192.0.2.1") == address


def test_a_client_is_a_session_or_a_connection_within_an_address():
    direct, behind = {"client": ("192.0.2.1", 7)}, {"client": ("192.0.2.1", 0)}
    first, session = client_of(direct, "")
    assert client_of(direct, "")[0] == first == ("192.0.2.1", "", "7")
    # Cookies of other programs need not follow any rules.
    for cookies in (
        f"punish-fast={session}",
        f'prefs={{"a":1}}; punish-fast={session}; x',
        f"\u00e9;punish-fast={session}",
    ):
        assert client_of(direct, cookies) == (("192.0.2.1", session, ""), None)
    # A proxy tells no port of connections behind it.
    assert client_of(behind, "")[0] != client_of(behind, "")[0]
    assert client_of(direct, "punish-fast=short")[0] == client_of(direct, f"xpunish-fast={session}")[0] == first


def test_what_is_no_address_here_or_of_a_proxy_is_refused():
    for host in ("192.0.2.1", "no such host", "a" * 300, "\udcff", ""):
        with pytest.raises(AddressError, match=r"^host: "):
            listen(host, 0)
    for text in ("", "proxy", "10.0.0.1/8", "10.0.0.0/33", "*"):
        with pytest.raises(AddressError, match=r"^proxy: "):
            proxy_of(text)
