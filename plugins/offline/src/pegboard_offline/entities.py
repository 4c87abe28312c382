"""What a request names: files, folders, patterns, URLs, quoted text, revisions, identifiers. And its words."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pegboard_offline.lexicon import NEUTRAL, STOP, known
from pegboard_offline.names import DOMAINS, EXTENSIONS, FILE_NAMES, FOLDERS, LANGUAGES, NOT_PATHS, PRODUCTS
from pegboard_offline.quotes import quoted
from pegboard_offline.words import Word, words_of

Kind: TypeAlias = Literal["quoted", "code", "url", "file", "folder", "glob", "ext", "rev", "ident", "number"]


@dataclass(frozen=True, slots=True)
class Entity:
    """Something named literally. `text` is what it means (quotes off); it stands at [start, end) of the request."""

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A request as the router sees it. `bare` is the text with every entity blanked out, at the same positions."""

    text: str
    bare: str
    entities: tuple[Entity, ...]
    words: tuple[Word, ...]

    def of(self, *kinds: Kind) -> list[Entity]:
        """The entities of these kinds, in order."""
        return [entity for entity in self.entities if entity.kind in kinds]

    @property
    def concepts(self) -> list[str]:
        """Every concept named, in order, repeats kept."""
        return [concept for word in self.words for concept in word.concepts]


class Tree:
    """What may be asked about the workspace: does a relative path exist, and is it a folder."""

    def __init__(self, root: str | None) -> None:
        self._root = Path(root) if root else None

    @property
    def known(self) -> bool:
        """Whether there is a root to look below."""
        return self._root is not None

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        """What lies at a path below the root; None when nothing does, or when it points elsewhere."""
        if self._root is None or not path or path.startswith(("/", "~", "\\")) or ".." in re.split(r"[/\\]", path):
            return None
        try:
            place = self._root / path
            if not os.path.lexists(place):
                return None
            return "folder" if place.is_dir() else "file"
        except (OSError, ValueError):
            return None


_FENCE = re.compile(r"```[^\n`]*\n(?P<a>.*?)\n?```", re.S)
_CODE = re.compile(r"`(?P<a>[^`\n]+)`")
_URL = re.compile(r"\b(?P<a>(?:https?|ftp)://[^\s<>\"'`]+)", re.I)
_CHUNK = re.compile(r"\S+")
_REV = re.compile(
    r"HEAD(?:[~^]\d*)*|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}|v\d+(?:\.\d+)+(?:-?(?:rc|a|b|alpha|beta)\.?\d*)?"
    r"|[\w./-]+\.\.\.?[\w./-]+|stash@\{\d+\}"
)
_IDENT = re.compile(
    r"@?(?:[A-Za-z]\w*_\w*|_\w+|[a-z]+\d*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]{2,}s?|[A-Za-z_]\w*(?:\.\w+)+|[A-Za-z_][\w.]*\(\))"
)
_GLOB = re.compile(r"[\w.*?\[\]{},!@/+-]*\*[\w.*?\[\]{},!@/+-]*")
_PATHLIKE = re.compile(r"(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)?[\w.@+~%=-]+(?:[/\\][\w.@+~%=-]+)*[/\\]?|\.{1,2}/?|~/?|/")
_OPEN, _CLOSE = "([{<\"'“‘«", ")]}>\"'”’».,;:!?…"
_PLACE = re.compile(
    r"(?:in|under|inside|within|into|beneath|below|from|of|at|across|through|throughout|around|over|on|ls|to)\s+$", re.I
)
_FOLDER_AFTER = re.compile(r"\s+(?:sub)?-?(?:folder|directory|dir|tree|package)s?\b", re.I)
_FOLDER_BEFORE = re.compile(r"\b(?:sub)?-?(?:folder|directory|dir)\s+(?:called\s+|named\s+)?$", re.I)
_FILE_BEFORE = re.compile(r"\b(?:file|script|module|document)\s+(?:called\s+|named\s+)?$", re.I)
_FILES_AFTER = re.compile(
    r"\s+(?:source\s+|code\s+|test\s+)?(?:files?|scripts?|modules?|sources?|notebooks?|documents?)\b(?!\s+(?:called|named|[\w-]+\.\w))",
    re.I,
)
_DETERMINED = re.compile(r"\b(?:the|a|an|any|my|our|your)\s+$", re.I)
_REV_BEFORE = re.compile(r"\b(?:commit|revision|rev|tag|sha|hash|changeset|ref|branch)\s+$", re.I)
_NOUN_EXT = re.compile(
    r"\b(?:extension|ending(?: in| with)?|ends? (?:in|with)|every|all|the|any|list|find|of|type)\s+$", re.I
)
MAX_LOOKUPS = 40
"""How many words of a request are looked up in the workspace."""
NEARBY = 48
"""How far beside a word its meaning is looked for."""


def read(text: str, tree: Tree) -> Reading:
    """Read one request (or one step of it)."""
    taken: list[Entity] = []
    bare = text
    for pattern, kind in ((_FENCE, "code"), (_CODE, "code"), (_URL, "url")):
        for match in list(pattern.finditer(bare)):
            value = match["a"]
            end = match.end()
            if kind == "url":
                value = value.rstrip(".,;:!?)]}>'\"")
                end = match.start("a") + len(value)
            taken.append(_literal(kind, value, match.start(), end, bare, tree))  # type: ignore[arg-type]
            bare = bare[: match.start()] + " " * (end - match.start()) + bare[end:]
    for value, start, end in quoted(bare, text):
        taken = [e for e in taken if not start <= e.start < end]  # an address inside a quoted text is text
        taken.append(_literal("quoted", value, start, end, bare, tree))
        bare = bare[:start] + " " * (end - start) + bare[end:]
    shouting = text.isupper()
    lookups = 0
    for match in list(_CHUNK.finditer(bare)):
        start, end = _trim(bare, match.start(), match.end())
        if start >= end:
            continue
        lookups += 1
        found = _named(bare, start, end, tree if lookups <= MAX_LOOKUPS else Tree(None), shouting)
        if found:
            taken.append(found)
    for entity in taken:
        bare = bare[: entity.start] + " " * (entity.end - entity.start) + bare[entity.end :]
    taken.sort(key=lambda entity: entity.start)
    return Reading(text, bare, tuple(taken), tuple(words_of(bare)))


def _literal(kind: Kind, value: str, start: int, end: int, text: str, tree: Tree) -> Entity:
    """Quoted text or code; it is a file or folder when it can be nothing else."""
    before = text[max(0, start - NEARBY) : start]
    if kind == "quoted" and "/" not in value and not _FILE_BEFORE.search(before) and not _FOLDER_BEFORE.search(before):
        file_name = _suffix(value) in EXTENSIONS and _PATHLIKE.fullmatch(value) and _PLACE.search(before)
        if not file_name:
            return Entity(kind, value, start, end)
    if kind in ("quoted", "code") and _PATHLIKE.fullmatch(value):
        named = _path(value, text, start, end, tree, literal=True)
        if named:
            return Entity(named, value, start, end)
    return Entity(kind, value, start, end)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _OPEN and not text.startswith("[", start):
        start += 1
    while start < end and text[end - 1] in _CLOSE:
        chunk = text[start:end]
        if chunk.endswith("()") or (chunk.endswith(("]", "}")) and re.search(r"[\[{]", chunk)) or chunk in (".", ".."):
            break
        end -= 1
    if text[start:end].lower().endswith(("'s", "’s")):
        end -= 2
    return start, end


def _named(text: str, start: int, end: int, tree: Tree, shouting: bool) -> Entity | None:
    """What one chunk names, if anything."""
    chunk, before, after = text[start:end], text[max(0, start - NEARBY) : start], text[end : end + NEARBY]
    low = chunk.lower()
    if low in NOT_PATHS or (low in PRODUCTS and tree.kind(chunk) is None) or low in ("e.g", "i.e", "etc", "a.k.a"):
        return None
    if re.fullmatch(r"\d+(?:st|nd|rd|th)?", chunk):
        return Entity("number", re.sub(r"\D", "", chunk), start, end)
    if _GLOB.fullmatch(chunk) and re.search(r"[\w.]", chunk):
        return Entity("glob", chunk, start, end)
    if re.fullmatch(r"\*?\.\w{1,8}", chunk) and tree.kind(chunk) is None:
        known_one = low[1:] in EXTENSIONS and low[1:] not in ("env", "zip")
        if known_one or _FILES_AFTER.match(after) or _NOUN_EXT.search(before):
            return Entity("ext", low.lstrip("*."), start, end)
    if low in EXTENSIONS and not known(low) and len(low) > 1 and _FILES_AFTER.match(after):
        return Entity("ext", LANGUAGES.get(low, low), start, end)
    if low in LANGUAGES and _FILES_AFTER.match(after) and not _REV_BEFORE.search(before):
        return Entity("ext", LANGUAGES[low], start, end)
    if _REV.fullmatch(chunk) and "/" not in chunk.split("..")[0] and chunk.strip("./") and not chunk.startswith("../"):
        return Entity("rev", chunk, start, end)
    if (
        _REV_BEFORE.search(before)
        and not chunk.startswith("-")
        and re.fullmatch(r"[\w./@{}^~-]*[\d/_-][\w./@{}^~-]*", chunk)
    ):
        return Entity("rev", chunk, start, end)
    path = _path(chunk, text, start, end, tree)
    if path == "file" and re.search(r"\b(?:every|each|all|any)\s+(?:the\s+)?$", before, re.I):
        return Entity("glob", chunk, start, end)
    if path:
        spoken = FILE_NAMES.get(low, chunk) if "." not in chunk and "/" not in chunk and path == "file" else chunk
        return Entity(path, chunk if tree.kind(chunk) else spoken, start, end)
    a_word = chunk.isupper() and (low in LANGUAGES or known(low))
    if not shouting and not a_word and _IDENT.fullmatch(chunk):
        name = chunk.removesuffix("()")
        return Entity("ident", name[:-1] if re.fullmatch(r"[A-Z]{3,}s", name) else name, start, end)
    return None


def _suffix(name: str) -> str:
    last = re.split(r"[/\\]", name)[-1]
    return last.rsplit(".", 1)[1].lower() if "." in last[1:] else ""


def _path(
    chunk: str, text: str, start: int, end: int, tree: Tree, literal: bool = False
) -> Literal["file", "folder"] | None:
    """Whether a chunk names a file or a folder. Existing paths win; else its shape and the words beside it decide."""
    if not _PATHLIKE.fullmatch(chunk):
        return None
    before, after = text[max(0, start - NEARBY) : start], text[end : end + NEARBY]
    low = chunk.lower()
    folder_said = bool(_FOLDER_AFTER.match(after) or _FOLDER_BEFORE.search(before))
    plain = re.fullmatch(r"[\w-]+", chunk) is not None
    word = plain and (low in STOP or low in NEUTRAL)
    if word and low in FOLDERS and _PLACE.search(before) and tree.kind(chunk) == "folder":
        return "folder"  # "in scripts", where there is such a folder
    if not word or (folder_said and low in FOLDERS):
        shaped = not plain or folder_said or bool(_FILE_BEFORE.search(before)) or literal
        if shaped or chunk in (FILE_NAMES.values()) or _PLACE.search(_undetermined(before)):
            there = tree.kind(chunk.rstrip("/\\")) if chunk not in ("/",) else None
            if there:
                return there
    if word and not (folder_said and low in FOLDERS):
        return None
    if plain:
        return _plain_path(chunk, before, folder_said, tree)
    if chunk in (".", "..", "./", "../", "~", "~/", "/") or chunk.endswith(("/", "\\")):
        return "folder" if len(chunk) > 1 or chunk in ".~" or _PLACE.search(before) else None
    suffix = _suffix(chunk)
    if "/" in chunk or "\\" in chunk:
        if re.fullmatch(r"\d+/\d+(?:/\d+)?|[A-Z][a-z]+/[A-Z][a-z]+", chunk):
            return None
        name = re.split(r"[/\\]", chunk)[-1]
        return (
            "file"
            if (suffix and not folder_said) or name.lower() in FILE_NAMES or (name.startswith(".") and not folder_said)
            else "folder"
        )
    if folder_said:
        return "folder"
    if chunk.startswith(".") and re.fullmatch(r"\.[a-z][\w.-]*", chunk):
        return "file"
    if suffix in EXTENSIONS and re.search(r"[A-Za-z_]", chunk.rsplit(".", 1)[0]):
        return "file"
    if suffix and suffix not in DOMAINS and re.fullmatch(r"[a-z][a-z0-9]{0,4}", suffix) and _FILE_BEFORE.search(before):
        return "file"
    if "-" in chunk and low.split("-")[0] in FOLDERS and _PLACE.search(before):
        return "folder"
    return None


def _undetermined(before: str) -> str:
    return _DETERMINED.sub("", before)


def _plain_path(chunk: str, before: str, folder_said: bool, tree: Tree) -> Literal["file", "folder"] | None:
    """A bare word: a well-known file name, or a folder where one may stand."""
    low = chunk.lower()
    if low in FILE_NAMES and (chunk[0].isupper() or low not in ("license", "licence", "contributing")):
        return "file"
    if low in FILE_NAMES and re.search(r"\b(?:the|our|of|in|read|open|show)\s+$", before, re.I):
        return "file"
    if folder_said and (low in FOLDERS or not known(low)):
        return "folder"
    if (
        folder_said
        and _DETERMINED.search(before)
        and low not in STOP
        and low not in NEUTRAL
        and low not in ("git", "pending", "dirty", "clean")
    ):
        return "folder"
    if low in FOLDERS and _PLACE.search(before) and chunk == low:
        return "folder"
    if low in ("src", "lib", "docs", "tests") and not _DETERMINED.search(before) and tree.kind(chunk) == "folder":
        return "folder"
    if low in ("src", "libs", "utils") and chunk == low:
        return "folder"
    return None
