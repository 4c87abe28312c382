"""Programs that start what the rest of their words say: which are looked through, and what the others would run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pegboard.policy.shell.line import Word

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "yash"])
"""Programs to which `-c` gives a command line."""

SHELL_VALUED = re.compile(r"[-+][A-Za-z]*[oO]|--rcfile|--init-file")
"""Options of theirs that have a value."""

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

_THROUGH = dict.fromkeys(
    ["npx", "bunx", "pnpx", "uvx", "dotenv", "tini", "dumb-init", "uv run", "uv tool run", "poetry run", "pdm run",
     "pipenv run", "rye run", "hatch run", "pipx run", "bundle exec", "npm exec", "npm x", "pnpm exec", "pnpm dlx",
     "pnpm run", "yarn run", "yarn exec", "yarn dlx", "bun run", "bun x", "pixi run", "conda run", "mamba run",
     "micromamba run", "mise exec", "mise x", "rbenv exec", "pyenv exec", "nodenv exec", "asdf exec", "opam exec",
     "stack exec", "cabal exec", "foreman run", "doppler run", "op run", "nix run", "nix develop", "nix shell",
     "git bisect run"], 0
) | dict.fromkeys(
    ["gosu", "su-exec", "envdir", "tmux", "screen", "direnv exec", "rustup run", "docker run", "docker exec", "podman run",
     "podman exec", "kubectl exec", "docker compose run", "docker compose exec", "docker-compose run",
     "docker-compose exec", "aws-vault exec", "chamber exec"], 1
)  # fmt: skip
"""More of them, which `risky.toml` judges: by name or by subcommand."""

_FIRST = frozenset(key.partition(" ")[0] for key in _THROUGH)
_EXECS = frozenset(["-exec", "-execdir", "-ok", "-okdir", "--exec", "--exec-batch"])
_FURTHEST = 12
_GIT_VALUED = frozenset(
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"]
)
_GIT = re.compile(r"git-[a-z][a-z0-9-]*")
_DURATION = re.compile(r"[0-9]+(\.[0-9]+)?[smhd]?")
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}")
_SIGNAL = re.compile(r"[A-Z0-9]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\+?=")


def takes_line(option: str) -> bool:
    """Whether a shell with this option is given a command line."""
    return option == "--command" or re.fullmatch(r"[-+][A-Za-z]*c[A-Za-z]*", option) is not None


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
    texts = [word.text if word.plain else "" for word in words[: at + _FURTHEST]]
    if len(texts) == at + _FURTHEST:
        texts[-1] = ""  # so many options are not plain

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


def folders_of(words: Sequence[Word]) -> list[str] | None:
    """The folders that git is told to go to first, or another program of that kind; None: it cannot be told."""
    name, found, at = base(words[0]), [], 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if name in ("hg", "jj", "tig") and re.match(r"-[RC]|--(?:cw|repo)", text):
            return None
        if name == "git" and text == "-C":
            if at + 1 >= len(words) or not words[at + 1].inert:
                return None
            found.append(words[at + 1].text)
        at += 2 if name == "git" and text in _GIT_VALUED else 1
    return found


def started(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The commands that one would start, as far as they stand in its words: each that may be meant, where it is not sure."""
    if not words:
        return
    name = base(words[0])
    if name in RUNNERS and not describes(words):
        yield from after_options(words, RUNNERS[name])
    elif name in _FIRST:
        yield from _through(name, words)
    elif name == "jobs" and any(word.text.startswith("-") and "x" in word.text for word in words[1:2]):
        yield words[2:]
    elif _GIT.fullmatch(name):
        first = words[0]
        yield (
            Word("git", first.start, first.end, plain=False),
            Word(name[4:], first.start, first.end, plain=False),
            *words[1:],
        )
    for index, word in enumerate(words[1:-1], 1):
        if word.text in _EXECS or (word.text in ("-x", "-X") and name in ("fd", "fdfind")):
            yield _filled(words[index + 1 :])


def _filled(words: Sequence[Word]) -> Sequence[Word]:
    """A command in which `{}` stands for names that are not known here."""
    return [Word(w.text, w.start, w.end, plain=False, inert=False) if "{}" in w.text else w for w in words]


def _through(name: str, words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """What stands behind `npx`, `uv run` and the like, with options before the subcommand or not."""
    key, free = name, 0
    for index in range(len(words)):
        if index:
            if words[index].text.startswith("-"):
                continue
            key = f"{key} {words[index].text}"
        if key in _THROUGH:
            yield from after_options(words[index:], _THROUGH[key])
            return
        if index and not any(one.startswith(key + " ") for one in _THROUGH):
            key = key.rpartition(" ")[0]  # the value of an option, it may be
            free += not words[index - 1].text.startswith("-")
        if free:
            return


def after_options(words: Sequence[Word], own: int) -> Iterator[Sequence[Word]]:
    """The rest after options, of which some have a value, and after `own` words."""
    seen = 0
    for index in range(1, len(words)):
        text = words[index].text
        if text.startswith("-") or _ASSIGNMENT.match(text):
            continue
        valued = words[index - 1].text.startswith("-") and words[index - 1].text != "--"
        yield words[index:]
        if not valued:
            seen += 1
        if seen > own:
            return
