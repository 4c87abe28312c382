"""Options with which a program runs another, loads code or writes a named file (rules R8 and R9), by `risky.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from pegboard.policy.shell import table_data as data
from pegboard.policy.shell.scripts import awk_only_prints, sed_only_prints
from pegboard.policy.shell.table_names import base, inner, subcommands
from pegboard.policy.shell.table_options import parse, split_at_dashes

if TYPE_CHECKING:
    from pegboard.policy.shell.line import Word

INSIDE = r"\w[\w.-]*(?:/\w[\w.-]*)*/?"
"""A plain name in the folder: no link upwards, no hidden folder."""

_DEEPEST = 8
_SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")

Risk = tuple[str, str]


def found(words: Sequence[Word], depth: int = 0) -> Risk | None:
    """The first risk of the command, as its programs parse it."""
    if depth > _DEEPEST:
        return "R8", "runs programs that run programs, too many to be told"
    if base(words[0].text) == "git" and len(words) > 2 and (why := _of_git([word.text for word in words[1:]])):
        return "R8", why
    for key, row, rest in _rows(words):
        risk = _of_row(key, row, rest)
        if risk is not None:
            return risk
    begins = inner(words)
    if begins is None:
        return "R8", f"what `{base(words[0].text)}` runs here cannot be told"
    return found(words[begins:], depth + 1) if begins is not False else None


def _of_git(texts: Sequence[str]) -> str | None:
    """What any subcommand of git runs."""
    if "--help" in texts:
        return "`--help` of `git` runs a program to show a page"
    for before, text in zip(["", *texts], texts, strict=False):
        if (text.startswith(("--format", "--pretty")) or before == "--format") and _SIGNATURE.search(text):
            return "the format makes git run a program that checks signatures"
    return None


def _rows(words: Sequence[Word]) -> Iterator[tuple[str, data.Risks, Sequence[Word]]]:
    """The rows that speak of the command, each with the words that it is about."""
    table = data.risks()
    program = base(words[0].text)
    if program in table:
        yield program, table[program], words[1:]
    elif words[0].text in table:
        yield words[0].text, table[words[0].text], words[1:]
    places, known = subcommands(words, data.names().between)
    spelled = [program, *(words[at].text for at in places[1:])]
    for length in range(2, len(spelled) + 1):
        key = " ".join(spelled[:length])
        if key in table:
            yield key, table[key], words[places[length - 1] + 1 :]
    if not known:  # an option that no table knows may have taken the next word, so every later word may go on
        texts = [word.text for word in words]
        for at in range(places[-1] + 1, len(texts)):
            for length in (1, 2):
                key = " ".join([*spelled, *texts[at : at + length]])
                if key in table and len(texts) >= at + length:
                    yield key, table[key], words[at + length :]


def _of_row(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    if row.always:
        return "R8", f"`{key}` {row.always}"
    style = _STYLES.get(row.style)
    if style is not None:
        return style(key, row, rest)
    ends_options = row.style in ("getopt", "nopt")
    known = data.reads()[key].kinds if key in data.reads() else {}
    before, after = split_at_dashes(rest, known) if ends_options else (rest, ())
    if row.unless and rest and rest[0].text in row.unless:
        return None
    operands = 0
    index = 0
    while index < len(before):
        word = before[index]
        following = before[index + 1].text if index + 1 < len(before) else None
        if word.text.startswith(("-", "@")) or (word.glob and word.text[:1] in "*?["):
            risk = _of_option(key, row, word, following)
            if risk is not None:
                return risk
            if word.text.startswith("-") and word.text != "-":
                if row.until and row.stop and _stops(word.text, row):
                    return None
                if row.until and _takes_next(word.text, row):
                    index += 1
                index += 1
                continue
        operands += word.text != "-"
        if row.operand and re.fullmatch(row.operand, word.text):
            return "R8", f"`{word.text}` {row.why}"
        if row.until and word.text != "-" and not (index and _may_take(key, before[index - 1].text)):
            return None
        index += 1
    for word in after:
        operands += 1
        if row.operand and re.fullmatch(row.operand, word.text):
            return "R8", f"`{word.text}` {row.why}"
    if row.bare and not operands and not _tells(key, rest):
        return "R8", f"`{key}` reads what it runs from its input"
    return None


def _tells(key: str, rest: Sequence[Word]) -> bool:
    """Whether the only argument asks for the version or for help."""
    return len(rest) == 1 and (rest[0].text == "--help" or key in data.versions().get(rest[0].text, ()))


def _stops(text: str, row: data.Risks) -> bool:
    """Whether the option hands the rest of the line to something else (`python -m`)."""
    return not text.startswith("--") and any(letter in row.stop for letter in text[1:])


def _takes_next(text: str, row: data.Risks) -> bool:
    """Whether a short option at the word's end takes the next word as its value."""
    return not text.startswith("--") and text[-1:] in row.values and not any(c in row.values for c in text[1:-1])


def _may_take(key: str, text: str) -> bool:
    """Whether the word before an operand may be an option whose value that is."""
    return text.startswith("-") and text not in data.names().between.get(key, ())


def _of_option(key: str, row: data.Risks, word: Word, following: str | None) -> Risk | None:
    text = word.text
    if word.glob and text[:1] in "*?[-" and not re.match(r"--[\w-]+=", text):
        return "R9", f"`{text}` may expand into an option of `{key}`"
    if row.style == "nopt" and text.startswith("-") and len(text.lstrip("-")) > 1:
        text = "--" + text.lstrip("-")  # however many dashes there are
    name, joined, value = text.partition("=")
    options = row.options
    for prefix in row.prefixes:
        if text.startswith(prefix) and text != prefix and not _fine(row, prefix.rstrip("="), text[len(prefix) :]):
            return "R8", f"`{text}` of `{key}` {options.get(prefix.rstrip('='), 'may run, load or write')}"
    for option, does in options.items():
        if _is(name, option, row) and not _fine(row, option, value if joined else following):
            return "R8", f"`{option}` of `{key}` {does}"
    if row.style in ("getopt", "nopt") and not text.startswith("--"):
        for at, letter in enumerate(text[1:], 2):
            short = f"-{letter}"
            if short in options:
                given = text[at:] or following
                return None if _fine(row, short, given) else ("R8", f"`{short}` of `{key}` {options[short]}")
            if letter in row.values:
                break
    return None


def _is(name: str, option: str, row: data.Risks) -> bool:
    """Whether a word's name is the option, or one cut short."""
    if row.style == "words":
        return name.lstrip("-") == option.lstrip("-") if name.startswith("--") else name == option
    if not option.startswith("--"):
        return name == option and len(option) > 2
    return name.startswith("--") and len(name) > 2 and option.startswith(name) and name[2:] not in row.exact


def _fine(row: data.Risks, option: str, value: str | None) -> bool:
    pattern = row.fine.get(option)
    if pattern is None or value is None:
        return False
    return re.fullmatch(pattern.replace("inside", INSIDE), value) is not None


def _expression(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    """find has an expression: what follows `-name` is a name, whatever it looks like."""
    valued, options = data.reads()[key].valued, row.options
    index = 0
    while index < len(rest):
        word = rest[index]
        if word.glob and word.text[:1] in "*?[-":
            return "R9", f"`{word.text}` may expand into an option of `{key}`"
        if word.text in options:
            return "R8", f"`{word.text}` of `{key}` {options[word.text]}"
        if word.text in valued and index + 1 < len(rest) and not rest[index + 1].glob:
            index += 1
        index += 1
    return None


def _sed(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    spec = data.reads()[key]
    parsed = parse(rest, spec.kinds)
    if parsed is None:
        return "R8", "with these options sed may change files or run a script that cannot be read here"
    scripts = parsed.values(spec.pattern) or [word.text for word in parsed.operands[:1]]
    if not all(map(sed_only_prints, scripts)):
        return "R8", "the script may run a program or write a file"
    return _glob(key, rest)


def _awk(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    parsed = parse(rest, data.reads()[key].kinds)
    if parsed is None or not parsed.operands or not awk_only_prints(parsed.operands[0].text):
        return "R8", "the program may run another or write a file"
    return _glob(key, rest)


def _glob(key: str, rest: Sequence[Word]) -> Risk | None:
    before, _ = split_at_dashes(rest, {})
    wild = next((word.text for word in before if word.glob and word.text[:1] in "*?[-"), None)
    return None if wild is None else ("R9", f"`{wild}` may expand into an option of `{key}`")


def _tar(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    """tar's first word may be bundled options without a dash, whose values are the words after it."""
    if rest and not rest[0].text.startswith("-"):
        for letter in rest[0].text:
            if f"-{letter}" in row.options:
                return "R8", f"`{letter}` of `{key}` {row.options[f'-{letter}']}"
        rest = rest[1:]
    return _of_row(key, msgspec.structs.replace(row, style="getopt"), rest)


def _second(key: str, row: data.Risks, rest: Sequence[Word]) -> Risk | None:
    """The second operand is a file to write."""
    spec = data.reads().get(key)
    if spec is not None:
        parsed = parse(rest, spec.kinds, numbers=spec.numbers, style=spec.style)
        if parsed is not None and len(parsed.operands) <= 1 and not any(word.glob for word in parsed.operands):
            return None
        if parsed is None and sum(not word.text.startswith("-") for word in rest) <= 1:
            return None
    return "R8", f"a second operand of `{key}` is a file that it writes"


_STYLES = {
    "expression": _expression,
    "sed": _sed,
    "awk": _awk,
    "tar": _tar,
    "second operand": _second,
}
