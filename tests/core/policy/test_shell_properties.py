"""What holds of every text."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from judging import against
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import Line, read_line

ALLOWED = ["echo", "true", "cat", "ls", "git status"]
ASK = PermissionSettings(bash_read_only="ask")
LONG = PermissionSettings(bash_read_only="ask", bash_max_chars=100_000)  # some of the known lines are over the default
CASES = Path(__file__).parents[2] / "shared" / "cases" / "commands.jsonl"
KNOWN = [case["call"]["args"].get("command", "") for case in map(json.loads, CASES.read_text("utf-8").splitlines())]
MANY = 3000 if os.environ.get("PEGBOARD_LONG") else 80

PIECES = [
    "echo", "cat", "ls", "true", "git", "status", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "<", ">", ">>", "<<",
    "<<-", "<<<", "$", "$(", "${", "$((", "`", "'", '"', "\\", "#", "*", "?", "[", "]", "~", "!", "=", "a", "b",
    "x=1", "EOF", "'EOF'", "2>&1", ">/dev/null", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "[[",
    "]]", "time", "coproc", "function", "sudo", "bash", "-c", "é", "\x00", "�", "🙂",
]  # fmt: skip
pieces = st.sampled_from(PIECES)
texts = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="a b;&|<>$()`'\"\\\n#{}[]!=*~EOF-\t\r\0é", max_size=60),
    st.lists(st.tuples(pieces, st.sampled_from(["", " ", "\n", "\\\n", "\t"])), max_size=14).map(
        lambda parts: "".join(a + b for a, b in parts)
    ),
    st.sampled_from(KNOWN),
)
calm = st.sampled_from(
    [
        "echo",
        "echo a 'b;c' \"d|e\" \\&",
        "ls -la *.txt",
        "cat a 2>&1",
        "git status -s >/dev/null",
        "true",
        "echo $",
        "cat <<<x",
        "ls a#b",
        "cat <<'EOF'\n$x\nEOF",
    ]
)


def read(text: str) -> Line:
    return read_line(text, settings=ASK)


@settings(max_examples=MANY, deadline=None)
@given(texts)
@example("a[")
@example("$(" * 500)
@example("((" * 300)
@example("`" * 101)
@example("sudo -u " * 300)
def test_any_text_is_read_and_what_is_named_lies_in_it(text: str) -> None:
    line = read(text)

    assert line.text == text
    parts = [part for part in (*line.troubles, line.error) if part is not None]
    for part in parts:
        assert (
            0 <= part.start <= part.end <= len(text)
            and part.text == text[part.start : part.end]
            and part.why
            and part.rule
        )
    for command in line.commands:
        assert 0 <= command.start <= command.end <= len(text)
        for word in command.words:
            assert 0 <= word.start <= word.end <= len(text)
    ours = [command for command in line.commands if not command.nested]
    spans = [(one.start, one.end) for group in (line.troubles, ours) for one in group]
    for group in (list(line.troubles), ours, *(command.words for command in ours)):
        ends = [0, *(one.end for one in group)]
        assert all(end <= one.start for end, one in zip(ends, group, strict=False)), spans
    for command in ours:
        assert all(command.start <= word.start and word.end <= command.end for word in command.words)


@settings(max_examples=MANY, deadline=None)
@given(texts)
@example(max(KNOWN, key=len))
def test_a_text_in_single_quotes_is_one_word(text: str) -> None:
    assume("\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text))
    line = read_line(f"echo {shlex.quote(text)}", settings=LONG)

    assert not against(line, ALLOWED), line
    (command,) = line.commands
    assert command.words[1].text == text and command.words[1].inert
    assert command.words[1].end == len(line.text)


@settings(max_examples=MANY // 5, deadline=None)
@given(st.lists(calm, min_size=1, max_size=4), st.sampled_from([";", "\n", " && "]))
def test_allowed_lines_joined_are_allowed_and_one_that_is_not_stops_them(lines: list[str], joint: str) -> None:
    joint = "\n" if any("<<'" in line for line in lines) or any(line.endswith("$") for line in lines) else joint
    text = joint.join(lines)
    if not against(read(text), ALLOWED):
        for bad in ("rm x", "touch pwned", "/bin/ls", "sudo ls"):
            for place in range(len(lines) + 1):
                mixed = joint.join([*lines[:place], bad, *lines[place:]])
                assert against(read(mixed), ALLOWED), mixed
    assert not against(read("\n".join(line for line in lines if not line.endswith("$")) or "ls"), ALLOWED)


SNIPPETS = ["; rm x", "&& rm x", "| rm x", "|| rm x", "& rm x", "\nrm x", "$(rm x)", "`rm x`", "<(rm x)", "> f",
">> f", "&> f", ">| f", "<> f", ">& f", "${x}", "$x", "$((1))",
            "(rm x)", "{a,b}", "$'a'", "\r", "\u00a0", "\0", "< /dev/tcp/a/1", "2> f", "<<E\n$(rm x)\nE\n", "'", '"',
            "{fd}> f", "\nX=1 ls\n", "; a[0]=1 ls"]  # fmt: skip
PLAIN = [
    "echo a b",
    "ls -la *.txt",
    "git status -s",
    "cat a.txt b.txt",
    "echo a && ls b",
    "cat a | cat",
    "ls 2>&1",
    "echo 'a b' c",
]


def test_no_dangerous_snippet_passes_at_any_boundary_of_words() -> None:
    for text in PLAIN:
        assert not against(read(text), ALLOWED)
        quoted = [index for index in range(len(text)) if text[:index].count("'") % 2]
        for at in [0, *(index for index, char in enumerate(text) if char == " " and index not in quoted), len(text)]:
            for snippet in SNIPPETS:
                for spaced in (f" {snippet} ", snippet):
                    mixed = text[:at] + spaced + text[at:]
                    assert against(read(mixed), ALLOWED), mixed
