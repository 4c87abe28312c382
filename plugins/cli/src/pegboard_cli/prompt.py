"""Asks the person at the terminal for permission, for one call or for several of a reply together.

Enter means no. "Always" is offered only where the question says what it would keep, and that is on the screen before it is
kept; a pattern that the person edits is held against the command that was asked about. Nothing runs before a plain yes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
from pegboard import port
from pegboard.blocks import Activity
from pegboard.events import ApprovalAsked, QuestionAsked
from pegboard.terminal import plain, visible

from pegboard_cli import editing, typed
from pegboard_cli.render import activity_line, all_visible, argument_lines, block_lines
from pegboard_cli.replies import ENDING as ENDING
from pegboard_cli.replies import RUN, SCOPES, Reply, Scope, read_choice, read_reply, read_scope
from pegboard_cli.screen import Screen


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a call would do, as a person is shown it: the arguments are those it would run with, none left out. edited: the
    person has made them what they are."""

    tool: str
    activity: Activity
    arguments: object
    edited: bool = False


def approval_lines(event: ApprovalAsked, subject: Subject, screen: Screen, *, glyphs: bool = True) -> list[str]:
    """Everything that a person should see before answering."""
    styles = screen.styles
    preview = [line for block in event.preview for line in block_lines(block, styles, all_visible)]
    asks = f"{visible(subject.tool)} asks: {visible(event.rule)} ({visible(event.layer)})"
    return [
        *activity_line(subject.activity, subject.tool, styles, glyphs=glyphs),
        "  " + styles.warn(asks),
        *(["  " + styles.warn("edited:")] if subject.edited else []),
        *("  " + line for line in argument_lines(subject.arguments, styles)),
        *("  " + line for line in preview),
        *_kept_lines(event.remember, _scopes(event), screen),
    ]


async def ask_approval(event: ApprovalAsked, subject: Subject, screen: Screen, *, glyphs: bool = True) -> port.Answer:
    """Show the call and read an answer. The end of input means no."""
    typed.say(screen, approval_lines(event, subject, screen, glyphs=glyphs))
    while True:
        always = bool(event.remember)
        line = await typed.ask(screen, _question(event, screen, always=always, edited=subject.edited))
        reply = Reply(False) if line is None else read_reply(line)
        if reply is None:
            typed.say(screen, [f"  Please answer {'y, a, e or n' if always else 'y, e or n'}."])
        elif reply.edit:
            arguments = await _edited(event, screen)
            if arguments is not None:  # judged first; what stands is asked about, with what it would change
                return port.Answer(id=event.id, granted=True, arguments=arguments)
        elif reply.always and not always:
            typed.say(screen, ["  That cannot be remembered; please answer y, e or n."])
        elif reply.always:
            answer = await _always(event, screen)
            if answer is not None:
                return answer
        else:
            return port.Answer(id=event.id, granted=reply.granted, reason=reply.reason)


async def ask_several(
    events: Sequence[ApprovalAsked], subjects: Sequence[Subject], screen: Screen, *, glyphs: bool = True
) -> list[port.Answer] | None:
    """Show several calls of one reply and read which of them are allowed. None: they are to be asked about one by one."""
    styles, count = screen.styles, len(events)
    heads = [activity_line(one.activity, one.tool, styles, glyphs=glyphs)[0] for one in subjects]
    numbered = [f"  {number}. {head}" for number, head in enumerate(heads, 1)]
    shown = [styles.bold(f"{count} calls ask:"), *numbered]
    for number, (event, subject) in enumerate(zip(events, subjects, strict=True), 1):
        _, *lines = approval_lines(msgspec.structs.replace(event, remember=[]), subject, screen, glyphs=glyphs)
        shown += [f"{number}. {heads[number - 1]}", *lines]
    typed.say(screen, shown)
    while True:
        line = await typed.ask(
            screen, 'Allow? [y]es to all / numbers for some (1 3-4) / [o]ne by one / [N]one (or: "n because ...") '
        )
        chosen = frozenset[int]() if line is None else read_choice(line, count)
        reason = None
        if chosen is None and line is not None and (said := read_reply(line)) is not None and said.reason:
            chosen, reason = frozenset[int](), said.reason
        if chosen == "one by one":
            return None
        if isinstance(chosen, frozenset):
            return [
                port.Answer(id=event.id, granted=number in chosen, reason=reason)
                for number, event in enumerate(events, 1)
            ]
        typed.say(screen, [f"  Please answer y, o, n, or numbers from 1 to {count}."])


async def ask_question(event: QuestionAsked, screen: Screen) -> port.Answer:
    """Show a tool's question and read a text, or the number of an option. An empty line dismisses it. Where the answer is
    not free, another text is asked for again."""
    screen.say("", *(visible(line, keep="\t") for line in event.question.split("\n")))
    screen.say(*_option_lines(event, screen))
    asks = "Your answer (Enter to dismiss): " if event.free else "The number of your answer (Enter to dismiss): "
    while True:
        line = await typed.ask(screen, asks)
        text = plain((line or "").strip())
        if text.isdecimal() and 1 <= int(text) <= len(event.options):
            text = event.options[int(text) - 1]
        if not text or event.free or text in event.options:
            return port.Answer(id=event.id, granted=bool(text), text=text or None)
        typed.say(screen, [f"  Please answer a number from 1 to {len(event.options)}."])


def _option_lines(event: QuestionAsked, screen: Screen) -> list[str]:
    """The options by their numbers, and below each what it means."""
    lines: list[str] = []
    for number, (option, detail) in enumerate(zip_longest(event.options, event.details, fillvalue=""), 1):
        lines.append(f"  {number}. {visible(option)}")
        lines += [screen.styles.dim(f"     {visible(part, keep=chr(9))}") for part in detail.split("\n") if part]
    return lines


# --- always -----------------------------------------------------------------------------------------------------------


def _scopes(event: ApprovalAsked) -> list[Scope]:
    """How long "always" may stand, of what this program knows to offer."""
    return [scope for scope in SCOPES if scope in event.scopes]


def _question(event: ApprovalAsked, screen: Screen, *, always: bool, edited: bool) -> str:
    offered = f"[a]lways for {_session(screen)} / " if _scopes(event) == ["session"] else "[a]lways / "
    return f"Allow{' as edited' if edited else ''}? [y]es once / {offered if always else ''}[e]dit / {ENDING}"


def _session(screen: Screen) -> str:
    """How long an answer for the session stands."""
    return "the rest of this run" if screen.one_turn else "this session"


def _kept_lines(kept: Sequence[str], scopes: Sequence[Scope], screen: Screen) -> list[str]:
    for_session = f", for {_session(screen)}" if scopes == ["session"] else ""
    return ["  " + screen.styles.warn(f"always would allow{for_session}: {visible(one)}") for one in kept]


async def _always(event: ApprovalAsked, screen: Screen) -> port.Answer | None:
    """How long it stands, and for which pattern. None: back to the question, with nothing kept."""
    scopes = _scopes(event)
    if scopes == ["session"] and not event.commands:
        return port.Answer(id=event.id, granted=True, remember="session")
    patterns: tuple[str, ...] | None = None
    words = [RUN if screen.one_turn and scope == "session" else SCOPES[scope][1] for scope in scopes]
    question = " / ".join([*words, *(["[c]hange the pattern"] if event.commands else []), "[B]ack"])
    while True:
        line = await typed.ask(screen, f"Always in: {question} ")
        meant = "back" if line is None else read_scope(line, scopes)
        if meant == "back":
            return None
        if meant == "change" and event.commands:
            patterns = await _changed(event, patterns, screen)
            typed.say(screen, _kept_lines([f"{one} …" for one in patterns], scopes, screen))
        elif meant is None or meant == "change":
            keys = ", ".join(SCOPES[scope][0] for scope in scopes)
            typed.say(screen, [f"  Please answer {keys}{', c' if event.commands else ''} or b."])
        else:
            return port.Answer(id=event.id, granted=True, remember=meant, pattern=patterns)


async def _changed(event: ApprovalAsked, before: tuple[str, ...] | None, screen: Screen) -> tuple[str, ...]:
    """The patterns as the person makes them; one that would not do is told of, and asked for again."""
    from pegboard.policy.patterns import pattern_problem, plain_pattern

    patterns: list[str] = []
    for offered, command in zip(before or event.remember, event.commands, strict=True):
        kept = pattern = plain_pattern(offered)
        while True:
            try:
                pattern = await editing.edit_line("  pattern: ", pattern, screen)
            except editing.NotEdited:
                pattern = kept
                break
            problem = pattern_problem(pattern, command)
            if problem is None:
                break
            typed.say(screen, [f"  {visible(pattern)}: {visible(problem)}"])
            pattern = pattern if visible(pattern) == pattern else kept
        patterns.append(plain_pattern(pattern))
    return tuple(patterns)


# --- edit -------------------------------------------------------------------------------------------------------------


async def _edited(event: ApprovalAsked, screen: Screen) -> Mapping[str, Any] | None:
    """The arguments as the person makes them; None where they are as they were."""
    if not isinstance(event.arguments, Mapping):
        typed.say(screen, ["  These arguments cannot be edited."])
        return None
    try:
        arguments = await editing.edit_arguments(event.arguments, screen)
    except editing.NotEdited as why:
        typed.say(screen, [f"  Not edited: {why}."])
        return None
    if arguments == event.arguments:
        typed.say(screen, ["  They are as they were."])
        return None
    return arguments
