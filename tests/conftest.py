"""What holds for every test: no network but loopback, no settings of the person who runs it, rows written down.

Rows: `@pytest.mark.row("S-034")` names the rows of the shared specification that a test delivers, three ids at most.
The run writes `{row id: outcome}` to `.rows.json`, or to the file that PEGBOARD_ROWS_OUT names. A row is `passed` only
when every test that names it passed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from pegboard.testing.fixtures import Throughout

if TYPE_CHECKING:
    from model_server import ModelServer

ROOT = Path(__file__).resolve().parents[1]
MOST_ROWS = 3
ROW_ID = re.compile(r"[RZUCS]-\d{3}")
WORST_FIRST = ("failed", "skipped", "passed")


# --- settings: none of the person's own -------------------------------------------------------------------------------

FOREIGN = re.compile(
    r"PEGBOARD_.*|.*_API_KEY|GIT_.*|(HTTPS?|ALL|NO|FTP)_PROXY|RIPGREP_CONFIG_PATH|VIRTUAL_ENV", re.IGNORECASE
)
GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
}
FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": ".run",
}


def own_environment(home: Path) -> None:
    """Make this process, and so its children, that of a person with an empty home, no keys and no git settings."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    os.environ.setdefault("UV_CACHE_DIR", str(Path(cache, "uv")))  # tests/packaging installs from it, offline
    for name in [name for name in os.environ if FOREIGN.fullmatch(name)]:
        del os.environ[name]
    os.environ["PEGBOARD_LOCAL_MODELS"] = "false"  # a model server that happens to run here is no part of a test
    os.environ |= GIT | {"HOME": str(home)} | {name: str(home / folder) for name, folder in FOLDERS.items()}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of this test's own (the others share the run's), with the XDG folders below it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name, below in FOLDERS.items():
        monkeypatch.setenv(name, str(folder / below))
    return folder


# --- a model to talk to -----------------------------------------------------------------------------------------------


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted OpenAI-compatible server on loopback, started; say what it answers: `model_server.say(Reply(...))`."""
    from model_server import ModelServer

    with ModelServer() as server:
        yield server


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_of(item: pytest.Item) -> list[str]:
    """The ids that a test's `row` marks name, its class's and module's included."""
    return [str(row) for mark in item.iter_markers("row") for row in mark.args]


class Rows:
    """Collects an outcome for each row, and writes them when the run ends. Under xdist it lives in the controller."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return  # set-up and tear-down count only when they go wrong or skip
        rows: list[str] = dict(report.user_properties).get("rows", [])  # type: ignore[arg-type]
        for row in rows:
            self.outcomes[row] = min(report.outcome, self.outcomes.get(row, "passed"), key=WORST_FIRST.index)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        part = self.target.with_name(f"{self.target.name}.{os.getpid()}")
        part.write_text(json.dumps(dict(sorted(self.outcomes.items())), indent=0) + "\n", encoding="utf-8")
        part.replace(self.target)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    rows = rows_of(item)
    if wrong := [row for row in rows if not ROW_ID.fullmatch(row)]:
        pytest.fail(f"the `row` mark names {wrong}, which are no row ids (such as S-034)", pytrace=False)
    if len(rows) > MOST_ROWS:
        pytest.fail(f"{len(rows)} rows on one test ({', '.join(rows)}); at most {MOST_ROWS}: split it", pytrace=False)
    item.user_properties.append(("rows", rows))


# --- the run ----------------------------------------------------------------------------------------------------------

HOME = pytest.StashKey[Path]()


def property_tests() -> None:
    """No deadlines: timings are benchmarks here. In CI the examples are the same each time; elsewhere they explore."""
    ci = bool(os.environ.get("CI"))
    settings.register_profile(
        "pegboard",
        deadline=None,
        derandomize=ci,
        database=None if ci else settings.default.database,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile("pegboard")


LONGEST_ID = 200


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long value is named by its beginning and its length: every process of a run is told the names of all tests."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_ID:
        return None
    return f"{val[:40]!a} and so on, {len(val)} in all"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "row(*ids): rows of the shared specification that the test delivers, three at most"
    )
    config.addinivalue_line(
        "markers",
        "hook(name): the test fails where a board makes nothing of this hook, or of this group of entry points",
    )
    config.addinivalue_line("markers", "slow: takes seconds; part of every full run, left out with -m 'not slow'")
    if not hasattr(config, "workerinput"):
        target = Path(os.environ.get("PEGBOARD_ROWS_OUT") or config.rootpath / ".rows.json").absolute()
        config.pluginmanager.register(Rows(target), "pegboard-rows")
    config.stash[HOME] = Path(tempfile.mkdtemp(prefix="pegboard-home-"))
    own_environment(config.stash[HOME])
    property_tests()
    config.pluginmanager.register(Throughout(), "suite-no-network")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Workers of a whole run share what they rewrite, below the home that no test sees."""
    if node.config.args_source is node.config.ArgsSource.TESTPATHS:
        node.workerinput["rewritten"] = str(node.config.stash[HOME] / "rewritten")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    given = getattr(session.config, "workerinput", {})
    if "rewritten" in given:
        from rewritten import share

        number = int(given["workerid"].removeprefix("gw"))
        share(session.config, Path(given["rewritten"]), ROOT / "tests", number, given["workercount"])


def pytest_unconfigure(config: pytest.Config) -> None:
    if home := config.stash.get(HOME, None):
        shutil.rmtree(home, ignore_errors=True)
