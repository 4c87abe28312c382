"""`pegboard.json`: what a plugin says of itself, made from what is loaded and read back without importing it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pegboard import manifest
from pegboard.entries import Entry

PACKAGE = '''
from typing import Annotated
import msgspec
from pegboard import Reads, Writes, hookimpl, tool

class Inner(msgspec.Struct, frozen=True):
    deep: list["Inner"] = []

class Settings(msgspec.Struct, frozen=True):
    """The table [words]."""
    word: Annotated[str, msgspec.Meta(description="What is looked for.")] = "TODO"
    pair: tuple[int, int] = (1, 2)
    inner: Inner = Inner()

@tool(aliases=["wc"])
def count(path: Annotated[str, Reads("File")]) -> str:
    """Count the words of a file."""
    return path

@tool
def put(path: Annotated[str, Writes("File")]) -> str:
    """Write a file."""
    return path

@tool
def blind(text: str) -> str:
    """Who knows."""
    return text

def broken(text):
    return text

@hookimpl
def pegboard_tools(settings):
    return [count, put, blind, broken]
'''


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A package on the path, as an entry; forgotten afterwards."""
    (tmp_path / "manifest_words").mkdir()
    (tmp_path / "manifest_words" / "__init__.py").write_text(PACKAGE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "manifest_words", raising=False)
    return entry("manifest_words")


def entry(value: str, group: str = "pegboard.toolsets", name: str = "words") -> Entry:
    return Entry(name=name, group=group, value=value, distribution="pegboard-words", version="1.0", own=False)


def keep(entry: Entry) -> Path:
    """Write the manifest where it belongs, and forget the import that it took."""
    place = manifest.place(entry)
    assert place is not None
    place.write_bytes(manifest.encoded(manifest.made([entry])))
    sys.modules.pop("manifest_words", None)
    return place


def test_it_says_the_tools_with_what_they_touch_and_is_read_back_without_an_import(words: Entry) -> None:
    keep(words)
    said = manifest.fresh(words)
    assert said is not None and "manifest_words" not in sys.modules
    assert {tool.name: (tool.effect, tool.touches) for tool in said.tools} == {
        "count": ("read_only", ["read"]),
        "put": ("side_effecting", ["edit"]),
        "blind": ("side_effecting", ["unknown"]),
    }
    assert said.tools[0].aliases == ["wc"] and said.tools[0].bytes > 60
    assert said.hooks == ["pegboard_tools"] and "judged" in said.role


def test_settings_are_a_schema_without_references(words: Entry) -> None:
    keep(words)
    said = manifest.fresh(words)
    assert said is not None and said.settings is not None
    assert said.settings["properties"]["word"] == {
        "type": "string",
        "description": "What is looked for.",
        "default": "TODO",
    }
    assert said.settings["properties"]["inner"]["properties"]["deep"]["type"] == "array"
    assert b"$ref" not in manifest.encoded(manifest.made([words]))


def test_the_same_sources_make_the_same_bytes(words: Entry) -> None:
    before = keep(words).read_bytes()
    assert keep(words).read_bytes() == before


@pytest.mark.parametrize("file", ["__init__.py", "more.py", "deep/er.py"])
def test_any_changed_or_new_source_makes_it_stale(words: Entry, file: str) -> None:
    changed = keep(words).parent / file
    changed.parent.mkdir(exist_ok=True)
    changed.write_text(PACKAGE + "\n# changed\n", "utf-8")
    kept = manifest.read(words)
    assert kept is not None and "sources changed" in (manifest.stale(kept, words) or "")
    assert manifest.fresh(words) is None


def test_caches_data_and_itself_do_not_make_it_stale(words: Entry) -> None:
    folder = keep(words).parent
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "x.py").write_text("1")
    (folder / "data.txt").write_text("x")
    assert manifest.fresh(words) is not None


def test_it_speaks_for_no_other_entry_and_no_other_distribution(words: Entry) -> None:
    keep(words)
    other = entry("manifest_words", name="other")
    assert manifest.read(other) is not None and manifest.fresh(other) is None
    moved = Entry(
        name="words", group=words.group, value=words.value, distribution="pegboard-evil", version="1.0", own=False
    )
    assert manifest.fresh(moved) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"format": 1}', b"[" * 100_000, b" " * (manifest.MOST_BYTES + 1), b"\xff\xfe"],
    ids=["empty", "half", "list", "lacking", "deep", "large", "no text"],
)
def test_what_is_no_manifest_is_as_none_and_says_why(words: Entry, data: bytes) -> None:
    keep(words).write_bytes(data)
    assert manifest.read(words) is None and manifest.fresh(words) is None
    assert manifest.unreadable(words)


def test_one_of_a_later_format_is_not_guessed_at(words: Entry) -> None:
    place = keep(words)
    place.write_bytes(place.read_bytes().replace(b'"format": 1', b'"format": 2'))
    assert manifest.read(words) is None and "format is 2" in (manifest.unreadable(words) or "")


def test_a_single_module_has_no_place_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "manifest_single.py").write_text(PACKAGE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    single = entry("manifest_single")
    assert manifest.place(single) is None and manifest.read(single) is None and manifest.unreadable(single) is None
    with pytest.raises(ValueError, match="one package"):
        manifest.made([single])
    assert manifest.place(entry("manifest_that_is_not_there")) is None


def test_in_a_shared_namespace_it_stands_in_the_part_that_is_the_plugins_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("one", "two"):
        (tmp_path / part / "manifest_acme" / part).mkdir(parents=True)
        (tmp_path / part / "manifest_acme" / part / "__init__.py").write_text(PACKAGE, "utf-8")
        monkeypatch.syspath_prepend(str(tmp_path / part))
    two = entry("manifest_acme.two")
    assert manifest.place(two) == tmp_path / "two" / "manifest_acme" / "two" / "pegboard.json"
    assert manifest.digest(tmp_path / "two" / "manifest_acme" / "two") == manifest.made([two]).digest


def test_a_command_and_a_function_say_what_they_are_for(words: Entry) -> None:
    import typer

    app = typer.Typer()

    @app.command()
    def hello() -> None:
        """Say hello.

        At length."""

    made = manifest.make([], {entry("manifest_words:app", "pegboard.commands", "hello"): app})
    assert [(said.name, said.help) for said in made.entries] == [("hello", "Say hello.")]
    made = manifest.make([], {entry("manifest_words:hello", "pegboard.providers", "hello"): hello})
    assert made.entries[0].help == "Say hello."


def test_every_group_has_its_role_in_words() -> None:
    from pegboard.hooks import GROUPS, ROLES

    assert set(GROUPS) < set(ROLES) and all(ROLES.values())
