"""A quick reader of the languages that are seen all day: comments, strings, numbers, keywords, and what is defined.

Pygments reads them more finely, at some 3 ms for a thousand characters of Python; a screen of diffs would take longer than a
keystroke may. This takes a tenth of that, and draws in the same styles. What it does not know, Pygments reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_HASH, _SLASHES, _DASHES = r"\#[^\n]*", r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)", r"--[^\n]*"
_DOUBLE, _SINGLE = r'(?<!\w)"(?:\\.|[^"\\\n])*"?', r"(?<!\w)'(?:\\.|[^'\\\n])*'?"
_LETTER = r"'(?:\\[^'\n]{1,9}|[^'\\\n])'"
_BACKTICK = r"`(?:\\[\s\S]|[^`\\])*(?:`|\Z)"
_TRIPLE = r"(?<!\w)[rRbBfFuU]{0,2}(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z))"
_PREFIXED = r"(?<!\w)[rRbBfFuU]{0,2}(?:\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)"
_SHELL = r"(?<![\w\\])(?:\"(?:\\[\s\S]|[^\"\\])*(?:\"|\Z)|'[^']*(?:'|\Z))"
_VARIABLE = r"\$(?:\w+|\{[^}\n]*\}|[@#?*!$-])"
_KEY = r"^[ \t]*(?:- +)*(?:[\w./-]+|\"[^\"\n]*\"|'[^'\n]*')(?=[ \t]*:(?:\s|\Z))"
_NAME = r"^[ \t]*(?:export +)?[\w.-]+(?=[ \t]*=)|^[ \t]*\[[^\]\n]*\][^\n=]*$"


@dataclass(frozen=True, kw_only=True)
class _Language:
    """comment, string, extra: expressions; what `extra` finds is of kind `as_`. The others are words, by blanks."""

    comment: str
    string: str
    keywords: str = ""
    constants: str = ""
    builtins: str = ""
    functions: str = ""
    classes: str = ""
    extra: str = ""
    as_: str = "Name.Decorator"


_C = (
    "if else for while do switch case default break continue return sizeof struct enum union typedef static const extern"
    " goto"
)
_TYPES = "int char long short unsigned signed float double void bool size_t uint8_t uint32_t uint64_t int32_t int64_t"
_OBJECTS = (
    "class new public private protected this super throw throws try catch finally import package interface extends"
)
_SQL = (
    "select from where and or not in insert into values update set delete create table index view drop alter add primary"
    " key foreign references join left right inner outer on as group by order having limit union all distinct case when"
    " then else end is like between exists with returning begin commit rollback"
)
_LANGUAGES: Mapping[str, _Language] = {
    "python": _Language(
        comment=_HASH,
        string=f"{_TRIPLE}|{_PREFIXED}",
        keywords="and as assert async await break case continue del elif else except finally for from global if import in is"
        " lambda match nonlocal not or pass raise return try while with yield def class",
        constants="True False None self cls",
        builtins="print len range str int float bool bytes list dict set tuple frozenset object type isinstance issubclass"
        " super open sorted enumerate zip map filter sum min max any all iter next repr getattr setattr hasattr property"
        " staticmethod classmethod Exception ValueError TypeError KeyError OSError RuntimeError",
        functions="def",
        classes="class",
        extra=r"@[^\W\d][\w.]*",
    ),
    "javascript": _Language(
        comment=_SLASHES,
        string=f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
        keywords="async await break case catch class const continue debugger default delete do else export extends finally"
        " for from function if import in instanceof let new of return static super switch throw try typeof var void while"
        " with yield abstract as declare enum implements interface keyof module namespace private protected public readonly"
        " satisfies type",
        constants="true false null undefined this NaN Infinity",
        builtins="Array Boolean Error JSON Map Math Number Object Promise RegExp Set String Symbol console document window"
        " any boolean never number string unknown",
        functions="function",
        classes="class interface enum",
        extra=r"@[A-Za-z_]\w*",
    ),
    "rust": _Language(
        comment=_SLASHES,
        string=f"{_DOUBLE}|{_LETTER}",
        keywords="as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move"
        " mut pub ref return static struct super trait type unsafe use where while",
        constants="true false self Self None Some Ok Err",
        builtins="bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Option Result String Vec",
        functions="fn",
        classes="struct enum trait",
        extra=r"\#!?\[[^\]\n]*\]|\b\w+!(?=[(\[{])",
    ),
    "go": _Language(
        comment=_SLASHES,
        string=f"{_DOUBLE}|{_LETTER}|{_BACKTICK}",
        keywords="break case chan const continue default defer else fallthrough for func go goto if import interface map"
        " package range return select struct switch type var",
        constants="true false nil iota",
        builtins="bool byte error float32 float64 int int32 int64 rune string uint uint32 uint64 append cap close copy"
        " delete len make new panic recover any",
        functions="func",
        classes="type",
    ),
    "c": _Language(
        comment=_SLASHES,
        string=f"{_DOUBLE}|{_LETTER}",
        keywords=f"{_C} {_OBJECTS} namespace using template typename virtual override inline constexpr auto final"
        " fun val var when object data sealed internal operator foreach in is as async await get set yield abstract",
        constants="true false null NULL nullptr this",
        builtins=f"{_TYPES} String string Integer Object List Map std var",
        classes="class struct interface enum object",
        functions="fun",
        extra=r"^[ \t]*\#[ \t]*\w+|@[A-Za-z_]\w*",
    ),
    "bash": _Language(
        comment=r"(?<![\w$\{])\#[^\n]*",
        string=_SHELL,
        keywords="if then else elif fi for while until do done case esac in function select return exit break continue local"
        " export readonly declare unset shift set source trap",
        builtins="cd echo printf test read eval exec alias",
        functions="function",
        extra=_VARIABLE,
        as_="Name.Variable",
    ),
    "json": _Language(
        comment=_SLASHES,
        string=_DOUBLE,
        constants="true false null",
        extra=r'"(?:\\.|[^"\\\n])*"(?=[ \t]*:)',
        as_="Name.Tag",
    ),
    "yaml": _Language(
        comment=r"(?<!\S)\#[^\n]*",
        string=rf"{_DOUBLE}|{_SINGLE}",
        constants="true false null yes no on off True False",
        extra=_KEY,
        as_="Name.Tag",
    ),
    "toml": _Language(
        comment=r"(?<!\S)[\#;][^\n]*",
        string=f"{_TRIPLE}|{_DOUBLE}|{_SINGLE}",
        constants="true false",
        extra=_NAME,
        as_="Name.Tag",
    ),
    "sql": _Language(
        comment=rf"{_DASHES}|/\*[\s\S]*?(?:\*/|\Z)",
        string=r"'(?:''|[^'])*(?:'|\Z)",
        keywords=f"{_SQL} {_SQL.upper()}",
        constants="null true false NULL TRUE FALSE",
    ),
}
_SAME = {
    "typescript": "javascript",
    "jsx": "javascript",
    "tsx": "javascript",
    "python3": "python",
    "c++": "c",
    "cpp": "c",
    "java": "c",
    "kotlin": "c",
    "csharp": "c",
    "zsh": "bash",
    "sh": "bash",
    "shell": "bash",
    "ini": "toml",
    "cfg": "toml",
    "json5": "json",
    "jsonc": "json",
}


def known(lexer: str) -> bool:
    """Whether a language, by the name of Pygments' lexer, is read here."""
    return _SAME.get(lexer, lexer) in _LANGUAGES


def scanned(code: str, lexer: str) -> Iterator[tuple[str, str]]:
    """The code in parts, each with its kind as Pygments names it (`Keyword`, `Name.Function`); "" is nothing of its own."""
    finder, words, namers = _reader(_SAME.get(lexer, lexer))
    last, naming = 0, ""
    for found in finder.finditer(code):
        kind = found.lastgroup or ""
        if kind == "w":
            word = found[0]
            kind, naming = naming or words.get(word, ""), namers.get(word, "")
            if not kind:
                continue
        else:
            kind, naming = _KINDS.get(kind, kind).replace("_", "."), ""
        start = found.start()
        if start > last:
            yield code[last:start], ""
        last = found.end()
        yield code[start:last], kind
    if last < len(code):
        yield code[last:], ""


_KINDS = {"c": "Comment", "s": "String", "n": "Number"}


@lru_cache(32)
def _reader(name: str) -> tuple[re.Pattern[str], Mapping[str, str], Mapping[str, str]]:
    """What finds the parts of a language; kinds of its words; kinds of the names that follow certain words."""
    told = _LANGUAGES[name]
    extra = rf"(?P<{told.as_.replace('.', '_')}>{told.extra})|" if told.extra else ""
    parts = rf"{extra}(?P<c>{told.comment})|(?P<s>{told.string})|(?P<n>(?<!\w)\d[\w.]*)|(?P<w>[^\W\d]\w*)"
    words = dict.fromkeys(told.builtins.split(), "Name.Builtin")
    words |= dict.fromkeys(told.keywords.split(), "Keyword")
    words |= dict.fromkeys(told.constants.split(), "Keyword.Constant")
    namers = dict.fromkeys(told.functions.split(), "Name.Function") | dict.fromkeys(told.classes.split(), "Name.Class")
    return re.compile(parts, re.MULTILINE), words, namers
