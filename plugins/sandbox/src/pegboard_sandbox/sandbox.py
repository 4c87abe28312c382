"""The launcher: what a program becomes in the sandbox, whether that works here, and what stopped it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

import msgspec
from pegboard.errors import ToolError
from pegboard.kit.launch import Launch

from pegboard_sandbox import bubblewrap, gitconfig, gitdirs, seatbelt
from pegboard_sandbox.places import (
    NEVER_MADE,
    Plan,
    expanded,
    home_secrets,
    homes,
    is_inside,
    own_starts,
    solid,
)
from pegboard_sandbox.scanning import Scanner
from pegboard_sandbox.scratch import Scratch
from pegboard_sandbox.settings import Settings
from pegboard_sandbox.stops import reason
from pegboard_sandbox.variables import passed

_LIMITS = (
    ("memory", "ulimit -v {}"),
    ("cpu", "ulimit -t {}"),
    ("processes", "{{ ulimit -u {0} 2>&- || ulimit -p {0}; }}"),
)


class Sandbox:
    """Confines programs as `[sandbox]` says. One for a board."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._scan = Scanner()
        self._scratch: Scratch | None = None

    def missing(self) -> str | None:
        """Why programs cannot be confined here; None where they can."""
        if sys.platform == "linux":
            return bubblewrap.missing()
        if sys.platform == "darwin":
            return seatbelt.missing()
        return "there is none for this system; it is made for Linux and macOS"

    def stopped(self, launch: Launch, output: bytes) -> str | None:
        """What a failed program was kept from."""
        return reason(output)

    def __call__(self, launch: Launch, /) -> Launch:
        """What is started in its place.

        Raises:
            ToolError: it cannot be confined, or could not be started at all; nothing was run.
        """
        root = os.path.realpath(launch.root or launch.cwd)
        if root == "/":
            raise ToolError("the workspace is the whole file system, so nothing would be confined. Nothing was run.")
        environ = passed(os.environ if launch.env is None else launch.env, self.settings.env)
        _insist_it_is_there(launch, environ)
        writes = launch.view != "read_only"
        plan = self.plan(root, launch, writes=writes)
        scratch = self._scratch_for(root)
        argv = self._limited(launch.argv)
        network = self.settings.network or launch.network
        cwd = os.path.realpath(launch.cwd)
        if sys.platform == "darwin":
            environ |= {"TMPDIR": scratch.tmp, "XDG_CACHE_HOME": f"{scratch.tmp}/.cache"}
            text = seatbelt.profile(plan, root=root, tmp=scratch.tmp, network=network, writes=writes)
            return msgspec.structs.replace(launch, argv=tuple(seatbelt.command(text, argv)), env=environ)
        made = bubblewrap.command(plan, scratch, argv, cwd=cwd, network=network, writes=writes)
        kept = {path: why for path, why in plan.kept_while.items() if path in plan.stand_ins}
        return msgspec.structs.replace(
            launch, argv=tuple(made), cwd="/", env=environ, stand_ins=plan.stand_ins, kept_while=kept, shifted=True
        )

    def plan(self, root: str, launch: Launch, *, writes: bool) -> Plan:
        """What is writable, read-only and hidden for a program of this workspace."""
        settings, plan = self.settings, Plan()
        people = homes() or [root]
        home = people[0]
        for one in people:
            home_secrets(plan, one, launch.hidden)
            own_starts(plan, root, one)
        for path in settings.hide:
            plan.hide(expanded(path, home, root))
        plan.writable.add(root)
        plan.writable |= {os.path.realpath(path) for path in launch.shown}
        for path in settings.write:
            real = os.path.realpath(expanded(path, home, root))
            if os.path.exists(real):
                plan.writable.add(real)
        found = self._scan(root)
        for path in found.secrets:
            plan.hide(path)
            if os.path.basename(path) == ".envrc":
                solid(path)
        for path in found.own:
            plan.pin(root, path)
            _keep(plan, path)
        person = [named for one in people for named in gitconfig.of_person(one)]
        for path in found.repositories:
            gitdirs.protect(plan, root, path, person)
        for top in dict.fromkeys([root, *map(os.path.dirname, found.repositories), *found.bare]):
            gitdirs.protect_bare(plan, root, top)
        if writes and os.access(root, os.W_OK):
            for name in NEVER_MADE:
                path = f"{root}/{name}"
                if solid(path) is None:
                    plan.stand_ins[path] = None
                elif name == ".envrc" and os.path.isdir(path):
                    _keep(plan, path)
        if not writes:
            plan.read_only |= set(filter(os.path.exists, plan.stand_ins))
            plan.stand_ins.clear()
        plan.settle(expanded(path, home, root) for path in settings.show)
        return plan

    def _limited(self, argv: Sequence[str]) -> list[str]:
        """The command with its limits, which a shell sets before it becomes the program."""
        limits = {
            "memory": (self.settings.memory or 0) * 1024,
            "cpu": self.settings.cpu,
            "processes": self.settings.processes,
        }
        said = " && ".join(text.format(limits[name]) for name, text in _LIMITS if limits[name])
        return ["/bin/sh", "-c", f'{said} && exec "$@"', "sh", *argv] if said else [*argv]

    def _scratch_for(self, root: str) -> Scratch:
        if self._scratch is None or not os.path.isdir(self._scratch.tmp) or is_inside(self._scratch.folder, root):
            try:
                self._scratch = Scratch(root)
            except OSError as error:
                raise ToolError(
                    f"there is no folder for the sandbox's own files ({error}). Nothing was run."
                ) from error
        return self._scratch


def _keep(plan: Plan, path: str) -> None:
    """What is there stays as it is; an empty folder may be a stand-in, so it is held like one."""
    if solid(path) == "dir" and not os.listdir(path):
        plan.stand_ins[path] = None
    else:
        plan.read_only.add(path)


def _insist_it_is_there(launch: Launch, environ: dict[str, str]) -> None:
    """Say what is missing as it is said outside: in there only bubblewrap could tell."""
    program = launch.argv[0]
    if not os.path.isdir(launch.cwd):
        raise ToolError(
            f"{launch.cwd}: there is no such folder to run in. Nothing was run. Name a folder that exists as cwd."
        )
    if "/" in program:
        if not os.path.exists(os.path.join(launch.cwd, program)):
            raise ToolError(f"{program}: there is no such program. Nothing was run. Check the path.")
    elif shutil.which(program, path=environ.get("PATH", os.defpath)) is None:
        raise ToolError(
            f"{program}: no program of this name is on PATH. Nothing was run. Check the name, or install it."
        )
