"""Programs that start what the rest of their words say: which are looked through, and what the others would run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pegboard.policy.shell.line import Word

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "yash"])
"""Programs to which `-c` gives a command line."""

_AT_ONCE = [
    "command", "time", "nice", "nohup", "sudo", "doas", "env", "xargs", "exec", "builtin", "setsid", "stdbuf",
    "ionice", "unshare", "nsenter", "strace", "ltrace", "watch", "parallel", "busybox", "toybox", "unbuffer",
    "setpriv", "runuser", "pkexec", "proxychains", "catchsegv", "gnice", "genv", "gxargs", "caffeinate",
    "systemd-run", "bwrap", "firejail", "fakeroot", "valgrind", "gdb", "entr", "noglob", "coproc", "arch",
    "linux32", "linux64", "xvfb-run", "dbus-run-session", "chronic", "ts", "rlwrap", "winpty", "numactl",
    "prlimit", "cgexec", "ssh-agent",
]  # fmt: skip
_AFTER_A_WORD = ["timeout", "chrt", "taskset", "chroot", "flock", "su", "script", "gtimeout", "setarch", "sg"]

RUNNERS = dict.fromkeys(_AT_ONCE, 0) | dict.fromkeys(_AFTER_A_WORD, 1)
"""By name: how many words of their own stand before the command they start."""

_LINES = frozenset(["-c", "--command", "-S", "--split-string"])
_EXECS = frozenset(["-exec", "-execdir", "-ok", "-okdir", "--exec", "--exec-batch"])
_DURATION = re.compile(r"[0-9]+(\.[0-9]+)?[smhd]?")
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}")
_SIGNAL = re.compile(r"[A-Z0-9]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\+?=")
_FURTHEST = 12


def base(word: Word) -> str:
    """The name of the program that a word names by a path or not."""
    return word.text.rpartition("/")[2]


def behind(words: Sequence[Word]) -> int:
    """How many leading words are `command`, `time`, `nice`, `nohup` or `timeout` with harmless options, before a command."""
    at = 0
    while at < len(words) and words[at].plain:
        after = _after(words, at)
        if after is None or after >= len(words):
            break
        at = after
    return at


def _after(words: Sequence[Word], at: int) -> int | None:
    """Where the command begins that the one here starts; None: it starts none, or not plainly."""
    name, at = words[at].text, at + 1
    texts = [word.text if word.plain else "" for word in words]

    def value(pattern: re.Pattern[str]) -> bool:
        return at + 1 < len(texts) and pattern.fullmatch(texts[at + 1]) is not None

    match name:
        case "command" | "nohup":
            pass
        case "time":
            at += at < len(texts) and texts[at] == "-p"
        case "nice":
            if at < len(texts) and texts[at] == "-n" and value(_NUMBER):
                at += 2
            elif at < len(texts) and re.fullmatch(r"-n?[0-9]{1,2}|--adjustment=-?[0-9]{1,2}", texts[at]):
                at += 1
        case "timeout":
            while at < len(texts):
                if texts[at] in ("-v", "--verbose", "--foreground", "--preserve-status") or re.fullmatch(
                    r"--signal=[A-Z0-9]+|--kill-after=[0-9.]+[smhd]?", texts[at]
                ):
                    at += 1
                elif (texts[at] == "-k" and value(_DURATION)) or (texts[at] == "-s" and value(_SIGNAL)):
                    at += 2
                else:
                    break
            if at >= len(texts) or not _DURATION.fullmatch(texts[at]):
                return None
            at += 1
        case _:
            return None
    return None if at < len(texts) and (texts[at].startswith("-") or not texts[at]) else at


def describes(words: Sequence[Word]) -> bool:
    """Whether it is `command -v`, which says where a program lies and starts nothing."""
    return len(words) > 1 and words[0].text == "command" and re.fullmatch("-p*[vV]p*", words[1].text) is not None


def started(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The commands that one would start, as far as they stand in its words: each that may be meant, where it is not sure."""
    if not words:
        return
    name = base(words[0])
    if name in RUNNERS and not describes(words):
        yield from _rest(words, RUNNERS[name])
    for index, word in enumerate(words[1:-1], 1):
        if word.text in _EXECS or (word.text in ("-x", "-X") and name in ("fd", "fdfind")):
            yield words[index + 1 :]


def _rest(words: Sequence[Word], own: int) -> Iterator[Sequence[Word]]:
    """The rest after options, of which some have a value, and after `own` words."""
    seen = 0
    for index in range(1, min(len(words), _FURTHEST)):
        text = words[index].text
        if text.startswith("-") or _ASSIGNMENT.match(text):
            continue
        valued = words[index - 1].text.startswith("-") and words[index - 1].text != "--"
        yield words[index:]
        if not valued:
            seen += 1
        if seen > own:
            return


def lines(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """The command lines that a command is given as a word, and the word."""
    if not words:
        return
    name = base(words[0])
    if name in ("eval", "trap", "watch", "ssh") and len(words) > 1:
        rest = words[1:] if name != "trap" else words[1:2]
        yield " ".join(word.text for word in rest), words[1]
    if name in SHELLS or name in RUNNERS:
        for index, word in enumerate(words[1:-1], 1):
            text = word.text
            if text in _LINES or (name in SHELLS and re.fullmatch(r"[-+][A-Za-z]*c[A-Za-z]*", text)):
                for later in words[index + 1 : index + 4]:
                    if not later.text.startswith(("-", "+")):
                        yield later.text, later
                        break
        for word in words[1:]:
            if word.text.startswith(("--command=", "--split-string=")):
                yield word.text.partition("=")[2], word
