"""Which addresses are public: our table against the registries, and what Python's own properties let through."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.kit.net import block_of

BLOCKS = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "::/96", "::ffff:0:0/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:2::/48",
    "2001:10::/28", "2001:20::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
    "fec0::/10", "ff00::/8",
]  # fmt: skip
"""RFC 6890 and what was registered since."""
EDGES = [
    "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
    "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.167.255.255",
    "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::", "2001:db7:ffff::", "2001:db9::",
    "2003::", "2606:2800:220:1:248:1893:25c8:1946", "2a00::", "3fff:1000::",
]  # fmt: skip
"""Just outside of one, and public."""


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.row("Z-044")
def test_both_ends_of_a_block_are_not_public(block: str) -> None:
    network = ip_network(block)
    assert block_of(network[0]) is not None
    assert block_of(network[-1]) is not None


@pytest.mark.parametrize("address", EDGES)
def test_what_lies_just_outside_of_a_block_is_public(address: str) -> None:
    assert block_of(ip_address(address)) is None


@given(number=st.integers(0, 2**32 - 1))
def test_what_python_calls_private_or_multicast_is_never_public(number: int) -> None:
    address = IPv4Address(number)
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert block_of(address) is not None


@given(number=st.integers(0, 2**128 - 1))
def test_of_ipv6_only_global_unicast_is_public(number: int) -> None:
    address = IPv6Address(number)
    if address not in ip_network("2000::/3") and address not in ip_network("64:ff9b::/96"):
        assert block_of(address) is not None


@given(number=st.integers(0, 2**32 - 1))
@pytest.mark.row("Z-044")
def test_an_address_inside_an_address_is_judged_too(number: int) -> None:
    inner = IPv4Address(number)
    nat64 = IPv6Address(int(IPv6Address("64:ff9b::")) | number)
    isatap = IPv6Address(int(IPv6Address("2a00:1::200:5efe:0:0")) | number)
    assert (block_of(nat64) is None) == (block_of(isatap) is None) == (block_of(inner) is None)
    assert block_of(IPv6Address(int(IPv6Address("::ffff:0:0")) | number)) is not None
    assert block_of(IPv6Address(int(IPv6Address("2002::")) | number << 80)) is not None
    assert block_of(IPv6Address(number)) is not None


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "0.0.0.0"],
)
def test_metadata_services_are_not_among_what_a_name_can_open(address: str) -> None:
    found = block_of(ip_address(address))
    assert found is not None
    assert not found.private
