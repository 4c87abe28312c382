"""What a plugin's manifest says stands in settings and help, and the plugin is not imported for it."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from pegboard.config.published import schema
from pegboard.entries import Entry, scan
from pegboard_cli.configuring import read, shown
from pegboard_cli.group import _line
from pegboard_cli.manifests import settings_of, with_tables
from stranger_wheels import make_wheel, said

SETTINGS = {
    "type": "object",
    "properties": {"word": {"type": "string", "default": "TODO", "description": "What is looked for."}},
    "required": [],
}
GROUPS = {"pegboard.toolsets": {"loud": "stranger_loud"}, "pegboard.commands": {"yell": "stranger_loud:app"}}


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's package that lies installed, raises when it is imported, and says what it has."""
    folder = tmp_path / "packages"
    module = "raise RuntimeError('imported')\n"
    wheel = make_wheel(
        tmp_path, module=module, groups=GROUPS, tools=[said("shout")], settings=SETTINGS, help="Yell \x1b[1m at it"
    )
    ZipFile(wheel).extractall(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "pegboard").mkdir(parents=True)
    return folder


def loud() -> list[Entry]:
    return [entry for entry in scan() if entry.distribution == "stranger-loud"]


def test_the_published_schema_has_its_table(packages: Path) -> None:
    whole = with_tables(schema(), scan())
    assert whole["properties"]["loud"] == SETTINGS
    assert whole["properties"]["search"] == schema()["properties"]["search"]
    assert "stranger_loud" not in sys.modules


def test_its_settings_are_shown_with_their_defaults_and_what_is_misspelt_is_told_of(packages: Path) -> None:
    folder = packages.parent
    assert shown(read(str(folder)))["loud.word"].value == "TODO"
    (folder / "config" / "pegboard" / "config.toml").write_text('[loud]\nword = "x"\nwrod = "y"\n')
    loaded = read(str(folder))
    assert shown(loaded)["loud.word"].value == "x"
    [note] = [note for note in loaded.notes if "wrod" in note]
    assert note.endswith("config.toml:3: unknown setting 'loud.wrod' is ignored; did you mean loud.word?")
    assert "stranger_loud" not in sys.modules


def test_help_quotes_what_a_command_says_of_itself_behind_whose_it_is(packages: Path) -> None:
    [command] = [entry for entry in loud() if entry.group == "pegboard.commands"]
    assert (
        _line(command) == 'From the plugin stranger-loud 0.1: "Yell \x1b[1m at it"'
    )  # spelled out where it is printed
    (packages / "stranger_loud" / "pegboard.json").unlink()
    assert _line(command) == "From the plugin stranger-loud 0.1."


def test_of_changed_sources_nothing_is_claimed(packages: Path) -> None:
    assert set(settings_of(loud())) == {"loud"}
    (packages / "stranger_loud" / "__init__.py").write_text("")
    assert settings_of(loud()) == {} and "loud" not in with_tables(schema(), scan())["properties"]
