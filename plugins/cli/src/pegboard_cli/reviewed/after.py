"""`python -m pegboard_cli.reviewed.after`: the rows of `pegboard plugins` after new plugins were looked at, as JSON.

A process of its own, as what was just installed may have changed what an older one has imported."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec


def rows_now() -> list[dict[str, Any]]:
    """The rows. Empty: they could not be had."""
    command = [sys.executable, "-P", "-m", "pegboard_cli.reviewed.after"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        return msgspec.json.decode(done.stdout, type=list[dict[str, Any]])
    except msgspec.DecodeError:
        return []


def main() -> None:
    """Look at what is new, and print every row."""
    from pegboard_cli.document import keep_stdout
    from pegboard_cli.options import print_json
    from pegboard_cli.plugin_list import Installed

    keep_stdout(True)
    installed = Installed(None)
    refused, _ = installed.look(retry=False)
    print_json(installed.rows(refused).plugins)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
