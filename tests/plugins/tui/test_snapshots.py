"""The main screens as they are drawn, to the cell and the colour: SVG files beside this one.

After a change that was meant, `GOLDEN=write make test ARGS=tests/plugins/tui/test_snapshots.py` writes them anew; look at
them (`make pictures` makes PNG of some) before they are committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scenes import Shot, pictures

GOLDEN = Path(__file__).with_name("snapshots")
EVERY = [Shot(theme=theme, size=(width, 36)) for theme in ("dark", "light", "plain") for width in (140, 90, 40)]
SOME = {
    "work": EVERY,
    "approval": EVERY,
    "several": [Shot(theme="contrast", size=(100, 30)), Shot(size=(40, 24))],
    "question": [Shot(size=(90, 24)), Shot(theme="plain", size=(40, 24))],
    "live": [Shot(size=(90, 24)), Shot(theme="plain", size=(40, 24))],
    "welcome": [Shot(size=(110, 30)), Shot(theme="light", size=(40, 24))],
}
"""How each scene is looked at."""


@pytest.mark.parametrize("scene", SOME)
async def test_a_screen_is_drawn_as_it_was(scene: str, tmp_path: Path) -> None:
    written = [GOLDEN / f"{scene}-{shot.theme}-{shot.size[0]}.svg" for shot in SOME[scene]]
    wanted = [golden.read_text("utf-8") if golden.exists() else "" for golden in written]
    drawn = await pictures(scene, SOME[scene], tmp_path, wanted)
    others = []
    for golden, svg in zip(written, drawn, strict=True):
        if os.environ.get("GOLDEN") == "write":
            GOLDEN.mkdir(exist_ok=True)
            golden.write_text(svg, "utf-8")
        if not golden.exists() or svg != golden.read_text("utf-8"):
            others.append(tmp_path / golden.name)
            others[-1].write_text(svg, "utf-8")
    assert not others, f"drawn otherwise than the files of the same names in {GOLDEN}"
