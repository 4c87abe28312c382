"""`list_dir`, down the whole road of a real board."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from calls import ok
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import activity
from pegboard.calls import Record
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import listing as kit_listing
from pegboard.kit.walk.listing import ListQuery, list_folder
from pegboard.kit.walk.tree import amount
from pegboard.kit.workspace import Workspace
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.search import glob, grep
from pegboard_tools_edit_plus.listing import list_dir

Make = Callable[..., TestBoard]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=[list_dir, read_file])


def files(root: Path, *names: str, text: str = "x\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths(record: Record) -> list[str]:
    ok(record)
    return list(record.data["paths"])


@pytest.mark.row("S-039", "R-032")
def test_a_folder_is_a_tree_with_slashes_and_sizes(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "a.txt", "src/b.py", "src/deep/c.py")
    (tmp_path / "k.bin").write_bytes(bytes(2048))
    (tmp_path / "l.bin").write_bytes(bytes(1536))
    record = board.call("list_dir")
    assert ok(record) == ".\n  a.txt  2B\n  k.bin  2K\n  l.bin  1.5K\n  src/\n    b.py  2B\n    deep/"
    assert record.data["paths"] == ["a.txt", "k.bin", "l.bin", "src", "src/b.py", "src/deep"]
    assert record.data["entries"][3:5] == [
        {"path": "src", "kind": "folder", "size": None},
        {"path": "src/b.py", "kind": "file", "size": 2},
    ]
    assert ok(board.call("ls", directory="src", max_depth=1)) == "src/\n  b.py  2B\n  deep/"
    assert Tool.of(list_dir).declaration.category == "read"
    assert record.decision is not None and record.decision.rule == "tool_permission.list"


@pytest.mark.row("S-038")
def test_depth_is_1_to_6_and_2_when_left_out(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "1/2/3/4/5/6/7/x")
    chain = ["1/2/3/4/5/6"[:n] for n in range(1, 12, 2)]
    assert paths(board.call("list_dir")) == chain[:2]
    for depth in range(1, 7):
        assert paths(board.call("list_dir", depth=depth)) == chain[:depth]
    for wrong in (0, 7, -1, "many"):
        record = board.call("list_dir", depth=wrong)
        assert (record.outcome, record.block) == ("blocked", "invalid_arguments") and "depth" in record.text


@pytest.mark.row("S-041")
def test_a_folder_at_the_depth_limit_is_there_by_name_only(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "a/b/c.txt", "a/b/d/e.txt")
    assert ok(board.call("list_dir", depth=2)) == ".\n  a/\n    b/"
    assert ok(board.call("list_dir", depth=3)).endswith("    b/\n      c.txt  2B\n      d/")


@pytest.mark.row("S-040")
def test_what_ignore_files_hide_is_left_out_unless_wanted(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "a.py", "x.log", "build/o.o", "src/keep.log", "src/own.tmp", "src/z.py")
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "src/.ignore").write_text("*.tmp\n")
    files(tmp_path, ".git/config", "node_modules/m/i.js")
    assert paths(board.call("list_dir")) == ["a.py", "src", "src/z.py"]
    everything = paths(board.call("list_dir", includeIgnored=True))
    assert everything == ["a.py", "build", "build/o.o", "src", "src/keep.log", "src/own.tmp", "src/z.py", "x.log"]
    assert ".gitignore" in paths(board.call("list_dir", include_hidden=True))
    assert paths(board.call("list_dir", path="build")) == ["build/o.o"], "named outright"
    for never in (".git", "node_modules/m"):
        record = board.call("list_dir", path=never, include_hidden=True, include_ignored=True)
        assert (ok(record), record.data["paths"]) == ("(.git and node_modules are never listed)", [])


@pytest.mark.parametrize("require_git", [True, False])
def test_it_sees_the_files_that_glob_sees(pegboard_board: Make, tmp_path: Path, require_git: bool) -> None:
    files(tmp_path, "a.log", "s/b.log", "s/t/c.txt", "s/t/d.log", "s/.h/e.txt", "u/keep/f.txt", "u/g.txt")
    (tmp_path / ".gitignore").write_text("*.log\n!b.log\n/u/*\n!/u/keep\n")
    (tmp_path / "s/.pegboardignore").write_text("t/c.txt\n")
    board = pegboard_board(tools=[list_dir, glob], settings={"search.require_git": require_git})
    for wanted in ({}, {"include_ignored": True}, {"include_hidden": True}):
        record = board.call("list_dir", depth=6, **wanted)
        listed = [entry["path"] for entry in record.data["entries"] if entry["kind"] == "file"]
        assert sorted(listed) == sorted(paths(board.call("glob", pattern="**", **wanted)))


@pytest.mark.row("R-033", "S-042")
def test_at_most_300_entries_and_the_last_line_says_of_how_many(pegboard_board: Make, tmp_path: Path) -> None:
    files(tmp_path, *(f"{n:03}.txt" for n in range(512)))
    record = pegboard_board(tools=[list_dir]).call("list_dir")
    assert len(paths(record)) == 300 == len(record.data["entries"]) and record.truncated
    assert record.text.split("\n")[-1] == "... (showing first 300 of 512 entries)"
    assert record.data["paths"][-1] == "299.txt"
    few = pegboard_board(tools=[list_dir], settings={"search.list_dir_max_entries": 512}).call("list_dir")
    assert len(paths(few)) == 512 and not few.truncated and few.text.endswith("511.txt  2B")


def test_what_is_nearest_comes_first_and_folders_say_when_more_is_in_them(pegboard_board: Make, tmp_path: Path) -> None:
    files(tmp_path, *(f"a/{n:02}" for n in range(40)), *(f"b/{n:02}" for n in range(3)), "z.txt")
    record = pegboard_board(tools=[list_dir], settings={"search.list_dir_max_entries": 5}).call("list_dir")
    assert record.text.split("\n")[:6] == [".", "  a/  ...", "    00  2B", "    01  2B", "  b/  ...", "  z.txt  2B"]
    assert record.text.endswith("... (showing first 5 of 46 entries)")


def test_the_caps_on_output_hold_too(pegboard_board: Make, tmp_path: Path) -> None:
    files(tmp_path, *(f"{n:03}{'x' * 200}" for n in range(100)))
    record = pegboard_board(tools=[list_dir], settings={"output.max_bytes": 6000}).call("list_dir")
    assert 3000 < len(ok(record).encode()) <= 6000 and record.full_output is None
    shown = len(record.data["paths"])
    assert record.text.endswith(f"... (showing first {shown} of 100 entries)") and record.truncated


def test_order_is_by_name_and_each_time_the_same(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "b.txt", "a/x", "B.txt", "a.b", "ä", "a-b", "10", "9")
    first = paths(board.call("list_dir"))
    assert first == ["10", "9", "B.txt", "a", "a/x", "a-b", "a.b", "b.txt", "ä"]
    assert paths(board.call("list_dir")) == first


@pytest.mark.row("R-111")
def test_an_empty_folder_says_so_and_one_with_hidden_names_only_says_that(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    files(tmp_path, "sub/.gitkeep")
    record = board.call("list_dir", path="empty")
    assert (ok(record), record.data["paths"], record.data["more"]) == ("(empty directory)", [], False)
    assert ok(board.call("list_dir", path="sub")) == "(nothing to show: 1 hidden or ignored entry)"


def test_protected_entries_are_left_out_and_counted(pegboard_board: Make, tmp_path: Path) -> None:
    files(tmp_path, ".env", "key.pem", ".ssh/config", "a.txt", "sub/id_rsa")
    (tmp_path / "other").symlink_to("key.pem")
    (tmp_path / "plain").symlink_to("a.txt")
    board = pegboard_board(tools=[list_dir], guards=[ProtectedPaths(Settings())])
    record = board.call("list_dir", include_hidden=True)
    assert paths(record) == ["a.txt", "plain", "sub"] and record.data["left_out"] == 5
    assert ok(record).endswith("\n(5 protected entries were left out)") and "pem" not in record.text
    assert ok(board.call("list_dir", path="sub")) == "(1 protected entry was left out)"


def test_links_are_shown_and_never_entered(board: TestBoard, tmp_path: Path) -> None:
    root = tmp_path / "w"
    files(root, "src/a.py")
    files(tmp_path, "outside/secret.txt")
    for name, target in {
        "in": "src", "out": "../outside", "abs": str(tmp_path / "outside"), "gone": "nowhere", "self": "self",
        "up": ".", "back": f"../{root.name}/src/a.py", "pass": "/etc/passwd",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    text = list_folder(Workspace(str(root)), ListQuery(depth=6), SearchSettings()).text()
    nowhere = "(not inside the workspace)"
    assert text.split("\n") == [
        ".", f"  abs -> {nowhere}", "  back -> src/a.py", "  gone -> nowhere", "  in -> src", f"  out -> {nowhere}",
        f"  pass -> {nowhere}", f"  self -> {nowhere}", "  src/", "    a.py  2B", "  up -> .",
    ]  # fmt: skip
    assert str(tmp_path) not in text


@pytest.mark.parametrize("path", ["..", "/", "sub/../..", "out", "out/x"])
def test_nothing_outside_is_listed(board: TestBoard, tmp_path: Path, path: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "out").symlink_to("/etc")
    record = board.call("list_dir", path=path)
    assert (record.outcome, record.block) == ("blocked", "denied") and "passwd" not in record.text


def test_a_file_and_a_missing_folder_are_errors(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "a.txt")
    assert "a.txt is a file, not a folder" in board.call("list_dir", path="a.txt").text
    record = board.call("list_dir", path="nope")
    assert record.outcome == "error" and "No such file: nope" in record.text


def test_pipes_and_sockets_are_named_and_not_opened(board: TestBoard, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        os.chdir(tmp_path)
        sock.bind("sock")
        record = board.call("list_dir")
    assert ok(record) == ".\n  pipe  (FIFO)\n  sock  (socket)"
    assert {entry["kind"] for entry in record.data["entries"]} == {"special"}


def test_strange_names_stay_on_their_line(board: TestBoard, tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    for name in (b"caf\xe9", b"two\nlines", b"esc\x1b[31m", b"cr\rx", "sep\u2028x".encode()):
        with open(os.path.join(root, name), "wb"):
            pass
    os.makedirs(os.path.join(root, b"d\xff/in"))
    record = board.call("list_dir", depth=6)
    assert ok(record).split("\n")[1:] == [
        r"  caf\xe9  0B", r"  cr\rx  0B", r"  d\xff/", "    in/", r"  esc\x1b[31m  0B", r"  sep\u2028x  0B",
        r"  two\nlines  0B",
    ]  # fmt: skip
    assert paths(board.call("list_dir", path=r"d\xff")) == [r"d\xff/in"]


def test_a_path_of_four_thousand_bytes_is_listed(board: TestBoard, tmp_path: Path) -> None:
    here, name, depth = os.getcwd(), "x" * 240, (3900 - len(str(tmp_path))) // 241
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            os.mkdir(name)
            os.chdir(name)
        Path("end.txt").write_text("x")
    finally:
        os.chdir(here)
    record = board.call("list_dir", path="/".join([name] * depth))
    assert ok(record).endswith("/\n  end.txt  1B")


class Vanishing(Workspace):
    """A workspace in which folders are changed by somebody between two looks."""

    change: Callable[[], None] = staticmethod(lambda: None)

    @property
    def checked(self) -> bool:
        return True

    def refusal(self, kind: Any, at: str) -> None:
        self.change()


def test_a_folder_that_goes_away_or_becomes_a_link_meanwhile(tmp_path: Path) -> None:
    root, outside = tmp_path / "w", tmp_path / "outside"
    files(root, "gone/a.txt", "swapped/b.txt", "z/c.txt")
    files(tmp_path, "outside/secret.txt")
    workspace = Vanishing(str(root))

    def change() -> None:
        workspace.change = lambda: None
        (root / "gone").rename(tmp_path / "elsewhere")
        (root / "swapped").rename(tmp_path / "old")
        (root / "swapped").symlink_to(outside)

    workspace.change = change
    text = list_folder(workspace, ListQuery(), SearchSettings()).text()
    lines = text.split("\n")
    assert "secret" not in text
    assert lines[1] == "  gone/  (no such file or directory)"
    assert re.fullmatch(r"  swapped/  \((not a directory|too many levels of symbolic links)\)", lines[2])
    assert lines[3:] == ["  z/", "    c.txt  2B"]


def test_a_folder_that_may_not_be_read_says_so(
    board: TestBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, "shut/a.txt", "b.txt")
    (tmp_path / "shut").chmod(0)
    if os.geteuid() == 0:  # root may read every folder
        real = os.open

        def refusing(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if path == "shut" and not flags & os.O_PATH:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return real(path, flags, *rest, **more)

        monkeypatch.setattr(os, "open", refusing)
    try:
        assert ok(board.call("list_dir")) == ".\n  b.txt  2B\n  shut/  (permission denied)"
    finally:
        (tmp_path / "shut").chmod(0o755)


def test_a_huge_folder_is_listed_in_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc

    files(tmp_path, *(f"{n:05}" for n in reversed(range(6000))), "zz/inner")
    monkeypatch.setattr(kit_listing, "MOST_COUNTED", 1000)
    tracemalloc.start()
    try:
        listing = list_folder(Workspace(str(tmp_path)), ListQuery(), SearchSettings())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [entry.name for entry in listing.entries] == [f"{n:05}" for n in range(300)], "the first ones, by name"
    assert listing.text().endswith("... (showing first 300 of more than 6001 entries)")
    assert peak < 1_500_000


def test_the_loop_is_not_held_up_while_a_folder_is_listed(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "a.txt")
    goes_on = threading.Event()

    def slow(*given: Any) -> Any:
        assert goes_on.wait(60), "the loop does nothing else meanwhile"
        return list_folder(*given)

    async def both() -> Record:
        calling = asyncio.create_task(board.agent.call("list_dir", {}, "program"))
        await asyncio.sleep(0.05)
        goes_on.set()
        return await calling

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pegboard_tools_edit_plus.listing.list_folder", slow)
        ok(board.run(both()))


def test_read_file_on_a_folder_answers_with_it_but_the_root_is_no_file(board: TestBoard, tmp_path: Path) -> None:
    files(tmp_path, "src/a.py")
    record = board.call("read_file", path="src")
    assert ok(record) == "src/\n  a.py  2B" and record.data["paths"] == ["src/a.py"]
    for root in (".", "./", str(tmp_path), "src/.."):
        refused = board.call("read_file", path=root)
        assert refused.outcome == "error" and "is the workspace root, a folder" in refused.text


@pytest.mark.row("R-107")
@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        (glob, {"pattern": "*.py"}, "* Glob *.py"),
        (list_dir, {"path": "src"}, "* List src"),
        (grep, {"pattern": "x"}, "* Grep x"),
    ],
)
def test_the_glyphs_of_looking_around(tool: Any, arguments: dict[str, str], line: str) -> None:
    drawn = activity.activity_of(Tool.of(tool), "", arguments)
    assert f"{drawn.glyph} {drawn.verb} {drawn.subject}" == line


@given(st.integers(0, 1 << 60))
def test_sizes_are_short_and_near_the_truth(size: int) -> None:
    said = amount(size)
    assert re.fullmatch(r"\d{1,4}(\.\d)?[BKMG]|\d+(\.\d)?T", said)
    value = float(said[:-1]) * 1024 ** "BKMGT".index(said[-1])
    assert abs(value - size) <= max(0.5 * 1024 ** "BKMGT".index(said[-1]), size * 0.05)


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
TREES = st.recursive(st.none(), lambda inner: st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)


def built(root: Path, tree: Any) -> Iterator[str]:
    """Make the folders and files of a tree, and give their paths."""
    for name, inner in (tree or {}).items():
        path = root / name
        if name in (".", "..") or name.startswith(".") or name == "node_modules" or path.exists():
            continue
        try:
            path.touch() if inner is None else path.mkdir()
        except OSError:
            continue
        yield name
        yield from (f"{name}/{below}" for below in built(path, inner))


@settings(max_examples=40)
@given(TREES.filter(lambda tree: isinstance(tree, dict)), st.integers(1, 6), st.integers(1, 12))
def test_a_listing_is_what_was_put_there(
    tmp_path_factory: pytest.TempPathFactory, tree: Any, depth: int, most: int
) -> None:
    root = tmp_path_factory.mktemp("tree")
    there = {path for path in built(root, tree) if path.count("/") < depth}
    listing = list_folder(Workspace(str(root)), ListQuery(depth=depth), SearchSettings(list_dir_max_entries=most))
    found = listing.data()
    assert len(found.paths) == min(most, len(there)) and set(found.paths) <= there
    assert found.more == (len(there) > most) and listing.total == len(there)
    levels = [path.count("/") for path in found.paths]
    if found.more:
        assert max(levels) <= min(path.count("/") for path in there - set(found.paths)), "nearest first"
    if found.paths:
        assert len(listing.text().split("\n")) == 1 + len(found.paths) + 2 * found.more
