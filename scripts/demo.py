"""`make demo`: real requests on this repository through the embedded router, without a key or a network.

They stand in demo-requests.txt, one a line; REQUEST in the environment is one of your own instead. You are asked before
anything is run or changed. Where nobody is there, which is where stdin or stderr is no terminal, the program gets a
pseudo-terminal, asks all the same, and the demo types the answer y, for all to see.

Your own settings do not count and your sessions stay as they are: both folders are temporary ones. One file is written,
build/demo/notes.txt, which git ignores.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import at_terminal

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "scripts"
SCRATCH = ROOT / "build" / "demo" / "notes.txt"
PROGRAMS = Path(sys.executable).parent


def requests() -> list[str]:
    """What to ask: REQUEST if it is there, else the lines of the file."""
    own = os.environ.get("REQUEST", "").strip()
    if own:
        return [own]
    lines = (HERE / "demo-requests.txt").read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def environment(folder: str) -> dict[str, str]:
    """Nobody's settings, sessions below `folder`, and the programs of this environment first (so `python` has pytest)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_") and name != "REQUEST"}
    path = os.pathsep.join([str(PROGRAMS), kept.get("PATH", os.defpath)])
    places = {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
    return kept | places | {"PATH": path, "PYTHONWARNINGS": "ignore::DeprecationWarning", "PEGBOARD_MODEL": "offline"}


def attended(command: list[str], environ: dict[str, str]) -> int:
    """Run it on the terminal of whoever is there. Ctrl-C is the program's own affair."""
    child = subprocess.Popen(command, cwd=ROOT, env=environ)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def unattended(command: list[str], environ: dict[str, str]) -> int:
    """Run it on a pseudo-terminal and answer its questions with y."""

    def show(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    return at_terminal.run(command, cwd=ROOT, environ=environ, answers=itertools.repeat("y"), show=show)


def main() -> int:
    """Ask everything; returns 1 when one request failed, 130 when the person stopped one."""
    if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    own = bool(os.environ.get("REQUEST", "").strip())
    if not own or not SCRATCH.exists():
        SCRATCH.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "demo-notes.txt", SCRATCH)
    there = sys.stdin.isatty() and sys.stderr.isatty()
    if not there:
        print("Nobody is at a terminal, so the demo answers y to each question.")
    codes = []
    with tempfile.TemporaryDirectory(prefix="pegboard-demo-", ignore_cleanup_errors=True) as folder:
        for request in requests():
            arguments = ["run", request, "--model", "offline", "--path", "."]
            print(f"\n$ {shlex.join(['pegboard', *arguments])}", flush=True)
            run = attended if there else unattended
            codes.append(run([str(PROGRAMS / "pegboard"), *arguments], environment(folder)))
            if codes[-1] == 130:
                break
    if not own:
        print("\nOne of your own: make demo REQUEST='where is hookspec used'")
    return 130 if 130 in codes else int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
