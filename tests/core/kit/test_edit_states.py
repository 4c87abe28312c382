"""Files are never half-written: a state machine edits by every strategy there is, with failures and kills at each step.

A step is a call of the operating system that changes something below the root, or makes what will. Before each of them
another process looks at the whole tree; then the call may fail, or the process be killed. What was seen of a file must be
what it was before or what it is to be, with its mode; after a failure all is as before; after an undo, too.
"""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import re
import shutil
import signal
import stat
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pegboard_tools_core
import pegboard_tools_edit_plus
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pegboard.errors import PegboardError
from pegboard.kit import atomic
from pegboard.testing.bench import TestBoard

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="what a descriptor is, Linux says in /proc")

Value: TypeAlias = tuple[str, int, bytes]
"""What stands at a path: file, link or folder; its mode; its content, or where it leads."""
Tree: TypeAlias = dict[str, Value]

LEFT = re.compile(r"(.*/)?\.pegboard-[0-9a-f]{16}\.tmp")
"""What a process that is killed may leave: docs/sessions.md says so."""
STEPS = ("open", "write", "fsync", "fchmod", "link", "rename", "unlink", "mkdir", "symlink", "rmdir")
MOST = 24
UMASK = os.umask(0)
os.umask(UMASK)


def tree_of(root: str) -> Tree:
    """Everything below a root."""
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            mode, at = stat.S_IMODE(info.st_mode), os.path.relpath(path, root)
            if stat.S_ISLNK(info.st_mode):
                found[at] = ("link", 0, os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(info.st_mode):
                found[at] = ("folder", mode, b"")
            else:
                found[at] = ("file", mode, Path(path).read_bytes())
    return found


class Looker:
    """Another process that looks at the tree when it is told to, and remembers all it saw of each path."""

    def __init__(self, root: str) -> None:
        ask, self._ask = os.pipe()
        self._told, tell = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            with suppress(BaseException):
                os.close(self._ask)
                _look_on(root, ask, tell)
            os._exit(0)
        os.close(ask)
        os.close(tell)

    def look(self) -> None:
        os.write(self._ask, b"l")
        assert os.read(self._told, 1) == b"."

    def seen(self) -> dict[str, set[Value]]:
        """What was seen since the last time."""
        os.write(self._ask, b"s")
        (size,) = struct.unpack("!I", os.read(self._told, 4))
        data = b""
        while len(data) < size:
            data += os.read(self._told, size - len(data))
        seen: dict[str, set[Value]] = pickle.loads(data)
        return seen

    def close(self) -> None:
        os.close(self._ask)
        os.waitpid(self._pid, 0)
        os.close(self._told)


def _look_on(root: str, ask: int, tell: int) -> None:
    seen: dict[str, set[Value]] = {}
    while wish := os.read(ask, 1):
        if wish == b"l":
            for path, value in tree_of(root).items():
                seen.setdefault(path, set()).add(value)
            os.write(tell, b".")
        else:
            data = pickle.dumps(seen)
            os.write(tell, struct.pack("!I", len(data)) + data)
            seen = {}


@dataclass(frozen=True)
class Fault:
    """What happens at which step. `how`: an error's number, or "kill"; at step 0 nothing does. `nameless`: whether the file
    system has files without a name (O_TMPFILE)."""

    at: int
    how: int | str
    nameless: bool


@contextmanager
def stepping(root: str, look: Callable[[], None], fault: Fault) -> Iterator[list[str]]:
    """While the block runs, look before each step and do what the fault says. Gives the names of the steps so far."""
    steps: list[str] = []
    patch = pytest.MonkeyPatch()

    def below(*places: Any) -> bool:
        for place in places:
            with suppress(OSError):
                path = os.readlink(f"/proc/self/fd/{place}") if isinstance(place, int) else os.fsdecode(place)
                if path.startswith(root):
                    return True
        return False

    def step(name: str) -> None:
        steps.append(name)
        look()
        if len(steps) == fault.at:
            if fault.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            elif name != "rmdir":  # a folder that stays is no failure: it may be in use
                assert isinstance(fault.how, int)
                raise OSError(fault.how, os.strerror(fault.how))

    def wrapped(name: str, real: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            places = [value for key, value in more.items() if key.endswith("dir_fd") and value is not None] or args[:2]
            writes = name != "open" or args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and below(*places):
                step(name)
            return real(*args, **more)

        return call

    for name in STEPS:
        patch.setattr(os, name, wrapped(name, getattr(os, name)))
    if not fault.nameless:
        patch.setattr(atomic, "_NAMELESS", 0)
    try:
        yield steps
    finally:
        patch.undo()
        look()


@dataclass
class Deed:
    """A call that can be undone: its session and id, and the tree before it."""

    session: str
    call: str
    before: Tree
    paths: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Work:
    """A call to make, and what it makes of each path; None: nothing is there any more."""

    tool: str
    arguments: dict[str, Any]
    makes: dict[str, Value | None]


FAULTS = st.builds(
    Fault,
    at=st.integers(0, MOST),
    how=st.sampled_from([errno.ENOSPC, errno.EIO, "kill"]),
    nameless=st.booleans(),
)
NEW = st.sampled_from(["n.txt", "m.txt", "new/n.txt", "new/deep/n.txt", "sub/n.txt"])


class Edits(RuleBasedStateMachine):
    """Files of one root, changed by calls of tools, by undoing them, and by somebody else."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="pegboard-states-"))
        self.root = self.top / "root"
        self.root.mkdir()
        self.looker = Looker(str(self.root))
        self.board = self.new_board("main")
        self.words = itertools.count()
        self.sessions = itertools.count()
        self.done: list[Deed] = []

    def new_board(self, session: str) -> TestBoard:
        return TestBoard(
            self.root,
            modules={"core": pegboard_tools_core, "edit-plus": pegboard_tools_edit_plus},
            settings={"edit.staleness": "off"},  # the sessions of processes that were killed know nothing of each other
            session=session,
            state=self.top / "state",
        )

    def teardown(self) -> None:
        self.board.close()
        self.looker.close()
        shutil.rmtree(self.top)

    @initialize(modes=st.lists(st.sampled_from([0o644, 0o600, 0o755]), min_size=3, max_size=3))
    def files(self, modes: list[int]) -> None:
        (self.root / "sub").mkdir()
        for name, mode in zip(("a.txt", "b.sh", "sub/c.txt"), modes, strict=True):
            (self.root / name).write_bytes(self.lines())
            (self.root / name).chmod(mode)
        (self.root / "link").symlink_to("a.txt")

    # --- by every strategy --------------------------------------------------------------------------------------------

    @rule(name=NEW, mode=st.sampled_from(["write", "append"]), fault=FAULTS)
    def write_new(self, name: str, mode: str, fault: Fault) -> None:
        if name not in tree_of(str(self.root)):
            text = self.lines()
            self.do(
                Work("write_file", {"path": name, "content": text.decode(), "mode": mode}, {name: new(text)}), fault
            )

    @rule(data=st.data(), fault=FAULTS)
    def overwrite(self, data: Any, fault: Fault) -> None:
        path, at, (kind, mode, _) = self.a_file(data)
        text = self.lines()
        self.do(Work("write_file", {"path": path, "content": text.decode()}, {at: (kind, mode, text)}), fault)

    @rule(data=st.data(), fault=FAULTS)
    def append(self, data: Any, fault: Fault) -> None:
        path, at, (kind, mode, old) = self.a_file(data)
        text = self.lines()
        arguments = {"path": path, "content": text.decode(), "mode": "append"}
        self.do(Work("write_file", arguments, {at: (kind, mode, old + text)}), fault)

    @rule(data=st.data(), fault=FAULTS)
    def edit(self, data: Any, fault: Fault) -> None:
        path, at, (kind, mode, old) = self.a_file(data)
        word, other = data.draw(st.sampled_from(old.split())), self.word()
        arguments = {"path": path, "old_string": word.decode(), "new_string": other.decode()}
        self.do(Work("edit_file", arguments, {at: (kind, mode, old.replace(word, other))}), fault)

    @rule(data=st.data(), fault=FAULTS)
    def edit_often(self, data: Any, fault: Fault) -> None:
        path, at, (kind, mode, text) = self.a_file(data)
        edits = []
        for word in data.draw(st.lists(st.sampled_from(text.split()), unique=True, min_size=1, max_size=3)):
            other = self.word()
            edits.append({"old_string": word.decode(), "new_string": other.decode()})
            text = text.replace(word, other)
        self.do(Work("multi_edit", {"path": path, "edits": edits}, {at: (kind, mode, text)}), fault)

    @rule(data=st.data(), fault=FAULTS)
    def delete(self, data: Any, fault: Fault) -> None:
        there = sorted(path for path, value in tree_of(str(self.root)).items() if value[0] != "folder")
        if there:
            paths = data.draw(st.lists(st.sampled_from(there), unique=True, min_size=1, max_size=3))
            self.do(Work("delete_files", {"paths": paths}, dict.fromkeys(paths)), fault)

    @rule(data=st.data(), name=NEW, fault=FAULTS)
    def patch(self, data: Any, name: str, fault: Fault) -> None:
        tree = tree_of(str(self.root))
        lines, makes = ["*** Begin Patch"], dict[str, Value | None]()
        there = sorted(path for path, value in tree.items() if value[0] == "file")
        for path in data.draw(st.lists(st.sampled_from(there), unique=True, max_size=3)) if there else ():
            how = data.draw(st.sampled_from(["update", "delete", "move"]))
            kind, mode, old = tree[path]
            if how == "delete":
                lines.append(f"*** Delete File: {path}")
                makes[path] = None
                continue
            lines.append(f"*** Update File: {path}")
            word, other = data.draw(st.sampled_from(old.split())), self.word()
            makes[path] = kind, mode, old.replace(word, other)
            if how == "move":
                to = f"moved/{self.word().decode()}.txt"
                lines.append(f"*** Move to: {to}")
                makes[to], makes[path] = makes[path], None
            lines += ["@@", f"-{word.decode()}", f"+{other.decode()}"]
        if name not in tree:
            text = self.lines()
            lines += [f"*** Add File: {name}", *(f"+{line.decode()}" for line in text.split())]
            makes[name] = new(text)
        if makes:
            self.do(Work("apply_patch", {"patch": "\n".join([*lines, "*** End Patch"])}, makes), fault)

    # --- what is done with it -----------------------------------------------------------------------------------------

    @precondition(lambda self: self.done)
    @rule(fault=FAULTS)
    def undo(self, fault: Fault) -> None:
        deed, before = self.done.pop(), tree_of(str(self.root))
        makes = {path: deed.before.get(path) for path in deed.paths}
        if fault.how == "kill":
            whole = self.in_a_process(lambda: undone(self.new_board(deed.session), deed), fault)
            self.check_seen(before, makes)
            if not whole:
                for path in tree_of(str(self.root)):
                    if LEFT.fullmatch(path):
                        (self.root / path).unlink()
                assert self.undone(deed) is None, "the next undo finishes it"
                self.looker.seen()
            assert tree_of(str(self.root)) == deed.before
            return
        with stepping(str(self.root), self.looker.look, fault) as steps:
            problem = self.undone(deed)
        self.check_seen(before, makes)
        if problem is None:
            now = tree_of(str(self.root))
            if "rmdir" in steps[fault.at - 1 : fault.at]:
                now = {path: value for path, value in now.items() if value[0] != "folder" or path in deed.before}
            assert now == deed.before, "bytes, modes, links and folders"
        else:
            assert tree_of(str(self.root)) == before, problem
            self.done.append(deed)

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def change_it_meanwhile(self, data: Any) -> None:
        """Somebody else changes a file of the last call, which cannot be undone then: nothing of it is."""
        deed = self.done[-1]
        path = data.draw(st.sampled_from(sorted(deed.paths)))
        at = self.root / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if at.is_symlink():
            at.unlink()
        at.write_bytes(self.lines())
        self.done.clear()
        before = tree_of(str(self.root))
        assert self.undone(deed) is not None
        assert tree_of(str(self.root)) == before

    @rule(name=st.sampled_from(["a.txt", "b.sh", "sub/c.txt", "link"]))
    def bring_back(self, name: str) -> None:
        """Somebody else makes a file that was deleted, so that there is something to edit."""
        at = self.root / name
        if not os.path.lexists(at) and not any(name in deed.paths for deed in self.done):
            at.symlink_to("a.txt") if name == "link" else at.write_bytes(self.lines())

    @invariant()
    def nothing_is_left_behind(self) -> None:
        assert not [path for path in tree_of(str(self.root)) if LEFT.fullmatch(path)]

    # --- one call -----------------------------------------------------------------------------------------------------

    def do(self, work: Work, fault: Fault) -> None:
        before = tree_of(str(self.root))
        if self.board.board.registry.get(work.tool) is None:
            return
        if fault.how == "kill" and fault.at:
            self.do_and_die(work, fault, before)
            return
        with stepping(str(self.root), self.looker.look, fault) as steps:
            record = self.board.call(work.tool, **work.arguments)
        self.check_seen(before, work.makes)
        now = tree_of(str(self.root))
        assert steps and record.outcome == ("ok" if record.outcome == "ok" else "error"), record.text
        if record.outcome == "ok":
            assert now == after(before, work), record.text
            self.done.append(Deed("main", record.id, before, set(work.makes)))
        else:
            assert 0 < fault.at <= len(steps), record.text
            assert now == before, record.text

    def do_and_die(self, work: Work, fault: Fault, before: Tree) -> None:
        session = f"k{next(self.sessions)}"

        def call() -> Any:
            board = self.new_board(session)
            record = board.call(work.tool, **work.arguments)
            assert record.outcome == "ok", record.text
            board.close()

        whole = self.in_a_process(call, fault)
        self.check_seen(before, work.makes)
        if not whole:
            self.clear_up(before, work.makes)
        now = tree_of(str(self.root))
        with closing(self.board.board.session(session)) as opened:
            entries = self.board.board.undoing(opened).entries()
        if whole or (entries and entries[0].state == "ready"):
            assert now == after(before, work)
            self.done.append(Deed(session, "c1", before, set(work.makes)))
        elif now != before:
            assert [entry.state for entry in entries] == ["lost"], "and it is said that it cannot be undone"
            self.done.clear()

    def in_a_process(self, work: Callable[[], Any], fault: Fault) -> bool:
        """Do it in a process that is killed at its step; whether it came to its end before that."""
        pid = os.fork()
        if not pid:
            code = 1
            with suppress(BaseException):
                with stepping(str(self.root), self.looker.look, fault):
                    problem = work()
                code = 0 if problem is None else 1
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, -signal.SIGKILL)
        return code == 0

    def undone(self, deed: Deed) -> str | None:
        """Undo a call here; what keeps it from being undone."""
        if deed.session == "main":
            return undone(self.board, deed)
        with closing(self.new_board(deed.session)) as board:
            return undone(board, deed)

    def check_seen(self, before: Tree, makes: dict[str, Value | None]) -> None:
        """Whatever was seen of a path was there before, or is what is to be there."""
        for path, values in self.looker.seen().items():
            if LEFT.fullmatch(path):
                continue
            allowed = {before.get(path), makes.get(path)} if path in makes else {before.get(path)}
            allowed |= {("folder", 0o777 & ~UMASK, b"")} if is_parent(path, makes) else set()
            assert values <= allowed, f"{path} was seen as {values - allowed}"

    def clear_up(self, before: Tree, makes: dict[str, Value | None]) -> None:
        """Take away what a killed process may leave: named temporary files, and empty folders that it had made."""
        now = tree_of(str(self.root))
        for path in sorted(now, reverse=True):
            if LEFT.fullmatch(path):
                (self.root / path).unlink()
            elif now[path][0] == "folder" and path not in before and is_parent(path, makes):
                with suppress(OSError):
                    (self.root / path).rmdir()
        for path, value in tree_of(str(self.root)).items():
            allowed = (before.get(path), makes[path]) if path in makes else (before.get(path),)
            assert value in allowed or is_parent(path, makes), path

    # --- what to edit -------------------------------------------------------------------------------------------------

    def a_file(self, data: Any) -> tuple[str, str, Value]:
        """A file's name, perhaps that of a link to it; where it is; what it holds."""
        tree = tree_of(str(self.root))
        names = sorted(path for path, value in tree.items() if value[0] == "file" and value[2])
        linked = tree.get("link", ("", 0, b""))[0] == "link"
        if linked and "a.txt" in names:
            names.append("link")
        name = data.draw(st.sampled_from(names or ["none"]))
        at = "a.txt" if name == "link" and linked else name
        if at not in tree:
            (self.root / "none").write_bytes(self.lines())
            tree = tree_of(str(self.root))
        return name, at, tree[at]

    def word(self) -> bytes:
        """A word that was never there before, and is no part of another."""
        return b"w%dx" % next(self.words)

    def lines(self) -> bytes:
        return b"".join(self.word() + b"\n" for _ in range(3))


def undone(board: TestBoard, deed: Deed) -> str | None:
    """Undo a call; what keeps it from being undone."""
    try:
        board.run(board.board.undoing(board.session).undo(deed.call))
    except PegboardError as problem:
        return str(problem)
    return None


def new(content: bytes) -> Value:
    return "file", 0o666 & ~UMASK, content


def is_parent(path: str, makes: dict[str, Value | None]) -> bool:
    return any(other.startswith(path + "/") for other in makes)


def after(before: Tree, work: Work) -> Tree:
    """The tree after a call: what it makes, and folders for that."""
    made = before | {path: value for path, value in work.makes.items() if value is not None}
    for path, value in work.makes.items():
        if value is None:
            del made[path]
            continue
        for parent in list(Path(path).parents)[:-1]:
            made.setdefault(str(parent), ("folder", 0o777 & ~UMASK, b""))
    return made


TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=20,
    stateful_step_count=12,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes: add it when there is a failure
    suppress_health_check=list(HealthCheck),
)
