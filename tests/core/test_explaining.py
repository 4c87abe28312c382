"""Explain says what the road does: of every shared case, and of ten thousand pairs of rules and calls, held against a plain
reading of decision 14 that shares no code with the list."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from pegboard.board import Board
from pegboard.calls import Ask, Call, Source, Touch
from pegboard.config.load import Loaded, Stated
from pegboard.config.schema import Config
from pegboard.explaining import Explained, Unexplained, explain
from pegboard.hooks import hookimpl
from pegboard.plugins import given
from pegboard.policy import policy_of
from pegboard.policy.shell import read_line
from pegboard.tooling import Tool
from recording import RAN, Brings, fetch, look, put, shell

CASES = Path(__file__).parents[1] / "shared" / "cases"


def board_of(folder: Path, text: str = "", *, guard: Any = None, **flags: Any) -> Board:
    (folder / "root").mkdir(exist_ok=True)
    (folder / "user.toml").write_text(text, "utf-8")

    class Guards:
        @staticmethod
        @hookimpl
        def pegboard_guards(settings: Any) -> Any:
            return [guard]

    return Board.build(
        str(folder / "root"),
        user_file=folder / "user.toml",
        environ={},
        state=folder / "state",
        flags=flags,
        extra=[given("fs", "pegboard.toolsets", Brings)] + ([given("g", "pegboard.guards", Guards)] if guard else []),
        discover=False,
    )


async def both(board: Board, name: str, arguments: dict[str, Any]) -> tuple[Explained | None, Any]:
    """What is explained, and what the road did with nobody there."""
    try:
        told = await explain(board, name, arguments, caller="program")
    except Unexplained:
        told = None
    return told, await board.call(name, arguments)


def agree(told: Explained | None, record: Any) -> None:
    if told is None:
        assert record.decision is None and record.outcome in ("blocked", "error"), record
        return
    decision = record.decision
    assert (told.action, told.rule, told.layer, told.source) == (
        decision.action,
        decision.rule,
        decision.layer,
        decision.source,
    )
    assert told.sandbox == decision.sandbox
    assert told.headless == ("blocked" if record.outcome == "blocked" else "runs")
    (decided,) = [one for one in told.considered if one.decided]
    assert (decided.action, decided.rule, decided.layer, decided.source) == (
        told.action,
        told.rule,
        told.layer,
        told.source,
    )
    if told.command is not None and told.guard is None:
        assert (told.command.verdict == "allow") == (told.action == "allow")


# --- the shape --------------------------------------------------------------------------------------------------------


def test_the_shape_is_the_contracts(tmp_path: Path) -> None:
    text = "[tool_permission]\nbash_allow = [\n  'make',\n]\n"

    async def scenario() -> None:
        board = board_of(tmp_path, text)
        (tmp_path / "root" / "x").mkdir()
        try:
            told = msgspec.to_builtins(await explain(board, "bash", {"command": "cd x && git status > out; make"}))
        finally:
            await board.close()
        shape = "tool set arguments action rule layer source headless guard sandbox effect remember considered command"
        assert " ".join(told) == shape
        assert (told["tool"], told["set"], told["action"], told["rule"]) == ("shell", "fs", "ask", "bash.redirect")
        assert (told["headless"], told["guard"], told["sandbox"]) == ("blocked", None, False)
        assert (told["layer"], told["source"], told["effect"]) == ("default", None, "side_effecting")
        assert told["arguments"] == {"command": "cd x && git status > out; make"}
        made = {"action": "allow", "rule": "tool_permission.bash_allow: make", "layer": "user", "decided": False}
        assert made | {"source": {"file": str(tmp_path / "user.toml"), "line": 3}} in told["considered"]
        assert (told["command"]["verdict"], told["command"]["error"]) == ("ask", None)
        assert told["command"]["parts"] == [
            {"text": "cd x", "start": 0, "end": 4, "verdict": "allow", "rule": "cd inside the workspace", "why": None},
            {"text": "git status", "start": 8, "end": 18, "verdict": "allow", "rule": "git status", "why": None},
            {"text": "> out", "start": 19, "end": 24, "verdict": "ask", "rule": "R5", "why": "writes the file out"},
            {"text": "make", "start": 26, "end": 30, "verdict": "allow", "rule": "make", "why": None},
        ]

    asyncio.run(scenario())


def test_nothing_is_run_logged_or_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        board = board_of(tmp_path, "tool_permission.bash = 'allow'\n")
        try:
            RAN.clear()
            told = await explain(board, "shell", {"command": "make"})
            assert (told.action, told.headless, RAN) == ("allow", "runs", [])
            assert not (tmp_path / "state" / "sessions").exists()
        finally:
            await board.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("said", ["deny", "ask"])
def test_a_guards_word_is_told_with_its_plugin(tmp_path: Path, said: str) -> None:
    from pegboard.calls import Deny

    def guard(call: Any, touches: Any) -> Any:
        return (Deny if said == "deny" else Ask)("g.rule", "because")

    async def scenario() -> None:
        board = board_of(tmp_path, guard=guard)
        try:
            told, record = await both(board, "look", {"path": "a"})
        finally:
            await board.close()
        assert told is not None and told.guard is not None
        assert msgspec.to_builtins(told.guard) == {"plugin": "g", "action": said, "rule": "g.rule", "text": "because"}
        assert (told.action, told.rule, told.layer) == (said, "g.rule", "plugin")
        assert [one.rule for one in told.considered] == ["tool_permission.read", "g.rule"]
        agree(told, record)

    asyncio.run(scenario())


def test_what_comes_to_no_decision_says_why(tmp_path: Path) -> None:
    async def scenario() -> None:
        board = board_of(tmp_path)
        try:
            with pytest.raises(Unexplained, match="unknown tool"):
                await explain(board, "nope", {})
            with pytest.raises(Unexplained, match="path"):
                await explain(board, "look", {})
        finally:
            await board.close()

    asyncio.run(scenario())


# --- the shared cases -------------------------------------------------------------------------------------------------


def shared(corpus: str) -> Iterator[dict[str, Any]]:
    for line in (CASES / f"{corpus}.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)["call"]
        if "command" in case["args"] or corpus != "commands":
            yield case


def test_on_every_shared_command_explain_says_what_the_road_does(tmp_path: Path) -> None:
    boards: dict[str, Board] = {}

    def board(config: dict[str, Any]) -> Board:
        key = json.dumps(config, sort_keys=True)
        if key not in boards:
            (folder := tmp_path / str(len(boards))).mkdir()
            said = {
                "bash_allow": config.get("allow", []),
                "bash_allow_env": config.get("allow_env", []),
                "bash_max_chars": config.get("max_chars", 10_000),
                "bash_max_commands": config.get("max_commands", 50),
                "bash_read_only": "ask",
            }
            flags = {f"tool_permission.{name}": value for name, value in said.items() if name != "bash_allow"}
            lines = "\n".join(f"  {json.dumps(pattern)}," for pattern in said["bash_allow"])
            boards[key] = board_of(folder, f"[tool_permission]\nbash_allow = [\n{lines}\n]\n", **flags)
        return boards[key]

    async def scenario() -> tuple[int, set[str]]:
        count, actions = 0, set()
        for case in shared("commands"):
            told, record = await both(board(case.get("config", {})), "bash", {"command": case["args"]["command"]})
            agree(told, record)
            count += 1
            actions.add(told.action if told else "none")
            if told is not None and told.rule.startswith("tool_permission.bash_allow"):
                assert told.source is not None and told.layer == "user"
                pattern = told.rule.partition(": ")[2]
                assert case["config"]["allow"].index(pattern) == (told.source.line or 0) - 3
        for one in boards.values():
            await one.close()
        return count, actions

    count, actions = asyncio.run(scenario())
    assert count > 150 and actions >= {"allow", "ask"}


def test_on_every_shared_path_and_edit_explain_says_what_the_road_does(tmp_path: Path) -> None:
    async def scenario() -> int:
        board, count = board_of(tmp_path), 0
        for corpus in ("paths", "edits", "search"):
            for case in shared(corpus):
                for path in {str(value) for name, value in case["args"].items() if name in ("path", "file", "dir")}:
                    for name in ("look", "put"):
                        agree(*await both(board, name, {"path": path}))
                        count += 1
        await board.close()
        return count

    assert asyncio.run(scenario()) > 300


# --- ten thousand pairs -----------------------------------------------------------------------------------------------


class Bit(NamedTuple):
    """A part of a call as decision 14 sees it, written by hand. kind, key: of the touch. names: of the patterns below, those
    that name it; maybe: those that may. nested: only asks and denies by command look at it. anywhere: it
    reads, and nobody can tell what."""

    kind: str
    names: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    outside: bool = False
    sends: bool = False
    reads: bool = False
    fault: str | None = None
    passable: bool = True
    nested: bool = False
    anywhere: bool = False


KEY = {"read": "read", "list": "list", "edit": "edit", "run": "bash", "net": "web"}
PATHS, HOSTS = ["src/", "*.md", "/a/*.py"], ["a.example", "*.b.example", "c.example:81"]
COMMANDS = ["make", "git push", "git"]


def run(*names: str, **more: Any) -> Bit:
    return Bit("run", frozenset(names), **more)


CALLS: list[tuple[str, Touch, list[Bit]]] = [
    ("look", Touch("read", "x", "x"), [Bit("read")]),
    ("look", Touch("read", "src/x", "src/x"), [Bit("read", frozenset({"src/"}))]),
    ("look", Touch("read", "src/x.md", "src/x.md"), [Bit("read", frozenset({"src/", "*.md"}))]),
    ("put", Touch("edit", "y.md", "y.md"), [Bit("edit", frozenset({"*.md"}))]),
    ("put", Touch("edit", "a/b.py", "a/b.py"), [Bit("edit", frozenset({"/a/*.py"}))]),
    ("put", Touch("edit", "b/a/b.py", "b/a/b.py"), [Bit("edit")]),
    ("fetch", Touch("net", "http://a.example/x"), [Bit("net", frozenset({"a.example"}))]),
    (
        "fetch",
        Touch("net", "http://x.b.example/", None, False, True),
        [Bit("net", frozenset({"*.b.example"}), sends=True)],
    ),
    ("fetch", Touch("net", "http://c.example:81/"), [Bit("net", frozenset({"c.example:81"}))]),
    ("fetch", Touch("net", "http://c.example/"), [Bit("net")]),
    ("fetch", Touch("net", "http://a.example\\@b/"), [Bit("net", maybe=frozenset(HOSTS))]),
    ("shell", Touch("run", "make all"), [run("make")]),
    ("shell", Touch("run", "tool x"), [run()]),
    ("shell", Touch("run", "ls"), [run(reads=True)]),
    ("shell", Touch("run", "git push; make"), [run("git push", "git"), run("make")]),
    ("shell", Touch("run", "git status"), [run("git", reads=True, anywhere=True)]),
    ("shell", Touch("run", "make > out"), [run("make"), run(fault="redirect")]),
    (
        "shell",
        Touch("run", "tool $(git push)"),
        [run(), run(fault="substitution"), run("git push", "git", nested=True)],
    ),
    (
        "shell",
        Touch("run", "$X push"),
        [run(maybe=frozenset(COMMANDS), fault="spelling", passable=False), run(fault="substitution")],
    ),
    ("shell", Touch("run", "tool\0"), [run(maybe=frozenset(COMMANDS), fault="characters")]),
]
TOKENS = {None: 0, "*": 0, "fs": 2, "fs:*": 3, "look": 4, "put": 3, "fs:shell": 8, "sh*": 2, "other": 5}
NAMED = {
    None: {"look", "put", "fetch", "shell"},
    "*": {"look", "put", "fetch", "shell"},
    "fs": {"look", "put", "fetch", "shell"},
    "fs:*": {"look", "put", "fetch", "shell"},
    "look": {"look"},
    "put": {"put"},
    "fs:shell": {"shell"},
    "sh*": {"shell"},
    "other": set(),
}
LAYERS = ["default", "user", "project", "environment", "flag"]
STRICT = {"allow": 0, "either": 1, "sandbox": 2, "ask": 3, "deny": 4}
"""either: of two rules that are alike one allows and the other allows in the sandbox; the first stated decides."""
TOOLS = {one.__name__: Tool.of(one, owner="fs", set="fs") for one in (look, put, fetch, shell)}


class Plain(NamedTuple):
    """A rule as it is read off the settings below, by hand."""

    action: str
    name: str
    layer: str
    line: int | None
    key: str | None = None
    token: str | None = None
    conditioned: bool = False
    pattern: str | None = None
    outside: bool = False
    sends: bool | None = None
    reads: bool = False
    sandbox: bool = False
    soft: bool = False
    floor: bool = False


DEFAULTS = [
    *(
        Plain(action, f"tool_permission.{key}", "default", None, key)
        for key, action in {"read": "allow", "list": "allow", "edit": "ask", "bash": "ask", "web": "allow"}.items()
    ),
    Plain("ask", "tool_permission.web: sends data", "default", None, "web", conditioned=True, sends=True),
    Plain("allow", "tool_permission.bash_read_only", "default", None, "bash", conditioned=True, reads=True),
]


def settings_of(chance: random.Random) -> tuple[list[Stated], list[Plain]]:
    """Settings of several layers, and the rules that they are, in plain words."""
    stated: list[Stated] = []
    rules = [*DEFAULTS]
    line = 0
    for layer in LAYERS[1:]:
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            line += 1
            source = Source("f", line)
            what, action = chance.randrange(6), chance.choice(["allow", "ask", "deny", "allow", "ask"])
            token = chance.choice([one for one in TOKENS if one])

            def state(key: str, value: Any, layer: str = layer, source: Source = source) -> None:
                items = (source,) if isinstance(value, list) else ()
                stated.append(Stated(layer, tuple(key.split(".")), value, source, items))  # type: ignore[arg-type]

            if what == 0:
                state("tools.deny", [token])
                rules.append(Plain("deny", f"tools.deny: {token}", layer, line, token=token))
            elif what == 1:
                key = chance.choice(list(KEY.values()))
                state(f"tool_permission.{key}", action)
                rules.append(Plain(action, f"tool_permission.{key}", layer, line, key))
            elif what == 2:
                name = chance.choice(["allow", "ask", "deny", "dangerous_default_deny"])
                state(f"permission.{name}", [token])
                soft = name == "dangerous_default_deny"
                rules.append(
                    Plain("deny" if soft else name, f"permission.{name}: {token}", layer, line, token=token, soft=soft)
                )
            else:
                table, plain = a_rule(chance, action, layer, line)
                state("permission.rules", [table])
                rules.append(plain)
    return stated, rules


def a_rule(chance: random.Random, action: str, layer: str, line: int) -> tuple[dict[str, Any], Plain]:
    table: dict[str, Any] = {"action": action}
    token = chance.choice(list(TOKENS)) if chance.random() < 0.4 else None
    what, patterns = chance.choice([("path", PATHS), ("host", HOSTS), ("command", COMMANDS), ("", [])])
    fitting = {"path": ["read", "list", "edit"], "host": ["web"], "command": ["bash"], "": list(KEY.values())}[what]
    key = chance.choice(fitting) if chance.random() < 0.3 else None
    pattern = chance.choice(patterns) if patterns else None
    sends = chance.choice([None, None, True, False]) if what in ("host", "") else None
    sandbox = action == "allow" and what in ("command", "") and key in (None, "bash") and chance.random() < 0.3
    words = []
    for name, value in (("tool", token), ("key", key), (what, pattern)):
        if value is not None:
            table[name] = value
            words.append(f"{name} {value}")
    if sends is not None:
        table["sends"] = sends
        words.append("sends data" if sends else "sends nothing")
    if sandbox:
        table["sandbox"] = True
    name = f"permission.rules: {', '.join(words) or 'every call'}"
    conditioned = pattern is not None or sends is not None
    return table, Plain(action, name, layer, line, key, token, conditioned, pattern, sends=sends, sandbox=sandbox)


Answer = tuple[str, str, str, int | None]


def by_hand(rules: list[Plain], tool: str, bits: list[Bit], *, confined: bool) -> tuple[str, set[Answer]]:
    """Decision 14 in its own words: the answer, and by which rules it may be (alike ones are not told apart)."""
    asked: list[tuple[str, set[Answer], set[Answer]]] = []
    for bit in bits:
        if bit.anywhere and any(keeps_from_reading(rule, tool) for rule in rules):
            bit = bit._replace(reads=False, fault="paths")
        about = [rule for rule in rules if speaks(rule, tool, bit)]
        doubts = {answer("ask", rule, " cannot be ruled out") for rule in rules if doubted(rule, tool, bit)}
        denies = [rule for rule in about if rule.action == "deny"]
        if hard := [rule for rule in denies if not rule.soft]:
            return "deny", {answer("deny", rule) for rule in hard} | _others(rules, tool, bits)
        people = [
            TOKENS[rule.token] for rule in about if rule.action != "deny" and rule.layer not in ("default", "project")
        ]
        soft = [rule for rule in denies if rule.soft and all(close <= TOKENS[rule.token] for close in people)]
        if soft:
            return "deny", {answer("deny", rule) for rule in soft} | _others(rules, tool, bits)
        rest = [rule for rule in about if rule.action != "deny"]
        trusted = [rule for rule in rest if rule.layer != "project"]
        strict = [rule for rule in rest if rule.layer == "project" and rule.action == "ask"]
        if bit.nested and not rest:
            if doubts:
                asked.append(("allow", set(), doubts))
            continue
        first, second = best(trusted, bit, confined), best([*trusted, *strict], bit, confined)
        asked.append((*max(first, second, key=lambda one: STRICT[one[0]]), doubts))
    worst = max((one[0] for one in asked), key=STRICT.__getitem__)
    who = {each for one in asked if one[0] == worst or (worst, one[0]) == ("either", "allow") for each in one[1]}
    doubts = {each for one in asked for each in one[2]}
    return ("ask", doubts) if STRICT[worst] < STRICT["ask"] and doubts else (worst, who)


def _others(rules: list[Plain], tool: str, bits: list[Bit]) -> set[Answer]:
    """Other denies of the same call: any of them is a right answer."""
    return {answer("deny", rule) for bit in bits for rule in rules if rule.action == "deny" and speaks(rule, tool, bit)}


def answer(action: str, rule: Plain, more: str = "") -> Answer:
    return action, rule.name + more, rule.layer, rule.line


def names(rule: Plain, tool: str, bit: Bit) -> bool:
    return tool in NAMED[rule.token] and rule.key in (None, KEY[bit.kind])


def speaks(rule: Plain, tool: str, bit: Bit) -> bool:
    by_command = rule.pattern in COMMANDS
    return (
        names(rule, tool, bit)
        and (rule.sends is None or rule.sends == bit.sends)
        and (not rule.reads or (bit.reads and bit.passable))
        and (rule.pattern is None or rule.pattern in bit.names)
        and not (rule.sandbox and bit.kind != "run")
        and not (rule.action == "allow" and by_command and not bit.passable)
        and not (bit.nested and (rule.action == "allow" or not by_command))
    )


def keeps_from_reading(rule: Plain, tool: str) -> bool:
    return (
        rule.action != "allow"
        and rule.pattern in PATHS
        and rule.key in (None, "read", "list")
        and tool in NAMED[rule.token]
    )


def doubted(rule: Plain, tool: str, bit: Bit) -> bool:
    sends = rule.sends is None or rule.sends == bit.sends
    return rule.action != "allow" and names(rule, tool, bit) and sends and rule.pattern in bit.maybe


def best(rules: list[Plain], bit: Bit, confined: bool) -> tuple[str, set[Answer]]:
    """Among ask and allow: the later layer, a condition, the longer literal part, the longer command, ask."""

    def action(rule: Plain) -> str:
        return ("sandbox" if confined else "ask") if rule.sandbox else rule.action

    def place(rule: Plain) -> tuple[Any, ...]:
        words = len(rule.pattern or "") if rule.pattern in COMMANDS else 0
        return LAYERS.index(rule.layer), rule.conditioned, TOKENS[rule.token], words, action(rule) == "ask"

    top = max((place(rule) for rule in rules), default=None)
    found: set[Answer] = set()
    said = set()
    for rule in rules:
        if place(rule) == top:
            said.add(action(rule))
            more = " (there is no sandbox here)" if rule.sandbox and not confined else ""
            made = answer("ask" if action(rule) == "ask" else "allow", rule, more)
            by_key = rule.name.startswith("tool_permission.") and not rule.conditioned
            if bit.fault and by_key and made[0] == "ask":
                made = (made[0], f"bash.{bit.fault}", *made[2:])
            found.add(made)
    return (said.pop() if len(said) == 1 else "either"), found


def test_ten_thousand_pairs_of_rules_and_calls_are_decided_as_decision_14_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {t.what: read_line(t.what, root=str(tmp_path)) for _, t, _ in CALLS if t.kind == "run"}
    monkeypatch.setattr("pegboard.policy.shell.read_line", lambda text, **more: lines[text])  # each is read once
    chance, pairs, seen = random.Random(14), 0, set()
    sets = 10 if os.environ.get("PEGBOARD_LONG") else 1
    for _ in range(500 * sets):
        stated, rules = settings_of(chance)
        confined = chance.random() < 0.5
        loaded = Loaded(config=Config(), origins={}, notes=[], stated=stated, root=str(tmp_path))
        policy = policy_of(loaded, confined=lambda held=confined: held)
        for name, touch, bits in CALLS:
            made, call = TOOLS[name], Call(id="c", name=name)
            decision = policy.decide(made, call, [touch]).decision
            wanted, who = by_hand(rules, name, bits, confined=confined)
            assert decision.action == (wanted if wanted in ("ask", "deny") else "allow"), (touch, stated)
            assert wanted == "either" or decision.sandbox == (wanted == "sandbox"), (touch, stated)
            line = decision.source.line if decision.source else None
            assert (decision.action, decision.rule, decision.layer, line) in who, (touch, stated, who)
            told = policy.considered(made, call, [touch])
            assert [(one.action, one.rule, one.layer, one.source) for one in told if one.decided] == [
                (decision.action, decision.rule, decision.layer, decision.source)
            ]
            pairs += 1
            seen.add((decision.action, decision.layer))
    assert pairs == 10_000 * sets
    assert {action for action, _ in seen} == {"allow", "ask", "deny"} and len(seen) > 12


def test_down_the_whole_road_explain_says_what_is_done(tmp_path: Path) -> None:
    chance = random.Random(51)

    async def scenario() -> None:
        for number in range(15):
            (folder := tmp_path / str(number)).mkdir()
            flags: dict[str, Any] = {}
            for said in settings_of(chance)[0]:
                if said.layer != "project":
                    key = ".".join(said.key)
                    flags[key] = [*flags.get(key, []), *said.value] if isinstance(said.value, list) else said.value
            board = board_of(folder, **flags)
            for name, touch, _ in CALLS:
                agree(*await both(board, name, {TOOLS[name].key or "": touch.what}))
            await board.close()

    asyncio.run(scenario())
