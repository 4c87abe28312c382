"""The lines above and below a session, and its welcome."""

from __future__ import annotations

from pathlib import Path

from pegboard.blocks import Markdown, Note
from pegboard.config.schema import UISettings
from pegboard.events import Prompt, TurnEnded, TurnStarted, Usage
from pegboard_tui.app import PegboardApp
from pegboard_tui.help import welcome
from pegboard_tui.hints import KEYS, Hints, hint_text
from pegboard_tui.keys import bindings
from pegboard_tui.signs import cut
from pegboard_tui.status import Facts, Status, context_text, count, elapsed, money, status_text
from pegboard_tui.themes import DARK, palette_of
from scripted import ScriptedConversation, ScriptedHost

PALETTE = palette_of(DARK)
FACTS = Facts(
    model="openai/some-model-7b",
    mode="plan",
    title="Mend the lexer and say why it failed",
    root="/srv/project",
    used=12_345,
    limit=128_000,
    cost=0.123,
)


def above(width: int, facts: Facts = FACTS) -> str:
    line = status_text(facts, width, PALETTE)
    assert line.cell_len <= width
    return line.plain


def test_the_line_above_tells_all_where_there_is_room_and_what_matters_most_where_there_is_little() -> None:
    wide = "plan openai/some-model-7b Mend the lexer and say why it failed /srv/project 12k/128k 10% $0.12"
    assert " ".join(above(110).split()) == wide
    narrow = above(40)
    assert "plan" in narrow and "some-model-7b" in narrow and "10%" in narrow and "/srv" not in narrow
    for width in range(1, 60):
        above(width)


def test_a_mode_that_asks_nobody_is_marked_and_a_title_cannot_reach_the_terminal() -> None:
    line = status_text(Facts(model="m", unasked="--yes", title="a\x1b[31m\u202eb\nc"), 80, PALETTE)
    assert " --yes " in line.plain and r"a\x1b[31m\u202eb\nc" in line.plain
    [mark] = [span for span in line.spans if line.plain[span.start : span.end].strip() == "--yes"]
    assert "reverse" in str(mark.style)


def test_numbers_are_told_in_few_letters() -> None:
    assert [count(n) for n in (0, 999, 1_000, 1_234, 9_999, 12_345, 999_999, 1_234_567)] == [
        *("0", "999", "1k", "1.2k", "10k", "12k", "1M", "1.2M"),
    ]
    assert [money(cost) for cost in (None, 0, 0.12, 0.0042, 12.5)] == ["", "$0.00", "$0.12", "$0.0042", "$12.50"]
    assert [elapsed(s) for s in (0.4, 59.9, 67, 7_380)] == ["0s", "59s", "1m 07s", "2h 03m"]
    assert context_text(FACTS) == "12k/128k 10%" and context_text(Facts(used=12_345)) == "12k"
    assert context_text(Facts(limit=5)) == ""
    assert [cut("日本語", width) for width in (6, 5, 3, 1, 0)] == ["日本語", "日本…", "日…", "…", ""]


def test_the_line_below_tells_what_goes_on_and_as_many_keys_as_fit() -> None:
    keys = [("esc", "stop"), ("ctrl+p", "commands"), ("f1", "help")]
    running = Facts(running=True, since=5.0, queued=2)
    assert hint_text(running, keys, 72.0, 80, PALETTE).plain == (
        "● 1m 07s  2 queued  esc stop  ctrl+p commands  f1 help"
    )
    assert hint_text(running, keys, 72.0, 40, PALETTE).plain == "● 1m 07s  2 queued  esc stop  f1 help"
    assert hint_text(Facts(waiting=2, running=True), [], 0.0, 40, PALETTE).plain == "? 2 questions"
    for width in range(40):
        assert hint_text(running, keys, 72.0, width, PALETTE).cell_len <= width


def test_every_key_that_is_hinted_at_is_bound() -> None:
    there = {bound.id for bound in bindings()}
    assert [id for hinted in KEYS.values() for id, _ in hinted if id not in there] == []


async def test_the_lines_follow_the_session_and_are_drawn_only_when_they_change(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path, UISettings(side=False))
    conversation = host.open()
    conversation.model = "a/b"
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert [type(item).__name__ for item in app.view.fold.items] == ["Shown"]  # the welcome
        status, hints = app.query_one(Status), app.query_one(Hints)
        assert status.render().plain.startswith("a/b") and "send" in hints.render().plain
        conversation.port.emit(TurnStarted(turn=1, session="s", model="a/b", sets=[], not_loaded=[], offered=1))
        conversation.port.emit(Prompt(turn=1, text="mend it"))
        await pilot.pause(0.1)
        assert "mend it" in status.render().plain and "● 0s" in hints.render().plain
        assert "esc stop" in hints.render().plain
        drawn: list[object] = []
        status.refresh = lambda *args, **more: drawn.append(args)  # type: ignore[method-assign,assignment]
        app.show_standing()
        assert drawn == []
        conversation.port.emit(Usage(turn=1, input=9_000, output=20, context=9_020))
        conversation.port.emit(TurnEnded(turn=1, status="done", text="", usage={}))
        await pilot.pause(0.1)
        assert drawn and "9k/100k 9%" in status.render().plain and "●" not in hints.render().plain
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert not status.display and app.query_one("Composer").region.height > 0


def test_a_new_session_says_who_answers_where_and_what_to_try(tmp_path: Path) -> None:
    host, conversation = ScriptedHost(tmp_path), ScriptedConversation()
    conversation.header = ["offline: no model answers", "a server did not start"]
    page, *notes = welcome(host, conversation)
    assert isinstance(page, Markdown) and all(
        word in page.text for word in (str(tmp_path), "/help", "@file", "!command")
    )
    assert notes == [Note(text="offline: no model answers"), Note(text="a server did not start")]
    conversation.signs = []
    page = welcome(host, conversation)[0]
    assert isinstance(page, Markdown) and "!" not in page.text
