"""The side pane: tool sets and what they cost, the context, background commands, panels of plugins."""

from __future__ import annotations

from pegboard.port import Conversation
from textual.widgets import Static

from pegboard_tui.drawing.look import Palette
from pegboard_tui.fold import Fold


class Side(Static):
    """What there is beside the transcript."""

    DEFAULT_CSS = "Side { width: 32; border-left: solid $panel; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.palette = palette

    def show(self, fold: Fold, conversation: Conversation) -> None:
        """Show how this session stands."""
        costs = [f"{cost.set or '-'} {len(cost.tools)} ~{cost.tokens:,}" for cost in conversation.costs()]
        self.update("\n".join([conversation.model, f"context {fold.context:,}", *costs]))
