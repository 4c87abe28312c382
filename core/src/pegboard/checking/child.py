"""Checks in a child process: what hangs there or ends it is a finding, and the other checks are made all the same.

Several targets may share a child. One that ended it is checked further in the next, without the check that did.
"""

from __future__ import annotations

import compileall
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

import msgspec

from pegboard.checking.inside import Job, Line
from pegboard.checking.report import Begun, Finding, Key, Report, report
from pegboard.checking.target import Target
from pegboard.errors import PegboardError
from pegboard.kit.reporting import Child, reporting

STEP = 30.0
"""Seconds that one check may take."""
MEMORY = 4 * 1024**3
"""Bytes that the child may take for its data."""
AGAIN = 2
"""How often the time of loading is measured again, alone, before it counts as too long: a machine may be busy."""
_MOST_ATTEMPTS = 12
_MAIN = "pegboard.checking.inside:main"


class CannotCheck(PegboardError):
    """No child process could be started, or it ended before it checked anything. Nothing was found out."""


@dataclass(kw_only=True, slots=True)
class _State:
    """What is known of a target so far. `modules`: of ours, that its loading imported."""

    target: Target
    found: dict[Key, Finding] = field(default_factory=dict)
    ended: list[Key] = field(default_factory=list)
    begun: Begun | None = None
    modules: list[str] = field(default_factory=list)
    size: int | None = None

    def job(self) -> Job:
        """What is left of it to do."""
        return Job(target=self.target, known=list(self.found.values()), ended=self.ended)

    def take(self, line: Line) -> None:
        """A line that the child said of it."""
        if line.begun is not None:
            self.begun = line.begun
        elif line.finding is not None:
            self.found[line.finding.id, line.finding.subject] = line.finding
        elif line.loaded is not None:
            self.modules += line.loaded.modules
        else:
            self.size, self.begun = line.size, None

    def stop_at(self, why: str) -> bool:
        """The check that is under way did not come back. False: nothing is known that could be left out next time."""
        if self.begun is None or (key := (self.begun.id, self.begun.subject)) in self.ended:
            return False
        self.ended.append(key)
        fix = "See what it does there; `python -X faulthandler` shows where a process ends or hangs."
        self.found[key] = Finding(id=key[0], subject=key[1], status="fail", text=why, fix=fix)
        return True


def run(targets: Sequence[Target], *, step: float = STEP, memory: int = MEMORY) -> list[Report]:
    """A report for each target, in their order. step: seconds for one check.

    Raises:
        CannotCheck: nothing can be said of any.
    """
    states = [_State(target=target) for target in targets]
    for target in targets:
        _compile(target)
    for _ in range(_MOST_ATTEMPTS * max(1, len(states))):
        left = [state for state in states if state.size is None]
        if not left:
            break
        why, at = _attempt(left, step, memory)
        if at is not None and not at.stop_at(why):
            _give_up(at, why)
    for state in states:
        if state.size is None:
            _give_up(state, "it ended or held up the process that checked it too often")
        _remeasure(state, step, memory)
    return [_report(state) for state in states]


def _report(state: _State) -> Report:
    target = state.target
    return report(target.target, target.distribution, target.version, state.found.values(), state.size or 0)


def _give_up(state: _State, why: str) -> None:
    state.size = 0
    subject = state.target.entries[0].name
    fix = "Mend what is told of above first, and check again."
    finding = Finding(
        id="load.import", subject=subject, status="fail", text=f"it could not be checked further: {why}", fix=fix
    )
    state.found["load.import", subject] = finding


def _remeasure(state: _State, step: float, memory: int) -> None:
    """Loading that took too long is measured alone, with those modules of ours at hand that a start has anyway."""
    slow = [one for one in state.found.values() if one.id == "load.time" and one.status == "fail"]
    for _ in range(AGAIN if slow else 0):
        alone = msgspec.structs.replace(state.target, only=["load.time"], preload=state.modules, write=False)
        other = _State(target=alone)
        _attempt([other], step, memory)
        for finding in other.found.values():
            if finding.status == "pass":
                state.found[finding.id, finding.subject] = finding
        if all(state.found[one.id, one.subject].status == "pass" for one in slow):
            return


def _compile(target: Target) -> None:
    """Bytecode for what is not installed: the first import would pay for it, and no later one."""
    for path in target.paths:
        for entry in target.entries:
            top = entry.value.replace(":", ".").split(".")[0]
            with suppress(OSError):
                compileall.compile_dir(os.path.join(path, top), quiet=2, maxlevels=8)
                if os.path.isfile(single := os.path.join(path, f"{top}.py")):
                    compileall.compile_file(single, quiet=2)


def _attempt(states: Sequence[_State], step: float, memory: int) -> tuple[str, _State | None]:
    """Check these in one child. What ended it, and at which; None: it came to its end."""
    with _started([state.job() for state in states], memory) as child:
        at = states[0]
        while lines := child.told(time.monotonic() + step):
            for line in lines:
                at = states[line.job]
                at.take(line)
                if line.size is not None and line.job + 1 < len(states):
                    at = states[line.job + 1]
        if all(state.size is not None for state in states):
            return "", None
        if lines is None and child.running():
            return f"it did not come back within {step:g} s, and was ended", at
        return f"it ended the process ({child.how_it_ended()})", at


@contextmanager
def _started(jobs: Sequence[Job], memory: int) -> Iterator[Child[Line]]:
    """The child, in a folder and a home of its own."""
    with TemporaryDirectory(prefix="pegboard-check-", ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        environ = _environment(os.environ, folder)
        child = reporting(_MAIN, str(memory), sent=msgspec.json.encode(jobs), kind=Line, cwd=folder, environ=environ)
        try:
            started = stack.enter_context(child)
        except OSError as error:
            raise CannotCheck(f"no child process can be started ({error}). Nothing was checked.") from None
        yield started


def _environment(given: Mapping[str, str], folder: str) -> dict[str, str]:
    """A person's variables without their settings of Pegboard, with a home that is nobody's, and with temporary files where
    they are removed, however the child ends."""
    kept = {name: value for name, value in given.items() if not name.startswith(("PEGBOARD_", "XDG_"))}
    home, temporary = os.path.join(folder, "home"), os.path.join(folder, "tmp")
    os.mkdir(home)
    os.mkdir(temporary)
    return {**kept, "HOME": home, "USERPROFILE": home, "TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}
