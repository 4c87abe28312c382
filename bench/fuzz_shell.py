"""Fuzz the judge of command lines against a real bash.

    fuzz_shell.py [--seconds N] [--seed N]

Lines are put together at random and out of the shared cases. Each that the judge would pass with a short allow list is
run by `bash -c` in bubblewrap (no network, nothing of the machine writable, a private folder as its own) under strace. In
that bash every command is a stub that notes what it was called with; the shell's own are stubs too, or off. A line is a
finding if a command was called that the judge did not see with just these words, a program was started, or a file was
opened for writing.

Exit 0 without findings, 1 with any, 2 where it cannot run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pegboard.config.authority import PermissionSettings
from pegboard.policy.shell import Line, matches, read_line

CASES = Path(__file__).parents[1] / "tests" / "shared" / "cases" / "commands.jsonl"
ALLOWED = ["echo", "true", "printf", "cat", "ls", "git status"]
SETTINGS = PermissionSettings(bash_read_only="ask")
BATCH = 60

PIECES = [
    "echo", "true", "printf", "cat", "ls", "git", "status", "touch", "rm", "pwned", "x", "-la", "--", "-", "a.txt",
    "/dev/null", "/dev/nullx", "../x", "a=b", "a+=b", "a[0]=b", "x=y", "[", "]", "[[", "]]", ";", "&&", "||", "|",
    "|&", "&", ";;", "(", ")", "{", "}", "!", "<", ">", ">>", "<<<", "<<", "<<-", "<>", ">|", ">&", "<&", "&>",
    "&>>", "<(", ">(", "2>&1", ">&2", "1>&2", "2>/dev/null", ">/dev/null", "&>/dev/null", "</dev/null", "2>", "3>&-",
    "{fd}>", "10>", "1", "2", "0", "$", "$x", "${x}", "$(", "$((", "$[", "$1", "$@", "`", "'", '"', "\\", "''", '""',
    "'a b'", '"a b"', "'a;b'", '"a;b"', '"a$"', '"$"', "a$", '"\\$x"', "'$(touch x)'", "\\;", "\\'", '\\"', "\\$",
    "\\`", "$'", '$"', "#", "#x", "a#b", "x#'", "*.txt", "*", "?", "[a-z]", "-*", "~", "~/x", "a~", "{a,b}",
    "{1..3}", "{a}", "{}", "HEAD@{0}", "a{b", "a}b", "{a,b", "@(", "?(", "!(", "*(", "+(", "EOF", "'EOF'", '"EOF"',
    "E\\OF", "<<EOF", "<<'EOF'", "<<-EOF", "time", "if", "then", "fi", "for", "do", "done", "in", "case", "esac",
    "while", "function", "coproc", "select", "time\\", "-p", "a\\", "b", "\\a", "é", "→", "%s", "=", "==", "=~",
    "a:b", "@", "%", "^", ",", ".", "..", "/",
]  # fmt: skip
JOINTS = ["", "", " ", " ", " ", " ", " ", "\n", "\t", "\\\n", "  ", ";", " ; ", " && ", " | "]
CALM = [
    "a.txt", "x", "-la", "--", "'a b'", '"a b"', "'a;b'", '"a$"', "a$", '"\\$x"', "'$(touch x)'", "\\;", "\\'", "\\$",
    "a#b", "*.txt", "~/x", "{a}", "HEAD@{0}", "a{b", "é", "%s", "==", "..", "2>&1", ">&2", "2>/dev/null",
    ">/dev/null", "&>/dev/null", "</dev/null", "''", '""', "\"a'b\"", "'a\"b'", "a\\", "b", "[", "]", "=", "-",
    "a=b", "if", "time", "!", "}", "{}", "[a-z]", '"`"x', "'`'", '"#"', "\\#", "#x", "a'#'b", '"a\\"b"', "^", ",",
    "@", "a,", "<<<x",
]  # fmt: skip
DOCUMENTS = ["EOF", "'EOF'", '"EOF"', "\\EOF", "E'O'F"]

DRIVER = r"""
import json, os, subprocess, sys
here = sys.argv[1]
for number, line in enumerate(json.load(sys.stdin)):
    log, folder = f"{here}/log/{number}", f"{here}/in/{number}"
    os.mkdir(folder)
    notes = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(notes, 222)
    os.set_inheritable(222, True)
    environ = {"PATH": f"{here}/none", "BASH_ENV": f"{here}/stubs", "HOME": f"{here}/in", "LC_ALL": "C.UTF-8"}
    with open(os.devnull, "r+b") as null:
        try:
            subprocess.run(["bash", "-c", line, f"line-{number}"], executable=sys.argv[2], cwd=folder, env=environ,
            stdin=null,
                           stdout=null, stderr=null, pass_fds=[222], timeout=5)
        except subprocess.TimeoutExpired:
            os.write(222, b"\0\1TIMEOUT\0")
    os.close(222)
    os.close(notes)
"""

STUBS = r"""
_note() { builtin printf '%%s\0' $'\1'"$#" "$@" >&222; }
command_not_found_handle() { _note "$@"; return 0; }
%s
enable -n %s
"""


def builtins() -> list[str]:
    """The names of bash's builtins, but those that the stubs need."""
    names = subprocess.run(["bash", "-c", "enable"], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in names if name not in ("enable", "builtin", "return", "printf")]


def lines(seed: int) -> Iterator[str]:
    """Lines without end: out of pieces, calm ones that often pass, and the shared cases with something done to them."""
    chance = random.Random(seed)
    known = [case["call"]["args"].get("command", "") for case in map(json.loads, CASES.read_text("utf-8").splitlines())]
    known = [line for line in known if line and len(line) < 300]
    while True:
        match chance.randrange(4):
            case 0:
                line = "".join(chance.choice(PIECES) + chance.choice(JOINTS) for _ in range(chance.randrange(1, 9)))
                yield chance.choice(["", "echo ", "cat ", "ls ", "git status "]) + line
            case 1 | 2:
                yield mutated(calm(chance), chance) if chance.random() < 0.6 else calm(chance)
            case _:
                yield mutated(chance.choice(known), chance)


def calm(chance: random.Random) -> str:
    """A line most of which passes."""
    parts, late = [], ""
    for _ in range(chance.randrange(1, 4)):
        words = [chance.choice(ALLOWED), *chance.choices(CALM, k=chance.randrange(5))]
        if chance.random() < 0.15:
            mark, dash = chance.choice(DOCUMENTS), chance.choice(["", "-"])
            words.insert(chance.randrange(1, len(words) + 1), f"<<{dash}{mark}")
            body = "\n".join(" ".join(chance.choices([*CALM, "$x", "EOF", "`", "\\"], k=3)) for _ in range(2))
            late += f"\n{body}\n{chance.choice(['', dash and chr(9)])}EOF"
        parts.append(chance.choice([" ", " ", "  ", "\t", " \\\n"]).join(words))
        parts.append(chance.choice([" ; ", ";", " && ", "&&", " || ", " | ", "|&", "\n"]) if not late else " && ")
    return "".join(parts[:-1]) + late + chance.choice(["", "", "\n", ";", " # c", "\nls"])


def mutated(line: str, chance: random.Random) -> str:
    """A line with pieces put in, taken out or doubled."""
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(line) + 1)
        match chance.randrange(4):
            case 0:
                line = line[:at] + chance.choice(PIECES) + line[at:]
            case 1:
                line = line[:at] + line[at + 1 :]
            case 2:
                line = (
                    line[:at]
                    + chance.choice(["'", '"', "\\", "`", "$", "\n", "#", ";", "&", "|", ">", "<", "("])
                    + line[at:]
                )
            case _:
                line = line[:at] + line[at : at + 3] + line[at:]
    return line


def passes(line: Line) -> bool:
    """Whether the judge would let a line pass with the short allow list."""
    return (
        not (line.error or line.troubles)
        and bool(line.commands)
        and all(
            command.nested or any(matches(pattern, command, exactly=True) for pattern in ALLOWED)
            for command in line.commands
        )
    )


def missing() -> str | None:
    """Why the lines cannot be run here."""
    for name in ("bwrap", "strace", "bash"):
        if shutil.which(name) is None:
            return f"{name} is not installed"
    tried = subprocess.run(
        [*_bwrap(Path("/tmp")), "strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True
    )
    return f"bubblewrap or strace does not work here: {tried.stderr.strip()}" if tried.returncode else None


def _bwrap(writable: Path) -> list[str]:
    options = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    return ["bwrap", *options, "--bind", str(writable), str(writable)]


def run(batch: Sequence[Line]) -> list[str]:
    """Run lines in a traced shell; what happened that should not have, one line each."""
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        here = Path(name).resolve()
        for folder in ("log", "in", "none"):
            (here / folder).mkdir()
        own = " ".join(builtins())
        stubs = "".join(f'{name}() {{ _note {name} "$@"; }}\n' for name in ("echo", "true", "printf"))
        (here / "stubs").write_text(STUBS % (stubs, own))
        trace = here / "trace"
        command = [*_bwrap(here), "strace", "-f", "--seccomp-bpf", "-qq", "-s", "200", "-e",
        "trace=execve,openat,open,creat,unlink,unlinkat,rename,"
                   "renameat2,mkdir,mkdirat,connect,symlinkat,linkat,truncate", "-o", str(trace),
                   sys.executable, "-c", DRIVER, str(here), shutil.which("bash") or "bash"]  # fmt: skip
        done = subprocess.run(command, input=json.dumps([line.text for line in batch]), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        for number, doings in _by_line(trace.read_text("utf-8", "replace")):
            findings.append(f"{batch[number].text!r}: {doings}")
        for number, line in enumerate(batch):
            findings += _unseen(line, (here / "log" / str(number)).read_bytes())
            if any((here / "in" / str(number)).iterdir()):
                findings.append(f"{line.text!r}: left a file behind")
    return findings


_STARTED = re.compile(r"execve\(.*\"line-(\d+)\"\]")
_DOES = re.compile(
    r"(execve|creat|unlink|unlinkat|rename|renameat2|mkdir|mkdirat|symlinkat|linkat|truncate)\("
    r"|connect\(.*AF_INET|open(at)?\(.*O_(WRONLY|RDWR|CREAT)"
)
_NOTHING = re.compile(r'open(at)?\([^"]*"/dev/(null|tty)"')


def _by_line(trace: str) -> Iterator[tuple[int, str]]:
    """What the shells did that they should not have, by the number of the line that they ran.

    The driver's own doings come between the last shell's end and the next one's start: they are on its own process."""
    driver, current = trace.split(None, 1)[0], -1
    for entry in trace.splitlines():
        pid, _, doing = entry.partition(" ")
        started = _STARTED.search(doing)
        if started is not None:
            current = int(started[1])
        elif pid != driver and current >= 0 and _DOES.search(doing) and not _NOTHING.search(doing):
            yield current, doing.strip()


def _unseen(line: Line, log: bytes) -> Iterator[str]:
    """Calls that the judge did not see. A word in which file names may stand is one word or more."""
    seen = Counter(tuple(word.text for word in command.words) for command in line.commands if not command.nested)
    loose = any(not word.inert for command in line.commands for word in command.words)
    names = {command.words[0].text for command in line.commands if command.words and not command.nested}
    entries = log.split(b"\0")[:-1]
    while entries:
        count = entries.pop(0)
        if not count.startswith(b"\1") or not count[1:].isdigit():
            yield f"{line.text!r}: wrote to another descriptor, or did not end: {count!r}"
            return
        size = int(count[1:])
        words = tuple(word.decode("utf-8", "surrogateescape") for word in entries[:size])
        del entries[:size]
        if loose and words and words[0] in names:
            continue
        if not seen[words]:
            yield f"{line.text!r}: called {words!r}, unseen"
        seen[words] -= 1


def fuzz(seconds: float, seed: int) -> tuple[list[str], int, int]:
    """Findings, how many lines were judged, and how many of them were run."""
    findings: list[str] = []
    tried = ran = 0
    end = time.monotonic() + seconds
    source = lines(seed)
    while time.monotonic() < end:
        batch: dict[str, Line] = {}
        while len(batch) < BATCH:
            tried += 1
            line = read_line(next(source), settings=SETTINGS)
            if passes(line):
                batch[line.text] = line
        findings += run(list(batch.values()))
        ran += len(batch)
    return findings, tried, ran


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    why = missing()
    if why is not None:
        print(f"cannot run: {why}", file=sys.stderr)
        return 2
    findings, tried, ran = fuzz(options.seconds, options.seed)
    for finding in findings:
        print(finding)
    print(f"{tried} lines judged, {ran} would pass and were run, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
