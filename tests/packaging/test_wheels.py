"""The wheels as a stranger gets them: built, installed from a folder into empty environments, and run.

Nothing is downloaded: dependencies come from uv's cache, which `make setup` has filled with these very versions.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
TOOL_SETS, PLUGINS = (
    [path.parent for path in sorted(ROOT.glob(f"{kind}/*/pyproject.toml"))] for kind in ("toolsets", "plugins")
)
MEMBERS = [ROOT / "core", *TOOL_SETS, *PLUGINS]
TOGETHER = {"pegboard-core", "pegboard-cli", "pegboard-tools-core", "pegboard-guard", "pegboard-offline"}


def name_of(folder: Path) -> str:
    name: str = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    return name


def module_of(distribution: str) -> str:
    return "pegboard" if distribution == "pegboard-core" else distribution.replace("-", "_")


def uv(*arguments: str | Path) -> None:
    """Run uv without the network. A cache that lacks something is a failure in CI and a skip elsewhere."""
    program = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    if program is None:
        pytest.skip("uv is missing; `make setup` brings it")
    done = subprocess.run([program, "--offline", "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0 and "network was disabled" in done.stderr and not os.environ.get("CI"):
        pytest.skip(f"uv's cache lacks something; `make distclean setup` fills it: {done.stderr}")
    assert done.returncode == 0, done.stderr


def run(venv: Path, program: str, *arguments: str) -> str:
    """What a program of the environment prints, started far from the checkout."""
    command = [venv / "bin" / program, *arguments]
    done = subprocess.run(command, cwd=venv.parent, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel of every distribution, by name."""
    out = tmp_path_factory.mktemp("dist")
    uv("build", "--all-packages", "--wheel", "--build-constraint", CONSTRAINTS, "--out-dir", out)
    return {path.name.partition("-")[0].replace("_", "-"): path for path in out.glob("*.whl")}


def environment(folder: Path, wheels: Sequence[Path]) -> Path:
    """A fresh environment with these wheels and what they ask for, nothing else."""
    uv("venv", folder)
    uv("pip", "install", "--python", folder, "--constraint", CONSTRAINTS, *wheels)
    return folder


@pytest.fixture(scope="session")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with every wheel, as `pip install dist/*.whl` makes it."""
    return environment(tmp_path_factory.mktemp("installed") / "venv", list(wheels.values()))


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(inside).decode("utf-8"))


def requirements(wheel: Path) -> dict[str, str]:
    """What a wheel asks for without extras: name to version range."""
    asked = [line for line in metadata(wheel).get_all("Requires-Dist") or [] if "extra ==" not in line]
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)\s*([^;]*)(?:;.*)?", line) for line in asked]
    return {match[1]: match[2].strip() for match in found if match}


def test_every_folder_builds_a_wheel(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {"pegboard", *map(name_of, MEMBERS)}


@pytest.mark.parametrize("folder", MEMBERS, ids=name_of)
def test_a_wheel_carries_its_package_types_and_licence(wheels: dict[str, Path], folder: Path) -> None:
    name = name_of(folder)
    with ZipFile(wheels[name]) as archive:
        names = archive.namelist()
        licence = next(inside for inside in names if inside.endswith(".dist-info/licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert f"{module_of(name)}/__init__.py" in names
    assert f"{module_of(name)}/py.typed" in names
    assert {inside.partition("/")[0] for inside in names if ".dist-info/" not in inside} == {module_of(name)}
    about = metadata(wheels[name])
    assert (about["License-Expression"], about["Requires-Python"]) == ("Apache-2.0", ">=3.11")
    assert len(str(about.get_payload())) > 50, "the readme is missing"


@pytest.mark.parametrize("folder", TOOL_SETS, ids=name_of)
def test_a_tool_set_depends_on_the_core_only_of_ours(wheels: dict[str, Path], folder: Path) -> None:
    ours = {name for name in requirements(wheels[name_of(folder)]) if name.startswith("pegboard")}
    assert ours == {"pegboard-core"}


def test_the_core_tool_set_depends_on_nothing_but_the_core(wheels: dict[str, Path]) -> None:
    assert set(requirements(wheels["pegboard-tools-core"])) == {"pegboard-core"}


@pytest.mark.parametrize("folder", PLUGINS, ids=name_of)
def test_a_plugin_depends_on_the_core_and_on_no_other_plugin(wheels: dict[str, Path], folder: Path) -> None:
    ours = {name for name in requirements(wheels[name_of(folder)]) if name.startswith("pegboard")}
    assert ours == {"pegboard-core"}


def test_the_core_depends_on_nothing_of_ours(wheels: dict[str, Path]) -> None:
    assert not [name for name in requirements(wheels["pegboard-core"]) if name.startswith("pegboard")]


def test_the_distribution_people_install_holds_no_code_and_brings_what_belongs_together(
    wheels: dict[str, Path],
) -> None:
    with ZipFile(wheels["pegboard"]) as archive:
        assert all(".dist-info/" in name for name in archive.namelist())
    assert set(requirements(wheels["pegboard"])) == TOGETHER


@pytest.mark.parametrize("name", sorted(set(map(name_of, MEMBERS))))
def test_a_wheel_works_alone(wheels: dict[str, Path], tmp_path: Path, name: str) -> None:
    """With the core and what it asks for itself, every module imports: no sibling, and none of our tools, is missed."""
    alone = environment(tmp_path / "venv", list({wheels[name], wheels["pegboard-core"]}))
    walk = (
        "import importlib, pkgutil, sys\n"
        f"package = importlib.import_module({module_of(name)!r})\n"
        "for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    if not module.name.startswith('pegboard.testing') and not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    run(alone, "python", "-c", walk)


def test_the_installed_command_says_its_version(installed: Path, wheels: dict[str, Path]) -> None:
    assert metadata(wheels["pegboard-cli"])["Version"] in run(installed, "pegboard", "--version")


def test_the_installed_command_lists_the_core_tools(installed: Path) -> None:
    listed = json.loads(run(installed, "pegboard", "tools", "--json"))
    core = {tool["name"] for tool in listed["tools"] if tool["set"] == "core"}
    assert {"read_file", "write_file", "edit_file", "glob", "grep", "bash"} <= core


def test_the_installed_command_runs_a_tool(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello from a wheel\n", encoding="utf-8")
    answer = json.loads(run(installed, "pegboard", "tool", "read_file", "path=a.txt", f"--path={tmp_path}", "--json"))
    assert (answer["outcome"], answer["set"]) == ("ok", "core")
    assert "hello from a wheel" in answer["text"]
