"""How often a person is asked: 300 ordinary calls of an agent taken down the road as far as the decision.

    prompts.py

Prints prompts per 100 calls with the defaults, with twenty remembered answers, and in the mode `auto` where a sandbox
holds; and how many unsafe calls would have run unasked and unconfined, which must be none. The calls are
tests/data/calls_300.jsonl; `safe` says whether running one unasked would do no harm.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

CALLS = Path(__file__).resolve().parents[1] / "tests" / "data" / "calls_300.jsonl"
FILES = {
    "README.md": "# Shop\n",
    "CHANGELOG.md": "first\n",
    ".env": "KEY=secret\n",
    ".gitignore": ".env\n",
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "Makefile": "test:\n\ttrue\n",
    "docs/guide.md": "# Guide\n",
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "".join(f"value = {number}\n" for number in range(30)) + "a = 1\nb = 1\nold\n",
    "src/shop/prices.py": "a = 1\nb = 1\n",
    "src/shop/store/db.py": "",
    "src/shop/store/models.py": "",
    "tests/conftest.py": "",
    "tests/test_cart.py": "a = 1\nb = 1\n",
    "tests/data/rows.csv": "a,b\n",
    "web/package.json": "{}\n",
    "web/src/app.ts": "",
}
ANSWERS = (
    "pytest",
    "python -m pytest",
    "uv run pytest",
    "uv run ruff",
    "ruff check",
    "ruff format",
    "mypy",
    "make test",
    "make lint",
    "make build",
    "npm test",
    "npm run build",
    "npm run lint",
    "npm run typecheck",
    "cargo test",
    "go test",
    "git add",
    "git commit",
)
"""Eighteen patterns that a person would plausibly have said "always" to; with the two folders below they are twenty."""
FOLDERS = ("/src/**", "/tests/**")


class Prompts(NamedTuple):
    """What a replay came to: prompts per 100 calls, refusals per 100, and the unsafe calls that would have run."""

    asked: float
    refused: float
    unsafe: list[str]


def calls() -> list[dict[str, Any]]:
    """The corpus."""
    return [json.loads(line) for line in CALLS.read_text("utf-8").splitlines()]


@contextmanager
def project() -> Iterator[Path]:
    """The project that the calls are about."""
    with tempfile.TemporaryDirectory(prefix="pegboard-prompts-") as scratch:
        root = Path(scratch, "shop")
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        (root / ".git").mkdir()
        yield root


def remembered() -> dict[str, Any]:
    """Twenty answers of a person, as configuration."""
    rules = [{"action": "allow", "key": "edit", "path": folder} for folder in FOLDERS]
    return {"tool_permission": {"bash_allow": list(ANSWERS)}, "permission": {"rules": rules}}


def replay(root: Path, settings: dict[str, Any], *, confined: bool = False) -> Prompts:
    """Take every call as far as the decision. `confined`: a sandbox is taken to be there."""
    import tomlkit
    from pegboard.board import Board
    from pegboard.calls import Call
    from pegboard.lane import Lane
    from pegboard.policy import policy_of

    state = root.parent / "state"
    state.mkdir(exist_ok=True)
    file = state / "config.toml"
    file.write_text(tomlkit.dumps(settings), encoding="utf-8")

    async def run() -> Prompts:
        board = Board.build(str(root), user_file=file, environ={}, state=state)
        session = board.session(in_memory=True)
        road = board.road(session)
        if confined:  # whatever this machine has: nothing is run here
            road.policy = policy_of(board.loaded, mode=board.mode, confined=True)
        asked, refused, unsafe, made = 0, 0, [], calls()
        try:
            for number, one in enumerate(made):
                call = Call(id=f"c{number}", name=one["tool"], arguments=one["arguments"])
                record = await road.travel(call, Lane(), until="decide")
                decision = record.decision
                if decision is None:
                    raise RuntimeError(f"no decision: {record.requested}: {record.text}")
                asked += decision.action == "ask"
                refused += decision.action == "deny"
                if decision.action == "allow" and not decision.sandbox and not one["safe"]:
                    unsafe.append(json.dumps(one["arguments"]))
        finally:
            road.runner.close()
            session.close()
            await board.close()
        return Prompts(100 * asked / len(made), 100 * refused / len(made), unsafe)

    return asyncio.run(run())


def replays() -> Iterator[tuple[str, Prompts]]:
    """The three ways, each with what it came to."""
    with project() as root:
        yield "defaults", replay(root, {})
        yield "twenty remembered answers", replay(root, remembered())
        yield "mode auto, in the sandbox", replay(root, {"mode": "auto"}, confined=True)


def main(arguments: Sequence[str]) -> int:
    """Print the figures; 1 where an unsafe call would have run."""
    worst = 0
    print(f"{'':28}prompts per 100 calls   refused   unsafe runs")
    for name, found in replays():
        print(f"{name:28}{found.asked:21.1f}   {found.refused:7.1f}   {len(found.unsafe):11}")
        worst += len(found.unsafe)
        print("".join(f"  {text}\n" for text in found.unsafe), end="")
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
