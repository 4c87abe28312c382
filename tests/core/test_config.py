"""Configuration: layers and origins, types, unknown keys, and what an untrusted project may say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.board import Board
from pegboard.calls import Source
from pegboard.config.lines import Lines
from pegboard.config.load import Loaded, Origin, load
from pegboard.config.schema import DEFAULT_PERMISSION, Config, known_keys
from pegboard.errors import ConfigError
from pegboard.hooks import hookimpl
from pegboard.plugins import given as given_entry


class Place:
    """A root and a user's file, and what `load` makes of them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "user" / "config.toml"
        self.root = folder / "work"
        self.file.parent.mkdir(exist_ok=True)
        self.root.mkdir(exist_ok=True)

    def load(
        self, text: str | None = None, /, *, entries: tuple[str, ...] = (), flags: Any = None, **environ: str
    ) -> Loaded:
        if text is not None:
            self.file.write_text(text, "utf-8")
        return load(
            user_file=self.file,
            root=str(self.root),
            environ={f"PEGBOARD_{key}": value for key, value in environ.items()},
            flags=flags or {},
            entries=frozenset(entries),
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_every_key_has_its_default(place: Place) -> None:
    loaded = place.load()
    assert loaded.config == Config()
    assert (loaded.origins, loaded.notes) == ({}, [])
    assert loaded.origin("search.max_hits") == Origin("default")


@pytest.mark.row("U-060")
def test_output_limits_as_shipped(place: Place) -> None:
    output = place.load().config.output
    assert (output.max_bytes, output.max_lines, output.max_chars) == (51_200, 2_000, 30_000)


@pytest.mark.row("R-092", "R-088", "R-077")
def test_permissions_as_shipped(place: Place) -> None:
    config = place.load().config
    assert DEFAULT_PERMISSION | {"read": "allow", "list": "allow", "edit": "ask", "bash": "ask"} == DEFAULT_PERMISSION
    assert DEFAULT_PERMISSION | {"web": "allow", "mcp": "ask"} == DEFAULT_PERMISSION
    assert (config.tools.allow, config.tools.deny) == ([], [])


@pytest.mark.row("R-091", "R-093")
def test_switches_as_shipped(place: Place) -> None:
    config = place.load().config
    assert config.tool_calling is True
    assert config.project_instructions == "AGENTS.md"
    assert config.toolSets is None


def test_a_later_layer_wins_key_by_key(place: Place) -> None:
    text = "model = 'user/one'\n[search]\nmax_hits = 1\nmax_line_chars = 11\nrequire_git = true\n"
    loaded = place.load(text, flags={"search.max_hits": 3}, SEARCH_MAX_HITS="2", SEARCH_MAX_LINE_CHARS="22")
    search = loaded.config.search
    assert (search.max_hits, search.max_line_chars, search.require_git) == (3, 22, True)
    assert loaded.config.model == "user/one"
    layers = [loaded.origin(f"search.{k}").layer for k in ("max_hits", "max_line_chars", "require_git", "engine")]
    assert layers == ["flag", "environment", "user", "default"]


def test_an_origin_names_file_and_line(place: Place) -> None:
    text = "# a comment\nmodel = 'x/y'\n\n[tool_permission]\n# another\nedit = 'allow'\nbash_allow = [\n  'ls',\n]\n"
    loaded = place.load(text)
    file = str(place.file)
    assert loaded.origin("model") == Origin("user", Source(file, 2))
    assert loaded.origin("tool_permission.edit") == Origin("user", Source(file, 6))
    assert loaded.origin("tool_permission.bash_allow") == Origin("user", Source(file, 7))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a = 1\n[search]\nmax_hits = 'many'\n", 3, ["search.max_hits", "int", "str"]),
        ("tool_calling = 'yes'\n", 1, ["tool_calling", "bool"]),
        ("\n[tools]\nallow = 'grep'\n", 3, ["tools.allow", "array"]),
        ("\n[tools]\ngrep = 'off'\n", 3, ["tools.grep", "bool"]),
        ("[tool_permission]\nread = 'allow'\nedit = 'perhaps'\n", 3, ["tool_permission.edit", "allow, ask, deny"]),
        ("[paths]\noutside = 'sometimes'\n", 2, ["paths.outside"]),
        ("search.max_hits = 'x'\n", 1, ["search.max_hits"]),
        ("[search]\nmax_hits = 1\nmax_hits = 2\n", 3, ["not valid TOML"]),
        ("model =\n", 1, ["not valid TOML"]),
    ],
)
def test_a_wrong_value_is_told_with_file_line_and_what_was_expected(
    place: Place, text: str, line: int, says: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        place.load(text)
    assert str(caught.value).startswith(f"{place.file}:{line}: ")
    assert caught.value.line == line
    for part in (*says, "nothing was started"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SEARCH_MAX_HITS": "many"}, ["search.max_hits", "PEGBOARD_SEARCH_MAX_HITS", "int"]),
        ({"TOOL_PERMISSION_EDIT": "maybe"}, ["tool_permission.edit", "PEGBOARD_TOOL_PERMISSION_EDIT"]),
        ({"flags": {"search.max_hits": "many"}}, ["search.max_hits", "command line"]),
        ({"flags": {"tool_permission.edit": "no"}}, ["tool_permission.edit", "command line"]),
    ],
)
def test_a_wrong_value_from_elsewhere_is_told_with_its_place(place: Place, given: Any, says: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        place.load(**given)
    for part in (*says, "nothing was started"):
        assert part in str(caught.value)


def test_the_first_wrong_layer_is_told_even_if_a_later_one_would_cover_it(place: Place) -> None:
    with pytest.raises(ConfigError, match=re.escape("config.toml:2")):
        place.load("[search]\nmax_hits = 'many'\n", flags={"search.max_hits": 3})


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("SEARCH_MAX_HITS", "7", "search.max_hits", 7),
        ("SEARCH_REQUIRE_GIT", "true", "search.require_git", True),
        ("SEARCH_ENGINE", "python", "search.engine", "python"),
        ("SEARCH_ENGINE", '"python"', "search.engine", "python"),
        ("MODEL", "openai/gpt-5", "model", "openai/gpt-5"),
        ("MODEL", "offline", "model", "offline"),
        ("TOOLSETS", "git,web", "toolSets", ["git", "web"]),
        ("TOOLSETS", '["git"]', "toolSets", ["git"]),
        ("TOOLSETS", "", "toolSets", []),
        ("TOOLS_DENY", "grep, git:*", "tools.deny", ["grep", "git:*"]),
        ("PLUGINS_GUARD_TIMEOUT", "3", "plugins.guard_timeout", 3.0),
        ("PROJECT_INSTRUCTIONS", "", "project_instructions", ""),
        ("PROJECT_INSTRUCTIONS", "12", "project_instructions", "12"),
        ("MODEL", "1.5", "model", "1.5"),
    ],
)
def test_environment_text_is_read_as_its_key_wants(place: Place, name: str, text: str, key: str, value: Any) -> None:
    loaded = place.load(**{name: text})
    node: Any = loaded.config
    for part in key.split("."):
        node = getattr(node, part)
    assert node == value
    assert loaded.origin(key).layer == "environment"


def test_a_permission_key_can_be_set_in_every_layer(place: Place) -> None:
    loaded = place.load(
        "[tool_permission]\nedit = 'allow'\nstrange = 'deny'\n",
        flags={"tool_permission.mcp": "deny"},
        TOOL_PERMISSION_BASH="deny",
    )
    assert loaded.config.tool_permission.actions == {"edit": "allow", "strange": "deny", "bash": "deny", "mcp": "deny"}


def test_other_keys_of_tools_are_switches(place: Place) -> None:
    tools = place.load("[tools]\nbash = false\ngit = true\ndeny = ['x']\n").config.tools
    assert tools.switches == {"bash": False, "git": True}
    assert tools.deny == ["x"]


def test_an_unknown_name_is_told_with_the_nearest_and_starts_all_the_same(place: Place) -> None:
    text = "modl = 'x/y'\n[serach]\nmax_hits = 1\n[search]\nmax_hit = 2\n[zzzzz]\na = 1\n[ui]\nctrlc = 'turn'\n"
    loaded = place.load(text)
    assert loaded.config == Config(tables={"serach": {"max_hits": 1}, "zzzzz": {"a": 1}})
    notes = "\n".join(loaded.notes)
    assert "config.toml:1: unknown setting 'modl' is ignored; did you mean model?" in notes
    assert (
        "config.toml:2: unknown table 'serach' is ignored: no plugin of that name is installed; did you mean search?"
        in notes
    )
    assert "config.toml:5: unknown setting 'search.max_hit' is ignored; did you mean max_hits?" in notes
    assert re.search(
        r"config.toml:6: unknown table 'zzzzz' is ignored: no plugin of that name is installed$", notes, re.MULTILINE
    )
    assert "did you mean ctrl_c?" in notes


def test_a_plugins_table_is_known_by_its_name_and_kept_for_it(place: Place) -> None:
    text = "[words]\nlimit = 3\n[words.deep]\na = 1\n"
    loaded = place.load(text, entries=("words",))
    assert loaded.notes == []
    assert loaded.config.tables["words"] == {"limit": 3, "deep": {"a": 1}}
    assert loaded.origin("words.limit") == Origin("user", Source(str(place.file), 2))
    assert "did you mean words?" in place.load("[wrods]\nlimit = 3\n", entries=("words",)).notes[0]


def test_a_users_file_that_is_not_text_is_told(place: Place) -> None:
    place.file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        place.load()


@pytest.mark.parametrize(
    ("text", "says"),
    [("a = " + "[" * 5000, "nested too deeply"), ("a = " + "9" * 5000, "not valid TOML")],
    ids=["deep", "long number"],
)
def test_a_users_file_that_python_cannot_take_is_told(place: Place, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        place.load(text)


def test_a_users_file_that_is_too_large_is_told_and_not_read(place: Place) -> None:
    with place.file.open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    with pytest.raises(ConfigError, match="larger than"):
        place.load()


def test_a_variable_that_is_no_setting_is_told_with_the_nearest(place: Place) -> None:
    notes = place.load(SERCH_MAX_HITS="3", ZZZ="1", GARD_PROTECTED="x", MODEL="m", CALL="mark").notes
    assert notes == [
        "environment: PEGBOARD_GARD_PROTECTED is no setting and is ignored",
        "environment: PEGBOARD_SERCH_MAX_HITS is no setting and is ignored; did you mean PEGBOARD_SEARCH_MAX_HITS?",
        "environment: PEGBOARD_ZZZ is no setting and is ignored",
    ]


def test_the_environment_can_switch_a_tool_or_a_set_off(place: Place) -> None:
    loaded = place.load(entries=("edit-plus",), TOOLS_WRITE_FILE="false", TOOLS_EDIT_PLUS="false", TOOLS_GIT="true")
    assert loaded.config.tools.switches == {"write_file": False, "edit-plus": False, "git": True}
    assert loaded.origin("tools.write_file").layer == "environment" and loaded.notes == []
    for text in ("off", "0", "False", ""):
        with pytest.raises(ConfigError, match=r"PEGBOARD_TOOLS_EDIT_PLUS.*nothing was started"):
            place.load(entries=("edit-plus",), TOOLS_EDIT_PLUS=text)


def test_the_environment_can_set_any_permission_key(place: Place) -> None:
    loaded = place.load(TOOL_PERMISSION_ROCKET_FUEL="deny", TOOL_PERMISSION_BASH_MULTILINE="reject")
    assert loaded.config.tool_permission.actions == {"rocket_fuel": "deny"} and loaded.notes == []
    assert loaded.config.tool_permission.bash_multiline == "reject"


def test_the_environment_can_set_the_table_of_an_installed_plugin(place: Place) -> None:
    loaded = place.load(
        "[guard]\nprotected = ['a/']\n",
        entries=("guard", "my-words", "my"),
        GUARD_PROTECTED="b/,c/",
        MY_WORDS_MAX_LENGTH="3",
        MY_NAME="x y",
    )
    assert loaded.config.tables == {
        "guard": {"protected": ["a/", "b/", "c/"]},
        "my-words": {"max_length": 3},
        "my": {"name": "x y"},
    }
    assert loaded.notes == [] and loaded.origin("guard.protected: b/").layer == "environment"


LISTED = """\
[[hooks]]
event = "pre_tool"
command = ["true"]
[[permission.rules]]
action = "deny"
tool = "git:*"

[[permission.rules]]
action = "allow"
path = ["src/**", "!src/x"]
[modes.mine.permission]
rules = [
    {action = "ask"},
    {action = "deny", host = "example.org"},
]
"""


def test_lists_of_tables_are_read_and_each_table_has_its_line(place: Place) -> None:
    loaded = place.load(LISTED)
    assert loaded.notes == []
    assert [hook.command for hook in loaded.config.hooks] == [["true"]]
    assert [rule.action for rule in loaded.config.permission.rules] == ["deny", "allow"]
    assert loaded.config.permission.rules[1].path == ["src/**", "!src/x"]
    lines = {".".join(one.key): [item and item.line for item in one.items] for one in loaded.stated}
    assert lines == {"hooks": [1], "permission.rules": [4, 8], "modes.mine.permission.rules": [13, 14]}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "[[permission.rules]]\naction = 'deny'\n[[permission.rules]]\naction = 'dny'\n",
            3,
            "expected allow, ask, deny",
        ),
        ("[permission]\nrules = [\n  {action = 'deny'},\n  {acton = 'deny'},\n]\n", 4, "did you mean action?"),
        ("\n[[permission.rules]]\naction = 'deny'\npth = 'x'\n", 2, "did you mean path?"),
        ("[permission]\ndney = ['bash']\n", 1, "did you mean deny?"),
        ("[permission]\ndeny = 'bash'\n", 2, "permission.deny: Expected `array`"),
        ("[modes.x]\n\ntool_permission = { edit = 'no' }\n", 3, "modes.x.tool_permission.edit"),
        ("[[modes.x.permission.rules]]\naction = 'ask'\nhots = 'x'\n", 1, "did you mean host?"),
        ("[[permission.rules]]\naction = 'deny'\npath = []\n", 1, "is no pattern for path"),
        ("[[permission.rules]]\naction = 'deny'\npath = '# x'\n", 1, "is no pattern for path"),
        ("[[permission.rules]]\naction = 'deny'\ncommand = ' '\n", 1, "is no pattern for command"),
        ("[[permission.rules]]\naction = 'deny'\n\ncommand = 'git push*'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'git p*'\n", 1, "can never match"),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'g* push'\n", 1, "can never match"),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'git push:*'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'git:push'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'Bash(git push:*)'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = \"'git push'\"\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = ['a', 'git push && x']\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'git push | x'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\ncommand = 'FOO=1 git push'\n", 1, 'write "git push"'),
        ("[[permission.rules]]\naction = 'deny'\nkey = 'edit'\ncommand = 'x'\n", 1, 'write key = "bash"'),
        ("[[permission.rules]]\naction = 'deny'\npath = 'x'\ncommand = 'x'\n", 1, "a path and a command"),
        ("[[permission.rules]]\naction = 'deny'\nhost = 'x'\ncommand = 'x'\n", 1, "a host and a command"),
        ("[[permission.rules]]\naction = 'deny'\nkey = 'bash'\npath = 'x'\n", 1, "has no path"),
        ("[[permission.rules]]\naction = 'allow'\nkey = 'edit'\nsandbox = true\n", 1, "holds programs alone"),
        ("[[permission.rules]]\naction = 'deny'\nhost = 'http://'\n", 1, "is no pattern for host"),
        ("[[permission.rules]]\naction = 'deny'\nhost = 'x.org/y'\n", 1, 'write "x.org"'),
        ("[[permission.rules]]\naction = 'deny'\ntool = 'bash(git push)'\n", 1, "can name no tool"),
        ("[permission]\ndeny = [\n 'a',\n 'bash:git push']\n", 4, 'action = "deny" and command = "git push"'),
        ("[permission]\nask = ['bash(git push)']\n", 2, 'action = "ask" and command = "git push"'),
        ("[tools]\ndeny = [\n 'a b']\n", 3, "can name no tool"),
        ("[modes.x.tools]\n\ndeny = ['Bash(x)']\n", 3, "can name no tool"),
        ("[tool_permission]\nbash_allow = ['make',\n 'make*']\n", 3, 'write "make"'),
        ("[tool_permission]\nbash_allow = ['npm test && ls']\n", 2, 'write "npm test"'),
        ("[tool_permission]\nbash_allow = ['git:*']\n", 2, 'write "git"'),
        ("[tool_permission]\nbash_allow = ['LC_ALL=C sort']\n", 2, 'write "sort"'),
        ("[[hooks]]\nevent = 'pre_tool'\ncommand = ['x']\nmatch = 'Bash(git *)'\n", 1, "can name no tool"),
        ("[[permission.rules]]\naction = 'ask'\nsandbox = true\n", 1, "sandbox stands beside"),
        ("[[hooks]]\nevent = 'pre_tool'\n", 1, "hooks[0]: Object missing required field `command`"),
    ],
)
def test_a_rule_that_cannot_be_read_stops_the_start_with_its_line(
    place: Place, text: str, line: int, words: str
) -> None:
    with pytest.raises(ConfigError, match="nothing was started") as caught:
        place.load(text)
    assert (caught.value.file, caught.value.line) == (str(place.file), line)
    assert words in str(caught.value)


def test_a_pattern_that_can_never_match_stops_the_start_from_the_environment_and_flags_too(place: Place) -> None:
    with pytest.raises(ConfigError, match=r"bash_allow\[0\] \(environment, PEGBOARD_TOOL_PERMISSION_BASH_ALLOW\)"):
        place.load("", TOOL_PERMISSION_BASH_ALLOW="make*")
    with pytest.raises(ConfigError, match=r"permission.deny\[1\] \(command line\): .*can name no tool"):
        place.load("", flags={"permission.deny": ["x", "bash(x)"]})


def test_patterns_that_can_match_stop_nothing(place: Place) -> None:
    commands = ["* push", "git * x", "git push …", "npm run test:unit", "./a:b", "[ -f", "pip install x[y]", ":"]
    hosts = ["*", "*.x.org", "x.org:*", "[::1]:8080", "::1", "https://x.org/y"]
    said = {"action": "deny", "command": commands}, {"action": "ask", "host": hosts}, {"action": "deny", "key": "own"}
    names = ["git", "git:*", "git/log", "sh*", "[ab]c", "mcp__x__y"]
    loaded = place.load("", flags={"permission.rules": list(said), "permission.deny": names})
    assert len(loaded.config.permission.rules) == 3 and loaded.config.permission.deny == names


@pytest.mark.row("U-050")
@pytest.mark.parametrize("name", ["tool_calls", "delegations", "mcp_connections", "lsp_requests"])
def test_how_much_goes_on_at_once_is_1_to_64(place: Place, name: str) -> None:
    for count in (1, 64):
        assert getattr(place.load(f"[concurrency]\n{name} = {count}\n").config.concurrency, name) == count
    for count, wanted in ((0, ">= 1"), (65, "<= 64")):
        with pytest.raises(ConfigError, match=f"concurrency.{name}: .*{wanted}") as caught:
            place.load(f"[concurrency]\n{name} = {count}\n")
        assert caught.value.line == 2


def test_a_denied_permission_stays_denied_whatever_a_later_layer_says(place: Place) -> None:
    loaded = place.load(
        "[tool_permission]\nedit = 'deny'\nweb = 'ask'\n",
        flags={"tool_permission.edit": "allow"},
        TOOL_PERMISSION_WEB="allow",
    )
    assert loaded.config.tool_permission.actions == {"edit": "deny", "web": "allow"}
    assert loaded.origin("tool_permission.edit") == Origin("user", Source(str(place.file), 2))
    said = [(one.layer, one.value) for one in loaded.stated if one.key == ("tool_permission", "edit")]
    assert said == [("user", "deny"), ("flag", "allow")]


def test_an_item_of_a_joined_list_has_its_own_line(place: Place) -> None:
    loaded = place.load("[tools]\ndeny = [\n  'a', # one\n  'b',\n]\n")
    assert loaded.origin("tools.deny: b") == Origin("user", Source(str(place.file), 4))


FULL = """\
# [a]
model = 'x=y # [z]' # [c]
'odd key'."b c" = 1
text = \"\"\"
[search]
max_hits = 1
\\\"\"\" \"\"\"
lit = '''
[ui]
'''
[a.b]
c = {d = 1, e = [
1]}
[[hooks]]
x = [ # [zz]
 'a', [
'[q]' ]]
[search]
rg = ''
"""


def test_lines_are_those_of_keys_and_not_of_what_looks_like_one() -> None:
    lines = Lines(FULL)
    expected = {
        ("model",): 2,
        ("odd key", "b c"): 3,
        ("text",): 4,
        ("lit",): 8,
        ("a", "b"): 11,
        ("a", "b", "c"): 12,
        ("a", "b", "c", "d"): 12,
        ("hooks",): 14,
        ("hooks", "x"): 15,
        ("search",): 18,
        ("search", "rg"): 19,
        ("search", "max_hits"): 18,
        ("ui",): None,
        ("zz",): None,
        ("q",): None,
    }
    assert {key: lines.of(key) for key in expected} == expected


@given(st.text(alphabet="[]{}=,.\"'#\n\\ ax1", max_size=200))
def test_lines_never_fail_on_what_is_no_toml(text: str) -> None:
    found = Lines(text).of(("a",))
    assert found is None or 1 <= found <= text.count("\n") + 1


@pytest.mark.row("R-076")
def test_deny_lists_are_joined_over_the_layers_never_replaced(place: Place) -> None:
    text = "[tools]\ndeny = ['a', 'b']\nallow = ['x']\n[words]\nprotected = ['p']\n"
    flags = {"tools.deny": ["c", "a"], "tools.allow": ["y"], "words.protected": ["q"]}
    loaded = place.load(text, entries=("words",), flags=flags, TOOLS_DENY="d")
    assert loaded.config.tools.deny == ["a", "b", "d", "c"]
    assert loaded.config.tools.allow == ["y"]
    assert loaded.config.tables["words"]["protected"] == ["p", "q"]
    assert loaded.origin("tools.deny: b") == Origin("user", Source(str(place.file), 2))
    assert loaded.origin("tools.deny: d").layer == "environment"
    assert place.load(flags={"tools.deny": []}).config.tools.deny == ["a", "b"]


def test_a_table_where_an_earlier_layer_had_a_value_takes_its_place(place: Place) -> None:
    assert place.load("zzz = 3\n", flags={"zzz.a": 1}).config.tables == {"zzz": {"a": 1}}


@pytest.mark.parametrize("text", ["tools = 3\n", "search = []\n", "tool_permission = 'allow'\n", "providers = 1\n"])
def test_a_table_that_is_none_is_told_and_not_stumbled_over(place: Place, text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text.split(" ")[0])):
        place.load(text)


def test_a_flag_below_a_value_of_another_kind_is_told(place: Place) -> None:
    with pytest.raises(ConfigError):
        place.load("search = 3\n", flags={"search.max_hits": 3})


# --- properties -------------------------------------------------------------------------------------------------------

VALUES = st.integers(-5, 5) | st.booleans() | st.sampled_from(["allow", "x", ""]) | st.lists(st.just("a"), max_size=2)
KEYS = st.sampled_from([*known_keys(), "tools.grep", "words.limit", "zzz", "zzz.a", "providers.x.kind"])


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return msgspec.json.encode(value).decode()


@settings(max_examples=80, deadline=None)
@given(user=st.dictionaries(KEYS, VALUES, max_size=4), flags=st.dictionaries(KEYS, VALUES, max_size=3))
def test_any_settings_load_or_are_told_and_the_last_layer_wins(
    tmp_path_factory: pytest.TempPathFactory, user: dict[str, Any], flags: dict[str, Any]
) -> None:
    place = Place(tmp_path_factory.mktemp("config"))
    text = "".join(f"{key} = {toml(value)}\n" for key, value in user.items())
    try:
        loaded = place.load(text, flags=flags)
    except ConfigError as error:
        assert "nothing was started" in str(error)
        return
    for key in known_keys():
        layer = "flag" if key in flags else "user" if key in user else "default"
        origin = loaded.origin(key)
        assert origin.layer == layer, key
        if layer == "user":
            assert origin.source == Source(str(place.file), list(user).index(key) + 1)


class Limits(msgspec.Struct, frozen=True):
    """What a stranger's plugin reads."""

    limit: int = 3
    shown_lines: Annotated[int, msgspec.Meta(ge=1)] = 5


def test_a_key_that_a_plugins_own_settings_do_not_know_is_told_with_its_line(place: Place) -> None:
    def no_tools() -> list[Any]:
        return []

    module = ModuleType("pegboard_test_words")
    module.__dict__.update(Settings=Limits, pegboard_tools=hookimpl(no_tools, specname="pegboard_tools"))
    place.file.write_text("[words]\nlimit = 4\nshown_line = 9\n[other]\nx = 1\n")
    board = Board.build(
        str(place.root),
        user_file=place.file,
        environ={},
        state=place.root / "state",
        extra=[given_entry("words", "pegboard.toolsets", module, own=True)],
        discover=False,
    )
    told = [note for note in board.notes if "words" in note]
    assert told == [f"{place.file}:3: unknown setting 'words.shown_line' is ignored; did you mean shown_lines?"]
    assert board.assembled.plugged.plugins[0].settings == Limits(limit=4)


def test_reading_settings_imports_nothing_that_only_other_commands_need(place: Place) -> None:
    place.file.write_text("[search]\nmax_hits = 3\n")
    program = (
        "import sys; from pathlib import Path; from pegboard.config.load import load\n"
        "load(user_file=Path(sys.argv[1]), root=sys.argv[2], environ={}, flags={})\n"
        "print(*sorted(sys.modules))"
    )
    run = [sys.executable, "-c", program, str(place.file), str(place.root)]
    loaded = set(subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout.split())
    late = {"tomlkit", "platformdirs", "pegboard.config.published", "pegboard.config.write"}
    assert "pegboard.config.load" in loaded
    assert loaded & (late | {"pegboard.config.tightening", "pegboard.config.project"}) == set()
