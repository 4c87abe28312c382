"""A repository's configuration: read as data, and written anew without what could run a program.

The file belongs to whoever made the repository. Nothing of it reaches git but the keys named here, as we write them: a
key that git learns to obey tomorrow is left out without our knowing it. Includes are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from pegboard.errors import DoorError
from pegboard.kit.workspace import Workspace

_MOST_TEXT = 1 << 20


class Setting(NamedTuple):
    """One line of configuration. `section` and `key` are in lower case; `value` is None for a key without `=`."""

    section: str
    name: str | None
    key: str
    value: str | None


_CORE = frozenset(
    (
        "repositoryformatversion",
        "bare",
        "filemode",
        "ignorecase",
        "symlinks",
        "precomposeunicode",
        "protecthfs",
        "protectntfs",
        "autocrlf",
        "eol",
        "safecrlf",
        "trustctime",
        "checkstat",
        "bigfilethreshold",
        "logallrefupdates",
        "sparsecheckout",
        "sparsecheckoutcone",
    )
)
KEPT: dict[str, frozenset[str]] = {
    "core": _CORE,
    "user": frozenset(("name", "email")),
    "branch": frozenset(("remote", "merge")),
    "remote": frozenset(("url", "pushurl", "fetch")),
}
"""What of a repository's own configuration counts: how its files and refs are laid out, and plain words and addresses."""
_DROPPED_EXTENSIONS = frozenset(("partialclone", "worktreeconfig"))
"""The first would fetch what is missing; the second names a further file of configuration."""

OURS = """\
[core]
\tfsmonitor = false
\thooksPath = /dev/null
\tpager = cat
\teditor = :
\tquotePath = false
[color]
\tui = false
[column]
\tui = never
[i18n]
\tlogOutputEncoding = UTF-8
\tcommitEncoding = UTF-8
[log]
\tshowSignature = false
\tfollow = false
\tdecorate = false
[status]
\tsubmoduleSummary = false
\tshowStash = false
\taheadBehind = true
[diff]
\tautoRefreshIndex = false
\trelative = false
\tnoprefix = false
\tmnemonicPrefix = false
\tcolorMoved = no
\tignoreSubmodules = dirty
\tsubmodule = short
[submodule]
\trecurse = false
[rerere]
\tenabled = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[push]
\tfollowTags = false
\trecurseSubmodules = no
\tnegotiate = false
"""
"""What holds whatever the person's own configuration says; a repository's beats that, and this stands in its place."""


def kept(settings: Iterable[Setting]) -> list[Setting]:
    """The settings that reach git."""
    return [s for s in settings if _is_kept(s)]


def _is_kept(setting: Setting) -> bool:
    if setting.section == "extensions":  # git refuses those that it does not know, as it should
        return setting.name is None and setting.key not in _DROPPED_EXTENSIONS
    named = setting.section in ("branch", "remote")
    return (setting.name is not None) is named and setting.key in KEPT.get(setting.section, ())


def written(settings: Iterable[Setting]) -> str:
    """Settings as a file that git reads back as the same."""
    lines = []
    for section, name, key, value in settings:
        if name is not None and ("\n" in name or "\0" in name):
            continue  # there is no way to write such a name, so git cannot have read one
        head = f"[{section}]" if name is None else f'[{section} "{_escaped(name)}"]'
        lines.append(f"{head}\n\t{key}\n" if value is None else f"{head}\n\t{key} = {_quoted(value)}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    text = _escaped(text.replace("\0", ""))
    return '"' + text.replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b") + '"'


def parsed(text: str) -> list[Setting]:
    """The settings in a file, in order; what is not understood is passed over."""
    found: list[Setting] = []
    section: str | None = None
    name: str | None = None
    at, text = 0, text.removeprefix("\ufeff").replace("\r\n", "\n")
    while at < len(text):
        letter = text[at]
        if letter in "#;":
            at = _line_end(text, at)
        elif letter == "[":
            section, name, at = _head(text, at)
        elif letter.isalpha() and section is not None:
            key, value, at = _line(text, at)
            found.append(Setting(section, name, key, value))
        else:
            at += 1
    return found


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _head(text: str, at: int) -> tuple[str | None, str | None, int]:
    """`[section]`, `[section "name"]`, and the old `[section.name]`; section None for what is neither."""
    end = at + 1
    while end < len(text) and (text[end].isalnum() or text[end] in "-."):
        end += 1
    section = text[at + 1 : end].lower()
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    if text[end : end + 1] == "]":
        section, dot, rest = section.partition(".")
        return section, rest if dot else None, end + 1
    if text[end : end + 1] != '"':
        return None, None, _line_end(text, at)
    name, end = "", end + 1
    while end < len(text) and text[end] not in '"\n':
        end += text[end] == "\\"
        name += text[end : end + 1]
        end += 1
    if text[end : end + 2] != '"]':
        return None, None, _line_end(text, at)
    return section, name, end + 2


def _line(text: str, at: int) -> tuple[str, str | None, int]:
    """`key`, or `key = value` with quotes, escapes, comments and continued lines."""
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "-"):
        end += 1
    key = text[at:end].lower()
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    if text[end : end + 1] != "=":
        return key, None, _line_end(text, end)
    value, end = _value(text, end + 1)
    return key, value, end


_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


def _value(text: str, at: int) -> tuple[str, int]:
    """The value that begins at `at`, and where the next line begins. Unquoted blanks at both ends are no part of it."""
    value, blanks, quoted = "", "", False
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "\n":
            break
        if letter in "#;" and not quoted:
            at = _line_end(text, at)
            break
        if letter == '"':
            quoted = not quoted
            value, blanks = value + blanks, ""
        elif letter == "\\":
            after = text[at : at + 1]
            at += 1
            if after != "\n":
                value, blanks = value + blanks + _ESCAPES.get(after, ""), ""
        elif letter in " \t" and not quoted:
            blanks += letter if value else ""
        else:
            value, blanks = value + blanks + letter, ""
    return value, at


def read(door: Workspace, path: str) -> list[Setting]:
    """The settings in a file; none where there is no such file."""
    try:
        return parsed(os.fsdecode(door.read_bytes(path, _MOST_TEXT)))
    except DoorError as error:
        if error.reason != "missing":
            raise
        return []


def _last(settings: list[Setting], section: str, key: str) -> Setting | None:
    said = [s for s in settings if (s.section, s.name, s.key) == (section, None, key)]
    return said[-1] if said else None


def true_in(settings: list[Setting], section: str, key: str) -> bool:
    """Whether a switch is on; the last word counts."""
    said = _last(settings, section, key)
    return said is not None and ("true" if said.value is None else said.value).lower() in ("true", "yes", "on", "1")


def patterns_in(workspace: Workspace, top: str, settings: list[Setting]) -> tuple[list[Setting], tuple[str, ...]]:
    """`core.excludesFile` and `core.attributesFile` hold patterns, which run nothing: they count where they lie inside.

    And the keys of those that lie elsewhere, or are no files that may be read."""
    inside, unread = list[Setting](), list[str]()
    for key in ("excludesfile", "attributesfile"):
        said = _last(settings, "core", key)
        if said is None or not said.value:
            continue
        path = os.path.join(top, os.path.expanduser(said.value))
        try:
            with workspace.open(path):  # a regular file, inside, that may be read
                inside.append(said._replace(value=os.path.realpath(path)))
        except DoorError as error:
            if error.reason != "missing" or workspace.place(path).outside:
                unread.append(f"core.{key.removesuffix('file')}File")
    return inside, tuple(unread)
