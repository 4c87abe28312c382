"""How one session stands, for whoever shows a list of them or wants to leave."""

from __future__ import annotations

from typing import Literal

from pegboard.port import Conversation
from pegboard.terminal import visible
from textual.widget import Widget

from pegboard_tui.composer import Composer
from pegboard_tui.fold import Fold
from pegboard_tui.items import Asked, Made
from pegboard_tui.queued import Queued

Mark = Literal["asks", "runs", "news", ""]
"""How a session stands that is not looked at."""


class Standing(Widget):
    """A session's view, as far as it is told of.

    fold: what it looks like. busy: a turn of this process runs. news: something was said that nobody has seen."""

    composer: Composer
    queued: Queued

    def __init__(self, conversation: Conversation, fold: Fold, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conversation = conversation
        self.fold = fold
        self.busy = False
        self.news = False
        self._since = 0

    @property
    def title(self) -> str:
        """Its first request, or the first call where there is none, in a line."""
        items = self.fold.items
        first = next((item.text for item in items if isinstance(item, Asked)), "")
        first = first or next((item.asked.summary for item in items if isinstance(item, Made)), "")
        return visible(first.strip().split("\n", 1)[0][:80]) or "new session"

    @property
    def used(self) -> bool:
        """Whether anything is in its log."""
        return self._since > 0

    @property
    def untouched(self) -> bool:
        """Whether another session may take its place, and nothing is lost."""
        return not (self.used or self.busy or self.composer.text.strip() or self.queued.texts)

    @property
    def mark(self) -> Mark:
        """How it stands, for a list."""
        if self.fold.questions:
            return "asks"
        return "runs" if self.running else "news" if self.news else ""

    @property
    def running(self) -> bool:
        """Whether a turn or a call of this process runs."""
        return self.busy or bool(self.fold.running)

    def losses(self) -> list[str]:
        """What would be lost if it were left now, but for programs in the background."""
        draft = "a text that was not sent" if self.composer.text.strip() else ""
        queued = f"{len(self.queued.texts)} queued" if self.queued.texts else ""
        turn = "a turn that runs" if self.busy else "a call that runs" if self.fold.running else ""
        return [one for one in (turn, draft, queued) if one]
