"""Starting the process that keeps a job (`keeper`), and hearing from it whether the job was started."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress

import msgspec

from pegboard.errors import ToolError
from pegboard.kit.jobs.draining import end_tree
from pegboard.kit.jobs.keeper import Report, Wanted
from pegboard.kit.launch import Launch
from pegboard.kit.tree import Tree

_PROGRAM = (
    "import sys, ast; sys.path[:] = ast.literal_eval(sys.argv[1]); from pegboard.kit.jobs.keeper import begin; begin()"
)


async def keep(launch: Launch, wanted: Wanted) -> None:
    """Start a job with a keeper of its own. Cancelling this ends both.

    Raises:
        ToolError: it could not be started; nothing runs.
    """
    tree = Tree()
    env = tree.marked(os.environ if launch.env is None else launch.env)
    said = {**msgspec.structs.asdict(launch), "env": env}
    spec = json.dumps({"wanted": msgspec.to_builtins(wanted), "launch": said}).encode()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, repr([*sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=tree.marked(os.environ),
            pass_fds=launch.pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(
            f"the process that would keep the job cannot be started ({error.strerror}). Nothing was started."
        ) from None
    tree.pid = process.pid
    try:
        heard = await asyncio.to_thread(_talk, process, spec)
        report = msgspec.json.decode(heard, type=Report)
    except msgspec.MsgspecError:
        await asyncio.to_thread(end_tree, tree, (), 0.0, process)
        raise ToolError("the process that would keep the job ended at once. Nothing runs.") from None
    except BaseException:
        end_tree(tree, (), 0.0, process)
        raise
    finally:
        process.wait()  # it went on in a child of its own at once
    if report.error is not None:
        raise ToolError(report.error)


def _talk(process: subprocess.Popen[bytes], spec: bytes) -> bytes:
    """Say what is to be kept; the report, or nothing if it died."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError), process.stdin as pipe:
        pipe.write(spec)
    with process.stdout as pipe:
        return pipe.read()
