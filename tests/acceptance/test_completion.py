"""Completion as a shell asks for it, and in real shells: fast, quiet, and without a look at anything new."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from pegboard_cli import completion
from pegboard_cli.group import COMMANDS

PROGRAMS = str(Path(sys.executable).parent)


def asked(cli: Any, *words: str, code: int = 0) -> list[str]:
    """What bash would offer for the last of these words."""
    done = cli(
        _PEGBOARD_COMPLETE="complete_bash", COMP_WORDS="\n".join(["pegboard", *words]), COMP_CWORD=f"{len(words)}"
    )
    assert (done.code, done.err) == (code, "")
    return list(done.out.splitlines())


def test_commands_are_offered_with_those_of_plugins(cli: Any) -> None:
    assert asked(cli, "") == [*COMMANDS, "broken", "hello", "plain", "tui"]
    assert asked(cli, "too") == ["tool", "tools"]
    assert {"--version", "--help"} <= set(asked(cli, "--"))


def test_options_of_a_command_are_offered(cli: Any) -> None:
    assert {"--model", "--max-steps"} <= set(asked(cli, "run", "--m"))
    assert asked(cli, "tools", "--co") == ["--cost"]
    assert "show" in asked(cli, "sessions", "")


def test_tools_of_our_own_sets_are_offered(cli: Any) -> None:
    assert asked(cli, "tool", "gr") == ["grep"]
    assert asked(cli, "tools", "write") == ["write_file"]


def test_a_strangers_tools_are_offered_once_it_is_known(cli: Any, tmp_path: Path) -> None:
    cli.environ["XDG_STATE_HOME"] = str(tmp_path / "nothing-known")
    assert asked(cli, "tool", "gat") == []
    assert asked(cli, "tool", "gated", "te") == []
    cli("tools")
    assert asked(cli, "tool", "gat") == ["gated"]
    assert asked(cli, "tool", "gated", "te") == ["text="]


def test_parameters_are_offered_until_they_are_given(cli: Any) -> None:
    assert {"pattern=", "path=", "regex="} <= set(asked(cli, "tool", "grep", ""))
    left = asked(cli, "tool", "grep", "pattern", "=", "x", "")
    assert "path=" in left and "pattern=" not in left
    assert asked(cli, "tool", "grep", "pattern=x", "pat") == ["path="]
    assert asked(cli, "tool", "grep", "--path", ".", "out") == ["output_mode="]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["output_mode", "="], {"content", "files", "count"}),
        (["output_mode", "=", "co"], {"content", "count"}),
        (["output_mode=co"], {"output_mode=content", "output_mode=count"}),
        (["regex=t"], {"regex=true"}),
        (["path="], set()),
        (["nosuch=x"], set()),
    ],
)
def test_values_are_offered_where_the_schema_has_them(cli: Any, words: list[str], offered: set[str]) -> None:
    assert offered <= set(found := asked(cli, "tool", "grep", *words)) and bool(found) == bool(offered)


def test_sessions_are_offered_the_last_changed_first(cli: Any) -> None:
    folder = cli.home / ".local/state/pegboard/sessions"
    for age, name in enumerate(["b", "a", "c"]):
        (folder / name).mkdir(parents=True)
        os.utime(folder / name, (1_000_000 - age, 1_000_000 - age))
    (folder / "no name").mkdir()
    for words in (["run", "--session", ""], ["sessions", "show", ""], ["sessions", "delete", "x", ""]):
        assert asked(cli, *words) == ["b", "a", "c"]


def test_sessions_of_single_calls_are_offered_to_read_and_not_to_go_on_with(cli: Any) -> None:
    assert cli("tool", "say", "text=x", "--session", "single").code == 0
    assert asked(cli, "run", "--session", "") == []
    assert asked(cli, "sessions", "show", "") == ["single"]


def test_sets_are_offered_after_each_comma(cli: Any) -> None:
    assert {"core", "stranger"} <= set(asked(cli, "run", "--toolsets", ""))
    assert "core,stranger" in asked(cli, "run", "--toolsets", "core,")
    assert "core,core" not in asked(cli, "run", "--toolsets", "core,")


def test_settings_and_guards_are_offered(cli: Any) -> None:
    assert "ui.show_notes" in asked(cli, "config", "get", "ui.")
    assert asked(cli, "tools", "--without-guard", "") == ["guard"]


def test_models_are_those_of_the_configuration(cli: Any) -> None:
    cli.config('model = "near/b"\n[providers.near]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["a", "b"]\n')
    found = asked(cli, "run", "--model", "")
    assert {"near", "near/a", "near/b", "offline", "script"} <= set(found)
    assert "near/a" in asked(cli, "run", "--model", "near/")


@pytest.mark.parametrize(
    "words",
    [
        ["hello", ""],
        ["broken", "--"],
        ["nosuch", ""],
        ["tool", "nosuch", ""],
        ["tool", "grep", "$(touch owned)"],
        ["run", "'unclosed"],
        ["run", "--nosuch", "x", ""],
        ["run", "\udce9"],
    ],
)
def test_whatever_stands_there_nothing_is_said_and_nothing_happens(cli: Any, words: list[str]) -> None:
    environ = {
        "_PEGBOARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(["pegboard", *words]),
        "COMP_CWORD": f"{len(words)}",
    }
    done = cli(**environ)
    assert done.err == "" and done.out.strip() == ""
    assert not (cli.root / "owned").exists()


@pytest.mark.parametrize("instruction", ["", "complete", "complete_tcsh", "source_bash", "x_y_z"])
def test_a_question_that_is_none_gets_no_answer(cli: Any, instruction: str) -> None:
    done = cli(_PEGBOARD_COMPLETE=instruction)
    assert (done.out, done.err) == ("", "")


def test_a_broken_configuration_breaks_no_line(cli: Any) -> None:
    cli.config("model = [")
    assert asked(cli, "run", "--mod") == ["--model", "--mode"]
    done = cli(_PEGBOARD_COMPLETE="complete_bash", COMP_WORDS="pegboard\ntool\ngr", COMP_CWORD="2")
    assert done.err == ""
    assert {"offline"} <= set(asked(cli, "run", "--model", ""))


PRINTS = """
import os, sys
print("printed")
sys.stderr.write("said")
open(os.environ["MARK"], "a").write("imported")
"""


def test_a_new_plugin_is_not_imported_for_a_completion(cli: Any, tmp_path: Path) -> None:
    site = tmp_path / "new"
    info = site / "pegboard_new-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pegboard-new\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[pegboard.toolsets]\nnew = pegboard_new\n[pegboard.commands]\nnewer = pegboard_new:app\n"
    )
    (site / "pegboard_new.py").write_text(PRINTS, "utf-8")
    mark = tmp_path / "mark"
    cli.environ |= {"MARK": str(mark), "PYTHONPATH": f"{site}{os.pathsep}{cli.environ['PYTHONPATH']}"}
    assert "newer" in asked(cli, "ne")
    for words in (["tool", ""], ["tool", "new_tool", ""], ["newer", ""], ["run", "--toolsets", ""]):
        found = asked(cli, *words)
        assert "printed" not in found
    assert not mark.exists()


def test_a_completion_imports_no_model_no_rich_and_dials_nobody(cli: Any) -> None:
    code = """
import json, os, sys
calls = []
LOUD = ("socket.connect", "subprocess", "os.exec")
sys.addaudithook(lambda event, arguments: calls.append(event) if event.startswith(LOUD) else None)
from pegboard_cli.main import main
sys.argv = ["pegboard"]
main()
print(json.dumps([sorted({name.split(".")[0] for name in sys.modules}), calls]), file=sys.stderr)
"""
    for words in (["run", "--model", ""], ["tool", "grep", ""], [""]):
        environ = {
            "_PEGBOARD_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_ARGS": " ".join(["pegboard", *words]),
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=cli.environ | environ,
            cwd=cli.root,
            capture_output=True,
            text=True,
            timeout=60,
        )
        modules, calls = json.loads(done.stderr)
        assert done.stdout and calls == []
        assert not {"rich", "httpx2", "openai", "pydantic", "pegboard_offline", "textual"} & set(modules)


# --- the scripts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", completion.CLASSES)
def test_every_shell_has_a_script(cli: Any, shell: str) -> None:
    done = cli("--show-completion", shell)
    assert done.code == 0 and done.err == ""
    assert (
        f"_PEGBOARD_COMPLETE=complete_{shell}" in done.out or '_PEGBOARD_COMPLETE = "complete_powershell"' in done.out
    )
    assert cli(f"--show-completion={shell}").out == done.out


@pytest.mark.parametrize(
    "words", [["--show-completion", "tcsh\x1b[2J"], ["--show-completion", "bash", "zsh"], ["--show-completions"]]
)
def test_an_unknown_shell_is_a_usage_error(cli: Any, words: list[str]) -> None:
    done = cli(*words)
    assert done.code == 2 and done.out == "" and done.err and "\x1b" not in done.err


def test_the_script_can_be_installed_and_twice_is_once(cli: Any) -> None:
    for _ in range(2):
        done = cli("--install-completion", "bash")
        assert done.code == 0
    assert (cli.home / ".bashrc").read_text("utf-8").count("pegboard") == 1
    assert (cli.home / ".bash_completions" / "pegboard.sh").read_text("utf-8").strip() == cli(
        "--show-completion", "bash"
    ).out.strip()


def test_powershells_profile_is_left_alone(cli: Any) -> None:
    done = cli("--install-completion", "powershell")
    assert done.code == 2 and "Nothing was changed" in done.err and "$PROFILE" in done.err


def test_completion_in_a_real_bash(cli: Any) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    cli("--install-completion", "bash")
    environ = cli.environ | {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm", "PS1": "> "}
    shell = pexpect.spawn(
        "bash",
        ["--noprofile", "--rcfile", str(cli.home / ".bashrc"), "-i"],
        cwd=str(cli.root),
        env=environ,
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 200),
    )
    shell.sendline("PS1='> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; echo rea''dy")
    shell.expect("ready")
    shell.send("pegboard tool gre\tpatt\tx output_mode=cont\t")
    shell.send("\x01echo typed: \r")  # the line as it was completed, put behind an echo
    shell.expect("\ntyped: ([^\r\n]*)")
    assert shell.match[1].strip() == "pegboard tool grep pattern=x output_mode=content"
    shell.close(force=True)


def test_completion_in_a_real_fish(cli: Any) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("there is no fish here")
    cli("--install-completion", "fish")
    environ = cli.environ | {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}

    def offered(line: str) -> list[str]:
        done = subprocess.run(
            [fish, "-c", f"complete -C'{line}'"], cwd=cli.root, env=environ, capture_output=True, text=True, timeout=60
        )
        assert done.stderr == ""
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert offered("pegboard tool gre") == ["grep"]
    assert "pattern=" in offered("pegboard tool grep pat")
    assert offered("pegboard tool grep output_mode=cont") == ["output_mode=content"]
    assert "chat" in offered("pegboard c")


def test_what_a_shell_evaluates_holds_no_word_of_its_own(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and help become part of shell code: only harmless characters go there."""

    class Asked:
        type = "plain"
        param_type_name = "option"
        opts = ("--other",)

        def shell_complete(self, ctx: Any, piece: str) -> Any:
            items = completion._machinery().CompletionItem
            evil = "$(touch owned) `x` 'y' \"z\" \\$(x)"
            return [items(evil, help="h"), items("fine", help=f"says {evil}\nmore"), items("*", help=None)]

    machinery = completion._machinery()
    monkeypatch.setattr(machinery, "_resolve_context", lambda *given: type("C", (), {"params": {}, "command": Asked()}))
    monkeypatch.setattr(machinery, "_resolve_incomplete", lambda *given: (Asked(), ""))
    Asked.name = "x"  # type: ignore[attr-defined]
    found = completion._class_for("zsh")(None, {}, "pegboard", completion.VARIABLE).get_completions([], "")
    assert [item.value for item in found] == ["fine"]
    assert not set("$`'\"\\()\n") & set(found[0].help)
