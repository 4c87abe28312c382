"""`from pegboard import ...` gives the same things, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys

import pegboard
import pytest


@pytest.mark.parametrize("first", ["pegboard", "pegboard.tool", "pegboard.board", "pegboard.testing.bench"])
def test_the_decorator_is_not_shadowed_by_the_module_of_its_name(first: str) -> None:
    code = f"import {first}\nfrom pegboard import tool\n@tool(pure=True)\ndef f() -> str: 'Doc'\nf.__pegboard_tool__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = pegboard.no_such_name  # type: ignore[attr-defined]


def test_importing_the_package_imports_none_of_its_modules() -> None:
    code = "import sys, pegboard\nraise SystemExit([m for m in sys.modules if m.startswith('pegboard.')] != [])"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
