"""Which plugin has a widget for which kind of block. Nothing of a plugin is imported here, nor in this process at all."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.terminal import visible

GROUP = "pegboard_tui.widgets"
"""Entry points of widgets: the name is the kind of block, the object takes the block's data and returns a widget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """An entry for a kind. value: `module:object`."""

    kind: str
    value: str
    distribution: str
    version: str

    @property
    def whose(self) -> str:
        """The plugin in the words of notes."""
        return visible(f"the widget {self.kind!r} of {self.distribution} {self.version}")


class Kinds:
    """Widgets by kind, looked for when the first one is asked for. disabled: names that are switched off, of a kind or of a
    distribution."""

    def __init__(self, disabled: frozenset[str] = frozenset()) -> None:
        self._disabled = disabled
        self._claims: dict[str, list[Claim]] | None = None
        self._failed: dict[str, str] = {}
        self._told: set[str] = set()

    def search(self) -> None:
        """Find out which widgets are installed. It reads files: call it in a thread."""
        if self._claims is None:
            self._claims = _claims()

    def find(self, kind: str) -> Claim | None:
        """Whose widget shows this kind; None: nobody's, or it failed before."""
        if self._claims is None:
            self.search()
        claims = [claim for claim in (self._claims or {}).get(kind, ()) if not self._off(claim)]
        if kind in self._failed or not claims:
            return None
        if len(claims) > 1:
            whose = " and ".join(visible(f"{claim.distribution} {claim.version}") for claim in claims)
            self.fail(
                kind,
                f"{whose} both bring a widget for {visible(kind)!r}, so neither is used and what is shown is plain. "
                "Uninstall one of them",
            )
            return None
        return claims[0]

    def fail(self, kind: str, text: str) -> None:
        """From now on this kind is shown plain. The first reason stays."""
        self._failed.setdefault(kind, text)

    def told(self, kind: str) -> str | None:
        """Why this kind is shown plain, where that was not told yet."""
        return self._failed[kind] if kind in self._failed and self.once(kind) else None

    def once(self, kind: str) -> bool:
        """Whether something is to be told of this kind: the first time alone."""
        if kind in self._told:
            return False
        self._told.add(kind)
        return True

    def _off(self, claim: Claim) -> bool:
        return claim.kind in self._disabled or claim.distribution in self._disabled


def _claims() -> dict[str, list[Claim]]:
    """Every entry of the group by its name; one that is found twice, as installs at two places are, counts once."""
    from importlib.metadata import entry_points  # seldom needed, and not at the start

    found: dict[str, list[Claim]] = {}
    for entry in entry_points(group=GROUP):
        name = entry.dist.name if entry.dist else "?"
        claims = found.setdefault(entry.name, [])
        if not any(claim.distribution == name for claim in claims):
            version = entry.dist.version if entry.dist else "?"
            claims.append(Claim(kind=entry.name, value=entry.value, distribution=name, version=version))
    return found
