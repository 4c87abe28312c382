"""Where the files of a wheel come to lie, told from their names alone: what is refused, and what a person is warned of.

Names are compared as the most forgiving disk would (`same`)."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Sequence

from pegboard.entries import installed

from pegboard_cli.reviewed.wheel import PACKAGES, Wheel, placed, same, unfit

_SCHEMES = (*PACKAGES, "scripts", "headers", "data")
_SHARED = ("share", "etc", "include", "man")
"""Folders of an environment that hold data; in the others lie programs, packages, and what Python and Pegboard go by."""
_METADATA = (".dist-info", ".egg-info", ".egg-link", ".egg")
_OUR_PROGRAMS = frozenset({"pegboard", "python", "pythonw", "pip", "uv", "uvx", "activate"})
_AT_START = frozenset({"sitecustomize", "usercustomize"})
_UNREADABLE = (".so", ".pyd", ".dylib", ".dll", ".pyc")


def scripts(names: Iterable[str]) -> Iterator[str]:
    """Files that are put among the programs as they are."""
    for name in names:
        lies = placed(name)
        if lies.startswith("\0scripts/"):
            yield lies.removeprefix("\0scripts/")


def refuse_misplaced(wheel: Wheel, ours: Collection[str], programs: Collection[str]) -> None:
    """Refuse a wheel that would put something where nobody looks for it. `ours`: the top modules of Pegboard; `programs`:
    all that comes onto PATH.

    Raises:
        CannotInstall: it would write into a part of Pegboard or into the environment itself, bring a second distribution
            that was never shown, or two files for one place.
    """
    seen: dict[str, str] = {}
    for name in wheel.sizes:
        lies = placed(name)
        why = _elsewhere(lies) if lies.startswith("\0") else _among_packages(wheel, name, lies, ours)
        if why is None and seen.setdefault(same(lies), name) != name:
            why = f"it holds two files for one place: {seen[same(lies)]} and {name}"
        if why is not None:
            raise unfit(wheel.path, why)
    for program in sorted(programs):
        if not re.fullmatch(r"\w[\w.+ -]*", program):
            raise unfit(wheel.path, f"it holds a program that would lie elsewhere: {program}")
        if re.sub(r"[\d.]+$", "", same(program).removesuffix(".exe")) in _OUR_PROGRAMS:
            raise unfit(wheel.path, f"it would replace the program {program}")


def _among_packages(wheel: Wheel, name: str, lies: str, ours: Collection[str]) -> str | None:
    top = lies.partition("/")[0]
    stem = same(top).partition(".")[0]  # pegboard.py, pegboard.cpython-311-x86_64-linux-gnu.so
    if stem in ours:
        return f"it would write into {stem}, which is a part of Pegboard itself"
    if same(top).endswith(_METADATA) and not name.startswith(f"{wheel.info}/"):
        return f"it would bring metadata of another package, whose plugins were not shown: {name}"
    return None


def _elsewhere(lies: str) -> str | None:
    scheme, _, inner = lies[1:].partition("/")
    if scheme not in _SCHEMES:
        return f"it holds a file for a place that is not known: {lies[1:]}"
    if scheme == "data" and inner.partition("/")[0] not in _SHARED:
        return f"it would write into the environment itself: {inner}"
    return None


def warnings(wheel: Wheel, programs: Sequence[str]) -> Iterator[str]:
    """What runs or lies where one does not look for it."""
    lies = [placed(name) for name in wheel.sizes if not name.startswith(f"{wheel.info}/")]
    for name in lies:
        top, _, below = same(name).partition("/")
        if (top.endswith(".pth") and not below) or top.partition(".")[0] in _AT_START:
            yield f"{name} runs at every start of Python here, whether or not Pegboard is started"
    native = [name for name in lies if same(name).endswith(_UNREADABLE)]
    if native:
        yield f"compiled code that nobody can read: {_some(native)}"
    elsewhere = [name[1:] for name in lies if name.startswith("\0") and not name.startswith("\0scripts/")]
    if elsewhere:
        yield f"files that come to lie outside of its packages: {_some(elsewhere)}"
    there = installed(wheel.distribution)
    own = _recorded(there[0] if there else "")
    packages = sysconfig.get_path("purelib")
    over = [name for name in lies if name[:1] != "\0" and name not in own and os.path.lexists(f"{packages}/{name}")]
    if over:
        yield f"it would replace files of other packages: {_some(over)}"
    folder = sysconfig.get_path("scripts")
    taken = [name for name in programs if f"../../../bin/{name}" not in own and os.path.lexists(f"{folder}/{name}")]
    if taken:
        yield f"it would replace these programs: {', '.join(taken)}"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def _recorded(info: str) -> frozenset[str]:
    """The files that an installed distribution lists as its own."""
    try:
        with open(os.path.join(info, "RECORD"), encoding="utf-8") as file:
            return frozenset(line.rsplit(",", 2)[0].strip('"') for line in file) if info else frozenset()
    except (OSError, UnicodeDecodeError):
        return frozenset()
