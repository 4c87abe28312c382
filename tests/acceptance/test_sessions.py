"""`pegboard sessions`, and what of a session can be seen from outside: private, without credentials, whole after kill -9."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

TOKEN = "ghp_" + "A1b2C3d4E5" * 4


def store(cli: Any) -> Path:
    return Path(cli.home / ".local/state/pegboard/sessions")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def waited(path: Path) -> None:
    """Until a file is there."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --- export -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(cli: Any) -> Any:
    """A session with all that an export is made of."""
    nasty = f"```\n</div><!-- {TOKEN}\n~~~~\n`````\x1b[2J\u202e# not a heading"
    cli.script(
        {
            "text": "```python\nleft open",
            "calls": [["say", {"text": nasty}], ["poke", {"path": "a.txt", "text": "new"}]],
        },
        {"text": "# all done", "calls": []},
    )
    assert cli("run", f"use {TOKEN}\n# please", "--session", "s1", "--yes").code == 0
    assert cli("tool", "bash", "command=seq 1 9000", "--session", "s1", "--yes").code == 0
    assert cli("tool", "poke", "path=b.txt", "text=x", "--session", "s1", "--no").code == 2
    return cli


def test_a_session_is_exported_as_a_page_that_a_person_can_read(told: Any) -> None:
    done = told("sessions", "export", "s1")
    assert done.code == 0 and done.err == ""
    page = done.out
    assert TOKEN not in page and "[redacted: github-token]" in page
    assert "\x1b" not in page and "\u202e" not in page
    lines = page.splitlines()
    headings = [line for line in lines if re.match(r"#+ ", line)]
    calls = ["### c1 · say", "### c2 · poke", "### c3 · bash", "### c4 · poke"]
    assert headings == ["# use \\[redacted: github-token\\]", "## Turn 1 · script", *calls], "nobody else makes one"
    for line in ("> # please", "> left open", "> # all done", "+new", "Approved by --yes; asked about by the rule"):
        assert line in page
    assert re.search(r"Refused by --no.*rule `tool_permission.edit`", page)
    fences = [line for line in lines if re.match(r"`{3,}", line)]
    assert len(fences) >= 8 and "``````" in fences, "longer than any run of ticks in what it holds"
    assert "seq 1 9000" in page and "\n8999\n" not in page and "is not part of this page" in page


def test_a_session_is_exported_as_events_without_what_is_kept_beside_them(told: Any) -> None:
    done = told("sessions", "export", "s1", "--format", "json")
    assert list(done.json) == ["session", "root", "started", "changed", "title", "turns", "events"]
    assert done.json["events"] == [json.loads(line) for line in told.log("s1").splitlines()]
    assert list((store(told) / "s1" / "undo").iterdir()) and list((store(told) / "s1" / "out").iterdir())
    assert "undo" not in done.json and TOKEN not in done.out


def test_what_was_logged_before_redaction_was_on_is_taken_out_of_exports(cli: Any) -> None:
    assert cli("tool", "say", f"text={TOKEN}", "--session", "s1", PEGBOARD_SESSIONS_REDACT="false").code == 0
    assert TOKEN in cli.log("s1")
    for format in ("markdown", "json"):
        assert TOKEN not in cli("sessions", "export", "s1", "--format", format).out
        assert TOKEN in cli("sessions", "export", "s1", "--format", format, PEGBOARD_SESSIONS_REDACT="false").out


def test_an_export_is_a_new_file_of_the_owners_alone(told: Any) -> None:
    old = os.umask(0)
    try:
        assert told("sessions", "export", "s1", "--output", "page.md").out == ""
    finally:
        os.umask(old)
    page = told.root / "page.md"
    assert mode(page) == 0o600
    before = page.read_bytes()
    (told.root / "link").symlink_to("elsewhere")
    for name in ("page.md", "link", "no/such/folder.md"):
        again = told("sessions", "export", "s1", "--output", name)
        assert again.code == 2 and "was not written" in again.err
    assert page.read_bytes() == before and not (told.root / "elsewhere").exists()


@pytest.mark.parametrize("command", ["export", "show", "delete", "audit"])
@pytest.mark.parametrize("name", ["nosuch", "..", "../root", "a/b"])
def test_a_session_that_is_not_there_is_a_usage_error(cli: Any, command: str, name: str) -> None:
    done = cli("sessions", command, name)
    assert (done.code, done.out) == (2, "")
    assert "pegboard" in done.err or "Usage" in done.err


# --- delete and prune -------------------------------------------------------------------------------------------------


def test_deleting_needs_a_yes(cli: Any) -> None:
    for name in ("s1", "s2"):
        assert cli("tool", "say", "text=x", "--session", name).code == 0
    done = cli("sessions", "delete", "s1")
    assert (done.code, done.out) == (2, "") and "nobody is there to ask; nothing was deleted" in done.err
    for answer in ("", "n", "nein"):
        child = cli.terminal("sessions", "delete", "s1")
        child.expect(r"Delete session s1 .*It cannot be brought back\. \[y/N\] ")
        child.sendline(answer)
        child.expect("nothing was deleted")
        child.expect(pexpect.EOF)
    assert (store(cli) / "s1").is_dir()
    child = cli.terminal("sessions", "delete", "s1")
    child.expect(r"\[y/N\] ")
    child.sendline("y")
    child.expect("s1: deleted")
    child.expect(pexpect.EOF)
    assert os.listdir(store(cli)) == ["s2"]
    gone = cli("sessions", "delete", "s2", "--yes", "--json").json
    assert [one["outcome"] for one in gone["sessions"]] == ["deleted"] and gone["freed"] > 0
    assert os.listdir(store(cli)) == []


def test_a_session_in_use_is_neither_deleted_nor_pruned(cli: Any) -> None:
    cli.script({"text": "thinking", "sleep": 60})
    assert cli("tool", "say", "text=x", "--session", "free").code == 0
    process = cli.start("run", "x", "--json", "--session", "busy")
    next(iter(process.stdout))
    done = cli("sessions", "delete", "busy", "--yes")
    assert done.code == 1 and "busy: in use" in done.out
    dry = cli("sessions", "prune", "--keep", "0", "--dry-run", "--json").json["sessions"]
    assert {one["id"]: one["outcome"] for one in dry} == {"free": "would be deleted", "busy": "in use"}
    assert (store(cli) / "free").is_dir()
    pruned = cli("sessions", "prune", "--keep", "0", "--yes")
    assert pruned.code == 0 and "1 in use and left alone" in pruned.out
    assert os.listdir(store(cli)) == ["busy"]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert cli("sessions", "delete", "busy", "--yes").code == 0


def test_pruning_by_age_number_and_size(cli: Any) -> None:
    for name, days in (("a", 0), ("b", 10), ("c", 40)):
        assert cli("tool", "say", "text=x", "--session", name).code == 0
        then = time.time() - days * 86_400
        os.utime(store(cli) / name / "events.jsonl", (then, then))
    assert cli("sessions", "prune").code == 2
    assert "nobody is there to ask" in cli("sessions", "prune", "--older-than", "30d").err
    done = cli("sessions", "prune", "--older-than", "30d", "--yes")
    assert re.fullmatch(r"c: deleted, [\d,]+ bytes\n1 session deleted, [\d,]+ bytes freed\.\n", done.out)
    assert cli("sessions", "prune", "--max-bytes", "1G", "--yes").out == "0 sessions deleted, 0 bytes freed.\n"
    assert "b: deleted" in cli("sessions", "prune", "--keep", "1", "--yes").out
    assert os.listdir(store(cli)) == ["a"]
    for wrong in (["--older-than", "soon"], ["--older-than", "-1d"], ["--max-bytes", "1X"], ["--keep", "-1"]):
        assert cli("sessions", "prune", *wrong, "--yes").code == 2
    assert os.listdir(store(cli)) == ["a"]


def test_who_is_asked_about_pruning_sees_which_sessions_would_go(cli: Any) -> None:
    for number in range(12):
        folder = store(cli) / f"old-{number:02}"
        folder.mkdir(parents=True)
        (folder / "session.json").write_text("{}")
        os.utime(folder, (1_000_000 - number, 1_000_000 - number))
    child = cli.terminal("sessions", "prune", "--keep", "1")
    child.expect(r"Delete 11 sessions.*\[y/N\]")
    named = [line.split(":")[0] for line in child.before.splitlines() if line.strip()]
    assert named == [*(f"old-{number:02}" for number in range(11, 1, -1)), "and 1 more"]
    child.sendline("")
    child.expect("nothing was deleted")
    assert len(os.listdir(store(cli))) == 12


def test_the_list_names_a_session_of_single_calls_in_json_too(cli: Any) -> None:
    assert cli("tool", "peek", "path=a.py", "--session", "s1").code == 0
    assert cli("sessions", "list", "--json").json["sessions"][0]["title"].endswith("a.py")


# --- credentials ------------------------------------------------------------------------------------------------------


def test_a_file_with_a_credential_is_edited_as_it_is_and_the_record_has_none(cli: Any) -> None:
    (cli.root / "a.cfg").write_text(f"old = {TOKEN}\n")
    new = TOKEN.replace("A1", "B2")
    child = cli.terminal(
        "tool", "edit_file", "path=a.cfg", f"old_string={TOKEN}", f"new_string={new}", "--session", "s1"
    )
    child.expect(new)  # who is asked sees what would be written
    child.expect("Allow.*because")
    child.sendline("y")
    child.expect(pexpect.EOF)
    assert (cli.root / "a.cfg").read_text() == f"old = {new}\n"
    log = cli.log("s1")
    assert TOKEN not in log and new not in log and "[redacted: github-token]" in log
    assert "github-token" not in cli("tool", "read_file", "path=a.cfg", "--session", "s1", "--json").json["text"]
    assert new not in cli.log("s1")


def test_nothing_hides_behind_redaction_from_who_is_asked(cli: Any) -> None:
    child = cli.terminal(
        "tool", "bash", "command=echo ://a:;touch${IFS}owned;@ TOKEN='$(touch owned)'", "--session", "s1"
    )
    child.expect(r"touch\$\{IFS\}owned.*touch owned")
    child.expect("Allow.*because")
    child.sendline("n")
    child.expect(pexpect.EOF)
    assert "[redacted: " in cli.log("s1") and not (cli.root / "owned").exists()


def test_json_lines_of_a_turn_are_the_lines_of_the_log(cli: Any) -> None:
    cli.script({"text": "", "calls": [["say", {"text": TOKEN}]]}, {"text": "done"})
    ran = cli("run", "go", "--json", "--session", "s1", SOME_API_KEY="quite an ordinary phrase")
    durable = [line for line in ran.out.splitlines() if '"seq":null' not in line]
    assert durable == cli.log("s1").splitlines()
    assert TOKEN not in ran.out
    assert cli(
        "run",
        "an ordinary phrase, quite an ordinary phrase",
        "--session",
        "s2",
        SOME_API_KEY="quite an ordinary phrase",
    )
    assert "an ordinary phrase, [redacted: SOME_API_KEY]" in cli.log("s2")


# --- kept outputs -----------------------------------------------------------------------------------------------------


def test_a_session_reads_and_searches_what_it_kept_and_no_other_does(cli: Any) -> None:
    for name in ("s1", "s2"):
        first = cli("tool", "bash", "command=seq 1 9000", "--yes", "--session", name, "--json").json
        assert first["full_output"] == "session:out/c1.txt" and first["text"].endswith("all of it: session:out/c1.txt]")
    (store(cli) / "s2" / "out" / "only-s2.txt").write_text("8999")
    read = cli("tool", "read_file", "path=session:out/c1.txt", "offset=8999", "limit=1", "--session", "s1")
    assert read.code == 0 and "8999" in read.out
    found = cli("tool", "grep", "pattern=^8999$", "path=session:out/c1.txt", "--session", "s1", "--json").json
    assert [hit["line"] for hit in found["data"]["hits"]] == [8999]
    everywhere = cli("tool", "grep", "pattern=^8999$", "--session", "s1", "--json").json
    assert everywhere["data"]["hits"] == []
    assert cli("tool", "glob", "pattern=**/c1.txt", "--session", "s1", "--json").json["data"]["paths"] == []
    outside = [
        "session:../s2/out/only-s2.txt",
        "session:out/../../s2/out/only-s2.txt",
        f"session:{store(cli)}/s2/out/only-s2.txt",
        "session:/etc/passwd",
        "session:out/only-s2.txt",
    ]
    (store(cli) / "s1" / "out" / "link.txt").symlink_to(store(cli) / "s2" / "out" / "only-s2.txt")
    for path in (*outside, "session:out/link.txt"):
        for call in (["read_file", f"path={path}"], ["grep", "pattern=8", f"path={path}"]):
            done = cli("tool", *call, "--session", "s1")
            assert done.code != 0 and done.out == "", call
    for tool in (["write_file", "content=x"], ["edit_file", "old_string=1", "new_string=2"]):
        done = cli("tool", *tool, "path=session:out/c1.txt", "--yes", "--session", "s1")
        assert done.code != 0
    assert (store(cli) / "s1" / "out" / "c1.txt").read_text().startswith("1\n2\n")


def test_the_marker_says_when_what_is_kept_was_cut_too(cli: Any) -> None:
    cli.config("[output]\nmax_saved_bytes = 1000\n")
    text = cli("tool", "bash", "command=seq 1 9000", "--yes", "--session", "s1", "--json").json["text"]
    assert text.endswith("the first 1,000 bytes of it (output.max_saved_bytes): session:out/c1.txt]")
    assert (store(cli) / "s1" / "out" / "c1.txt").stat().st_size == 1000
    cli.config("[output]\nmax_session_bytes = 1500\n")
    text = cli("tool", "bash", "command=seq 1 9000", "--yes", "--session", "s1", "--json").json["text"]
    assert text.endswith("the first 500 bytes of it (output.max_session_bytes): session:out/c2.txt]")


# --- processes --------------------------------------------------------------------------------------------------------


def test_a_turn_cut_by_kill_9_goes_on_with_its_call_answered_as_interrupted(cli: Any) -> None:
    cli.script({"text": "", "calls": [["execute", {"command": "touch started; sleep 60"}], ["say", {"text": "never"}]]})
    process = cli.start("run", "go", "--yes", "--session", "s1")
    waited(cli.root / "started")
    process.kill()
    process.communicate(timeout=60)
    assert "started and not finished" in cli("sessions", "export", "s1").out

    cli.script({"text": "I see"})
    again = cli("run", "and now?", "--session", "s1")
    assert (again.code, again.out.strip()) == (0, "I see")
    heard = " ".join(cli.heard())
    assert "did not finish" in heard and "nothing happened" in heard and "and now?" in heard
    events = [json.loads(line) for line in cli.log("s1").splitlines()]
    finished = {event["id"]: event["outcome"] for event in events if event["event"] == "call_finished"}
    assert finished["c1"] == "interrupted"
    assert [event["status"] for event in events if event["event"] == "turn_ended"] == ["interrupted", "done"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_two_agents_in_one_folder_are_told_of_each_other(cli: Any) -> None:
    cli.script({"text": "thinking", "sleep": 60})
    first = cli.start("run", "x", "--json", "--session", "first")
    waited(cli.root / "heard.json")  # it has read its script
    cli.script({"text": "done"})
    second = cli("run", "y", "--session", "second")
    assert f"another agent (session first, process {first.pid}) works in this folder" in second.err
    assert "another agent" not in cli("tool", "say", "text=x").err
    first.kill()
    first.communicate(timeout=60)
    assert "another agent" not in cli("run", "y", "--session", "third").err


# --- what a disk, a name or a folder can do to it ---------------------------------------------------------------------


def test_a_damaged_line_is_passed_over_and_told_and_the_rest_is_still_there(cli: Any) -> None:
    cli.script({"text": "the answer", "calls": []})
    assert cli("run", "one question", "--session", "s1").code == 0
    log = store(cli) / "s1" / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    spoilt = [lines[0], b"\n", b'{"event":"note","text":"\xff"}\n', b"\x00\x00{\n", *lines[1:]]
    log.write_bytes(b"".join(spoilt))
    for words in (["show"], ["show", "--json"], ["export"], ["export", "--format", "json"]):
        done = cli("sessions", words[0], "s1", *words[1:])
        assert done.code == 0 and "one question" in done.out and "the answer" in done.out
        assert done.err.startswith("pegboard: lines 3, 4 of its log were passed over: ") and done.err.count("\n") == 1
    events = cli("sessions", "show", "s1", "--json").json["events"]
    assert [event["seq"] for event in events] == [json.loads(line)["seq"] for line in lines]

    done = cli("run", "go on", "--session", "s1")
    assert done.code != 0 and f"{log}:3 " in done.err and "nothing was changed" in done.err
    assert "`pegboard sessions export s1` writes down the rest" in done.err
    assert log.read_bytes() == b"".join(spoilt)


def test_a_workspace_whose_name_is_no_utf8_works_and_is_spelled_the_same_everywhere(cli: Any) -> None:
    cli.root = Path(os.fsdecode(os.fsencode(cli.root.parent) + b"/w\xff"))
    cli.root.mkdir()
    (cli.root / "a.txt").write_text("hello there")
    done = cli("run", "read a.txt", "--session", "s1", "--model", "offline")
    assert done.code == 0 and "hello there" in done.out and "/w\\xff ·" in done.err
    done = cli("run", "read a.txt", "--continue", "--model", "offline", "--json")
    assert done.code == 0 and done.events[-1]["status"] == "done"
    [info] = cli("sessions", "list", "--json").json["sessions"]
    assert info["turns"] == 2 and info["root"].endswith("/w\\xff")
    assert info["root"] in cli("sessions", "list", "--all").out
    done = cli("doctor")
    assert done.err == "" and "sessions, all readable" in done.out


def test_the_system_prompt_of_such_a_workspace_is_utf8(cli: Any, model_server: Any) -> None:
    from model_server import Reply

    cli.root = Path(os.fsdecode(os.fsencode(cli.root.parent) + b"/w\xff"))
    cli.root.mkdir()
    model_server.say(Reply(text="fine"))
    done = cli("run", "hi", "--model", "openai/scripted", OPENAI_BASE_URL=model_server.base_url)
    assert (done.code, done.out) == (0, "fine\n")
    assert "/w\\xff " in model_server.completions[0]["messages"][0]["content"]


def test_a_state_folder_that_was_open_to_all_is_closed_when_it_is_used(cli: Any) -> None:
    state = store(cli).parent
    os.chmod(state, 0o777)
    assert cli("tool", "glob", "pattern=*", "--session", "s1").code == 0
    assert mode(state) == 0o700


def test_a_session_is_not_used_from_another_folder(cli: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert cli("tool", "poke", "path=a", "text=x", "--yes", "--session", "s1").code == 0
    (cli.root / "n").write_text("user")
    log = cli.log("s1")
    cli.script({"text": "hello"})
    for words in (
        ["tool", "poke", "path=n", "text=user", "--yes"],
        ["run", "go", "--yes"],
        ["run", "go", "--yes", "--json"],
        ["chat", "--yes"],
        ["undo"],
        ["undo", "--list"],
    ):
        done = cli(*words, "--session", "s1", "--path", str(other))
        assert (done.code, done.out) == (2, ""), (words, done)
        assert f"session s1 worked in {cli.root}; this is {other}. Nothing was done." in done.err
        assert "--path FOLDER" in done.err and "--session" in done.err
    assert cli.log("s1") == log and not list(other.iterdir())
    assert cli("tool", "peek", "path=a", "--session", "far", "--path", str(other)).code == 0
    for words in (["show", "far"], ["export", "far"], ["delete", "far", "--yes"]):
        assert cli("sessions", *words).code == 0, "from anywhere"
    assert cli("undo", "--session", "s1").code == 0 and not (cli.root / "a").exists()
    assert (cli.root / "n").read_text() == "user"


def test_chat_stays_in_its_session_when_the_other_is_of_another_folder(cli: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    cli.script({"text": "hello"})
    assert cli("tool", "peek", "path=a.py", "--session", "far", "--path", str(other)).code == 0
    done = cli("chat", "--session", "near", stdin="/resume far\ngo\n")
    assert f"session far worked in {other}" in done.out + done.err, done
    assert "hello" in done.out and '"prompt"' in cli.log("near")


def test_a_session_that_lost_its_root_is_told_where_it_works(cli: Any) -> None:
    """Its `session.json` was left empty by a full disk."""
    assert cli("tool", "poke", "path=a", "text=x", "--yes", "--session", "s1").code == 0
    facts = store(cli) / "s1" / "session.json"
    facts.write_text("")
    for words in (["tool", "peek", "path=a"], ["undo"], ["undo", "--list"]):
        done = cli(*words, "--session", "s1")
        assert (done.code, done.out) == (2, "") and "folder that is not known" in done.err, done
        assert "--path FOLDER" in done.err
    assert "c1" in cli("undo", "--list", "--session", "s1", "--path", ".").out
    assert facts.read_text() == "", "a list writes nothing"
    assert cli("undo", "--session", "s1", "--path", ".").code == 0 and not (cli.root / "a").exists()
    assert cli("tool", "peek", "path=a", "--session", "s1").code != 2, "it is known again"
    assert json.loads(facts.read_text())["root"] == str(cli.root)


def test_an_audit_without_a_name_is_of_the_last_session_here(cli: Any) -> None:
    assert "no session of " in cli("sessions", "audit").err
    cli("run", "hello", "--session", "one")
    cli("run", "hello", "--session", "two")
    done = cli("sessions", "audit")
    assert (done.code, done.out, done.err) == (0, "No calls.\n", "pegboard: session two\n")
    assert cli("sessions", "audit", "--json").json["session"] == "two"
