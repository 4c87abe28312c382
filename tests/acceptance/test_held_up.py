"""A plugin that holds up a session: it is told of, and the session starts again without it and shows what it had shown."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest
from panes import Pane, needs_tmux
from running import alive, pid_in

PROGRAM = str(Path(sys.executable).with_name("pegboard"))
READY = "\x1b[?2004h> "
SOON = {"PEGBOARD_PLUGINS_LOOP_TIMEOUT": "1"}
MODULES = {
    "stranger_holds": """
        import asyncio
        import time
        from typing import Annotated
        from pegboard import Context, Runs, hookimpl, tool

        @tool
        async def hold(command: Annotated[str, Runs("Command line")], ctx: Context) -> str:
            '''Hold up the loop, while a command runs.'''
            running = asyncio.create_task(ctx.run(["sh", "-c", command]))
            await asyncio.sleep(0.3)
            while running:
                time.sleep(0.01)

        @hookimpl
        def pegboard_tools(settings):
            return [hold]
    """,
    "stranger_holds_guard": """
        from pegboard import hookimpl

        async def guard(call, touches):
            while "GUARD" in str(call.arguments):
                pass

        @hookimpl
        def pegboard_guards(settings):
            return [guard]
    """,
}


@pytest.fixture
def environ(cli: Any, tmp_path: Path) -> dict[str, str]:
    from textwrap import dedent

    site = tmp_path / "site"
    for name, text in MODULES.items():
        (site / f"{name}.py").write_text(dedent(text), "utf-8")
    info = site / "stranger_holds-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger-holds\nVersion: 1\n", "utf-8")
    points = "[pegboard.toolsets]\nholds = stranger_holds\n[pegboard.guards]\nholder = stranger_holds_guard\n"
    (info / "entry_points.txt").write_text(points, "utf-8")
    return {**cli.environ, **SOON, "TERM": "xterm"}


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?<]*[A-Za-z]", "", text).replace("\r", "")


def said(child: Any, line: str) -> str:
    child.sendline(line)
    child.expect_exact(READY)
    return " ".join(plain(child.before).split())


def test_chat_goes_on_without_the_tool_and_with_the_guard_that_held_it_up(cli: Any, environ: dict[str, str]) -> None:
    cli.script({"text": "the first answer"})
    child = pexpect.spawn(
        PROGRAM, ["chat", "--session", "s1", "--yes"], cwd=str(cli.root), env=environ, encoding="utf-8", timeout=60,
        dimensions=(40, 300),
    )  # fmt: skip
    child.expect_exact(READY)
    assert "the first answer" in said(child, "hello")

    again = said(child, '/tool hold {"command": "echo $$ > pid; exec sleep 300"}')
    assert "the plugin 'holds' (stranger-holds 1) at stranger_holds.py" in again and "starting again" in again
    assert "session s1" in again and "started again without holds" in again and "the first answer" in again
    assert not alive(pid_in(cli.root / "pid")), "what the call had started ended with it"
    assert 'unknown tool "hold"' in said(child, "/tool hold command=ls")
    assert "off in this run" in said(child, "/plugins")

    guarded = said(child, "/tool read_file path=GUARD")
    assert "holder" in guarded and "with it" in guarded and "--without-guard holder" in guarded
    assert "is not switched off in a session" in said(child, "/plugins off holder")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@needs_tmux
@pytest.mark.xdist_group("tmux")
def test_the_app_goes_on_with_what_it_had_shown_as_soon_as_the_person_wants(cli: Any, environ: dict[str, str]) -> None:
    cli.script({"text": "the first answer"}, {"calls": [["hold", {"command": "sleep 300"}]]})
    environ = {**environ, "PEGBOARD_PLUGINS_LOOP_TIMEOUT": "600"}
    with Pane([PROGRAM, "tui", "--session", "s1", "--yes"], cwd=cli.root, env=environ) as pane:
        pane.wait_for("plays what is written")
        pane.type("hello", "Enter")
        pane.wait_for("the first answer")
        pane.type("hold it", "Enter")
        pane.wait_for("holds up this session")
        for _ in range(12):  # as people do; the next process is not left by it
            pane.press("C-c")
            time.sleep(0.1)
        screen = pane.wait_for("held up")
        assert "the first answer" in screen and "hold it" in screen
        pane.type("/plugins off holds", "Enter")
        pane.wait_for("holds is off already")
        pane.press("C-q")
        assert pane.code() == 0
