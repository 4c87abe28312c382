"""What a distribution asks for, read from its metadata: enough of PEP 508 to tell a version that cannot be meant."""

from __future__ import annotations

import os
import re

_WISH = re.compile(r"Requires-Dist:\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(;.*)?$")
_CLAUSE = re.compile(r"\s*(===|==|!=|~=|>=|<=|>|<)\s*([0-9]+(?:\.[0-9]+)*)(\.\*)?\s*$")


def unmet(info: str, name: str, version: str) -> str | None:
    """What the distribution whose metadata stand in `info` asks of `name`, if this version does not meet it.

    A wish under a condition, or in a form that is not known here, counts as met."""
    try:
        with open(os.path.join(info, "METADATA"), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n\n", 1)[0].splitlines()
    except OSError:
        return None
    for line in lines:
        wish = _WISH.match(line)
        if wish and re.sub(r"[-_.]+", "-", wish[1]).lower() == name and not wish[3]:
            asked = wish[2].strip()
            if not fits(version, asked):
                return asked
    return None


def wish(line: str) -> bool:
    """Whether what a line of `Requires-Dist` asks for is plainly installed. In doubt it is not: under a condition, with
    extras, in a form that is not known here."""
    from pegboard.entries import installed, normal

    asked = _WISH.match(f"Requires-Dist: {line}")
    if asked is None or asked[3] or "[" in line:
        return False
    there = installed(normal(asked[1]))
    clauses = [_CLAUSE.match(clause) for clause in asked[2].split(",") if clause.strip()]
    if there is None or not re.fullmatch(r"[0-9.]+", there[1]):
        return False
    return all(clause is not None and _meets(there[1], *clause.groups()) for clause in clauses)


def fits(version: str, asked: str) -> bool:
    """Whether a version is one of those that are asked for (`>=3.11,<4`). What is in a form that is not known here fits."""
    clauses = [_CLAUSE.match(clause) for clause in asked.split(",")]
    return all(clause is None or _meets(version, *clause.groups()) for clause in clauses)


def _meets(version: str, sign: str, wanted: str, star: str | None) -> bool:
    have, want = _numbers(version), _numbers(wanted)
    if star or sign == "~=":
        prefix = want if star else want[:-1]
        same = have[: len(prefix)] == prefix
        return not same if sign == "!=" else same and (bool(star) or have >= want)
    length = max(len(have), len(want))
    have, want = [*have, *[0] * (length - len(have))], [*want, *[0] * (length - len(want))]
    return {
        "==": have == want, "===": have == want, "!=": have != want,
        ">=": have >= want, "<=": have <= want, ">": have > want, "<": have < want,
    }[sign]  # fmt: skip


def _numbers(version: str) -> list[int]:
    found = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return [int(part) for part in found[0].split(".")] if found else []


def program_version(path: str) -> str:
    """The first line of what a program says to `--version`."""
    import subprocess

    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not say its version ({error})"
    return (done.stdout.splitlines() or ["it does not say its version"])[0]
