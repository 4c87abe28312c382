"""Answers to calls that ask for permission: yes, always, no, some of several, and with other arguments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, cast

from pegboard import port
from pegboard.events import ApprovalAsked

from pegboard_tui.asking import editing
from pegboard_tui.asking.approval import arguments_of
from pegboard_tui.asking.remember import edited_patterns, patterns_of
from pegboard_tui.asking.steps import Steps
from pegboard_tui.composer.editor import EditorFailed, edited
from pegboard_tui.working import work


class Permitting(Steps):
    """What keys do at a question for permission."""

    @property
    def _approval(self) -> ApprovalAsked:
        """The one that is looked at, where `possible` has seen that it asks for permission."""
        return cast(ApprovalAsked, self.queue.current)

    def action_yes(self) -> None:
        """Allow this one call."""
        if self._counts():
            self._send([port.Answer(id=self._approval.id, granted=True)])

    def action_no(self) -> None:
        """Refuse this one call."""
        if self._counts():
            self._send([port.Answer(id=self._approval.id, granted=False)])

    def action_reason(self) -> None:
        """Refuse it, with a reason that is written first."""
        if self._counts():
            self._open("reason", self.queue.draft(self._approval).reason, "why not? the model is told")

    def action_no_all(self) -> None:
        """Refuse every call that asks, with a reason that is written first."""
        if self._counts():
            self._open(
                "reason for all", self.queue.reason, f"why none of {len(self.queue.approvals)}? the model is told"
            )

    def action_always(self) -> None:
        """Show what "always" would keep, and how long it may stand."""
        if self._counts():
            self.queue.draft(self._approval).scroll = 0  # what would be kept is in sight
            self._go("scope")
            self.begin_quiet()

    def action_keep(self, scope: str) -> None:
        """Allow it, and keep that for so long."""
        if self._counts():
            event = self._approval
            remember = cast(Literal["session", "project", "user"], scope)
            pattern = edited_patterns(event, self.queue.draft(event))
            self._send([port.Answer(id=event.id, granted=True, remember=remember, pattern=pattern)])

    def action_pattern(self) -> None:
        """Change the pattern under the cursor."""
        draft = self.queue.draft(self._approval)
        self._open("pattern", patterns_of(self._approval, draft)[draft.pattern])

    def action_choose(self) -> None:
        """Mark this one, or take its mark away."""
        draft = self.queue.draft(self._approval)
        draft.chosen = not draft.chosen
        self._marked()

    def action_choose_all(self) -> None:
        """Mark all; where all are marked, none."""
        chosen = len(self.queue.chosen) < len(self.queue.approvals)
        for event in self.queue.approvals:
            self.queue.draft(event).chosen = chosen
        self._marked()

    def _marked(self) -> None:
        self.refresh_bindings()
        self.draw()

    def action_allow_chosen(self) -> None:
        """Allow those that bear a mark; the others stand."""
        if self._counts():
            self._send([port.Answer(id=event.id, granted=True) for event in self.queue.chosen])

    def action_only_chosen(self) -> None:
        """Allow those that bear a mark, and refuse the others."""
        if self._counts():
            chosen = {event.id for event in self.queue.chosen}
            self._send([port.Answer(id=event.id, granted=event.id in chosen) for event in self.queue.approvals])

    # --- edited arguments ---------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Edit the arguments in the panel."""
        text = self._begun() if self._counts() else None
        if text is not None and len(text) > editing.LONGEST:
            self._tell("They are too long to be edited here; your editor can do it.")
        elif text is not None:
            self._open("edit", text)

    def action_editor(self) -> None:
        """Edit the arguments in the editor that EDITOR names."""
        text = self._area.text if self.step == "edit" else self._begun()
        if text is not None:
            work(self, partial(self._edit_outside, self._approval, text), "editing", exclusive=True)

    def action_done(self) -> None:
        """Go on with the arguments as they were edited; they are judged again."""
        event, text = self._approval, self._area.text
        self.queue.draft(event).arguments = text
        try:
            arguments = editing.read_json(text)
        except ValueError as error:
            self._tell(f"No JSON: {error}. Nothing was sent.")
            return
        if arguments == arguments_of(event, self._calls.get(event.call)):
            self._tell("They are as they were. Nothing was sent.")
            return
        self.queue.edited.setdefault(event.call, event.arguments)
        self._send([port.Answer(id=event.id, granted=True, arguments=arguments)])

    async def _edit_outside(self, event: ApprovalAsked, text: str) -> None:
        try:
            text = await edited(self.app, text, suffix=".json")
        except EditorFailed as why:
            self._tell(str(why))
            return
        if self.queue.current is not event:
            self.app.notify("That question was settled meanwhile. Nothing was sent.", markup=False)
            return
        self.queue.draft(event).arguments = text
        self._open("edit", text if len(text) <= editing.LONGEST else "")
        self.action_done()

    def _begun(self) -> str | None:
        """The arguments as they were last edited; None where there is nothing to be edited."""
        event = self._approval
        arguments = arguments_of(event, self._calls.get(event.call))
        if not isinstance(arguments, Mapping):
            self._tell("These arguments cannot be edited.")
            return None
        return self.queue.draft(event).arguments or editing.as_json(arguments)
