"""The shared cases of edits for `multi_edit` and `apply_patch`, down the road of a real board."""

from __future__ import annotations

from typing import Any

import pytest
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file
from pegboard_tools_edit_plus.editing import multi_edit
from pegboard_tools_edit_plus.patching import apply_patch
from shared_cases import cases, check


@pytest.mark.parametrize("case", cases(("multi_edit", "apply_patch"), "edits"))
def test_case(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(case, [multi_edit, apply_patch, edit_file, read_file], monkeypatch)
