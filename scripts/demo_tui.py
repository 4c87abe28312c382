"""`make demo-tui`: the app on this repository, with the embedded router, without a key or a network.

Your own settings do not count and your sessions stay as they are: both folders are temporary ones. Where nobody is at a
terminal the app is opened on a pseudo-terminal, asked for a file, and left, for it to be seen that it works.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from demo import PROGRAMS, ROOT, environment

COMMAND = [str(PROGRAMS / "pegboard"), "tui", "--model", "offline", "--path", str(ROOT)]
REQUEST = "show me examples/word-count/pyproject.toml"
ANSWER = "pegboard_words"
LIMIT = 60
"""Seconds for each step where nobody is there."""


def unattended(environ: dict[str, str]) -> int:
    """Open it on a pseudo-terminal, ask, see the answer, leave; returns its exit code."""
    import pexpect  # type: ignore[import-untyped]

    print(f"Nobody is at a terminal, so the app is opened on one of its own and asked: {REQUEST}", flush=True)
    child = pexpect.spawn(
        COMMAND[0],
        COMMAND[1:],
        env={**environ, "TERM": "xterm-256color"},
        encoding="utf-8",
        codec_errors="replace",
        timeout=LIMIT,
        dimensions=(40, 120),
    )
    try:
        child.expect_exact("offline")
        child.send(f"{REQUEST}\r")
        child.expect_exact(ANSWER)
        child.sendcontrol("q")
        child.expect(pexpect.EOF)
    except (pexpect.TIMEOUT, pexpect.EOF):
        print(f"Stopped: what was waited for did not come within {LIMIT} s.", file=sys.stderr)
        return 1
    finally:
        child.close(force=True)
    print("It answered, and was left with Ctrl-Q.")
    return 1 if child.exitstatus is None else int(child.exitstatus)


def main() -> int:
    """Open the app; returns its exit code."""
    with tempfile.TemporaryDirectory(prefix="pegboard-demo-", ignore_cleanup_errors=True) as folder:
        environ = environment(folder)
        if sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty():
            return subprocess.run(COMMAND, cwd=ROOT, env=environ, check=False).returncode
        return unattended(environ)


if __name__ == "__main__":
    sys.exit(main())
