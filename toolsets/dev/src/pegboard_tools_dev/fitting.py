"""What a command line becomes when a call names paths or tests: each program takes them in its own way, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from pegboard.errors import ToolError

from pegboard_tools_dev.project import Project
from pegboard_tools_dev.targets import Target

Argv = tuple[str, ...]
PLACE = "{path}"
"""In a configured command: where the paths of a call go. It is left out where a call names none."""

SCRIPTS = frozenset({"npm", "yarn", "pnpm", "bun"})
"""What runs the scripts of package.json."""
_TAKE_PATHS = frozenset(
    {"ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "eslint", "prettier", "gofmt"}
)
_CHECKS = {"black": "--check", "isort": "--check-only"}


def kind_of(argv: Sequence[str]) -> str:
    """Which program a command line comes down to: `uv run pytest -q` is `pytest`. Empty: none of those known here."""
    names = [_name(word) for word in argv]
    if names[0] in SCRIPTS | {"make", "cargo", "go"}:
        return "script" if names[0] in SCRIPTS else names[0]
    if "pytest" in names or "py.test" in names:
        return "pytest"
    if ("-m", "unittest") in pairwise(argv):
        return "unittest"
    return next((name for name in names if name in _TAKE_PATHS), "")


def _name(word: str) -> str:
    return os.path.basename(word).removesuffix(".exe").removesuffix(".cmd")


def placed(argv: Argv, words: Sequence[str]) -> Argv:
    """The command with the paths at `{path}`, else at its end, in place of a `.` there."""
    if PLACE in argv:
        at = argv.index(PLACE)
        return (*argv[:at], *words, *argv[at + 1 :])
    if words and argv[-1] in (".", "./..."):
        argv = argv[:-1]
    return (*argv, *words)


def fitted(argv: Argv, project: Project, where: Sequence[Target], filter: str | None) -> Argv:
    """The command that runs the tests named.

    Raises:
        ToolError: the program does not take what was named.
    """
    if filter is not None and filter.startswith("-"):
        raise ToolError(f"{filter} would be taken for an option. Nothing was run. Name tests by a part of their name.")
    kind = kind_of(argv)
    member = next((target for target in where if target.member), None)
    if member is not None and kind not in ("pytest", "unittest"):
        raise ToolError(
            f"{member.path}{member.member}: only pytest and unittest take `::`. Nothing was run. Use filter."
        )
    fit = _FIT.get(kind)
    if fit is not None and PLACE not in argv:
        return fit(argv, project, where, filter)
    if filter is not None and kind != "pytest":
        raise ToolError(f"{argv[0]} takes no filter that is known here. Nothing was run. Leave it out, or name paths.")
    if where and PLACE not in argv:
        raise ToolError(
            f"{argv[0]} takes no paths that is known here. Nothing was run. Leave them out, or put {PLACE} into test_cmd."
        )
    return _pytest(argv, project, where, filter)


def fitted_paths(argv: Argv, where: Sequence[Target], setting: str) -> Argv:
    """The command that checks or formats the paths named. `setting`: where a person could say otherwise.

    Raises:
        ToolError: the program takes no paths.
    """
    for target in where:
        if target.member:
            raise ToolError(f"{target.path}{target.member} is no path. Nothing was run. Leave {target.member} out.")
    if argv[:2] == ("go", "vet"):
        return placed(argv, _packages(where))
    if where and kind_of(argv) not in _TAKE_PATHS and PLACE not in argv:
        raise ToolError(
            f"{' '.join(argv[:3])} takes no paths that is known here. Nothing was run. "
            f"Leave path out, or put {PLACE} into {setting}."
        )
    return placed(argv, [target.word for target in where])


def checking(argv: Argv, project: Project) -> Argv:
    """The command that says what a formatter would do, and changes nothing.

    Raises:
        ToolError: none is known.
    """
    kind = kind_of(argv)
    if kind in _CHECKS:
        return (*argv, _CHECKS[kind])
    if kind == "ruff" and "format" in argv:
        at = argv.index("format") + 1
        return (*argv[:at], "--check", *argv[at:])
    if kind == "prettier" and (writes := {"--write", "-w"} & set(argv)):
        return tuple("--check" if word in writes else word for word in argv)
    if kind == "gofmt":
        return tuple(word for word in argv if word != "-w")
    if argv[:2] == ("cargo", "fmt"):
        return ("cargo", "fmt", "--check", *argv[2:])
    if argv[1:] == ("run", "format") and "format:check" in project.scripts:
        return (argv[0], "run", "format:check")
    raise ToolError(
        f"how {' '.join(argv[:3])} only checks is not known here. Nothing was run. Leave check out to have files formatted."
    )


def _pytest(argv: Argv, _: Project, where: Sequence[Target], filter: str | None) -> Argv:
    return placed((*argv, "-k", filter) if filter else argv, [target.word + target.member for target in where])


def _unittest(argv: Argv, project: Project, where: Sequence[Target], filter: str | None) -> Argv:
    by = ("-k", filter) if filter else ()
    if not where:
        return (*argv, *by)
    base = argv[: argv.index("unittest") + 1]
    if len(where) == 1 and not where[0].member:
        return (*base, "discover", *_folder(project, where[0]), *by)
    folder = next((target for target in where if target.folder), None)
    if folder is not None:
        raise ToolError(
            f"unittest takes {folder.path} alone or files. Nothing was run. Name one folder, or files only."
        )
    return (*base, *map(_dotted, where), *by)


def _folder(project: Project, target: Target) -> Argv:
    """`discover` over one folder, or over the folder of one file with a pattern that only this file fits."""
    folder, name = (target.path, "") if target.folder else os.path.split(target.path)
    start: Argv = ("-s", folder or ".")
    if folder not in ("", ".") and "__init__.py" in project.names(folder):
        start += ("-t", ".")
    return (*start, "-p", re.sub(r"([*?[])", r"[\1]", name)) if name else start


def _dotted(target: Target) -> str:
    """`tests.test_a.Case.test_one`, as unittest names tests."""
    parts = [*target.path.removesuffix(".py").split("/"), *target.member.split("::")]
    parts = [part for part in parts if part]
    if not target.path.endswith(".py") or not all(part.isidentifier() for part in parts):
        raise ToolError(
            f"{target.path}{target.member} is nothing that unittest can import by name. Nothing was run. "
            "Name one file, or one folder."
        )
    return ".".join(parts)


def _cargo(argv: Argv, _: Project, where: Sequence[Target], filter: str | None) -> Argv:
    if where:
        raise ToolError("cargo test takes no paths. Nothing was run. Give a part of the tests' names as filter.")
    at = argv.index("--") if "--" in argv else len(argv)
    return (*argv[:at], filter, *argv[at:]) if filter else argv


def _go(argv: Argv, _: Project, where: Sequence[Target], filter: str | None) -> Argv:
    packages = _packages(where)
    given = next((i for i, word in enumerate(argv) if i > 1 and word.startswith(".")), len(argv))
    flags = (*argv[:given], f"-run={filter}") if filter else argv[:given]
    return (*flags, *packages) if packages else (*flags, *argv[given:])


def _packages(where: Sequence[Target]) -> list[str]:
    """Go takes packages: folders, and of a file the folder that it is in."""
    found = []
    for target in where:
        folder = target.path if target.folder else os.path.dirname(target.path)
        word = "." if folder in ("", ".") else f"./{folder}"
        found.append(f"{word}/..." if target.folder else word)
    return list(dict.fromkeys(found))


_NAMED_BY = {"vitest": "-t", "jest": "-t", "mocha": "-g"}


def _script(argv: Argv, project: Project, where: Sequence[Target], filter: str | None) -> Argv:
    more = [target.word for target in where]
    if filter:
        script = project.scripts.get("test", "")
        flag = next((flag for name, flag in _NAMED_BY.items() if re.search(rf"\b{name}\b", script)), None)
        if flag is None:
            raise ToolError(
                f"how `{script[:100]}` picks tests by name is not known. Nothing was run. Name paths instead."
            )
        more += [flag, filter]
    dashes = ("--",) if more and _name(argv[0]) == "npm" and "--" not in argv else ()
    return (*argv, *dashes, *more)


_FIT: dict[str, Callable[[Argv, Project, Sequence[Target], str | None], Argv]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "cargo": _cargo,
    "go": _go,
    "script": _script,
}
