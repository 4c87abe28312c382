"""Which entries of a folder are ignored: nested ignore files, each within its own folder.

A `Scope` is what is in force inside one folder. A walk asks it about each entry and enters subfolders with it:

    scope = top_scope(root)
    scope.ignored(b"build", folder=True)
    inside = scope.enter(b"src")

Of one kind of file the nearest that says anything decides; `.ignore` decides before `.gitignore` (as in ripgrep, which
also reads `.rgignore`, before both), and `.git/info/exclude` comes last. `.pegboardignore` hides more than those; a `!`
in the one at the root also takes back what they hide, a `!` in a nested one only what a `.pegboardignore` hid.

Above the root nothing is read but `.gitignore`, up to the top of the repository that the root lies in, and not when
that repository ignores the root itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple, TypeAlias

from pegboard.kit.walk.rules import RuleSet, read

NEVER = frozenset({b".git", b"node_modules"})
"""Never walked, whatever is asked."""

KINDS = (b".rgignore", b".ignore", b".gitignore")
GIT = 2
OWN = b".pegboardignore"

Chain: TypeAlias = tuple[tuple[RuleSet, int], ...]
"""Rule sets in force, the nearest first, each with the length of its folder in `Scope.path`."""


class Scope(NamedTuple):
    """The ignore rules in force inside one folder.

    folder: its absolute path. path: where it lies below the topmost folder that has rules, with a slash at its end, or
    empty. root: the length of the workspace root's `path`. git: .gitignore counts here; sealed: only within
    repositories, so that one begins anew where it has its top.
    """

    folder: bytes
    path: bytes = b""
    kinds: tuple[Chain, Chain, Chain] = ((), (), ())
    exclude: Chain = ()
    own: Chain = ()
    root: int = 0
    git: bool = True
    sealed: bool = False

    def enter(self, name: bytes, names: Collection[bytes] | None = None) -> Scope:
        """The scope of a subfolder. `names`, when its entries are known, saves looking for what is not there."""
        return self.at(name).loaded(names)

    def at(self, name: bytes) -> Scope:
        """A subfolder's scope before its own ignore files were read (`loaded`)."""
        return self._replace(folder=os.path.join(self.folder, name), path=self.path + name + b"/")

    def loaded(self, names: Collection[bytes] | None = None) -> Scope:
        """This scope with the ignore files of its own folder."""
        found = [read(self.folder, kind) if names is None or kind in names else None for kind in (*KINDS, OWN)]
        fresh = self.sealed and (b".git" in names if names is not None else _is_repository(self.folder))
        if not fresh and not any(found):
            return self
        cut = len(self.path)
        old = (*self.kinds[:GIT], ()) if fresh else self.kinds
        first, second, third = (
            ((rules, cut), *chain) if rules else chain for rules, chain in zip(found, old, strict=False)
        )
        own = ((found[-1], cut), *self.own) if found[-1] else self.own
        return self._replace(kinds=(first, second, third), own=own, git=self.git or fresh)

    def descend(self, parts: Collection[bytes]) -> Scope:
        """The scope some folders further down."""
        scope = self
        for part in parts:
            scope = scope.enter(part)
        return scope

    def ignored(self, name: bytes, *, folder: bool) -> bool:
        """Whether the entry of this folder is ignored."""
        path = self.path + name
        for rules, cut in self.own:
            if (verdict := rules.decide(path[cut:], name, folder)) is not None:
                if verdict:
                    return True
                if cut == self.root:
                    return False
                break
        for chain in self.kinds if self.git else self.kinds[:GIT]:
            for rules, cut in chain:
                if (verdict := rules.decide(path[cut:], name, folder)) is not None:
                    return verdict
        for rules, cut in self.exclude if self.git else ():
            if (verdict := rules.decide(path[cut:], name, folder)) is not None:
                return verdict
        return False

    @property
    def beyond_rg(self) -> bool:
        """Whether rg cannot be told these rules: negations that must beat a file which rg holds to be stronger.

        Such are those in the root's .pegboardignore, and those in an .ignore above this folder, against a .gitignore
        below it.
        """
        back = any(cut == self.root and rules.negates for rules, cut in self.own)
        outer = (rules.negates and cut < len(self.path) for chain in self.kinds[:GIT] for rules, cut in chain)
        return back or any(outer)

    def lines(self) -> Iterator[bytes]:
        """The rules from outside of this folder, as lines of one ignore file at the root, the weakest first.

        For rg, which is told to read nothing above the folder it searches. Its own folder's files it reads itself.
        """
        chains = [self.exclude, self.kinds[2], self.kinds[1], self.kinds[0], self.own]
        for index, chain in enumerate(chains):
            if index < 2 and not self.git:
                continue
            for rules, cut in reversed(chain):
                if cut == len(self.path) and 0 < index < 4:
                    continue
                for rule in rules.rules:
                    if cut < self.root:
                        yield from rule.moved_up(self.path[cut : self.root].split(b"/")[:-1])
                    else:
                        yield from rule.moved_down(self.path[self.root : cut].split(b"/")[:-1])


def top_scope(root: str | bytes, *, require_git: bool = False) -> Scope:
    """The scope of the workspace root."""
    folder = os.fsencode(root)
    above = _repository_above(folder)
    top = folder if above is None else above
    inside = above is not None or _is_repository(folder)
    scope = Scope(folder=top, git=inside or not require_git, sealed=require_git and not inside)
    exclude = read(os.path.join(top, b".git", b"info"), b"exclude") if inside else None
    scope = scope._replace(exclude=((exclude, 0),) if exclude else ())
    if above is not None:
        scope = _through(scope, os.path.relpath(folder, above).split(os.sep.encode()))
    return scope._replace(root=len(scope.path)).loaded()


def _through(scope: Scope, parts: list[bytes]) -> Scope:
    """From a repository's top down to a root inside it, with .gitignore alone."""
    bare = Scope(folder=os.path.join(scope.folder, *parts), git=scope.git, sealed=scope.sealed)
    for part in parts:
        if rules := read(scope.folder, KINDS[GIT]):
            chain = ((rules, len(scope.path)), *scope.kinds[GIT])
            scope = scope._replace(kinds=((), (), chain))
        if scope.ignored(part, folder=True):
            return bare
        scope = scope.at(part)
    return scope


def _repository_above(folder: bytes) -> bytes | None:
    """The top of the repository that a folder lies in without being its top."""
    if _is_repository(folder):
        return None
    while (parent := os.path.dirname(folder)) != folder:
        if _is_repository(parent):
            return parent
        folder = parent
    return None


def _is_repository(folder: bytes) -> bool:
    """Whether a folder is a repository's top. One that belongs to neither this user nor root does not count."""
    try:
        info = os.stat(os.path.join(folder, b".git"))
    except OSError:
        return False
    return not hasattr(os, "geteuid") or info.st_uid in (0, os.geteuid())
