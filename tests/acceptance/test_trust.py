"""Trust in a clone, at a terminal and for scripts; and what a clone cannot bring into the interpreter."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

PROGRAM = Path(sys.executable).with_name("pegboard")
CONFIG = """\
[tool_permission]
edit = "allow"
bash_allow = ["make test"]
[[hooks]]
event = "pre_tool"
match = "core:write_file"
command = ["sh", "-c", "grep -q forbidden && { echo no such word >&2; exit 2; }; exit 0", "\\u001b[2J"]
"""
WRITE = ("tool", "write_file", "path=a.txt", "content=hi", "--json")


@pytest.fixture
def clone(cli: Any, tmp_path: Path) -> Any:
    """A repository that brings settings, cloned; `cli` works in the clone."""
    origin = tmp_path / "origin"
    (origin / ".pegboard").mkdir(parents=True)
    (origin / ".pegboard" / "config.toml").write_text(CONFIG)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(origin), *words], check=True)
    cli.root = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(origin), str(cli.root)], check=True)
    return cli


def trust(cli: Any, answer: str) -> tuple[int, str]:
    """What is on the screen, and how it ended, once the question is answered."""
    child = cli.terminal("trust", dimensions=(50, 300))
    child.expect(re.escape("Trust this project as shown? [y/N] "))
    shown = child.before
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, shown


def test_a_clone_that_allows_is_asked_about_then_trusted_and_asked_again_after_a_byte(clone: Any) -> None:
    asked = clone(*WRITE)
    assert (asked.code, asked.json["block"], asked.json["decision"]["layer"]) == (2, "denied", "default")
    assert (
        "tool_permission.edit (line 2)" in asked.err and "`pegboard trust` shows what it would switch on" in asked.err
    )

    code, shown = trust(clone, "")  # Enter means no
    assert code == 2 and "is not trusted" in shown
    for line in (
        '.pegboard/config.toml:2: tool_permission.edit = "allow"',
        '.pegboard/config.toml:3: tool_permission.bash_allow = ["make test"]',
        '.pegboard/config.toml:4: [[hooks]] {event = "pre_tool", match = "core:write_file", command = ["sh", "-c", ',
    ):
        assert line in shown
    assert r'exit 0", "\u001b[2J"]}' in shown
    assert clone(*WRITE).json["block"] == "denied"

    assert trust(clone, "y")[0] == 0
    allowed = clone(*WRITE)
    file = str(clone.root / ".pegboard" / "config.toml")
    assert (allowed.code, allowed.json["outcome"], allowed.err) == (0, "ok", "")
    decision = {"action": "allow", "rule": "tool_permission.edit", "layer": "project"}
    assert decision.items() <= allowed.json["decision"].items()
    assert allowed.json["decision"]["source"] == {"file": file, "line": 2}
    shown_settings = clone("config", "show", "tool_permission.edit", "--origin").out
    assert shown_settings == f'tool_permission.edit = "allow"  # project, {file}:2\n'
    refused = clone("tool", "write_file", "path=b.txt", "content=forbidden", "--json").json
    assert refused["block"] == "guard" and "no such word" in refused["text"]

    (clone.root / ".pegboard" / "config.toml").write_text(CONFIG + "\n")
    again = clone(*WRITE)
    assert again.json["block"] == "denied" and "changed since you trusted it" in again.err
    assert [row["state"] for row in clone("trust", "--list", "--json").json["projects"]] == ["changed"]
    assert clone("trust", "--revoke").code == 0
    assert clone("trust", "--list").out == "No project is trusted.\n"


def test_a_change_of_a_comment_is_said_to_be_one(clone: Any) -> None:
    file = clone.root / ".pegboard" / "config.toml"
    assert clone("trust", "--yes").code == 0
    file.write_text("# why\n" + CONFIG)
    same = "config.toml: changed, nothing in it that counts is new"
    assert same in clone("trust", "--show").out and "\n+ " not in clone("trust", "--show").out
    file.write_text(CONFIG + "timeout = 3\n")
    shown = clone("trust", "--show").out
    assert same not in shown and "\n+ .pegboard/config.toml:4: [[hooks]]" in shown


def test_a_plugin_file_that_would_not_be_loaded_is_said_so_before(clone: Any) -> None:
    folder = clone.root / ".pegboard" / "plugins"
    folder.mkdir()
    (folder / "git.py").write_text("x = 1\n")
    (folder / "mine.py").write_text("x = 1\n")
    shown = clone("trust", "--show").out
    assert "These would not be loaded all the same" in shown
    [line] = [line for line in shown.splitlines() if "has the name 'git' already" in line]
    assert line.startswith("  .pegboard/plugins/git.py: ") and "mine.py: p" not in shown


def test_an_untrusted_clone_may_choose_the_mode_in_which_nothing_is_changed(clone: Any) -> None:
    file = clone.root / ".pegboard" / "config.toml"
    file.write_text('mode = "plan"\n[modes.own]\ndescription = "x"\n')
    refused = clone(*WRITE)
    assert refused.json["decision"]["rule"] == "modes.plan: tool_permission.edit"
    assert "mode (line 1)" not in refused.err
    shown = clone("trust", "--show").out
    assert "Rules that it would loosen" not in shown and 'modes.own.description = "x"' in shown
    clone.config('mode = "own"\n[modes.own.tool_permission]\nread = "deny"\n')
    assert clone("tool", "read_file", "path=a", "--json").json["decision"]["rule"].startswith("modes.own")
    clone.config("")
    file.write_text('mode = "auto"\n')
    assert "mode (line 1)" in clone(*WRITE).err


def test_what_a_hook_after_a_call_has_to_say_is_shown_to_who_made_it(cli: Any) -> None:
    cli.config('[[hooks]]\nevent = "post_tool"\ncommand = ["sh", "-c", "sleep 0.2; echo unformatted >&2; exit 3"]\n')
    done = cli("tool", "write_file", "path=a.txt", "content=hi", "--yes")
    assert done.code == 0 and "it ended with exit 3: unformatted" in done.err


def test_a_script_trusts_by_an_option_alone_and_gets_one_document(clone: Any) -> None:
    shown = clone("trust", "--json")
    assert (shown.code, shown.json["state"], shown.json["trusted"]) == (2, "untrusted", False)
    assert [wish["line"] for wish in shown.json["wishes"]] == [2, 3, 4]
    assert clone("trust").code == 2
    done = clone("trust", "--yes", "--json")
    assert (done.code, done.json["trusted"], done.json["digest"]) == (0, True, shown.json["digest"])
    assert clone("trust", "--json").json["state"] == "trusted"
    assert "nothing to trust" in clone("trust", "--path", str(clone.home)).out
    assert clone("trust", "--yes", "--revoke").code == 2


def test_plugin_files_are_listed_by_name_and_path_on_and_off(clone: Any) -> None:
    folder = clone.root / ".pegboard" / "plugins"
    folder.mkdir()
    (folder / "words.py").write_text("import nothing_of_the_kind\n")
    for state in ("off", "on"):
        (row,) = [row for row in clone("plugins", "--json").json["plugins"] if row["name"] == "words"]
        assert (row["kind"], row["own"], row["object"], row["state"]) == (
            "toolset",
            False,
            ".pegboard/plugins/words.py",
            state,
        )
        assert clone("trust", "--yes").code == 0
    assert "did not load: ModuleNotFoundError" in clone(*WRITE).err


SPY = "import os\nopen(os.environ['SPY'], 'a').write(__file__ + '\\n')\n"
MODULES = "json typer msgspec asyncio tomllib pegboard pegboard_cli pegboard_tools_core pegboard_tools_web trafilatura"


@pytest.fixture
def trap(cli: Any, tmp_path: Path) -> Any:
    """A workspace full of modules that tell when they are imported. Returns what was."""
    for name in (
        *MODULES.split(),
        "sitecustomize",
        "usercustomize",
        "pegboard_tools_git",
        "tree_sitter",
        "pluggy",
        "click",
    ):
        (cli.root / f"{name}.py").write_text(SPY)
    for name in ("pegboard", "pegboard_tools_web"):
        (cli.root / name).mkdir(exist_ok=True)
        (cli.root / name / "__init__.py").write_text(SPY)
    spied = tmp_path / "spied"
    variables = "\n".join(
        [f"SPY={spied}", "PEGBOARD_TOOL_PERMISSION_BASH=allow", "PEGBOARD_MODEL=evil", "PYTHONPATH=."]
    )
    (cli.root / ".env").write_text(variables)
    (cli.root / ".pegboard" / ".env").write_text(variables)
    for name in ("PYTHONPATH", "PYTHONSAFEPATH", "PEGBOARD_MODEL"):
        cli.environ.pop(name, None)
    cli.environ["SPY"] = str(spied)

    def imported() -> list[str]:
        return spied.read_text().splitlines() if spied.exists() else []

    return imported


def fresh(cli: Any, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The installed command in a process of its own, from the very start."""
    return subprocess.run(
        [PROGRAM, *words],
        cwd=cli.root,
        env=cli.environ | environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_no_module_of_a_workspace_enters_the_interpreter_and_no_env_file_is_read(cli: Any, trap: Any) -> None:
    (cli.root / "a.txt").write_text("needle\n")
    found = json.loads(fresh(cli, "tool", "grep", "pattern=needle", "--json", PEGBOARD_SEARCH_ENGINE="python").stdout)
    assert (found["data"]["engine"], found["data"]["hits"][0]["path"]) == ("python", "a.txt")  # a child searched
    assert json.loads(fresh(cli, "tool", "bash", "command=touch x", "--json").stdout)["block"] == "denied"
    first = fresh(cli, "run", "list the python files", "--json").stdout.splitlines()[0]
    assert json.loads(first)["model"] == "offline"
    assert trap() == []


@pytest.mark.parametrize("module", ["pegboard_cli", "pegboard_cli.main"])
def test_started_by_its_module_name_it_takes_nothing_else_from_the_folder(cli: Any, trap: Any, module: str) -> None:
    (cli.root / "pegboard_cli.py").unlink()  # which -m itself looks for here first: docs/security.md
    ran = subprocess.run(
        [sys.executable, "-m", module, "tools", "--json"],
        cwd=cli.root,
        env=cli.environ,
        capture_output=True,
        check=True,
    )
    assert json.loads(ran.stdout)["registered"] > 5
    assert trap() == []


CHILD = """
import asyncio, os, json
from pegboard.kit import process
from pegboard_tools_web.children import printed

del os.environ["PYTHONSAFEPATH"]

async def run(argv, *, quiet, **more):
    return await process.run(argv, cwd=os.getcwd(), **more)

page = printed(run, "pegboard_tools_web.converting", "html", "http://x.example/", "", stdin=b"<p>Hi there</p>", seconds=60)
said, failed = asyncio.run(page)
print(failed or json.loads(said)["text"])
"""


def test_children_that_look_at_plugins_convert_pages_or_keep_jobs_take_nothing_from_the_folder(
    cli: Any, trap: Any, tmp_path: Path
) -> None:
    for kept in (cli.home / ".local/state/pegboard/plugins").iterdir():
        kept.unlink()  # so that the stranger's plugin is looked at anew
    assert "new: " in fresh(cli, "tools", PYTHONPATH=str(tmp_path / "site")).stderr
    safe = cli.environ | {"PYTHONSAFEPATH": "1"}
    page = subprocess.run([sys.executable, "-c", CHILD], cwd=cli.root, env=safe, capture_output=True, text=True)
    assert page.stdout.strip() == "Hi there", page.stderr
    job = ("tool", "bg", "action=start", "command=echo a > made", "--session", "s1", "--yes", "--json")
    assert json.loads(fresh(cli, *job).stdout)["outcome"] == "ok"
    until = time.monotonic() + 60
    while not (cli.root / "made").exists():
        assert time.monotonic() < until, "the job did not run"
        time.sleep(0.02)
    assert trap() == []
