"""How many ordinary commands of development run in the sandbox as they do outside of it.

    confined.py [--every N] [--verbose]

Each of tests/data/commands_200.jsonl is run outside first; one that fails there, or whose programs are not here, does not
count. What works outside and fails inside is a false stop. A command that is allowed for the sandbox is not asked about, so
the rest of them run unprompted. Exit 1 when more than 2 % are stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from pegboard.kit import process
from pegboard.kit.launch import Launch
from pegboard_sandbox import Sandbox, Settings

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ROOT / "tests/data/commands_200.jsonl"
FILES = {
    "README.md": "# Shop\n\nA small shop.\n",
    "pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\n",
    "data.json": '{"a": 1, "b": [1, 2]}\n',
    "run.sh": "#!/bin/sh\necho ran\n",
    "hello.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
    "Makefile": "all: build\nbuild:\n\tmkdir -p build && echo built > build/out\n"
    "test:\n\ttrue\nclean:\n\trm -rf build\n.PHONY: all test clean\n",
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "def total(prices: list[int]) -> int:\n    return sum(prices)\n\n\nprint(total([1, 2]))\n",
    "src/shop/prices.py": "import math\n\n\ndef up(price: float) -> int:\n    return math.ceil(price)\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": "import unittest\n\n\nclass TestCart(unittest.TestCase):\n"
    "    def test_total(self) -> None:\n        self.assertEqual(1 + 1, 2)\n",
    "web/app.js": "console.log('app')\n",
    "web/package.json": '{"name": "web", "scripts": {"test": "node app.js", "build": "node app.js"}}\n',
}


class Told(NamedTuple):
    """What became of a command: `counts` where it works outside; `stopped`: what it printed in the sandbox, if it failed."""

    command: str
    counts: bool
    stopped: str | None


@contextmanager
def project(setup: str | None) -> Iterator[Path]:
    """A small project outside of /tmp, which would begin empty in the sandbox."""
    with tempfile.TemporaryDirectory(prefix=".sandboxed-", dir=ROOT, ignore_cleanup_errors=True) as scratch:
        root = Path(scratch, "shop")
        for name, text in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root / "run.sh").chmod(0o755)
        subprocess.run(["git", "init", "-q", scratch], check=True)  # the checkout that all this lies in is not its own
        if setup:
            subprocess.run(["bash", "-c", setup], cwd=root, check=True, capture_output=True)
        yield root


async def tried(row: dict[str, str], sandbox: Sandbox) -> Told:
    """Run one outside, and in the sandbox."""
    argv = ("bash", "-c", row["command"])
    with project(row.get("setup")) as root:
        outside = await process.run(argv, cwd=root, timeout=60)
    if outside.exit_code != 0:
        return Told(row["command"], counts=False, stopped=None)
    with project(row.get("setup")) as root:
        launch = Launch(argv=argv, cwd=str(root), root=str(root), env=dict(os.environ), view="workspace")
        inside = await process.begin(msgspec.structs.replace(sandbox(launch), view="open")).finished(60)
    said = (inside.stdout + inside.stderr).decode("utf-8", "replace")
    return Told(row["command"], counts=True, stopped=said if inside.exit_code != 0 else None)


def replay(every: int = 1) -> list[Told]:
    """What becomes of every so many-th command, from the first."""
    rows = [json.loads(line) for line in COMMANDS.read_text("utf-8").splitlines()]
    sandbox = Sandbox(Settings())

    async def run() -> list[Told]:
        return [await tried(row, sandbox) for row in rows[::every]]

    return asyncio.run(run())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    if (why := Sandbox(Settings()).missing()) is not None:
        print(f"the sandbox does not work here: {why}", file=sys.stderr)
        return 1
    told = replay(options.every)
    counted = [one for one in told if one.counts]
    stopped = [one for one in counted if one.stopped is not None]
    share = 100 * len(stopped) / max(1, len(counted))
    print(f"{len(told)} commands, {len(counted)} of them work here outside of the sandbox")
    print(
        f"unprompted in it: {len(counted) - len(stopped)} ({100 - share:.1f} %); false stops: {len(stopped)} ({share:.1f} %)"
    )
    for one in stopped:
        print(f"stopped: {one.command}\n{one.stopped}" if options.verbose else f"stopped: {one.command}")
    if options.verbose:
        print(*(f"does not work here: {one.command}" for one in told if not one.counts), sep="\n")
    return 1 if share > 2 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
