"""Scenes of the app: what a person sees at a moment, played by a scripted session. For snapshots, and for the pictures in
the pages (`make pictures`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pegboard.blocks import Diff, Table
from pegboard.config.schema import UISettings
from pegboard.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CallOutput,
    Message,
    PanelChanged,
    Prompt,
    QuestionAsked,
    TurnEnded,
    TurnStarted,
    Usage,
)
from pegboard.port import Conversation, Cost
from pegboard_tui.app import PegboardApp
from pegboard_tui.hints import Hints
from pegboard_tui.session import SessionView
from scripted import ScriptedConversation, ScriptedHost, call_asked, call_finished, call_started

DIFF = Diff(
    path="shop/cart.py",
    change="changed",
    added=3,
    removed=2,
    text="""\
@@ -12,6 +12,7 @@
 class Cart:
     def total(self) -> Decimal:
-        prices = [line.price for line in self.lines]
-        return sum(prices)
+        prices = [line.price * line.count for line in self.lines]
+        total = sum(prices, Decimal(0))
+        return total.quantize(CENT)
     def add(self, line: Line) -> None:
         self.lines.append(line)
""",
)
ANSWER = """\
The total left out how often a line was ordered, and an empty cart gave `0` of another type. Both are mended in
[cart.py](shop/cart.py):

1. each price counts **as often as it was ordered**,
2. the sum begins with `Decimal(0)`.

```python
>>> Cart().total()
Decimal('0.00')
```

| test | before | now |
|---|---|---|
| `test_total` | failed | passed |
| `test_empty` | failed | passed |
"""
OUTPUT = "\n".join(
    [
        "============ test session starts ============",
        "collected 42 items",
        "",
        "tests/test_cart.py ..............      [ 33%]",
        "tests/test_orders.py ..............    [ 66%]",
    ]
)


def begun(prompt: str = "the total of a cart is wrong, find out why and mend it") -> list[AnyEvent]:
    """A turn begins."""
    started = TurnStarted(
        turn=1, session="s-1", model="openai/gpt-5", sets=["core", "git"], not_loaded=[], offered=14, mode=None
    )
    return [started, Prompt(turn=1, text=prompt)]


def looked() -> list[AnyEvent]:
    """It looks at files."""
    return [
        Message(turn=1, text="I look at the cart and its tests first.", thinking="The sum is suspicious."),
        call_asked("c1", "Grep def total", pattern="def total"),
        call_started("c1"),
        call_finished("c1", "2 hits:\nshop/cart.py:13: def total\nshop/orders.py:40: def total"),
        call_asked("c2", "Read shop/cart.py", path="shop/cart.py"),
        call_started("c2"),
        call_finished("c2", "\n".join(f"{n}: line {n} of the file" for n in range(1, 31))),
    ]


def asked() -> list[AnyEvent]:
    """It wants to change a file."""
    arguments = {
        "path": "shop/cart.py",
        "old_string": "return sum(prices)",
        "new_string": "return total.quantize(CENT)",
    }
    return [
        call_asked("c3", "Edit shop/cart.py", **arguments),
        ApprovalAsked(
            turn=1,
            lane="root",
            id="a1",
            call="c3",
            rule="tool_permission.edit",
            layer="default",
            arguments=arguments,
            preview=[DIFF],
        ),
    ]


def edited() -> list[AnyEvent]:
    """It was allowed to."""
    return [
        ApprovalAnswered(turn=1, id="a1", granted=True, by="person"),
        call_started("c3"),
        call_finished("c3", "Replaced 2 places in shop/cart.py (+3 -2 lines)", blocks=[DIFF]),
    ]


def ended() -> list[AnyEvent]:
    """It answers."""
    return [
        Message(turn=1, text=ANSWER),
        Usage(turn=1, input=12_345, output=678, cost=0.0321),
        TurnEnded(turn=1, status="done", text=ANSWER, usage={}),
    ]


def several() -> list[AnyEvent]:
    """Three commands are asked about together."""
    events: list[AnyEvent] = []
    commands = ["pytest -q tests/test_cart.py", "ruff check shop", "git commit -m 'Cart: count lines'"]
    for number, command in enumerate(commands, 1):
        events.append(call_asked(f"b{number}", f"Run {command}", command=command))
    for number, command in enumerate(commands, 1):
        words = command.split()
        events.append(
            ApprovalAsked(
                turn=1,
                lane="root",
                id=f"q{number}",
                call=f"b{number}",
                rule="tool_permission.bash",
                layer="default",
                arguments={"command": command},
                remember=[f"{words[0]} {words[1]} …"],
                commands=[command],
                scopes=["session", "project", "user"],
                batch=3,
            )
        )
    return events


def running() -> list[AnyEvent]:
    """A command runs and prints."""
    return [
        call_asked("r1", "Run pytest -q", command="pytest -q"),
        call_started("r1"),
        CallOutput(turn=1, id="r1", stream="stdout", text=OUTPUT),
    ]


def wondering() -> list[AnyEvent]:
    """A tool asks something."""
    return [
        call_asked("w1", "Ask which currency", question="?"),
        call_started("w1"),
        QuestionAsked(
            turn=1,
            lane="root",
            id="k1",
            call="w1",
            question="Which currency should an empty cart have?",
            options=["EUR", "USD", "that of the shop"],
        ),
    ]


SCENES: dict[str, Callable[[], list[AnyEvent]]] = {
    "welcome": list,
    "work": lambda: [*begun(), *looked(), *asked(), *edited(), *ended()],
    "approval": lambda: [*begun(), *looked(), *asked()],
    "several": lambda: [*begun("test it and commit it"), *several()],
    "live": lambda: [*begun("run the tests"), *running()],
    "question": lambda: [*begun("what should an empty cart cost?"), *wondering()],
}
"""What happened until then, by the scene's name."""
SETS = [
    Cost(set="core", tools=["read_file", "write_file", "edit_file", "glob", "grep", "bash"], bytes=5_100, tokens=1_275),
    Cost(set="git", tools=["git_status", "git_diff", "git_log"], bytes=2_000, tokens=500),
]
PANEL = PanelChanged(
    id="todo:list",
    title="To do",
    blocks=[Table(columns=["", "what"], rows=[["x", "look"], ["", "mend"], ["", "test"]])],
)


def host(root: Path, ui: UISettings) -> tuple[ScriptedHost, ScriptedConversation]:
    """A shop's repository, and a session in it."""
    made = ScriptedHost(root, ui)
    made.root = "/home/me/shop"
    talk = made.open("20261130-1a2b3c")
    talk.model, talk.context, talk.cost_list = "openai/gpt-5", 128_000, list(SETS)
    talk.header = ["openai/gpt-5", "pegboard 0.1.0"]
    return made, talk


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A theme, and how large the screen is."""

    theme: str = "dark"
    size: tuple[int, int] = (110, 34)


class Played(PegboardApp):
    """An app in which something happens at once: whether the welcome comes before it is left to nobody's pace."""

    def _view(self, conversation: Conversation) -> SessionView:
        made = super()._view(conversation)
        made._welcome = lambda: None  # type: ignore[method-assign]
        return made


async def pictures(scene: str, shots: Sequence[Shot], folder: Path, wanted: Sequence[str] = ()) -> list[str]:
    """A scene as SVG, a picture a shot. Nothing in it depends on the clock or the machine.

    wanted: what is expected of each; where it is something else, it is looked at again for a while: a busy machine may not
    have drawn all of it."""
    made, talk = host(folder, UISettings(theme=shots[0].theme))
    app = (Played if SCENES[scene]() else PegboardApp)(made, talk)
    found = []
    async with app.run_test(size=shots[0].size) as pilot:
        app.view.fold.clock = lambda: 0.0
        app.query_one(Hints)._clock = lambda: 0.0
        app.view.asking.quiet.pause = 0.0
        talk.port.turn = 1
        for event in [*SCENES[scene](), *([PANEL] if scene == "work" else [])]:
            talk.port.emit(event)
        await pilot.pause(0.2)
        for number, shot in enumerate(shots):
            app.theme = shot.theme
            await pilot.resize_terminal(*shot.size)
            await pilot.pause(0.1)
            await pilot.pause(0.1)
            drawn = app.export_screenshot(title="pegboard")
            for _ in range(30 if wanted else 0):
                if drawn == wanted[number]:
                    break
                await pilot.pause(0.1)
                drawn = app.export_screenshot(title="pegboard")
            found.append(drawn)
    return found
