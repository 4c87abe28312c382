"""What importing costs: a framework is imported by its own module alone."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import pegboard_adapters, pegboard_adapters.answering, pegboard.board
print([name for name in ("agents", "pydantic_ai", "pydantic", "openai") if name in sys.modules])
"""


def test_the_package_imports_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
