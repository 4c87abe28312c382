"""Which dependencies would come with a wheel: asked of the installer, which resolves them and installs nothing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from pegboard.entries import installed, normal

from pegboard_cli.reviewed.environment import Place
from pegboard_cli.reviewed.pip_alone import REFUSED
from pegboard_cli.versions import wish

LIMIT = 120
"""Seconds for the installer to say it."""
_SILENT = "the installer failed and did not say why"
_ROW = re.compile(r" ([+-]) ([A-Za-z0-9._-]+)==(\S+)(?: \((from .*)\))?")


class Coming(msgspec.Struct, frozen=True, kw_only=True):
    """What would change beside the plugin: `+ NAME VERSION`, `NAME OLD -> NEW`. `pins`: the same for the installer, so that
    nothing else comes. `unknown`: why it could not be found out."""

    changes: list[str] = []
    pins: list[str] = []
    unknown: str | None = None


def coming(wheel: Path, distribution: str, requires: list[str], place: Place) -> Coming:
    """Ask, if there is anything to ask: not where all that it depends on is plainly here already."""
    if all(wish(line) for line in requires):
        return Coming()
    addresses = [line for line in requires if "@" in line.partition(";")[0]]
    if addresses:  # pip fetches and builds such a one for an answer, whatever it is told of sources
        return Coming(unknown=f"{addresses[0]} is an address: it is fetched, and may be built, once you agree")
    # No source is built for an answer: that would run code of packages that nobody has agreed to.
    report = wheel.with_name("coming.json")
    if place.by_pip:
        words = ["--dry-run", "--report", str(report), "--only-binary", ":all:"]
    else:
        words = [*place.after, "--dry-run", "--no-build"]
    try:
        done = subprocess.run(
            [*place.alone, "install", *words, str(wheel)], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
        )
        if done.returncode:
            return Coming(unknown=_why(done.stdout, done.stderr))
        found = list(_of_pip(report.read_bytes()) if place.by_pip else _of_uv(done.stderr))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Coming(unknown=str(error))
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError) as error:
        return Coming(unknown=f"what the installer said was not understood ({error})")
    return _told([row for row in found if row[0] != distribution])


def _of_pip(report: bytes) -> Iterator[tuple[str, str, str]]:
    document = msgspec.json.decode(report, type=dict[str, Any])
    for row in document["install"]:
        address = f" from {row['download_info']['url']}" if row["is_direct"] else ""
        yield normal(row["metadata"]["name"]), str(row["metadata"]["version"]), address


def _of_uv(text: bytes) -> Iterator[tuple[str, str, str]]:
    for line in text.decode("utf-8", "replace").splitlines():
        row = _ROW.match(line)
        if row is not None and row[1] == "+":
            yield normal(row[2]), row[3], f" {row[4]}" if row[4] else ""


def _told(rows: list[tuple[str, str, str]]) -> Coming:
    changes, pins = [], []
    for name, version, address in sorted(rows):
        there = installed(name)
        changes.append((f"{name} {there[1]} -> {version}" if there else f"+ {name} {version}") + address)
        pins.append(f"{name}=={version}")
    return Coming(changes=changes, pins=pins)


def _why(out: bytes, errors: bytes) -> str:
    """Why the installer could not say it."""
    said, went = _lines(errors), _lines(out)
    if any(REFUSED in line for line in said):
        at = next((line for line in reversed(went) if line.startswith(("Collecting ", "Processing "))), "one of them")
        what = at.partition(" ")[2].strip() if at != "one of them" else at
        return f"{what[:300]}: it is cloned or built, which runs programs of others, once you agree"
    # uv ends with a hint, and says before it what the matter is.
    return next((line for line in reversed(said) if line.startswith("cause: ")), said[-1] if said else _SILENT)[:300]


def _lines(output: bytes) -> list[str]:
    return [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
