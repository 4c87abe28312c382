"""Plant bugs in the judge of command lines and in the app, one at a time, and say which of them the tests find.

    planted_bugs.py [--jobs N] [--only WORD]

Each is a small replacement in a copy of the package; tests run against the copy: those of the judge, or for a bug in the app
the one that is to find it. WORD: a part of what the bug is called; those of the app begin with `app: `. Exit 0 when every
bug was found, 1 when one was not, 2 when a bug can no longer be planted because its place has changed.
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
APP = ROOT / "plugins" / "tui" / "src" / "pegboard_tui"
TESTS = ["cases", "reading", "denials", "cd", "properties"]
"""Their names, the quick ones first. The fuzzer is run for what they do not find."""


@dataclass
class Bug:
    """What is forgotten, and how. module: of the judge; with `by`, the test that finds it, of the app."""

    what: str
    module: str
    old: str
    new: str
    by: str = ""

    @property
    def package(self) -> Path:
        """Where the package is that it is planted in a copy of."""
        return APP if self.by else PACKAGE

    @property
    def file(self) -> Path:
        """Its module, in that."""
        return Path(f"{self.module}.py") if self.by else Path("policy", "shell", f"{self.module}.py")


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
    Bug("app: work in the background that raises ends it", "working", "except Exception as error:",
    "except KeyError as error:",
    by="test_working.py::test_work_in_the_background_that_raises_is_told_of_and_the_session_goes_on"),
    Bug("app: the palette opens over lists", "looks", "len(self.screen_stack) > 1:", "False:",
    by="test_picker.py::test_the_key_of_the_palette_goes_up_in_the_list_and_opens_nothing_over_it"),
    Bug("app: letters of the input are bound", "keys", "bound.priority or bound.group == _INPUT", "bound.priority",
    by="test_keys.py::test_a_letter_that_could_not_be_typed_any_more_or_would_do_nothing_is_not_bound"),
    Bug("app: plugins are imported on the loop", "sending", "await asyncio.to_thread(offered, self._view.host)",
    "offered(self._view.host)",
    by="test_commands.py::test_plugins_are_imported_beside_the_loop_and_lines_are_done_in_their_order"),
    Bug("app: every state of a progress bar is shown", "drawing/texts", 'if output and "\\r" in text:', "if False:",
    by="test_drawing_items.py::test_of_a_progress_bar_the_end_is_shown_of_what_a_command_printed_and_of_nothing_else"),
    Bug("app: keys count at once", "asking/quiet", ">= self.pause", ">= 0",
    by="test_asking_panel.py::test_the_next_question_is_not_answered_by_a_key_that_repeats_or_was_meant_for_the_one_before"),
    Bug("app: Enter allows", "asking/keys", 'Binding("y", "yes"', 'Binding("y,enter", "yes"',
    by="test_asking_panel.py::test_enter_never_allows_and_escape_decides_nothing"),
    Bug("app: questions of other processes are asked here", "fold", "if live and self._awaits(event.id)", "if live",
    by="test_fold.py::test_questions_are_those_that_wait_here_and_go_with_their_turn"),
    Bug("app: a hurried press is a press", "interrupts", "again = hurried or calls", "again = calls",
    by="test_interrupts.py::test_another_call_is_stopped_anew_and_a_question_or_the_setting_ends_the_turn_at_once"),
]  # fmt: skip


def planted(bug: Bug, folder: Path) -> bool:
    """Copy the package with this bug in it; whether its place was found."""
    copy = folder / bug.package.name
    shutil.copytree(bug.package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    module = copy / bug.file
    source = module.read_text("utf-8")
    module.write_text(source.replace(bug.old, bug.new, 1), "utf-8")
    return bug.old in source


def found_by(folder: Path, bug: Bug) -> str | None:
    """The first test that fails with the package in this folder."""
    names = [f"tests/core/policy/test_shell_{name}.py" for name in TESTS]
    rounds = [[f"tests/plugins/tui/{bug.by}"]] if bug.by else [names, ["tests/core/policy/test_shell_fuzz.py"]]
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE"]
    environ = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    for tests in rounds:
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
        return bug, True, found_by(Path(name), bug)


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
