"""Every hook and every group of entry points is documented, and tested by a test that says so.

`@pytest.mark.hook("pegboard_tools")`, or the name of a group whose entries name an object: such a test goes from an
installed plugin to what is seen of it, and fails where the board makes nothing of the hook.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import site_sources
from pegboard import hooks
from pegboard.entries import FORMS

ROOT = Path(__file__).resolve().parents[1]
HOOKS = {name: found for name, found in vars(hooks).items() if hasattr(found, "pegboard_spec")}
OBJECTS = {*hooks.ROLES} - {*hooks.GROUPS}
"""Groups whose entries name an object, and have no hooks."""


def rows_of(page: Path, heading: str) -> dict[str, str]:
    """The first table under a heading: what its rows say, by each name in code of their first cell."""
    text = page.read_text("utf-8").partition(f"\n{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table, f"{page.name} has no table under {heading!r}"
    rows = [line.strip("|").split("|", 1) for line in table[0].splitlines()[2:]]
    return {name: rest for first, rest in rows for name in re.findall(r"`([^`]+)`", first)}


def marked(source: str) -> list[str]:
    """The hooks that tests of a module are marked with."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        for mark in node.decorator_list:
            match mark:
                case ast.Call(func=ast.Attribute(attr="hook"), args=[*names]):
                    found += [name.value for name in names if isinstance(name, ast.Constant)]
    return found


@pytest.fixture(scope="module")
def tested() -> set[str]:
    texts = [file.read_text("utf-8") for file in Path(__file__).parent.rglob("test_*.py")]
    return {name for text in texts if "mark.hook(" in text for name in marked(text)}


def test_every_hook_stands_in_a_group_and_every_group_has_a_role() -> None:
    assert HOOKS.keys() == set().union(*hooks.GROUPS.values())
    assert {*hooks.GROUPS, FORMS} <= {*hooks.ROLES}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_says_what_it_is_for_and_where_it_stands(name: str) -> None:
    said = inspect.getdoc(HOOKS[name]) or ""
    groups = [group for group, allowed in hooks.GROUPS.items() if name in allowed]
    assert len(said.partition("\n")[0]) > 30, f"{name} has no sentence that says what it is for"
    assert any(f"`{group}`" in said for group in groups), f"{name} names none of its groups: {groups}"
    signature = inspect.signature(HOOKS[name])
    assert [*signature.parameters] == ["settings"] and signature.return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("group", [*hooks.ROLES])
def test_a_group_stands_in_the_tables_with_the_hooks_that_it_may_have(group: str) -> None:
    for page, heading in (("plugins.md", "## Groups are roles"), ("architecture.md", "## Hooks and roles")):
        rows = rows_of(ROOT / "docs" / page, heading)
        assert group in rows, f"docs/{page} does not tell of {group}"
        if "the one of that name" not in rows[group]:
            assert set(re.findall(r"`(pegboard_\w+)`", rows[group])) == hooks.GROUPS.get(group, frozenset())


def test_the_hooks_are_a_page_of_the_reference_with_all_that_stands_there(tmp_path: Path) -> None:
    site_sources.write_api(tmp_path)
    page = (tmp_path / "api" / "hooks.md").read_text("utf-8")
    assert "::: pegboard.hooks\n" in page and "members:" not in page
    assert '"api/hooks.md"' in site_sources.CONFIG.read_text("utf-8")


@pytest.mark.parametrize("name", [*HOOKS, *sorted(OBJECTS)])
def test_a_hook_is_tested_by_a_test_that_is_marked_with_it(name: str, tested: set[str]) -> None:
    assert name in tested, f'no test is marked @pytest.mark.hook("{name}"): one that fails where nothing is made of it'


def test_no_test_is_marked_with_a_hook_that_there_is_none_of(tested: set[str]) -> None:
    assert tested <= HOOKS.keys() | OBJECTS


def test_marks_are_read() -> None:
    source = '@pytest.mark.hook("a", "b")\nasync def test_one(): ...\n@pytest.mark.hook("c")\ndef helper(): ...\n'
    assert marked(source) == ["a", "b"]


# --- settings: every hook has those of its plugin, and may leave them out -----------------------------------------

ROLE_OF = {
    "pegboard_tools": "tools",
    "pegboard_guards": "guards",
    "pegboard_approvers": "approvers",
    "pegboard_rewriters": "rewriters",
    "pegboard_renderers": "renderers",
    "pegboard_observers": "observers",
    "pegboard_prompt": "prompts",
}
PLUGIN = """
import msgspec
from pegboard import hookimpl

called = []

class Settings(msgspec.Struct, frozen=True):
    word: str = "plain"

@hookimpl
def {hook}({takes}):
    called.append({keeps})
    return {returns}
"""


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("takes", [True, False], ids=["takes settings", "leaves them out"])
def test_a_hook_is_called_once_with_the_settings_of_its_plugin_or_without(
    pegboard_board: Any, name: str, takes: bool
) -> None:
    import types

    module: Any = types.ModuleType("pegboard_mine")
    exec(
        PLUGIN.format(
            hook=name,
            takes="settings" if takes else "",
            keeps="settings.word" if takes else "None",
            returns="{}" if name == "pegboard_renderers" else "[]",
        ),
        vars(module),
    )
    board = pegboard_board(**{ROLE_OF[name]: {"mine": module}}, settings={"mine.word": "of a person"})
    assert module.called == (["of a person"] if takes else [None])
    assert not [note for note in board.notes if "mine" in note]
