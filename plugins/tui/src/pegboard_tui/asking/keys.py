"""The keys of the panel: what each does, when it does it, and how it is told of."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pegboard.events import ApprovalAsked
from textual.binding import Binding

from pegboard_tui.asking.approval import scopes_of
from pegboard_tui.asking.picker import is_free
from pegboard_tui.asking.queue import Question, Queue

Step: TypeAlias = Literal["look", "scope", "pattern", "reason", "reason for all", "edit", "free"]
"""Where in an answer the person is. Between `scope` and the question nothing is kept; the last five have a field."""
FIELDS: frozenset[Step] = frozenset({"pattern", "reason", "reason for all", "edit", "free"})

_HIDDEN = {"show": False}
BINDINGS: list[Binding] = [
    Binding("y", "yes", "allow once", id="approval.yes"),
    Binding("a", "always", "always...", id="approval.always"),
    Binding("n", "no", "no", id="approval.no"),
    Binding("r", "reason", "no, because...", id="approval.reason"),
    Binding("e", "edit", "edit first", id="approval.edit"),
    Binding("space", "choose", "choose", id="approval.choose"),
    Binding("asterisk", "choose_all", "choose all or none", id="approval.choose_all"),
    Binding("A", "allow_chosen", "allow the chosen", id="approval.allow_chosen"),
    Binding("O", "only_chosen", "allow the chosen, refuse the rest", id="approval.only_chosen"),
    Binding("N", "no_all", "no to all, because...", id="approval.no_all"),
    Binding("s", "keep('session')", "this session", id="approval.session"),
    Binding("p", "keep('project')", "this project", id="approval.project"),
    Binding("u", "keep('user')", "every project of yours", id="approval.user"),
    Binding("c", "pattern", "change the pattern", id="approval.pattern"),
    Binding("enter", "take", "take this one", id="question.take"),
    *(Binding(f"{n}", f"pick({n})", f"take option {n}", id=f"question.{n}", show=False) for n in range(1, 10)),
    Binding("ctrl+s,f5", "done", "go on with these", id="approval.edited", priority=True),
    Binding("ctrl+e", "editor", "in your editor", id="approval.editor", priority=True),
    Binding("d", "details", "long arguments in short, or in full", id="approval.details"),
    Binding("tab,right", "next", "next question", id="approval.next"),
    Binding("shift+tab,left", "previous", "previous question", id="approval.previous", show=False),
    Binding("up", "up", "up", id="approval.up", show=False),
    Binding("down", "down", "down", id="approval.down", show=False),
    Binding("pageup", "page(-1)", "back a page", id="approval.page_up", show=False),
    Binding("pagedown", "page(1)", "on a page", id="approval.page_down", show=False),
    Binding("home", "page(-1000000)", "to the beginning", id="approval.top", show=False),
    Binding("end", "page(1000000)", "to the end", id="approval.bottom", show=False),
    Binding("escape", "back", "a step back; from a question: see there", id="approval.back"),
]
WORDS: dict[str, tuple[str, str]] = {
    "approval.yes": ("allow once", "yes"),
    "approval.always": ("always...", "always"),
    "approval.no": ("no", "no"),
    "approval.reason": ("no, because...", "why-not"),
    "approval.edit": ("edit first", "edit"),
    "approval.choose": ("choose", "mark"),
    "approval.choose_all": ("choose all", "all"),
    "approval.allow_chosen": ("allow chosen", "chosen"),
    "approval.only_chosen": ("allow chosen, refuse the rest", "only"),
    "approval.no_all": ("no to all, because...", "none"),
    "approval.session": ("this session", "session"),
    "approval.project": ("this project", "project"),
    "approval.user": ("every project of yours", "user"),
    "approval.pattern": ("change the pattern", "change"),
    "question.take": ("take this one", "take"),
    "approval.edited": ("go on with these", "go-on"),
    "approval.editor": ("in your editor", "editor"),
    "approval.details": ("short", "short"),
    "approval.next": ("next", "next"),
    "approval.back": ("back", "back"),
}
"""How keys are told of at the foot of the panel, in a few words and in one. Those that are left out are not."""
ENTER: dict[Step, tuple[str, str]] = {
    "pattern": ("take this pattern", "take"),
    "reason": ("refuse, and say so", "refuse"),
    "reason for all": ("refuse all, and say so", "refuse"),
    "free": ("answer", "answer"),
}
"""What Enter does in a field."""
ALWAYS = frozenset({"back", "page", "up", "down", "look_at"})


def possible(step: Step, question: Question, queue: Queue) -> frozenset[str]:
    """The actions that there are now; `keep(session)` and the like bear their argument."""
    if step == "edit":
        return frozenset({"back", "done", "editor"})
    if step in FIELDS:
        return frozenset({"back"})
    several = {"next", "previous"} if len(queue.waiting) > 1 else set()
    if not isinstance(question, ApprovalAsked):
        return ALWAYS | several | ({"take"} if question.options or is_free(question) else set()) | {"pick"}
    if step == "scope":
        return (
            ALWAYS | {f"keep({scope})" for scope in scopes_of(question)} | ({"pattern"} if question.commands else set())
        )
    found = ALWAYS | several | {"yes", "no", "reason", "edit", "editor", "details", "no_all"}
    if scopes_of(question):
        found |= {"always"}
    if len(queue.approvals) > 1:
        found |= {"choose", "choose_all"}
        if queue.chosen:
            found |= {"allow_chosen", "only_chosen"}
    return frozenset(found)
