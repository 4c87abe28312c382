"""`pegboard tool`, `tools` and `sessions` as a script and a person meet them."""

from __future__ import annotations

import json
import shutil
import signal
from typing import Any

import pexpect
import pytest

RECORD = {
    "id", "tool", "requested", "set", "arguments", "dropped", "outcome", "block", "why", "text", "data", "truncated",
    "full_output", "decision", "session", "duration_ms",
}  # fmt: skip
TOOLS = {"model", "offered", "registered", "bytes", "tokens", "sets", "tools"}
TOOL = {
    "name", "set", "qualified", "offered", "why_not", "effect", "replay", "overlap", "permission", "category", "aliases",
    "bytes", "tokens", "description", "parameters",
}  # fmt: skip


def test_a_call_prints_its_text(cli: Any) -> None:
    done = cli("tool", "say", "text=hello é")
    assert (done.code, done.out) == (0, "hello é\n")


def test_words_are_text_for_the_schema_to_read(cli: Any) -> None:
    assert cli("tool", "plainly", "text=12", "times=3").out == "121212\n"
    assert cli("tool", "plainly", "text=ab", "times:=2").out == "abab\n"
    assert cli("tool", "say", "text=@-", stdin="from stdin\n").out == "from stdin\n"
    (cli.root / "note.txt").write_text("from a file")
    assert cli("tool", "say", "text=@note.txt").out == "from a file\n"
    assert cli("tool", "say", "--args", "-", stdin='{"text": "whole"}').out == "whole\n"


def test_a_repeated_key_makes_a_list_and_one_is_a_list_of_one(cli: Any) -> None:
    two = cli("tool", "gated", "text=x", "files=a", "files=b", "--yes", "--json").json
    one = cli("tool", "gated", "text=x", "files=a", "--yes", "--json").json
    assert two["arguments"]["files"] == ["a", "b"] and one["arguments"]["files"] == ["a"]


def test_json_is_one_document_with_every_key(cli: Any) -> None:
    done = cli("tool", "peek", "path=a.py", "nonsense=1", "--json", "--session", "s-1")
    record = done.json
    assert record.keys() >= RECORD and done.code == 0
    assert (record["tool"], record["set"], record["session"]) == ("peek", "stranger", "s-1")
    assert record["arguments"] == {"path": "a.py"} and record["dropped"] == ["nonsense"]
    assert record["decision"]["action"] == "allow" and record["decision"]["answer"] is None


@pytest.mark.parametrize(
    ("args", "code", "outcome", "block", "why"),
    [
        (["say", "text=x"], 0, "ok", None, None),
        (["stumble"], 1, "error", None, None),
        (["nosuch"], 2, "blocked", "unavailable", None),
        (["say"], 2, "blocked", "invalid_arguments", None),
        (["gated", "text=x"], 2, "blocked", "denied", None),
        (["gated", "text=x", "--no"], 2, "blocked", "denied", None),
        (["gated", "text=x", "--yes"], 0, "ok", None, None),
        (["dawdle"], 124, "interrupted", None, "timeout"),
    ],
)
def test_exit_codes_follow_outcomes(cli: Any, args: list[str], code: int, outcome: str, block: Any, why: Any) -> None:
    done = cli("tool", *args, "--json")
    record = done.json
    assert (done.code, record["outcome"], record["block"], record["why"]) == (code, outcome, block, why)


def test_an_error_is_told_once_and_stdout_holds_results_alone(cli: Any) -> None:
    done = cli("tool", "stumble")
    assert (done.out, done.err) == ("", "Error: it stumbled; nothing was changed.\nTry something else.\n")
    refused = cli("tool", "gated", "text=x")
    assert refused.out == "" and refused.err.startswith("Error: ") and refused.err.count("Error: ") == 1


def test_arguments_that_no_parameter_takes_are_named_once(cli: Any) -> None:
    done = cli("tool", "say", "text=x", "nonsense=1")
    assert (done.out + done.err).count("nonsense") == 1
    failed = cli("tool", "stumble", "nonsense=1")
    assert failed.err.count("nonsense") == 1


@pytest.mark.row("R-068")
def test_ctrl_c_stops_the_call_and_the_record_says_so(cli: Any) -> None:
    process = cli.start("tool", "execute", "command=echo $$ > pid; sleep 60", "--yes", "--json", "--session", "s1")
    while not (cli.root / "pid").exists() or not (cli.root / "pid").read_text().strip():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert (json.loads(out)["outcome"], json.loads(out)["why"]) == ("interrupted", "person")


def test_nothing_a_tool_says_reaches_a_terminal_as_a_command(cli: Any) -> None:
    done = cli("tool", "say", "text=a\x1b]0;title\x07b\x1b[2Jc\x08d\r\n\te")
    assert done.out == "a\\x1b]0;title\\x07b\\x1b[2Jc\\x08d\n\te\n"
    assert cli("tool", "say", "text=q\u202ez di\x1b[31mr").out == "q\\u202ez di\\x1b[31mr\n"
    command = "printf 'di\\033[31mr\\033[0m \\033[2J \\342\\200\\256'"
    assert cli("tool", "execute", f"command={command}", "--yes").out == "dir \\x1b[2J \\u202e\n"
    assert cli("tool", "say", "text=a\x1b[2Jb", "--json").json["text"] == "a\x1b[2Jb", "programs get what it said"


def test_no_model_is_needed_for_a_call(cli: Any) -> None:
    assert cli("tool", "say", "text=x", PEGBOARD_MODEL="nosuch/model").code == 0


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("S-024", "S-025")
def test_tools_has_a_heading_counts_and_a_set_for_each_tool(cli: Any) -> None:
    cli.config('[tools]\ndeny = ["draw"]\n')
    lines = cli("tools").out.splitlines()
    listed = cli("tools", "--json").json
    assert lines[0] == "Tools"
    assert lines[1] == f"{listed['offered']} offered this turn of {listed['registered']} registered"
    assert listed["registered"] == listed["offered"] + 2
    rows = {line.split()[0]: line.split()[1] for line in lines[4:] if line}
    assert rows["peek"] == "stranger" and "draw" not in rows


@pytest.mark.row("R-014")
def test_a_short_label_stands_for_a_long_description(cli: Any) -> None:
    rows = {line.split()[0]: line.split(None, 2)[2] for line in cli("tools").out.splitlines()[4:] if line}
    assert rows["say"] == "say it"
    assert rows["plainly"] == "say something, without a category"


def test_a_permission_is_listed_only_where_it_is_all_that_counts(cli: Any) -> None:
    listed = {tool["name"]: tool["permission"] for tool in cli("tools", "--json").json["tools"]}
    assert listed["exec"] is None, "a call asks as bash, and only its folder as list"
    assert listed["bash"] is None
    assert (listed["git_add"], listed["git_log"], listed["write_file"]) == ("edit", "read", "edit")
    assert "permission: by what a call touches" in cli("tools", "exec").out.splitlines()


def test_one_tool_is_shown_with_its_parameters(cli: Any) -> None:
    lines = cli("tools", "gated").out.splitlines()
    assert lines[:2] == ["gated", "Ask for leave first."] and "permission: stranger" in lines
    assert "  text: string, needed" in lines and "  files: list of string" in lines
    lines = cli("tools", "stranger:peek").out.splitlines()
    assert lines[lines.index("  path: string, needed") + 1].strip() == "File"
    assert "  limit: integer, default 10" in lines
    assert [tool["name"] for tool in cli("tools", "peek", "--json").json["tools"]] == ["peek"]
    done = cli("tools", "peak")
    assert (done.code, done.out) == (2, "") and "'peek'" in done.err


def test_cost_counts_bytes_and_tokens_by_tool_and_set(cli: Any) -> None:
    listed = cli("tools", "--cost", "--json").json
    assert listed.keys() >= TOOLS and all(tool.keys() >= TOOL for tool in listed["tools"])
    for tool in listed["tools"]:
        wire = {key: tool[key] for key in ("name", "description", "parameters")}
        size = len(json.dumps(wire, separators=(",", ":"), ensure_ascii=False).encode())
        assert (tool["bytes"], tool["tokens"]) == (size, -(-size // 4))
    offered = [tool for tool in listed["tools"] if tool["offered"]]
    assert listed["bytes"] == sum(tool["bytes"] for tool in offered)
    ours = next(one for one in listed["sets"] if one["name"] == "stranger")
    assert (ours["distribution"], ours["version"]) == ("pegboard-stranger", "0.7")
    assert ours["bytes"] == sum(tool["bytes"] for tool in offered if tool["set"] == "stranger")
    text = cli("tools", "--cost").out
    assert f"~{listed['tokens']:,}" in text and f"{listed['bytes']:,}" in text


def test_denied_tools_are_shown_only_with_all(cli: Any) -> None:
    cli.config('[tools]\ndeny = ["draw"]\n')
    assert "draw" not in [tool["name"] for tool in cli("tools", "--json").json["tools"]]
    every = {tool["name"]: tool for tool in cli("tools", "--json", "--all").json["tools"]}
    assert (every["draw"]["offered"], every["draw"]["why_not"]) == (False, "denied")
    assert "not offered: denied" in cli("tools", "--all").out


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_and_shown(cli: Any) -> None:
    cli.script(
        {"text": "looking\x1b[2J", "calls": [["say", {"text": "\x1b]0;x\x07found \u202e"}]]}, {"text": "that is all"}
    )
    assert cli("sessions", "list").out == "No sessions yet.\n"
    assert cli("run", "look\x1b[31m around", "--session", "s1").code == 0
    row = next(line for line in cli("sessions", "list").out.splitlines() if line.startswith("s1 "))
    assert str(cli.root) in row and "\x1b" not in row
    [listed] = cli("sessions", "list", "--json").json["sessions"]
    assert (listed["id"], listed["turns"], listed["root"]) == ("s1", 1, str(cli.root))

    shown = cli("sessions", "show", "s1").out
    parts = ["> look\\x1b[31m around", "looking\\x1b[2J", "say", "found \\u202e", "that is all"]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places) and "\x1b" not in shown

    events = cli("sessions", "show", "s1", "--json").json["events"]
    assert [json.loads(line) for line in cli.log("s1").splitlines()] == events


def test_the_list_is_of_the_newest_and_fits_a_terminal(cli: Any) -> None:
    cli.script({"text": "hello"})
    assert cli("run", "please read a-rather-long-name.py", "--session", "old").code == 0
    folder = cli.home / ".local/state/pegboard/sessions"
    (folder / "old/session.json").write_text(json.dumps({"root": "/some/where/far/away/from/everything/else"}))
    for number in range(22):
        shutil.copytree(folder / "old", folder / f"old-{number}")
    assert cli("tool", "peek", "path=a-rather-long-name.py", "--session", "single").code == 0
    lines = cli("sessions", "list").out.splitlines()
    assert len(lines) == 22 and lines[-1] == "and 3 more, 1 of single calls: pegboard sessions list --all"
    assert not any(line.startswith("single ") for line in lines)
    lines = cli("sessions", "list", "--all").out.splitlines()
    assert len(lines) == 25 and lines[1].startswith("single ")
    assert lines[1].endswith("Read a-rather-long-name.py"), "a single call names it"
    assert len(cli("sessions", "list", "--json").json["sessions"]) == 24
    for columns in (60, 100):
        child = cli.terminal("sessions", "list", dimensions=(40, columns))
        child.expect(pexpect.EOF)
        rows = child.before.splitlines()
        assert max(map(len, rows)) <= columns and len(rows) == 22
        assert "please read" in rows[1]


def test_a_store_of_single_calls_alone_says_how_they_are_listed(cli: Any) -> None:
    assert cli("tool", "peek", "path=a.py", "--session", "single").code == 0
    assert cli("sessions", "list").out == "and 1 of single calls: pegboard sessions list --all\n"


def test_who_reads_a_refusal_because_nobody_could_be_asked_is_told_what_allows_it(cli: Any) -> None:
    call = ["tool", "write_file", "path=n.txt", "content=x"]
    told = "pegboard: nobody could be asked; --yes allows it"
    assert cli(*call).err.splitlines()[-1] == told
    assert told not in cli(*call, "--json").err
    assert told not in cli(*call, "--no").err, "they were asked, and said no"


def test_reading_a_session_waits_for_no_lock(cli: Any) -> None:
    cli.script({"text": "thinking", "sleep": 60})
    process = cli.start("run", "x", "--json", "--session", "s1")
    next(iter(process.stdout))
    assert cli("sessions", "show", "s1").code == 0
    assert cli("tool", "say", "text=beside", "--session", "s1").code == 0, "a single call works beside a turn"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [json.loads(line)["status"] for line in out.splitlines() if '"turn_ended"' in line] == ["interrupted"]
