"""What confines programs: which launcher, when it is used, and that whatever goes wrong with it refuses the program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import pytest
from pegboard import Context, Reads, Runs, tool
from pegboard.board import Board
from pegboard.calls import Call, Record
from pegboard.desk import Answers
from pegboard.entries import Entry
from pegboard.errors import ConfigError, ToolError
from pegboard.kit import landlock
from pegboard.kit.launch import Launch, spawn
from pegboard.lane import Lane
from pegboard.road import Road
from pegboard.testing.plugged import module_entry

ALLOWED = '[[permission.rules]]\nkey = "bash"\naction = "allow"\nsandbox = true\n'
WORKS = """
import msgspec
class Box:
    def __init__(self, settings): self.settings = settings
    def missing(self): return self.settings.get("why")
    def stopped(self, launch, output): return "it has no network" if b"network" in output else None
    def __call__(self, launch): return msgspec.structs.replace(launch, argv=("env", "BOX=" + launch.view, *launch.argv))
"""


@tool
async def sh(command: Annotated[str, Runs("What is run")], ctx: Context) -> str:
    """Run a line."""
    done = await ctx.run(["sh", "-c", command.removeprefix("sh ")])
    return f"{done.exit_code} {done.stdout.decode()}"


@tool
async def look(path: Annotated[str, Reads("A file")], ctx: Context, command: str = "cat x") -> str:
    """Read with a program."""
    done = await ctx.run(["sh", "-c", command])
    return f"{done.exit_code} {done.stdout.decode()}{done.stderr.decode()}"


class Boards:
    """Makes boards over a workspace, with a launcher from a module of its own."""

    def __init__(self, tmp_path: Path) -> None:
        self.root, self.folder = tmp_path / "work", tmp_path
        self.root.mkdir()
        (self.root / "x").write_text("there")
        self.roads: list[Road] = []

    def module(self, text: str, name: str = "box_launcher") -> str:
        (self.folder / f"{name}.py").write_text(text)
        return name

    def build(self, settings: str, launcher: str | None = WORKS, *, name: str = "sandbox", own: bool = True) -> Board:
        extra = [module_entry("test", "pegboard.toolsets", "pegboard_tools", [sh, look], own=True)]
        if launcher is not None:
            value = f"{self.module(launcher)}:Box"
            extra.append(
                Entry(name=name, group="pegboard.launchers", value=value, distribution="box", version="1", own=own)
            )
        file = self.folder / "config.toml"
        file.write_text(settings)
        return Board.build(
            str(self.root), user_file=file, environ={}, state=self.folder / "state", extra=extra, discover=False
        )

    def road(self, board: Board, answers: Answers = "headless") -> Callable[..., object]:
        road = board.road(board.session(in_memory=True), answers=answers)

        async def call(name: str, **arguments: object) -> Record:
            return await road.travel(Call(id="", name=name, arguments=arguments, caller="program"), Lane())

        return call


@pytest.fixture
def boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boards]:
    monkeypatch.syspath_prepend(tmp_path)
    yield Boards(tmp_path)
    sys.modules.pop("box_launcher", None)


async def test_what_is_allowed_for_the_sandbox_runs_in_it_and_what_a_person_allows_does_not(boards: Boards) -> None:
    board = boards.build(ALLOWED)
    allowed = await boards.road(board)("sh", command="sh echo $BOX")
    asked = await boards.road(boards.build(""), "--yes")("sh", command="sh echo $BOX")

    assert board.confined and (allowed.text, allowed.decision.sandbox) == ("0 workspace\n", True)
    assert asked.text == "0 \n"


async def test_it_is_imported_once_a_program_is_to_be_confined_and_not_before(boards: Boards) -> None:
    board = boards.build("", "raise RuntimeError('imported')")

    assert (await boards.road(board, "--yes")("sh", command="sh echo $BOX")).text == "0 \n"
    assert "box_launcher" not in sys.modules and not board.confined


async def test_required_it_holds_every_program(boards: Boards) -> None:
    board = boards.build('[sandbox]\nmode = "require"\n')

    assert (await boards.road(board, "--yes")("sh", command="sh echo $BOX")).text == "0 workspace\n"


@pytest.mark.parametrize(
    ("settings", "launcher", "says"),
    [
        ('[sandbox]\nmode = "require"\n', None, "no launcher 'sandbox' is installed"),
        ('[sandbox]\nmode = "require"\nwhy = "no such thing here"\n', WORKS, "no such thing here"),
        ('[sandbox]\nmode = "require"\n', "raise RuntimeError('broken')", "broken"),
        ('[sandbox]\nmode = "require"\n[plugins]\ndisable = ["sandbox"]\n', WORKS, "plugins.disable names sandbox"),
        ('[sandbox]\nmode = "always"\n', WORKS, "may be auto, require or off"),
        ('launcher = "sandbax"\n', WORKS, "(installed: sandbox); did you mean sandbox?"),
        ('launcher = "docker"\n', None, "(installed: none)"),
    ],
)
def test_what_cannot_be_held_stops_the_start(boards: Boards, settings: str, launcher: str | None, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        boards.build(settings, launcher)

    assert says in str(raised.value) and "othing was started" in str(raised.value)
    assert raised.value.line is not None


@pytest.mark.parametrize(
    ("settings", "launcher", "says"),
    [
        ("", None, "no sandbox (no launcher 'sandbox' is installed"),
        ('[sandbox]\nwhy = "it is Tuesday"\n', WORKS, "no sandbox (it is Tuesday)"),
        ('[sandbox]\nmode = "off"\n', WORKS, 'sandbox.mode = "off"'),
        ("", "class Box:\n    def __init__(self, settings): raise OSError('no')", "no sandbox (the launcher 'sandbox'"),
        ("", WORKS.replace("return self.settings", "raise OSError('no')"), "no sandbox (the launcher 'sandbox' failed"),
    ],
)
async def test_where_there_is_none_what_wants_it_asks_and_that_is_said_once(
    boards: Boards, settings: str, launcher: str | None, says: str
) -> None:
    board = boards.build(settings + ALLOWED, launcher)

    refused = await boards.road(board)("sh", command="sh echo ran > ran")

    assert (refused.outcome, refused.decision.action) == ("blocked", "ask") and not (boards.root / "ran").exists()
    assert [note for note in board.notes if says in note and "asked about" in note]
    assert not [note for note in boards.build(settings, launcher).notes if "asked about" in note]
    assert (await boards.road(board, "--yes")("sh", command="sh echo $BOX")).text == "0 \n", "a person's yes is outside"


async def test_a_strangers_launcher_of_our_name_counts_only_where_it_is_named(boards: Boards) -> None:
    assert not boards.build(ALLOWED, own=False).confined
    assert boards.build(f'launcher = "sandbox"\n{ALLOWED}', own=False).confined


@pytest.mark.parametrize(
    "body", ["raise OSError('no')", "return None", "return launch", "raise SystemExit", "return launch.argv"]
)
async def test_a_launcher_that_fails_or_does_nothing_refuses_the_program(boards: Boards, body: str) -> None:
    text = f"class Box:\n    def __init__(self, settings): pass\n    def __call__(self, launch): {body}\n"

    record = await boards.road(boards.build(ALLOWED, text))("sh", command="sh echo ran > ran")

    assert record.outcome == "error" and "Nothing was run" in record.text and not (boards.root / "ran").exists()


def test_what_nothing_confined_is_not_started() -> None:
    with pytest.raises(ToolError, match=r"no launcher did so\. Nothing was run"):
        spawn(Launch(argv=("true",), cwd="/", view="workspace"), {}, b"")


async def test_what_the_sandbox_stopped_is_told_and_the_same_call_once_more_is_asked_about(boards: Boards) -> None:
    board = boards.build(ALLOWED)
    road = board.road(board.session(in_memory=True), answers="headless")

    async def call(command: str) -> Record:
        return await road.travel(Call(id="", name="sh", arguments={"command": command}, caller="program"), Lane())

    failing = "sh echo network; exit 1"
    stopped, other, again = await call(failing), await call("sh true"), await call(failing)

    assert stopped.outcome == "ok" and "(stopped by the sandbox: it has no network." in stopped.text
    assert (other.outcome, other.decision.action) == ("ok", "allow")
    assert (again.outcome, again.decision.action, again.decision.rule) == (
        "blocked",
        "ask",
        "sandbox: stopped it before",
    )
    assert "stopped" not in (await call("sh echo network; exit 0")).text, "it did not fail"


@pytest.mark.skipif(not landlock.available(), reason="the system has no Landlock of version 3 or newer")
async def test_the_program_of_a_tool_that_reads_cannot_write_and_needs_no_launcher(boards: Boards) -> None:
    call = boards.road(boards.build("", None))

    for line in (
        "echo x > new",
        "rm x",
        "echo x >> x",
        "mkdir d",
        "ln x y",
        "mv x y",
        f"kill -0 {__import__('os').getpid()}",
    ):
        assert not (await call("look", path="x", command=line)).text.startswith("0 "), line
    assert (await call("look", path="x", command="cat x; echo lost > /dev/null")).text == "0 there"
    assert sorted(path.name for path in boards.root.iterdir()) == ["x"] and (boards.root / "x").read_text() == "there"
    assert (await boards.road(boards.build("", None), "--yes")("sh", command="sh echo x > new")).text == "0 "


async def test_without_that_the_program_of_a_tool_that_reads_is_the_launchers(
    boards: Boards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "available", lambda: False)

    held = await boards.road(boards.build(""))("look", path="x", command="echo $BOX")
    free = await boards.road(boards.build('[sandbox]\nmode = "off"\n'))("look", path="x", command="echo $BOX")

    assert (held.text, free.text) == ("0 read_only\n", "0 \n")
