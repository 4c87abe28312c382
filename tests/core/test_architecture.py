"""What holds of the core's source: one door to a tool's function, no tool's name, broad catches where they are named."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pegboard
import pytest
from pegboard.activity import GLYPHS

SOURCE = Path(pegboard.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py"))


@cache
def trees() -> dict[str, ast.Module]:
    """By module's path. Not made as this module is imported, which every process of a run does."""
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in FILES}


def inside(name: str) -> bool:
    """Whether a module is part of the road and what it stands on: not the kit, which knows no board, nor what authors have
    their plugins tested and checked with."""
    return not name.startswith(("kit/", "testing/", "checking/"))


def attributes(tree: ast.AST, name: str) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == name:
            yield node


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """(what is called, as it is written) for every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_the_source_is_there() -> None:
    assert {"road.py", "running.py", "agent.py", "session/log.py"} <= set(trees())


@pytest.mark.row("R-001")
def test_a_tools_function_is_reached_in_running_alone() -> None:
    users = {name for name, tree in trees().items() if inside(name) for _ in attributes(tree, "function")}
    assert users == {"running.py", "plugins/loading.py"}
    plugins = {ast.unparse(node) for node in attributes(trees()["plugins/loading.py"], "function")}
    assert plugins == {"impl.function"}  # a hook's implementation, not a tool's


@pytest.mark.row("R-001")
def test_only_the_road_makes_grants_and_has_them_run() -> None:
    grants = {name for name, tree in trees().items() for called, _ in calls(tree) if called.split(".")[-1] == "Grant"}
    assert grants == {"road.py"}
    runs = {
        (name, called)
        for name, tree in trees().items()
        if inside(name)
        for called, _ in calls(tree)
        if called.endswith(("runner.run", "Runner.run"))
    }
    assert runs == {("road.py", "self.runner.run")}
    makers = {name for name, tree in trees().items() for called, _ in calls(tree) if called == "Runner"}
    assert makers == {"roads.py"}


@pytest.mark.row("R-001")
def test_every_way_to_call_a_tool_is_the_roads_travel() -> None:
    travels = {
        (name, called)
        for name, tree in trees().items()
        for called, _ in calls(tree)
        if called.endswith((".travel", ".travel_as", "again"))
    }
    assert {name for name, _ in travels} == {"agent.py", "board.py", "calling.py", "contexts.py", "road.py"}
    stages = {
        (name, called.split(".")[-1])
        for name, tree in trees().items()
        for called, _ in calls(tree)
        if called.endswith((".prepare", ".perform")) and ("road." in called or name == "road.py")
    }
    both = {(name, stage) for name in ("road.py", "dispatch.py") for stage in ("prepare", "perform")}
    assert stages == both  # the calls of a reply, side by side
    roads = {name for name, tree in trees().items() for called, _ in calls(tree) if called == "Road"}
    assert roads == {"roads.py"}


TOOLS = """read_file write_file edit_file glob grep bash multi_edit list_dir read_many_files apply_patch find delete_files
line_count git_status git_diff git_log git_show git_blame git_branch git_rev_parse git_add git_commit git_push web_search
web_fetch http_request code_test code_lint code_format exec bg ask task write_todos load_tools load_skill"""
FRONTS = "typer click rich textual prompt_toolkit pegboard_cli pegboard_tui"
PERMISSIONS = {"bash", "ask", "exec"}
"""Words that are also permission keys, kinds of touches or categories: they may stand as such, not as a tool's name."""


def texts(tree: ast.AST) -> Iterator[str]:
    """Every string constant that is no docstring."""
    docs = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


@pytest.mark.row("R-002")
def test_the_core_names_no_tool() -> None:
    names = set(TOOLS.split()) - PERMISSIONS
    found = {(name, text) for name, tree in trees().items() if inside(name) for text in texts(tree) if text in names}
    assert found == set()
    loop = {
        text
        for name in ("agent.py", "turn.py", "repeats.py", "road.py", "lane.py", "trip.py")
        for text in texts(trees()[name])
    }
    assert not loop & names


@pytest.mark.row("R-002")
def test_no_tools_name_is_looked_at_on_the_road() -> None:
    """Names are compared in the registry and in policy's name rules alone."""
    users = {
        name
        for name, tree in trees().items()
        if inside(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(
            isinstance(side, ast.Attribute) and ast.unparse(side) in ("tool.name", "made.name")
            for side in (node.left, *node.comparators)
        )
    }
    assert users <= {"road.py"}  # `tool.name in self.runner.stuck`: which tool is off, whichever it is
    assert "name ==" not in "".join(
        ast.unparse(node) for node in ast.walk(trees()["road.py"]) if isinstance(node, ast.Compare)
    )


def test_the_core_names_no_front_end() -> None:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            modules = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not {module.split(".")[0] for module in modules} & set(FRONTS.split()), name


def test_categories_are_words_of_declarations_not_names_of_tools() -> None:
    assert set(GLYPHS) == {"read", "write", "search", "exec", "ask", "todo", "delegate", "mcp"}


# --- broad catches ----------------------------------------------------------------------------------------------------

BROAD = {"Exception", "BaseException", "SystemExit", ""}
PLACES = {
    "activity.py": "tools",
    "arguments.py": "tools",
    "conversation.py": "plugins",
    "desk.py": "plugins",
    "guards.py": "plugins",
    "launchers.py": "plugins",
    "manifest.py": "plugins",
    "observing.py": "plugins",
    "outcome.py": "tools",
    "plugins/child.py": "plugins",
    "plugins/loaded.py": "plugins",
    "plugins/loading.py": "plugins",
    "plugins/project_files.py": "plugins",
    "plugins/stamps.py": "plugins",
    "policy/policy.py": "tools",
    "policy/shell/judge.py": "lines",
    "providers.py": "plugins",
    "rendering.py": "plugins",
    "rewriting.py": "plugins",
    "road.py": "tools",
    "running.py": "tools",
    "selection.py": "plugins",
    "turn.py": "plugins",
}
"""Where strangers' code is called. A broad catch elsewhere hides a fault of ours."""


def names_of(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind) for kind in kinds}


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler only tidies up: its last statement is a bare `raise`."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@cache
def broad() -> list[tuple[str, ast.ExceptHandler, str]]:
    return list(_broad())


def _broad() -> Iterator[tuple[str, ast.ExceptHandler, str]]:
    """(module, handler, the comment on its line) of every broad catch that does not raise again."""
    for name, tree in trees().items():
        lines = (SOURCE / name).read_text("utf-8")
        comments = {
            token.start[0]: token.string
            for token in tokenize.generate_tokens(io.StringIO(lines).readline)
            if token.type == tokenize.COMMENT
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and names_of(node) & BROAD and not raises_again(node):
                yield name, node, comments.get(node.lineno, "")


def test_broad_catches_stand_at_named_places_with_their_reason() -> None:
    unnamed = [f"{name}:{node.lineno}" for name, node, _ in broad() if inside(name) and name not in PLACES]
    assert unnamed == []
    silent = [
        f"{name}:{node.lineno} {comment!r}"
        for name, node, comment in broad()
        if inside(name) and not any(f"isolates {who}" in comment for who in PLACES.get(name, "").split())
    ]
    assert silent == []
    assert {name for name, _, _ in broad() if inside(name)} == set(PLACES)


def test_nothing_catches_what_ends_the_program_save_where_a_strangers_thread_begins() -> None:
    """No signal reaches a worker thread: whatever is raised there, a tool or a renderer raised. And the child process that
    looks at strangers' plugins ends when it has told of each."""
    found = [(name, comment) for name, node, comment in broad() if names_of(node) & {"BaseException", ""}]
    assert {name for name, _ in found} == {"plugins/child.py", "rendering.py", "running.py"}
    assert all("thread" in comment for name, comment in found if name != "plugins/child.py")


def test_no_module_has_state_that_outlives_a_board() -> None:
    """Module-level names are constants: nothing assigns to them from a function, and none is an empty container."""
    offenders = []
    for name, tree in trees().items():
        if not inside(name):
            continue
        offenders += [f"{name}:{node.lineno} global" for node in ast.walk(tree) if isinstance(node, ast.Global)]
        for statement in tree.body:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(value, ast.List | ast.Dict | ast.Set):
                empty = not (value.keys if isinstance(value, ast.Dict) else value.elts)
                offenders += [f"{name}:{statement.lineno} empty container"] if empty else []
    assert offenders == []
