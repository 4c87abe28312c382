"""Entry of the `pegboard` command. It looks at the arguments first: `--version` costs a bare interpreter, no import."""

import sys

VERSION = "0.1.0"


def main() -> int:
    """Run the command line of this process; returns the exit code."""
    if sys.argv[1:2] == ["--version"]:
        if sys.stdout is not None:
            sys.stdout.write(f"pegboard {VERSION}\n")
        return 0
    import gc
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # an exception in an import may be lost
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `options.started`
    gc.disable()  # what a start makes stays; looking through it again and again takes an eighth of the time
    from pegboard_cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, or ours: see `__main__`
    sys.exit(main())
