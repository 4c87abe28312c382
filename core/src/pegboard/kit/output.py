"""The one stage that caps what tools put out, and the sink running calls write to (decision 41).

`Sink` is for output that comes piece by piece; `cap_text` for a text that is there.
"""

from __future__ import annotations

from pegboard.kit.caps import Capped, Caps, Keep, marker, shortened
from pegboard.kit.settings import OutputSettings
from pegboard.kit.sink import Sink, Tail
from pegboard.kit.spool import Spool

__all__ = ["Capped", "Caps", "Keep", "OutputSettings", "Sink", "Spool", "Tail", "cap_text", "marker"]


def cap_text(text: str, caps: Caps, keep: Keep = "head", spool: Spool | None = None) -> Capped:
    """`text` as the model gets it: unchanged when it fits, else cut at a line end, with a marker and the whole kept.

    `keep="ends"` leaves out the middle instead of the end. The spool, when given, is written and closed.
    """
    if not caps.exceeded_by(text):
        return Capped(text=text, truncated=False, full_output=None)
    if spool:
        spool.write(text.encode("utf-8", "backslashreplace"))
        spool.close()
    cut = shortened(text, text, len(text), caps=caps, keep=keep, rest=spool.rest if spool else "")
    return Capped(text=cut, truncated=True, full_output=spool.name if spool else None)
