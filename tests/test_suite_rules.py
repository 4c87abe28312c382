"""The rules of this suite, tried on small suites of their own: rows are written down, the network is out of reach."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


class Suite:
    """A suite in a folder of its own, under our conftest, run in a process of its own."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.out = pytester.path / "rows.json"
        monkeypatch.setenv("PEGBOARD_ROWS_OUT", str(self.out))
        pytester.makeconftest(CONFTEST.read_text("utf-8"))

    def run(self, source: str, *options: str) -> pytest.RunResult:
        # ROW stands for the mark's name: these are no rows of ours, and tools find ours by searching for it
        self.pytester.makepyfile(source.replace("mark.ROW", "mark.row"))
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options)

    def rows(self) -> dict[str, str]:
        written: dict[str, str] = json.loads(self.out.read_text("utf-8"))
        return written


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    return Suite(pytester, monkeypatch)


OUTCOMES = """
import pytest

@pytest.mark.ROW("R-001")
def test_passes(): pass

@pytest.mark.ROW("R-001", "R-002")
@pytest.mark.parametrize("n", [1, 2])
def test_one_of_two_fails(n): assert n == 1

@pytest.mark.ROW("R-003")
def test_skips(): pytest.skip("no such program")

@pytest.fixture
def broken(): raise OSError
@pytest.mark.ROW("R-004")
def test_fails_in_setup(broken): pass

@pytest.fixture
def leaks():
    yield
    raise OSError
@pytest.mark.ROW("R-005")
def test_fails_in_teardown(leaks): pass

@pytest.mark.ROW("R-006")
class TestClass:
    @pytest.mark.ROW("R-007")
    def test_has_both(self): pass

@pytest.mark.xfail
@pytest.mark.ROW("R-008")
def test_is_known_to_fail(): assert False
"""
EXPECTED = {
    "R-001": "failed",  # one of its tests failed
    "R-002": "failed",
    "R-003": "skipped",
    "R-004": "failed",
    "R-005": "failed",
    "R-006": "passed",
    "R-007": "passed",
    "R-008": "skipped",
}


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_a_row_passes_only_when_every_test_of_it_passed(suite: Suite, options: list[str]) -> None:
    result = suite.run(OUTCOMES, *options)
    assert result.ret == 1
    assert suite.rows() == EXPECTED


MARKS = """
import pytest

@pytest.mark.ROW("R-001", "R-002", "R-003", "R-004")
def test_names_too_many(): pass

@pytest.mark.ROW("R1")
def test_names_no_row(): pass
"""


def test_a_fourth_row_and_a_row_that_is_none_are_errors(suite: Suite) -> None:
    result = suite.run(MARKS)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*4 rows on one test*at most 3*", "*'R1'*no row ids*"])
    assert suite.rows() == {}


REACHES = """
import asyncio, socket, pytest

REACHES = {
    "connect": lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
    "by_name": lambda: socket.create_connection(("example.com", 80), timeout=1),
    "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
    "ipv6": lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)),
    "look_up": lambda: socket.getaddrinfo("example.com", 80),
    "asyncio": lambda: asyncio.run(asyncio.open_connection("192.0.2.1", 80)),
}

@pytest.mark.parametrize("how", REACHES)
def test_reaches(how): REACHES[how]()

@pytest.mark.parametrize("how", REACHES)
def test_swallows(how):
    try: REACHES[how]()
    except Exception: pass
"""


def test_a_test_that_reaches_for_the_network_fails_even_if_it_swallows_the_refusal(suite: Suite) -> None:
    result = suite.run(REACHES)
    result.assert_outcomes(failed=6, passed=6, errors=12)  # each errs in tear-down too, where attempts are looked at
    result.stdout.fnmatch_lines(["*reached for the network: socket.*"])


LOCAL = """
import socket

def test_talks_to_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, "s")):
        with socket.socket(family) as server, socket.socket(family) as client:
            server.bind(address)
            server.listen()
            client.connect(server.getsockname())
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        socket.create_connection(("localhost", server.getsockname()[1])).close()
    socket.getaddrinfo("192.0.2.1", 80)
    socket.getaddrinfo("0x7f.1", 80)
"""


def test_loopback_unix_sockets_and_numbers_are_free(suite: Suite) -> None:
    suite.run(LOCAL).assert_outcomes(passed=1)


def test_tests_see_no_setting_of_the_person_who_runs_them(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "PEGBOARD_MODEL", "GIT_DIR", "https_proxy"):
        monkeypatch.setenv(name, "theirs")
    real_home = os.environ["HOME"]
    result = suite.run(
        f"""
        import os, pathlib
        def test_sees():
            assert "theirs" not in os.environ.values()
            assert os.environ["HOME"] != {real_home!r}
            assert list(pathlib.Path.home().iterdir()) == []
        """
    )
    result.assert_outcomes(passed=1)


@pytest.mark.xdist_group("grouped")
def test_tests_of_a_group_stay_on_one_worker(request: pytest.FixtureRequest) -> None:
    """What a module sets up for all of its tests is set up once: xdist tells groups by the id of a test."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("in one process everything is on one worker")
    assert request.node.nodeid.endswith("@grouped")


# --- what would make a test fail now and then ---------------------------------------------------------------------------


def now_and_then(source: str) -> list[str]:
    """What a test must not count on: that so much is done in so many seconds, or that nobody else has a name in /tmp."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assert(test=test):
                asked = [part for part in ast.walk(test) if isinstance(part, ast.Compare)]
                found += [f"line {node.lineno}: {ast.unparse(one)}" for one in asked if _is_in_time(one)]
            case ast.Call(func=ast.Name(id="Path"), args=[ast.Constant(value=str(name))]) if name.startswith("/tmp/"):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def _is_in_time(compared: ast.Compare) -> bool:
    """Whether it says that the time since something is below a limit."""
    match compared:
        case ast.Compare(left=ast.BinOp(op=ast.Sub(), left=ast.Call(func=clock)), ops=[ast.Lt() | ast.LtE()]):
            return ast.unparse(clock).rpartition(".")[2] in ("monotonic", "perf_counter", "time")
    return False


def test_no_test_counts_on_how_quick_the_machine_is_or_on_a_name_in_tmp() -> None:
    """Wait for the thing itself (`helpers/running.py`); what would never end in time, let it take longer than a test may."""
    tests = Path(__file__).parent
    texts = {str(file.relative_to(tests)): file.read_text("utf-8") for file in tests.rglob("*.py")}
    worth_a_look = {name: text for name, text in texts.items() if "() - " in text or "/tmp/" in text}
    found = {name: now_and_then(text) for name, text in worth_a_look.items() if not name.startswith("shared")}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("assert done and time.monotonic() - began < 5", True),
        ("assert perf_counter() - began <= 0.1", True),
        ("assert not Path('/tmp/held').exists()", True),
        ("assert time.monotonic() < until, 'it did not come to that'", False),
        ("assert drawn <= 5 + 20 * (monotonic() - began)", False),  # the slower, the more may be drawn
        ("assert list(tmp_path.iterdir()) == []", False),
    ],
)
def test_what_counts_on_time_or_on_tmp_is_found(source: str, is_one: bool) -> None:
    assert bool(now_and_then(source)) == is_one
