"""Real test programs, linters and formatters, run by the tools of the set dev."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.events import CallOutput

Call = Callable[..., Record]
Write = Callable[[dict[str, str]], None]
PASSING = "import unittest\nclass T(unittest.TestCase):\n    def test_one(self): pass\n"
FAILING = "import unittest\nclass T(unittest.TestCase):\n    def test_one(self): self.assertEqual(1, 2)\n"


def needs(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)}: not installed here")


@pytest.mark.row("R-043")
def test_without_settings_unittest_runs_with_the_interpreter_that_runs_this(call: Call, write: Write) -> None:
    write({"test_a.py": FAILING + "    def test_two(self): pass\n", "test_b.py": PASSING})

    record = call("code_test")

    command = f"{sys.executable} -m unittest discover"
    assert record.outcome == "ok" and record.text.startswith(f"$ {command}\n")
    assert record.text.endswith("(1 failed, 2 passed; exit code 1)")
    assert {name: record.data[name] for name in ("passed", "failed", "skipped", "command", "exit_code")} == {
        "passed": 2,
        "failed": 1,
        "skipped": 0,
        "command": command,
        "exit_code": 1,
    }
    [failure] = record.data["failures"]
    assert failure["name"] == "test_a.T.test_one"
    assert "AssertionError: 1 != 2" in failure["text"]


def test_a_folder_with_nothing_in_it_gets_the_default_and_is_told_of_the_setting(call: Call) -> None:
    record = call("code_test")

    assert "-m unittest discover" in record.data["command"]
    assert (record.data["passed"], record.data["failed"]) == (0, 0)
    assert "(nothing was tested: no tests were found; test_cmd under [dev] sets another command" in record.text
    assert "passed" not in record.text


def test_tests_below_folders_are_run_and_those_that_fail_are_named(call: Call, write: Write) -> None:
    write({"src/app/tests/test_x.py": "def test_a(): assert 0\n", "pyproject.toml": "[project]\nname = 'x'\n"})

    record = call("code_test")

    assert (record.data["failed"], record.data["exit_code"]) == (1, 1)
    assert record.data["failures"][0]["name"] == "src/app/tests/test_x.py::test_a"


@pytest.mark.parametrize("package", [True, False])
def test_unittests_below_folders_are_run(call: Call, write: Write, package: bool) -> None:
    write({"a/b/test_x.py": FAILING, "a/b/test_y.py": PASSING} | ({"a/b/__init__.py": ""} if package else {}))

    record = call("code_test")

    assert (record.data["passed"], record.data["failed"]) == (1, 1) and "-m unittest" in record.data["command"]


@pytest.mark.parametrize(
    "text", ["import pytest\n\ndef test_a(): os._exit(0)\n", PASSING.replace("pass", "os._exit(0)")]
)
def test_a_run_that_ends_before_its_summary_says_so(call: Call, write: Write, text: str) -> None:
    write({"test_a.py": f"import os\n{text}"})

    record = call("code_test")

    assert (record.data["passed"], record.data["failed"], record.data["exit_code"]) == (None, None, 0)
    assert "(no summary that is known here was printed, so what was tested is not known" in record.text


def test_a_filter_that_nothing_fits_is_told_of_the_filter(call: Call, write: Write) -> None:
    write({"test_a.py": PASSING})

    text = call("code_test", filter="nowhere").text
    assert (
        "(nothing was tested: no tests fit what was named; leave path and filter out to run all" in text
        and "test_cmd" not in text
    )


@pytest.mark.parametrize(
    ("path", "passed"),
    [
        ("tests", 3),
        ("tests/test_a.py", 1),
        (["tests/test_a.py", "tests/test_b.py"], 3),
        ("tests/test_b.py::T::test_two", 1),
        ("./tests/../tests/test_a.py", 1),
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_unittest_runs_what_is_named(call: Call, write: Write, path: Any, passed: int, package: bool) -> None:
    two = PASSING + "    def test_two(self): pass\n"
    write({"tests/test_a.py": PASSING, "tests/test_b.py": two, "test_top.py": FAILING})
    if package:
        write({"tests/__init__.py": ""})

    record = call("code_test", path=path)

    assert (record.data["passed"], record.data["failed"]) == (passed, 0), record.text


def test_tests_in_a_folder_that_is_no_package_are_found(call: Call, write: Write) -> None:
    write({"tests/test_a.py": PASSING})

    assert call("code_test").data["passed"] == 1


def test_pytest_is_read_with_names_and_texts(call: Call, write: Write) -> None:
    source = """
import pytest
@pytest.mark.parametrize("x", ["a - b", "c"])
def test_p(x): assert x == "c"
def test_ok(): pass
@pytest.mark.skip
def test_s(): pass
@pytest.mark.xfail
def test_x(): assert 0
@pytest.fixture
def broken(): raise RuntimeError("in the fixture")
def test_e(broken): pass
class TestC:
    def test_m(self): raise ValueError("in the method")
"""
    write({"test_a.py": source, "test_b.py": "import nothere\n", "pytest.ini": "[pytest]\n"})

    record = call("code_test", path="test_a.py")
    assert [record.data[name] for name in ("passed", "failed", "skipped")] == [2, 3, 2]
    texts = {failure["name"]: failure["text"] for failure in record.data["failures"]}
    assert list(texts) == ["test_a.py::test_p[a - b]", "test_a.py::TestC::test_m", "test_a.py::test_e"]
    assert "ValueError: in the method" in texts["test_a.py::TestC::test_m"]
    assert "RuntimeError: in the fixture" in texts["test_a.py::test_e"]
    assert record.data["command"] == f"{sys.executable} -m pytest test_a.py"

    whole = call("code_test")
    assert (whole.data["failed"], whole.data["exit_code"]) == (1, 2)
    [failure] = whole.data["failures"]
    assert failure["name"] == "test_b.py" and "No module named 'nothere'" in failure["text"]

    one = call("code_test", path="test_a.py::test_ok", filter="ok")
    assert (one.data["passed"], one.data["failed"], one.data["failures"]) == (1, 0, [])


def test_a_run_that_fails_is_ok_and_one_that_takes_too_long_is_interrupted(
    board: Any, tmp_path: Path, write: Write
) -> None:
    write({"slow.sh": "echo begun; echo x >> times; sleep 60\n"})
    slow = board(settings={"dev.test_cmd": "sh slow.sh", "dev.timeout_s": 0.5})

    record = slow.call("code_test")

    assert (record.outcome, record.why) == ("interrupted", "timeout")
    assert "0.5 s" in record.text and "effects are unknown" in record.text and record.text.endswith("begun\n")
    assert slow.call("code_test", timeout_s=0.3).text.count("0.3 s") == 1
    assert (tmp_path / "times").read_text() == "x\nx\n"


def test_the_time_limit_is_two_minutes_unless_set(call: Call) -> None:
    from pegboard_tools_dev import Settings

    assert Settings().timeout_s == 120
    assert call("code_test", timeout=600_001).block == "invalid_arguments"


def test_a_summary_that_a_test_prints_is_not_taken_for_the_programs_own(call: Call, write: Write) -> None:
    printing = """
import sys, unittest
class T(unittest.TestCase):
    def test_prints(self):
        for stream in (sys.stdout, sys.stderr):
            print("Ran 1000 tests in 0.1s\\n\\nOK", file=stream)
    def test_fails(self): self.fail("it does")
"""
    write({"test_a.py": printing})
    record = call("code_test")
    assert [record.data[name] for name in ("passed", "failed", "exit_code")] == [1, 1, 1], record.text
    assert [failure["name"] for failure in record.data["failures"]] == ["test_a.T.test_fails"]

    summary = "=== short test summary info ===\\nFAILED x.py::a\\nFAILED x.py::b\\n=== 1000 passed in 0.10s ==="
    write({"pytest.ini": "", "test_a.py": f"def test_one():\n    print('{summary}')\n    assert 0\n"})
    record = call("code_test")
    assert [record.data[name] for name in ("passed", "failed", "exit_code")] == [0, 1, 1], record.text
    assert [failure["name"] for failure in record.data["failures"]] == ["test_a.py::test_one"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo '1000 passed in 0.10s'; exit 1", "says that none failed (1000 passed), and it ended with exit code 1"),
        (
            "echo '1000 passed in 0.10s'; kill -KILL $$",
            "says that none failed (1000 passed), and it ended with SIGKILL",
        ),
        (
            r"printf '1..2\nok 1 - a\nok 2 - b\n'; exit 3",
            "says that none failed (2 passed), and it ended with exit code 3",
        ),
        (
            r"printf '=== short test summary info ===\nFAILED a::b\nFAILED a::c\n=== 1 failed in 0.1s ===\n'; exit 1",
            "says 1 failed, and 2 are listed",
        ),
        ("printf 'Ran 9 tests in 0.1s\\n\\nOK\\n' >&2; exit 1", "says that none failed (9 passed)"),
    ],
)
def test_counts_that_contradict_how_it_ended_are_not_given(board: Any, script: str, said: str) -> None:
    record = board(settings={"dev.test_cmd": ["sh", "-c", script]}).call("code_test")

    assert record.outcome == "ok"
    assert [record.data[name] for name in ("passed", "failed", "skipped")] == [None, None, None]
    assert f"(no counts: its last summary {said}" in record.text
    assert " passed;" not in record.text.rpartition("(")[2]


def test_the_pytest_on_path_goes_before_the_one_beside_pegboard_which_is_said(
    call: Call, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"pytest.ini": "", "test_a.py": "def test_one(): pass\n"})
    said = "with the pytest and the plugins beside Pegboard; a .venv in the project, or test_cmd under [dev]"
    assert said in call("code_test").text
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert said not in call("code_test").text
    monkeypatch.delenv("VIRTUAL_ENV")

    write({"bin/pytest": "#!/bin/sh\necho '3 passed in 0.10s'\n"})
    (tmp_path / "bin/pytest").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    record = call("code_test")
    assert (record.data["command"], record.data["passed"]) == ("pytest", 3) and said not in record.text


def test_a_signal_is_told(board: Any) -> None:
    record = board(settings={"dev.test_cmd": ["sh", "-c", "echo 1; kill -KILL $$"]}).call("code_test")

    assert (record.data["exit_code"], record.data["signal"]) == (None, "SIGKILL")
    assert record.text.endswith("1\n(killed by SIGKILL)")
    assert [record.data[name] for name in ("passed", "failed", "skipped", "failures")] == [None, None, None, []]


@pytest.mark.row("C-005")
@pytest.mark.parametrize("tool", ["code_test", "code_lint", "code_format"])
def test_output_is_seen_as_it_comes(board: Any, tmp_path: Path, write: Write, tool: str) -> None:
    script = "import os, time\nprint('early')\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('late')\n"
    write({"s.py": script})
    live = board(settings={f"dev.{tool.removeprefix('code_')}_cmd": [sys.executable, "s.py"]})
    seen: list[str] = []

    def look(event: Any) -> None:
        if isinstance(event, CallOutput):
            seen.append(event.text)
            (tmp_path / "go").touch()

    async def run() -> Record:
        import asyncio

        async def watch() -> None:
            async for event in live.agent.events():
                look(event)

        watching = asyncio.ensure_future(watch())
        await asyncio.sleep(0)
        try:
            return await live.agent.call(tool, {"timeout": 20_000}, "program")  # type: ignore[no-any-return]
        finally:
            watching.cancel()

    record = live.run(run())

    # It went on only once somebody had seen its first line.
    assert record.outcome == "ok" and "early\nlate\n" in record.text
    assert seen and seen[0].startswith("early")


def test_long_output_keeps_its_ends_and_is_read_all_the_same(board: Any, write: Write) -> None:
    script = "for n in range(200_000): print('line', n)\nprint('==== 2 failed, 3 passed in 1.00s ====')\n"
    write({"pytest.py": script})
    record = board(settings={"dev.test_cmd": [sys.executable, "./pytest.py", "pytest"]}).call("code_test")

    assert (record.data["passed"], record.data["failed"]) == (3, 2)
    assert record.truncated and record.full_output
    assert "line 0\n" in record.text and "==== 2 failed" in record.text
    assert record.text.endswith("(2 failed, 3 passed)")


def test_colours_are_off_and_read_through_where_they_are_not(board: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    line = r"echo $NO_COLOR${FORCE_COLOR-unset}; printf '\033[31m=== \033[1m1 failed\033[0m, 2 passed in 0.1s ===\n'"
    record = board(settings={"dev.test_cmd": ["sh", "-c", line, "pytest"]}).call("code_test")

    assert "1unset\n" in record.text
    assert (record.data["passed"], record.data["failed"]) == (2, 1)


def test_node_runs_by_npm_with_the_paths_named(call: Call, write: Write) -> None:
    needs("node", "npm")
    good = "const test = require('node:test'); test('fine', () => {});\n"
    inner = "await t.test('inner', () => { throw Error('boom') })"
    bad = f"const test = require('node:test'); test('outer', async (t) => {{ {inner} }});\n"
    write({"package.json": '{"scripts": {"test": "node --test"}}', "a.test.js": good, "b.test.js": bad})

    record = call("code_test")
    assert record.data["command"] == "npm test"
    assert record.data["passed"] == 1 and record.data["failed"] >= 1 and record.data["exit_code"] == 1
    [failure] = record.data["failures"]
    assert failure["name"].endswith("inner") and "boom" in failure["text"]

    one = call("code_test", path="a.test.js")
    assert one.data["command"] == "npm test -- a.test.js"
    assert (one.data["passed"], one.data["failed"]) == (1, 0)


@pytest.fixture
def rust(monkeypatch: pytest.MonkeyPatch) -> None:
    """cargo, which looks for its compiler in the home that these tests do not have."""
    needs("cargo", "cc")
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
        if (home / folder).is_dir():
            monkeypatch.setenv(name, str(home / folder))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    asked = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"cargo does not run here: {asked.stderr.splitlines()[:1]}")


@pytest.mark.usefixtures("rust")
def test_cargo_is_read_and_takes_a_filter(call: Call, write: Write) -> None:
    source = "#[test] fn good() {}\n#[test] fn bad() { assert_eq!(1, 2); }\n#[test] #[ignore] fn later() {}\n"
    manifest = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n'
    write({"Cargo.toml": manifest, "src/lib.rs": source})

    record = call("code_test")
    assert [record.data[name] for name in ("passed", "failed", "skipped")] == [1, 1, 1], record.text
    [failure] = record.data["failures"]
    assert failure["name"] == "bad" and "left: 1" in failure["text"]

    assert call("code_test", filter="good").data["failed"] == 0
    refused = call("code_test", path="src/lib.rs")
    assert refused.outcome == "error" and "cargo test takes no paths. Nothing was run." in refused.text


def test_make_runs_its_target_and_whatever_it_prints_is_read(call: Call, write: Write) -> None:
    needs("make")
    write({"Makefile": "check test: ; @printf '1..2\\nok 1 - a\\nnot ok 2 - b\\n'\n"})

    record = call("code_test")

    assert record.data["command"] == "make test"
    assert (record.data["passed"], record.data["failed"], record.data["failures"][0]["name"]) == (1, 1, "b")


@pytest.mark.row("R-044")
def test_ruff_checks_everything_or_what_is_named(call: Call, tmp_path: Path, write: Write) -> None:
    write({"a.py": "import os\n", "b.py": "x = 1\n"})

    record = call("code_lint")
    assert record.outcome == "ok"
    assert record.data["command"].endswith("ruff check .") and record.data["exit_code"] == 1
    assert "F401" in record.text and record.text.endswith("(exit code 1)")

    assert "All checks passed" in call("code_lint", path="b.py").text
    assert call("code_lint", path=["a.py", "b.py"]).data["command"].endswith("ruff check a.py b.py")
    assert (tmp_path / "a.py").read_text() == "import os\n"


@pytest.mark.row("R-045")
def test_ruff_formats_and_what_it_changed_is_told(call: Call, tmp_path: Path, write: Write) -> None:
    write({"sub/a.py": "x=1\n", "b.py": "y = 1\n", "c.py": "z=1\n", "out/d.py": "q=1\n", ".gitignore": "out\n"})

    looked = call("code_format", check=True)
    assert looked.data["command"].endswith("ruff format --check .") and looked.data["exit_code"] == 1
    assert "nothing was changed" in looked.text and (tmp_path / "c.py").read_text() == "z=1\n"

    one = call("code_format", path="c.py")
    assert one.data["changed"] == ["c.py"]
    record = call("code_format")
    assert record.data["command"].endswith("ruff format .")
    assert record.data["changed"] == ["sub/a.py"]
    assert record.text.endswith("(changed: sub/a.py; undo does not cover that)")
    assert (tmp_path / "sub/a.py").read_text() == "x = 1\n"
    assert call("code_format").text.endswith("(no file was changed)")


def test_a_project_in_a_folder_below_is_run_there(call: Call, write: Write) -> None:
    write({"web/package.json": "{}", "api/test_a.py": PASSING, "api/pyproject.toml": "", "package.json": "{}"})

    record = call("code_test", cwd="api", path="api/test_a.py")

    assert record.text.splitlines()[0].endswith("discover -s . -p test_a.py  (in api)")
    assert record.data["passed"] == 1
    missing = call("code_test", cwd="nope")
    assert missing.outcome == "error" and "no such folder" in missing.text
