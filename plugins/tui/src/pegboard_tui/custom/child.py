"""The process of one kind of widget. Each widget is alone in an app without a terminal: what it paints goes to the session's
app as lines, keys and the mouse come from there.

Nothing here defends itself against the widget: the session's app does, from outside. This process ends with it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color, ColorParseError
from textual.containers import VerticalScroll
from textual.geometry import Size as Geometry
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

from pegboard_tui.custom import messages as told

EVENTS: dict[str, type[events.MouseEvent]] = {
    kind.__name__: kind
    for kind in (
        events.MouseDown,
        events.MouseUp,
        events.MouseMove,
        events.MouseScrollUp,
        events.MouseScrollDown,
    )
}
PAUSE = 0.05
"""Seconds from one painting that is sent to the next: what changes more often is not seen anyway."""

Make = Callable[[Any], Widget]
Send = Callable[[told.AnyFromChild], None]


class Holder(VerticalScroll, can_focus=False):
    """The widget, scrolled where it has more lines than there is room for."""

    DEFAULT_CSS = "Holder { height: 1fr; scrollbar-size-vertical: 1; background: transparent; }"


class Inner(App[None], inherit_bindings=False):
    """An app around one widget. None of its keys do anything unless the widget leaves them."""

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "roll(-1)", show=False),
        Binding("down", "roll(1)", show=False),
        Binding("pageup", "roll(-10)", show=False),
        Binding("pagedown", "roll(10)", show=False),
    ]

    def __init__(self, make: Make, asked: told.Open, send: Send) -> None:
        super().__init__()
        self.pane = asked.pane
        self._make = make
        self._asked = asked
        self._send = send
        self._sent: dict[int, list[told.Piece]] = {}
        self._said: tuple[int, int, int, bool] | None = None
        self._waits = False

    def compose(self) -> ComposeResult:
        """The widget, made now: so that an error in its making is its own."""
        widget = self._make(self._asked.data)
        if not isinstance(widget, Widget):
            raise TypeError(f"made a {type(widget).__name__}, which is no Textual widget")
        with Holder():
            yield widget

    def on_mount(self) -> None:
        """Look like the session's app, and take no keys before they are given."""
        self.dress(self._asked.theme, self._asked.background)
        self.post_message(events.AppBlur())

    def dress(self, theme: dict[str, Any], background: str) -> None:
        """Put on the colours of the session's app."""
        self.register_theme(Theme(**theme))
        self.theme = theme["name"]
        try:
            self.screen.styles.background = Color.parse(background)
        except ColorParseError:
            self.screen.styles.background = "transparent"

    def size_to(self, width: int, height: int) -> None:
        """There is so much room."""
        size = Geometry(width, height)
        self.post_message(events.Resize(size, size))
        if self._driver is not None:
            self._driver._size = (width, height)

    def give_focus(self, on: bool, last: bool) -> None:
        """Take keys, or no more of them."""
        self.post_message(events.AppFocus() if on else events.AppBlur())
        if on:
            self.call_later(self._first, last)

    def _first(self, last: bool) -> None:
        chain = self.screen.focus_chain
        if chain and self.focused is None:
            self.set_focus(chain[-1 if last else 0])

    def action_roll(self, lines: int) -> None:
        """Scroll the whole widget."""
        self.query_one(Holder).scroll_relative(y=lines, animate=False)

    # --- what it paints -----------------------------------------------------------------------------------------------

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Textual has painted something: the only place where it says so."""
        super()._display(screen, renderable)
        if renderable is not None and not self._waits:
            self._waits = True
            asyncio.get_running_loop().call_later(0 if self._said is None else PAUSE, self._tell)

    def _tell(self) -> None:
        self._waits = False
        if self._exit or not self.is_running:
            return
        with self._context():
            try:
                self._paint()
            except Exception as error:  # noqa: BLE001 - isolates plugins: a widget that cannot be painted is told of
                self._handle_exception(error)

    def _paint(self) -> None:
        holder = self.query_one(Holder)
        wanted = max((child.virtual_region_with_margin.bottom for child in holder.children), default=0)
        height = min(wanted, self.size.height)
        if not height and self._said is None:
            return  # it is on its way
        strips = self.screen._compositor.render_strips()[:height]
        now = {number: [_piece(segment) for segment in strip] for number, strip in enumerate(strips)}
        changed = {number: line for number, line in now.items() if self._sent.get(number) != line}
        chain = self.screen.focus_chain
        at = chain.index(self.focused) if self.focused in chain else -1
        said = (height, len(chain), at, holder.max_scroll_y > 0)
        if changed or said != self._said:
            self._sent, self._said = now, said
            self._send(
                told.Painted(pane=self.pane, height=height, lines=changed, stops=said[1], at=at, scrolls=said[3])
            )

    # --- what goes wrong ----------------------------------------------------------------------------------------------

    def _handle_exception(self, error: Exception) -> None:
        """Whatever is raised in here, the widget raised."""
        if not self._exit:
            self._exit = True
            self._send(told.Failed(pane=self.pane, error=described(error)))
            self._close_messages_no_wait()


def _piece(segment: Segment) -> told.Piece:
    style = segment.style
    if style is None:
        return told.Piece(segment.text)
    return told.Piece(
        segment.text,
        style.color.name if style.color is not None else "",
        style.bgcolor.name if style.bgcolor is not None else "",
        "".join(letter for letter, name in told.ATTRIBUTES.items() if getattr(style, name)),
    )


def described(error: BaseException) -> str:
    """What was raised, in a line."""
    first = str(error).strip().split("\n", 1)[0][:200]
    return f"raised {type(error).__name__}{f': {first}' if first else ''}"


class Panes:
    """The widgets of this process."""

    def __init__(self, make: Make, send: Send) -> None:
        self._make = make
        self._send = send
        self._apps: dict[int, Inner] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: told.AnyToChild) -> None:
        """Do what the session's app says."""
        app = self._apps.get(message.pane)
        match message:
            case told.Open():
                task = asyncio.create_task(self._run(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case told.Ping():
                self._send(told.Pong(pane=message.pane))
            case _ if app is None:
                pass  # it failed, and that is on its way
            case told.Size(width=width, height=height):
                app.size_to(width, height)
            case told.Dress(theme=theme, background=background):
                app.call_later(app.dress, theme, background)
            case told.Key(key=key, character=character):
                app.post_message(events.Key(key, character))
            case told.Paste(text=text):
                app.post_message(events.Paste(text))
            case told.Focus(on=on, last=last):
                app.give_focus(on, last)
            case told.Mouse():
                app.post_message(_mouse(message))
            case told.Close():
                app.exit()

    async def _run(self, asked: told.Open) -> None:
        app = Inner(self._make, asked, self._send)
        self._apps[asked.pane] = app
        try:
            await app.run_async(headless=True, size=(asked.width, asked.height))
        except Exception as error:  # noqa: BLE001 - isolates plugins: one widget's failure is not the others'
            app._handle_exception(error)
        finally:
            del self._apps[asked.pane]


def _mouse(told_of: told.Mouse) -> events.MouseEvent:
    x, y = told_of.x, told_of.y
    return EVENTS[told_of.what](
        None, x, y, 0, 0, told_of.button, told_of.shift, told_of.meta, told_of.ctrl, screen_x=x, screen_y=y
    )


def main(value: str) -> None:
    """Serve the session's app on stdin and stdout until it is gone. value: the entry, `module:object`."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a widget prints is no message of ours

    def send(message: told.AnyFromChild) -> None:
        out.write(told.encode(message) + b"\n")

    try:
        make = _load(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: it is told, and the block stays plain
        send(told.Failed(pane=-1, error=f"could not be imported: it {described(error)}"))
        return
    asyncio.run(_serve(make, send))


def _load(value: str) -> Make:
    from importlib import import_module

    module, _, names = value.partition(":")
    found: Any = import_module(module.strip())
    for name in filter(None, names.partition("[")[0].strip().split(".")):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{value} is a {type(found).__name__}, not a function that makes a widget")
    make: Make = found
    return make


async def _serve(make: Make, send: Send) -> None:
    loop = asyncio.get_running_loop()
    panes = Panes(make, send)

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(panes.take, told.read_to_child(line))
        os._exit(0)  # the session's app is gone: also where a widget never lets the loop go on

    threading.Thread(target=read, name="messages", daemon=True).start()
    await asyncio.Event().wait()
