"""`make pictures`: the app's main screens as PNG for the pages, from the scenes that the snapshot tests play."""

from __future__ import annotations

import asyncio
import importlib
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
WIDTH = 1100
"""Pixels of a picture."""
SHOTS = [
    ("work", "dark", (120, 40)),
    ("approval", "dark", (100, 32)),
    ("several", "light", (100, 30)),
    ("live", "dark", (100, 24)),
]
"""Scene, theme, columns and lines."""


async def main() -> int:
    """Draw them all."""
    resvg = importlib.import_module("resvg_py")
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    scenes = importlib.import_module("scenes")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scene, theme, size in SHOTS:
        with tempfile.TemporaryDirectory() as folder:
            [svg] = await scenes.pictures(scene, [scenes.Shot(theme=theme, size=size)], Path(folder))
        font = "DejaVu Sans Mono"
        png = resvg.svg_to_bytes(svg_string=svg, font_family=font, monospace_family=font, width=WIDTH)
        file = FOLDER / f"app-{scene}.png"
        file.write_bytes(bytes(png))
        print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
