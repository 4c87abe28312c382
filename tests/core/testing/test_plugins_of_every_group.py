"""A test's board takes plugins of every group, as objects and as modules, and nothing else is on it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from pegboard import Context, Runs, Writes, hookimpl, tool
from pegboard.blocks import Note, Table
from pegboard.calls import Answer, Ask, Call, Deny, Touch
from pegboard.hooks import Asked, Fragment
from pegboard.kit.launch import Launch
from pegboard.models import EndPart, ProviderSettings, Request, TextPart
from pegboard.slash import Said, Slash
from pegboard.testing import TestBoard

Make = Callable[..., TestBoard]


@tool
def put(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> str:
    """Write a text into a file."""
    with ctx.commit() as files:
        files.write(path, text.encode())
    return f"wrote {path}"


class Report(msgspec.Struct):
    words: int


@tool(pure=True)
def report() -> Report:
    """Report."""
    return Report(words=2)


def protect(call: Call, touches: list[Touch]) -> Deny | Ask | None:
    return Deny("protect: lock", "it is locked") if any(t.at == "uv.lock" for t in touches) else None


async def documents(asked: Asked) -> Answer | None:
    return Answer(granted=True, by="") if asked.call.arguments["path"].endswith(".md") else None


def shout(call: Call) -> dict[str, Any] | None:
    return {**call.arguments, "text": call.arguments["text"].upper()} if "text" in call.arguments else None


def module(hook: str, contributed: Any, settings: type | None = None) -> ModuleType:
    made = ModuleType(f"module_with_{hook}")

    def impl(settings: Any) -> Any:
        return contributed(settings) if callable(contributed) and not isinstance(contributed, type) else contributed

    impl.__name__ = hook
    setattr(made, hook, hookimpl(impl))
    if settings is not None:
        made.Settings = settings  # type: ignore[attr-defined]
    return made


class Greeting(msgspec.Struct):
    text: str = "none"


def test_guards_refuse(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], guards=[protect])
    board.call("put", path="uv.lock", text="x").expect("blocked", block="guard", rule="protect: lock")
    board.call("put", path="a.txt", text="x").expect("ok")
    assert board.files == {"a.txt": "x"}


def test_a_module_is_known_by_its_name_and_has_its_settings(pegboard_board: Make) -> None:
    def guards(settings: Greeting) -> list[Any]:
        return [lambda call, touches: Deny("why", settings.text)]

    board = pegboard_board(
        tools=[put],
        guards={"protect": module("pegboard_guards", guards, Greeting)},
        settings={"protect.text": "not today"},
    )
    board.call("put", path="a", text="x").expect("blocked", rule="why", says="not today")


def test_approvers_answer_where_the_persons_own_file_names_them(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], approvers=[documents], answers="headless")
    board.call("put", path="a.md", text="x").expect("ok", by="plugin:testapprover")
    board.call("put", path="a.py", text="x").expect("blocked", block="denied", by="headless")


def test_approvers_that_are_not_named_say_nothing(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], approvers=[documents], answers="headless", named=False)
    board.call("put", path="a.md", text="x").expect("blocked", by="headless")


def test_the_persons_own_file_may_say_more(pegboard_board: Make) -> None:
    file = '[plugins]\nguard_timeout = 7.5  # kept\napprovers = ["another"]\n'
    file += '[[permission.rules]]\nkey = "edit"\naction = "deny"\n'
    board = pegboard_board(tools=[put], approvers=[documents], own_file=file)
    assert board.board.config.plugins.guard_timeout == 7.5
    assert list(board.board.config.plugins.approvers) == ["another", "testapprover"]
    board.call("put", path="a.md", text="x").expect("blocked", decision="deny")


def test_rewriters_change_a_call(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], rewriters=[shout])
    board.call("put", path="a.txt", text="loud").expect("ok")
    assert board.files == {"a.txt": "LOUD"}


def test_renderers_draw(pegboard_board: Make) -> None:
    def draw(data: Report) -> list[Any]:
        return [Table(columns=["words"], rows=[[str(data.words)]])]

    board = pegboard_board(tools=[report], renderers={Report: draw})
    board.call("report").expect("ok", data={"words": 2}, blocks=[Table(columns=["words"], rows=[["2"]])])
    by_module = pegboard_board(tools=[report], renderers={"words": module("pegboard_renderers", {Report: draw})})
    by_module.call("report").expect(blocks=[Table])


def test_a_renderer_that_fails_fails_the_test(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[report], renderers={Report: lambda data: data.nothing})
    with pytest.raises(AssertionError, match=r"report\(\) cannot be drawn: .*nothing"):
        board.call("report").drawn()


def test_observers_are_told(pegboard_board: Make) -> None:
    seen: list[str] = []
    board = pegboard_board(tools=[report], observers=[lambda event: seen.append(type(event).__name__)])
    board.call("report")
    assert seen == ["CallAsked", "CallStarted", "CallFinished"]


def test_prompts_stand_in_the_system_prompt(pegboard_board: Make) -> None:
    board = pegboard_board(prompts=["Say please.", Fragment(text="Say thanks.", name="manners")])
    assert "Say please." in board.system and "Say thanks." in board.system


class Parrot:
    banner = "a parrot"
    cautious = False

    def __init__(self, settings: ProviderSettings) -> None:
        self.model = settings.model

    async def reply(self, request: Request) -> AsyncIterator[Any]:
        yield TextPart(f"{self.model}: {request.messages[-1].text}")
        yield EndPart()

    async def close(self) -> None:
        """Nothing is held."""


def test_a_provider_is_what_its_entry_names(pegboard_board: Make) -> None:
    assert pegboard_board(providers={"parrot": Parrot}).prompt("hello").text.endswith(": hello")
    board = pegboard_board(providers={"parrot": Parrot}, model="parrot/grey")
    assert board.prompt("hello").text == "grey: hello"


def test_a_provider_may_be_brought_as_it_is(pegboard_board: Make) -> None:
    async def replies(request: Request) -> AsyncIterator[Any]:
        yield TextPart("as a function")
        yield EndPart()

    assert pegboard_board(provider=replies).prompt().text == "as a function"


@tool
async def shown(command: Annotated[str, Runs("What is run")], ctx: Context) -> str:
    """Show what a program gets."""
    done = await ctx.run([sys.executable, "-c", "import os; print(os.environ.get('WRAPPED'))"])
    return done.stdout.decode().strip()


def test_with_a_launcher_every_program_runs_in_it(pegboard_board: Make) -> None:
    class Wrapped:
        def __init__(self, settings: Any) -> None:
            self.settings = settings

        def __call__(self, launch: Launch) -> Launch:
            return msgspec.structs.replace(launch, argv=("env", "WRAPPED=yes", *launch.argv))

    pegboard_board(tools=[shown], launchers={"wrap": Wrapped}).call("shown", command="x").expect("ok", text="yes")
    pegboard_board(tools=[shown]).call("shown", command="x").expect("ok", text="None")


def test_slash_commands_show_blocks(pegboard_board: Make) -> None:
    def count(said: Said) -> list[Any]:
        return [Note(text=f"{len(said.rest.split())} words")]

    board = pegboard_board(slash={"letters": Slash(usage="/letters TEXT", help="count", run=count)})
    assert board.slash("/letters one three") == [Note(text="2 words")]
    [problem] = board.slash("/leters one")
    assert "Did you mean /letters?" in problem.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"guard": [protect]}, "a board takes no 'guard'"),
        ({"guards": protect}, "a list of objects"),
        ({"renderers": [print]}, "functions by type"),
        ({"launchers": [print]}, "given by name"),
        ({"prompts": "Say please."}, "a list of objects"),
    ],
)
def test_what_is_given_in_another_form_is_told_of(pegboard_board: Make, given: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        pegboard_board(**given)


def test_files_are_there_from_the_beginning(pegboard_board: Make, pegboard_workspace: Callable[..., Path]) -> None:
    root = pegboard_workspace({"a/b.txt": "one\r\n"})
    board = pegboard_board(files={"c.bin": b"\xff", "link": Path("a/b.txt")})
    assert (root / "link").read_bytes() == b"one\r\n"
    assert board.files == {"a/b.txt": "one\r\n", "c.bin": b"\xff", "link": Path("a/b.txt")}
    with pytest.raises(ValueError, match="does not lie in the workspace"):
        pegboard_workspace({"../elsewhere": ""})
