"""What `pegboard plugin new` writes, before anything of it is installed (tests/packaging does that)."""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pegboard.entries import Entry, Survey
from pegboard.hooks import GROUPS
from pegboard_cli.scaffold import writing
from pegboard_cli.scaffold.naming import KINDS, LONGEST, BadName, checked, names_of
from pegboard_cli.scaffold.writing import COMMON, TEMPLATES, CannotWrite, Exists, rendered, write

ROOT = Path(__file__).resolve().parents[3]
OURS = Survey(
    entries=[
        Entry(
            name="git-write",
            group="pegboard.toolsets",
            value="x",
            distribution="pegboard-tools-git",
            version="0.1.0",
            own=True,
        ),
        Entry(name="words", group="pegboard.toolsets", value="y", distribution="words", version="1", own=False),
    ],
    ours=frozenset({"pegboard", "pegboard-core", "pegboard-guard", "pegboard-tools-git", "pegboard-tools-edit-plus"}),
    copies=[],
)
Written = Callable[[str], dict[str, Path]]


def project(kind: str) -> dict[str, Any]:
    return tomllib.loads((TEMPLATES / kind / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A folder of each kind, all with names that end alike."""

    def made(ending: str) -> dict[str, Path]:
        top = tmp_path_factory.mktemp("new")
        folders = {}
        for number, kind in enumerate(KINDS):
            folders[kind] = top / kind
            write(folders[kind], kind, names_of(f"{'abcdefg'[number]}{ending}"))
        return folders

    return made


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["todos", "a", "x2", "my-own-tools", "class", "json", "test", "words", "a" * LONGEST])
def test_a_name_of_letters_digits_and_single_hyphens_is_taken(name: str) -> None:
    names = checked(name, "toolset", OURS)
    assert (names.distribution, names.module) == (f"pegboard-{name}", f"pegboard_{name.replace('-', '_')}")


@pytest.mark.parametrize(
    "name", ["", "Todos", "2x", "-x", "x-", "a--b", "a_b", "a.b", "../x", "a/b", "a b", "ä", "x\n"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="is no name for a plugin"):
        checked(name, "toolset", OURS)


@pytest.mark.parametrize("near", ["My_Tools", "Pegboard-my-tools", "my--tools-"])
def test_a_name_that_would_do_is_offered(near: str) -> None:
    with pytest.raises(BadName, match=r"how about my-tools\?"):
        checked(near, "toolset", OURS)


@pytest.mark.parametrize("name", ["tools", "ui", "hooks", "model", "mode", "launcher"])
def test_a_setting_of_the_cores_own_is_no_name(name: str) -> None:
    with pytest.raises(BadName, match="is a setting of Pegboard's own"):
        checked(name, "guard", OURS)


@pytest.mark.parametrize("name", ["pegboard", "core", "cli", "guard", "git-write", "git", "tools-git", "edit-plus"])
def test_a_part_of_pegboard_is_no_name_installed_or_not(name: str) -> None:
    with pytest.raises(BadName, match="is the name of a part of Pegboard"):
        checked(name, "renderer", OURS)


def test_some_names_are_taken_for_one_kind_alone() -> None:
    for kind, name in (("command", "run"), ("provider", "local")):
        with pytest.raises(BadName, match="choose another"):
            checked(name, kind, OURS)
        assert checked(name, "guard", OURS).name == name


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(BadName, match="too long"):
        checked("a" * (LONGEST + 1), "toolset", OURS)


# --- templates --------------------------------------------------------------------------------------------------------


def test_there_are_templates_of_each_kind_and_no_others() -> None:
    assert {path.name for path in TEMPLATES.iterdir()} == {COMMON, *KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_templates_name_is_replaced_everywhere(kind: str) -> None:
    for place, (body, _) in rendered(kind, names_of("my-todos")).items():
        assert not re.search(r"sample.?plugin", place + body.decode(), re.IGNORECASE), place
    for place, (body, _) in rendered(kind, writing.SAMPLE).items():  # in no third spelling
        for found in re.findall(r"sample.{0,2}plugin|sampleplugin", place + body.decode(), re.IGNORECASE):
            assert found in ("sample-plugin", "sample_plugin"), place


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_of_each_kind_has_what_an_author_needs(kind: str) -> None:
    files = rendered(kind, names_of("my-todos"))
    module = "src/pegboard_my_todos"
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", ".ci/run"}
    wanted |= {".github/workflows/check.yml", f"{module}/__init__.py", f"{module}/py.typed"}
    assert wanted <= files.keys()
    assert [name for name in files if name.startswith("tests/test_")]
    assert files["LICENSE"][0] == (ROOT / "LICENSE").read_bytes()
    assert [name for name, (_, runs) in files.items() if runs] == [".ci/run"]


def test_packages_differ_by_what_they_are_and_nothing_else() -> None:
    """A change of one pyproject.toml is a change of all."""
    first, *others = (project(kind) for kind in KINDS)
    for other in others:
        for table in (first, other):
            for key in ("description", "entry-points", "dependencies"):
                table["project"].pop(key, None)
            table["tool"].pop("pegboard", None)  # what the check is helped with
        assert other == first
    readmes = {kind: (TEMPLATES / kind / "README.md").read_text("utf-8") for kind in KINDS}
    assert len({text[text.index("## Work on it") :] for text in readmes.values()}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_a_plugin_says_what_is_true(kind: str) -> None:
    """Its links lead to files, and its settings are settings."""
    page = (TEMPLATES / kind / "README.md").read_text("utf-8")
    assert set(re.findall(r"\]\(([^)]+)\)", page)) <= rendered(kind, writing.SAMPLE).keys()
    blocks = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]
    place = next((TEMPLATES / kind / "src").rglob("__init__.py"))
    spec = importlib.util.spec_from_file_location(f"page_of_{kind}", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # annotations are looked up there
    try:
        spec.loader.exec_module(module)
        own = getattr(module, "Options" if kind == "provider" else "Settings", None)
        tables = [{**block, **block.get("providers", {})} for block in blocks]
        said = [table["sample-plugin"] for table in tables if "sample-plugin" in table]
        assert said or kind == "command"
        for table in said:
            msgspec.convert(table, own)
    finally:
        del sys.modules[spec.name]


def test_entry_points_stand_in_the_group_of_their_kind() -> None:
    for kind in KINDS:
        entries = project(kind)["project"]["entry-points"]
        assert list(entries) == [f"pegboard.{kind}s"]
        [(name, value)] = entries[f"pegboard.{kind}s"].items()
        assert name == "sample-plugin"
        assert (":" in value) == (f"pegboard.{kind}s" not in GROUPS)


def test_what_they_ask_for_are_the_versions_that_ours_ask_for() -> None:
    cli = tomllib.loads((ROOT / "plugins" / "cli" / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    core = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    for kind in KINDS:
        asked = [*project(kind)["project"]["dependencies"], *project(kind)["dependency-groups"]["dev"][1:2]]
        assert set(asked) <= {*cli, *core, *whole}
        assert "pegboard-core>=0.1,<0.2" in asked


@pytest.mark.parametrize("ending", ["", "-" + "x" * (LONGEST - 2)], ids=["short", "long"])
def test_linter_and_formatter_find_nothing_whatever_the_name(written: Written, ending: str) -> None:
    for command in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", *written(ending).values()]
        done = subprocess.run(ruff, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_type_checker_finds_nothing(written: Written) -> None:
    """All in one run, with what `make check` has kept: nine tenths of it are looking at Pegboard."""
    sources = [folder / "src" for folder in written("-typed").values()]
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache'}", *sources]
    done = subprocess.run(mypy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_tests_run_from_anywhere_before_it_is_installed(written: Written, tmp_path: Path) -> None:
    """As the second of the three commands says. What is installed here beside the fixture's plugin costs seconds."""
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pegboard.testing.fixtures", written("-here")["guard"]]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0 and "11 passed" in done.stdout, done.stdout + done.stderr


# --- writing ----------------------------------------------------------------------------------------------------------


def test_the_folder_and_its_files_have_the_rights_that_others_have(tmp_path: Path) -> None:
    write(tmp_path / "new", "guard", names_of("x"))
    (tmp_path / "other").mkdir()
    (tmp_path / "file").write_text("")
    run = (tmp_path / "new" / ".ci" / "run").stat().st_mode
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert (tmp_path / "new" / "LICENSE").stat().st_mode == (tmp_path / "file").stat().st_mode
    assert stat.S_IMODE(run) & 0o111


@pytest.mark.parametrize("kind_of_thing", ["folder", "file", "link to nothing"])
def test_what_is_there_already_is_left_alone(tmp_path: Path, kind_of_thing: str) -> None:
    there = tmp_path / "pegboard-x"
    match kind_of_thing:
        case "folder":
            there.mkdir()
        case "file":
            there.write_text("mine")
        case _:
            there.symlink_to("nosuch")
    before = there.lstat()
    with pytest.raises(Exists):
        write(there, "guard", names_of("x"))
    assert there.lstat().st_mtime_ns == before.st_mtime_ns
    assert os.listdir(tmp_path) == ["pegboard-x"]


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))  # the licence is longer
    try:
        with pytest.raises(CannotWrite, match="nothing of it is left"):
            write(tmp_path / "pegboard-x", "guard", names_of("x"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_gone_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="nothing was written"):
        write(tmp_path / "nosuch" / "pegboard-x", "guard", names_of("x"))
