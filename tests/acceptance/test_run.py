"""`pegboard run` as a script and a person meet it."""

from __future__ import annotations

import fcntl
import json
import signal
from typing import Any

import pytest

HELLO: dict[str, Any] = {"text": "hello"}


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply of the model that makes one call."""
    return {"calls": [[name, arguments]]}


def test_the_answer_goes_to_stdout_and_everything_else_to_stderr(cli: Any) -> None:
    cli.script(asks("peek", path="a.py", limit=3) | {"text": "let me see"}, {"text": "it says hello"})
    done = cli("run", "what does a.py say")
    assert (done.code, done.out) == (0, "it says hello\n")
    assert "let me see" in done.err and "← Read a.py [limit=3]" in done.err.splitlines()


def test_a_prompt_without_quotes_is_a_usage_error_that_shows_them(cli: Any) -> None:
    done = cli("run", "read", "three files.txt")
    assert done.code == 2 and "Put the prompt in quotes: pegboard run 'read three files.txt'" in done.err


@pytest.mark.row("S-023")
def test_the_header_names_version_model_root_and_sets(cli: Any) -> None:
    cli.script(HELLO)
    done = cli("run", "hi", "--toolsets", "stranger, nosuch")
    first, second, *_ = done.err.splitlines()
    assert first.startswith("pegboard 0.1.0 · script: plays what is written")
    assert str(cli.root) in second and "stranger" in second.split("sets ")[1].split(" ·")[0]
    assert "nosuch" in done.err, "an unknown set is told of"


@pytest.mark.row("S-023")
def test_a_set_that_is_not_loaded_is_not_in_the_header(cli: Any) -> None:
    cli.script(HELLO)
    assert "stranger" not in cli("run", "hi", "--toolsets", "").err.splitlines()[1].split("sets ")[1]


@pytest.mark.row("R-011", "R-106")
def test_own_glyphs_and_tools_without_a_category(cli: Any) -> None:
    cli.script({"calls": [["draw", {"what": "a cat", "where": "here"}], ["plainly", {"text": "meow"}]]}, HELLO)
    lines = cli("run", "draw").err.splitlines()
    assert "↓ Draw a cat [where=here]" in lines
    assert "[plainly: meow]" in lines and lines[lines.index("[plainly: meow]") + 1].strip() == "long 4"


@pytest.mark.row("R-012")
def test_a_summary_is_given_the_arguments_as_they_were_cleaned(cli: Any) -> None:
    cli.script(asks("plainly", text="meow", nonsense=1, times=None), HELLO)
    assert "[plainly: meow]" in cli("run", "go").err.splitlines()


@pytest.mark.row("R-095")
def test_glyph_lines_can_be_turned_off(cli: Any) -> None:
    cli.config("[ui]\nglyph_lines = false\n")
    cli.script(asks("peek", path="a.py"), HELLO)
    lines = cli("run", "go").err.splitlines()
    assert "[peek: a.py]" in lines and not any("←" in line for line in lines)


@pytest.mark.row("R-108")
def test_parameters_in_brackets_can_be_turned_off(cli: Any) -> None:
    cli.script(asks("peek", path="engine.py", offset=299, limit=85), HELLO)
    assert "← Read engine.py [offset=299, limit=85]" in cli("run", "go").err.splitlines()
    assert "← Read engine.py" in cli("run", "go", PEGBOARD_UI_GLYPH_PARAMS="false").err.splitlines()


@pytest.mark.row("R-013")
def test_an_echoing_tool_shows_its_result_and_others_do_not(cli: Any) -> None:
    cli.script({"calls": [["execute", {"command": "echo shown"}], ["say", {"text": "kept back"}]]}, HELLO)
    lines = cli("run", "go", "--yes").err.splitlines()
    assert lines[lines.index("$ Run echo shown") :].count("  shown") == 1
    assert not any(line.strip() == "kept back" for line in lines)


@pytest.mark.row("R-110")
def test_the_first_line_of_an_error_is_shown_alike_for_failed_denied_and_unknown_calls(cli: Any) -> None:
    cli.config('[tools]\ndeny = ["say"]\n')
    cli.script({"calls": [["stumble", {}], ["say", {"text": "x"}], ["nosuch", {}], ["gated", {"text": "x"}]]}, HELLO)
    errors = [line for line in cli("run", "go").err.splitlines() if line.startswith("! ")]
    assert errors[0] == "! Error: it stumbled; nothing was changed."
    assert errors[1].startswith("! Error: ") and errors[2].startswith("! Error: ")
    assert errors[3:] == ["! Error: needs consent, nobody to ask"]
    assert "! Error: declined by --no" in cli("run", "go", "--no").err.splitlines()
    assert not any(line.startswith("! ") for line in cli("run", "go", PEGBOARD_UI_SHOW_ERRORS="false").err.splitlines())


@pytest.mark.row("R-112")
def test_a_soft_note_is_shown_and_can_be_hidden_and_the_model_hears_it_either_way(cli: Any) -> None:
    cli.script(asks("seek", pattern="x"), HELLO)
    assert '  (no matches for "x")' in cli("run", "go").err.splitlines()
    hidden = cli("run", "go", PEGBOARD_UI_SHOW_NOTES="false")
    assert "no matches" not in hidden.err
    assert '(no matches for "x")' in cli.heard()


def test_status_lines_can_be_turned_off(cli: Any) -> None:
    cli.config("[ui]\nstatus = false\n")
    cli.script(asks("peek", path="a.py"), HELLO)
    done = cli("run", "go")
    assert done.out == "hello\n" and "a.py" not in done.err


@pytest.mark.row("R-103")
def test_no_activity_line_is_kept(cli: Any) -> None:
    cli.script({"calls": [["peek", {"path": "a.py"}], ["execute", {"command": "echo out"}]]}, HELLO)
    assert cli("run", "go", "--yes", "--session", "s1").code == 0
    log = cli.log("s1")
    assert "←" not in log and "$ Run" not in log
    kinds = {json.loads(line)["event"] for line in log.splitlines()}
    assert {"call_asked", "call_finished"} <= kinds and not kinds & {"text", "thinking", "call_output", "progress"}


@pytest.mark.row("R-089")
def test_without_a_person_what_asks_is_refused_and_the_rest_works(cli: Any) -> None:
    cli.script({"calls": [["peek", {"path": "a"}], ["poke", {"path": "a", "text": "b"}]]}, HELLO)
    done = cli("run", "go", "--json")
    finished = [event for event in done.events if event["event"] == "call_finished"]
    assert [(event["outcome"], event["block"]) for event in finished] == [("ok", None), ("blocked", "denied")]
    assert done.code == 0 and not (cli.root / "a").exists()


@pytest.mark.row("R-090", "S-009")
@pytest.mark.parametrize(("flag", "written"), [("--yes", True), ("--yolo", True), ("--no", False)])
def test_yes_and_no_answer_every_question(cli: Any, flag: str, written: bool) -> None:
    cli.script({"calls": [["poke", {"path": "a", "text": "1"}], ["poke", {"path": "b", "text": "2"}]]}, HELLO)
    done = cli("run", "go", flag)
    assert done.code == 0
    assert [(cli.root / name).exists() for name in "ab"] == [written, written]


def test_what_was_allowed_by_a_flag_and_what_it_changed_is_shown(cli: Any) -> None:
    cli.script(asks("poke", path="a", text="new"), HELLO)
    lines = cli("run", "go", "--yes").err.splitlines()
    start = lines.index("→ Write a [text=new]")
    assert lines[start + 1 : start + 4] == [
        "  tool_permission.edit (default) asks: allowed by --yes",
        "  a (created) +1 -0",
        "  +new",
    ]


def test_json_is_a_line_an_event_and_the_durable_ones_are_the_log(cli: Any) -> None:
    cli.script(asks("peek", path="a.py"), {"text": "é\x1b[31m"})
    done = cli("run", "go", "--json", "--session", "s1")
    assert [event["event"] for event in done.events][0::1][0] == "turn_started"
    assert done.events[-1] | {"usage": {}} == {
        "event": "turn_ended",
        "seq": len([event for event in done.events if event["seq"]]),
        "turn": 1,
        "status": "done",
        "text": "é\x1b[31m",
        "usage": {},
        "error": None,
    }
    durable = [line for line in done.out.splitlines() if json.loads(line)["seq"] is not None]
    assert durable == cli.log("s1").splitlines()


def test_a_continued_session_shows_the_new_turn_alone(cli: Any) -> None:
    cli.script({"text": "one"}, {"text": "two"})
    first = cli("run", "a", "--json", "--session", "s1").events
    second = cli("run", "b", "--json", "--session", "s1").events
    assert second[0]["seq"] == first[-1]["seq"] + 1 and second[0]["turn"] == 2
    assert cli("run", "c", "--session", "s1").out == "two\n"


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_turn_that_another_process_keeps_from_starting_is_told_of_once(cli: Any, options: list[str]) -> None:
    cli.script({"text": "one"})
    assert cli("run", "a", "--session", "s1").code == 0
    with open(cli.home / ".local/state/pegboard/sessions/s1/turn.lock", "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = cli("run", "b", "--session", "s1", *options)
    told = done.out if options else done.err
    assert done.code == 1 and told.count("is running a turn in process") == 1


def test_the_prompt_may_come_from_stdin(cli: Any) -> None:
    cli.script(HELLO)
    assert cli("run", "-", stdin="what is\nthis é").code == 0
    assert cli.heard() == ["what is\nthis é"]


@pytest.mark.parametrize(
    "args",
    [
        ["run"],
        ["run", ""],
        ["run", "-"],
        ["run", "x", "y"],
        ["run", "x", "--nosuch"],
        ["run", "x", "--yes", "--no"],
        ["run", "x", "--session", "../up"],
        ["run", "x", "--path", "nosuch"],
        ["run", "x", "--model", "nosuch/model"],
        ["nosuch"],
        ["--nosuch"],
        ["tool"],
        ["tool", "say", "text"],
        ["tool", "say", "--args", "{"],
        ["sessions", "show", "nosuch"],
        ["sessions", "show", ".."],
    ],
)
def test_usage_errors_exit_with_2_and_leave_stdout_empty(cli: Any, args: list[str]) -> None:
    done = cli(*args)
    assert (done.code, done.out) == (2, "")
    assert done.err.strip() and "Traceback" not in done.err


def test_a_wrong_setting_is_told_with_its_file(cli: Any) -> None:
    cli.config("[ui]\nstatus = 3\n")
    done = cli("run", "x")
    assert (done.code, done.out) == (2, "")
    assert "config.toml:2" in done.err and "Traceback" not in done.err


def test_a_failing_model_exits_with_1(cli: Any) -> None:
    cli.script({"fail": "no more credits\x1b[2J"})
    done = cli("run", "x")
    assert done.code == 1 and "no more credits\\x1b[2J" in done.err and "\x1b" not in done.err


def test_a_run_that_does_not_start_leaves_no_session_behind(cli: Any) -> None:
    assert cli("run", "x", "--model", "nosuch/model").code == 2
    assert cli("run", "x", "--model", "nosuch/model", "--session", "s1").code == 2
    assert cli("sessions", "list").out == "No sessions yet.\n"
    cli.script(HELLO)
    assert cli("run", "x", "--session", "s1").code == 0
    assert cli("run", "x", "--model", "nosuch/model", "--session", "s1").code == 2
    assert cli("sessions", "show", "s1").code == 0, "one that was there stays"


def test_arguments_that_no_parameter_takes_are_named(cli: Any) -> None:
    cli.script(asks("peek", path="a.py", nonsense=1), HELLO)
    assert "  (ignored, there is no such parameter: nonsense)" in cli("run", "go").err.splitlines()


def test_nothing_hides_in_what_a_turn_shows(cli: Any) -> None:
    evil = "q\u202ez\u200b\x1b[31mr\x1b[2J\x9b\u2028"
    calls = [
        ["peek", {"path": evil}],
        ["poke", {"path": "a", "text": evil}],
        ["execute", {"command": f"printf '%s' '{evil}'"}],
    ]
    cli.script({"text": evil, "calls": [*calls, ["stumble", {"what": evil}], [evil, {}]]}, {"text": evil})
    done = cli("run", evil, "--yes")
    both = done.out + done.err
    assert done.code == 0 and not set("\u202e\u200b\x1b\x9b\u2028") & set(both)
    assert done.out == "q\\u202ez\\u200b\\x1b[31mr\\x1b[2J\\x9b\\u2028\n"
    assert "  q\\u202ez\\u200br\\x1b[2J\\x9b\\u2028" in done.err.splitlines(), "a command's colours go, no more"


@pytest.mark.parametrize(
    "args", [["run", "a", "b\u202e\x1b[2J"], ["run", "--no\u202e"], ["\u202e"], ["tools", "\u202e\x1b["]]
)
def test_nothing_hides_in_a_usage_error(cli: Any, args: list[str]) -> None:
    done = cli(*args)
    assert done.code == 2 and not set("\u202e\x1b") & set(done.err) and "\\u202e" in done.err


def test_asking_back_is_no_failure(cli: Any) -> None:
    cli.script({"text": "which one?", "asks_back": True})
    assert (cli("run", "x").code, cli("run", "x").out) == (0, "which one?\n")


@pytest.mark.row("R-068")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_turn_exits_with_130_and_says_so_in_the_log(cli: Any, number: int) -> None:
    cli.script({"text": "thinking", "sleep": 60})
    process = cli.start("run", "x", "--json", "--session", "s1")
    for line in process.stdout:
        if '"event":"text"' in line:
            break
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert json.loads(out.splitlines()[-1])["status"] == "interrupted"
    assert json.loads(cli.log("s1").splitlines()[-1])["status"] == "interrupted"


def test_a_busy_session_is_told_of(cli: Any) -> None:
    cli.script({"text": "thinking", "sleep": 60})
    process = cli.start("run", "x", "--json", "--session", "s1")
    next(iter(process.stdout))
    done = cli("run", "y", "--session", "s1")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert done.code == 1 and str(process.pid) in done.err


def test_a_reader_that_goes_away_is_no_crash(cli: Any) -> None:
    cli.script({"text": "x" * 300_000})
    process = cli.start("run", "x", "--json")
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(timeout=60) != 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_encoding_makes_it_crash(cli: Any, encoding: str) -> None:
    cli.script(asks("peek", path="é \udce9"), {"text": "日本 ✓ \udce9"})
    done = cli("run", "x", PYTHONIOENCODING=encoding)
    assert "Traceback" not in done.err
    assert done.code == 0 and done.out == "日本 ✓ \\xe9\n", "what is no terminal gets UTF-8"


def test_what_is_no_utf8_on_the_command_line_is_spelled_out(cli: Any) -> None:
    cli.script(HELLO)
    done = cli("run", "caf\udce9", "--json")
    assert done.code == 0 and cli.heard() == ["caf\\xe9"]
