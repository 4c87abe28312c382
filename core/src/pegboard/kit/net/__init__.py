"""The guard of every request that leaves this machine: which URLs may be asked for, and which addresses dialled.

    urls         read a URL in one way only; what two programs might read in two ways is refused
    addresses    which addresses are not public, and why
    guard        the rules of one board: ports, hosts that a person opened, the verdict over addresses
    dial         look a name up, judge every address, connect to one that was judged

    target = parse("https://docs.example/a")
    stream = await dial(target, Policy.of(), open_stream)

It speaks no HTTP. Whoever connects gives `dial` a function that opens a connection to a literal address, so that no name
is looked up between the check and the connection. A redirect is a new URL: parse it and dial again.
"""

from pegboard.kit.net.addresses import Block, block_of
from pegboard.kit.net.dial import Resolve, dial, resolve
from pegboard.kit.net.guard import Policy
from pegboard.kit.net.urls import Refused, Target, join, parse

__all__ = ["Block", "Policy", "Refused", "Resolve", "Target", "block_of", "dial", "join", "parse", "resolve"]
