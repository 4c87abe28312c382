"""The lock: whether what was installed after a review is still that. And what installs into which environment."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest
from pegboard.config.places import state_folder
from pegboard.entries import scan
from pegboard_cli.installing import CannotInstall, to_uninstall
from pegboard_cli.reviewed import environment, lock
from pegboard_cli.reviewed.environment import PIPX, RECEIPT, Place, here
from pegboard_cli.reviewed.fetch import is_source, packed
from pegboard_cli.reviewed.wheel import Wheel
from stranger_wheels import make_wheel

Edit = Callable[[Path], object]


@pytest.fixture
def row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lock.Row:
    """A wheel that lies unpacked on the path, and its row."""
    wheel = Wheel(make_wheel(tmp_path, files={"stranger_loud/deep/__init__.py": "", "stranger_loud/data.txt": "1"}))
    packages = tmp_path / "packages"
    ZipFile(wheel.path).extractall(packages)
    monkeypatch.syspath_prepend(str(packages))
    return lock.Row(
        distribution=wheel.distribution,
        version=wheel.version,
        sha256=wheel.sha256,
        source="loud",
        by="pip",
        at="2026-01-01T00:00:00+00:00",
        files=wheel.hashes(),
    )


def test_what_is_untouched_is_as_reviewed_whatever_the_installer_wrote_beside(row: lock.Row, tmp_path: Path) -> None:
    info = tmp_path / "packages" / "stranger_loud-0.1.dist-info"
    (info / "RECORD").write_text("changed")
    (info / "INSTALLER").write_text("pip")
    cache = tmp_path / "packages" / "stranger_loud" / "__pycache__"
    cache.mkdir()
    (cache / "x.cpython-311.pyc").write_text("")
    (cache / "x.py").write_text("")
    assert lock.state(row) == ("as reviewed", "stranger-loud 0.1 is as it was reviewed")


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda top: (top / "__init__.py").write_text("evil"), "stranger_loud/__init__.py"),
        (lambda top: (top / "data.txt").unlink(), "stranger_loud/data.txt (missing)"),
        (lambda top: (top / "more.py").write_text(""), "stranger_loud/more.py (added)"),
        (lambda top: (top / "deep" / "fast.so").write_text(""), "stranger_loud/deep/fast.so (added)"),
    ],
    ids=["changed", "missing", "added", "native"],
)
def test_a_changed_missing_or_added_file_is_named(row: lock.Row, tmp_path: Path, edit: Edit, named: str) -> None:
    edit(tmp_path / "packages" / "stranger_loud")
    state, text = lock.state(row)
    assert state == "changed" and text.endswith(f"not as they were reviewed: {named}")


def test_another_version_and_none_at_all_are_told_apart(row: lock.Row) -> None:
    assert lock.state(msgspec.structs.replace(row, version="0.2"))[0] == "other version"
    assert lock.state(msgspec.structs.replace(row, distribution="stranger-gone"))[0] == "gone"
    assert lock.state(msgspec.structs.replace(row, editable=True))[0] == "editable"


def test_rows_are_put_replaced_and_dropped(row: lock.Row, tmp_path: Path) -> None:
    prefix = str(tmp_path)
    assert lock.read(prefix).plugins == [] and lock.drop("stranger-loud", prefix) is None
    assert lock.put(row, prefix) is None
    newer = msgspec.structs.replace(row, version="0.2")
    assert lock.put(newer, prefix) == row and lock.read(prefix).plugins == [newer]
    assert lock.drop("stranger-loud", prefix) == newer and lock.read(prefix).plugins == []


def test_rows_that_are_written_at_once_are_all_there(row: lock.Row, tmp_path: Path) -> None:
    def put(number: int) -> None:
        lock.put(msgspec.structs.replace(row, distribution=f"stranger-{number}"), str(tmp_path))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(40)))
    assert len(lock.read(str(tmp_path)).plugins) == 40


def test_a_row_that_stands_twice_goes_whole(row: lock.Row, tmp_path: Path) -> None:
    lock.place(str(tmp_path)).write_bytes(msgspec.json.encode(lock.Lock(plugins=[row, row])))
    assert lock.drop(row.distribution, str(tmp_path)) == row and lock.read(str(tmp_path)).plugins == []


def test_what_a_wheel_puts_among_packages_from_aside_is_in_its_hashes(tmp_path: Path) -> None:
    data = "stranger_loud-0.1.data"
    files = {f"{data}/purelib/stranger_loud/more.py": "1", f"{data}/platlib/aside.py": "2", f"{data}/scripts/x": "3"}
    hashes = Wheel(make_wheel(tmp_path, files=files)).hashes()
    assert hashes["stranger_loud/more.py"] == hashlib.sha256(b"1").hexdigest()
    assert hashes["aside.py"] == hashlib.sha256(b"2").hexdigest() and len(hashes) == 6


@pytest.mark.parametrize("data", [b"", b"{", b'{"format": 2}', b'{"plugins": [1]}'])
def test_a_lock_that_cannot_be_read_is_not_written_over(row: lock.Row, tmp_path: Path, data: bytes) -> None:
    lock.place(str(tmp_path)).write_bytes(data)
    with pytest.raises(CannotInstall, match="nothing was changed"):
        lock.put(row, str(tmp_path))
    assert lock.place(str(tmp_path)).read_bytes() == data


@pytest.mark.parametrize("name", ["pegboard-core", "Pegboard_Guard", "nosuch", "typer"])
def test_what_is_ours_or_no_plugin_is_not_uninstalled(name: str) -> None:
    with pytest.raises(CannotInstall, match="nothing was run"):
        to_uninstall(name, scan())


# --- environments -----------------------------------------------------------------------------------------------------

TOOL = """
[tool]
requirements = [
    { name = "pegboard", extras = ["git"], specifier = ">=0.1" },
    { name = "attrs", marker = "python_version > '3'" },
    { name = "stranger-loud", path = "/old/loud.whl" },
    { name = "mine", editable = "/src/mine" },
    { name = "far", git = "ssh://host/far", rev = "v1" },
    { name = "web", url = "https://host/web.whl" },
]
python = "/opt/python3"
entrypoints = []
[tool.options]
no-index = true
find-links = ["/wheels"]
index = [{ name = "inner", url = "https://inner/simple" }, { url = "https://main/simple", default = true }]
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with uv and pipx on it, which are asked for nothing here."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("uv", "pipx"):
        (folder / name).write_text("#!/bin/sh\nexit 9\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    (tmp_path / "venvs" / "pegboard").mkdir(parents=True)
    return tmp_path / "venvs" / "pegboard"


def test_uv_tool_is_asked_for_all_that_its_receipt_names_with_its_options(prefix: Path, programs: Path) -> None:
    (prefix / RECEIPT).write_text(TOOL)
    place = here(str(prefix))
    [command] = place.installs("/new/loud.whl", "stranger-loud", again=False)
    options = "--no-index --find-links /wheels --index inner=https://inner/simple --default-index https://main/simple"
    rest = [
        *("--with", "attrs ; python_version > '3'"),
        *("--with-editable", "/src/mine"),
        *("--with", "far @ git+ssh://host/far@v1"),
        *("--with", "web @ https://host/web.whl"),
    ]
    begin = [
        str(programs / "uv"),
        "tool",
        "install",
        "--python",
        "/opt/python3",
        *options.split(),
        "pegboard[git]>=0.1",
    ]
    assert place.keeps and command == [*begin, *rest, "--with", "/new/loud.whl"]
    assert place.uninstalls("stranger-loud") == [*begin, *rest]


@pytest.mark.parametrize(
    "receipt",
    [
        "[tool]\nrequirements = [{ name = 'pegboard', odd = 1 }]",
        "[tool]\nrequirements = []\nconstraints = [{ name = 'x' }]",
        "[tool]\nrequirements = []\n[tool.options]\nodd = { a = 1 }",
        "not toml",
    ],
)
def test_a_receipt_that_is_not_understood_costs_nobody_a_package(prefix: Path, programs: Path, receipt: str) -> None:
    (prefix / RECEIPT).write_text(receipt)
    place = here(str(prefix))
    assert place.kind == "uv" and "past uv tool" in (place.note or "") and not place.keeps
    [command] = place.installs("/new/loud.whl", "stranger-loud", again=True)
    begin = [str(programs / "uv"), "pip", "install", "--python", sys.executable]
    assert command == [*begin, "--reinstall-package", "stranger-loud", "/new/loud.whl"]


def test_pipx_is_asked_to_inject_with_the_index_of_the_program(prefix: Path, programs: Path) -> None:
    main = {"package": "pegboard", "pip_args": ["--index-url", "https://inner/simple"]}
    (prefix / PIPX).write_bytes(msgspec.json.encode({"main_package": main, "injected_packages": {"stranger-loud": {}}}))
    place = here(str(prefix))
    pipx = str(programs / "pipx")
    args = "--pip-args=--index-url https://inner/simple"
    assert place.installs("/w.whl", "stranger-loud", again=False) == [[pipx, "inject", args, "pegboard", "/w.whl"]]
    assert place.installs("/w.whl", "stranger-loud", again=True)[0][1:3] == ["inject", "--force"]
    assert place.uninstalls("stranger-loud") == [pipx, "uninject", "pegboard", "stranger-loud"]
    assert "pip" in place.uninstalls("other") and place.keeps


def test_without_pipx_itself_it_goes_past_it_and_says_so(prefix: Path, tmp_path: Path, programs: Path) -> None:
    (programs / "pipx").unlink()
    (prefix / PIPX).write_bytes(msgspec.json.encode({"main_package": {}, "injected_packages": {}}))
    place = here(str(prefix))
    assert place.kind == "pip" and place.note is not None
    assert "kept by pipx, and pipx is not on PATH" in place.note and "takes it away" in place.note


def test_pip_puts_the_same_version_in_again_without_its_dependencies() -> None:
    place = Place(kind="pip", prefix="/", before=["python", "-m", "pip"], after=[])
    install = ["python", "-m", "pip", "install", "--quiet"]
    over = [*install, "--force-reinstall", "--no-deps", "w.whl"]
    assert place.installs("w.whl", "x", again=False) == [[*install, "w.whl"]]
    assert place.installs("w.whl", "x", again=True) == [over, [*install, "w.whl"]]
    assert place.installs("w.whl", "x", again=True, more=["--no-deps"]) == [over]


def test_an_environment_that_cannot_be_written_is_told_of_beforehand(prefix: Path) -> None:
    with pytest.raises(CannotInstall, match="nothing was installed"):
        environment.insist_on_writing(str(prefix / "not there"))


# --- what uv unpacked -------------------------------------------------------------------------------------------------


def unpacked(tmp_path: Path, **more: str) -> Path:
    folder = tmp_path / "unpacked"
    groups = {"pegboard.toolsets": {"loud": "stranger_loud"}, "console_scripts": {"loud": "stranger_loud:main"}}
    ZipFile(make_wheel(tmp_path, groups=groups)).extractall(folder)
    info = folder / "stranger_loud-0.1.dist-info"
    rows = (info / "RECORD").read_text() + "bin/loud,,\nstranger_loud-0.1.dist-info/INSTALLER,,\n"
    (folder / "bin").mkdir()
    for name, text in {"bin/loud": "#!", f"{info.name}/INSTALLER": "uv", **more}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        rows += f"{name},,\n" if name in more else ""
    (info / "RECORD").write_text(rows)
    return folder


def test_what_was_unpacked_is_packed_again_the_same_each_time(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = packed(folder, tmp_path / "a"), packed(folder, tmp_path / "b")
    assert one.name == "stranger_loud-0.1-py3-none-any.whl" and one.read_bytes() == two.read_bytes()
    again = Wheel(one)
    assert again.hashes() == Wheel(make_wheel(tmp_path, groups=dict_of(again))).hashes()
    assert not [name for name in again.sizes if name.startswith("bin/") or name.endswith("INSTALLER")]


def dict_of(wheel: Wheel) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for group, name, value in wheel.entry_points():
        found.setdefault(group, {})[name] = value
    return found


def test_a_program_that_is_no_entry_point_cannot_be_shown_so(tmp_path: Path) -> None:
    folder = unpacked(tmp_path, **{"bin/other": "x"})
    with pytest.raises(CannotInstall, match="bin/other outside"):
        packed(folder, tmp_path)


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("pegboard-words", False),
        ("pegboard-words==1.0", False),
        ("https://host/x-1-py3-none-any.whl", False),
        ("https://host/x-1-py3-none-any.whl#sha256=00", False),
        ("git+https://host/x", True),
        ("x @ git+https://host/x@v1", True),
        ("https://host/x-1.tar.gz", True),
    ],
)
def test_what_has_to_be_built_is_known_by_its_letters(target: str, source: bool) -> None:
    assert is_source(target) is source


def test_a_kept_wheel_is_removed_only_where_wheels_are_kept(
    row: lock.Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kept = state_folder(os.environ) / lock.WHEELS / "abc" / "a.whl"
    dear = tmp_path / "dear" / "a.whl"
    for file in (kept, dear):
        file.parent.mkdir(parents=True)
        file.touch()
    for said in (dear, kept.parent / ".." / ".." / "a.whl", kept):
        lock.forget(msgspec.structs.replace(row, kept=str(said)))
    assert dear.exists() and kept.parent.parent.exists() and not kept.parent.exists()
