"""/explain: what a call would get here, and by which rule, without making it."""

from __future__ import annotations

from pegboard.blocks import AnyBlock, Text
from pegboard.errors import ConfigError
from pegboard.slash import Said, Slash

USAGE = "/explain NAME [K=V]..."


async def _explain(said: Said) -> list[AnyBlock]:
    from pegboard_cli.explaining import told
    from pegboard_cli.styles import Styles
    from pegboard_cli.typed_calls import read_call

    name, arguments = read_call(said.rest, said.board, usage=USAGE)
    if said.board.registry.find(name) is None:
        near = said.board.registry.nearest(name)
        raise ConfigError(f"there is no tool {name!r}.{f' Did you mean {near!r}?' if near else ''} /tools lists them.")
    title, *lines = told(await said.explain(name, arguments), Styles(False))
    return [Text(title=title, text="\n".join(lines))]


def _complete(said: Said) -> list[str]:
    from pegboard_cli.typed_calls import call_words

    return call_words(said.rest, said.board, said.policy)


explain = Slash(
    usage=USAGE,
    help="what a call of the model's would get here, and by which rule; nothing is run",
    run=_explain,
    complete=_complete,
)
