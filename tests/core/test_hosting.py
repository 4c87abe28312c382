"""The host that stands on a board: sessions opened and let go of, what a front end lists beside them, slash commands."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pegboard_guard
import pytest
from pegboard import port
from pegboard.blocks import Custom, Note, Problem, Table
from pegboard.board import Board
from pegboard.entries import Entry
from pegboard.errors import PegboardError
from pegboard.events import AnyEvent, CallAsked, CallFinished, TurnEnded
from pegboard.hooks import hookimpl
from pegboard.hosting import Hosted
from pegboard.plugins import given
from pegboard.slash import Said, Slash
from pegboard.tooling import tool
from pegboard.touches import Reads, Runs


@tool(prefix="!", key_arg="command", permission="bash")
def shell(command: Annotated[str, Runs("What")]) -> str:
    """Run a line."""
    return f"ran {command}"


@tool(category="read", echo=True)
def look(path: Annotated[str, Reads("File")], limit: int = 5) -> str:
    """Look at a file."""
    return path


def entry(name: str, found: Any = None, *, own: bool = False, distribution: str = "", value: str = "") -> Entry:
    """A slash command: a `Slash`, or where one is to be imported from."""
    return Entry(
        name=name,
        group="pegboard.slash",
        value=value or "x:y",
        distribution=distribution or f"dist-{name}",
        version="1",
        own=own,
        module=found,
    )


def slash(run: Any, **more: Any) -> Slash:
    return Slash(usage="/it X", help="does it", run=run, **more)


def make(root: Path, *extra: Entry, config: str = "") -> Board:
    tools = ModuleType("its_tools")
    tools.hook = hookimpl(lambda: [shell, look], specname="pegboard_tools")  # type: ignore[attr-defined]
    state = root.parent / "state"
    file = root.parent / "config.toml"
    if config:
        file.write_text(config, "utf-8")
    offline = Entry(
        name="offline",
        group="pegboard.providers",
        value="pegboard_offline:provider",
        distribution="pegboard-offline",
        version="1",
        own=True,
    )
    some = [
        given("its", "pegboard.toolsets", tools, own=True),
        given("guard", "pegboard.guards", pegboard_guard, own=True),
    ]
    return Board.build(
        str(root), user_file=file, environ={"HOME": str(root.parent)}, state=state, discover=False,
        extra=[*some, offline, *extra],
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


@pytest.fixture
async def board(root: Path) -> AsyncIterator[Board]:
    made = make(root)
    yield made
    await made.close()


def folders(board: Board) -> list[str]:
    assert board.sessions_folder is not None
    return sorted(os.listdir(board.sessions_folder)) if board.sessions_folder.is_dir() else []


async def turn(talk: port.Conversation, text: str = "hello") -> TurnEnded:
    """A prompt, and the end of its turn."""
    since = talk.last
    await talk.port.send(port.Prompt(text=text))
    async for event in talk.port.events(since):
        if isinstance(event, TurnEnded):
            await asyncio.sleep(0)
            return event
    raise AssertionError("the agent was closed")


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_a_session_in_which_nothing_happened_leaves_nothing_behind(board: Board) -> None:
    host = Hosted(board)
    fresh, named = host.open(), host.open("mine")
    assert folders(board) == sorted([fresh.id, "mine"])
    await fresh.close()
    await fresh.close()
    await named.close()
    assert folders(board) == []
    assert host.past() == [] and host.latest() is None

    first = host.open("kept")
    await turn(first)
    await first.close()
    again = host.open("kept")  # nothing happens in it this time; what is in it stays
    assert again.last > 0
    await again.close()
    assert folders(board) == ["kept"] and [one.id for one in host.past()] == ["kept"]


async def test_a_session_that_another_has_open_is_not_taken_away(board: Board) -> None:
    host = Hosted(board)
    one, other = host.open("shared"), host.open("shared")
    await one.close()
    assert folders(board) == ["shared"]
    await turn(other)
    await other.close()
    assert folders(board) == ["shared"] and host.latest() == "shared"


@pytest.mark.parametrize("wrong", [{"model": "nosuch/model"}, {"mode": "nosuch"}, {"id": "not a name"}])
async def test_what_cannot_be_opened_holds_nothing(board: Board, wrong: dict[str, str]) -> None:
    with pytest.raises(PegboardError, match=r"nosuch|not a name"):
        Hosted(board).open(**wrong)
    assert folders(board) == [] and not board._agents


async def test_past_sessions_are_the_latest_first_with_what_they_were_about(board: Board, root: Path) -> None:
    host = Hosted(board)
    for number, name in enumerate(("one", "two")):
        talk = host.open(name)
        await turn(talk, f"hello {name}")
        await talk.close()
        os.utime(board.sessions_folder / name / "events.jsonl", (1000 + number, 1000 + number))  # type: ignore[operator]
    call = host.open("calls")  # of a call alone: no conversation to go on with
    await call.port.send(port.Call(id="c", name="look", arguments={"path": "a"}))
    await call.close()
    found = host.past()
    assert [(one.id, one.title, one.turns, one.here) for one in found] == [
        ("two", "hello two", 1, True),
        ("one", "hello one", 1, True),
    ]
    assert host.latest() == "two"
    other = root.parent / "other"
    other.mkdir()
    elsewhere = Hosted(make(other))
    assert [one.here for one in elsewhere.past()] == [False, False] and elsewhere.latest() is None


async def test_another_model_goes_on_with_the_same_session(board: Board) -> None:
    host = Hosted(board)
    first = host.open()
    await turn(first)
    await first.close()
    second = host.open(first.id, model="offline")
    assert (second.id, second.model) == (first.id, "offline") and "offline" in second.header[0]
    await turn(second)
    await second.close()
    assert [one.turns for one in host.past()] == [2]


@pytest.mark.row("R-085")
async def test_the_mode_is_switched_between_turns(board: Board) -> None:
    host = Hosted(board)
    assert "plan" in host.modes()
    talk = host.open(mode="plan")
    assert talk.mode == "plan" and [cost.tools for cost in talk.costs()] == [["look"]]
    await talk.port.send(port.Mode())
    assert talk.mode is None and [cost.tools for cost in talk.costs()] == [["shell", "look"]]
    with pytest.raises(PegboardError, match="nosuch"):
        await talk.port.send(port.Mode(name="nosuch"))
    assert talk.mode is None
    await talk.close()


# --- what is shown beside ---------------------------------------------------------------------------------------------


async def test_files_are_those_that_may_be_meant(board: Board, root: Path) -> None:
    for name in ("src/app.py", "built/x.o", ".github/ci.yml", ".env", "id_rsa", "z.txt", ".git/config", "läß.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    os.close(os.open(os.fsencode(root) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))
    (root / ".gitignore").write_text("built/\n")
    (root / "out").symlink_to("/etc")
    found = await Hosted(board).files()
    assert found == ["caf\\xe9", "läß.txt", "src/app.py", "z.txt", ".github/ci.yml", ".gitignore"]
    for name in found:
        assert board.workspace.stat(name) is not None


async def test_files_follow_the_search_settings_and_rules_by_path(root: Path) -> None:
    (root / "real").mkdir()
    for name in ("real/a.txt", "b.txt", "c.txt"):
        (root / name).write_text("x")
    (root / "link").symlink_to("real")
    (root / ".gitignore").write_text("b.txt\n")
    config = "search.require_git = true\nsearch.follow_links = true\n"
    rule = '[[permission.rules]]\naction = "deny"\nkey = "read"\npath = "c.txt"\n'
    board = make(root, config=config + rule)
    assert await Hosted(board).files() == ["b.txt", "link/a.txt", "real/a.txt", ".gitignore"]
    await board.close()


async def test_models_that_are_known_without_asking_anybody(root: Path) -> None:
    config = (
        'model = "a/x"\n[providers.a]\nkind = "offline"\nmodels = ["x", "y"]\n[providers.b]\nbase_url = "http://h"\n'
    )
    board = make(root, config=config)
    assert Hosted(board).models() == ["a/x", "a/y", "b", "offline"]
    await board.close()


async def test_a_setting_is_kept_in_the_persons_own_file_and_nonsense_is_not(root: Path) -> None:
    board = make(root, config="# mine\n[ui] # looks\nstatus = false\n")
    file, host = root.parent / "config.toml", Hosted(board)
    assert host.keep("ui.theme", "light") == "~/config.toml"
    host.keep('ui.keys."input.send"', "ctrl+j")
    written = file.read_text("utf-8")
    assert written.startswith("# mine\n[ui] # looks\nstatus = false\n") and 'theme = "light"' in written
    again = Hosted(make(root)).ui
    assert (again.theme, again.keys, again.status) == ("light", {"input.send": "ctrl+j"}, False)
    nonsense = [("ui.thene", "x"), ("ui.theme", 3), ("ui.notify", "shout"), ("ui", {}), ("", 1), ("ui.theme", None)]
    for key, value in nonsense:
        with pytest.raises(PegboardError, match="nothing was changed"):
            host.keep(key, value)
    assert file.read_text("utf-8") == written
    await board.close()


# --- a call in a person's words, and a line that means one ------------------------------------------------------------


async def test_a_call_is_described_as_its_tool_reads_it(board: Board) -> None:
    talk = Hosted(board).open()

    def asked(name: str, **arguments: Any) -> CallAsked:
        return CallAsked(lane="root", id="c", tool=name, requested=name, set="its", arguments=arguments, summary="")

    found = talk.describe(asked("look", path="a.py", limit="3", extra=1))
    assert (found.activity.verb, found.activity.subject, found.arguments["limit"]) == ("Read", "a.py", 3)
    assert (found.echo, found.commands, found.ignored) == (True, False, ["extra"])
    assert talk.describe(asked("shell", command="ls")).commands
    assert talk.describe(asked("look", path="a"), {"path": "b"}).activity.subject == "b"
    nobody = talk.describe(asked("nosuch", path="a"))
    assert (nobody.tool, nobody.arguments, nobody.ignored) == ("nosuch", {"path": "a"}, [])
    broken = msgspec_replace(asked("look"), arguments="{not json")
    assert talk.describe(broken).arguments == "{not json"
    finished = CallFinished(
        lane="root", id="c", outcome="ok", block=None, why=None, text="x", data={"a": 1}, truncated=False,
        decision=None, duration_ms=1.0,
    )  # fmt: skip
    assert await talk.draw(asked("look", path="a"), finished) == []
    assert await talk.draw(asked("nosuch"), finished) == []
    await talk.close()


def msgspec_replace(event: AnyEvent, **more: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(event, **more)


async def test_a_prefix_means_the_call_of_the_tool_that_declares_it(board: Board) -> None:
    talk = Hosted(board).open()
    assert talk.typed("! ls -la ") == port.Typed(tool="shell", arguments={"command": "ls -la"})
    assert talk.signs == ["!"]
    assert [talk.typed(line) for line in ("!", "!  ", "ls", " !ls", "")] == [None] * 5
    await talk.close()


# --- slash commands ---------------------------------------------------------------------------------------------------


async def test_a_slash_command_is_given_the_session_and_returns_blocks(root: Path) -> None:
    heard: list[Said] = []

    def count(said: Said) -> list[Any]:
        heard.append(said)
        return [Note(text=f"{len(said.rest.split())} words"), Custom(kind="bar", data={"a": 1}, plain=[Note(text="p")])]

    async def ask(said: Said) -> tuple[Any, ...]:
        await said.port.send(port.Mode(name="plan"))
        found = await said.explain("shell", {"command": "ls"})
        return (Table(columns=[found.action], rows=[[found.rule]]),)

    board = make(
        root,
        entry("count", slash(count, complete=lambda said: ["alpha", "beta", 3, ""])),
        entry("ask", slash(ask)),
    )
    talk = Hosted(board).open()
    shown = await talk.command("count", "a b  c")
    assert shown == [Note(text="3 words"), Custom(kind="bar", data={"a": 1}, plain=[Note(text="p")])]
    (said,) = heard
    assert (said.board, said.session.id, said.model, said.port) == (board, talk.id, "offline", talk.port)
    (table,) = await talk.command("ask", "")
    assert isinstance(table, Table) and table.columns == ["deny"] and "plan" in table.rows[0][0] and talk.mode == "plan"
    assert talk.complete("count", "") == ["alpha", "beta"] and talk.complete("count", "x b") == ["beta"]
    assert talk.complete("ask", "") == talk.complete("nosuch", "") == []
    await talk.close()
    await board.close()


async def test_a_slash_command_that_fails_is_a_problem_and_the_session_goes_on(root: Path) -> None:
    def expected(said: Said) -> list[Any]:
        raise PegboardError("the moon is full; nothing was done")

    def broken(said: Said) -> list[Any]:
        raise SystemExit("bye \ud800")

    board = make(
        root,
        entry("expected", slash(expected)),
        entry("broken", slash(broken, complete=broken)),
        entry("nothing", slash(lambda said: None)),
        entry("text", slash(lambda said: "text")),
        entry("objects", slash(lambda said: [object()])),
        entry("huge", slash(lambda said: [Note(text="x" * 5_000_000)])),
        entry("gone", value="no.such.module:it", distribution="acme"),
        entry("other", object()),
        entry("half", Slash(usage=None, help="x", run=expected)),  # type: ignore[arg-type]
    )
    talk = Hosted(board).open()
    told = {}
    for name in ("expected", "broken", "nothing", "text", "objects", "huge", "gone", "other", "half", "expectde"):
        (problem,) = await talk.command(name, "")
        assert isinstance(problem, Problem)
        told[name] = problem.text
    assert told["expected"] == "the moon is full; nothing was done"
    assert re.search(r"SystemExit: bye \\ud800 \(.*test_hosting\.py:\d+\)\. .* is not known", told["broken"])
    assert "NoneType" in told["nothing"] and "str" in told["text"] and "no blocks" in told["objects"]
    assert "4 MiB" in told["huge"] and "acme 1 did not load" in told["gone"] and "not a Slash" in told["other"]
    assert "no text" in told["half"] and "Did you mean /expected?" in told["expectde"]
    assert talk.complete("broken", "") == []
    await turn(talk)
    await talk.close()
    await board.close()


async def test_which_slash_commands_there_are(root: Path) -> None:
    mine, theirs = slash(lambda said: [Note(text="mine")]), slash(lambda said: [Note(text="theirs")])
    board = make(
        root,
        entry("ours", mine, own=True, distribution="pegboard-x"),
        entry("ours", value="stranger:it", distribution="aaa"),
        entry("twice", value="stranger:it", distribution="aaa"),
        entry("twice", value="stranger:it", distribution="bbb"),
        entry("off", theirs),
        entry("No Word", theirs),
        entry("gone", value="no.such.module:it", distribution="acme"),
        config='[plugins]\ndisable = ["off"]\n',
    )
    host = Hosted(board)
    talk = host.open()
    offered = {one.name: one for one in host.commands()}
    assert list(offered) == ["gone", "ours"] and offered["ours"].owner == "pegboard-x"
    assert (offered["ours"].usage, offered["ours"].help) == ("/it X", "does it")
    assert "did not load" in offered["gone"].help  # told of, and the others are there
    assert await talk.command("ours", "") == [Note(text="mine")]
    for name, said in (("twice", "aaa 1 and bbb 1 both bring"), ("off", "plugins.disable"), ("No Word", "no command")):
        (problem,) = await talk.command(name, "")
        assert isinstance(problem, Problem) and said in problem.text
    notes = [note for note in board.notes if "twice" in note or "ours" in note]
    assert any("aaa 1 and bbb 1" in note for note in notes) and any("pegboard-x 1 has the name" in n for n in notes)
    await talk.close()
    await board.close()


STRANGER = """
import os, sys
from pegboard.blocks import Note
from pegboard.slash import Slash
print("hello from the import")
os.environ["CHANGED"] = "yes"
it = Slash(usage="/it", help="it", run=lambda said: [Note(text="done")])
"""


async def test_a_strangers_command_is_imported_when_it_is_typed_and_what_that_does_is_put_back(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stranger_slash.py").write_text(STRANGER, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    board = make(root, entry("it", value="stranger_slash:it", distribution="acme"))
    host = Hosted(board)
    talk = host.open()
    assert "stranger_slash" not in sys.modules
    shown = await talk.command("it", "")
    assert shown[-1] == Note(text="done") and isinstance(shown[0], Note) and "prints when it is loaded" in shown[0].text
    assert "CHANGED" not in os.environ and "hello" not in capfd.readouterr().out
    assert await talk.command("it", "") == [Note(text="done")]
    await talk.close()
    await board.close()
    monkeypatch.delitem(sys.modules, "stranger_slash")
