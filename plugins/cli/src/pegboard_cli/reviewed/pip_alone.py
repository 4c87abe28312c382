"""`python -m pegboard_cli.reviewed.pip_alone`: pip, which can start no program here, and so can build nothing.

pip builds what is named by an address, also deep among the dependencies, whatever it is told of sources; it clones
repositories; and it does both to answer what would come. For wheels it needs no program: where it asks one for some detail
(the compiler's version, the distribution's name) it goes on without."""

from __future__ import annotations

import os
import sys
from typing import Any

REFUSED = "no program is started before you agree"
_STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"})
_STARTS_FILES = frozenset({"os.startfile", "os.startfile/2"})
_MUSL = "/lib/ld-musl-"


def refuse(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook. Raises OSError, as where a program is missing: that is what pip is prepared for."""
    if event in _STARTS or event in _STARTS_FILES:
        if event == "subprocess.Popen" and _is_loader(given[1]):
            return
        raise OSError(REFUSED)


def _is_loader(words: Any) -> bool:
    """The system's own loader, which says its version where the C library is musl; without it no wheel would fit."""
    return isinstance(words, list) and len(words) == 1 and os.fsdecode(words[0]).startswith(_MUSL)


def main() -> None:
    """pip, with the words of the command line."""
    import runpy

    sys.addaudithook(refuse)
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
