"""Linux: the command line of bubblewrap, and a try whether it works here.

The program gets namespaces of its own for mounts, processes, network, IPC, host name, cgroups and users, no capabilities and
no way to new ones, a session of its own, and dies with whoever started it. The whole file system is there, read-only; what
is writable, hidden or covered is mounted over it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache

from pegboard_sandbox.places import Plan, is_inside
from pegboard_sandbox.scratch import Scratch
from pegboard_sandbox.sockets import listening

_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin", "/run/wrappers/bin")
"""Where bubblewrap may lie: not on the PATH, which may lead into the workspace."""

_ALONE = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
_NESTED = "--disable-userns"
_NO_NETWORK = "--unshare-net"
_WHOLE = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_BARE = ("/tmp", "/var/tmp", "/run", "/dev/shm")
"""Folders that begin empty: sockets of services, files of others."""
_SHOWN = ("/run/current-system", "/run/opengl-driver", "/run/booted-system")
_TRY_SECONDS = 5.0


def command(plan: Plan, scratch: Scratch, argv: Sequence[str], *, cwd: str, network: bool, writes: bool) -> list[str]:
    """The command line that runs `argv` under a plan. writes: the workspace and the private tmp are writable."""
    made = [program() or "bwrap", *_isolation(), *([] if network else [_NO_NETWORK])]
    made += [*_WHOLE, *_private(scratch), *_resolver(network)]
    if not writes:
        plan.read_only |= plan.writable
        plan.writable.clear()
    mounts = [*_mounts(plan, scratch), *_covered(plan, scratch)]
    for _, option in sorted(mounts, key=lambda one: one[0].count("/") if one[0] != "/" else 0):
        made += option
    return [*made, "--chdir", cwd, "--", *argv]


def _private(scratch: Scratch) -> Iterator[str]:
    yield from ("--bind", scratch.tmp, "/tmp")
    for folder in _BARE[1:-1]:
        if os.path.isdir(folder) and not os.path.islink(folder):
            yield from ("--tmpfs", folder)
    for path in _SHOWN:
        yield from ("--ro-bind-try", path, path)
    if os.path.isdir("/var/run") and not os.path.islink("/var/run"):
        yield from ("--tmpfs", "/var/run")


def _resolver(network: bool) -> Iterator[str]:
    """What `/etc/resolv.conf` leads to, which lies under /run where a service writes it."""
    real = os.path.realpath("/etc/resolv.conf")
    if network and is_inside(real, "/run"):
        yield from ("--ro-bind-try", real, real)


def _mounts(plan: Plan, scratch: Scratch) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path in plan.bare:
        yield path, ("--tmpfs", path)
    for path in plan.writable:
        yield path, ("--bind", path, path)
    for path in plan.read_only:
        yield path, ("--ro-bind", path, path)
    for path in (path for path in plan.dark if _is_there(path, plan)):
        yield path, ("--ro-bind", scratch.nowhere if os.path.isdir(path) else scratch.nothing, path)
    for path in (path for path in plan.blank if _is_there(path, plan)):
        yield path, ("--ro-bind", scratch.blank, path)


def _covered(plan: Plan, scratch: Scratch) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Sockets that can be seen in there."""
    dark = plan.dark | plan.bare
    for path in map(os.path.realpath, listening()):
        if _is_there(path, plan) and not any(is_inside(path, folder) for folder in dark):
            yield path, ("--ro-bind", scratch.nothing, path)


def _is_there(path: str, plan: Plan) -> bool:
    """Whether it can be seen in there: it is not in a folder that begins empty, or in one that is mounted again."""
    if not any(is_inside(path, folder) for folder in (*_BARE, "/dev", "/proc")):
        return True
    return any(is_inside(path, folder) and path != folder for folder in plan.writable | plan.read_only)


@cache
def program() -> str | None:
    """Where bubblewrap is."""
    for folder in _FOLDERS:
        if os.access(path := f"{folder}/bwrap", os.X_OK):
            return path
    return None


@cache
def missing() -> str | None:
    """Why it does not work here, in words; None where it does. It is tried once in a process."""
    if program() is None:
        return "bubblewrap is not installed (its program is bwrap, its package bubblewrap)"
    said = _tried(_NESTED)
    if said is None:
        return None
    if "nknown option" in said and (said := _tried()) is None:
        return None
    if "proc" in said:
        return f"this is a container that does not let another /proc be mounted ({said})"
    if "namespace" in said or "uid map" in said or "ermission" in said or "permitted" in said:
        return f"the system does not let people make user namespaces ({said})"
    return said


@cache
def _isolation() -> tuple[str, ...]:
    return (*_ALONE, _NESTED) if _tried(_NESTED) is None else _ALONE


@cache
def _tried(*options: str) -> str | None:
    """What it said where the isolation cannot be had; None where it can."""
    made = [program() or "bwrap", *_ALONE, *options, _NO_NETWORK, *_WHOLE]
    try:
        done = subprocess.run(
            [*made, "--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRY_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap: {error}"
    if done.returncode == 0:
        return None
    return done.stderr.decode("utf-8", "replace").strip()[:300] or f"bwrap ended with exit code {done.returncode}"
