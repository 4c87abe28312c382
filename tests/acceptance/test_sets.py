"""Tool sets as a person switches them: what is off costs nothing, and nobody is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_server import ModelServer, Reply

MODULES = {
    "edit-plus": "pegboard_tools_edit_plus",
    "git": "pegboard_tools_git",
    "git-write": "pegboard_tools_git.writes",
    "web": "pegboard_tools_web",
    "dev": "pegboard_tools_dev",
    "exec": "pegboard_tools_exec",
}
TOOLS = {
    "core": ["read_file", "write_file", "edit_file", "glob", "grep", "bash"],
    "dev": ["code_test", "code_lint", "code_format"],
    "edit-plus": [
        "multi_edit",
        "list_dir",
        "read_many_files",
        "apply_patch",
        "find",
        "delete_files",
        "line_count",
    ],
    "exec": ["exec", "bg"],
    "git": ["git_status", "git_diff", "git_log", "git_show", "git_blame", "git_branch", "git_rev_parse"],
    "git-write": ["git_add", "git_commit", "git_push", "git_branch_create"],
    "web": ["web_search", "web_fetch", "http_request"],
}


def by_set(listed: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tool in listed["tools"]:
        if not tool["offered"]:
            continue
        found.setdefault(tool["set"], []).append(tool["name"])
    return found


@pytest.mark.row("R-022")
def test_without_any_setting_every_installed_set_is_on_and_each_tool_says_whose_it_is(cli: Any) -> None:
    done = cli("tools", "--json")
    found = by_set(done.json)
    assert {name: sorted(tools) for name, tools in found.items() if name in TOOLS} == {
        name: sorted(tools) for name, tools in TOOLS.items()
    }
    assert {one["name"]: one["distribution"] for one in done.json["sets"]}["git-write"] == "pegboard-tools-git"


@pytest.mark.row("S-018", "S-016", "S-017")
def test_the_setting_says_which_sets_there_are_beside_core(cli: Any) -> None:
    cli.config('toolSets = ["edit-plus"]\n')
    assert set(by_set(cli("tools", "--json").json)) == {"core", "edit-plus"}
    cli.config('toolSets = ["edit-plus", "git"]\n')
    listed = cli("tools", "--cost", "--json").json
    bytes_of = {one["name"]: one["bytes"] for one in listed["tools"]}
    three = sum(bytes_of[name] for name in ("multi_edit", "list_dir", "read_many_files"))
    five = sum(bytes_of[name] for name in ("git_status", "git_diff", "git_log", "git_show", "git_blame"))
    assert (three < 2500, five < 2500) == (True, True), (three, five)


COMMANDS = [
    ("--help",),
    ("tools", "--all", "--json"),
    ("tool", "read_file", "path=a.txt", "--json"),
    ("run", "show me a.txt", "--json", "--model", "offline"),
    ("config", "show"),
    ("sessions", "list"),
    ("doctor",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_set_that_is_off_is_imported_by_no_command(cli: Any, command: tuple[str, ...]) -> None:
    (cli.root / "a.txt").write_text("one\n", "utf-8")
    cli.config("toolSets = []\n")
    done = cli(*command, PYTHONPROFILEIMPORTTIME="1")
    imported = [line.rpartition("|")[2].strip() for line in done.err.splitlines() if line.startswith("import time:")]
    assert "typing" in imported
    assert [name for name in imported if name.startswith("pegboard_tools_") and "_core" not in name] == []


@pytest.mark.parametrize("off", sorted(MODULES))
def test_one_set_off_among_others_on_is_not_imported(cli: Any, off: str) -> None:
    cli.config(f"toolSets = {json.dumps([name for name in MODULES if name != off])}\n")
    done = cli("tools", "--json", PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in done.err.splitlines() if line.startswith("import time:")}
    module = MODULES[off] if off != "git" else "pegboard_tools_git.reads"
    assert module not in imported
    assert not set(TOOLS[off]) & {tool["name"] for tool in done.json["tools"]}


@pytest.mark.row("S-020")
def test_neither_the_request_nor_the_prompt_names_a_tool_of_a_set_that_is_off(
    cli: Any, model_server: ModelServer
) -> None:
    served = {"PEGBOARD_MODEL": "openai/scripted", "OPENAI_BASE_URL": model_server.base_url}
    model_server.say(Reply(calls=[("git_status", {})]), Reply(text="I see"))
    done = cli("run", "look", "--json", "--toolsets", "edit-plus,web", **served)
    sent = json.dumps(model_server.completions[0])
    assert "list_dir" in sent
    for name in [*TOOLS["git"], *TOOLS["git-write"], *TOOLS["dev"], *TOOLS["exec"]]:
        assert f'"{name}"' not in sent and f"`{name}`" not in sent, name
    assert "git_" not in sent and "code_" not in sent
    finished = next(event for event in done.events if event["event"] == "call_finished")
    assert (finished["outcome"], finished["block"]) == ("blocked", "unavailable")


def test_a_tool_of_a_set_that_is_off_is_unavailable(cli: Any) -> None:
    cli.config('toolSets = ["edit-plus"]\n')
    done = cli("tool", "git_status", "--json")
    assert (done.code, done.json["outcome"], done.json["block"]) == (2, "blocked", "unavailable")


@pytest.mark.row("R-038")
def test_find_looks_for_names_and_is_no_other_name_of_grep(cli: Any) -> None:
    """Decision 21 overrides the row: with edit-plus on `find` is a tool of its own, without it there is none."""
    (cli.root / "needle.txt").write_text("straw\n", "utf-8")
    (cli.root / "hay.txt").write_text("needle\n", "utf-8")
    done = cli("tool", "find", "pattern=needle", "--json").json
    assert (done["tool"], done["data"]["paths"]) == ("find", ["needle.txt"])
    cli.config("toolSets = []\n")
    assert cli("tool", "find", "pattern=needle", "--json").json["block"] == "unavailable"


GATED = [
    ("write_file", {"path": "a.txt", "content": "new"}),
    ("edit_file", {"path": "a.txt", "old_string": "old", "new_string": "new"}),
    ("multi_edit", {"path": "a.txt", "edits": [{"old_string": "old", "new_string": "new"}]}),
    ("bash", {"command": "echo new > a.txt"}),
]


@pytest.mark.row("S-004")
@pytest.mark.parametrize(("name", "arguments"), GATED, ids=[name for name, _ in GATED])
def test_what_changes_files_or_runs_commands_asks_each_time(cli: Any, name: str, arguments: dict[str, Any]) -> None:
    (cli.root / "a.txt").write_text("old", "utf-8")
    sent = json.dumps(arguments)
    for _ in range(2):
        record = cli("tool", name, "--args", sent, "--json", "--session", "s").json
        assert (record["outcome"], record["block"]) == ("blocked", "denied")
        assert (record["decision"]["action"], record["decision"]["answer"]["by"]) == ("ask", "headless")
    assert (cli.root / "a.txt").read_text("utf-8") == "old"
    assert cli("tool", name, "--args", sent, "--json", "--yes").json["outcome"] == "ok"
    assert (cli.root / "a.txt").read_text("utf-8").strip() == "new"
