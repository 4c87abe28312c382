"""The model's replies folded into items: what streams, and what the log keeps of it, come to the same."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.events import Message

from pegboard_tui.items import AnyItem, Said, Thought


class Replies:
    """One reply after the other. add: puts a new item into the transcript. plain: who replies says no Markdown.

    The keys of items count replies, so they are the same whether a reply streamed or was read from the log."""

    def __init__(self, add: Callable[[AnyItem], AnyItem]) -> None:
        self.plain = False
        self._add = add
        self._said: Said | None = None
        self._thought: Thought | None = None
        self._count = 0

    def think(self, text: str) -> list[AnyItem]:
        """A piece of its reasoning."""
        thought = self._thinking()
        thought.text += text
        thought.done = False
        thought.touch()
        return [thought]

    def say(self, text: str) -> list[AnyItem]:
        """A piece of its answer. Its reasoning is over then, until it thinks on."""
        said = self._saying()
        said.text += text
        said.touch()
        return [*self._end_thought(), said]

    def whole(self, event: Message) -> list[AnyItem]:
        """It is whole: what streamed of it, if anything did, has the text that is kept."""
        changed: list[AnyItem] = []
        if self._thought is not None or event.thinking.strip():
            thought = self._thinking()
            thought.text, thought.done = event.thinking or thought.text, True
            thought.touch()
            changed.append(thought)
        if self._said is not None or event.text.strip():
            said = self._saying()
            said.text, said.done = event.text, True
            said.touch()
            changed.append(said)
        self._next()
        return changed

    def break_off(self) -> list[AnyItem]:
        """The turn is over. A reply that still streams was not kept; what was seen of it stays on the screen."""
        changed = self._end_thought()
        if self._said is not None:
            self._said.done = True
            self._said.touch()
            changed.append(self._said)
        if self._said is not None or self._thought is not None:
            self._next()
        return changed

    def _thinking(self) -> Thought:
        if self._thought is None:
            self._thought = Thought(key=f"t{self._count}")
            self._add(self._thought)
        return self._thought

    def _saying(self) -> Said:
        if self._said is None:
            self._said = Said(key=f"m{self._count}", plain=self.plain)
            self._add(self._said)
        return self._said

    def _end_thought(self) -> list[AnyItem]:
        if self._thought is None or self._thought.done:
            return []
        self._thought.done = True
        self._thought.touch()
        return [self._thought]

    def _next(self) -> None:
        self._said = self._thought = None
        self._count += 1
