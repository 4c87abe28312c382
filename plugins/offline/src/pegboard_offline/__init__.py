"""A router that serves plain requests without a model, a key or a network.

It matches a request against the examples and declarations of the tools on offer, makes calls, answers from the results by
template, and asks back when unsure. It knows no tool and no parameter by name. The state of a request in several steps is
read off the messages alone.
"""

from __future__ import annotations

from pegboard_offline.provider import OfflineProvider, provider

__all__ = ["OfflineProvider", "provider"]
