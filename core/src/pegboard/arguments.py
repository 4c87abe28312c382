"""Arguments: from what a caller sent to what a tool declared, naming every wrong field.

The fast path is one msgspec conversion. Only when that fails, or a name is not declared, are the fields looked at one by
one: synonyms absorbed, undeclared and null dropped (and named), strings that hold a number, a boolean or JSON accepted
where the schema wants those (decision 42).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import inspect as mi

from pegboard.wanted import INEXACT, expected, holding, holds, single, takes_null, takes_text

ParamAlias = str | tuple[str, Callable[[Any], Any]]
"""The declared name, or the declared name with a converter for the value."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What reading JSON text may raise: broken, not Unicode, nested too deep."""


class InvalidArguments(Exception):
    """What was sent does not fit. `problems` has a line for every wrong field."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Shaped(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Arguments that fit: the decoded struct, its canonical JSON bytes, and the names that were dropped.

    `flat`: every value is a single one, so that a copy of the mapping shares nothing that could be changed."""

    value: Any
    body: bytes
    dropped: tuple[str, ...] = ()
    flat: bool = False

    def copied(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """A copy, its holder's own, of these arguments as a mapping."""
        return arguments.copy() if self.flat else self.mapping()

    def mapping(self) -> dict[str, Any]:
        """What the bytes say."""
        decoded: dict[str, Any] = _decode(self.body)
        return decoded


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """How one tool's arguments are read. Built once, when the tool is registered."""

    struct: type[msgspec.Struct]
    fields: Mapping[str, mi.Field]
    types: Mapping[str, Any]
    param_aliases: Mapping[str, ParamAlias]
    strict_names: bool
    names: frozenset[str] = field(init=False)
    _plain: frozenset[str] = field(init=False)
    _exact: bool = field(init=False)
    _flat: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(self.fields))
        # Conversion passes over unknown names inside structs in silence: those are always looked at one by one.
        plain = frozenset(name for name, declared in self.fields.items() if not holds(declared.type, mi.StructType))
        object.__setattr__(self, "_plain", plain)
        # NaN and infinity become null in JSON: where a number may be one, the bytes are read back before they are trusted.
        object.__setattr__(self, "_exact", not any(holds(declared.type, INEXACT) for declared in self.fields.values()))
        object.__setattr__(self, "_flat", all(single(declared.type) for declared in self.fields.values()))

    def read(self, sent: Any, preset: Mapping[str, Any] | None = None) -> Shaped:
        """Validate what a caller sent. `preset` is what an alias of the tool fixes where the caller says nothing.

        Raises:
            InvalidArguments: with one line for every wrong field; nothing was run.
        """
        if not preset and type(sent) is dict and sent.keys() <= self._plain and None not in sent.values():
            try:
                value = msgspec.convert(sent, self.struct, strict=False)
            except msgspec.ValidationError:
                pass
            except RecursionError:
                raise InvalidArguments(["the arguments are nested too deep"]) from None
            else:
                return self._shaped(value)
        return self._read_slowly(sent, preset or {})

    def _read_slowly(self, sent: Any, preset: Mapping[str, Any]) -> Shaped:
        arguments = _mapping(sent)
        problems: list[str] = []
        dropped: list[str] = []
        named = {**preset, **self._name(arguments, dropped, problems)}
        values: dict[str, Any] = {}
        for name, declared in self.fields.items():
            if name in named:
                self._convert(name, named[name], values, problems)
            elif declared.required:
                meant = next((sent for sent in dropped if edit_distance(sent, name, 2) <= 2), None)
                hint = f" ({meant} is no parameter; did you mean {name}?)" if meant else ""
                problems.append(f"{name}: missing; expected {expected(declared.type)}{hint}")
        if problems:
            raise InvalidArguments(problems)
        try:
            value = msgspec.convert(values, self.struct, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidArguments([str(error)]) from None
        return self._shaped(value, tuple(dropped))

    def _shaped(self, value: Any, dropped: tuple[str, ...] = ()) -> Shaped:
        """The struct with its canonical bytes, which must say the same: they are what is approved and run."""
        try:
            body = _encode(value)
            again = value if self._exact else msgspec.json.decode(body, type=self.struct)
        except msgspec.ValidationError as error:  # read back, a number has become null
            where = re.search(r" - at `\$\.?(.*)`$", str(error))
            name = f"{where[1]}: " if where else ""
            raise InvalidArguments([f"{name}JSON has no word for NaN and infinity; give a number"]) from None
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            raise InvalidArguments([f"the arguments cannot be written as JSON: {_plain(str(error))}"]) from None
        return Shaped(value=again, body=body, dropped=dropped, flat=self._flat)

    def _name(self, arguments: Mapping[str, Any], dropped: list[str], problems: list[str]) -> dict[str, Any]:
        """The sent arguments under their declared names; the declared spelling wins over a synonym."""
        named: dict[str, Any] = {}
        for sent_name in sorted(arguments, key=lambda name: name not in self.names):
            value = arguments[sent_name]
            target = self._target(sent_name)
            if target is None:
                near = self._misspelt(sent_name, self.names)
                if near:
                    problems.append(f"{sent_name}: there is no such parameter; did you mean {near}?")
                else:
                    dropped.append(sent_name)
                continue
            name, convert = target
            if (value is None and not takes_null(self.fields[name].type)) or name in named:
                dropped.append(sent_name)
            else:
                declared = self.fields[name].type
                value = _from_json(_converted(convert, value, sent_name, problems), declared)
                named[name] = self._inside(value, declared, name, dropped, problems)
        return named

    def _target(self, sent: str) -> tuple[str, Callable[[Any], Any]] | None:
        """The declared parameter that a sent name means, and what to do with its value."""
        return _meant(sent, self.names, self.param_aliases)

    def _inside(self, value: Any, declared: mi.Type, where: str, dropped: list[str], problems: list[str]) -> Any:
        """Absorb synonyms inside lists and structs as well."""
        declared = holding(declared, value)
        if isinstance(declared, mi.ListType) and isinstance(value, list):
            items = declared.item_type
            return [self._inside(v, items, f"{where}[{i}]", dropped, problems) for i, v in enumerate(value)]
        if not isinstance(declared, mi.StructType) or not isinstance(value, Mapping):
            return value
        fields = {f.name: f.type for f in declared.fields}
        out: dict[str, Any] = {}
        for key in sorted(value, key=lambda key: key not in fields):
            target = _meant(key, fields.keys(), self.param_aliases)
            place = f"{where}.{key}"
            if target is None or target[0] in out:
                near = self._misspelt(key, fields.keys()) if target is None else None
                (problems if near else dropped).append(
                    f"{place}: there is no such field; did you mean {near}?" if near else place
                )
            elif value[key] is not None or takes_null(fields[target[0]]):
                inner = _converted(target[1], value[key], place, problems)
                out[target[0]] = self._inside(inner, fields[target[0]], place, dropped, problems)
        return out

    def _misspelt(self, sent: str, names: Collection[str]) -> str | None:
        """The declared name within edit distance 2, for tools where a dropped argument could do harm."""
        if not self.strict_names:
            return None
        return next((name for name in sorted(names) if edit_distance(sent, name, 2) <= 2), None)

    def _convert(self, name: str, sent: Any, values: dict[str, Any], problems: list[str]) -> None:
        try:
            values[name] = msgspec.convert(sent, self.types[name], strict=False)
        except msgspec.ValidationError as error:
            where = re.search(r" - at `\$(.*)`$", str(error))
            inner = where.group(1) if where else ""
            wanted = expected(self.fields[name].type)
            problems.append(f"{name}{inner}: expected {wanted}, got {_short(sent)} ({_plain(str(error))})")


def _same(value: Any) -> Any:
    return value


def _converted(convert: Callable[[Any], Any], value: Any, where: str, problems: list[str]) -> Any:
    try:
        return convert(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates tools: a synonym's converter may raise anything
        problems.append(f"{where}: {_short(value)} cannot be converted ({type(error).__name__}: {error})")
        return value


def _mapping(sent: Any) -> Mapping[str, Any]:
    if isinstance(sent, str | bytes):
        text = sent if isinstance(sent, str) else sent.decode("utf-8", "replace")
        try:
            sent = msgspec.json.decode(text) if text.strip() else {}
        except _UNREADABLE as error:
            raise InvalidArguments([f"the arguments are not valid JSON: {error}"]) from None
    if sent is None:
        return {}
    if not isinstance(sent, Mapping) or any(not isinstance(key, str) for key in sent):
        raise InvalidArguments([f"the arguments must be one JSON object, got {_short(sent)}"])
    return sent


def _from_json(sent: Any, declared: mi.Type) -> Any:
    """What JSON text says, where a list or an object is wanted and text is not."""
    if isinstance(sent, str) and sent.lstrip()[:1] in ("[", "{") and not takes_text(declared):
        try:
            return msgspec.json.decode(sent)
        except _UNREADABLE:
            return sent
    return sent


def _meant(
    sent: str, names: Collection[str], aliases: Mapping[str, ParamAlias]
) -> tuple[str, Callable[[Any], Any]] | None:
    """A name as declared, as a synonym, in camelCase, or as a camelCase synonym."""
    if sent in names:
        return sent, _same
    for spelling in (sent, snake_case(sent)):
        if spelling in names:
            return spelling, _same
        alias = aliases.get(spelling)
        name, convert = (alias, _same) if isinstance(alias, str) or alias is None else alias
        if name is not None and name in names:
            return name, convert
    return None


def _short(value: Any) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__} that is no JSON"
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(reason: str) -> str:
    return re.sub(r" - at `\$.*`$", "", reason).replace("`", "")


def snake_case(name: str) -> str:
    """`oldString` -> `old_string`; names already in snake case come back as they are."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def edit_distance(one: str, other: str, limit: int) -> int:
    """Levenshtein distance, or `limit + 1` as soon as it is above `limit`."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        previous, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b)))
        if min(row) > limit:
            return limit + 1
    return row[-1]
