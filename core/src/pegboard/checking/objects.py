"""Entries that name an object: providers, launchers, commands, slash commands, forms."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pegboard.checking.loading import LIMIT_MS, Hanging
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.watching import watched
from pegboard.errors import ConfigError, ModelError, ToolError
from pegboard.plugins.loaded import told

_REPLY = 5.0
"""Seconds in which a provider without a network says so, or is told to stop."""


def check_object(one: Hanging, findings: Findings) -> None:
    """What an entry without hooks names."""
    id, look = _LOOKS[one.entry.group]
    findings.make(id, one.subject, look, one)


def _provider(one: Hanging) -> Said:
    from pegboard.models import Provider, ProviderKind, ProviderSettings

    fix = "An entry names a function (ProviderSettings) -> Provider; see pegboard.models."
    make = one.made
    if not callable(make):
        return Said("fail", f"{one.entry.value} is a {type(make).__name__}, not a function", fix)
    options: Any = make.options() if isinstance(make, ProviderKind) and make.options else {}
    settings = ProviderSettings(
        name=one.entry.name,
        model="sample",
        base_url="https://example.org/v1",
        api_key_env="",
        options=options,
        root=os.getcwd(),
    )
    try:
        provider = make(settings)
    except ConfigError as error:
        return skipped(f"it cannot be made with sample settings: {error}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: what makes a provider may raise anything
        return Said(
            "fail", f"making it raised {told(error, one.entry.value)}", "Raise ConfigError for settings that are wrong."
        )
    missing = [name for name in ("banner", "cautious", "reply", "close") if not hasattr(provider, name)]
    if missing or not isinstance(provider, Provider):
        return Said("fail", f"what it makes has no {', '.join(missing)}", fix)
    if not isinstance(provider.banner, str) or not isinstance(provider.cautious, bool):
        return Said("fail", "its banner is no text, or cautious is neither True nor False", fix)
    with watched():
        return asyncio.run(_replies(provider, one))


async def _replies(provider: Any, one: Hanging) -> Said:
    from pegboard.models import CallPart, ChatMessage, EndPart, NotePart, Request, TextPart, ThinkingPart

    known = (CallPart, EndPart, NotePart, TextPart, ThinkingPart)
    message = ChatMessage(role="user", text="hello")
    request = Request(model="sample", system="", messages=[message], tools=[])
    ended = False
    try:
        async with asyncio.timeout(_REPLY):
            async for part in provider.reply(request):
                if not isinstance(part, known):
                    fix = "Yield parts of pegboard.models, and an EndPart when the reply is whole."
                    return Said("fail", f"a part of its reply is a {type(part).__name__}", fix)
                ended = isinstance(part, EndPart)
        if not ended:
            return Said(
                "fail", "its reply had no end", "Yield an EndPart when the reply is whole; raise ModelError otherwise."
            )
        said = fine("it can be made, and a reply of it is whole")
    except ModelError as error:
        said = fine(f"it can be made; without a network it says: {str(error)[:120]}")
    except TimeoutError:
        said = fine(f"it can be made; without a network it went on trying for {_REPLY:g} s, and was stopped")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a provider may raise anything
        fix = "Raise ModelError, and say what to do: it is shown to the person."
        return Said("fail", f"asked without a network, it raised {told(error, one.entry.value)}", fix)
    finally:
        with contextlib.suppress(Exception):  # isolates plugins: a provider that cannot be closed
            await provider.close()
    return said


def _launcher(one: Hanging) -> Said:
    from pegboard.kit.launch import Launch
    from pegboard.launchers import settings_of

    fix = "An entry names a function (settings) -> launcher, and that turns a Launch into another; see pegboard.kit.launch."
    try:
        kind = settings_of(one.made)
        launcher = one.made(msgspec.convert({}, kind) if kind else {})
        why = launcher.missing() if hasattr(launcher, "missing") else None
        if why is not None:
            if not isinstance(why, str):
                return Said(
                    "fail", f"missing() returned {type(why).__name__}", "Return why it cannot confine here, or None."
                )
            return skipped(f"it does not work here: {why}")
        folder = os.getcwd()
        for view in ("workspace", "read_only"):
            asked = Launch(argv=("true",), cwd=folder, root=folder, view=view)
            made = launcher(asked)
            if not isinstance(made, Launch) or made.argv == asked.argv:
                return Said("fail", f"for the view {view!r} it did not confine the program", fix)
    except ToolError as error:
        return skipped(f"it does not work here: {error}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a launcher may raise anything
        return Said("fail", f"it raised {told(error, one.entry.value)}", fix)
    return fine("it confines a program, for each view")


def _command(one: Hanging) -> Said:
    """`pegboard NAME --help`: said at once, whatever the command needs when it runs."""
    command = one.made
    fix = "An entry names a typer.Typer; import what is heavy inside its functions."
    if not callable(command) or not hasattr(command, "registered_commands"):
        return Said("fail", f"{one.entry.value} is a {type(command).__name__}, not a typer.Typer", fix)
    printed, began = io.StringIO(), time.perf_counter()
    try:
        with contextlib.redirect_stdout(printed), watched() as deeds:
            command(args=["--help"], standalone_mode=False, prog_name=f"pegboard {one.entry.name}")
    except SystemExit:
        pass
    except Exception as error:  # noqa: BLE001 - isolates plugins: a command may raise anything
        return Said("fail", f"--help raised {told(error, one.entry.value)}", fix)
    took = (time.perf_counter() - began) * 1000
    text = printed.getvalue()
    if not text.strip():
        return Said("fail", "--help says nothing", "Give the command a docstring or help=.")
    if deeds.started or deeds.asked:
        return Said("fail", f"--help does more than print: {(deeds.started + deeds.asked)[0]}", fix)
    if took > LIMIT_MS:
        rich = "`typer.Typer(rich_markup_mode=None)` says its help without Rich. " if "rich" in sys.modules else ""
        return Said("fail", f"--help takes {took:.0f} ms, of {LIMIT_MS}", f"{rich}{fix}")
    if not _says_more(text):
        return Said("warn", "--help does not say what the command is for", "Give the command a docstring or help=.")
    return fine("--help is said without importing what is heavy")


def _says_more(text: str) -> bool:
    """Whether help says more than how it is called."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and any(
        line[:1].isspace() and not line.lstrip().startswith(("Usage", "-", "Show this")) for line in lines[1:]
    )


def _slash(one: Hanging) -> Said:
    from pegboard.slash import Slash

    made = one.made
    fix = "An entry names a pegboard.slash.Slash with usage, help and run."
    if not isinstance(made, Slash):
        return Said("fail", f"{one.entry.value} is a {type(made).__name__}, not a Slash", fix)
    if not (isinstance(made.usage, str) and isinstance(made.help, str) and callable(made.run)):
        return Said("fail", "usage and help are texts, and run is a function", fix)
    if not made.usage.startswith(f"/{one.entry.name}"):
        return Said("fail", f"its usage {made.usage!r} does not begin with its name, /{one.entry.name}", fix)
    if not made.help.strip():
        return Said("fail", "its help says nothing", fix)
    return fine(f"{made.usage}: {made.help}")


def _form(one: Hanging) -> Said:
    from pegboard.blocks import Note, Table

    blocks = [Note(text="alpha"), Table(columns=["a"], rows=[["1"]])]
    fix = "An entry names a function (blocks, width) -> str."
    try:
        text = one.made(blocks, 40)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a form may raise anything
        return Said("fail", f"it raised {told(error, one.entry.value)}", fix)
    return (
        fine("it draws blocks") if isinstance(text, str) and "alpha" in text else Said("fail", "it draws nothing", fix)
    )


_LOOKS: Mapping[str, tuple[str, Callable[[Hanging], Said]]] = {
    "pegboard.providers": ("provider.shape", _provider),
    "pegboard.launchers": ("launcher.shape", _launcher),
    "pegboard.commands": ("command.help", _command),
    "pegboard.slash": ("slash.shape", _slash),
    "pegboard.forms": ("form.draws", _form),
}
