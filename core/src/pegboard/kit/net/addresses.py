"""Which addresses are not public, and why.

Our own table. `ipaddress` answers other questions: `is_private` and `is_global` both pass addresses that lead inside
(carrier-grade NAT, multicast, translated and tunnelled ones), and differ between versions of Python. Sources: IANA's
special-purpose registries for IPv4 and IPv6 (RFC 6890 and its successors), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380
(Teredo), RFC 5214 (ISATAP), and the documents of clouds for their metadata services.
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import msgspec

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class Block(msgspec.Struct, frozen=True):
    """A block that is not public. private: a person's own machines may live there, so a host they name may be reached."""

    network: Network
    what: str
    private: bool = False


_METADATA = "a cloud's metadata service"
_TABLE = (  # the more specific come first
    ("100.100.100.200/32", _METADATA, False),
    ("168.63.129.16/32", "a cloud's host service", False),
    ("169.254.0.0/16", "link-local; clouds keep their metadata services there", False),
    ("127.0.0.0/8", "loopback: this machine", True),
    ("10.0.0.0/8", "private", True),
    ("172.16.0.0/12", "private", True),
    ("192.168.0.0/16", "private", True),
    ("100.64.0.0/10", "shared between a provider's customers (carrier-grade NAT)", True),
    ("0.0.0.0/8", "this network", False),
    ("192.0.0.0/24", "kept for protocols", False),
    ("192.0.2.0/24", "kept for documentation", False),
    ("192.88.99.0/24", "a relay of 6to4", False),
    ("198.18.0.0/15", "kept for benchmarks", False),
    ("198.51.100.0/24", "kept for documentation", False),
    ("203.0.113.0/24", "kept for documentation", False),
    ("224.0.0.0/4", "multicast", False),
    ("240.0.0.0/4", "reserved", False),
    ("fd00:ec2::254/128", _METADATA, False),
    ("fd00:c1::a9fe:a9fe/128", _METADATA, False),
    ("fd20:ce::254/128", _METADATA, False),
    ("fc00::/7", "private", True),
    ("::1/128", "loopback: this machine", True),
    ("::/128", "this machine", False),
    ("::ffff:0:0/96", "an IPv4 address in IPv6 clothes", False),
    ("::/8", "no public address", False),
    ("64:ff9b:1::/48", "translated to IPv4 by a network of its own (NAT64)", False),
    ("fe80::/10", "link-local", False),
    ("fec0::/10", "site-local", False),
    ("ff00::/8", "multicast", False),
    ("2001:db8::/32", "kept for documentation", False),
    ("3fff::/20", "kept for documentation", False),
    ("2001::/32", "a Teredo tunnel", False),
    ("2001:10::/28", "an identifier (ORCHID), no place", False),
    ("2001:20::/28", "an identifier (ORCHID), no place", False),
    ("2001::/23", "kept for protocols", False),
    ("2002::/16", "a 6to4 tunnel", False),
    ("3ffe::/16", "no longer in use", False),
)
_PUBLIC6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
_OTHER6 = Block(IPv6Network("::/0"), "no public address")


@cache
def _blocks() -> tuple[Block, ...]:
    """The table, read once."""
    return tuple(Block(ip_network(text), what, private) for text, what, private in _TABLE)


def block_of(address: Address) -> Block | None:
    """The block that keeps an address from being public; None for a public one.

    Of IPv6, what lies outside of 2000::/3 is not public whether it is in the table or not. An address that carries an
    IPv4 address to a translator or a tunnel (NAT64, ISATAP) is judged by that one too."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return _inner(address, "NAT64")
        if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP and (found := _inner(address, "ISATAP")):
            return found
    for block in _blocks():
        if address.version == block.network.version and address in block.network:
            return block
    return _OTHER6 if isinstance(address, IPv6Address) and address not in _PUBLIC6 else None


def _inner(address: IPv6Address, way: str) -> Block | None:
    """The verdict over the IPv4 address in the last 32 bits. It is never `private`: nobody names such an address."""
    found = block_of(IPv4Address(int(address) & 0xFFFF_FFFF))
    return Block(found.network, f"{found.what}, by way of {way}") if found else None
