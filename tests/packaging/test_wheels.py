"""The wheels as a stranger gets them: built, installed from a folder into empty environments, and run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]
TOOL_SETS, PLUGINS = (
    [path.parent for path in sorted(ROOT.glob(f"{kind}/*/pyproject.toml"))] for kind in ("toolsets", "plugins")
)
MEMBERS = [ROOT / "core", *TOOL_SETS, *PLUGINS]
Run = Callable[..., str]
Environment = Callable[[Path, Sequence[Path | str]], Path]
TOGETHER = {
    "pegboard-core",
    "pegboard-cli",
    "pegboard-tools-core",
    "pegboard-guard",
    "pegboard-offline",
    "pegboard-openai",
}


def name_of(folder: Path) -> str:
    name: str = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    return name


def module_of(distribution: str) -> str:
    return "pegboard" if distribution == "pegboard-core" else distribution.replace("-", "_")


@pytest.fixture(scope="session")
def installed(wheels: dict[str, Path], environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def test_a_wheel_works_alone(
    wheels: dict[str, Path], environment: Environment, run: Run, tmp_path: Path, name: str
) -> None:
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


def test_the_installed_command_says_its_version(installed: Path, run: Run, wheels: dict[str, Path]) -> None:
    assert metadata(wheels["pegboard-cli"])["Version"] in run(installed, "pegboard", "--version")


def test_the_installed_command_lists_the_core_tools(installed: Path, run: Run) -> None:
    listed = json.loads(run(installed, "pegboard", "tools", "--json"))
    core = {tool["name"] for tool in listed["tools"] if tool["set"] == "core"}
    assert {"read_file", "write_file", "edit_file", "glob", "grep", "bash"} <= core


def test_the_installed_command_runs_a_tool(installed: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello from a wheel\n", encoding="utf-8")
    answer = json.loads(run(installed, "pegboard", "tool", "read_file", "path=a.txt", f"--path={tmp_path}", "--json"))
    assert (answer["outcome"], answer["set"]) == ("ok", "core")
    assert "hello from a wheel" in answer["text"]
