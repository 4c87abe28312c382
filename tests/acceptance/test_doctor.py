"""`pegboard doctor` and `pegboard plugins`, with everything well and with everything broken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pexpect
import pytest


@pytest.fixture(autouse=True)
def no_useless_commands(tmp_path: Path, cli: Any) -> None:
    """The stranger brings commands that can never be used; here only what a test breaks is wrong."""
    file = tmp_path / "site" / "pegboard_stranger-0.7.dist-info" / "entry_points.txt"
    lines = file.read_text("utf-8").splitlines()
    file.write_text(
        "\n".join(line for line in lines if not line.startswith(("run =", "no word =", "help ="))) + "\n", "utf-8"
    )
    cli("tools")  # met, so that nothing is new


def checks(cli: Any, *words: str, **environ: str) -> dict[str, list[dict[str, Any]]]:
    """What the doctor finds, by id."""
    done = cli("doctor", "--json", *words, **environ)
    found: dict[str, list[dict[str, Any]]] = {}
    for check in done.json["checks"]:
        assert set(check) == {"id", "ok", "text", "fix"} and check["ok"] == (check["fix"] is None)
        found.setdefault(check["id"], []).append(check)
    assert done.json["ok"] == all(check["ok"] for check in done.json["checks"])
    assert done.code == (0 if done.json["ok"] else 1)
    return found


def test_nothing_is_wrong_on_a_sound_machine(cli: Any) -> None:
    done = cli("doctor")
    assert done.code == 0, done.out
    assert done.out.endswith("\nNothing is wrong.\n") and "wrong " not in done.out
    assert {"python", "config", "state", "sessions", "rg", "git", "plugins", "guard", "model", "terminal"} <= set(
        checks(cli)
    )


def test_the_sandbox_and_who_wants_it_are_told_of(cli: Any) -> None:
    (sandbox,), (landlock,) = checks(cli)["sandbox"], checks(cli)["landlock"]
    assert sandbox["ok"] and sandbox["text"].endswith("; no rule and no mode that is on wants it")
    assert landlock["ok"] and "Landlock" in landlock["text"] and "only read" in landlock["text"]
    cli.config('[sandbox]\nmode = "off"\n\n[[permission.rules]]\naction = "allow"\nkey = "bash"\nsandbox = true\n')
    (wanted,) = checks(cli)["sandbox"]
    assert not wanted["ok"] and 'it is switched off (mode = "off")' in wanted["text"]
    assert "it is wanted by permission.rules: key bash (" in wanted["text"] and "config.toml:4)" in wanted["text"]
    cli.config('mode = "auto"\n[sandbox]\nmode = "off"\n')
    assert "it is wanted by modes.auto: permission.rules: key bash" in checks(cli)["sandbox"][0]["text"]


@pytest.mark.row("S-022")
def test_an_unknown_set_makes_it_exit_with_one(cli: Any) -> None:
    cli.config('toolSets = ["strangr"]\n')
    (check,) = checks(cli)["sets"]
    assert not check["ok"] and "did you mean stranger?" in check["text"]


@pytest.mark.parametrize("text", ["toolSets = [", "[tools]\ndeny = 5\n", "tool_permission = 3\n"])
def test_broken_settings_are_found_and_the_rest_is_looked_at(cli: Any, text: str) -> None:
    cli.config(text)
    found = checks(cli)
    (check,) = found["config"]
    assert not check["ok"] and "config.toml:" in check["text"]
    assert found["rg"][0]["ok"] and found["plugins"]
    listed = cli("plugins", "--json")
    assert listed.code == 0 and "config.toml:" in listed.err
    assert {"core", "guard", "stranger"} <= {row["name"] for row in listed.json["plugins"]}


def test_a_misspelt_setting_is_found(cli: Any) -> None:
    cli.config("[search]\nmax_hit = 3\n")
    assert any(not check["ok"] and "max_hits" in check["text"] for check in checks(cli)["config.note"])


def test_a_state_folder_that_others_can_read_or_that_is_none_is_found(cli: Any) -> None:
    state = cli.home / ".local" / "state" / "pegboard"
    os.chmod(state, 0o755)
    (check,) = checks(cli)["state"]
    assert not check["ok"] and check["fix"] == f"chmod 700 {state}"
    blocked = cli.root / "file"
    blocked.write_text("", "utf-8")
    (check,) = checks(cli, XDG_STATE_HOME=str(blocked))["state"]
    assert not check["ok"] and "cannot be written" in check["text"]


def test_programs_that_are_missing_are_found(cli: Any, tmp_path: Path) -> None:
    (check,) = checks(cli, PATH=str(tmp_path))["git"]
    assert not check["ok"] and check["fix"] == "install git"


def test_a_model_that_nobody_provides_is_found(cli: Any) -> None:
    (check,) = checks(cli, PEGBOARD_MODEL="nosuch/model")["model"]
    assert not check["ok"] and "'nosuch'" in check["text"] and "offline" in check["fix"]


@pytest.mark.parametrize("named", [True, False], ids=["named", "found"])
def test_a_provider_that_run_would_refuse_is_found(cli: Any, named: bool) -> None:
    table = '[providers.vllm]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nheadrs = { a = "b" }\n'
    cli.config(('model = "vllm/m"\n' if named else "") + table)
    environ = {"PEGBOARD_MODEL": "" if not named else "vllm/m", "VLLM_API_KEY": "k"}
    assert cli("run", "hello", **environ).code == 2
    (check,) = checks(cli, **environ)["model"]
    assert not check["ok"] and "'headrs'; did you mean headers?" in check["text"] and "config.toml:" in check["text"]


def test_a_key_that_is_missing_is_found(cli: Any) -> None:
    (check,) = checks(cli, PEGBOARD_MODEL="openai/gpt-5", OPENAI_API_KEY="")["model"]
    assert not check["ok"] and "OPENAI_API_KEY is not set" in check["text"]
    (check,) = checks(cli, PEGBOARD_MODEL="openai/gpt-5", OPENAI_API_KEY="k")["model"]
    assert check["ok"]


def test_a_plugin_made_for_another_core_is_found(cli: Any, tmp_path: Path) -> None:
    metadata = tmp_path / "site" / "pegboard_stranger-0.7.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text("utf-8") + "Requires-Dist: pegboard-core<2,>=1.0\n", "utf-8")
    (check,) = checks(cli)["version"]
    assert not check["ok"] and "pegboard-core<2,>=1.0" in check["text"]


def test_an_alias_that_two_sets_claim_is_found(cli: Any, tmp_path: Path) -> None:
    for name in ("aaa", "bbb"):
        (tmp_path / "site" / f"stranger_{name}.py").write_text(
            "from pegboard import hookimpl, tool\n\n\n"
            f"@tool(pure=True, aliases=['both'])\ndef {name}(text: str) -> str:\n    'Say.'\n    return text\n\n\n"
            f"@hookimpl\ndef pegboard_tools(settings):\n    return [{name}]\n",
            "utf-8",
        )
        info = tmp_path / "site" / f"stranger_{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: stranger-{name}\nVersion: 1\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[pegboard.toolsets]\n{name} = stranger_{name}\n", "utf-8")
    (check,) = checks(cli)["duplicates"]
    assert "'both' is claimed by 'aaa' and 'bbb'" in check["text"]


def test_a_report_has_no_home_no_root_and_no_secret(cli: Any) -> None:
    secret = "sk-proj-" + "Abc123Def456" * 3
    cli.config(f'model = "{secret}"\n')
    done = cli("doctor", "--report", PEGBOARD_MODEL="", OPENAI_API_KEY=secret)
    assert "toolset stranger (pegboard-stranger 0.7): on" in done.out
    for private in (str(cli.home), str(cli.root), secret):
        assert private not in done.out


def test_plugins_are_listed_for_programs_with_every_key_and_no_stranger_is_imported(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "site" / "pegboard_stranger.py").write_text("open('imported', 'w')\n", "utf-8")
    done = cli("plugins", "--json")
    rows = {(row["kind"], row["name"]): row for row in done.json["plugins"]}
    wanted = "name kind group distribution version object own state reason problem tools hooks import_ms"
    assert all(set(wanted.split()) <= set(row) for row in rows.values())
    assert done.json["api"] == 1 and done.json["python"].startswith("3.")
    assert rows["toolset", "stranger"]["state"] == "new"
    assert (
        rows["rewriter", "doubler"]["state"] == "off" and "plugins.rewriters" in rows["rewriter", "doubler"]["reason"]
    )
    assert rows["command", "hello"]["state"] == "on" and rows["command", "hello"]["import_ms"] is None
    assert rows["toolset", "core"]["own"] and rows["guard", "guard"]["hooks"] == ["pegboard_guards"]
    assert not (cli.root / "imported").exists()
    cli.config('toolSets = []\n[plugins]\ndisable = ["stranger"]\n')
    rows = {(row["kind"], row["name"]): row for row in cli("plugins", "--json").json["plugins"]}
    assert rows["toolset", "stranger"]["state"] == "disabled"


def test_the_list_fits_a_narrow_terminal_and_breaks_no_word(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "site" / "pegboard_stranger.py").write_text(
        "raise ValueError('one two three four five six')\n", "utf-8"
    )
    cli("tools")
    child = cli.terminal("plugins", dimensions=(60, 40), NO_COLOR="1")
    child.expect_exact(pexpect.EOF)
    lines = child.before.splitlines()
    assert lines[0] == "Plugins" and all(len(line) <= 40 for line in lines)
    assert "to mend it: update or uninstall it" in " ".join(" ".join(line.split()) for line in lines)
    words = set(" ".join(lines).split())
    assert {"ValueError:", "three", "plugins.disable;", "--retry`"} <= words


def test_the_list_for_a_person_says_what_is_wrong_below_each(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "site" / "pegboard_stranger.py").write_text("raise ValueError('broken \\x1b[31m')\n", "utf-8")
    cli("tools")
    done = cli("plugins")
    lines = done.out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("stranger "))
    assert " failed " in lines[at] and "ValueError: broken \\x1b[31m" in lines[at + 1]
    assert '"stranger" in plugins.disable' in lines[at + 2] and "\x1b" not in done.out
