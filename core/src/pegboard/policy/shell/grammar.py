"""The second reading of a line, by tree-sitter's grammar of bash. Where two differ, nobody understood the line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.policy.shell.line import Trouble

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

COMPOUND = {
    "if_statement": "is a condition",
    "for_statement": "is a loop",
    "c_style_for_statement": "is a loop",
    "while_statement": "is a loop",
    "case_statement": "is a choice",
    "subshell": "is a subshell",
    "compound_statement": "is a group",
    "function_definition": "defines a function",
    "negated_command": "turns a command's result around",
}
"""What is more than a simple command, and what to call it."""

FLAT = frozenset(
    [
        "program",
        "list",
        "pipeline",
        "command",
        "command_name",
        "redirected_statement",
        "file_redirect",
        "heredoc_redirect",
        "herestring_redirect",
        "heredoc_start",
        "heredoc_body",
        "heredoc_end",
        "heredoc_content",
        "variable_assignment",
        "variable_name",
        "file_descriptor",
        "comment",
        "word",
        "raw_string",
        "string",
        "string_content",
        "concatenation",
        "number",
        "test_command",
        "declaration_command",
        "unset_command",
    ]
)
"""What a list of simple commands is made of, in which nothing expands."""

_OPAQUE = frozenset(["test_command", "declaration_command", "unset_command"])
_WORDS = frozenset(["word", "raw_string", "string", "concatenation", "number"])
_HOLDERS = frozenset(["command", "command_name", "file_redirect", "herestring_redirect", "heredoc_redirect"])


class Reading(msgspec.Struct, frozen=True):
    """words: where each stands; names: those that name a command. opaque: commands that it does not cut into words.
    compound: what is more than a simple command. broken: a part that it could not read. strange: one that is no part of a
    simple command."""

    words: list[tuple[int, int]]
    names: list[tuple[int, int]]
    opaque: list[tuple[int, int]]
    compound: list[Trouble]
    broken: tuple[int, int] | None = None
    strange: tuple[int, int] | None = None


@lru_cache(1)
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def _parser() -> Parser:
    """A parser of one's own: none is safe to share between threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


def reading(text: str) -> Reading:
    """Read a text that has no lone surrogates."""
    data = text.encode()
    places = _places(text) if len(data) != len(text) else None

    def span(node: Node) -> tuple[int, int]:
        start, end = node.start_byte, node.end_byte
        return (places[start], places[end]) if places else (start, end)

    words: list[tuple[int, int]] = []
    names: list[tuple[int, int]] = []
    opaque: list[tuple[int, int]] = []
    compound: list[Trouble] = []
    broken = strange = None
    inside = 0
    for node, parent in _walk(_parser().parse(data).root_node):
        kind = node.type
        if node.is_error or node.is_missing:
            broken = broken or span(node)
        elif node.is_named and kind not in FLAT and not (opaque and node.start_byte < inside):
            strange = strange or span(node)
        if kind in COMPOUND:
            start, end = span(node)
            compound.append(Trouble(text[start:end], start, end, "R6", COMPOUND[kind]))
        elif kind == "test_command" and text.startswith("[[", span(node)[0]):
            start, end = span(node)
            compound.append(Trouble(text[start:end], start, end, "R6", "is a condition"))
        elif kind in _OPAQUE:
            opaque.append(span(node))
            inside = node.end_byte
        elif kind == "variable_assignment" or (kind in _WORDS and parent in _HOLDERS):
            words.append(span(node))
            if parent == "command_name":
                names.append(span(node))
    return Reading(sorted(words), sorted(names), opaque, compound, broken, strange)


def _walk(root: Node) -> Iterator[tuple[Node, str]]:
    """Every node and the type of its parent, which takes long to ask a node for where it has many siblings."""
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        kind = node.type
        waiting += ((child, kind) for child in reversed(node.children))


def _places(text: str) -> list[int]:
    """The character that each byte belongs to."""
    places: list[int] = []
    for index, char in enumerate(text):
        places += [index] * len(char.encode())
    return [*places, len(text)]
