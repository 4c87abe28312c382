"""The activity line: glyph, verb, subject and details, all from declarations."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pytest
from pegboard.activity import GLYPHS, activity_of, summary_of
from pegboard.tooling import Tool, tool
from pegboard.touches import Lists, Reads, Runs, Writes


def line(function: Any, arguments: dict[str, Any], **options: Any) -> str:
    """The line as a plain front end prints it."""
    drawn = activity_of(Tool.of(function), "some", arguments, **options)
    first, _, rest = drawn.details.partition("\n")
    return " ".join(part for part in (drawn.glyph, drawn.verb, drawn.subject, first) if part) + (
        "\n" + rest if rest else ""
    )


def named(name: str = "some", **declared: Any) -> Any:
    @tool(name=name, **declared)
    def some(path: Annotated[str, Reads("A file")], offset: int = 1, limit: int = 2000, text: str = "") -> str:
        """Do something."""
        return path

    return some


@pytest.mark.row("R-006", "R-105")
@pytest.mark.parametrize(
    ("category", "drawn"),
    [
        ("read", "← Read"),
        ("write", "→ Write"),
        ("search", "% Search"),
        ("exec", "$ Run"),
        ("ask", "~ Ask"),
        ("todo", "- Todo"),
        ("delegate", "↳ Call"),
    ],
)
def test_the_category_decides_glyph_and_verb(category: str, drawn: str) -> None:
    assert " ".join(GLYPHS[category]) == drawn
    assert line(named(category=category), {"path": "a.md"}) == f"{drawn} a.md"


@pytest.mark.row("R-006")
def test_mcp_has_a_glyph_and_a_verb_of_its_own() -> None:
    glyph, verb = GLYPHS["mcp"]
    assert line(named(category="mcp"), {"path": "x"}) == f"{glyph} {verb} x"
    assert len(set(GLYPHS.values())) == len(GLYPHS)


@pytest.mark.row("R-011")
def test_a_tools_own_glyph_and_verb_override_its_categorys() -> None:
    assert line(named(category="search", glyph="*", verb="Glob"), {"path": "a"}) == "* Glob a"
    assert line(named(category="search", verb="Glob"), {"path": "a"}) == "% Glob a"
    assert line(named(category="read", glyph="↓"), {"path": "a"}) == "↓ Read a"
    assert line(named("web_fetch", glyph="↓"), {"path": "a"}) == "↓ Web fetch a"


@pytest.mark.row("R-010", "R-104")
def test_the_key_argument_stands_for_the_call() -> None:
    @tool(category="exec", key_arg="label")
    def run(command: Annotated[str, Runs("A command")], label: str = "") -> str:
        """Run."""
        return ""

    @tool(category="exec")
    def run_plain(command: Annotated[str, Runs("A command")], label: str = "") -> str:
        """Run."""
        return ""

    @tool(category="write")
    def put(text: str, path: Annotated[str, Writes("A file")]) -> str:
        """Write."""
        return ""

    assert line(run, {"command": "pytest -x", "label": "tests"}, params=False) == "$ Run tests"
    assert line(run_plain, {"command": "pytest"}, params=False) == "$ Run pytest"
    assert (
        line(put, {"text": "hello", "path": "test.md"}, params=False) == "→ Write test.md"
    )  # the touch, not the first
    assert line(named(category="read"), {"path": "README.md"}) == "← Read README.md"


@pytest.mark.row("R-108")
def test_the_other_arguments_follow_in_brackets_unless_they_are_not_wanted() -> None:
    arguments = {"path": "engine.py", "offset": 299, "limit": 85}
    assert line(named(category="read"), arguments) == "← Read engine.py [offset=299, limit=85]"
    assert line(named(category="read"), arguments, params=False) == "← Read engine.py"
    assert line(named(category="read"), {"path": "engine.py"}) == "← Read engine.py"


def test_long_values_are_shown_by_their_size_and_stay_in_one_line() -> None:
    drawn = line(named(category="write"), {"path": "a", "text": "one\ntwo\nthree\n"})
    assert drawn == "→ Write a [text=(3 lines)]"
    long = line(named(category="write"), {"path": "a", "text": "x" * 500})
    assert len(long) < 90 and "…" in long and "\n" not in long


@pytest.mark.row("R-012")
def test_the_summarys_first_line_is_the_label_and_the_others_are_details() -> None:
    def status(arguments: dict[str, Any]) -> str:
        return f"{arguments['path']} ({len(arguments['text'])} chars)\n+ {arguments['text']}\n+ end"

    drawn = activity_of(Tool.of(named(summary=status)), "some", {"path": "a.md", "text": "hi"}, params=False)
    assert drawn.subject == "a.md (2 chars)"
    assert drawn.details.splitlines() == ["", "+ hi", "+ end"]


@pytest.mark.parametrize("summary", [lambda arguments: arguments["nothing"], lambda arguments: 3, lambda arguments: ""])
def test_a_summary_that_fails_or_says_nothing_stops_no_call(summary: Any, pegboard_board: Any) -> None:
    board = pegboard_board(tools=[named(category="read", summary=summary)])
    assert board.call("some", path="a").outcome == "ok"
    assert line(named(category="read", summary=summary), {"path": "a"}) == "← Read a"


@pytest.mark.row("R-106")
def test_a_tool_without_a_known_category_has_its_key_argument_and_details_alone() -> None:
    drawn = activity_of(Tool.of(named(category="stranger", summary=lambda a: "what\ndim")), "some", {"path": "a"})
    assert (drawn.glyph, drawn.verb, drawn.subject) == ("", "", "what")
    assert drawn.details.endswith("\ndim")
    plain = activity_of(Tool.of(named()), "some", {"path": "a"})
    assert (plain.glyph, plain.verb, plain.subject, plain.details) == ("", "", "a", "")


@pytest.mark.parametrize("sent", [None, "text", 3, [1], {}, {"path": None}, {"path": ["a", "b"]}, {"path": {"a": 1}}])
def test_whatever_was_sent_has_a_line(sent: Any) -> None:
    made = Tool.of(named(category="read"))
    assert activity_of(made, "some", sent).verb == "Read"
    assert summary_of(made, "some", sent).startswith("Read")
    assert activity_of(None, "nothing", sent).subject == "nothing"


@pytest.mark.row("R-104")
def test_the_summary_in_the_log_is_verb_and_subject_in_one_line(pegboard_board: Any) -> None:
    @tool(category="search", verb="Grep", key_arg="pattern")
    def grep(pattern: str, path: Annotated[str, Lists("Where")] = ".") -> str:
        """Search."""
        return ""

    board = pegboard_board(tools=[grep])
    board.call("grep", pattern="TODO\nmore")
    board.call("nothing")
    assert [e.summary for e in board.events if type(e).__name__ == "CallAsked"] == ["Grep TODO", "nothing"]


def test_lists_of_names_are_joined() -> None:
    @tool(category="read")
    def read_all(files: Annotated[list[str], msgspec.Meta(description="Files")]) -> str:
        """Read."""
        return ""

    assert line(read_all, {"files": ["a", "b"]}) == "← Read a, b"
