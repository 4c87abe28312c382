"""Whether a command only reads, and only in the workspace, by `reads.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegboard.policy.shell import table_data as data
from pegboard.policy.shell.cd import Whereabouts
from pegboard.policy.shell.scripts import awk_only_prints, sed_only_prints
from pegboard.policy.shell.table_git import shows_more
from pegboard.policy.shell.table_options import Parsed, parse
from pegboard.policy.shell.table_places import Place
from pegboard.policy.shell.table_risks import found as risk

if TYPE_CHECKING:
    from pegboard.config.schema import PermissionSettings
    from pegboard.policy.shell.line import Word

LONGEST = 3
"""Words of the longest key in the table."""


def entry(words: Sequence[Word], settings: PermissionSettings | None, place: Place) -> str | None:
    """The key of the row by which the command only reads."""
    if not words[0].plain or any(not word.inert and not word.glob for word in words):
        return None
    program = words[0].text
    if len(words) == 2 and words[1].plain and program in data.versions().get(words[1].text, ()):
        return f"{program} {words[1].text}"
    if risk(words):
        return None
    own = _own(words, settings, place)
    if own is not None:
        return own
    table = data.reads()
    head = table.get(program)
    rest: Sequence[Word] = words[1:]
    if head is not None and head.globals and rest:
        moved = _globals(head, rest, place)
        if moved is None:
            return None
        rest, place = moved
    for length in range(min(LONGEST, len(rest) + 1), 0, -1):
        if not all(word.plain for word in rest[: length - 1]):
            continue
        key = " ".join([program, *(word.text for word in rest[: length - 1])])
        row = table.get(key)
        if row is not None and not row.globals:
            return key if _reads(row, rest[length - 1 :], place, key) else None
    return None


def _own(words: Sequence[Word], settings: PermissionSettings | None, place: Place) -> str | None:
    """The person's own entry (`bash_reads`) that the command begins with, if no operand leads out or to a secret."""
    for pattern in settings.bash_reads if settings is not None else ():
        wanted = pattern.split()
        while len(wanted) > 1 and wanted[-1] in ("…", "*"):
            wanted.pop()
        begins = [word.text for word in words[: len(wanted)]] == wanted and all(w.plain for w in words[: len(wanted)])
        if wanted and begins and all(_fits(word, place, names=False) for word in words[len(wanted) :]):
            return " ".join(wanted)
    return None


def _fits(word: Word, place: Place, *, names: bool) -> bool:
    """Whether a word that may be a path, or an option with one, stays inside and names no secret."""
    texts = place.expanded(word.text) if word.glob else [word.text]
    if texts is None:
        return False
    for text in texts:
        if text.startswith("-") and word.glob and not word.text.startswith("-"):
            return False
        value = text.partition("=")[2] if text.startswith("-") else text
        if not place.readable(value, names=names):
            return False
    return True


def _globals(row: data.Reads, words: Sequence[Word], place: Place) -> tuple[Sequence[Word], Place] | None:
    """What follows git's own options, and from where."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text in row.folder and at + 1 < len(words):
            folder = words[at + 1].text
            if words[at + 1].glob or folder.startswith("-") or not place.readable(folder, names=True):
                return None
            place, at = place.within(folder), at + 1
        elif text in row.config and at + 1 < len(words):
            at += 1  # which settings are harmless says `risky.toml`; the others are a risk
        elif text not in row.globals:
            return None
        at += 1
    return None if place.root is not None and Whereabouts(place.root, place.cwd).armed() else (words[at:], place)


def _reads(row: data.Reads, words: Sequence[Word], place: Place, key: str) -> bool:
    if row.style == "expression":
        return _find_reads(row, words, place)
    if row.options == "any":
        parsed: Parsed | None = _any_option(words)
    else:
        parsed = parse(words, row.kinds, numbers=row.numbers, style=row.style)
    if parsed is None or (row.needs and not parsed.has(row.needs)):
        return False
    if row.options == "any" and not all(place.readable(value, names=row.names) for _, value in parsed.given if value):
        return False
    if not all(place.readable(value) for value in _paths(row, parsed)):
        return False
    operands, scripts = _scripts(row, parsed)
    if row.first_is and not all(re.fullmatch(row.first_is, script, re.DOTALL) for script in scripts):
        return False
    if row.style == "sed" and not (scripts and all(map(sed_only_prints, scripts))):
        return False
    if row.style == "awk" and not (scripts and all(map(awk_only_prints, scripts))):
        return False
    if key.startswith("git ") and shows_more(key, words, Parsed(parsed.given, list(operands), parsed.after), place):
        return False
    return _operands_fit(row, parsed, operands, place)


def _any_option(words: Sequence[Word]) -> Parsed:
    """Every option as it is spelled; a value of its own word counts as an operand, which is the stricter reading."""
    ended = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    options = [word for word in words[:ended] if word.text.startswith("-") and word.text != "-"]
    operands = [word for word in words[:ended] if word not in options]
    given: list[tuple[str, str | None]] = [
        (w.text.partition("=")[0], w.text.partition("=")[2] or None) for w in options
    ]
    return Parsed(given, [*operands, *words[ended + 1 :]], len(words) - ended - 1 if ended < len(words) else 0)


def _paths(row: data.Reads, parsed: Parsed) -> list[str]:
    kinds = row.kinds
    return [value for name, value in parsed.given if kinds.get(name) == "path" and value is not None]


def _scripts(row: data.Reads, parsed: Parsed) -> tuple[list[Word], list[str]]:
    """The operands that are names, and the patterns or scripts that are not."""
    if row.first != "text":
        return parsed.operands, []
    given = parsed.values([name for name in row.pattern if row.kinds.get(name) == "text"])
    if parsed.has(row.pattern):
        return parsed.operands, given
    first, rest = parsed.operands[:1], parsed.operands[1:]
    # An unquoted glob there may be several words, and so hide a name.
    return (parsed.operands if any(word.glob for word in first) else rest), [word.text for word in first]


def _operands_fit(row: data.Reads, parsed: Parsed, operands: Sequence[Word], place: Place) -> bool:
    if row.most is not None and (len(operands) > row.most or any(word.glob for word in operands)):
        return False
    if row.operand and not all(re.fullmatch(row.operand, word.text) for word in operands):
        return False
    if row.listing and operands and not parsed.has(row.listing):
        return False
    strict = len(operands) - parsed.after
    match row.operands:
        case "none":
            return not operands
        case "text":
            if row.options != "any" and any(word.glob for word in operands[: max(strict, 0)]):
                return False
            return all(_names_inside(word, place) for word in operands if word.glob)
        case "ref":
            return all(_ref_fits(row, word, place) for word in operands)
    for at, word in enumerate(operands):
        texts = place.expanded(word.text) if word.glob else [word.text]
        if texts is None or not all(place.readable(text, names=row.names) for text in texts):
            return False
        if word.glob and at < strict and row.options != "any" and any(text.startswith("-") for text in texts):
            return False
    return _recursion_fits(row, parsed, operands, place)


def _names_inside(word: Word, place: Place) -> bool:
    """Whether a glob lists only names in the workspace."""
    head = word.text.rpartition("/")[0] or ("/" if word.text.startswith("/") else "")
    if not re.search(r"[*?\[]", head):
        return place.readable(head or ".", names=True)
    texts = place.expanded(word.text)
    return texts is not None and all(place.readable(text, names=True) for text in texts)


def _ref_fits(row: data.Reads, word: Word, place: Place) -> bool:
    """A revision, a path, or both: `HEAD:src/a.py`."""
    if word.glob:
        texts = place.expanded(word.text)
        return texts is not None and all(place.readable(t, names=row.names) and not t.startswith("-") for t in texts)
    return all(place.readable(part, names=row.names) for part in {word.text, *word.text.split(":")})


def _recursion_fits(row: data.Reads, parsed: Parsed, operands: Sequence[Word], place: Place) -> bool:
    recursive = row.recursive == "always" or parsed.has(row.recursive)
    if not recursive or row.names:
        return True
    # Names that are asked for are read even where they are hidden; what is more than a plain pattern may be any name.
    chosen = [value for value in parsed.values(row.only) if not value.startswith("!")]
    only = ["*" if set("/{\\[") & set(value) else value.casefold() for value in chosen]
    hidden = not row.hidden or parsed.has(row.hidden) or bool(only)
    follows = row.follows == "always" or parsed.has(row.follows)
    for text in [word.text for word in operands] or ["."]:
        for one in place.expanded(text) or [text] if any(c in text for c in "*?") else [text]:
            if place.holds_secrets(one, only=only, hidden=hidden, follows=follows):
                return False
    return True


def _find_reads(row: data.Reads, words: Sequence[Word], place: Place) -> bool:
    """find: folders to start from, then tests that only look."""
    at = 0
    while at < len(words) and words[at].text in row.starts:
        at += 1
    while at < len(words) and words[at].text[:1] not in ("-", "(", "!"):
        if not _fits(words[at], place, names=True):
            return False
        at += 1
    while at < len(words):
        text = words[at].text
        if words[at].glob:
            return False
        if text in row.valued and at + 1 < len(words):
            at += 1
            if words[at].glob or (text in row.paths and not place.readable(words[at].text, names=True)):
                return False
        elif text not in row.tests:
            return False
        at += 1
    return True
