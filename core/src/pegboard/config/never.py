"""Patterns that could never match anything: a deny that is written so protects nothing, so it is no setting at all.

Only what is certain by its letters is found here, each with what to write instead. What an allow by command can never pass
is `policy.idle.passes_nothing`, which reads the pattern as a command line.
"""

from __future__ import annotations

import re

OF_KIND = {"path": ("read", "list", "edit"), "host": ("web",), "command": ("bash",)}
"""The permission keys that touches of these kinds have, where a tool has no key of its own."""
LISTS = frozenset({"allow", "ask", "deny", "dangerous_default_deny"})
_SHOWN = 60
_TOKEN = re.compile(r"[\w.:/*?\[\]!-]+")
_CALL = re.compile(r"(\w+)[(:]\s*(.+?)\)?")
_ASSIGNMENT = re.compile(r"\w+\+?=")
_OPERATOR = re.compile(r"[;&|]+|[0-9&]*[<>].*|.+;")
_HOST = re.compile(r"(\*\.)?[^\s*/?#@\[\]]+|\*|\[?[0-9A-Fa-f:.]+\]?")
_ANY = ("*", "…", "...")
_COMMANDS = 'a command is named by the words it begins with, and "*" stands for one whole word'


def item_problem(key: tuple[str, ...], item: str) -> str | None:
    """Why an item of the list of texts at a key can never match anything; None: it may, or is no pattern."""
    match key[2:] if key[0] == "modes" else key:
        case ("tool_permission", "bash_allow" | "bash_reads"):
            return (
                command_problem(item) if item else None
            )  # the shared cases: an empty one is there, and matches nothing
        case ("tools", "allow" | "deny" as word) | ("permission", word) if word in LISTS:
            return token_problem(item, word)
        case _:
            return None


def token_problem(token: str, word: str) -> str | None:
    """Why a word that is to name tools can name none. `word`: the list it stands in, or `match`."""
    if _TOKEN.fullmatch(token):
        return None
    inner = _CALL.fullmatch(token.strip("'\" "))
    why = f"{_spelled(token)} can name no tool; here stand names of tools, SET:TOOL, sets and globs of these"
    if inner is None or word == "match":
        return why
    action = "deny" if word == "dangerous_default_deny" else word
    return f'{why}. For a command write [[permission.rules]] with action = "{action}" and command = {_told(inner[2])}'


def command_problem(pattern: str) -> str | None:
    """Why a pattern can be the beginning of no command."""
    words = pattern.split()
    while len(words) > 1 and words[-1] in _ANY:
        words.pop()
    if not pattern.isprintable() or not set(words) - {*_ANY}:
        return f"{_spelled(pattern)} is no pattern for command"
    first = words[0]
    if _CALL.fullmatch(pattern) and "(" in first:
        why = "this is how another program writes it"
    elif first[0] in "'\"" or any(word[-1] in "'\"" and word[0] == word[-1] for word in words):
        why = "it is compared with words that have no quotes any more"
    elif _ASSIGNMENT.match(first):
        why = "a command begins after what it sets"
    elif any(_OPERATOR.fullmatch(word) for word in words):
        why = "it is one command, and a line is cut at its operators and redirections first"
    elif any("*" in word and word != "*" for word in words) or "?" in first or (":" in first[1:] and "/" not in first):
        why = _COMMANDS
    else:
        return None
    return f"{_spelled(pattern)} can never match: {why}; write {_told(pattern)}"


def host_problem(pattern: str) -> str | None:
    """Why a pattern can be no host."""
    rest = pattern.partition("://")[2] if "://" in pattern else pattern
    bare = re.split(r"[/?#]", rest)[0].rpartition("@")[2] if "://" in pattern else rest
    name = re.sub(r":(\d{1,5}|\*)$", "", bare) if bare.count(":") == 1 or "]" in bare else bare
    if _HOST.fullmatch(name):
        return None
    near = re.split(r"[/?#]", rest.rpartition("@")[2])[0].strip("*.")
    hint = f"; write {_spelled(near)}" if near and _HOST.fullmatch(near) else ""
    return f'{_spelled(pattern)} is no pattern for host: it is a host, or "*." before one{hint}'


def conditions_problem(key: str | None, looks: list[str], *, sandbox: bool) -> str | None:
    """Why nothing can fit all that a rule names. looks: which of path, host and command it has."""
    if len(looks) > 1:
        return f"it can never match: nothing has a {looks[0]} and a {looks[1]}; make two rules of it"
    shipped = [one for keys in OF_KIND.values() for one in keys]
    if looks and key in shipped and key not in OF_KIND[looks[0]]:
        fit = " or ".join(f'"{one}"' for one in OF_KIND[looks[0]])
        return f"it can never match: what has the key {key} has no {looks[0]}; leave key out, or write key = {fit}"
    if sandbox and ((looks and looks[0] != "command") or (key in shipped and key != "bash")):
        return "it can never match: the sandbox holds programs alone; leave sandbox out"
    return None


def _told(pattern: str) -> str:
    """What was probably meant, as a pattern."""
    inner = re.fullmatch(r"\w+\((.*)\)", pattern.strip())
    words = (inner[1] if inner else pattern).replace("'", "").replace('"', "").split()
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    for number, word in enumerate(words):
        if _OPERATOR.fullmatch(word):
            words = [*words[:number], *([word.rstrip(";")] if word.endswith(";") else [])]
            break
    if words and "/" not in words[0]:
        words[:1] = words[0].replace(":", " ").split()
    words = [word.rstrip(":*").partition("*")[0] or "*" for word in words]
    while len(words) > 1 and words[-1] == "*":
        words.pop()
    return _spelled(" ".join(word for word in words if word) or "…")


def _spelled(text: str) -> str:
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f'"{shown}"' if shown.isprintable() and '"' not in shown else repr(shown)
