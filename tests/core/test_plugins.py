"""Plugins: found on disk without being imported, loaded each alone, with one plugin's failure its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from pegboard.config.schema import RESERVED
from pegboard.entries import Entry, scan, survey
from pegboard.hooks import API, GROUPS
from pegboard.plugins import LoadProblem, given, import_guarded, load_all


class Site:
    """A folder of installed distributions, made by hand, in front of `sys.path`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, name: str, entry_points: str = "", *, version: str = "1.0", requires: tuple[str, ...] = (), **modules: str
    ) -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {r}" for r in requires)]
        (info / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n")
        if entry_points:
            (info / "entry_points.txt").write_text(dedent(entry_points))
        for module, text in modules.items():
            (self.folder / f"{module}.py").write_text(dedent(text))

    def entries(self) -> list[Entry]:
        return scan([str(self.folder)])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    before = set(sys.modules)
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield Site(tmp_path / "site")
    for name in set(sys.modules) - before:
        if name.startswith("stranger"):
            del sys.modules[name]


WORDS = """
    from pegboard import hookimpl, tool

    @tool(pure=True)
    def word_count(text: str) -> str:
        '''Count words.'''
        return str(len(text.split()))

    @hookimpl
    def pegboard_tools(settings):
        return [word_count]
"""


def test_entry_points_are_found_and_nothing_is_imported(site: Site) -> None:
    points = """
        [console_scripts]
        words = stranger_words:main

        [pegboard.toolsets]
        # a comment
        words = stranger_words
        more=stranger_more

        [pegboard.providers]
        words = stranger_words:Provider
        [other.toolsets]
        x = y
    """
    site.install("Stranger.Words", points, version="2.3", stranger_words="raise SystemExit(3)")
    found = [(e.group, e.name, e.value, e.distribution, e.version, e.own) for e in site.entries()]
    assert found == [
        ("pegboard.providers", "words", "stranger_words:Provider", "stranger-words", "2.3", False),
        ("pegboard.toolsets", "more", "stranger_more", "stranger-words", "2.3", False),
        ("pegboard.toolsets", "words", "stranger_words", "stranger-words", "2.3", False),
    ]
    assert "stranger_words" not in sys.modules


def test_our_own_distributions_come_first_then_others_by_name(site: Site) -> None:
    for name in ("aaa", "pegboard-zzz", "mmm"):
        site.install(name, f"[pegboard.toolsets]\n{name[:3]} = {name[:3]}\n")
    site.install("pegboard", requires=("pegboard-zzz>=0.1,<0.2", "msgspec ; extra == 'x'"))
    assert [(e.distribution, e.own) for e in site.entries()] == [("pegboard-zzz", True), ("aaa", False), ("mmm", False)]


def test_an_earlier_path_hides_the_same_distribution_on_a_later_one(tmp_path: Path) -> None:
    for place, version in (("one", "2.0"), ("two", "1.0")):
        Site(tmp_path / place).install("words", "[pegboard.toolsets]\nwords = w\n", version=version)
    found = scan([str(tmp_path / "one"), str(tmp_path / "two"), str(tmp_path / "nowhere")])
    assert [e.version for e in found] == ["2.0"]


def test_ours_is_what_lies_beside_pegboard_wherever_else_it_stands_on_the_path(tmp_path: Path) -> None:
    ours, other = Site(tmp_path / "ours"), Site(tmp_path / "other")
    ours.install("pegboard", requires=("pegboard-guard", "pegboard-gone"))
    ours.install("pegboard-guard", "[pegboard.guards]\nguard = g\n")
    other.install("pegboard-guard", "[pegboard.toolsets]\nspare = s\n", version="99")
    other.install("pegboard-gone", "[pegboard.toolsets]\ngone = g\n")
    found = survey([str(other.folder), str(ours.folder)])
    assert [(e.name, e.version, e.own) for e in found.entries] == [("guard", "1.0", True), ("gone", "1.0", False)]
    (copies,) = found.copies
    assert "pegboard-guard is installed 2 times" in copies and str(other.folder) in copies


def test_two_copies_of_ours_in_one_folder_both_count_and_are_told_of(tmp_path: Path) -> None:
    ours = Site(tmp_path / "ours")
    ours.install("pegboard", requires=("pegboard-guard",))
    ours.install("pegboard-guard", "[pegboard.guards]\nguard = g\n")
    ours.install("pegboard-guard", "[pegboard.toolsets]\nspare = s\n", version="0.1")
    found = survey([str(ours.folder)])
    assert {e.name for e in found.entries} == {"guard", "spare"} and len(found.copies) == 1


def test_a_folder_that_is_on_the_path_twice_holds_no_copies(tmp_path: Path) -> None:
    ours = Site(tmp_path / "lib")
    ours.install("pegboard", requires=("pegboard-guard",))
    ours.install("pegboard-guard", "[pegboard.guards]\nguard = g\n")
    (tmp_path / "lib64").symlink_to(ours.folder)
    found = survey([str(tmp_path / "lib64"), str(ours.folder)])
    assert [e.name for e in found.entries] == ["guard"] and found.copies == []


@pytest.mark.parametrize("content", [b"\xff\xfe[pegboard.toolsets]", b"[pegboard.toolsets", b"[pegboard.toolsets]\nx"])
def test_a_broken_file_of_entry_points_harms_nobody(site: Site, content: bytes) -> None:
    site.install("broken", "[x]\n")
    (site.folder / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    site.install("words", "[pegboard.toolsets]\nwords = stranger_words\n", stranger_words=WORDS)
    assert [e.name for e in site.entries()] == ["words"]


def test_scanning_agrees_with_importlib_metadata() -> None:
    code = """
    import sys, importlib.metadata as m
    from pegboard.entries import scan
    ours = {(e.group, e.name, e.value) for e in scan()}
    every = [e for d in m.distributions() for e in d.entry_points]
    theirs = {(e.group, e.name, e.value) for e in every if e.group.startswith("pegboard.")}
    assert ours == theirs and ours, (ours ^ theirs)
    """
    subprocess.run([sys.executable, "-c", dedent(code)], check=True)


def test_a_plugin_is_registered_with_what_its_hooks_returned(site: Site) -> None:
    site.install("words", "[pegboard.toolsets]\nwords = stranger_words\n", stranger_words=WORDS)
    loaded = load_all(site.entries(), {}, {})
    assert loaded.failures == []
    ((plugin, tools),) = loaded.contributed("pegboard_tools")
    assert (plugin.entry.name, plugin.settings) == ("words", None)
    assert [t.__name__ for t in tools] == ["word_count"]
    assert loaded.contributed("pegboard_guards") == []


SETTINGS = """
    import msgspec
    from pegboard import hookimpl

    class Settings(msgspec.Struct, frozen=True):
        limit: int = 3
        words: list[str] = []

    def given(settings):
        return settings

    @hookimpl
    def pegboard_tools(settings):
        given.settings = settings
        return [given]

    @hookimpl
    def pegboard_prompt():
        return []
"""


def test_a_plugin_gets_its_own_settings_validated_or_not_at_all(site: Site) -> None:
    site.install("words", "[pegboard.toolsets]\nwords = stranger_words\n", stranger_words=SETTINGS)
    (plugin,) = load_all(site.entries(), {"words": {"limit": 5}, "other": {"limit": "x"}}, {}).plugins
    assert plugin.settings.limit == 5
    assert plugin.contributions["pegboard_tools"][0].settings is plugin.settings
    (plugin,) = load_all(site.entries(), {}, {}).plugins
    assert plugin.settings.limit == 3


@pytest.mark.parametrize(("table", "says"), [({"limit": "x"}, "limit"), ({"words": 1}, "words")])
def test_a_plugins_wrong_setting_fails_it_alone_with_file_and_line(site: Site, table: Any, says: str) -> None:
    site.install("words", "[pegboard.toolsets]\nwords = stranger_words\n", stranger_words=SETTINGS)
    site.install("other", "[pegboard.toolsets]\nother = stranger_other\n", stranger_other=WORDS)
    loaded = load_all(site.entries(), {"words": table}, {"words": "/c/config.toml:7"})
    assert [plugin.entry.name for plugin in loaded.plugins] == ["other"]
    (failure,) = loaded.failures
    assert failure.what == "settings"
    assert failure.error.startswith("/c/config.toml:7: ") and says in failure.error
    assert "words" in failure.text and "plugins.disable" in failure.text


HOOK = "from pegboard import hookimpl\n@hookimpl\n"
BROKEN = {
    "raises": "raise RuntimeError('at import')",
    "exits": "raise SystemExit(1)",
    "syntax": "def",
    "imports": "import nowhere_to_be_found",
    "no hook": "x = 1",
    "misspelt": HOOK + "def pegboard_toools(settings): return []",
    "foreign": HOOK + "def pegboard_guards(settings): return []",
    "arguments": HOOK + "def pegboard_tools(settings, board): return []",
    "hook raises": HOOK + "def pegboard_tools(settings): raise ValueError('in hook')",
    "hook exits": HOOK + "def pegboard_tools(settings): raise SystemExit(2)",
    "returns none": HOOK + "def pegboard_tools(settings): return None",
    "returns text": HOOK + "def pegboard_tools(settings): return ['name']",
    "fragments": HOOK + "def pegboard_prompt(settings): return ['text']",
    "wrapper": "from pegboard import hooks\n@hooks.hookimpl(wrapper=True)\ndef pegboard_tools(settings):\n    yield",
    "first": "from pegboard import hooks\n@hooks.hookimpl(tryfirst=True)\ndef pegboard_tools(settings): return []",
    "last": "from pegboard import hooks\n@hooks.hookimpl(trylast=True)\ndef pegboard_tools(settings): return []",
    "settings": "Settings = dict\n" + HOOK + "def pegboard_tools(settings): return []",
    "settings raise": (
        "import msgspec\nclass Settings(msgspec.Struct):\n    def __post_init__(self): raise RuntimeError('odd')\n"
        + HOOK
        + "def pegboard_tools(settings): return []"
    ),
    "newer": f"pegboard_api = {API + 1}\n" + HOOK + "def pegboard_tools(settings): return []",
    "looked at": "def __getattr__(name): raise RuntimeError(name)",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_plugin_that_does_not_load_is_told_of_and_harms_nobody(site: Site, how: str) -> None:
    site.install("aaa", "[pegboard.toolsets]\nbroken = stranger_broken\n", stranger_broken=BROKEN[how])
    site.install("bbb", "[pegboard.toolsets]\nwords = stranger_words\n", stranger_words=WORDS)
    loaded = load_all(site.entries(), {}, {})
    assert [plugin.entry.name for plugin in loaded.plugins] == ["words"]
    (failure,) = loaded.failures
    assert failure.entry.name == "broken"
    assert "'broken'" in failure.text and "aaa 1.0" in failure.text
    assert "\n" not in failure.text


def test_why_a_plugin_failed_is_one_word_for_programs(site: Site) -> None:
    site.install("aaa", "[pegboard.toolsets]\nbroken = stranger_broken\n", stranger_broken=BROKEN["newer"])
    (failure,) = load_all(site.entries(), {}, {}).failures
    assert failure.what == "version"
    assert str(API + 1) in failure.error


def module(name: str, **hooks: Any) -> ModuleType:
    from pegboard.hooks import hookimpl

    made = ModuleType(name)
    for hook, returned in hooks.items():

        def impl(settings: object, returned: Any = returned) -> Any:
            return returned

        impl.__name__ = hook
        setattr(made, hook, hookimpl(impl))
    return made


def test_a_hook_loads_only_in_the_groups_that_may_have_it() -> None:
    returned: dict[str, Any] = {
        hook: {} if hook == "pegboard_renderers" else [] for row in GROUPS.values() for hook in row
    }
    for group, row in GROUPS.items():
        for hook in returned:
            entry = given("one", group, module(f"m_{hook}", **{hook: returned[hook]}))
            assert bool(load_all([entry], {}, {}).plugins) == (hook in row), (group, hook)


@pytest.mark.parametrize("name", [*sorted(RESERVED)[:3], "tools", "ui", "Words", "w_x", "", "1a", "a b"])
def test_an_entry_with_an_impossible_name_does_not_load(name: str) -> None:
    (failure,) = load_all([given(name, "pegboard.toolsets", module("m", pegboard_tools=[]))], {}, {}).failures
    assert failure.what == "hook"


def test_one_module_in_two_places_does_not_load_twice() -> None:
    shared = module("shared", pegboard_tools=[])
    entries = [given("one", "pegboard.toolsets", shared), given("two", "pegboard.toolsets", shared)]
    loaded = load_all(entries, {}, {})
    assert [plugin.entry.name for plugin in loaded.plugins] == ["one"]
    assert "already stands in pegboard.toolsets as 'one'" in loaded.failures[0].error


def test_an_entry_that_names_an_object_is_for_other_groups() -> None:
    entry = Entry(name="x", group="pegboard.toolsets", value="a:b", distribution="d", version="1", own=False)
    assert "names a module" in load_all([entry], {}, {}).failures[0].error


def test_an_object_is_imported_by_its_path_and_whatever_it_raises_is_one_error(site: Site) -> None:
    site.install(
        "p", "[x]\n", stranger_provider="class Outer:\n    class Inner: pass\n", stranger_bad="raise SystemExit"
    )

    def entry(value: str) -> Entry:
        return Entry(name="x", group="pegboard.providers", value=value, distribution="d", version="1", own=False)

    assert import_guarded(entry("stranger_provider:Outer.Inner")).__name__ == "Inner"
    for value in ("stranger_provider:Nothing", "stranger_bad:x", "nowhere:x"):
        with pytest.raises(LoadProblem):
            import_guarded(entry(value))
