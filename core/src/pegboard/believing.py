"""Whether what a plugin says of its tools in its manifest is what they are. The road looks at the tools themselves, so a lie
changes nothing about a call; it may have changed what a person agreed to when they installed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pegboard.entries import Entry
from pegboard.plugins.claims import is_stranger
from pegboard.plugins.loaded import Plugin, switch_off, whose

if TYPE_CHECKING:
    from pegboard.manifest import EntrySaid, ToolSaid


def lies(plugins: Iterable[Plugin]) -> list[str]:
    """A note for each stranger whose manifest conceals what its tools are as they were loaded."""
    asked = (plugin for plugin in plugins if "pegboard_tools" in plugin.contributions and plugin.entry.info)
    notes = []
    for plugin in (plugin for plugin in asked if is_stranger(plugin.entry)):
        from pegboard import manifest  # only where there are strangers

        lie = belied(plugin.entry, list(manifest.tools_of(plugin))) if manifest.read(plugin.entry) else None
        if lie is not None:
            notes.append(
                f"{whose(plugin.entry)}: its pegboard.json is not true: {lie}. Calls are judged by what its tools are; "
                f"what was shown when it was installed was not that. To switch it off, {switch_off(plugin.entry)}"
            )
    return notes


def belied(entry: Entry, tools: Sequence[ToolSaid]) -> str | None:
    """What a manifest that is up to date conceals of these tools, which the entry has when it is loaded: tools, touches,
    effects. None: nothing, or there is no such manifest. Nothing is imported."""
    from pegboard.manifest import fresh

    said = fresh(entry)
    return concealed(said, tools) if said is not None else None


def concealed(said: EntrySaid, tools: Sequence[ToolSaid]) -> str | None:
    """The same, of what was read."""
    known = {tool.name: tool for tool in said.tools}
    return next((text for tool in tools if (text := _hidden(known.get(tool.name), tool)) is not None), None)


def _hidden(said: ToolSaid | None, tool: ToolSaid) -> str | None:
    if said is None:
        return f"it does not say that there is a tool {tool.name}"
    more = [kind for kind in tool.touches if kind not in said.touches]
    if more:
        return f"of {tool.name} it does not say that it touches {', '.join(more)}"
    if tool.by_arguments and not said.by_arguments:
        return f"of {tool.name} it does not say that what it touches depends on its arguments"
    if tool.effect != said.effect:
        return f"of {tool.name} it says {said.effect}, and it is {tool.effect}"
    if tool.permission != said.permission:
        return f"of {tool.name} it says another permission than {tool.permission or 'that of what it touches'}"
    return None
