"""Reading a command line: two independent readings, what they agree on, and what in it may not pass unasked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from pegboard.config.authority import PermissionSettings
from pegboard.policy.shell import tables
from pegboard.policy.shell.budget import Budget
from pegboard.policy.shell.builtins import builtin_risk
from pegboard.policy.shell.cd import READS, Trail, Whereabouts
from pegboard.policy.shell.grammar import Reading, reading
from pegboard.policy.shell.inner import nested
from pegboard.policy.shell.line import OUTSIDE, Command, Line, Trouble, Word
from pegboard.policy.shell.outside import leads_out, writes
from pegboard.policy.shell.plainly import plainly
from pegboard.policy.shell.repository import runs_something
from pegboard.policy.shell.runners import base, behind, folders_of
from pegboard.policy.shell.simple import Scan, Simple, scan
from pegboard.policy.shell.table_places import Place
from pegboard.policy.shell.words import word_of

Span = tuple[int, int]

LONGEST = 131_072
"""No longer text is read, whatever the settings say. Linux hands no program a longer one."""

_TROUBLES = 500
_FEW = 100
"""Troubles that a line may have, and commands whatever the settings say, before it is too much to be read twice."""

_GIT = frozenset(["git", "gh", "hg", "jj", "tig", "glab", "git-lfs"])
"""Programs that follow the settings of the repository they are run in."""


def read_line(
    text: str, *, settings: PermissionSettings | None = None, root: str | None = None, cwd: str = "."
) -> Line:
    """Read a command line as `bash -c` would. Never raises.

    settings: what may stand in a line that passes (`bash_max_chars`, `bash_allow_env`). root, cwd: the workspace, and the
    folder in it where the line runs: they decide where a `cd` leads."""
    settings = settings or PermissionSettings()
    try:
        return _read(text, settings, root, cwd)
    except Exception:  # noqa: BLE001 - isolates lines: one that we fail at asks, and rules out no deny
        return Line(text=text, error=Trouble(text, 0, len(text), "R0", "could not be judged, by a fault of ours"))


def _read(text: str, settings: PermissionSettings, root: str | None, cwd: str) -> Line:
    error = _unread(text, settings)
    if error is not None and error.rule == "R13":
        return Line(text=text, commands=plainly(text, error), error=error)
    budget = Budget()
    scanned = scan(text, budget)
    troubles = _outermost(scanned.troubles)
    if error is None and _too_much(scanned, settings):
        error = scanned.error or Trouble(text, 0, len(text), "R13", "holds more than can be looked at")
    if error is None:
        grammar = reading(text)
        troubles = _outermost([*scanned.troubles, *grammar.compound])
        if grammar.broken is None:
            _within(scanned, grammar)
        error = scanned.error or _disagreement(text, scanned, grammar, troubles) or _lines(text, settings)
    judge = _Judge(text, settings, Trail(Whereabouts(root, cwd)), budget)
    simple = [one for one in scanned.commands if judge.counts(one)]
    many = len(simple) > settings.bash_max_commands
    commands = judge.commands(scanned.commands, bare=many or budget.spent)
    if error is None and not commands and not troubles:
        error = Trouble(text, 0, len(text), "R0", "holds no command")
    inner = nested(scanned, simple, budget)
    if many or len(commands) + len(inner) > settings.bash_max_commands:
        error = error or Trouble(text, 0, len(text), "R13", f"holds more than {settings.bash_max_commands} commands")
    if budget.spent:
        error = error or Trouble(text, 0, len(text), "R13", "holds more than can be looked at")
    return Line(text=text, commands=(*commands, *inner), troubles=troubles, error=error)


def _too_much(scanned: Scan, settings: PermissionSettings) -> bool:
    """Whether the grammar need not look: the line cannot pass, and some are slow to read."""
    most = max(settings.bash_max_commands, _FEW)
    return scanned.text.count("`") > _TROUBLES or len(scanned.troubles) > _TROUBLES or len(scanned.commands) > most


def _unread(text: str, settings: PermissionSettings) -> Trouble | None:
    """What is against a text before it is read. For rules that deny, it is read all the same."""
    most = min(settings.bash_max_chars, LONGEST)
    if len(text) > most:
        return Trouble(text, 0, len(text), "R13", f"is longer than {most} characters")
    found = re.search("[\0\ud800-\udfff]", text)
    if found is not None:
        return Trouble(found[0], found.start(), found.end(), "R12", "holds a character that bash does not get")
    if not text.strip(" \t\n"):
        return Trouble(text, 0, len(text), "R0", "holds no command")
    return None


def _lines(text: str, settings: PermissionSettings) -> Trouble | None:
    if settings.bash_multiline == "reject" and "\n" in text.strip(" \t\n"):
        return Trouble(
            text, 0, len(text), "R48", "has more than one line, which tool_permission.bash_multiline rejects"
        )
    return None


def _disagreement(text: str, scanned: Scan, grammar: Reading, troubles: Sequence[Trouble]) -> Trouble | None:
    """Where the readings of a line that has nothing else against it differ."""
    if grammar.broken is not None:
        start, end = grammar.broken
        return Trouble(text[start:end], start, end, "R0", "cannot be read, or in more than one way")
    if troubles:
        return None
    place = grammar.strange or _difference(scanned, grammar)
    if place is None:
        return None
    start, end = place
    return Trouble(text[start:end], start, end, "R0", "may be read in more than one way")


def _difference(scanned: Scan, grammar: Reading) -> Span | None:
    """The first place where the readings do not have the same words, or not the same commands."""
    for start, end in grammar.opaque:
        if not any(one.start <= start and end <= one.end for one in scanned.commands):
            return start, end

    def apart(spans: Sequence[Span]) -> list[Span]:
        return [one for one in spans if not any(start <= one[0] and one[1] <= end for start, end in grammar.opaque)]

    names = [(one.words[0].start, one.words[0].end) for one in scanned.commands if one.words]
    for ours, theirs in ((scanned.words, grammar.words), (names, grammar.names)):
        for one, other in zip_longest(apart(ours), apart(theirs)):
            if one != other:
                return one or other
    return None


def _within(scanned: Scan, grammar: Reading) -> None:
    """Which commands are a part of something larger, the grammar knows better."""
    for one in scanned.commands:
        one.nested = any(larger.start <= one.start and one.end <= larger.end for larger in grammar.compound)


def _outermost(troubles: Sequence[Trouble]) -> tuple[Trouble, ...]:
    """Without those that lie in others, in the order of the line."""
    kept: list[Trouble] = []
    reached = 0
    for one in sorted(troubles, key=lambda one: (one.start, -one.end)):
        if one.start >= reached:
            kept.append(one)
            reached = one.end
    return tuple(kept)


def _put_in(one: Simple) -> list[Word]:
    """The files that a command reads by `<`."""
    return [word_of(token.word) for token in one.redirections if token.text == "<" and token.word is not None]


class _Judge:
    """Says of each command of a line what is against passing it."""

    def __init__(self, text: str, settings: PermissionSettings, trail: Trail, budget: Budget) -> None:
        self.text, self.settings, self.trail, self.budget = text, settings, trail, budget

    def commands(self, simple: Sequence[Simple], *, bare: bool) -> list[Command]:
        """What is said of all commands of a line."""
        found = []
        for one in simple:
            self.trail.begin(one.before)
            if self.counts(one):
                found.append(self.command(one, bare=bare))
        return found

    def counts(self, one: Simple) -> bool:
        """Whether this is a command, and not only an assignment that is allowed."""
        return bool(one.words or one.redirections or self._assigned(one))

    def command(self, one: Simple, *, bare: bool) -> Command:
        """What is said of a command; to be asked in the order of the line. bare: say nothing, there are too many."""
        words = tuple(map(word_of, one.words))
        text = self.text[one.start : one.end]
        if bare:
            many = Trouble(text, one.start, one.end, "R13", "is one of too many commands")
            return Command(text, one.start, one.end, words, nested=one.nested, risk=many)
        looked = behind(words) if self.settings.bash_read_only == "allow" else 0
        judged = words[looked:]
        inside = self._cd(one, judged, looked)
        against = self._against(one, judged)
        reads = offer = risk = None
        if against is None and judged and not one.nested:
            reads = READS if inside else self._reads(one, judged)
            out = None if reads else self._out(one, judged)
            if out is None:
                offer = tables.pattern_for(judged, self.settings)
            elif writes(judged):
                risk = Trouble(self.text[slice(*out)], *out, OUTSIDE, "may lead outside, or to what is protected")
        elif against is not None:
            risk = Trouble(text, one.start, one.end, *against)
        return Command(text, one.start, one.end, words, one.nested, risk, reads, offer, looked)

    def _reads(self, one: Simple, judged: Sequence[Word]) -> str | None:
        """The entry by which this only reads, in a folder that is known; what is put into it is read too."""
        cats = [(Word("cat", target.start, target.start), target) for target in _put_in(one)]
        found: list[str] = []

        def reads(here: Whereabouts) -> bool:
            for words in (*cats, judged):
                root, cwd = here.root, here.here or "."
                entry = tables.reads_by(words, self.settings, root=root, cwd=cwd, budget=self.budget)
                if entry is None:
                    return False
                found.append(entry)
            return True

        return found[-1] if self.trail.all(lambda here: here.known and reads(here)) else None

    def _out(self, one: Simple, judged: Sequence[Word]) -> Span | None:
        """Where words stand that lead outside, or to what is protected."""
        fed = _put_in(one)
        for here in self.trail.places:
            place = Place(here.root, here.here or ".", self.budget) if here.known else None
            out = leads_out(judged, place) or (leads_out((Word("cat", 0, 0), *fed), place) if fed else None)
            if out is not None:
                return out
        return None

    def _cd(self, one: Simple, judged: Sequence[Word], looked: int) -> bool:
        """Whether this is a `cd` that counts as reading; follows it."""
        if not judged or judged[0].text not in ("cd", "pushd", "popd"):
            return False
        if judged[0].text != "cd" or not judged[0].plain or looked or one.piped or one.nested:
            self.trail.lose()
            return False
        return self.trail.cd(judged)

    def _assigned(self, one: Simple) -> tuple[str, str] | None:
        for name, _ in one.assigned:
            if name not in self.settings.bash_allow_env:
                return "R7", f"sets {name} for what follows"
        return None

    def _against(self, one: Simple, judged: Sequence[Word]) -> tuple[str, str] | None:
        assigned = self._assigned(one)
        if assigned is not None or not judged:
            return assigned
        risk = builtin_risk(judged) or tables.risk_of(judged)
        if risk is None and base(judged[0]) in _GIT:
            return self._armed(judged)
        return risk

    def _armed(self, judged: Sequence[Word]) -> tuple[str, str] | None:
        """What the settings of the repository may run, wherever it is."""
        folders = folders_of(judged)
        for start in self.trail.places:
            here = start.within(folders) if folders else start
            if folders is None or here.armed():
                return "R8", "runs in a folder whose own settings may make it run something"
            why = runs_something(here.here, looks=tables.looks(judged)) if here.here is not None else None
            if why is not None:
                return "R8", why
        return None
