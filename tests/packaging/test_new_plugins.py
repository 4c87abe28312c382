"""A plugin of each kind as `pegboard plugin new` writes it, untouched: built, installed beside Pegboard, tested, used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pexpect
import pytest
from pegboard.manifest import decoded
from pegboard_cli.scaffold.naming import KINDS
from pegboard_cli.scaffold.writing import COMMON, TEMPLATES, template_files

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Cli:
    """Its `pegboard`, in a workspace and with settings of a test's own."""

    venv: Path
    root: Path
    home: Path
    state: Path

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        path = os.pathsep.join([str(ROOT / ".tools" / "bin"), kept["PATH"]])  # uv installs plugins
        return kept | {"XDG_STATE_HOME": str(self.state), "PATH": path, "UV_OFFLINE": "1"}

    def settings(self, text: str) -> None:
        file = self.home / ".config" / "pegboard" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.venv / "bin" / "pegboard", *words]
        return subprocess.run(command, cwd=self.root, env=self.environ, capture_output=True, text=True, timeout=60)

    def record(self, *words: str) -> Any:
        return json.loads(self("tool", *words, "--json").stdout)


@pytest.fixture
def cli(strangers: Any, tmp_path: Path, home: Path) -> Cli:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "page.md").write_text("# One\n\nTODO: more\n\n## Two\n", "utf-8")
    (root / "a.py").write_text("# TODO\n", "utf-8")
    return Cli(strangers.venv, root, home, strangers.state)


def test_the_wheel_brings_every_template_and_nothing_else(wheels: dict[str, Path]) -> None:
    """Their names begin with a dot or not, and what linters leave beside them stays at home."""
    prefix = "pegboard_cli/scaffold/templates/"
    with ZipFile(wheels["pegboard-cli"]) as wheel:
        packed = {name.removeprefix(prefix) for name in wheel.namelist() if name.startswith(prefix)}
    assert packed == {
        path.relative_to(TEMPLATES).as_posix() for kind in (COMMON, *KINDS) for path in template_files(kind)
    }


def test_their_own_tests_pass_unedited_against_what_is_installed(strangers: Any, run: Callable[..., str]) -> None:
    """All in one process: here it is what was installed that is imported, and not the folders' source."""
    tests = [str(folder / "tests") for folder in strangers.folders.values()]
    printed = run(strangers.venv, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert " passed" in printed and "skipped" not in printed and "warning" not in printed
    modules = ", ".join(f"pegboard_my_{kind}" for kind in KINDS)
    files = run(strangers.venv, "python", "-c", f"import {modules}; print([m.__file__ for m in ({modules})])")
    assert files.count(str(strangers.venv)) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_check_has_nothing_against_a_new_one(strangers: Any, kind: str) -> None:
    report = strangers.reports[kind]
    assert [f"{one.status} {one.id} {one.subject}: {one.text}" for one in report.checks if one.status != "pass"] == []
    assert "manifest.fresh" in {one.id for one in report.checks}


def test_what_was_written_travels_in_its_wheel_and_is_what_install_shows(strangers: Any, cli: Cli) -> None:
    for kind in KINDS:
        with ZipFile(next(strangers.built.glob(f"pegboard_my_{kind}-*.whl"))) as wheel:
            written = decoded(wheel.read(f"pegboard_my_{kind}/pegboard.json"))
        assert written.entry(f"pegboard.{kind}s", f"my-{kind}") is not None
    wheel = next(strangers.built.glob("pegboard_my_toolset-*.whl"))
    review = json.loads(cli("plugin", "install", str(wheel), "--dry-run", "--json").stdout)["review"]
    assert review["manifest"] == "fresh"
    assert "my_toolset_outline" in {tool["name"] for tool in review["entries"][0]["tools"]}


def test_what_its_ci_runs_passes_as_it_is_written(strangers: Any, tmp_path: Path) -> None:
    """Of one kind: linter and types of each are looked at in tests/plugins/cli/test_scaffold.py."""
    environ = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # what else is installed here
        "PYTEST_ADDOPTS": "-p pegboard.testing.fixtures -p no:cacheprovider",
    }
    command = [strangers.folders["guard"] / ".ci" / "run"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 passed" in done.stdout and re.search(r"^pegboard-my-guard 0\.1\.0: \d+ passed$", done.stdout, re.M)


def test_all_of_them_are_found_and_nothing_is_wrong(cli: Cli) -> None:
    cli("tools")  # met, so that nothing is new
    listed = json.loads(cli("plugins", "--json").stdout)["plugins"]
    found = {row["kind"]: (row["state"], row["problem"]) for row in listed if row["name"].startswith("my-")}
    assert found == {kind: ("off" if kind == "approver" else "on", None) for kind in KINDS}


def test_a_tool_of_the_set_runs_and_nobody_is_asked(cli: Cli) -> None:
    record = cli.record("my_toolset_outline", "path=page.md")
    assert (record["outcome"], record["text"], record["set"]) == ("ok", "1: # One\n5: ## Two", "my-toolset")
    assert record["decision"]["action"] == "allow"


def test_the_guard_refuses_a_call_of_anybodys_tool(cli: Cli) -> None:
    record = cli.record("write_file", "path=uv.lock", "content=x", "--yes")
    assert (record["outcome"], record["block"]) == ("blocked", "guard")
    assert record["decision"]["rule"] == "my-guard.protected: *.lock"
    assert not (cli.root / "uv.lock").exists()


def test_the_approver_answers_once_the_persons_own_file_names_it(cli: Cli) -> None:
    record = cli.record("write_file", "path=new.md", "content=x")
    assert (record["outcome"], record["decision"]["answer"]["by"]) == ("blocked", "headless")
    cli.settings('[plugins]\napprovers = ["my-approver"]\n')
    record = cli.record("write_file", "path=new.md", "content=x")
    assert (record["outcome"], record["decision"]["answer"]["by"]) == ("ok", "plugin:my-approver")
    assert (cli.root / "new.md").read_text("utf-8") == "x"


def test_the_renderer_draws_what_another_package_returns(cli: Cli) -> None:
    command = f"{cli.venv / 'bin' / 'pegboard'} tool grep pattern=TODO"
    environ = {**cli.environ, "TERM": "xterm", "NO_COLOR": "1"}
    drawn = pexpect.run(command, cwd=str(cli.root), env=environ, encoding="utf-8", timeout=60)
    lines = [line.split() for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", drawn).splitlines()]
    assert ["file", "line", "text"] in lines
    assert ["page.md", "3", "TODO:", "more"] in lines


def test_the_provider_answers_makes_calls_and_reads_its_table(cli: Cli) -> None:
    cli.settings('[providers.my-provider]\ngreeting = "Good morning."\n')
    assert cli("run", "hello", "--model", "my-provider").stdout.startswith("Good morning. Tools: ")
    done = cli("run", "my_toolset_outline path=page.md", "--model", "my-provider/plain")
    assert done.stdout.splitlines()[-2:] == ["1: # One", "5: ## Two"]


def test_the_launcher_runs_programs_its_way_once_settings_name_it(cli: Cli) -> None:
    command = 'command=nice; echo "[$MY_TOKEN]"; echo $CI'
    cli.settings('launcher = "my-launcher"\n[my-launcher]\nmode = "require"\nset = { MY_TOKEN = "x", CI = "yes" }\n')
    nice, token, ci = cli.record("bash", command, "--yes")["data"]["stdout"].split()
    assert int(nice) >= 10 and token == "[x]" and ci == "yes"


def test_the_command_is_a_command_of_pegboard(cli: Cli) -> None:
    assert json.loads(cli("my-command", "--json").stdout) == {"files": {"a.py": 1, "page.md": 1}, "lines": 2}
