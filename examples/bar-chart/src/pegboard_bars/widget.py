"""The block in the app: a table with a bar for each row, sorted by the column one chooses."""

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.events import Click
from textual.reactive import reactive
from textual.widget import Widget

COLUMNS = ("kind", "files", "lines")


class Chart(Widget, can_focus=True):
    """It is made with the block's data: a list of {"kind", "files", "lines"}."""

    DEFAULT_CSS = "Chart { height: auto; }"
    BINDINGS: ClassVar = [
        Binding("s,right", "sort(1)", "sort by the next column"),
        Binding("left", "sort(-1)", "by the one before"),
        Binding("r", "turn", "the other way round"),
    ]
    column = reactive(2, layout=True)
    falling = reactive(True)

    def __init__(self, data: list[dict]) -> None:
        super().__init__()
        self.rows = data

    def action_sort(self, step: int) -> None:
        self.column = (self.column + step) % len(COLUMNS)

    def action_turn(self) -> None:
        self.falling = not self.falling

    def on_click(self, event: Click) -> None:
        if event.y == 0:
            self.action_sort(1)

    def get_content_height(self, container, viewport, width: int) -> int:
        return len(self.rows) + 1 + self.has_focus

    def watch_has_focus(self, _: bool) -> None:
        self.refresh(layout=True)

    def render(self) -> Text:
        by = COLUMNS[self.column]
        rows = sorted(self.rows, key=lambda row: row[by], reverse=self.falling)
        kinds = max([len("kind"), *(len(row["kind"]) for row in rows)])
        most = max([1, *(row["lines"] for row in rows)])
        room = max(self.size.width - kinds - 23, 4)
        names = [f"{name}{(' v' if self.falling else ' ^') if name == by else '  '}" for name in COLUMNS]
        lines = [Text(f"{names[0]:<{kinds + 2}} {names[1]:>8} {names[2]:>9}", style="bold")]
        for row in rows:
            line = Text(f"{row['kind']:<{kinds}} {row['files']:>8} {row['lines']:>9}    ")
            line.append("█" * max(round(row["lines"] / most * room), 1), style=self.app.theme_variables["accent"])
            lines.append(line)
        if self.has_focus:
            lines.append(Text("s sort · r turn round · esc back", style="dim"))
        return Text("\n", no_wrap=True, overflow="crop").join(lines)
