"""macOS: the profile that sandbox-exec runs a program under. Of several rules that fit, the last one holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from pegboard_sandbox.places import Plan

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr")
_SERVICES = (
    "com.apple.SecurityServer",
    "com.apple.securityd.xpc",
    "com.apple.pasteboard.1",
    "com.apple.coreservices.appleevents",
)


_LED_BY = ("hooks", "config", "config.worktree", "commondir", "modules", "worktrees", "info/attributes")


def missing() -> str | None:
    """Why it does not work here."""
    return None if os.access(PROGRAM, os.X_OK) else f"{PROGRAM} is not there"


def profile(plan: Plan, *, root: str, tmp: str, network: bool, writes: bool) -> str:
    """The text of the profile. Other than on Linux it speaks of names, so that what is not there yet needs no stand-in."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)", "(deny process-info* (target others))"]
    lines += [
        "(deny signal (target others))",
        *(f"(deny mach-lookup (global-name {_quoted(one)}))" for one in _SERVICES),
    ]
    if not network:
        lines.append("(deny network*)")  # servers on this machine among it: it has no network of its own there
    lines.append(_rule("allow file-write*", "literal", _DEVICES))
    if writes:
        lines.append(_rule("allow file-write*", "subpath", sorted({tmp, *plan.writable})))
    lines.append(_rule("deny file-write*", "subpath", sorted({*plan.read_only, *plan.stand_ins})))
    if writes:
        made, names = _escaped(root), "|".join(map(_any_case, _LED_BY))
        own = "|".join(map(_any_case, (".envrc", ".pegboard")))
        lines.append(f'(deny file-write* (regex #"^{made}/(.*/)?({own}|{_any_case(".git")}/({names}))(/.*)?$"))')
        lines.append(_rule("deny file-write*", "literal", sorted(plan.kept_while.values())))
        # What is moved away takes along what is protected in it, and could be changed under its new name.
        pinned = sorted(path for path in plan.writable if path != root and path.startswith(f"{root}/"))
        lines.append(_rule("deny file-write-unlink", "literal", pinned))
    hidden = sorted({*plan.dark, *plan.blank, *plan.bare})
    lines.append(_rule("deny file-read* file-write*", "subpath", hidden))
    shown = [
        path for path in sorted(plan.writable | plan.read_only) if any(path.startswith(f"{up}/") for up in plan.bare)
    ]
    lines.append(_rule("allow file-read*", "subpath", shown))
    return "\n".join(line for line in lines if line) + "\n"


def command(text: str, argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` under a profile."""
    return [PROGRAM, "-p", text, *argv]


def _rule(action: str, kind: str, paths: Iterable[str]) -> str:
    listed = " ".join(f"({kind} {_quoted(path)})" for path in paths)
    return f"({action} {listed})" if listed else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(path: str) -> str:
    """A path in a regular expression of a profile, in which a quotation mark would end it."""
    return "".join(f"\\{one}" if one in r"\.^$*+?()[]{}|" else "." if one == '"' else one for one in path)


def _any_case(name: str) -> str:
    """A name in a regular expression, in whatever case: the file systems of macOS mostly make no difference."""
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else _escaped(one) for one in name)
