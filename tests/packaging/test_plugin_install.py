"""`pegboard plugin install` and `uninstall` in real environments: one with pip, one that uv made without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]
Environment = Callable[[Path, Sequence[Path | str]], Path]
WELL = '''
from pegboard import hookimpl, tool

@tool(pure=True)
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()

@hookimpl
def pegboard_tools(settings):
    return [shout]
'''


def make_wheel(folder: Path, name: str, module: str) -> Path:
    """A wheel `stranger-NAME` of one module and one entry, made by hand."""
    wheel = folder / f"stranger_{name}-0.1-py3-none-any.whl"
    info = f"stranger_{name}-0.1.dist-info"
    with ZipFile(wheel, "w") as archive:
        archive.writestr(f"stranger_{name}.py", module)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: stranger-{name}\nVersion: 0.1\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", f"[pegboard.toolsets]\n{name} = stranger_{name}\n")
        archive.writestr(f"{info}/RECORD", "".join(f"{n},,\n" for n in [*archive.namelist(), f"{info}/RECORD"]))
    return wheel


class Place:
    """An environment, and a folder to be in."""

    def __init__(self, venv: Path, home: Path, root: Path, path: str) -> None:
        self.venv, self.root = venv, root
        dropped = (
            "PYTHONPATH",
            "PYTHONDONTWRITEBYTECODE",
        )  # without bytecode each start compiles all that was installed
        self.environ = {k: v for k, v in os.environ.items() if k not in dropped} | {
            "HOME": str(home),
            "PATH": path,
            "UV_OFFLINE": "1",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.venv / "bin" / "pegboard", *words]
        return subprocess.run(command, cwd=self.root, env=self.environ, capture_output=True, text=True, timeout=110)


@pytest.fixture(scope="module", params=["pip", "uv"])
def venv(
    request: pytest.FixtureRequest,
    wheels: dict[str, Path],
    environment: Environment,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Path]:
    pip = ["pip"] if request.param == "pip" else []
    made = environment(tmp_path_factory.mktemp("installing") / "venv", [*wheels.values(), *pip])
    return request.param, made


@pytest.fixture
def place(venv: tuple[str, Path], tmp_path: Path, home: Path) -> Place:
    root = tmp_path / "root"
    root.mkdir()
    uv = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    path = os.pathsep.join([str(Path(uv).parent), os.defpath]) if venv[0] == "uv" and uv else os.defpath
    return Place(venv[1], home, root, path)


def test_a_wheel_is_installed_looked_at_used_and_gone_again(place: Place, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "loud", WELL)
    done = place("plugin", "install", str(wheel))
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("running: ") and first.endswith(f" {wheel}") and "install" in first
    assert "toolset loud (stranger-loud 0.1) is on: shout" in done.stdout
    assert last == '  to switch it off: put "loud" in plugins.disable'
    assert place("tool", "shout", "text=x").stdout == "X\n"
    done = place("plugin", "uninstall", "Stranger_Loud")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "stranger-loud is gone, and with it: toolsets loud"
    assert "shout" not in place("tools").stdout


def test_a_broken_plugin_says_so_when_it_comes_and_can_be_removed(place: Place, tmp_path: Path) -> None:
    done = place("plugin", "install", str(make_wheel(tmp_path, "broken", "import os\nos._exit(0)\n")))
    assert done.returncode == 1
    assert "toolset broken (stranger-broken 0.1) is failed" in done.stdout and "ended the process" in done.stdout
    assert place("tools", "--json").returncode == 0
    assert place("plugin", "uninstall", "stranger-broken").returncode == 0
    assert "broken" not in place("plugins").stdout


def test_an_installer_that_fails_is_reported_and_nothing_is_claimed(place: Place, tmp_path: Path) -> None:
    bad = tmp_path / "bad-0.1-py3-none-any.whl"
    bad.write_text("no archive", "utf-8")
    done = place("plugin", "install", str(bad))
    assert done.returncode == 1 and "it ended with exit" in done.stderr
    assert "to switch it off" not in done.stdout and "installed" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("name", ["pegboard-core", "Pegboard_Guard", "nosuch", "typer"])
def test_what_is_ours_or_no_plugin_is_not_uninstalled(place: Place, name: str) -> None:
    done = place("plugin", "uninstall", name)
    assert done.returncode == 1 and done.stdout == "" and "nothing was run" in done.stderr
    assert place("plugins").returncode == 0


def test_a_folder_is_installed_editable_and_its_edits_count(
    place: Place, venv: tuple[str, Path], tmp_path: Path
) -> None:
    if venv[0] == "pip":
        pytest.skip("building a folder needs a build backend, which pip would fetch")
    folder = shutil.copytree(ROOT / "examples" / "word-count", tmp_path / "words")
    (place.root / "a.txt").write_text("one two three", "utf-8")
    done = place("plugin", "install", "--editable", str(folder))
    assert done.returncode == 0, done.stderr
    assert "toolset words (pegboard-words" in done.stdout
    assert place("tool", "word_count", "path=a.txt").stdout == "3\n"
    module = folder / "src" / "pegboard_words" / "__init__.py"
    text = module.read_text("utf-8")
    module.write_text("raise RuntimeError('edited')\n" + text, "utf-8")
    assert "edited" in place("tools").stderr
    module.write_text(text, "utf-8")
    assert "word_count" in place("tools").stdout
    assert place("plugin", "uninstall", "pegboard-words").returncode == 0


def test_without_any_installer_it_says_what_would_help(venv: tuple[str, Path], tmp_path: Path, home: Path) -> None:
    if venv[0] == "pip":
        pytest.skip("pip is there")
    done = Place(venv[1], home, tmp_path, str(tmp_path))("plugin", "install", "anything")
    assert done.returncode == 1 and "neither pip" in done.stderr and "nothing was run" in done.stderr
    assert f"`{venv[1] / 'bin' / 'python'} -m ensurepip` brings pip" in done.stderr
    assert sys.executable not in done.stderr
