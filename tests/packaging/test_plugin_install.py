"""`pegboard plugin install` and `uninstall` in a real environment, with uv, and with pip where it can be imported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pexpect
import pytest
from stranger_wheels import make_wheel, said

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]
Environment = Callable[[Path, Sequence[Path | str]], Path]


class Place:
    """An environment, and a folder to be in."""

    def __init__(self, venv: Path, home: Path, root: Path, path: str, pip: Path | None = None) -> None:
        """`pip`: a folder with pip in it; without one uv installs."""
        self.venv, self.root, self.lock = venv, root, venv / "pegboard-lock.json"
        # Without bytecode each start compiles all that was installed.
        dropped = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        self.environ = {k: v for k, v in os.environ.items() if k not in dropped} | {
            "HOME": str(home),
            "PATH": path,
            "UV_OFFLINE": "1",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "TERM": "dumb",
        }
        self.environ |= {"PYTHONPATH": str(pip)} if pip else {}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.venv / "bin" / "pegboard", *words]
        return subprocess.run(command, cwd=self.root, env=self.environ, capture_output=True, text=True, timeout=110)

    def document(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What a command with `--json` prints, and nothing else."""
        done = self(*words, "--json")
        assert done.returncode == code, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def at_a_terminal(self, *words: str) -> pexpect.spawn[str]:
        command = str(self.venv / "bin" / "pegboard")
        spawn: pexpect.spawn[str] = pexpect.spawn(
            command, [*words], cwd=str(self.root), env=self.environ, encoding="utf-8", timeout=60, dimensions=(40, 200)
        )
        return spawn


@pytest.fixture(scope="module")
def venv(wheels: dict[str, Path], environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("installing") / "venv", [*wheels.values()])


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this run's pip and nothing else: one environment then has it or has it not."""
    import pip

    folder = tmp_path_factory.mktemp("pip")
    (folder / "pip").symlink_to(Path(pip.__file__).parent)
    return folder


@pytest.fixture
def path() -> str:
    program = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    if program is None:
        pytest.skip("uv is missing; `make setup` brings it")
    return os.pathsep.join([str(Path(program).parent), os.defpath])


@pytest.fixture
def place(venv: Path, tmp_path: Path, home: Path, path: str) -> Place:
    """With uv, as it has no pip."""
    root = tmp_path / "root"
    root.mkdir()
    return Place(venv, home, root, path)


@pytest.fixture
def with_pip(place: Place, pip: Path, home: Path) -> Place:
    return Place(place.venv, home, place.root, os.defpath, pip)


def test_nothing_is_installed_before_a_yes_and_then_just_what_was_shown(place: Place, tmp_path: Path) -> None:
    wheel = str(make_wheel(tmp_path, tools=[said("shout")]))
    done = place("plugin", "install", wheel)
    assert done.returncode == 2 and "nobody is there to ask, so nothing was installed" in done.stderr
    assert "shout (read_only; touches nothing; 100 bytes a request)" in done.stdout and "running" not in done.stdout

    child = place.at_a_terminal("plugin", "install", wheel)
    child.expect_exact("Install? [y/N] ")
    child.sendline("")
    child.expect_exact("nothing was installed")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2 and not place.lock.exists()

    place.environ["TMPDIR"] = str(tmp_path)
    child = place.at_a_terminal("plugin", "install", wheel)
    child.expect_exact("Install? [y/N] ")
    [waiting] = tmp_path.glob("pegboard-install-*/*.whl")
    make_wheel(waiting.parent, module="import os\nos._exit(3)\n")
    child.sendline("y")
    child.expect_exact("was changed while you were asked; nothing was installed")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1 and not place.lock.exists()

    child = place.at_a_terminal("plugin", "install", wheel)
    child.expect_exact("Install? [y/N] ")
    child.sendline("y")
    child.expect_exact("toolset loud (stranger-loud 0.1) is on: shout")
    child.expect_exact('to switch it off: put "loud" in plugins.disable')
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and place("tool", "shout", "text=x").stdout == "X\n"

    [row] = json.loads(place.lock.read_text())["plugins"]
    assert (row["version"], row["source"], row["by"]) == ("0.1", wheel, "uv")

    newer = make_wheel(tmp_path, version="0.2", tools=[said("shout"), said("scream", "net")])
    report = place.document("plugin", "install", str(newer), "--dry-run")
    assert report["installed"] is False and report["review"]["news"] == ["+ tool loud:scream (read_only; net)"]

    module = next(place.venv.glob("lib/*/site-packages/stranger_loud/__init__.py"))
    text = module.read_text()
    module.write_text(text + "# changed\n")
    checks = [check for check in place.document("doctor", code=1)["checks"] if check["id"] == "lock"]
    assert [
        (c["ok"], "stranger_loud/__init__.py" in c["text"], "uninstall stranger-loud" in c["fix"]) for c in checks
    ] == [(False, True, True)]
    module.write_text("import os\nos._exit(3)\n")
    listed = {row["name"]: row["lock"] for row in place.document("plugin", "list")["plugins"]}
    assert (listed["loud"], listed["guard"]) == ("changed", "ours")

    done = place("plugin", "uninstall", "Stranger_Loud")  # which cannot be imported
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "stranger-loud is gone, and with it: toolsets loud"
    assert json.loads(place.lock.read_text())["plugins"] == []


def test_pip_installs_upgrades_and_uninstalls_and_programs_are_told_in_one_document(
    with_pip: Place, tmp_path: Path
) -> None:
    first = make_wheel(tmp_path, tools=[said("shout", "read")])
    report = with_pip.document("plugin", "install", str(first), "--yes")
    assert (
        report["installed"]
        and report["environment"] == "pip"
        and report["commands"][0][1:5]
        == [
            *("-P", "-m", "pip", "install"),
        ]
    )
    assert [(row["name"], row["state"], row["tools"]) for row in report["plugins"]] == [("loud", "on", ["shout"])]
    groups = {"pegboard.toolsets": {"loud": "stranger_loud"}, "pegboard.approvers": {"nod": "stranger_nod"}}
    nod = "from pegboard import hookimpl\n@hookimpl\ndef pegboard_approvers(settings):\n    return []\n"
    wheel = make_wheel(tmp_path, version="0.2", groups=groups, files={"stranger_nod.py": nod})
    done = with_pip("plugin", "install", str(wheel), "--yes")
    assert done.returncode == 0, done.stderr
    assert "New since 0.1:" in done.stdout and "  + approver nod" in done.stdout
    assert done.stdout.endswith(
        'to switch approver nod on, write into your own file:\n[plugins]\napprovers = ["nod"]\n'
    )
    # A dependency by its address: pip would build it for an answer to what would come.
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", "utf-8")
    backend = '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
    (tmp_path / "pyproject.toml").write_text(backend, "utf-8")
    newer = make_wheel(tmp_path, version="0.3", requires=[f"built @ {tmp_path.as_uri()}"])
    report = with_pip.document("plugin", "install", str(newer), "--dry-run")
    assert "is an address" in report["coming"]["unknown"] and not (tmp_path / "ran").exists()
    # The same of a dependency's: only pip gets to know of it.
    (links := tmp_path / "links").mkdir()
    make_wheel(links, "middle", requires=[f"built @ {tmp_path.as_uri()}"])
    make_wheel(links, "clean")
    with_pip.environ["PIP_FIND_LINKS"] = str(links)
    newer = make_wheel(tmp_path, version="0.3", requires=["stranger-middle", "stranger-clean"])
    report = with_pip.document("plugin", "install", str(newer), "--dry-run")
    assert "once you agree" in report["coming"]["unknown"] and tmp_path.name in report["coming"]["unknown"]
    assert not (tmp_path / "ran").exists()
    newer = make_wheel(tmp_path, version="0.3", requires=["stranger-clean"])
    report = with_pip.document("plugin", "install", str(newer), "--dry-run")
    assert report["coming"] == {"changes": ["+ stranger-clean 0.1"], "pins": ["stranger-clean==0.1"], "unknown": None}
    report = with_pip.document("plugin", "uninstall", "stranger-loud")
    assert report["uninstalled"] and report["plugins"] == ["approvers nod", "toolsets loud"]


def test_a_broken_plugin_says_so_when_it_comes_and_can_be_removed(place: Place, tmp_path: Path) -> None:
    broken = make_wheel(tmp_path, "broken", module="import os\nos._exit(0)\n")
    done = place("plugin", "install", "--yes", str(broken))
    assert done.returncode == 1
    assert "toolset broken (stranger-broken 0.1) is failed" in done.stdout and "ended the process" in done.stdout
    [entry] = place.document("plugin", "info", "broken")["entries"]
    assert entry["said_by"] is None and "ended the process" in entry["problem"]
    place.lock.write_text("{")  # which cannot be read, and holds up nobody who wants to be rid of a plugin
    done = place("plugin", "uninstall", "stranger-broken")
    assert done.returncode == 0 and "stranger-broken is uninstalled, and the lock is as it was" in done.stderr
    place.lock.unlink()
    assert "broken" not in place("plugins").stdout


def test_an_installer_that_fails_is_reported_and_nothing_is_claimed(place: Place, tmp_path: Path) -> None:
    wanting = make_wheel(tmp_path, "wanting", requires=["stranger-that-is-nowhere"])
    done = place("plugin", "install", "--yes", str(wanting))
    assert done.returncode == 1 and "it ended with exit" in done.stderr
    assert "could not be found out" in done.stdout and "is on" not in done.stdout
    assert "wanting" not in (place.lock.read_text() if place.lock.exists() else "")


def test_a_folder_and_a_repository_are_built_only_after_a_yes(place: Place, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "examples" / "word-count", tmp_path / "words", ignore=shutil.ignore_patterns(".*"))
    done = place("plugin", "install", str(folder))
    assert done.returncode == 2 and "has to be built before it can be shown, which runs code of it" in done.stdout
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    report = place.document("plugin", "install", f"git+{folder.as_uri()}", "--yes")
    assert report["review"]["distribution"] == "pegboard-words" and report["installed"]

    done = place("plugin", "install", "--editable", str(folder), "--yes")
    assert done.returncode == 0, done.stderr
    (place.root / "a.txt").write_text("one two three", "utf-8")
    assert place("tool", "word_count", "path=a.txt").stdout == "3\n"
    module = folder / "src" / "pegboard_words" / "__init__.py"
    text = module.read_text("utf-8")
    module.write_text("raise RuntimeError('edited')\n" + text, "utf-8")
    assert "edited" in place("tools").stderr
    module.write_text(text, "utf-8")
    info = place.document("plugin", "info", "words")
    assert (info["lock"], info["source"]) == ("editable", str(folder))
    assert info["entries"][0]["said"]["tools"][0]["touches"] == ["read"] and info["entries"][0]["said_by"] == "look"
    assert place("plugin", "uninstall", "pegboard-words").returncode == 0


def test_without_any_installer_it_says_what_would_help(venv: Path, tmp_path: Path, home: Path) -> None:
    done = Place(venv, home, tmp_path, str(tmp_path))("plugin", "install", "anything")
    assert done.returncode == 1 and "neither pip" in done.stderr and "nothing was run" in done.stderr
    assert f"`{venv / 'bin' / 'python'} -m ensurepip` brings pip" in done.stderr
    assert sys.executable not in done.stderr
