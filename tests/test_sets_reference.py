"""The pages of the tool sets say what the tools say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pegboard.entries import scan

ROOT = Path(__file__).resolve().parents[1]


def test_the_pages_of_the_sets_have_the_reference_that_the_tools_give() -> None:
    script = ROOT / "scripts" / "sets_reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_switch_that_is_left_out_is_not_taken_for_false_where_it_is_true() -> None:
    """A schema does not say `false`, and what depends on a setting it cannot say: the page does."""
    page = (ROOT / "docs" / "sets" / "core.md").read_text("utf-8")
    assert "| `regex` | boolean | `true`, unless `search.grep_default` says otherwise |" in page
    assert "| `ignore_case` | boolean | `false` |" in page
    assert "| `overwrite` | boolean | `true` |" in page


def test_every_set_of_ours_has_a_page() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "sets").glob("*.md"))
    ours = [entry.name for entry in scan() if entry.own and entry.group == "pegboard.toolsets"]
    assert len(ours) >= 7
    marks = [line for line in pages.splitlines() if line.startswith("<!-- reference:")]
    assert [name for name in ours if not any(name in mark.replace(",", " ").split() for mark in marks)] == []
