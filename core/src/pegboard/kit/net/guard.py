"""The rules of one board about places on the network: ports, hosts that a person opened, the verdict over addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Address, ip_address, ip_network

import msgspec

from pegboard.kit.net.addresses import Address, Block, Network, block_of
from pegboard.kit.net.urls import Refused, Target, parse

_LOCAL = "localhost"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What may be reached: public addresses on `ports`, and what a person named.

    hosts: names and ports (None: every port) that may also be private. networks: blocks that may be reached though they
    are not public. setting: where a person opens a host, for refusals."""

    ports: frozenset[int] = frozenset({80, 443})
    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[Network, ...] = ()
    setting: str = ""

    @classmethod
    def of(
        cls,
        *,
        ports: Iterable[int] = (80, 443),
        hosts: Iterable[str] = (),
        networks: Iterable[str] = (),
        setting: str = "",
    ) -> Policy:
        """The rules as they are written: `hosts` as `name`, `name:port`, `[::1]:8000`; `networks` as `10.0.0.0/8`.

        Raises:
            ValueError: one of them cannot be read.
        """
        return cls(
            ports=frozenset(ports),
            hosts=frozenset(_named(host) for host in hosts),
            networks=tuple(ip_network(text) for text in networks),
            setting=setting,
        )

    def named(self, target: Target) -> bool:
        """Whether a person opened this host, on this port."""
        return (target.host, target.port) in self.hosts or (target.host, None) in self.hosts

    def check(self, target: Target) -> None:
        """What can be judged before a name is looked up: the port, names of this machine, addresses as they are written.

        Raises:
            Refused: it may not be requested.
        """
        if target.port not in self.ports and not self.named(target):
            allowed = ", ".join(str(port) for port in sorted(self.ports))
            why = f"port {target.port} is not among those that may be requested ({allowed})"
            raise Refused(target.url, why, reason="port", hint=self._hint(target))
        if target.address is not None:
            self.judged(target, [target.host])
        elif _is_local(target.host) and not (self.named(target) or self.networks):  # with networks its address decides
            why = f"{target.host} is this machine, not a public place"
            raise Refused(target.url, why, reason="address", hint=self._hint(target))

    def judged(self, target: Target, answers: Sequence[str]) -> list[str]:
        """The addresses that may be dialled for a host, in the order given, without repeats.

        Every address must pass: a name that answers with a public and a private one is refused.

        Raises:
            Refused: one of them may not be dialled, or there is none.
        """
        if not answers:
            raise Refused(target.url, f"{target.host} has no address", reason="unknown")
        passed: dict[str, None] = {}
        for text in answers:
            bare, zone, _ = text.partition("%")
            try:
                address = ip_address(bare)
            except ValueError:
                raise Refused(
                    target.url, f"{target.host} has an address that cannot be read", reason="address"
                ) from None
            if block := self._forbidden(target, address):
                at = "" if target.address is not None else f" is at {address}, and that"
                why = f"{target.host}{at} is not public ({block.what})"
                raise Refused(target.url, why, reason="address", hint=self._opening(target, block))
            passed[bare if not zone else str(address)] = None
        return list(passed)

    def _forbidden(self, target: Target, address: Address) -> Block | None:
        """The block for which an address may not be dialled for this host; None if it may."""
        block = block_of(address)
        if block is None or any(_within(address, network) for network in self.networks):
            return None
        if self.named(target) and (block.private or target.address is not None):
            return None
        return block

    def _opening(self, target: Target, block: Block) -> str:
        """How a person opens what an address keeps shut; nothing where a host's name does not open it."""
        if block.private or not self.setting:
            return self._hint(target)
        if target.address is None or "cloud" not in block.what:
            return ""  # of what is not private, a name opens only the address that it is
        return f"{self._hint(target)} What answers there may hand out credentials."

    def _hint(self, target: Target) -> str:
        """How a person opens it: a model cannot, and should not look for a way round."""
        if not self.setting:
            return ""
        host = f"[{target.host}]" if isinstance(target.address, IPv6Address) else target.host
        return f'If it is your own server, its person can open it: {self.setting} = ["{host}:{target.port}"].'


def _is_local(host: str) -> bool:
    """Whether a name is this machine's, whatever a resolver says (RFC 6761)."""
    return host == _LOCAL or host.endswith("." + _LOCAL)


def _within(address: Address, network: Network) -> bool:
    return isinstance(network, IPv4Network) == (address.version == 4) and address in network


def _named(host: str) -> tuple[str, int | None]:
    """Raises ValueError: a host that cannot be read, or a whole URL."""
    try:
        target = parse(f"http://{host}")
    except Refused as refused:
        raise ValueError(f"{host!r} is not a host: {refused.why}") from None
    if target.path != "/" or host.endswith(("/", "#")) or target.fragment:
        raise ValueError(f"{host!r} is not a host; write name or name:port")
    port = host.rpartition(":")[2] if not host.endswith("]") else ""
    return target.host, target.port if port.isdigit() and ":" in host else None
