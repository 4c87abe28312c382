"""Which rule a path falls under. No I/O: names are all there is to go by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pegboard_guard import table
from pegboard_guard.patterns import covering, fold

_ENV = re.compile(r"\.env(?:rc|[^a-z].*)?", re.DOTALL)
"""`.env` and whatever follows but a letter: `.environment` is an ordinary word. direnv runs `.envrc`."""

_SHARED = re.compile(rf".*[._-](?:{'|'.join(table.SHARED)})", re.DOTALL)

_SSH_KEY = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[-_][^.]*)?(?:\.(?:bak|old|orig))?|ssh_host_.+_key", re.DOTALL
)
"""`id_rsa`, `id_ed25519_sk`, `id_rsa-work`; but `id_rsa.pub` and `id_rsa_test.py` are no keys."""

_SHORT = re.compile(r"([^.]{1,6})~[0-9](\..{1,3})?", re.DOTALL)
"""A name as Windows shortens it on disk where it begins with a dot: `GIT~1` is `.git` (CVE-2019-1353)."""


class Rule(NamedTuple):
    """One protected pattern. `shown` is what a refusal calls it."""

    shown: str
    secret: bool = False


class Search:
    """Finds the rule that a path falls under. Most paths fall under none, which one compiled expression tells."""

    def __init__(self, *, secrets_only: bool = False, more: Iterable[str] = ()) -> None:
        """`more`: a person's own patterns."""
        self._names: dict[str, Rule] = {}
        self._below: dict[str, list[tuple[list[str], Rule]]] = {}
        self._short: dict[tuple[str, str | None], Rule] = {}
        for name, rule in _listed():
            if rule.secret or not secrets_only:
                self._add(name, rule)
        firsts = {name for name in (*self._names, *self._below) if not name.startswith(".")}
        self._hint = re.compile(rf"/(?:[.]|id_|ssh_host_|{_any(firsts)})|\.(?:{_any(table.SECRET_SUFFIXES)})|~")
        self._more = [(re.compile(covering(pattern).regex), Rule(pattern)) for pattern in more]

    def _add(self, name: str, rule: Rule) -> None:
        first, *rest = name.split("/")
        if rest:
            self._below.setdefault(first, []).append((rest, rule))
            return
        self._names[name] = rule
        if name.startswith("."):
            base, dot, suffix = name[1:].rpartition(".")
            self._short[(base if dot else suffix).replace(".", "")[:6], dot + suffix[:3] if dot else None] = rule

    def find(self, path: str) -> Rule | None:
        """The first rule that covers the path, or None."""
        subject = "/" + fold(path)
        if self._hint.search(subject):
            # Windows cuts a stream off a name (`.git::$DATA`) and drops dots and spaces; `~` ends an editor's backup.
            names = [name.partition(":")[0].rstrip(" .~") for name in subject.split("/")]
            for index, name in enumerate(names):
                rule = self._names.get(name) or self._rule_of(name) or self._rule_at(names, index)
                if rule is not None:
                    return rule
        for regex, rule in self._more:
            if regex.search(subject):
                return rule
        return None

    def _rule_of(self, name: str) -> Rule | None:
        """The rule for a name that follows a form."""
        _, dot, suffix = name.rpartition(".")
        if _ENV.fullmatch(name) and not _SHARED.fullmatch(name):
            return Rule(".env*", True)
        if dot and suffix in table.SECRET_SUFFIXES:
            return Rule(f"*.{suffix}", True)
        if _SSH_KEY.fullmatch(name):
            return Rule("ssh_host_*_key" if name.startswith("ssh") else "id_*", True)
        short = _SHORT.fullmatch(name) if "~" in name else None
        if short and short[1] == "env":
            return Rule(".env*", True)
        return self._short.get((short[1], short[2])) if short else None

    def _rule_at(self, names: Sequence[str], index: int) -> Rule | None:
        """The rule for a row of names, as in `.config/gcloud`."""
        for rest, rule in self._below.get(names[index], ()):
            if names[index + 1 : index + 1 + len(rest)] == rest:
                return rule
        return None


def _listed() -> Iterator[tuple[str, Rule]]:
    for name in table.SECRET_FOLDERS:
        yield name, Rule(f"{name}/**", True)
    for name in table.SECRET_FILES:
        yield name, Rule(name, True)
    for name in (*table.VERSION_CONTROL, *table.CI_FOLDERS, *table.OWN_FOLDERS):
        yield name, Rule(f"{name}/**")
    for name in table.CI_FILES:
        yield name, Rule(name)


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words)))
