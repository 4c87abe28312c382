"""What importing costs: a framework is imported by its own module alone."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

CODE = """
import sys
import pegboard_adapters, pegboard_adapters.answering, pegboard.board
print([name for name in ("agents", "pydantic_ai", "pydantic", "openai") if name in sys.modules])
"""


def test_the_package_imports_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [("pydantic_ai", "pydantic_ai", "pydantic-ai"), ("openai_agents", "agents", "openai-agents")],
)
def test_a_framework_that_is_not_installed_is_told_of_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, framework: str, extra: str
) -> None:
    monkeypatch.delitem(sys.modules, f"pegboard_adapters.{module}", raising=False)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{framework}.*pip install 'pegboard\[{extra}\]'"):
        importlib.import_module(f"pegboard_adapters.{module}")
