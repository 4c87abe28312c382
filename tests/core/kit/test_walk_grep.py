"""grep with each of its engines: what it finds, what it shows, and what it says of the rest."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError, ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import Hit, Hits, Query, grep
from pegboard.kit.workspace import Workspace


class Tree:
    """A folder of files, searched with one engine."""

    def __init__(self, root: Path, engine: str) -> None:
        self.root = root
        self.settings = SearchSettings(engine=engine)  # type: ignore[arg-type]
        self.checks: list[Any] = []

    def write(self, files: dict[str, str | bytes]) -> Tree:
        for name, data in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return self

    async def grep(self, pattern: str, *, caps: Caps | None = None, **options: Any) -> Hits:
        changed = {name: options.pop(name) for name in ("max_line_chars", "follow_links") if name in options}
        settings = msgspec.structs.replace(self.settings, **changed)
        workspace = Workspace(str(self.root), self.checks)
        return await grep(workspace, Query(pattern=pattern, **options), settings, caps=caps)

    async def places(self, pattern: str, **options: Any) -> list[tuple[str, int | None]]:
        return [(hit.path, hit.line) for hit in (await self.grep(pattern, **options)).hits]


@pytest.fixture(params=["rg", "python"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    root = tmp_path / "w"
    root.mkdir()
    return Tree(root, request.param)


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.row("R-037", "S-048")
async def test_the_pattern_is_a_regular_expression(tree: Tree) -> None:
    tree.write({"a.py": "one\ndef two():\n", "sub/b.py": "def  three():\n"})
    assert await tree.places(r"^def\s+\w+\(") == [("a.py", 2), ("sub/b.py", 1)]


@pytest.mark.row("C-024")
async def test_a_literal_search_takes_the_pattern_as_it_is(tree: Tree) -> None:
    tree.write({"a": "a|b\na\n"})
    assert await tree.places("a|b", regex=False) == [("a", 1)]
    assert await tree.places("a|b", regex=True) == [("a", 1), ("a", 2)]
    tree.settings = msgspec.structs.replace(tree.settings, grep_default="literal")
    assert await tree.places("a|b") == [("a", 1)]


@pytest.mark.row("Z-051", "C-025")
async def test_each_argument_changes_the_result_as_it_is_named(tree: Tree) -> None:
    tree.write({"a.py": "Needle\nneedle\nneedle\n", "sub/b.rs": "needle\n", "sub/c.py": "x\nneedle\n"})
    assert await tree.places("needle", path="sub") == [("sub/b.rs", 1), ("sub/c.py", 2)]
    assert await tree.places("needle", include="*.rs") == [("sub/b.rs", 1)]
    assert await tree.places("needle", include="!*.py") == [("sub/b.rs", 1)]
    assert await tree.places("needle", include="sub/*.py") == [("sub/c.py", 2)]
    assert await tree.places("NEEDLE", include="a.*", ignore_case=True) == [("a.py", 1), ("a.py", 2), ("a.py", 3)]
    assert [(hit.path, hit.line) for hit in (await tree.grep("needle", output_mode="files")).hits] == [
        ("a.py", None),
        ("sub/b.rs", None),
        ("sub/c.py", None),
    ]
    counts = (await tree.grep("needle", output_mode="count")).hits
    assert [(hit.path, hit.count) for hit in counts] == [("a.py", 2), ("sub/b.rs", 1), ("sub/c.py", 1)]


@pytest.mark.row("Z-052", "S-051")
async def test_ignored_folders_and_binary_files_are_skipped(tree: Tree) -> None:
    tree.write({".gitignore": "build/\n", "build/a": "needle\n", "b.bin": b"\0\1needle\n", "c": "needle\n"})
    assert await tree.places("needle") == [("c", 1)]
    assert await tree.places("needle", include_ignored=True) == [("build/a", 1), ("c", 1)]


@pytest.mark.row("S-053")
async def test_gitignore_counts_without_a_repository_and_with_one(tree: Tree) -> None:
    tree.write({".gitignore": "x\n", "x": "needle\n", "y": "needle\n"})
    assert await tree.places("needle") == [("y", 1)]
    tree.settings = msgspec.structs.replace(tree.settings, require_git=True)
    assert await tree.places("needle") == [("x", 1), ("y", 1)]
    tree.write({".git/HEAD": ""})
    assert await tree.places("needle") == [("y", 1)]
    assert await tree.places("needle", path=".") == [("y", 1)]


async def test_rules_above_the_search_path_count_and_a_named_file_is_searched(tree: Tree) -> None:
    tree.write(
        {".gitignore": "/api/gen/\n*.log\n", "api/main": "needle\n", "api/gen/x": "needle\n", "api/a.log": "needle\n"}
    )
    assert await tree.places("needle", path="api") == [("api/main", 1)]
    assert await tree.places("needle", path="api/gen") == [("api/gen/x", 1)]
    assert await tree.places("needle", path="api/a.log") == [("api/a.log", 1)]


async def test_hidden_names_are_skipped_unless_the_call_names_them(tree: Tree) -> None:
    tree.write({".hid": "needle\n", ".d/x": "needle\n", "a": "needle\n", ".ignore": "!*\n!*/\n"})
    assert await tree.places("needle") == [("a", 1)]
    assert await tree.places("needle", include_hidden=True) == [(".d/x", 1), (".hid", 1), ("a", 1)]
    assert await tree.places("needle", path=".d") == [(".d/x", 1)]
    assert await tree.places("needle", include=".h*") == [(".hid", 1)]
    assert await tree.places("needle", include=".d/*") == [(".d/x", 1)]


async def test_git_and_node_modules_are_never_searched(tree: Tree) -> None:
    tree.write({".git/x": "needle\n", "sub/node_modules/y": "needle\n", ".gitignore": "!*\n"})
    assert await tree.places("needle", include_hidden=True, include_ignored=True) == []
    assert "never searched" in str(await tree.grep("needle", path="sub/node_modules"))
    assert await tree.places("needle", path=".git/x") == []


@pytest.mark.row("S-047")
async def test_links_are_not_followed_and_never_lead_outside(tree: Tree) -> None:
    tree.write({"real/x": "needle\n"})
    (tree.root.parent / "secret").write_text("needle\n")
    (tree.root / "linked").symlink_to("real")
    (tree.root / "loop").symlink_to("..")
    (tree.root / "leak").symlink_to("../secret")
    (tree.root / "dead").symlink_to("nowhere")
    assert await tree.places("needle") == [("real/x", 1)]
    assert await tree.places("needle", path="linked") == [("real/x", 1)]
    assert await tree.places("needle", follow_links=True) == [("linked/x", 1), ("real/x", 1)]
    with pytest.raises(DoorError, match="Path escapes workspace: leak"):
        await tree.grep("needle", path="leak")


async def test_a_search_path_that_is_missing_or_outside_is_an_error(tree: Tree) -> None:
    with pytest.raises(DoorError, match="nosuch"):
        await tree.grep("x", path="nosuch")
    with pytest.raises(DoorError, match=r"Path escapes workspace: \.\."):
        await tree.grep("x", path="..")


async def test_pipes_are_walked_past_and_refused_when_named(tree: Tree) -> None:
    tree.write({"a": "needle\n"})
    os.mkfifo(tree.root / "pipe")
    assert await tree.places("needle") == [("a", 1)]
    with pytest.raises(DoorError, match="pipe is a"):
        await tree.grep("needle", path="pipe")


# --- what lines are -----------------------------------------------------------------------------------------------


async def test_only_lf_ends_a_line_and_crlf_is_no_part_of_one(tree: Tree) -> None:
    tree.write({"a": "up\n10%\r20%\nlast needle", "b": "needle\r\nx\r\n"})
    assert await tree.places("needle$") == [("a", 3), ("b", 1)]
    assert (await tree.grep("needle", path="b")).hits == [Hit(path="b", line=1, text="needle")]
    assert await tree.places(r"needle\r") == [("b", 1)]
    assert await tree.places("^$") == []


async def test_utf16_with_a_mark_and_utf8_with_a_mark_are_text(tree: Tree) -> None:
    long = "é" * 400 + "needle" + "é" * 400
    tree.write({"u16le": "é\nneedle\n".encode("utf-16"), "u16be": b"\xfe\xff" + f"x\n{long}".encode("utf-16-be")})
    tree.write({"u8": b"\xef\xbb\xbfneedle\nsecond needle\n"})
    hits = {(hit.path, hit.line): hit for hit in (await tree.grep("needle")).hits}
    assert hits["u16le", 2].text == "needle"
    assert hits["u8", 2].text == "second needle"
    assert "needle" in hits["u16be", 2].text and hits["u16be", 2].cut
    assert await tree.places("^needle") == [("u16le", 2), ("u8", 1)]


async def test_bytes_that_are_not_utf8_are_shown_as_latin_1(tree: Tree) -> None:
    tree.write({"a": b"caf\xe9 needle\n"})
    assert (await tree.grep("needle")).hits[0].text == "café needle"
    assert await tree.places("caf. needle") == []


async def test_a_nul_in_a_named_file_is_told_and_the_file_searched(tree: Tree) -> None:
    tree.write({"nul.ts": b"needle here\0more\nline two\n", "late": b"needle 1\n" + b"x\n" * 40_000 + b"\0needle 2\n"})
    found = await tree.grep("needle", path="nul.ts")
    assert [hit.line for hit in found.hits] == [1]
    assert "nul.ts holds NUL bytes (binary)" in str(found)
    assert await tree.places("needle", path="late") == [("late", 1), ("late", 40_002)]


async def test_a_nul_further_down_keeps_the_hits_before_it_and_is_told(tree: Tree) -> None:
    tree.write({"late": b"needle 1\n" + b"x\n" * 80_000 + b"\0needle 2\n", "z": "needle\n"})
    found = await tree.grep("needle")
    assert [(hit.path, hit.line) for hit in found.hits] == [("late", 1), ("z", 1)]
    assert "late is binary further down" in str(found)


async def test_names_may_hold_anything(tree: Tree) -> None:
    tree.write({"two\nlines: 1: x": "needle\n", "-e": "needle\n", "a:1:b": "x: 12: needle::y\n"})
    with open(os.fsencode(tree.root) + b"/caf\xe9", "w") as file:
        file.write("needle\n")
    found = await tree.grep("needle")
    assert [hit.path for hit in found.hits] == ["-e", "a:1:b", "caf\\xe9", "two\nlines: 1: x"]
    json.dumps(msgspec.to_builtins(found)).encode()
    assert len(str(found).splitlines()) == 4
    assert await tree.places("needle", path="caf\\xe9") == [("caf\\xe9", 1)]


# --- what is shown ----------------------------------------------------------------------------------------------------


@pytest.mark.row("S-050", "C-026")
async def test_hits_read_as_path_line_text(tree: Tree) -> None:
    tree.write({"src/a.py": "x\n  needle: 1\n"})
    assert str(await tree.grep("needle")) == "src/a.py:2:   needle: 1"
    assert str(await tree.grep("needle", output_mode="files")) == "src/a.py"
    assert str(await tree.grep("needle", output_mode="count")) == "src/a.py: 1"
    assert str(await tree.grep("nothing")) == '(no matches for "nothing")'
    assert msgspec.to_builtins(await tree.grep("needle"))["hits"] == [
        {"path": "src/a.py", "line": 2, "text": "  needle: 1", "cut": False, "count": None}
    ]


@pytest.mark.row("S-052")
async def test_at_most_max_hits_and_the_cut_is_told_only_when_something_was_cut(tree: Tree) -> None:
    tree.write({f"f{number:03}": "needle\n" for number in range(201)})
    found = await tree.grep("needle")
    assert len(found.hits) == 200 and found.more
    assert "more: showing the first 200 hits" in str(found)
    exact = await tree.grep("needle", max_hits=201)
    assert len(exact.hits) == 201 and not exact.more and "showing" not in str(exact)


@pytest.mark.row("S-052")
@pytest.mark.parametrize("lead", ["x", "é", "\U0001f600"])
async def test_a_long_line_is_cut_around_the_match(tree: Tree, lead: str) -> None:
    tree.write({"min.js": lead * 200_000 + " needle_here;" + "y" * 1000 + "\n", "ends": "x" * 295 + "needle\n"})
    first, second = (await tree.grep("needle")).hits
    assert (first.path, first.cut, len(first.text)) == ("ends", True, 300) and first.text.endswith("needle")
    assert second.cut and len(second.text) == 300 and lead * 90 + " needle_here;yyy" in second.text
    assert (await tree.grep("needle", path="ends", max_line_chars=301)).hits[0].cut is False


async def test_the_text_stops_at_the_caps(tree: Tree) -> None:
    tree.write({"a": "needle " * 40 + "\n", "b": ("needle " * 40 + "\n") * 150})
    found = await tree.grep("needle", caps=Caps(max_chars=8000))
    assert 20 < len(found.hits) < 30 and found.more
    assert len(str(found)) <= 8000
    assert len((await tree.grep("needle", caps=Caps(max_chars=0, max_bytes=0, max_lines=50))).hits) <= 50


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.row("S-056")
@pytest.mark.parametrize("pattern", ["(", "[a-", "a{2,1}", "*a", "a)|(b", "(?P<n>a)(?P<n>b)", r"\p{Nonsense}", r"\Q"])
async def test_an_invalid_pattern_is_an_error_with_its_reason(tree: Tree, pattern: str) -> None:
    tree.write({"a": "needle\n"})
    with pytest.raises(ToolError, match=r"Invalid regex: \S+"):
        await tree.grep(pattern)


@pytest.mark.parametrize(("pattern", "says"), [("", "empty"), ("a\nb", "line break"), (r"a\nb", "line break")])
async def test_a_pattern_that_is_empty_or_spans_lines_is_refused(tree: Tree, pattern: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        await tree.grep(pattern)


@pytest.mark.row("S-055")
async def test_look_around_works_in_the_python_engine_only(tree: Tree) -> None:
    tree.write({"a": "foobar\nfoobaz\n"})
    if tree.settings.engine == "python":
        assert await tree.places("foo(?=bar)") == [("a", 1)]
    else:
        with pytest.raises(ToolError, match=r'Invalid regex: look-around.*search\.engine = "python"'):
            await tree.grep("foo(?=bar)")


@pytest.mark.parametrize("pattern", ["--help", "-v", "->", "-e", "--files", "-f/etc/passwd"])
async def test_a_pattern_may_look_like_an_option(tree: Tree, pattern: str) -> None:
    tree.write({"a": f"x {pattern} y\n", "b": "needle\n"})
    assert await tree.places(pattern) == [("a", 1)]


@pytest.mark.slow
async def test_a_catastrophic_pattern_is_answered_in_time(tree: Tree) -> None:
    tree.write({"a": "a" * 60 + "!\n"})
    if tree.settings.engine == "rg":
        assert await tree.places("(a+)+$") == []
    else:
        with pytest.raises(ToolError, match="takes too long on a"):
            await tree.grep("(a+)+$")  # else it takes longer than a test may


# --- what the door says -----------------------------------------------------------------------------------------------


async def test_protected_files_are_left_out_and_counted(tree: Tree) -> None:
    def no_keys(kind: TouchKind, path: str) -> Deny | None:
        return Deny("keys", f"{path} is protected.") if path.endswith(".key") else None

    tree.checks = [no_keys]
    tree.write({"a.key": "needle\n", "sub/b.key": "needle\n", "c": "needle\n"})
    os.link(tree.root / "a.key", tree.root / "hard")
    for mode in ("content", "files"):
        found = await tree.grep("needle", output_mode=mode)
        assert [hit.path for hit in found.hits] == ["c"]
        assert found.left_out == 2  # by name; the second name is left out all the same
        assert "2 protected files were left out" in str(found)
    with pytest.raises(DoorError, match=r"a\.key is protected"):
        await tree.grep("needle", path="a.key")


SEARCH = """
import asyncio, sys
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import Query, grep
from pegboard.kit.workspace import Workspace
print(asyncio.run(grep(Workspace(sys.argv[1]), Query(pattern="needle"), SearchSettings(engine=sys.argv[2]))))
"""
PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2


def no_right_to_read_everything() -> None:
    """What makes root as other users are, to whom files can be locked."""
    libc = ctypes.CDLL(None)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def as_other_users(root: Path, engine: str) -> str:
    drop = no_right_to_read_everything if os.geteuid() == 0 else None
    argv = [sys.executable, "-c", SEARCH, str(root), engine]
    done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=drop)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="drops capabilities, which Linux has")
@pytest.mark.parametrize("engine", ["rg", "python"])
def test_what_is_locked_is_mentioned_and_the_other_hits_are_kept(tmp_path: Path, engine: str) -> None:
    Tree(tmp_path, engine).write({"a": "needle\n", "b": "needle\n", "locked/c": "needle\n"})
    (tmp_path / "b").chmod(0)
    (tmp_path / "locked").chmod(0)
    try:
        text = as_other_users(tmp_path, engine)
        assert text.splitlines()[0] == "a:1: needle"
        assert "not searched: b (Permission denied)" in text
        assert "not searched: locked (Permission denied)" in text
        (tmp_path / "a").write_text("")
        assert '(no matches for "needle")' in as_other_users(tmp_path, engine)
    finally:
        (tmp_path / "locked").chmod(0o755)


# --- both engines, the same data --------------------------------------------------------------------------------------

BITS = [
    "foo",
    "bar",
    "Foo",
    "é",
    "É",
    " ",
    "\t",
    "\r",
    "\r\n",
    "\n",
    "\n",
    "x" * 50,
    "10%",
    "_",
    "-",
    "0",
    "(",
    ".",
    "ß",
]
PATTERNS = [
    "foo", "^foo", "foo$", "^$", "fo+", "f.o", "[^x]+$", r"\bfoo\b", r"\s", r"^\s*$", r"\d+", "é", "(?i)é", "(?i)foo",
    "foo|bar", "(foo|bar)$", r"\w+ \w+", "[[:alpha:]]+[[:digit:]]", r"\Afoo", r"bar\z", r"\p{Lu}", r"\P{L}$", "a(?i)R|FOO",
    "(?P<n>foo)", "(?<n>bar)", r"\x{e9}", "x{50}", "x{51,}", ".", "..$", r"\r", r"\r$", r"[^\r]$", "foo.*bar", r"\<foo",
    r"foo\>", r"\Bfoo", r"\b{start}f", r"[^\n]o", r"[\w&]", "%.1", "%$", "(?s).o", "(?-i)F", "[]x]", "[^]x]", r"\.",
]  # fmt: skip
CODECS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]
contents = st.tuples(st.lists(st.sampled_from(BITS), max_size=25).map("".join), st.sampled_from(CODECS), st.booleans())


@pytest.mark.row("S-049")
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(contents, min_size=1, max_size=5), st.sampled_from(PATTERNS), st.booleans(), st.booleans())
async def test_both_engines_find_the_same(
    files: list[tuple[str, str, bool]], pattern: str, ignore_case: bool, named: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, (text, codec, nul) in enumerate(files):
            data = text.encode(codec, "replace")
            Path(folder, f"f{number}").write_bytes(data + b"\0" if nul and codec == "utf-8" else data)
        query: dict[str, Any] = {"ignore_case": ignore_case, "path": "f0" if named else "."}
        by_rg, by_python = [await Tree(Path(folder), engine).grep(pattern, **query) for engine in ("rg", "python")]
        assert (by_rg.hits, by_rg.notes) == (by_python.hits, by_python.notes)


# --- other roots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["rg", "python"])
async def test_the_sessions_own_folder_is_searched_under_its_prefix(tmp_path: Path, engine: str) -> None:
    for name, text in {"w/a": "needle\n", "s/out/c7.txt": "x\nneedle\n", "s/out/c8.txt": "needle\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    workspace = Workspace(str(tmp_path / "w"), session=str(tmp_path / "s"))
    search = SearchSettings(engine=engine)  # type: ignore[arg-type]
    found = [
        str(await grep(workspace, Query(pattern="needle", path=path), search))
        for path in ("session:out/c7.txt", "session:out", ".")
    ]
    assert found == [
        "session:out/c7.txt:2: needle",
        "session:out/c7.txt:2: needle\nsession:out/c8.txt:1: needle",
        "a:1: needle",
    ]


@pytest.mark.parametrize("engine", ["rg", "python"])
async def test_where_policy_allows_it_a_folder_outside_is_searched_by_its_absolute_path(
    tmp_path: Path, engine: str
) -> None:
    for name in ("w/a", "o/.gitignore", "o/sub/b"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    workspace = Workspace(str(tmp_path / "w"), outside="allow")
    search = SearchSettings(engine=engine)  # type: ignore[arg-type]
    for path in ("../o", "../o/sub/b"):
        found = await grep(workspace, Query(pattern="needle", path=path), search)
        assert [hit.path for hit in found.hits] == [f"{tmp_path}/o/sub/b"]
    assert [hit.path for hit in (await grep(workspace, Query(pattern="needle"), search)).hits] == ["a"]
