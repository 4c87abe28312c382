"""Which model answers: named, configured, or the first that is there; and what is told when none can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from pegboard import loopback, plugins
from pegboard.board import EMBEDDED, Board
from pegboard.config.load import load
from pegboard.entries import Entry
from pegboard.errors import ConfigError
from pegboard.models import Provider
from pegboard.providers import Choice, Providers

STRANGER = """
from pegboard.models import ProviderKind

class Echo:
    cautious = False
    def __init__(self, settings):
        self.settings = settings
        self.banner = f"echo {settings.model}"
    async def reply(self, request):
        yield
    async def close(self):
        pass

kind = ProviderKind(make=Echo, key_env="ECHO_API_KEY", default_model="loud", loopback=True)

def plain(settings):
    return Echo(settings)

def broken(settings):
    raise RuntimeError("out of order")
"""


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Our own providers, and a stranger's three."""
    (tmp_path / "echo_stranger.py").write_text(STRANGER, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    ours = [entry for entry in plugins.scan() if entry.group == "pegboard.providers" and entry.own]
    assert [entry.name for entry in ours] == ["offline", "openai"]
    strangers = [
        Entry(
            name=name,
            group="pegboard.providers",
            value=f"echo_stranger:{name}",
            distribution="echo",
            version="1",
            own=False,
        )
        for name in ("kind", "plain", "broken", "missing")
    ]
    return [*strangers, *ours]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server where one is looked for."""
    with ModelServer(models=["zeta", {"id": "alpha", "max_model_len": 900}]) as server:
        monkeypatch.setattr(loopback, "PATIENCE", 5.0)
        monkeypatch.setattr(loopback, "PORTS", (server.port,))
        yield server


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model server on this machine."""
    monkeypatch.setattr(loopback, "PORTS", (1,))


def providers(entries: list[Entry], folder: Path, text: str = "", **environ: str) -> Providers:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    loaded = load(user_file=file, root=str(folder), environ=environ, flags={})
    return Providers(entries, loaded, root=str(folder), state=folder / "state")


MINE = (
    '[providers.mine]\nkind = "openai"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "MINE"\nmodels = ["a", "b"]\n'
)


# --- left out ---------------------------------------------------------------------------------------------------------


def test_a_key_in_the_environment_chooses_its_provider(
    entries: list[Entry], tmp_path: Path, server: ModelServer
) -> None:
    choice = providers(entries, tmp_path).choose({"OPENAI_API_KEY": "k"}, EMBEDDED)
    assert choice == Choice(model="openai/gpt-5", why="OPENAI_API_KEY is set")
    assert server.requests == [], "looked on this machine though there was a key"


def test_a_configured_provider_whose_key_is_there_comes_before_the_installed(
    entries: list[Entry], tmp_path: Path, server: ModelServer
) -> None:
    there = providers(entries, tmp_path, MINE + MINE.replace("mine", "later"))
    assert there.choose({"MINE": "k", "OPENAI_API_KEY": "k"}, EMBEDDED) == Choice(model="mine/a", why="MINE is set")
    assert there.choose({"MINE": "", "OPENAI_API_KEY": "k"}, EMBEDDED).model == "openai/gpt-5"


@pytest.mark.parametrize(
    ("line", "chosen"), [("", "my-gate/a"), ('api_key_env = ""\n', EMBEDDED), ("api_key_env = 5\n", EMBEDDED)]
)
def test_a_table_that_names_no_variable_goes_by_its_own_name(
    entries: list[Entry], tmp_path: Path, nobody: None, line: str, chosen: str
) -> None:
    text = f'[providers.my-gate]\nkind = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["a"]\n{line}'
    assert providers(entries, tmp_path, text).choose({"MY_GATE_API_KEY": "k"}, EMBEDDED).model == chosen


def test_a_command_for_the_key_counts_as_one(entries: list[Entry], tmp_path: Path, nobody: None) -> None:
    text = MINE.replace('api_key_env = "MINE"', 'api_key_command = ["false"]')
    assert providers(entries, tmp_path, text).choose({}, EMBEDDED).model == "mine/a"


def test_a_configured_provider_that_names_no_model_is_not_chosen(
    entries: list[Entry], tmp_path: Path, nobody: None
) -> None:
    text = MINE.replace('models = ["a", "b"]\n', "")
    assert providers(entries, tmp_path, text).choose({"MINE": "k"}, EMBEDDED).model == EMBEDDED


def test_the_table_of_an_installed_provider_may_name_its_model(entries: list[Entry], tmp_path: Path) -> None:
    text = '[providers.openai]\nmodel = "gpt-9"\n'
    assert providers(entries, tmp_path, text).choose({"OPENAI_API_KEY": "k"}, EMBEDDED).model == "openai/gpt-9"


def test_a_server_on_this_machine_comes_next_and_is_said(
    entries: list[Entry], tmp_path: Path, server: ModelServer
) -> None:
    choice = providers(entries, tmp_path).choose({}, EMBEDDED)
    assert choice.model == "local/alpha"
    assert "also there: zeta (--model local/NAME chooses)" in choice.why
    answering = providers(entries, tmp_path).load(choice.model, choice.server)
    made: Any = answering.provider
    assert (made.context, made.banner) == (900, f"local/alpha at 127.0.0.1:{server.port}")


def test_it_is_not_looked_for_where_that_is_switched_off(
    entries: list[Entry], tmp_path: Path, server: ModelServer
) -> None:
    assert providers(entries, tmp_path, "local_models = false\n").choose({}, EMBEDDED).model == EMBEDDED
    assert providers(entries, tmp_path, PEGBOARD_LOCAL_MODELS="false").choose({}, EMBEDDED).model == EMBEDDED
    assert server.requests == []


def test_an_address_without_a_model_is_why_the_embedded_one_answers(
    entries: list[Entry], tmp_path: Path, nobody: None
) -> None:
    environ = {"OPENAI_BASE_URL": "http://me:secret@127.0.0.1:8099/v1"}
    choice = providers(entries, tmp_path).choose(environ, EMBEDDED)
    assert choice.model == EMBEDDED
    assert choice.why == "no model was named for openai at 127.0.0.1:8099 (--model openai/NAME)"


def test_else_the_embedded_one_answers(entries: list[Entry], tmp_path: Path, nobody: None) -> None:
    choice = providers(entries, tmp_path).choose({}, EMBEDDED)
    assert choice == Choice(model="offline", why="no other model was found")


def test_a_stranger_is_never_chosen_for_being_installed(
    entries: list[Entry], tmp_path: Path, server: ModelServer
) -> None:
    """Installing may narrow, only naming may widen: what is said to a model would go to somebody new."""
    strangers = providers([entry for entry in entries if not entry.own], tmp_path)
    assert strangers.choose({"ECHO_API_KEY": "k"}, EMBEDDED).model == EMBEDDED
    assert server.requests == [], "looked for a server that only a stranger could speak to"


async def test_a_board_takes_the_first_that_is_there_inside_a_running_loop(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PEGBOARD_LOCAL_MODELS")
    board = Board.build(str(tmp_path), environ={"XDG_STATE_HOME": str(tmp_path / "s"), "HOME": str(tmp_path)})
    try:
        agent = board.agent(board.session(in_memory=True))
        assert agent.model == "local/alpha"
        assert "found on this machine; also there: zeta" in agent.banner
    finally:
        await board.close()


@pytest.mark.parametrize("environ", [{"PEGBOARD_MODEL": "offline"}, {}])
async def test_offline_by_name_always_means_it(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    environ = {"XDG_STATE_HOME": str(tmp_path / "s"), "HOME": str(tmp_path), **environ}
    flags = {} if "PEGBOARD_MODEL" in environ else {"model": "offline"}
    board = Board.build(str(tmp_path), environ=environ, flags=flags)
    try:
        assert board.agent(board.session(in_memory=True)).model == "offline"
    finally:
        await board.close()
    assert server.requests == []


# --- named ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "model", "full"),
    [
        ("", "plain", "plain"),
        ("", "plain/x/y:z", "plain/x/y:z"),
        ("", "kind", "kind/loud"),
        ('[providers.mine]\nkind = "plain"\nmodels = ["a"]\n', "mine", "mine/a"),
        ('[providers.mine]\nkind = "plain"\nmodel = "m"\nmodels = ["a"]\n', "mine", "mine/m"),
        ('[providers.plain]\nmodel = "m"\n', "plain/x", "plain/x"),
        ('[providers.local]\nkind = "plain"\n', "local/x", "local/x"),
    ],
)
def test_a_model_by_name(entries: list[Entry], tmp_path: Path, text: str, model: str, full: str) -> None:
    entries = [
        Entry(name=e.name, group=e.group, value=e.value, distribution="d", version="1", own=True) for e in entries
    ]
    answering = providers(entries, tmp_path, text).load(model)
    assert answering.model == full
    provider: Any = answering.provider
    assert isinstance(provider, Provider)
    assert provider.settings.name == full.partition("/")[0]
    assert provider.settings.model == (full.partition("/")[2] or None)


def test_a_local_model_by_name(entries: list[Entry], tmp_path: Path, server: ModelServer) -> None:
    assert providers(entries, tmp_path).load("local/zeta").model == "local/zeta"
    assert providers(entries, tmp_path).load("local").model == "local/alpha"
    with pytest.raises(ConfigError, match=r"has 'nosuch' \(there is: alpha, zeta\)"):
        providers(entries, tmp_path).load("local/nosuch")


def test_a_local_model_where_there_is_none(entries: list[Entry], tmp_path: Path, nobody: None) -> None:
    with pytest.raises(ConfigError, match=r"no model server was found.*nothing was started"):
        providers(entries, tmp_path).load("local/x")


WRONG = {
    "openia/x": ("", r"no provider 'openia' is installed .*did you mean openai\?"),
    "broken/x": ("", r"RuntimeError: out of order"),
    "missing/x": ("", r"does not load.*missing"),
    "a/x": ('\n[providers.a]\nkind = "opena"\n', r"config.toml:3: \[providers.a\]: kind 'opena' names no installed"),
    "b/x": ('[providers.b]\nbase_url = "x"\n', r"\[providers.b\]: kind is missing"),
    "c/x": (
        '[providers.c]\nkind = "openai"\nbase_ulr = "x"\n',
        r"config.toml:3: .*no key 'base_ulr'; did you mean base_url",
    ),
    "d/x": ('[providers.d]\nkind = "openai"\nmodels = "x"\n', r"config.toml:3: providers.d.models: Expected `array`"),
    "e/x": (
        '[providers.e]\nkind = "openai"\nstream_usage = 5\n',
        r"config.toml:3: providers.e.stream_usage: Expected `bool`",
    ),
    "f/x": (
        '[providers.f]\nkind = "openai"\nbase_url = "https://f.example/v1"\n',
        r"config.toml:\d: f: the variable F_API_KEY",
    ),
}


@pytest.mark.parametrize(("model", "case"), WRONG.items(), ids=WRONG.keys())
def test_what_cannot_answer_is_told_with_its_line(
    entries: list[Entry], tmp_path: Path, model: str, case: tuple[str, str]
) -> None:
    text, told = case
    with pytest.raises(ConfigError, match=told) as caught:
        providers(entries, tmp_path, text).load(model)
    assert "nothing was started" in str(caught.value)


def test_a_function_gets_keys_of_its_own_as_they_are(entries: list[Entry], tmp_path: Path) -> None:
    provider: Any = providers(entries, tmp_path, "[providers.plain]\nvolume = 11\n").load("plain").provider
    assert provider.settings.options == {"volume": 11}


def test_nothing_in_a_table_can_pose_as_the_name_or_the_root(entries: list[Entry], tmp_path: Path) -> None:
    provider: Any = (
        providers(entries, tmp_path, '[providers.plain]\nname = "x"\nroot = "/"\noptions = 1\n').load("plain").provider
    )
    assert (provider.settings.name, provider.settings.root) == ("plain", str(tmp_path))
