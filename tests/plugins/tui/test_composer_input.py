"""The input in an app of its own: what keys do, what is sent, what is offered."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from pegboard import port
from pegboard_tui.composer import Composer
from pegboard_tui.composer.area import Area
from pegboard_tui.composer.choices import Choices
from scripted import ScriptedConversation, ScriptedHost
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import Button


class Tiny(App[None]):
    """An app with an input at its foot; it keeps what it is told."""

    CSS = "Button { height: 1fr; border: none; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "told('escape')"), Binding("ctrl+d", "told('ctrl+d')")]

    def __init__(self, host: ScriptedHost) -> None:
        super().__init__()
        self.conversation = host.open()
        self.composer = Composer(host, cast("port.Conversation", self.conversation))
        self.sent: list[tuple[str, bool]] = []
        self.troubles: list[str] = []
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield Button("above")
        yield self.composer

    def on_mount(self) -> None:
        self.composer.focus()

    def on_composer_submitted(self, message: Composer.Submitted) -> None:
        self.sent.append((message.text, message.steer))

    def on_composer_trouble(self, message: Composer.Trouble) -> None:
        self.troubles.append(message.text)

    def on_composer_recall(self) -> None:
        self.told.append("recall")

    def action_told(self, what: str) -> None:
        self.told.append(what)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """There is no terminal to give away here."""
        self.told.append("away")
        yield
        self.told.append("back")


NAMED = {"enter", "up", "down", "left", "right", "home", "end", "tab", "escape", "backspace", "delete", "space"}
NAMED |= {"underscore", "f9"}


class Desk:
    """What a test does at the input."""

    def __init__(self, app: Tiny, pilot: Pilot[None]) -> None:
        self.app, self.pilot, self.composer = app, pilot, app.composer
        self.area = self.composer.query_one(Area)
        self.choices = self.composer.query_one(Choices)

    async def press(self, *keys: str) -> None:
        """Press keys; a text of several characters is typed, all but its last one at once."""
        for key in keys:
            last = key.split("+")[-1]
            if len(key) > 1 and last not in NAMED and (last == key or len(last) > 1):
                self.area.insert(key[:-1])
                key = key[-1]
            await self.pilot.press(key)

    def burst(self, *keys: str) -> None:
        """Keys that come faster than the app gets to them."""
        for key in keys:
            self.app.post_message(Key(key, key if len(key) == 1 else None))

    async def paste(self, text: str) -> None:
        self.area.post_message(Paste(text))
        await self.pilot.pause()

    async def until(self, done: Callable[[], object]) -> None:
        for _ in range(400):
            if done():
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"it did not happen; the input has {self.area.text!r}")

    async def offered(self, *keys: str) -> list[str]:
        """What is in the list after these keys."""
        await self.press(*keys)
        await self.until(lambda: self.choices.current)
        return [one.text for one in self.choices._choices]

    def shown(self) -> str:
        """The input's own rows, as they are drawn."""
        return "\n".join(self.area.render_line(y).text.rstrip() for y in range(self.area.size.height))


@asynccontextmanager
async def desk(root: Path, size: tuple[int, int] = (80, 24), host: ScriptedHost | None = None) -> AsyncIterator[Desk]:
    app = Tiny(host or ScriptedHost(root))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Desk(app, pilot)


async def test_enter_sends_and_other_keys_begin_a_line(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("one", "ctrl+j", "two", "alt+enter", "three", "shift+enter", "four\\", "enter", "five")
        assert at.area.size.height == 5 and at.composer.text.count("\n") == 4
        await at.press("enter")
        assert at.app.sent == [("one\ntwo\nthree\nfour\nfive", False)]
        assert at.composer.text == "" and at.area.size.height == 1
        await at.press("space", "enter", "a\\\\", "enter")
        assert at.app.sent[1:] == [(" a\\\\", False)]  # the first backslash takes the second one's meaning


async def test_it_grows_with_its_text_to_a_part_of_the_screen(tmp_path: Path) -> None:
    async with desk(tmp_path, (40, 20)) as at:
        at.composer.write("word " * 30)
        await at.pilot.pause()
        assert at.area.size.height == 5  # soft wrapped
        at.composer.write("\n".join(map(str, range(50))))
        await at.pilot.pause()
        assert at.area.size.height == 8
        assert at.shown().endswith("49")  # the cursor's line is in sight


async def test_a_long_paste_is_a_chip_that_is_one_piece(tmp_path: Path) -> None:
    log = "\r".join(f"line {n}" for n in range(120))
    async with desk(tmp_path) as at:
        await at.press("see ")
        await at.paste(log)
        await at.press(" and")
        assert at.shown() == "see [pasted 120 lines] and"
        await at.press("ctrl+left", "left", "left", "left", "X")  # left of it in one step
        assert at.shown() == "see X[pasted 120 lines] and" or at.shown() == "seeX [pasted 120 lines] and"
        await at.press("ctrl+underscore", "ctrl+end", "enter")
        assert at.app.sent == [(f"see {log.replace(chr(13), chr(10))} and", False)]

        await at.paste(log)
        await at.paste(log + "x")
        assert at.shown() == "[pasted 120 lines][pasted 120 lines #2]"
        await at.press("backspace")
        assert at.shown() == "[pasted 120 lines]"
        await at.press("ctrl+underscore")
        assert at.composer.text.count("line 7\n") == 2
        await at.press("home", "delete", "[pasted 120 lines]", "enter")
        assert at.app.sent[1][0] == "[pasted 120 lines]" + (log + "x").replace("\r", "\n")


async def test_a_chip_can_be_opened_and_a_huge_one_stays_folded(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.paste("a\rb\rc\rd\re\rf")
        await at.press("ctrl+o")
        assert at.shown() == "a\nb\nc\nd\ne\nf"
        await at.press("enter")
        huge = "0123456789\r" * 500_000
        await at.paste(huge)
        await at.press("ctrl+o")
        assert at.shown() == "[pasted 500,000 lines]"
        assert at.app.troubles == ["[pasted 500,000 lines] is too much to be shown here; it is sent as it is."]
        await at.press("enter")
        assert [len(text) for text, _ in at.app.sent] == [11, len(huge) - 1]


async def test_what_is_pasted_with_escape_codes_is_data_and_shown_safe(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.paste("\x1b]52;c;eA==\x07 [red]x[/] \u202e")
        assert at.shown() == r"<\x1b>]52;c;eA==<\x07> [red]x[/] <\u202e>"
        await at.press("enter")
        assert at.app.sent == [("\x1b]52;c;eA==\x07 [red]x[/] \u202e", False)]


async def test_editing_keys_move_delete_and_undo(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("one two three", "ctrl+w", "ctrl+a", "ctrl+right", "alt+d", "ctrl+k")
        assert at.area.text == "one"
        await at.press("ctrl+underscore")
        assert at.area.text == "one two " or at.area.text == "one "
        await at.press("ctrl+end", "ctrl+u", "ctrl+d")
        assert at.area.text == "" and at.app.told == ["ctrl+d"]
        await at.press("ab", "shift+left", "ctrl+x", "ctrl+v", "ctrl+v", "alt+q")
        assert at.area.text == "abb"
        await at.press("tab")
        assert isinstance(at.app.focused, Button)  # Tab goes on where there is nothing to complete


async def test_older_prompts_come_with_up_and_what_was_written_comes_back(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    assert host.history is not None
    host.history.write_text('"from before"\n')
    async with desk(tmp_path, host=host) as at:
        await at.until(lambda: at.composer._past.entries)
        await at.press("first", "ctrl+j", "line", "enter", "draft", "up")
        assert at.composer.text == "first\nline"
        await at.press("up")
        assert at.composer.text == "from before"
        await at.press("up", "down", "down", "down")
        assert at.composer.text == "draft"
        await at.press("up", "up", "!", "down")
        assert at.composer.text == "from before!"  # it is one's own once it is changed
        await at.press("enter", " ", "secret", "enter")
    async with desk(tmp_path, host=host) as at:
        await at.until(lambda: len(at.composer._past.entries) == 3)
        assert at.composer._past.entries == ["from before", "first\nline", "from before!"]


async def test_older_prompts_are_searched_and_escape_leaves_the_text(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    assert host.history is not None
    host.history.write_text('"fix the parser"\n"explain the walker"\n"fix the walker"\n')
    async with desk(tmp_path, host=host) as at:
        await at.until(lambda: at.composer._past.entries)
        await at.press("draft")
        assert await at.offered("ctrl+r") == ["fix the walker", "explain the walker", "fix the parser"]
        assert at.composer.text == "draft" and at.composer.draft.text == "draft"
        assert await at.offered("fix", "space", "th") == ["fix the walker", "fix the parser"]
        await at.press("escape")
        assert at.composer.text == "draft" and not at.choices.open and at.app.told == []
        await at.offered("ctrl+r", "fix")
        await at.press("ctrl+r", "enter")
        assert at.composer.text == "fix the parser" and at.app.sent == []
        await at.press("ctrl+r", "zzz", "enter")
        assert at.composer.text == "fix the parser"


async def test_slash_commands_are_offered_with_their_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        asked = 0

        def commands() -> list[port.Offered]:
            nonlocal asked
            asked += 1
            return [
                port.Offered(name="sets", usage="/sets [NAME]", help="the tool sets", owner="a"),
                port.Offered(name="help", usage="/help", help="what there is", owner="a"),
                port.Offered(name="helper", usage="/helper", help="another", owner="a"),
            ]

        at.composer.commands = commands
        assert await at.offered("/") == ["/sets", "/help", "/helper"]
        assert await at.offered("s", "t") == ["/sets"]
        await at.press("tab")
        assert at.area.text == "/sets "
        assert await at.offered() == ["alpha", "beta"]
        await at.press("enter")  # no word was begun: it is sent
        assert at.app.sent == [("/sets", False)]
        await at.press("/sets ")
        assert await at.offered("b") == ["beta"]
        await at.press("enter")
        assert at.area.text == "/sets beta " and len(at.app.sent) == 1
        await at.until(lambda: at.choices.open)
        await at.press("escape")
        assert not at.choices.open and at.app.told == []
        await at.press("enter")
        assert await at.offered("/help") == ["/help", "/helper"]
        await at.press("enter")  # the name is whole: it is sent
        assert at.app.sent[1:] == [("/sets beta", False), ("/help", False)]
        await at.press("//he", "enter", " ", "/he", "enter")
        assert at.app.sent[3:] == [("//he", False), (" /he", False)]
        assert asked == 1

        at.composer.words = lambda name, rest: ["plan", "auto"] if name == "mode" else None
        await at.press("/mode ")
        assert await at.offered("p") == ["plan"]
        await at.press("escape", "escape")
        assert at.app.told == ["escape"]


def broken() -> list[Any]:
    raise LookupError("a plugin's fault")


async def test_commands_that_fail_leave_one_typing(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)

    async def no_files() -> list[str]:
        raise PermissionError("not yours")

    host.files = no_files  # type: ignore[method-assign]
    async with desk(tmp_path, host=host) as at:
        at.composer.commands = lambda: broken()
        at.app.conversation.complete = lambda name, rest: broken()  # type: ignore[method-assign]
        await at.press("/sets al", "enter", "see @READ")
        await at.until(lambda: at.app.troubles)
        await at.press("escape", " @x")
        await at.pilot.pause()
        await at.press("enter", "enter")
        assert [text for text, _ in at.app.sent] == ["/sets al", "see @READ @x"]
        [trouble] = at.app.troubles
        assert "PermissionError: not yours" in trouble


async def test_a_file_is_picked_by_some_letters_of_its_path(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    host.names = ["README.md", "src/app.py", "src/main.py", "a dir/b.py", "evil\x1b[2J.py"]
    async with desk(tmp_path, host=host) as at:
        await at.press("look at @")
        assert (await at.offered())[:2] == ["README.md", "a"] or "src/" in await at.offered()
        await at.until(lambda: at.composer._completer._wanted)
        assert (await at.offered("map"))[0] == "src/main.py"
        await at.press("enter", "and @dir")
        await at.until(lambda: (one := at.choices.current) and one.label.startswith("a dir"))
        await at.press("tab")  # into the folder
        assert at.area.text == 'look at src/main.py and @"a dir/'
        assert (await at.offered("b"))[0] == '"a dir/b.py"'
        await at.press("enter", "@evil")
        await at.until(lambda: at.choices.current)
        assert r"evil\x1b[2J.py" in "".join(at.choices.render_line(y).text for y in range(3))
        await at.press("down", "up", "enter", "enter")
        assert at.app.sent == [('look at src/main.py and "a dir/b.py" evil\x1b[2J.py', False)]
        await at.offered("x @s")
        await at.press("escape", "r")
        assert not at.choices.open  # it stays closed in this word
        await at.offered(" @s")
        await at.press("escape", "enter", "mail me@src.org", "enter")
        assert [text for text, _ in at.app.sent[1:]] == ["x @sr @s", "mail me@src.org"]


async def test_a_command_of_the_persons_is_told_and_tab_completes_paths_in_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("!")
        assert at.composer.has_class("-command") and str(at.composer._sign.content) == "$ "
        await at.press("cat READ")
        assert not at.choices.open
        await at.press("tab")
        await at.until(lambda: at.area.text == "!cat README.md ")  # there is but one
        await at.press("src/", "tab")
        assert await at.offered() == ["src/app.py", "src/main.py"]
        await at.press("down", "enter", "enter")
        assert at.app.sent == [("!cat README.md src/main.py", False)]
        assert not at.composer.has_class("-command")
        await at.paste("!rm x\r" * 10)
        assert at.composer.has_class("-command")  # a paste that would be one is no secret
        at.composer.write(" !ls")
        assert not at.composer.has_class("-command")


async def test_while_a_turn_runs_enter_queues_and_another_key_steers(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("a", "ctrl+t")
        assert at.app.sent == [("a", False)]  # there is no turn to steer
        at.composer.busy = True
        assert at.area.placeholder == "Enter queues it, ctrl+t tells it to the running turn"
        await at.press("b", "enter", "c", "alt+s", "d", "ctrl+t")
        assert at.app.sent[1:] == [("b", False), ("c", True), ("d", True)]
        await at.press("up")
        assert at.app.told == [] and at.composer.text == "d"
        await at.press("down")
        at.composer.queued = 1
        await at.press("up")
        assert at.app.told == ["recall"] and at.composer.text == ""
        at.app.set_keymap({"input.steer": "f9"})
        at.composer.busy = False
        at.composer.busy = True
        assert "f9 tells it" in str(at.area.placeholder)


def script(folder: Path, body: str) -> str:
    file = folder / "an editor"
    file.write_text(f"#!{sys.executable}\nimport sys, os\nfile = sys.argv[-1]\n{body}\n")
    file.chmod(0o755)
    return f"'{file}' --wait"


async def test_the_text_is_written_in_the_persons_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    body = f"""
text = open(file).read()
open({str(seen)!r}, "w").write(f"{{file}} {{os.stat(file).st_mode & 0o777:o}} {{sys.argv[1]}} {{text.count(chr(10))}}")
open(file, "w").write("closely " + text + chr(10))
"""
    monkeypatch.setenv("VISUAL", script(tmp_path, body))
    async with desk(tmp_path) as at:
        await at.press("see ")
        await at.paste("x\r" * 30)
        await at.press("ctrl+g")
        await at.until(lambda: at.app.told == ["away", "back"])
        await at.until(lambda: at.shown() == "closely see [pasted 30 lines]")
        name, mode, option, lines = seen.read_text().split()
        assert (mode, option, lines) == ("600", "--wait", "30")
        assert not os.path.exists(name)
        await at.press("ctrl+x", "ctrl+e")
        await at.until(lambda: at.shown().startswith("closely closely"))
        monkeypatch.setenv("VISUAL", script(tmp_path, "sys.exit(3)"))
        await at.press("ctrl+g")
        await at.until(lambda: at.app.troubles)
        monkeypatch.setenv("VISUAL", "no-such-editor")
        await at.press("ctrl+g")
        await at.until(lambda: len(at.app.troubles) == 2)
        assert at.shown().startswith("closely closely see")
    assert "ended with code 3" in at.app.troubles[0]
    assert at.app.troubles[1] == "$VISUAL names no-such-editor, which is not installed. The text is as it was."


async def test_a_draft_comes_back_with_its_chips(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("see ")
        await at.paste("x\r" * 30)
        await at.press("home", "I ")
        kept, written = at.composer.draft, at.composer.text
        at.composer.write("other")
        await at.press("ctrl+underscore")
        at.composer.draft = type(kept)()
        assert at.composer.text == ""
        at.composer.draft = kept
        assert at.composer.text == written and at.area.cursor_location == (0, 2)
        await at.pilot.pause()
        assert at.shown() == "I see [pasted 30 lines]"


@pytest.mark.parametrize("size", [(20, 5), (100, 30)])
async def test_the_list_never_covers_the_line_that_is_written(tmp_path: Path, size: tuple[int, int]) -> None:
    async with desk(tmp_path, size) as at:
        await at.press("a", "ctrl+j", "@s")
        await at.until(lambda: at.choices.open)
        await at.pilot.pause()
        region, field = at.choices.region, at.area.region
        assert region.height >= 1 and region.bottom <= field.y and region.y >= 0
        assert field.bottom <= size[1]
        first = at.choices.current
        x, y = region.x + 3, at.choices.content_region.y
        await at.pilot.click(offset=(x, y))
        assert first is not None and at.composer.text == f"a\n{first.text} "
        await at.pilot.resize_terminal(20, 5)
        await at.press("x")
        assert at.area.region.bottom <= 5


async def test_whether_one_writes_here_is_seen_without_colours(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        assert str(at.composer._sign.content) == "> "
        await at.press("tab")
        assert str(at.composer._sign.content) == "- "
        await at.pilot.click(Area)
        assert str(at.composer._sign.content) == "> "


async def test_another_conversation_can_take_its_place(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        other = ScriptedConversation("other")
        other.complete = lambda name, rest: ["gamma"]  # type: ignore[method-assign]
        at.composer.conversation = cast("port.Conversation", other)
        await at.press("/sets ")
        await asyncio.sleep(0.06)
        assert await at.offered() == ["gamma"]


async def test_keys_are_done_in_the_order_they_came_however_fast(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.press("!touch foo")
        at.burst("enter", "b", "a", "r")
        await at.until(lambda: at.area.text == "bar")
        assert at.app.sent == [("!touch foo", False)]  # and not foobar
        at.burst("backspace", "backspace", "o", "home", "x", "end", "ctrl+j", "y")
        await at.until(lambda: "y" in at.area.text)
        assert at.area.text == "xbo\ny"
