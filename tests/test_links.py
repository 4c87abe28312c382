"""Links between the pages lead somewhere, and the script that says so finds those that do not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "check_links.py"

GOOD = """# A page
[to itself](#a-page) [a file](b%20c.md "title") ![a picture](../pages/x.png) [the web](https://example.com/no)
[a heading](<b%20c.md#what-it-does-12>) `[not](a-link.md)`
```
[not](one.md)
```
[named]: ../scripts
"""
BAD = """# Another
[gone](gone.md)
[heading](good.md#no-such)
[out](../../out.md)
"""


def check(script: Path) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_every_link_of_ours_leads_somewhere() -> None:
    code, lines = check(SCRIPT)
    assert code == 0, lines


def test_broken_links_are_found_with_page_and_line(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = Path(shutil.copy(SCRIPT, tmp_path / "scripts"))
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "x.png").touch()
    (pages / "b c.md").write_text("## What it does (1/2)\n", encoding="utf-8")
    (pages / "good.md").write_text(GOOD, encoding="utf-8")
    assert check(script) == (0, ["2 pages, 0 broken links"])
    (pages / "bad.md").write_text(BAD, encoding="utf-8")
    code, lines = check(script)
    assert code == 1
    assert [line.partition(": ")[0] for line in lines[:-1]] == [f"pages/bad.md:{number}" for number in (2, 3, 4)]
    assert lines[-1] == "3 pages, 3 broken links"
