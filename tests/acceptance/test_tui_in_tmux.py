"""The app in a real terminal: a whole task with a model behind HTTP, as a person does it in one sitting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Reply
from panes import Pane, needs_tmux

PROGRAM = str(Path(sys.executable).with_name("pegboard"))
pytestmark = [needs_tmux, pytest.mark.xdist_group("tmux")]
QUIET = 0.6
"""Seconds after which a key counts at a question that has come up."""
SLOW = "for i in 1 2 3; do echo line $i; done; sleep 300"


@pytest.fixture
def app(cli: Any, model_server: ModelServer) -> Callable[..., Pane]:
    """`pegboard tui` in tmux, with the scripted server as its model."""

    def begin(*words: str, size: tuple[int, int] = (110, 34)) -> Pane:
        served = {"PEGBOARD_MODEL": "openai/scripted", "OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": "k"}
        return Pane([PROGRAM, "tui", *words], cwd=cli.root, env={**cli.environ, **served}, size=size)

    return begin


def results(server: ModelServer) -> list[str]:
    """The results of calls that the model was last sent."""
    return [message["content"] for message in server.completions[-1]["messages"] if message["role"] == "tool"]


@pytest.mark.row("S-059")
def test_a_whole_task_with_approvals_a_refusal_a_command_that_is_stopped_and_a_return_after_kill(
    cli: Any, app: Callable[..., Pane], model_server: ModelServer
) -> None:
    (cli.root / "a.txt").write_text("one\n", encoding="utf-8")
    model_server.script[:] = [
        Reply(calls=[("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"})]),
        Reply(calls=[("bash", {"command": "touch made"})]),
        Reply(calls=[("bash", {"command": "rm a.txt"})]),
        Reply(calls=[("bash", {"command": SLOW})]),
        Reply(text="All **four** are done."),
    ]
    with app("--session", "s1") as pane:
        pane.wait_for("openai/scripted")
        pane.type("change it", "Enter")
        pane.wait_for(r"a\.txt[^\n]*\n(.*\n)*.*tool_permission\.edit")
        pane.wait_for("two")
        allow(pane)
        pane.wait_for("touch made")
        allow(pane)
        pane.wait_for("rm a.txt")
        refuse(pane, "I need it")
        pane.wait_for("sleep 300")
        assert (cli.root / "a.txt").read_text(encoding="utf-8") == "two\n" and (cli.root / "made").exists()
        assert any("I need it" in text for text in results(model_server))
        allow(pane)
        pane.wait_for("line 3")  # before it has ended
        pane.press("C-c")
        pane.wait_for("All four are done")  # the command was stopped, and not the turn
        assert any("interrupted" in text for text in results(model_server))
        model_server.script[:] = [Reply(text="A story that ", hang_after=3)]
        pane.type("tell me more", "Enter")
        pane.wait_for("A story")
        pane.kill()
        assert pane.code() == 137
    with app("--session", "s1") as pane:
        screen = pane.wait_for("All four are done")
        assert "tell me more" in screen and "sleep 300" in screen
        model_server.script[:] = [Reply(text="Here I am.")]
        pane.type("still there?", "Enter")
        pane.wait_for("Here I am")
        pane.press("C-q")
        assert pane.code() == 0


def allow(pane: Pane) -> None:
    """Say yes to the question on the screen, once it takes answers."""
    answer(pane, "y")


def refuse(pane: Pane, reason: str) -> None:
    """Say no, and why."""
    answer(pane, "r")
    pane.type(reason, "Enter")


def answer(pane: Pane, key: str) -> None:
    pane.wait_for("y allow once")
    time.sleep(QUIET)
    pane.press(key)
