"""`pegboard undo` and `/undo`: files as before a call, all or none, and what is said of what is not undone."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pegboard.editlock import EditLock, lock_folder

KEYS = ["session", "undo", "undoes", "call", "tool", "redone", "files", "error", "reason", "in_the_way", "already"]
ENTRY = ["session", "id", "tool", "summary", "undoes", "state", "why", "when", "files", "in_the_way"]


def edit(cli: Any, session: str, old: str, new: str) -> None:
    done = cli(
        "tool", "edit_file", "path=a.txt", f"old_string={old}", f"new_string={new}", "--yes", "--session", session
    )
    assert done.code == 0, done.err


def test_undo_goes_back_call_by_call_and_forward_again(cli: Any) -> None:
    file = cli.root / "a.txt"
    file.write_text("one\n")
    file.chmod(0o750)
    edit(cli, "s1", "one", "two")
    assert cli("tool", "write_file", "path=new/n.txt", "content=n", "--yes", "--session", "s2").code == 0
    listed = cli("undo", "--list", "--json").json
    assert list(listed) == ["session", "calls"] and [list(entry) for entry in listed["calls"]] == [ENTRY] * 2
    assert [(entry["session"], entry["id"], entry["state"]) for entry in listed["calls"]] == [
        ("s2", "c1", "ready"),
        ("s1", "c1", "ready"),
    ]
    done = cli("undo")
    assert (done.code, done.out) == (
        0,
        "Undid c1 (write_file) of session s2: 1 file\n  removed new/n.txt -1\n  (undo u1 takes this back)\n",
    )
    assert not (cli.root / "new").exists(), "nor the folder that was made for it"
    document = cli("undo", "--json").json
    assert list(document) == KEYS
    files = [{"path": "a.txt", "change": "changed", "added": 1, "removed": 1, "to": None}]
    assert document == dict(
        zip(KEYS, ["s1", "u1", "c1", "c1", "edit_file", False, files, None, None, [], []], strict=True)
    )
    assert file.read_text() == "one\n" and stat.S_IMODE(file.stat().st_mode) == 0o750
    nothing = cli("undo")
    assert nothing.code == 1 and nothing.out == "" and "nothing to undo" in nothing.err
    again = cli("undo", "c1", "--session", "s1")
    assert again.code == 1 and "undone already, by u1. Undo u1 to have it again" in again.err
    assert cli("undo", "--call", "u1", "--session", "s1").code == 0 and file.read_text() == "two\n"
    assert "[u1] Undid c1 (edit_file): restored a.txt" in cli("sessions", "show", "s1").out
    assert r"u1 · Undid c1 (edit\_file)" in cli("sessions", "export", "s1").out


def test_what_changed_since_is_refused_and_commands_are_named(cli: Any) -> None:
    file = cli.root / "a.txt"
    file.write_text("one\n")
    edit(cli, "s1", "one", "two")
    assert cli("tool", "bash", "command=touch z; echo more >> a.txt", "--yes", "--session", "s1").code == 0
    refused = cli("undo", "--json")
    assert refused.code == 1 and refused.json["reason"] == "changed" and refused.json["in_the_way"] == ["a.txt"]
    assert refused.json["files"] == [] and file.read_text() == "two\nmore\n"
    told = cli("undo")
    assert (
        told.code == 1 and "c1 (edit_file) cannot be undone: a.txt was changed since. Nothing was changed." in told.err
    )
    page = cli("undo", "--list", "--session", "s1").out.splitlines()
    assert [line.split()[:2] for line in page] == [["call", "tool"], ["c2", "bash"], ["c1", "edit_file"]]
    assert (
        "not undone: what commands change is not followed" in page[1]
        and "cannot be undone: a.txt was changed since  " in page[2]
    )
    command = cli("undo", "c2")
    assert command.code == 1 and "what commands change is not followed" in command.err
    file.write_text("two\n")
    done = cli("undo")
    assert done.code == 0 and done.err == "note: commands ran since (c2 bash): what they changed is not undone\n"
    assert file.read_text() == "one\n" and (cli.root / "z").exists()


def test_tools_that_start_programs_and_change_no_files_are_not_in_the_list(cli: Any) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(cli.root), *words], check=True, capture_output=True)

    git("init", "-q")
    cli.config('[dev]\nlint_cmd = "true"\n')
    (cli.root / "a.txt").write_text("one\n")
    edit(cli, "s1", "one", "two")
    for words in (["git_add", "paths=a.txt"], ["code_lint"], ["bash", "command=true"]):
        done = cli("tool", *words, "--yes", "--session", "s1")
        assert done.code == 0, done.err
    listed = [(entry["tool"], entry["state"]) for entry in cli("undo", "--list", "--json").json["calls"]]
    assert listed == [("bash", "command"), ("edit_file", "ready")]
    cli.config("[dev]\nlint_cmd = \"sh -c 'echo fixed > a.txt'\"\n")
    assert "changed: a.txt; undo does not cover that" in cli("tool", "code_lint", "--yes", "--session", "s1").out
    assert cli("undo", "--list", "--json").json["calls"][0]["tool"] == "code_lint", "this one did"


def test_what_cannot_be_meant_is_a_usage_error_and_changes_nothing(cli: Any, tmp_path: Path) -> None:
    file = cli.root / "a.txt"
    file.write_text("one\n")
    edit(cli, "s1", "one", "two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("two\n")
    for words, said in [
        (["--session", "nosuch"], "no session 'nosuch'"),
        (["c9"], "no c9 of this folder changed files"),
        (["--session", "s1", "--path", str(other)], "session s1 worked in"),
        (["c1", "--list"], "--list takes no call"),
        (["../../s1"], "no ../../s1 of this folder"),
    ]:
        done = cli("undo", *words, "--json")
        assert done.code == 2 and done.out == "" and said in done.err, (words, done)
    assert file.read_text() == "two\n" and (other / "a.txt").read_text() == "two\n"
    edit(cli, "s2", "two", "three")
    assert "c1 is in 2 sessions (s2, s1)" in cli("undo", "c1").err
    assert not (cli.home / ".local/state/pegboard/sessions/nosuch").exists()


def test_undo_is_the_persons_own_and_passes_the_guards_door(cli: Any) -> None:
    written = cli(
        "tool", "write_file", "path=.env", "content=x", "--yes", "--without-guard", "guard", "--session", "s1"
    )
    assert written.code == 0, written.err
    refused = cli("undo", "--session", "s1")
    assert refused.code == 1 and "cannot be undone" in refused.err and (cli.root / ".env").read_text() == "x"
    assert cli("undo", "--session", "s1", "--without-guard", "guard").code == 0
    assert not (cli.root / ".env").exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes as a person's lines")
def test_chat_undoes_lists_and_tells_the_model(cli: Any) -> None:
    cli.script(
        {"text": "", "calls": [["poke", {"path": "a.txt", "text": "poked"}]]},
        {"text": "poked it", "calls": []},
        {"text": "I see", "calls": []},
    )
    (cli.root / "a.txt").write_text("mine")
    lines = ["poke it", "/undo list", "/undo", "/undo", "/undo c9", "and now?"]
    done = cli("chat", "--yes", "--session", "s1", stdin="".join(f"{line}\n" for line in lines))
    assert "c1    poke" in done.out and "can be undone" in done.out
    shown = re.search(
        r"Undid c1 \(poke\): 1 file\n  restored a\.txt.*\n  \(undo (u[0-9a-f]+) takes this back\)", done.out
    )
    assert shown, done.out
    assert "! nothing to undo" in done.err and "! no c9 of this session changed files" in done.err
    assert (cli.root / "a.txt").read_text() == "mine" and "I see" in done.out
    heard = cli.heard()
    told = next(number for number, text in enumerate(heard) if text.startswith("The person undid c1 (poke)."))
    assert heard[told + 1] == "and now?"
    again = cli("undo", shown[1])  # the name that /undo gave, in the words of `pegboard undo`
    assert again.code == 0 and again.out.startswith(f"Made c1 (poke) again, by undoing {shown[1]} of session ")
    assert again.out.endswith("  (undo u2 takes this back)\n")


def test_completion_offers_sessions_and_calls(cli: Any) -> None:
    (cli.root / "a.txt").write_text("one\n")
    edit(cli, "s1", "one", "two")
    assert cli("undo").code == 0

    def asked(*words: str) -> list[str]:
        line = " ".join(["pegboard", *words])
        done = cli(_PEGBOARD_COMPLETE="complete_bash", COMP_WORDS=line + " ", COMP_CWORD=str(len(words) + 1))
        return done.out.split()

    assert asked("undo", "--session") == ["s1"]
    assert asked("undo", "--call") == ["u1", "c1"] and asked("undo") == ["u1", "c1"]


def test_ctrl_c_says_one_thing_of_a_call_that_changes_several_files(cli: Any) -> None:
    for name in ("a.txt", "b.txt"):
        (cli.root / name).write_text("old\n")
    state = cli.home / ".local/state/pegboard"
    with EditLock(lock_folder(state), os.path.realpath(cli.root)):
        process = cli.start("tool", "delete_files", 'paths:=["a.txt", "b.txt"]', "--yes", "--json", "--session", "s1")
        while not (state / "sessions/s1/events.jsonl").exists() or "call_started" not in cli.log("s1"):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["text"] == "Error: The user interrupted this call. Nothing was changed."
    assert (cli.root / "a.txt").exists() and (cli.root / "b.txt").exists()


FILES = 300


def halfway(cli: Any, *words: str) -> Any:
    """`pegboard undo` of a patch of many files, held after the first of them were put back."""
    names = [f"f{number}" for number in range(FILES)]
    for name in names:
        (cli.root / name).write_text("old\n")
    hunks = "".join(f"*** Update File: {name}\n@@\n-old\n+new\n" for name in names)
    patch = f"*** Begin Patch\n{hunks}*** End Patch\n"
    assert cli("tool", "apply_patch", f"patch={patch}", "--yes", "--session", "s1").code == 0
    assert contents(cli) == {"new\n": FILES}
    process = cli.start("undo", *words)
    while (cli.root / f"f{FILES - 50}").read_text() != "old\n":
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    assert set(contents(cli)) == {"old\n", "new\n"}, "half of it is undone"
    return process


def contents(cli: Any) -> dict[str, int]:
    """How many files hold what."""
    return Counter((cli.root / f"f{number}").read_text() for number in range(FILES))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_undo_that_is_told_to_end_puts_back_what_it_did_and_says_so(cli: Any, number: signal.Signals) -> None:
    process = halfway(cli)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    assert contents(cli) == {"new\n": FILES}
    assert process.returncode == 130 and not out
    assert str(err.decode() if isinstance(err, bytes) else err) == (
        "pegboard: c1 (apply_patch) was not undone, no file of it: The undo was stopped. Nothing was changed.\n"
    )
    assert [entry["state"] for entry in cli("undo", "--list", "--json").json["calls"]] == ["ready"]
    assert cli("undo").code == 0 and contents(cli) == {"old\n": FILES}


def test_an_undo_that_is_told_to_end_says_so_to_programs(cli: Any) -> None:
    process = halfway(cli, "--json")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=60)
    document = json.loads(out)
    assert list(document) == KEYS and (document["reason"], document["call"]) == ("interrupted", None)
    assert (document["undo"], document["undoes"], document["files"]) == (None, "c1", [])
    assert contents(cli) == {"new\n": FILES}


def test_an_undo_whose_process_was_killed_is_finished_by_the_next(cli: Any) -> None:
    process = halfway(cli)
    process.kill()
    process.communicate(timeout=60)
    before = contents(cli)
    there = {f"f{number}" for number in range(FILES) if (cli.root / f"f{number}").read_text() == "old\n"}
    assert before["old\n"] and before["new\n"]
    done = cli("undo", "--json")
    assert done.code == 0 and contents(cli) == {"old\n": FILES}
    assert {file["path"] for file in done.json["files"]}.isdisjoint(there), "what it did, no more"
    assert set(done.json["already"]) == there and len(done.json["files"]) == before["new\n"]
    assert cli("undo", "u1", "--session", "s1").code == 0 and contents(cli) == before
    told = cli("undo")
    assert told.code == 0 and f"was so already: {before['old' + chr(10)]} files" in told.out
