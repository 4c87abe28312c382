"""The pages do what they say: every code block is executed, and the script that does so finds those that lie."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import doc_blocks
import pytest
from warm import Warm

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "doc_blocks.py"
EXAMPLE = ROOT / "examples" / "word-count"
SKIPPED = {".venv", ".tools", ".git", "dist", "site", "shared", "build", "templates"}
PAGES = [
    page
    for page in sorted(ROOT.rglob("*.md"))
    if SKIPPED.isdisjoint(page.relative_to(ROOT).parts) and re.search(r"^\s*(```|~~~)", page.read_text("utf-8"), re.M)
]
FOLLOWED = {page: found[1] for page in PAGES if (found := doc_blocks.FOLLOWED.search(page.read_text("utf-8")))}
"""Pages that a test of their own follows."""


def run(script: Path, *arguments: str | Path, path: Path | str = "") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, script, *arguments],
        env=os.environ | {"DOC_BLOCKS_PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=110,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `pegboard` that costs no start: the pages have some hundred of them."""
    warm = Warm(PYTHONWARNINGS="ignore::DeprecationWarning")
    folder = tmp_path_factory.mktemp("programs")
    warm.script(Path(sys.executable).with_name("pegboard"), folder / "pegboard")
    yield folder
    warm.close()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in FOLLOWED], ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_code_block_does_what_the_page_says(page: Path, programs: Path) -> None:
    code, said = run(SCRIPT, page, path=programs)
    assert code == 0, said


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_a_test_follows_is_named_in_it(page: Path) -> None:
    assert page.relative_to(ROOT).as_posix() in (ROOT / FOLLOWED[page]).read_text("utf-8")


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_whole_plugin_of_the_readme_is_the_example() -> None:
    assert (EXAMPLE / "src/pegboard_words/__init__.py").read_text("utf-8") in blocks("python")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    entries = [table["project"]["entry-points"] for table in map(tomllib.loads, blocks("toml")) if "project" in table]
    assert entries == [project["entry-points"]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile with an environment of its own, in which only pegboard's core counts as installed."""
    make, uv = shutil.which("make"), ROOT / ".tools" / "bin" / "uv"
    if make is None or not uv.exists():
        pytest.skip("make, or what `make setup` installs, is missing")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    [site] = (tmp_path / ".venv").glob("[Ll]ib/python*/site-packages")
    installed = Path(sysconfig.get_path("purelib"))
    (site / "all.pth").write_text(f"import site; site.addsitedir({str(installed)!r})\n")
    for info in [*installed.glob("pegboard_core-*.dist-info"), *installed.glob("msgspec-*.dist-info")]:
        shutil.copytree(info, site / info.name)
    (tmp_path / ".tools" / "bin").mkdir(parents=True)
    (tmp_path / ".tools" / "bin" / "uv").symlink_to(uv)
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copyfile(ROOT / name, tmp_path / name)
        os.utime(tmp_path / name, (1, 1))  # older than uv, which is older than the stamp: there is nothing to set up
    (tmp_path / ".venv" / ".setup").touch()
    return tmp_path


def installed_by_make(checkout: Path, plugin: str) -> subprocess.CompletedProcess[str]:
    """`make plugin PLUGIN=...`, without a network: what builds it is in uv's cache since `make setup`."""
    done = subprocess.run(
        ["make", "-s", "plugin", f"PLUGIN={plugin}"],
        cwd=checkout,
        env=os.environ | {"UV_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=110,
    )
    if "network" in done.stderr and "disabled" in done.stderr:
        pytest.skip("uv has not what builds a plugin in its cache")
    return done


@pytest.mark.parametrize("written", [True, False], ids=["README.md", "examples/word-count/README.md"])
def test_a_plugin_is_installed_as_the_page_says(checkout: Path, written: bool) -> None:
    page = ROOT / ("README.md" if written else "examples/word-count/README.md")
    [where] = re.findall(r"`make plugin PLUGIN=(\S+)`", page.read_text("utf-8"))
    folder = checkout / where
    if written:
        folder.mkdir(parents=True)
        [module] = [block for block in blocks("python") if "@hookimpl" in block]
        [project] = [block for block in blocks("toml") if "[project]" in block]
        (folder / "pegboard_words.py").write_text(module, "utf-8")
        (folder / "pyproject.toml").write_text(project, "utf-8")
    else:
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    done = installed_by_make(checkout, where)
    assert done.returncode == 0, done.stderr
    (checkout / "notes.txt").write_text("one two three")
    called = subprocess.run(
        [checkout / ".venv/bin/python", "-m", "pegboard_cli.main", "tool", "word_count", "path=notes.txt"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert called.stdout == "3\n", called.stderr


PROJECTS = [
    (page.relative_to(ROOT).as_posix(), module, project)
    for page in PAGES
    for module, project in re.findall(
        r"^```python\n(.*?)^```$(?:(?!^```python).)*?^```toml\n((?:(?!^```).)*?^\[project\]\n.*?)^```$",
        page.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
]


@pytest.mark.parametrize(("page", "module", "project"), PROJECTS, ids=[page for page, _, _ in PROJECTS])
def test_a_project_that_a_page_shows_can_be_built(page: str, module: str, project: str, tmp_path: Path) -> None:
    [values] = next(iter(tomllib.loads(project)["project"]["entry-points"].values())).values()
    name = values.partition(":")[0]
    (tmp_path / f"{name}.py").write_text(module, "utf-8")
    (tmp_path / "pyproject.toml").write_text(project, "utf-8")
    program = "import sys; from importlib import import_module as m; print(m(sys.argv[1]).build_wheel('.'))"
    backend = tomllib.loads(project).get("build-system", {}).get("build-backend", "setuptools.build_meta")
    done = subprocess.run(
        [sys.executable, "-c", program, backend], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    with ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        assert f"{name}.py" in wheel.namelist()


def test_the_pages_that_show_a_project_are_known() -> None:
    assert {"README.md", "docs/plugins.md", "docs/how-to/provider.md"} <= {page for page, _, _ in PROJECTS}


def test_a_folder_that_is_no_plugin_is_told_of(checkout: Path) -> None:
    done = installed_by_make(checkout, "nosuch")
    assert done.returncode != 0 and "Nothing was installed" in done.stderr


def test_the_readme_shows_a_recorded_turn_with_a_question_and_its_answer() -> None:
    session = blocks("console")[0]
    assert session.count("$ pegboard run ") >= 2
    assert re.search(r"^Allow\?.*\) y$", session, re.MULTILINE)


def test_the_layers_of_the_architecture_page_are_those_that_are_held() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in linter["contracts"] if contract["type"] == "layers")
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("| layer | does |")[2].partition("\n\n")[0]
    rows = [re.findall(r"\[(\w+)\]\(", row.split("|")[1]) for row in page.splitlines() if "](" in row]
    assert [sorted(row) for row in rows] == [sorted(re.findall(r"\w+", layer)) for layer in layers]


def test_every_decision_record_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    records = [page.name for page in folder.glob("*.md") if page.name not in ("README.md", "template.md")]
    assert [name for name in records if f"]({name})" not in index] == []


# --- the script itself, on pages of its own ---------------------------------------------------------------------------


class Pages:
    """A small repository with the script and one page."""

    def __init__(self, top: Path) -> None:
        self.page = top / "page.md"
        shutil.copytree(ROOT / "scripts", top / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(EXAMPLE, top / "examples" / "word-count", ignore=shutil.ignore_patterns("__pycache__", ".*"))
        self.script = top / "scripts" / "doc_blocks.py"

    def check(self, text: str, *options: str) -> tuple[int, str]:
        self.page.write_text(text, "utf-8")
        return run(self.script, *options, self.page)


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(tmp_path)


TRUE = """
```python
import pathlib
pathlib.Path("made.txt").write_text("by a block")
```
```sh
grep -q "by a block" made.txt
```
```toml
[search]
max_hits = 5
```
```json
{"a": 1}
```
```console
$ cat made.txt; echo
by a block
$ seq 5
1
...
5
$ printf '%s\\n' "$ Run it" \\
"> there"
$ Run it
> there
$ echo 20271231-ff00ee took 17.3 ms in $PWD
20261129-1a2b3c took 1.0 ms in ~/word-count
```
"""


def test_blocks_that_are_true_pass(pages: Pages) -> None:
    assert pages.check(TRUE) == (0, "5 blocks on 1 pages, 0 wrong\n")


FALSE = {
    "```ruby\nputs 1\n```": "ruby: known are python",
    "```\nputs 1\n```": "no language",
    "~~~\nputs 2\n~~~": "no language",
    "- a list\n  ```perl\n  1\n  ```": "perl: known are",
    "```python\nassert 1 == 2\n```": "AssertionError",
    "```python\ndef test_sums():\n    assert 1 == 2\n```": "1 failed",
    "```sh\ntrue\nfalse\ntrue\n```": "exit 1",
    "```toml\nmodel =\n```": "Invalid value",
    "```toml\n[search]\nmax_hitz = 5\n```": "max_hitz",
    '```toml\n[search]\nmax_hits = "many"\n```': "max_hits",
    "```json\n{]\n```": "property name",
    "```console\n$ echo one\ntwo\n```": "printed something else",
    "```console\n$ echo one\n```": "printed something else",
    "```console\n$ true\none\n```": "printed something else",
    "```console\n$ seq 9\n1\n...\n8\n```": "printed something else",
    "```console\necho one\n```": "begins with a command",
    "```python\nprint(1)\n": "not closed",
}


def test_every_block_that_is_not_true_is_found_with_its_line(pages: Pages) -> None:
    text, expected = "", []
    for block, complaint in FALSE.items():
        start = text.count("\n") + 2 + block.startswith("- a list")
        expected.append((start, complaint))
        text += block + "\n\n"
    code, said = pages.check(text)
    found = [
        (int(line), part) for line, part in re.findall(r"^page\.md:(\d+): (.*?)(?=^page\.md:|\Z)", said, re.M | re.S)
    ]
    assert code == 1
    assert [line for line, _ in found] == [line for line, _ in expected]
    assert [said for (_, said), (_, complaint) in zip(found, expected, strict=True) if complaint not in said] == []


def test_recording_writes_what_came_and_keeps_what_holds(pages: Pages) -> None:
    text = "```console\n$ seq 3\n1\n...\n```\ntext\n```console\n$ echo one\n\n$ echo two\nthree\n```\n"
    pages.check(text, "--record")
    assert pages.page.read_text("utf-8") == text.replace(
        "$ echo one\n\n$ echo two\nthree", "$ echo one\none\n\n$ echo two\ntwo"
    )
    assert pages.check(pages.page.read_text("utf-8"))[0] == 0
