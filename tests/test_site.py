"""The site: every page has its place, what pages link to comes along, and a strict build finds nothing wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import site_sources
from pegboard.hooks import GROUPS, ROLES

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "pages"
    assert site_sources.main([str(out)]) == 0
    return out


def test_what_a_page_links_to_outside_of_docs_comes_along(pages: Path) -> None:
    page = (pages / "plugins.md").read_text("utf-8")
    assert "](repository/core/src/pegboard/hooks.py.md)" in page
    assert "def pegboard_tools" in (pages / "repository/core/src/pegboard/hooks.py.md").read_text("utf-8")
    readme = (pages / "repository/examples/bar-chart/README.md").read_text("utf-8")
    assert "](../../../plugin-widgets.md)" in readme and "](src/pegboard_bars/widget.py.md)" in readme


def test_links_in_code_stay_as_they_are() -> None:
    lines = list(site_sources.prose("[a](b)\n```toml\n[x](y)\n```\n~~~\n```\n~~~\n[c](d)\n"))
    assert [line for outside, line in lines if outside] == ["[a](b)\n", "[c](d)\n"]


def test_the_directory_lists_every_example(pages: Path) -> None:
    directory = (pages / "directory.md").read_text("utf-8")
    for project in (ROOT / "examples").glob("*/pyproject.toml"):
        assert f"(repository/examples/{project.parent.name}/README.md)" in directory


def test_a_page_without_a_place_in_the_navigation_is_told_of(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "zensical.toml"
    config.write_text(site_sources.CONFIG.read_text("utf-8").replace('{ "Trust" = "trust.md" }', '"gone.md"'), "utf-8")
    monkeypatch.setattr(site_sources, "CONFIG", config)

    assert site_sources.main([str(tmp_path / "pages")]) == 1

    said = capsys.readouterr().out
    assert "docs/trust.md has no place in the navigation of zensical.toml" in said
    assert "zensical.toml names gone.md, which is not there" in said


@pytest.mark.slow
def test_a_strict_build_finds_nothing_wrong(tmp_path: Path) -> None:
    assert site_sources.main([str(tmp_path / "pages")]) == 0
    config = (ROOT / "zensical.toml").read_text("utf-8").replace('"build/pages"', '"pages"')
    (tmp_path / "zensical.toml").write_text(config.replace('"core/src"', f'"{ROOT / "core/src"}"'), "utf-8")
    program = Path(sys.executable).with_name("zensical")
    done = subprocess.run([program, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site/api/hooks/index.html").read_text("utf-8")
    assert "https://fonts" not in page
    hooks = set().union(*GROUPS.values())
    assert [name for name in sorted({*hooks, *GROUPS, *ROLES}) if name not in page] == []
    assert [name for name in sorted(hooks) if f'id="pegboard.hooks.{name}"' not in page] == []
