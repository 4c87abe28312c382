"""`[permission]`: the lists and the rules one by one, and what they look at: tools, paths, hosts, commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard.calls import Call, Decision, Source, Touch
from pegboard.config.load import load
from pegboard.policy import Policy, policy_of
from pegboard.tooling import Tool, tool
from pegboard.touches import Fetches, Lists, Reads, Runs, Writes

KINDS: dict[str, Any] = {"read": Reads, "list": Lists, "edit": Writes, "run": Runs, "net": Fetches}


def make(name: str, kind: str | None, set: str = "fs", **declared: Any) -> Tool:
    @tool(name=name, **declared)
    def some(what: str) -> str:
        """Do something."""
        return what

    some.__annotations__["what"] = Annotated[str, KINDS[kind]("What")] if kind else str
    return Tool.of(some, owner=set, set=set)


READ, LIST, EDIT = make("look", "read"), make("walk", "list"), make("put", "edit", "fs_write")
RUN, NET = make("shell", "run", "sh"), make("fetch", "net", "net")


class Rules:
    """Policies from settings, in a root."""

    def __init__(self, folder: Path) -> None:
        self.file, self.root = folder / "config.toml", folder / "root"
        (self.root / "sub").mkdir(parents=True)

    def __call__(self, text: str, /, *, confined: bool = False, project: str | None = None, **flags: Any) -> Policy:
        self.file.write_text(text)
        if project is not None:
            (self.root / ".pegboard").mkdir(exist_ok=True)
            (self.root / ".pegboard" / "config.toml").write_text(project)
        dotted = {key.replace("__", "."): value for key, value in flags.items()}
        return policy_of(
            load(user_file=self.file, root=str(self.root), environ={}, flags=dotted), confined=lambda: confined
        )


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(tmp_path)


def decide(policy: Policy, made: Tool, what: str, *, sends: bool = False, outside: bool = False) -> Decision:
    kind = next(iter(made.touched))[1].kind
    assert kind is not None
    at = what if kind in ("read", "list", "edit") else None
    call = Call(id="c1", name=made.name, arguments={"what": what})
    return policy.decide(made, call, [Touch(kind, what, at, outside, sends)]).decision


def action(policy: Policy, made: Tool, what: str, **more: bool) -> str:
    return decide(policy, made, what, **more).action


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("Z-015")
def test_the_lists_are_globs_of_qualified_names(rules: Rules) -> None:
    policy = rules('[permission]\nallow = ["fs*:*"]\nask = ["*:walk"]\ndeny = ["net:f*"]\n')
    assert decide(policy, EDIT, "a").rule == "permission.allow: fs*:*"
    assert decide(policy, LIST, "a") == Decision(
        action="ask", rule="permission.ask: *:walk", layer="user", source=Source(str(rules.file), 3)
    )
    assert (action(policy, NET, "http://a/"), policy.hidden(NET)) == ("deny", True)
    assert action(policy, RUN, "make") == "ask"


@pytest.mark.row("Z-015")
def test_a_default_deny_gives_way_to_a_closer_word_of_a_person_alone(rules: Rules) -> None:
    text = '[permission]\ndangerous_default_deny = ["fs*:*"]\n'
    policy = rules(text)
    assert decide(policy, READ, "a").rule == "permission.dangerous_default_deny: fs*:*"
    assert policy.hidden(READ)
    opened = rules(text + 'allow = ["fs:look"]\nask = ["fs_write:*"]\n')
    assert (action(opened, READ, "a"), opened.hidden(READ)) == ("allow", False)
    assert (action(opened, EDIT, "a"), opened.hidden(EDIT)) == ("ask", False)
    assert (action(opened, LIST, "a"), opened.hidden(LIST)) == ("deny", True)
    assert action(rules(text + 'allow = ["f*:*"]\n'), READ, "a") == "deny"
    assert action(rules(text + 'allow = ["fs:look"]\ndeny = ["look"]\n'), READ, "a") == "deny"
    assert action(rules(text, project='[permission]\nallow = ["fs:look"]\nask = ["fs:look"]\n'), READ, "a") == "deny"


@pytest.mark.row("Z-057")
def test_reads_run_and_each_write_asks_where_the_lists_split_them(rules: Rules) -> None:
    policy = rules('[permission]\nallow = ["fs:*"]\nask = ["fs_write:*"]\n[tool_permission]\nread = "ask"\n')
    assert (action(policy, READ, "a"), action(policy, LIST, "a")) == ("allow", "allow")
    assert [action(policy, EDIT, name) for name in ("a", "b")] == ["ask", "ask"]


@pytest.mark.row("Z-026")
def test_reading_and_writing_are_switched_each_by_itself(rules: Rules) -> None:
    no_reading = rules('[tool_permission]\nread = "deny"\n')
    assert [no_reading.hidden(made) for made in (READ, EDIT)] == [True, False]
    assert (action(no_reading, READ, "a"), action(no_reading, EDIT, "a")) == ("deny", "ask")
    no_writing = rules('[tool_permission]\nedit = "deny"\n')
    assert [no_writing.hidden(made) for made in (READ, EDIT)] == [False, True]
    assert (action(no_writing, READ, "a"), action(no_writing, EDIT, "a")) == ("allow", "deny")


# --- rules one by one -------------------------------------------------------------------------------------------------


def rule(**said: Any) -> str:
    words = ", ".join(
        f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in said.items()
    )
    return f"[permission]\nrules = [{{{words}}}]\n"


@pytest.mark.row("U-053")
def test_a_denying_rule_blocks_a_tool_that_is_switched_on(rules: Rules) -> None:
    policy = rules("[tools]\nlook = true\n" + rule(action="deny", tool="fs:l*"))
    assert decide(policy, READ, "a") == Decision(
        action="deny", rule="permission.rules: tool fs:l*", layer="user", source=Source(str(rules.file), 4)
    )
    assert policy.hidden(READ) and not policy.hidden(LIST)


@pytest.mark.row("U-052")
def test_a_tool_that_is_switched_on_is_still_asked_about_by_a_rule(rules: Rules) -> None:
    policy = rules("[tools]\nlook = true\nallow = ['look']\n" + rule(action="ask", tool="look"))
    assert action(policy, READ, "a") == "ask"


@pytest.mark.row("U-032")
def test_a_tool_that_says_nothing_of_itself_needs_approval_in_strict_mode_and_else(rules: Rules) -> None:
    silent, remote = make("silent", None), make("remote", None, permission="mcp")
    for made, key in ((silent, "unknown"), (remote, "mcp")):
        assert made.effect == "side_effecting"
        for text in (
            "",
            "[approval]\nstrict = true\n",
            f"[approval]\nstrict = true\n[tool_permission]\n{key} = 'allow'\n",
        ):
            asked = rules(text).decide(made, Call(id="c", name=made.name), made.touches(made.read({"what": "a"}).value))
            assert asked.decision.action == "ask", (made.name, text)


@pytest.mark.parametrize(
    ("pattern", "named", "others"),
    [
        ("src/**", ["src/a", "src/b/c"], ["src", "a", "x/src/a"]),
        ("*.md", ["a.md", "x/y.md"], ["a.mdx", "md"]),
        ("docs/", ["docs/a", "docs/b/c", "x/docs/a"], ["docs.md"]),
        ("/docs", ["docs", "docs/a"], ["x/docs"]),
        (["*.csv", "!test.csv"], ["a.csv"], ["test.csv", "x/test.csv", "a.txt"]),
        ("**/x/*.py", ["x/a.py", "b/x/a.py"], ["a.py", "x.py"]),
        ("a[bc].txt", ["ab.txt"], ["ad.txt"]),
        ("*", ["a", "b/c"], []),
    ],
)
def test_paths_are_named_as_in_an_ignore_file(rules: Rules, pattern: Any, named: list[str], others: list[str]) -> None:
    denied = rules(rule(action="deny", path=pattern))
    allowed = rules(rule(action="allow", key="edit", path=pattern))
    assert [action(denied, READ, path) for path in named] == ["deny"] * len(named)
    assert [action(allowed, EDIT, path) for path in named] == ["allow"] * len(named)
    assert [action(denied, READ, path) for path in others] == ["allow"] * len(others)
    assert [action(allowed, EDIT, path) for path in others] == ["ask"] * len(others)


def test_an_allow_by_path_is_exact_and_stays_inside_and_a_deny_is_neither(rules: Rules) -> None:
    allowed = rules("[paths]\noutside = 'allow'\n" + rule(action="allow", key="edit", path=["*.pem", "s/**", "!s/own"]))
    assert action(allowed, EDIT, "a.pem") == "allow"
    assert [action(allowed, EDIT, path) for path in ("A.PEM", "s/own", "s/own/x")] == ["ask"] * 3
    assert action(allowed, EDIT, "/etc/a.pem", outside=True) == "ask"
    denied = rules("[paths]\noutside = 'allow'\n" + rule(action="deny", path="*.pem"))
    assert [action(denied, READ, path) for path in ("a.pem", "A.PEM", "x.pem/y")] == ["deny"] * 3
    assert action(denied, READ, "/etc/a.pem", outside=True) == "deny"


def test_what_a_rule_denies_by_path_is_kept_from_searches_of_the_folder_around_it(rules: Rules) -> None:
    policy = rules(rule(action="deny", key="read", path="secret/") + "[tool_permission]\nlist = 'allow'\n")
    assert policy.door("read", "secret/a") is not None
    assert policy.door("read", "secret.txt") is None and policy.door("list", "secret/a") is None
    by_tool = rules(rule(action="deny", tool="look", path="secret/"))
    assert by_tool.door("read", "secret/a") is None, "at the door nobody knows which tool asks"


@pytest.mark.parametrize(
    ("pattern", "named", "others"),
    [
        (
            "example.org",
            ["http://example.org/a", "https://EXAMPLE.org./"],
            ["http://a.example.org/", "http://example.orgs/"],
        ),
        ("*.example.org", ["http://a.b.example.org/"], ["http://example.org/", "http://badexample.org/"]),
        ("localhost:3000", ["http://localhost:3000/"], ["http://localhost/", "http://localhost:3001/"]),
        ("localhost:*", ["http://localhost/", "http://localhost:99/"], ["http://localhosts/"]),
        ("bücher.example", ["http://xn--bcher-kva.example/"], ["http://bucher.example/"]),
        ("https://example.org", ["https://example.org/"], ["http://example.org/"]),
        ("[::1]", ["http://[::1]/"], ["http://[::2]/"]),
    ],
)
def test_hosts_are_named_with_what_lies_below_them_and_their_port(
    rules: Rules, pattern: str, named: list[str], others: list[str]
) -> None:
    closed = "[tool_permission]\nweb = 'ask'\n" + rule(action="allow", host=pattern)
    denied = rules(rule(action="deny", host=pattern))
    assert [action(rules(closed), NET, url) for url in named] == ["allow"] * len(named)
    assert [action(denied, NET, url) for url in named] == ["deny"] * len(named)
    assert [action(rules(closed), NET, url) for url in others] == ["ask"] * len(others)
    assert [action(denied, NET, url) for url in others] == ["allow"] * len(others)


def test_without_a_port_an_allow_means_the_usual_one_and_a_deny_all(rules: Rules) -> None:
    asks = "[tool_permission]\nweb = 'ask'\n"
    assert action(rules(asks + rule(action="allow", host="a.example")), NET, "http://a.example:8080/") == "ask"
    assert action(rules(rule(action="deny", host="a.example")), NET, "http://a.example:8080/") == "deny"
    assert action(rules(rule(action="deny", host="a.example")), NET, "git@a.example:x/y.git") == "deny"


def test_a_host_that_cannot_be_read_is_asked_about_where_a_rule_denies_one(rules: Rules) -> None:
    policy = rules(rule(action="deny", host="evil.example"))
    found = decide(policy, NET, "http://good.example\\@evil.example/")
    assert (found.action, found.rule) == ("ask", "permission.rules: host evil.example cannot be ruled out")
    assert action(policy, NET, "http://good.example/") == "allow"


def test_sending_and_fetching_are_told_apart(rules: Rules) -> None:
    policy = rules(rule(action="allow", host="a.example", sends=True))
    assert action(policy, NET, "http://a.example/", sends=True) == "allow"
    assert action(policy, NET, "http://b.example/", sends=True) == "ask"
    only = rules(rule(action="deny", host="a.example", sends=False))
    assert (action(only, NET, "http://a.example/"), action(only, NET, "http://a.example/", sends=True)) == (
        "deny",
        "ask",
    )


def test_a_rule_for_another_project_holds_nowhere_else(rules: Rules, tmp_path: Path) -> None:
    here, there = str(rules.root), str(tmp_path / "other")
    assert action(rules(rule(action="deny", tool="look", project=here)), READ, "a") == "deny"
    assert action(rules(rule(action="deny", tool="look", project=there)), READ, "a") == "allow"


def test_rules_of_all_layers_count_each_in_its_own(rules: Rules) -> None:
    user = rule(action="allow", tool="put") + "[tool_permission]\nweb = 'ask'\n"
    policy = rules(
        user, permission__rules=[{"action": "ask", "path": "sub/"}], project=rule(action="deny", tool="walk")
    )
    assert decide(policy, EDIT, "a").layer == "user"
    asked = decide(policy, EDIT, "sub/a")
    assert (asked.action, asked.layer, asked.source) == ("ask", "flag", None)
    denied = decide(policy, LIST, "a")
    assert (denied.action, denied.layer) == ("deny", "project")
    assert denied.source == Source(str(rules.root / ".pegboard" / "config.toml"), 2)


def test_a_project_that_nobody_trusts_allows_nothing_by_rules_or_lists(rules: Rules) -> None:
    project = rule(action="allow", tool="put", sandbox=True) + 'allow = ["put", "sh:*"]\nask = ["look"]\n'
    policy = rules("", project=project, confined=True)
    assert [action(policy, made, "make") for made in (EDIT, RUN, READ)] == ["ask", "ask", "ask"]


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-047")
def test_with_an_allowed_command_that_alone_runs_and_nothing_joined_to_it(rules: Rules) -> None:
    text = '[tool_permission]\nbash_read_only = "ask"\n'
    assert action(rules(text), RUN, "git status") == "ask"
    policy = rules(text + 'bash_allow = ["make",\n "git status"]\n')
    assert decide(policy, RUN, "git status -s") == Decision(
        action="allow", rule="tool_permission.bash_allow: git status", layer="user", source=Source(str(rules.file), 4)
    )
    for line in ("git status && rm x", "git status; rm x", "rm x | git status", "git status > x", "git status $(rm x)"):
        assert action(policy, RUN, line) == "ask", line
    assert action(policy, RUN, "git status && make all") == "allow"


@pytest.mark.row("R-048")
def test_several_lines_are_judged_by_the_parse_or_refused_plainly(rules: Rules) -> None:
    lines = ("git status\nmake", "make <<'E'\nx\nE\n")
    text = '[tool_permission]\nbash_allow = ["git status", "make"]\n'
    assert [action(rules(text), RUN, line) for line in lines] == ["allow", "allow"]
    rejecting = rules(text + 'bash_multiline = "reject"\n')
    assert [action(rejecting, RUN, line) for line in lines] == ["ask", "ask"]
    assert action(rejecting, RUN, "git status; make") == "allow"


def test_the_strictest_part_of_a_line_decides_and_a_deny_reaches_into_all_of_it(rules: Rules) -> None:
    policy = rules("[tool_permission]\nbash = 'allow'\n" + rule(action="deny", command="git push"))
    assert action(policy, RUN, "make; rm x > y") == "allow"
    for line in ("git push", "ls && git push -f", "echo $(git push)", "(git push)", "'git' push", "/usr/bin/git push"):
        assert decide(policy, RUN, line).rule == "permission.rules: command git push", line
    for line in ("$X push", "git $X", "echo 'unclosed", "echo \x00"):
        assert decide(policy, RUN, line).rule == "permission.rules: command git push cannot be ruled out", line
    assert action(policy, RUN, "git status $X") == "ask", "an option of git, and then push, may be in it"
    assert action(policy, RUN, "echo $X git push") == "allow"


def test_a_command_is_judged_from_the_folder_that_the_call_names(rules: Rules) -> None:
    policy = rules("")
    call = Call(id="c", name="shell")

    def there(line: str, *folders: str) -> str:
        touches = [Touch("run", line), *(Touch("list", folder, folder) for folder in folders)]
        return policy.decide(RUN, call, touches).decision.action

    assert there("cd ..") == "ask" and there("cd .. && ls", "sub") == "allow"
    assert there("cd ../..", "sub") == "ask"


def test_an_allow_in_the_sandbox_asks_where_there_is_none(rules: Rules) -> None:
    text = rule(action="allow", key="bash", sandbox=True)
    held = decide(rules(text, confined=True), RUN, "make")
    assert (held.action, held.sandbox, held.rule) == ("allow", True, "permission.rules: key bash")
    asked = decide(rules(text), RUN, "make")
    assert (asked.action, asked.sandbox) == ("ask", False)
    assert asked.rule == "permission.rules: key bash (there is no sandbox here)"


def test_of_parts_that_are_allowed_one_in_the_sandbox_decides(rules: Rules) -> None:
    policy = rules(
        rule(action="allow", command="make", sandbox=True) + "[tool_permission]\nbash_allow = ['true']\n", confined=True
    )
    assert not decide(policy, RUN, "true").sandbox
    assert decide(policy, RUN, "true; make").sandbox and decide(policy, RUN, "make && true").sandbox


def test_a_sandbox_allows_programs_alone(rules: Rules) -> None:
    policy = rules(rule(action="allow", sandbox=True), confined=True)
    assert action(policy, RUN, "make") == "allow"
    assert action(policy, EDIT, "a") == "ask", "a tool that writes by itself is not in the sandbox"


# --- what is hidden ---------------------------------------------------------------------------------------------------


def test_a_tool_is_hidden_where_a_kind_that_every_call_touches_is_denied(rules: Rules) -> None:
    @tool
    def at_a_place(command: Annotated[str, Runs("c")], cwd: Annotated[str | None, Lists("f")] = None) -> str:
        """Run."""
        return command

    @tool
    def from_the_top(what: str, path: Annotated[str, Lists("f")] = ".") -> str:
        """List."""
        return what

    @tool(touches=lambda arguments: [("edit", "a")], kinds=["edit"])
    def patched(what: str) -> str:
        """Patch."""
        return what

    first, second, third = (Tool.of(made) for made in (at_a_place, from_the_top, patched))
    no_lists, no_edits = rules("[tool_permission]\nlist = 'deny'\n"), rules("[tool_permission]\nedit = 'deny'\n")
    assert [no_lists.hidden(made) for made in (first, second, third)] == [False, True, False]
    assert [no_edits.hidden(made) for made in (first, second, third)] == [False, False, True]
    assert rules("[tool_permission]\nbash = 'deny'\n").hidden(first)


# --- what means nothing -----------------------------------------------------------------------------------------------


def board_of(folder: Path, text: str, *, project: str | None = None, **flags: Any) -> Any:
    from pegboard.board import Board
    from pegboard.hooks import hookimpl
    from pegboard.plugins import given

    own = make("own", None, permission="kubectl")

    class Brings:
        @staticmethod
        @hookimpl
        def pegboard_tools(settings: Any) -> Any:
            return [READ.function, RUN.function, own.function]

    (folder / "user.toml").write_text(text)
    if project is not None:
        (folder / ".pegboard").mkdir()
        (folder / ".pegboard" / "config.toml").write_text(project)
    return Board.build(
        str(folder),
        user_file=folder / "user.toml",
        environ={},
        state=folder / "state",
        flags={key.replace("__", "."): value for key, value in flags.items()},
        extra=[given("fs", "pegboard.toolsets", Brings)],
        discover=False,
    )


def test_words_that_name_nothing_are_told_of_with_what_they_do_not_do(tmp_path: Path) -> None:
    board = board_of(
        tmp_path,
        "[permission]\ndeny = ['lok',\n 'fs:*', 'Shell']\n"
        "rules = [\n"
        " {action = 'deny', tool = 'shel'},\n"
        " {action = 'deny', key = 'run'},\n"
        " {action = 'allow', key = 'edti'},\n"
        " {action = 'ask', tool = 'look', key = 'read', path = 'x'},\n"
        "]\n[modes.m.tools]\ndeny = ['luk']\n[modes.m.tool_permission]\nlsp = 'ask'\n",
    )
    file = tmp_path / "user.toml"
    assert [note for note in board.notes if "names nothing" in note] == [
        f"{file}:2: permission.deny: 'lok' names nothing that is there, so it denies nothing; did you mean look?",
        f"{file}:3: permission.deny: 'Shell' names nothing that is there, so it denies nothing; did you mean shell?",
        f"{file}:5: permission.rules[0]: 'shel' names nothing that is there, so it denies nothing; did you mean shell?",
        f"{file}:11: modes.m.tools.deny: 'luk' names nothing that is there, so it denies nothing; did you mean look?",
        f"{file}:6: permission.rules[1]: 'run' names nothing that is there, so it denies nothing",
        f"{file}:7: permission.rules[2]: 'edti' names nothing that is there; did you mean edit?",
        f"{file}:13: modes.m.tool_permission.lsp: 'lsp' names nothing that is there, so it asks about nothing; "
        "did you mean list?",
    ]


@pytest.mark.parametrize(
    ("text", "line", "near"),
    [
        ("[tool_permission]\nbsh = 'deny'\n", 2, "bash"),
        ("[tool_permission]\nedit = 'deny'\nwbe = 'ask'\n", 3, "web"),
        ("[tool_permission]\nkubectll = 'deny'\n", 2, "kubectl"),
        ("[[permission.rules]]\naction = 'deny'\nkey = 'raed'\n", 1, "read"),
        ("[modes.m.tool_permission]\nedti = 'deny'\n", 2, "edit"),
    ],
)
def test_a_key_that_is_all_but_another_and_denies_nothing_stops_the_start(
    tmp_path: Path, text: str, line: int, near: str
) -> None:
    from pegboard.errors import ConfigError

    with pytest.raises(ConfigError, match=f"nothing; write {near}; nothing was started") as caught:
        board_of(tmp_path, text)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "user.toml"), line)


def test_keys_that_something_has_and_those_far_from_any_stop_nothing(tmp_path: Path) -> None:
    board = board_of(tmp_path, "[tool_permission]\nkubectl = 'deny'\nlsp = 'deny'\nbsh = 'allow'\n")
    assert sum("names nothing" in note for note in board.notes) == 2


def test_what_a_project_misspells_is_told_of_and_costs_none_of_its_other_rules(tmp_path: Path) -> None:
    board = board_of(
        tmp_path,
        "",
        project="[tool_permission]\nbsh = 'deny'\n[permission]\ndeny = ['Bash(x y)',\n 'look']\n"
        "[[permission.rules]]\naction = 'deny'\ncommand = 'git push*'\n"
        "[[permission.rules]]\naction = 'deny'\ncommand = 'git push'\n",
    )
    told = [note for note in board.notes if "config.toml:" in note]
    assert [note.partition("config.toml:")[2].partition(": ")[0] for note in told] == ["4", "6", "2", "2"]
    assert told[0].endswith("that is ignored") and 'write "git push"; that is ignored' in told[1]
    assert "so this denies nothing; write bash" in told[2]
    assert [rule.name for rule in board.policy.rules if rule.layer == "project"] == [
        "tool_permission.bsh",
        "permission.deny: look",
        "permission.rules: command git push",
    ]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("sudo ls", "runs another program"),
        ("timeout 5 make", 'write "make"'),
        ("~/bin/x", "by more than plain letters"),
        ("eval", "runs what it is given"),
    ],
)
def test_an_allow_by_command_that_can_pass_none_stops_the_start(tmp_path: Path, pattern: str, words: str) -> None:
    from pegboard.errors import ConfigError

    for text, line in [
        (f"[tool_permission]\nbash_allow = ['make',\n '{pattern}']\n", 3),
        (f"\n[[permission.rules]]\naction = 'allow'\ncommand = '{pattern}'\n", 2),
    ]:
        with pytest.raises(ConfigError, match=r"can never allow anything: .*nothing was started") as caught:
            board_of(tmp_path, text)
        assert (caught.value.line, words in str(caught.value)) == (line, True)
    board_of(tmp_path, f"[[permission.rules]]\naction = 'deny'\ncommand = '{pattern}'\n")


def test_an_allow_by_command_that_may_pass_one_stops_nothing(tmp_path: Path) -> None:
    patterns = ["python", "awk", "env", "find", "uv run", "git -c", "[ -f", "npm run test:unit", "pip install x[y]"]
    assert board_of(tmp_path, "", tool_permission__bash_allow=patterns).config.tool_permission.bash_allow == patterns


# --- the closer command -----------------------------------------------------------------------------------------------


def one_of(**said: Any) -> str:
    return "[[permission.rules]]\n" + "".join(f"{key} = {value!r}\n" for key, value in said.items())


def test_of_rules_by_command_in_one_layer_the_longer_one_speaks(rules: Rules) -> None:
    policy = rules(
        one_of(action="ask", command="git")
        + one_of(action="allow", command=["git status", "git push --dry-run"])
        + one_of(action="ask", command="git push")
    )
    wanted = {"git status -s": "allow", "git push": "ask", "git push --dry-run": "allow", "git x": "ask"}
    assert {line: action(policy, RUN, line) for line in wanted} == wanted
    policy = rules('[tool_permission]\nbash_allow = ["git status"]\n' + one_of(action="ask", command="git *"))
    assert (action(policy, RUN, "git status"), action(policy, RUN, "git log")) == ("allow", "ask")
    policy = rules(one_of(action="allow", command="git status") + one_of(action="ask", command="git status"))
    assert action(policy, RUN, "git status") == "ask", "of two that are as long the one that asks"
    policy = rules(one_of(action="ask", tool="shell", command="git") + one_of(action="allow", command="git status"))
    assert action(policy, RUN, "git status") == "ask", "the tool's pattern comes first"
    policy = rules(one_of(action="deny", command="git") + one_of(action="allow", command="git status"))
    assert action(policy, RUN, "git status") == "deny"
