"""`pegboard explain` as a script and a person meet it."""

from __future__ import annotations

import json
from typing import Any

SHAPE = "tool set arguments action rule layer source headless guard sandbox effect remember considered command"


def test_one_call_is_explained_as_json_and_made_by_nobody(cli: Any) -> None:
    done = cli("explain", "gated", "text=x", "files=a", "--json")
    told = done.json
    assert (" ".join(told), done.code) == (SHAPE, 0)
    assert (told["tool"], told["set"], told["arguments"]["files"]) == ("gated", "stranger", ["a"])
    record = cli("tool", "gated", "text=x", "files=a", "--json").json
    decision = record["decision"]
    assert all(told[key] == decision[key] for key in ("action", "rule", "layer", "source", "sandbox"))
    assert (told["headless"], record["outcome"]) == ("blocked", "blocked")


def test_a_person_is_told_the_rule_its_line_and_what_else_speaks_of_it(cli: Any) -> None:
    cli.config("[tool_permission]\nread = 'ask'\n")
    done = cli("explain", "peek", "path=a.py")
    first, *rest = done.out.splitlines()
    assert first.startswith("ask  peek: tool_permission.read (user, ") and first.endswith("config.toml:2)")
    assert "  where nobody can be asked, it is blocked" in rest
    assert any(line.split() == ["allow", "tool_permission.read", "(default)"] for line in rest)


def test_each_line_of_a_file_is_explained(cli: Any) -> None:
    (cli.root / "lines.txt").write_text("a.py\n\n.env\n../out\n")
    done = cli("explain", "peek", "--file", "lines.txt", "--json")
    told = [json.loads(line) for line in done.out.splitlines()]
    assert (told[0]["line"], told[0]["action"]) == (1, "allow")
    assert [one["line"] for one in told] == [1, 3, 4] and told[2]["rule"] == "paths.outside"
    assert done.code == 0
    plain = cli("explain", "peek", "--file", "-", stdin="a.py\n../out\n")
    assert plain.out.splitlines() == ["1: allow  tool_permission.read (default)", "2: deny  paths.outside (default)"]


def test_what_cannot_be_explained_is_exit_2_and_nothing_on_stdout(cli: Any) -> None:
    for words in (["nosuch"], ["peek"], ["peek", "path=a", "--file", "none.txt"], ["peek", "path=a", "--mode", "paln"]):
        done = cli("explain", *words, "--json")
        assert (done.code, done.out) == (2, ""), words
        assert "\\n" not in done.err, words
    assert "did you mean plan?" in done.err


def test_a_person_is_told_why_a_part_asks_and_a_program_by_which_rule(cli: Any) -> None:
    shown = cli("explain", "bash", "command=ls > out").out
    assert "writes the file out" in shown and "R5" not in shown
    parts = cli("explain", "bash", "command=ls > out", "--json").json["command"]["parts"]
    assert [part["rule"] for part in parts][-1] == "R5"
