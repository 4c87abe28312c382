"""Runs the command line: sets up the streams, hands over to the commands, turns what ends a program into exit codes."""

from __future__ import annotations

import io
import os
import sys
import time

from pegboard_cli.document import Nowhere, went_nowhere

OK, ERROR, USAGE, TIMED_OUT, INTERRUPTED = 0, 1, 2, 124, 130
"""Exit codes of the contract. A call that was blocked exits as a usage error does."""
COMPLETION = ("--show-completion", "--install-completion")
"""What a command line begins with that is about completion in a shell. A shell itself asks by a variable."""
GRACE = 1.0
"""Seconds that threads have to end when the command has."""


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code, and never lets an expected failure show a traceback."""
    set_up_streams()
    try:
        if "_PEGBOARD_COMPLETE" in os.environ or "".join(arguments[:1]).startswith(COMPLETION):
            from pegboard_cli.completion import complete

            raise SystemExit(complete(arguments))
        from pegboard_cli.group import root

        root().main(args=arguments, prog_name="pegboard")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else OK if end.code is None else ERROR
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = ERROR
    except OSError as error:
        code = ERROR
        _complain(f"pegboard: {error.strerror or error}: the output, or what was needed for it, is not to be had\n")
    else:
        code = OK
    code = code if flush() else code or ERROR
    if code == OK and went_nowhere():
        code = ERROR
        _complain("pegboard: stdout was closed before the start: what it should have got is lost\n")
    _let_go_of_threads(code)
    return code


def _let_go_of_threads(code: int) -> None:
    """A thread that a plugin left running, or one that never comes back, does not keep the program: it has a second."""
    import threading

    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        return

    def leave() -> None:
        time.sleep(GRACE)
        os._exit(code)

    threading.Thread(target=leave, daemon=True).start()  # while the interpreter waits for the others


def _complain(text: str) -> None:
    try:
        sys.stderr.write(text)
    except (OSError, ValueError):
        return  # nobody can be told


def set_up_streams() -> None:
    """UTF-8, and nothing that an encoding cannot say may crash: it is spelled `\\u2190`.

    A terminal keeps the encoding that it has. A stream that was closed before the start goes nowhere; what is lost so
    counts as a failure if it was stdout's."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(Nowhere()), encoding="utf-8", errors="replace"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors="backslashreplace")


def flush() -> bool:
    """Write out what is left. False: a reader went away; then the rest goes nowhere, quietly."""
    whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            whole = False
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            except (OSError, ValueError):
                continue
    return whole
