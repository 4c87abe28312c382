"""Credentials kept out of the record: the log, and what viewers and exports are made from (decisions 56, 66).

Two stages. `Redactor.suspects` looks at the encoded line for beginnings that credentials have; nearly every line ends there.
`Redactor.event` then goes through the texts of the event with the exact patterns. Keys, numbers, ids and the shape of an
event stay as they are. What is split over two events, or spelled otherwise (base64, escapes in a source text), is not found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.events import AnyEvent
from pegboard.session.files import decode
from pegboard.wire import encode

if TYPE_CHECKING:
    from pegboard.config.schema import SessionSettings

LEAST = 12
"""Characters that a value of the environment must have to be looked for: shorter ones are words, too."""
NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS")
"""How the name of a variable ends that holds a secret."""
_WITHIN = ("SECRET", "PASSWORD")
_OF_FILES = ("_FILE", "_PATH", "_DIR")
_STRUCTURE = frozenset(
    [
        "id",
        "seq",
        "turn",
        "lane",
        "call",
        "session",
        "set",
        "tool",
        "full_output",
        "digest",
        "outcome",
        "block",
        "why",
        "by",
    ]
)
"""Fields of events and of the values in them that name or order things: never changed."""


def secret_values(environ: Mapping[str, str]) -> dict[str, str]:
    """The values of variables that are named like secrets (`*KEY`, `*TOKEN`, `*SECRET*` ...), by name."""
    return {
        name: value
        for name, value in sorted(environ.items())
        if _named_so(name.upper()) and len(value.strip()) >= LEAST and not _plain(value.strip())
    }


def _named_so(name: str) -> bool:
    if name.endswith(NAMES):
        return True
    return any(word in name for word in _WITHIN) and not name.endswith(_OF_FILES)


def _plain(value: str) -> bool:
    """Whether a value is no secret whatever its name: a number, or the path of something that is there. What only begins
    with a `/` may be a key all the same: those of AWS do, one in sixty-four."""
    return value.isdecimal() or ("/" in value and os.path.exists(os.path.expanduser(value)))


_AWS_GOOGLE = re.compile(rb"A(?:KIA|SIA|Iza)").search
_DASH = re.compile(rb"-(?<=(?:.sk|pat|ypi|ox[abeoprs])-)").search
_GITHUB = re.compile(rb"gh[pousr]_").search
_COLOURS = re.compile(rb"\\u001b\[[0-?]*[ -/]*[@-~]").sub  # as JSON has them
_ASSIGNED = re.compile(rb"=(?<=(?:KEY|KEN|RET|ORD|SWD|ALS)=)").search  # the ends of NAMES


def suspicious(line: bytes) -> bool:
    """Whether a line of JSON may hold a credential: it has the beginning of one.

    Each look at a small line costs as much as the next, so the first asks for what nearly all forms have and most events
    have not: a capital letter. (A random token of 30 letters and digits has none once in ten million.)"""
    if line.islower() and b"-" not in line and b"@" not in line:
        return False
    return _begins(line) or (b"\\u001b" in line and _begins(_COLOURS(b"", line)))


def _begins(line: bytes) -> bool:
    return bool(
        (b"-" in line and (_DASH(line) or b"-----BEGIN " in line))
        or (b"@" in line and b"://" in line)
        or _AWS_GOOGLE(line)
        or (b"=" in line and _ASSIGNED(line))
        or (b"J" in line and b"eyJ" in line)
        or _GITHUB(line)
        or b"npm_" in line
        or b"hf_" in line
        or b"k_live_" in line
        or b"k_test_" in line
        or b"github_pat_" in line
        or b"earer " in line
        or b"uthorization" in line
    )


def redactor_of(settings: SessionSettings, environ: Mapping[str, str]) -> Redactor | None:
    """What `[sessions]` asks for, with the secrets that this process was started with; None where it is off."""
    return Redactor(values=secret_values(environ), patterns=settings.redact_patterns) if settings.redact else None


class Redactor:
    """Finds credentials and puts `[redacted: KIND]` in their place.

    `values`: texts that are secrets whatever they look like, by name. `patterns`: regular expressions of the user's own."""

    def __init__(self, *, values: Mapping[str, str] = {}, patterns: Iterable[str] = ()) -> None:
        """Raises ValueError for a pattern that is none, or that could take too long."""
        self._own = _compiled(patterns)
        # The longest first: one value may be part of another.
        self._values = sorted(((v.strip(), name) for name, v in values.items()), key=lambda pair: -len(pair[0]))
        self._needles = [encode(value)[1:-1] for value, _ in self._values]
        self.suspects = self._scan()

    def _scan(self) -> Callable[[bytes], bool]:
        """Whether a line of JSON may hold a credential: false is certain. With patterns of the user's own every line may."""
        if self._own:
            return lambda line: True
        if not self._needles:
            return suspicious
        needles = self._needles

        def scan(line: bytes) -> bool:
            if suspicious(line) or any(needle in line for needle in needles):
                return True
            if b"\\u001b" not in line:
                return False
            plain = _COLOURS(b"", line)
            return any(needle in plain for needle in needles)

        return scan

    def text(self, text: str) -> str:
        """A text without credentials. Where one is only found without the colours of its text, those go with it."""
        from pegboard.session.credentials import colourless

        made = self._text(text)
        plain = colourless(made)
        if plain is made:
            return made
        found = self._text(plain)
        return made if found is plain else found

    def _text(self, text: str) -> str:
        from pegboard.session.credentials import redacted

        for value, name in self._values:
            if value in text:
                text = text.replace(value, f"[redacted: {name}]")
        text = redacted(text)
        return self._by_own(text) if self._own else text

    def value(self, value: Any) -> Any:
        """Plain values or events without credentials; the very same object where there was none."""
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                items = [self.value(item) for item in value]
                same = all(new is old for new, old in zip(items, value, strict=True))
                return value if same else type(value)(items)
            case Mapping():
                return self._mapping(value)
            case msgspec.Struct():
                names = [name for name in value.__struct_fields__ if name not in _STRUCTURE]
                pairs = {name: self.value(getattr(value, name)) for name in names}
                pairs = {name: new for name, new in pairs.items() if new is not getattr(value, name)}
                return msgspec.structs.replace(value, **pairs) if pairs else value
        return value

    def _mapping(self, value: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """A mapping whose keys have no credentials either: a model may send one as the name of an argument."""
        made: dict[Any, Any] = {}
        same = True
        for key, item in value.items():
            name, new = self.value(key), self.value(item)
            same = same and name is key and new is item
            while name is not key and (name in made or name in value):
                name += "+"  # two that are told apart no more stay two
            made[name] = new
        return value if same else made

    def event(self, event: AnyEvent, line: bytes) -> tuple[AnyEvent, bytes]:
        """An event and its line of JSON as they go into the record."""
        if not self.suspects(line):
            return event, line
        plain = decode(line)
        shown: AnyEvent = self.value(plain)
        return (event, line) if shown is plain else (shown, encode(shown))

    def _by_own(self, text: str) -> str:
        from pegboard.config.patterns import PIECE

        lines = text.split("\n")
        for number, line in enumerate(lines):
            for pattern in self._own:
                pieces = [line[start : start + PIECE] for start in range(0, len(line), PIECE)]
                line = "".join(pattern.sub(_marked, piece) for piece in pieces)
            lines[number] = line
        made = "\n".join(lines)
        return text if made == text else made


def _compiled(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    given = list(patterns)
    if not given:
        return []
    from pegboard.config.patterns import bounded

    return [bounded(pattern) for pattern in given]


def _marked(found: re.Match[str]) -> str:
    """A pattern of the user's own leaves no empty mark, and does not mark its own mark again."""
    return "[redacted: pattern]" if found[0] and "[redacted: " not in found[0] else found[0]
