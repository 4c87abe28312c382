"""Prompts are kept from one session to the next, by several processes at once, and no file harms."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard_tui.composer import history
from pegboard_tui.composer.history import Prompts, Walk, matching


def sent(file: Path | None, *texts: str) -> Prompts:
    prompts = Prompts(file)
    for text in texts:
        if prompts.remember(text):
            prompts.keep(text)
    return prompts


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=8))
def test_what_was_sent_is_there_the_next_time(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "state", "prompts")
        before = sent(file, *texts)
        again = Prompts(file)
        again.take(again.read())
        assert again.entries == before.entries
        kept = [text for text in texts if text.strip() and not text.startswith(" ")]
        assert sorted(again.entries) == sorted(set(kept))
        assert again.entries[-1:] == kept[-1:]


def test_the_file_is_for_this_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "prompts"
    sent(file, "hello")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_space_before_it_keeps_a_prompt_out_and_the_same_one_stands_once(tmp_path: Path) -> None:
    file = tmp_path / "prompts"
    prompts = sent(file, "one", " secret", "two", "one", "  ", "")
    assert prompts.entries == ["two", "one"]
    assert b"secret" not in file.read_bytes()


def test_what_is_no_entry_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "prompts"
    file.write_bytes(b'\xff\xfe\x00\n{"a": 1}\n"one"\n\n[1]\n"torn')
    prompts = sent(file, "two")
    assert Prompts(file).read() == ["one", "two"]
    assert prompts.entries == ["two"]


def test_a_file_that_is_none_does_no_harm(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    blocked = tmp_path / "file"
    blocked.write_text("")
    for file in (pipe, link, tmp_path, blocked / "under", None):
        prompts = sent(file, "hello")
        assert prompts.read() == []
        assert prompts.entries == ["hello"]
    assert not (tmp_path / "elsewhere").exists()


def test_the_file_stays_small_and_keeps_the_latest(tmp_path: Path) -> None:
    file = tmp_path / "prompts"
    file.write_bytes(b"".join(msgspec.json.encode(f"prompt {n}") + b"\n" for n in range(history.MOST_ENTRIES)))
    sent(file, "the last")
    entries = Prompts(file).read()
    assert len(entries) == history.MOST_ENTRIES * 3 // 4
    assert entries[-2:] == ["prompt 1999", "the last"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    file.write_bytes(b"".join(msgspec.json.encode(f"{n} " * 9_000) + b"\n" for n in range(60)))
    sent(file, "small")
    assert file.stat().st_size <= history.MOST_BYTES
    assert Prompts(file).read()[-1] == "small"
    assert [path.name for path in tmp_path.iterdir()] == ["prompts"]


def test_a_huge_prompt_is_kept_here_and_not_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "prompts"
    huge = "x" * (history.MOST_CHARS + 1)
    prompts = sent(file, huge)
    prompts.take(prompts.read())
    assert prompts.entries == [huge]
    assert not file.exists()


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "prompts"
    long = "y" * 5_000  # so that it is cut back while they write
    code = """
import runpy, sys
from pathlib import Path
prompts = runpy.run_path(sys.argv[4])["Prompts"](Path(sys.argv[1]))
for n in range(60):
    prompts.keep(f"{sys.argv[2]}-{n} " + sys.argv[3])
"""
    words = [sys.executable, "-c", code, file]
    running = [subprocess.Popen([*words, str(who), long, history.__file__]) for who in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    found = [entry.split()[0] for entry in Prompts(file).read()]
    assert len(found) == len(set(found)) and len(found) >= history.MOST_BYTES * 3 // 4 // 5_100
    for who in range(4):
        numbers = [int(name.split("-")[1]) for name in found if name.startswith(f"{who}-")]
        assert numbers == list(range(60))[-len(numbers) :]
    assert [path.name for path in tmp_path.iterdir()] == ["prompts"]


def test_walking_back_and_on_ends_where_it_began() -> None:
    prompts = sent(None, "one", "two")
    walk = Walk()
    assert not walk.walking
    assert [walk.back(prompts), walk.back(prompts), walk.back(prompts)] == ["two", "one", None]
    prompts.remember("three")
    assert [walk.on(), walk.on()] == ["two", None]
    assert not walk.walking
    assert walk.back(prompts) == "three"


def test_prompts_are_found_by_their_words_the_latest_first() -> None:
    entries = ["Fix the parser", "explain the walker", "fix a test\nof the PARSER", "other"]
    assert matching(entries, "parser fix", 10) == ["fix a test\nof the PARSER", "Fix the parser"]
    assert matching(entries, "", 2) == ["other", "fix a test\nof the PARSER"]
    assert matching(entries, "nothing", 10) == []
