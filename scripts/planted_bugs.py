"""Plant bugs in the judge of command lines, one at a time, and say which of them its tests find.

    planted_bugs.py [--jobs N] [--only WORD]

Each is a small replacement in a copy of the package; the tests of the judge run against the copy. Exit 0 when every bug was
found, 1 when one was not, 2 when a bug can no longer be planted because its place has changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "core" / "src" / "pegboard"
TESTS = ["cases", "reading", "denials", "cd", "properties"]
"""Their names, the quick ones first. The fuzzer is run for what they do not find."""


@dataclass
class Bug:
    """What is forgotten, and how."""

    what: str
    module: str
    old: str
    new: str


BUGS = [
    Bug("appending to a file passes", "redirects", '">>": "adds to", ', ""),
    Bug("/dev/null is any name that begins so", "redirects", "word.value == NOWHERE", "word.value.startswith(NOWHERE)"),
    Bug("a file for both streams passes", "redirects", 'if operator in (">&", "<&") and word.plain and',
    'if operator in (">&", "<&") or'),
    Bug("network names are files", "redirects", "    if _network(word):", "    if False:"),
    Bug("opening for reading and writing passes", "redirects", '    if operator == "<>":',
    '    if operator == "<>":\n        return None\n    if operator == "<>":'),
    Bug("descriptors in variables pass", "redirects", 'token.descriptor.startswith("{")', "False"),
    Bug("backticks are text", "words", 'if char == "`" or (char == "$" and self.expands(at)):',
    'if char == "$" and self.expands(at):'),
    Bug("backticks in double quotes are text", "words",
    'elif char == "`" or (char == "$" and self.expands(at, inside=True)):',
    'elif char == "$" and self.expands(at, inside=True):'),
    Bug("dollars in double quotes are text", "words", '(char == "$" and self.expands(at, inside=True))', "False"),
    Bug("a backslash escapes in single quotes", "bounds", 'end = self.text.find("\'", opened + 1)',
    'end = self.text.find("\'", opened + 1)\n'
    '        end = self.text.find("\'", end + 1) if self.text[end - 1] == "\\\\" else end'),
    Bug("an escaped quote ends a double-quoted part", "words",
    """in ("$", "`", '"', "\\\\"):""", """in ("$", "`", "\\\\"):"""),
    Bug("strings with escapes pass", "words", 'self._note(found, at, end, "is a string with escapes")',
    "found.quoted = True"),
    Bug("the old form of arithmetic is text", "words", 'following in "{(["', 'following in "{("'),
    Bug("special parameters are text", "words", "[A-Za-z0-9_@*#?$!-]", "[A-Za-z_]"),
    Bug("braces become no words", "words", 'return inside.startswith("{") and', "return False and"),
    Bug("characters that nobody sees pass", "words", "    return unicodedata.category(char)[0] in",
    "    return unicodedata.category(char)[0] in () and"),
    Bug("words with quotes are spelled plainly", "words", "return self.inert and not self.quoted and not self.joined",
    "return self.inert"),
    Bug("a comment hides the next line", "tokens",
    'end = text.find("\\n", at)\n                end = len(text) if end < 0 else end\n                for',
    'end = len(text)\n                for'),
    Bug("a comment begins inside a word", "words", "            if char in ENDS:",
    '            if char in ENDS or char == "#":'),
    Bug("bodies of here-documents do not expand", "simple", "if token.body is not None and token.live else (0, 0)",
    "if token.body is None and token.live else (0, 0)"),
    Bug("what follows a here-document is its body", "tokens", "== token.word.value:",
    "== token.word.value and end == len(text):"),
    Bug("the tabs of <<- are not seen", "tokens", 'line.lstrip("\\t") if token.text == "<<-" else line', "line"),
    Bug("process substitution is no trouble", "tokens", "        word.troubles.append(", "        str("),
    Bug("the background is no trouble", "simple",
    'self._trouble(token.start, token.end, "R6", "runs a command in the background")', "pass"),
    Bug("newlines separate nothing", "simple", "                    self._finish(\"\\n\")", "                    pass"),
    Bug("assignments do nothing", "judge", "if name not in self.settings.bash_allow_env:",
    "if name in self.settings.bash_allow_env:"),
    Bug("an index of an array is a command's name", "simple", "(\\+?=|\\[)", "(\\+?=)"),
    Bug("reserved words are commands", "simple", "if word.value in RESERVED and", "if word.value in () and"),
    Bug("the second reading is not compared", "judge", "            if one != other:", "            if False:"),
    Bug("what the grammar cannot read passes", "judge", "    if grammar.broken is not None:\n        start",
    "    if False:\n        start"),
    Bug("the limit of commands is not kept", "judge", "if many or len(commands) + len(inner) >",
    "if False and len(commands) + len(inner) >"),
    Bug("the limit of characters is not kept", "judge", "    if len(text) > most:", "    if False:"),
    Bug("patterns match beginnings of words", "matching", "one in (ANY, word.text) for",
    "(one == ANY or word.text.startswith(one)) for"),
    Bug("a risk does not keep a pattern from matching", "matching", "    if risk is None:\n        return True",
    "    if True:\n        return True"),
    Bug("cd leaves the workspace", "cd", "or not Path(real).is_relative_to(self.root)", "or False"),
    Bug("links in cd are not followed", "cd", "real = os.path.realpath(named)", "real = named"),
    Bug("cd in a pipeline moves", "judge", "or looked or one.piped or one.nested:", "or looked or one.nested:"),
    Bug("other repositories are harmless", "cd", 'if os.path.lexists(place / ".git") or place.parent == place:',
    "if place.parent == place:"),
    Bug("options of timeout are not looked at", "runners",
    "if at >= len(texts) or not _DURATION.fullmatch(texts[at]):", "if at >= len(texts):"),
    Bug("bash -c is not read", "inner", "        for line, word in lines(words):", "        for line, word in ():"),
    Bug("what sudo starts is not seen", "inner", "        for rest in started(words):", "        for rest in ():"),
    Bug("variables of test are harmless", "builtins", 'text in ("-v", "-R")', 'text in ("-R",)'),
]  # fmt: skip


def planted(bug: Bug, folder: Path) -> bool:
    """Copy the package with this bug in it; whether its place was found."""
    shutil.copytree(PACKAGE, folder / "pegboard", ignore=shutil.ignore_patterns("__pycache__"))
    module = folder / "pegboard" / "policy" / "shell" / f"{bug.module}.py"
    source = module.read_text("utf-8")
    module.write_text(source.replace(bug.old, bug.new, 1), "utf-8")
    return bug.old in source


def found_by(folder: Path) -> str | None:
    """The first test that fails with the package in this folder."""
    names = [f"tests/core/policy/test_shell_{name}.py" for name in TESTS]
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE"]
    environ = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    for tests in (names, ["tests/core/policy/test_shell_fuzz.py"]):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, env=environ, capture_output=True, text=True
        )
        if done.returncode:
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" - ")[0].rpartition("/")[2] if failed else done.stdout[-200:] + done.stderr[-200:]
    return None


def tried(bug: Bug) -> tuple[Bug, bool, str | None]:
    """Plant a bug and look for it: whether it could be planted, and what found it."""
    with tempfile.TemporaryDirectory() as name:
        if not planted(bug, Path(name)):
            return bug, False, None
        return bug, True, found_by(Path(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    started = time.monotonic()
    lost = missed = 0
    bugs = [bug for bug in BUGS if options.only in bug.what]
    with ThreadPoolExecutor(options.jobs) as pool:
        for bug, there, by in pool.map(tried, bugs):
            lost += not there
            missed += there and by is None
            print(f"{'found ' if by else 'MISSED' if there else 'GONE  '}  {bug.what}: {by or bug.module}", flush=True)
    print(f"{len(bugs) - lost - missed} of {len(bugs)} found in {time.monotonic() - started:.0f} s")
    return 2 if lost else 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
