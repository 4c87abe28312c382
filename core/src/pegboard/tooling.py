"""@tool: a typed function becomes a tool. It stays a function; everything else is read off its signature.

    @tool(examples=["count the words in {path}"])
    def word_count(path: Annotated[str, Reads("File, relative to the workspace root")], ctx: Context) -> str:
        '''Count the words in a file.'''
        return str(len(ctx.workspace.read_text(path).split()))

Schema, validation, description, touches and effect come from the annotations; `Tool.of` reads them once, when the tool is
registered. Only the road runs a tool.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import msgspec

from pegboard.arguments import Shape, Shaped
from pegboard.calls import Call, Effect, Overlap, Replay, Touch, TouchKind
from pegboard.context import Context
from pegboard.declaration import EVERYONE, MARK, Declaration
from pegboard.declaration import tool as tool
from pegboard.errors import PegboardError
from pegboard.signature import BadSignature, Signature, signature_of
from pegboard.touches import Node, collect, effect_of_kinds, exceeds, kinds_in, strictest

_LABEL = 60
_ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9_\-]{0,63}")
_WORDS: dict[str, tuple[str, ...]] = {
    "effect": get_args(Effect),
    "replay": get_args(Replay),
    "overlap": get_args(Overlap),
    "keep": ("head", "ends"),
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_KINDS: tuple[str, ...] = get_args(TouchKind)
_SHOWN_BY = {"web": "net", "ask": "ask", "state": "state"}
"""Keys of `tool_permission` that are allowed as shipped, and the one kind of touch that each stands for."""
MAX_EXAMPLES = 12


class BadTool(PegboardError):
    """A tool's declaration is wrong; it was not registered. The text says what to change."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tool:
    """A registered tool: what its author declared and what its signature says.

    `function` is run by the road alone. `decode` reads canonical bytes back into the argument struct. `key` is the argument
    that stands for a call on its activity line: as declared, else the first that is touched, else the first. `effect` is
    the upper bound of its calls; `owner` the plugin it came from, `set` the tool set, if any. `is_async`: it runs on the
    loop by itself. `looks`: its touches depend on files or settings."""

    name: str
    description: str
    function: Callable[..., Any]
    declaration: Declaration
    signature: Signature
    shape: Shape
    touched: tuple[tuple[str, Node], ...]
    effect: Effect
    decode: Callable[[bytes], Any]
    is_async: bool
    looks: bool = False
    key: str | None = None
    owner: str = ""
    set: str | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], *, owner: str = "", set: str | None = None) -> Tool:
        """Read a marked function.

        Raises:
            BadTool: the declaration or the signature is wrong; the text says what to change.
        """
        declaration = getattr(function, MARK, None)
        if not isinstance(declaration, Declaration):
            raise BadTool(f"{getattr(function, '__name__', function)!r} is not marked @tool")
        name = declaration.name or function.__name__
        _check_words(declaration, name)
        try:
            signature = signature_of(function, name)
        except BadSignature as error:
            raise BadTool(f"tool {name!r}: {error}") from None
        touched = tuple(signature.touched.items())
        effect = _bound(declaration, [kind for _, node in touched for kind in kinds_in(node)])
        shape = Shape(
            struct=signature.struct,
            fields=signature.fields,
            types=signature.types,
            param_aliases=declaration.param_aliases or {},
            strict_names=effect != "read_only",
        )
        made = cls(
            name=name,
            description=inspect.cleandoc(function.__doc__ or "").strip(),
            function=function,
            declaration=declaration,
            signature=signature,
            shape=shape,
            touched=touched,
            effect=effect,
            decode=msgspec.json.Decoder(signature.struct).decode,
            is_async=signature.is_async,
            looks=declaration.touches is not None and len(inspect.signature(declaration.touches).parameters) > 1,
            key=declaration.key_arg or next((name for name, _ in touched), None) or next(iter(signature.fields), None),
            owner=owner,
            set=set,
        )
        _check(made)
        return made

    @property
    def qualified(self) -> str:
        """`set:name`, or `owner:name` for a tool outside any set."""
        return f"{self.set or self.owner}:{self.name}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: inlined, without titles."""
        return self.signature.schema

    @property
    def judged(self) -> frozenset[str]:
        """The parameters that rules and guards look at: those that declare touches, and the key one."""
        return frozenset(name for name, _ in self.touched) | ({self.key} if self.key else frozenset())

    @property
    def label(self) -> str:
        """One line for listings: the declared short label, else the description's first line, shortened."""
        first = self.description.split("\n", 1)[0]
        return self.declaration.short or (first if len(first) <= _LABEL else first[: _LABEL - 1].rstrip() + "…")

    def read(self, sent: Any, preset: Mapping[str, Any] | None = None) -> Shaped:
        """Validate arguments (see `Shape.read`); `preset` is what an alias fixes beforehand."""
        return self.shape.read(sent, preset)

    def touches(self, arguments: Any, view: Context | None = None) -> list[Touch]:
        """What a call with these arguments (the decoded struct) would touch; paths are not resolved yet.

        `view`: what a `touches` function with a second parameter is given, a context as previews get it.
        A tool that declares no touch and is not pure gives one unknown touch."""
        found: list[Touch] = []
        for name, node in self.touched:
            found += [Touch(kind, what) for kind, what in collect(getattr(arguments, name), node)]
        if self.declaration.touches is not None:
            given = (arguments, view) if self.looks else (arguments,)
            found += [_known(t if isinstance(t, Touch) else Touch(*t)) for t in self.declaration.touches(*given)]
            missing = [kind for kind in self.declaration.kinds if all(touch.kind != kind for touch in found)]
            if missing:
                raise ValueError(f"it declares that every call touches {missing[0]}, and this one would not")
        elif not self.touched and not self.declaration.pure:
            found.append(Touch("unknown", self.name))
        return found

    @property
    def certain(self) -> tuple[TouchKind, ...]:
        """The kinds of touches that every call has: of arguments that cannot be left out or that are touched by default, and
        those that are declared."""
        found: list[TouchKind] = [*self.declaration.kinds]
        for name, node in self.touched:
            field = self.signature.fields[name]
            if field.required or any(collect(field.default, node)):
                found += kinds_in(node)
        return tuple(dict.fromkeys(found))

    def with_owner(self, owner: str, set: str | None) -> Tool:
        """The same tool under another owner."""
        return replace(self, owner=owner, set=set)

    def wire_size(self) -> int:
        """Bytes that the tool costs on every request: compact JSON of name, description and parameters."""
        return len(
            msgspec.json.encode({"name": self.name, "description": self.description, "parameters": self.parameters})
        )


def _known(touch: Touch) -> Touch:
    """A touch that a function gave; one that is none would be judged by no rule."""
    if touch.kind not in _KINDS or not isinstance(touch.what, str):
        raise ValueError(f"{touch.kind!r} {touch.what!r} is no touch; kinds are {', '.join(_KINDS)}")
    return touch


def _bound(declaration: Declaration, kinds: Sequence[TouchKind]) -> Effect:
    if declaration.touches is not None:
        return declaration.effect or "side_effecting"
    if not kinds and not declaration.pure:
        return "side_effecting" if declaration.effect in (None, "read_only") else declaration.effect
    annotated = effect_of_kinds(kinds)
    return strictest([annotated, declaration.effect or annotated])


def _check_words(declared: Declaration, name: str) -> None:
    """Refuse words that a declaration does not know; authors' type checkers would say the same."""
    said = {"effect": declared.effect, "replay": declared.replay, "overlap": declared.overlap, "keep": declared.keep}
    for key, known in _WORDS.items():
        if said[key] is not None and said[key] not in known:
            raise BadTool(f"tool {name!r}: {key} is one of {', '.join(known)}, not {said[key]!r}")
    for kind in declared.kinds:
        if kind not in _KINDS:
            raise BadTool(f"tool {name!r}: kinds are of {', '.join(_KINDS)}, not {kind!r}")
    if declared.kinds and declared.touches is None:
        raise BadTool(f"tool {name!r}: kinds is for tools whose touches are a function; annotations say it elsewhere")
    for caller in declared.callers - EVERYONE:
        raise BadTool(f"tool {name!r}: callers are of {', '.join(sorted(EVERYONE))}, not {caller!r}")
    for alias in declared.aliases:
        word = alias if isinstance(alias, str) else alias[0]
        if not _ALIAS.fullmatch(word):
            raise BadTool(f"tool {name!r}: alias {word!r} is no name (letters, digits, _ and -, at most 64)")


def _check(made: Tool) -> None:
    """Refuse declarations that cannot be meant."""
    declared, name = made.declaration, made.name
    if not _NAME.fullmatch(name):
        raise BadTool(f"tool {name!r}: a name is [a-z][a-z0-9_]*, at most 64 letters")
    if not made.description:
        raise BadTool(f"tool {name!r} has no docstring; its first lines are what the model is told")
    if declared.permission in ("read", "list") and made.effect != "read_only":
        raise BadTool(
            f"tool {name!r}: permission {declared.permission!r} is for read_only tools; this one is {made.effect}"
        )
    kinds = {kind for _, node in made.touched for kind in kinds_in(node)}
    if declared.permission in _SHOWN_BY:
        unsaid = declared.touches is not None or not (kinds or declared.pure) or made.effect == "delegating"
        if unsaid or kinds - {_SHOWN_BY[declared.permission]}:
            raise BadTool(
                f"tool {name!r}: permission {declared.permission!r} is allowed as shipped, and is for tools that touch "
                "nothing else; leave it out, and its touches are judged"
            )
    if declared.batch and made.effect != "read_only":
        raise BadTool(f"tool {name!r}: batch is for read_only tools; this one is {made.effect}")
    if declared.batch and declared.touches is None and not kinds & {"read", "list"}:
        raise BadTool(f"tool {name!r}: batch is for tools that are given paths; this one is given none")
    if declared.preview_runs and declared.preview is None:
        raise BadTool(f"tool {name!r}: preview_runs is for tools with a preview; leave it out, or give one")
    if declared.inline and made.is_async:
        raise BadTool(f"tool {name!r}: inline is for plain functions; an async one runs on the loop anyway")
    if declared.effect and declared.touches is None and exceeds(made.effect, declared.effect):
        raise BadTool(f"tool {name!r}: effect {declared.effect!r} is below what it touches ({made.effect})")
    if len(declared.examples) > MAX_EXAMPLES:
        raise BadTool(f"tool {name!r} has {len(declared.examples)} examples; at most {MAX_EXAMPLES}")
    for example in declared.examples:
        for slot in re.findall(r"\{(\w+)\}", example):
            if slot not in made.shape.names:
                raise BadTool(f"tool {name!r}: example {example!r} names {{{slot}}}, which is no parameter")
    for sent, alias in (declared.param_aliases or {}).items():
        target = alias if isinstance(alias, str) else alias[0]
        if target not in made.shape.names and target not in made.signature.inner_names:
            raise BadTool(f"tool {name!r}: param_aliases[{sent!r}] names {target!r}, which is no parameter")


def callable_by(made: Tool, call: Call) -> bool:
    """Whether the call's caller may call this tool."""
    return call.caller in made.declaration.callers


def told_to(made: Tool, call: Call) -> bool:
    """Whether the call's caller may call this tool, and is told of it."""
    return callable_by(made, call) and made.declaration.advertised
