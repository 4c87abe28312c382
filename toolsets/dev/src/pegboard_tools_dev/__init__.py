"""The tool set dev: run a project's tests, linter and formatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl

from pegboard_tools_dev.settings import Settings as Settings


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them."""
    from pegboard_tools_dev.testing import code_test
    from pegboard_tools_dev.tidying import code_format, code_lint

    return [code_test, code_lint, code_format]
