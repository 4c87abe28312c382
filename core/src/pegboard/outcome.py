"""What a call comes to: a tool's return value as text and data, and the texts of what did not go through.

Every text says what happened, whether anything was changed, and what to do next. `Error: ` is added here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.blocks import AnyBlock
from pegboard.calls import Answer, BlockName, Decision, OutcomeName, Result, Touch, Why
from pegboard.errors import Interrupted, ToolError
from pegboard.kit.output import Caps, cap_text
from pegboard.touches import PATHS, effect_of
from pegboard.wire import clean, encode, writable

if TYPE_CHECKING:
    from pegboard.grant import Grant
    from pegboard.tooling import Tool

_NAMED = 20
_ARGUMENT = 1000  # characters of an argument that a person changed
_DEEPEST = 16  # levels of a value that JSON has no form for
DATA_BYTES = 8
"""A result's data may take this many times the bytes its text may: it is for programs, and JSON is wordier."""


class Product(msgspec.Struct, kw_only=True):
    """What running a tool gave: the model's text, data as plain JSON values, blocks for front ends."""

    text: str
    data: Any = None
    blocks: list[AnyBlock] = []
    truncated: bool = False
    full_output: str | None = None
    note: str | None = None


class Effects(msgspec.Struct, gc=False):
    """What is known of what a call did to files, where it did not come to its end.

    commits: it changes files by commits. open: how many of them it has not left. beyond: it started programs or called
    tools, of whose doings nothing is known here. files: what it changed. put_back: other changes, all undone since."""

    commits: bool = False
    open: int = 0
    beyond: bool = False
    files: list[str] = msgspec.field(default_factory=list)
    put_back: bool = False

    def known(self, touches: Sequence[Touch]) -> bool:
        """Whether this is all it did: a tool changes files by commits alone."""
        return self.commits and not self.open and not self.beyond and all(touch.kind in PATHS for touch in touches)

    def __str__(self) -> str:
        if self.files:
            more = len(self.files) - _NAMED
            names = ", ".join(self.files[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            return f"By then it had changed {names}, and nothing else. Look at that before you go on."
        if self.put_back:
            return "What had been changed before was put back: nothing is changed."
        return "Nothing was changed."


class Stopped(Exception):
    """A stage stopped the call before it ran: nothing happened."""

    def __init__(self, block: BlockName, text: str, decision: Decision | None = None) -> None:
        super().__init__(text)
        self.block = block
        self.decision = decision


def product_of(returned: Any, grant: Grant, caps: Caps) -> Product:
    """A tool's return value, capped (decision 41)."""
    declared = grant.tool.declaration
    ignored = ignored_text(grant.tool.name, grant.dropped, grant.tool.shape.names) if grant.dropped else ""
    if type(returned) is str and grant.sink is None and declared.note is None and len(returned) < caps.surely:
        return Product(text=clean(returned) + ignored)
    text, value, blocks = _said(returned, grant.tool.name)
    text = clean(text)
    data, size = _plain(value)
    allowed = _doubled(caps) if declared.pages else caps
    over = allowed.exceeded_by(text)
    capped = cap_text(text, allowed, declared.keep, grant.spool() if over else None)
    truncated, full_output = capped.truncated, capped.full_output
    output = grant.sink
    if output is not None:
        printed = output.close()
        truncated, full_output = truncated or printed.truncated, printed.full_output or full_output
    if caps.max_bytes and size > DATA_BYTES * caps.max_bytes:
        data, truncated = None, True
    more = bool(getattr(value, "more", False) or getattr(value, "truncated", False))
    return Product(
        text=capped.text + ignored,
        data=data,
        blocks=blocks,
        truncated=truncated or more,
        full_output=full_output,
        note=_note(declared.note, returned),
    )


def _plain(value: Any) -> tuple[Any, int]:
    """Plain JSON values, and their bytes. What JSON has no form for is shown: a tool that ran is not failed for it."""
    if value is None:
        return None, 0
    try:
        data = msgspec.to_builtins(value, str_keys=True)
        return data, len(msgspec.json.encode(data))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        data = writable(value)
        return data, len(encode(data))


def _parts(returned: Any) -> tuple[str, Any, list[AnyBlock]]:
    match returned:
        case str():
            return returned, None, []
        case Result(text=text, data=data, blocks=blocks):
            return text, data, list(blocks)
        case None:
            return "", None, []
        case msgspec.Struct():
            return str(returned), returned, []
        case _ if is_dataclass(returned) and type(returned).__str__ is not object.__str__:
            return str(returned), returned, []
        case _:
            try:
                return msgspec.json.encode(returned).decode(), returned, []
            except TypeError:
                return str(returned), None, []
            except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
                shown = writable(returned, _DEEPEST)
                return encode(shown).decode(), shown, []


def _said(returned: Any, tool: str) -> tuple[str, Any, list[AnyBlock]]:
    """The parts of what a tool returned.

    Raises:
        ToolError: it cannot be put into words; the tool ran all the same."""
    try:
        return _parts(returned)
    except (Exception, SystemExit) as error:  # isolates tools: what they return may fail when it is shown
        raise ToolError(
            f"{tool} ran, and what it returned cannot be shown ({type(error).__name__}: {error}). What it changed stands; "
            "do not repeat it before you have looked."
        ) from error


def _note(judge: Any, returned: Any) -> str | None:
    if judge is None:
        return None
    try:
        said = judge(returned)
    except (Exception, SystemExit):  # noqa: BLE001 - isolates tools: a note is an ornament, and never fails the call
        return None
    return said if isinstance(said, str) and said else None


def _doubled(caps: Caps) -> Caps:
    """A tool that pages keeps to the caps itself; this only stops one that does not."""
    return Caps(max_chars=caps.max_chars * 2, max_bytes=caps.max_bytes * 2, max_lines=caps.max_lines * 2)


def unknown_text(name: str, offered: Sequence[str], nearest: str | None, claimants: Sequence[str]) -> str:
    """The text for a name that no tool answers to."""
    name = clean(name)
    if len(claimants) > 1:
        hint = f" {name} is an alias that {' and '.join(claimants)} both claim, so it works for neither."
    else:
        hint = f" Did you mean {nearest}?" if nearest else ""
    return f'Error: unknown tool "{name[:100]}". Nothing was run.{hint}\nAvailable tools: {", ".join(offered)}'


def invalid_text(tool: str, problems: Sequence[str]) -> str:
    """The text for arguments that do not fit: a line for every wrong field."""
    lines = "\n".join(f"- {problem}" for problem in problems)
    return f"Error: invalid arguments for {tool}; nothing was run.\n{lines}\nCall it again with these corrected."


def ignored_text(tool: str, dropped: Sequence[str], names: Collection[str]) -> str:
    """A line below a result about arguments that no parameter takes (decision 42); null ones are not worth a word."""
    unknown = [clean(name) for name in dropped if name not in names]
    return f"\n(ignored, {tool} has no such parameter: {', '.join(unknown)})" if unknown else ""


def stuck_text(tool: str) -> str:
    """The text for a tool whose stopped thread has not ended."""
    return (
        f"Error: {tool} is off for this session: a call of it was stopped and its thread has not ended. "
        "Nothing was run. Take another way."
    )


def blocked_text(what: str) -> str:
    """The text for a call that was stopped before it ran."""
    return f"Error: {what} Nothing was run." if what.endswith(".") else f"Error: {what}. Nothing was run."


def unstarted_text(why: Why, signal: str | None = None) -> str:
    """The text for a call that the end of its turn came before. `signal`: what ended the program, if that was no person."""
    who = "the person ended the turn" if why == "person" else "the turn ended"
    who = f"{signal} ended Pegboard" if signal else who
    return blocked_text(f"{who} before this call ran")


def recalled_text(why: Why) -> str:
    """The text for a call that was told to stop before it ran, while its turn goes on."""
    return blocked_text(
        "the person cancelled this call before it ran" if why == "person" else "the turn ended before it ran"
    )


def denied_text(rule: str, answer: Answer | None = None) -> str:
    """The text for a refusal by policy or by a person (decision 46)."""
    if answer is None:
        return (
            f"Error: this call is not allowed: {rule}. Nothing was run. "
            "Ask the person for an alternative, or take another way that does not need it."
        )
    who = {
        "person": "the person declined this call",
        "--no": "the call was declined (--no)",
        "program": "the program that runs this session declined this call",
    }.get(answer.by, f"the call was declined by {answer.by}")
    if answer.by == "headless":
        who = f"this call needs a person's consent ({rule}) and there is no one to ask"
    reason = f" Reason: {answer.reason.rstrip('.')}." if answer.reason and answer.by != "headless" else ""
    return f"Error: {who}.{reason} Nothing was run. Ask the person for an alternative, or take another way."


def interrupted_text(
    why: Why,
    touches: Sequence[Touch],
    printed: str,
    limit: float | None = None,
    effects: Effects | None = None,
    signal: str | None = None,
) -> str:
    """The text for a call that was started and not finished (decision 47). `signal`: what ended it, if no person."""
    noun = "command" if any(touch.kind == "run" for touch in touches) else "call"
    match why:
        case "timeout":
            said = f"The {noun} was stopped at its time limit{f' of {limit:g} s' if limit else ''}."
        case "person":
            said = f"{signal} ended Pegboard while this {noun} ran." if signal else f"The user interrupted this {noun}."
        case "turn_ended":
            said = f"The turn ended while this {noun} ran."
    known = effects is not None and effects.known(touches)
    text = f"Error: {said} {effects if known else 'It did not finish, so its effects are unknown.'}"
    return f"{text}\nstdout:\n{printed}" if printed else text


def inspect_text(tool: Tool, touches: Sequence[Touch], effects: Effects, outcome: OutcomeName) -> str:
    """A line below the text of a call that failed, that may have changed something and that must not be made again blindly.
    A tool that touches files alone says itself what it changed, when it fails."""
    only_files = all(touch.kind in PATHS for touch in touches) and not effects.beyond
    harmless = tool.declaration.replay == "safe" or effect_of(touches) in ("read_only", "user_mediated")
    if harmless or effects.known(touches) or (outcome == "error" and only_files and not effects.open):
        return ""
    return "\n(Before you change anything else, look at the state of things: this call may have changed some of it.)"


def changed_text(given: Mapping[str, Any], ran: Mapping[str, Any]) -> str:
    """A line below the text of a call whose arguments the person changed: what it was made with instead."""
    changed = {name: value for name, value in ran.items() if name not in given or given[name] != value}
    said = [f"{name} = {_short(value)}" for name, value in changed.items()]
    said += [f"{name} left out" for name in given if name not in ran]
    return f"\n(The person changed the arguments of this call before allowing it: {'; '.join(said)})"


def _short(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= _ARGUMENT else f"{text[:_ARGUMENT]}… ({len(text):,} characters)"


def fault_text(tool: Tool, error: BaseException, place: str) -> str:
    """The text for a tool that raised what no tool should, and where; `Error: ` comes with its record."""
    return (
        f"{tool.name} failed: {type(error).__name__}: {error}{place}. What it had changed before that is unknown. "
        f"That is a fault of the plugin {tool.owner!r}; take another way."
    )


def why_of(stop: Interrupted) -> Why:
    """Why it was stopped, as records know it; anything else a tool says counts as the person."""
    match stop.why:
        case "timeout":
            return "timeout"
        case "turn_ended":
            return "turn_ended"
        case _:
            return "person"
