"""The board: which plugins are on, what is registered, what is offered, and what a person is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from pegboard.board import Board
from pegboard.calls import Answer, Call, Deny
from pegboard.entries import Entry
from pegboard.errors import ConfigError, PluginError
from pegboard.events import CallFinished
from pegboard.hooks import hookimpl
from pegboard.models import EndPart, TextPart
from pegboard.plugins import given
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Reads, Runs, Writes


def module(name: str, **returned: Any) -> ModuleType:
    """A plugin's module whose hooks return these."""
    made = ModuleType(f"plugin_{name}")
    for hook, what in returned.items():

        def impl(settings: object, what: Any = what) -> Any:
            return what

        impl.__name__ = hook
        setattr(made, hook, hookimpl(impl))
    return made


def named(name: str, **declared: Any) -> Any:
    @tool(name=name, **{"pure": True} | declared)
    def some(word: str = "") -> str:
        """Do something."""
        return f"{name} {word}".strip()

    return some


def tools(name: str, *functions: Any, own: bool = True) -> Entry:
    return given(name, "pegboard.toolsets", module(name, pegboard_tools=list(functions)), own=own)


def plugin(name: str, kind: str, **returned: Any) -> Entry:
    return given(name, f"pegboard.{kind}", module(name, **returned))


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., Board]]:
    """Build a board of these entries, with this text as the user's own file."""
    made: list[Board] = []

    def make(*extra: Entry, text: str = "", **rest: Any) -> Board:
        (tmp_path / "user.toml").write_text(text)
        (tmp_path / "work").mkdir(exist_ok=True)
        board = Board.build(
            str(tmp_path / "work"),
            user_file=tmp_path / "user.toml",
            environ=rest.pop("environ", {}),
            state=tmp_path / "state",
            extra=extra,
            discover=False,
            **rest,
        )
        made.append(board)
        return board

    yield make
    for board in made:
        asyncio.run(board.close())


def names(board: Board) -> list[str]:
    return [made.name for made in board.registry.tools]


def offered(board: Board, *caller: Any) -> list[str]:
    return [offer.name for offer in board.offers(*caller)]


CORE, GIT, WEB = tools("core", named("look")), tools("git", named("git_log")), tools("web", named("fetch"))


# --- selection --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("", ["core", "git", "web"]),
        ("toolSets = ['git']\n", ["core", "git"]),
        ("toolSets = []\n", ["core"]),
        ("toolSets = ['core']\n", ["core"]),
        ("[tools]\ngit = false\n", ["core", "web"]),
        ("toolSets = ['git']\n[tools]\ngit = false\n", ["core"]),
        ("[plugins]\ndisable = ['git']\n", ["core", "web"]),
    ],
)
def test_which_sets_are_on(build: Callable[..., Board], text: str, loaded: list[str]) -> None:
    board = build(CORE, GIT, WEB, text=text)
    assert board.set_names == loaded
    assert [info.name for info in board.registry.sets.values()] == ["core", "git", "web"]
    assert {made.set for made in board.registry.tools} == set(loaded)


@pytest.mark.row("S-022")
def test_an_unknown_set_starts_all_the_same_and_is_told_with_the_nearest_and_its_package(
    build: Callable[..., Board],
) -> None:
    board = build(CORE, GIT, text="toolSets = ['gti']\n")
    assert board.set_names == ["core"]
    assert names(board) == ["look"]
    (note,) = board.notes
    assert "'gti'" in note and "did you mean git?" in note and "pegboard-tools-gti" in note


@pytest.mark.row("Z-021", "U-051", "U-056")
@pytest.mark.parametrize("text", ["[tools]\ngit_log = false\n", "[tools]\ngit = false\n", "toolSets = ['web']\n"])
def test_what_is_off_is_not_registered(build: Callable[..., Board], text: str) -> None:
    board = build(CORE, GIT, WEB, text=text)
    assert names(board) == ["look", "fetch"]
    assert board.registry.get("git_log") is None
    assert asyncio.run(board.call("git_log")).block == "unavailable"
    assert asyncio.run(board.call("fetch")).outcome == "ok"


@pytest.mark.row("Z-021")
def test_a_switch_that_is_on_changes_nothing(build: Callable[..., Board]) -> None:
    assert names(build(CORE, GIT, text="[tools]\ngit_log = true\ngit = true\n")) == ["look", "git_log"]


@pytest.mark.row("Z-024", "R-088")
def test_a_shell_is_on_and_asks_until_it_is_switched_off(build: Callable[..., Board]) -> None:
    @tool(name="bash", aliases=["run_shell"])
    def shell(command: Annotated[str, Runs("A command")]) -> str:
        """Run a command."""
        return command

    board = build(tools("core", shell))
    assert offered(board) == ["bash"]
    assert asyncio.run(board.call("bash", {"command": "make"})).block == "denied"  # nobody is there to be asked
    off = build(tools("core", shell), text="[tools]\nbash = false\n")
    assert names(off) == []
    assert asyncio.run(off.call("run_shell", {"command": "make"})).block == "unavailable"
    assert "did you mean" not in " ".join(off.notes)


@pytest.mark.row("R-074", "R-078", "R-077")
@pytest.mark.parametrize(
    "text",
    ["[tool_permission]\nedit = 'deny'\n", "[tools]\ndeny = ['put']\n", "[tools]\nallow = ['look']\n"],
)
def test_what_is_denied_is_registered_hidden_and_refused(build: Callable[..., Board], text: str) -> None:
    @tool
    def put(path: Annotated[str, Writes("A file")]) -> str:
        """Write."""
        return path

    board = build(tools("core", named("look"), put), text=text)
    assert names(board) == ["look", "put"]
    for caller in ("model", "person", "program", "mcp"):
        assert offered(board, caller) == ["look"]
    hidden = board.registry.get("put")
    assert hidden is not None and board.why_not(hidden) == "denied"
    assert asyncio.run(board.call("put", {"path": "a"}, answers="--yes")).block == "denied"


def test_a_tool_for_other_callers_is_not_offered_to_the_model(build: Callable[..., Board]) -> None:
    board = build(tools("core", named("look"), named("own", callers=["person"])))
    assert offered(board) == ["look"]
    assert offered(board, "person") == ["look", "own"]
    assert [board.why_not(made) for made in board.registry.tools] == [None, "caller"]


def test_a_tools_declarations_travel_with_its_offer(build: Callable[..., Board]) -> None:
    @tool(category="read", examples=["show {path}"])
    def show(path: Annotated[str, Reads("A file")], lines: int = 3) -> str:
        """Show."""
        return path

    (offer,) = build(tools("core", show)).offers()
    assert (offer.examples, offer.category, offer.effect) == (("show {path}",), "read", "read_only")
    assert offer.touches == {"path": "read"}


# --- plugins that fail ------------------------------------------------------------------------------------------------


def test_a_tool_that_cannot_be_meant_is_left_out_and_the_rest_of_its_set_stays(build: Callable[..., Board]) -> None:
    @tool
    def nameless(n: int) -> str:
        return ""

    board = build(tools("words", nameless, named("look"), lambda: None))
    assert names(board) == ["look"]
    assert len(board.notes) == 2
    assert all("'words'" in note and "left out" in note for note in board.notes)


def test_a_set_that_does_not_load_is_told_and_the_others_are_there(build: Callable[..., Board]) -> None:
    broken = given("broken", "pegboard.toolsets", module("broken"))
    board = build(CORE, broken)
    assert board.set_names == ["core"]
    assert [failure.entry.name for failure in board.failures] == ["broken"]
    assert "plugins.disable" in board.notes[0]


@pytest.mark.parametrize(
    "broken",
    [
        module("guard"),
        module("guard", pegboard_guards=[3]),
        module("guard", pegboard_guards=None),
        module("guard", pegboard_tools=[]),
    ],
)
def test_a_guard_that_does_not_load_stops_the_start_unless_it_is_named(
    build: Callable[..., Board], broken: ModuleType
) -> None:
    entry = given("watch", "pegboard.guards", broken)
    with pytest.raises(PluginError) as caught:
        build(CORE, entry)
    assert caught.value.owner == "watch"
    assert "nothing was started" in str(caught.value) and "--without-guard watch" in str(caught.value)
    board = build(CORE, entry, without_guard=["watch"])
    assert any("'watch'" in note and "not protected" in note for note in board.notes)


def test_a_guard_cannot_be_disabled_by_configuration(build: Callable[..., Board]) -> None:
    guard = plugin("watch", "guards", pegboard_guards=[lambda call, touches: Deny("no", "never")])
    board = build(CORE, guard, text="[plugins]\ndisable = ['watch']\n[tools]\nwatch = false\n")
    assert asyncio.run(board.call("look")).block == "guard"


# --- only naming may widen --------------------------------------------------------------------------------------------


async def approve(asked: Any) -> Answer:
    return Answer(granted=True, by="")


def test_an_approver_is_on_only_when_the_users_own_file_names_it(build: Callable[..., Board]) -> None:
    asks = tools("core", named("act", pure=False))
    helper = plugin("helper", "approvers", pegboard_approvers=[approve])
    assert asyncio.run(build(asks, helper).call("act")).block == "denied"
    for rest in (
        {"flags": {"plugins.approvers": ["helper"]}},
        {"environ": {"PEGBOARD_PLUGINS_APPROVERS": "helper"}},
    ):
        assert asyncio.run(build(asks, helper, **rest).call("act")).block == "denied"
    board = build(asks, helper, text="[plugins]\napprovers = ['helper']\n")
    record = asyncio.run(board.call("act"))
    assert record.outcome == "ok" and record.decision is not None and record.decision.answer is not None
    assert record.decision.answer.by == "plugin:helper"


def test_a_rewriter_is_on_only_when_the_users_own_file_names_it(build: Callable[..., Board]) -> None:
    helper = plugin("helper", "rewriters", pegboard_rewriters=[lambda call: {"word": "other"}])
    assert asyncio.run(build(CORE, helper).call("look", {"word": "mine"})).text == "look mine"
    flags = {"plugins.rewriters": ["helper"]}
    assert asyncio.run(build(CORE, helper, flags=flags).call("look", {"word": "mine"})).text == "look mine"
    board = build(CORE, helper, text="[plugins]\nrewriters = ['helper']\n")
    assert asyncio.run(board.call("look", {"word": "mine"})).text == "look other"


def test_duplicates_the_earlier_keeps_the_name_and_both_are_told(build: Callable[..., Board]) -> None:
    board = build(tools("core", named("look")), tools("other", named("look"), named("more"), own=False))
    assert [made.qualified for made in board.registry.tools] == ["core:look", "other:more"]
    (note,) = board.notes
    assert "'core'" in note and "'other'" in note and "left out" in note


# --- observers, providers ---------------------------------------------------------------------------------------------


def test_observers_see_every_durable_event_and_one_that_fails_is_not_asked_again(build: Callable[..., Board]) -> None:
    seen: list[Any] = []
    failed: list[Any] = []

    def fails(event: Any) -> None:
        failed.append(event)
        raise RuntimeError("at observing")

    board = build(CORE, plugin("one", "observers", pegboard_observers=[fails, seen.append]))
    session = board.session()

    async def call() -> None:
        agent = board.agent(session, provider=Quiet())
        assert (await agent.call("look", {})).outcome == "ok"

    asyncio.run(call())
    assert len(failed) == 1
    assert [event.seq for event in seen] == [event.seq for event in session.read()]


class Quiet:
    """A provider that says nothing much."""

    banner = "quiet"
    cautious = False

    async def reply(self, request: Any) -> Any:
        yield TextPart("ok")
        yield EndPart()

    async def close(self) -> None:
        """Nothing is held."""


def provider_entry(value: str) -> Entry:
    return Entry(name="mine", group="pegboard.providers", value=value, distribution="d", version="1", own=False)


MADE: list[Any] = []


def test_a_provider_is_made_from_its_table(
    build: Callable[..., Board], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_provider.py").write_text(
        "made = []\ndef make(settings):\n    made.append(settings)\n    return settings\n"
        "def fails(settings):\n    raise RuntimeError('no key')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "[providers.mine]\nbase_url = 'http://127.0.0.1:1'\nname = 'sly'\nroot = '/'\n"
    board = build(provider_entry("mine_provider:make"), text=text)
    made: Any = board.provider("mine/model-7")
    assert (made.name, made.base_url, made.root) == ("mine", "http://127.0.0.1:1", board.root)
    for wrong, says in (("mine_provider:nothing", "does not load"), ("nowhere:make", "does not load")):
        with pytest.raises(ConfigError, match=says):
            build(provider_entry(wrong)).provider("mine")
    with pytest.raises(ConfigError, match="no provider 'other' is installed"):
        board.provider("other/model")
    with pytest.raises(ConfigError, match="base_url"):
        build(provider_entry("mine_provider:make"), text="[providers.mine]\nbase_url = 3\n").provider("mine")
    with pytest.raises(ConfigError, match="no key"):
        build(provider_entry("mine_provider:fails")).provider("mine")


# --- programs ---------------------------------------------------------------------------------------------------------


def test_a_program_calls_a_tool_without_a_session_on_disk(build: Callable[..., Board], tmp_path: Path) -> None:
    board = build(CORE)
    record = asyncio.run(board.call("look", {"word": "x"}))
    assert (record.text, record.session) == ("look x", "memory")
    assert not (tmp_path / "state" / "sessions").exists()


def test_a_board_makes_no_file_in_the_project(build: Callable[..., Board], tmp_path: Path) -> None:
    board = build(CORE)

    async def use() -> None:
        agent = board.agent(board.session(), provider=Quiet())
        await agent.call("look", {})

    asyncio.run(use())
    assert list((tmp_path / "work").iterdir()) == []


def test_what_a_board_is_told_of_its_own_files_is_kept_from_tools(pegboard_board: Any, tmp_path: Path) -> None:
    from pegboard.context import Context

    @tool(permission_fn=lambda arguments: "allow")
    async def write(path: str, ctx: Context) -> str:
        """Write."""
        async with ctx.commit() as files:
            files.write(path, b"x")
        return ""

    write.__annotations__["ctx"] = Context
    board = TestBoard(tmp_path, tools=[write], state=tmp_path / "state")
    for path in ("state/x", "state/sessions/y", f"state/sessions/{board.session.id}/events.jsonl"):
        record = board.call("write", path=path)
        assert record.outcome == "error" and "belongs to Pegboard itself" in record.text
    assert board.call("write", path="stately").outcome == "ok"
    board.close()


def test_a_wrong_setting_of_a_plugin_is_told_with_its_line(build: Callable[..., Board], tmp_path: Path) -> None:
    made = module("words", pegboard_tools=[named("look")])

    class Settings(msgspec.Struct):
        limit: int = 1

    made.Settings = Settings  # type: ignore[attr-defined]
    entry = given("words", "pegboard.toolsets", made)
    board = build(entry, text="\n[words]\nlimit = 'x'\n")
    assert names(board) == []
    assert f"{tmp_path / 'user.toml'}:3" in board.notes[0] or f"{tmp_path / 'user.toml'}:2" in board.notes[0]


@pytest.mark.parametrize("count", [2])
def test_agents_of_one_board_share_it_and_keep_their_sessions_apart(build: Callable[..., Board], count: int) -> None:
    board = build(CORE)

    async def use() -> list[list[Any]]:
        agents = [board.agent(board.session(f"s{n}"), provider=Quiet()) for n in range(count)]
        await asyncio.gather(*(agent.call("look", {"word": str(n)}) for n, agent in enumerate(agents)))
        return [[e.text for e in agent.session.read() if isinstance(e, CallFinished)] for agent in agents]

    assert asyncio.run(use()) == [["look 0"], ["look 1"]]


def test_a_call_is_a_value() -> None:
    with pytest.raises(AttributeError):
        Call(id="c1", name="x").name = "y"  # type: ignore[misc]


@pytest.mark.row("U-023", "S-049")
def test_an_engine_that_must_be_rg_and_is_not_there_stops_the_start(tmp_path: Path) -> None:
    missing = {"search.engine": "rg", "search.rg": str(tmp_path / "no-such-rg")}
    with pytest.raises(ConfigError, match="ripgrep 14 or newer"):
        TestBoard(tmp_path, settings=missing)
    TestBoard(tmp_path, settings={**missing, "search.engine": "auto"}).close()
    TestBoard(tmp_path, settings={"search.engine": "rg"}).close()
