"""The way of a plugin into the environment: fetch, show, ask, install, keep. Nothing of it runs before the yes."""

from __future__ import annotations

import datetime
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from pegboard.config.places import state_folder
from pegboard.entries import Entry, Survey, installed, own_distributions, survey
from pegboard.terminal import visible

from pegboard_cli.installing import CannotInstall, insist_on_strangers, known, run, target_of
from pegboard_cli.reviewed import lock
from pegboard_cli.reviewed.after import rows_now
from pegboard_cli.reviewed.coming import Coming, coming
from pegboard_cli.reviewed.environment import Place, here, insist_on_writing
from pegboard_cli.reviewed.fetch import fetch, is_source
from pegboard_cli.reviewed.lines import asked, review_lines
from pegboard_cli.reviewed.present import present
from pegboard_cli.reviewed.review import Review, review
from pegboard_cli.reviewed.wheel import Wheel, file_sha256
from pegboard_cli.styles import Styles, is_terminal, takes_colour


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. `build`: sources may be built without a question of its own."""

    target: str
    yes: bool = False
    json: bool = False
    editable: bool = False
    build: bool = False
    dry_run: bool = False


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`plugin install --json`. `installed`: whether it was; `reason`: why not. `plugins`: the rows of `pegboard plugins`
    that came or changed."""

    installed: bool
    reason: str | None
    review: Review | None
    coming: Coming | None
    environment: str
    note: str | None
    commands: list[list[str]]
    plugins: list[dict[str, Any]]


class NotAgreed(Exception):
    """Nobody said yes; the text is what is told."""


async def install(wish: Wish) -> int:
    """Install what was asked for, if the person agrees to what it declares. The exit code.

    Raises:
        CannotInstall: what went wrong, and whether anything was changed.
    """
    found = survey()
    target = target_of(wish.target)
    insist_on_strangers(target, found.ours | own_distributions(found.entries))
    place = here()
    insist_on_writing(place.prefix)
    lock.read(place.prefix)
    if place.note and not wish.json:
        _say(f"note: {place.note}")
    with tempfile.TemporaryDirectory(prefix="pegboard-install-") as folder:
        way = _Way(wish, target, place, found, Path(folder))
        try:
            code = await way.go()
        except NotAgreed as why:
            sys.stderr.write(f"pegboard: {visible(str(why))}\n")
            way.reason, code = str(why), 2
        if wish.json:
            from pegboard_cli.options import print_json

            print_json(way.report())
        return code


class _Way:
    """One installation under way."""

    def __init__(self, wish: Wish, target: str, place: Place, found: Survey, folder: Path) -> None:
        self.wish, self.target, self.place, self.found, self.folder = wish, target, place, found, folder
        self.reason: str | None = None
        self.review: Review | None = None
        self.coming: Coming | None = None
        self.commands: list[list[str]] = []
        self.rows: list[dict[str, Any]] = []
        self.done = False

    def report(self) -> Report:
        """What became of it."""
        return Report(
            installed=self.done,
            reason=self.reason,
            review=self.review,
            coming=self.coming,
            environment=self.place.kind,
            note=self.place.note,
            commands=self.commands,
            plugins=self.rows,
        )

    async def go(self) -> int:
        """All of it. The exit code."""
        await self._may_build()
        wheel = Wheel(fetch(self.target, self.place, self.folder, build=self._builds()))
        insist_on_strangers(wheel.distribution, self.found.ours | own_distributions(self.found.entries))
        there = installed(wheel.distribution)
        before = present(wheel.distribution, self.found.entries, self.place.prefix)
        self.review = review(wheel, self.found.entries, before)
        self.coming = coming(wheel.path, wheel.distribution, self.review.dependencies, self.place)
        again = there is not None and (there[1] == wheel.version or self.place.kind == "pipx")
        self.commands = self._planned(wheel, again=again)
        if not self.wish.json:
            lines = review_lines(self.review, self.coming, self.wish.target, Styles(takes_colour(sys.stdout)))
            sys.stdout.write("".join(f"{line}\n" for line in [*lines, ""]))  # spelled out already
            sys.stdout.flush()
        if self.wish.dry_run:
            self.reason = "it was only to be shown"
            return 0
        await self._agreed(asked(self.review))
        if file_sha256(wheel.path) != wheel.sha256:
            raise CannotInstall(f"{wheel.path} was changed while you were asked; nothing was installed")
        row = self._row(wheel)
        entries = known()
        try:
            for command in self.commands:
                if not self.wish.json:
                    _say(f"running: {shlex.join(command)}")
                run(command)
            self._keep(row)
        finally:
            old = lock.read(self.place.prefix).row(row.distribution)
            if not self.done and (old is None or old.kept != row.kept):
                lock.forget(row)
        return self._came(entries)

    def _builds(self) -> bool:
        return self.wish.build or is_source(self.target)

    async def _may_build(self) -> None:
        """A source is built by code of its own, and only then it is known what it declares: so that is asked first."""
        if self._builds():
            text = f"{self.wish.target} has to be built before it can be shown, which runs code of it now."
            if not self.wish.json:
                _say(text)
            await self._agreed("Build it? [y/N] ")

    async def _agreed(self, question: str) -> None:
        if self.wish.yes:
            return
        if self.wish.json or not is_terminal(sys.stdin) or not is_terminal(sys.stderr):
            raise NotAgreed("nobody is there to ask, so nothing was installed; --yes agrees to it as it is shown")
        from pegboard_cli.typed import forget_typed, read_line

        forget_typed()
        sys.stderr.write(question)
        sys.stderr.flush()
        line = await read_line()
        if line is None:
            sys.stderr.write("\n")
        if line is None or line.strip().casefold() not in ("y", "yes"):
            raise NotAgreed("nothing was installed")

    def _planned(self, wheel: Wheel, *, again: bool) -> list[list[str]]:
        """The commands that install just this wheel, with just the dependencies that were shown."""
        if self.wish.editable:
            return self.place.installs_folder(self.target, wheel.distribution)
        path, more = wheel.path, list[str]()
        if self.place.keeps:
            path = _kept_at(wheel)
        elif self.coming is not None and not self.coming.unknown and not self.coming.pins:
            more = ["--no-deps"]  # all is here; nobody has to be asked for it
        elif self.coming is not None and self.coming.pins:
            pins = self.folder / "dependencies.txt"
            pins.write_text("".join(f"{pin}\n" for pin in self.coming.pins), "utf-8")
            more = ["--constraint", str(pins), "--only-binary", ":all:"]
        elif not self.wish.build:
            more = ["--only-binary", ":all:"]  # what was not found out is not built, as what was shown would not be
        return self.place.installs(str(path), wheel.distribution, again=again, more=more)

    def _row(self, wheel: Wheel) -> lock.Row:
        """What is to be kept; where the wheel has to stay, it is put there."""
        kept = _kept_at(wheel) if self.place.keeps and not self.wish.editable else None
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copyfile(wheel.path, kept)
        return lock.Row(
            distribution=wheel.distribution,
            version=wheel.version,
            sha256=None if self.wish.editable else wheel.sha256,
            source=self.target,
            by=self.place.kind,
            at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            editable=self.wish.editable,
            kept=str(kept) if kept else None,
            files={} if self.wish.editable else wheel.hashes(),
            review=self.review,
        )

    def _keep(self, row: lock.Row) -> None:
        """Write the lock, once what lies there is what was shown."""
        state, text = lock.state(row)
        if state not in ("as reviewed", "editable"):
            raise CannotInstall(
                f"the installer ended well, and yet {text}. Do not use it: `pegboard plugin uninstall {row.distribution}` "
                "takes it away."
            )
        try:
            before = lock.put(row, self.place.prefix)
        except CannotInstall as error:
            text = str(error).replace("nothing was changed", "the lock is as it was")
            raise CannotInstall(f"{row.distribution} is installed, but not in the lock: {text}") from None
        if before is not None and before.kept != row.kept:
            lock.forget(before)
        self.done = True

    def _came(self, before: set[tuple[str, ...]]) -> int:
        """Tell what came, with what came along with it. 1 where something of it does not work."""
        assert self.review is not None
        self.rows = [
            row
            for row in rows_now()
            if row["distribution"] == self.review.distribution
            or (row["group"], row["name"], row["distribution"], row["version"]) not in before
        ]
        if not self.wish.json:
            _say(*(line for row in self.rows for line in told(row)))
            for entry in self.review.entries:
                if entry.write:
                    _say(f"to switch {entry.kind} {entry.name} on, write into your own file:", entry.write)
        return 0 if all(row["problem"] is None for row in self.rows) else 1


def _kept_at(wheel: Wheel) -> Path:
    return state_folder(os.environ) / lock.WHEELS / wheel.sha256[:16] / wheel.path.name


def told(row: dict[str, Any]) -> list[str]:
    """What became of a plugin that came, in lines."""
    from pegboard.plugins.loaded import switch_off

    entry = Entry(name=row["name"], group=row["group"], value="", distribution="", version="", own=False)
    has = f": {', '.join(row['tools'])}" if row["tools"] else ""
    lines = [f"{row['kind']} {row['name']} ({row['distribution']} {row['version']}) is {row['state']}{has}"]
    lines += [f"  {row['reason']}"] if row["reason"] else []
    lines += [f"  {row['problem']['error']}", f"  to mend it: {row['problem']['fix']}"] if row["problem"] else []
    if row["kind"] not in ("provider", "launcher", "command", "approver", "rewriter") and not row["problem"]:
        lines.append(f"  to switch it off: {switch_off(entry)}")
    return lines


def _say(*lines: str) -> None:
    """Lines on stdout, before whatever the installer prints next."""
    sys.stdout.write("".join(f"{visible(line, keep=chr(10))}\n" for line in lines))
    sys.stdout.flush()
