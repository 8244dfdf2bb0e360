"""Addresses to listen on."""

from __future__ import annotations

import socket

import pytest

from punish_fast.web.server import AddressError, address_of, listen


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", ""), ("::1", "[::1]")])
def test_an_address_is_shown_as_people_type_it(host, shown):
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with listen(host, 0) as listening:
        address = address_of(listening)
        assert address.startswith(f"http://{shown}")
        assert address.endswith(f":{listening.getsockname()[1]}")
        assert listening.getsockname()[1] > 0


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "a" * 300, "\udcff", ""])
def test_what_is_no_address_here_is_refused(host):
    with pytest.raises(AddressError, match=r"^host: "):
        listen(host, 0)
